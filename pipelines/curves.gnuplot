# curves.gnuplot - the cells of cells.awk as curves over the number in an arm's name ("pilots-3"), a line for each arm
#	gnuplot -e "cells='figure4.tsv'; last='6'; over='gates'" curves.gnuplot > figure4.svg
# A panel for each type and six arms, two beside each other.  An arm of no number stands at `last`.  The dashed line is the
# base; bars are two errors (over queries and seeds) of the difference from it.  doubling=1: each number is twice the
# one before.
load system("dirname " . ARG0) . "/picture.gnuplot"
types = distinct(cells, '$3 == "all sets" ? "" : $3')
bare = 'match($2, /-[0-9]+$/) ? substr($2, 1, RSTART - 1) : $2'
arms = distinct(cells, bare)
bases = distinct(cells, '$1')
parts = panels_of(words(arms))
panels = words(types) * parts
beside = least(panels, 2)
eval picture(40 + (words(arms) > 3 ? 340 : 300) * ((panels + beside - 1) / beside))
set ylabel "score, x 100"
set xlabel over
if (exists("doubling")) { set logscale x 2; set offsets graph 0.05, graph 0.05, 0, 0 } else { set xtics 1; set offsets 0.3, 0.3, 0, 0 }
set autoscale xfix
set key maxrows 3
points = "< awk -F'\\t' -v OFS='\\t' -v last='" . last . "' 'FNR > 1 { arm = " . bare . "; print arm, $3, arm == $2 ? last : substr($2, RSTART + 1), $7, $5, $15 == \"\" ? \"NaN\" : 2 * $15, $1 }' '" . cells . "' | sort -t '\t' -s -k 3,3n"
set multiplot layout (panels + beside - 1) / beside, beside
do for [t=1:words(types)] {
	of(name, value) = strcol(1) eq name && strcol(2) eq word(types, t) ? value : NaN
	base(name, value) = strcol(7) eq name && strcol(2) eq word(types, t) ? value : NaN
	set title word(types, t)
	do for [p=1:parts] {
		first = first_of(p, words(arms))
		plot for [b in bases] points using 3:(base(b, $5)) smooth unique with linespoints pointtype 1 linewidth 1.5 linecolor rgb grey dashtype 2 title b, \
			for [n=first:last_of(p, words(arms))] points using 3:(of(word(arms, n), $4)):6 with yerrorbars linecolor hue(n) pointtype -1 notitle, \
			for [n=first:last_of(p, words(arms))] points using (of(word(arms, n), $3)):4 with linespoints linetype hue(n) title word(arms, n)
	}
}
unset multiplot
