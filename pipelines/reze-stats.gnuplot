# reze-stats.gnuplot - the tables of reze-stats show: the spectrum, the components that vary by source, and the shrinkage
#	reze-stats show --each-component S > C.tsv; reze-stats show S > S.tsv
#	gnuplot -e "components='C.tsv'; sources='S.tsv'" reze-stats.gnuplot > reze.svg
load system("dirname " . ARG0) . "/picture.gnuplot"
lines = int(system("wc -l < '" . sources . "'")) - 2
rank = int(system("wc -l < '" . components . "'")) - 1
active = int(system("awk -F'\\t' '$4 == 1' '" . components . "' | wc -l"))
height = 420 + 24 * lines
eval picture(height)
set multiplot
set grid xtics ytics
# sources' names stand left of their bars
set lmargin at screen 0.2
set rmargin at screen 0.97
split = (24.0 * lines + 100) / height
# eigenvalues span orders of magnitude; those that are zero up to rounding are not drawn
set size 1, 1 - split
set origin 0, split
set logscale y
set format y "%.0e"
set xrange [0:rank + 1]
set xlabel "component"
set ylabel "variance"
set arrow 1 from active + 0.5, graph 0 to active + 0.5, graph 1 nohead dashtype 2
set label 1 sprintf("%d active", active) at active + 0.5, graph 0.95 right offset -0.5, 0
positive(x) = x > 0 ? x : NaN
plot components using 1:(positive($2)) every ::1 with lines linewidth 2 linecolor 1 title "eigenvalue", \
	components using 1:(positive($7)) every ::1 with points pointtype 7 pointsize 0.4 linecolor rgb grey \
		title "dispersion", \
	components using 1:(column(5) == 1 ? positive($7) : NaN) every ::1 with points pointtype 7 pointsize 0.7 \
		linecolor 2 title "dispersion above the threshold"
unset arrow 1
unset label 1
unset logscale y
unset format
# a bar a source: how far its mean lies from the middle, before and after
set size 1, split
set origin 0, 0
set xrange [0:*]
set yrange [lines - 0.5:-0.5]
set xlabel "distance of the source's mean from the middle"
unset ylabel
set grid noytics
set ytics scale 0
bar(row, side) = row + 0.36 * side
plot sources using (0):(bar($0, -0.5)):(0):6:(bar($0, -1)):(bar($0, 0)):yticlabels(1) every ::1::lines \
		with boxxyerror linecolor 1 title "before", \
	sources using (0):(bar($0, 0.5)):(0):7:(bar($0, 0)):(bar($0, 1)) every ::1::lines \
		with boxxyerror linecolor 2 title "after"
unset multiplot
