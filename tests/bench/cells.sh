# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# Recall@10 and queries a second of near --probe beside FAISS's IVF, flat, for 1,000 rows of BENCH_VECTORS, a stream of embeddings
# of real texts, as queries in its other rows.  A table; tests/bench/cells.gnuplot draws it:
#	gnuplot -e "table='cells.tsv'" tests/bench/cells.gnuplot > cells.svg
if [ -n "$peer" ] && [ -n "${BENCH_VECTORS:-}" ]; then
	mts rows -q --sample 1000 "$BENCH_VECTORS" >"$work/q.mts"
	mts to tsv -c _id "$work/q.mts" | awk 'NR > 1 { print $1 }' >"$work/ids"
	awk -F'\t' 'FNR == NR { drawn[$1]; next } FNR > 1 && !($1 in drawn) { printf "%s%d", n++ ? "," : "", FNR - 1 }' \
		"$work/ids" <(mts to tsv -c _id "$BENCH_VECTORS") >"$work/others"
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
