# crops.awk - passages as training pairs: a sentence, a few words or the heading asks for its passage
#	LC_ALL=C awk -v out=DIR -v draws=N -f sentences.awk -f json.awk -f crops.awk documents.tsv passages.tsv
# reads share/recipes/documents.tsv, for the groups of packages, and passages as pages.awk writes them; writes
#	DIR/crop-GROUP.jsonl, DIR/title-GROUP.jsonl	{query, document}
# For each passage a sentence of 5 to 40 words is drawn as the query, N times.  In six cases of ten the document is the rest of
# the passage, in three it keeps the sentence, because a search shares words with what it finds; in one, 4 to 8 neighbouring words are the
# query.  Half of the documents begin with their heading; three headings in ten are queries themselves.
BEGIN {
	FS = "\t"
	seed = 1
}

FNR == NR {
	if (FNR > 1)
		group_of[$1] = $2
	next
}

{
	group = $1 in group_of ? group_of[$1] : $1
	title = split($2, none, " ") > 1 ? $2 : ""
	n = sentences($3, part, ".!?;:")
	for (i = 0; i < draws && n > 1; i++)
		crop($3, title, part, n)
	if (title != "" && draw(10) < 3)
		put("title", title, "", $3)
}

function crop(passage, title, part, n,    asks, keep) {
	asks = chosen(part, n)
	if (!asks)
		return
	keep = draw(10)
	if (keep == 0)
		put("crop", phrase(passage), title, passage)
	else
		put("crop", part[asks], title, keep < 4 ? passage : without(part, n, asks))
}

# the number of a drawn sentence of 5 to 40 words, 0 if there is none
function chosen(part, n,    i, words, count, fit) {
	for (i = 1; i <= n; i++) {
		words = split(part[i], none, " ")
		if (words >= 5 && words <= 40)
			fit[++count] = i
	}
	return count ? fit[draw(count) + 1] : 0
}

function without(part, n, left,    i, text) {
	for (i = 1; i <= n; i++)
		if (i != left)
			text = text (text == "" ? "" : " ") part[i]
	return text
}

function phrase(text,    n, i, length_of, first, words, part) {
	n = split(text, part, " ")
	length_of = 4 + draw(5)
	first = 1 + draw(n > length_of ? n - length_of : 1)
	for (i = first; i <= n && i < first + length_of; i++)
		words = words (words == "" ? "" : " ") part[i]
	return words
}

function put(kind, query, title, document) {
	if (split(document, none, " ") < 12)
		return
	if (title != "" && draw(2))
		document = title ". " document
	print "{\"query\": " string(query) ", \"document\": " string(document) "}" > (out "/" kind "-" group ".jsonl")
}

# an integer below `limit`, the same with each awk
function draw(limit) {
	seed = seed * 69621 % 2147483647
	return int(seed / 2147483647 * limit)
}
