# shellcheck shell=bash disable=SC2154 # work: run sets it
# tasksample's start with as many pairs as MoTE's data have, 1.6e9 in 1,600 files (all one of a million lines), and with a
# million: seconds and, by GNU time, greatest resident memory, with an index that is found and without one ("peer").
# BENCH_LINES=1600000000 adds one file of so many lines: 5 bytes a line in TMPDIR, and minutes.
sample_prepare() {
	local files task set
	mkdir -p "$work/sample"
	awk 'BEGIN { print "query\tdocument"; for (i = 0; i < 1000000; i++) printf "q%d\td%d\n", i, i }' \
		>"$work/sample/million.tsv"
	files=$(seq 100 | sed 's/.*/million.tsv/' | paste -sd,)
	printf 'batch: 6144\ntasks:\n' >"$work/sample/paper.yaml"
	for task in 1 2 3 4; do
		printf '  t%d:\n    datasets:\n' "$task"
		for set in 1 2 3 4; do echo "      - {name: s$task$set, file: [$files]}"; done
	done >>"$work/sample/paper.yaml"
	echo 'tasks: {a: {datasets: [{name: a, file: million.tsv}]}}' >"$work/sample/million.yaml"
	echo 'tasks: {a: {datasets: [{name: a, file: lines.tsv}]}}' >"$work/sample/lines.yaml"
	[ -z "${BENCH_LINES:-}" ] ||
		awk -v n="$BENCH_LINES" 'BEGIN { print "query\tdocument"; for (i = 0; i < n; i++) print "a\tb" }' \
			>"$work/sample/lines.tsv"
}

# sample_start RECIPE OPTION...: seconds and megabytes
sample_start() {
	local recipe=$1
	shift
	command time -o "$work/sample/cost" -f '%e %M' \
		tasksample -q -C "$work/sample" --plan --steps 3 "$@" "$work/sample/$recipe.yaml" >/dev/null 2>&1
	awk '{ printf "%s %.1f\n", $1, $2 / 1000 }' "$work/sample/cost"
}

sample_prepare
for recipe in million paper ${BENCH_LINES:+lines}; do
	made=$(sample_start "$recipe" --index "$work/sample/index")
	read -r found least <<<"$(sample_start "$recipe" --index "$work/sample/index")"
	read -r scanned most <<<"$(sample_start "$recipe")"
	printf '%-40s %10s %10s %8s\n' "sample: $recipe, s (made in ${made% *})" "$found" "$scanned" \
		"$(awk -v a="$found" -v b="$scanned" 'BEGIN { printf "%.0f", b / (a ? a : 0.01) }')"
	printf '%-40s %10s %10s %8s\n' "sample: $recipe, MB" "$least" "$most" \
		"$(awk -v a="$least" -v b="$most" 'BEGIN { printf "%.1f", b / a }')"
done
