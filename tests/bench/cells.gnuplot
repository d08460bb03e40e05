# cells.gnuplot - recall@10 against queries a second, as tests/bench/cells.sh measures them
#	gnuplot -e "table='cells.tsv'; threads=1; cells=1024" tests/bench/cells.gnuplot > cells.svg
here = system("dirname " . ARG0)
load here . "/../../pipelines/picture.gnuplot"
if (!exists("threads")) threads = 1
if (!exists("cells")) cells = 1024
rows(what) = sprintf("< awk -F '\t' '$1 == \"%s\" && $2 == %d && $3 == %d { print $5, $6, $4 }' %s", what, threads, cells, table)
eval picture(420)
set xlabel "recall@10" textcolor rgb "#555555"
set ylabel "queries a second" textcolor rgb "#555555"
set logscale y
set key left bottom
plot rows("near") using 1:2 with linespoints linetype 1 title "near --probe", \
	rows("near") using 1:2:3 with labels offset 0, 0.8 notitle, \
	rows("FAISS, same") using 1:2 with linespoints linetype 2 title "FAISS IVF, the same cells"
