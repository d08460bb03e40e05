# few-words.awk - queries with at most a third of their terms in the relevant document
#	awk -f terms.awk -f few-words.awk corpus.jsonl queries.jsonl
# A query's document has the query's id.  Writes the ids.
FNR == 1 { file++ }

{ id = member("_id") }

file == 1 {
	text[id] = $0
	next
}

{
	asked = $0
	$0 = text[id]
	split("", has)
	for (i = terms(member("title") " " member("text")); i > 0; i--)
		has[term[i]]
	$0 = asked
	count = terms(member("text"))
	common = 0
	for (i = 1; i <= count; i++)
		common += term[i] in has
	if (3 * common <= count)
		print id
}
