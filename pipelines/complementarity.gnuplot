# complementarity.gnuplot - the table of complementarity.awk, of one threshold, as bars of what fails alone and together
#	gnuplot -e "table='figure2.tsv'; a='HS'; b='RW'" complementarity.gnuplot > figure2.svg
# A dot is the share that would fail alone by chance.
if (!exists("a")) a = "a"
if (!exists("b")) b = "b"
lines = int(system("wc -l < " . table)) - 1
set terminal svg size 340 + 70 * lines, 360 font "sans,12" noenhanced
set datafile separator tab
set style data histograms
set style histogram rowstacked
set style fill solid 0.5 border -1
set boxwidth 0.7
set yrange [0:1]
set xrange [-0.6:lines - 0.4]
set ylabel "share of the pairs on which one fails"
set border 3
set tics nomirror
set key outside right reverse Left invert samplen 2
plot table using 6:xticlabels(1) every ::1 linecolor 1 title a . " succeeds, " . b . " fails", \
	table using 5 every ::1 linecolor 2 title a . " fails, " . b . " succeeds", \
	table using 7 every ::1 linecolor rgb "gray" title "both fail", \
	table using 0:8 every ::1 with points pointtype 7 linecolor -1 title "alone, by chance"
