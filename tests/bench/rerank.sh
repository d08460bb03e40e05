# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# Pairs to scores beside ONNX Runtime and OpenVINO: a cross-encoder of MiniLM's shape with drawn weights and one label, BENCH_PAIRS (128)
# pairs of a query of 16 words and a document of 109, all in the vocabulary, 128 tokens; then as many with documents of 10 to 109 words
# (BENCH_SHORTEST: "109 10").
# Ours is the whole program, ids to scores, from start to exit; of the peers the runs alone, in batches of 32 sorted by length.  The
# weights of eight bits are made ahead.  BENCH_PRECISIONS (f32 int8; bf16 is ours alone), BENCH_THREADS (all cores).
[ "$peer" ] || return 0
threads=${BENCH_THREADS:-$(nproc)}
pairs=${BENCH_PAIRS:-128}

# drawn_pairs LEAST - of documents of LEAST to 109 words, which are tokens of the vocabulary
drawn_pairs() {
	jq -r '.model.vocab | keys[]' "$BENCH_MODEL/tokenizer.json" | LC_ALL=C awk -v pairs="$pairs" -v least="$1" '
		/^[a-z][a-z][a-z]+$/ { words[count++] = $0 }
		function text(n) { line = ""; while (n--) line = line " " words[int(rand() * count)]; return substr(line, 2) }
		END {
			srand(1)
			while (pairs--) printf "{\"query\":\"%s\",\"text\":\"%s\"}\n", text(16), text(least + int(rand() * (110 - least)))
		}'
}
rerank_peer() { "$peer" tests/bench/rerank_peer.py "$@"; }

rerank_ours() {
	local kept=()
	[ "$precision" != int8 ] || kept=(--weights-cache)
	rerank -q -j "$threads" -m "$work/rerank" --precision "$precision" "${kept[@]}" "$work/pairs.mts"
}
rerank_theirs() { rerank_peer time "$which-$precision" "$work/rerank-peers" "$threads" "$work/pairs.jsonl"; }

drawn_pairs 109 >"$work/texts.jsonl"
rerank_peer draw "$BENCH_MODEL" "$work/rerank" >"$work/rerank.log" 2>&1
for least in ${BENCH_SHORTEST:-109 10}; do
	drawn_pairs "$least" | tok -q -m "$work/rerank" --pair -f query -f text --format jsonl >"$work/pairs.mts"
	mts to jsonl -c pair.ids,pair.second "$work/pairs.mts" >"$work/pairs.jsonl"
	[ -e "$work/rerank-peers" ] || rerank_peer export "$work/rerank" "$work/rerank-peers" "$work/pairs.jsonl" >"$work/rerank.log" 2>&1 ||
		{ echo 'rerank: the export failed'; tail -n 3 "$work/rerank.log"; return; }
	what="$pairs pairs of 128"
	[ "$least" = 109 ] || what="$pairs pairs of $((least + 19)) to 128"
	for precision in ${BENCH_PRECISIONS:-f32 int8}; do
		for which in onnx openvino; do
			row "rerank, $what, $precision, $which" rerank_ours rerank_theirs told
		done
	done
done
