# rerank-pairs.awk - the training pairs of packages as a search: queries.jsonl, documents.jsonl and train.qrels
#	awk -v out=DIR -v every=N -f rerank-pairs.awk train.jsonl
# A pair's number is the id of its texts.  Every N-th pair is a query, and its description a candidate of all queries.
BEGIN { print "query-id\tcorpus-id\tscore" > (out "/train.qrels") }

NR % every == 1 || every == 1 {
	at = index($0, ", \"document\": ")
	printf "{\"_id\": \"%d\", \"text\": %s}\n", NR, substr($0, 11, at - 11) > (out "/queries.jsonl")
	printf "{\"_id\": \"%d\", \"text\": %s\n", NR, substr($0, at + 14) > (out "/documents.jsonl")
	printf "%d\t%d\t1\n", NR, NR > (out "/train.qrels")
}
