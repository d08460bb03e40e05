#!/usr/bin/env bats
# tasksample with many examples: computed orders, and indices that are kept.
load helper

setup() {
	cd "$T"
}

# rows NAME COUNT: a TSV file of rows qI, dI
rows() {
	awk -v n="$2" 'BEGIN { print "query\tdocument"; for (i = 0; i < n; i++) printf "q%d\td%d\n", i, i }' >"$1"
}
# of FLOW...: a.yaml, a recipe with one data set a in one task
of() {
	echo "batch: 64\ntasks: {a: {datasets: [{name: a, $*}]}}" | sed 's/\\n/\n/' >a.yaml
}
texts() {
	batches "$@" | grep -v '^#'
}
# examples OPTION...: the number of examples of a.yaml's data set
examples() {
	tasksample -v --plan --steps 0 "$@" a.yaml 2>&1 >plan | sed -n 's/.*data set a: \([0-9]*\) examples.*/\1/p'
}
indices() {
	find index -name "${1-*}.index" 2>/dev/null | wc -l
}

# mix: mix.yaml, a recipe with all kinds of data sets
mix() {
	seq 0 999 | awk '{ printf "{\"query\": \"query %d\", \"document\": \"doc %d\", \"label\": \"l%d\", ", $1 % 900, $1 % 300, $1 % 37
		printf "\"score\": %d, \"list\": [\"a%d\", \"b%d\"]}\n", $1 % 7, $1, $1 }' >rows.jsonl
	gzip -k rows.jsonl
	rows rows.tsv 500
	cat >mix.yaml <<-'END'
		batch: 32
		tasks:
		  a:
		    datasets:
		      - {name: plain, file: [rows.jsonl, rows.tsv]}
		      - {name: part / 80%, file: rows.jsonl, part: 0-80%, where: score>=2}
		      - {name: sample, file: [rows.tsv, rows.jsonl], sample: 300}
		      - {name: less, file: rows.jsonl, sample: 600, part: 10-60%, part_by: document}
		      - {name: packed, file: [rows.jsonl.gz, rows.jsonl], part: 50-100%, first: 300}
		  b:
		    batching: heterogeneous
		    datasets:
		      - {name: label, file: rows.jsonl, label: label, query: query}
		      - {name: group, file: rows.jsonl, document: label, query: query, group: 4}
		      - {name: each, file: rows.jsonl, query: query, document: list, each: list, where: score<3}
	END
}

@test "index: batches are the same without an index, with a new one and with an existing one" {
	mix
	for options in "" "--all" "--epochs 2 --batching static" "--duplicates apart" "--skip 20" "--rank 1 --ranks 3"; do
		tasksample -q $options mix.yaml | batches >without
		rm -rf index
		for time in made found; do
			tasksample -q --index index $options mix.yaml | batches | cmp - without
		done
	done
	# an index for each of two files, and for each of six data sets with selected rows
	[ "$(find index -type f | wc -l)" -eq 8 ]
	[ "$(indices 'rows.*')" -eq 2 ]
	[ "$(indices 'part___80_.*')" -eq 1 ]
	# indices are found again under another path of the same file
	mkdir elsewhere
	(cd elsewhere && tasksample -q -C .. --index ../index ../mix.yaml | batches) >there
	tasksample -q mix.yaml | batches | cmp - there
	[ "$(find index -type f | wc -l)" -eq 8 ]
}

@test "index: of processes that need an index at once one makes it, and the others wait" {
	mix
	tasksample -q --index index mix.yaml | batches >alone
	rm -rf index/*
	pids=() # bats has children of its own
	for i in 1 2 3 4; do
		tasksample --index index mix.yaml 2>"err.$i" | batches >"out.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	for i in 1 2 3 4; do
		cmp alone "out.$i"
		# other warnings are about the data
		[ -z "$(grep index/ "err.$i" | grep -v 'is making it; this one waits and uses it then')" ]
	done
	[ -z "$(find index -name '*.lock')" ]
	# a process waits for an index that another process writes
	file=$(find index -name '*.index' | sort | head -n 1)
	mv "$file" kept
	exec 7>"$file.lock"
	flock 7
	tasksample --index index mix.yaml 2>err 7>&- | batches >out 7>&- &
	pids=($!)
	for ((i = 0; i < 200; i++)); do
		! grep -q index/ err || break
		sleep .05
	done
	[ "$(grep index/ err)" = "tasksample: warning: $file: another process is making it; this one waits and uses it then" ]
	[ ! -s out ]
	mv kept "$file"
	inode=$(stat -c %i "$file")
	exec 7>&-
	wait "${pids[@]}"
	cmp alone out
	[ "$(stat -c %i "$file")" = "$inode" ]
}

@test "index: a file with an index is not read again" {
	mix
	for set in "file: rows.jsonl" "file: rows.jsonl, part: 0-50%" "file: rows.jsonl, query: query, document: label, group: 2"; do
		of "$set"
		count=$(examples --index index)
		cp -p rows.jsonl kept
		# size and time are the same, but rows after the first thousand bytes are gone
		(head -c 1000 kept; tail -c +1001 kept | tr '\n' ' ') >rows.jsonl
		touch -r kept rows.jsonl
		[ "$(examples --index index)" -eq "$count" ]
		[ "$count" -gt 10 ]
		run tasksample -q --plan a.yaml # without the index this is an error
		[ "$status" -eq 1 ] || [ "$(examples)" -lt "$count" ]
		mv kept rows.jsonl
	done
}

@test "index: a changed file or selection gets a new index" {
	rows a.tsv 1000
	of "file: a.tsv, part: 0-50%"
	before=$(examples --index index)
	[ "$(indices)" -eq 2 ]
	printf 'q%d\td\n' {5000..5999} >>a.tsv
	run -0 --separate-stderr tasksample --plan --index index a.yaml
	[ "$(grep -c 'warning: index/a\..*\.index: its data have changed since; it is made anew' <<<"$stderr")" -eq 2 ]
	[ "$(wc -l <<<"$stderr")" -eq 2 ]
	after=$(examples --index index)
	[ "$after" -eq "$(examples)" ] && [ "$after" -gt "$before" ]
	[ "$(indices)" -eq 2 ]
	# only the time changes
	touch -d '2001-01-01 00:00:00.5' a.tsv && examples --index index >first
	touch -d '2001-01-01 00:00:00.6' a.tsv
	run -0 --separate-stderr tasksample --plan --index index a.yaml
	[[ $stderr == *"made anew"* ]]
	run -0 --separate-stderr tasksample --plan --index index a.yaml
	[ -z "$stderr" ]
	# each selection has its own index and leaves the first one alone
	for words in "part: 0-40%" "part: 0-40%, part_by: document" "where: query~7" "where: query~8" "sample: 9" "sample: 8"; do
		of "file: a.tsv, $words"
		[ "$(examples --index index)" -eq "$(examples)" ]
		tasksample -q --index index a.yaml | texts | cmp - <(tasksample -q a.yaml | texts)
	done
	[ "$(indices)" -eq 8 ]
	# settings that select nothing have no effect
	of "file: a.tsv, sample: 8, weight: 3"
	[ "$(examples --index index)" -eq 8 ]
	[ "$(indices)" -eq 8 ]
}

# broken: a.yaml is refused for its index, which stays unchanged
broken() {
	md5sum index/* >sums
	run -1 --separate-stderr tasksample --index index --epochs 1 a.yaml -o lost.mts
	echo "$stderr"
	[[ $stderr == "tasksample: index/a."*".index: cut or damaged; remove it, and it is made anew" ]]
	[ ! -e lost.mts ]
	md5sum --quiet -c sums
}

@test "index: a truncated or damaged index is refused" {
	rows a.tsv 20000 # 2,502 numbers: five pages of them; one number is the count
	of "file: a.tsv, where: query!~^q1"
	for choice in 'a.tsv.*' 'a.????????????????.index'; do
		rm -rf index
		examples --index index
		file=$(ls index/$choice)
		cp "$file" good
		size=$(stat -c %s good)
		for at in 0 8 4095 4096 12000 $((size - 8192)) $((size - 4096)) $((size - 4080)) $((size - 1)); do
			byte=$(od -An -tu1 -j $at -N 1 good)
			printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$file" bs=1 seek=$at conv=notrunc status=none
			broken
			cp good "$file"
		done
		for page in 0 1 $((size / 4096 - 1)); do # a hole
			dd if=/dev/zero of="$file" bs=4096 seek=$page count=1 conv=notrunc status=none
			broken
			cp good "$file"
		done
		for bytes in 0 1 4096 8192 $((size - 4096)) $((size - 1)) $((size + 1)) $((size + 4096)); do
			truncate -s $bytes "$file"
			broken
			cp good "$file"
		done
		(tail -c 8192 good; head -c -8192 good) >"$file"
		broken
		cp good "$file"
		tasksample -q --index index a.yaml | texts | cmp - <(tasksample -q a.yaml | texts)
	done
}

@test "index: a failed write or a faulty file leaves no index" {
	rows a.tsv 100
	of "file: a.tsv, where: query=none"
	run -1 tasksample --index index a.yaml
	[[ $output == *"no example is left"* ]]
	[ "$(find index -type f | wc -l)" -eq 1 ] # the offsets of rows are complete all the same
	of "file: a.tsv"
	run -1 tasksample --index a.tsv a.yaml
	[[ $output == "tasksample: a.tsv/"*": Not a directory" ]]
	run -1 tasksample --index none/index a.yaml
	[[ $output == "tasksample: none/index: No such file or directory" ]]
	mkfifo pipe.tsv
	cat a.tsv >pipe.tsv &
	of "file: pipe.tsv, part: 0-50%"
	rm -rf index
	tasksample -q --index index a.yaml | texts >found
	[ "$(indices)" -eq 0 ]
	of "file: a.tsv, part: 0-50%"
	tasksample -q a.yaml | texts | cmp - found
}

# large N: large.yaml, 16 tasks of data sets with N files of a million rows each
large() {
	rows million.tsv 1000000
	local files
	files=$(seq "$1" | sed 's/.*/million.tsv/' | paste -sd,)
	printf 'batch: 512\ntasks:\n' >large.yaml
	for task in {1..4}; do
		printf '  t%d:\n    batching: %s\n    datasets:\n' $task "$([ $task -lt 3 ] && echo homogeneous || echo heterogeneous)"
		for set in {1..4}; do echo "      - {name: s$task$set, file: [$files]}"; done
	done >>large.yaml
}

# bats test_tags=plain
@test "tasksample: 1,600,000,000 examples start at once, in less memory than a byte for each" {
	[[ $BUILD != *sanitize* ]] || skip "the sanitizer needs all addresses"
	large 100
	tasksample --index index --plan --steps 0 large.yaml
	(ulimit -v 30000 && timeout 300 tasksample -v --index index --steps 2 large.yaml -o a.mts 2>said)
	[ "$(grep -c ': 100000000 examples' said)" -eq 16 ]
	[ "$(texts a.mts | cut -f1 | sort -u | wc -l)" -gt 1000 ]
	# the last batches of the epoch
	(ulimit -v 30000 && timeout 300 tasksample --index index --plan --skip 100000 --steps 100004 large.yaml >plan)
	[ "$(grep -c '	512	' plan)" -eq 4 ]
	# without the index the memory does not suffice
	run -1 bash -c 'ulimit -v 30000 && tasksample --plan --steps 0 large.yaml'
	[[ $output == *"out of memory"* ]]
	# nor for the rows of a part, which an index holds on the disk
	of "file: million.tsv, part: 0-90%"
	(ulimit -v 12000 && [ "$(examples --index index)" -gt 890000 ])
	run -1 bash -c 'ulimit -v 12000 && tasksample --plan --steps 0 a.yaml'
	[[ $output == *"out of memory"* ]]
}

# The grid: positions and examples of two epochs, 64 x 64 cells. If all permutations were equally likely, the squared
# distance from 2^18 / 4096 in each cell, chi-square of 63 x 63 degrees of freedom with mean 3969, would be off by more than
# five standard deviations, sqrt(2 x 3969), 446 in all, once in 10^6.
@test "tasksample: each of a quarter of a million examples comes once an epoch, at any place" {
	count=$((2 ** 18 + 7))
	rows a.tsv $count
	of "file: a.tsv"
	tasksample -q -b 8192 --epochs 2 --duplicates keep a.yaml | texts | sed 's/query=q//; s/\t.*//' >order
	for epoch in 1 2; do
		sed -n "$(((epoch - 1) * count + 1)),$((epoch * count))p" order >$epoch.txt
		sort -n $epoch.txt | cmp - <(seq 0 $((count - 1)))
	done
	seq 0 $((count - 1)) >positions
	for pair in "positions 1.txt" "positions 2.txt" "1.txt 2.txt"; do
		paste $pair | awk -v n=$count '
			{ cell[int($1 * 64 / n) * 64 + int($2 * 64 / n)]++ }
			END { for (i = 0; i < 4096; i++) { off = cell[i] - n / 4096; sum += off * off * 4096 / n }
				print sum; exit sum < 3969 - 446 || sum > 3969 + 446 }'
	done
	# the step from an example to the next, or to one much later, is spread equally
	for lag in 1 2048 65536; do
		paste 1.txt <(tail -n +$((lag + 1)) 1.txt) | awk -v n=$count '
			NF == 2 { cell[int((($2 - $1 + n) % n) * 4096 / n)]++; all++ }
			END { for (i = 0; i < 4096; i++) { off = cell[i] - all / 4096; sum += off * off * 4096 / all }
				print sum; exit sum < 4095 - 453 || sum > 4095 + 453 }'
	done
}
