# forget.gnuplot - old task against new ones: a line for each arm, a point for each learning rate
#	gnuplot -e "table='dev/forget.tsv'" forget.gnuplot > forget.svg
load system("dirname " . ARG0) . "/picture.gnuplot"
eval picture(520)
arms = distinct(table, '$1 == "forget-base" ? "" : $1')
parts = panels_of(words(arms))
# arm, rate, score of the old task, of the new ones
points = "< awk -F'\\t' -v OFS='\\t' 'FNR > 1 { run = $1 OFS $2; if (!(run in met)) order[++n] = met[run] = run; score[run, $3] = $4 } END { for (i = 1; i <= n; i++) print order[i], score[order[i], \"old\"], score[order[i], \"new\"] }' '" . table . "'"
of(arm, value) = strcol(1) eq arm ? value : NaN
set xlabel "new tasks, x 100"
set ylabel "old task, x 100"
set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
set multiplot layout 1, parts
do for [p=1:parts] {
	plot for [n=first_of(p, words(arms)):last_of(p, words(arms))] points using 4:(of(word(arms, n), $3)) \
			with linespoints linetype hue(n) title substr(word(arms, n), 8, -1), \
		points using (of("forget-base", $4)):3 with points pointtype 2 pointsize 1.5 linecolor rgb "black" title "base"
}
unset multiplot
