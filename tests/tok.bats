#!/usr/bin/env bats
load helper

# stream_rows (tests/support) prints a stream as text: attributes, then a line for each row.
TINY=$GOLDEN/token/plain

texts() {
	for word in lantern lighthouse keeper kept light lit nightly; do
		printf 'The %s of the lighthouse: lanterns, lights; lighting %s!\n' $word $word
	done
}

# ids TEXT [OPTION...]: the ids of a line of text
ids() {
	local text=$1
	shift
	printf '%s' "$text" | tok -m "$TINY" "$@" | stream_rows | sed -n 's/.* text.ids=\[\(.*\)\]$/\1/p'
}

# 1. known answers

@test "tok: ids are the reference's, with every kind of added token and template" {
	for kind in plain cased added bare; do
		run -0 tokenize "$GOLDEN/token/$kind" <"$GOLDEN/token/$kind/cases.jsonl"
		[[ "$output" == *" right, 0 wrong" ]]
		[ "${output%% *}" -gt 300 ]
	done
}

@test "tok: a vocabulary with escaped characters gives the same ids, also beyond U+FFFF" {
	mkdir "$T/raw" "$T/escaped"
	jq '.model.vocab += {"🚣": 200, "a\u0000b": 201, "🚣🏿sea": 202}' "$TINY/tokenizer.json" >"$T/raw/tokenizer.json"
	jq -a . "$T/raw/tokenizer.json" >"$T/escaped/tokenizer.json"
	grep -q 'ud83d.udea3' "$T/escaped/tokenizer.json"
	for model in raw escaped; do
		[[ "$(TINY=$T/$model ids "the 🚣 sea 🚣🏿sea")" == *" 200 "*" 202 "* ]]
		run -0 tokenize "$T/$model" <"$TINY/cases.jsonl"
		[[ "$output" == *" right, 0 wrong" ]]
	done
}

@test "tok: bert-base-uncased has the ids of the public cases" {
	need_model tok-bert-base-uncased
	need_model ../reference/tokens.json
	run -0 tokenize "$MODELS/tok-bert-base-uncased" 0 bare "$MODELS/../reference/tokens.json" \
		bert-base-uncased
	[ "$output" = "57 right, 0 wrong" ]
}

# Ids by sentence-transformers 6.2: Transformer(folder, do_lower_case=...), with the file's own normaliser.
@test "tok: do_lower_case of sentence_bert_config.json lowercases before the normaliser" {
	texts=$'The RED Boat sails; \u00c9T\u00c9 and NA\u00cfVE\nLANTERN \u0130stanbul \u03a3\u03b1\u03c2'
	lower='[2 95 22 105 6 73 59 78 23 59 67 70 77 43 1 5 72 62 1 3] [2 102 1 1 3]'
	mkdir "$T/m"
	while IFS=: read -r low normalizer ids; do
		jq -c ".normalizer = ${normalizer//=/:}" "$GOLDEN/token/cased/tokenizer.json" >"$T/m/tokenizer.json"
		echo "{\"do_lower_case\": $low}" >"$T/m/sentence_bert_config.json"
		got=$(tok -m "$T/m" <<<"$texts" | stream_rows | sed -n 's/.* text.ids=//p' | paste -sd' ')
		echo "$normalizer: $got"
		[ "$got" = "$ids" ]
	done < <(sed "s/LOWER/$lower/" <<-'E'
		false:.normalizer:[2 1 1 1 23 59 67 70 77 43 1 5 72 62 1 3] [2 1 1 1 3]
		true:.normalizer:LOWER
		true:{"type"="NFD"}:LOWER
		true:null:LOWER
		true:{"type"="Lowercase"}:LOWER
		true:{"type"="Sequence","normalizers"=[{"type"="NFC"},{"type"="StripAccents"}]}:[2 95 22 105 6 73 59 78 23 59 67 70 77 43 1 5 72 62 1 3] [2 102 13 77 78 59 72 60 112 1 3]
	E
	)
}

@test "tok: vocab.txt and tokenizer.json give the same ids, also in real folders" {
	mkdir "$T/model"
	cp "$GOLDEN/token/plain/vocab.txt" "$T/model/"
	for text in "The keeper of the lighthouse." "Café naïve [MASK] x" ""; do
		[ "$(ids "$text")" = "$(TINY=$T/model ids "$text")" ]
	done
	printf '{"do_lower_case": false}' >"$T/model/tokenizer_config.json"
	[ "$(TINY=$T/model ids "The sea")" != "$(ids "The sea")" ]
	[ "$(ids "the sea")" = "$(TINY=$TINY/tokenizer.json ids "the sea")" ]
}

@test "tok: of equal lines of vocab.txt the last counts, and white space at a line's end is no part of a token" {
	mkdir "$T/model"
	printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' foo bar foo '' $'sea \t\r' $'oil\u00a0' last >"$T/model/vocab.txt"
	[ "$(TINY=$T/model ids "foo bar sea oil last")" = "2 6 5 8 9 10 3" ]
	truncate -s -1 "$T/model/vocab.txt"
	[ "$(TINY=$T/model ids "foo last")" = "2 6 10 3" ]
	printf 'foo\n\377\n' >>"$T/model/vocab.txt"
	dies "tok: $T/model/vocab.txt:12: not a vocabulary: invalid UTF-8" tok -m "$T/model" /dev/null
}

@test "tok: fields of JSON Lines keep their types; texts are dropped without --keep" {
	printf '%s\n' '{"_id":"q1","text":"the sea","n":3,"x":1.5,"l":["a","b"],"t":true}' \
		'{"_id":"q2","text":"","n":4,"x":2,"l":[],"t":false}' >"$T/in.jsonl"
	run -0 bash -c "tok -m '$TINY' '$T/in.jsonl' | stream_rows"
	[ "${lines[1]}" = " _id='q1' n=3 x=1.5 l=('a''b') t=1 text.ids=[2 95 110 3]" ]
	[ "${lines[2]}" = " _id='q2' n=4 x=2 l=() t=0 text.ids=[2 3]" ]
	run -0 bash -c "tok -m '$TINY' --keep '$T/in.jsonl' | stream_rows"
	[[ "${lines[1]}" == " _id='q1' text='the sea' "* ]]
}

@test "tok: lists of texts become lists of lists; without -f the usual fields are taken" {
	printf '%s\n' '{"query":"sea","negatives":["the","of the"],"label":1}' \
		'{"query":"the","negatives":[],"label":0}' >"$T/in.jsonl"
	run -0 bash -c "tok -m '$TINY' '$T/in.jsonl' | stream_rows"
	[ "${lines[1]}" = " label=1 query.ids=[2 110 3] negatives.ids=([2 95 3][2 98 95 3])" ]
	[ "${lines[2]}" = " label=0 query.ids=[2 95 3] negatives.ids=()" ]
}

@test "tok: records of a stream keep their rows and attributes; their prompts are used" {
	printf 'the sea\nof\nlamp\n' | tok -m "$TINY" --record-rows 2 --keep --prompt 'sea ' >"$T/in.mts"
	run -0 bash -c "tok -m '$TINY' '$T/in.mts' | stream_rows"
	[ "${#lines[@]}" -eq 5 ]
	[ "${lines[0]}" = '{"prompts":{"text":"sea "},"prompt_tokens":{"text":2}}' ]
	[ "${lines[1]}" = " text.ids=[2 110 95 110 3]" ]
	[ "${lines[4]}" = " text.ids=[2 110 103 3]" ]
	run -0 bash -c "tok -m '$TINY' --prompt '' '$T/in.mts' | stream_rows"
	[ "${lines[0]}" = '{"prompts":{},"prompt_tokens":{}}' ]
	[ "${lines[1]}" = " text.ids=[2 95 110 3]" ]
}

# 2. options

@test "tok -f: several fields, joined fields, also of compressed TSV" {
	printf 'title\ttext\tscore\n The \t sea \t1\n\tlamp\t2.5\n' | gzip >"$T/in.tsv.gz"
	run -0 bash -c "tok -m '$TINY' -f doc=title+text -f title '$T/in.tsv.gz' | stream_rows"
	[ "${lines[1]}" = " score='1' doc.ids=[2 95 110 3] title.ids=[2 95 3]" ]
	[ "${lines[2]}" = " score='2.5' doc.ids=[2 103 3] title.ids=[2 3]" ]
}

@test "tok: digits in TSV and CSV are text, whether the column is tokenised or not" {
	printf 'text\tscore\n2\t1\n1\t2\n' >"$T/in.tsv"
	run -0 bash -c "tok -m '$TINY' -f text --keep '$T/in.tsv' | mts to jsonl"
	[[ "${lines[0]}" == '{"text":"2","score":"1",'* ]]
	run -0 bash -c "tok -m '$TINY' --keep '$T/in.tsv' | mts to jsonl"
	[[ "${lines[1]}" == '{"text":"1","score":"2",'* ]]
	tr '\t' , <"$T/in.tsv" >"$T/in.csv"
	tok -m "$TINY" "$T/in.csv" | mts to jsonl | cmp - <(tok -m "$TINY" "$T/in.tsv" | mts to jsonl)
	run -0 bash -c "tok -m '$TINY' -f text --format csv --keep - <'$T/in.csv' | mts to jsonl"
	[[ "${lines[1]}" == '{"text":"1","score":"2",'* ]]
}

@test "tok: ids that look like numbers keep their bytes, and a word may follow a thousand numbers" {
	{
		printf '_id\ttext\n0704.0001\tsea\n1001.1230\tsea\n1001.123\tsea\n-0\tsea\n1e3\tsea\n'
		printf '%s\tsea\n' {1..1100}
		printf 'PMC17\tsea\n'
	} >"$T/in.tsv"
	tok -m "$TINY" "$T/in.tsv" | mts to tsv -c _id | sed 1d | cmp - <(cut -f 1 "$T/in.tsv" | sed 1d)
	tr '\t' , <"$T/in.tsv" | tok -m "$TINY" --format csv | mts to tsv -c _id | sed 1d |
		cmp - <(cut -f 1 "$T/in.tsv" | sed 1d)
	sed '1d; s/^/{"_id": "/; s/\t.*/", "text": "sea"}/' "$T/in.tsv" | tok -m "$TINY" |
		mts diff - <(tok -m "$TINY" "$T/in.tsv")
}

@test "tok --task: takes the model's prompt, its number of tokens and the expert; unknown names are refused with a list" {
	cp -r "$TINY" "$T/model"
	printf '{"prompts":{"a":"the sea: ","b":""},"default_prompt_name":"a"}' \
		>"$T/model/config_sentence_transformers.json"
	run -0 bash -c "echo lamp | tok -m '$T/model' --task a | stream_rows"
	[ "${lines[0]}" = '{"experts":{"text":"a"},"prompts":{"text":"the sea: "},"prompt_tokens":{"text":4}}' ]
	[[ "${lines[1]}" == " text.ids=[2 95 110 "*" 103 3]" ]]
	run -0 bash -c "echo lamp | tok -m '$T/model' --task b | stream_rows"
	[ "${lines[0]}" = '{"experts":{"text":"b"}}' ]
	run -0 bash -c "echo lamp | tok -m '$T/model' | stream_rows"
	[[ "${lines[0]}" == '{"prompts":{"text":"the sea: "}'* ]]
	run -1 --separate-stderr tok -m "$T/model" --task c <<<lamp
	[[ "$stderr" == *"no prompt is called 'c'; there are: a, b" ]]
}

@test "tok --max-length: long texts are cut and counted, and keep the special tokens; --no-truncate refuses them" {
	printf 'the sea of lamp\nsea\n' >"$T/in.txt"
	run -0 --separate-stderr bash -c "tok -m '$TINY' --max-length 4 '$T/in.txt' | stream_rows"
	[ "${lines[1]}" = " text.ids=[2 95 110 3]" ]
	[[ "$stderr" == "tok: warning: 1 of 2 texts were longer than 4 tokens and were cut"* ]]
	run -1 --separate-stderr tok -m "$TINY" --max-length 4 --no-truncate "$T/in.txt"
	[[ "$stderr" == "tok: $T/in.txt:1: 'text' is longer than 4 tokens; "* ]]
	run -0 --separate-stderr bash -c "tok -m '$TINY' --max-length 6 --no-truncate '$T/in.txt' | stream_rows"
	[ "${lines[1]}" = " text.ids=[2 95 110 98 103 3]" ]
	cp -r "$TINY" "$T/model"
	printf '{"max_seq_length": 3}' >"$T/model/sentence_bert_config.json"
	run -0 --separate-stderr bash -c "tok -q -m '$T/model' '$T/in.txt' | stream_rows"
	[ "${lines[1]}" = " text.ids=[2 95 3]" ]
	[ -z "$stderr" ]
}

@test "tok --no-truncate: names the first text above the limit, whichever thread has it" {
	{ echo lamp; printf 'the sea of lamp\n%.0s' {1..3000}; } >"$T/in.txt"
	for threads in 1 3; do
		run -1 --separate-stderr tok -j $threads -m "$TINY" --max-length 4 --no-truncate "$T/in.txt"
		[[ "$stderr" == "tok: $T/in.txt:2: 'text' is longer than 4 tokens; "* ]]
	done
	echo '{"text": ["lamp", "the sea of lamp"]}' >"$T/in.jsonl"
	run -1 --separate-stderr tok -m "$TINY" --max-length 4 --no-truncate "$T/in.jsonl"
	[[ "$stderr" == "tok: $T/in.jsonl: record 1: text 2 of 'text' is longer than 4 tokens; "* ]]
}

@test "tok: the default of --max-length comes from the model's files" {
	mkdir "$T/model"
	cp "$TINY/tokenizer.json" "$T/model/"
	words() {
		ids "$(printf 'sea %.0s' $(seq 30))" -q -m "$T/model" | tr ' ' '\n' | grep -c .
	}
	[ "$(words)" -eq 32 ]
	printf '{"model_max_length":1000000000000000019884624838656}' >"$T/model/tokenizer_config.json"
	[ "$(words)" -eq 32 ]
	printf '{"n_positions":9}' >"$T/model/config.json"
	[ "$(words)" -eq 9 ]
	printf '{"max_position_embeddings":12,"n_positions":11}' >"$T/model/config.json"
	[ "$(words)" -eq 11 ]
	# RoBERTa's positions begin after the padding id, which is 1 by default
	printf '{"model_type":"xlm-roberta","max_position_embeddings":14}' >"$T/model/config.json"
	[ "$(words)" -eq 12 ]
	printf '{"model_type":"roberta","max_position_embeddings":14,"pad_token_id":4}' >"$T/model/config.json"
	[ "$(words)" -eq 9 ]
	printf '{"model_type":"camembert","max_position_embeddings":14,"pad_token_id":0}' >"$T/model/config.json"
	[ "$(words)" -eq 13 ]
	printf '{"model_type":"distilbert","max_position_embeddings":14}' >"$T/model/config.json"
	[ "$(words)" -eq 14 ]
	printf '{"model_max_length":7}' >"$T/model/tokenizer_config.json"
	[ "$(words)" -eq 7 ]
	printf '{"max_seq_length":8}' >"$T/model/sentence_bert_config.json"
	[ "$(words)" -eq 8 ]
}

@test "tok: -j, --level and --record-rows do not change the ids" {
	texts >"$T/few"
	printf "$T/few\n%.0s" {1..300} | xargs cat >"$T/in.txt"
	tok -j 1 --level 0 -m "$TINY" "$T/in.txt" | stream_rows | grep -v '^{' >"$T/one"
	tok -j 3 --level 5 -m "$TINY" "$T/in.txt" | stream_rows | grep -v '^{' >"$T/two"
	tok --record-rows 7 --format lines -m "$TINY" <"$T/in.txt" | stream_rows | grep -v '^{' >"$T/three"
	[ "$(wc -l <"$T/one")" -eq 2100 ]
	cmp "$T/one" "$T/two"
	cmp "$T/one" "$T/three"
	# level 0 does not compress
	for level in 0 9; do
		tok --level $level -m "$TINY" "$T/in.txt" | wc -c
	done >"$T/bytes"
	sort -rnu "$T/bytes" | cmp - "$T/bytes"
}

@test "tok: an input without rows is a stream without records" {
	run -0 bash -c "tok -m '$TINY' -f a </dev/null | zstd -dc | grep -a '^ {\"name\"'"
	[ "$output" = ' {"name":"a.ids","dtype":"i32","depth":1}' ]
	[ "$(tok -m "$TINY" -f a -f b=c+d </dev/null | mts stat | grep '^column' | grep -o '[a-z]*\.ids' | tr '\n' ' ')" = 'a.ids b.ids ' ]
}

@test "tok --learn: equal texts give equal vocabularies, which cover the text" {
	texts >"$T/corpus.txt"
	tok --learn wordpiece --vocab-size 60 -o "$T/a" "$T/corpus.txt"
	tac "$T/corpus.txt" | gzip | tok --learn wordpiece --vocab-size 60 -o "$T/b"
	cmp "$T/a/tokenizer.json" "$T/b/tokenizer.json"
	cmp "$T/a/vocab.txt" "$T/b/vocab.txt"
	[ "$(wc -l <"$T/a/vocab.txt")" -eq 60 ]
	[ "$(head -5 "$T/a/vocab.txt" | paste -sd' ')" = "[PAD] [UNK] [CLS] [SEP] [MASK]" ]
	grep -qx lighthouse "$T/a/vocab.txt"
	run -0 tokenize "$T/a" <<<'"The lighthouse"'
	[[ "$output" == "2 "*" 3" && "$output" != *" 1 "* ]]
}

@test "tok --learn: the first merges, computed by hand" {
	# pairs: h+##e 3 times (the, the, he), t+##h 2, ##h+##e 2
	printf 'the the he\n' | tok --learn wordpiece --vocab-size 50 -o "$T/a" 2>"$T/err"
	[ "$(tail -n +6 "$T/a/vocab.txt" | paste -sd' ')" = "h t ##e ##h th the" ]
	grep -q "gives only 11 tokens" "$T/err"
	printf 'Éa\n' | tok -q --learn wordpiece --min-frequency 1 --cased -o "$T/c"
	[ "$(tail -n +6 "$T/c/vocab.txt" | paste -sd' ')" = "É ##a Éa" ]
}

# 3. usage

@test "tok: usage errors exit 2 with an empty standard output" {
	for options in "" "-m x --task a --prompt b" "-m x -f a+b" "-m x -f =a" "-m x --record-rows 0" \
		"-m x --level 20" "-m x --format xml" "-m x --passages 7" \
		"-m $TINY --max-length 99 --passages 100" "-m $TINY --overlap 3" "-m $TINY --passages 20 --overlap 11" "-m $TINY -f a -f b --format jsonl --passages 20" \
		"-m $TINY --passages 20 --shard 1/2" "-m $TINY --format tsv $T" "--learn unigram -o x" "--learn wordpiece" "--bogus"; do
		run -2 --separate-stderr bash -c "tok $options </dev/null"
		[ -z "$output" ]
		[[ "$stderr" == "tok: "* ]]
	done
	run -2 --separate-stderr tok -m "$TINY" -f a -f a=b
	[[ "$stderr" == "tok: --field: 'a' is given twice"* ]]
}

@test "tok: options that do not apply are refused" {
	echo 'a text' >"$T/in.txt"
	for option in specials "vocab-size 9" "min-frequency 3" "alphabet 9" cased; do
		does_not_apply "--${option% *}" tok -m "$TINY" --$option "$T/in.txt"
		[[ $option == specials ]] ||
			does_not_apply "--${option% *}" tok -m "$TINY" --decode --$option "$T/in.txt"
	done
	for option in "field a" "task a" "prompt a" "max-length 3" truncate no-truncate "passages 9" "overlap 1" "record-rows 3" \
		"format tsv" "threads 1"; do
		does_not_apply "--${option% *}" tok -m "$TINY" --decode --$option "$T/in.txt"
	done
	for option in "model $TINY" "task a" "prompt a" truncate no-truncate "passages 9" keep "record-rows 3" "level 1" \
		"threads 1" decode specials; do
		does_not_apply "--${option% *}" tok --learn wordpiece -o "$T/new" --$option "$T/in.txt"
	done
	does_not_apply --cased tok --learn bpe -o "$T/new" --cased "$T/in.txt"
	does_not_apply --alphabet tok --learn bpe -o "$T/new" --alphabet 9 "$T/in.txt"
	[ ! -e "$T/new" ]
}

@test "tok -o: writes the stream to a file, of ids and of texts" {
	echo 'a text' >"$T/in.txt"
	tok -m "$TINY" -o "$T/ids.mts" "$T/in.txt"
	mts diff <(tok -m "$TINY" "$T/in.txt") "$T/ids.mts"
	tok -m "$TINY" --decode -o "$T/texts.mts" "$T/ids.mts"
	mts diff <(tok -m "$TINY" --decode "$T/ids.mts") "$T/texts.mts"
	before=$(sha256sum "$T/ids.mts")
	run -1 tok -m "$TINY" -f none -o "$T/ids.mts" "$T/in.txt"
	[ "$(sha256sum "$T/ids.mts")" = "$before" ]
}

# 4. bad input

@test "tok: a missing field is refused with the line and the existing fields" {
	printf '{"text":"a"}\n{"txt":"b","n":1}\n' >"$T/in.jsonl"
	run -1 --separate-stderr tok -m "$TINY" "$T/in.jsonl"
	[ "$stderr" = "tok: $T/in.jsonl:2: there is no 'text'; fields are: txt, n (choose with -f)" ]
	printf 'title;text\na;b\n' >"$T/in.csv"
	run -1 --separate-stderr tok -m "$TINY" "$T/in.csv"
	[ "$stderr" = "tok: $T/in.csv:2: there is no 'text'; the only field is 'title;text': fields are separated by commas in CSV, by tabs in TSV" ]
	printf '{"text":null}\n' >"$T/in.jsonl"
	run -1 --separate-stderr tok -m "$TINY" "$T/in.jsonl"
	[ "$stderr" = "tok: $T/in.jsonl:1: 'text' is null; leave the row out, or let it be \"\"" ]
	printf '{"text":"a","title":"x"}\n{"text":"b","title":null}\n' >"$T/in.jsonl"
	run -1 --separate-stderr tok -m "$TINY" -f title "$T/in.jsonl"
	[ "$stderr" = "tok: $T/in.jsonl:2: 'title' is null; leave the row out, or let it be \"\"" ]
	printf 'text\tbody\na\tb\n' | tok -m "$TINY" --format tsv --keep >"$T/in.mts"
	run -1 --separate-stderr tok -m "$TINY" -f title "$T/in.mts"
	[ "$stderr" = "tok: $T/in.mts: there is no text 'title'; texts are: text, body (choose with -f)" ]
}

@test "tok: invalid JSON is refused with file and line; a truncated stream is refused" {
	printf '{"text":"a"}\n{"text":"a}\n' >"$T/in.jsonl"
	run -1 --separate-stderr tok -m "$TINY" "$T/in.jsonl"
	[[ "$stderr" == "tok: $T/in.jsonl:2: not valid JSON: "* ]]
	printf '{"text":"a","id":99999999999999999999}\n' >"$T/in.jsonl" # not rounded
	[ "$(tok -m "$TINY" --keep "$T/in.jsonl" | mts to jsonl -c id)" = '{"id":"99999999999999999999"}' ]
	texts | tok -m "$TINY" --keep >"$T/in.mts"
	head -c -10 "$T/in.mts" >"$T/cut.mts"
	run -1 --separate-stderr tok -m "$TINY" "$T/cut.mts"
	[[ "$stderr" == "tok: $T/cut.mts: "* ]]
}

@test "tok: binary files, and lines longer than --max-line, are refused by name" {
	cd "$T" || return
	{ printf 'PAR1\25\4\25'; head -c 500 /dev/zero; printf PAR1; } >corpus.txt
	printf '{"text": "sea"}\n' | iconv -t UTF-16 >utf16.jsonl
	printf 'sea\nthe\0sea\n' >zero.txt
	for file in 'corpus.txt: not text but Parquet' 'utf16.jsonl: not text but UTF-16' 'zero.txt:2: a byte 0'; do
		run -1 --separate-stderr tok -m "$TINY" "${file%%:*}"
		[[ $stderr == "tok: $file"* ]]
		run -1 --separate-stderr tok --learn wordpiece -o learnt "${file%%:*}"
		[[ $stderr == "tok: $file"* ]]
		[ ! -e learnt ]
	done
	printf 'sea\nthe sea\n' >x.txt
	run -0 bash -c "tok -m '$TINY' --max-line 7 x.txt | mts to jsonl | wc -l"
	[ "$output" -eq 2 ]
	for arguments in "-m $TINY" '--learn wordpiece -o learnt'; do
		run -1 --separate-stderr tok $arguments --max-line 6 x.txt
		[ "$stderr" = "tok: x.txt:2: the line is longer than 6 bytes; is it text? (--max-line allows more)" ]
	done
}

@test "tok: a file of a byte order mark alone has no line" {
	printf '\xef\xbb\xbf' >"$T/in.txt"
	[ -z "$(tok -m "$TINY" "$T/in.txt" | mts to jsonl)" ]
	echo >>"$T/in.txt"
	[ "$(tok -m "$TINY" "$T/in.txt" | mts to jsonl)" = '{"text.ids":[2,3]}' ]
}

@test "tok --max-length: no room for the special tokens is an error" {
	run -1 --separate-stderr tok -m "$TINY" --max-length 1 <<<"the sea"
	[ "$stderr" = "tok: the special tokens by themselves are 2 ids, and all is to have 1 at most; give more with --max-length" ]
	[ "$(tok -q -m "$TINY" --max-length 2 <<<"the sea" | mts to jsonl)" = '{"text.ids":[2,3]}' ]
}

@test "tok: invalid UTF-8 is repaired, with one warning that counts it" {
	printf 'the \377\376 sea\n\200\n' >"$T/in.txt"
	run -0 --separate-stderr bash -c "tok -m '$TINY' '$T/in.txt' | stream_rows"
	[ "${lines[1]}" = " text.ids=[2 95 110 3]" ]
	[ "$stderr" = "tok: warning: $T/in.txt: 3 invalid parts of UTF-8 were replaced by U+FFFD" ]
	run -0 --separate-stderr tok --learn wordpiece -o "$T/learnt" "$T/in.txt"
	[[ $stderr == "tok: warning: $T/in.txt: 3 invalid parts of UTF-8 were replaced by U+FFFD"* ]]
}

@test "tok: inputs with different fields are refused" {
	printf '{"text":"a"}\n' >"$T/a.jsonl"
	printf '{"text":"a","n":1}\n' >"$T/b.jsonl"
	run -1 --separate-stderr tok -m "$TINY" "$T/a.jsonl" "$T/b.jsonl"
	[ "$stderr" = "tok: $T/b.jsonl: its fields differ from those of $T/a.jsonl; make one stream of each" ]
	for width in 2 3; do
		mkstream random 3 $width 1 | mts cat --rename _id=text >"$T/$width.mts"
	done
	run -1 --separate-stderr tok -m "$TINY" "$T/2.mts" "$T/3.mts"
	[ "$stderr" = "tok: $T/3.mts: its fields differ from those of $T/2.mts; make one stream of each" ]
	tok -m "$TINY" "$T/a.jsonl" "$T/a.jsonl" | stream_rows | grep -c text.ids
}

# refused FILTER MESSAGE: refuses a tokenizer.json edited by sed
refused() {
	mkdir -p "$T/model"
	sed "$1" "$TINY/tokenizer.json" >"$T/model/tokenizer.json"
	run -1 --separate-stderr tok -m "$T/model" </dev/null
	[[ "$stderr" == "tok: $T/model/tokenizer.json"*"$2"* ]] || { echo "$stderr"; return 1; }
}

@test "tok: broken or unsupported tokenizers are refused by name" {
	refused 's/"WordPiece"/"Words"/' "type 'Words' is not supported"
	refused 's/"BertNormalizer"/"Nmt"/' "normalizer: 'Nmt' is not supported"
	refused 's/"BertPreTokenizer"/"UnicodeScripts"/' "pre_tokenizer: 'UnicodeScripts' is not supported"
	refused 's/"TemplateProcessing"/"Other"/' "post_processor: 'Other' is not supported"
	refused 's/"version": "1.0"/"version": "2.0"/' "version '2.0'"
	refused 's/"unk_token": "\[UNK\]"/"unk_token": "<unk>"/' "lacks its unk_token '<unk>'"
	refused 's/"keep": [0-9]*/"keep": 3/' "token 'keep': id 3 is also that of '[SEP]'"
	refused 's/"keep": [0-9]*/"keep": -1/' "id -1 is not in 0.."
	refused 's/"keep": [0-9]*/"keep": 1.5/' "must be an object of integers"
	refused 's/"keep": [0-9]*/"the": 500/' "token 'the' is there twice"
	refused 's/"keep": [0-9]*/"keep" 7/' "not valid JSON"
	refused 's/"keep": [0-9]*/"ke\\qep": 7/' "not valid JSON: invalid escape"
	refused 's/"vocab": {/"vocab": null, "words": {/' "there is no 'vocab', or it is empty"
	refused 's/"model"/"modle"/' "has no 'model'"
	head -c 2000 "$TINY/tokenizer.json" >"$T/model/tokenizer.json"
	run -1 --separate-stderr tok -m "$T/model" </dev/null
	[[ "$stderr" == "tok: $T/model/tokenizer.json:1: not valid JSON"* ]]
	printf '[]' >"$T/model/tokenizer.json"
	run -1 --separate-stderr tok -m "$T/model" </dev/null
	[[ "$stderr" == "tok: $T/model/tokenizer.json: not a tokenizer.json"* ]]
	rm "$T/model/tokenizer.json"
	printf 'a\nb\n' >"$T/model/vocab.txt"
	run -1 --separate-stderr tok -m "$T/model" </dev/null
	[ "$stderr" = "tok: $T/model/vocab.txt: not a WordPiece vocabulary: it lacks [UNK]" ]
	run -1 --separate-stderr tok -m "$T/absent" </dev/null
	[ "$stderr" = "tok: $T/absent: model folder: No such file or directory" ]
	run -1 --separate-stderr tok -m "$T" </dev/null
	[ "$stderr" = "tok: $T: neither tokenizer.json, vocab.txt, vocab.json, sentencepiece.bpe.model nor spiece.model is there" ]
}

@test "tok --learn: folders with weights, sizes below the alphabet, and empty text are refused" {
	mkdir "$T/model"
	touch "$T/model/model.safetensors"
	run -1 --separate-stderr tok --learn wordpiece -o "$T/model" <<<text
	[[ "$stderr" == "tok: $T/model: holds a model's weights"* ]]
	run -1 --separate-stderr tok --learn wordpiece --vocab-size 8 -o "$T/a" <<<"many letters"
	[[ "$stderr" == "tok: a vocabulary of 8 is too small"* ]]
	run -1 --separate-stderr tok --learn wordpiece -o "$T/a" </dev/null
	[ "$stderr" = "tok: there is no text to learn from" ]
	[ ! -e "$T/a" ]
	# before the text is read
	echo precious >"$T/file"
	ln -s none "$T/link"
	for name in file link; do
		run -1 --separate-stderr tok --learn wordpiece -o "$T/$name" "$T/missing"
		[ "$stderr" = "tok: $T/$name: exists and is not a folder; choose another name" ]
	done
	[ "$(cat "$T/file")" = precious ]
}

@test "tok: a word of a megabyte and a megabyte of marks are tokenised" {
	head -c 1000000 /dev/zero | tr '\0' k >"$T/in.txt"
	[ "$(tok -m "$TINY" "$T/in.txt" | stream_rows | tail -1)" = " text.ids=[2 1 3]" ]
	printf '\xe3\x80\xae\xf0\x9d\x85\xa5%.0s' {1..20000} >"$T/in.txt"
	[ "$(tok -m "$TINY" "$T/in.txt" | stream_rows | tail -1)" = " text.ids=[2 1 3]" ]
}

# 5. the page

@test "tok: the examples of the page run" {
	cd "$T"
	texts >corpus.txt
	printf '{"sentence1":"the sea","sentence2":"a lamp","score":1}\n' >pairs.jsonl
	printf '_id\ttitle\ttext\n1\tThe\tlighthouse\n' >corpus.tsv
	page_examples tok.1 >examples
	[ "$(wc -l <examples)" -eq 11 ]
	mkdir notes
	printf '# Keys\n\nThey hang in the hall.\n' >notes/house.md
	while read -r line; do
		bash -c "${line/200/60}"
	done <examples
	for made in ids.mts pairs.mts c.mts eol.mts; do
		stream_rows "$made" | grep -c ids=
	done
	mts to jsonl seen.mts | grep -c "CLS"
	[ "$(tail -1 places.tsv)" = $'house.md\t1' ]
}

@test "tok: waiting threads sleep" {
	echo "the lamp" >"$T/line"
	mkfifo "$T/pipe"
	env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT tok -m "$TINY" "$T/pipe" >"$T/out" &
	exec 9>"$T/pipe"
	for ((i = 0; i < 100; i++)); do
		tr '\0' '\n' <"/proc/$!/environ" | found -x OMP_WAIT_POLICY=passive && break
		sleep 0.05
	done
	tr '\0' '\n' <"/proc/$!/environ" | grep -x 'OMP_WAIT_POLICY=passive\|GOMP_SPINCOUNT=2000' | wc -l | found -x 2
	exec 9>&-
	wait $!
}

@test "tok: files of rows and streams with the same columns may follow each other in any order" {
	printf '{"id": "a", "n": 7, "text": "a dog"}\n{"id": "b", "n": 9007199254740993, "text": "the cat"}\n' >"$T/rows.jsonl"
	mts from jsonl "$T/rows.jsonl" -o "$T/rows.mts"
	tok -q -m "$GOLDEN/bert" -f text "$T/rows.jsonl" | mts to jsonl >"$T/once"
	cat "$T/once" "$T/once" >"$T/twice"
	for files in "rows.jsonl rows.mts" "rows.mts rows.jsonl" "rows.mts rows.mts"; do
		# shellcheck disable=SC2086
		(cd "$T" && tok -q -m "$GOLDEN/bert" -f text $files | mts to jsonl | cmp - twice)
	done
}
