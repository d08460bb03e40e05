# Shared by the tests of indexes: with cells, with a graph, with conditions.

# dies MESSAGE COMMAND...: the command exits with 1, writes nothing, and its error begins with the message
dies() {
	run -1 --separate-stderr "${@:2}"
	[ -z "$output" ]
	[[ $stderr == "$1"* ]]
}

# grouped_vectors COUNT SEED [WIDTH] [SCALE]: vectors in groups around 40 points; their lengths differ by a factor up to 1 + SCALE
grouped_vectors() {
	seeded_awk -v count="$1" -v seed="$2" -v width="${3:-24}" -v scale="${4:-0}" 'BEGIN { srand(9); for (k = 0; k < 40; k++) for (j = 0; j < width; j++) base[k, j] = rand() - 0.5
		srand(seed); for (i = 1; i <= count; i++) { k = int(rand() * 40); n = "d" seed "-" i; times = scale ? 1 + scale * rand() : 1
			printf "{\"_id\":\"%s\",\"text\":\"text of %s\",\"part\":%d,\"x.emb\":[", n, n, i % 4
			for (j = 0; j < width; j++) printf "%.5f%s", times * (base[k, j] + (rand() - 0.5) * 0.6), j < width - 1 ? "," : "]}\n" } }'
}

# common A B: how many answers two files of `near --json` have in common
common() { cat "$1" "$2" | jq -r '.id as $q | .hits[] | "\($q) \(.id) \(.score)"' | sort | uniq -d | wc -l; }

# killed_appends OPTION...: appends b.mts to c.index and kills the program at every third system call; afterwards near with the
# options answers q.mts from the old rows or from all rows
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
