# scores.gnuplot - the table of scores.awk as bars: gnuplot -e "scores='FILE'" scores.gnuplot
set terminal svg size 720,360 font "sans,12"
set datafile separator tab
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 noborder
set yrange [0:1]
set ylabel "score on held-out entries"
set grid y
set xrange [-0.6:4.6]
set border 3
set tics nomirror
set key outside top center horizontal
stats scores using 2 skip 1 nooutput
rows = STATS_records
columns = 6
# a group of bars for each score, a colour for each model
set xtics ("nDCG\\@10" 0, "recall\\@10" 1, "MRR\\@10" 2, "accuracy" 3, "V-measure" 4)
set boxwidth 0.8 / rows
plot for [row=1:rows] for [column=2:columns] scores \
	using (column - 2 + (row - (rows + 1) / 2.0) * 0.8 / rows):column every ::row::row \
	with boxes linecolor row title (column == 2 ? word(system("cut -f1 " . scores), row + 1) : "")
