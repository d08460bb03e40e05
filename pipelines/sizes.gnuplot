# sizes.gnuplot - scores by how many pairs gates learned from: a line for each gate, a panel for each set and six gates
#	gnuplot -e "table='figure3.tsv'" sizes.gnuplot > figure3.svg
load system("dirname " . ARG0) . "/picture.gnuplot"
sets = distinct(table, '$3')
gates = distinct(table, '$2')
parts = panels_of(words(gates))
rows = (words(sets) * parts + 1) / 2
eval picture(380 * rows)
pairs = distinct(table, '$1')
set logscale x
set xtics ()
set for [n in pairs] xtics add (n real(n))
# room at both ends
set offsets graph 0.05, graph 0.05, 0, 0
set xlabel "pairs"
set ylabel "nDCG@10, x 100"
set key maxrows 2
of(set, gate, value) = strcol(3) eq set && strcol(2) eq gate ? value : NaN
set multiplot layout rows, 2
do for [s=1:words(sets)] {
	set title word(sets, s)
	do for [p=1:parts] {
		plot for [g=first_of(p, words(gates)):last_of(p, words(gates))] table using 1:(of(word(sets, s), word(gates, g), $4)) \
			every ::1 with linespoints linetype hue(g) title word(gates, g)
	}
}
unset multiplot
