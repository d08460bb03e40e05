# approximate.gnuplot - recall@10 against queries a second, as tests/bench/approximate.sh measures them
#	gnuplot tests/bench/approximate.gnuplot > share/pictures/search.svg
here = system("dirname " . ARG0)
load here . "/../../pipelines/picture.gnuplot"
if (!exists("table")) table = here . "/approximate.tsv"
if (!exists("threads")) threads = 1
rows(what) = sprintf("< awk -F '\t' '$1 == \"%s\" && $2 == %d { print $4, $5, $3 }' OFS='\t' %s", what, threads, table)
eval picture(420)
set xlabel "recall@10" textcolor rgb "#555555"
set ylabel "queries a second" textcolor rgb "#555555"
set logscale y
set format y "%.0f"
set xrange [0.8:1]
plot for [what in "'near --beam' 'near --probe' 'FAISS HNSW' usearch 'usearch i8' 'FAISS IVF'"] \
	rows(what) using 1:2 with linespoints linetype hue(place_in("'near --beam' 'near --probe' 'FAISS HNSW' usearch 'usearch i8' 'FAISS IVF'", what)) title what, \
	rows("near --beam") using 1:2:3 with labels offset 0, 0.8 notitle
