# means.awk - tables of an id and numbers, with the same lines, as one: the mean of each number
#	awk -f means.awk seed-1/queries.tsv seed-2/queries.tsv...
BEGIN { FS = OFS = "\t" }

FNR == 1 {
	tables++
	heads = $0
	next
}

!($1 in place) {
	place[$1] = ++rows
	id[rows] = $1
}

{
	columns = NF
	for (i = 2; i <= NF; i++)
		sum[$1, i] += $i
}

END {
	print heads
	for (n = 1; n <= rows; n++) {
		printf "%s", id[n]
		for (i = 2; i <= columns; i++)
			printf "\t%.9g", sum[id[n], i] / tables
		print ""
	}
}
