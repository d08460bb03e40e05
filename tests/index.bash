# Of the tests of an index: index.bats' kinds with cells, a graph, conditions.

dies() { # MESSAGE COMMAND...
	run -1 --separate-stderr "${@:2}"
	[ -z "$output" ]
	[[ $stderr == "$1"* ]]
}

# grouped_vectors COUNT SEED [WIDTH] [SCALE]: of groups around 40 points; their lengths differ by a factor up to 1 + SCALE
grouped_vectors() {
	seeded_awk -v count="$1" -v seed="$2" -v width="${3:-24}" -v scale="${4:-0}" 'BEGIN { srand(9); for (k = 0; k < 40; k++) for (j = 0; j < width; j++) base[k, j] = rand() - 0.5
		srand(seed); for (i = 1; i <= count; i++) { k = int(rand() * 40); n = "d" seed "-" i; times = scale ? 1 + scale * rand() : 1
			printf "{\"_id\":\"%s\",\"text\":\"text of %s\",\"part\":%d,\"x.emb\":[", n, n, i % 4
			for (j = 0; j < width; j++) printf "%.5f%s", times * (base[k, j] + (rand() - 0.5) * 0.6), j < width - 1 ? "," : "]}\n" } }'
}

# Answers of two files of JSON that are the same
common() { cat "$1" "$2" | jq -r '.id as $q | .hits[] | "\($q) \(.id) \(.score)"' | sort | uniq -d | wc -l; }

# killed_appends OPTION...: adds b.mts to c.index, killed at each third system call; near with the options then finds q.mts among the
# old rows, or all
killed_appends() {
	local n
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	near --json q.mts a.mts >old
	near --json q.mts a.mts b.mts >new
	cp -r c.index whole.index
	OMP_NUM_THREADS=1 killed_at 0 mts index -j 1 --append -o whole.index b.mts 3>steps
	for ((n = 1; n <= $(wc -l <steps); n += 3)); do
		rm -rf k.index*
		cp -r c.index k.index
		OMP_NUM_THREADS=1 killed_at "$n" mts index -j 1 --append -o k.index b.mts 3>/dev/null || [ $? -eq 137 ]
		near --json "$@" q.mts k.index >answer
		cmp -s answer old || cmp answer new
		mts index --check k.index
		cmp -s answer new || mts index --append -o k.index b.mts
		near --json "$@" q.mts k.index | cmp - new
		mts index --check k.index
	done
}
