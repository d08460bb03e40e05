# Loaded by every .bats file.
bats_require_minimum_version 1.5.0
set -o pipefail
export LC_ALL=C.UTF-8
ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
BUILD=${BUILD:-$ROOT/build/cpu}
export PATH="$BUILD/bin:$BUILD/support:$PATH"
# a program that dies leaves its memory to the system; tests of the whole path ask for leaks.  Of an allocation 8 callers say enough.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:malloc_context_size=8}
unset MOTES_MODEL
GOLDEN=$ROOT/tests/golden
T=$BATS_TEST_TMPDIR
# Real data sets and models are optional: a test that needs one calls need_data or need_minilm.
DATA=${MOTES_DATA:-$ROOT/../shared/data}
MODELS=${MOTES_MODELS:-$ROOT/../shared/models}

need_data() {
	[ -e "$DATA/$1" ] || skip "needs the data set $1 (set MOTES_DATA)"
}
need_model() {
	[ -e "$MODELS/$1" ] || skip "needs the model $1 (set MOTES_MODELS)"
}
need_minilm() {
	[ -e "${MOTES_MINILM:-}/model.safetensors" ] || skip "needs all-MiniLM-L6-v2 (set MOTES_MINILM)"
}

# found PATTERN: grep -q for the end of a pipe.  It reads the pipe to its end, because the writer that grep -q leaves before
# its last line dies of SIGPIPE, and the test fails with it.
found() {
	grep "$@" | cat >/dev/null
}

# seeded_awk ...: awk, with a generator of random numbers (Park and Miller 1988) in the place of srand and rand, which differ
# from one awk to the next: Ubuntu's ignores the seed.
seeded_awk() {
	local words=("${@//srand(/seed_(}") i
	words=("${words[@]//rand()/draw_()}")
	for i in "${!words[@]}"; do
		[[ ${words[i]} != *BEGIN* ]] || break
	done
	words[i]+='
		function seed_(n) { state_ = n * 7919 % 2147483646 + 1; draw_(); draw_() }
		function draw_() { return (state_ = state_ * 16807 % 2147483647) / 2147483647 }'
	awk "${words[@]}"
}

# thin N: the lines of a sweep; under the sanitizers, where each takes ten times as long, the first of every N.
thin() {
	if [[ $BUILD == *-sanitize* ]]; then awk -v n="$1" 'NR % n == 1'; else cat; fi
}

# Containers may have no pseudo-terminals.
need_terminal() {
	script -qec true /dev/null >/dev/null 2>&1 || skip "needs script(1) and a pseudo-terminal"
}

# does_not_apply OPTION COMMAND...: the option is refused by its name, and nothing is written.
does_not_apply() {
	run -2 --separate-stderr "${@:2}"
	[ -z "$output" ]
	[[ $stderr == "$2: $1 does not apply to "* ]]
}

# dies MESSAGE COMMAND...: exit 1, the one line begins with the message, and there is no file out.
dies() {
	run -1 --separate-stderr "${@:2}"
	echo "$stderr"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "$1"* ]]
	[ ! -e out ]
}

# The commands of a page's EXAMPLES, one a line, as its reader would type them.
page_examples() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{ /^\.Bd/,/^\.Ed/{ /^\./!p }; s/^\.Dl //p }' "$ROOT/man/$1" |
		sed -e ':more' -e '/\(|\|\\e\)$/{ N; s/ *\(\\e\)\?\n */ /; b more' -e '}' -e 's/^\$ //'
}

# Numbers on standard input are those of file $1, line by line, within $2.
within() {
	"$ROOT/tests/support/within" "$@"
}

# In a test bash runs a function of bats before each command, which takes half a millisecond.  Functions that count are
# subshells without it.

# u64 N...: their bytes, little-endian
u64() (
	trap - DEBUG
	for n in "$@"; do
		for i in 0 1 2 3 4 5 6 7; do
			printf -v byte %02x $((n >> 8 * i & 255))
			printf %b "\\x$byte"
		done
	done
)

# relabel FILE FILTER: the file of safetensors with its header edited by jq's FILTER
relabel() {
	local length text
	length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
	text=$(head -c $((8 + length)) "$1" | tail -c +9 | jq -c "del(.__metadata__) | $2")
	u64 ${#text}
	printf %s "$text"
	tail -c +$((length + 9)) "$1"
}

# recorder: makes $T/record, a RUN for make that appends each command it starts to $T/ran
recorder() {
	cat >"$T/record" <<-END
		#!/bin/bash
		printf '%s\\n' "\${*//\$'\\n'/ }" >>$T/ran
		exec "\$@"
	END
	chmod +x "$T/record"
	: >"$T/ran"
}

# text_expert COUNT ID...: the expert, below COUNT, of a text of these ids: FNV-1a of their
# bytes, a mix of its bits (rng.h), modulo COUNT
text_expert() (
	trap - DEBUG
	count=$1 hash=$((0xcbf29ce484222325))
	for id in "${@:2}"; do
		for shift in 0 8 16 24; do
			hash=$(((hash ^ (id >> shift & 255)) * 0x100000001b3))
		done
	done
	hash=$(((hash ^ (hash >> 30 & 0x3ffffffff)) * 0xbf58476d1ce4e5b9))
	hash=$(((hash ^ (hash >> 27 & 0x1fffffffff)) * 0x94d049bb133111eb))
	hash=$((hash ^ (hash >> 31 & 0x1ffffffff)))
	echo $((((hash >> 1 & 0x7fffffffffffffff) % count * 2 + (hash & 1)) % count))
)

# Folders A and B of results, as mteb's files are, from tests/golden/compare.tsv.
make_results() {
	mkdir -p "$1" "$2"
	awk -F'\t' -v A="$1" -v B="$2" '{
		for (model = 3; model <= 4; model++) {
			file = (model == 3 ? A : B) "/" $2 ".json"
			printf "{\"task_name\": \"%s\", \"mteb_version\": null, \"motes\": {\"task_type\": \"%s\"}, ", $2, $1 >file
			printf "\"scores\": {\"test\": [{\"main_score\": %.6f}]}}\n", $model / 100 >file
			close(file)
		}
	}' "$GOLDEN/compare.tsv"
}

# tests/mutate asks which test executes which line: each leaves its counts apart.
[ -z "${MOTES_REACH:-}" ] ||
	export GCOV_PREFIX="$MOTES_REACH/$(basename "$BATS_TEST_FILENAME")/${BATS_TEST_NUMBER:-}"
