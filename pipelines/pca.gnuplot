# pca.gnuplot - the table of geom pca, a panel a stream beside each other on the same axes, a colour a data set
#	gnuplot -e "table='FILE'; titles='Base PFT REZE'" pca.gnuplot > pca.svg
# Without titles the streams' names; names have no blanks in them.  The first stream lies in grey under each of the others: what
# moved.  The six data sets of most rows have colours, others are one, black.
load system("dirname " . ARG0) . "/picture.gnuplot"
streams = distinct(table, '$1')
datasets = system("awk -F'\t' 'FNR > 1 { name = $3 == \"\" ? \"-\" : $3; if (!rows[name]++) order[++n] = name } " \
	. "END { for (i = 1; i <= n; i++) printf \"%d\\t\\\"%s\\\"\\n\", rows[order[i]], order[i] }' '" . table . "' | sort -s -k 1,1nr | cut -f2 | tr '\n' ' '")
named = least(words(datasets), SERIES)
panels = words(streams)
beside = least(panels, 3)
rows = (panels + beside - 1) / beside
bare(path) = system("basename '" . path . "' .mts")
title(i) = exists("titles") && i <= words(titles) ? word(titles, i) : bare(word(streams, i))
eval picture((beside == 1 ? 600 : 1000 / beside) * rows + 40)
stats table using 4 every ::1 nooutput name "X"
stats table using 5 every ::1 nooutput name "Y"
set xrange [X_min - 0.05 * (X_max - X_min):X_max + 0.05 * (X_max - X_min)]
set yrange [Y_min - 0.05 * (Y_max - Y_min):Y_max + 0.05 * (Y_max - Y_min)]
# few enough ticks for narrow panels
set xtics tick_step(X_max - X_min, beside > 1 ? 4 : 8)
set xlabel "first principal component"
set key off
set grid xtics
# of a row that is of this stream (and data set), the value; of others, nothing
own(i, value) = strcol(1) eq word(streams, i) ? value : NaN
number(name) = place_in(datasets, name eq "" ? "-" : name)
of(i, d, value) = (d <= named ? number(strcol(3)) == d : number(strcol(3)) > named) ? own(i, value) : NaN
colour(d) = d <= named ? word("#0072b2 #e69f00 #009e73 #cc79a7 #56b4e9 #d55e00", d) : "black"
name(d) = d <= named ? word(datasets, d) : sprintf("%d others", words(datasets) - named)
last = words(datasets) > named ? named + 1 : named
# names of colours stand in one line above all panels
if (words(datasets) > 1) {
	do for [d=1:last] {
		set label d name(d) at screen 0.11 + 0.125 * (d - 1), screen 1 - 0.06 / rows offset 0.5, 0 point pointtype 7 linecolor rgb colour(d)
	}
}
set multiplot layout rows, beside margins 0.11, 0.98, 0.2 / rows, 1 - 0.2 / rows spacing 0.06, 0.3 / rows
do for [i=1:panels] {
	set title title(i)
	if (i % beside == 1 || beside == 1) { set ylabel "second principal component" } else { unset ylabel }
	plot for [first=2:least(i, 2)] table using 4:(own(1, $5)) every ::1 with points pointtype 7 pointsize 0.4 linecolor rgb "#cccccc", \
		for [d=1:last] table using 4:(of(i, d, $5)) every ::1 with points pointtype 7 pointsize 0.5 linecolor rgb colour(d)
	if (i == 1) { do for [d=1:last] { unset label d } }
}
unset multiplot
