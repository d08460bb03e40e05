# curves.gnuplot - the cells of cells.awk as curves over the number in an arm's name ("pilots-3"), a line for each arm and type
#	gnuplot -e "cells='figure4.tsv'; last='6'; over='gates'" curves.gnuplot > figure4.svg
# An arm of no number stands at `last`; that without any is the level of the base.
set terminal svg size 640, 380 font "sans,12" noenhanced
set datafile separator tab
set ylabel "nDCG@10, x 100"
set xlabel over
set grid y
set border 3
set tics nomirror
set key outside right
lines = system(sprintf("awk -F'\\t' 'NR > 1 && $3 != \"all sets\" { arm = $2; sub(/-[0-9]*$/, \"\", arm); gsub(/ /, \"_\", $3); line = arm \":\" $3; if (!seen[line]++) print line }' %s", cells))
of(line) = sprintf("< awk -F'\\t' -v OFS='\\t' -v line=%s -v last=%s 'NR > 1 { n = $2; arm = $2; sub(/-[0-9]*$/, \"\", arm); gsub(/ /, \"_\", $3); if (arm \":\" $3 != line) next; if (!sub(/.*-/, \"\", n)) n = last; print n, $7, $5 }' %s | sort -n", line, last, cells)
name(line) = system(sprintf("echo '%s' | sed 's/:/, /; s/_/ /g'", line))
plot for [n=1:words(lines)] of(word(lines, n)) using 1:2:xtic(1) with linespoints linecolor n pointtype 7 title name(word(lines, n)), \
	for [n=1:words(lines)] of(word(lines, n)) using 1:3 with lines linecolor n dashtype 2 notitle
