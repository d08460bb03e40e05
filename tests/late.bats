#!/usr/bin/env bats
load helper

# Late interaction. Golden values: tests/golden/late.py (PyLate, sentence-transformers).
L=$GOLDEN/late

# texts ROLE: the file of the role's texts
texts() {
	case $1 in query) echo "$L/queries.jsonl" ;; *) echo "$L/documents.jsonl" ;; esac
}
# vectors FORM ROLE [OPTION...]: encode's stream of the role's texts
vectors() {
	tok -q -m "$L/$1" --task "$2" "$(texts "$2")" | encode -q -m "$L/$1" "${@:3}"
}
# expected FORM ROLE MEMBER: a golden value of each text, a line of JSON each
expected() {
	jq -c "select(.role == \"$2\").$3" "$L/$1/expected.jsonl"
}
# folder FORM: copies the folder to $T/FORM
folder() {
	cp -r "$L/$1" "$T/$1"
}
# change FILE FILTER: edits the file by jq's FILTER
change() {
	jq "$2" "$1" >"$T/changed" && mv "$T/changed" "$1"
}

# Known answers. -------------------------------------------------------------------------

@test "late: ids and vectors of every layout equal PyLate's and sentence-transformers'" {
	count=0
	for form in "$L"/*/; do
		form=$(basename "$form")
		for role in query document; do
			echo "$form $role"
			tok -q -m "$L/$form" --task $role "$(texts $role)" >"$T/ids.mts"
			mts to jsonl -c text.ids "$T/ids.mts" | jq -c '."text.ids"' | diff - <(expected "$form" $role ids)
			encode -q -m "$L/$form" "$T/ids.mts" | mts to jsonl -c text.tokens | jq -c '."text.tokens"' >"$T/made"
			diff <(jq length "$T/made") <(expected "$form" $role vectors | jq length)
			jq '.[][]' "$T/made" | within <(expected "$form" $role vectors | jq '.[][]') 1e-5
			count=$((count + 1))
		done
	done
	[ "$count" -eq 20 ]
}

@test "late: a text's vectors have the same bits in every batch and with any number of threads" {
	for form in colbert pylate_modernbert sentence_lfm2; do
		for role in query document; do
			vectors $form $role >"$T/all.mts"
			vectors $form $role --tokens 3 -j 1 >"$T/each.mts"
			mts diff "$T/all.mts" "$T/each.mts"
		done
	done
}

# Options. -------------------------------------------------------------------------------

@test "late: lists of texts have lists of vectors; --keep keeps ids; --emit names columns" {
	jq -cs '[{text: map(.text)}, {text: []}, {text: [.[0].text]}][]' "$L/queries.jsonl" |
		tok -q -m "$L/colbert" --task query --format jsonl | encode -q -m "$L/colbert" --keep --emit v=tokens,hs >"$T/lists.mts"
	mts to jsonl -c text.v "$T/lists.mts" | jq -c '."text.v"' >"$T/made"
	jq length "$T/made" | diff - <(printf '5\n0\n1\n')
	head -1 "$T/made" | jq '.[][][]' | within <(expected colbert query vectors | jq '.[][]') 1e-5
	mts head "$T/lists.mts" | found 'text.attended.*i32'
	mts stat "$T/lists.mts" | found 'text.hs '
	vectors colbert query | mts stat >"$T/head"
	run ! grep -E 'attended|ids' "$T/head"
}

@test "late: --max-length replaces the folder's limit, which counts marker and expansion tokens" {
	tok -q -m "$L/colbert" --task query --max-length 6 "$L/queries.jsonl" | mts to jsonl |
		jq -c '[(."text.ids" | length), ."text.attended"]' | sort -u | diff - <(printf '[6,3]\n[6,6]\n')
	tok -q -m "$L/colbert" --task document --max-length 6 "$L/documents.jsonl" | mts to jsonl | jq -c '."text.ids" | length' |
		sort -n | tail -1 | diff - <(echo 6)
	run -0 --separate-stderr tok -m "$L/colbert" --task document -o "$T/x" "$L/documents.jsonl"
	[[ $stderr == *"4 of 7 texts were longer than 10 tokens and were cut"* ]] || { echo "$stderr"; false; }
	run -1 tok -q -m "$L/colbert" --task document --no-truncate -o "$T/x" "$L/documents.jsonl"
	run -2 tok -q -m "$L/colbert" --task query --max-length 1 -o "$T/x" "$L/queries.jsonl"
	[[ $output == *"leaves no room for a text"* ]]
}

@test "late: --precision bf16 and int8 are close to f32" {
	for precision in bf16 int8; do
		vectors pylate_bert document --precision $precision | mts to jsonl -c text.tokens | jq '."text.tokens"[][]' |
			within <(expected pylate_bert document vectors | jq '.[][]') 0.05
	done
}

# Errors. --------------------------------------------------------------------------------

@test "late: tok needs --task query or --task document" {
	for task in '' '--task passage'; do
		run -2 --separate-stderr tok -m "$L/colbert" $task "$L/queries.jsonl"
		[[ $stderr == "tok: $L/colbert: embeds the tokens of queries and documents; say which with --task query or --task document"* ]] ||
			[[ $stderr == *"no prompt is called"* ]]
	done
	echo "2 3 4" | ids_stream text.ids >"$T/ids.mts"
	dies "encode: 'text' holds neither queries nor documents" encode -m "$L/colbert" "$T/ids.mts" -o out
}

@test "late: --emit emb is refused, and so are token vectors of another model" {
	tok -q -m "$L/colbert" --task query "$L/queries.jsonl" >"$T/ids.mts"
	dies "encode: $L/colbert: embeds tokens (late interaction), not texts" encode -m "$L/colbert" --emit emb "$T/ids.mts" -o out
	run -2 encode -m "$L/colbert" --dim 3 "$T/ids.mts" -o out
	run -2 encode -m "$L/colbert" --empty zero "$T/ids.mts" -o out
	echo "a small text" | tok -q -m "$GOLDEN/bert" >"$T/bert.mts"
	dies "encode: $GOLDEN/bert: has no vectors of tokens (late interaction)" encode -m "$GOLDEN/bert" --emit tokens "$T/bert.mts" -o out
	run -1 train -q -m "$L/colbert" -o "$T/trained" "$T/ids.mts"
	[[ $output == *"such a model can encode, but not be trained"* ]]
}

@test "late: unknown settings are refused by name" {
	folder pylate_bert
	folder colbert
	folder sentence_bert
	tok -q -m "$T/colbert" --task query "$L/queries.jsonl" >"$T/ids.mts"
	change "$T/colbert/artifact.metadata" '.similarity = "l2"'
	dies "tok: $T/colbert/artifact.metadata:" tok -m "$T/colbert" --task query "$L/queries.jsonl" -o out
	[[ $stderr == *"'similarity' is 'l2'; only 'cosine' is supported" ]]
	change "$T/colbert/artifact.metadata" '.similarity = "cosine" | .query_token_id = "[nothing]"'
	dies "tok: $T/colbert: its tokenizer has no token '[nothing]', the marker" tok -m "$T/colbert" --task query "$L/queries.jsonl" -o out
	change "$T/pylate_bert/config_sentence_transformers.json" '.query_length = 0'
	dies "tok: $T/pylate_bert/config_sentence_transformers.json:" tok -m "$T/pylate_bert" --task query "$L/queries.jsonl" -o out
	change "$T/pylate_bert/tokenizer_config.json" '.padding_side = "left"'
	change "$T/pylate_bert/config_sentence_transformers.json" '.query_length = 9'
	dies "tok: $T/pylate_bert/tokenizer_config.json:" tok -m "$T/pylate_bert" --task query "$L/queries.jsonl" -o out
	change "$T/sentence_bert/modules.json" '. + [.[0] | .path = "9_FlexibleQuantizer" | .type = "st_quantize.FlexibleQuantizer"]'
	dies "encode: $T/sentence_bert/modules.json:" encode -m "$T/sentence_bert" "$T/ids.mts" -o out
	[[ $stderr == *"the module 'FlexibleQuantizer' is supported for embeddings of texts only" ]]
	change "$T/sentence_bert/sentence_bert_config.json" '.query_expansion.strategy = "some"'
	dies "tok: $T/sentence_bert/sentence_bert_config.json:" tok -m "$T/sentence_bert" --task query "$L/queries.jsonl" -o out
	[[ $stderr == *"'strategy' is 'some'; supported are 'fixed' and 'min'" ]]
}

@test "late: skiplist_tasks may be one task; without it, or if it is null, documents leave the words out" {
	folder sentence_modernbert
	mask=$(echo "$T"/sentence_modernbert/*_MultiVectorMask/config.json)
	attended() { # JQ TASK - the attended tokens of the task's texts
		change "$mask" "$1"
		tok -m "$T/sentence_modernbert" --task "$2" "$L/$3.jsonl" | encode -q -m "$T/sentence_modernbert" |
			mts to jsonl -c text.tokens | md5sum
	}
	for side in "query queries" "document documents"; do
		none=$(attended '.skiplist_tasks = []' $side)
		one=$(attended ".skiplist_tasks = [\"${side% *}\"]" $side)
		[ "$one" != "$none" ]
		[ "$(attended ".skiplist_tasks = \"${side% *}\"" $side)" = "$one" ]
		[ "$side" = "query queries" ] || none=$one
		[ "$(attended '.skiplist_tasks = null' $side)" = "$none" ]
		[ "$(attended 'del(.skiplist_tasks)' $side)" = "$none" ]
	done
	change "$mask" '.skiplist_tasks = "clustering"'
	dies "tok: $mask:" tok -m "$T/sentence_modernbert" --task query "$L/queries.jsonl" -o out
	[[ $stderr == *"'skiplist_tasks' has 'clustering'; supported are 'query' and 'document'" ]]
}

@test "late: the skip list may hold the token with id 0" {
	folder pylate_bert
	[ "$(jq -r '.model.vocab | to_entries[] | select(.value == 0).key' "$T/pylate_bert/tokenizer.json")" = "[PAD]" ]
	vectors() { # WORDS - how many vectors the document has
		change "$T/pylate_bert/config_sentence_transformers.json" ".skiplist_words = $1"
		echo "a [PAD] [PAD] b" | tok -m "$T/pylate_bert" --task document | encode -q -m "$T/pylate_bert" |
			mts to jsonl -c text.tokens | jq '.["text.tokens"] | length'
	}
	all=$(vectors '[]')
	[ "$(vectors '["[PAD]"]')" -eq $((all - 2)) ]
}

@test "late: a projection that is damaged, of another size or missing is refused" {
	for form in colbert pylate_bert; do
		folder $form
		tok -q -m "$T/$form" --task query "$L/queries.jsonl" >"$T/$form.mts"
	done
	change "$T/colbert/artifact.metadata" '.dim = 7'
	dies "encode: $T/colbert/model.safetensors: " encode -m "$T/colbert" "$T/colbert.mts" -o out
	change "$T/pylate_bert/1_Dense/config.json" '.in_features = 15'
	dies "encode: $T/pylate_bert: its 2_Dense takes vectors of 15 values, and is given 16" encode -m "$T/pylate_bert" "$T/pylate_bert.mts" -o out
	change "$T/pylate_bert/1_Dense/config.json" '.in_features = 16'
	truncate -s -8 "$T/pylate_bert/1_Dense/model.safetensors"
	dies "encode: $T/pylate_bert/1_Dense/model.safetensors: " encode -m "$T/pylate_bert" "$T/pylate_bert.mts" -o out
	rm "$T/pylate_bert/1_Dense/model.safetensors"
	dies "encode: $T/pylate_bert/1_Dense" encode -m "$T/pylate_bert" "$T/pylate_bert.mts" -o out
}

@test "late: wrong numbers of attended tokens are refused" {
	tok -q -m "$L/colbert" --task query "$L/queries.jsonl" | mts cat -c text.attended >"$T/attended.mts"
	for _ in 1 2 3 4 5; do echo "2 3"; done | ids_stream text.ids >"$T/ids.mts"
	mts paste "$T/ids.mts" "$T/attended.mts" >"$T/bad.mts"
	dies "encode: $T/bad.mts: record 1: 'text.attended' has 6 for text 1 of 2 tokens" encode -m "$L/colbert" --any-tokenizer "$T/bad.mts" -o out
}

# Search. --------------------------------------------------------------------------------

# streams FORM: encodes the texts to $T/q.mts and $T/d.mts
streams() {
	vectors "$1" query >"$T/q.mts"
	vectors "$1" document >"$T/d.mts"
}
# run_is FORM TOLERANCE < RUN: scores are the reference's, and ranks follow them
run_is() {
	awk -v table="$L/$1/scores.tsv" -v most="$2" '
		BEGIN { while ((getline line < table) > 0) { n = split(line, cell, "\t"); for (d = 1; d <= n; d++) gold[q + 0, d - 1] = cell[d]; q++ } }
		{ d = $5 - gold[substr($1, 2) + 0, substr($3, 2) + 0]; if (d > most || -d > most) { print "differs: " $0; bad = 1 } }
		$1 == before && $5 > score { print "not in order: " $0; bad = 1 }
		{ before = $1; score = $5; count++ }
		END { print count; exit bad }' >"$T/count" || { cat "$T/count"; false; }
}

@test "late: near's MaxSim is PyLate's and sentence-transformers', as a sum and as a mean" {
	for form in colbert pylate_bert pylate_modernbert pylate_xlm sentence_bert sentence_modernbert; do
		echo "$form"
		streams $form
		near -q --run - "$T/q.mts" "$T/d.mts" | run_is $form 1e-4
		[ "$(cat "$T/count")" -eq 35 ]
	done
	near -q --similarity maxsim --run - "$T/q.mts" "$T/d.mts" | awk '$1 == "q2"' | sort -k3 >"$T/sum"
	near -q --run - "$T/q.mts" "$T/d.mts" | awk '$1 == "q2"' | sort -k3 >"$T/mean"
	vectors=$(mts to jsonl -c _id,text.tokens "$T/q.mts" | jq 'select(._id == "q2")."text.tokens" | length')
	paste "$T/sum" "$T/mean" | awk -v n="$vectors" '{ d = $5 / n - $11; if (d > 1e-6 || -d > 1e-6) { print; bad = 1 } } END { exit bad }'
}

@test "late: near's answer does not depend on blocks, threads or the order of documents; equal documents are ordered by id" {
	streams colbert
	near -q --run "$T/all.run" "$T/q.mts" "$T/d.mts"
	near -q -j 1 --memory 2M --run - "$T/q.mts" "$T/d.mts" | cmp - "$T/all.run"
	for rows in 1-3 4-7; do mts rows --rows $rows "$T/d.mts" >"$T/$rows.mts"; done
	near -q --run - "$T/q.mts" "$T/4-7.mts" "$T/1-3.mts" | cut -f1-5 | diff - <(cut -f1-5 "$T/all.run")
	near -q -k 2 --run - "$T/q.mts" "$T/d.mts" | cut -f1-5 | diff - <(awk '$4 <= 2' "$T/all.run" | cut -f1-5)
	{
		sed 's/"_id": "d/"_id": "e/' "$L/documents.jsonl"
		cat "$L/documents.jsonl"
	} | tok -q -m "$L/colbert" --task document --format jsonl | encode -q -m "$L/colbert" >"$T/twice.mts"
	near -q --run - "$T/q.mts" "$T/twice.mts" | awk '{ print $1, substr($3, 2), $5 }' | uniq -c | awk '$1 != 2 { bad = 1 } END { exit bad }'
	# the better of two rows of an id: the document, and another text
	{
		jq -c '.text = "the"' "$L/documents.jsonl"
		cat "$L/documents.jsonl"
	} | tok -q -m "$L/colbert" --task document --format jsonl | encode -q -m "$L/colbert" >"$T/twice.mts"
	near -q --best --run - "$T/q.mts" "$T/twice.mts" | cut -f1,3,5 >"$T/best"
	for half in 1-7 8-14; do near -q --run - "$T/q.mts" <(mts rows --rows $half "$T/twice.mts"); done | cut -f1,3,5 | sort -k1,2 -k3,3gr | sort -su -k1,2 |
		diff - <(sort "$T/best")
}

@test "late: near --candidates compares only the pairs of a run; missing ids are refused by name" {
	streams pylate_bert
	near -q --run "$T/all.run" "$T/q.mts" "$T/d.mts"
	awk 'NR % 3 == 1' "$T/all.run" >"$T/some.run"
	near -q --candidates "$T/some.run" --run - "$T/q.mts" "$T/d.mts" | cut -f1,3,5 | diff - <(cut -f1,3,5 "$T/some.run")
	{
		cat "$T/some.run"
		printf 'q0\tQ0\tnone\t9\t0\tx\n'
	} >"$T/more.run"
	grep -v '^q1' "$T/more.run" >"$T/less.run"
	run -0 --separate-stderr near --candidates "$T/less.run" --run "$T/out.run" "$T/q.mts" "$T/d.mts"
	[[ $stderr == *"1 queries have no candidates: nothing is found for them; first: 'q1'"* ]]
	[[ $stderr == *"1 candidates are not in the corpus: they are not found; first: 'none'"* ]]
	run -2 near --candidates "$T/some.run" "$T/q.mts" "$T/d.mts"
	[[ $output == "near: --candidates needs --run"* ]]
	printf 'query-id\tcorpus-id\tscore\nq0\td0\t1\nq3\td5\t1\n' >"$T/qrels.tsv"
	mteb-score retrieval -q --qrels "$T/qrels.tsv" "$T/q.mts" "$T/d.mts" >"$T/report"
	mteb-score retrieval -q --qrels "$T/qrels.tsv" --from-run "$T/all.run" | grep -v '^#' | diff - <(grep -v '^#' "$T/report")
}

@test "late: near refuses to compare token vectors with embeddings" {
	streams colbert
	for command in 'near --similarity cosine' 'near --similarity dot -f text'; do
		run -1 $command "$T/q.mts" "$T/d.mts"
		[[ $output == *"there is no column '"*".emb' of vectors, only: _id, text.tokens" ]]
	done
	run -1 mts index -o "$T/index" "$T/d.mts"
	[ ! -e "$T/index" ]
	echo "a small text" | tok -q -m "$GOLDEN/bert" | encode -q -m "$GOLDEN/bert" >"$T/emb.mts"
	run -1 near --similarity maxsim "$T/emb.mts" "$T/emb.mts"
	[[ $output == *"there is no column '*.tokens' of vectors in lists"* ]]
	run -1 near "$T/q.mts" "$T/emb.mts"
	vectors pylate_roberta document >"$T/other.mts"
	run -1 near "$T/q.mts" "$T/other.mts"
	[[ $output == *"its vectors are of model"* ]]
}

@test "late: --pooling is refused, unless something else than tokens is asked for" {
	folder pylate_bert
	tok -q -m "$T/pylate_bert" --task query "$L/queries.jsonl" >"$T/ids.mts"
	run -2 --separate-stderr encode -q -m "$T/pylate_bert" --pooling max "$T/ids.mts"
	[[ $stderr == "encode: --pooling does not apply to a late-interaction model, which embeds tokens"* ]]
	encode -q -m "$T/pylate_bert" --pooling max --emit hs "$T/ids.mts" >"$T/hs.mts"
	for outputs in tokens tokens,hs:pool=mean; do
		run -2 --separate-stderr encode -q -m "$T/pylate_bert" --pooling max --emit $outputs "$T/ids.mts"
		[[ $stderr == "encode: --pooling does not apply to --emit $outputs; it is for emb, and for hs without pool="* ]]
	done
}
