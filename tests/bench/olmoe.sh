# shellcheck shell=bash disable=SC2154 # runs, work: run sets them
# A model with the shapes of OLMoE-1B-7B, its weights mapped, in 8 bits (from the weights cache) and in bf16 ("peer"): resident and
# anonymous megabytes, at most; and tokens per second of processor time with one thread, for texts of one token, for single texts of
# 32 tokens and for batches of 2,048, over the second half of the texts, when all weights are in memory.  Then the speed of single
# tokens as a share of the rate of reading memory, for each token reads the weights of its experts once; and the speed of the batches
# as a share of the rate of large products.
# It runs only with BENCH_OLMOE=1, because it writes 21 GB to TMPDIR; BENCH_OLMOE_LAYERS (16): fewer for a trial, 1 GB each.
[ "${BENCH_OLMOE:-}" ] || return 0
build=$1
layers=${BENCH_OLMOE_LAYERS:-16}
"$build/support/olmoe_draw" "$work/olmoe" "$layers"

# once WEIGHTS TEXTS LENGTH TOKENS - seconds of processor, megabytes resident and anonymous
once() {
	local pid most=0 now options=(--weights "$1")
	[ "$1" = stored ] || options+=(--weights-cache)
	awk -v n="$2" -v long="$3" 'BEGIN { srand(1)
		for (i = 0; i < n; i++) for (t = 1; t <= long; t++)
			printf "%d%s", 3 + int(rand() * 50000), t < long ? " " : "\n" }' |
		"$build/support/ids_stream" text.ids >"$work/ids.mts"
	rm -f "$work/timed"
	/usr/bin/time -f '%U %S %M' -o "$work/timed" encode -q -j 1 -m "$work/olmoe" "${options[@]}" --pooling last \
		--cache 1 --tokens "$4" "$work/ids.mts" >"$work/olmoe.mts" &
	until [ -s "$work/timed" ]; do
		sleep 0.1
		pid=$(pgrep -P $! -x encode) || continue
		now=$(awk '/^RssAnon/ { print $2 }' "/proc/$pid/status" 2>/dev/null) || continue
		[ "${now:-0}" -le "$most" ] || most=$now
	done
	wait $!
	awk -v most="$most" '{ printf "%.3f %.0f %.0f\n", $1 + $2, $3 / 1024, most / 1024 }' "$work/timed"
}

# rate WEIGHTS TEXTS LENGTH TOKENS - tokens a second in the second half of the texts: the median
rate() {
	for _ in $(seq "$runs"); do
		echo "$(once "$1" "$2" "$3" "$4") $(once "$1" $((2 * $2)) "$3" "$4")"
	done | awk -v tokens=$(($2 * $3)) '$4 > $1 { print tokens / ($4 - $1) }' | sort -n |
		awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}
line() { # WHAT INT8 BF16
	awk -v what="$1" -v ours="$2" -v theirs="$3" 'BEGIN {
		printf "%-40s %10.4g %10.4g %8.2f\n", what, ours, theirs, theirs / ours }'
}

read -r made making making_anonymous < <(once int8 64 32 2048)
read -r _ resident anonymous < <(once int8 64 32 2048)
read -r _ whole whole_anonymous < <(once stored 64 32 2048)
printf '%-40s %10s\n' "eight bits made and kept, processor" "$made"
line "resident MB while they are made" "$making" "$whole"
line "anonymous MB" "$making_anonymous" "$whole_anonymous"
line "resident MB when they are mapped" "$resident" "$whole"
line "anonymous MB" "$anonymous" "$whole_anonymous"
alone=$(rate int8 24 1 1) whole_alone=$(rate stored 24 1 1)
line "texts of one token, tokens/s" "$alone" "$whole_alone"
line "single texts of 32, tokens/s" "$(rate int8 8 32 32)" "$(rate stored 8 32 32)"
batch=$(rate int8 64 32 2048) whole_batch=$(rate stored 64 32 2048)
line "batches of 2,048, tokens/s" "$batch" "$whole_batch"

# the weights of a token in a block: q, k, v and out, the router, and three matrices of each of eight experts
weights=$((layers * (4 * 2048 * 2048 + 64 * 2048 + 8 * 3 * 2048 * 1024)))
rates=$("$build/support/nn_bench_large" 1 | awk '/^sum of squares/ { print $(NF - 1) }
	/^2048 tokens, bf16/ { print $(NF - 1); exit }' || true)
awk -v w=$weights -v rates="${rates//$'\n'/ }" -v alone="$alone $whole_alone" -v batch="$batch $whole_batch" 'BEGIN {
	split(rates, rate); split(alone, one); split(batch, many)
	printf "%-40s %10.2f %10.2f\n", "one token, of the rate of memory", one[1] * w * (1 + 4 / 128) / rate[1] / 1e9,
		one[2] * w * 2 / rate[1] / 1e9
	printf "%-40s %10.2f %10.2f\n", "batches, of the rate of products", many[1] * 2 * w / rate[2] / 1e9,
		many[2] * 2 * w / rate[2] / 1e9 }'
