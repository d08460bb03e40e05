# A contrastive step of 32 pairs of 64 tokens: median seconds of eight, start-up not counted.
training_pairs >"$work/pairs.txt"
"$1/support/pairs_stream" <"$work/pairs.txt" >"$work/pairs.mts"

# bench_train PRECISION
bench_train() {
	local ours theirs=-
	train -q -m "$BENCH_MODEL" -o "$work/trained" --restart --precision "$1" --timing --save-every 0 "$work/pairs.mts"
	ours=$(awk -F'\t' 'NR > 2 { print $11 }' "$work/trained.log.tsv" | median)
	[ -z "$peer" ] ||
		theirs=$("$peer" tests/bench/train.py "$BENCH_MODEL" "$work/pairs.txt" "$1" 2>/dev/null | tail -n +2 | median)
	awk -v ours="$ours" -v theirs="$theirs" -v precision="$1" 'BEGIN {
		ratio = theirs + 0 > 0 ? sprintf("%.1f", theirs / ours) : "-"
		printf "%-40s %10s %10s %8s\n", "train: a step of 4,096 tokens, " precision, ours, theirs, ratio
	}'
}
bench_train f32
bench_train bf16
