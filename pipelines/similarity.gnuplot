# similarity.gnuplot - the table of geom similarity as box plots: median, quartiles, least and greatest
#	gnuplot -e "table='FILE'; model='MoTE'; against='IC'" similarity.gnuplot > similarity.svg
# With a second model its boxes stand beside, and Welch's p below.  Only some lines: grep -e ^tasks -e ^all FILE
if (!exists("model")) model = "model"
if (!exists("against")) against = "against"
two = words(system("head -n 1 " . table)) > 9
lines = int(system("wc -l < " . table)) - 1
set terminal svg size 100 + 150 * lines, 380 font "sans,12" noenhanced
set datafile separator tab
set ylabel "cosine"
set grid y
set xrange [-0.6:lines - 0.4]
set border 3
set tics nomirror
set bmargin two ? 5 : 4
set key outside top center horizontal
set style fill solid 0.4 border -1
set boxwidth two ? 0.3 : 0.5
place(row, side) = row + (two ? 0.4 * side - 0.2 : 0)
under(name) = strstrt(name, ":") ? name[1:strstrt(name, ":") - 1] . "\n" . name[strstrt(name, ":") + 1:*] : name . "\n"
chance(p) = p eq "" ? "" : sprintf("\np = %.2g", real(p))
label(name, p) = under(name) . chance(p)
# columns 5 to 9: least, lower quartile, median, upper quartile, greatest; 7 on, the other model's; 20: Welch's p
plot table using 0:7:xticlabels(label(strcol(1), two ? strcol(20) : "")) every ::1 with dots linecolor rgb "white" notitle, \
	for [side=0:two] table using (place($0, side)):(column(6 + 7 * side)):(column(5 + 7 * side)): \
		(column(9 + 7 * side)):(column(8 + 7 * side)) every ::1 \
		with candlesticks whiskerbars 0.5 linecolor side + 1 title (two ? side ? against : model : ""), \
	for [side=0:two] table using (place($0, side)):(column(7 + 7 * side)):(column(7 + 7 * side)): \
		(column(7 + 7 * side)):(column(7 + 7 * side)) every ::1 with candlesticks linecolor -1 linewidth 2 notitle
