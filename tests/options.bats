#!/usr/bin/env bats
load helper

# The options of all programs, from their lines for shell completion: kind, --name, -letter or -, argument, text.
setup_file() {
	export TABLE=$BATS_FILE_TMPDIR/options.tsv
	for program in "$BUILD"/bin/*; do
		"$program" --completion | awk -F'\t' -v OFS='\t' -v p="${program##*/}" '$1 == "option" { print p, $2, $3, $4, $5 }'
	done >"$TABLE"
	[ "$(wc -l <"$TABLE")" -gt 150 ]
}

@test "options: a name has one letter in all programs, and takes a value in all or in none" {
	run -0 awk -F'\t' '{ letter = $3 "|" ($4 == "-" ? "alone" : "value") }
		!($2 in known) { known[$2] = letter; by[$2] = $1; next }
		known[$2] != letter { print $2 ": " by[$2] " has " known[$2] ", " $1 " has " letter }' "$TABLE"
	[ -z "$output" ] || { echo "$output"; false; }
}

# -k stands for neighbours or for clusters
@test "options: a letter has one name in all programs" {
	run -0 awk -F'\t' '$3 != "-" && $3 != "-k" {
		if (!($3 in known)) { known[$3] = $2; by[$3] = $1 }
		else if (known[$3] != $2) print $3 ": " by[$3] " " known[$3] ", " $1 " " $2 }' "$TABLE"
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "options: --help writes defaults as (default: X) and describes every value" {
	for program in "$BUILD"/bin/*; do
		"$program" --help | sed "s|^|${program##*/}:|"
	done >"$T/all"
	run -1 grep -E '[;,] default|\(default [^:]|: +default|  default:' "$T/all"
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "options: --help fits a terminal of 80 columns" {
	for program in "$BUILD"/bin/*; do
		"$program" --help | awk -v p="${program##*/}" 'length > 80 { print p ": " $0 }'
	done >"$T/wide"
	diff "$T/wide" /dev/null
}

@test "options: a former spelling is accepted with a warning that has the current one" {
	cd "$T"
	printf 'n\n1\n2\n3\n' >x.tsv
	mts from tsv -b 2 x.tsv 2>err >old.mts
	[ "$(cat err)" = "mts: warning: -b is --record-rows since version 0.2; the old spelling goes with 0.3" ]
	mts from tsv --batch 2 x.tsv 2>err >old.mts
	[ "$(grep -c 'warning: --batch is --record-rows' err)" = 1 ]
	mts from tsv --record-rows 2 x.tsv | mts diff old.mts -
	# no program has an old name, and every new name is a program's option
	awk -F'"' '/^\t\{ "[a-z-]*", "[a-z-]*", "[a-z-]*" \},?$/ { print $2, $4, $6 }' "$ROOT/lib/base/cli.c" >renamed
	[ "$(wc -l <renamed)" -gt 10 ]
	while read -r program old now; do
		grep -qP "^$program\t--$now\t" "$TABLE" || { echo "$program has no --$now"; false; }
		dashes=--
		[ ${#old} -gt 1 ] || dashes=-
		! awk -F'\t' -v p="$program" -v o="$dashes$old" '$1 == p && ($2 == o || $3 == o)' "$TABLE" | grep . || false
	done <renamed
}

@test "options: an empty path is refused at once by every option that takes a path" {
	awk -F'\t' '$4 ~ /^(FILE|DIR|SOCKET)$/ { print $1, $2 }' "$TABLE" >"$T/paths"
	[ "$(wc -l <"$T/paths")" -gt 40 ]
	while read -r program name; do
		run -2 "$BUILD/bin/$program" "$name" ''
		[ "${lines[0]}" = "$program: $name: the name is empty; is a variable not set?" ] || { echo "$program $name: $output"; false; }
	done <"$T/paths"
	run -2 mts cat -o '' "$T/none"
	run -2 motes tune -o '' "$T/none.tsv"
}
