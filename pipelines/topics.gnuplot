# topics.gnuplot - what topics.awk makes of the table of topics, as a picture: the words of each cluster, sized by weight
#	gnuplot -e "words='words.tsv'; title='Routing weights'" topics.gnuplot > topics.svg
if (!exists("title")) title = ""
set datafile separator tab
stats words using 1 nooutput name "CLUSTERS"
stats words using 2 nooutput name "DEPTH"
set terminal svg size 60 + 190 * CLUSTERS_max, 80 + 18 * DEPTH_max font "sans,12" enhanced
unset border
unset tics
unset key
set title title noenhanced
set xrange [0.4:CLUSTERS_max + 0.6]
set yrange [DEPTH_max + 2:-1]
plot words using 1:2:3 with labels
