# Whole commands, from start to exit; texts are the first of out/text/corpus.txt.
corpus=out/text/corpus.txt
awk 'NR <= 20000' "$corpus" >"$work/lines.txt"
awk 'NR % 50 == 0 && n++ < 1000' "$corpus" >"$work/texts.txt"
echo hello >"$work/hello.txt"

ours_start() { tok -m "$BENCH_MODEL" "$work/hello.txt" | encode -m "$BENCH_MODEL"; }
peer_start() { "$peer" tests/bench/peer.py encode "$BENCH_MODEL" "$work/hello.txt"; }
row "start-up: one word to its embedding" ours_start peer_start

ours_tokenise() { tok -m "$BENCH_MODEL" "$work/lines.txt"; }
peer_tokenise() { "$peer" tests/bench/peer.py tokenise "$BENCH_MODEL" "$work/lines.txt"; }
row "tok: 20,000 lines" ours_tokenise peer_tokenise

ours_encode() { tok -m "$BENCH_MODEL" "$work/texts.txt" | encode -m "$BENCH_MODEL"; }
peer_encode() { "$peer" tests/bench/peer.py encode "$BENCH_MODEL" "$work/texts.txt"; }
row "tok | encode: 1,000 texts" ours_encode peer_encode
