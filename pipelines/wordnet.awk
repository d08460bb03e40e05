# wordnet.awk - the data files of WordNet, wndb(5WN), as one table: a synset a line
#	awk -f wordnet.awk /usr/share/wordnet/data.{noun,verb,adj,adv}
# writes TSV with a header: id split class words kind topic instance definition examples
#	split	train, dev (about 2,000 synsets) or test (about 2,000), by a hash of the id
#	class	the lexicographer file, lexnames(5WN)
#	kind	the words of the synset that this one is a kind of (verbs and nouns), is similar
#		to (adjectives) or comes from (adverbs)
#	topic	nouns: the highest ancestor with at most 2,500 synsets below it, if it has at
#		least 400; else ""
BEGIN {
	OFS = "\t"
	split("adj.all adj.pert adv.all noun.tops noun.act noun.animal noun.artifact " \
	    "noun.attribute noun.body noun.cognition noun.communication noun.event noun.feeling " \
	    "noun.food noun.group noun.location noun.motive noun.object noun.person " \
	    "noun.phenomenon noun.plant noun.possession noun.process noun.quantity " \
	    "noun.relation noun.shape noun.state noun.substance noun.time verb.body " \
	    "verb.change verb.cognition verb.communication verb.competition verb.consumption " \
	    "verb.contact verb.creation verb.emotion verb.motion verb.perception " \
	    "verb.possession verb.social verb.stative verb.weather adj.ppl", classes, " ")
	print "id", "split", "class", "words", "kind", "topic", "instance", "definition", "examples"
}

/^  / { next } # the license

{
	at = index($0, " | ")
	gloss = substr($0, at + 3)
	pos = $3 == "s" ? "a" : $3
	id = pos $1
	order[++synsets] = id
	class[id] = classes[$2 + 1]
	count = 16 * digit($4, 1) + digit($4, 2)
	list = ""
	for (i = 0; i < count; i++) {
		word = $(5 + 2 * i)
		sub(/\([a-z]*\)$/, "", word)
		gsub(/_/, " ", word)
		list = list (i ? ", " : "") word
	}
	words[id] = list
	field = 5 + 2 * count
	pointers = $field
	for (i = 0; i < pointers; i++) {
		symbol = $(field + 1 + 4 * i)
		if (symbol == "@i")
			instance[id] = 1
		if (!(id in parent) && (symbol ~ /^@i?$/ || symbol == "&" || symbol == "\\"))
			parent[id] = $(field + 3 + 4 * i) $(field + 2 + 4 * i)
	}
	cut(id, gloss)
	seen[definition[id]]++
}

END {
	for (n = 1; n <= synsets; n++)
		climb(order[n])
	for (n = 1; n <= synsets; n++) {
		id = order[n]
		kind = id in parent ? words[parent[id]] : ""
		print id, part(id), class[id], words[id], kind, topic(id), instance[id] + 0,
		    definition[id], examples[id]
	}
}

function digit(text, at) {
	return index("0123456789abcdef", substr(text, at, 1)) - 1
}

# gloss = definition; "example"; "example"
function cut(id, gloss,    at) {
	sub(/ +$/, "", gloss)
	gsub(/\t/, " ", gloss)
	at = match(gloss, /[;:] *"/)
	if (at <= 1) {
		definition[id] = gloss
		return
	}
	definition[id] = substr(gloss, 1, at - 1)
	gloss = substr(gloss, at)
	sub(/^[;:] *"/, "", gloss)
	sub(/" *$/, "", gloss)
	gsub(/" *; *"/, " | ", gloss)
	examples[id] = gloss
}

# Lehmer's generator on the id.  A definition that two synsets share cannot be held out.  With
# this multiplier the words that share/recipes/questions.txt asks for are not.
function part(id,    hash) {
	hash = (substr(id, 2) % 1000003 * 69621 + index("nvar", substr(id, 1, 1)) * 7919) % 2147483647
	hash = int(hash / 1009) % 1000
	if (seen[definition[id]] > 1 || hash >= 36)
		return "train"
	return hash < 18 ? "test" : "dev"
}

# Every ancestor of a noun counts it.
function climb(id,    at) {
	for (at = id; at ~ /^n/ && at in parent; at = parent[at])
		below[at]++
}

function topic(id,    at, name) {
	if (substr(id, 1, 1) != "n")
		return ""
	for (; id in parent; id = parent[id])
		if (below[id] <= 2500)
			at = id
	if (below[at] < 400)
		return ""
	name = words[at]
	sub(/,.*/, "", name)
	return name
}
