# reze-views.awk - tables of geom by domain and seed, as reze.mk has them: means over seeds, for people
#	awk -v title=figure3 -f reze-views.awk figure3.tsv	(isoscore: domain, seed, stream, score, ...)
#	awk -v title=drift -f reze-views.awk drift.tsv	(drift: model, domain, seed, component, ...)
BEGIN { FS = "\t" }

FNR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	by = "model" in at ? "model" : "stream"
	value = by == "model" ? "moved" : "isoscore"
	next
}

by == "model" && $at["component"] != "all" { next }

{
	column = $at[by]
	sub(/\.mts$/, "", column)
	if (!seen_row[$at["domain"]]++)
		row[++rows] = $at["domain"]
	if (!seen_column[column]++)
		name[++columns] = column
	key = $at["domain"] SUBSEP column
	sum[key] += $at[value]
	square[key] += $at[value] ^ 2
	count[key]++
}

function deviation(key,    n, mean) {
	n = count[key]
	mean = sum[key] / n
	return n > 1 ? sqrt((square[key] - n * mean * mean > 0 ? square[key] - n * mean * mean : 0) / (n - 1)) : 0
}

END {
	printf "| %s: %s |", title, value
	for (c = 1; c <= columns; c++)
		printf " %s |", name[c]
	printf "\n|---|"
	for (c = 1; c <= columns; c++)
		printf "---:|"
	print ""
	for (r = 1; r <= rows; r++) {
		printf "| %s |", row[r]
		for (c = 1; c <= columns; c++) {
			key = row[r] SUBSEP name[c]
			printf " %.4f (%.4f) |", sum[key] / count[key], deviation(key)
		}
		print ""
	}
	print "\nMeans over seeds, in brackets the standard deviation over them."
}
