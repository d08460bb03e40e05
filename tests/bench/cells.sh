# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# Recall@10 and queries a second of near --probe beside FAISS's IVF, flat, for 1,000 rows of BENCH_VECTORS, a stream of embeddings
# of real texts, as queries in its other rows.  A table; tests/bench/cells.gnuplot draws it:
#	gnuplot -e "table='cells.tsv'" tests/bench/cells.gnuplot > cells.svg
if [ -n "$peer" ] && [ -n "${BENCH_VECTORS:-}" ]; then
	# each of 1,000 rows, evenly spaced, and the ranges between them
	count=$(mts stat --json "$BENCH_VECTORS" | jq .rows)
	seq 1000 | awk -v count="$count" '{ printf "%d%s", int(($1 - 0.5) * count / 1000), NR < 1000 ? "," : "" }' >"$work/drawn"
	tr , '\n' <"$work/drawn" | awk '$1 - 1 > last { printf "%s%d-%d", n++ ? "," : "", last + 1, $1 - 1 } { last = $1 } END { printf ",%d-", last + 1 }' >"$work/others"
	mts rows -q --rows "$(cat "$work/drawn")" "$BENCH_VECTORS" >"$work/q.mts"
	mts rows -q --rows "$(cat "$work/others")" "$BENCH_VECTORS" >"$work/c.mts"
	column=$(mts head -n 0 "$work/c.mts" | awk '$1 == "column" && $2 ~ /\.emb$/ { print $2; exit }')
	for side in q c; do mts to npy -c "$column" "$work/$side.mts" >"$work/$side.npy"; done
	near --run "$work/exact.run" -k 10 "$work/q.mts" "$work/c.mts"
	for cells in ${BENCH_CELLS:-256 1024}; do
		rm -rf "$work/c.index"
		mts index -q --cells "$cells" -o "$work/c.index" "$work/c.mts"
		"$peer" tests/bench/cells.py "$work" "$cells"
	done | tee "$work/cells.tsv"
	rm -r "$work/c.index" "$work"/[qc].npy
fi
