# lengths.awk - how well pairs of sentences are ranked by their length (MoEE, Figure 6)
#	awk -v step=10 -v threshold=0.2 -f ranks.awk -f lengths.awk lengths.tsv hs.tsv rw.tsv
# lengths.tsv has a header line and each pair's id and length; the others are tables of mteb-score sts --per-query.  A pair
# is right if the ranks of its similarity and of its gold score differ by at most this share of all pairs.
# A line for each bin, from <= length < to: its pairs, and for each table the share that is right and its standard error;
# then a line for all pairs, and Spearman's correlation of length and deviation, positive if longer pairs are worse.
# Tokens of a pair's sentence, on average:
#	tok -m MODEL -f sentence1 -f sentence2 pairs.jsonl | mts to jsonl |
#	    jq -r '[input_line_number, ((."sentence1.ids" | length) + (."sentence2.ids" | length)) / 2] | @tsv'
BEGIN {
	step = step ? step : 10
	threshold = threshold == "" ? 0.2 : threshold
}

FNR == 1 {
	if (files++ == 0)
		next
	if (files > 2)
		finish()
	names[++tables] = FILENAME
	sub(/\.tsv$/, "", names[tables])
	of_gold = column_of("gold")
	of_similarity = column_of(similarity_name ? similarity_name : "similarity")
	n = 0
	next
}

files == 1 {
	if ($1 in length_of)
		fail(FILENAME ": the id '" $1 "' occurs again")
	length_of[$1] = number($2)
	next
}

{
	if (!($1 in length_of))
		fail(FILENAME ": of the pair '" $1 "' there is no length")
	long[++n] = length_of[$1]
	gold[n] = number($of_gold)
	similarity[n] = number($of_similarity)
}

# The table that ends here.
function finish(    i, bin) {
	if (n == 0)
		fail("lengths: " names[tables] ": there are no pairs in it")
	deviations(similarity, gold, n, off)
	for (i = 1; i <= n; i++) {
		bin = int(long[i] / step)
		last = bin > last ? bin : last
		pairs[tables, bin]++
		right[tables, bin] += off[i] <= threshold
		pairs[tables, "all"]++
		right[tables, "all"] += off[i] <= threshold
	}
	rho[tables] = spearman(long, off, n)
}

function line(from, to, bin,    i, share) {
	printf "%s\t%s\t%d", from, to, pairs[1, bin]
	for (i = 1; i <= tables; i++) {
		if (pairs[i, bin] != pairs[1, bin])
			fail("lengths: " names[i] ": it has other pairs than " names[1])
		share = pairs[i, bin] ? right[i, bin] / pairs[i, bin] : 0
		if (pairs[i, bin])
			printf "\t%.6f\t%.6f", share, sqrt(share * (1 - share) / pairs[i, bin])
		else
			printf "\t\t"
	}
	print ""
}

END {
	if (failed)
		exit 1
	if (!tables)
		fail("lengths: lengths and a table at least are needed")
	finish()
	printf "from\tto\tpairs"
	for (i = 1; i <= tables; i++)
		printf "\t%s\t%s_error", names[i], names[i]
	print ""
	for (bin = 0; bin <= last; bin++)
		line(bin * step, (bin + 1) * step, bin)
	line("all", "", "all")
	printf "correlation\t\t%d", pairs[1, "all"]
	for (i = 1; i <= tables; i++)
		printf "\t%.6f\t", rho[i]
	print ""
}
