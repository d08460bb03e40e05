# bars.gnuplot - the cells of cells.awk as bars: differences by type, two errors (over queries and seeds) to either side
#	gnuplot -e "cells='table2.tsv'" bars.gnuplot > table2.svg
# A colour for each arm and base, a panel for every six of them; * what cells.awk claims.
load system("dirname " . ARG0) . "/picture.gnuplot"
pairs = distinct(cells, '$2 " - " $1')
types = distinct(cells, '$3')
panels = panels_of(words(pairs))
beside = per_panel(words(pairs))
eval picture(panels * (90 + words(types) * (14 + 16 * beside)))
set grid noytics xtics
set border 1
set xzeroaxis
set yzeroaxis linetype -1 linecolor rgb "#555555"
# where the error bar of a line ends; all panels have the same range
end(side) = column(9) + side * 2 * (strcol(15) eq "" ? 0 : column(15))
stats cells using (end(-1)) every ::1 nooutput name "LOW"
stats cells using (end(1)) every ::1 nooutput name "HIGH"
low = least(LOW_min, 0)
high = -least(-HIGH_max, 0)
set xrange [low - 0.04 * (high - low):high + 0.04 * (high - low)]
set yrange [words(types) + 0.5:0.5]
set ytics () scale 0
set for [i=1:words(types)] ytics add (word(types, i) i)
# of a line that is of this pair, the value
of(n, value) = strcol(2) . " - " . strcol(1) eq word(pairs, n) ? value : NaN
middle(n) = place_in(types, strcol(3)) + 0.8 * (n - first - (many - 1) / 2.0) / beside
half = 0.36 / beside
# blanks move it beyond the end of the bar
star(claim, x) = claim ne "yes" ? "" : x > 0 ? "    *" : "*    "
set multiplot layout panels, 1
do for [p=1:panels] {
	first = first_of(p, words(pairs))
	last = last_of(p, words(pairs))
	many = last - first + 1
	if (p == panels) { set xlabel "difference, x 100, with two errors, over queries and seeds, to either side" }
	plot for [n=first:last] cells using (0):(middle(n)):(0):(of(n, $9)):(middle(n) - half):(middle(n) + half) every ::1 \
			with boxxyerror linecolor hue(n) title word(pairs, n), \
		for [n=first:last] cells using (of(n, $9)):(middle(n)):(2 * $15) every ::1 \
			with xerrorbars linetype -1 pointtype -1 notitle, \
		for [n=first:last] cells using (of(n, end(sgn($9)))):(middle(n)):(star(strcol(13), $9)) every ::1 with labels notitle
}
unset multiplot
