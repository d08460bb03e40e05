# shellcheck shell=bash disable=SC2154 # runs, work: run sets them
# Four task experts beside the dense model that they were copied from ("peer"), in turns: seconds, processor seconds (user and
# system) and resident megabytes, all medians; the ratio is the dense model's value over the experts'.
# BENCH_LENGTH: the number of texts in a run (2000).
FOUR=classification,clustering,search_query,search_document
upcycle -m "$BENCH_MODEL" --experts "$FOUR" -o "$work/experts"

# median FILE FIELD
median_of() {
	cut -d' ' -f"$2" "$1" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# timed COMMAND... - writes a line: seconds, user and system seconds, kilobytes
timed() {
	/usr/bin/time -f '%e %U %S %M' -a -o "$work/timed" "$@" >/dev/null 2>&1
}

# turns WHAT EXPERTS DENSE - three lines of the table; both are names of functions, a timed command each
turns() {
	local field=0 unit
	rm -f "$work/ours" "$work/theirs"
	for _ in $(seq "$runs"); do
		for side in "ours $2" "theirs $3"; do
			rm -f "$work/timed"
			${side#* }
			awk '{ printf "%s %.2f %.2f\n", $1, $2 + $3, $4 / 1024 }' "$work/timed" >>"$work/${side% *}"
		done
	done
	for unit in "" ", processor" ", megabytes"; do
		field=$((field + 1))
		awk -v what="$1$unit" -v ours="$(median_of "$work/ours" $field)" \
			-v theirs="$(median_of "$work/theirs" $field)" 'BEGIN {
			printf "%-40s %10s %10s %8s\n", what, ours, theirs, (ours > 0 ? sprintf("%.3f", theirs / ours) : "-")
		}'
	done
}

# Rows of the four tasks in turns, and by task; records of 1024 rows.
awk -v tasks="$FOUR" -v most="${BENCH_LENGTH:-2000}" 'BEGIN { n = split(tasks, task, ",") }
	NR % 50 == 0 && at < most { gsub(/[\\"\t]/, " ")
		printf "{\"text\": \"%s\", \"text.expert\": \"%s\"}\n", $0, task[++at % n + 1] }' \
	out/text/corpus.txt >"$work/mixed.jsonl"
for name in ${FOUR//,/ }; do grep -F "\"$name\"}" "$work/mixed.jsonl"; done >"$work/by_task.jsonl"
for order in mixed by_task; do
	tok -m "$BENCH_MODEL" -f text --format jsonl "$work/$order.jsonl" >"$work/$order.mts"
done
sed 's/, "text.expert.*/}/' "$work/mixed.jsonl" | tok -m "$BENCH_MODEL" -f text --format jsonl - >"$work/one.mts"

one() { timed encode -q -m "$work/experts" -e clustering "$work/one.mts"; }
alone() { timed encode -q -m "$BENCH_MODEL" "$work/one.mts"; }
turns "encode, one task of four; dense" one alone
mixed() { timed encode -q -m "$work/experts" "$work/mixed.mts"; }
by_task() { timed encode -q -m "$work/experts" "$work/by_task.mts"; }
turns "encode, tasks in turns; by task" mixed by_task

# Steps of 32 pairs of 64 tokens: all of one task; a task for the queries and one for the documents.
training_pairs >"$work/pairs.txt"
for side in search_document search_query; do
	"$1/support/pairs_stream" "{\"experts\": {\"query\": \"$side\", \"document\": \"search_document\"}}" \
		<"$work/pairs.txt" >"$work/$side.mts"
done
learn() { timed train -q --save-every 0 -m "$1" -o "$work/learnt" "$work/$2.mts"; }
plain() { learn "$BENCH_MODEL" search_document; }
same() { learn "$work/experts" search_document; }
sides() { learn "$work/experts" search_query; }
turns "train, nine steps, one task; dense" same plain
turns "train, nine steps, two tasks; dense" sides plain
