# routed.awk - the scores of queries, each with its chosen gate
#	pilot-route ... | mts to tsv -c _id,gate | awk -f routed.awk - gate=a a.tsv gate=b b.tsv > routed.tsv
# Files and output are tables of mteb-score --per-query, one for each gate.
BEGIN { FS = "\t" }

FNR == 1 {
	files++
	if (files == 2)
		print
	next
}

files == 1 {
	chosen[$1] = $2
	next
}

chosen[$1] == gate { print }
