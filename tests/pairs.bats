#!/usr/bin/env bats
# tasksample's kinds of data sets: BEIR folders, labelled files, sets, conditions, parts.
load helper

setup() {
	cd "$T"
}

# recipe FLOW: a recipe with one data set, x; set_of FLOW: the same as x.yaml; rows FLOW: its examples by --all, as lines of
# query|document
recipe() {
	printf 'batch: 4\ntasks: {a: {datasets: [{name: x, %s}]}}\n' "$1"
}
set_of() {
	recipe "$1" >x.yaml
}
rows() {
	recipe "$1" | tasksample -q --all - | texts
}
texts() {
	batches "$@" | grep -v '^#' | sed 's/\t[a-z.]*=/|/g; s/^query=//; s/|x$//'
}
# fails FLOW TEXT: exit 1, one line with the text, and no output
fails() {
	set_of "$1"
	run -1 tasksample -q x.yaml -o lost.mts
	echo "$output"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "tasksample: $2"* ]]
	[ ! -e lost.mts ]
}

# A folder with ids that are equal as numbers, a document of two queries, and one without a title.
beir() {
	mkdir -p "$1/qrels"
	cat >"$1/queries.jsonl" <<-'END'
		{"_id": "7", "text": "seven"}
		{"_id": "007", "text": "bond"}
		{"_id": "unasked", "text": "?"}
		{"_id": 12, "text": "twelve"}
	END
	cat >"$1/corpus.jsonl" <<-'END'
		{"_id": "d1", "title": "One", "text": "first"}
		{"_id": "1", "title": null, "text": "untitled"}
		{"_id": "01", "text": "bare"}
		{"_id": "d4", "title": " ", "text": " blank "}
	END
	printf 'query-id\tcorpus-id\tscore\n' >"$1/qrels/train.tsv"
	printf '%s\t%s\t%d\n' 007 d1 2 7 01 1 12 1 1 7 d1 1 7 d4 0 007 1 -1 12 d4 3 >>"$1/qrels/train.tsv"
}

# 1. known answers

@test "pairs: a BEIR folder gives each positive judgement once, in order; ids are text" {
	beir set
	cat >expected <<-'END'
		bond|One first
		seven|bare
		twelve|untitled
		seven|One first
		twelve|blank
	END
	diff expected <(rows 'beir: set')
	set_of 'beir: set'
	tasksample --epochs 2 x.yaml | batches | grep -v '^#' | cut -f1,2 | sort | uniq -c | awk '$1 != 2 { exit 1 } END { exit NR != 5 }'
	# of a pair that is judged twice the last score counts, at its own place
	printf '7\td1\t4\n7\t01\t0\n' >>set/qrels/train.tsv
	diff <(sed 2d expected | sed '3d; $a seven|One first') <(rows 'beir: set')
	# fields are named as in other files
	beir set
	[ "$(rows 'beir: set, query: _id, document: _id' | tr '\n' ' ')" = '007|d1 7|01 12|1 7|d1 12|d4 ' ]
}

@test "pairs: a BEIR folder's files may be compressed, TSV, CSV or TREC's; judgements may be named or lie beside it" {
	beir set
	rows 'beir: set' >expected
	mkdir packed && cp -r set/qrels packed
	zstd -qc set/queries.jsonl >packed/queries.jsonl.zst
	gzip -c set/corpus.jsonl >packed/corpus.jsonl.gz
	gzip packed/qrels/train.tsv
	rows 'beir: packed' | diff expected -
	sed 1d set/qrels/train.tsv | awk '{ print $1, 0, $2, $3 }' >packed/qrels/dev.tsv
	rows 'beir: packed, split: dev' | diff expected -
	mkdir flat
	jq -r '"\(._id)\t\(.text)"' set/queries.jsonl | sed '1i _id\ttext' >flat/queries.tsv
	jq -r '[._id, .title // "", .text] | @csv' set/corpus.jsonl | sed '1i _id,title,text' >flat/corpus.csv
	tr '\t' , <set/qrels/train.tsv >flat/qrels.csv
	rows 'beir: flat' | diff expected -
	set_of 'beir: flat'
	(mkdir sub && cd sub && tasksample -C .. --all ../x.yaml | texts) | diff expected -
	set_of "beir: $T/set"
	tasksample -C /nonexistent --all x.yaml | texts | diff expected -
	# qrels.tsv overrides qrels/train.tsv
	printf '7\td4\t1\n' >set/qrels.tsv
	[ "$(rows 'beir: set')" = 'seven|blank' ]
	rows 'beir: set, split: train' | diff expected -
}

@test "pairs: where, part and first select judgements" {
	beir set
	[ "$(rows 'beir: set, where: score>=2' | tr '\n' ';')" = 'bond|One first;twelve|blank;' ]
	[ "$(rows 'beir: set, first: 2' | tr '\n' ';')" = 'bond|One first;seven|bare;' ]
	[ "$(rows 'beir: set, where: score=1, first: 2' | tr '\n' ';')" = 'seven|bare;twelve|untitled;' ]
	for by in query document; do
		[ $by = query ] && column=1 || column=2
		rows "beir: set, part_by: $by, part: 0-50%" | sort >low
		rows "beir: set, part_by: $by, part: 50-100%" | sort >high
		sort low high | diff - <(rows 'beir: set' | sort)
		[ -z "$(comm -12 <(cut -d'|' -f$column low | sort -u) <(cut -d'|' -f$column high | sort -u))" ]
	done
}

labelled() {
	for i in {0..5}; do
		echo "{\"text\": \"red $i\", \"label\": \"red\", \"n\": $i}"
		echo "{\"text\": \"blue $((i / 2))\", \"label\": \"blue\", \"n\": $i}"
	done >colours.jsonl
}

@test "pairs: a labelled text is paired with another text of its label, all equally likely" {
	labelled
	echo '{"text": "lone", "label": "green"}' >>colours.jsonl
	printf '{"text": "same", "label": "grey"}\n%.0s' 1 2 3 >>colours.jsonl
	set_of 'file: colours.jsonl, label: label'
	run -0 --separate-stderr tasksample --epochs 300 x.yaml -o x.mts
	[[ $stderr == *"data set x: 2 of 4 labels have one text only, 'green' for one: 4 rows are left out"* ]]
	texts x.mts | awk -F'|' '{ split($1, q, " "); split($2, d, " ")
			if (q[1] != d[1] || $1 == $2) bad = 1
			rows[$1]++; pair[$1 "|" $2]++ }
		END { if (bad || NR != 3600) exit 1
			for (text in rows) if (rows[text] != (text ~ /red/ ? 300 : 600)) exit 2
			for (p in pair) { n++; expect = p ~ /red/ ? 60 : 300
				if ((pair[p] - expect) ^ 2 > 20 * expect) exit 3 }
			exit n != 6 * 5 + 3 * 2 ? 4 : 0 }'
	# with --all each text is as often the partner
	rows 'file: colours.jsonl, label: label' >all
	diff <(cut -d'|' -f1 all) <(jq -r .text colours.jsonl | head -12)
	grep red all | cut -d'|' -f2 | sort | diff - <(printf 'red %d\n' {0..5})
	# a condition selects rows; partners are selected rows
	rows 'file: colours.jsonl, label: label, where: n<2' >some
	printf 'red 0|red 1\nred 1|red 0\n' | diff - some
	[ "$(rows 'file: colours.jsonl, label: label, first: 5' | cut -d'|' -f2 | sort | tr '\n' ' ')" = 'red 0 red 1 red 2 ' ]
}

@test "pairs: rows of one label have the same key, so that they are not each other's negatives" {
	labelled
	set_of 'file: colours.jsonl, label: label'
	tasksample -q x.yaml | batches | grep -v '^#' >out
	paste <(grep -o '^query=[a-z]*' out) <(grep -o 'query.key=[-0-9]*' out) \
		<(grep -o 'document.key=[-0-9]*' out | sed 's/document/query/') | sort -u >keys
	[ "$(wc -l <keys)" -eq 2 ]
	awk '$2 != $3 { exit 1 }' keys
	[ "$(cut -f2 keys | sort -u | wc -l)" -eq 2 ]
	tasksample -q --duplicates apart x.yaml | batches | awk -F'[=\t ]' '/^#/ { split("", seen); next } seen[$2]++ { exit 1 }'
	# in another data set the label has another key
	sed 's/name: x/name: y/' x.yaml >y.yaml
	[ -z "$(comm -12 <(cut -f2 keys | sort) <(tasksample -q y.yaml | batch_column query.key | sed 's/^/query.key=/' | sort -u))" ]
}

@test "pairs: a text is paired with the name of its label" {
	printf 'text\tlabel\ttext_of\nhurray\t1\tjoy\noh no\t0\tsadness\n' >e.tsv
	[ "$(rows 'file: e.tsv, query: text, document: label' | tr '\n' ';')" = 'hurray|1;oh no|0;' ]
	[ "$(rows 'file: e.tsv, query: text, document: text_of' | tr '\n' ';')" = 'hurray|joy;oh no|sadness;' ]
	[ "$(rows 'file: e.tsv, query: text, document: label, names: [sad, glad]' | tr '\n' ';')" = 'hurray|glad;oh no|sad;' ]
	[ "$(rows 'file: e.tsv, query: text, document: label, names: {1: one, 0: "no: thing"}' | tr '\n' ';')" = 'hurray|one;oh no|no: thing;' ]
	printf '{"t": "a", "l": 1}\n{"t": "b", "l": false}\n' >e.jsonl
	[ "$(rows 'file: e.jsonl, query: t, document: l, names: {1: one, "false": none}' | tr '\n' ';')" = 'a|one;b|none;' ]
	# the key is that of the label's name
	recipe 'file: e.jsonl, query: t, document: l, names: {1: one, "false": none}' | tasksample -q - | batch_column document.key | sort >keys
	printf '{"query": "%s", "document": ""}\n' one none >k.jsonl
	recipe 'file: k.jsonl' | tasksample -q - | batch_column query.key | sort | cmp - keys
}

@test "pairs: conditions have the syntax of mts rows --where" {
	cat >r.jsonl <<-'END'
		{"query": "a", "document": "A", "label": 1, "s": "007", "ok": true}
		{"query": "b", "document": "B", "label": 0, "s": "7", "ok": false}
		{"query": "c", "document": "C", "label": 1.0, "s": "x"}
		{"query": "d", "document": "D", "label": null, "s": ""}
	END
	chosen() { rows "file: r.jsonl, where: $1" | cut -d'|' -f1 | tr -d '\n'; }
	[ "$(chosen label=1)" = ac ]
	[ "$(chosen '{label: 1}')" = ac ]
	[ "$(chosen '{label: 1, s: x}')" = c ]
	[ "$(chosen '[label=1, s!=x]')" = a ]
	[ "$(chosen 'label<1')" = b ]
	[ "$(chosen "'label != 1'")" = bd ]
	[ "$(chosen s=7)" = b ]
	[ "$(chosen "'s~^0*7\$'")" = ab ]
	[ "$(chosen "'s!~7'")" = cd ]
	[ "$(chosen ok=true)" = a ]
	[ "$(chosen 's=')" = d ]
	jq -c '.l = [1, {"s": .s}]' r.jsonl >lists.jsonl
	[ "$(rows "file: lists.jsonl, where: 'l=[1,{\"s\":\"7\"}]'")" = 'b|B' ]
	printf 'query\tdocument\tscore\na\tA\t4.5\nb\tB\t-1\nc\tC\t10\n' >r.tsv
	[ "$(rows 'file: r.tsv, where: score>4.4' | tr '\n' ' ')" = 'a|A c|C ' ]
	printf '["a", "A", 3]\n["b", "B", 2]\n' >l.jsonl
	[ "$(rows 'file: l.jsonl, where: 2=3')" = 'a|A' ]
	[ "$(rows 'file: r.jsonl, first: 3' | cut -d'|' -f1 | tr -d '\n')" = abc ]
	[ "$(rows 'file: r.jsonl, first: 30, where: label=1' | wc -l)" -eq 2 ]
	[ "$(rows 'file: r.jsonl, first: 1, where: label=0')" = 'b|B' ]
}

@test "pairs: a part is a range of the hash of the query, whatever the row's place" {
	seq 0 999 | awk '{ printf "{\"query\": \"q%d\", \"document\": \"d%d\"}\n", $1, $1 / 2 }' >r.jsonl
	set_of 'file: r.jsonl'
	paste <(tasksample x.yaml | batch_column query.key) <(tasksample x.yaml | batch_column query) >keys
	printf '%016x\t%s\n' $(<keys) >hex
	for part in 0-50%:[0-7] 50-100%:[89a-f] 0-25%:[0-3] 6.25-12.5%:1 93.75-100%:f; do
		rows "file: r.jsonl, part: ${part%:*}" | cut -d'|' -f1 | sort |
			diff - <(grep "^${part#*:}" hex | cut -f2 | sort)
	done
	# 80 % and the rest are all rows, each once; the order and the format of the file have no effect
	part() { rows "file: $1, part: $2${3-}" | sort; }
	part r.jsonl 0-80% >train
	[ "$(wc -l <train)" -gt 750 ]
	[ "$(wc -l <train)" -lt 850 ]
	sort train <(part r.jsonl 80-100%) | diff - <(rows 'file: r.jsonl' | sort)
	tac r.jsonl >back.jsonl
	part back.jsonl 0-80% | diff train -
	jq -r '"\(.document)\t\(.query)"' r.jsonl | sed '1i document\tquery' >r.tsv
	part r.tsv 0-80% | diff train -
	[ -z "$(part back.jsonl 90-100% | comm -12 - train)" ]
	# by the document's hash
	part r.jsonl 0-80% ', part_by: document' | cut -d'|' -f2 | sort -u >known
	[ -z "$(part back.jsonl 80-100% ', part_by: document' | cut -d'|' -f2 | sort -u | comm -12 - known)" ]
	[ "$(rows 'file: r.jsonl, part: 0-80%, first: 7' | wc -l)" -eq 7 ]
	# labelled texts, sets and joined fields
	labelled
	[ -z "$(comm -12 <(rows 'file: colours.jsonl, label: label, part: 0-60%' | tr '|' '\n' | sort -u) \
		<(rows 'file: colours.jsonl, query: text, document: label, part: 60-100%' | cut -d'|' -f1 | sort -u))" ]
	for i in {0..99}; do echo "{\"set\": [\"a$i\", \"b$i\"]}"; done >sets.jsonl
	set_of 'file: sets.jsonl, part: 0-50%'
	tasksample --epochs 9 x.yaml | batch_column query | tr -d ab | sort -u >low
	set_of 'file: sets.jsonl, part: 50-100%'
	tasksample --epochs 9 x.yaml | batch_column query | tr -d ab | sort -u | comm -12 - low >both
	[ ! -s both ]
	[ -s low ]
}

@test "pairs: a sample has the given size, does not depend on the order, contains smaller samples, and lies within its part" {
	seq 0 299 | awk '{ printf "{\"query\": \"q%d\", \"document\": \"d%d\", \"label\": %d}\n", $1, $1 % 7, $1 / 100 }' >r.jsonl
	rows 'file: r.jsonl, sample: 40' >of40
	[ "$(wc -l <of40)" -eq 40 ]
	# in the order of the file, and from all of it
	sort -V of40 | diff of40 -
	[ "$(cut -c2- of40 | cut -d'|' -f1 | awk '{ n[int($1 / 100)]++ } END { print (n[0] > 5) + (n[1] > 5) + (n[2] > 5) }')" -eq 3 ]
	# the same rows as a part of that size
	rows 'file: r.jsonl, part: 0-50%' >half
	rows "file: r.jsonl, sample: $(wc -l <half)" | diff half -
	shuf --random-source=<(yes) r.jsonl >other.jsonl
	rows 'file: other.jsonl, sample: 40' | sort -V | diff of40 -
	rows 'file: r.jsonl, sample: 10' >of10
	[ "$(comm -12 <(sort of10) <(sort of40) | wc -l)" -eq 10 ]
	rows 'file: r.jsonl, sample: 20, part: 50-100%' | sort | comm -12 - <(sort half) | diff /dev/null -
	[ "$(rows 'file: r.jsonl, sample: 20, part: 50-100%' | wc -l)" -eq 20 ]
	# a sample larger than the file is the file; where applies before, first after
	[ "$(rows 'file: r.jsonl, sample: 1000' | wc -l)" -eq 300 ]
	[ "$(rows 'file: r.jsonl, where: label=1, sample: 100' | wc -l)" -eq 100 ]
	[ "$(rows 'file: r.jsonl, where: label=1, sample: 299' | wc -l)" -eq 100 ]
	rows 'file: r.jsonl, sample: 40, first: 3' | diff <(head -n 3 of40) -
	# by the document's text, which many rows share
	[ "$(rows 'file: r.jsonl, part_by: document, sample: 60' | cut -d'|' -f2 | sort -u | wc -l)" -eq 2 ]
	[ "$(rows 'file: r.jsonl, part_by: document, sample: 60' | wc -l)" -eq 60 ]
	# partners of a label are in the sample
	[ -z "$(comm -13 <(cut -d'|' -f1 of40 | sort) <(rows 'file: r.jsonl, label: label, sample: 40' | tr '|' '\n' | sort -u))" ]
	# judgements of a BEIR folder
	beir set
	rows 'beir: set' >all
	rows 'beir: set, sample: 2' >two
	[ "$(wc -l <two)" -eq 2 ]
	[ "$(comm -12 <(sort two) <(sort all) | wc -l)" -eq 2 ]
	[ "$(rows 'beir: set, sample: 2, where: score>=2' | tr '\n' ';')" = 'bond|One first;twelve|blank;' ]
}

@test "pairs: the file formats of sentence-transformers need no field names" {
	printf '["a", "b"]\n' >f.jsonl && [ "$(rows 'file: f.jsonl')" = 'a|b' ]
	printf '["a", "b", "c"]\n' >f.jsonl && [ "$(rows 'file: f.jsonl, negatives: 2')" = 'a|b|[c]' ]
	printf '{"set": ["a", "b", "c"]}\n' >f.jsonl && [ "$(rows 'file: f.jsonl')" = 'a|b' ]
	printf '{"query": "a", "pos": ["b", "c"], "neg": ["d", "e"]}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl, negatives: neg')" = 'a|b|[d][e]' ]
	printf '{"anchor": "a", "positive": "b", "negative": "c"}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl, negatives: negative')" = 'a|b|[c]' ]
	printf '{"query": "a", "positive": ["b"], "negative": ["c", "d"]}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl, negatives: negative')" = 'a|b|[c][d]' ]
	printf '{"query": "a", "document": "b", "pos": "c"}\n' >f.jsonl && [ "$(rows 'file: f.jsonl')" = 'a|b' ]
	# with one field named, none is guessed
	printf '{"set": ["a", "b", "c"]}\n' >f.jsonl
	fails 'file: f.jsonl, query: set' "f.jsonl:1: has no field 'document'"
	printf '{"this": "a", "that": "b"}\n' >f.jsonl
	fails 'file: f.jsonl' "f.jsonl:1: has no field 'query'"
	# a set gives two different texts, even if it has one twice
	printf '{"set": ["a", "a", "b"]}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl')" = 'a|b' ]
	set_of 'file: f.jsonl'
	tasksample --epochs 40 x.yaml | texts | cut -d'|' -f1,2 | sort -u | diff - <(printf 'a|b\nb|a\n')
	printf '{"set": [1, 1.5, 1]}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl')" = '1|1.5' ]
	printf '{"set": ["a", "a"]}\n' >f.jsonl
	fails 'file: f.jsonl' "f.jsonl:1: has one text, which cannot be query and document: field 'set'"
}

@test "pairs: files of FlagEmbedding, tevatron and ms-swift, and numbered fields of negatives are read" {
	printf '{"query": "a", "pos": ["b"], "neg": ["c", "d"], "pos_scores": [1], "neg_scores": [0.1, 0.2], "prompt": "find"}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl, query: prompt+query, document: pos, negatives: neg')" = 'find a|b|[c][d]' ]
	# passages: title and text, if there is a title
	cat >f.jsonl <<-'END'
		{"query_id": "1", "query": "a", "positive_passages": [{"docid": "7", "title": "B", "text": " bee "}, {"docid": "8", "text": "bumble"}], "negative_passages": [{"docid": "9", "title": "", "text": "c"}, {"docid": "10", "title": null, "text": "d"}]}
		{"query_id": "2", "query": "e", "positive_passages": [{"docid": "8", "text": "bumble"}], "negative_passages": []}
	END
	[ "$(rows 'file: f.jsonl, negatives: negative_passages' | tr '\n' ' ')" = 'a|B bee|[c][d] e|bumble| ' ]
	[ "$(rows 'file: f.jsonl, document: positive_passages, each: positive_passages, negatives: negative_passages, max_negatives: 1' | tr '\n' ' ')" = \
		'a|B bee|[c] a|bumble|[c] e|bumble| ' ]
	[ "$(rows "file: f.jsonl, negatives: negative_passages, part_by: document, part: 0-100%, sample: 1" | wc -l)" = 1 ]
	fails 'file: f.jsonl, query: query, document: query_id+negative_passages' "f.jsonl:2: is neither text nor number: field 'negative_passages'"
	echo '{"query": "a", "positive_passages": [{"docid": "7", "title": "B"}]}' >f.jsonl
	fails 'file: f.jsonl' "f.jsonl:1: is an object without 'text': field 'positive_passages'"
	# a conversation of one message is the message's content
	said() { printf '[{"role": "user", "content": "%s"}]' "$1"; }
	echo "{\"messages\": $(said a), \"positive_messages\": [$(said b), $(said c)], \"negative_messages\": [$(said d), $(said e)]}" >f.jsonl
	[ "$(rows 'file: f.jsonl, negatives: negative_messages')" = 'a|b|[d][e]' ]
	[ "$(rows 'file: f.jsonl, query: messages, document: positive_messages, each: positive_messages, max_negatives: 0' | tr '\n' ' ')" = 'a|b a|c ' ]
	set_of 'file: f.jsonl, negatives: negative_messages'
	tasksample --epochs 40 x.yaml | texts | cut -d'|' -f2 | sort -u | diff - <(printf 'b\nc\n')
	echo '{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}], "positive_messages": []}' >f.jsonl
	fails 'file: f.jsonl' "f.jsonl:1: is a conversation of 2 messages, not a text: field 'messages'"
	printf '{"query": "a", "response": "b", "rejected_response": ["c"]}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl, negatives: rejected_response')" = 'a|b|[c]' ]
	# several fields are one list, in their order
	printf '{"anchor": "a", "positive": "b", "negative_1": "c", "negative_2": null, "negative_3": ["d", "e"]}\n' >f.jsonl
	[ "$(rows 'file: f.jsonl, negatives: [negative_1, negative_2, negative_3]')" = 'a|b|[c][d][e]' ]
	[ "$(rows 'file: f.jsonl, negatives: [negative_3, negative_1], max_negatives: 2')" = 'a|b|[d][e]' ]
	printf '["a", "b", "c", "d"]\n' >f.jsonl && [ "$(rows 'file: f.jsonl, negatives: [2, 3]')" = 'a|b|[c][d]' ]
	fails 'file: f.jsonl, negatives: [2, 4]' "f.jsonl:1: has no field '4'"
	printf 'anchor,positive,negative_1,negative_2\na,b,c,d\n' >f.csv
	[ "$(rows 'file: f.csv, negatives: [negative_1, negative_2]')" = 'a|b|[c][d]' ]
}

@test "pairs: unused hard negatives and instructions in a file get a message" {
	told() { # ROW FLOW: the messages at the start
		echo "$1" >f.jsonl
		set_of "file: f.jsonl$2"
		tasksample -b 1 --plan x.yaml 2>&1 >plan | sed 's/^tasksample: warning: data set x: //'
		[ "$(wc -l <plan)" = 2 ]
	}
	unused='hard negatives are not used: field'
	leave="or 'max_negatives: 0' to leave them out"
	row='{"anchor": "a", "positive": "b", "negative": "c"}'
	[ "$(told "$row" '')" = "$unused negative; give 'negatives: negative', $leave" ]
	[ -z "$(told "$row" ', negatives: negative')" ]
	[ -z "$(told "$row" ', max_negatives: 0')" ]
	[ "$(told "$row" ', query: anchor, document: positive')" = "$unused negative; give 'negatives: negative', $leave" ]
	row='{"anchor": "a", "positive": "b", "negative_1": "c", "negative_2": "d"}'
	[ "$(told "$row" '')" = "${unused}s negative_1, negative_2; give 'negatives: [negative_1, negative_2]', $leave" ]
	[ "$(told '["a", "b", "c"]' '')" = "$unused 2; give 'negatives: 2', $leave" ]
	[ "$(told '{"query": "a", "negative_passages": [{"text": "c"}], "positive_passages": [{"text": "b"}]}' '')" = \
		"$unused negative_passages; give 'negatives: negative_passages', $leave" ]
	row='{"query": "a", "pos": ["b"], "neg": [], "neg_scores": [0.5], "prompt": "find"}'
	[ "$(told "$row" ', max_negatives: 0')" = "field prompt is not used; give 'query: prompt+query', or 'query: query' to leave it out" ]
	[ -z "$(told "$row" ', query: query, document: pos, negatives: neg')" ]
	[ "$(told "$row" '' | wc -l)" = 2 ]
	pair="every row is a pair, whatever its field"
	[ "$(told '{"query": "a", "document": "b", "score": 0.2}' '')" = "$pair score says; give 'where: score>0' or another condition, or 'where: []' to take all" ]
	[[ "$(told '{"anchor": "a", "positive": "b", "label": 0}' '')" == "$pair label says; "* ]]
	for flow in 'where: []' 'where: score=1' 'query: query, document: document'; do
		[ -z "$(told '{"query": "a", "document": "b", "score": 1}' ", $flow")" ]
	done
	[ -z "$(told '{"query": "a", "document": "b", "label": "sea"}' '')" ]
	[ -z "$(told '["a", "b", 0.7]' '')" ]
	fails 'file: f.jsonl, max_negatives: 3' "x.yaml:2: 'max_negatives' needs 'negatives'"
}

@test "pairs: a drawn pair depends only on recipe, seed and number" {
	beir set
	labelled
	cat >mix.yaml <<-'END'
		batch: 3
		tasks:
		  a:
		    batching: heterogeneous
		    datasets:
		      - {name: set, beir: set, weight: 2}
		      - {name: colours, file: colours.jsonl, label: label, part: 10-100%}
		  b:
		    datasets:
		      - {name: red, file: colours.jsonl, query: text, document: label, where: label=red}
	END
	for how in mark apart; do
		tasksample -q --epochs 3 --duplicates $how mix.yaml | cat >whole.mts # stored, as below
		tasksample -q --epochs 3 --duplicates $how mix.yaml | cmp - whole.mts
		for n in 1 9 17; do
			tasksample -q --epochs 3 --duplicates $how --skip $n mix.yaml | batches |
				cmp - <(batches whole.mts | awk -v n=$n '/^#/ { seen++ } seen > n')
		done
	done
	run ! cmp -s whole.mts <(tasksample -q --seed 1 --epochs 3 --duplicates apart mix.yaml)
	tasksample -q --plan --task b mix.yaml | awk -F'\t' 'NR > 1 { rows += $5 } END { exit rows != 6 }'
	tasksample --all mix.yaml | mts stat --json | jq -c '[.attributes.dataset[] | {(.value): .rows}] | add' >counts
	rows 'file: colours.jsonl, label: label, part: 10-100%' >some
	jq -e ".set == 5 and .red == 6 and .colours == $(wc -l <some)" counts
}

@test "pairs: the number of examples of real data sets is that of their files" {
	for set in retrieval/scifact retrieval/cranfield classification/banking77 classification/emotion \
		pairclassification/mrpc; do
		need_data $set
	done
	cat >pairs.yaml <<-'END'
		tasks:
		  retrieval:
		    datasets:
		      - {name: scifact, beir: retrieval/scifact}
		      - {name: scifact-test, beir: retrieval/scifact, split: test}
		      - {name: cranfield, beir: retrieval/cranfield, split: test, where: score>=4}
		  classification:
		    datasets:
		      - {name: banking77, file: classification/banking77/train.jsonl.zst, label: label}
		      - {name: emotion, file: classification/emotion/train.jsonl.zst, query: text, document: label, part: 0-80%}
		      - {name: emotion-dev, file: classification/emotion/train.jsonl.zst, query: text, document: label, part: 80-100%}
		      - {name: first, file: classification/emotion/train.jsonl.zst, query: text, document: label, first: 500}
		      - {name: mrpc, file: pairclassification/mrpc/train.jsonl.zst, query: sentence1, document: sentence2, where: label=1}
	END
	tasksample -C "$DATA" --all pairs.yaml >all.mts
	mts stat all.mts | awk '$1 == "dataset" && $2 ~ /^"/ { print $2, $4 }' | tr -d '"' | sort >counts
	judged() { awk -F'\t' -v least="$2" 'NR > 1 && $3 >= least' "$DATA/retrieval/$1" | wc -l; }
	grep -qx "scifact $(judged scifact/qrels/train.tsv 1)" counts
	grep -qx "scifact-test $(judged scifact/qrels/test.tsv 1)" counts
	grep -qx "cranfield $(judged cranfield/qrels/test.tsv 4)" counts
	grep -qx "banking77 10003" counts
	grep -qx "first 500" counts
	grep -qx "mrpc $(zstd -dcq "$DATA/pairclassification/mrpc/train.jsonl.zst" | grep -c '"label": 1}')" counts
	[ "$(awk '/^emotion/ { n += $2 } END { print n }' counts)" -eq 16000 ]
	mts rows --where dataset=emotion all.mts | mts to jsonl | jq -r .query | sort -u >train
	mts rows --where dataset=emotion-dev all.mts | mts to jsonl | jq -r .query | sort -u >dev
	[ -z "$(comm -12 train dev)" ]
	# the texts of a judgement are those of its ids
	mts rows --rows 3 all.mts | mts to jsonl >third
	IFS=$'\t' read -r query document _ < <(sed -n 4p "$DATA/retrieval/scifact/qrels/train.tsv")
	zstd -dcq "$DATA/retrieval/scifact/queries.jsonl.zst" | jq -r "select(._id == \"$query\").text" |
		cmp - <(jq -r .query third)
	zstd -dcq "$DATA/retrieval/scifact/corpus.jsonl.zst" |
		jq -r "select(._id == \"$document\") | \"\(.title) \(.text)\"" | cmp - <(jq -r .document third)
}

# bats test_tags=plain
@test "pairs: memory does not grow with the corpus or with the judgements of a document" {
	[[ $BUILD != *sanitize* ]] || skip "the sanitizer needs all addresses"
	mkdir -p big/qrels
	awk 'BEGIN { for (i = 0; i < 2000; i++) printf "{\"_id\": \"d%d\", \"text\": \"%050000d\"}\n", i, i }' >big/corpus.jsonl
	awk 'BEGIN { for (i = 0; i < 50; i++) printf "{\"_id\": \"q%d\", \"text\": \"%d\"}\n", i, i }' >big/queries.jsonl
	awk 'BEGIN { for (i = 0; i < 100000; i++) printf "q%d\td%d\t1\n", i % 50, i / 50 }' >big/qrels.tsv
	set_of 'beir: big, weight: 0.001' # 100 MB of corpus; the judged documents are 5 GB
	(ulimit -v 70000 && tasksample -q x.yaml) | batch_column document | awk 'length != 50000 { exit 1 } END { exit NR != 100 }'
}

# typed TYPE LINE...: examples of a file with these rows
typed() {
	local type=$1
	shift
	printf '%s\n' "$@" >typed.jsonl
	rows "type: $type, file: typed.jsonl" | tr '\n' ';'
}

@test "pairs: rows of every type of MTEB give pairs, under both names of their fields" {
	beir set
	[ "$(rows 'type: Retrieval, beir: set')" = "$(rows 'beir: set')" ]
	[ "$(typed Reranking '{"query": "q", "positive": ["a", "b"], "negative": ["c"]}' '{"query": "r", "positive": ["d"]}')" = 'q|a;q|b;r|d;' ]
	[ "$(typed Classification '{"text": "a", "label": "good"}')" = 'a|good;' ]
	[ "$(typed Classification '{"sentence": "a", "label": 1, "label_text": "good"}')" = 'a|good;' ]
	for sides in sentence sent text; do
		[ "$(typed PairClassification "{\"${sides}1\": \"a\", \"${sides}2\": \"b\", \"label\": 0}" \
			"{\"${sides}1\": \"c\", \"${sides}2\": \"d\", \"label\": 1}")" = 'c|d;' ]
		[ "$(typed STS "{\"${sides}1\": \"a\", \"${sides}2\": \"b\", \"score\": 3.9}" \
			"{\"${sides}1\": \"c\", \"${sides}2\": \"d\", \"score\": 4}")" = 'c|d;' ]
	done
	[ "$(typed PairClassification '{"sent1": ["a", "b", "c"], "sent2": ["A", "B", "C"], "labels": [1, 0, 1]}')" = 'a|A;c|C;' ]
	[ "$(typed Summarization '{"text": "t", "human_summaries": ["s", "z"], "machine_summaries": ["m"], "relevance": [1]}')" = 't|s;t|z;' ]
	[ "$(typed Clustering '{"text": "a", "label": "x"}')" = 'a|x;' ]
	[ "$(typed Clustering '{"sentences": ["a", "b", "a"], "labels": ["x", "y", "y"]}')" = 'a|x;a;b|y;' ]
}

@test "pairs: keys of the recipe override those of the type" {
	echo '{"query": "q", "positive": ["a", "b"], "pos": ["c", "d", "e"], "negative": ["n", "m"]}' >r.jsonl
	[ "$(rows 'type: Reranking, file: r.jsonl, document: pos' | tr '\n' ';')" = 'q|c;q|d;q|e;' ]
	[ "$(rows 'type: Reranking, file: r.jsonl, negatives: negative' | tr '\n' ';')" = 'q|a|[n][m];q|b|[n][m];' ]
	[ "$(rows 'type: Reranking, file: r.jsonl, negatives: negative, each: [positive, negative]' | tr '\n' ';')" = 'q|a|[n];q|b|[m];' ]
	echo '{"sent1": ["a", "b"], "sent2": ["A", "B"], "labels": [1, 0], "gold": ["no", "yes"]}' >p.jsonl
	[ "$(rows 'type: PairClassification, file: p.jsonl, where: labels=0')" = 'b|B' ]
	[ "$(rows 'type: PairClassification, file: p.jsonl, where: gold=yes')" = 'b|B' ]
	[ "$(rows 'type: PairClassification, file: p.jsonl, where: []' | tr '\n' ';')" = 'a|A;b|B;' ]
	printf 'text1\ttext2\tscore\na\tA\t0.5\nb\tB\t0.9\n' >s.tsv
	[ "$(rows 'type: STS, file: s.tsv, where: score>=0.8')" = 'b|B' ]
	[ "$(rows 'type: STS, file: s.tsv, where: score>=0.8, query: text2, document: text1')" = 'B|b' ]
	printf 'text\tlabel\tlabel_text\na\t1\tgood\n' >c.tsv
	[ "$(rows 'type: Classification, file: c.tsv')" = 'a|good' ]
	[ "$(rows 'type: Classification, file: c.tsv, document: label')" = 'a|1' ]
	[ "$(rows 'type: Classification, file: c.tsv, document: label, names: [bad, fine]')" = 'a|fine' ]
	printf '{"text": "%s", "label": 0}\n' a b >k.jsonl
	[ "$(rows 'type: Clustering, file: k.jsonl, names: [x], group: 1' | sort | tr '\n' ';')" = 'a|x;b|x;' ]
}

# Rows with a query and as many positives as its number.
reranking() {
	jq -nc 'range(41) as $i | {query: "q\($i)", positive: [range($i) | "p\($i).\(.)"]}' >r.jsonl
}

@test "pairs: each item of a list is an example once an epoch, wherever it stands" {
	reranking
	seq 0 40 | while read -r i; do seq -f "q$i|p$i.%g" 0 $((i - 1)); done >expected
	set_of 'file: r.jsonl, each: positive'
	run -0 --separate-stderr tasksample --all x.yaml -o x.mts
	[[ $stderr == *"warning: r.jsonl: 1 rows have an empty list and make no example, line 1 for one"* ]]
	texts x.mts | diff expected -
	mts stat x.mts | found -E '^dataset +"x" +205 +820$'
	tasksample -q --epochs 3 x.yaml >x.mts
	texts x.mts | sed 's/|[-0-9]*|/|/' | sort | uniq -c | awk '$1 != 3 { exit 1 } END { exit NR != 820 }'
	for n in 1 100 300; do
		tasksample -q --epochs 3 --skip $n x.yaml | batches | cmp - <(batches x.mts | awk -v n=$n '/^#/ { seen++ } seen > n')
	done
	[ "$(rows 'file: r.jsonl, each: positive, first: 4, where: query!=q2' | tr '\n' ';')" = 'q1|p1.0;q3|p3.0;q3|p3.1;q3|p3.2;' ]
	# the same from compressed files, cut in two
	head -20 r.jsonl | gzip >a.jsonl.gz
	tail -n +21 r.jsonl | zstd -q >b.jsonl.zst
	rows 'file: [a.jsonl.gz, b.jsonl.zst], each: positive' | diff expected -
	# all documents of a query are in one part
	rows 'type: Reranking, file: r.jsonl, part: 0-60%' >low
	rows 'type: Reranking, file: r.jsonl, part: 60-100%' >high
	sort low high | diff - <(sort expected)
	[ -s low ]
	[ -s high ]
	[ -z "$(comm -12 <(cut -d'|' -f1 low | sort -u) <(cut -d'|' -f1 high | sort -u))" ]
	# parallel lists; rows that are lists
	echo '["q", ["a", "b"], [1, 2], "z"]' >l.jsonl
	[ "$(rows 'file: l.jsonl, each: [1, 2], document: 1, query: 0+2+3' | tr '\n' ';')" = 'q 1 z|a;q 2 z|b;' ]
	# lists of texts and labels
	echo '{"sentences": ["a", "b", "c"], "labels": ["x", "y", "x"]}' >k.jsonl
	[ "$(rows 'file: k.jsonl, each: [sentences, labels], query: sentences, label: labels' | tr '\n' ';')" = 'a|c;c|a;' ]
}

@test "pairs: a group has texts of one label, each text once, grouped by hash" {
	for i in {0..99}; do echo "{\"text\": \"t$i\", \"label\": \"l$((i % 7))\"}"; done >k.jsonl
	head -30 k.jsonl >>k.jsonl.again && cat k.jsonl k.jsonl.again >twice.jsonl
	set_of 'type: Clustering, file: twice.jsonl'
	tasksample --all x.yaml | mts to jsonl | jq -c '[.document, (.query | split("\n"))]' >sets
	# 14 or 15 texts of each label in 4 groups of at most 4
	jq -r '.[0]' sets | sort | uniq -c | awk '$1 != 4 { exit 1 } END { exit NR != 7 }'
	jq -e '.[1] | length == 3 or length == 4' sets | grep -c true | found -x 28
	jq -r '.[0] as $name | .[1][] | "\(.) \($name)"' sets | sort | diff - <(jq -r '"\(.text) \(.label)"' k.jsonl | sort)
	# the same groups in another order, and from lists
	tac k.jsonl >back.jsonl
	jq -sc '{sentences: map(.text), labels: map(.label)}' k.jsonl >lists.jsonl
	for file in back lists; do
		rows "type: Clustering, file: $file.jsonl" | sort | diff - <(rows 'type: Clustering, file: k.jsonl' | sort)
	done
	# no text is in two parts
	for part in 0-50% 50-100%; do
		recipe "type: Clustering, file: k.jsonl, part: $part" | tasksample --all - | mts to jsonl | jq -r '.query | split("\n")[]' | sort >"texts-$part"
		[ -s "texts-$part" ]
	done
	sort texts-* | diff - <(jq -r .text k.jsonl | sort)
	# any fields and any number; a group is an example once an epoch; its key is the label's
	set_of 'file: k.jsonl, query: text, document: label, group: 9'
	tasksample -q --epochs 2 x.yaml >x.mts
	batch_column query <x.mts | sort | uniq -c | awk '$1 != 2 { exit 1 } END { exit NR != 14 }'
	[ "$(batch_column document.key <x.mts | sort -u | wc -l)" -eq 7 ]
	[ "$(rows 'file: k.jsonl, query: text, document: label, group: 100, first: 8' | grep -o t[0-9] | sort | tr -d '\n')" = t0t1t2t3t4t5t6t7 ]
}

@test "pairs: real data sets give, by their types, the pairs in their files" {
	for set in reranking/wikiqa summarization/summeval sts/stsbenchmark pairclassification/mrpc clustering/twentynewsgroups_subjects classification/banking77; do
		need_data $set
	done
	set_line() { printf '      - {name: %s, type: %s, file: %s.jsonl.zst}\n' "$@"; }
	{
		printf 'tasks:\n  all:\n    datasets:\n'
		set_line wikiqa Reranking reranking/wikiqa/train
		set_line summeval Summarization summarization/summeval/test
		set_line stsb STS sts/stsbenchmark/train
		set_line mrpc PairClassification pairclassification/mrpc/train
		set_line news Clustering clustering/twentynewsgroups_subjects/train
		set_line banking Classification classification/banking77/train
	} >pairs.yaml
	tasksample -C "$DATA" --all pairs.yaml | mts stat | awk '$1 == "dataset" && $2 ~ /^"/ { print $2, $4 }' | tr -d '"' | sort >counts
	count() { zstd -dcq "$DATA/$2.jsonl.zst" | jq -s "$3" | sed "s/^/$1 /"; }
	{
		count wikiqa reranking/wikiqa/train 'map(.positive | length) | add'
		count summeval summarization/summeval/test 'map(.human_summaries | length) | add'
		count stsb sts/stsbenchmark/train 'map(select(.score >= 4)) | length'
		count mrpc pairclassification/mrpc/train 'map(.label) | add'
		count news clustering/twentynewsgroups_subjects/train 'group_by(.label) | map((map(.text) | unique | length) / 4 | ceil) | add'
		count banking classification/banking77/train length
	} | sort | diff counts -
}

# bats test_tags=plain
@test "pairs: memory does not grow with the items of lists" {
	[[ $BUILD != *sanitize* ]] || skip "the sanitizer needs all addresses"
	awk 'BEGIN { for (i = 0; i < 100; i++) { printf "{\"query\": \"%d\", \"positive\": [", i
		for (j = 0; j < 200; j++) printf "%s\"%05000d\"", j ? ", " : "", j
		print "]}" } }' >r.jsonl
	set_of 'type: Reranking, file: r.jsonl, weight: 0.01'
	(ulimit -v 70000 && tasksample -q x.yaml) | batch_column document | awk 'length != 5000 { exit 1 } END { exit NR != 200 }'
}

# rows_like TYPE NAME: two rows that give pairs, and one that gives none
rows_like() {
	case $1 in
	Classification) printf '{"text": "%s %d", "label": 1, "label_text": "a"}\n' "$2" 1 "$2" 2 ;;
	Clustering) printf '{"sentences": ["%s", "b"], "labels": ["a", "b"]}\n' "$2" ;;
	PairClassification) printf '{"sent1": ["%s", "b"], "sent2": ["c", "d"], "labels": [1, 0]}\n{"sent1": ["e"], "sent2": ["f"], "labels": [1]}\n' "$2" ;;
	Reranking) printf '{"query": "%s", "positive": ["a", "b"], "negative": ["c"]}\n' "$2" ;;
	STS) printf '{"sentence1": "%s", "sentence2": "a", "score": %s}\n' "$2" 1 "$2" 0 "$2" 0.8 ;;
	esac
}

@test "pairs: REZE's recipe has the data sets of its table by their types, a task for each benchmark" {
	recipe=$ROOT/share/recipes/reze-paper.yaml
	sed -n 's/.*{name: \([^,]*\), type: \([^,]*\), \(file\|beir\): \([^,}]*\).*/\2 \4 \1/p' "$recipe" >sets
	while read -r type place name; do
		[ "${place%%/*}" = "$name" ]
		mkdir -p "files/$name"
		if [ "$type" = Retrieval ]; then
			beir "files/$place"
			printf '7\td1\t1\n12\t1\t1\n7\td4\t0\n' | tee "files/$place/qrels/train.tsv" >"files/$place/qrels/test.tsv"
		else
			rows_like "$type" "$name" >"files/$place"
		fi
	done <sets
	tasksample -q -C files --all "$recipe" >all.mts
	mts to jsonl all.mts | jq -r .dataset | sort | uniq -c | awk '$1 != 2 { exit 1 } END { exit NR != 49 }'
	for task in 'coir 6' 'chemteb 25' 'finmteb 18'; do
		tasksample -q -C files --task "${task% *}" "$recipe" >task.mts
		mts to jsonl task.mts | jq -r .dataset | sort -u | wc -l | found -x "${task#* }"
		# data sets are mixed, and duplicates are not masked
		mts stat task.mts | awk '$1 == "temperature" { print $2 }' | found -x 0.05
		tasksample -q -C files --task "${task% *}" --plan "$recipe" | awk -F'\t' 'NR > 1 { mixed += $4 ~ /,/; large += $5 > 8 } END { exit !mixed || large }'
		[ -z "$(batch_column query.key <task.mts)" ]
	done
	# make mteb has the same type for these names
	for name in coir chemteb finmteb; do
		leaderboard list --registry "$ROOT/share/tasks.yaml" $name | awk -F'\t' 'NR > 1 { print $1, $2 }'
	done | sort >known
	awk '{ print $3, $1 }' sets | sort | join known - >both
	[ "$(wc -l <both)" -ge 46 ]
	awk '$2 != $3' both | diff /dev/null -
}

# 2. faults

@test "pairs: a faulty recipe is refused with the line" {
	beir set
	labelled
	fails 'beir: set, file: a' "x.yaml:2: 'file' does not apply to a BEIR folder"
	fails 'beir: set, label: a' "x.yaml:2: 'label' does not apply to a BEIR folder"
	fails 'beir: set, names: [a]' "x.yaml:2: 'names' does not apply to a BEIR folder"
	fails 'beir: set, negatives: a' "x.yaml:2: 'negatives' does not apply to a BEIR folder"
	fails 'file: a, split: a' "x.yaml:2: 'split' applies only to a BEIR folder"
	for key in 'document: a' 'negatives: a' 'names: [a]' 'part_by: query'; do
		fails "file: a, label: b, $key" "x.yaml:2: '${key%:*}' does not apply to pairs of one label"
	done
	fails 'query: a' "x.yaml:2: 'file' is missing"
	fails 'file: a, names: 3' "x.yaml:2: 'names' must be a mapping"
	fails 'file: a, names: [1]' "x.yaml:2: a name must be a string; quote it"
	fails 'file: a, document: a+b, names: [c]' "x.yaml:2: 'names' are of one field"
	fails 'file: a, where: label' "x.yaml:2: 'label' is not NAME=VALUE"
	fails 'file: a, where: label<b' "x.yaml:2: 'label<b': < and > need a number; 'b' is not one"
	fails "file: a, where: 'label~('" "x.yaml:2: expression '(': "
	fails 'file: a, where: 3' "x.yaml:2: 'where' must be a condition such as label=1"
	fails 'file: a, where: [1]' "x.yaml:2: a condition is a string such as label=1"
	fails 'file: a, where: {b: [1]}' "x.yaml:2: a condition is a string such as label=1"
	for part in 80 80% 0-80 80-20% 5-5% 0-101% -1-5% 0x1-5% nan-5% '"%"' '"-%"' 0-80%%; do
		fails "file: a, part: $part" "x.yaml:2: 'part' is"
	done
	fails 'file: a, part: 0-80%, part_by: both' "x.yaml:2: 'both' is not known as 'part_by'"
	for first in 0 -1; do
		fails "file: a, first: $first" "x.yaml:2: 'first' is $first"
		fails "file: a, sample: $first" "x.yaml:2: 'sample' is $first"
	done
	fails 'file: a, first: 0.5' "x.yaml:2: 'first' is "
}

@test "pairs: a faulty BEIR folder is refused with file and line" {
	fails 'beir: none' "none: there is no qrels.tsv nor qrels/train.tsv; name another by 'split'"
	beir set
	fails 'beir: set, split: test' "set: there is no qrels/test.tsv"
	mv set/corpus.jsonl c && fails 'beir: set' "set: there is no corpus.jsonl (.tsv, .csv; .gz, .zst, .xz, .bz2)"
	: >set/corpus.jsonl && fails 'beir: set' "set/corpus.jsonl: has no examples"
	sed '3s/"01"/"d1"/' c >set/corpus.jsonl && fails 'beir: set' "set/corpus.jsonl:3: the id 'd1' is there twice"
	sed '3s/"01"/1.5/' c >set/corpus.jsonl && fails 'beir: set' "set/corpus.jsonl:3: the id is neither text nor a whole number"
	sed '3s/_id/key/' c >set/corpus.jsonl && fails 'beir: set' "set/corpus.jsonl:3: there is no '_id'"
	sed '1s/"text"/"body"/' c >set/corpus.jsonl && fails 'beir: set' "set/corpus.jsonl:1: has no field 'text'"
	echo '["d1", "text"]' >set/corpus.jsonl && fails 'beir: set' "set/corpus.jsonl:1: "
	sed 's/"title"/"name"/' c >set/corpus.jsonl
	fails 'beir: set, document: title+text' "set/corpus.jsonl:1: has no field 'title'"
	zstd -qc c | head -c 60 >set/corpus.jsonl.zst && rm set/corpus.jsonl
	fails 'beir: set' "set/corpus.jsonl.zst: "
	rm set/corpus.jsonl.zst && cp c set/corpus.jsonl
	# a document that does not exist, then no query that exists
	printf '7\tnowhere\t1\nnobody\td1\t1\n' >>set/qrels/train.tsv
	set_of 'beir: set'
	run -0 --separate-stderr tasksample x.yaml -o x.mts
	[[ $stderr == *"warning: data set x: 2 of 7 positive judgements are left out: their query or document is not there; the first is of '7' and 'nowhere'"* ]]
	[ "$(texts x.mts | wc -l)" -eq 5 ]
	sed 's/"_id": "/&z/' c >set/corpus.jsonl
	fails 'beir: set' "set/qrels/train.tsv: none of its 7 positive judgements has its query and its document in set; the first is of '007' and 'd1'"
	printf '7\td1\t0\n' >set/qrels/train.tsv && fails 'beir: set' "set/qrels/train.tsv: none of its judgements is positive"
	: >set/qrels/train.tsv && fails 'beir: set' "set/qrels/train.tsv: there are no judgements in it"
	printf '7\td1\tx\ny\n' >set/qrels/train.tsv && fails 'beir: set' "set/qrels/train.tsv:1: the grade is not a number"
	beir set && fails 'beir: set, where: grade=1' "x.yaml:2: data set x: no row has a field 'grade', which 'grade=1' asks for"
	fails 'beir: set, where: score>3' "x.yaml:2: data set x: no example is left"
}

@test "pairs: faulty rows are refused with their line" {
	labelled
	fails 'file: colours.jsonl, label: colour' "colours.jsonl:1: has no field 'colour'; it has 'text', 'label', 'n'"
	echo '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9}' >many.jsonl
	fails 'file: many.jsonl, label: label' "many.jsonl:1: has no field 'text'; it has 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' ..."
	fails 'file: colours.jsonl, label: label, query: words' "colours.jsonl:1: has no field 'words'"
	fails 'file: colours.jsonl, query: text, document: label, names: {red: rot}' "colours.jsonl:2: the 'label' is 'blue', for which 'names' has no name"
	fails 'file: colours.jsonl, query: text, document: n, names: [a, b], where: n=2' "colours.jsonl:5: the 'n' is '2', for which 'names' has no name"
	fails 'file: colours.jsonl, where: lable=red' "x.yaml:2: data set x: no row has a field 'lable', which 'lable=red' asks for"
	fails 'file: colours.jsonl, where: label=green, query: text, document: label' "x.yaml:2: data set x: no example is left"
	fails 'file: colours.jsonl, where: label<3, query: text, document: label' "colours.jsonl:1: field 'label' is not a number, which 'label<3' asks for"
	printf '{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n' >lone.jsonl
	fails 'file: lone.jsonl, label: label' "x.yaml:2: data set x: no example is left by its 'where', 'part' or 'label'"
	printf '{"text": "a", "label": ["x"]}\n{"text": "b", "label": {}}\n' >lone.jsonl
	fails 'file: lone.jsonl, label: label' "lone.jsonl:2: is an object without 'text': field 'label'"
	printf '{"text": "a", "label": null}\n' >lone.jsonl
	fails 'file: lone.jsonl, label: label' "lone.jsonl:1: is neither text nor number: field 'label'"
	: >lone.jsonl && fails 'file: lone.jsonl, label: label' "lone.jsonl: has no examples"
}

@test "pairs: faulty rows of lists, and data sets of the wrong type, are refused" {
	beir set
	fails 'type: STS, beir: set' "x.yaml:2: a data set of type STS is a 'file'; a BEIR folder is of type Retrieval"
	fails 'type: Retrieval, file: a' "x.yaml:2: a data set of type Retrieval is a folder, which 'beir' names"
	fails 'type: Ranking, file: a' "x.yaml:2: 'Ranking' is not known as 'type'; it is one of Classification, Clustering, "
	fails 'type: Clustering, file: a, label: b' "x.yaml:2: 'type' does not apply to pairs of one label"
	fails 'type: Clustering, file: a, negatives: b' "x.yaml:2: 'negatives' does not apply to groups"
	fails 'group: 2, file: a, label: b' "x.yaml:2: 'group' does not apply to pairs of one label"
	fails 'group: 0, file: a' "x.yaml:2: 'group' is 0"
	for key in 'each: a' 'group: 2'; do
		fails "beir: set, $key" "x.yaml:2: '${key%:*}' does not apply to a BEIR folder"
	done
	fails 'each: [], file: a' "x.yaml:2: 'each' is an empty list"
	for each in 1.5 '{a: b}' '[[a]]'; do
		fails "each: $each, file: a" "x.yaml:2: 'each' must name a field"
	done
	fails "each: '', file: a" "x.yaml:2: 'each' is empty"
	printf '%s\n' '{"query": "q", "positive": ["a", "b"]}' '' '{"query": "r", "positive": ["c", 1, null, "d"]}' >r.jsonl
	fails 'file: r.jsonl, each: positives' "r.jsonl:1: has no field 'positives'"
	fails 'file: r.jsonl, each: positive, part_by: document, part: 0-50%' "r.jsonl:3: is neither text nor number: field 'positive'"
	fails 'type: STS, file: r.jsonl' "r.jsonl:1: has no query of type STS (sentence1, sent1, text1); name it by 'query'"
	fails 'type: Summarization, file: r.jsonl, query: query' "r.jsonl:1: has no document of type Summarization (human_summaries); name it by 'document'"
	fails 'type: PairClassification, file: r.jsonl, query: query, document: positive' "r.jsonl:1: has no mark of type PairClassification (label, labels); name it by 'where'"
	printf '{"query": "q", "positive": []}\n' >r.jsonl
	fails 'type: Reranking, file: r.jsonl' "r.jsonl: has no examples"
	printf '{"sentences": ["a", "b"], "labels": ["x"]}\n' >k.jsonl
	fails 'type: Clustering, file: k.jsonl' "k.jsonl:1: 'sentences' is a list of 2, 'labels' one of 1; they go together, member by member"
	printf '{"sentence1": "a", "sentence2": "b", "label": 0, "score": 3}\n' >p.jsonl
	fails 'type: PairClassification, file: p.jsonl' "x.yaml:2: data set x: no example is left by 'where: label=1', which is its type's, or by its 'part'"
	fails 'type: STS, file: p.jsonl' "x.yaml:2: data set x: no example is left by 'where: score>=4'"
	# labels that are numbers, empty or without a name
	for type in Classification Clustering; do
		printf '{"text": "a", "label": 3}\n' >c.jsonl
		fails "type: $type, file: c.jsonl" "c.jsonl:1: the label 'label' is a number, not a text; give its 'names', or 'document: label' to take it as it is"
		printf '{"text": "a", "label": "x"}\n{"text": "b", "label": ""}\n' >c.jsonl
		fails "type: $type, file: c.jsonl, part: 0-99.99%, part_by: document" "c.jsonl:2: the label 'label' is empty"
		printf '{"text": "a", "label": null, "label_text": ""}\n' >c.jsonl
		fails "type: $type, file: c.jsonl" "c.jsonl:1: the label 'label_text' is empty"
		printf 'text\tlabel\na\t3\n' >c.tsv
		fails "type: $type, file: c.tsv" "c.tsv:2: the label 'label' is a number"
		fails "type: $type, file: c.tsv, names: [a, b]" "c.tsv:2: the 'label' is '3', for which 'names' has no name"
	done
}

@test "pairs: the page's data sets work" {
	mkdir scifact msmarco
	beir scifact && beir msmarco
	printf '["a", "b"]\n' | gzip >pairs.jsonl.gz
	printf '["a", "b", "not b"]\n' | gzip >t.jsonl.gz
	printf '{"set": ["a", "b", "c"]}\n' | gzip >quora.jsonl.gz
	printf '{"anchor": "a", "positive": "b", "negative": "c"}\n' >nli.jsonl
	printf '{"anchor": "a", "positive": "b", "negative_1": "c", "negative_2": "d"}\n' >mined.jsonl
	printf '{"query": "a", "pos": ["b"], "neg": ["c"], "prompt": "find"}\n' >bge.jsonl
	printf '{"query": "a", "positive_passages": [{"text": "b"}], "negative_passages": [{"text": "c"}]}\n' >train.jsonl
	message='[{"role": "user", "content": "a"}]'
	printf '{"messages": %s, "positive_messages": [%s], "negative_messages": [%s]}\n' "$message" "$message" "$message" >swift.jsonl
	printf '{"text": "%s", "label": 1}\n' a b >topics.jsonl
	printf 'text\tlabel\nboo\t3\n' >emotion.tsv
	printf '{"sentence1": "a", "sentence2": "b", "label": %d}\n' 0 1 1 >mrpc.jsonl
	printf '{"query": "a", "positive": ["b", "c"], "negative": []}\n' >wikiqa.jsonl
	printf '{"sentences": ["a", "b", "c"], "labels": [1, 0, 1]}\n' >arxiv.jsonl
	{
		printf 'tasks:\n  all:\n    datasets:\n'
		sed -n '/^Common file layouts/,/^.Ed/p' "$ROOT/man/tasksample.1" | grep '^[{ ]' | sed 's/}  .*/}/; s/} \[.*/}/; s/} {.*/}/; s/^{/      - {/; s/^ [a-z]/       &/'
	} >page.yaml
	tasksample --all page.yaml | mts stat --json | jq -c '[.attributes.dataset[] | {(.value): .rows}] | add' >counts
	jq -e '.mined == 1 and .bge == 1 and .tevatron == 1 and .swift == 1 and .scifact == 5 and .pairs == 1 and .triples == 1 and .quora == 1 and .nli == 1 and .topics == 2 and .emotion == 1 and .mrpc == 2 and .wikiqa == 2 and .arxiv == 2' counts
	tasksample --all page.yaml | batches | found 'query=boo	document=anger'
}

@test "pairs: a row without a label belongs to no class" {
	for label in null NaN '""' '" "' Infinity; do
		printf '{"text":"%s","label":%s}\n' a '"x"' b '"x"' c "$label" d "$label" >l.jsonl
		if [ "$label" = '" "' ]; then
			recipe 'file: l.jsonl, label: label' | tasksample -q --all - | batches | grep -c '^' # a blank is a label
			continue
		fi
		set_of 'file: l.jsonl, label: label'
		run -1 tasksample -q x.yaml -o lost.mts
		echo "$output"
		[[ $output == "tasksample: l.jsonl:3: has no label: field 'label' is empty; leave out such rows" ||
			$output == "tasksample: l.jsonl:3: is neither text nor number: field 'label'" ]]
	done
	printf 'text,label\na,x\nb,x\nc,\nd,\n' >l.csv
	fails 'file: l.csv, label: label' "l.csv:4: has no label: field 'label' is empty; leave out such rows"
	[ "$(rows 'file: l.csv, label: label, where: "label!="' | sort)" = $'a|b\nb|a' ]
	# integers beyond a double's precision are distinct labels
	printf '{"text":"%s","label":%s}\n' a 18446744073709551615 b 18446744073709551615 c 18446744073709551614 d 18446744073709551614 >l.jsonl
	[ "$(rows 'file: l.jsonl, label: label' | sort)" = $'a|b\nb|a\nc|d\nd|c' ]
	printf '{"query":"a","document":"b","m":1,"m":2,"other":{"x":1,"x":2}}\n' >l.jsonl
	[ "$(rows 'file: l.jsonl')" = 'a|b' ]
	fails 'file: l.jsonl, where: "m=1"' "l.jsonl:1: 'm' is given twice"
}
