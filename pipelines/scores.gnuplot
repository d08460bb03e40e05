# scores.gnuplot - the table of scores.awk as bars, a group for each score, a colour for each model, a panel for every six
#	gnuplot -e "scores='FILE'" scores.gnuplot
load system("dirname " . ARG0) . "/picture.gnuplot"
models = distinct(scores, '$1')
panels = panels_of(words(models))
beside = least(words(models), SERIES)
eval picture(380 * panels)
set yrange [0:1]
set ylabel "score on held-out entries"
set xrange [-0.6:4.6]
set xtics scale 0
set xtics ("nDCG@10" 0, "recall@10" 1, "MRR@10" 2, "accuracy" 3, "V-measure" 4)
set boxwidth 0.8 / beside
of(n, value) = strcol(1) eq word(models, n) ? value : NaN
place(column, n) = column - 2 + ((n - 1) % SERIES - (beside - 1) / 2.0) * 0.8 / beside
set multiplot layout panels, 1
do for [p=1:panels] {
	plot for [n=(p - 1) * SERIES + 1:last_of(p, words(models))] for [column=2:6] scores \
		using (place(column, n)):(of(n, column(column))) every ::1 with boxes linecolor hue(n) title (column == 2 ? word(models, n) : "")
}
unset multiplot
