# versus.awk - scores of several systems, and their paired differences from the first
#	awk -v by="search by" -f versus.awk column=all row=BM25 bm25.tsv row="the model" model.tsv [column=few ids=IDS row=BM25 ...]
# Files are tables of mteb-score --per-query.  With ids=FILE a column has only the queries in FILE.
# Prints nDCG@10, and the difference ± its standard error over the queries; at most 80 letters a line with three columns.
BEGIN { FS = "\t" }

FNR == 1 {
	for (f = 1; f <= NF; f++)
		if ($f == "ndcg_at_10")
			at = f
	begin()
	next
}

ids == "" || ($1 in wanted) {
	n[row, column]++
	sum[row, column] += $at
	score[row, column, $1] = $at
	d = $at - score[rows[1], column, $1]
	difference[row, column] += d
	square[row, column] += d * d
}

END {
	printf "%-16s", by
	for (c = 1; c <= columns; c++)
		printf c < columns ? " %-20s" : " %s", names[c] ", " n[rows[1], names[c]]
	printf "\n%-16s", ""
	for (c = 1; c <= columns; c++)
		printf c < columns ? " %-5s %-14s" : " %-5s %s", "ndcg", "- " rows[1]
	print ""
	for (r = 1; r <= count; r++) {
		line = sprintf("%-16s", rows[r])
		for (c = 1; c <= columns; c++)
			line = line " " cell(rows[r], names[c])
		sub(/ +$/, "", line)
		print line
	}
}

# at the start of a file: its row and column
function begin(    line) {
	if (!(row in seen)) {
		seen[row]
		rows[++count] = row
	}
	if (column in met)
		return
	met[column]
	names[++columns] = column
	split("", wanted)
	while (ids != "" && (getline line < ids) > 0)
		wanted[line]
}

# 20 characters; the sign ± may count as two
function cell(r, c,    k, mean, error) {
	k = n[r, c]
	if (k < 2)
		return sprintf("%-20s", k ? sprintf("%.3f", sum[r, c]) : "-")
	mean = difference[r, c] / k
	error = sqrt((square[r, c] / k - mean * mean) / (k - 1))
	return sprintf("%.3f ", sum[r, c] / k) (r == rows[1] ? sprintf("%14s", "") : sprintf("%+.3f ± %.3f", mean, error))
}
