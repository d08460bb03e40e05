#!/usr/bin/env bats
# bats file_tags=plain
load helper

# geom pca, geom drift. Golden values: tests/golden/principal.py (numpy).

setup() {
	cd "$T"
	for name in base moved; do
		mkstream 7 f32 "$name" <"$GOLDEN/principal_$name.jsonl" >$name.mts
	done
}

# 1. known answers

@test "geom pca: coordinates in the basis of all streams are numpy's to 1e-9" {
	geom pca base.mts moved.mts >out
	head -n 1 out | diff - <(printf 'stream\tid\tdataset\tpc1\tpc2\n')
	tail -n +2 out | cut -f4- | within "$GOLDEN/principal_pca.tsv" 1e-9
	tail -n +2 out | cut -f1-3 | diff - <(for name in base moved; do
		for i in $(seq 0 29); do printf '%s.mts\tt%d\t%s\n' $name $i "$((i % 2))"; done
	done | sed 's/0$/a/; s/1$/b/')
}

@test "geom pca: --basis FILE takes the basis of one stream; --components gives more coordinates" {
	geom pca base.mts --basis base.mts --components 5 >own
	# in its own basis a stream has mean 0, falling variances and no correlation
	tail -n +2 own | cut -f4- | awk '{
		for (i = 1; i <= 5; i++) { s[i] += $i; for (j = 1; j <= i; j++) p[i, j] += $i * $j }
	} END {
		for (i = 1; i <= 5; i++) {
			if (s[i]^2 > 1e-12 || (i > 1 && p[i, i] > p[i - 1, i - 1])) exit 1
			for (j = 1; j < i; j++) if (p[i, j]^2 > 1e-12) exit 1
		}
	}'
	geom pca --basis base.mts --components 5 base.mts moved.mts | grep ^base | diff - <(tail -n +2 own)
	geom pca base.mts | tail -n +2 | cut -f4- | within <(tail -n +2 own | cut -f4-5) 1e-9
}

@test "geom pca: rows without ids have numbers; the data set may be the record's attribute" {
	printf '{"x.emb":[%s]}\n' 1,2 3,4 5,6.5 7,9 | mkstream 3 f32 >x.mts
	geom pca x.mts | cut -f2 | paste -sd' ' | found -x 'id 1 2 3 4'
	geom pca x.mts x.mts | cut -f2 | paste -sd' ' | found -x 'id 1 2 3 4 1 2 3 4'
	geom pca x.mts | cut -f3 | sort -u | paste -sd, | found -x ',dataset'
	# two ids that are the same up to a NUL
	printf '{"_id":"%s","x.emb":[%s]}\n' 'a\u0000b' 1,2 a 3,4 c 5,6.5 | mkstream >x.mts
	run -1 --separate-stderr geom pca x.mts
	[ "$stderr" = "geom: x.mts: column '_id': 'a' has a NUL in it; rename it" ]
}

@test "geom drift: variances, shifts and shares are numpy's" {
	geom drift --components 3 base.mts moved.mts >out
	head -n 1 out | diff - <(printf 'component\tvariance\tshare\tshift\tmoved\tmoved_share\n')
	cut -f1 out | paste -sd' ' | found -x 'component 1 2 3 rest all'
	tail -n +2 out | cut -f2- | within "$GOLDEN/principal_drift.tsv" 1e-6
	geom drift base.mts moved.mts | cut -f1 | paste -sd' ' | found -x 'component 1 2 3 4 5 rest all'
	geom drift --json --components 3 base.mts moved.mts >json
	jq -r '.components[] | [.variance, .share, .shift, .moved, .moved_share] | @tsv' json |
		within <(tail -n +2 out | cut -f2-) 1e-12
	jq -e '.texts == 30' json
}

@test "geom drift: computed by hand, also --per-text" {
	# variance 18 along the first axis, 2 along the second; all texts move by 2 along the second, one by 3 along the first
	printf '{"_id":"%s","x.emb":[%s]}\n' a 3,0 b -3,0 c 0,1 d 0,-1 | mkstream >x.mts
	printf '{"_id":"%s","x.emb":[%s]}\n' a 6,2 b -3,2 c 0,3 d 0,1 | mkstream >y.mts
	geom drift x.mts y.mts --per-text texts | cut -f2- | tail -n +2 | within <(
		printf '%s\n' "6 0.9 0.75 2.25 0.36" "0.666666666667 0.1 2 4 0.64" "0 0 0 0 0" "6.666666666667 1 2.136000936329 6.25 1"
	) 1e-9
	diff - <(cut -f1,2 texts) <<-END
		id	distance
		a	3.605551275463989
		b	2
		c	2
		d	2
	END
	cut -f3 texts | tail -n +2 | within <(printf '%s\n' 0.948683298051 0.832050294338 1 -1) 1e-9
	# a stream and itself
	geom drift --json x.mts x.mts | jq -e '.distance == 0 and .cosine == 1 and all(.components[]; .moved == 0 and .moved_share == null)'
	geom drift x.mts x.mts | tail -n 1 | cut -f5- | found -xP '0\t'
	printf '{"_id":"%s","x.emb":[%s]}\n' a 3,0 b -3,0 c 0,1 d 0,0 | mkstream >zero.mts
	geom drift x.mts zero.mts --per-text texts >out
	tail -n 1 texts | found -xP 'd\t1\tnan'
}

@test "geom pca, geom drift: --relations takes a row's columns as one vector" {
	printf '{"a.emb":[%s],"p.emb":[%s]}\n' 1,0 0,3 -1,0 0,-3 0,2 5,0 1,1 1,1 | mkstream >pairs.mts
	printf '{"x.emb":[%s]}\n' 1,0,0,3 -1,0,0,-3 0,2,5,0 1,1,1,1 | mkstream >one.mts
	geom -q pca --relations -f a -f p pairs.mts | cut -f2- | diff - <(geom -q pca one.mts | cut -f2-)
	geom drift --relations -f a -f p pairs.mts pairs.mts | diff - <(geom drift one.mts one.mts)
	geom -q isoscore --relations -f a -f p pairs.mts | cut -f2- | diff - <(geom -q isoscore one.mts | cut -f2-)
	geom -q pca --relations -f p -f a pairs.mts | cut -f2- >other # columns in the other order give the same shape
	[ "$(wc -l <other)" -eq 5 ]
}

# 3. usage

@test "geom pca, geom drift: usage errors exit 2" {
	for wrong in "pca" "pca -" "pca -f a -f p base.mts" "pca --components 0 base.mts" "pca --relations base.mts" "drift base.mts" \
		"drift base.mts moved.mts base.mts" "drift - -" "drift -f a -f p base.mts moved.mts" "drift base.mts moved.mts --per-text -"; do
		run -2 --separate-stderr geom $wrong </dev/null
		[ -z "$output" ]
		echo "$stderr"
	done
	does_not_apply --json geom pca --json base.mts
	does_not_apply --basis geom drift --basis base.mts base.mts moved.mts
}

# 4. wrong input

@test "geom pca, geom drift: input that cannot be compared is refused" {
	refused() { dies "geom: $1" geom "${@:2}"; }
	mkstream random 30 4 1 >narrow.mts
	refused "narrow.mts: its vectors have width 4, those of base.mts 5" drift base.mts narrow.mts
	refused "base.mts: --components: its vectors have 5 values, and no more components" drift --components 6 base.mts moved.mts
	refused "narrow.mts: its vectors have width 4, those of base.mts 5" pca base.mts narrow.mts
	refused "narrow.mts: its vectors have width 4, those of the basis 5" pca narrow.mts --basis base.mts
	mts rows --sort -_id moved.mts >back.mts
	refused "back.mts: row 1 is 't9', in base.mts it is 't0'; bring both into one order (mts rows --sort _id)" drift base.mts back.mts
	mts rows --rows 1-20 moved.mts >short.mts
	refused "short.mts: it ends after 20 rows, base.mts goes on; compare the same texts" drift base.mts short.mts
	refused "short.mts: it ends after 20 rows, base.mts goes on; compare the same texts" drift short.mts base.mts
	mts rows --rows 1 base.mts >one.mts
	refused "one.mts: 1 text, which do not vary" drift one.mts one.mts
	refused "one.mts: 1 vector; how vectors vary is known of two at least" pca one.mts
	refused "base.mts: --components: its vectors have 5 values, and no more components" pca --components 6 base.mts
	printf '{"_id":"%s","x.emb":[%s]}\n' a 1,2 b null,1 | mkstream >nan.mts
	refused "nan.mts: record 1: x.emb: row 2 is not finite" pca nan.mts
	refused "nan.mts: record 1: x.emb: row 2 is not finite" drift nan.mts nan.mts
	printf '{"_id":"%s","x.emb":[%s]}\n' 'a\tb' 1,2 b 2,1 c 3,1 | mkstream >tab.mts
	refused "tab.mts: " pca tab.mts
	printf '{"x.emb":[[1,2],[3,4]]}\n' | mkstream >lists.mts
	refused "lists.mts: there is no column '*.emb' of vectors" pca lists.mts
	mkfifo pipe
	refused "pipe: is read twice, and is not a file; write it to one" pca pipe
	refused "/dev/full: " pca base.mts -o /dev/full
	head -c -20 base.mts >cut.mts
	refused "cut.mts: " pca cut.mts
	refused "cut.mts: " drift base.mts cut.mts
}

@test "geom pca: the picture has a panel for each stream and a colour for each data set" {
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	cp base.mts third.mts
	geom pca base.mts moved.mts third.mts >pca.tsv
	gnuplot -e "table='pca.tsv'; titles='Base PFT REZE'" "$ROOT/pipelines/pca.gnuplot" >pca.svg
	for name in Base PFT REZE; do grep -q ">$name<" pca.svg; done
	# 60 different points, two colours
	[ "$(grep -c "<use xlink:href='#gpPt" pca.svg)" -ge 60 ]
	gnuplot -e "table='pca.tsv'" "$ROOT/pipelines/pca.gnuplot" >plain.svg
	grep -q '>moved<' plain.svg
}

@test "geom pca, geom drift: free all memory before they exit" {
	export ASAN_OPTIONS=detect_leaks=1
	geom pca base.mts moved.mts
	geom drift --json --per-text texts base.mts moved.mts
	geom drift base.mts moved.mts
}
