# shellcheck shell=bash disable=SC2154 # runs, work: run sets them
# Statistics of drawn relations of 2 x 768, beside the updates of their covariance's matrix alone ("peer"): the sums,
# and with all eigenvectors.  Then training with REZE's loss beside the same without it ("peer").  Seconds of wall and
# of processor (user and system), each the median; the ratio is peer by ours.
# (train on one thread: how long two wait for each other differs more from run to run than what REZE's loss costs.)
# BENCH_RELATIONS: how many (50000; 12 KB each in the temporary folder).
relations=${BENCH_RELATIONS:-50000}

# timed FILE COMMAND... - adds a line to it: wall, processor
timed() {
	/usr/bin/time -f '%e %U %S' -a -o "$work/timed" "${@:2}" >/dev/null 2>&1
	awk '{ line = $1 " " $2 + $3 } END { print line }' "$work/timed" >>"$work/$1"
}

# beside WHAT OURS PEER - two lines of the table, of files with a line a run
beside() {
	local field=0 unit ours theirs
	for unit in "" ", processor"; do
		field=$((field + 1))
		for side in "ours $2" "theirs $3"; do
			printf -v "${side% *}" %s "$(cut -d' ' -f$field "$work/${side#* }" | sort -n |
				awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')"
		done
		awk -v what="$1$unit" -v ours="$ours" -v theirs="$theirs" 'BEGIN {
			printf "%-40s %10s %10s %8s\n", what, ours, theirs, (ours > 0 ? sprintf("%.3f", theirs / ours) : "-")
		}'
	done
}

for side in query document; do
	"$1/support/mkstream" random "$relations" 768 ${#side} |
		mts cat -c text.emb --rename text.emb=$side.emb --level 0 -o "$work/$side.mts" -
done
awk -v n="$relations" 'BEGIN { for (i = 0; i < n; i++) printf "{\"dataset\":\"source %d\"}\n", i % 20 }' |
	mts from jsonl -o "$work/dataset.mts" -
mts paste --level 0 -o "$work/relations.mts" "$work"/{query,document,dataset}.mts
rm "$work"/{query,document}.mts
for _ in $(seq "$runs"); do
	"$1/support/covariance_bench" "$relations" 1536 |
		sed -n 's/^rank-k updates alone: \([0-9.]*\) s, \([0-9.]*\) s of.*/\1 \2/p' >>"$work/updates"
	timed sums reze-stats fit -q --partial -o "$work/partial.mts" "$work/relations.mts"
	timed fit reze-stats fit -q -o "$work/statistics.mts" "$work/relations.mts"
done
beside "reze-stats fit --partial: $relations" sums updates
beside "reze-stats fit: $relations" fit updates
rm "$work/relations.mts"

training_pairs | "$1/support/pairs_stream" >"$work/pairs.mts"
awk 'BEGIN { for (i = 0; i < 288; i++) printf "{\"dataset\":\"source %d\"}\n", i % 4 }' |
	mts from jsonl --record-rows 32 -o "$work/names.mts" -
mts paste "$work/pairs.mts" "$work/names.mts" | encode -q -m "$BENCH_MODEL" --keep -o "$work/kept.mts"
reze-stats fit -q -o "$work/small.mts" "$work/kept.mts"
reze-stats apply -o "$work/batches.mts" "$work/small.mts" "$work/kept.mts"
for _ in $(seq "$runs"); do
	timed reze train -q -j 1 -m "$BENCH_MODEL" --reze 1 -o "$work/trained" --save-every 0 "$work/batches.mts"
	timed plain train -q -j 1 -m "$BENCH_MODEL" -o "$work/trained" --save-every 0 "$work/batches.mts"
done
beside "train --reze: nine batches of 4,096 tokens" reze plain
