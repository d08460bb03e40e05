# shares.gnuplot - a table of shares as a heat map: a row for each set, a column for each gate, in percent
#	gnuplot -e "table='figure7.tsv'" shares.gnuplot > figure7.svg
columns = int(system("head -n 1 " . table . " | awk -F'\\t' '{ print NF }'")) - 1
rows = int(system("wc -l < " . table)) - 1
gate(n) = system(sprintf("head -n 1 %s | cut -f%d", table, n + 1))
set(n) = system(sprintf("sed -n %dp %s | cut -f1", n + 1, table))
set terminal svg size 220 + 90 * columns, 120 + 40 * rows font "sans,12" noenhanced
set datafile separator tab
set palette defined (0 "white", 1 "#2060a0")
set cbrange [0:100]
set cblabel "percent of queries"
set xrange [-0.5:columns - 0.5]
set yrange [rows - 0.5:-0.5]
set tics scale 0
unset xtics
set for [n=1:columns] x2tics (gate(n) n - 1)
set x2tics rotate by 30 left offset 0, -0.3
set x2range [-0.5:columns - 0.5]
set tmargin 6
do for [n=1:rows] { set ytics add (set(n) n - 1) }
cells = sprintf("< awk -F'\\t' 'NR > 1 { for (i = 2; i <= NF; i++) print i - 2 \"\\t\" NR - 2 \"\\t\" $i }' %s", table)
plot cells using 1:2:3 with image notitle, \
	cells using 1:2:(sprintf("%.0f", $3)) with labels notitle
