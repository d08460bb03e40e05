# shares.gnuplot - a table of shares as a heat map: a row for each set, a column for each gate, in percent
#	gnuplot -e "table='figure7.tsv'" shares.gnuplot > figure7.svg
load system("dirname " . ARG0) . "/picture.gnuplot"
columns = int(system("head -n 1 '" . table . "' | awk -F'\\t' '{ print NF }'")) - 1
sets = distinct(table, '$1')
rows = words(sets)
gate(n) = system(sprintf("head -n 1 '%s' | cut -f%d", table, n + 1))
eval picture(130 + 34 * rows)
unset grid
set border 0
set palette defined (0 "white", 1 "#0072b2")
set cbrange [0:100]
set cblabel "percent of queries"
set cbtics scale 0.5
set xrange [-0.5:columns - 0.5]
set yrange [rows - 0.5:-0.5]
set tics scale 0
unset xtics
set ytics ()
set x2tics () rotate by 30 left offset 0, -0.3
set for [n=1:columns] x2tics add (gate(n) n - 1)
set x2range [-0.5:columns - 0.5]
set tmargin 5.5
set for [n=1:rows] ytics add (word(sets, n) n - 1)
cells = "< awk -F'\\t' 'FNR > 1 { for (i = 2; i <= NF; i++) print i - 2 \"\\t\" FNR - 2 \"\\t\" $i }' '" . table . "'"
plot cells using 1:2:3 with image pixels notitle, \
	cells using 1:2:(sprintf("%.0f", $3)):($3 > 60 ? 0xffffff : 0x000000) with labels textcolor rgb variable notitle
