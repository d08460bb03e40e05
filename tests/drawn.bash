# Small made data sets with classes that can be learnt; the tests of the papers' pipelines run on them.

# sentences WORD: sentences about three topics, "topic<TAB>sentence" a line, each with the word
sentences() {
	awk -v more="$1" 'BEGIN {
		things = split("kitchen\tthe %s cook stirs the %s soup|harbour\ta %s and %s ship leaves|garden\tthe %s roses, %s as ever", thing, "|")
		words = split("old red small warm heavy quiet bright round soft dark new tall", word, " ")
		counts = split("one two three four five six", count, " ")
		for (t = 1; t <= things; t++) for (w = 1; w <= words; w++) for (c = 1; c <= counts; c++)
			printf thing[t] " %s\n", word[w], count[c], more
	}'
}

# as_json: "topic<TAB>sentence" lines as JSON Lines with text and label
as_json() {
	awk -F'\t' '{ printf "{\"text\": \"%s\", \"label\": \"%s\"}\n", $2, $1 }'
}

# as_beir FOLDER: writes the sentences as a BEIR data set: a question and an answer of the same number match
as_beir() {
	mkdir -p "$1/qrels"
	sentences answer | awk -F'\t' '{ printf "{\"_id\": \"d%d\", \"title\": \"\", \"text\": \"%s\"}\n", NR, $2 }' >"$1/corpus.jsonl"
	sentences question | awk -F'\t' '{ printf "{\"_id\": \"q%d\", \"text\": \"%s\"}\n", NR, $2 }' >"$1/queries.jsonl"
	awk -v dir="$1/qrels" 'BEGIN { for (s = 0; s < 2; s++) { file = dir (s ? "/test.tsv" : "/train.tsv")
		print "query-id\tcorpus-id\tscore" >file
		for (n = 1; n <= 216; n++) if ((n % 4 == 0) == s) print "q" n "\td" n "\t1" >file } }'
}

# drawn_sets: writes folder data, with a set under each name that the pipelines read
drawn_sets() {
	as_beir data/retrieval/fin10k_qa
	for set in banking77 emotion; do
		mkdir -p data/classification/$set
		sentences "of $set" | as_json >data/classification/$set/train.jsonl
		sentences "to test $set" | awk 'NR % 9 == 0' | as_json | tee data/classification/$set/dev.jsonl >data/classification/$set/test.jsonl
	done
	mkdir -p data/clustering/twentynewsgroups_subjects data/reranking/wikiqa data/pairclassification/mrpc data/sts/stsbenchmark \
		data/summarization/summeval
	sentences subject | as_json | tee data/clustering/twentynewsgroups_subjects/train.jsonl >data/clustering/twentynewsgroups_subjects/test.jsonl
	cat >data/reranking/wikiqa/test.jsonl <<-'END'
		{"query": "what does the cook stir", "positive": ["the cook stirs the soup"], "negative": ["a ship leaves", "roses need water"]}
		{"query": "what leaves the harbour", "positive": ["a ship leaves the harbour"], "negative": ["the cook stirs the soup"]}
	END
	for n in 1 2 3 4 5 6; do
		echo "{\"sentence1\": \"a warm soup $n\", \"sentence2\": \"soup that is warm\", \"label\": $((n % 2)), \"score\": $n}"
	done | tee data/pairclassification/mrpc/test.jsonl >data/sts/stsbenchmark/test.jsonl
	for n in 1 2 3; do
		echo '{"text": "t", "human_summaries": ["the cook stirs", "soup is stirred"], "machine_summaries": ["a cook stirs soup", "a ship leaves '$n'", "roses"], "relevance": [5, 1, 2]}'
	done >data/summarization/summeval/test.jsonl
	find data -name '*.jsonl' -exec zstd -q --rm {} +
}

# drawn_model FOLDER: writes a model of two narrow layers with a vocabulary of the sentences; its other settings are those of
# share/models/mlm
drawn_model() {
	local mlm=$ROOT/share/models/mlm
	sentences 'of what they defined' | cut -f2 >words
	tok -q --learn bpe --vocab-size 400 -o "$1" words
	cp -r "$mlm"/{modules.json,*sentence*.json,1_Pooling} "$1"
	sed -i 's/"word_embedding_dimension": [0-9]*/"word_embedding_dimension": 32/' "$1/1_Pooling/config.json"
	jq '. + {hidden_size: 32, num_hidden_layers: 2, num_attention_heads: 2, intermediate_size: 64, vocab_size: 400}' \
		"$mlm/config.json" >"$1/config.json"
	tok -q -m "$1" words | train -q -m "$1" --from-scratch --objective mlm --steps 1 -o "$1.new"
	rm -r "$1" words "$1.new.log.tsv"
	mv "$1.new" "$1"
}

# drawn_text: writes the files that `make text` makes, newer than their sources, and the model mlm
drawn_text() {
	mkdir -p dictionaries out/text/{dev,test}
	touch dictionaries/{data,index}.{noun,verb,adj,adv} dictionaries/foldoc
	touch out/text/{wordnet,foldoc}.tsv
	for part in noun verb adjective adverb name foldoc class sibling; do
		paste <(sentences "defines $part") <(sentences "is $part") | awk -F'\t' '{ for (n = 0; n < 21; n++)
			printf "{\"query\": \"%s %d\", \"document\": \"%s %d\"}\n", $2, n, $4, n }' >out/text/train-$part.jsonl
	done
	for split in dev test; do
		as_beir out/text/$split
		mv out/text/$split/qrels/test.tsv out/text/$split/qrels.tsv
		rm -r out/text/$split/qrels
		sentences "held for $split" | as_json | tee out/text/$split/classification.jsonl >out/text/$split/clustering.jsonl
	done
	touch out/text/{corpus.txt,lookup.tsv,definitions.tsv}
	drawn_model mlm
}
