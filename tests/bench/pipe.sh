# shellcheck shell=bash disable=SC2154 # work: run sets it
# A pipe of five programs, and as its peer what takes longest in it, alone: encode of tokens that are stored.
awk 'NR % 10 == 0 && n++ < 10000' out/text/corpus.txt >"$work/many.txt"
zstd -q -f "$work/many.txt" -o "$work/many.txt.zst"
tok -q -m "$BENCH_MODEL" "$work/many.txt" >"$work/many.mts"
awk 'NR <= 200' "$work/many.txt" | tok -q -m "$BENCH_MODEL" - | encode -q -m "$BENCH_MODEL" >"$work/asked.mts"

pipe_of_five() {
	zstd -dcq "$work/many.txt.zst" | tok -q -m "$BENCH_MODEL" - | encode -q -m "$BENCH_MODEL" | mts cat - | near -q "$work/asked.mts" -
}
encode_alone() { encode -q -m "$BENCH_MODEL" "$work/many.mts"; }
peer=encode row "zstd, tok, encode, mts cat, near" pipe_of_five encode_alone
