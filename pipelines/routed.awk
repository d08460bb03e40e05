# routed.awk - the scores of queries, each with the gate that was chosen for it
#	pilot-route ... | mts to tsv -c _id,gate | awk -f routed.awk - gate=a a.tsv gate=b b.tsv > routed.tsv
# The files are those of mteb-score --per-query, of each gate; so is what is made.
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
