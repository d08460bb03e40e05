# dictionary.awk - the tables of wordnet.awk and foldoc.awk as training text, pairs and test sets
#	awk -v out=DIR -f json.awk -f dictionary.awk wordnet.tsv foldoc.tsv
# A document is an entry without its definition: its words and their kind (the name alone would say little of a word that was
# never seen with its definition).  A query is a definition; persons and places are not queries.  Held-out entries (dev, test)
# are not in corpus.txt and train-*.jsonl; their words occur there only where other entries mention them.
#	corpus.txt			lines of running text, for masked language modelling
#	train-NAME.jsonl		{query, document}
#	SPLIT/queries.jsonl, corpus.jsonl, qrels.tsv	retrieval, in the layout of BEIR
#	SPLIT/classification.jsonl	{text, label}: definitions, label = lexicographer file, of
#					those with at least 600 synsets
#	SPLIT/clustering.jsonl		{text, label}: definitions of nouns, label = topic
#	lookup.tsv			_id, text: every sense of every word, called by the entry's first word
#	definitions.tsv			_id, text: the meaning, in 90 letters
BEGIN {
	FS = "\t"
	source["n"] = "noun"
	source["v"] = "verb"
	source["a"] = "adjective"
	source["r"] = "adverb"
	source["f"] = "foldoc"
	print "_id\ttext" > (out "/lookup.tsv")
	print "_id\ttext" > (out "/definitions.tsv")
	rare = "tops|feeling|motive|relation|shape|body|competition|consumption|emotion|" \
	    "perception|weather|ppl|computing"
	held["dev"] = held["test"] = 1
	for (split_name in held)
		print "query-id\tcorpus-id\tscore" > (out "/" split_name "/qrels.tsv")
}

FNR == 1 { next }

{
	id = $1; part = $2; class = $3; words = $4; kind = $5; topic = $6; instance = $7
	definition = $8; examples = $9
	document = words (kind ? "; " kind : "")
	text = string(definition)
	if (part == "train") {
		gsub(/ \| /, ". ", examples)
		print words ": " definition "." (examples ? " " examples "." : "") > (out "/corpus.txt")
		name = instance ? "name" : source[substr(id, 1, 1)]
		pair(name, definition, document)
		if (class != "computing")
			pair("class", definition, class_text(class))
		if (kind && !instance && id ~ /^[nv]/) {
			if (kind in sibling)
				pair("sibling", definition, sibling[kind])
			sibling[kind] = definition
		}
	} else {
		for (split_name in held)
			add_document(split_name)
		if (!instance && split(definition, none, " ") > 2) {
			print "{\"_id\": \"" id "\", \"text\": " text "}" > (out "/" part "/queries.jsonl")
			print id "\t" id "\t1" > (out "/" part "/qrels.tsv")
			if (class !~ "(" rare ")$" || class == "noun.body")
				labelled("classification", class)
			if (topic)
				labelled("clustering", topic)
		}
	}
	# others to be mistaken for; about 5,500
	if (part == "train" && !instance && ++plain % 20 == 0)
		for (split_name in held)
			add_document(split_name)
	if (!instance) {
		name = called()
		print name "\t" document > (out "/lookup.tsv")
		print name "\t" substr(definition, 1, 90) > (out "/definitions.tsv")
	}
}

function called(    word) {
	word = words
	sub(/,.*/, "", word)
	return senses[word]++ ? word " (" senses[word] ")" : word
}

function pair(name, query, answer) {
	print "{\"query\": " string(query) ", \"document\": " string(answer) "}" > \
	    (out "/train-" name ".jsonl")
}

function add_document(split_name) {
	print "{\"_id\": \"" id "\", \"title\": \"\", \"text\": " string(document) "}" > \
	    (out "/" split_name "/corpus.jsonl")
}

function labelled(name, label) {
	print "{\"text\": " text ", \"label\": " string(label) "}" > (out "/" part "/" name ".jsonl")
}

function class_text(name) {
	sub(/\./, " ", name)
	return name
}
