#!/usr/bin/env bats
load helper

V=$GOLDEN/vocab

@test "tok --train bpe: the reference's tokens and merges, equal frequencies included" {
	tok -q --train bpe --vocab-size 400 -o "$T/bpe" "$V/corpus.txt"
	jq -r '.model.vocab | to_entries | sort_by(.value)[].key' "$T/bpe/tokenizer.json" | diff - "$V/tokens.txt"
	jq -r '.model.merges[] | join(" ")' "$T/bpe/tokenizer.json" | diff - "$V/merges.txt"
	tac "$V/corpus.txt" | tok -q --train bpe --vocab-size 400 -o "$T/again"
	cmp "$T/bpe/tokenizer.json" "$T/again/tokenizer.json"
	[ ! -e "$T/bpe/vocab.txt" ]
}

@test "tok --train bpe: no byte is unknown; texts come back" {
	tok -q --train bpe --vocab-size 300 -o "$T/bpe" "$V/corpus.txt"
	printf '%s\n' 'a  lamp, Ünknown 漢字 🚣' "	tabs and 'quotes'" '' >"$T/texts"
	tok -q -m "$T/bpe" "$T/texts" | tok -q -m "$T/bpe" --decode | mts to jsonl | jq -r .text | diff - "$T/texts"
	tok -q -m "$T/bpe" <<<lamp | mts to jsonl | jq -e '."text.ids" | .[0] == 2 and .[-1] == 3' >/dev/null
}

@test "tok --train bpe: what is too small or has no text is refused, and nothing is left" {
	run -1 tok -q --train bpe --vocab-size 200 -o "$T/bpe" "$V/corpus.txt"
	[[ "$output" == *"a vocabulary of 200 is too small: special tokens and characters alone are 261"* ]]
	run -1 tok -q --train bpe -o "$T/bpe" </dev/null
	[[ "$output" == *"there is no text to learn from"* ]]
	[ ! -e "$T/bpe" ]
}
