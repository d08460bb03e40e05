# shellcheck shell=bash disable=SC2154 # runs, work, peer: run sets them
# gates.sh - the cost of LoRA adapters beside the weights; sourced by run
#
# Encoding through one adapter, and through 50 in one stream, beside the base model ("peer"); the greatest memory with 100 of
# them; a training step of an adapter of queries and values and of one of all layers, beside a step of the dense model.
# With PEER_PYTHON, also PEFT's times for the same texts: through one adapter, and through 50 that it changes between batches.

# Writes the files with the texts and the gates.
gates_prepare() {
	local i
	mkdir -p "$work/gates"
	training_pairs | "$1/support/pairs_stream" >"$work/pairs.mts"
	train -q -m "$BENCH_MODEL" -o "$work/gate" --lora rank=8,alpha=32 --steps 1 --save-every 0 "$work/pairs.mts"
	for i in {1..100}; do cp -r "$work/gate" "$work/gates/g$i"; done
	training_pairs | tr '\t' '\n' | grep . >"$work/ids.txt"
	awk '{ printf "{\"gate\": \"g%d\"}\n", NR % 50 + 1 }' "$work/ids.txt" | mts from jsonl - >"$work/names.mts"
	"$1/support/ids_stream" text.ids <"$work/ids.txt" >"$work/plain.mts"
	mts paste "$work/plain.mts" "$work/names.mts" >"$work/texts.mts"
}

# gates_memory NAME COMMAND... - the greatest resident size, in MB, beside that of the base model
gates_memory() {
	local what=$1 kb
	shift
	kb=$(/usr/bin/time -f %M "$@" 2>&1 >/dev/null | tail -n 1)
	[ -n "${base_kb:-}" ] || base_kb=$kb
	awk -v what="$what" -v kb="$kb" -v base="$base_kb" 'BEGIN {
		printf "%-40s %10.1f %10.1f %8.2f\n", what, kb / 1024, base / 1024, kb / base }'
}

# gates_step HOW... - seconds of a training step, the median of all but the first
gates_step() {
	train -q -m "$BENCH_MODEL" -o "$work/trained" --timing --save-every 0 "$@" "$work/pairs.mts"
	awk -F'\t' 'NR > 2 { print $11 }' "$work/trained.log.tsv" | sort -n |
		awk '{ all[NR] = $1 } END { printf "%.4f\n", all[int((NR + 1) / 2)] }'
	rm -rf "$work/trained"
}

gates_row() { # WHAT OURS BESIDE: the ratio is ours to BESIDE
	awk -v what="$1" -v ours="$2" -v base="$3" 'BEGIN {
		printf "%-40s %10s %10s %8s\n", what, ours, base, (base + 0 > 0 ? sprintf("%.2f", ours / base) : "-") }'
}

bench_gates() {
	local base dense
	local texts=(encode -q -m "$BENCH_MODEL" --cache 1 -o /dev/null)
	gates_prepare "$1"
	base=$(seconds "${texts[@]}" "$work/texts.mts")
	gates_row "encode: one gate; beside: none" \
		"$(seconds "${texts[@]}" --adapter "$work/gate" "$work/texts.mts")" "$base"
	gates_row "encode: 50 gates in turn; beside: none" \
		"$(seconds "${texts[@]}" --gates "$work/gates" "$work/texts.mts")" "$base"
	gates_memory "memory, MB: no gate" "${texts[@]}" "$work/texts.mts"
	gates_memory "memory, MB: 100 gates; beside: none" "${texts[@]}" --gates "$work/gates" "$work/texts.mts"
	if [ -n "$peer" ]; then
		"$peer" tests/bench/gates.py "$BENCH_MODEL" "$work/ids.txt" "$work/gates" 2>/dev/null |
			while IFS=$'\t' read -r what ours beside; do gates_row "$what" "$ours" "$beside"; done
	fi
	dense=$(gates_step)
	gates_row "train: a step, query+value; beside: dense" "$(gates_step --lora rank=8)" "$dense"
	gates_row "train: the same, documents frozen" "$(gates_step --lora rank=8 --freeze-documents)" "$dense"
	gates_row "train: a step, all-linear; beside: dense" "$(gates_step --lora rank=8,targets=all-linear)" "$dense"
	encode -q --keep -m "$BENCH_MODEL" "$work/pairs.mts" >"$work/documents.mts"
	gates_row "train: query+value, documents stored" \
		"$(gates_step --lora rank=8 --documents "$work/documents.mts")" "$dense"
}
bench_gates "$1"
