# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# Pairs to scores beside ONNX Runtime and OpenVINO: a cross-encoder of MiniLM's shape with drawn weights and one label, BENCH_PAIRS (128)
# pairs of a query of 16 words and a document of 109, all in the vocabulary, 128 tokens; then as many with documents of 10 to 109 words
# (BENCH_SHORTEST: "109 10").
# Ours is the whole program, ids to scores, from start to exit; of the peers the runs alone, in batches of 32 sorted by length.  The
# weights of eight bits are made ahead.
[ "$peer" ] || return 0
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
rerank_ours() {
	rerank -q -j "$threads" -m "$work/rerank" --precision "$precision" "${kept[@]}" "$work/pairs.mts"
}

runtime draw minilm-reranker "$work/rerank" "$BENCH_MODEL" >"$work/runtime.log" 2>&1
rm -rf "$work/peers"
for least in ${BENCH_SHORTEST:-109 10}; do
	drawn_pairs "$least" | tok -q -m "$work/rerank" --pair -f query -f text --format jsonl >"$work/pairs.mts"
	mts to jsonl -c pair.ids,pair.second "$work/pairs.mts" >"$work/texts.jsonl"
	[ -e "$work/peers" ] || runtime_export "$work/rerank" || return 0
	what="$pairs pairs of 128"
	[ "$least" = 109 ] || what="$pairs pairs of $((least + 19)) to 128"
	runtime_rows "rerank, $what" rerank_ours told
done
