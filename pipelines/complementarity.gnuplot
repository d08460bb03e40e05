# complementarity.gnuplot - the table of complementarity.awk, of one threshold, as bars of what fails alone and together
#	gnuplot -e "table='figure2.tsv'; a='HS'; b='RW'" complementarity.gnuplot > figure2.svg
# A dot is the share that would fail alone by chance.
load system("dirname " . ARG0) . "/picture.gnuplot"
if (!exists("a")) a = "a"
if (!exists("b")) b = "b"
lines = int(system("wc -l < '" . table . "'")) - 1
eval picture(120 + 34 * lines)
set grid noytics xtics
set border 1
set xrange [0:1]
set yrange [lines - 0.4:-0.6]
set ytics scale 0
set xlabel "share of the pairs on which one fails"
set key maxrows 2
plot table using (0):0:(0):6:($0 - 0.35):($0 + 0.35):yticlabels(1) every ::1 with boxxyerror linecolor 1 title a . " succeeds, " . b . " fails", \
	table using (0):0:6:($6 + $5):($0 - 0.35):($0 + 0.35) every ::1 with boxxyerror linecolor 2 title a . " fails, " . b . " succeeds", \
	table using (0):0:($6 + $5):($6 + $5 + $7):($0 - 0.35):($0 + 0.35) every ::1 with boxxyerror linecolor rgb grey title "both fail", \
	table using 8:0 every ::1 with points pointtype 7 linecolor rgb "black" title "alone, by chance"
