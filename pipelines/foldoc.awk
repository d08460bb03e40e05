# foldoc.awk - the Free On-line Dictionary of Computing in the table that wordnet.awk writes
#	gzip -dc /usr/share/dictd/foldoc.dict.dz | awk -f foldoc.awk
# A headline begins a line (several names are separated by %%%), its text is indented.
# class is "computing", kind the subject in angle brackets, definition the first paragraph,
# examples the others, separated by " | ".
BEGIN {
	OFS = "\t"
	print "id", "split", "class", "words", "kind", "topic", "instance", "definition", "examples"
}

/^[^ ]/ {
	if (body) {
		put()
		words = body = ""
	}
	words = words (words ? " " : "") $0
	next
}

/^ / {
	sub(/^ +/, "")
	body = body " " $0
	next
}

{ body = body ? body "\n" : body } # an empty line ends a paragraph

END { put() }

function put(    n, i, parts, text, kind, first, rest) {
	entries++
	gsub(/%%%/, ", ", words)
	gsub(/\t/, " ", words)
	n = split(body, parts, /\n+/)
	for (i = 1; i <= n; i++) {
		text = clean(parts[i])
		if (!first && match(text, /^([0-9]+\. *)?<[^>]*>/)) {
			kind = substr(text, RSTART, RLENGTH)
			gsub(/^[^<]*<|>$/, "", kind)
			text = substr(text, RLENGTH + 1)
		}
		gsub(/<[^ >]*>/, "", text)
		sub(/^ *(1\. )?(\/[^\/]*\/,? *)*/, "", text)
		gsub(/  +/, " ", text)
		if (!first && length(text) < 30) {
			text = (split(text, none, " ") > 3) ? text : ""
		}
		if (text == "" || text ~ /^See/)
			continue
		if (!first)
			first = text
		else if (length(text) > 40)
			rest = rest (rest ? " | " : "") text
	}
	if (first == "" || words ~ /^00-database/)
		return
	print sprintf("f%06d", entries), part(entries), "computing", words, kind, "", 0, first, rest
}

# Without cross reference marks, addresses, citations and dates.
function clean(text) {
	gsub(/\t/, " ", text)
	gsub(/\{\([^}]*\)\}/, "", text)
	gsub(/ \([^()}]*\)\}/, "", text)
	gsub(/[{}]/, "", text)
	gsub(/\[[^\]]*\]\.?/, "", text)
	gsub(/\([0-9][0-9-]*\)\.?/, "", text)
	gsub(/  +/, " ", text)
	gsub(/^ +| +$/, "", text)
	return text
}

function part(number,    hash) {
	hash = int(number * 69621 % 2147483647 / 1009) % 1000
	return hash >= 36 ? "train" : hash < 18 ? "test" : "dev"
}
