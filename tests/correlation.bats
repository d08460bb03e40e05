#!/usr/bin/env bats
# bats file_tags=plain
load helper

# geom correlation. Golden values: tests/golden/rank_correlation.py (scipy).

# Tables of five models, as mteb-score sts --per-query writes them: hs/1.tsv, hs/2.tsv, rw/1.tsv, rw/2.tsv, rw/3.tsv.
setup() {
	cd "$T"
	mkdir hs rw
	column=3
	for name in hs/1 hs/2 rw/1 rw/2 rw/3; do
		cut -f1,2,$column "$GOLDEN/rank_correlation.tsv" | sed '1s/.*/id\tgold\tsimilarity/' >$name.tsv
		column=$((column + 1))
	done
}

# 1. known answers

@test "geom correlation: Spearman correlations are scipy's to 1e-9, also with ties" {
	geom correlation {hs,rw}/*.tsv >out
	head -n 1 out | diff - <(printf 'name\ths/1\ths/2\trw/1\trw/2\trw/3\n')
	cut -f1 out | diff - <(printf '%s\n' name hs/1 hs/2 rw/1 rw/2 rw/3)
	tail -n +2 out | cut -f2- | within "$GOLDEN/rank_correlation_expected.tsv" 1e-9
	# only the diagonal is 1
	[ "$(awk 'NR > 1 { for (i = 2; i <= NF; i++) n += $i == 1; d += $NR == 1 } END { print n, d }' out)" = "5 5" ]
}

@test "geom correlation --blocks: means over the pairs of files of two folders, without a file and itself" {
	geom correlation {hs,rw}/*.tsv | tail -n +2 | cut -f2- >rho
	geom correlation --blocks hs/1.tsv rw/1.tsv hs/2.tsv rw/2.tsv rw/3.tsv >out
	cut -f1-3 out | diff - <(printf '%s\t%s\t%s\n' a b pairs hs hs 1 hs rw 6 rw rw 3)
	awk '{ for (i = 1; i <= 5; i++) r[NR, i] = $i } END {
		print r[1, 2]
		print (r[1, 3] + r[1, 4] + r[1, 5] + r[2, 3] + r[2, 4] + r[2, 5]) / 6
		print (r[3, 4] + r[3, 5] + r[4, 5]) / 3
	}' OFMT=%.15g rho | within <(tail -n +2 out | cut -f4) 1e-12
	awk '{ for (i = 1; i <= 5; i++) r[NR, i] = $i } END {
		least = greatest = r[1, 3]
		for (i = 1; i <= 2; i++) for (j = 3; j <= 5; j++) {
			if (r[i, j] < least) least = r[i, j]
			if (r[i, j] > greatest) greatest = r[i, j]
		}
		print least, greatest
	}' OFMT=%.15g rho | within <(sed -n 3p out | cut -f5,6) 1e-12
	# a folder of one file; a file outside of a folder
	cp hs/1.tsv x.tsv
	geom correlation --blocks hs/1.tsv x.tsv | diff - <(printf '%s\t%s\t%s\t%s\t%s\t%s\n' a b pairs mean min max hs hs 0 "" "" "" \
		hs . 1 1 1 1 . . 0 "" "" "")
}

@test "geom correlation: streams give the same as tables; rows are matched by id, not by order" {
	geom correlation {hs,rw}/*.tsv >out
	awk -F'\t' 'NR > 1 { print "{\"id\":\"" $1 "\",\"similarity\":" $3 "}" }' hs/2.tsv | mkstream 7 >hs/2.mts
	{ head -n 1 rw/1.tsv; tail -n +2 rw/1.tsv | sort -r; } >sorted.tsv
	mv sorted.tsv rw/1.tsv
	geom correlation hs/1.tsv hs/2.mts rw/{1,2,3}.tsv | diff - out
	cat hs/2.mts | geom correlation hs/1.tsv - rw/{1,2,3}.tsv | tail -n +2 | cut -f2- | diff - <(tail -n +2 out | cut -f2-)
	geom correlation hs/1.tsv - rw/{1,2,3}.tsv <hs/2.tsv | tail -n +2 | cut -f2- | diff - <(tail -n +2 out | cut -f2-)
	# rows without ids are matched by their place
	printf '{"similarity":%s}\n' 0.5 0.25 1 | mkstream >a.mts
	printf '{"similarity":%s}\n' 5 7 -2 | mkstream >b.mts
	[ "$(geom correlation a.mts b.mts | sed -n 2p)" = $'a\t1\t-1' ]
}

@test "geom correlation: --column names the column of scores; -o writes to a file" {
	geom correlation --column gold hs/1.tsv rw/1.tsv -o out
	diff out - <<-END
		name	hs/1	rw/1
		hs/1	1	1
		rw/1	1	1
	END
}

# 3. usage

@test "geom correlation: usage errors exit 2" {
	for wrong in "" "hs/1.tsv" "- -"; do
		run -2 --separate-stderr geom correlation $wrong <hs/1.tsv
		[ -z "$output" ]
	done
	does_not_apply --json geom correlation --json hs/1.tsv hs/2.tsv
	does_not_apply --blocks geom isoscore --blocks x.mts
}

# 4. wrong input

@test "geom correlation: input that cannot be compared is refused in one line" {
	refused() { dies "geom: $1" geom correlation -o out "${@:2}"; }
	head -n 30 hs/2.tsv >short.tsv
	refused "short.tsv: it has 29 rows, hs/1.tsv 40; compare the same pairs" hs/1.tsv short.tsv
	sed 's/^p7\t/q7\t/' hs/2.tsv >other.tsv
	refused "other.tsv: there is no row 'p7', but in hs/1.tsv" hs/1.tsv other.tsv
	refused "hs/1.tsv: there is no column 'cosine', only: gold, similarity; choose one with --column" --column cosine hs/1.tsv hs/2.tsv
	printf '{"id":"p%d","x":1}\n' 1 2 | mkstream >x.mts
	refused "x.mts: there is no column 'similarity'" x.mts hs/1.tsv
	printf '{"id":"a","similarity":%d}\n' 1 2 | mkstream >twice.mts
	refused "twice.mts: the id 'a' occurs again" twice.mts hs/1.tsv
	sed '5s/[^\t]*$/nan/' hs/2.tsv >nan.tsv
	refused "nan.tsv: row 'p3': nan has no rank" hs/1.tsv nan.tsv
	sed '2,$s/[^\t]*$/0.5/' hs/2.tsv >same.tsv
	refused "same.tsv: all its 40 numbers are equal: they rank nothing" hs/1.tsv same.tsv
	head -n 2 hs/1.tsv >one.tsv
	refused "one.tsv: 1 row; ranks are those of two at least" one.tsv hs/1.tsv
	head -n 1 hs/1.tsv >none.tsv
	refused "none.tsv: " none.tsv hs/1.tsv
	: >empty
	refused "empty: " hs/1.tsv empty
	printf '{"similarity":["a","b"]}\n' | mkstream >lists.mts
	refused "lists.mts: column 'similarity' should hold one text or number a row" lists.mts hs/1.tsv
	printf '{"similarity":%d}\n' 1 2 | mkstream >two.mts
	head -c -20 two.mts >cut.mts
	refused "cut.mts: " cut.mts two.mts
	run -1 --separate-stderr geom correlation hs/1.tsv hs/2.tsv -o /dev/full
	[[ $stderr == "geom: /dev/full: "* ]]
}

@test "geom correlation: the heat map has every name and number" {
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	geom correlation {hs,rw}/*.tsv >matrix.tsv
	gnuplot -e "matrix='matrix.tsv'" "$ROOT/pipelines/correlation.gnuplot" >map.svg
	# each name is on both axes, each number in its cell
	[ "$(grep -o '>rw/3<' map.svg | wc -l)" -eq 2 ]
	[ "$(grep -c '>1.00<' map.svg)" -eq 5 ]
	number=$(sed -n 3p matrix.tsv | cut -f2 | xargs printf '%.2f')
	[ "$(grep -c ">$number<" map.svg)" -ge 2 ]
}

@test "geom correlation: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	geom correlation {hs,rw}/*.tsv
	geom correlation --blocks {hs,rw}/*.tsv
}
