# boxes.awk - quartiles of scores for box plots: a table with one score a line, by set and group
#	awk -v set=data -v group=method -v score=spearman -f ranks.awk -f boxes.awk scores.tsv		(MoEE, Figure 5: over prompts)
# set, group and score are columns, by default called that.  A line for each set and group, in the order in which they
# come: set, group, lines, min, q1, median, q3, max (interpolated as numpy does), mean, deviation (of a sample).
BEGIN {
	set = set == "" ? "set" : set
	group = group == "" ? "group" : group
	score = score == "" ? "score" : score
}

FNR == 1 {
	of_set = column_of(set)
	of_group = column_of(group)
	of_score = column_of(score)
	next
}

{
	key = $of_set FS $of_group
	if (!(key in count))
		keys[++boxes] = key
	# sorted as they come
	new = number($of_score)
	for (i = ++count[key]; i > 1 && value[key, i - 1] > new; i--)
		value[key, i] = value[key, i - 1]
	value[key, i] = new
}

function quantile(key, share,    at, below) {
	at = 1 + share * (count[key] - 1)
	below = int(at)
	if (below == count[key])
		return value[key, below]
	return value[key, below] + (at - below) * (value[key, below + 1] - value[key, below])
}

END {
	if (failed)
		exit 1
	print "set", "group", "lines", "min", "q1", "median", "q3", "max", "mean", "deviation"
	for (n = 1; n <= boxes; n++) {
		key = keys[n]
		sum = squares = 0
		for (i = 1; i <= count[key]; i++)
			sum += value[key, i]
		mean = sum / count[key]
		for (i = 1; i <= count[key]; i++)
			squares += (value[key, i] - mean) ^ 2
		printf "%s\t%d", key, count[key]
		for (i = 0; i <= 4; i++)
			printf "\t%.6f", quantile(key, i / 4)
		printf "\t%.6f\t", mean
		if (count[key] > 1)
			printf "%.6f", sqrt(squares / (count[key] - 1))
		print ""
	}
}
