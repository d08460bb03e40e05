#!/usr/bin/env bats
# slow
# The number of threads, and how evenly they share the work.
# bats file_tags=plain
load helper

# The kernels count their work, so that 64 threads need no 64 cores.
@test "threads: none of 64 has more than 1.15 times the mean work, for 64 texts and more" {
	tokens=100000 rows=91
	[[ $BUILD != *-sanitize* ]] || tokens=5000 rows=61 # the longest batches take half a minute
	nn_bench --balance $tokens 64 >"$T/table"
	[ "$(grep -c '^MiniLM .* 64 x 32 ' "$T/table")" = 5 ]
	[ "$(grep -cv ' few$' "$T/table")" = $rows ]
	awk 'NR > 1 && !/ few$/ && !($(NF - 2) >= 1 && $(NF - 2) <= 1.15) { print; wrong = 1 } END { exit wrong }' "$T/table"
	# each of 64 texts of one length is one thread's work, without a barrier between layers
	awk '/^MiniLM .*64 x 32 +encode/ && $(NF - 1) == 1 { n++ } END { exit n != 3 }' "$T/table"
	# a short text does not wake all threads
	awk '/ 1 x 12 +encode/ { n++ } / 1 x 12 +encode/ && $(NF - 1) > 32 { print; wrong = 1 } END { exit wrong || n != 9 }' "$T/table"
}

@test "threads: embeddings and gradients of 64 threads have the bits of two" {
	mkdir "$T/config"
	jq '.vocab_size = 1000 | .hidden_size = 384 | .num_hidden_layers = 1 | .num_attention_heads = 12 |
		.intermediate_size = 1536 | .max_position_embeddings = 512' "$GOLDEN/bert/config.json" >"$T/config/config.json"
	model_copy "$T/config" "$T/model" init 7
	seeded_awk 'BEGIN { srand(1); for (n = 1; n < 80; n++) {
		for (i = 0; i < n * n % 97 + 1; i++) printf "%d ", rand() * 1000; print "" } }' >"$T/many.txt"
	head -n 1 "$T/many.txt" >"$T/one.txt"
	sed -n 9p "$T/many.txt" >"$T/two.txt"
	for texts in many one two; do
		ids_stream text.ids <"$T/$texts.txt" >"$T/ids.mts"
		for precision in f32 bf16 int8; do
			encode -q -j 2 --precision $precision -m "$T/model" "$T/ids.mts" | rows >"$T/expected"
			[ -s "$T/expected" ]
			for threads in 5 64; do
				encode -q -j $threads --precision $precision -m "$T/model" "$T/ids.mts" | rows | cmp - "$T/expected"
			done
		done
	done
	pairs_stream '{"task": "play", "temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >"$T/pairs.mts"
	for threads in 2 64; do
		train -q -j $threads -m "$T/model" -o "$T/$threads" --lr 1e-3 --warmup 0 "$T/pairs.mts"
	done
	cmp "$T/2/model.safetensors" "$T/64/model.safetensors"
	run -1 cmp "$T/2/model.safetensors" "$T/model/model.safetensors"
}

@test "threads: the default number is the container's limit of processors, rounded up" {
	mkdir -p "$T/proc/self" "$T/sys/fs/cgroup/a/b"
	run -0 cpu_limit_show "$T"
	[ "$output" = 0 ] # no control groups
	echo 0::/a/b >"$T/proc/self/cgroup"
	run -0 cpu_limit_show "$T"
	[ "$output" = 0 ]
	echo max 100000 >"$T/sys/fs/cgroup/a/b/cpu.max"
	run -0 cpu_limit_show "$T"
	[ "$output" = 0 ]
	for limit in "250000 100000 3" "200000 100000 2" "1000 100000 1" "50000 25000 2" "0 100000 0" "x y 0"; do
		echo "${limit% *}" >"$T/sys/fs/cgroup/a/b/cpu.max"
		run -0 cpu_limit_show "$T"
		[ "$output" = "${limit##* }" ]
	done
	# a group above has a lower limit; a container sees its own group as the root
	echo 400000 100000 >"$T/sys/fs/cgroup/a/b/cpu.max"
	echo 300000 100000 >"$T/sys/fs/cgroup/a/cpu.max"
	run -0 cpu_limit_show "$T"
	[ "$output" = 3 ]
	echo 0::/ >"$T/proc/self/cgroup"
	echo 150000 100000 >"$T/sys/fs/cgroup/cpu.max"
	run -0 cpu_limit_show "$T"
	[ "$output" = 2 ]
}

@test "threads: limits of control groups in version 1" {
	mkdir -p "$T/proc/self" "$T/sys/fs/cgroup/cpu/docker"
	printf '5:cpuset:/other\n4:cpu,cpuacct:/docker\n' >"$T/proc/self/cgroup"
	echo -1 >"$T/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us"
	echo 100000 >"$T/sys/fs/cgroup/cpu/docker/cpu.cfs_period_us"
	run -0 cpu_limit_show "$T"
	[ "$output" = 0 ]
	echo 450000 >"$T/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us"
	run -0 cpu_limit_show "$T"
	[ "$output" = 5 ]
	# seen from inside the container
	mv "$T/sys/fs/cgroup/cpu/docker"/* "$T/sys/fs/cgroup/cpu"
	run -0 cpu_limit_show "$T"
	[ "$output" = 5 ]
}
