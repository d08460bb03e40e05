#!/usr/bin/env bats
load helper

# The scripts behind the MoEE paper's Figures 2, 5 and 6.  Golden values: tests/golden/moee_figures.py (numpy, scipy).

P=$ROOT/pipelines

# Tables as mteb-score sts --per-query writes them, and a table of lengths.
setup() {
	cd "$T"
	for model in 4:hs 5:rw; do
		cut -f1,3,${model%:*} "$GOLDEN/moee_figures.tsv" | sed '1s/.*/id\tgold\tsimilarity/' >${model#*:}.tsv
	done
	cut -f1,2 "$GOLDEN/moee_figures.tsv" >lengths.tsv
}

complementarity() { awk -f "$P/ranks.awk" -f "$P/complementarity.awk" "$@"; }
lengths() { awk -f "$P/ranks.awk" -f "$P/lengths.awk" "$@"; }
boxes() { awk -f "$P/ranks.awk" -f "$P/boxes.awk" "$@"; }

@test "moee: Figure 2: the pairs on which one model fails and the other does not" {
	complementarity -v thresholds="0.1 0.25" hs.tsv rw.tsv >out
	head -n 1 out | diff - <(printf 'set\tthreshold\tpairs\tfailed\ta_fails\tb_fails\tboth_fail\tindependent\n')
	cut -f1 out | diff - <(printf '%s\n' set hs hs)
	tail -n +2 out | cut -f2- | within "$GOLDEN/moee_complementarity.tsv" 1e-6
	# the order of rows has no effect; a line for each set
	{ head -n 1 rw.tsv; tail -n +2 rw.tsv | sort -r; } >back.tsv
	complementarity -v thresholds="0.1 0.25" hs.tsv back.tsv hs.tsv hs.tsv >two
	head -n 3 two | diff - out
	# a model beside itself: both fail on the same pairs
	tail -n 2 two | cut -f5-7 | diff - <(printf '0.000000\t0.000000\t1.000000\n%.0s' 1 2)
}

@test "moee: Figure 2 of four pairs, computed by hand" {
	printf 'id\tgold\tsimilarity\n%s\t%s\t%s\n%s\t%s\t%s\n%s\t%s\t%s\n%s\t%s\t%s\n' a 1 1 b 2 2 c 3 4 d 4 3 >one.tsv
	printf 'id\tgold\tsimilarity\n%s\t%s\t%s\n%s\t%s\t%s\n%s\t%s\t%s\n%s\t%s\t%s\n' a 1 2 b 2 1 c 3 3.5 d 4 3 >other.tsv
	# a swap of two ranks is off by a quarter; one fails on c and d, the other on all
	complementarity one.tsv other.tsv | tail -n 1 | cut -f2- | within <(echo 0.2 4 4 0 0.5 0.5 0.5) 1e-9
	# a rank that is off by the threshold is no failure
	complementarity -v thresholds=0.25 one.tsv other.tsv | tail -n 1 | diff - <(printf 'one\t0.25\t4\t0\t\t\t\t\n')
}

@test "moee: Figure 6: how well pairs are ranked, by their length" {
	lengths -v threshold=0.15 lengths.tsv hs.tsv rw.tsv >out
	head -n 1 out | diff - <(printf 'from\tto\tpairs\ths\ths_error\trw\trw_error\n')
	cut -f1,2 out | diff - <(printf '%s\t%s\n' from to 0 10 10 20 20 30 30 40 all "" correlation "")
	tail -n +2 out | cut -f3- | sed 's/\t*$//; s/\t\t/\t/' | within "$GOLDEN/moee_lengths.tsv" 1e-6
	lengths -v threshold=0.15 -v step=5 lengths.tsv rw.tsv | head -n 3 | cut -f1-3 | tail -n 2 | diff - \
		<(printf '0\t5\t%d\n5\t10\t%d\n' "$(grep -cP '\t3$' lengths.tsv)" "$(grep -cP '\t7.5$' lengths.tsv)")
}

@test "moee: Figure 5: the spread of scores over prompts" {
	{
		printf 'method\tset\tprompt\tscore\n'
		printf 'HS\tSTS12\t%d\t%s\n' 1 0.5 2 0.1 3 0.4 4 0.2
		printf 'RW\tSTS12\t1\t0.3\nHS\tSTS13\t1\t1e-1\nHS\tSTS13\t2\t-0.5\nHS\tSTS13\t3\t0.2\n'
	} >scores.tsv
	boxes -v group=method scores.tsv >out
	cut -f1-3 out | diff - <(printf '%s\t%s\t%s\n' set group lines STS12 HS 4 STS12 RW 1 STS13 HS 3)
	sed -n 2p out | cut -f4- | within <(echo 0.1 0.175 0.3 0.425 0.5 0.3 0.182574) 1e-6
	sed -n 3p out | cut -f4- | within <(echo 0.3 0.3 0.3 0.3 0.3 0.3) 1e-6
	sed -n 4p out | cut -f4- | within <(echo -0.5 -0.2 0.1 0.15 0.2 -0.066667 0.378594) 1e-6
}

@test "moee: tables that do not fit together are refused in one line" {
	head -n 40 rw.tsv >short.tsv
	dies "complementarity: hs: two tables of the same pairs are needed" complementarity hs.tsv short.tsv
	dies "hs.tsv: there is no pair 'p39' in the table before" complementarity short.tsv hs.tsv
	dies "complementarity: hs: two tables of the same pairs are needed" complementarity hs.tsv rw.tsv hs.tsv
	awk -F'\t' -v OFS='\t' 'NR == 5 { $2 += 1 } 1' rw.tsv >gold.tsv
	dies "gold.tsv: the pair 'p3' has another gold score than in the table before" complementarity hs.tsv gold.tsv
	awk -F'\t' -v OFS='\t' 'NR == 5 { $3 = "nan" } 1' rw.tsv >nan.tsv
	dies "nan.tsv:5: 'nan' is not a number" complementarity hs.tsv nan.tsv
	sed 1s/gold/label/ rw.tsv >label.tsv
	dies "label.tsv: there is no column 'gold'" complementarity label.tsv hs.tsv
	sed 3s/p1/p0/ rw.tsv >twice.tsv
	dies "twice.tsv: the id 'p0' occurs again" complementarity twice.tsv hs.tsv
	dies "hs.tsv: of the pair 'p9' there is no length" lengths <(head -n 10 lengths.tsv) hs.tsv
	dies "lengths: lengths and a table at least are needed" lengths lengths.tsv
	dies "lengths: short: it has other pairs than hs" lengths lengths.tsv hs.tsv short.tsv
	printf 'set\tscore\na\t1\n' >scores.tsv
	dies "scores.tsv: there is no column 'group'" boxes scores.tsv
	printf 'set\tgroup\tscore\na\tb\tx\n' >scores.tsv
	dies "scores.tsv:2: 'x' is not a number" boxes scores.tsv
}

@test "moee: the pictures have a curve or a bar for each model" {
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	cp hs.tsv STS12.tsv
	complementarity STS12.tsv rw.tsv hs.tsv rw.tsv >figure2.tsv
	gnuplot -e "table='figure2.tsv'; a='HS'; b='RW'" "$P/complementarity.gnuplot" >figure2.svg
	for text in STS12 "HS succeeds, RW fails" "HS fails, RW succeeds" "both fail"; do grep -q ">$text<" figure2.svg; done
	lengths lengths.tsv hs.tsv rw.tsv >figure6.tsv
	gnuplot -e "table='figure6.tsv'" "$P/lengths.gnuplot" >figure6.svg 2>err
	for text in pairs hs rw; do grep -q ">$text<" figure6.svg; done
	[ ! -s err ]
	printf 'set\tgroup\tscore\n' >scores.tsv
	for set in 'STS 12' STS13; do printf "$set\t%s\t0.%d\n" HS 3 HS 5 HS 6 RW 5 RW 4 RW 9; done >>scores.tsv
	boxes scores.tsv >figure5.tsv
	gnuplot -e "table='figure5.tsv'; axis='Spearman'" "$P/boxes.gnuplot" >figure5.svg 2>err
	for text in "STS 12" STS13 HS RW Spearman; do grep -q ">$text<" figure5.svg; done
	[ ! -s err ]
}
