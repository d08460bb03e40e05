# sentences.awk - cuts a text between sentences; for pages.awk and crops.awk, behind another -f
# sentences(TEXT, PART, SIGNS) fills PART[1..n] and returns n.  A sentence ends at one of SIGNS before blanks and a capital, a
# quotation mark or a parenthesis; it keeps its sign, without the blanks.
function sentences(text, part, signs,    n, i) {
	gsub("[" signs "] +[A-Z\"(]", "&\001", text)
	n = split(text, part, "\001")
	for (i = 1; i < n; i++) { # the mark stands behind the next sentence's first sign
		part[i + 1] = substr(part[i], length(part[i])) part[i + 1]
		part[i] = substr(part[i], 1, length(part[i]) - 1)
		sub(/ +$/, "", part[i])
	}
	return n
}
