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

# cut_short LINES OPTION...: run train and kill it -9 when its log has so many lines
cut_short() {
	local lines=$1
	shift
	env train -j 1 "$@" <&0 & # its own input, not /dev/null
	local pid=$!
	until [ -e out.checkpoint ] && [ "$(wc -l <out.log.tsv)" -gt "$lines" ]; do
		kill -0 $pid || return 1
	done
	kill -9 $pid
	wait $pid || true
	[ ! -e out ] # it was cut in the middle, not at the end
}
