# terms.awk - a text as terms, and the members of a line of JSON
# A term is a run of letters and digits, in lower case; the 33 stop words of Lucene's English analyser are left out.
BEGIN {
	split("a an and are as at be but by for if in into is it no not of on or such that the their then there " \
	    "these they this to was will with", list, " ")
	for (i in list)
		stop[list[i]]
}

# term[1], term[2], ... of a text; returns how many
function terms(text,    n, i, all, kept) {
	text = tolower(text)
	gsub(/[^a-z0-9]+/, " ", text)
	n = split(text, all, " ")
	for (i = 1; i <= n; i++)
		if (!(all[i] in stop))
			term[++kept] = all[i]
	return kept + 0
}

# a text member of $0, with its escapes; "" where there is none
function member(name,    at, text) {
	at = index($0, "\"" name "\": \"")
	if (!at)
		return ""
	text = substr($0, at + length(name) + 5)
	match(text, /^([^"\\]|\\.)*/)
	return substr(text, 1, RLENGTH)
}
