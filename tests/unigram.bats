#!/usr/bin/env bats
load helper

# Unigram, and BPE with byte fallback. Golden values: tests/golden/unigram.py (Hugging Face's tokenizers).
UNI=$GOLDEN/unigram
REFERENCE=${MOTES_REFERENCE:-$ROOT/../shared/reference}

# tiny FILTER: $T/tiny, a small tokenizer with simple scores, edited by jq's FILTER
tiny() {
	mkdir -p "$T/tiny"
	jq -n '{version: "1.0", added_tokens: [], normalizer: null, pre_tokenizer: {type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true},
		model: {type: "Unigram", unk_id: 3, vocab: [["<s>", 0], ["<pad>", 0], ["</s>", 0], ["<unk>", 0], ["▁", -3], ["a", -4], ["b", -4], ["ab", -7.5],
			["▁a", -5], ["▁ab", -9], ["c", -6], ["abc", -10], ["bc", -8], ["é", -6.5], ["fi", -7]]}}' | jq -c "$1" >"$T/tiny/tokenizer.json"
}

# is TEXT IDS: the tiny tokenizer gives the text these ids
is() {
	local found
	found=$(jq -nc --arg text "$1" '$text' | tokenize "$T/tiny")
	[ "$found" = "$2" ] || { echo "'$1': $found, not $2"; return 1; }
}

# scores PIECE SCORE...: a tiny tokenizer with these pieces, and <unk> with score -1
scores() {
	local list='["<unk>", -1]'
	while [ $# -gt 0 ]; do
		list+=", [\"$1\", $2]"
		shift 2
	done
	tiny ".pre_tokenizer = null | .model = {type: \"Unigram\", unk_id: 0, vocab: [$list]}"
}

# 1. known answers

@test "unigram: ids are the reference's for every pipeline of the golden files" {
	local count=0
	for folder in "$UNI"/*/; do
		tokenize "$folder" <"$UNI/inputs.jsonl" | diff - "$folder/ids.txt"
		count=$((count + $(wc -l <"$folder/ids.txt")))
	done
	[ "$count" -eq 748 ]
}

@test "unigram: golden ids decode to the golden texts, without and with special tokens" {
	for folder in "$UNI"/*/; do
		ids_stream text.ids <"$folder/ids.txt" >"$T/ids.mts"
		tok -q -m "$folder" --decode "$T/ids.mts" | mts to jsonl | jq -c .text | diff - <(jq -c '.[0]' "$folder/texts.jsonl")
		tok -q -m "$folder" --decode --specials "$T/ids.mts" | mts to jsonl | jq -c .text | diff - <(jq -c '.[1]' "$folder/texts.jsonl")
	done
}

@test "unigram: truncation keeps the first ids of the complete text" {
	for name in xlmr m3 t5; do
		around=1
		[ $name = t5 ] || around=2
		tokenize "$UNI/$name" 7 <"$UNI/inputs.jsonl" >"$T/seven"
		awk -v n=7 '{ if (NF > n) { for (i = 1; i < n; i++) printf "%s ", $i; print $NF } else print }' "$UNI/$name/ids.txt" | diff - "$T/seven"
		[ "$(awk 'NF == 7' "$T/seven" | wc -l)" -gt 20 ] && [ "$around" -gt 0 ]
	done
}

@test "unigram: ids of the public cases in nine pipelines" {
	[ -e "$REFERENCE/unigram_vectors.json" ] || skip "needs public test cases (set MOTES_REFERENCE)"
	for name in xlmr m3 spm5 first never nosplit ws_first bytes albert; do
		jq -c --arg name $name '. as $file | .tokenizers_json[$name] | .model.vocab = (if $name == "bytes" then $file.vocab_bytes else $file.vocab end) |
			walk(if type == "object" and .precompiled_charsmap? then .precompiled_charsmap = $file.charsmap else . end)' \
			"$REFERENCE/unigram_vectors.json" >"$T/tokenizer.json"
		jq -c --arg name $name '.cases[] | {text, ids: .ids[$name]}' "$REFERENCE/unigram_vectors.json" >"$T/cases"
		run -0 tokenize "$T/tokenizer.json" <"$T/cases"
		[ "$output" = "44 right, 0 wrong" ]
	done
}

# 2. rule by rule

@test "unigram: the segmentation has the greatest sum of scores, byte by byte; consecutive unknowns are one token" {
	tiny .
	is "ab abc" "9 4 11"
	is "a  b" "8 4 4 6"
	is "ab " "9 4"
	is "  " "4 4"
	is "xyz" "4 3"
	is "axyzb x y" "8 3 6 4 3 4 3"
	is "a<unk>x" "8 3"
	tiny '.pre_tokenizer.prepend_scheme = "never"'
	is "ab abc" "7 4 11"
	tiny '.added_tokens = [{id: 0, content: "<s>", special: true}]'
	is "a<s>b" "8 0 4 6"
}

@test "unigram: of equal sums the segmentation wins whose last piece begins first; the smallest difference decides" {
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["a", -1], ["b", -2], ["ab", -3], ["abc", -4], ["c", -1]]}'
	is ab 3
	is abc 4
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["a", -1], ["b", -2], ["ab", -3.0000000000000004]]}'
	is ab "1 2"
	# single precision would not distinguish these
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["a", -1], ["b", -2], ["ab", -2.9999999999999996]]}'
	is ab 3
}

@test "unigram: an unknown character scores 10 below the lowest score; consecutive unknowns are one piece" {
	# y is unknown with score -20 - 10; xy scores more than x and y
	scores low -20 x 10.2 xy -20
	is xy "2 0"
	scores low -20 x 10.2 xy -19.75
	is xy 3
	is yy 0
	is yyxy "0 3"
	# with all scores above 0 the special tokens' is the lowest
	scores x 12 xy 1.1
	is xy 2
	scores x 12 xy 0.9
	is xy "1 0"
	# two unknowns score more than the piece of both
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 100], ["qq", 100], ["a", 100]]}'
	is qq 1
	is qqq 0
	is aqqa "2 1 2"
	is aqqqqa "2 0 2"
}

@test "unigram: of a repeated piece the last one counts, with its score" {
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["ab", -1], ["a", -2], ["b", -2], ["ab", -9]]}'
	is ab "2 3"
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["ab", -9], ["a", -2], ["b", -2], ["ab", -1]]}'
	is ab 4
}

@test "unigram: pieces with a common beginning, and an empty piece" {
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", -1]]}'
	is aa 0
	for empty in '' ', ["", -50]'; do
		tiny ".pre_tokenizer = null | .model = {type: \"Unigram\", unk_id: 3, vocab: [[\"aa\", -1], [\"aaaaaaaaa\", -1], [\"aaaaaaaaab\", -1], [\"aaaaaaaaaaaaaaaaaac\", -1] $empty]}"
		is aaaaaaaaa 1
		is aaaaaaaaab 2
		is aaaa "0 0"
		is aaaaaaaaaaaaaaaaaac 3
		is b 3
	done
	# so many pieces that they are sorted by their bytes: each is found
	jq -nc '[range(3000) | tostring] | [.[], (.[] | . + "xyzxyzxyz"), (.[] | . + "xyzxyzxyz" + .)] |
		[.[], (.[] | "▁" + .), (.[:3000][] | "▁\u0000" + . + "\u0000"), (.[:3000][] | "▁\u0000" + . + "\u0000\u0000"), "▁", "▁\u0000", "\u0000", "…"]' >"$T/words"
	mkdir -p "$T/tiny"
	jq -c '{version: "1.0", model: {type: "Unigram", unk_id: 0, vocab: map([., -1])}}' "$T/words" >"$T/tiny/tokenizer.json"
	jq -c '.[]' "$T/words" | tokenize "$T/tiny" | diff - <(seq 0 24003)
}

@test "unigram: unknown text becomes bytes if the vocabulary has all 256" {
	local bytes='("0123456789ABCDEF" | split("") as $h | [range(256) | ["<0x" + $h[. / 16 | floor] + $h[. % 16] + ">", 0]])'
	tiny ".model.byte_fallback = true | .model.vocab += $bytes"
	is "axéz" "8 135 13 137"
	is "日" "4 245 166 180"
	is "a<0x41>b" "8 80 6"
	is "日x" "4 245 166 180 135"
	tiny ".model.vocab += $bytes"
	is "日" "4 3"
	tiny ".model.byte_fallback = true | .model.vocab += ($bytes | map(select(.[0] != \"<0xA5>\")))"
	is "x" "4 135"
	is "日" "4 3"
	is "x日" "4 3"
}

@test "unigram: scores are parsed like the reference's, rounded twice" {
	# -15.275492379532281 becomes ...28 and -1.8771917354846979 ...98: the sums of the pieces equal these exactly
	for pair in "-15.275492379532281 -15.27549237953228" "-1.8771917354846979 -1.877191735484698"; do
		read -r written read <<<"$pair"
		tiny ".pre_tokenizer = null | .model = {type: \"Unigram\", unk_id: 0, vocab: [[\"<unk>\", 0], [\"ab\", 1], [\"a\", $read], [\"b\", 0]]}"
		sed "s/\\[\"ab\",1\\]/[\"ab\",$written]/" "$T/tiny/tokenizer.json" >"$T/tokenizer.json"
		mv "$T/tokenizer.json" "$T/tiny/"
		is ab 1
	done
	local model='.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["ab", 1], ["a", -12], ["b", 0]]}'
	for score in -12 -12.0 -1.2e1 -0.12E+2 -120e-1 -12.000000000000000000000000001 -0.000000000000000000000000000012e30 -12000000000000000000000e-21; do
		tiny "$model"
		sed -i "s/\\[\"ab\",1\\]/[\"ab\" , $score ]/" "$T/tiny/tokenizer.json"
		is ab 1
		tiny "$model"
		sed -i "s/\\[\"ab\",1\\]/[\"ab\",${score/12/13}]/" "$T/tiny/tokenizer.json"
		[[ $score != *12* ]] || is ab "2 3"
	done
	tiny "$model"
	sed -i 's/\["ab",1\]/["ab",-1e-999]/' "$T/tiny/tokenizer.json"
	is ab 1
	# digits beyond 2^64 are ignored
	tiny '.pre_tokenizer = null | .model = {type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["ab", -1.8446744073709553], ["a", 1], ["b", 0]]}'
	sed -i 's/\["a",1\]/["a",-1.8446744073709551617]/' "$T/tiny/tokenizer.json"
	is ab 1
}

@test "unigram: Metaspace prepends always, first or never, and splits or not" {
	tiny '.pre_tokenizer = {type: "Sequence", pretokenizers: [{type: "WhitespaceSplit"}, .pre_tokenizer]}'
	is "a  b" "8 4 6"
	is "  " ""
	tiny '.pre_tokenizer = {type: "Sequence", pretokenizers: [{type: "WhitespaceSplit"}, .pre_tokenizer + {prepend_scheme: "first"}]}'
	is "ab abc" "9 11"
	is " ab" 7
	# without splitting a piece may contain the mark
	for split in true false; do
		tiny ".pre_tokenizer.split = $split | .model.vocab += [[\"a▁b\", 0]]"
		[ $split = true ] && is "a b" "8 4 6" || is "a b" "4 15"
	done
	# keys of older files
	tiny '.pre_tokenizer = {type: "Metaspace", replacement: "▁", str_rep: "▁", add_prefix_space: false}'
	is "ab abc" "7 4 11"
	tiny '.pre_tokenizer = {type: "Metaspace", replacement: "▁", add_prefix_space: true}'
	is "ab abc" "9 4 11"
	tiny '.pre_tokenizer = {type: "Metaspace", replacement: "▁"}'
	is "ab" "9"
	is "▁ab" "9"
	is "$(printf 'ab %.0s' {1..99})" "$(printf '9 %.0s' {1..99})4"
	# a mark of one byte that is in the text
	tiny '.pre_tokenizer = {type: "Metaspace", replacement: "c"}'
	is "ab" "10 7"
	is "cab" "10 7"
}

@test "unigram: the prepended character begins a text, whatever normalizers and added tokens did" {
	local first='.pre_tokenizer.prepend_scheme = "first" | .added_tokens = [{id: 0, content: "<s>", special: true}, {id: 12, content: "bc", normalized: true}]'
	# ids by tokenizers 0.23.3
	while IFS='|' read -r normalizer text ids; do
		tiny "$first | .normalizer = $normalizer"
		is "$text" "$ids"
	done <<-'END'
		null|ab|9
		null|<s>ab|0 7
		null|a<s>a|8 0 5
		null|bca|12 5
		null|abca|8 12 5
		{type: "Strip", strip_left: true, strip_right: false}|ab|9
		{type: "Strip", strip_left: true, strip_right: false}| ab|7
		{type: "Replace", pattern: {String: "x"}, content: ""}|xab|7
		{type: "Replace", pattern: {String: "x"}, content: "b"}|xab|4 6 7
		{type: "Replace", pattern: {String: "xx"}, content: "b"}|xxab|6 7
		{type: "Prepend", prepend: "a"}|b|9
	END
}

@test "unigram: a charsmap replaces a grapheme cluster of fewer than six bytes by its shortest match" {
	local map
	map=$(jq .normalizer "$UNI/xlmr/tokenizer.json")
	# é, e + mark, fi, fi + mark, long a: the tiny vocabulary has é, fi and a
	tiny ".pre_tokenizer = null | .normalizer = $map"
	is $'e\u0301' 13
	is $'e\u0301\u0301' 13
	is $'\uFB01' 14
	is $'\uFB01\u0301' 14
	is $'\uFB01\u0301\u0301' "14 3"
	is $'\uFF1Cs\uFF1E' 0
	is $'\u007Fab\u0001' 7
	is $'a\u200Db' 7
	# control characters end a cluster, also prepending ones
	is $'\u0001e\u0301' 13
	is $'\u00ADe\u0301' "3 13"
	is $'a\u0301' 3
	is $'e\U0001F642' 3
	is $'\u0660e\u0301' "3 13"
}

@test "unigram: Strip and Replace work without the shortcut for white space" {
	tiny '.normalizer = {type: "Sequence", normalizers: [{type: "Strip", strip_left: false, strip_right: true}, {type: "Replace", pattern: {Regex: " {2,}"}, content: "▁"}]}'
	is "a  a " "8 8"
	is "  a" 8
	tiny '.normalizer = {type: "Replace", pattern: {Regex: " {2,}"}, content: " "}'
	is "the   a " "4 3 8 4"
}

@test "unigram: a folder has a fingerprint and a size; all threads give the same ids" {
	jq -r 'select(test("[\n\r\u0000]") | not)' "$UNI/inputs.jsonl" >"$T/lines.txt"
	for n in {1..40}; do cat "$T/lines.txt"; done >"$T/many.txt"
	tok -q -j 1 --rows 7 -m "$UNI/m3" "$T/many.txt" >"$T/one.mts"
	for n in {1..10}; do # threads meet where the first of them sorts the pieces
		tok -q -j 4 --rows 7 -m "$UNI/m3" "$T/many.txt" | mts diff --atol 0 - "$T/one.mts"
	done
	tok -q -m "$UNI/xlmr" "$T/lines.txt" | tok -m "$UNI/xlmr" --decode >"$T/back.mts"
	run -1 --separate-stderr tok -m "$UNI/xlmr" --decode "$T/one.mts"
	[[ "$stderr" == *"made by another tokenizer"* ]]
}

# 3. bad input

# refused FILTER MESSAGE [TEXT]: refuses the tiny tokenizer edited by jq, opened or applied to the text
refused() {
	tiny "$1"
	run -1 --separate-stderr tok -q -m "$T/tiny" <<<"${3-}"
	[[ "$stderr" == "tok: $T/tiny/tokenizer.json"*"$2"* && $(wc -l <<<"$stderr") -eq 1 ]] || { echo "$stderr"; return 1; }
}

@test "unigram: broken or unsupported models are refused by name" {
	refused '.model.unk_id = 15' "unk_id"
	refused '.model.unk_id = -1' "unk_id"
	refused '.model.vocab = []' "there is no 'vocab', or it is empty"
	refused '.model.vocab = {"a": 1}' "the 'vocab' of a Unigram must be a list of pairs"
	refused '.model.vocab[3] = ["a"]' "'vocab' must be a list of pairs of a string and a number"
	refused '.model.vocab[3] = ["a", "b"]' "'vocab' must be a list of pairs of a string and a number"
	refused '.model.vocab[3] = ["a", 1, 2]' "'vocab' must be a list of pairs of a string and a number"
	refused '.model.vocab[3] = "a"' "'vocab' must be a list of pairs of a string and a number"
	refused '.model.vocab[3][0] = "a" * 65536' "piece 3 has 65536 bytes; at most 65535 are supported"
	refused '.model.type = "BPE"' "the 'vocab' of a BPE must be an object of integers"
	refused '.added_tokens = [{id: 4, content: "a", special: true}]' "added token 'a': id 4, but it has 5 already"
	refused '.model.unk_id = null' "model: 'unk_id' is null, and 'x' of a text is not a piece" "ax"
	tiny '.model.unk_id = null'
	is "ab" 9
	tiny .
	sed -i 's/-7.5/-1e999/' "$T/tiny/tokenizer.json"
	run -1 --separate-stderr tok -m "$T/tiny" </dev/null
	[[ "$stderr" == *"tokenizer.json"* ]]
}

@test "unigram: broken or unsupported components are refused by name" {
	refused '.pre_tokenizer.replacement = "ab"' "'replacement' must be one character"
	refused '.pre_tokenizer.replacement = ""' "'replacement' must be one character"
	refused '.pre_tokenizer.prepend_scheme = "last"' "prepend_scheme 'last' is not supported"
	refused '.pre_tokenizer.add_prefix_space = false' "add_prefix_space is false, but prepend_scheme 'always'"
	refused '.pre_tokenizer.prepend_scheme = "first" | .normalizer = {type: "NFKC"}' "prepend_scheme 'first' behind the normalizer 'NFKC' is not supported"
	refused '.pre_tokenizer = {type: "Sequence", pretokenizers: [{type: "ByteLevel"}, .pre_tokenizer + {prepend_scheme: "first"}]}' \
		"prepend_scheme 'first' behind ByteLevel or Metaspace is not supported"
	refused '.normalizer = {type: "Precompiled", precompiled_charsmap: 3}' "'precompiled_charsmap' must be a string"
	refused '.normalizer = {type: "Precompiled", precompiled_charsmap: ""}' "'precompiled_charsmap' is damaged"
	refused '.normalizer = {type: "Precompiled", precompiled_charsmap: "AAA"}' "'precompiled_charsmap' is not Base64"
	refused '.normalizer = {type: "Precompiled", precompiled_charsmap: "A*AA"}' "'precompiled_charsmap' is not Base64"
	refused '.normalizer = {type: "Precompiled"}' "precompiled_charsmap"
}

# charsmap HEX MESSAGE: refuses a charsmap of 256 units that begins with these bytes, on the text "a"
charsmap() {
	printf "%s" "$(printf '\\x00\\x04\\x00\\x00%s' "$1")" >"$T/escaped"
	{ printf "$(cat "$T/escaped")"; head -c $((1024 - ${#1} / 4)) /dev/zero; printf 'a\0\303\251\0'; } | base64 -w 0 >"$T/map"
	refused ".normalizer = {type: \"Precompiled\", precompiled_charsmap: \"$(cat "$T/map")\"}" "$2" "${3-}"
}

@test "unigram: a charsmap with offsets, values or texts out of range is refused" {
	charsmap '\x00\xfc\xff\xff' "it leads out of itself" # unit 0 leads to 2^22
	charsmap '\x00\x04\x04\x00' "it leads out of itself" # to 257
	charsmap '\x00\x00\x00\x00\xff\xff\xff\xff' "it leads out of itself" # a value of 2^31
	charsmap '\x00\x00\x00\x00\x05\x00\x00\x80' "it leads out of itself" # a value after the texts
	charsmap '\x00\x00\x00\x00\x03\x00\x00\x80' "it leads out of itself" # inside a character
	charsmap '\x00\x01\x00\x00' "it leads out of itself" # a leaf without a value
	# a size of 1,024 bytes more than there are, and one that is not a multiple of a unit
	for size in '\x00\x08' '\x03\x04'; do
		{ printf "$size\\x00\\x00"; head -c 1029 /dev/zero; } | base64 -w 0 >"$T/map"
		refused ".normalizer = {type: \"Precompiled\", precompiled_charsmap: \"$(cat "$T/map")\"}" "is damaged: it has 1033 bytes"
	done
	{ printf '\x00\x04\x00\x00'; head -c 1024 /dev/zero; printf '\377\0'; } | base64 -w 0 >"$T/map"
	refused ".normalizer = {type: \"Precompiled\", precompiled_charsmap: \"$(cat "$T/map")\"}" "it leads out of itself"
	# the same map without an error
	{ printf '\x00\x04\x00\x00'; head -c 1024 /dev/zero; printf 'a\0\303\251\0'; } | base64 -w 0 >"$T/map"
	tiny ".normalizer = {type: \"Precompiled\", precompiled_charsmap: \"$(cat "$T/map")\"}"
	is "ab" 9
}
