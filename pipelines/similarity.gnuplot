# similarity.gnuplot - the table of geom similarity as box plots: median, quartiles, least and greatest
#	gnuplot -e "table='FILE'; model='MoTE'; against='IC'" similarity.gnuplot > similarity.svg
# With a second model its boxes stand beside, and Welch's p below.  Only some lines: grep -e ^tasks -e ^all FILE
load system("dirname " . ARG0) . "/picture.gnuplot"
if (!exists("model")) model = "model"
if (!exists("against")) against = "against"
two = words(system("head -n 1 '" . table . "'")) > 9
lines = int(system("wc -l < '" . table . "'")) - 1
PANEL = 6
panels = (lines + PANEL - 1) / PANEL
eval picture(400 * panels)
set ylabel "cosine"
set bmargin two ? 5 : 4
set boxwidth two ? 0.3 : 0.5
set xtics scale 0
place(row, side) = row + (two ? 0.4 * side - 0.2 : 0)
under(name) = strstrt(name, ":") ? name[1:strstrt(name, ":") - 1] . "\n" . name[strstrt(name, ":") + 1:*] : name . "\n"
chance(p) = p eq "" ? "" : sprintf("\np = %.2g", real(p))
label(name, p) = under(name) . chance(p)
set multiplot layout panels, 1
do for [panel=0:panels - 1] {
	first = 1 + panel * PANEL
	count = least(lines - panel * PANEL, PANEL)
	set xrange [-0.6:count - 0.4]
	# columns 5 to 9: least, lower quartile, median, upper quartile, greatest; 7 on, the other model's; 20: Welch's p
	plot table using 0:7:xticlabels(label(strcol(1), two ? strcol(20) : "")) every ::first::first + count - 1 \
			with dots linecolor rgb "white" notitle, \
		for [side=0:two] table using (place($0, side)):(column(6 + 7 * side)):(column(5 + 7 * side)): \
			(column(9 + 7 * side)):(column(8 + 7 * side)) every ::first::first + count - 1 \
			with candlesticks whiskerbars 0.5 linecolor side + 1 title (two ? side ? against : model : ""), \
		for [side=0:two] table using (place($0, side)):(column(7 + 7 * side)):(column(7 + 7 * side)): \
			(column(7 + 7 * side)):(column(7 + 7 * side)) every ::first::first + count - 1 \
			with candlesticks linetype -1 linewidth 2 notitle
}
unset multiplot
