# asking.awk - training questions for words, in other words than a dictionary's definitions
#	awk -v out=DIR -f json.awk -f asking.awk descriptions.tsv index.{noun,verb,adj,adv} wordnet.tsv gcide.tsv everyday.tsv...
# No output has words of held-out entries; output of everyday*.tsv has no words of descriptions.tsv.
#	pairs-gcide.jsonl	the other dictionary's definitions, and the word's entry if it has but one of
#				its class, else the word
#	pairs-free.jsonl	definitions as questions, five ways: a part, reordered, with words
#				left out; and one word of the entry, three ways
#	pairs-everyday.jsonl	everyday descriptions, whole or with words left out, and the entry that is
#				the word's first sense
#	pairs-same.jsonl	paraphrases: definitions and everyday descriptions of one entry
#	asking.txt		running text of gcide.tsv and everyday.tsv
BEGIN {
	FS = "\t"
	seed = 1
}

FNR == 1 { file++ }

file == 1 { # descriptions.tsv
	count = split($2, list, ",")
	for (i = 1; i <= count; i++)
		asked[list[i]] = 1
	next
}

file <= 5 { # wndb(5WN): lemma pos synsets pointers [symbol]... senses tagged offset...
	if (/^ /) # the license
		next
	split($0, field, " ")
	word = field[1]
	gsub(/_/, " ", word)
	senses[field[2], word] = field[3]
	first[field[2], word] = field[2] field[4 + field[4] + 3]
	classes[word] = classes[word] field[2]
	next
}

FNR == 1 { next }

file == 6 { # wordnet.tsv
	if ($2 != "train") {
		count = split($4, list, ", ")
		for (i = 1; i <= count; i++)
			held[tolower(list[i])] = 1
		next
	}
	words[$1] = $4
	kind[$1] = $5
	document[$1] = $4 ($5 ? "; " $5 : "")
	definition[$1] = $8
	if (!$7)
		order[++entries] = $1
	next
}

file == 7 { # gcide.tsv
	if ($1 in held)
		next
	print $1 ": " $3 "." ($4 ? " " $4 : "") > (out "/asking.txt")
	if ($1 in classes)
		define($2 == "" && length(classes[$1]) == 1 ? classes[$1] : $2)
	next
}

!($2 in held) && !($2 in asked) && ($2 in classes) { # everyday*.tsv
	print $2 ": " $3 "." > (out "/asking.txt")
	id = first[$1, $2]
	if (id in document)
		pair("same", string($3), string(definition[id]))
	pair("everyday", "[" string($3) ", " string(fewer($3)) ", " string(fewer($3)) "]",
	    string(id in document ? document[id] : $2))
}

END {
	for (n = 1; n <= entries; n++) {
		id = order[n]
		if (split(definition[id], none, " ") < 3)
			continue
		queries = answers = ""
		for (i = 0; i < 5; i++)
			queries = queries (i ? ", " : "") string(asking(definition[id]))
		for (i = 0; i < 3; i++)
			answers = answers (i ? ", " : "") string(one(words[id], kind[id]))
		pair("free", "[" queries "]", "[" answers "]")
	}
}

# The sense of an ambiguous word is not known; the kinds of its senses distinguish it from its homographs.
function define(class,    id) {
	id = first[class, $1]
	if (senses[class, $1] == 1 && (id in document)) {
		pair("gcide", string($3), string(document[id]))
		pair("same", string($3), string(definition[id]))
	} else if (id in document && random() < 0.5)
		pair("gcide", string($3), string($1 "; " kind[id]))
	else
		pair("gcide", string($3), string($1))
}

# Lehmer's generator, so that every awk draws the same.
function random() {
	seed = seed * 48271 % 2147483647
	return seed / 2147483647
}

function choice(list,    all, count) {
	count = split(list, all, ", ?")
	return all[1 + int(random() * count)]
}

function one(list, kind,    word) {
	word = choice(list)
	return random() < 0.5 && kind ? word "; " kind : word
}

function asking(text,    n, parts, at, relative) {
	gsub(/ *\([^)]*\) */, " ", text)
	sub(/^ +/, "", text)
	n = split(text, parts, /; /)
	if (n > 1)
		text = parts[1 + int(random() * n)]
	relative = "(that|which|who|with|for|used|in which|where)"
	if (random() < 0.5 && match(text, "^(a|an|the|any|one) [^,;]*[a-z] " relative " ")) {
		at = match(text, " " relative " ")
		text = (text ~ /^[^,;]* (who|person|someone|worker|man|woman) / ? \
		    choice("someone, somebody, a person, the one") : \
		    choice("something, it is something, the thing, a thing, what do you call something")) \
		    substr(text, at)
	} else if (random() < 0.3)
		sub(/^(a|an|the|any) /, "", text)
	if (random() < 0.3 && (at = index(text, ", ")))
		text = substr(text, at + 2) ", " substr(text, 1, at - 1)
	return random() < 0.6 ? fewer(text) : text
}

# A quarter of the words left out, as long as three or more stay.
function fewer(text,    list, count, i, kept) {
	count = split(text, list, " ")
	if (count < 5)
		return text
	for (i = 1; i <= count; i++)
		if (random() > 0.25)
			kept = kept (kept ? " " : "") list[i]
	return split(kept, none, " ") < 3 ? text : kept
}

# Both as JSON.
function pair(name, query, answer) {
	print "{\"query\": " query ", \"document\": " answer "}" > \
	    (out "/pairs-" name ".jsonl")
}
