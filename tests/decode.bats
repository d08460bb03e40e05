#!/usr/bin/env bats
load helper

# decoded NAME [OPTION]...: the texts of a golden folder's ids, as JSON strings
decoded() {
	ids_stream text.ids <"$GOLDEN/decode/$1/ids.txt" |
		tok -q -m "$GOLDEN/decode/$1" --decode "${@:2}" | mts to jsonl | jq -c .text
}

@test "decode: texts of every decoder are the reference's, with and without special tokens" {
	for folder in "$GOLDEN"/decode/*/; do
		name=$(basename "$folder")
		decoded "$name" | diff - <(jq -c '.[0]' "$folder/texts.jsonl")
		decoded "$name" --specials | diff - <(jq -c '.[1]' "$folder/texts.jsonl")
	done
	[ "$(cat "$GOLDEN"/decode/*/texts.jsonl | wc -l)" -eq 320 ]
}

@test "decode: special tokens alone decode to an empty text" {
	base=$ROOT/share/models/base
	[ "$(ids_stream text.ids <<<'2 3' | tok -q -m "$base" --decode | mts to jsonl | jq -c .text)" = '""' ]
}

@test "decode: a decoded text has the same tokens again" {
	text='the lamp, "lit" at 7; e.g. by the sea?'
	tok -m "$ROOT/share/models/base" <<<"$text" >"$T/ids.mts"
	tok -m "$ROOT/share/models/base" --decode "$T/ids.mts" >"$T/text.mts"
	for level in 0 19; do
		printf 'lamp %.0s' {1..99} | tok -m "$ROOT/share/models/base" | tok -m "$ROOT/share/models/base" --decode --level $level >"$T/$level.mts"
	done
	[ "$(wc -c <"$T/0.mts")" -gt "$(wc -c <"$T/19.mts")" ]
	# blanks stand between the tokenizer's words
	[ "$(mts to jsonl "$T/text.mts" | jq -r .text | tr -d ' ')" = "$(tr -d ' ' <<<"$text")" ]
	tok -m "$ROOT/share/models/base" "$T/text.mts" | mts diff --atol 0 - "$T/ids.mts"
}

@test "decode: with vocab.txt alone subwords are joined, and blanks around punctuation are removed" {
	mkdir "$T/bert"
	cp "$GOLDEN/token/plain/vocab.txt" "$T/bert/"
	[ "$(tok -m "$T/bert" <<<"Keeper's lamps, isn't" | tok -m "$T/bert" --decode | mts to jsonl | jq -r .text)" = "keeper ' s lamps, isn ' t" ]
}

@test "decode: lists of texts and several columns are decoded; other columns pass; --keep keeps the ids" {
	printf '%s\n' '{"id":"a","q":"old sea","d":["a lamp","the storm"]}' '{"id":"b","q":"red","d":[]}' |
		tok -q -m "$ROOT/share/models/base" -f q -f d --format jsonl >"$T/ids.mts"
	tok -q -m "$ROOT/share/models/base" --decode "$T/ids.mts" | mts to jsonl >"$T/out"
	diff "$T/out" - <<-'END'
		{"id":"a","q":"old sea","d":["a lamp","the storm"]}
		{"id":"b","q":"red","d":[]}
	END
	tok -q -m "$ROOT/share/models/base" --decode --keep "$T/ids.mts" | mts to jsonl |
		jq -e -s '.[0]."q.ids" | length == 4' >/dev/null
}

@test "decode: columns and ids that cannot be decoded are refused" {
	run -2 tok --decode
	[[ "$output" == *"no model is given"* ]]
	run -1 bash -c "printf 'text\n' | tok -m '$ROOT/share/models/base' --decode"
	[[ "$output" == *"not a tensor stream"* ]]
	tok -q -m "$ROOT/share/models/base" <<<lamp >"$T/ids.mts"
	run -1 tok -m "$GOLDEN/decode/bytes" --decode "$T/ids.mts"
	[[ "$output" == *"made by another tokenizer"* ]]
	cp -r "$GOLDEN/decode/bytes" "$T/odd"
	jq '.decoder = {"type": "CTC", "pad_token": "x"}' "$GOLDEN/decode/bytes/tokenizer.json" >"$T/odd/tokenizer.json"
	run -1 bash -c "ids_stream text.ids <'$T/odd/ids.txt' | tok -m '$T/odd' --decode"
	[[ "$output" == *"tokenizer.json: a decoder of type 'CTC' is not supported"* ]]
	ids_stream other <"$GOLDEN/decode/bytes/ids.txt" >"$T/other.mts"
	run -1 tok -m "$GOLDEN/decode/bytes" --decode "$T/other.mts"
	[[ "$output" == *"has no column of token ids"* ]]
}
