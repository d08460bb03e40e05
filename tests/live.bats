#!/usr/bin/env bats
load helper

# A pipe that stays open: each row is answered before the next is written.

setup() {
	cd "$T" || return
	mkfifo in out
}

teardown() {
	exec 5>&- 6<&-
	[ -z "${live:-}" ] || wait "$live" || true
}

# start COMMAND: runs it between the two pipes; descriptor 5 is its input, 6 its output
start() {
	bash -o pipefail -c "$1" <in >out 2>err 3>&- &
	live=$!
	exec 5>in 6<out
}

# says TEXT: writes the text, its escapes resolved, in one piece
says() {
	printf %b "$1" >&5
}

# answers PATTERN: the next line matches; a busy machine may take long
answers() {
	IFS= read -r -t 600 -u 6 line
	case $line in
	$1) ;;
	*) echo "answered: $line"; return 1 ;;
	esac
	printf '%s\n' "$line" >>answers
}

# ends STATUS: closes the pipe and reads the remaining output
ends() {
	exec 5>&-
	cat <&6 >>answers
	local status=0
	wait "$live" || status=$?
	live=
	[ "$status" -eq "$1" ]
}

chain="tok -m $GOLDEN/bert --keep | encode -m $GOLDEN/bert | mts to jsonl"

@test "live: each line is answered while the pipe stays open; the rows equal those of a file" {
	start "$chain"
	says 'a\n'
	answers '{"text":"a","text.emb":\[*'
	says 'the dog\nthe cat\n'
	answers '{"text":"the dog",*'
	answers '{"text":"the cat",*'
	says 'half a '
	says 'line\nand'
	answers '{"text":"half a line",*'
	says ' no end'
	ends 0
	printf 'a\nthe dog\nthe cat\nhalf a line\nand no end' >all.txt
	tok -m "$GOLDEN/bert" --keep all.txt | encode -m "$GOLDEN/bert" | mts to jsonl >expected
	cmp answers expected
	[ "$(wc -l <answers)" -eq 5 ]
}

@test "live: JSON Lines, TSV and CSV are answered, with the header in the same write or an earlier one" {
	start "$chain"
	says '{"id": 1, "text": "a dog"}\n\n'
	answers '{"id":1,"text":"a dog",*'
	says '{"id": 2, "text": "a cat"}\n'
	answers '{"id":2,*'
	ends 0
	start "tok -m $GOLDEN/bert --format tsv --keep | mts to tsv -c id,text"
	says 'id\ttext\n'
	says '01\ta dog\n'
	answers $'id\ttext'
	answers $'01\ta dog'
	says '2\ta cat\n'
	answers $'2\ta cat'
	ends 0
	start "mts from csv | mts to jsonl"
	says 'id,text\n1,"two\nlines"\n2,"a, b'
	answers '{"id":"1","text":"two\\nlines"}'
	says '"\n'
	answers '{"id":"2","text":"a, b"}'
	ends 0
}

@test "live: mts head shows each record when it arrives" {
	start "tok -m $GOLDEN/bert | mts head"
	says 'a dog\n'
	while IFS= read -r -t 600 -u 6 line && [[ $line != *text.ids* || $line == column* ]]; do :; done
	[[ $line == $'\ttext.ids\t['* ]]
	says 'a cat\n'
	ends 0
	grep -q '^record 2' answers
}

@test "live: near answers each query when it arrives, with the hits of a search in one go" {
	printf 'a cat\na dog\nthe tree\n' | tok -m "$GOLDEN/bert" --keep |
		encode -m "$GOLDEN/bert" --keep >corpus.mts
	questions="tok -m $GOLDEN/bert --keep | encode -m $GOLDEN/bert --keep"
	for how in '' '--json'; do
		rm -f answers
		start "$questions | near $how -k 1 corpus.mts"
		says 'a cat\n'
		if [ "$how" ]; then
			answers '{"id":1,"text":"a cat","hits":\[{"id":1,*'
		else
			answers 'a cat'
			answers '*1.0000  1  a cat'
		fi
		says 'the dog\n'
		[ "$how" ] || answers ''
		answers '*the dog*'
		says 'a tree\nthe cat\n'
		ends 0
		printf 'a cat\nthe dog\na tree\nthe cat\n' >all.txt
		eval "cat all.txt | $questions" | near $how -k 1 - corpus.mts >expected
		cmp answers expected
	done
}

@test "live: near --candidates reads all queries first: queries before a pause may have no candidates" {
	printf '{"_id": "x", "text": "a cat"}\n{"_id": "y", "text": "a dog"}\n' | tok -m "$GOLDEN/bert" |
		encode -m "$GOLDEN/bert" >corpus.mts
	printf 'b\tQ0\t%s\t1\t0.5\trun\n' x y >some.run
	start "tok -m $GOLDEN/bert --format jsonl | encode -m $GOLDEN/bert | tee seen | near --candidates some.run --run - corpus.mts"
	says '{"_id": "a", "text": "a cat"}\n'
	until [ -s seen ]; do sleep 0.1; done
	sleep 0.5 # near waits 0.02 s for more
	says '{"_id": "b", "text": "the dog"}\n'
	ends 0
	near -q --candidates some.run --run - seen corpus.mts | cmp - answers
	[ "$(wc -l <answers)" -eq 2 ]
	[ "$(grep -c 'queries have no candidates' err)" -eq 1 ]
}

@test "live: a repeated id is not answered again, and a warning is not repeated" {
	printf '{"_id": "x", "text": "a cat"}\n{"_id": "x", "text": "a dog"}\n' | tok -m "$GOLDEN/bert" |
		encode -m "$GOLDEN/bert" >corpus.mts
	start "tok -m $GOLDEN/bert --format jsonl | encode -m $GOLDEN/bert | near --run - corpus.mts"
	says '{"_id": "a", "text": "a cat"}\n'
	answers $'a\tQ0\tx\t1\t*\tmotes*'
	says '{"_id": "a", "text": "a dog"}\n'
	says '{"_id": "b", "text": "a dog"}\n'
	answers $'b\tQ0\tx*'
	ends 0
	[ "$(wc -l <answers)" -eq 2 ]
	[ "$(grep -c 'corpus.mts: 1 rows repeat an id' err)" -eq 1 ]
	[ "$(grep -c '<stdin>: 1 rows repeat an id' err)" -eq 1 ]
}

@test "live: lines that arrive together share a record; files and compressed input have full records" {
	start "tok -m $GOLDEN/bert | mts stat"
	seq 3000 >many
	says "$(head -n 700 many)\n"
	ends 0
	grep -qx $'records\t1' answers
	for files in "many" "- <many" "- < <(gzip -c many; sleep 0.2; seq 3 | gzip -c)"; do
		eval "tok -m $GOLDEN/bert $files" | mts stat >figures
		grep -qx $'records\t3' figures
	done
}

@test "live: JSON rows after a pause are read as in a file, or refused" {
	# strings, then another type: text, as in a file
	start 'mts from jsonl | mts to jsonl'
	says '{"a": "x", "b": null, "c": [1]}\n'
	answers '{"a":"x","b":"","c":\[1\]}'
	says '{"a": 1, "c": [2, 3]}\n{"a": {"d": 2}, "b": "y", "c": null}\n'
	ends 0
	printf '%s\n' '{"a": "x", "b": null, "c": [1]}' '{"a": 1, "c": [2, 3]}' \
		'{"a": {"d": 2}, "b": "y", "c": null}' >all.jsonl
	mts from jsonl all.jsonl | mts to jsonl | cmp - answers
	# null, then strings, then another type
	start 'mts from jsonl | mts to jsonl'
	says '{"a": null}\n'
	answers '{"a":""}'
	says '{"a": "x"}\n{"a": 1}\n'
	ends 0
	tail -n 2 answers | cmp - <(printf '{"a":"x"}\n{"a":"1"}\n')
	# integers, then values that would have changed the column's type in a file
	while IFS='|' read -r row message; do
		start 'mts from jsonl | mts to jsonl'
		says '{"a": 1}\n'
		answers '{"a":1}'
		says "$row\n"
		ends 1
		grep -qF "<stdin>:2: field $message" err
	done <<-'E'
		{"a": 1.5}|'a': a real where whole numbers were before (a pause of the input
		{"a": null}|'a': null or absent where whole numbers were before (a pause of the input
		{"a": "x"}|'a': not a number, as the values before it are (a pause of the input
		{"a": 2, "b": 1}|'b' appears here for the first time, too late to become a column; let the first 1 records
	E
}

@test "live: a pause after the rows that decide the columns changes no byte" {
	start 'mts from jsonl | mts to jsonl'
	says '{"a": "x"}\n'
	answers '{"a":"x"}'
	for ((i = 1; i < 1024; i++)); do says '{"a": "y"}\n'; done
	says '{"a": 1}\n'
	ends 1
	grep -qx "mts: <stdin>:1025: field 'a': not a string, as the values before it are" err
}
