#!/usr/bin/env bats
load helper

# BPE, WordLevel and WordPiece by tokenizer.json.  Golden values: tests/golden/bpe.py (Hugging Face's tokenizers).
BPE=$GOLDEN/bpe
REFERENCE=${MOTES_REFERENCE:-$ROOT/../shared/reference}

# cases FOLDER GROUP COUNT [MOST]: the public cases of GROUP have their ids, without special tokens
cases() {
	run -0 tokenize "$1" 0 bare "$REFERENCE/tokens.json" "$2"
	[ "$output" = "$3 right, 0 wrong" ]
}

need_cases() {
	[ -e "$REFERENCE/tokens.json" ] || skip "needs public test cases (set MOTES_REFERENCE)"
}

# 1. known answers

@test "bpe: ids are the reference's for every splitter, normalizer, template and kind of token" {
	for kind in neox qwen cl100k classes expression marks old falcon letters unknown silent pieces whole runs level level_bert; do
		run -0 tokenize "$BPE/$kind" <"$BPE/$kind/cases.jsonl"
		[[ "$output" == *" right, 0 wrong" ]]
		[ "${output%% *}" -gt 70 ]
	done
}

@test "bpe: regular expressions have Ruby's syntax, also those with empty matches" {
	local expression tokenizer cases count=0
	while read -r expression && read -r tokenizer && read -r cases; do
		echo "$tokenizer" >"$T/tokenizer.json"
		tr '\t' '\n' <<<"$cases" | tokenize "$T/tokenizer.json" || { echo "$expression"; return 1; }
		count=$((count + 1))
	done < <(jq -r --slurpfile base "$BPE/cl100k/tokenizer.json" '.expression as $expression | ($expression | tojson),
		($base[0] | .normalizer = {type: "Replace", pattern: {Regex: $expression}, content: "#"} | tojson),
		(.cases | map(tojson) | join("\t"))' "$BPE/expressions.jsonl")
	[ "$count" -eq 27 ]
}

@test "bpe: a token of a WordLevel vocabulary may exceed WordPiece's limit of characters" {
	word=$(printf 'x%.0s' {1..150})
	jq --arg word "$word" '.model.vocab[$word] = 40' "$BPE/level/tokenizer.json" >"$T/tokenizer.json"
	jq -nc --arg word "$word" '{text: "the \($word) \($word)x", ids: [1, 40, 0]}' | tokenize "$T/tokenizer.json"
}

@test "bpe: GPT-NeoX has the ids of the public cases" {
	need_cases
	need_model tok-gpt-neox-olmo-dolma
	cases "$MODELS/tok-gpt-neox-olmo-dolma" "gpt-neox (mpt)" 43
}

@test "bpe: ModernBERT has the ids of the public cases, with its special tokens" {
	need_cases
	need_model tok-gpt-neox-olmo-dolma
	mkdir "$T/model"
	# the GPT-NeoX vocabulary, with ModernBERT's tokens behind it
	jq -c '.added_tokens |= map(select(.id < 50277 and .id > 1)) |
		.model.vocab |= with_entries(select(.value < 50277)) |
		.added_tokens += [["<|endoftext|>", "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"] | to_entries[] |
			{id: (50279 + .key), content: .value, special: true, normalized: false, single_word: false,
			lstrip: (.value == "[MASK]"), rstrip: false}] |
		.post_processor = {type: "TemplateProcessing", single: [{SpecialToken: {id: "[CLS]", type_id: 0}},
			{Sequence: {id: "A", type_id: 0}}, {SpecialToken: {id: "[SEP]", type_id: 0}}],
			special_tokens: {"[CLS]": {id: "[CLS]", ids: [50281]}, "[SEP]": {id: "[SEP]", ids: [50282]}}}' \
		"$MODELS/tok-gpt-neox-olmo-dolma/tokenizer.json" >"$T/model/tokenizer.json"
	jq -c '.["ModernBERT-base (WITH special tokens)"][]' "$REFERENCE/tokens.json" >"$T/cases"
	run -0 tokenize "$T/model" <"$T/cases"
	[ "$output" = "12 right, 0 wrong" ]
}

@test "bpe: DeepSeek and Qwen2 have the ids of the public cases" {
	need_cases
	[ -e "${MOTES_DEEPSEEK:-}/tokenizer.json" ] || [ -e "${MOTES_QWEN2:-}/tokenizer.json" ] ||
		skip "needs their tokenizers (set MOTES_DEEPSEEK, MOTES_QWEN2)"
	[ ! -e "${MOTES_DEEPSEEK:-}/tokenizer.json" ] ||
		cases "$MOTES_DEEPSEEK" "deepseek-llm (deepseek-moe-16b-base tokenizer family; class prepends 100000)" 46
	[ ! -e "${MOTES_QWEN2:-}/tokenizer.json" ] || cases "$MOTES_QWEN2" qwen2 46
}

@test "bpe: vocab.json with merges.txt is GPT-2's tokenizer, or Qwen2's if the tokenizer class says so" {
	mkdir "$T/pair" "$T/one"
	jq -c .model.vocab "$BPE/cl100k/tokenizer.json" >"$T/pair/vocab.json"
	{
		echo '#version: 0.2'
		jq -r '.model.merges[] | join(" ")' "$BPE/cl100k/tokenizer.json"
	} >"$T/pair/merges.txt"
	printf '{"eos_token":"the"}' >"$T/pair/tokenizer_config.json"
	local last
	last=$(jq '.model.vocab.the' "$BPE/cl100k/tokenizer.json")
	jq -c --argjson last "$last" '.pre_tokenizer = {type: "ByteLevel", add_prefix_space: false, use_regex: true} |
		.added_tokens = [{id: $last, content: "the", special: true, normalized: false}]' \
		"$BPE/cl100k/tokenizer.json" >"$T/one/tokenizer.json"
	jq -c .text "$BPE/cl100k/cases.jsonl" >"$T/texts"
	tokenize "$T/pair" <"$T/texts" >"$T/found"
	tokenize "$T/one" <"$T/texts" | cmp - "$T/found"
	printf '{"tokenizer_class":"Qwen2TokenizerFast","added_tokens_decoder":{"%s":{"content":"the","special":true}}}' \
		"$last" >"$T/pair/tokenizer_config.json"
	jq -c --slurpfile qwen "$BPE/qwen/tokenizer.json" '.pre_tokenizer = $qwen[0].pre_tokenizer |
		.normalizer = {type: "NFC"}' "$T/one/tokenizer.json" >"$T/two.json"
	tokenize "$T/pair" <"$T/texts" >"$T/found"
	tokenize "$T/two.json" <"$T/texts" | cmp - "$T/found"
	printf '{"tokenizer_class":"CTRLTokenizer"}' >"$T/pair/tokenizer_config.json"
	run -1 --separate-stderr tok -m "$T/pair" </dev/null
	[[ "$stderr" == "tok: $T/pair/tokenizer_config.json: tokenizer_class: a CTRLTokenizer is not supported; "* ]]
	printf '{"tokenizer_class":"BlenderbotTokenizer"}' >"$T/pair/tokenizer_config.json"
	run -1 --separate-stderr tok -m "$T/pair" </dev/null
	[[ "$stderr" == "tok: $T/pair/tokenizer_config.json: tokenizer_class: vocab.json and merges.txt of a BlenderbotTokenizer are not supported"* ]]
	echo '{}' >"$T/pair/tokenizer_config.json"
	jq -c '. + {"<s>": .the} | del(.the)' "$T/pair/vocab.json" >"$T/vocab"
	mv "$T/vocab" "$T/pair/vocab.json"
	run -1 --separate-stderr tok -m "$T/pair" </dev/null
	[[ "$stderr" == "tok: $T/pair/tokenizer_config.json: 'tokenizer_class' is missing, and vocab.json is not GPT-2's; "* ]]
}

@test "bpe: a Llama tokenizer class puts its first and last token around the text, NV-Embed's config.json the last" {
	cp -r "$BPE/classes" "$T/model"
	local plain
	plain=$(tokenize "$BPE/classes" <<<'"light"')
	printf '{"tokenizer_class":"LlamaTokenizerFast","add_bos_token":true,"add_eos_token":false,"bos_token":"the","eos_token":{"content":"ight"}}' \
		>"$T/model/tokenizer_config.json"
	local first last
	first=$(jq '.model.vocab.the' "$T/model/tokenizer.json")
	last=$(jq '.model.vocab.ight' "$T/model/tokenizer.json")
	[ "$(tokenize "$T/model" <<<'"light"')" = "$first $plain" ]
	sed -i 's/"add_eos_token":false/"add_eos_token":true/' "$T/model/tokenizer_config.json"
	[ "$(tokenize "$T/model" <<<'"light"')" = "$first $plain $last" ]
	sed -i 's/"add_eos_token":true/"add_eos_token":false/' "$T/model/tokenizer_config.json"
	echo '{"model_type": "nvembed"}' >"$T/model/config.json"
	[ "$(tokenize "$T/model" <<<'"light"')" = "$first $plain $last" ]
	echo '{"model_type": "nvembed", "add_eos": false}' >"$T/model/config.json"
	[ "$(tokenize "$T/model" <<<'"light"')" = "$first $plain" ]
	rm "$T/model/config.json"
	sed -i 's/"add_eos_token":false/"add_eos_token":true/' "$T/model/tokenizer_config.json"
	# tokenizer_class of the folder names another class
	sed -i 's/"LlamaTokenizerFast","add_bos_token":true/"Qwen2TokenizerFast","add_bos_token":false/' "$T/model/tokenizer_config.json"
	[ "$(tokenize "$T/model" <<<'"light"')" = "$plain $last" ]
	sed -i 's/,"eos_token":{"content":"ight"}/,"eos_token":null/' "$T/model/tokenizer_config.json"
	run -1 --separate-stderr tok -m "$T/model" </dev/null
	[ "$stderr" = "tok: $T/model/tokenizer_config.json: 'add_eos_token' is true, and there is no 'eos_token'" ]
}

@test "bpe: a last-token pooling model gets an end token after each text" {
	cp -r "$BPE/cl100k" "$T/model"
	mkdir "$T/model/1_Pooling"
	printf '[{"type":"sentence_transformers.models.Transformer","path":""},{"type":"sentence_transformers.models.Pooling","path":"1_Pooling"}]' \
		>"$T/model/modules.json"
	printf '{"pooling_mode_lasttoken":true}' >"$T/model/1_Pooling/config.json"
	run -0 --separate-stderr bash -c "echo light | tok -m '$T/model' | stream_rows"
	[[ "$stderr" == "tok: warning: $T/model: the model pools the last token, but its tokenizer puts none behind a text; "* ]]
	cp "$BPE/qwen/tokenizer.json" "$T/model/"
	run -0 --separate-stderr bash -c "echo light | tok -m '$T/model' | stream_rows"
	[ -z "$stderr" ]
	printf '{"pooling_mode_mean_tokens":true}' >"$T/model/1_Pooling/config.json"
	cp "$BPE/cl100k/tokenizer.json" "$T/model/"
	run -0 --separate-stderr bash -c "echo light | tok -m '$T/model' | stream_rows"
	[ -z "$stderr" ]
}

# 2. what does not change the ids

@test "bpe: add_prefix_space puts a space before a text that does not begin with one" {
	mkdir "$T/plain" "$T/blank"
	for blank in false true; do
		model=$T/plain
		[ $blank = false ] || model=$T/blank
		jq -c --argjson blank $blank '.pre_tokenizer = {type: "ByteLevel", add_prefix_space: $blank, use_regex: true}' \
			"$BPE/cl100k/tokenizer.json" >"$model/tokenizer.json"
	done
	printf '"%s"\n' "the sea" " the sea" '\tthe' '' | tokenize "$T/blank" >"$T/found"
	printf '"%s"\n' " the sea" " the sea" ' \tthe' '' | tokenize "$T/plain" | diff - "$T/found"
	[ "$(wc -l <"$T/found")" -eq 4 ]
	run -1 cmp -s <(echo '"the sea"' | tokenize "$T/plain") <(echo '"the sea"' | tokenize "$T/blank")
}

@test "bpe: a character class includes the ends of its ranges and not the characters beside them" {
	mkdir "$T/model"
	jq -c '.pre_tokenizer = {type: "Sequence", pretokenizers: [
		{type: "Split", pattern: {Regex: "[ã-ñà-éè]+"}, behavior: "Removed", invert: false}, .pre_tokenizer]}' \
		"$BPE/neox/tokenizer.json" >"$T/model/tokenizer.json"
	printf '"%s"\n' àseaé êseañ ßseaò | tokenize "$T/model" >"$T/found"
	printf '"%s"\n' sea sea ßseaò | tokenize "$BPE/neox" | diff - "$T/found"
}

@test "bpe: a contraction ends a word, and may end the text" {
	mkdir "$T/model"
	jq -c '.model.vocab["\u0027s"] = 500 | .model.merges += ["\u0027 s"]' "$BPE/neox/tokenizer.json" >"$T/model/tokenizer.json"
	printf '"%s"\n' "the's sea" "the's" | tokenize "$T/model" >"$T/found"
	cat "$T/found"
	[ "$(grep -c '\b500\b' "$T/found")" -eq 2 ]
}

@test "bpe: the number of threads, and merges as strings or as pairs, do not change the ids" {
	jq -r .text "$BPE/neox/cases.jsonl" >"$T/texts.txt"
	for _ in $(seq 40); do cat "$T/texts.txt"; done >"$T/many.txt"
	tok -j 1 -m "$BPE/neox" "$T/many.txt" | stream_rows | grep -v '^{' >"$T/one"
	tok -j 3 -m "$BPE/neox" "$T/many.txt" | stream_rows | grep -v '^{' >"$T/three"
	[ "$(wc -l <"$T/one")" -gt 3000 ]
	cmp "$T/one" "$T/three"
	jq -c '.model.merges |= map(split(" "))' "$BPE/neox/tokenizer.json" >"$T/pairs.json"
	tok -j 1 -m "$T/pairs.json" "$T/many.txt" | stream_rows | grep -v '^{' | cmp - "$T/one"
	# merges before the vocabulary, all text escaped
	jq -ca '.model = {merges: .model.merges, vocab: .model.vocab, type: "BPE"}' "$BPE/neox/tokenizer.json" >"$T/turned.json"
	grep -q '"merges".*"vocab"' "$T/turned.json"
	tok -j 1 -m "$T/turned.json" "$T/many.txt" | stream_rows | grep -v '^{' | cmp - "$T/one"
}

@test "bpe: joined fields lose leading and trailing white space and have one space between them" {
	printf '%s\n' '{"a":" the\t","b":"sea"}' '{"a":"","b":"\u3000sea"}' '{"a":"the","b":" "}' '{"b":"sea"}' >"$T/in.jsonl"
	tok -m "$BPE/neox" -f c=a+b "$T/in.jsonl" | stream_rows | grep -v '^{' | sed 's/c.ids/text.ids/' >"$T/found"
	printf '%s\n' 'the sea' sea the sea | tok -m "$BPE/neox" | stream_rows | grep -v '^{' | diff - "$T/found"
}

@test "bpe: a word of a megabyte and a megabyte of spaces are tokenised; --max-length ends the work" {
	local the
	the=$(jq -r '.model.vocab.the' "$BPE/neox/tokenizer.json")
	head -c 1000000 /dev/zero | tr '\0' x >"$T/in.txt"
	run -0 bash -c "tok -m '$BPE/neox' --max-length 16000000 '$T/in.txt' | stream_rows | tail -1 | wc -w"
	[ "$output" -eq 1000000 ]
	awk 'BEGIN { for (i = 0; i < 200000; i++) printf "the" }' >"$T/in.txt"
	run -0 bash -c "tok -m '$BPE/neox' --max-length 16000000 '$T/in.txt' | stream_rows | tail -1 | tr ' ' '\n' | grep -c '^\(text.ids=\[\)*$the\]*$'"
	[ "$output" -eq 200000 ]
	head -c 1000000 /dev/zero | tr '\0' ' ' >"$T/in.txt"
	run -0 --separate-stderr bash -c "tok -q -m '$BPE/neox' --max-length 3 '$T/in.txt' | stream_rows | tail -1 | wc -w"
	[ "$output" -eq 3 ]
}

@test "bpe: invalid UTF-8 counts as U+FFFD" {
	printf 'the \377 sea\nthe \357\277\275 sea\n' >"$T/in.txt"
	tok -q -m "$BPE/neox" "$T/in.txt" | stream_rows >"$T/rows"
	[ "$(sed -n 2p "$T/rows")" = "$(sed -n 3p "$T/rows")" ]
}

# 4. bad input

# refused KIND FILTER MESSAGE: refuses the golden tokenizer.json of KIND, changed by jq's FILTER
refused() {
	mkdir -p "$T/model"
	jq -c "$2" "$BPE/$1/tokenizer.json" >"$T/model/tokenizer.json"
	run -1 --separate-stderr tok -m "$T/model" </dev/null
	[[ "$stderr" == "tok: $T/model/tokenizer.json"*"$3"* && $(wc -l <<<"$stderr") -eq 1 ]] || { echo "$stderr"; return 1; }
}

@test "bpe: broken or unsupported models are refused by name" {
	refused neox '.model.type = "Unigram"' "the 'vocab' of a Unigram must be a list of pairs of a piece and its score"
	refused neox '.model.type = "WordLevel"' "the vocabulary lacks its unk_token '<unk>'"
	refused neox '.model.type = "Letters"' "type 'Letters' is not supported"
	refused neox '.model.dropout = 0.1' "dropout is not supported"
	refused neox '.model.continuing_subword_prefix = "##"' "continuing_subword_prefix or end_of_word_suffix is not supported"
	refused neox '.model.end_of_word_suffix = "</w>"' "end_of_word_suffix is not supported"
	refused neox '.model.merges[3] = "q zz"' "merge 3, 'q zz': the vocabulary lacks its right token"
	refused neox '.model.merges[3] = "zz q"' "merge 3, 'zz q': the vocabulary lacks its left token"
	refused neox '.model.merges[3] = "q j"' "merge 3, 'q j': the vocabulary lacks its result"
	refused neox '.model.merges[3] = "th"' "merge 3, 'th': must be two tokens and a blank"
	refused neox '.model.merges[3] = "t h e"' "merge 3, 't h e': must be two tokens and a blank"
	refused cl100k '.model.merges[3] = ["t"]' "'merges' must be a list of strings or of pairs of strings"
	refused cl100k '.model.merges[3] = 7' "'merges' must be a list of strings or of pairs of strings"
	refused neox '.model.vocab.the = 3' "id 3 is also that of"
	refused neox '.model.vocab.the = -1' "id -1 is not in 0.."
	refused neox '.model.vocab.the = 2147483648' "id 2147483648 is not in 0.."
	refused neox '.model.vocab = {} | .model.merges = []' "there is no 'vocab', or it is empty"
	refused letters '.model.unk_token = "absent"' "lacks its unk_token 'absent'"
	refused neox '.added_tokens[0].id = 3' "added token '<x>': id 3 is also that of"
	refused neox '.added_tokens[0].content = "the"' "added token 'the': id"
	refused neox '.added_tokens[0].id = -3' "id"
	refused neox '.added_tokens[0].id = 16777216' "id"
	sed 's/"the":/"t\xffe":/' "$BPE/neox/tokenizer.json" >"$T/model/tokenizer.json"
	run -1 --separate-stderr tok -m "$T/model" </dev/null
	[[ "$stderr" == "tok: $T/model/tokenizer.json:1: not valid JSON"* ]]
}

@test "bpe: unsupported components are refused by name" {
	refused neox '.normalizer = {type: "Nmt"}' "normalizer: 'Nmt' is not supported"
	refused neox '.normalizer = {type: "Replace", pattern: {String: ""}, content: ""}' "the pattern of a Replace"
	refused neox '.pre_tokenizer = {type: "Sequence", pretokenizers: [{type: "UnicodeScripts"}]}' "pre_tokenizer: 'UnicodeScripts'"
	refused neox '.pre_tokenizer = {type: "Split", pattern: {String: "a"}, behavior: "Odd"}' "behavior 'Odd' is not supported"
	refused neox '.pre_tokenizer = {type: "Sequence", pretokenizers: [range(70) | {type: "Whitespace"}]}' "more than 64 steps"
	refused neox '.post_processor = {type: "Other"}' "post_processor: 'Other' is not supported"
	refused qwen '.post_processor.processors[1].single = []' "no place for the text"
	refused qwen '.post_processor.processors[0] = .post_processor.processors[1]' "in which two steps put tokens around"
	refused neox '.post_processor = {type: "BertProcessing", cls: ["<x>", 4000], sep: ["<y>", 4001]}' \
		"puts the id 4000 around a text, which no token has"
	refused neox '.post_processor = {type: "BertProcessing", cls: ["<x>", 392], sep: ["<y>", 4001]}' \
		"puts the id 4001 around a text, which no token has"
}

@test "bpe: an invalid regular expression is refused with the reason" {
	while IFS=$'\t' read -r pattern message; do
		refused cl100k ".pre_tokenizer.pretokenizers[0].pattern.Regex = \"$pattern\"" "expression '$message"
	done <<-'END'
		a(	a(': end pattern with unmatched parenthesis
		[z-a]x	[z-a]x': empty range in char class
		\\p{Nothing}	\p{Nothing}': invalid character property name {Nothing}
		x\\	x\': end pattern at escape
	END
	refused cl100k '.normalizer = {type: "Replace", pattern: {Regex: "+"}, content: ""}' "expression '+': target of repeat operator is not specified"
}

@test "bpe: a regular expression that backtracks without end is given up" {
	jq -c '.pre_tokenizer.pretokenizers[0].pattern.Regex = "(a+)+$x"' "$BPE/cl100k/tokenizer.json" >"$T/tokenizer.json"
	run -1 --separate-stderr tok -m "$T/tokenizer.json" <<<"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	[[ "$stderr" == "tok: $T/tokenizer.json: expression '(a+)+\$x': a text of 81 bytes cannot be searched: retry-limit-in-match over" ]]
}
