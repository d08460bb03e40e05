#!/usr/bin/env bats
load helper

@test "cli: --help prints every option with its values, and examples, on standard output" {
	run -0 --separate-stderr cli_check --help
	[ -z "$stderr" ]
	[ "${lines[0]}" = "cli_check - try options" ]
	[[ $output == *"Usage: cli_check [OPTION]... [WORD]..."* ]]
	[[ $output == *"  -n, --number N              a whole number, 1..10"* ]]
	[[ $output == *"      --bytes SIZE            a size"* ]]
	[[ $output == *$'a whole number, 1..10\n  -r, --real X '* ]]
	# the texts of one option are aligned
	[[ $output == *"a number, 0..1"$'\n'"                              and a second line"* ]]
	for option in progress quiet verbose help version; do
		[[ $output == *"--$option"* ]]
	done
	[[ $output == *$'\nExamples:\n  cli_check -n 3 word' ]]
	[ "$(cli_check -h)" = "$output" ]
}

@test "cli: --help prints all values of an option, wrapped where they pass 80 columns" {
	run -0 train --help
	[[ $output == *$'\n      --objective infonce|'*$'|\n                  '*$'|triplet\n'* ]]
	run -0 mteb-score sts --help
	[[ $output == *$'\n      --similarity cosine|dot|maxsim|meanmaxsim|euclidean|manhattan\n'* ]]
}

@test "cli: --help of a command prints its synopsis, options, clauses and examples" {
	common=$(cli_check --help | sed -n '/--progress/,/--version/p')
	diff <(cli_commands sort --help) - <<-E
		cli_commands sort - put in order

		Usage: cli_commands sort [OPTION]... [FILE]

		  -n, --number N              for either
		                              in two lines
		  -s, --seed N                seed
		                              of chance
		      --batch ROWS            rows (default: 1)
		                              in memory
		$common

		Examples:
		  cli_commands sort-fast x | cli_commands sort
		  cli_commands sort y
	E
	diff <(cli_commands -n 3 sort-fast x -h --nothing) - <<-E
		cli_commands sort-fast - put in some order

		Usage: cli_commands sort-fast [OPTION]... [FILE]

		  -n, --number N              for either
		                              in two lines
		  -s, --seed N                seed
		                              of chance
		      --batch ROWS            rows (default: 2)
		                              and more
		$common

		Examples:
		  cli_commands sort-fast x | cli_commands sort
	E
	diff <(cli_commands -h join) - <<-E
		cli_commands join - put together

		Usage: cli_commands join FILE FILE...
		       cli_commands join whole|part FILE FILE...

		  -n, --number N              for either
		                              in two lines
		  -x, --exact                 whole, in part: exactly
		$common

		Examples:
		  cli_commands join x y
	E
	run -0 cli_commands --help
	[ "${lines[1]}" = "Usage: cli_commands sort|sort-fast [OPTION]... [FILE]" ]
	[[ $output == *"'cli_commands COMMAND --help' describes one command."* ]]
	[[ $output == *"sort: rows (default: 1)"*"sort-fast: rows (default: 2)"*"join whole, in part: exactly"* ]]
	run -2 --separate-stderr cli_commands srot --help
	[ "${stderr_lines[0]}" = "cli_commands: 'srot' is not one of sort, sort-fast, join; did you mean 'sort'?" ]
	[ -z "$output" ]
}

@test "cli: a command refuses options that are not its own and a wrong number of operands" {
	[ "$(cli_commands -n 3 join a b c)" = "join: c" ]
	while read -r words message; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr cli_commands ${words//_/ }
		[ -z "$output" ]
		[ "${stderr_lines[0]}" = "cli_commands: $message" ]
	done <<-'E'
		join_-s_3_a_b --seed does not apply to join
		sort_-x --exact does not apply to sort
		sort_a_b sort: too many operands
		join_a join: too few operands
		join_-_b_- standard input can be read only once
		joni_a_b 'joni' is not one of sort, sort-fast, join; did you mean 'join'?
		unlike 'unlike' is not one of sort, sort-fast, join
		-n_3 the command is missing; it is one of sort, sort-fast, join
	E
}

@test "cli: each command of each program has a summary, a synopsis and an example, and each option has a text" {
	for program in mteb-score mts leaderboard; do
		run -2 --separate-stderr "$program"
		commands=${stderr_lines[0]##* one of }
		[[ $commands == *,* ]]
		for command in ${commands//,/}; do
			run -0 --separate-stderr "$program" "$command" --help
			[ -z "$stderr" ]
			[[ ${lines[0]} == "$program $command - "* ]]
			[[ $output == *$'\n'"Usage: $program $command"* ]]
			[[ $output == *$'\nExamples:\n'*"$program $command"* ]]
			run -1 grep -xE ' +(-., )?--[a-z-]+( [^ ]+)? *' <(sed -z 's/\n          */ /g' <<<"$output")
		done
	done
}

@test "cli: --version prints name and version" {
	run -0 cli_check --version
	[[ ${lines[0]} == "cli_check (motes) "[0-9]* ]]
	[ "${lines[1]}" = about ]
}

@test "cli: a full disk is an error, a closed pipe is silent" {
	[ -e /dev/full ] || skip "needs /dev/full"
	run -1 bash -c 'cli_check --help >/dev/full'
	[[ $output == "cli_check: standard output: "* ]]
	run -1 bash -c 'cli_check --version >/dev/full'
	run -0 --separate-stderr bash -c 'set +o pipefail; cli_check --help | true'
	[ -z "$stderr" ]
}

@test "cli: options and operands in any order, long options abbreviated, -- ends the options" {
	run -0 --separate-stderr cli_check a -n 3 b --num=4 -r.5 c -- -n
	[ "$output" = $'number 4\nreal 0.5\nword a\nword b\nword c\nword -n' ]
	[ "$(cli_check -q -)" = "word -" ]
}

# usage ARGUMENT...: exit 2, empty standard output, the message and a hint to --help
usage() {
	run -2 --separate-stderr cli_check "$@"
	[ -z "$output" ]
	[[ $stderr == "cli_check: "*$'\n'"Try 'cli_check --help'." ]]
	[ "${#stderr_lines[@]}" -eq 2 ]
}

@test "cli: usage errors exit 2 and say what is wrong" {
	usage --nothing
	[[ $stderr == *"'--nothing'"* ]]
	usage -x
	usage -n
	usage --number
	usage --bar=3
	for n in 0 11 -1 3.5 3x x "" 99999999999999999999; do
		usage -n "$n"
		[[ $stderr == *"--number: '$n' is not a whole number in 1..10"* ]]
	done
	for r in -0.1 1.1 nan inf 1x x ""; do
		usage -r "$r"
		[[ $stderr == *"--real: '$r' is not a number in 0..1"* ]]
	done
	for size in 0 -1 1.5G 3X 12MB M "" 99999999999G 9223372036854775808; do
		usage --bytes "$size"
		[[ $stderr == *"--bytes: '$size' is not a size such as 512M or 2G"* ]]
	done
}

@test "cli: a misspelt option gets the nearest one as suggestion" {
	while read -r wrong message; do
		usage "$wrong"
		[ "${stderr_lines[0]}" = "cli_check: $message" ]
	done <<-'E'
		--nubmer '--nubmer' is not an option; did you mean '--number'?
		--reall '--reall' is not an option; did you mean '--real'?
		--hlp=3 '--hlp' is not an option; did you mean '--help'?
		--abr '--abr' is not an option; did you mean '--bar'?
		--unlike '--unlike' is not an option
		-x '-x' is not an option
		--b '--b' may be several options; write it out
		--bar=3 --bar takes no value
		-qn --number needs a value
		--num --number needs a value
	E
}

@test "cli: numbers, reals, sizes, words and lists are stored in their settings" {
	for n in 1 10; do [ "$(cli_check -q -n "$n")" = "number $n" ]; done
	[ "$(cli_check -q -r 0)" = "real 0" ]
	[ "$(cli_check -q -r 2.5e-1)" = "real 0.25" ]
	while read -r size bytes; do
		[ "$(cli_check -q --bytes "$size")" = "bytes $bytes" ]
	done <<-'E'
		1 1
		2k 2048
		512M 536870912
		2G 2147483648
		1t 1099511627776
	E
	[ "$(cli_check -q --kind plain)" = "kind 1" ]
	[ "$(cli_check -q --kind fancy)" = "kind 2" ]
	usage --kind fanzy
	[[ $stderr == *"--kind: 'fanzy' is not one of plain, fancy; did you mean 'fancy'?"* ]]
	[ "$(cli_check -q --name a -n 2 --name b)" = $'number 2\nname a\nname b' ]
}

@test "cli: the recorded command line can be typed again" {
	for words in "plain" "a b" "it's" '$HOME `x` "y"' '' '*' '-n 3' '\' $'new\nline' 'é~!' '#'; do
		command=$(cli_check -q --command -- "$words" | tail -n +2)
		command=${command#"${command%%cli_check *}"}
		eval "again=(${command#cli_check })"
		[ "${again[3]}" = "$words" ]
	done
	[ "$("$BUILD/support/cli_check" -q --command)" = "cli_check -q --command" ]
}

@test "cli: -q suppresses warnings, -v prints details" {
	run -0 --separate-stderr cli_check
	[ "$stderr" = "cli_check: warning: a warning" ]
	run -0 --separate-stderr cli_check -q
	[ -z "$stderr" ]
	run -0 --separate-stderr cli_check --verbose
	[ "$stderr" = $'cli_check: warning: a warning\ncli_check: a word' ]
}

@test "cli: progress is shown on a terminal" {
	need_terminal
	TERM=xterm run -0 script -qec 'cli_check --bar --pause 0.2' /dev/null
	[[ $output == *"3/3 steps"* ]]
}

@test "cli: progress is shown elsewhere only with --progress" {
	run -0 --separate-stderr cli_check --bar
	[[ $stderr != *steps* ]]
	run -0 --separate-stderr cli_check --bar --progress
	[[ $stderr == *"cli_check: 3/3 steps  100%"*"loss 2"* ]]
	run -0 --separate-stderr cli_check --bar --progress -q
	[ -z "$stderr" ]
	run -0 --separate-stderr cli_check --bar -v
	[[ $stderr == *"cli_check: 3 steps, "*" s" ]]
}

@test "err: a message is one line without control characters, whatever name it contains" {
	run -1 --separate-stderr tree_show "$T/$(printf 'a\nb\033[31m.yaml')"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"a?b?[31m.yaml: No such file or directory" ]]
	# C1 control characters, as UTF-8 and as single bytes
	run -1 --separate-stderr tree_show "$T/"$'\u009b31mé\x9b1m\x80\u009f\u00a0ü.yaml'
	[[ $stderr == *$'/?31mé?1m??\u00a0ü.yaml: '* ]]
	run -2 --separate-stderr cli_check $'--\u009b31m'
	[ "${stderr_lines[0]}" = "cli_check: '--?31m' is not an option" ]
	run -1 tree_show "$(printf 'x%.0s' {1..9000})"
	[ "${#output}" -lt 5000 ]
}
