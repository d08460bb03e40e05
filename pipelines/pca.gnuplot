# pca.gnuplot - the table of geom pca, a panel a stream beside each other on the same axes, a colour a data set
#	gnuplot -e "table='FILE'; titles='Base PFT REZE'" pca.gnuplot > pca.svg
# Without titles the streams' names; names have no blanks in them.  The first stream lies in grey under each of the others: what moved.
streams = system("awk -F'\t' 'NR > 1 && !seen[$1]++ { print $1 }' " . table)
datasets = system("awk -F'\t' 'NR > 1 && !seen[$3]++ { print $3 == \"\" ? \"-\" : $3 }' " . table)
panels = words(streams)
bare(path) = system("basename " . path . " .mts")
title(i) = exists("titles") && i <= words(titles) ? word(titles, i) : bare(word(streams, i))
set terminal svg size 60 + 300 * panels, 340 font "sans,12" noenhanced
set datafile separator tab
stats table using 4 every ::1 nooutput name "X"
stats table using 5 every ::1 nooutput name "Y"
set xrange [X_min - 0.05 * (X_max - X_min):X_max + 0.05 * (X_max - X_min)]
set yrange [Y_min - 0.05 * (Y_max - Y_min):Y_max + 0.05 * (Y_max - Y_min)]
set xlabel "first principal component"
set border 3
set tics nomirror
set key outside bottom center horizontal
# of a row that is of this stream (and data set), the value; of others, nothing
own(i, value) = strcol(1) eq word(streams, i) ? value : NaN
of(i, name, value) = (strcol(3) eq "" ? "-" : strcol(3)) eq name ? own(i, value) : NaN
set multiplot layout 1, panels
do for [i=1:panels] {
	set title title(i)
	if (i == 1) { set ylabel "second principal component" } else { unset ylabel }
	plot table using 4:(i > 1 ? own(1, $5) : NaN) every ::1 with points pointtype 7 pointsize 0.4 linecolor rgb "#cccccc" notitle, \
		for [d=1:words(datasets)] table using 4:(of(i, word(datasets, d), $5)) every ::1 \
		with points pointtype 7 pointsize 0.5 linecolor d title (words(datasets) > 1 ? word(datasets, d) : "")
}
unset multiplot
