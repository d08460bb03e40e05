# pairs-to-beir.awk - pairs as a folder of retrieval: a query each, equal documents once
#	jq -r '[(.query | tojson), (.document | tojson)] | join("\t")' | awk -v folder=DIR -f pairs-to-beir.awk
BEGIN {
	FS = "\t"
	print "query-id\tcorpus-id\tscore" > (folder "/qrels/test.tsv")
}

!($2 in document) {
	document[$2] = ++documents
	print "{\"_id\": \"d" documents "\", \"title\": \"\", \"text\": " $2 "}" > (folder "/corpus.jsonl")
}

!($1 in query) {
	query[$1] = ++queries
	print "{\"_id\": \"q" queries "\", \"text\": " $1 "}" > (folder "/queries.jsonl")
}

!(($1, $2) in judged) {
	judged[$1, $2] = 1
	print "q" query[$1] "\td" document[$2] "\t1" > (folder "/qrels/test.tsv")
}
