# boxes.gnuplot - the table of boxes.awk as box plots, the groups of a set beside each other: median, quartiles, least and greatest
#	gnuplot -e "table='figure5.tsv'; axis='Spearman'" boxes.gnuplot > figure5.svg
if (!exists("axis")) axis = "score"
sets = system("awk -F'\\t' 'FNR > 1 && !seen[$1]++ { gsub(/ /, \"_\", $1); print $1 }' " . table)
groups = system("awk -F'\\t' 'FNR > 1 && !seen[$2]++ { gsub(/ /, \"_\", $2); print $2 }' " . table)
wide = 0.8 / words(groups)
set terminal svg size 100 + 60 * words(sets) * words(groups), 380 font "sans,12" noenhanced
set datafile separator tab
set ylabel axis
set grid y
set border 3
set tics nomirror
set key outside top center horizontal
set style fill solid 0.4 border -1
set boxwidth 0.8 * wide
set xrange [-0.6:words(sets) - 0.4]
set xtics ()
set for [i=1:words(sets)] xtics add (word(sets, i) i - 1)
# set and group of a line as numbers, from 0; then the table's columns from the third on
lines = "< awk -F'\\t' 'FNR > 1 { if (!($1 in s)) s[$1] = n++; if (!($2 in g)) g[$2] = m++; " \
	. "printf \"%d\\t%d\", s[$1], g[$2]; for (i = 3; i <= NF; i++) printf \"\\t%s\", $i; print \"\" }' " . table
place(set, group) = set + wide * (group - (words(groups) - 1) / 2.0)
own(group, i) = group == i - 1 ? 1 : NaN
plot for [i=1:words(groups)] lines using (place($1, $2) * own($2, i)):5:4:8:7 \
		with candlesticks whiskerbars 0.5 linecolor i title word(groups, i), \
	for [i=1:words(groups)] lines using (place($1, $2) * own($2, i)):6:6:6:6 \
		with candlesticks linecolor -1 linewidth 2 notitle
