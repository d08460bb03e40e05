# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# Recall@10 and queries a second of near --beam and --probe beside FAISS's HNSW and IVF and usearch, for 1,000 rows of BENCH_VECTORS, a
# stream of embeddings of real texts, as queries in its other rows.  A table; tests/bench/approximate.gnuplot draws it:
#	gnuplot -e "table='approximate.tsv'" tests/bench/approximate.gnuplot > approximate.svg
if [ -n "$peer" ] && [ -n "${BENCH_VECTORS:-}" ]; then
	# each of 1,000 rows, evenly spaced, and the ranges between them
	count=$(mts stat --json "$BENCH_VECTORS" | jq .rows)
	seq 1000 | awk -v count="$count" '{ printf "%d%s", int(($1 - 0.5) * count / 1000), NR < 1000 ? "," : "" }' >"$work/drawn"
	tr , '\n' <"$work/drawn" | awk '$1 - 1 > last { printf "%s%d-%d", n++ ? "," : "", last + 1, $1 - 1 } { last = $1 } END { printf ",%d-", last + 1 }' >"$work/others"
	mts rows -q --rows "$(cat "$work/drawn")" "$BENCH_VECTORS" >"$work/q.mts"
	mts rows -q --rows "$(cat "$work/others")" "$BENCH_VECTORS" >"$work/c.mts"
	column=$(mts head -n 0 "$work/c.mts" | awk '$1 == "column" && $2 ~ /\.emb$/ { print $2; exit }')
	for side in q c; do mts to npy -c "$column" "$work/$side.mts" >"$work/$side.npy"; done
	near -q --run "$work/exact.run" -k 10 "$work/q.mts" "$work/c.mts"
	cells=${BENCH_CELLS:-512}
	made() { clock mts index -q "$1" "$2" -o "$work/${1#--}.index" "$work/c.mts"; }
	echo "seconds of mts index: --graph 32 $(made --graph 32), --cells $cells $(made --cells "$cells")"
	printf 'program\tthreads\tsetting\trecall\trate\n'
	"$peer" tests/bench/approximate.py "$work" "$cells"
	rm -r "$work"/*.index "$work"/[qc].npy
fi
