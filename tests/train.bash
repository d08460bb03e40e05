# Shared by the tests of training.

# one thread: the models are tiny, and the machine may have other work
train() {
	env train -j 1 "$@"
}

# column NAME LOG
column() {
	awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
		{ print $c }' "$2"
}

# close_to TOLERANCE A B: two columns of numbers, relative
close_to() {
	paste "$2" "$3" | awk -v most="$1" '{ d = $1 - $2; d = d < 0 ? -d : d
		s = $2 < 0 ? -$2 : $2; if (!NF || NF != 2 || d > most * s) { print; bad = 1 } }
		END { exit bad || !NR }'
}

# cut_short STEPS OPTION...: run train and kill it -9 when it has logged so many steps, with --dev after step 0
cut_short() {
	local lines=$(($1 + 1)) status=0
	shift
	[[ " $* " != *" --dev "* ]] || lines=$((lines + 1))
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	killed_at -w out.log.tsv $lines env train -j 1 "$@" 3>/dev/null || status=$?
	[ $status -eq 137 ] && [ -e out.checkpoint ] && [ ! -e out ]
}
