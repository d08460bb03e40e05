#!/usr/bin/env bats
load helper

V=$GOLDEN/vocab

@test "tok --learn bpe: tokens and merges are the reference's, also with equal frequencies" {
	tok -q --learn bpe --vocab-size 400 -o "$T/bpe" "$V/corpus.txt"
	jq -r '.model.vocab | to_entries | sort_by(.value)[].key' "$T/bpe/tokenizer.json" | diff - "$V/tokens.txt"
	jq -r '.model.merges[] | join(" ")' "$T/bpe/tokenizer.json" | diff - "$V/merges.txt"
	tac "$V/corpus.txt" | tok -q --learn bpe --vocab-size 400 -o "$T/again"
	cmp "$T/bpe/tokenizer.json" "$T/again/tokenizer.json"
	[ ! -e "$T/bpe/vocab.txt" ]
}

@test "tok --learn bpe: of 2,704 pairs only those that occur twice are merged" {
	for a in {a..z} {A..Z}; do
		for b in {a..z} {A..Z}; do echo "$a$b"; done
	done >"$T/once.txt"
	awk 'NR % 27 == 5' "$T/once.txt" | sort >"$T/often.txt"
	cat "$T/often.txt" "$T/once.txt" >"$T/corpus.txt"
	count=$(wc -l <"$T/often.txt")
	tok -q --learn bpe --vocab-size $((261 + count)) -o "$T/bpe" "$T/corpus.txt"
	jq -r '.model.merges[] | join("")' "$T/bpe/tokenizer.json" | sort | diff - "$T/often.txt"
}

@test "tok --learn bpe: no byte is unknown, and decoded texts are the texts" {
	tok -q --learn bpe --vocab-size 300 -o "$T/bpe" "$V/corpus.txt"
	printf '%s\n' 'a  lamp, Ünknown 漢字 🚣' "	tabs and 'quotes'" '' >"$T/texts"
	tok -q -m "$T/bpe" "$T/texts" | tok -q -m "$T/bpe" --decode | mts to jsonl | jq -r .text | diff - "$T/texts"
	tok -q -m "$T/bpe" <<<lamp | mts to jsonl | jq -e '."text.ids" | .[0] == 2 and .[-1] == 3' >/dev/null
}

@test "tok --learn bpe: too small a vocabulary, or no text, is refused, and no file is left" {
	run -1 tok -q --learn bpe --vocab-size 200 -o "$T/bpe" "$V/corpus.txt"
	[[ "$output" == *"a vocabulary of 200 is too small: special tokens and characters alone are 261"* ]]
	run -1 tok -q --learn bpe -o "$T/bpe" </dev/null
	[[ "$output" == *"there is no text to learn from"* ]]
	[ ! -e "$T/bpe" ]
}

@test "tok --learn: the files beside the vocabulary equal the reference's" {
	local kind options
	for kind in wordpiece cased bpe; do
		options=$kind
		[ "$kind" != cased ] || options='wordpiece --cased'
		# shellcheck disable=SC2086 # two words
		tok -q --learn $options --vocab-size 400 --max-length 77 -o "$T/$kind" "$V/corpus.txt"
		# the reference's decoder ignores add_prefix_space
		jq -S 'del(.model, .decoder.add_prefix_space)' "$T/$kind/tokenizer.json" >"$T/found"
		jq -S ".$kind | del(.decoder.add_prefix_space)" "$V/around.json" | diff - "$T/found"
		[ "$(jq .model_max_length "$T/$kind/tokenizer_config.json")" -eq 77 ]
		[ "$(jq -c '[.pad_token, .unk_token, .cls_token, .sep_token, .mask_token]' "$T/$kind/tokenizer_config.json")" = \
			'["[PAD]","[UNK]","[CLS]","[SEP]","[MASK]"]' ]
	done
	[ "$(jq -c 'del(.model_max_length) | [.tokenizer_class, .do_lower_case]' "$T/wordpiece/tokenizer_config.json")" = '["BertTokenizer",true]' ]
	[ "$(jq -c 'del(.model_max_length) | [.tokenizer_class, .do_lower_case]' "$T/cased/tokenizer_config.json")" = '["BertTokenizer",false]' ]
	[ "$(jq -r .tokenizer_class "$T/bpe/tokenizer_config.json")" = PreTrainedTokenizerFast ]
	[ "$(jq -c '.model | del(.vocab)' "$T/wordpiece/tokenizer.json")" = \
		'{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100}' ]
}

@test "tok --learn --alphabet, --min-frequency: words with rare characters, and rare pairs, are left out" {
	printf 'aba aba aba ab abc\n' >"$T/corpus.txt"
	learnt() {
		tok -q --learn wordpiece --vocab-size 50 "$@" -o "$T/a" "$T/corpus.txt"
		tail -n +6 "$T/a/vocab.txt" | paste -sd' '
	}
	# pairs: a+##b 5, ##b+##a 3; then ab+##a 3, ab+##c 1
	[ "$(learnt --min-frequency 1)" = "a ##a ##b ##c ab aba abc" ]
	[ "$(learnt)" = "a ##a ##b ##c ab aba" ]
	[ "$(learnt --min-frequency 4)" = "a ##a ##b ##c ab" ]
	[ "$(learnt --min-frequency 1 --alphabet 2)" = "a ##a ##b ab aba" ]
	[ "$(learnt --min-frequency 5 --alphabet 2)" = "a ##a ##b" ]
}
