# fuse.awk - BM25 and cosines as one score: BM25 + weight * cosine
#	awk -v weight=W -f fuse.awk bm25.run cosine.run		the run
#	awk -v weights="2 4 8" -f fuse.awk bm25.run cosine.run	the weight with the best nDCG@10, where a query's only
#								relevant document has the query's id
# A document that a run lacks gets the score of the run's last document; 0 in BM25 if the query has fewer than 100
# documents, since no other document has a word of it.
FNR == 1 { file++ }

{
	if (!(($1, $3) in at)) {
		at[$1, $3] = ++rows
		query[rows] = $1
		document[rows] = $3
	}
	score[file, at[$1, $3]] = $5
	found[file, $1]++
	if (!((file, $1) in last) || $5 < last[file, $1])
		last[file, $1] = $5
}

END {
	for (i = 1; i <= rows; i++)
		for (file = 1; file <= 2; file++)
			if (!((file, i) in score))
				score[file, i] = file == 1 && found[1, query[i]] < 100 ? 0 : last[file, query[i]]
	if (weights == "")
		for (i = 1; i <= rows; i++)
			printf "%s Q0 %s 1 %.6f fused\n", query[i], document[i], fused(i, weight)
	else
		print best()
}

function fused(i, weight) {
	return score[1, i] + weight * score[2, i]
}

function best(    n, w, list, gain, most, chosen) {
	n = split(weights, list, " ")
	for (w = 1; w <= n; w++) {
		gain = gains(list[w])
		if (w == 1 || gain > most) {
			most = gain
			chosen = list[w]
		}
	}
	return chosen
}

function gains(weight,    i, q, above, sum) {
	for (i = 1; i <= rows; i++) {
		q = query[i]
		if ((q, q) in at && fused(i, weight) > fused(at[q, q], weight))
			above[q]++
	}
	for (i = 1; i <= rows; i++)
		if (query[i] == document[i] && above[query[i]] < 10)
			sum += log(2) / log(2 + above[query[i]])
	return sum
}
