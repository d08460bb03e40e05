# sizes.gnuplot - scores by how many pairs gates learned from: a picture for each set, a line for each gate
#	gnuplot -e "table='figure3.tsv'" sizes.gnuplot > figure3.svg
sets = system("awk -F'\\t' 'NR > 1 && !seen[$3]++ { print $3 }' " . table)
gates = system("awk -F'\\t' 'NR > 1 && !seen[$2]++ { print $2 }' " . table)
rows = (words(sets) + 1) / 2
set terminal svg size 800, 260 * rows font "sans,11" noenhanced
set datafile separator tab
set multiplot layout rows, 2
set logscale x
set border 3
set tics nomirror
set grid y
set key outside right samplen 1
of(set, gate) = sprintf("< awk -F'\\t' -v set=%s -v gate=%s '$3 == set && $2 == gate' %s", set, gate, table)
do for [s=1:words(sets)] {
	set title word(sets, s)
	plot for [g=1:words(gates)] of(word(sets, s), word(gates, g)) using 1:4 with linespoints linecolor g title word(gates, g)
}
unset multiplot
