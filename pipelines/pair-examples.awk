# pair-examples.awk - paraphrases that one model ranks right and the other wrong (MoEE, Tables 6, 7)
#	awk -v top=5 -v a=HS -v b=RW -f ranks.awk -f pair-examples.awk texts.tsv hs.tsv rw.tsv
# texts.tsv has a header line and each pair's id and two sentences, the others are tables of mteb-score sts --per-query.
# Takes, from the quarter with the highest gold scores, the pairs whose rank is furthest off for one model and nearest for the
# other: first those where a is right, then b.  A line for each pair: the model that is right, the gold score, the rank error
# of each model as a share of all pairs, the sentences.
BEGIN { top = top ? top : 5 }

FNR == 1 {
	if (files++ == 0)
		next
	of_gold = column_of("gold")
	of_similarity = column_of(similarity_name ? similarity_name : "similarity")
	next
}

files == 1 {
	one[$1] = $2
	other[$1] = $3
	next
}

{
	if (!($1 in one))
		fail(FILENAME ": of the pair '" $1 "' there are no texts")
	n = ++pairs[files]
	if (files == 2)
		id[n] = $1
	else if (id[n] != $1)
		fail(FILENAME ": the pair '" $1 "' stands elsewhere in the table before")
	gold[n] = number($of_gold)
	if (files == 2)
		of_a[n] = number($of_similarity)
	else
		of_b[n] = number($of_similarity)
}

# The pair among the high ones that is best for `right` and worst for `wrong`, and was not yet shown.
function next_best(right, wrong,    i, best) {
	for (i = 1; i <= n; i++)
		if (high[i] > 0.75 * n && !(i in shown) && (!best || wrong[i] - right[i] > wrong[best] - right[best]))
			best = i
	return best && wrong[best] > right[best] ? best : 0
}

function list(name, right, wrong,    i, k) {
	split("", shown)
	for (k = 1; k <= top && (i = next_best(right, wrong)); k++) {
		shown[i] = 1
		printf "%s\t%s\t%.3f\t%.3f\t%s\t%s\n", name, gold[i], off_a[i], off_b[i], one[id[i]], other[id[i]]
	}
}

END {
	if (failed)
		exit 1
	if (files != 3 || pairs[2] != pairs[3])
		fail("pair-examples: two tables of the same pairs are needed")
	ranks(gold, n, high)
	deviations(of_a, gold, n, off_a)
	deviations(of_b, gold, n, off_b)
	print "right", "gold", a "_off", b "_off", "sentence1", "sentence2"
	list(a, off_a, off_b)
	list(b, off_b, off_a)
}
