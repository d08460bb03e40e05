# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# `motes tune` at its defaults beside sentence-transformers' trainer at its own (tune_peer.py), on the tables BENCH_TABLES (none: left out), with
# the seeds BENCH_SEEDS (1 2 3), from BENCH_MODEL.  Both train on the same rows and are scored on the same held-out ones by mteb-score.
# A line a table and seed: the main score of the model before, of ours and of the peer's, and the processor's seconds of each command,
# ours with choosing the step and both scores.  It takes a quarter of an hour and more a line.
[ "${BENCH_TABLES:-}" ] || return 0

# main FILE - the main score of one of tune's files of scores of each query
main() {
	leaderboard compare -q --from-per-query "$1" "$1" |
		awk -F'\t' '$1 ~ /^(ndcg_at_10|cosine_spearman|cosine_ap|accuracy)$/ { printf "%.4f", $2; exit }'
}
# cpu FILE COMMAND... - runs it; the processor's seconds go to FILE
cpu() {
	local TIMEFORMAT='%U %S'
	{ time "${@:2}" >/dev/null 2>"$work/tune.log"; } 2>"$1" || { tail -n 3 "$work/tune.log"; return 1; }
}
tune_theirs() {
	cpu "$work/theirs.seconds" "$peer" tests/bench/tune_peer.py "$ours.pairs" "$BENCH_MODEL" "$theirs" "$seed" || return 1
	# the commands that scored the model before, of the peer's model
	grep '/base[.-]' "$ours.pairs/commands" | sed "s#$BENCH_MODEL#$theirs#g; s#/base#/theirs#g" >"$work/commands"
	bash -eu -o pipefail "$work/commands"
}

printf '%-20s %4s %8s %8s %8s %8s %8s\n' table seed before ours peer "CPU s" peer
for table in $BENCH_TABLES; do
	for seed in ${BENCH_SEEDS:-1 2 3}; do
		ours=$work/tune/ours theirs=$work/tune/theirs
		rm -rf "$work/tune"
		mkdir "$work/tune"
		cpu "$work/ours.seconds" motes tune -q --seed "$seed" -m "$BENCH_MODEL" -o "$ours" "$table"
		echo - >"$work/theirs.seconds"
		score=-
		if [ "$peer" ]; then
			tune_theirs
			score=$(main "$ours.pairs/theirs.tsv")
		fi
		printf '%-20s %4s %8s %8s %8s %8.0f %8s\n' "$(basename "${table%%.*}")" "$seed" "$(main "$ours.pairs/base.tsv")" \
			"$(main "$ours.pairs/tuned.tsv")" "$score" \
			"$(awk '{ print $1 + $2 }' "$work/ours.seconds")" "$(awk '{ print $1 == "-" ? $1 : sprintf("%.0f", $1 + $2) }' "$work/theirs.seconds")"
	done
done
