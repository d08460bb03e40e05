# speed.gnuplot - README's table of what bench times, as a picture: seconds of ours and of the peer, and how many times as fast
#	gnuplot tests/bench/speed.gnuplot > share/pictures/speed.svg
here = system("dirname " . ARG0)
load here . "/../../pipelines/picture.gnuplot"
readme = here . "/../../README.md"
# columns: what, ours, peer, ratio
rows = "< awk -F ' *[|] *' -v OFS='\t' '/^[|] what [|] ours [|] peer/ { on = 1; next } !/^[|]/ { on = 0 } on && $2 !~ /^-/ { print $2, $3, $4, $5 }' " . readme
machine = system("awk '/^## Figures/ { on = 1 } on && /^[A-Z]/ { sub(/[.].*/, \"\"); print tolower(substr($0, 1, 1)) substr($0, 2); exit }' " . readme)
stats rows using 2:3 nooutput
count = STATS_records
eval picture(105 + 32 * count)
set xlabel "seconds, " . machine textcolor rgb "#555555"
set border 1
set grid noytics xtics
set logscale x
set format x "%g"
# room for words at the right
set xrange [STATS_min_x / 1.5:STATS_max_y * 12]
set lmargin at screen 0.37
set rmargin at screen 0.99
set key at screen 0.5, 0.98 center top
set yrange [count - 0.5:-0.7]
set ytics scale 0
set mxtics 1
plot rows using 2:0:($3 - $2):(0):yticlabels(1) with vectors nohead linecolor rgb grey linewidth 2 notitle, \
	rows using 2:0 with points linetype 1 pointsize 1 title "motes", \
	rows using 3:0 with points linetype 2 pointsize 1 title "peer", \
	rows using 3:0:(sprintf("   %g times as fast", $4)) with labels left notitle
