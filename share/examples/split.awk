# split.awk - a table of pairs as a task of retrieval in data/retrieval/NAME, and train.tsv: every fifth pair is for scoring
#	mkdir -p data/retrieval/NAME/qrels; awk -v name=NAME -f split.awk PAIRS.tsv
# PAIRS.tsv: two columns under a line of names, a question and its answer.  The corpus is of all answers.
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
