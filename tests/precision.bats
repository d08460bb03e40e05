#!/usr/bin/env bats
# bats file_tags=plain
load helper
load eight

# encode --precision int8 and bf16: products of linear layers in fewer bits.

# The int8 kernels of this processor.
kernels() {
	for kernel in amx avx512 avxvnni avx2 i8mm dotprod plain; do
		! MOTES_ISA=$kernel encode --version 2>/dev/null | found "int8 by $kernel" || echo "$kernel"
	done
}
check() { # runs a check with each of them
	for kernel in $(kernels); do
		MOTES_ISA=$kernel run -0 packed_check "$1"
		[ -z "$output" ]
	done
}

# 1. known answers
@test "precision: integer products are exact for 1 to 200 rows, transposed, added to and activated" { check whole; }
@test "precision: the error is that of eight bits; after smoothing an outlier column adds none" { check error; }
@test "precision: GELU on packed rows is within 8e-5" { check gelu; }
@test "precision: a row has the same bits in every batch, with 1 to 3 threads" { check rows; }
@test "precision: packed f32 weights give the bits of unpacked ones" {
	run -0 packed_check floats
	[ -z "$output" ]
}
@test "precision: linear layers and attention with inputs rounded to bf16 agree with plain loops, beyond every tile" {
	for kernel in amx avx512 bf16; do
		! MOTES_ISA=$kernel encode --version 2>/dev/null | found "bf16 by $kernel" || echo "$kernel"
	done >"$T/halves"
	[ -s "$T/halves" ] || skip "products of bf16 are not quicker on this processor"
	while read -r kernel; do
		for check in rounded_check attention_check; do
			MOTES_ISA=$kernel run -0 "$check"
			[ -z "$output" ]
		done
	done <"$T/halves"
}
@test "precision: attention by int8 agrees with plain loops, for every kernel of int8" {
	for kernel in $(kernels); do
		MOTES_ISA=$kernel run -0 attention_check lengths masks company constant capped not-finite
		[ -z "$output" ]
	done
}
@test "precision: rows of zeros, values that are not finite, and the widest rows" {
	check edges
	# a thread's stack where the system does not limit stacks
	export OMP_STACKSIZE=2M OMP_NUM_THREADS=2
	check edges
}

# window: a model and a text whose keys fill several blocks
window() {
	cp -r "$GOLDEN/families/modernbert" "$T/window"
	chmod -R u+w "$T/window"
	jq '.local_attention = 200' "$GOLDEN/families/modernbert/config.json" >"$T/window/config.json"
	seq 600 | awk '{ printf "%d ", $1 * $1 % 37 + 2 }' | ids_stream text.ids >"$T/long.mts"
}

@test "precision: every int8 kernel of this processor gives the same bits, also of a text of many keys" {
	kernels | found -x plain
	window
	for kernel in $(kernels); do
		MOTES_ISA=$kernel packed_check bits
		MOTES_ISA=$kernel encode -q -m "$M" --precision int8 "$T/ids.mts" | md5sum
		MOTES_ISA=$kernel encode -q -m "$T/window" --precision int8 "$T/long.mts" | md5sum
	done >"$T/bits"
	[ "$(sort -u "$T/bits" | wc -l)" -eq 3 ]
}

# The least cosine, over the texts of each family's golden folder, is 0.9995 (ModernBERT); the models are 8 to 48 wide.
@test "precision: embeddings of every family by int8 are close to f32's, and not equal" {
	for family in bert bert_tokens deepseek gte jina_bert jina_bert_code modernbert mpnet nomic_bert nomic_moe olmoe qwen2_moe qwen3 t5 qwen2 mistral llama eurobert ultrabert gemma3_text; do
		encoded -m "$GOLDEN/families/$family" >"$T/f32"
		encoded -m "$GOLDEN/families/$family" --precision int8 >"$T/int8"
		run ! cmp -s "$T/f32" "$T/int8"
		least_cosine "$T/f32" "$T/int8" | awk -v family="$family" '$1 < 0.999 { print family, $1; exit 1 }'
	done
}

# An ARCH=any program has all kernels; this processor decides which of them are tested.
@test "precision: an ARCH=any program has the same bits with AVX-512 and AVX2, in f32 and int8" {
	[ "$(uname -m)" = x86_64 ] || skip "this processor has one kind of kernels"
	encode=$BUILD-any-quick/bin/encode
	[ -x "$encode" ] || skip "make check has built no programs for any processor beside this build"
	for family in bert jina_bert jina_bert_code modernbert mpnet qwen3 t5 gemma3_text; do
		for precision in f32 int8; do
			for kernel in $(kernels); do
				[ $kernel != plain ] || continue
				MOTES_ISA=$kernel $encode -q -m "$GOLDEN/families/$family" --precision $precision "$T/ids.mts" | md5sum
			done | sort -u >"$T/bits"
			[ "$(wc -l <"$T/bits")" -le 1 ]
			# without fused multiply-add sums round differently; int8 hides the difference or makes it a step
			MOTES_ISA=plain $encode -q -m "$GOLDEN/families/$family" --precision $precision "$T/ids.mts" |
				ids_stream --rows text.emb >"$T/plain"
			encoded -m "$GOLDEN/families/$family" --precision $precision | least_cosine - "$T/plain" | awk '$1 < 0.9999 { print; exit 1 }'
		done
	done
	window
	for precision in f32 int8; do
		for kernel in $(kernels); do
			[ $kernel = plain ] || MOTES_ISA=$kernel $encode -q -m "$T/window" --precision $precision "$T/long.mts" | md5sum
		done | sort -u >"$T/bits"
		[ "$(wc -l <"$T/bits")" -le 1 ]
	done
	MOTES_ISA=plain $encode --version | found '128-bit vectors'
	kernels | grep -cx avx2 || return 0
	MOTES_ISA=avx2 $encode --version | found '256-bit vectors'
}

# arm64 PROGRAM...: builds the programs for arm64 in $ARM64, or skips the test
arm64() {
	ARM64=$ROOT/build/cpu-aarch64-linux-gnu
	[[ $BUILD == */build/cpu ]] || skip "for the plain build"
	for program in aarch64-linux-gnu-gcc qemu-aarch64-static; do
		command -v $program >/dev/null || skip "needs $program"
	done
	[ -e "$ROOT/build/arm64/usr" ] || skip "needs the libraries of arm64 in build/arm64 (share/build/README.md)"
	env -u MAKEFLAGS make -s -C "$ROOT" -j2 CC=aarch64-linux-gnu-gcc SYSROOT=build/arm64 "${@/#/build/cpu-aarch64-linux-gnu/}" 3>&-
}
# emulated PROGRAM ARGUMENT...: on the processor $QEMU_CPU, by default one with all instructions. OMP_WAIT_POLICY is set, since
# otherwise encode would restart itself, which needs binfmt_misc.
emulated() {
	OMP_WAIT_POLICY=passive qemu-aarch64-static -L "$ROOT/build/arm64" "$ARM64/$1" "${@:2}"
}
neon() { # OPTION...
	emulated bin/encode -q "$@" >"$T/neon.mts"
	ids_stream --rows text.emb <"$T/neon.mts"
}

@test "precision: NEON, under qemu, gives the bits of AVX-512 and AVX2, in f32 and int8" {
	kernels | grep -cx avx2 || skip "this processor has no AVX2"
	arm64 bin/encode
	for family in bert bert_tokens deepseek gte jina_bert jina_bert_code modernbert mpnet nomic_bert nomic_moe olmoe qwen2_moe qwen3 t5 qwen2 mistral llama eurobert ultrabert gemma3_text; do
		for precision in f32 int8; do
			neon -m "$GOLDEN/families/$family" --precision $precision "$T/ids.mts" >"$T/neon"
			encoded -m "$GOLDEN/families/$family" --precision $precision | cmp - "$T/neon"
			[ -s "$T/neon" ]
		done
	done
	window
	for precision in f32 int8; do
		neon -m "$T/window" --precision $precision "$T/long.mts" >"$T/neon"
		encode -q -m "$T/window" --precision $precision "$T/long.mts" | ids_stream --rows text.emb | cmp - "$T/neon"
	done
}

@test "precision: I8MM and DotProd of arm64, under qemu, give exact sums and the bits of every other kernel" {
	arm64 bin/encode support/packed_check support/attention_check
	MOTES_ISA=plain packed_check bits >"$T/bits"
	encoded -m "$M" --precision int8 >"$T/int8"
	window
	encode -q -m "$T/window" --precision int8 "$T/long.mts" | ids_stream --rows text.emb >"$T/long"
	for kernel in i8mm dotprod plain; do
		export MOTES_ISA=$kernel
		emulated bin/encode --version | found "int8 by $kernel, bf16 as f32"
		OMP_STACKSIZE=2M OMP_NUM_THREADS=2 run -0 emulated support/packed_check whole rows edges
		[ -z "$output" ]
		emulated support/packed_check bits | cmp - "$T/bits"
		neon -m "$M" --precision int8 "$T/ids.mts" | cmp - "$T/int8"
		neon -m "$T/window" --precision int8 "$T/long.mts" | cmp - "$T/long"
		run -0 emulated support/attention_check lengths masks
		[ -z "$output" ]
	done
}

@test "precision: BF16 of arm64, under qemu: layers and attention agree with plain loops, embeddings are close to f32's" {
	arm64 bin/encode support/packed_check support/rounded_check support/attention_check
	export MOTES_ISA=bf16
	emulated bin/encode --version | found 'int8 by i8mm, bf16 by bf16'
	OMP_STACKSIZE=2M OMP_NUM_THREADS=2 run -0 emulated support/packed_check whole error edges
	[ -z "$output" ]
	for check in rounded_check attention_check; do
		run -0 emulated support/$check
		[ -z "$output" ]
	done
	for family in bert modernbert qwen3 qwen2_moe; do
		neon -m "$GOLDEN/families/$family" --precision bf16 "$T/ids.mts" >"$T/bf16"
		neon -m "$GOLDEN/families/$family" "$T/ids.mts" >"$T/f32"
		run ! cmp -s "$T/f32" "$T/bf16"
		least_cosine "$T/f32" "$T/bf16" | awk -v family="$family" '$1 < 0.9995 { print family, $1; exit 1 }'
		neon -m "$GOLDEN/families/$family" --precision bf16 --tokens 1 -j 1 "$T/ids.mts" | cmp - "$T/bf16"
	done
}

@test "precision: a processor of arm64, under qemu, uses the instructions that it has, and no others" {
	arm64 bin/encode
	emulated bin/encode --version | found 'int8 by i8mm, bf16 by bf16'
	QEMU_CPU=neoverse-n1 emulated bin/encode --version | found 'int8 by dotprod, bf16 as f32'
	QEMU_CPU=cortex-a57 emulated bin/encode --version | found 'int8 by plain, bf16 as f32'
	encoded -m "$M" --precision int8 >"$T/int8"
	for processor in neoverse-n1 cortex-a57; do
		QEMU_CPU=$processor neon -m "$M" --precision int8 "$T/ids.mts" | cmp - "$T/int8"
		for kernel in i8mm bf16; do
			QEMU_CPU=$processor MOTES_ISA=$kernel run -1 --separate-stderr emulated bin/encode -q -m "$M" "$T/ids.mts" --precision int8
			[[ "$stderr" == "encode: MOTES_ISA: this processor has no '$kernel'"* ]]
		done
	done
}

# If bf16 is not faster on this processor, the test only checks that f32 takes its place.
@test "precision: bf16 embeddings are close to f32's, and equal where bf16 is not faster" {
	MOTES_ISA=plain encoded -m "$M" --precision bf16 | cmp - <(encoded -m "$M")
	[ "$(MOTES_ISA=plain print_of -m "$M" --precision bf16)" = "$(print_of -m "$M")" ]
	MOTES_ISA=plain encode --version | found 'bf16 as f32'
	encode --version | found 'bf16 by' || skip "products of bf16 are not quicker on this processor"
	[ "$(print_of -m "$M" --precision bf16)" != "$(print_of -m "$M")" ]
	[ "$(print_of -m "$M" --precision bf16)" != "$(print_of -m "$M" --precision int8)" ]
	for family in bert bert_tokens deepseek gte jina_bert jina_bert_code modernbert mpnet nomic_bert nomic_moe olmoe qwen2_moe qwen3 t5 qwen2 mistral llama eurobert ultrabert gemma3_text; do
		encoded -m "$GOLDEN/families/$family" >"$T/f32"
		encoded -m "$GOLDEN/families/$family" --precision bf16 >"$T/bf16"
		run ! cmp -s "$T/f32" "$T/bf16"
		least_cosine "$T/f32" "$T/bf16" | awk -v family="$family" '$1 < 0.9995 { print family, $1; exit 1 }'
		encoded -m "$GOLDEN/families/$family" --precision bf16 --tokens 1 -j 1 | cmp - "$T/bf16"
	done
}

# blank FOLDER NAME...: fills tensors of the folder's weights with zeros
blank() {
	local size name from to
	size=$(od -An -tu8 -N8 "$1/model.safetensors")
	for name in "${@:2}"; do
		read -r from to < <(head -c $((8 + size)) "$1/model.safetensors" | tail -c +9 |
			jq -r --arg n "$name" '.[$n].data_offsets | "\(.[0]) \(.[1])"')
		dd if=/dev/zero of="$1/model.safetensors" bs=1 seek=$((8 + size + from)) count=$((to - from)) conv=notrunc status=none
	done
}

# Equal bits and close cosines would not show a layer that is computed in f32, or with another layer's weights. So each
# matrix is made zero in turn.
@test "precision: each linear layer of a block, and of each expert, is multiplied by its own matrix" {
	cp -r "$GOLDEN/families/qwen2_moe" "$T/qwen"
	chmod -R u+w "$T/qwen"
	encoded -m "$T/qwen" --precision int8 >"$T/whole"
	cp "$T/qwen/model.safetensors" "$T/kept"
	for name in self_attn.{q,k,v,o}_proj mlp.shared_expert.{up,gate,down}_proj; do
		blank "$T/qwen" "model.layers.1.$name.weight"
		encoded -m "$T/qwen" >"$T/f32"
		encoded -m "$T/qwen" --precision int8 >"$T/int8"
		run ! cmp -s "$T/int8" "$T/whole"
		least_cosine "$T/f32" "$T/int8" | awk -v name="$name" '$1 < 0.999 { print name, $1; exit 1 }'
		cp "$T/kept" "$T/qwen/model.safetensors"
	done
}

# With all other matrices zero only this expert's products are rounded.
@test "precision: the products of every token expert are in int8, the first and the last included" {
	rm -r "$M"
	cp -r "$GOLDEN/families/olmoe" "$M"
	chmod -R u+w "$M"
	cp "$M/model.safetensors" "$T/kept"
	for left in 0.mlp.experts.0 1.mlp.experts.5; do
		cp "$T/kept" "$M/model.safetensors"
		blank "$M" model.layers.{0,1}.self_attn.o_proj.weight $(printf '%s\n' {0,1}.mlp.experts.{0,1,2,3,4,5} |
			sed "/^$left$/d; s/.*/model.layers.&.down_proj.weight/")
		encoded -m "$M" >"$T/f32"
		encoded -m "$M" --precision int8 >"$T/int8"
		run ! cmp -s "$T/f32" "$T/int8"
	done
	blank "$M" "model.layers.$left.down_proj.weight"
	encoded -m "$M" --precision int8 | cmp - <(encoded -m "$M")
}

@test "precision: all-MiniLM-L6-v2 in int8 has cosine 0.999 to itself in f32 on average, 0.99 at worst" {
	need_minilm
	printf '%s\n' "A man is playing a guitar." "hello" "The cat sat on the mat, and nobody minded." \
		"Interest rates were raised by a quarter of a point on Thursday; markets had expected more." \
		"int main(void) { return 0; }" "How do I renew my passport abroad?" >"$T/texts"
	tok -q -m "$MOTES_MINILM" "$T/texts" >"$T/ids.mts"
	encoded -m "$MOTES_MINILM" >"$T/f32"
	encoded -m "$MOTES_MINILM" --precision int8 >"$T/int8"
	least_cosine "$T/f32" "$T/int8" | awk '$1 < 0.99 { exit 1 }'
	for i in 1 2 3 4 5 6; do
		least_cosine <(sed -n "${i}p" "$T/f32") <(sed -n "${i}p" "$T/int8")
	done | awk '{ sum += $1 } END { exit !(sum / NR >= 0.999) }'
}

@test "precision: weights stored as bf16 and f16 are accepted" {
	for dtype in bf16 f16; do
		model_copy "$GOLDEN/bert" "$T/half" $dtype
		encoded -m "$T/half" --precision int8 >"$T/int8"
		encoded -m "$T/half" | least_cosine - "$T/int8" | awk '$1 < 0.999 { print; exit 1 }'
	done
}

# Without calibration of the layers behind these norms the cosine is 0.999986, without any calibration 0.99997.
@test "precision: an outlier column costs little accuracy, since each layer's input is calibrated" {
	for layer in 0 1; do
		spoil encoder.layer.$layer.attention.output.LayerNorm.weight 32 '\0\0\x48\x42' # 50
	done
	encoded -m "$M" >"$T/f32"
	encoded -m "$M" --precision int8 | least_cosine "$T/f32" - | awk '$1 < 0.999995 { print; exit 1 }'
}

@test "precision: --weights-cache writes the int8 weights of every family beside the model; the next start maps them" {
	K=model.precision-int8.safetensors
	for family in bert bert_tokens deepseek gte jina_bert jina_bert_code modernbert mpnet nomic_bert nomic_moe olmoe qwen2_moe qwen3 t5; do
		rm -rf "$M"
		cp -r "$GOLDEN/families/$family" "$M"
		chmod -R u+w "$M"
		encoded -m "$M" --precision int8 >"$T/made"
		[ ! -e "$M/$K" ]
		encoded -m "$M" --precision int8 --weights-cache | cmp - "$T/made"
		[ -z "$(find "$M" -name '.*' -type f)" ]
		encode -v -m "$M" --precision int8 "$T/ids.mts" 2>"$T/err" >"$T/out.mts"
		grep -q "mapped from $M/$K" "$T/err"
		ids_stream --rows text.emb <"$T/out.mts" | cmp - "$T/made"
	done
	[ "$(print_of -m "$M" --precision int8)" = "$(print_of -m "$M" --precision int8 --weights-cache)" ]
	# 3 blocks of 256 * (4 * 256 + 3 * 768) weights are 2.4 MB
	encode -q -v -m "$ROOT/share/models/mlm" --precision int8 "$T/ids.mts" 2>&1 >"$T/out.mts" | found ': 2 MB of weights in eight bits, not kept in '
	# a changed scale changes the output; f32 and --weights int8 do not read the file
	size=$(stat -c %s "$M/$K")
	head -c $((size - 4096)) "$M/$K" >"$T/changed"
	head -c 4096 /dev/zero >>"$T/changed"
	cp "$T/changed" "$M/$K"
	encoded -m "$M" --precision int8 >"$T/other"
	run ! cmp -s "$T/other" "$T/made"
	encoded -m "$M" | cmp - <(encoded -m "$GOLDEN/families/t5")
	encoded -m "$M" --weights int8 | cmp - <(encoded -m "$GOLDEN/families/t5" --weights int8)
}

@test "precision: an unaligned cache is used, with any number of threads" {
	K=$M/model.precision-int8.safetensors
	encoded -m "$M" --precision int8 --weights-cache >"$T/made"
	length=$(od -An -tu8 -N8 "$K")
	mv "$K" "$T/kept"
	# eight spaces more before the data
	longer=$(printf '%016x' $((length + 8)) | sed 's/\(..\)/\1 /g' | awk '{ for (i = 8; i; i--) printf "\\x%s", $i }')
	{
		printf '%b' "$longer"
		head -c $((length + 8)) "$T/kept" | tail -c +9
		printf '        '
		tail -c +$((length + 9)) "$T/kept"
	} >"$K"
	for threads in 1 2 3; do
		encoded -j $threads -m "$M" --precision int8 | cmp - "$T/made"
	done
}

@test "precision: a cache of another model or precision gets a warning and is not used" {
	K=$M/model.precision-int8.safetensors
	encoded -m "$M" --precision int8 --weights-cache >"$T/first"
	cp "$K" "$T/kept"
	spoil encoder.layer.1.output.dense.weight 180 '\x40\x40\x40'
	encoded -m "$M" --precision int8 2>"$T/err" >"$T/other"
	[[ "$(<"$T/err")" == "encode: warning: $K: was not made of the weights of $M; it is not used (--weights-cache makes it anew)" ]]
	run ! cmp -s "$T/first" "$T/other"
	encoded -m "$M" --precision int8 --weights-cache 2>"$T/err" | cmp - "$T/other"
	[[ "$(<"$T/err")" == *"it is made anew" ]]
	encoded -m "$M" --precision int8 2>"$T/err" | cmp - "$T/other"
	[ ! -s "$T/err" ]
	# calibration depends on the whole model
	cp "$M/config.json" "$T/config"
	sed -i 's/"hidden_act": "gelu"/"hidden_act": "relu"/' "$M/config.json"
	run ! cmp -s "$T/config" "$M/config.json"
	encoded -m "$M" --precision int8 2>"$T/err" >"$T/relu"
	grep -q 'was not made of the weights' "$T/err"
	mv "$K" "$T/aside"
	encoded -m "$M" --precision int8 | cmp - "$T/relu"
	cp "$T/config" "$M/config.json"
	# another layout of the values
	sed 's/panels of 16 by 4/slabs of 32 by 8 /' "$T/aside" >"$K"
	encoded -m "$M" --precision int8 2>"$T/err" | cmp - "$T/other"
	grep -q "was not made of the weights of $M for a program like this one; it is not used" "$T/err"
}

# 2. options
@test "precision: a text has the same bits alone and in a batch, with any number of threads" {
	encoded -m "$M" --precision int8 >"$T/all"
	encoded -m "$M" --precision int8 -j 1 | cmp - "$T/all"
	encoded -m "$M" --precision int8 --tokens 1 | cmp - "$T/all"
	[ "$(wc -l <"$T/all")" -eq 4 ]
	encoded -m "$M" --precision f32 | cmp - <(encoded -m "$M")
}

@test "precision: streams of int8 have another model's fingerprint, so that near does not mix them" {
	[ "$(print_of -m "$M")" != "$(print_of -m "$M" --precision int8)" ]
	[ "$(print_of -m "$M" --weights int8)" != "$(print_of -m "$M" --precision int8)" ]
	encode -q -m "$M" "$T/ids.mts" >"$T/f32.mts"
	encode -q -m "$M" --precision int8 "$T/ids.mts" >"$T/int8.mts"
	near "$T/int8.mts" "$T/int8.mts" >"$T/out"
	run -1 --separate-stderr near "$T/int8.mts" "$T/f32.mts"
	[[ "$stderr" == *"are of model"* ]]
}

@test "precision: int8 works with task experts, adapters and hidden states" {
	upcycle -q -m "$GOLDEN/bert" --experts left,right -o "$T/experts"
	encoded -m "$T/experts" --precision int8 -e right >"$T/right"
	encoded -m "$M" --precision int8 | least_cosine - "$T/right" | awk '$1 < 0.9999 { print; exit 1 }'
	encoded -m "$M" --precision int8 --adapter "$GOLDEN/adapter/plain" >"$T/int8"
	encoded -m "$M" --adapter "$GOLDEN/adapter/plain" >"$T/f32"
	least_cosine "$T/f32" "$T/int8" | awk '$1 < 0.999 { print; exit 1 }'
	encoded -m "$M" | least_cosine - "$T/int8" | awk '$1 > 0.999 { print; exit 1 }'
	encode -q -m "$M" --precision int8 --emit hs "$T/ids.mts" | ids_stream --rows text.hs >"$T/hs"
	encode -q -m "$M" --emit hs "$T/ids.mts" | ids_stream --rows text.hs | least_cosine - "$T/hs" | awk '$1 < 0.999 { exit 1 }'
}

# 3. usage
@test "precision: a warning says that int8 without instructions for it is slower than f32" {
	said() { # OPTION...
		encode -m "$M" "$@" "$T/ids.mts" 2>&1 >"$T/out.mts"
	}
	[ "$(MOTES_ISA=plain said --precision int8)" = "encode: warning: $M: products of int8 are slower than those of f32 here, without instructions for them" ]
	[ -z "$(MOTES_ISA=plain said -q --precision int8)" ]
	[ -z "$(MOTES_ISA=plain said --precision f32)" ]
	[ -z "$(MOTES_ISA=plain said --precision bf16)" ]
	for kernel in $(kernels); do
		[ "$kernel" = plain ] || [ -z "$(MOTES_ISA=$kernel said --precision int8)" ]
	done
}

@test "precision: unknown precisions are usage errors; an unknown MOTES_ISA is refused" {
	run -2 --separate-stderr encode -m "$M" --precision int4 "$T/ids.mts"
	[[ "$stderr" == *"--precision: 'int4' is not one of f32, bf16, int8"* ]]
	run -2 --separate-stderr encode -m "$M" --precision int8 --weights int8 "$T/ids.mts"
	[[ "$stderr" == *"--precision and --weights int8 exclude each other"* ]]
	MOTES_ISA=sse9 run -1 --separate-stderr encode -m "$M" --precision int8 "$T/ids.mts"
	[ -z "$output" ]
	[[ "$stderr" == "encode: MOTES_ISA: this processor has no 'sse9'"* ]]
	MOTES_ISA=plain encode --version | found 'int8 by plain'
}

# 4. bad input
@test "precision: a cache that is truncated, damaged or cannot be written is refused" {
	K=$M/model.precision-int8.safetensors
	refused() { refused_by "$1" -m "$M" --precision int8 "${@:2}"; }
	encode -q -m "$M" --precision int8 --weights-cache "$T/ids.mts" >"$T/out.mts"
	mv "$K" "$T/good"
	head -c -1 "$T/good" >"$K"
	refused "$K: tensor "
	: >"$K"
	refused "$K: too short"
	sed 's/layer\.0\.output\.dense\.weight/layer.0.output.dense.weighs/' "$T/good" >"$K"
	refused "layer.0.output.dense.weight from 0' is missing"
	sed 's/"dtype":"U8"/"dtype":"I8"/' "$T/good" >"$K"
	refused "' is not the rows that are expected; remove the file"
	# scales of NaN
	size=$(stat -c %s "$T/good")
	{
		head -c $((size - 4096)) "$T/good"
		head -c 4096 /dev/zero | tr '\0' '\377'
	} >"$K"
	refused "$K: an embedding is not finite though all weights of"
	rm "$K"
	mkdir "$K"
	refused "$K" --weights-cache
	rmdir "$K"
	spoil encoder.layer.1.output.dense.weight 4 '\0\0\x80\x7f'
	refused "holds values that are not finite" --weights-cache
	[ -z "$(find "$M" -name '*precision*')" ]
}

@test "precision: a weight that is not finite is refused with its tensor's name" {
	name=encoder.layer.1.output.dense.weight
	spoil $name 4 '\0\0\x80\x7f'
	run -1 --separate-stderr encode -q -m "$M" --precision int8 "$T/ids.mts"
	[ -z "$output" ]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	[[ $stderr == "encode: $M/model.safetensors: tensor '$name' holds values that are not finite"* ]]
}
