#!/usr/bin/env bats
load helper

setup() {
	cd "$T" || return
	export TERM=xterm
}

# there FILE: waits until cli_check --meet FILE has started
there() {
	until [ -e "$1.there" ]; do sleep 0.05; done
}
export -f there

# drawn COLUMNS COMMAND: runs the command in bash on a terminal of that width; the file sent has the bytes that
# the terminal got, shown has each drawing of the line on a line of its own
drawn() {
	need_terminal
	SHELL=$BASH script -qec "stty cols $1; $2" /dev/null 3>&- >sent
	tr '\r' '\n' <sent | sed 's/\x1b\[K$/<end/' >shown
	cat -A sent
}

@test "progress: shows count, share, rate and time left; the line is removed at the end" {
	drawn 100 'cli_check -q --bar' # too short to be shown
	[ ! -s sent ]
	drawn 100 'cli_check --bar --pause 0.3'
	grep -qE '^cli_check: 1/3 steps   33%  [0-9.]+ steps/s  0:[0-9]+ left  loss 0<end$' shown
	grep -qE '^cli_check: 3/3 steps  100%  [0-9.]+ steps/s  0:00 left  loss 2<end$' shown
	[ "$(tail -c 4 sent | od -An -c | tr -d ' ')" = '\r033[K' ]
	drawn 100 'cli_check --unknown --pause 0.3'
	grep -qE '^cli_check: 50 k texts  [0-9.]+ k texts/s  0:[0-9]+  loss 0<end$' shown
	run ! grep -q left shown
}

@test "progress: a resumed run has the rate and the time left of the new steps" {
	drawn 100 'cli_check --bar --resumed --pause 0.5 -v'
	grep -qE '^cli_check: 98/100 steps   98%  [0-9](\.[0-9]+)? steps/s  0:0[1-9] left  loss 0<end$' shown
	grep -q 'cli_check: 3 steps, [0-9.]* s$' shown
}

@test "progress: the line is one column narrower than the terminal" {
	for width in 30 17; do
		drawn $width 'cli_check --bar --pause 0.3'
		grep '<end$' shown | grep -v '^<end' | sed 's/<end$//' >lines
		[ "$(wc -l <lines)" -ge 3 ]
		[ "$(awk '{ print length($0) }' lines | sort -u)" = $((width - 1)) ]
	done
}

@test "progress: messages have lines of their own" {
	drawn 80 'cli_check --bar --pause 0.3 --say'
	# the progress line is removed before, whichever program drew it
	tr -d '\n' <sent | found -F $'\r\e[Kcli_check: warning: in the middle\r'
	drawn 80 'cli_check --bar --pause 0.2 --meet one & there one; cli_check -n; touch one; wait'
	tr -d '\n' <sent | found -F $'\r\e[Kcli_check: --number needs a value\r'
}

@test "progress: of several programs the one that knows the amount of work draws the line" {
	drawn 80 'cli_check --bar --pause 0.2 --meet one & there one; cli_check --unknown --pause 0.2; touch one; wait'
	grep -q '3/3 steps' shown
	run ! grep -q texts shown
	# when it ends the other one draws
	drawn 80 'cli_check --unknown --pause 0.2 --meet two & there two; cli_check --bar --pause 0.2; touch two; wait'
	grep -q '3/3 steps' shown
	grep -q '150 k texts' shown
}

@test "progress: not shown in the background, on a dumb terminal, beside results on the terminal, or with --quiet" {
	drawn 80 'bash -mc "cli_check --bar --pause 0.2 & wait"'
	run ! grep -q steps shown
	drawn 80 'TERM=dumb cli_check --bar --pause 0.2'
	run ! grep -q steps shown
	drawn 80 'cli_check -q --bar --pause 0.2'
	[ ! -s sent ]
	seq 3 >three
	tok -m "$GOLDEN/bert" -o three.mts three
	mkfifo pipe # held open: the stream may go on
	drawn 80 'mts to jsonl <pipe & exec 7>pipe; cat three.mts >&7
		until [ "$(sed -n "s/^wchar: //p" /proc/$!/io)" -gt 30 ]; do sleep 0.05; done
		cli_check --bar --pause 0.2; exec 7>&-; wait'
	grep -q '{"text.ids":' shown
	run ! grep -q steps shown
}

@test "progress: shows the share that was read of plain and compressed files, of several files, and of streams" {
	seq 3000 >a.txt
	seq 100000 | gzip >b.txt.gz
	tok -m "$GOLDEN/bert" --progress -o a.mts a.txt 2>err
	grep -qE '^tok: 3 k texts  100%  .* left$' err
	tok -m "$GOLDEN/bert" --progress -o b.mts a.txt b.txt.gz 2>err
	grep -qE '^tok: 103 k texts  100%  .* left$' err
	mts from tsv -o texts.mts <(echo text; cat a.txt)
	tok -m "$GOLDEN/bert" --progress -o c.mts texts.mts 2>err
	grep -qE '^tok: 3 k texts  100%  ' err
	tok -m "$GOLDEN/bert" --progress -o c.mts <a.txt 2>err
	grep -qE '^tok: 3 k texts  100%  ' err
	tok -m "$GOLDEN/bert" --progress --shard 2/3 -o c.mts a.txt a.txt 2>err
	grep -qE '^tok: [0-9.]+ k texts  100%  .* left$' err
	cat a.txt | tok -m "$GOLDEN/bert" --progress -o c.mts 2>err
	grep -qE '^tok: 3 k texts  [0-9.]+( k)? texts/s  0:[0-9]+$|^tok: 3 k texts  .* M texts/s  0:00$' err
	# most texts repeat
	tok -m "$GOLDEN/bert" -o c.mts < <(printf 'the dog\n%.0s' {1..100})
	encode -m "$GOLDEN/bert" --progress -o e.mts c.mts 2>err
	grep -qE '^encode: [0-9]+ tokens  100%  ' err
	encode -m "$GOLDEN/bert" --progress <(cat c.mts) 2>err >/dev/null
	run ! grep -q % err
	for command in "cat -o x.mts" "rows -o x.mts" stat "to jsonl" "to tsv" "to npy -c text.emb"; do
		mts $command --progress e.mts 2>err >/dev/null
		grep -qE '^mts: 100 rows  100%  ' err
	done
	mts cat --progress e.mts e.mts -o x.mts 2>err
	grep -qE '^mts: 200 rows  100%  ' err
	mts diff --progress e.mts e.mts 2>err
	grep -qE '^mts: 100 rows  100%  ' err
	mts paste --progress e.mts <(mts cat e.mts --rename text.emb=other) -o x.mts 2>err
	grep -qE '^mts: 100 rows  100%  ' err
	mts to npy e.mts -o x.npy
	mts from npy --progress x.npy -o x.mts 2>err
	grep -qE '^mts: 100/100 rows  100%  ' err
	mkstream random 300 8 1 >r.mts
	near --progress r.mts r.mts -o x 2>err
	grep -qE '^near: 300 documents  100%  ' err
	grep -qE '^near: 300 queries  100%  ' err
	mts from tsv --progress <(printf 'a\n1\n2\n') -o x.mts 2>err
	grep -qE '^mts: 2 rows  ' err
	mts stat e.mts 2>err >/dev/null
	[ ! -s err ]
}
