# packages-beir.awk - the table of packages.awk as training pairs and a BEIR folder
#	awk -v out=DIR -f json.awk -f packages-beir.awk table.tsv
# A query is a synopsis, its document the description; both have the package's name as id.
#	train.jsonl			{query, document}
#	PART.jsonl, PART.qrels		of the parts dev and test: queries and their judgements, as BEIR has them
#	corpus.jsonl			descriptions of both, and of all programs
#	synopses.tsv			_id, text of each package
BEGIN {
	FS = OFS = "\t"
	print "_id", "text" > (out "/synopses.tsv")
	print "query-id", "corpus-id", "score" > (out "/dev.qrels")
	print "query-id", "corpus-id", "score" > (out "/test.qrels")
}

FNR == 1 { next }

{
	id = $1; part = $2; synopsis = $4; description = $5
	print id, synopsis > (out "/synopses.tsv")
	if (part == "train")
		print "{\"query\": " string(synopsis) ", \"document\": " string(description) "}" > (out "/train.jsonl")
	else {
		print text(id, synopsis) > (out "/" part ".jsonl")
		print id, id, 1 > (out "/" part ".qrels")
	}
	if (part != "train" || $3)
		print text(id, description) > (out "/corpus.jsonl")
}

function text(id, words) {
	return "{\"_id\": \"" id "\", \"text\": " string(words) "}"
}
