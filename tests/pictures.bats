#!/usr/bin/env bats
load helper

# The gnuplot scripts' drawings of small tables, read from the SVG: each curve is an element, gnuplot_plot_1a of the first panel,
# or gnuplot_plot_1 without panels.

setup() {
	command -v gnuplot >/dev/null || skip "needs gnuplot"
	cd "$T" || return
}

# picture SCRIPT VARIABLES: draws out.svg; gnuplot may only report a curve without points or errors
picture() {
	gnuplot -e "$2" "$ROOT/pipelines/$1.gnuplot" >out.svg 2>err
	sed '/Skipping data file with no valid points/d; /^$/d' err | diff - /dev/null
}

# curve PLOT: the lines of the element; of a panel's last one without the axis behind it
curve() { awk -v id="\"gnuplot_plot_$1\"" '/id=.gnuplot_plot/ { on = index($0, id) } /<polyline|stroke-width="2.00"/ { on = 0 } on' out.svg; }

has_texts() {
	for text; do grep -qF ">$text<" out.svg || { echo "no $text"; return 1; }; done
}

# The number of colours of bars and boxes, without the page and its ink.
fills() { grep -o "fill *= *'rgb([^)]*)'" out.svg | tr -d ' ' | grep -v '255,255,255\|(0,0,0)' | sort -u | wc -l; }

# cells ARM...: each arm against base, of two sets with an error and one without
cells() {
	printf 'base\tarm\ttype\tsets\tbase_mean\tbase_deviation\tarm_mean\tarm_deviation\tdifference\tdifference_deviation\tstandard_error\tseeds\tclaim\tseed_error\terror\n'
	for arm; do
		# the error over queries is half of the error, and is not drawn
		printf "base\t$arm\t%s\t1\t50\t0\t%s\t0\t%s\t0\t%s\t3\t%s\t0\t%s\n" STS_q 52 2.0 0.25 yes 0.5 Two\ words 49 -1.0 0.4 no 0.8 lone 51 1.0 '' no ''
	done
}

@test "pictures: every script draws in the common look: 800 wide, white page, text elements, ticks outside" {
	for script in "$ROOT"/pipelines/*.gnuplot; do
		[[ $script == */picture.gnuplot ]] && continue
		grep -q '^load .*picture.gnuplot' "$script"
		run ! grep -n 'set terminal\|rgb "gray\|set tics nomirror' "$script"
	done
	cells one >cells.tsv
	picture bars "cells='cells.tsv'"
	grep -q '^ *width="800" ' out.svg
	grep -q 'fill="#ffffff"' out.svg
	# a tick begins at the axis and ends below it
	ticks=$(grep -o "d='M[0-9.]*,[0-9.]* L[0-9.]*,[0-9.]*  '" out.svg | tr -c '0-9.\n' ' ' |
		awk '$1 == $3 && ($4 - $2) ^ 2 < 144 { print ($4 > $2 ? "out" : "in") }' | sort -u)
	[ "$ticks" = out ]
}

@test "bars: both errors of each row that has them, a star for each claim; names appear verbatim" {
	cells a_q b >cells.tsv
	picture bars "cells='cells.tsv'"
	has_texts 'a_q - base' 'b - base' STS_q 'Two words' lone
	run ! grep 'baseline-shift\|<tspan' out.svg
	for plot in 1a 2a; do
		# three bars, and one in the key
		[ "$(curve $plot | grep -c '<polygon')" -eq 4 ]
	done
	for plot in 3a 4a; do
		# two rows with errors: a line and two ends each
		[ "$(curve $plot | grep -o 'M[0-9]' | wc -l)" -eq 6 ]
	done
	[ "$(grep -c '> *\* *<' out.svg)" -eq 2 ]
	# the bar is from 0 to 2, its error from 1 to 3
	bar=$(curve 1a | grep '<polygon' | sed -n 2p | tr -c '0-9.\n' ' ' | awk '{ print $6 - $4 }')
	error=$(curve 3a | grep -o 'M.*L' | tr -c '0-9.\n' ' ' | awk '{ print $3 - $1 }' | sed -n 1p)
	echo "$bar $error" | awk '{ exit !($1 > 50 && ($1 - $2) ^ 2 < 1) }'
}

@test "bars, boxes: a panel has at most six colours" {
	cells 1 2 3 4 5 6 7 8 >cells.tsv
	picture bars "cells='cells.tsv'"
	[ "$(fills)" -eq 6 ]
	has_texts '1 - base' '8 - base'
	grep -q 'id="gnuplot_plot_1b"' out.svg
	{ printf 'set\tgroup\tlines\tmin\tq1\tmedian\tq3\tmax\tmean\tdeviation\n'; printf 'STS 12\tg_%s\t3\t.1\t.2\t.3\t.4\t.5\t.3\t.1\n' 1 2 3 4 5 6 7; } >boxes.tsv
	picture boxes "table='boxes.tsv'; axis='Spearman'"
	[ "$(fills)" -eq 6 ]
	has_texts 'STS 12' g_1 g_7 Spearman
}

@test "curves, lengths: both errors; a second panel for more than six arms" {
	{ cells p-1 p-2; cells p | tail -n +2; } >cells.tsv
	picture curves "cells='cells.tsv'; last='3'; over='gates_q'"
	has_texts STS_q gates_q base p
	# three points with errors
	[ "$(curve 2a | grep -o 'M[0-9]' | wc -l)" -eq 9 ]
	# a set without errors
	[ "$(curve 2c | grep -c 'M[0-9]')" -eq 0 ]
	[ "$(curve 3c | grep -c "<use xlink:href='#gpPt")" -ge 3 ]
	cells {a,b,c,d,e,f,g}-{1,2} >cells.tsv
	picture curves "cells='cells.tsv'; last='3'; over='gates'"
	has_texts a g
	# two panels for each of three types
	grep -q 'id="gnuplot_plot_1f"' out.svg
	printf '%s\n' $'from\tto\tpairs\ths_q\ths_q_error' $'0\t10\t9\t0.5\t0.1' $'10\t20\t1\t1\t0' $'all\t\t10\t.5\t.1' >lengths.tsv
	picture lengths "table='lengths.tsv'"
	has_texts hs_q pairs 'length, tokens'
	# from 0.3 to 0.7 on an axis of about 170 pixels
	curve 1b >errors
	grep -o 'M[0-9.]*,[0-9.]* L[0-9.]*,[0-9.]*' errors | tr -c '0-9.\n' ' ' |
		awk 'NR == 1 { exit !($2 - $4 > 60 && $1 == $3) }'
}

@test "correlation, shares: cells are rectangles, not an image, each with its number" {
	printf '%s\n' $'\ta/x_1\tb/y' $'a/x_1\t1\t0.25' $'b/y\t0.25\t1' >matrix.tsv
	picture correlation "matrix='matrix.tsv'; title='STS_12'"
	has_texts STS_12 a/x_1 b/y 1.00 0.25
	run ! grep '<image\|data:' out.svg
	[ "$(curve 1 | grep -c '<polygon')" -eq 4 ]
	printf '%s\n' $'set\tg_1\tg_2\tg_3' $'s_1\t10\t20\t70' $'s 2\t0\t50\t50' >shares.tsv
	picture shares "table='shares.tsv'"
	has_texts g_1 g_3 s_1 's 2' 70 'percent of queries'
	run ! grep '<image\|data:' out.svg
	[ "$(curve 1 | grep -c '<polygon')" -eq 6 ]
	# only names on the axes
	run ! grep '>-\?[01].5<' out.svg
}

@test "pca: the six largest data sets have a colour each, all others one" {
	{
		printf 'stream\trow\tdata set\tx\ty\n'
		for set in 1 2 3 4 5 6 7 8; do
			for row in $(seq $((10 - set))); do printf 'a_q.mts\t%s\ts_%s\t%s\t%s\n' "$row" $set "$row" $set; done
		done
	} >pca.tsv
	picture pca "table='pca.tsv'"
	has_texts a_q s_1 s_6 '2 others'
	run ! grep '>s_[78]<' out.svg
	# the last two sets have 3 and 2 points
	[ "$(curve 8a | grep -c "<use xlink:href='#gpPt")" -eq 5 ]
}

@test "sizes, complementarity, topics: markup characters in names are escaped" {
	{ printf 'pairs\tgate\tset\tndcg\n'; for gate in 1 2 3 4 5 6 7; do printf '%s\tg_%s\tfiqa_q\t%s\n' 30 $gate 1 100 $gate 2; done; } >sizes.tsv
	picture sizes "table='sizes.tsv'"
	has_texts fiqa_q g_1 g_7 30 100
	grep -q 'id="gnuplot_plot_1b"' out.svg
	printf '%s\n' $'set\tthreshold\tpairs\tfailed\ta\tb\tboth\tindependent' $'STS_12\t.2\t9\t4\t.25\t.5\t.25\t.6' >two.tsv
	picture complementarity "table='two.tsv'; a='H_S'; b='RW'"
	has_texts STS_12 'H_S succeeds, RW fails'
	# b alone fills half of the width
	curve 1 | grep '<polygon' | tail -n 1 | tr -c '0-9.\n' ' ' | awk '{ exit !($6 - $4 > 280 && $6 - $4 < 360) }'
	printf '%s\n' $'cluster\tsize\tword\tcount\tweight' $'sea_b^{2}\t9\twave_q\t3\t2' $'sea_b^{2}\t9\ta&b\t3\t1' |
		awk -f "$ROOT/pipelines/topics.awk" >words.tsv
	picture topics "words='words.tsv'; title='Some_q'"
	has_texts 'sea_b^{2} (9)' wave_q 'a&amp;b' Some_q
	grep 'font-size="28.00"' -A1 out.svg | found wave_q
}

# log STEPS: a log of train with held-out data every ten steps; the loss of step n is n
log() {
	awk -v steps="$1" -v OFS='\t' 'BEGIN { print "step", "epoch", "task", "dataset", "loss", "accuracy", "lr", "gradient_norm", "examples", "tokens", "dev_loss", "dev_accuracy", "dev_ndcg_at_10"
		print 0, "", "", "", "", "", "", "", "", "", steps, 0.25, 0.5
		for (n = 1; n <= steps; n++) { m = n % 10 == 0; print n, 0, "t", "d", n, 0, 1 / n, 1, 8, 80, m ? steps - n : "", m ? 0.75 : "", m ? 0.5 : "" } }'
}

@test "log: loss, its mean over a fiftieth of the steps, held-out loss and scores, learning rate; motes picture draws it" {
	log 200 >a.log.tsv
	motes picture LOG=a.log.tsv >said
	cp a.log.svg out.svg
	has_texts loss 'of a step' 'mean of 4 steps' 'held-out data' accuracy ndcg_at_10 'learning rate' step
	[ "$(grep -c 'id="gnuplot_plot_[0-9][abc]"' out.svg)" -eq 6 ]
	# a mark for step 0 and for every tenth step, and one in the key
	for plot in 3a 1b 2b; do [ "$(curve $plot | grep -c "<use xlink:href='#gpPt")" -eq 22 ]; done
	# the mean of steps 1 to 4 is 2.5, so that line ends 1.5 below the loss, on an axis of 200
	end() { curve "$1" | grep -o '[0-9.]*,[0-9.]*' | awk -F, '$1 > x { x = $1; y = $2 } END { print y }'; }
	height=$(curve 1a | grep -o '[0-9.]*,[0-9.]*' | awk -F, '$2 > 30 { a = !a || $2 < a ? $2 : a; b = $2 > b ? $2 : b } END { print b - a }') # the key is above
	awk -v one="$(end 1a)" -v mean="$(end 2a)" -v height="$height" 'BEGIN { d = (mean - one) / height * 199; exit !(d > 1.2 && d < 1.8) }'
	# few steps without held-out data: two panels, no mean
	log 5 | cut -f1-10 | sed 2d >b.tsv
	motes picture LOG=b.tsv PICTURE=out.svg >said
	has_texts 'of a step' 'learning rate'
	run ! grep 'mean of\|held-out\|gnuplot_plot_1c' out.svg
	run -2 motes picture
	[[ $output == *"picture: LOG= is missing"* ]]
	echo x >c.tsv
	run -2 motes picture LOG=c.tsv
	[[ $output == *"picture: c.tsv: is not a log of train"* ]]
	log 5 | sed -n 1p >d.tsv
	run -2 motes picture LOG=d.tsv
	[[ $output == *"picture: d.tsv: has no step yet"* ]]
	[ ! -e c.svg ] && [ ! -e d.svg ]
}

@test "speed: share/pictures/speed.svg has the numbers of README's table and at most 20 kB" {
	gnuplot "$ROOT/tests/bench/speed.gnuplot" >out.svg
	# another gnuplot may draw other lines; after a change of numbers: gnuplot tests/bench/speed.gnuplot > share/pictures/speed.svg
	diff <(grep '<text' "$ROOT/share/pictures/speed.svg" | sort) <(grep '<text' out.svg | sort)
	[ "$(wc -c <"$ROOT/share/pictures/speed.svg")" -lt 20000 ]
	# name and ratio of each line
	sed -n '/^| what | ours | peer | ratio |/,/^$/p' "$ROOT/README.md" | sed 1,2d | grep '^|' >lines
	[ "$(wc -l <lines)" -ge 3 ]
	while IFS='|' read -r _ name _ _ ratio _; do
		grep -qF ">$(xargs <<<"$name")<" out.svg
		grep -qF " $(xargs <<<"$ratio") times as fast<" out.svg
	done <lines
	# a dot of ours and one of the peer's on each line, and in the key
	for plot in 2 3; do [ "$(curve $plot | grep -c "<use xlink:href='#gpPt")" -eq $(($(wc -l <lines) + 1)) ]; done
}

@test "search: share/pictures/search.svg is drawn from tests/bench/approximate.tsv and has at most 40 kB" {
	gnuplot "$ROOT/tests/bench/approximate.gnuplot" >out.svg
	# after a change of numbers: gnuplot tests/bench/approximate.gnuplot > share/pictures/search.svg
	diff <(grep '<text' "$ROOT/share/pictures/search.svg" | sort) <(grep '<text' out.svg | sort)
	[ "$(wc -c <"$ROOT/share/pictures/search.svg")" -lt 40000 ]
	has_texts 'recall@10' 'queries a second' 'near --beam' 'near --probe' 'FAISS HNSW' usearch 'usearch i8' 'FAISS IVF' 10 16 32 64 128 256
}
