#!/usr/bin/env bats
load helper

# Compares the programs of make CUDA=1 on a device with those of build/cpu: make CUDA=1 check runs only this file.
# MOTES_CUDA: another folder of such programs, as build/cpu/shim, which tests this file without a device.

C=${MOTES_CUDA:-$BUILD}
P=$ROOT/build/cpu
G=$GOLDEN/train

setup() {
	[[ $C == */build/cuda* || -n ${MOTES_CUDA:-} ]] || skip "of the programs of make CUDA=1"
	[ -x "$C/bin/encode" ] || skip "needs the programs of make CUDA=1"
	[ -x "$P/bin/encode" ] || skip "needs the programs of make, too"
	[[ $("$C/bin/encode" --version) != *"no device:"* ]] || skip "needs a CUDA device"
	PATH=$P/bin:$P/support:$PATH
	cd "$T" || return
}

# drawn_model FAMILY WIDTH INNER: the folder model, with random weights in bf16
drawn_model() {
	mkdir config
	jq ".vocab_size = 5000 | .hidden_size = $2 | .num_hidden_layers = 3 | .num_attention_heads = $2 / 64 |
		.intermediate_size = $3 | .max_position_embeddings = 512 | .torch_dtype = \"bfloat16\"" \
		"$GOLDEN/$1/config.json" >config/config.json
	"$P/support/model_copy" config model init 7
}

# drawn_ids COUNT: a stream of texts of 1 to 200 tokens
drawn_ids() {
	seeded_awk -v count="$1" 'BEGIN { srand(1); for (n = 1; n <= count; n++) {
		for (i = 0; i < n * n % 199 + 1; i++) printf "%d ", rand() * 5000; print "" } }' |
		"$P/support/ids_stream" text.ids
}

rows() {
	"$P/support/ids_stream" --rows text.emb
}

# alike LEAST A B: two files have as many rows, each pair with at least that cosine
alike() {
	[ "$(wc -l <"$2")" = "$(wc -l <"$3")" ]
	paste "$2" "$3" | awk -v least="$1" '{
		a = b = ab = 0; n = NF / 2
		for (i = 1; i <= n; i++) { a += $i * $i; b += $(i + n) * $(i + n); ab += $i * $(i + n) }
		cosine = ab / sqrt(a * b); worst = NR == 1 || cosine < worst ? cosine : worst
	} END { printf "%d rows, least cosine %.7f\n", NR, worst; exit !(NR && worst >= least) }'
}

# checks PROGRAM CHECK...: the checks print nothing
checks() {
	[ -x "$C/support/$1" ] || skip "needs $1, which make CUDA=1 check builds"
	for check in "${@:2}"; do
		run -0 "$C/support/$1" "$check"
		[ -z "$output" ]
	done
}

@test "cuda: products and linear layers, forward and backward" { checks nn_check linear product half; }
@test "cuda: norms, activations, GLU" { checks nn_check norm heads normalize activate; }
@test "cuda: attention and rotary positions" {
	checks nn_check attention
	checks nn_check_tokens rotary
}
@test "cuda: bf16 arrays: conversions, products, GLU, norms, heads" { checks bf16_check convert linear gated norm heads; }
@test "cuda: embeddings, pooling, loss, AdamW, sums" { checks nn_check_tokens embed pool loss adamw vector; }
@test "cuda: routes of tokens to experts" { checks mixture_check softmax routes rows; }
@test "cuda: values not below a threshold, groups, routes of every size" { checks nn_check_sizes not_below groups routes scatter; }
@test "cuda: products of token experts in one launch" { checks grouped_check kinds sizes many; }
@test "cuda: products by Hopper's instructions, their epilogues, groups and edges" {
	[[ $("$C/bin/encode" --version) == *"compute capability 9.0"* ]] || skip "needs compute capability 9.0"
	checks hopper_check epilogues beside sizes groups
}
@test "cuda: products, attention, parameters, tokens and memory at real sizes" { checks nn_check_real product linear attention parameters tokens vector memory; }

# Sums are in another order and products may be of bf16: a cosine of 0.9995 is what a change of precision may cost.
@test "cuda: encode: embeddings of every family are those of the CPU" {
	"$P/support/ids_stream" text.ids <"$GOLDEN/bert/ids.txt" >ids.mts
	for folder in "$GOLDEN"/bert "$GOLDEN"/families/{gte,jina_bert,jina_bert_code,modernbert,mpnet,nomic_bert,nomic_moe,olmoe,qwen2_moe,qwen3,t5,qwen2,mistral,gemma3_text}; do
		"$P/bin/encode" -q -m "$folder" ids.mts | rows >cpu
		"$C/bin/encode" -q -m "$folder" ids.mts | rows >device
		echo "$folder"
		alike 0.9995 cpu device
	done
}

@test "cuda: encode: embeddings at real width, in every precision and batch size, are those of the CPU" {
	drawn_model bert 256 1024
	drawn_ids 120 >ids.mts
	"$P/bin/encode" -q -m model ids.mts | rows >cpu
	for options in "" "--tokens 1000" "--precision bf16" "--precision int8" "--weights int8"; do
		# shellcheck disable=SC2086
		"$C/bin/encode" -q -m model $options ids.mts | rows >device
		echo "$options"
		alike 0.9995 cpu device
	done
}

@test "cuda: encode: the same command writes the same bytes, alone and beside another process" {
	drawn_model bert 256 1024
	drawn_ids 120 >ids.mts
	"$C/bin/encode" -q -m model -o one ids.mts
	"$C/bin/encode" -q -m model -o beside ids.mts &
	"$C/bin/encode" -q -m model -o two ids.mts
	wait $!
	rows <one >one.rows
	rows <two | cmp - one.rows
	rows <beside | cmp - one.rows
}

@test "cuda: near: hits are those of the CPU, to the byte" {
	"$P/support/mkstream" random 300 96 1 >q.mts
	"$P/support/mkstream" random 30000 96 2 >c.mts
	for options in "-k 20" "-k 1000 --threshold 0.1" "-k 5 --similarity dot --memory 10M"; do
		# shellcheck disable=SC2086
		"$P/bin/near" -q --json $options q.mts c.mts >cpu
		for tf32 in 0 1; do
			# shellcheck disable=SC2086
			MOTES_TF32=$tf32 "$C/bin/near" -q --json $options q.mts c.mts | cmp - cpu
		done
	done
}

@test "cuda: train: losses are close to those of the CPU; two runs write the same bytes" {
	"$P/support/pairs_stream" '{"task": "play", "temperature": 0.05}' <"$G/pairs.txt" >pairs.mts
	for options in "" "--tokens 20" "--accumulate 2"; do
		mkdir cpu one two
		# shellcheck disable=SC2086
		for run in "$P cpu" "$C one" "$C two"; do
			(cd "${run#* }" && "${run% *}/bin/train" -q -m "$G/bert" $options -o out --lr 2e-3 --warmup 0 --epochs 4 ../pairs.mts)
		done
		diff -r one two
		paste <(cut -f 5 cpu/out.log.tsv) <(cut -f 5 one/out.log.tsv) |
			awk 'NR > 1 { d = $1 - $2; if (d < 0) d = -d; if (d > 2e-3 * (1 + $1)) { print; bad = 1 } } END { exit bad || NR < 4 }'
		rm -r cpu one two
	done
}

@test "cuda: compute-sanitizer finds nothing" {
	command -v compute-sanitizer >/dev/null || skip "needs compute-sanitizer, of the CUDA toolkit"
	drawn_model bert 64 128
	drawn_ids 20 >ids.mts
	for tool in memcheck racecheck initcheck synccheck; do
		compute-sanitizer -q --tool $tool --error-exitcode 9 "$C/bin/encode" -q -m model -o made ids.mts
		compute-sanitizer -q --tool $tool --error-exitcode 9 "$C/support/nn_check_tokens" loss
	done
}
