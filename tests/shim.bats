#!/usr/bin/env bats
# bats file_tags=plain
load helper

# slow

# lib/nn/cuda on the CPU (tests/cuda/cuda_runtime.h): the kernels of a GPU pass the checks of the CPU's kernels, with threads in one
# order. After a change of the kernels threads run in three orders, and the tests also run under the sanitizers.

setup_file() {
	export FIBER_ORDERS=backward
	if [[ $BUILD == *-sanitize* ]]; then
		FIBER_ORDERS=shuffled # one order is enough for the sanitizers
	elif "$ROOT/tests/kernels_changed"; then
		FIBER_ORDERS="forward backward shuffled"
	fi
}

setup() {
	[[ $BUILD != *-sanitize* ]] || "$ROOT/tests/kernels_changed" || skip "the kernels have not changed since the sanitizers saw them"
	[ -x "$BUILD/shim/support/nn_check" ] || skip "make check has built no kernels of a GPU for the processor here"
}

# holds PROGRAM CHECK...: the checks print nothing, in each order of threads of this run or of ORDERS
holds() {
	for order in ${ORDERS:-$FIBER_ORDERS}; do
		MOTES_FIBERS=$order run -0 "$BUILD/shim/support/$1" "${@:2}"
		[ -z "$output" ]
	done
}

@test "shim: sums, scaling, finiteness" { holds nn_check_tokens vector; }
@test "shim: products and linear layers, forward and backward, in f32 and bf16" {
	holds nn_check linear product halves
	holds nn_check_real product linear
	holds linear_check
	# as if cuBLASLt had no kernel with a bias, none without split-k, and none for other sizes
	export MOTES_LACKS=bias,one-piece,other-sizes
	holds nn_check linear
	holds pieces_check strides
}
@test "shim: linear layers with int8 weights have the bits of float32" { holds int8_check products; }
@test "shim: linear layers with inputs rounded to bf16, forward and backward" { holds rounded_check; }
@test "shim: bf16 and int8 products; int8 has the bits of the CPU's kernels" {
	holds packed_check
	shim=$("$BUILD/shim/support/packed_check" bits)
	[ "$shim" = "$(packed_check bits)" ]
}
@test "shim: products of token experts in one launch" {
	holds grouped_check kinds many
	ORDERS=shuffled holds grouped_check sizes
}
@test "shim: products by Hopper's instructions, their epilogues, groups and edges" {
	holds hopper_check epilogues beside sizes groups
}
@test "shim: products of slices, of strided rows, of no rows" {
	holds pieces_check nothing strides reach
	"$BUILD/shim/support/pieces_check" weights rows many
}
@test "shim: f32 is rounded to TF32 only with MOTES_TF32=1" {
	for wanted in "" 0; do
		MOTES_TF32=$wanted "$BUILD/shim/support/nn_check_real" product
		MOTES_TF32=$wanted run -0 "$BUILD/shim/bin/encode" --version
		[[ $output != *TF32* ]]
	done
	MOTES_TF32=1 run -1 "$BUILD/shim/support/nn_check_real" product
	MOTES_TF32=1 run -0 "$BUILD/shim/bin/encode" --version
	[[ $output == *"floats rounded to TF32"* ]]
}
@test "shim: activations and GLU" { holds nn_check activate; }
@test "shim: norms of rows and heads, rows of unit length" { holds nn_check norm heads normalize; }
@test "shim: values not below a threshold, in rows of every length" { holds nn_check_sizes not_below; }
@test "shim: embeddings, pooling, AdamW" { holds nn_check_tokens embed pool adamw; }
@test "shim: cross-entropy, with rows in one block and in several" { holds nn_check_tokens loss; }
@test "shim: softmax, routes, rows of token experts" { holds mixture_check softmax routes rows; }
@test "shim: gradients of parameters, tokens, rows, pooling and routes at real sizes" {
	holds nn_check_real parameters tokens rows pool routes
}
@test "shim: rows of every length" { holds nn_check_sizes norms heads units softmax; }
@test "shim: dropout, rows in order, groups, routes, embeddings of every dtype" {
	holds nn_check_sizes dropout scatter groups routes embed ties slices
}
# In one order only: gradients by differences take long, and the tests below try the orders.
@test "shim: attention in f32" { ORDERS=shuffled holds nn_check attention; }
@test "shim: attention at real sizes" { holds nn_check_real attention; }
@test "shim: attention by tensor cores, for many lengths and sizes of heads" { holds attention_check lengths sizes; }
@test "shim: attention by tensor cores, with masks and in any batch" { holds attention_check masks company; }
@test "shim: attention of long sequences by Hopper's instructions" { holds attention_check long; }
@test "shim: bf16 arrays: conversions, products, GLU, norms, heads" { holds bf16_check; }
@test "shim: rotary positions" { holds nn_check_tokens rotary; }

# on_device PROGRAM OPTION...: the program with the kernels of a GPU
on_device() {
	"$BUILD/shim/bin/$1" -q "${@:2}"
}

# copied NAME: the bytes that the run of $T/NAME.count copied to the device
copied() {
	sed -n 's/^to the device: \([0-9]*\) bytes.*/\1/p' "$T/$1.count"
}

# waits NAME: how often the run of $T/NAME waited for the device
waits() {
	sed -n 's/.*; \([0-9]*\) waits$/\1/p' "$T/$1"
}

@test "shim: encode keeps the order of overlapping records and does not wait for the device" {
	for n in 1 2 3 4 5; do
		tail -n +$n "$GOLDEN/bert/ids.txt" | ids_stream text.ids
	done >"$T/ids.mts"
	for options in "" "--tokens 10" "--tokens 10 --cache 1" "--dim 4 --normalize"; do
		# shellcheck disable=SC2086
		encode -q $options -m "$GOLDEN/bert" "$T/ids.mts" | ids_stream --rows text.emb >"$T/cpu"
		# shellcheck disable=SC2086
		MOTES_SHIM_COUNT=1 on_device encode $options -m "$GOLDEN/bert" "$T/ids.mts" 2>"$T/count" |
			ids_stream --rows text.emb | within "$T/cpu" 1e-5
		[[ $options == *normalize* || $(waits count) = 0 ]]
	done
}

@test "shim: encode answers the rows of a pipe before more rows arrive" {
	mkfifo "$T/in" "$T/out"
	tok -q -m "$GOLDEN/bert" --keep <"$T/in" | on_device encode -m "$GOLDEN/bert" | mts to jsonl >"$T/out" 3>&- &
	exec 5>"$T/in" 6<"$T/out"
	for _ in 1 2 3; do
		echo "a film" >&5
		read -r -t 600 -u 6 line
		[[ $line == *'"a film"'* ]]
	done
	exec 5>&- 6<&-
	wait $!
}

@test "shim: near: MaxSim has the CPU's hits, even if all similarities are negative" {
	lists() { # NAME COUNT SIGN: texts of one to four random vectors of 48
		seeded_awk -v name="$1" -v count="$2" -v sign="$3" 'BEGIN {
			srand(count)
			for (i = 0; i < count; i++) {
				printf "{\"_id\": \"%s%d\", \"t.tokens\": [", name, i
				vectors = 1 + int(4 * rand())
				for (j = 0; j < vectors; j++) {
					printf "%s[", j ? ", " : ""
					for (k = 0; k < 48; k++)
						printf "%s%.2f", k ? ", " : "", sign * (0.5 + rand())
					printf "]"
				}
				print "]}"
			} }' | mkstream
	}
	lists q 9 -1 >"$T/q.mts"
	lists d 9000 1 >"$T/d.mts"
	# in parts, each of which starts with the hits of the parts before
	options=(--json --similarity maxsim -k 5 --memory 2M)
	near -q "${options[@]}" "$T/q.mts" "$T/d.mts" >"$T/cpu"
	[ "$(jq '.hits[].score < 0' "$T/cpu" | grep -c true)" -eq 45 ]
	on_device near "${options[@]}" "$T/q.mts" "$T/d.mts" | cmp - "$T/cpu"
}

@test "shim: near: hits are the CPU's, though products are rounded differently" {
	mkstream random 120 24 1 | mts cat -q -c text.emb - >"$T/q.mts"
	mkstream random 6000 24 2 >"$T/random.mts"
	mts cat -q -c text.emb "$T/random.mts" <(mts rows --rows 1-3000 "$T/random.mts") >"$T/c.mts" # some are equal
	for options in "-k 20" "-k 1000" "-k 5000 --threshold 0.3" "-k 5 --similarity dot" "-k 7 --memory 3M"; do
		# shellcheck disable=SC2086
		near -q --json $options "$T/q.mts" "$T/c.mts" >"$T/cpu"
		[ -s "$T/cpu" ]
		for tf32 in 0 1; do
			# shellcheck disable=SC2086
			MOTES_TF32=$tf32 on_device near --json $options "$T/q.mts" "$T/c.mts" | cmp - "$T/cpu"
		done
	done
}

@test "shim: a task expert's weights are copied with its first batch; unpacked weights are freed after packing" {
	upcycle -q -m "$GOLDEN/bert" --experts left,right -o "$T/mote"
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	for expert in left right; do
		MOTES_SHIM_COUNT=1 on_device encode -m "$T/mote" -e $expert "$T/ids.mts" 2>"$T/$expert.count" |
			ids_stream --rows text.emb | within "$GOLDEN/bert/embeddings.txt" 1e-5
	done
	MOTES_SHIM_COUNT=1 on_device encode -m "$GOLDEN/bert" "$T/ids.mts" 2>"$T/dense.count" >"$T/out"
	[ "$(copied left)" -gt 0 ]
	[ "$(copied left)" = "$(copied right)" ]
	[ "$(copied left)" = "$(copied dense)" ]
	for expert in left right; do
		ids_stream text.ids "{\"experts\": {\"text\": \"$expert\"}}" <"$GOLDEN/bert/ids.txt"
	done >"$T/both.mts"
	MOTES_SHIM_COUNT=1 on_device encode -m "$T/mote" "$T/both.mts" 2>"$T/both.count" >"$T/out"
	[ "$(copied both)" -gt "$(($(copied left) * 5 / 4))" ]
}

# like FILE COSINE [ROWS]: each row on standard input has at least that cosine to the file's; there are ROWS, or 12
like() {
	paste -d' ' "$1" - | awk -v least="$2" -v rows="${3:-12}" '{
		half = NF / 2
		product = a = b = 0
		for (i = 1; i <= half; i++) { product += $i * $(i + half); a += $i ^ 2; b += $(i + half) ^ 2 }
		if (!(product >= least * sqrt(a * b)) || !a || !b) wrong++
	} END { exit wrong > 0 || NR != rows }'
}

@test "shim: encode: every kind of layer is close to the CPU's, in f32 and in bf16" {
	seeded_awk 'BEGIN { srand(3); for (i = 0; i < 12; i++) { n = 1 + int(rand() * 30)
		for (t = 1; t <= n; t++) printf "%d%s", 3 + int(rand() * 30), t < n ? " " : "\n" } }' | ids_stream text.ids >"$T/ids.mts"
	for folder in "$GOLDEN"/families/{deepseek,gemma3_text,gte,jina_bert,jina_bert_code,modernbert,mpnet,nomic_bert,nomic_moe,olmoe,qwen3,t5}; do
		encode -q --any-tokenizer -m "$folder" "$T/ids.mts" | ids_stream --rows text.emb >"$T/cpu"
		on_device encode --any-tokenizer -m "$folder" "$T/ids.mts" | ids_stream --rows text.emb | within "$T/cpu" 1e-5
		# 0.99988 at worst; a different choice of token experts would lower it much more
		on_device encode --any-tokenizer -m "$folder" --precision bf16 "$T/ids.mts" | ids_stream --rows text.emb | like "$T/cpu" 0.9995
	done
}

# wide FOLDER RANGE: $T/wide, a model like FOLDER's with random weights of that range, and rows of multiples of 16 bytes in bf16
wide() {
	rm -rf "$T/wide" "$T/wide.config"
	mkdir "$T/wide.config"
	jq --argjson range "$2" '.initializer_range = $range | .initializer_factor = 5 |
		if has("d_model") then .d_model = 32 | .num_heads = 2 | .d_kv = 16 | .d_ff = 64
		elif has("n_embd") then .n_embd = 32 | .n_head = 2 | .n_inner = 64
		else .hidden_size = 32 | .num_attention_heads = 2 | .intermediate_size = 64 |
			(if .head_dim then .head_dim = 32 else . end) | (if .num_key_value_heads then .num_key_value_heads = 1 else . end)
		end' "$1/config.json" >"$T/wide.config/config.json"
	model_copy "$T/wide.config" "$T/wide" init 3
}

@test "shim: encode: activations stay in bf16 if rows are multiples of 16 bytes" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	for folder in "$GOLDEN"/bert "$GOLDEN"/families/{albert,gemma3_text,gte,jina_bert,jina_bert_code,llama,modernbert,mpnet,nomic_bert,qwen3,umt5}; do
		wide "$folder" 0.3
		options=(--any-tokenizer --pooling mean -m "$T/wide")
		encode -q "${options[@]}" "$T/ids.mts" | ids_stream --rows text.emb >"$T/cpu"
		# 0.9989 at worst, for UMT5's large sums; a reference that computes in bf16 differs as much
		on_device encode "${options[@]}" --precision bf16 "$T/ids.mts" | ids_stream --rows text.emb >"$T/whole"
		like "$T/cpu" 0.998 5 <"$T/whole"
		# no other text of a batch changes a bit
		on_device encode "${options[@]}" --precision bf16 --tokens 5 "$T/ids.mts" | ids_stream --rows text.emb | cmp - "$T/whole"
	done
	# token experts, with probabilities far enough apart for equal choices
	for folder in "$GOLDEN"/families/{olmoe,nomic_moe}; do
		wide "$folder" 0.05
		encode -q "${options[@]}" "$T/ids.mts" | ids_stream --rows text.emb >"$T/cpu"
		on_device encode "${options[@]}" --precision bf16 "$T/ids.mts" | ids_stream --rows text.emb | like "$T/cpu" 0.9995 5
	done
}

# trains TOLERANCE OPTION...: the losses of all steps are the CPU's
trains() {
	options=(-q --lr 2e-3 --warmup 0 --save-every 0 --restart "${@:2}")
	train "${options[@]}" -o "$T/cpu"
	on_device train "${options[@]}" -o "$T/device"
	for log in cpu device; do
		awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "loss") loss = i; next } { print $loss }' "$T/$log.log.tsv" >"$T/$log.losses"
	done
	[ "$(wc -l <"$T/cpu.losses")" -ge 3 ]
	within "$T/cpu.losses" "$1" <"$T/device.losses"
}

@test "shim: train: task experts, token experts, adapters, relative positions, causal language models; bf16" {
	pairs_stream '{"temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >"$T/pairs.mts"
	pairs_stream '{"temperature": 0.05, "experts": {"query": "left", "document": "*"}}' <"$GOLDEN/train/pairs.txt" >"$T/experts.mts"
	sed -E 's/4([0-9])/1\1/g' "$GOLDEN/train/pairs.txt" | pairs_stream '{"temperature": 0.05}' >"$T/small.mts"
	ids_stream text.ids <"$GOLDEN/clm/texts.txt" >"$T/texts.mts"
	upcycle -q -m "$GOLDEN/train/bert" --experts left,right -o "$T/mote"
	upcycle -q -m "$GOLDEN/train/bert" --token-experts 4 -o "$T/tokens"
	# 2e-6 apart; T5's unscaled scores 2e-5
	trains 1e-5 -m "$T/mote" --tokens 40 "$T/experts.mts"
	trains 1e-5 -m "$T/tokens" --tokens 40 --balance 0.3 "$T/pairs.mts"
	trains 1e-5 -m "$GOLDEN/train/bert" --lora rank=2,dropout=0.2 "$T/pairs.mts"
	trains 1e-4 -m "$GOLDEN/families/t5" --tokens 40 "$T/small.mts"
	trains 1e-5 -m "$GOLDEN/families/olmoe" --objective clm --tokens 9 --balance 0.3 --epochs 3 "$T/texts.mts"
	# bf16 has eight bits of mantissa: 0.005 apart
	trains 2e-2 -m "$GOLDEN/train/nomic_bert" --precision bf16 "$T/pairs.mts"
}

@test "shim: train: losses are the CPU's, whatever the chunks" {
	pairs_stream '{"task": "play", "temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >"$T/pairs.mts"
	for tokens in 20 1000; do
		options=(-q -m "$GOLDEN/train/bert" --tokens $tokens --lr 2e-3 --warmup 0 --steps 4 --save-every 0)
		train "${options[@]}" -o "$T/cpu" --restart "$T/pairs.mts"
		on_device train "${options[@]}" -o "$T/device" --restart "$T/pairs.mts"
		cut -f 5 "$T/cpu.log.tsv" | tail -n +2 >"$T/losses"
		[ "$(wc -l <"$T/losses")" = 4 ]
		tail -n +2 "$T/device.log.tsv" | cut -f 5 | within "$T/losses" 1e-4
	done
}

@test "shim: train: a step waits for the device once" {
	[ -e "$ROOT/lib/nn/cuda/adamw.cu" ] || skip "the processor's sums of squares wait for each"
	pairs_stream '{"task": "play", "temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >"$T/pairs.mts"
	for tokens in 20 1000; do
		for steps in 2 4; do
			MOTES_SHIM_COUNT=1 on_device train -m "$GOLDEN/train/bert" --tokens $tokens --lr 2e-3 --warmup 0 --steps $steps \
				--save-every 0 -o "$T/out$tokens$steps" "$T/pairs.mts" 2>"$T/$steps"
		done
		[ $(($(waits 4) - $(waits 2))) -eq 2 ]
	done
}

@test "shim: --version names the device or the reason why there is none; programs that need one fail with one line" {
	run -0 on_device encode --version
	[[ "${lines[1]}" == "cuda, no device, but the processor in its place, compute capability 9.0, 4 GiB, "* ]]
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	while IFS=$'\t' read -r device says; do
		MOTES_SHIM_DEVICE=$device run -0 on_device encode --version
		[[ "${lines[1]}" == "cuda, no device: $says"* ]]
		MOTES_SHIM_DEVICE=$device run -1 --separate-stderr on_device encode -m "$GOLDEN/bert" "$T/ids.mts"
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == "encode: no CUDA device: $says; the programs of build/cpu need none" ]]
	done <<-END
		none	there is none, or CUDA_VISIBLE_DEVICES hides it
		driver	the NVIDIA driver is missing, or older than the CUDA toolkit that these programs were built with
		old	no device, but the processor in its place has compute capability 7.0, and the kernels need 8.0
		poolless	no device, but the processor in its place has no memory pools; some virtual GPUs lack them
	END
	MOTES_SHIM_MEMORY=9000 run -1 --separate-stderr on_device encode -m "$GOLDEN/bert" "$T/ids.mts"
	[[ $stderr == "encode: out of memory of the device: 0.0 MiB were asked for, 0.0 of its 0.0 GiB are free; fewer tokens at a time take less (--tokens)" ]]
}

@test "shim: with MOTES_CUDA_SYNC=1 an error names its kernel, else the message names MOTES_CUDA_SYNC" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	MOTES_SHIM_FAILS=2 run -1 --separate-stderr on_device encode -m "$GOLDEN/bert" "$T/ids.mts"
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == "encode: the CUDA device: "*": an illegal memory access was encountered, there or in a kernel before; MOTES_CUDA_SYNC=1 tells which" ]]
	for launch in "1 embed of lib/nn/cuda/embed.cu" "2 norm_rows<S::WIDTH, S::KEPT, WHOLE, X, R, Y> of lib/nn/cuda/norm.cu"; do
		MOTES_CUDA_SYNC=1 MOTES_SHIM_FAILS=${launch%% *} run -1 --separate-stderr on_device encode -m "$GOLDEN/bert" "$T/ids.mts"
		[ "$stderr" = "encode: the CUDA device: ${launch#* }: an illegal memory access was encountered" ]
	done
}

@test "shim: MOTES_CUDA_TUNE=1 takes the fastest algorithm with the bits of the first" {
	mkdir "$T/config"
	jq '.hidden_size = 64 | .intermediate_size = 96' "$GOLDEN/bert/config.json" >"$T/config/config.json"
	model_copy "$T/config" "$T/model" init 1
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	for precision in f32 int8; do # bf16 has kernels of its own
		options=(--any-tokenizer -m "$T/model" --precision $precision "$T/ids.mts")
		on_device encode "${options[@]}" | ids_stream --rows text.emb >"$T/first"
		MOTES_CUDA_TUNE=1 "$BUILD/shim/bin/encode" -v "${options[@]}" 2>"$T/log" | ids_stream --rows text.emb | cmp - "$T/first"
		# the stand-in's third algorithm is faster than its first; its second sums in another order
		grep -q "proposal 3 of 3" "$T/log"
		run -1 grep "proposal [^3]" "$T/log"
	done
}
@test "shim: nn_bench_device: runs each kernel once; prints the calculated minimum times of all models" {
	run -0 "$BUILD/shim/support/nn_bench_device" -t 64 MiniLM
	[[ $output == *"linear 384 -> 1536 "*"tokens/s of the layers"*"bf16 between kernels"* ]]
	run -0 "$BUILD/shim/support/nn_bench_device" -p
	# 16,384 tokens x 768 values are read as f32 and written as bf16 at 3 TB/s
	[[ $output == *"- narrow 768 "*" 0     25.17 "* ]]
	run grep -c "^KB of a token" <<<"$output"
	[ "$output" = 8 ]
}
@test "shim: encode is close to the CPU's kernels, in f32 and int8" {
	for n in 5 1 24 13 7 2 19; do seq -s' ' 2 $((n + 1)); done | ids_stream text.ids >"$T/ids.mts"
	for option in --precision=f32 --precision=int8 --weights=int8; do
		encode -q -m "$GOLDEN/bert" "$option" "$T/ids.mts" | ids_stream --rows text.emb >"$T/cpu"
		"$BUILD/shim/bin/encode" -q -m "$GOLDEN/bert" "$option" --tokens 32 "$T/ids.mts" |
			ids_stream --rows text.emb >"$T/shim"
		[ "$(wc -l <"$T/shim")" -eq 7 ]
		# sums of some dozens of values in another order; GELU on bytes is within 8e-5 on the CPU, so that the next layer may round a
		# byte differently
		limit=1e-5
		[ $option != --precision=int8 ] || limit=2e-3
		paste -d' ' "$T/cpu" "$T/shim" | awk -v limit=$limit '{
			for (i = 1; i <= NF / 2; i++) { off = $i - $(i + NF / 2); if (off > limit || off < -limit) wrong++ }
		} END { exit wrong > 0 }'
	done
}

@test "shim: train: --ema works; --dropout is refused" {
	pairs_stream '{"temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >"$T/pairs.mts"
	options=(-q -m "$GOLDEN/train/bert" --lr 2e-3 --warmup 0)
	train "${options[@]}" --ema 0.7 -o "$T/cpu" "$T/pairs.mts"
	on_device train "${options[@]}" --ema 0.7 -o "$T/device" "$T/pairs.mts"
	train "${options[@]}" -o "$T/last" "$T/pairs.mts"
	for folder in cpu device last; do
		encode -q -m "$T/$folder" "$T/pairs.mts" >"$T/$folder.mts"
	done
	mts diff --atol 1e-4 "$T/cpu.mts" "$T/device.mts"
	run -1 mts diff --atol 1e-3 "$T/last.mts" "$T/device.mts"
	run -1 on_device train "${options[@]}" --dropout 0.2 -o "$T/none" "$T/pairs.mts"
	[[ $output == *": dropout is computed on processors, not on a device" ]]
	[ ! -e "$T/none" ]
}
