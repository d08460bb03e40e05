#!/usr/bin/env bats
load helper

# near --listen: a Unix socket that answers streams of queries, each client in a process of its own.

setup() {
	cd "$T" || return
	mkstream random 300 12 1 >c.mts
	mkstream random 20 12 2 >q.mts
	mts index -o c.index c.mts
}

teardown() {
	[ -z "${server:-}" ] || kill -9 "$server" 2>/dev/null || true
	exec 5>&-
}

# listens OPTION...: starts near and waits for its socket; messages go to the file log
listens() {
	near --listen s.sock "$@" 2>log 3>&- &
	server=$!
	until [ -S s.sock ]; do kill -0 "$server" || { cat log; return 1; }; done
}

# ends: SIGTERM ends the server with status 0 and removes its socket
ends() {
	kill "$server"
	wait "$server"
	server=
	[ ! -e s.sock ]
}

# workers: the processes that serve clients
workers() { cat "/proc/$server/task/$server/children"; }

# logs TEXT: waits for the text in the log, where the server notes a client's failure at its end
logs() {
	until grep -q -- "$1" log; do sleep 0.01; done
}

# 1. known answers

@test "listen: answers equal a search's, to the byte, for one client after another and for several at once" {
	near --json -k 3 q.mts c.index >want
	for corpus in c.index c.mts; do
		listens --json -k 3 -j 2 $corpus
		near q.mts s.sock | cmp - want
		near s.sock <q.mts | cmp - want
		near -o out q.mts s.sock
		cmp out want
		rm out
		clients=()
		for i in 1 2 3 4 5 6 7 8; do
			near -o "answer$i" q.mts s.sock 3>&- &
			clients+=($!)
		done
		wait "${clients[@]}"
		for i in 1 2 3 4 5 6 7 8; do cmp "answer$i" want; done
		[ ! -s log ]
		ends
	done
}

@test "listen: text, --run and --where; more queries than a buffer holds" {
	listens c.index
	near q.mts s.sock | cmp - <(near q.mts c.index)
	# more than a pipe or a socket holds, both ways
	mkstream random 9000 12 3 >many.mts
	near many.mts s.sock | cmp - <(near many.mts c.index)
	ends
	listens --run - -k 5 c.mts
	near q.mts s.sock | cmp - <(near --run - -k 5 q.mts c.mts)
	ends
	mts to jsonl c.mts | jq -c '.n = (._id[1:] | tonumber)' | mkstream >n.mts
	mts index --columns n -o n.index n.mts
	listens --json --where 'n<50' n.index
	near q.mts s.sock | cmp - <(near --json --where 'n<50' q.mts n.mts)
	ends
}

@test "listen: an open connection gets each answer at once, while other clients are served" {
	listens --json -k 1 c.index
	mkfifo in
	near - s.sock <in >answers 3>&- &
	client=$!
	exec 5>in
	cat q.mts | head -c 100 >&5
	near q.mts s.sock | cmp - <(near --json -k 1 q.mts c.index)
	tail -c +101 q.mts >&5
	exec 5>&-
	wait $client
	cmp answers <(near --json -k 1 q.mts c.index)
	# a line of text through programs that stay open
	M=$GOLDEN/bert
	ends
	printf 'a red boat sails\nthe bird flies\n' | tok -m "$M" --keep | encode -m "$M" >words.mts
	listens --json -k 1 words.mts
	rm in
	mkfifo in
	{ tok -m "$M" | encode -m "$M" | near - s.sock; } <in >answers 3>&- &
	client=$!
	exec 5>in
	for text in 'the bird flies' 'a red boat sails'; do
		echo "$text" >&5
		until grep -q "\"text\":\"$text\"" answers; do sleep 0.01; done
	done
	exec 5>&-
	wait $client
	[ "$(wc -l <answers)" -eq 2 ]
	ends
}

@test "listen: 64 clients are served at once; the next waits until one has ended" {
	listens --json -k 1 c.index
	mkfifo in
	exec 5<>in
	clients=()
	for i in {1..64}; do
		near - s.sock <in 3>&- 5>&- &
		clients+=($!)
	done
	for ((tries = 0; tries < 3000; tries++)); do
		[ "$(workers | wc -w)" -lt 64 ] || break
		sleep 0.01
	done
	near -o answer q.mts s.sock 3>&- 5>&- &
	next=$!
	sleep 0.5
	[ "$(workers | wc -w)" -eq 64 ]
	[ ! -e answer ]
	kill "${clients[17]}"
	wait $next
	cmp answer <(near --json -k 1 q.mts c.index)
	kill "${clients[@]}" 2>/dev/null || true
	wait "${clients[@]}" || true
	ends
}

@test "listen: a search finds rows that were appended after the start" {
	listens --json -k 1 c.index
	near q.mts s.sock >before
	mts cat q.mts | mts to jsonl | jq -c '._id += "new"' | mkstream >new.mts
	mts index --append -o c.index new.mts
	near q.mts s.sock | jq -se 'all(.id + "new" == .hits[0].id)'
	run ! cmp -s before <(near q.mts s.sock)
	ends
}

# 2. what can go wrong

@test "listen: a client with bad queries gets the message and fails alone" {
	listens --json c.index
	mkstream random 3 5 1 >narrow.mts
	dies "near: s.sock: <stdin>: its vectors have width 5, those of c.index 12; encode both with one model and one --dim" near narrow.mts s.sock
	head -c 900 q.mts >cut.mts
	dies "near: s.sock: <stdin>: record 1: the stream is cut short" near cut.mts s.sock
	dies "near: s.sock: <stdin>: it is text, not a tensor stream" near <(echo text) s.sock
	dies "near: the queries: empty, there are no queries" near /dev/null s.sock
	run -1 near -o out cut.mts s.sock
	[ ! -e out ]
	logs 'width 5'
	logs 'cut short'
	near q.mts s.sock | cmp - <(near --json q.mts c.index)
	ends
}

@test "listen: clients that die half way or read nothing do not stop the server" {
	listens --json c.index
	mkfifo in
	near - s.sock <in >half 3>&- &
	client=$!
	exec 5>in
	head -c 500 q.mts >&5
	kill -9 $client
	wait $client || true
	exec 5>&-
	mkstream random 9000 12 3 >many.mts
	near many.mts s.sock | head -n 1 >/dev/null || true
	near q.mts s.sock | cmp - <(near --json q.mts c.index)
	# with a damaged index or a killed worker the client fails instead of taking half an answer for a whole one
	until [ -z "$(workers)" ]; do sleep 0.01; done
	near - s.sock <in >half 2>err 3>&- &
	client=$!
	exec 5>in
	head -c 500 q.mts >&5
	until [ -n "$(workers)" ]; do sleep 0.01; done
	# shellcheck disable=SC2046
	kill -9 $(workers)
	status=0
	wait $client || status=$?
	[ "$status" -eq 1 ]
	grep -q 'near: s.sock: the search was ended by signal 9' err
	exec 5>&-
	: >c.index/codes.u8
	dies "near: s.sock: c.index" near q.mts s.sock
	ends
}

@test "listen: SIGTERM ends running searches" {
	listens --json c.index
	mkfifo in
	near - s.sock <in >half 2>err 3>&- &
	client=$!
	exec 5>in
	head -c 500 q.mts >&5
	until [ -n "$(workers)" ]; do sleep 0.01; done
	worker=$(workers)
	ends
	status=0
	wait $client || status=$?
	[ "$status" -eq 1 ]
	grep -q 'near: s.sock: the search was ended by signal 15' err
	# shellcheck disable=SC2086
	run ! kill -0 $worker
}

@test "listen: a stale socket is replaced, one in use and other files are not; its mode is 600" {
	listens --json c.index
	[ "$(stat -c %a s.sock)" = 600 ]
	dies "near: s.sock: another process listens there" near --listen s.sock c.index
	near q.mts s.sock >/dev/null
	[ ! -s log ]
	kill -9 "$server"
	wait "$server" || true
	[ -S s.sock ]
	dies "near: s.sock: Connection refused" near q.mts s.sock
	old=$(stat -c %i s.sock)
	near --listen s.sock --json c.index 2>log 3>&- &
	server=$!
	while [ "$(stat -c %i s.sock)" = "$old" ]; do kill -0 "$server"; done
	near q.mts s.sock | cmp - <(near --json q.mts c.index)
	ends
	echo text >file
	dies "near: file: exists and is not a socket" near --listen file c.index
	grep -q text file
	dies "near: none/s.sock: cannot make its lock none/s.sock.lock: No such file or directory" near --listen none/s.sock c.index
	dies "near: $(printf '%0120d' 0): is too long for the path of a socket" near --listen "$(printf '%0120d' 0)" c.index
	[ -z "$(ls s.sock* 2>/dev/null)" ]
}

@test "listen: a client ends while a later one stays; a killed server's socket refuses connections, even while a client stays" {
	listens c.index
	mkfifo one two
	near - s.sock <one >one.out 3>&- 6>&- 7>&- &
	first=$!
	exec 6>one
	head -c 100 q.mts >&6
	until [ "$(workers | wc -w)" -eq 1 ]; do sleep 0.01; done
	near - s.sock <two >two.out 3>&- 6>&- 7>&- &
	second=$!
	exec 7>two
	head -c 100 q.mts >&7
	until [ "$(workers | wc -w)" -eq 2 ]; do sleep 0.01; done
	tail -c +101 q.mts >&6
	exec 6>&-
	wait "$first"
	[ "$(wc -l <one.out)" -gt 19 ]
	kill -9 "$server"
	wait "$server" || true
	server=
	dies "near: s.sock: Connection refused" near q.mts s.sock
	tail -c +101 q.mts >&7
	exec 7>&-
	wait "$second"
	cmp one.out two.out
}

@test "listen: of servers that start at once beside a stale socket, one listens" {
	listens c.index
	kill -9 "$server"
	wait "$server" || true
	server=
	[ -S s.sock ]
	servers=()
	for i in 1 2 3 4 5 6; do
		near --listen s.sock c.index 2>"log$i" 3>&- &
		servers+=($!)
	done
	until [ "$(cat log? | grep -c "s.sock: another process listens there")" -eq 5 ]; do sleep 0.01; done
	near q.mts s.sock >/dev/null
	[ ! -e s.sock.lock ]
	kill "${servers[@]}" 2>/dev/null || true
	wait "${servers[@]}" || true
	[ ! -e s.sock ]
}

@test "listen: the socket of a systemd unit is taken; a network socket is refused" {
	near --json q.mts c.index >want
	# passes descriptor 3, as systemd does
	activate='use Socket; $^F = 9; open(my $i, "</dev/null"); close(STDERR) if 0;
		my $family = shift; socket(my $s, $family eq "unix" ? AF_UNIX : AF_INET, SOCK_STREAM, 0) or die;
		bind($s, $family eq "unix" ? sockaddr_un("u.part") : sockaddr_in(0, inet_aton("127.0.0.1"))) or die "$!"; listen($s, 8) or die;
		rename("u.part", "u.sock"); # the name appears when the socket listens
		POSIX::dup2(fileno($s), 3); $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = shift; exec(@ARGV) or die'
	perl -MPOSIX -MSocket -e 1 2>/dev/null || skip "needs perl"
	perl -MPOSIX -e "$activate" unix 1 near --listen s.sock --json c.index 2>log &
	server=$!
	until [ -S u.sock ]; do kill -0 "$server"; done
	near q.mts u.sock | cmp - want
	[ ! -e s.sock ]
	kill "$server"
	wait "$server"
	server=
	# the socket's file belongs to systemd
	[ -S u.sock ]
	rm u.sock
	dies "near: what systemd hands over is no Unix socket that listens" perl -MPOSIX -e "$activate" inet 1 near --listen s.sock c.index
	dies "near: systemd hands over 2 sockets; the unit must have one" perl -MPOSIX -e "$activate" unix 2 near --listen s.sock c.index
	# LISTEN_PID of another process: the socket is not taken
	LISTEN_PID=1 LISTEN_FDS=1 near --listen s.sock --json c.index 2>log 3>&- &
	server=$!
	until [ -S s.sock ]; do kill -0 "$server"; done
	near q.mts s.sock | cmp - want
	ends
}

# 3. usage

@test "listen: options that do not apply, and a corpus that cannot be searched, are refused at once" {
	does_not_apply --output near --listen s.sock -o out c.index
	run -2 near --listen s.sock --self c.mts
	run -2 near --listen s.sock --run - --candidates x.run c.mts
	run -2 near --listen s.sock --merge x.run y.run
	run -2 --separate-stderr near --listen s.sock --run file c.index
	[[ $stderr == "near: --run: with --listen the run goes to the client: '-'"* ]]
	run -2 --separate-stderr near --listen s.sock
	run -2 --separate-stderr near --listen s.sock - </dev/null
	run -2 --separate-stderr near --listen s.sock --rescore 5 c.mts
	dies "near: none.mts: is not a file, which is read again for each client" near --listen s.sock none.mts
	dies "near: /dev/stdin: is not a file, which is read again for each client" near --listen s.sock /dev/stdin < <(cat c.mts)
	dies "near: c.index: it keeps no columns, which --where asks for" near --listen s.sock --where 'n=1' c.index
	dies "near: c.mts: column text.emb (f32 [12]): 'text.emb=1': a condition is of one value a row" near --listen s.sock --where text.emb=1 c.mts
	[ ! -e s.sock ]
	listens c.index
	does_not_apply --json near --json q.mts s.sock
	run -1 near q.mts s.sock c.mts
	ends
}
