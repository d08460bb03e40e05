# correlation.gnuplot - the matrix of geom correlation as a heat map, a line between the files of two folders
#	gnuplot -e "matrix='correlation.tsv'; title='STS12'" correlation.gnuplot > correlation.svg
# Numbers stand in the cells of at most 16 files.
load system("dirname " . ARG0) . "/picture.gnuplot"
if (!exists("title")) title = ""
names = distinct(matrix, '$1')
count = words(names)
eval picture(count > 12 ? 720 : 220 + 48 * count)
set title title
unset grid
set border 0
set size ratio 1
set xrange [-0.5:count - 0.5]
set yrange [count - 0.5:-0.5]
set tics scale 0
set xtics () rotate by 90 right
set ytics ()
set for [i=1:count] xtics add (word(names, i) i - 1)
set for [i=1:count] ytics add (word(names, i) i - 1)
# from light to dark, blue, without a step that only hue tells
set palette defined (0 "#f7fbff", 0.5 "#6baed6", 1 "#08306b")
set cbrange [0:1]
set cblabel "correlation"
set cbtics scale 0.5
set key off
folder(name) = strstrt(name, "/") ? system("dirname '" . name . "'") : "."
do for [i=2:count] {
	if (folder(word(names, i)) ne folder(word(names, i - 1))) {
		set arrow from i - 1.5, graph 0 to i - 1.5, graph 1 nohead front linewidth 2
		set arrow from graph 0, first i - 1.5 to graph 1, first i - 1.5 nohead front linewidth 2
	}
}
cells = "< awk -F'\\t' 'FNR > 1 { for (i = 2; i <= NF; i++) printf \"%d\\t%d\\t%s\\n\", i - 2, FNR - 2, $i }' '" . matrix . "'"
plot cells using 1:2:3 with image pixels, \
	cells using 1:2:(count > 16 ? "" : sprintf("%.2f", $3)):($3 > 0.6 ? 0xffffff : 0x000000) with labels textcolor rgb variable font ",11"
