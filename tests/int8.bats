#!/usr/bin/env bats
# bats file_tags=plain
load helper
load eight

# encode --weights int8: weights of linear layers in eight bits.

check() {
	run -0 int8_check "$1"
	[ -z "$output" ]
}
# widened FROM TO: copies a folder with its int8 weights as floats; the file names lists their tensors
widened() {
	encode -q -m "$1" --weights int8 --weights-cache "$T/ids.mts" >"$T/kept.mts"
	rm -rf "$2"
	cp -r "$1" "$2"
	rm "$2/model.int8.safetensors"
	int8_widen "$1" "$2/model.safetensors" >"$T/names"
}
refused() { refused_by "$1" --weights int8 "${@:2}"; }

# 1. known answers
@test "int8: two rows of 200 values by hand: codes, scales and a tie" { check values; }
@test "int8: the error of a weight is at most half a step, from f32, f16, bf16 and f64" { check error; }
@test "int8: NaN and infinite weights are refused, the smallest and greatest floats are not" { check refused; }
@test "int8: products of 1 to 600 rows have the bits of the dequantised weights' products, with 1 to 3 threads" {
	check products
}

# The least cosine to the unquantised embeddings, over the texts of each family's golden folder, is 0.9992 (ModernBERT), and
# 0.9998 or more in families with token experts.
@test "int8: every family has the bits of its dequantised weights, and is close to the original" {
	for family in bert bert_tokens deepseek gte jina_bert jina_bert_code modernbert mpnet nomic_bert nomic_moe olmoe qwen2_moe qwen3 t5 qwen2 mistral ministral3 llama eurobert ultrabert gemma3_text; do
		rm -rf "$M"
		cp -r "$GOLDEN/families/$family" "$M"
		encoded -m "$M" >"$T/f32"
		encoded -m "$M" --weights int8 >"$T/int8"
		widened "$M" "$T/wide"
		encoded -m "$T/wide" | cmp - "$T/int8"
		run ! cmp -s "$T/f32" "$T/int8"
		least_cosine "$T/f32" "$T/int8" | awk -v family="$family" '$1 < 0.999 { print family, $1; exit 1 }'
	done
}

@test "int8: linear layers and experts are int8; embeddings, norms, routers and gates of shared experts are not" {
	cp -r "$GOLDEN/families/qwen2_moe" "$T/qwen"
	widened "$T/qwen" "$T/wide"
	names() {
		sed 's/layers\.[0-9]*/layers.N/; s/experts\.[0-9]*/experts.E/' "$T/names" | sort -u
	}
	names | diff - <(printf 'model.layers.N.%s_proj.weight\n' mlp{,.experts.E,.shared_expert}.{down,gate,up} self_attn.{k,o,q,v} | sort)
	cp -r "$GOLDEN/families/bert_tokens" "$T/upcycled"
	widened "$T/upcycled" "$T/wide"
	run ! grep -i 'router\|embed\|norm\|bias\|pooler\|cls' "$T/names"
	grep -q 'experts\.0' "$T/names"
}

@test "int8: weights stored as bf16 and f16 are quantised" {
	for dtype in bf16 f16; do
		model_copy "$GOLDEN/bert" "$T/half" $dtype
		encoded -m "$T/half" --weights int8 >"$T/int8"
		widened "$T/half" "$T/wide"
		encoded -m "$T/wide" | cmp - "$T/int8"
		encoded -m "$T/half" >"$T/f32"
		least_cosine "$T/f32" "$T/int8" | awk '$1 < 0.999 { print; exit 1 }'
	done
}

# 2. options
@test "int8: a text has the same bits alone and in a batch, with any number of threads" {
	encoded -m "$M" --weights int8 >"$T/all"
	encoded -m "$M" --weights int8 -j 1 | cmp - "$T/all"
	encoded -m "$M" --weights int8 --tokens 1 | cmp - "$T/all"
	[ "$(wc -l <"$T/all")" -eq 4 ]
}

@test "int8: --weights-cache writes the int8 weights beside the model; the next start maps them" {
	encoded -m "$M" --weights int8 >"$T/made"
	[ ! -e "$M/model.int8.safetensors" ]
	encoded -m "$M" --weights int8 --weights-cache | cmp - "$T/made"
	[ -z "$(find "$M" -name '.*' -type f)" ]
	# a change in the mapped file changes the output
	encode -v -m "$M" --weights int8 "$T/ids.mts" 2>"$T/err" >"$T/out.mts"
	grep -q "mapped from $M/model.int8.safetensors" "$T/err"
	ids_stream --rows text.emb <"$T/out.mts" | cmp - "$T/made"
	size=$(stat -c %s "$M/model.int8.safetensors")
	printf '\x7f' | dd of="$M/model.int8.safetensors" bs=1 seek=$((size - 8)) conv=notrunc status=none
	encoded -m "$M" --weights int8 >"$T/changed"
	run ! cmp -s "$T/changed" "$T/made"
	# without --weights int8 the file is not read
	encoded -m "$M" | cmp - <(encoded -m "$GOLDEN/bert")
	encoded -m "$M" --weights stored | cmp - <(encoded -m "$GOLDEN/bert")
}

@test "int8: a cache of other weights gets a warning and is not used; --weights-cache rebuilds it" {
	encode -q -m "$M" --weights int8 --weights-cache "$T/ids.mts" >"$T/out.mts"
	spoil encoder.layer.1.output.dense.weight 180 '\x40\x40\x40'
	encoded -m "$M" --weights int8 2>"$T/err" >"$T/other"
	[[ "$(<"$T/err")" == "encode: warning: $M/model.int8.safetensors: was not made of the weights of $M; it is not used (--weights-cache makes it anew)" ]]
	cp "$M/model.int8.safetensors" "$T/stale"
	mv "$M/model.int8.safetensors" "$T/aside"
	encoded -m "$M" --weights int8 | cmp - "$T/other"
	mv "$T/aside" "$M/model.int8.safetensors"
	encoded -m "$M" --weights int8 --weights-cache 2>"$T/err" | cmp - "$T/other"
	[[ "$(<"$T/err")" == *"it is made anew" ]]
	encoded -m "$M" --weights int8 2>"$T/err" | cmp - "$T/other"
	[ ! -s "$T/err" ]
	run ! cmp -s "$T/stale" "$M/model.int8.safetensors"
	# another pooling does not invalidate the cache
	sed -i 's/"pooling_mode_mean_tokens": true/"pooling_mode_mean_tokens": false/; s/"pooling_mode_cls_token": false/"pooling_mode_cls_token": true/' \
		"$M/1_Pooling/config.json"
	encoded -m "$M" --weights int8 2>"$T/err" >"$T/cls"
	[ ! -s "$T/err" ]
}

@test "int8: a changed bit of the weights invalidates the cache, by its time or by its hash" {
	encode -q -m "$M" --weights int8 --weights-cache "$T/ids.mts" >"$T/out.mts"
	kept=$M/model.int8.safetensors
	takes() { # succeeds if the cache is used without a message
		encoded -m "$M" --weights int8 2>"$T/err" >"$T/now"
		[ ! -s "$T/err" ]
	}
	cp "$kept" "$T/kept"
	# a copied folder has other times and the same weights
	touch -d 2001-01-01 "$M/model.safetensors"
	takes
	# one bit of a row of the token embeddings, which the cache does not hold
	cp "$M/model.safetensors" "$T/weights"
	spoil embeddings.word_embeddings.weight 1 '\x01'
	run ! takes
	grep -q 'was not made of the weights of' "$T/err"
	touch -d 2001-01-01 "$M/model.safetensors"
	run ! takes
	cp "$T/weights" "$M/model.safetensors"
	takes
	# the hash is compared only if the time differs
	hash=$(grep -ao '"int8_of":"[^"]*"' "$kept" | tail -c 18 | tr -d '"')
	[ "${#hash}" -eq 16 ]
	sed -i "s/$hash\"/0123456789abcdef\"/" "$kept"
	run ! takes
	encoded -m "$M" --weights int8 --weights-cache 2>"$T/err" >"$T/now"
	grep -q 'it is made anew' "$T/err"
	sed -i "s/$hash\"/0123456789abcdef\"/" "$kept"
	takes
}

@test "int8: of two processes that write the cache the second waits and maps the first's file" {
	exec 7>>"$M/model.int8.safetensors.lock"
	flock 7
	encoded -m "$M" --weights int8 --weights-cache 2>"$T/err" >"$T/second" 7>&- &
	second=$!
	for ((i = 0; i < 200; i++)); do
		[ ! -s "$T/err" ] || break
		sleep .05
	done
	[ "$(<"$T/err")" = "encode: warning: $M/model.int8.safetensors: another process is making it; this one waits and uses it then" ]
	cp -r "$M" "$T/elsewhere"
	rm "$T/elsewhere/model.int8.safetensors.lock"
	encoded -m "$T/elsewhere" --weights int8 --weights-cache 7>&- >"$T/first"
	cp "$T/elsewhere/model.int8.safetensors" "$M"
	inode=$(stat -c %i "$M/model.int8.safetensors")
	exec 7>&-
	wait "$second"
	cmp "$T/first" "$T/second"
	[ "$(stat -c %i "$M/model.int8.safetensors")" = "$inode" ]
	[ ! -e "$M/model.int8.safetensors.lock" ]
}

@test "int8: streams of int8 weights have another model's fingerprint, so that near does not mix them" {
	[ "$(print_of -m "$M")" != "$(print_of -m "$M" --weights int8)" ]
	[ "$(print_of -m "$M" --weights int8 --weights-cache)" = "$(print_of -m "$M" --weights int8)" ]
	encode -q -m "$M" "$T/ids.mts" >"$T/f32.mts"
	encode -q -m "$M" --weights int8 "$T/ids.mts" >"$T/int8.mts"
	near "$T/int8.mts" "$T/int8.mts" >"$T/out"
	run -1 --separate-stderr near "$T/int8.mts" "$T/f32.mts"
	[[ "$stderr" == *"are of model"* ]]
}

@test "int8: task experts, --adapter and --gates work with int8 weights" {
	widened "$M" "$T/wide"
	encoded -m "$M" --weights int8 --adapter "$GOLDEN/adapter/plain" >"$T/int8"
	encoded -m "$T/wide" --adapter "$GOLDEN/adapter/plain" | cmp - "$T/int8"
	upcycle -q -m "$GOLDEN/bert" --experts left,right -o "$T/experts"
	encoded -m "$T/experts" --weights int8 -e right | cmp - <(encoded -m "$M" --weights int8)
	# an adapter that records the fingerprint of the folder's model
	B=$GOLDEN/train/bert
	pairs_stream '{"temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >"$T/pairs.mts"
	train -q -m "$B" -o "$T/gate" --steps 1 --lora rank=2 "$T/pairs.mts"
	encode -q -m "$B" --weights int8 --adapter "$T/gate" <"$T/ids.mts" >"$T/out.mts"
}

# 3. usage
@test "int8: unknown values, --weights-cache alone, and train --weights are usage errors" {
	run -2 --separate-stderr encode -m "$M" --weights int4 "$T/ids.mts"
	[[ "$stderr" == *"--weights: 'int4' is not one of stored, int8"* ]]
	run -2 --separate-stderr encode -m "$M" --weights-cache "$T/ids.mts"
	[[ "$stderr" == *"--weights-cache needs --weights int8 or --precision int8"* ]]
	run -2 train -m "$M" --weights int8 -o "$T/out" "$T/ids.mts"
	[ ! -e "$T/out" ]
}

# 4. bad input
@test "int8: a cache that is truncated, damaged or cannot be written is refused" {
	encode -q -m "$M" --weights int8 --weights-cache "$T/ids.mts" >"$T/out.mts"
	mv "$M/model.int8.safetensors" "$T/good"
	head -c -1 "$T/good" >"$M/model.int8.safetensors"
	refused "$M/model.int8.safetensors: tensor " -m "$M"
	head -c 100 "$T/good" >"$M/model.int8.safetensors"
	refused "$M/model.int8.safetensors: truncated" -m "$M"
	: >"$M/model.int8.safetensors"
	refused "$M/model.int8.safetensors: too short" -m "$M"
	# the right hash with another tensor name
	sed 's/layer\.0\.output\.dense\.weight/layer.0.output.dense.weighs/' "$T/good" >"$M/model.int8.safetensors"
	refused "layer.0.output.dense.weight' is missing" -m "$M"
	sed 's/"dtype":"U8"/"dtype":"I8"/' "$T/good" >"$M/model.int8.safetensors"
	refused "' is not the rows that are expected; remove the file" -m "$M"
	# a scale of NaN
	cp "$T/good" "$M/model.int8.safetensors"
	size=$(stat -c %s "$T/good")
	printf '\xff\xff\xff\x7f' | dd of="$M/model.int8.safetensors" bs=1 seek=$((size - 4)) conv=notrunc status=none
	refused "$M/model.int8.safetensors: an embedding is not finite though all weights of" -m "$M"
	rm "$M/model.int8.safetensors"
	mkdir "$M/model.int8.safetensors"
	refused "$M/model.int8.safetensors" -m "$M" --weights-cache
}

@test "int8: a folder that cannot be written is refused before anything is encoded" {
	[ "$(id -u)" -ne 0 ] || skip "root writes everywhere"
	chmod a-w "$M"
	refused "$M/model.int8.safetensors: " -m "$M" --weights-cache
	encode -q -m "$M" --weights int8 "$T/ids.mts" >"$T/out.mts"
}

@test "int8: a weight that is not finite is refused with its tensor's name" {
	name=encoder.layer.1.output.dense.weight
	spoil $name 4 '\0\0\x80\x7f'
	refused "$M/model.safetensors: tensor '$name' holds values that are not finite" -m "$M"
	refused "$M/model.safetensors: tensor '$name' holds values that are not finite" -m "$M" --weights-cache
	[ -z "$(find "$M" -name '*int8*')" ]
}
