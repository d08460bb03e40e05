# bm25.awk - search by words: BM25 with k1 = 1.2 and b = 0.75, as a run of TREC's six columns
#	awk -f terms.awk -f bm25.awk corpus.jsonl queries.jsonl | mteb-score retrieval --qrels QRELS --from-run -
# Both files are in the layout of BEIR, an object a line: _id, title, text.  A term's weight is Lucene's,
# log(1 + (N - n + 0.5) / (n + 0.5)), and so is the score, without the factor k1 + 1.
# Writes a query's best 100 documents, and those within 0.05 of the last, in no order: the rank is always 1.
BEGIN {
	OFS = " "
	most = 100
	k1 = 1.2
	b = 0.75
}

FNR == 1 { file++ }

file == 1 {
	id[++documents] = member("_id")
	size[documents] = terms(member("title") " " member("text"))
	total += size[documents]
	split("", times)
	for (i = 1; i <= size[documents]; i++)
		times[term[i]]++
	for (t in times) {
		n = ++holders[t]
		holder[t, n] = documents
		frequency[t, n] = times[t]
	}
	next
}

{
	query = member("_id")
	count = terms(member("text"))
	split("", score)
	for (q = 1; q <= count; q++)
		add(term[q])
	least = cut()
	for (d in score)
		if (int(20 * score[d]) >= least)
			print query, "Q0", id[d], 1, sprintf("%.6f", score[d]), "bm25"
}

function add(t,    n, i, d, idf) {
	n = holders[t]
	idf = log(1 + (documents - n + 0.5) / (n + 0.5))
	for (i = 1; i <= n; i++) {
		d = holder[t, i]
		score[d] += idf * frequency[t, i] / (frequency[t, i] + k1 * (1 - b + b * size[d] * documents / total))
	}
}

# the score, in twentieths, from which on the best documents are
function cut(    d, level, highest, at_level, found) {
	split("", at_level)
	for (d in score) {
		level = int(20 * score[d])
		at_level[level]++
		if (level > highest)
			highest = level
	}
	for (level = highest + 1; level > 0 && found < most; found += at_level[level])
		level--
	return level
}
