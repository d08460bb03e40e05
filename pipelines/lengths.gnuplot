# lengths.gnuplot - the table of lengths.awk: how many pairs there are of each length, and how well they are ranked
#	gnuplot -e "table='figure6.tsv'" lengths.gnuplot > figure6.svg
# Bars are two standard errors: 0 where pairs are all right or all wrong.
load system("dirname " . ARG0) . "/picture.gnuplot"
names = system("head -n 1 '" . table . "' | cut -f4- | tr '\t' '\n' | awk 'NR % 2 { printf \"\\\"%s\\\" \", $0 }'")
panels = 1 + words(names)
beside = least(panels, 3)
rows = (panels + beside - 1) / beside
bins = "< grep -v -e ^all -e ^correlation '" . table . "'"
eval picture(300 * rows)
set key off
stats bins using 2 every ::1 nooutput name "END"
set xrange [0:END_max]
set xtics tick_step(END_max, 4)
set xlabel "length, tokens"
set multiplot layout rows, beside
set title "all pairs"
set ylabel "pairs"
plot bins using (($1 + $2) / 2):3:(0.9 * ($2 - $1)) every ::1 with boxes linecolor rgb grey
set yrange [0:1]
set ylabel "share ranked right"
do for [i=1:words(names)] {
	set title word(names, i)
	plot bins using (($1 + $2) / 2):2 * i + 2:(2 * column(2 * i + 3)) every ::1 with yerrorbars linecolor hue(i) pointtype -1, \
		bins using (($1 + $2) / 2):2 * i + 2 every ::1 with linespoints linetype hue(i)
}
unset multiplot
