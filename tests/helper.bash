# Loaded by every .bats file.
bats_require_minimum_version 1.5.0
set -o pipefail
export LC_ALL=C.UTF-8
ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
BUILD=${BUILD:-$ROOT/build/cpu}
export PATH="$BUILD/bin:$BUILD/support:$PATH"
# A program that ends with an error leaves its memory to the system, so leaks are reported only where a test asks for it.
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

# found PATTERN: grep -q at the end of a pipe.  It reads all lines: grep -q stops at the first match, and then SIGPIPE ends the
# writer and the test fails.
found() {
	grep "$@" | cat >/dev/null
}

# seeded_awk ...: awk with the generator of Park and Miller (1988) in place of srand and rand, which differ between awks
# (Ubuntu's ignores the seed)
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

# thin N: passes the cases of a test on, one a line; under the sanitizers, where each takes ten times as long, one of every N.
thin() {
	if [[ $BUILD == *-sanitize* ]]; then awk -v n="$1" 'NR % n == 1'; else cat; fi
}

# A container may lack pseudo-terminals.
need_terminal() {
	script -qec true /dev/null >/dev/null 2>&1 || skip "needs script(1) and a pseudo-terminal"
}

# does_not_apply OPTION COMMAND...: the command names the option in its error and writes nothing.
does_not_apply() {
	run -2 --separate-stderr "${@:2}"
	[ -z "$output" ]
	[[ $stderr == "$2: $1 does not apply to "* ]]
}

# dies MESSAGE COMMAND...: the command exits with 1, its only line on stderr begins with the message, and no file `out` exists.
dies() {
	run -1 --separate-stderr "${@:2}"
	echo "$stderr"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "$1"* ]]
	[ ! -e out ]
}

# page_examples PAGE: the commands of the manual page's EXAMPLES, one a line, as a reader would type them.
page_examples() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{ /^\.Bd/,/^\.Ed/{ /^\./!p }; s/^\.Dl //p }' "$ROOT/man/$1" |
		sed -e ':more' -e '/\(|\|\\e\)$/{ N; s/ *\(\\e\)\?\n */ /; b more' -e '}' -e 's/^\$ //'
}

# within FILE TOLERANCE: the numbers on standard input equal those of the file, line by line, up to the tolerance.
within() {
	"$ROOT/tests/support/within" "$@"
}

# bats runs a function before each command of a test (a DEBUG trap), which takes half a millisecond.  Functions with many
# commands run in a subshell without the trap.

# u64 N...: the numbers as 8 bytes each, little-endian
u64() (
	trap - DEBUG
	for n in "$@"; do
		for i in 0 1 2 3 4 5 6 7; do
			printf -v byte %02x $((n >> 8 * i & 255))
			printf %b "\\x$byte"
		done
	done
)

# tensor_names PATH: the names of the tensors of a safetensors file or of a folder, sorted
tensor_names() {
	safetensors_list "$1" | cut -f1 | LC_ALL=C sort
}

# tensor_offset FILE NAME: the offset in bytes of the tensor's first value
tensor_offset() {
	local length
	length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
	head -c $((8 + length)) "$1" | tail -c +9 | jq --arg name "$2" ".[\$name].data_offsets[0] + 8 + $length"
}

# rows: the embeddings of the stream on standard input, a row a line
rows() {
	ids_stream --rows text.emb
}

# embed MODEL [OPTION]...: the embeddings of the golden texts, a row a line
embed() {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" | encode -q --any-tokenizer -m "$@" | ids_stream --rows text.emb
}

# tokenized_form FOLDER FORM: copies the golden model FOLDER/FORM and its tokenizer, which FOLDER/forms.tsv names, to $T/FORM
tokenized_form() {
	local form tokenizer class most file
	IFS=$'\t' read -r form tokenizer class most < <(grep -P "^$2\t" "$1/forms.tsv")
	cp -r "$1/$form" "$T/$form"
	for file in "$GOLDEN/settings/$tokenizer"/*; do
		[ "${file##*/}" = config.json ] || cp "$file" "$T/$form"
	done
	jq -c ".model_max_length = $most$([ "$class" = - ] || echo " | .tokenizer_class = \"$class\"")" \
		"$GOLDEN/settings/$tokenizer/tokenizer_config.json" >"$T/$form/tokenizer_config.json"
}

# batch_column NAME: a column of the batches on standard input, a row a line
batch_column() {
	batches | grep -v '^#' | tr '\t' '\n' | sed -n "s/^$1=//p"
}

# first_run: writes $T/first.run, which ranks all documents of tests/golden/rerank, in the order of their ids, for each query
first_run() {
	jq -r '._id' "$GOLDEN/rerank/queries.jsonl" | while read -r query; do
		jq -r --arg q "$query" '"\($q)\tQ0\t\(._id)\t\(input_line_number + 1)\t\(-input_line_number)\tx"' "$GOLDEN/rerank/documents.jsonl"
	done >"$T/first.run"
}

# relabel FILE FILTER: the safetensors file with its header edited by jq's FILTER
relabel() {
	local length text
	length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
	text=$(head -c $((8 + length)) "$1" | tail -c +9 | jq -c "del(.__metadata__) | $2")
	u64 ${#text}
	printf %s "$text"
	tail -c +$((length + 9)) "$1"
}

# recorder: writes $T/record, a value of make's RUN that appends each command to $T/ran and runs it
recorder() {
	cat >"$T/record" <<-END
		#!/bin/bash
		printf '%s\\n' "\${*//\$'\\n'/ }" >>$T/ran
		exec "\$@"
	END
	chmod +x "$T/record"
	: >"$T/ran"
}

# text_expert COUNT ID...: the number of the expert, below COUNT, that a text of these ids is assigned by hash: FNV-1a of the
# ids' bytes, its bits mixed (rng.h), modulo COUNT
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

# make_results A B: writes the scores of tests/golden/compare.tsv to folders A and B as mteb's result files
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

# For tests/mutate, which asks which test executes which line: each test writes its gcov counts to a folder of its own.
[ -z "${MOTES_REACH:-}" ] ||
	export GCOV_PREFIX="$MOTES_REACH/$(basename "$BATS_TEST_FILENAME")/${BATS_TEST_NUMBER:-}"
