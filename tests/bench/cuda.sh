#!/usr/bin/env bash
# cuda.sh [PART]... - the speed of a device, beside torch (cuda_peer.py) with the same shapes in the same run; prints a table.
#
#	kernels	each kernel of a layer beside the device's limits (nn_bench_device.cu)	1 minute
#	rate	TFLOP/s of torch's large bf16 products; shares are of this rate		1
#	bert	tokens/s of BERT-base, for texts of real lengths			3
#	qwen	the same for the shapes of Qwen3-0.6B					4
#	olmoe	the same for the shapes of OLMoE-1B-7B, 14 GB				8
#	train	seconds of a step of 6,144 pairs of 64 tokens, gradient cache, BERT-base	5
#	near	the 10 best of a million documents for 10,000 queries, width 384, f32		3
#	cosine	embeddings compared with those of build/cpu in floats			3
#	scores	SciFact and STS Benchmark by both builds, of BENCH_MODEL, in BENCH_DATA	5
#
# Without a PART: all parts.  Random models and texts stay in WORK, so that parts can run separately.  Throughput is that of the second
# half of the texts, so that opening the model does not count; ours is the whole program's: reading, writing, copying.
#
# LENGTHS	a file of texts' lengths in tokens, one a line, which are used in turns
# PEER_PYTHON	a python with torch; without it only our times; PEER_COMPILE, PEER_SECONDS: see cuda_peer.py; its log: WORK/peer.log
# BUILD, CPU	build/cuda, build/cpu
# TINY=1, DEVICE=cpu, BUILD=build/cpu: tests this script without a device
# shellcheck disable=SC2034 # some are for the peer
[ "${BASH_SOURCE[0]}" = "$0" ] || return 0 # tests/bench/run sources every .sh
set -eu -o pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build/cuda} cpu=${CPU:-build/cpu}
work=${WORK:-out/bench-cuda}
peer=${PEER_PYTHON:-}
runs=${BENCH_RUNS:-3}
tiny=${TINY:-}
export DEVICE=${DEVICE:-cuda}
mkdir -p "$work"
[ -z "$tiny" ] || export BATCH=200

lengths=${LENGTHS:-$work/lengths.txt}
# without a file of lengths: those of short texts, 67 tokens in the mean
[ -e "$lengths" ] ||
	awk 'BEGIN { srand(1); for (i = 0; i < 1024; i++) { n = int(24 - 43 * log(1 - rand())); print (n > 512 ? 512 : n) } }' >"$lengths"

count() { [ -n "$tiny" ] && echo "$1" || echo "$2"; } # TINY WHOLE
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

# line WHAT OURS PEER [SHARE [BUSY]]
line() {
	awk -v what="$1" -v ours="$2" -v theirs="${3:--}" -v share="${4:--}" -v busy="${5:--}" 'BEGIN {
		ratio = ours + 0 > 0 && theirs + 0 > 0 ? sprintf("%.2f", ours / theirs) : "-"
		printf "%-44s %12s %12s %8s %8s %8s\n", what, ours, theirs, ratio, share, busy }'
}

# torch WHAT ARGUMENT... - the number that the peer prints, or -
torch() {
	[ -n "$peer" ] || { echo -; return; }
	"$peer" tests/bench/cuda_peer.py "$@" 2>>"$work/peer.log" | tail -n 1 || echo failed
}
# busy COMMAND... - runs it and prints the share of the time in which the device worked, by samples of nvidia-smi
busy() {
	command -v nvidia-smi >/dev/null || { "$@"; echo - >"$work/busy"; return; }
	nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits -lms 100 >"$work/samples" &
	local sampler=$!
	"$@"
	kill "$sampler"
	# the last half, when the model is open
	awk '{ all[NR] = $1 } END { for (i = int(NR / 2) + 1; i <= NR; i++) { sum += all[i]; n++ }
		if (n) printf "%.0f%%\n", sum / n; else print "-" }' "$work/samples" >"$work/busy"
}

# share TOKENS_A_SECOND FLOP_A_TOKEN
share() {
	[ -s "$work/rate" ] || { echo -; return; }
	awk -v t="$1" -v f="$2" -v r="$(<"$work/rate")" 'BEGIN { if (r + 0 > 0) printf "%.1f%%\n", 100 * t * f / r / 1e12; else print "-" }'
}

# config NAME - writes config.json with the shapes to $work/NAME-config
config() {
	local family=$1 change=.
	mkdir -p "$work/$1-config"
	case $1$tiny in
	bert) change='.vocab_size = 30522 | .hidden_size = 768 | .num_hidden_layers = 12 | .num_attention_heads = 12 |
		.intermediate_size = 3072 | .max_position_embeddings = 512' ;;
	qwen3) family=families/qwen3 change='.vocab_size = 151936 | .hidden_size = 1024 | .num_hidden_layers = 28 |
		.num_attention_heads = 16 | .num_key_value_heads = 8 | .head_dim = 128 | .intermediate_size = 3072 |
		.max_position_embeddings = 32768' ;;
	bert1) change='.vocab_size = 40 | .max_position_embeddings = 512' ;;
	qwen31) family=families/qwen3 ;;
	esac
	jq "$change | .torch_dtype = \"bfloat16\"" "tests/golden/$family/config.json" >"$work/$1-config/config.json"
}

# drawn NAME - makes a random bf16 model with these shapes, $work/NAME
drawn() {
	config "$1"
	[ ! -e "$work/$1/config.json" ] || return 0
	"$cpu/support/model_copy" "$work/$1-config" "$work/$1.f32" init 1
	"$cpu/support/model_copy" "$work/$1.f32" "$work/$1" bf16
	rm -r "$work/$1.f32"
}

# texts COUNT VOCABULARY [SEED] - random texts in records of 1,024; the lengths are used in turns
texts() {
	awk -v count="$1" -v vocabulary="$2" -v most="${tiny:+20}" -v seed="${3:-1}" 'BEGIN { srand(seed) } { long[NR] = most && $1 > most ? most : $1 } END {
		for (i = 0; i < count; i++) { for (t = long[i % NR + 1]; t > 0; t--) printf "%d ", 3 + int(rand() * (vocabulary - 3)); print "" }
	}' "$lengths" | split -l 1024 --filter="$cpu/support/ids_stream text.ids"
}

# tokens COUNT - the tokens of these texts; flops CONFIG - operations for a token: products, and attention over its own text
tokens() {
	awk -v count="$1" -v most="${tiny:+20}" '{ long[NR] = most && $1 > most ? most : $1 } END {
		for (i = 0; i < count; i++) sum += long[i % NR + 1]; print sum }' "$lengths"
}
flops() {
	local scores
	scores=$(awk -v most="${tiny:+20}" '{ n = most && $1 > most ? most : $1; a += n * n; b += n } END { print a / b }' "$lengths")
	jq --argjson s "$scores" '(.num_attention_heads) as $h | (.head_dim // (.hidden_size / $h)) as $d |
		(.num_key_value_heads // $h) as $k | (if .model_type == "bert" then 2 else 3 end) as $m |
		((.num_experts_per_tok // 1) * $m * .hidden_size * .intermediate_size) as $mlp |
		.num_hidden_layers * (2 * .hidden_size * ($h + 2 * $k) * $d + 2 * $h * $d * .hidden_size + 2 * $mlp +
			4 * $s * $h * $d * (if .model_type == "bert" then 1 else 0.5 end))' "$1"
}

# wall COMMAND... - its seconds
wall() {
	local start=$EPOCHREALTIME
	"$@"
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}
encoded() { # MODEL STREAM OPTION...
	"$build/bin/encode" -q --any-tokenizer --level 0 --pooling mean --normalize -m "$1" "${@:3}" "$2" >"$work/made"
}

# encode_part NAME MODEL CONFIG COUNT OPTION... - tokens a second: COUNT texts over the difference in time to twice as many
encode_part() {
	local name=$1 model=$2 config=$3 count=$4 ours theirs vocabulary
	vocabulary=$(jq .vocab_size "$config")
	texts "$count" "$vocabulary" >"$work/once.mts"
	cat "$work/once.mts" <(texts "$count" "$vocabulary" 2) >"$work/twice.mts" # no text is repeated
	encoded "$model" "$work/once.mts" "${@:5}" # the files are now in memory
	for _ in $(seq "$runs"); do
		echo "$(wall encoded "$model" "$work/once.mts" "${@:5}") $(wall encoded "$model" "$work/twice.mts" "${@:5}")"
	done | awk -v tokens="$(tokens "$count")" '$2 > $1 { print int(tokens / ($2 - $1)) }' >"$work/rates"
	ours=$(median <"$work/rates")
	busy encoded "$model" "$work/twice.mts" "${@:5}"
	# the peer computes the same shapes, in bf16 whatever our precision is
	[ "$config" = "${measured_config:-}" ] || measured=$(torch encode "$config" "$work/short" "$count")
	measured_config=$config theirs=$measured
	line "$name, tokens/s" "${ours:--}" "$theirs" "$(share "${ours:-0}" "$(flops "$config")")" "$(<"$work/busy")"
}

part_kernels() {
	local bench=$build/support/nn_bench_device
	[ -x "$bench" ] || bench=$build/shim/support/nn_bench_device
	"$bench" ${tiny:+-t 64 MiniLM}
}
part_rate() {
	torch rate >"$work/rate"
	printf '%-44s %12s\n' "torch, bf16 products, TFLOP/s" "$(<"$work/rate")"
}
part_bert() {
	drawn bert
	encode_part "BERT-base, bf16" "$work/bert" "$work/bert-config/config.json" "$(count 1100 65536)" --precision bf16
	encode_part "BERT-base, f32 (the peer: bf16)" "$work/bert" "$work/bert-config/config.json" "$(count 1100 32768)"
}
part_qwen() {
	drawn qwen3
	encode_part "Qwen3-0.6B, bf16" "$work/qwen3" "$work/qwen3-config/config.json" "$(count 1100 16384)" --precision bf16
}
part_olmoe() {
	[ -e "$work/olmoe/config.json" ] || "$cpu/support/olmoe_draw" "$work/olmoe" "${OLMOE_LAYERS:-16}"
	encode_part "OLMoE-1B-7B, bf16" "$work/olmoe" "$work/olmoe/config.json" "$(count 4 16384)" --precision bf16
}
part_train() {
	local pairs=6144 length=64 steps=4 ours theirs
	[ -z "$tiny" ] || pairs=8 length=6
	drawn bert
	awk -v n=$pairs -v long=$length -v steps=$((steps + 1)) -v most="$(jq .vocab_size "$work/bert-config/config.json")" 'BEGIN { srand(1)
		for (b = 0; b < steps; b++) { for (r = 0; r < n; r++) for (s = 0; s < 2; s++) {
			for (t = 0; t < long; t++) printf "%d ", 3 + int(rand() * (most - 3)); printf s ? "\n" : "\t" }
			print "" } }' | "$cpu/support/pairs_stream" >"$work/pairs.mts"
	for precision in f32 bf16; do
		rm -rf "$work/trained"*
		busy "$build/bin/train" -q -m "$work/bert" -o "$work/trained" --precision $precision --timing --save-every 0 \
			--schedule constant --warmup 0 "$work/pairs.mts"
		ours=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "tokens_per_second") at = i } NR > 2 { print $at }' \
			"$work/trained.log.tsv" | median)
		theirs=$(torch train "$work/bert-config/config.json" $pairs $length $steps ${tiny:+40})
		# forward, forward again, and backward, which counts twice
		line "step of $pairs pairs of $length, $precision, tokens/s" "$ours" \
			"$(awk -v s="$theirs" -v t=$((2 * pairs * length)) 'BEGIN { if (s + 0 > 0) print int(t / s); else print s }')" \
			"$(share "$ours" "$(awk -v f="$(flops "$work/bert-config/config.json")" 'BEGIN { print 4 * f }')")" "$(<"$work/busy")"
	done
}
part_near() {
	local queries=10000 documents=1000000 width=384
	[ -z "$tiny" ] || queries=300 documents=4000 width=24
	[ -e "$work/queries.mts" ] || "$cpu/support/mkstream" random $queries $width 1 | "$cpu/bin/mts" cat -q --level 0 - >"$work/queries.mts"
	[ -e "$work/documents.mts" ] || "$cpu/support/mkstream" random $documents $width 2 | "$cpu/bin/mts" cat -q --level 0 - >"$work/documents.mts"
	local theirs
	theirs=$(torch near $queries $documents $width)
	for tf32 in 0 1; do
		for _ in $(seq "$runs"); do
			MOTES_TF32=$tf32 wall "$build/bin/near" -q -o "$work/hits" "$work/queries.mts" "$work/documents.mts"
		done | awk -v pairs="$queries" -v by="$documents" '{ printf "%.4g\n", pairs * by / $1 / 1e9 }' >"$work/rates"
		line "near, TF32 $tf32, 1e9 pairs/s" "$(median <"$work/rates")" "$theirs"
	done
	"$cpu/bin/near" -q -o "$work/hits.cpu" "$work/queries.mts" "$work/documents.mts"
	cmp "$work/hits" "$work/hits.cpu" && echo "near: the hits of $cpu"
}
part_cosine() {
	local model
	drawn bert
	drawn qwen3
	for model in bert qwen3; do
		texts 200 "$(jq .vocab_size "$work/$model-config/config.json")" >"$work/few.mts"
		"$cpu/bin/encode" -q --any-tokenizer --pooling mean -m "$work/$model" "$work/few.mts" | "$cpu/support/ids_stream" --rows text.emb >"$work/cpu.rows"
		for precision in f32 bf16 int8; do
			encoded "$work/$model" "$work/few.mts" --precision $precision
			"$cpu/support/ids_stream" --rows text.emb <"$work/made" | paste "$work/cpu.rows" - | awk -v what="$model, $precision: least, mean cosine to build/cpu" '{
				a = b = ab = 0; n = NF / 2
				for (i = 1; i <= n; i++) { a += $i * $i; b += $(i + n) * $(i + n); ab += $i * $(i + n) }
				cosine = ab / sqrt(a * b); sum += cosine; least = NR == 1 || cosine < least ? cosine : least
			} END { printf "%-44s %12.7f %12.7f\n", what, least, sum / NR }'
		done
	done
}
part_scores() {
	[ -n "${BENCH_MODEL:+${BENCH_DATA:-}}" ] || { echo "scores: needs BENCH_MODEL and BENCH_DATA"; return; }
	local which
	for which in "$cpu" "$build"; do
		make -s X="$which/bin" OUT="$work/mteb-${which##*/}" mteb MODEL="$BENCH_MODEL" DATA="$BENCH_DATA" \
			TASKS="${BENCH_TASKS:-STSBenchmark SciFact}" RESULTS="$work/results-${which##*/}" >"$work/mteb.log" 2>&1 ||
			{ echo "scores: $which: $(tail -n 1 "$work/mteb.log")"; continue; }
		echo "$which:"
		cat "$work/results-${which##*/}/table.md"
	done
}

# the peer's texts have the same lengths
awk -v most="${tiny:+20}" '{ print (most && $1 > most ? most : $1) }' "$lengths" >"$work/short"
[ $# -gt 0 ] || set -- kernels rate bert qwen olmoe train near cosine scores
"$build/bin/encode" --version | tail -n 1
printf '%-44s %12s %12s %8s %8s %8s\n' "what (median of $runs)" ours torch ratio "of rate" busy
set +e # a part that fails does not stop the others
for part; do
	(
		set -e
		"part_$part"
	)
	status=$?
	[ $status = 0 ] || echo "$part: failed"
done
