#!/usr/bin/env bats
load helper

# Models that read a text as a message of a chat, beside sentence-transformers (tests/golden/chat.py).
C=$GOLDEN/chat

# folder FORM: copies the model and its tokenizer to $T/FORM
folder() {
	cp -r "$GOLDEN/answers/tokenizer" "$T/$1"
	cp -r "$C/$1"/* "$T/$1"
}
# change FILE FILTER: edits the file by jq's FILTER
change() {
	jq "$2" "$1" >changed && mv changed "$1"
}
# ids FORM OPTION...: the ids of the texts
ids() {
	tok -q -m "$1" "${@:2}" "$C/texts.jsonl" | mts to jsonl -c text.ids | jq -c '."text.ids"'
}
setup() {
	cd "$T" || return
}

@test "chat: ids and embeddings equal sentence-transformers', with and without a prompt, of texts that are cut, too" {
	for form in qwen3_vl qwen3; do
		folder $form
		for prompted in "" prompted.; do
			task=(${prompted:+--task query})
			ids $form "${task[@]}" | diff - <(jq -c . "$C/$form/${prompted}ids.jsonl") || { echo $form $prompted; false; }
			tok -q -m $form "${task[@]}" "$C/texts.jsonl" | encode -q -m $form | mts to jsonl -c text.emb | jq -c '."text.emb"[]' |
				within <(jq '.[]' "$C/$form/${prompted}expected.jsonl") 2e-6 || { echo $form $prompted; false; }
		done
		[ "$(jq -c length "$C/$form/ids.jsonl" | tail -n 1)" = "$(jq .model_max_length $form/tokenizer_config.json)" ]
	done
}

@test "chat: a reranker's ids and scores equal sentence-transformers', with and without an instruction" {
	folder reranker
	pairs="$GOLDEN/rerank/pairs.jsonl"
	tok -q -m reranker --pair -f query -f text "$pairs" | mts to jsonl -c pair.ids | jq -c '."pair.ids"' | diff - <(jq -c . "$C/reranker/ids.jsonl")
	for file in expected instructed; do
		asking=()
		[ $file = expected ] || asking=(--instruction "find the keeper")
		tok -q -m reranker --pair -f query -f text "${asking[@]}" "$pairs" | rerank -q -m reranker | mts to tsv -c pair.score | sed 1d |
			within "$C/reranker/$file.tsv" 1e-6
	done
	dies "encode: reranker/modules.json: " encode -m reranker /dev/null -o out
}

@test "chat: the prompt of a record, of --prompt and of --task is the system's message" {
	folder qwen3_vl
	ids qwen3_vl --task query >task
	ids qwen3_vl --prompt "find the keeper" | cmp - task
	jq -c '{text}' "$C/texts.jsonl" | tok -q -m qwen3_vl --prompt "" | mts to jsonl -c text.ids | jq -c '."text.ids"' | cmp - <(ids qwen3_vl)
	cmp -s task <(ids qwen3_vl) && false
	change qwen3_vl/config_sentence_transformers.json '.default_prompt_name = "query"'
	ids qwen3_vl | cmp - task
}

@test "chat: records with different prompts, whose texts are cut" {
	folder qwen3_vl
	for prompt in "" "find the keeper" "a"; do
		tok -q --keep -m qwen3_vl --prompt "$prompt" "$C/texts.jsonl" >"$T/of.${prompt%% *}.mts"
	done
	mts cat of.*.mts | mts cat -c text | tok -q -m qwen3_vl | mts cat -c text.ids | mts diff - <(mts cat of.*.mts | mts cat -c text.ids)
}

@test "chat: --template and --prepare take the place of the chat template" {
	folder qwen3_vl
	cp -r qwen3_vl plain
	rm plain/sentence_bert_config.json
	for options in "--template prompteol" "--prepare moee"; do
		ids qwen3_vl $options >made
		ids plain $options | cmp - made
	done
	cmp -s made <(ids plain) && false
	true
}

@test "chat: passages of a document are rendered one by one, each within the limit" {
	folder qwen3_vl
	printf 'the house of the keeper and the light of the sea\n%.0s' {1..40} >long.txt
	tok -q -m qwen3_vl --passages 60 <(jq -Rsc '{text: .}' long.txt) >passages.mts
	mts to jsonl -c text.ids passages.mts | jq -ce '."text.ids" | length <= 60 and .[:9] == [3, 91, 97, 91, 92, 77, 85, 207, 77] and .[-1] == 2' >all
	[ "$(wc -l <all)" -gt 5 ]
}

@test "chat: where the folder's template is, and which counts" {
	folder qwen3_vl
	ids qwen3_vl >first
	jq -n --rawfile template qwen3_vl/chat_template.jinja '{chat_template: $template}' >qwen3_vl/chat_template.json
	echo "{{ messages[0].content[0].text }}" >qwen3_vl/chat_template.jinja # a model with images prefers the other file
	ids qwen3_vl | cmp - first
	rm qwen3_vl/chat_template.json
	ids qwen3_vl >bare
	[ "$(head -n 1 bare)" = "[266,291,275,268,270,2]" ]
	rm qwen3_vl/chat_template.jinja
	change qwen3_vl/tokenizer_config.json '.chat_template = "{{ bos_token }}{{ messages[0].content[0].text }}"'
	ids qwen3_vl >begun # its first token is there already, so no special tokens are added
	[ "$(head -n 1 begun)" = "[1,266,291,275,268,270]" ]
	change qwen3_vl/sentence_bert_config.json '.processor_kwargs = {chat_template: "{{ messages[0].content[0].text }}"}'
	ids qwen3_vl | cmp - bare
	change qwen3_vl/config.json 'del(.vision_config)'
	jq -c '.[:-1]' bare | sed 6d | cmp - <(ids qwen3_vl | sed 6d) # the sixth text is cut
}

@test "chat: without rope_parameters the base of the rotations is transformers'" {
	folder qwen3_vl
	embed() {
		tok -q -m qwen3_vl "$C/texts.jsonl" | encode -q -m qwen3_vl | mts to tsv -c text.emb
	}
	change qwen3_vl/config.json '.text_config.rope_parameters.rope_theta = 500000'
	embed >given
	change qwen3_vl/config.json 'del(.text_config.rope_parameters)'
	embed | cmp - given
}

@test "chat: settings that are not supported, and templates that are missing or too long, are refused" {
	folder qwen3_vl
	dies "tok: qwen3_vl/chat_template.jinja: the chat template by itself takes 34 ids, and all is to have 34 at most; give more with --max-length" \
		tok -m qwen3_vl --max-length 34 "$C/texts.jsonl" -o out
	sed -i 's/part.text }}/part.text | upper }}/' qwen3_vl/chat_template.jinja
	dies "tok: qwen3_vl/chat_template.jinja: line 24 of the chat template: the filter 'upper' is not supported" tok -m qwen3_vl "$C/texts.jsonl" -o out
	rm qwen3_vl/chat_template.jinja
	dies "tok: qwen3_vl/sentence_bert_config.json: " tok -m qwen3_vl "$C/texts.jsonl" -o out
	[[ $stderr == *"'message' needs a chat template, which the folder lacks" ]]
	change qwen3_vl/config_sentence_transformers.json '.model_type = "MultiVectorEncoder"'
	dies "tok: qwen3_vl/sentence_bert_config.json: " tok -m qwen3_vl --task query "$C/texts.jsonl" -o out
	[[ $stderr == *"'message': late interaction of texts rendered as chat messages is not supported" ]]
	folder qwen3
	change qwen3/sentence_bert_config.json '.modality_config.message.format = "round"'
	dies "tok: qwen3/sentence_bert_config.json: " tok -m qwen3 "$C/texts.jsonl" -o out
	[[ $stderr == *"'format' is 'round'; supported are flat, structured and auto" ]]
	change qwen3/config.json '.model_type = "qwen3_vl" | .text_config = {model_type: "qwen3_text"}'
	dies "encode: qwen3/config.json: " encode -m qwen3 /dev/null -o out
	[[ $stderr == *"'model_type' of text_config is 'qwen3_text'; it must be 'qwen3_vl_text'" ]]
}

@test "chat: a trained model keeps its template and the files of images" {
	folder qwen3_vl
	for file in preprocessor_config video_preprocessor_config processor_config chat_template; do
		jq -n --rawfile template qwen3_vl/chat_template.jinja '{chat_template: $template}' >qwen3_vl/$file.json
	done
	jq -c '{query: .text, document: .text}' "$C/texts.jsonl" | tok -q -m qwen3_vl | train -q -m qwen3_vl --steps 2 --lr 1e-3 -o trained
	for file in chat_template.jinja {preprocessor_config,video_preprocessor_config,processor_config,chat_template}.json; do
		cmp qwen3_vl/$file trained/$file
	done
	ids trained | cmp - <(ids qwen3_vl)
	tok -q -m trained "$C/texts.jsonl" | encode -q -m trained | mts to tsv -c text.emb >after
	tok -q -m qwen3_vl "$C/texts.jsonl" | encode -q -m qwen3_vl | mts to tsv -c text.emb | cmp -s - after && false
	true
}
