# topics.gnuplot - what topics.awk makes of the table of topics, as a picture: the words of each cluster, sized by weight
#	gnuplot -e "words='words.tsv'; title='Routing weights'" topics.gnuplot > topics.svg
# Four clusters beside each other.
load system("dirname " . ARG0) . "/picture.gnuplot"
if (!exists("title")) title = ""
stats words using 1 nooutput name "CLUSTERS"
stats words using 2 nooutput name "DEPTH"
beside = int(least(CLUSTERS_max, 4))
rows = int(CLUSTERS_max + beside - 1) / beside
eval picture(60 + rows * (50 + 18 * DEPTH_max))
unset border
unset tics
unset grid
unset key
set title title
set xrange [0.4:beside + 0.6]
set yrange [rows * (DEPTH_max + 3) - 1:-1]
row(n) = (int(n) - 1) / beside
# each word is a plot of its own, because a plot has one font; signs of enhanced text are escaped
sizes = system("cut -f3 '" . words . "'")
depths = system("cut -f2 '" . words . "'")
colour(i) = real(word(depths, i)) == 0 ? "#0072b2" : "black"
plot for [i=1:words(sizes)] words using ($1 - beside * row($1)):($2 + row($1) * (DEPTH_max + 3)):4 every ::i - 1::i - 1 \
	with labels font "sans-serif," . word(sizes, i) textcolor rgb colour(i)
