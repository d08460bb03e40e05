#!/usr/bin/env bats
# shellcheck disable=SC2154 # what run sets
load helper

S=$GOLDEN/settings

# folder FORM FILES: $T/m, the files of a form with the changes of an object FILES {file: keys}; null removes a file
folder() {
	rm -rf "$T/m"
	cp -r "$S/$1" "$T/m"
	local name text
	jq -nr --argjson over "$2" '(reduce inputs as $file ({}; .[input_filename | sub(".*/"; "")] = $file)) as $files |
		$over | to_entries[] | "\(.key)\t\(if .value == null then "" else ($files[.key] // {}) + .value | tojson end)"' "$S/$1"/*.json |
		while IFS=$'\t' read -r name text; do
			if [ -n "$text" ]; then echo "$text" >"$T/m/$name"; else rm "$T/m/$name"; fi
		done
}

# right FORM...: tokenisation in every golden case of the forms gives the golden ids
right() {
	local form files most ids count=0
	for form; do
		while IFS=$'\t' read -r files most ids; do
			folder "$form" "$files"
			tokenize "$T/m" "$most" <"$S/texts.jsonl" >"$T/found" 2>"$T/said"
			tr ';' '\n' <<<"$ids" >"$T/wanted"
			[ "$(wc -l <"$T/wanted")" -eq "$(wc -l <"$S/texts.jsonl")" ]
			diff "$T/wanted" "$T/found" || {
				echo "$form $files $most"
				return 1
			}
			count=$((count + 1))
		done < <(jq -r --arg form "$form" 'select(.form == $form) |
			[(.files | tojson), .most, (.ids | map(join(" ")) | join(";"))] | join("\t")' "$S/cases.jsonl")
	done
	[ "$count" -gt 0 ]
}

@test "settings: tokenizer_config.json, special_tokens_map.json and added_tokens.json override tokenizer.json of a BERT, as in the reference" {
	right bert
}

@test "settings: with vocab.txt only, the folder's settings decide: BERT, MPNet" {
	right vocab mpnet
}

@test "settings: RoBERTa from vocab.json with merges.txt, or from tokenizer.json, has add_prefix_space and truncation_side" {
	right pair roberta plain
}

@test "settings: a folder with a sentencepiece model only has the ids of its class: XLM-RoBERTa, CamemBERT, T5" {
	right xlm-roberta camembert t5
}

@test "settings: an unsupported or damaged sentencepiece model is refused by name" {
	local model=$S/t5/spiece.model length
	refused() { # MESSAGE
		run -1 --separate-stderr tok -m "$T/m" </dev/null
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		# shellcheck disable=SC2053 # a pattern
		[[ $stderr == "tok: $T/m/"$1 ]]
	}
	folder t5 '{"tokenizer_config.json": {"tokenizer_class": "AlbertTokenizer"}}'
	refused "tokenizer_config.json: tokenizer_class: spiece.model of a AlbertTokenizer is not supported *"
	folder t5 '{"tokenizer_config.json": null, "config.json": {"model_type": "new"}}'
	refused "tokenizer_config.json: tokenizer_class: spiece.model of a model that names none is not supported *"
	# of repeated fields the last one counts: field 40 is unk_id 0, field 3 is model_type BPE or add_dummy_prefix false
	while IFS='|' read -r bytes message; do
		folder t5 '{}'
		printf "%b" "$bytes" >>"$T/m/spiece.model"
		refused "spiece.model: $message*"
	done <<-'END'
		\x12\x03\xc0\x02\x00|trainer_spec: unk_id is 0, and 2 to a T5Tokenizer
		\x12\x02\x18\x02|trainer_spec: model_type is not UNIGRAM, which is not supported
		\x12\x03\x98\x02\x01|trainer_spec: byte_fallback is true
		\x12\x03\xc0\x01\x01|trainer_spec: treat_whitespace_as_suffix is true
		\x1a\x02\x18\x00|normalizer_spec: add_dummy_prefix is false
		\x1a\x02\x20\x00|normalizer_spec: remove_extra_whitespaces is false
		\x1a\x02\x28\x00|normalizer_spec: escape_whitespaces is false
		\x0a\x03\x0a\x01\xff|piece [0-9]* is not UTF-8
		\x0f|not a model of sentencepiece, or damaged
		\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01|not a model of sentencepiece, or damaged
		\x0a\x02\x0a|not a model of sentencepiece, or damaged
		\x08\x00\x0a|not a model of sentencepiece, or damaged
	END
	folder t5 '{}'
	: >"$T/m/spiece.model"
	refused "spiece.model: has no pieces; *"
	length=$(stat -c %s "$model")
	for ((cut = 1; cut < length; cut += 97)); do
		head -c "$cut" "$model" >"$T/m/spiece.model"
		refused "spiece.model: *"
	done
}

@test "settings: tokenizer_args of sentence_bert_config.json override tokenizer_config.json" {
	local change='{"truncation_side": "left", "do_lower_case": false, "model_max_length": 6}'
	folder bert "{\"tokenizer_config.json\": $change}"
	tok -q -m "$T/m" <<<'The Keeper of the sea: seaweed' | stream_rows >"$T/one"
	folder bert "{\"sentence_bert_config.json\": {\"max_seq_length\": 9, \"tokenizer_args\": $change}}"
	tok -q -m "$T/m" <<<'The Keeper of the sea: seaweed' | stream_rows | diff "$T/one" -
	grep -q 'ids=\[2 [0-9]* [0-9]* [0-9]* [0-9]* 3\]' "$T/one"
	# a list replaces a list, as in the reference; null removes one
	local one='{"additional_special_tokens": ["[unused1]"]}' two='{"additional_special_tokens": ["seaweed"]}' none='{"additional_special_tokens": null}'
	given() {
		folder bert "{\"tokenizer_config.json\": $1, \"sentence_bert_config.json\": {\"tokenizer_args\": $2}}"
		tok -q -m "$T/m" <<<'[unused1] seaweed' | stream_rows | sed -n 's/.*ids=//p'
	}
	[ "$(given '{"additional_special_tokens": ["[unused1]", "seaweed"]}' '{}')" = '[2 5 151 3]' ]
	[ "$(given "$one" "$two")" = '[2 58 26 81 88 86 72 71 101 59 151 3]' ]
	[ "$(given '{}' "$one")" = '[2 5 138 140 3]' ]
	[ "$(given "$one" '{}')" = '[2 5 138 140 3]' ]
	[ "$(given '{}' '{}')" = '[2 58 26 81 88 86 72 71 101 59 138 140 3]' ]
	[ "$(given "$one" "$none")" = '[2 58 26 81 88 86 72 71 101 59 138 140 3]' ]
	folder bert '{"sentence_bert_config.json": {"tokenizer_name_or_path": "other"}}'
	run -1 --separate-stderr tok -m "$T/m" </dev/null
	[[ "$stderr" == "tok: $T/m/sentence_bert_config.json: 'tokenizer_name_or_path'"* ]]
}

@test "settings: --truncation-side overrides the model's; a prompt is at the beginning" {
	local side text='The Keeper of the sea: seaweed' whole cut
	ids() { tok -q -m "$T/m" "$@" | stream_rows | sed -n 's/.*ids=\[\(.*\)\]$/\1/p'; }
	for side in left right; do
		folder bert "{\"tokenizer_config.json\": {\"truncation_side\": \"$side\"}}"
		whole=$(ids --max-length 50 <<<"$text")
		[ "$(ids --max-length 6 --truncation-side left <<<"$text")" = "2 $(cut -d' ' -f "$(($(wc -w <<<"$whole") - 4))-" <<<"$whole")" ]
		[ "$(ids --max-length 6 --truncation-side right <<<"$text")" = "$(cut -d' ' -f -5 <<<"$whole") 3" ]
		[ "$(ids --max-length 6 <<<"$text")" = "$(ids --max-length 6 --truncation-side $side <<<"$text")" ]
	done
	# the reference tokenises prompt and text as one
	for cut in 3 6 9 12; do
		[ "$(ids --max-length $cut --truncation-side left --prompt 'light: ' <<<"$text")" = \
			"$(ids --max-length $cut --truncation-side left <<<"light: $text")" ]
	done
	[ "$(ids --max-length 6 --truncation-side left --template '{text} the light' <<<"$text")" = \
		"$(ids --max-length 6 --truncation-side left <<<"$text the light")" ]
	run -2 --separate-stderr tok -m "$T/m" --truncation-side left --template 'the {text}' </dev/null
	[[ "${stderr_lines[0]}" == "tok: --template: 'the ' stands before a text, where texts are cut; use --truncation-side right" ]]
	run -1 --separate-stderr tok -m "$T/m" --no-truncate --max-length 6 --truncation-side left <<<"$text"
	[[ "$stderr" == *"is longer than 6 tokens"* ]]
	folder bert '{"tokenizer_config.json": {"truncation_side": "middle"}}'
	run -1 --separate-stderr tok -m "$T/m" </dev/null
	[ "$stderr" = "tok: $T/m/tokenizer_config.json: 'truncation_side' is 'middle'; it must be left or right" ]
}

@test "settings: a key that contradicts tokenizer.json, and that only one version of the reference follows, is refused" {
	contradicts() { # FORM FILES MESSAGE
		folder "$1" "$2"
		run -1 --separate-stderr tok -m "$T/m" </dev/null
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ "$stderr" == "tok: $T/m/tokenizer_config.json: $3"* ]]
	}
	local sequence='{"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel", "add_prefix_space": false}]}}'
	contradicts plain '{"tokenizer_config.json": {"add_prefix_space": true}}' "'add_prefix_space' is true, and tokenizer.json says otherwise; "
	contradicts roberta "{\"tokenizer_config.json\": {\"add_prefix_space\": true}, \"tokenizer.json\": $sequence}" "'add_prefix_space' is true, "
	contradicts bert '{"tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": false}, "tokenizer.json": {"normalizer": {"type": "Prepend", "prepend": "x"}}}' \
		"'add_prefix_space' is false, "
	contradicts bert '{"tokenizer_config.json": {"do_lower_case": false}, "tokenizer.json": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}}}' \
		"'do_lower_case' is false, and tokenizer.json, which has no BertNormalizer, says otherwise"
	contradicts bert '{"tokenizer_config.json": {"unk_token": "[PAD]"}}' "'unk_token' is '[PAD]', and the model of tokenizer.json says '[UNK]'"
	contradicts bert '{"tokenizer_config.json": {"cls_token": "[PAD]"}}' "'cls_token' is '[PAD]', and the post_processor of tokenizer.json puts '[CLS]' there"
	contradicts bert '{"tokenizer_config.json": {"sep_token": "[PAD]"}}' "'sep_token' is '[PAD]', and the post_processor of tokenizer.json puts '[SEP]' there"
	contradicts bert '{"tokenizer_config.json": {"tokenizer_class": "GPTNeoXTokenizer", "eos_token": "[SEP]", "add_eos_token": false}}' "'add_eos_token' is false, and "
	contradicts bert '{"tokenizer_config.json": {"tokenizer_class": "LlamaTokenizerFast", "bos_token": "[CLS]", "add_bos_token": false}}' "'add_bos_token' is false, and "
	contradicts bert '{"tokenizer_config.json": {"fix_mistral_regex": true}, "config.json": {"model_type": "mistral"}}' "'fix_mistral_regex' is true: "
	folder bert '{"tokenizer_config.json": {"fix_mistral_regex": true}, "config.json": {"model_type": "bert"}}'
	tok -m "$T/m" </dev/null
	contradicts bert '{"tokenizer_config.json": {"added_tokens_decoder": {"500": {"content": "<ent>"}}}}' "added token '<ent>' has the id 500, and 151 by the vocabulary and tokenizer.json"
	contradicts bert '{"tokenizer_config.json": {"added_tokens_decoder": {"5": {"content": "[MASK]"}}}}' "added token '[MASK]' has the id 5, and 4 by "
	contradicts bert '{"tokenizer_config.json": {"added_tokens_decoder": {"x": {"content": "a"}}}}' "added_tokens_decoder: 'x' is not a token"
	contradicts bert '{"tokenizer_config.json": {"added_tokens_decoder": {"5": {}}}}' "added_tokens_decoder: '5' has no 'content'"
	contradicts bert '{"tokenizer_config.json": {"additional_special_tokens": [5]}}' "additional_special_tokens: element 0 is not a token"
	contradicts bert '{"tokenizer_config.json": {"additional_special_tokens": "x"}}' "'additional_special_tokens' must be a list or an object"
	contradicts bert '{"tokenizer_config.json": {"added_tokens_decoder": [5]}}' "'added_tokens_decoder' must be an object"
	folder bert '{"added_tokens.json": {"<ent>": "152"}}'
	run -1 --separate-stderr tok -m "$T/m" </dev/null
	[ "$stderr" = "tok: $T/m/added_tokens.json: '<ent>' must be an id" ]
	local class
	for class in BertJapanese Phobert Bertweet Canine; do
		contradicts bert "{\"tokenizer_config.json\": {\"tokenizer_class\": \"${class}Tokenizer\"}}" "tokenizer_class: a ${class}Tokenizer is not supported; "
		contradicts vocab "{\"tokenizer_config.json\": {\"tokenizer_class\": \"${class}Tokenizer\"}}" "tokenizer_class: a ${class}Tokenizer is not supported; "
		contradicts vocab "{\"tokenizer_config.json\": null, \"config.json\": {\"tokenizer_class\": \"${class}Tokenizer\"}}" "tokenizer_class: a ${class}Tokenizer is not supported; "
	done
	contradicts vocab '{"tokenizer_config.json": {"tokenizer_class": "KoBertTokenizer"}}' "tokenizer_class: vocab.txt of a KoBertTokenizer is not supported "
	contradicts t5 '{"tokenizer_config.json": {"eos_token": null}}' "'eos_token' is null, and stands around a text"
}

@test "settings: a default of the class that changes tokenizer.json gets a warning, an explicit key does not" {
	local lower='"tokenizer.json": {"normalizer": {"type": "BertNormalizer", "lowercase": false, "strip_accents": false, "handle_chinese_chars": true}}'
	folder bert "{\"tokenizer_config.json\": null, $lower}"
	run -0 --separate-stderr bash -c "tok -m '$T/m' <<<'Été' | stream_rows"
	[ "${stderr_lines[0]}" = "tok: warning: $T/m/tokenizer_config.json: has no 'do_lower_case', which is true to its tokenizer_class; tokenizer.json says false" ]
	[ "${stderr_lines[1]}" = "tok: warning: $T/m/tokenizer_config.json: has no 'strip_accents', which is true to its tokenizer_class; tokenizer.json says false" ]
	folder bert "{\"tokenizer_config.json\": {\"do_lower_case\": true, \"strip_accents\": true}, $lower}"
	run -0 --separate-stderr bash -c "tok -m '$T/m' <<<'Été' | stream_rows"
	[ -z "$stderr" ]
}

@test "settings: static embeddings use tokenizer.json only" {
	folder bert '{"tokenizer_config.json": {"do_lower_case": false, "truncation_side": "left", "additional_special_tokens": ["[unused1]"]},
		"tokenizer.json": {"truncation": {"max_length": 3, "direction": "Left", "strategy": "LongestFirst", "stride": 0}}}'
	jq -n '[{type: "sentence_transformers.models.StaticEmbedding", path: ""}]' >"$T/m/modules.json"
	tok -q -m "$T/m" <<<'THE SEA [unused1]' | stream_rows >"$T/found"
	local last
	last=$(jq '.model.vocab["]"]' "$T/m/tokenizer.json")
	grep -qE "ids=\[[0-9]+ [0-9]+ $last\]" "$T/found"
}

@test "settings: a model made from a folder keeps the folder's settings" {
	cp -r "$GOLDEN/static/bert" "$T/b"
	chmod -R u+w "$T/b"
	jq -c '. + {tokenizer_class: "BertTokenizer", do_lower_case: false, tokenize_chinese_chars: false}' "$GOLDEN/static/bert/tokenizer_config.json" >"$T/b/tokenizer_config.json"
	jq -c '.normalizer = {type: "BertNormalizer", lowercase: true, handle_chinese_chars: true}' "$GOLDEN/static/bert/tokenizer.json" >"$T/b/tokenizer.json"
	upcycle -q --static -m "$T/b" --dim 4 -o "$T/table"
	[ "$(jq -c '.normalizer | [.lowercase, .handle_chinese_chars]' "$T/table/tokenizer.json")" = '[false,false]' ]
	cp -r "$GOLDEN/families/xlm-roberta" "$T/x"
	chmod -R u+w "$T/x"
	cp "$S/xlm-roberta/sentencepiece.bpe.model" "$S/xlm-roberta/tokenizer_config.json" "$T/x"
	upcycle -q -m "$T/x" --experts a -o "$T/mote"
	cmp "$S/xlm-roberta/sentencepiece.bpe.model" "$T/mote/sentencepiece.bpe.model"
}
