#!/usr/bin/env bats
load helper

# Language models that answer a question about a pair, beside sentence-transformers and transformers (tests/golden/answers.py).
A=$GOLDEN/answers
R=$GOLDEN/rerank

# folder FORM: copies the model and its tokenizer to $T/FORM
folder() {
	cp -r "$A/tokenizer" "$T/$1"
	cp -r "$A/$1"/* "$T/$1"
}
# scores FORM FILE OPTION...: the scores of tok --pair OPTION... | rerank, and of rerank on a run, equal FILE
scores() {
	tok -q -m "$T/$1" --pair -f query -f text "${@:3}" "$R/pairs.jsonl" >"$T/pairs.mts"
	rerank -q -m "$T/$1" ${template:+--template "$template"} "$T/pairs.mts" | mts to tsv -c pair.score | sed 1d | within "$A/$1/$2" 1e-5 ||
		{ echo "$* pairs"; return 1; }
	rerank -q -m "$T/$1" --queries "$R/queries.jsonl" --texts "$R/documents.jsonl" "${@:3}" "$T/first.run" |
		cut -f1,3,5 | sort >"$T/made"
	cut -f1,3 "$T/first.run" | paste - "$A/$1/$2" | sort >"$T/expected"
	diff <(cut -f1,2 "$T/made") <(cut -f1,2 "$T/expected")
	cut -f3 "$T/made" | within <(cut -f3 "$T/expected") 1e-5 || { echo "$* run"; return 1; }
}
setup() {
	cd "$T" || return
	first_run
}

# Known answers. -------------------------------------------------------------------------

@test "answers: ids and scores of folders equal sentence-transformers', with and without an instruction" {
	for form in qwen3 qwen3_one qwen2 llama_parts llama_list qwen3_cut llama_text seq; do
		folder $form
		scores $form expected.tsv
		mts to jsonl pairs.mts | jq -c '."pair.ids"' | diff - <(jq -c . "$A/$form/ids.jsonl") || { echo $form; false; }
		[ $form = llama_text ] || scores $form instructed.tsv --instruction "find the keeper"
	done
}

@test "answers: scores of the named templates equal those of the models' own programs" {
	for template in qwen3-reranker mxbai-rerank-v2 bge-reranker-v2-gemma; do
		folder $template
		scores $template expected.tsv --template $template
		scores $template instructed.tsv --template $template --instruction "find the keeper"
	done
	# a classifier accepts a named template; its ids are those of the language model
	folder seq
	tok -q -m seq --pair --template qwen3-reranker --max-length 500 -f query -f text "$R/pairs.jsonl" >ids.mts
	tok -q -m qwen3-reranker --pair --template qwen3-reranker -f query -f text "$R/pairs.jsonl" | mts cat -c pair.ids | mts diff - <(mts cat -c pair.ids ids.mts)
}

@test "answers: templates render as transformers renders them" {
	while IFS= read -r case; do
		jq -e '.text != null' <<<"$case" >/dev/null || {
			run -1 jinja_show <<<"$case"
			[[ $output == *": line 1 of the chat template: "* ]] || { echo "$case $output"; false; }
			continue
		}
		jinja_show <<<"$case" >made
		jq -c .text <<<"$case" | diff - <(jq -c . made) || { echo "$case"; false; }
	done <"$A/jinja.jsonl"
	# Python strips white space of all scripts, and U+001C to U+001F
	jinja_show <<<'{"template": "[{{ x|trim }}][{{ x.lstrip() }}][{{ x.rstrip() }}]", "variables": {"x": "\u3000\u00a0\u001f\ta\u3000b\u200b\u2028\u0085 "}}' >made
	jq -ce . made | diff - <(jq -c . <<<'"[a\u3000b\u200b][a\u3000b\u200b\u2028\u0085 ][\u3000\u00a0\u001f\ta\u3000b\u200b]"')
	# each operation on a missing value is an error
	for wrong in 'x.rstrip()' 'x | first' 'x | join' 'x[0]' 'n[0]' 'x | map(attribute="a")' 'x | selectattr("a")' '"a" in n' 'x + "a"' 'n[n]' '[n]'; do
		run -1 jinja_show <<<"$(jq -nc --arg t "{{ $wrong }}" '{template: $t, variables: {n: 1}}')"
		[[ $output == *": line 1 of the chat template: "* ]] || { echo "$wrong $output"; false; }
		jinja_show <<<"$(jq -nc --arg t "{{ 'fine' if not n or true or ($wrong) }}{{ ($wrong) if false }}" '{template: $t, variables: {n: 1}}')" >made
		[ "$(cat made)" = '"fine"' ] || { echo "$wrong $(cat made)"; false; }
	done
	nested=$(printf '(%.0s' {1..80})
	run -1 jinja_show <<<"{\"template\": \"{{ $nested\", \"variables\": {}}"
	[[ $output == *"nest deeper than 64" ]]
}

@test "answers: the page's example of a named template" {
	folder qwen3-reranker
	cp "$R"/*.jsonl .
	line=$(page_examples rerank.1 | grep -e --template)
	bash -eu -o pipefail -c "${line/-m MODEL/-q -m qwen3-reranker}" >made
	[ "$(wc -l <made)" -eq 40 ]
}

# Effects. -------------------------------------------------------------------------------

@test "answers: the text after the document survives truncation; batches give the same bits" {
	folder qwen3
	tok -q -m qwen3 --pair -f query -f text "$R/pairs.jsonl" >pairs.mts
	tok -q -m qwen3 --pair --max-length 512 -f query -f text "$R/pairs.jsonl" >whole.mts
	tail=$(mts to jsonl whole.mts | jq -c '."pair.ids"[-8:]' | sort -u)
	[ "$(wc -l <<<"$tail")" -eq 1 ]
	[ "$(mts to jsonl pairs.mts | jq -c '."pair.ids"[-8:]' | sort -u)" = "$tail" ]
	[ "$(mts to jsonl pairs.mts | jq '."pair.ids" | length' | sort -n | tail -n 1)" -eq 110 ]
	[ "$(mts to jsonl whole.mts | jq '."pair.ids" | length' | sort -n | tail -n 1)" -gt 110 ]
	rerank -q -m qwen3 pairs.mts | mts to tsv >one
	rerank -q -m qwen3 --tokens 120 -j 1 pairs.mts | mts to tsv | cmp - one
	for precision in bf16 int8; do
		rerank -q -m qwen3 --precision $precision pairs.mts | mts to tsv -c pair.score | sed 1d | within "$A/qwen3/expected.tsv" 0.1
	done
	# models with other answer tokens have other fingerprints
	print_of() { rerank -q -m qwen3 pairs.mts >scored.mts && mts head --json -n 0 scored.mts | jq -r .properties.model; }
	before=$(print_of)
	sed -i 's/71/72/' qwen3/1_LogitScore/config.json
	[ "$before" != "$(print_of)" ]
}

# Usage and bad input. --------------------------------------------------------------------

@test "answers: options that do not apply and folders that are not rerankers are refused in one line" {
	pairs=(--pair -f query -f text -o out "$R/pairs.jsonl")
	texts=(--queries "$R/queries.jsonl" --texts "$R/documents.jsonl" first.run)
	folder llama_text
	dies "tok: llama_text: has no chat template of pairs, so no place for an instruction" tok -m llama_text --instruction x "${pairs[@]}"
	folder qwen3
	run -2 --separate-stderr tok -m qwen3 --template qwen3-rerank "${pairs[@]}"
	[[ ${stderr_lines[0]} == *"'qwen3-rerank' is not one of qwen3-reranker, mxbai-rerank-v2, bge-reranker-v2-gemma"* ]]
	does_not_apply --instruction tok -m qwen3 --instruction x -f text "$R/pairs.jsonl"
	dies "rerank: qwen3/chat_template.jinja: a pair of at most 50 ids has no room for texts beside the " rerank -m qwen3 --max-length 50 "${texts[@]}"
	dies "rerank: $R/queries.jsonl: query 'q0' and document 'd1': the pair is longer than 110 tokens" rerank -m qwen3 --no-truncate "${texts[@]}"
	dies "tok: $R/pairs.jsonl:25: the first text of the pair is longer than 86 tokens" tok -m qwen3 --truncation only_second --max-length 86 "${pairs[@]}"
	folder llama_parts # this template has the document before the query
	dies "tok: $R/pairs.jsonl:2: the first text of the pair" tok -m llama_parts --truncation only_second --max-length 40 "${pairs[@]}"
	sed -i 's/system/tool/' qwen3/chat_template.jinja
	dies "tok: qwen3/chat_template.jinja: the chat template has no place for an instruction" tok -m qwen3 --instruction x "${pairs[@]}"
	sed -i 's/"document")/"user")/' qwen3/chat_template.jinja
	dies "tok: qwen3/chat_template.jinja: the chat template has no place for a document" tok -m qwen3 "${pairs[@]}"
	echo '{{ messages[0].content }}' >qwen3/chat_template.jinja
	dies "rerank: qwen3/chat_template.jinja: the chat template has no place for a document" rerank -m qwen3 "${texts[@]}"
	echo '{% macro x() %}' >qwen3/chat_template.jinja
	dies "rerank: qwen3/chat_template.jinja: line 1 of the chat template: 'macro' is not known" rerank -m qwen3 "${texts[@]}"
	rm qwen3/chat_template.jinja
	dies "rerank: qwen3/sentence_bert_config.json:" rerank -m qwen3 "${texts[@]}"
	folder qwen3_one
	for change in 's/"style"/"max_length"/' 's/"flat"/"round"/'; do
		cp "$A/qwen3_one/sentence_bert_config.json" qwen3_one
		sed -i "$change" qwen3_one/sentence_bert_config.json
		dies "tok: qwen3_one/sentence_bert_config.json:" tok -m qwen3_one "${pairs[@]}"
	done
	[ ! -e out ]
}

@test "answers: a stream of pairs and rerank need the same --template, for a classifier, too" {
	for form in mxbai-rerank-v2 seq; do
		folder $form
		pairs=(-m $form --pair -f query -f text "$R/pairs.jsonl")
		tok -q "${pairs[@]}" --template mxbai-rerank-v2 --max-length 500 >named.mts
		[ "$(mts head --json -n 0 named.mts | jq -r .properties.template)" = mxbai-rerank-v2 ]
		dies "rerank: named.mts: its pairs were made with --template mxbai-rerank-v2; give that to rerank, too" rerank -m $form named.mts
		dies "rerank: named.mts: its pairs were made with --template mxbai-rerank-v2; give --template qwen3-reranker to 'tok --pair' or leave it out here" \
			rerank -m $form --template qwen3-reranker named.mts
		rerank -q -m $form --template mxbai-rerank-v2 named.mts >scored.mts
		[ "$(mts head --json -n 0 scored.mts | jq -r .properties.template)" = null ]
	done
	tok -q -m seq --pair -f query -f text "$R/pairs.jsonl" >plain.mts
	[ "$(mts head --json -n 0 plain.mts | jq -r .properties.template)" = null ]
	dies "rerank: plain.mts: its pairs were made without --template; give --template qwen3-reranker to" rerank -m seq --template qwen3-reranker plain.mts
}

@test "answers: a folder whose config.json names no architecture has no chat template for pairs" {
	folder qwen3
	jq 'del(.architectures)' qwen3/config.json >c && mv c qwen3/config.json
	tok -q -m qwen3 --pair -f query -f text "$R/pairs.jsonl" >pairs.mts
	run ! cmp -s <(mts to jsonl pairs.mts | jq -c '."pair.ids"') <(jq -c . "$A/qwen3/ids.jsonl")
	dies "rerank: qwen3/config.json: 'architectures' is ''" rerank -q -m qwen3 pairs.mts
}

@test "answers: a head whose settings do not fit the model is refused in one line" {
	folder llama_text
	tok -q -m llama_text --pair -f query -f text "$R/pairs.jsonl" >pairs.mts
	score() { # CONFIG MESSAGE
		echo "$1" >llama_text/1_LogitScore/config.json
		dies "rerank: $2" rerank -q -m llama_text --any-tokenizer pairs.mts
	}
	score '{"true_token_id": 340}' "llama_text/model.safetensors: the answer 340 is not below 340, the rows of tensor 'model.embed_tokens.weight'"
	score '{"true_token_id": -1}' "llama_text/1_LogitScore/config.json: 'true_token_id' is -1"
	score '{}' "llama_text/1_LogitScore/config.json"
	score '{"true_token_id": 3, "module_input_name": "scores"}' "llama_text/1_LogitScore/config.json: 'module_input_name' is 'scores'; only 'causal_logits' is supported"
	score '{"true_token_id": 3, "scale": 2}' "llama_text/1_LogitScore/config.json: "
	jq '.[:1]' "$A/llama_text/modules.json" >llama_text/modules.json
	dies "rerank: llama_text/modules.json: the module 'LogitScore' is missing" rerank -m llama_text pairs.mts
	folder seq
	cp "$A/qwen3/modules.json" seq
	cp -r "$A/qwen3/1_LogitScore" seq
	dies "rerank: seq/modules.json:" rerank -m seq pairs.mts
	folder qwen2
	sed -i 's/"yes"/"oui"/g' qwen2/tokenizer.json
	dies "rerank: qwen2: is a language model, and its tokenizer lacks the answer 'yes'; --template names a known template" rerank -m qwen2 pairs.mts
	folder qwen3
	dies "encode: qwen3/modules.json:" encode -m qwen3 pairs.mts
	rm qwen3/modules.json qwen3/config_sentence_transformers.json
	dies "encode: qwen3/sentence_bert_config.json:" encode -m qwen3 pairs.mts
	dies "train: qwen3: is a decoder" train -m qwen3 --objective bce -o out pairs.mts
	sed -i 's/"tie_word_embeddings": true/"tie_word_embeddings": false/' qwen3/config.json
	dies "rerank: qwen3/model.safetensors: has no output matrix ('lm_head.weight')" rerank -m qwen3 pairs.mts
	folder qwen3_one
	sed -i 's/lm_head/lm_heap/' qwen3_one/model.safetensors
	dies "rerank: qwen3_one/model.safetensors: " rerank -m qwen3_one --any-tokenizer pairs.mts
}
