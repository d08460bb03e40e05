# shellcheck shell=bash
# From files to scores: the best 1000 of 100,000 documents of width 384 for each of 1,000 queries.
make -s "$1/support/mkstream"
"$1/support/mkstream" random 1000 384 1 >"$work/q.mts"
"$1/support/mkstream" random 100000 384 2 >"$work/c.mts"
for i in $(seq 0 999); do printf 'd%d\td%d\t1\n' "$i" $((7 * i)); done >"$work/qrels.tsv"

ours_search() { mteb-score retrieval --qrels "$work/qrels.tsv" "$work/q.mts" "$work/c.mts"; }
peer_search() { "$peer" tests/bench/search.py search "$work"; }
[ -z "$peer" ] || "$peer" tests/bench/search.py data "$work"
row "mteb-score: top 1000, 1k x 100k x 384" ours_search peer_search
