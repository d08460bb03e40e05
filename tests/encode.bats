#!/usr/bin/env bats
# bats file_tags=plain
load helper

M=$GOLDEN/bert
ids() { # the golden texts' ids as a stream
	ids_stream text.ids "$@" <"$M/ids.txt"
}

# 1. the known answer
@test "encode: embeddings of BERT and NomicBERT are torch's to 1e-6" {
	ids | encode -m "$M" | rows | within "$M/embeddings.txt" 1e-6
	M=$GOLDEN/nomic_bert
	ids | encode -m "$M" | rows | within "$M/embeddings.txt" 1e-6
}

@test "encode: each of ten texts of mixed lengths has the bits that it has alone" {
	cat "$M/ids.txt" "$M/ids.txt" >"$T/ids.txt"
	ids_stream text.ids <"$T/ids.txt" | encode -m "$M" | rows >"$T/together"
	while read -r line; do
		ids_stream text.ids <<<"$line" | encode -m "$M" | rows
	done <"$T/ids.txt" | cmp - "$T/together"
}

@test "encode: a repeated text is not computed again and has the same bits" {
	M=$GOLDEN/nomic_bert
	for _ in 1 2 3; do cat "$M/ids.txt"; done >"$T/ids.txt"
	texts=$(wc -l <"$M/ids.txt")
	ids_stream text.ids <"$T/ids.txt" >"$T/ids.mts"
	encode -v -m "$M" "$T/ids.mts" 2>"$T/err" | rows >"$T/out"
	grep -q "$((2 * texts)) of $((3 * texts)) texts had been met before" "$T/err"
	for _ in 1 2 3; do ids | encode -m "$M" | rows; done | cmp - "$T/out"
	# also with --dim
	encode --dim 2 -m "$M" "$T/ids.mts" | rows | tail -n "$texts" |
		cmp - <(ids | encode --dim 2 -m "$M" | rows)
	# also in a later record
	ids | mts cat - <(ids) | encode -v -m "$M" 2>"$T/err" | rows | tail -n "$texts" | cmp - <(ids | encode -m "$M" | rows)
	grep -q "$texts of $((2 * texts)) texts had been met before" "$T/err"
}

@test "encode: all-MiniLM-L6-v2 gives sentence-transformers' vectors with cosine 0.99999 or more" {
	need_minilm
	ids_stream text.ids <"$GOLDEN/minilm/ids.txt" | encode -m "$MOTES_MINILM" | rows |
		paste -d' ' - "$GOLDEN/minilm/embeddings.txt" | awk '{
			a = b = c = 0
			for (i = 1; i <= 384; i++) { a += $i * $(i+384); b += $i ^ 2; c += $(i+384) ^ 2 }
			if (a / sqrt(b * c) < 0.99999) { print NR, a / sqrt(b * c); bad = 1 }
			n++
		} END { exit bad || n != 7 }'
}

@test "encode: all-MiniLM-L6-v2 agrees with the published similarities" {
	need_minilm
	printf '%s\n' 'The weather is lovely today.' "It's so sunny outside!" \
		'He drove to the stadium.' | tok -m "$MOTES_MINILM" | encode -m "$MOTES_MINILM" | rows |
		awk '{ for (i = 1; i <= NF; i++) x[NR, i] = $i }
			END { for (i = 1; i <= 384; i++) { a += x[1, i] * x[2, i]; b += x[1, i] * x[3, i]
				c += x[2, i] * x[3, i] }; print a, b, c }' >"$T/got"
	echo '0.6660 0.1046 0.1411' | within "$T/got" 1e-4
}

# 2. options
@test "encode: --tokens bounds the batch and does not change the embeddings" {
	for tokens in 1 7 25 1000; do
		ids | encode -m "$M" --tokens $tokens | rows | within "$M/embeddings.txt" 1e-6
	done
}

@test "encode: --pooling, --normalize and --no-normalize override the folder" {
	ids | encode -m "$M" --pooling cls --no-normalize | rows >"$T/cls"
	ids | encode -m "$M" --pooling last --no-normalize | rows >"$T/last"
	sed -n 2p "$T/last" | within <(sed -n 2p "$T/cls") 0 # of a text of one token the last token is the first
	run ! diff -q "$T/cls" "$T/last"
	ids | encode -m "$M" --no-normalize --pooling cls+last | rows |
		within <(paste -d' ' "$T/cls" "$T/last") 0
	ids | encode -m "$M" --pooling cls --normalize | rows |
		awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i * $i; print s }' >"$T/lengths"
	printf '1\n%.0s' 1 2 3 4 5 | within "$T/lengths" 1e-6
}

@test "encode: --dim keeps the first values, as truncate_dim of sentence-transformers does" {
	ids | encode -m "$M" | rows | cut -d' ' -f1-3 >"$T/cut"
	ids | encode -m "$M" --dim 3 | rows | within "$T/cut" 0
	awk '{ s = sqrt($1*$1 + $2*$2 + $3*$3); print $1/s, $2/s, $3/s }' "$T/cut" >"$T/unit"
	ids | encode -m "$M" --dim 3 --normalize | rows | within "$T/unit" 1e-6
	cp -r "$M" "$T/m"
	cp -r "$GOLDEN/head/dense/." "$T/m"
	D=$T/m
	tok -m "$D" "$D/texts.txt" | encode -m "$D" --dim 3 | rows | within "$D/dim.txt" 2e-6
	tok -m "$D" "$D/texts.txt" | encode -m "$D" --dim 3 --normalize | rows |
		within "$D/dim_unit.txt" 2e-6
	echo '{"truncate_dim": 3}' >"$D/config_sentence_transformers.json"
	tok -m "$D" "$D/texts.txt" | encode -m "$D" | rows | within "$D/dim.txt" 2e-6
	tok -m "$D" "$D/texts.txt" | encode -m "$D" --dim 6 | rows | cut -d' ' -f1-3 |
		within "$D/dim.txt" 2e-6
	echo '{"truncate_dim": 0}' >"$D/config_sentence_transformers.json"
	run -1 encode -m "$D" </dev/null
	[[ "$output" == *"config_sentence_transformers.json: 'truncate_dim' is 0"* ]]
}

@test "encode: --keep keeps the ids; without it they are dropped" {
	ids | encode -m "$M" --keep | encode -m "$M" | rows | within "$M/embeddings.txt" 1e-6
	ids | encode -m "$M" >"$T/emb.mts"
	run -1 --separate-stderr encode -m "$M" "$T/emb.mts"
	[[ "$stderr" == *"has no column of token ids"* ]]
}

@test "encode: -o writes a complete file or none; --level compresses it" {
	for i in {1..200}; do cat "$M/ids.txt"; done >"$T/many"
	ids_stream text.ids <"$T/many" >"$T/many.mts"
	encode -m "$M" -o "$T/stored" --level 0 "$T/many.mts"
	encode -m "$M" -o "$T/packed" --level 9 "$T/many.mts"
	[ "$(stat -c %s "$T/packed")" -lt "$(stat -c %s "$T/stored")" ]
	diff <(rows <"$T/stored") <(rows <"$T/packed")
}

@test "encode: neither threads nor --tokens change a bit; equal commands give equal bytes" {
	ids | encode -m "$M" -j 1 --tokens 30 | rows >"$T/one"
	ids | encode -m "$M" -j 2 | rows | cmp - "$T/one"
	ids | encode -m "$M" >"$T/a"
	ids | encode -m "$M" >"$T/b"
	cmp "$T/a" "$T/b"
}

# A large batch is divided among threads and packs its matrices; a single text does neither.
@test "encode: with a text for every thread each text has the bits that it has alone" {
	seeded_awk 'BEGIN { srand(7); for (i = 0; i < 400; i++) { n = 1 + int(23 * rand() ^ 2); printf "5"; for (t = 1; t < n; t++) printf " %d", 5 + int(rand() * 35); print "" } }' >"$T/many"
	ids_stream text.ids <"$T/many" >"$T/many.mts"
	model_copy "$GOLDEN/bert" "$T/f16" f16
	for of in "-m $GOLDEN/bert" "-m $GOLDEN/bert --precision int8" "-m $T/f16" "-m $GOLDEN/families/qwen3"; do
		# shellcheck disable=SC2086
		encode -q $of --tokens 1 "$T/many.mts" | ids_stream --rows text.emb >"$T/alone"
		[ "$(wc -l <"$T/alone")" -eq 400 ]
		[ "$(sort -u "$T/alone" | wc -l)" -gt 300 ]
		for threads in 1 2 3 7; do
			# shellcheck disable=SC2086
			encode -q $of -j $threads "$T/many.mts" | ids_stream --rows text.emb | cmp - "$T/alone"
		done
	done
}

@test "encode: all-MiniLM-L6-v2 gives each text the same bits in any batch" {
	need_minilm
	tr ' ' '\n' <"$GOLDEN/minilm/ids.txt" | paste -sd' ' | fold -sw 600 >"$T/long"
	cat "$GOLDEN/minilm/ids.txt" "$T/long" >"$T/ids.txt"
	ids_stream text.ids <"$T/ids.txt" | encode -m "$MOTES_MINILM" | rows >"$T/together"
	while read -r line; do
		ids_stream text.ids <<<"$line" | encode -j 1 -m "$MOTES_MINILM" | rows
	done <"$T/ids.txt" | cmp - "$T/together"
}

@test "encode: a row with a list of texts gets a list of embeddings" {
	sed '2,3s/^/+/' "$M/ids.txt" | ids_stream text.ids | encode -m "$M" | rows |
		within "$M/embeddings.txt" 1e-6
}

@test "encode: a column of ids with any name is encoded; a stream without rows stays empty" {
	ids | encode -m "$M" >/dev/null
	ids_stream query.ids <"$M/ids.txt" | encode -m "$M" | ids_stream --rows query.emb |
		within "$M/embeddings.txt" 1e-6
	ids_stream text.ids </dev/null | encode -m "$M" | rows >"$T/none"
	[ ! -s "$T/none" ]
}

@test "encode: include_prompt false leaves the prompt out of the mean" {
	cp -r "$M" "$T/m"
	echo '{"pooling_mode_mean_tokens": true, "include_prompt": false}' >"$T/m/1_Pooling/config.json"
	ids '{"prompt_tokens": {"other": 2}}' | encode -m "$T/m" | rows | within "$M/embeddings.txt" 1e-6
	ids '{"prompt_tokens": {"text": 2}}' | encode -m "$T/m" | rows >"$T/skipped"
	run ! within "$M/embeddings.txt" 1e-3 <"$T/skipped"
	ids '{"prompt_tokens": {"text": 2}}' | encode -m "$M" | rows | within "$M/embeddings.txt" 1e-6
	# a prompt longer than 2^32 tokens covers the whole text
	ids '{"prompt_tokens": {"text": 4294967298}}' | encode -m "$T/m" | rows | cmp - <(ids '{"prompt_tokens": {"text": 100000}}' | encode -m "$T/m" | rows)
	# texts with and without a prompt in one stream
	mts cat <(ids '{"prompt_tokens": {"text": 2}}') <(ids) | encode -m "$T/m" | rows >"$T/both"
	head -n 5 "$T/both" | cmp - "$T/skipped"
	# cls is the first token after the prompt; only its row of the last block is computed
	for prompt in $(awk '{ print NF }' "$M/ids.txt") 2; do
		for pooling in cls cls+last last; do
			ids "{\"prompt_tokens\": {\"text\": $prompt}}" | encode -m "$T/m" --no-normalize --pooling $pooling | rows >"$T/$pooling"
		done
		paste -d' ' "$T/cls" "$T/last" | cmp - "$T/cls+last"
	done
	run ! cmp -s "$T/cls" <(ids | encode -m "$T/m" --no-normalize --pooling cls | rows)
	tail -n 5 "$T/both" | within "$M/embeddings.txt" 1e-6
}

@test "encode: the expert comes from the record or from --expert; an unknown one is refused with a list" {
	upcycle -m "$M" --experts left,right -o "$T/m"
	ids '{"experts": {"text": "right"}}' | encode -m "$T/m" | rows | within "$M/embeddings.txt" 1e-6
	ids | encode -m "$T/m" -e left | rows | within "$M/embeddings.txt" 1e-6
	ids >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$T/m" "$T/ids.mts"
	[[ "$stderr" == *"$T/ids.mts: record 1: names no task expert for 'text'"*"left, right"* ]]
	ids '{"experts": {"text": "middle"}}' >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$T/m" "$T/ids.mts"
	[[ "$stderr" == *"$T/ids.mts: record 1: asks for the task expert 'middle'"*"left, right"* ]]
	run -1 --separate-stderr encode -m "$T/m" -e middle "$T/ids.mts"
	[[ "$stderr" == *"has no task expert 'middle'; it has left, right"* ]]
	encode -m "$M" "$T/ids.mts" | rows | within "$M/embeddings.txt" 1e-6 # a dense model ignores experts
}

# The folder m: a model with two different experts, left and right.
two_experts() {
	upcycle -m "$M" --experts left,right -o "$T/m"
	# zeros in the last tensor of the file, which is of the right expert
	size=$(stat -c %s "$T/m/model.safetensors")
	head -c 32 /dev/zero | dd of="$T/m/model.safetensors" bs=1 seek=$((size - 32)) conv=notrunc status=none
}

@test "encode: a column X.expert names the expert of each row" {
	two_experts
	for side in left right; do
		printf '%s\n' 'a red boat' 'the bird flies' 'a fish swims' | tok -m "$M" |
			encode -m "$T/m" -e $side | rows >"$T/$side"
	done
	run ! diff -q "$T/left" "$T/right"
	printf '{"text": "%s", "text.expert": "%s"}\n' 'a red boat' right 'the bird flies' left \
		'a fish swims' left | tok -m "$M" -f text | encode -m "$T/m" | rows |
		cmp - <(sed -n 1p "$T/right"; sed -n 2,3p "$T/left")
	printf '{"text": "a", "text.expert": "up"}\n' | tok -m "$M" -f text >"$T/up.mts"
	run -1 --separate-stderr encode -m "$T/m" "$T/up.mts"
	[[ "$stderr" == *"record 1: asks for the task expert 'up'"* ]]
	# the message has even a very long name in full
	long=$(printf 'a%084d' 0)
	printf '{"text": "a", "text.expert": "%s"}\n' "$long" | tok -m "$M" -f text >"$T/up.mts"
	run -1 --separate-stderr encode -m "$T/m" "$T/up.mts"
	[[ "$stderr" == *"record 1: asks for the task expert '$long'; $T/m has left, right" ]]
}

# Four texts twice, with the experts right, left, left, right in turns.
turns() {
	local texts=('a red boat' 'the bird flies' 'a fish swims' 'the sea') experts=(right left left right)
	for i in {0..7}; do
		printf '{"text": "%s", "text.expert": "%s"}\n' "${texts[i / 2]}" "${experts[i % 4]}"
	done
}

@test "encode: rows with different experts in turns are batched by expert; results keep their order" {
	two_experts
	turns | tok -m "$M" -f text >"$T/turns.mts"
	encode -v -m "$T/m" "$T/turns.mts" 2>"$T/err" | rows >"$T/out"
	grep -q '^encode: 2 batches$' "$T/err"
	# no other row, and no cached text, changes a row
	turns | while read -r row; do tok -m "$M" -f text <<<"$row" | encode -m "$T/m" | rows; done >"$T/alone"
	cmp "$T/out" "$T/alone"
	[ "$(sort -u "$T/out" | wc -l)" -eq 8 ]
	# also one text a batch, and for hidden states
	encode -m "$T/m" --tokens 1 "$T/turns.mts" | rows | cmp - "$T/alone"
	hidden() { encode -m "$T/m" --emit hs:layers=all,t=hs:pool=tokens "$@" | mts to jsonl; }
	hidden "$T/turns.mts" >"$T/hidden"
	turns | while read -r row; do tok -m "$M" -f text <<<"$row" | hidden; done | cmp - "$T/hidden"
}

@test "encode: --cache bounds the memory of cached embeddings, for any width" {
	ids >"$T/ids.mts"
	texts=$(wc -l <"$M/ids.txt")
	mts cat "$T/ids.mts" "$T/ids.mts" >"$T/twice.mts"
	encode -v -m "$M" --dim 1 "$T/twice.mts" 2>"$T/err" | rows >"$T/all"
	grep -q "$texts of $((2 * texts)) texts had been met before" "$T/err"
	# five texts with one value each: their tokens and the table take more than 600 bytes
	encode -v -m "$M" --dim 1 --cache 600 "$T/twice.mts" 2>"$T/err" | rows | cmp - "$T/all"
	run ! grep 'met before' "$T/err"
}

@test "encode: a folder without modules.json gets a warning; --pooling avoids it" {
	mkdir "$T/m"
	cp "$M"/{config.json,model.safetensors,vocab.txt} "$T/m"
	ids | encode -m "$T/m" 2>"$T/err" | rows >"$T/mean"
	[[ "$(cat "$T/err")" == *"warning: $T/m: has no modules.json: mean pooling is assumed"* ]]
	ids | encode -m "$T/m" --pooling mean 2>"$T/err" | rows | within "$T/mean" 0
	[ ! -s "$T/err" ]
}

@test "encode: --version and --verbose name the instructions in use" {
	run -0 encode --version
	[[ "${lines[1]}" == *"vectors"*"threads"* ]]
	ids >"$T/ids.mts"
	encode -v -j 1 -m "$M" "$T/ids.mts" 2>"$T/err" >"$T/out.mts"
	grep -q '^encode: .*vectors, 1 threads' "$T/err"
	grep -q '^encode: 42 tokens, ' "$T/err"
}

# 3. usage
@test "encode: usage errors exit 2 with an empty standard output" {
	for arguments in "" "-m $M --tokens 0" "-m $M --tokens x" "-m $M --normalize --no-normalize" \
		"-m $M a b" "-m $M --pooling middle" "-m $M --dim 9" "-m $M --level 20" "-m $M --nonsense"; do
		run -2 --separate-stderr encode $arguments </dev/null
		[ -z "$output" ]
		[[ "$stderr" == *"encode"* ]]
	done
}

# 4. bad input
@test "encode: truncated and foreign input is refused" {
	ids >"$T/ids.mts"
	head -c 60 "$T/ids.mts" >"$T/cut.mts"
	run -1 --separate-stderr encode -m "$M" "$T/cut.mts"
	[[ "$stderr" == "encode: $T/cut.mts: "* ]]
	head -c -10 "$T/ids.mts" >"$T/cut.mts"
	run -1 --separate-stderr encode -m "$M" "$T/cut.mts"
	[[ "$stderr" == "encode: $T/cut.mts: "* ]]
	echo hello >"$T/text"
	run -1 --separate-stderr encode -m "$M" "$T/text"
	[[ "$stderr" == "encode: $T/text: "* ]]
}

@test "encode: an id outside the vocabulary, a text above the limit and a text without tokens are refused" {
	printf '1 2\n3 40\n' | ids_stream text.ids >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$M" "$T/ids.mts"
	[[ "$stderr" == *"$T/ids.mts: record 1: column 'text.ids': text 2: the token id 40 is not below the vocabulary"*", 40;"* ]]
	printf '1\n-1\n' | ids_stream text.ids >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$M" "$T/ids.mts"
	[[ "$stderr" == *"text 2: the token id -1 is not below"* ]]
	{ echo 7; seq -s' ' 25; } | ids_stream text.ids >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$M" --tokens 5 "$T/ids.mts"
	[[ "$stderr" == *"text 2 has 25 tokens, more than the 24 that"*"takes"* ]]
	printf '1\n\n' | ids_stream text.ids >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$M" "$T/ids.mts"
	[[ "$stderr" == *"text 2 has no tokens; see --empty" ]]
}

@test "encode: --empty zero gives a text without tokens the embedding 0, --empty skip leaves its row out" {
	values() { encode -q -m "$M" "$@" | mts to jsonl | jq -c '."text.emb"'; }
	printf '1 2\n\n3\n\n4 5\n' | ids_stream text.ids >"$T/ids.mts"
	printf '1 2\n3\n4 5\n' | ids_stream text.ids >"$T/full.mts"
	values "$T/full.mts" >"$T/wanted"
	values --empty skip "$T/ids.mts" | diff - "$T/wanted"
	values --empty zero "$T/ids.mts" >"$T/found"
	sed -n '1p;3p;5p' "$T/found" | diff - "$T/wanted"
	[ "$(sed -n '2p;4p' "$T/found" | jq -s 'add | unique')" = "$(jq -n '[0]')" ]
	run -0 --separate-stderr bash -c "encode -m '$M' --empty skip '$T/ids.mts' 2>&1 >/dev/null"
	[[ "$output" == *"encode: warning: 2 rows had a text without tokens and were left out" ]]
	# lists of texts with another column beside them; a row goes if a text of any column is empty
	printf '{"a":["x","y"],"b":"x","n":1}\n{"a":["x",""],"b":"y","n":2}\n{"a":[],"b":"","n":3}\n{"a":[],"b":"y","n":4}\n' >"$T/texts.jsonl"
	jq 'del(.post_processor)' "$GOLDEN/token/bare/tokenizer.json" >"$T/tokenizer.json"
	run -0 --separate-stderr bash -c "tok -m '$T/tokenizer.json' -f a -f b '$T/texts.jsonl' >'$T/lists.mts'"
	[[ "$stderr" == *"tok: warning: 2 of 8 texts have no tokens; what becomes of them is for encode --empty to say" ]]
	encode -q -m "$M" --any-tokenizer --empty skip "$T/lists.mts" | mts to jsonl | jq .n | paste -sd' ' | found -x '1 4'
	run -2 --separate-stderr encode -m "$M" --empty zero --emit hs "$T/ids.mts"
	[[ "${stderr_lines[0]}" == "encode: --empty zero applies to embeddings only; with --emit "* ]]
	encode -q -m "$M" --emit emb,hs:pool=tokens --empty skip "$T/ids.mts" | mts diff - <(encode -q -m "$M" --emit emb,hs:pool=tokens "$T/full.mts")
}

@test "encode: ids of another tokenizer are refused; --any-tokenizer accepts them" {
	ids '' 00000000000000000000000000000000 >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$M" "$T/ids.mts"
	[[ "$stderr" == *"$T/ids.mts: its tokens were made by another tokenizer"* ]]
	[ -z "$output" ]
	encode -m "$M" --any-tokenizer "$T/ids.mts" | rows | within "$M/embeddings.txt" 1e-6
}

@test "encode: the fingerprint in a stream changes with pooling, config.json and any MiB of a tensor" {
	print_of() { ids | encode -q -m "$1" | mts stat | grep "^property	model"; }
	mkdir "$T/config"
	cat >"$T/config/config.json" <<-'E'
		{"model_type": "bert", "vocab_size": 30000, "hidden_size": 64, "num_hidden_layers": 1,
		"num_attention_heads": 2, "max_position_embeddings": 64, "intermediate_size": 8}
	E
	model_copy "$T/config" "$T/a" init 1
	cp -r "$T/a" "$T/same"
	own=$(print_of "$T/a")
	[ "$(print_of "$T/same")" = "$own" ]
	sed -i 's/"mean"/"cls"/; s/\("pooling_mode_[a-z]*_tokens*"\): true/\1: false/; s/\("pooling_mode_cls_token"\): false/\1: true/' \
		"$T/same/1_Pooling/config.json"
	[ "$(print_of "$T/same")" != "$own" ]
	cp -r "$T/a" "$T/eps"
	sed -i 's/{/{"layer_norm_eps": 0.1, /' "$T/eps/config.json"
	[ "$(print_of "$T/eps")" != "$own" ]
	cp -r "$T/a" "$T/weights"
	head -c 1M /dev/zero | dd of="$T/weights/model.safetensors" bs=1M seek=5 conv=notrunc status=none
	[ "$(print_of "$T/weights")" != "$own" ]
}

@test "encode: a closed pipe ends it silently, a full disk with an error" {
	ids | encode -m "$M" 2>"$T/err" | true || true
	[ ! -s "$T/err" ]
	ids >"$T/ids.mts"
	run -1 bash -c "encode -m '$M' '$T/ids.mts' >/dev/full"
	[[ "$output" == *"No space left"* ]]
}

# 5. the man page
@test "encode: the manual's examples run as printed" {
	cd "$T"
	cp -r "$M" model
	cp -r "$GOLDEN/adapter/plain" adapter
	mkdir gates
	cp -r "$GOLDEN/adapter/plain" "$GOLDEN/adapter/mixed" gates
	printf '%s\t%s\n' text gate 'a red boat sails' mixed 'the bird flies' '' >queries.tsv
	cp "$M/ids.txt" .
	printf '%s\n' 'a red boat sails' 'the bird flies over the sea' >texts.txt
	page_examples encode.1 >examples
	[ "$(grep -c '| *encode -m model' examples)" -eq 6 ]
	while read -r example; do
		bash -c "set -o pipefail; $example" </dev/null
		rows <texts.mts >"$T/rows.$((++n))"
		[ "$(wc -l <"$T/rows.$n")" -eq 2 ]
	done <examples
	run ! cmp -s "$T/rows.1" "$T/rows.2"
	run ! cmp -s "$T/rows.1" "$T/rows.3"
}
