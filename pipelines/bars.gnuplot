# bars.gnuplot - the cells of cells.awk as bars: differences by type, two standard errors up and down
#	gnuplot -e "cells='table2.tsv'" bars.gnuplot > table2.svg
pairs = system("awk -F'\\t' 'FNR > 1 && !(($1, $2) in seen) { seen[$1, $2]; print $2 \"_-_\" $1 }' " . cells)
types = int(system("awk -F'\\t' 'FNR > 1 && !seen[$3]++ { n++ } END { print n }' " . cells))
set terminal svg size 160 + types * (50 + 40 * words(pairs)), 380 font "sans,12" noenhanced
set datafile separator tab
set ylabel "difference, x 100"
set grid y
set border 3
set tics nomirror
set xzeroaxis linetype -1
set key outside top center horizontal
set style fill solid 0.4 border -1
set boxwidth 0.8 / words(pairs)
set xrange [-0.6:types - 0.4]
of(pair) = sprintf("< awk -F'\\t' -v pair=%s 'FNR > 1 && $2 \"_-_\" $1 == pair' %s", pair, cells)
name(pair) = system("echo " . pair . " | tr _ ' '")
place(row, n) = row + 0.8 * (n - 0.5) / words(pairs) - 0.4
plot of(word(pairs, 1)) using 0:(0):xticlabels(3) with dots linecolor rgb "white" notitle, \
	for [n=1:words(pairs)] of(word(pairs, n)) using (place($0, n)):9 with boxes linecolor n title name(word(pairs, n)), \
	for [n=1:words(pairs)] of(word(pairs, n)) using (place($0, n)):9:(2 * $11) with yerrorbars linecolor -1 pointtype 0 notitle
