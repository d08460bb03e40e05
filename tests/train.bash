# Shared by the tests of training.

# train OPTION...: trains with one thread, because the models are tiny and other programs may run
train() {
	env train -j 1 "$@"
}

# column NAME LOG: a column of a log, a number a line
column() {
	awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
		{ print $c }' "$2"
}

# close_to TOLERANCE A B: the numbers of file A equal those of file B up to a relative tolerance
close_to() {
	paste "$2" "$3" | awk -v most="$1" '{ d = $1 - $2; d = d < 0 ? -d : d
		s = $2 < 0 ? -$2 : $2; if (!NF || NF != 2 || d > most * s) { print; bad = 1 } }
		END { exit bad || !NR }'
}

# cut_short STEPS OPTION...: runs train and kills it by SIGKILL when its log has so many steps (with --dev also a line of step 0)
cut_short() {
	local lines=$(($1 + 1)) status=0
	shift
	[[ " $* " != *" --dev "* ]] || lines=$((lines + 1))
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	killed_at -w out.log.tsv $lines env train -j 1 "$@" 3>/dev/null || status=$?
	[ $status -eq 137 ] && [ -e out.checkpoint ] && [ ! -e out ]
}
