# lengths.gnuplot - the table of lengths.awk: how many pairs there are of each length, and how well they are ranked
#	gnuplot -e "table='figure6.tsv'" lengths.gnuplot > figure6.svg
names = system("head -n 1 " . table . " | cut -f4-")
panels = 1 + words(names) / 2
bins = "< grep -v -e ^all -e ^correlation " . table
set terminal svg size 60 + 320 * panels, 320 font "sans,12" noenhanced
set datafile separator tab
set style fill solid 0.4 border -1
set border 3
set tics nomirror
set key off
set xrange [0:*]
set xlabel "length"
set multiplot layout 1, panels
set ylabel "pairs"
plot bins using (($1 + $2) / 2):3:($2 - $1) every ::1 with boxes
set yrange [0:1]
set ylabel "right"
do for [i=1:panels - 1] {
	set title word(names, 2 * i - 1)
	plot bins using (($1 + $2) / 2):2 * i + 2:2 * i + 3 every ::1 with yerrorlines pointtype 7 linecolor i
}
unset multiplot
