# complementarity.awk - pairs of sentences that one model ranks right and the other wrong (MoEE, Figure 2)
#	awk -v thresholds="0.1 0.2" -f ranks.awk -f complementarity.awk hs/STS12.tsv rw/STS12.tsv hs/STS13.tsv rw/STS13.tsv
# Reads two tables of mteb-score sts --per-query for each data set, of the same pairs.  A model fails on a pair if the rank
# of its similarity differs from that of the gold score by more than this share of all pairs.  The paper's threshold is not
# published (0.2 here).  A line for each data set and threshold: the pairs, the pairs with a failure, and of the latter
# the shares where only a fails, only b fails, and both fail; independent: the share of single failures if a and b failed
# independently.  A smaller share means that they fail together.
BEGIN {
	count = split(thresholds == "" ? "0.2" : thresholds, threshold, " ")
	print "set", "threshold", "pairs", "failed", "a_fails", "b_fails", "both_fail", "independent"
}

FNR == 1 {
	if (files == 2) {
		report()
		files = 0
	}
	if (++files == 1) {
		split("", place)
		set = bare(FILENAME)
		pairs = 0
	}
	of_gold = column_of("gold")
	of_similarity = column_of(similarity_name ? similarity_name : "similarity")
	rows[files] = 0
	next
}

files == 1 {
	if ($1 in place)
		fail(FILENAME ": the id '" $1 "' occurs again")
	place[$1] = ++pairs
}

{
	if (!($1 in place))
		fail(FILENAME ": there is no pair '" $1 "' in the table before")
	at = place[$1]
	if (files == 2 && number($of_gold) != gold[at])
		fail(FILENAME ": the pair '" $1 "' has another gold score than in the table before")
	rows[files]++
	gold[at] = number($of_gold)
	if (files == 1)
		one[at] = number($of_similarity)
	else
		other[at] = number($of_similarity)
}

function report(    i, t, a, b, both, n, p, q) {
	if (files != 2 || rows[2] != pairs)
		fail("complementarity: " set ": two tables of the same pairs are needed")
	deviations(one, gold, pairs, off)
	deviations(other, gold, pairs, other_off)
	for (t = 1; t <= count; t++) {
		a = b = both = 0
		for (i = 1; i <= pairs; i++)
			if (off[i] > threshold[t])
				other_off[i] > threshold[t] ? both++ : a++
			else
				b += other_off[i] > threshold[t]
		n = a + b + both
		p = (a + both) / pairs
		q = (b + both) / pairs
		if (n == 0)
			print set, threshold[t], pairs, 0, "", "", "", ""
		else
			printf "%s\t%s\t%d\t%d\t%.6f\t%.6f\t%.6f\t%.6f\n", set, threshold[t], pairs, n, a / n, b / n, both / n, \
			    (p + q - 2 * p * q) / (p + q - p * q)
	}
}

END {
	if (failed)
		exit 1
	report()
}
