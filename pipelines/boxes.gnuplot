# boxes.gnuplot - the table of boxes.awk as box plots, the groups of a set beside each other: median, quartiles, least and greatest
#	gnuplot -e "table='figure5.tsv'; axis='Spearman'" boxes.gnuplot > figure5.svg
# A panel for every six groups.
load system("dirname " . ARG0) . "/picture.gnuplot"
if (!exists("axis")) axis = "score"
sets = distinct(table, '$1')
groups = distinct(table, '$2')
panels = panels_of(words(groups))
beside = per_panel(words(groups))
wide = 0.8 / beside
eval picture(panels * 400)
set ylabel axis
set boxwidth 0.8 * wide
set xrange [0.4:words(sets) + 0.6]
set xtics () scale 0
if (words(sets) > 7) { set xtics rotate by 35 right }
set for [i=1:words(sets)] xtics add (word(sets, i) i)
place(g) = strcol(2) eq word(groups, g) ? place_in(sets, strcol(1)) + wide * ((g - 1) % beside - (beside - 1) / 2.0) : NaN
set multiplot layout panels, 1
do for [p=1:panels] {
	plot for [g=first_of(p, words(groups)):last_of(p, words(groups))] table using (place(g)):5:4:8:7 every ::1 \
			with candlesticks whiskerbars 0.5 linecolor hue(g) title word(groups, g), \
		for [g=first_of(p, words(groups)):last_of(p, words(groups))] table using (place(g)):6:6:6:6 every ::1 \
			with candlesticks linetype -1 linewidth 2 notitle
}
unset multiplot
