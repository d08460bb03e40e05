# shellcheck shell=bash disable=SC2154,SC2016 # work: run sets it; ranks' shells expand their variables
# Two ranks of one core each beside one rank of one core, each with 64 pairs of 64 tokens a step: a step's seconds, and
# what of it is communication.
if [ ! -x "${BUILD:-build/cpu}/mpi/bin/train" ] || ! command -v mpirun >/dev/null; then
	echo "ranks: needs make MPI=1 and mpirun (share/deps mpi)"
	return
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
awk 'BEGIN { srand(1) } /^[a-z][a-z][a-z]+$/ { words[n++] = $1 }
	function text(   t, i) { t = words[int(n * rand())]; for (i = 1; i < 62; i++) t = t " " words[int(n * rand())]; return t }
	END { for (i = 0; i < 1024; i++) printf "{\"query\": \"%s\", \"document\": \"%s\"}\n", text(), text() }' \
	"$BENCH_MODEL/vocab.txt" >"$work/words.jsonl"

# rank_steps COUNT: medians of a step's seconds, bytes, messages, seconds of communication and of waiting for it
rank_steps() {
	local steps=8
	printf 'batch: %s\ntasks: {a: {datasets: [{name: words, file: words.jsonl}]}}\n' $((64 * $1)) >"$work/words.yaml"
	mpirun -q -n "$1" --bind-to core sh -c "
		tasksample -q -C $work --rank \$OMPI_COMM_WORLD_RANK --ranks $1 --epochs 9 --steps $steps $work/words.yaml | tok -q -m $BENCH_MODEL |
		${BUILD:-build/cpu}/mpi/bin/train -q -j 1 -m $BENCH_MODEL -o $work/ranks$1 --restart --timing --save-every 0"
	for column in 11 13 14 15 16; do
		awk -F'\t' -v c="$column" 'NR > 2 { print $c + 0 }' "$work/ranks$1.log.tsv" | median
	done | paste -s
}
for _ in $(seq "$runs"); do rank_steps 1 >&3; rank_steps 2; done 3>"$work/one" >"$work/two"
one=$(cut -f 1 "$work/one" | median)
for column in {1..5}; do cut -f "$column" "$work/two" | median; done | paste -s | awk -v one="$one" '{
	printf "%-40s %10s %10s %8.2f\n", "train: two ranks, beside one of them", $1, one, one / $1
	printf "  %.1f MB and %d messages a rank and step, %.3f s, of which %.3f s waited for\n", $2 / 1e6, $3, $4, $5
}'
