# descriptions.awk - judgements of descriptions: relevant entries have one of the words asked for
#	awk -v half=tune|kept -f descriptions.awk descriptions.tsv lookup.tsv
BEGIN { FS = "\t"; print "query-id\tcorpus-id\tscore" }

FNR == 1 { next }

NR == FNR {
	count = $1 == half ? split($2, words, ",") : 0
	for (i = 1; i <= count; i++)
		asks[words[i]] = asks[words[i]] " " FNR
	next
}

{
	own = $2
	sub(/;.*/, "", own)
	count = split(own, words, ", ")
	for (i = 1; i <= count; i++) {
		some = split(asks[words[i]], queries, " ")
		for (j = 1; j <= some; j++)
			if (!told[queries[j], $1]++)
				print queries[j] "\t" $1 "\t1"
	}
}
