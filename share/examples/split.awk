# split.awk - makes a retrieval task in data/retrieval/NAME of every fifth pair of a table, and train.tsv of the other pairs
#	mkdir -p data/retrieval/NAME/qrels; awk -v name=NAME -f split.awk PAIRS.tsv
# PAIRS.tsv: a header line and two columns, question and answer.  The corpus has all answers.
BEGIN { FS = OFS = "\t" }
NR == 1 {
	folder = "data/retrieval/" name
	print "_id", "text" >(folder "/queries.tsv")
	print "_id", "text" >(folder "/corpus.tsv")
	print "query-id", "corpus-id", "score" >(folder "/qrels/test.tsv")
	print "query", "document" >"train.tsv"
	next
}
{ print NR, $2 >(folder "/corpus.tsv") }
NR % 5 { print $1, $2 >"train.tsv"; next }
{
	print NR, $1 >(folder "/queries.tsv")
	print NR, NR, 1 >(folder "/qrels/test.tsv")
}
