# log.gnuplot - the log of train: loss, scores of the held-out data and learning rate by step, a panel each
#	gnuplot -e "log='tuned.log.tsv'" log.gnuplot > tuned.log.svg
# The loss of a step depends on its batch: the line is the mean of the steps up to it, as many as a fiftieth of all.
load system("dirname " . ARG0) . "/picture.gnuplot"
scores = system("head -n 1 '" . log . "' | tr '\\t' '\\n' | grep '^dev_' | grep -v '^dev_loss$'")
held_out = system("head -n 1 '" . log . "' | tr '\\t' '\\n' | grep -c '^dev_loss$'") + 0
last = system("tail -n 1 '" . log . "' | cut -f 1") + 0
window = floor(last / 50) > 1 ? floor(last / 50) : 1
# step and value of a column, by its name, where it has one; the mean of the last n
of(name, n) = "< awk -F'\\t' -v OFS='\\t' -v name=" . name . " -v n=" . n . " 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } $c != \"\" { sum += $c - (k >= n ? past[k % n] : 0); past[k++ % n] = $c; print $1, sum / (k < n ? k : n) }' '" . log . "'"
panels = words(scores) ? 3 : 2
eval picture(60 + 200 * panels)
set multiplot layout panels, 1
set xrange [0:last > 1 ? last : 1]
set lmargin 11
set rmargin 3
set ylabel "loss" offset 1
plot of("loss", 1) using 1:2 with lines linewidth 1 linecolor rgb (window > 1 ? grey : "#0072b2") title "of a step", \
	for [n in window > 1 ? "loss" : ""] of(n, window) using 1:2 with lines linetype 1 title sprintf("mean of %d steps", window), \
	for [n in held_out ? "dev_loss" : ""] of(n, 1) using 1:2 with linespoints linetype 2 pointsize 0.6 title "held-out data"
if (words(scores)) {
	set ylabel "held-out data"
	plot for [n=1:words(scores)] of(word(scores, n), 1) using 1:2 with linespoints linetype hue(n) pointsize 0.6 title word(scores, n)[5:]
}
set xlabel "step"
set ylabel "learning rate"
set yrange [0:*]
plot of("lr", 1) using 1:2 with lines linetype 1 notitle
unset multiplot
