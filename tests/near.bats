#!/usr/bin/env bats
load helper
load scores

# Rows of JSON in $1 as the stream $T/$1.mts, with MORE arguments of mkstream.
stream_of() { mkstream "${@:2}" >"$T/$1.mts"; }

few() {
	printf '%s\n' '{"_id":"q 1","text":"first\tquestion","text.emb":[1,0]}' \
		'{"_id":"q 2","text":"second","text.emb":[0,1]}' | stream_of q
	printf '%s\n' '{"_id":"a","text":"both","text.emb":[3,4]}' '{"_id":"long name","text":"one","text.emb":[2,0]}' \
		'{"_id":"q 2","text":"the\u001b[2J other\n","text.emb":[0,0.5]}' | stream_of c
}

# 1. known answers

@test "near: the nearest of numpy, by cosine and by dot product" {
	stream queries corpus
	for kind in cosine dot; do
		near --similarity $kind -k 5 --json "$T/queries.mts" "$T/corpus.mts" |
			jq -r '.id as $query | .hits[] | [$query, .id, .score] | @tsv' >"$T/out"
		cut -f1,2 "$T/out" | diff <(cut -f1,2 "$GOLDEN/near_$kind.tsv") -
		cut -f3 "$T/out" | within <(cut -f3 "$GOLDEN/near_$kind.tsv") 2e-6
	done
}

@test "near: a vector shorter than 1e-12 is divided by 1e-12" {
	echo '{"_id":"q","text.emb":[2,0]}' | stream_of q
	printf '%s\n' '{"_id":"a","text.emb":[3e-13,4e-13]}' '{"_id":"b","text.emb":[3e-11,-4e-11]}' | stream_of c
	near --json "$T/q.mts" "$T/c.mts" | jq -r '.hits[] | [.id, .score] | @tsv' >"$T/out"
	[ "$(cut -f1 "$T/out" | tr '\n' ' ')" = "b a " ]
	cut -f2 "$T/out" | within <(printf '0.6\n0.3\n') 1e-6
}

@test "near: for people, by hand" {
	few
	near "$T/q.mts" "$T/c.mts" >"$T/out"
	diff - "$T/out" <<-'END'
		first question
		  1  1.0000  long name  one
		  2  0.6000  a          both
		  3  0.0000  q 2        the?[2J other

		second
		  1  1.0000  q 2        the?[2J other
		  2  0.8000  a          both
		  3  0.0000  long name  one
	END
	near - "$T/c.mts" <"$T/q.mts" | cmp - "$T/out"
	near "$T/c.mts" <"$T/q.mts" | cmp - "$T/out"
	near -o "$T/file" "$T/q.mts" - <"$T/c.mts"
	cmp "$T/file" "$T/out"
}

@test "near -f: a column of vectors that is no X.emb, by its name; the texts are X" {
	few
	for name in q c; do mts cat --rename text.emb=text.hs "$T/$name.mts" >"$T/$name.hs.mts"; done
	near -f text.hs "$T/q.hs.mts" "$T/c.hs.mts" | diff <(near "$T/q.mts" "$T/c.mts") -
	run -1 --separate-stderr near -f text "$T/q.hs.mts" "$T/c.hs.mts"
	[[ $stderr == *"there is no column 'text.emb' of vectors"* ]]
}

@test "near: --json by hand" {
	few
	near --json -k 1 "$T/q.mts" "$T/c.mts" >"$T/out"
	diff - "$T/out" <<-'END'
		{"id":"q 1","text":"first\tquestion","hits":[{"id":"long name","text":"one","score":1}]}
		{"id":"q 2","text":"second","hits":[{"id":"q 2","text":"the\u001b[2J other\n","score":1}]}
	END
	printf '{"id":%d,"x.emb":[%s]}\n' 7 0,2 | stream_of numbers
	near --json "$T/numbers.mts" "$T/numbers.mts" >"$T/out"
	[ "$(cat "$T/out")" = '{"id":7,"hits":[{"id":7,"score":1}]}' ]
	printf '{"id":"a","x.emb":[3e38,3e38]}\n' | stream_of huge
	dies "near: $T/huge.mts: row 'a': its dot product with a query may exceed float32" \
		near --similarity dot --json "$T/huge.mts" "$T/huge.mts"
}

@test "near --run writes mteb-score's run, which scores like the search, with its settings" {
	stream queries corpus
	score() { mteb-score -q retrieval --qrels "$GOLDEN/score_qrels.tsv" "$@"; }
	mteb-score retrieval --run "$T/run" "$T/queries.mts" "$T/corpus.mts"
	near --run - "$T/queries.mts" "$T/corpus.mts" | cmp - "$T/run"
	for options in "" "--similarity dot" "--similarity dot --protocol v2"; do
		# shellcheck disable=SC2086
		score $options "$T/queries.mts" "$T/corpus.mts" >"$T/direct"
		# shellcheck disable=SC2086
		near ${options% --protocol*} "$T/queries.mts" "$T/corpus.mts" --run - |
			score ${options#--similarity dot} --from-run - | cmp - "$T/direct"
	done
	near -k 7 --threshold 0.25 --exclude-self --run "$T/run" "$T/queries.mts" "$T/corpus.mts"
	[[ $(score --from-run "$T/run" | head -1) == *" similarity cosine, "*", depth 7, threshold 0.25, identical ids ignored, documents 120, "* ]]
}

# 2. options

@test "near: -k, --threshold and --exclude-self" {
	few
	hits() { near --json "$@" | jq -r '[.hits[].id] | join(",")' | paste -sd' '; }
	[ "$(hits -k 2 "$T/q.mts" "$T/c.mts")" = 'long name,a q 2,a' ]
	[ "$(hits -k 1000000 "$T/q.mts" "$T/c.mts")" = 'long name,a,q 2 q 2,a,long name' ]
	[ "$(hits --threshold 0.8 "$T/q.mts" "$T/c.mts")" = 'long name q 2,a' ]
	[ "$(hits --threshold 0.81 "$T/q.mts" "$T/c.mts")" = 'long name q 2' ]
	[ "$(hits --exclude-self "$T/q.mts" "$T/c.mts")" = 'long name,a,q 2 a,long name' ]
	[ "$(hits --exclude-self -k 1 "$T/c.mts" "$T/c.mts")" = 'q 2 a a' ] # no place is lost
	near --threshold 2 "$T/q.mts" "$T/c.mts" >"$T/out"
	printf 'first question\n  nothing was found\n\nsecond\n  nothing was found\n' | cmp - "$T/out"
	[ "$(near --threshold 2 --run - "$T/q.mts" "$T/c.mts" | wc -c)" = 0 ]
}

@test "near: several streams are one corpus" {
	stream queries
	split -n r/3 "$GOLDEN/score_corpus.jsonl" "$T/part"
	for part in aa ab ac; do stream_of $part 7 <"$T/part$part"; done
	cat "$T/aa.mts" "$T/ab.mts" "$T/ac.mts" >"$T/all.mts"
	for options in "--run -" --json "" "--exclude-self -k 200"; do
		# shellcheck disable=SC2086
		near $options "$T/queries.mts" "$T/all.mts" >"$T/one"
		# shellcheck disable=SC2086
		near $options "$T/queries.mts" "$T/aa.mts" "$T/ab.mts" "$T/ac.mts" | cmp - "$T/one"
	done
	run -0 --separate-stderr near --json -k 1 "$T/aa.mts" "$T/aa.mts" "$T/aa.mts"
	[[ $stderr == *"aa.mts: 40 rows repeat an id: the first one of each id counts; first: "* ]]
	printf '{"_id":"x","start":%s,"text.emb":[1,2,3,4,5,6]}\n' 1 5 | stream_of passages
	run -0 --separate-stderr near --json "$T/queries.mts" "$T/passages.mts"
	[[ $stderr == *"1 passages repeat an id: the first one of each id counts; 'near --best' takes the best one, 'mts cat --rename' of the id all; first: 'x'" ]]
	echo '{"_id":"x","text.emb":[1,2]}' | stream_of narrow
	run -1 --separate-stderr near "$T/queries.mts" "$T/aa.mts" "$T/narrow.mts"
	[[ $stderr == *"narrow.mts: its vectors have width 2, those of "*"queries.mts 6; "* ]]
	echo '{"name":"x","text.emb":[1,2,3,4,5,6]}' | stream_of bare
	run -1 --separate-stderr near "$T/queries.mts" "$T/aa.mts" "$T/bare.mts"
	[[ $stderr == *"bare.mts: its rows have no ids, those of "*"aa.mts ids"* ]]
	run -1 --separate-stderr near "$T/queries.mts" "$T/aa.mts" "$T/nowhere.mts"
	[ -z "$output" ]
	[[ $stderr == *"nowhere.mts: "* ]]
}

@test "near: rows without ids are called by their numbers" {
	printf '{"text.emb":[%s]}\n' 1,0 1,0 0.6,0.8 | stream_of rows 2
	hits() { near --json "$@" "$T/rows.mts" | jq -c '[.id, [.hits[].id]]' | paste -sd' '; }
	[ "$(hits "$T/rows.mts")" = '[1,[1,2,3]] [2,[1,2,3]] [3,[3,1,2]]' ] # equal ones: the earlier first
	[ "$(hits --exclude-self "$T/rows.mts")" = '[1,[2,3]] [2,[1,3]] [3,[1,2]]' ]
	cp "$T/rows.mts" "$T/copy.mts"
	# behind another stream, rows have other numbers than queries
	[ "$(hits --exclude-self "$T/rows.mts" "$T/copy.mts")" = '[1,[1,2,5,3,6]] [2,[1,2,4,3,6]] [3,[3,1,2,4,5]]' ]
	for files in "copy rows" "rows rows rows"; do
		# shellcheck disable=SC2046,SC2086
		run -1 --separate-stderr near --exclude-self $(printf "$T/%s.mts " $files)
		[[ $stderr == *".mts: it has no ids and is "*" of the files of the corpus: "* ]]
	done
	few
	for files in "q rows" "rows c"; do
		# shellcheck disable=SC2046,SC2086
		run -1 --separate-stderr near --exclude-self $(printf "$T/%s.mts " $files)
		[[ $stderr == *"one of them has ids, the other none"* ]]
		# shellcheck disable=SC2046,SC2086
		run -1 --separate-stderr near --run "$T/run" $(printf "$T/%s.mts " $files)
		[[ $stderr == *"rows.mts: there is no column '_id' or 'id', by which a run names the rows"* ]]
		[ ! -e "$T/run" ]
	done
}

@test "near --text: the texts of the hits from a file" {
	few
	printf '%s\n' '{"_id":"q 2","text":"Z"}' '{"_id":"a","text":"A"}' '{"_id":"other","text":"-"}' \
		'{"_id":"long name","text":"N"}' | zstd -q >"$T/texts.jsonl.zst"
	texts() { near --json "$@" | jq -r '[.hits[].text] | join(",")' | paste -sd' '; }
	[ "$(texts --texts "$T/texts.jsonl.zst" "$T/q.mts" "$T/c.mts")" = 'N,A,Z Z,A,N' ]
	printf 'id\ttext\na\tA\n' >"$T/texts.tsv"
	run -0 --separate-stderr near --texts "$T/texts.tsv" "$T/q.mts" "$T/c.mts"
	[[ $stderr == *"texts.tsv: 2 documents that were found have no text 'text' there; first: 'long name'"* ]]
	[[ ${lines[2]} == "  2  0.6000  a          A" && ${lines[1]} == "  1  1.0000  long name" ]]
	run -1 --separate-stderr near --texts <(echo '{"text":"A"}') "$T/q.mts" "$T/c.mts"
	[[ $stderr == *":1: there is no '_id' or 'id'"* ]]
	# integers are ids, too; the field's own name comes first
	printf '{"id":%d,"said.emb":[%s]}\n' 1 1,0 2 0,1 | stream_of said
	printf '{"id":%d,"text":"no","said":"%s"}\n' 2 two 1 one >"$T/said.jsonl"
	[ "$(texts --texts "$T/said.jsonl" "$T/said.mts" "$T/said.mts")" = 'one,two two,one' ]
	printf '{"id":%d,"text":"%s"}\n' 2 two 1 one >"$T/said.jsonl"
	[ "$(texts --texts "$T/said.jsonl" "$T/said.mts" "$T/said.mts")" = 'one,two two,one' ]
	# without ids: row by row
	printf '{"text.emb":[%s]}\n' 1,0 0,1 | stream_of rows
	printf 'one\ntwo\n' >"$T/lines.txt"
	[ "$(texts --texts "$T/lines.txt" "$T/rows.mts" "$T/rows.mts")" = 'one,two two,one' ]
	for lines in 'one' 'one\ntwo\nthree'; do
		printf '%b\n' "$lines" >"$T/lines.txt"
		run -1 --separate-stderr near --texts "$T/lines.txt" "$T/rows.mts" "$T/rows.mts"
		[ -z "$output" ]
		[[ $stderr == *"lines.txt: it has "*" texts, and the corpus 2 rows without ids: "* ]]
	done
}

@test "near: subnormal products are kept by every kernel" {
	vectors() { # COUNT SEED
		seeded_awk -v count="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 1; i <= count; i++) {
			printf "{\"id\":%d,\"text.emb\":[", i; for (j = 1; j <= 64; j++) printf "%.6e%s", (rand() - 0.5) * 1e-22, j < 64 ? "," : "]}\n" } }'
	}
	vectors 20 1 | stream_of q
	vectors 2000 2 | stream_of c
	# where all are asked for, none is passed over
	near -q --json -k 2000 --similarity dot "$T/q.mts" "$T/c.mts" | jq -c '.hits[:20]' >"$T/all"
	near -q --json -k 20 --similarity dot "$T/q.mts" "$T/c.mts" | jq -c .hits | cmp - "$T/all"
	[ "$(jq -s 'map(.[19].score > 0) | all' "$T/all")" = true ]
}

@test "near: many blocks give the hits of one block, with the texts" {
	mkstream random 9 256 1 >"$T/q.mts"
	mkstream random 5000 256 2 >"$T/vectors.mts"
	seq -f '{"text":"text of d%g"}' 0 4999 | mts from jsonl - >"$T/texts.mts"
	mts paste "$T/vectors.mts" "$T/texts.mts" >"$T/c.mts"
	near --json -k 20 "$T/q.mts" "$T/c.mts" >"$T/one"
	jq -e '.hits | length == 20 and all(.text == "text of " + .id)' "$T/one" >"$T/all"
	[ "$(sort -u "$T/all")" = true ]
	near --json -k 20 --memory 1600K -j 2 "$T/q.mts" "$T/c.mts" | cmp - "$T/one" # of half a megabyte
	near --json -k 20 --memory 1600K -j 1 "$T/q.mts" "$T/c.mts" | cmp - "$T/one"
	near --exclude-self -k 1 --run - "$T/c.mts" "$T/c.mts" | awk '$1 == $3 { exit 1 } END { exit NR != 5000 }'
	run -1 --separate-stderr near --memory 100K "$T/q.mts" "$T/c.mts"
	[[ $stderr == *"q.mts: 9 queries with 10 hits each take "*" MB; allow that with --memory, or search for fewer at a time"* ]]
}

@test "near: texts do not drive the terminal" {
	echo '{"_id":"\u001b]0;x\u0007","text":" a\u202eb\n\t\u009b31m c\u0000d \u2067e\u00a0 é","text.emb":[1]}' | stream_of c
	near "$T/c.mts" "$T/c.mts" >"$T/out"
	printf 'a?b ?31m c?d ?e é\n  1  1.0000  ?]0;x?  a?b ?31m c?d ?e é\n' | diff - "$T/out"
}

@test "near: lines are as wide as the terminal" {
	need_terminal
	printf '{"text":"%s","text.emb":[1,0]}\n' 'not that long' '漢字漢字漢字漢字漢字漢字漢字' | stream_of c
	script -qec "stty cols 30; near -q '$T/c.mts' '$T/c.mts'" /dev/null >"$T/out"
	printf '%s\r\n' 'not that long' '  1  1.0000  1  not that long' '  2  1.0000  2  漢字漢字漢字…' '' \
		'漢字漢字漢字漢字漢字漢字漢字' '  1  1.0000  1  not that long' '  2  1.0000  2  漢字漢字漢字…' |
		diff - "$T/out"
	run ! script -qec "near '$T/c.mts'" /dev/null
	[[ $output == *"there are no queries: "*"c.mts is the corpus, and standard input a terminal"* ]]
}

# Golden values: tests/golden/columns.py (sentence-transformers' paraphrase_mining).
@test "near --self: each pair once, the best first, as paraphrase_mining finds them" {
	cd "$T"
	mkstream 7 <"$GOLDEN/columns_train.jsonl" >rows.mts
	pairs() { near --self --json "$@" | jq -r '[.pair[0].id, .pair[1].id, .score] | @tsv'; }
	same() {
		sort -n -k1,2 out | cut -f1,2 | diff <(tail -n +2 "$1" | sort -n -k1,2 | cut -f1,2) -
		# scores of floats, summed in another order
		cut -f3 out | within <(tail -n +2 "$1" | cut -f3) 1e-6
	}
	pairs --threshold 0.9 rows.mts >out
	same "$GOLDEN/columns_pairs.tsv"
	pairs -k 2 rows.mts >out
	same "$GOLDEN/columns_pairs_2.tsv"
	# ids go before row numbers
	jq -c '{_id: ("r" + (input_line_number | tostring)), "text.emb"}' "$GOLDEN/columns_train.jsonl" | mkstream 7 >named.mts
	pairs --threshold 0.9 named.mts | tr -d r | cut -f1,2 | sort -n | diff <(tail -n +2 "$GOLDEN/columns_pairs.tsv" | cut -f1,2 | sort -n) -
}

@test "near --self, --show: by hand" {
	cd "$T"
	printf '%s\n' '{"_id":"a","text":"one","path":"x/1.txt","line":7,"v.emb":[1,0]}' '{"_id":"long","text":"two","path":"","line":8,"v.emb":[0.6,0.8]}' \
		'{"_id":"c","text":"three","path":"z","line":9,"v.emb":[0,1]}' | mkstream >x.mts
	near --self --threshold 0.5 x.mts | diff - <(printf '%s\n' '0.8000  long  two' '        c     three' '' '0.6000  a     one' '        long  two')
	near --self -k 1 --show line x.mts | diff - <(printf '%s\n' '0.8000  long  8' '        c     9' '' '0.6000  a     7' '        long  8')
	[ "$(near --self --threshold 2 x.mts)" = "nothing was found" ]
	[ -z "$(near --self --threshold 2 --json x.mts)" ]
	# a pipe that has a name, which once waited for ever
	mkfifo pipe
	cat x.mts >pipe &
	dies "near: pipe: is read twice, and is not a file; write it to one" timeout 20 near --self pipe
	kill $! || true
	near --self --json -k 1 --threshold 0.7 --show path x.mts |
		diff - <(echo '{"score":0.8,"pair":[{"id":"long","text":""},{"id":"c","text":"z"}]}')
	# queries show their texts
	mts rows --rows 1 x.mts >q.mts
	near --show path -k 2 q.mts x.mts | diff - <(printf '%s\n' one '  1  1.0000  a     x/1.txt' '  2  0.6000  long  ')
	near --show line --json -k 1 q.mts x.mts | diff - <(echo '{"id":"a","text":"one","hits":[{"id":"a","text":"7","score":1}]}')
	mts paste <(mts cat -c _id,v.emb x.mts) <(printf '{"b":%s}\n' true false true | mts from jsonl) >b.mts
	near --show b --json -k 2 q.mts b.mts | jq -c '[.hits[].text]' | diff - <(echo '["true","false"]')
	dies "near: x.mts: there is no column 'paht'" near --show paht q.mts x.mts
	dies "near: x.mts: column 'v.emb' should hold one text or number a row" near --show v.emb q.mts x.mts
	for wrong in "--self x.mts x.mts" "--self -" "--self" "--show path --texts x.txt q.mts x.mts"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near $wrong
		[ -z "$output" ]
	done
	dies "near: /dev/fd/63: is read twice, and is not a file; write it to one" near --self <(cat x.mts)
	does_not_apply --exclude-self near --self --exclude-self x.mts
	does_not_apply --show near --run - --show path q.mts x.mts
}

# 3. faults

@test "near: usage" {
	few
	for words in "" "-" "- -" "q.mts - -" "--similarity manhattan q c" "-k 0 q c" "--threshold high q c" "--memory x q c"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near $words
		[ -z "$output" ]
	done
	for option in --json "--texts x" "-o x"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near --run - $option "$T/q.mts" "$T/c.mts"
		[ -z "$output" ]
		[[ $stderr == "near: "*" does not apply to --run"* ]]
	done
}

@test "near: repeated ids, NaN, zeros" {
	echo '{"_id":"q","x.emb":[1,0]}' | stream_of q
	printf '%s\n' '{"_id":"a","x.emb":[1,0.2]}' '{"_id":"a","x.emb":[1,0]}' '{"_id":"n","x.emb":[null,0]}' \
		'{"_id":"z","x.emb":[0,0]}' | stream_of c 2
	for kind in cosine dot; do
		run -0 --separate-stderr near --similarity $kind --json "$T/q.mts" "$T/c.mts"
		[[ $stderr == *"1 rows repeat an id: the first one of each id counts; first: 'a'"* ]]
		[[ $stderr == *"1 embeddings are not finite: their similarities count as -1, as in the reference; first: 'n'"* ]]
		[[ $stderr == *"1 embeddings are zero: their similarities are 0; first: 'z'"* ]]
		jq -e '[.hits[].id] == ["a", "z", "n"] and [.hits[1:][].score] == [0, -1]' <<<"$output"
	done
}

# npy DESCRIPTION WIDTH BYTE...: rows of so many of these numbers, as NumPy stores them
npy() {
	local header
	printf -v header "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" "$1" $((($# - 2) / $2)) "$2"
	printf -v header '%-117s\n' "$header"
	printf '\x93NUMPY\x01\0\x76\0%s' "$header"
	printf '%b' "$(printf '\\x%02x' "${@:3}")"
}

@test "near: vectors of bytes and truth values count as their numbers; mts from npy goes straight in" {
	# 3 4, -4 3, 0 -1 as i8; 3 4, 252 3, 0 255 as u8
	for kind in '|i1' '|u1'; do
		npy "$kind" 2 3 4 252 3 0 255 | mts from npy - >"$T/c.mts"
		npy "$kind" 2 3 4 | mts from npy - >"$T/q.mts"
		near --similarity dot --json "$T/q.mts" "$T/c.mts" | jq -c '[.hits[] | [.id, .score]]' >>"$T/out"
		near --json "$T/q.mts" "$T/c.mts" | jq -c '[.hits[] | [.id, (.score * 1e4 | round)]]' >>"$T/out"
	done
	diff "$T/out" - <<-END
		[[1,25],[2,0],[3,-4]]
		[[1,10000],[2,0],[3,-8000]]
		[[3,1020],[2,768],[1,25]]
		[[1,10000],[3,8000],[2,6095]]
	END
	npy '|b1' 3 1 1 0 0 1 1 1 1 1 | mts from npy - >"$T/c.mts"
	near --similarity dot --json "$T/c.mts" "$T/c.mts" | jq -c '[.hits[] | [.id, .score]]' | diff - <(
		printf '%s\n' '[[1,2],[3,2],[2,1]]' '[[2,2],[3,2],[1,1]]' '[[3,3],[1,2],[2,2]]'
	)
	# X.emb goes before it
	npy '|u1' 2 1 0 0 1 1 1 | mts from npy - | mts cat --rename emb=x.emb | mts paste "$T/c.mts" - >"$T/both.mts"
	near --similarity dot --json "$T/both.mts" "$T/both.mts" | head -n 1 | jq -c '[.hits[] | [.id, .score]]' |
		diff - <(echo '[[1,1],[3,1],[2,0]]')
	# other programs, too
	run -0 geom isoscore "$T/c.mts"
}

@test "near: rows without ids take no memory for them, and are called by their numbers" {
	[ -x /usr/bin/time ] || skip "needs time(1)"
	mkstream random 300000 1 1 | mts cat -c text.emb >"$T/c.mts"
	mts rows --rows 250000-250001 "$T/c.mts" >"$T/q.mts"
	mts rows --rows 1-50000 "$T/c.mts" >"$T/few.mts"
	most() { /usr/bin/time -f %M -o "$T/kilobytes" near -k 1 -j 1 --json "$T/q.mts" "$1" >"$T/hits" && cat "$T/kilobytes"; }
	few=$(most "$T/few.mts")
	all=$(most "$T/c.mts")
	# of 19,000; ASan uses more memory
	[[ $BUILD == *-sanitize* ]] || [ "$all" -lt $((few + 10000)) ]
	[ "$(wc -l <"$T/hits")" = 2 ]
	mkstream random 30000 8 1 | mts cat -c text.emb >"$T/c.mts"
	near -k 1 --json <(mts rows --rows 25000-25001 "$T/c.mts") "$T/c.mts" >"$T/hits"
	jq -c '[.id, .hits[0].id]' "$T/hits" | diff - <(printf '%s\n' '[1,25000]' '[2,25001]')
	near --exclude-self -k 1 --json "$T/q.mts" "$T/q.mts" | jq -e '.id != .hits[0].id' >/dev/null
}

@test "near: a column of another name is found by --field, and the message says so" {
	npy '|u1' 2 1 0 | mts from npy - | mts cat --rename emb=vec >"$T/v.mts"
	run -1 --separate-stderr near "$T/v.mts" "$T/v.mts"
	[ "$stderr" = "near: $T/v.mts: there is no column '*.emb' of embeddings; of vectors there is vec: choose one with --field" ]
	run -1 --separate-stderr near -f n "$T/v.mts" "$T/v.mts"
	[ "$stderr" = "near: $T/v.mts: there is no column 'n.emb' of vectors, only: vec" ]
	near -f vec "$T/v.mts" "$T/v.mts"
}

@test "near, encode: text, NumPy and compressed input is named in the message" {
	few
	echo hi >"$T/hi"
	printf '{"text": "é"}\n' >"$T/a.jsonl"
	zstd -q "$T/a.jsonl"
	gzip -k "$T/a.jsonl"
	npy '|u1' 1 1 2 >"$T/x.npy"
	text="it is text, not a tensor stream; tok makes a stream of texts, 'mts from' one of tables of numbers"
	for file in hi a.jsonl a.jsonl.zst; do
		run -1 --separate-stderr near "$T/$file" "$T/c.mts"
		[ "$stderr" = "near: $T/$file: $text" ]
		run -1 --separate-stderr encode -m "$GOLDEN/bert" "$T/$file"
		[ "$stderr" = "encode: $T/$file: $text" ]
	done
	run -1 --separate-stderr encode -m "$GOLDEN/bert" <"$T/hi"
	[ "$stderr" = "encode: <stdin>: $text" ]
	run -1 --separate-stderr near "$T/x.npy" "$T/c.mts"
	[[ $stderr == "near: $T/x.npy: it is an array of NumPy, "*"'mts from npy' makes one of it" ]]
	run -1 --separate-stderr near "$T/a.jsonl.gz" "$T/c.mts"
	[[ $stderr == "near: $T/a.jsonl.gz: it is compressed by gzip, "* ]]
}

@test "near: refuses input that is no stream, of another model, truncated or empty" {
	few
	for model in aaaa bbbb; do
		echo '{"_id":"q","x.emb":[1,0]}' | stream_of $model 1 f32 $model
	done
	run -1 --separate-stderr near "$T/aaaa.mts" "$T/bbbb.mts"
	[[ $stderr == *"bbbb.mts: its vectors are of model bbbb, those of "*"aaaa.mts of model aaaa: "* ]]
	[ "$(near --any-model "$T/aaaa.mts" "$T/bbbb.mts" | wc -l)" = 2 ]
	# a stream that names no model is between them
	for id in p q r; do
		echo "{\"_id\":\"$id\",\"x.emb\":[1,0]}" | stream_of none.$id
	done
	for corpus in "$T/none.q.mts $T/aaaa.mts $T/none.r.mts $T/bbbb.mts" "$T/none.q.mts $T/aaaa.mts $T/bbbb.mts"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr near "$T/none.p.mts" $corpus
		[[ $stderr == *"bbbb.mts: its vectors are of model bbbb, those of "*"aaaa.mts of model aaaa: "* ]]
	done
	run -1 --separate-stderr geom whiten fit -o "$T/w" "$T/none.q.mts" "$T/aaaa.mts" "$T/bbbb.mts"
	[[ $stderr == *"bbbb.mts: its vectors are of model bbbb, those of "*"aaaa.mts of model aaaa: "* ]]
	run -1 --separate-stderr geom similarity "$T/none.q.mts" "$T/aaaa.mts" "$T/bbbb.mts"
	[[ $stderr == *"bbbb.mts: its vectors are of model bbbb, those of "*"aaaa.mts of model aaaa: "* ]]
	mkstream random 3000 64 1 >"$T/whole.mts"
	head -c 300000 "$T/whole.mts" >"$T/cut.mts"
	for files in "cut whole" "whole cut"; do
		# shellcheck disable=SC2046,SC2086
		run -1 --separate-stderr near -q -o "$T/file" $(printf "$T/%s.mts " $files)
		[ -z "$output" ]
		[[ ${#stderr_lines[@]} = 1 && $stderr == *"cut.mts: record "*": "*"cut short"* ]]
		[ ! -e "$T/file" ]
	done
	mts rows --where _id=none "$T/c.mts" >"$T/none.mts"
	run -1 --separate-stderr near "$T/none.mts" "$T/c.mts"
	[[ $stderr == *"none.mts: there is no query in it" ]]
	run -1 --separate-stderr near "$T/q.mts" "$T/none.mts"
	[[ $stderr == *"none.mts: there is no document in it" ]]
	# what does not belong to the first is told before anything is read
	mts rows --rows 1 "$T/whole.mts" | mts to jsonl | jq -c 'del(._id)' | stream_of nameless
	run -1 --separate-stderr near -q "$T/nameless.mts" "$T/cut.mts" "$T/nameless.mts"
	[[ $stderr == *"nameless.mts: "* ]]
	printf '{"_id":["a","b"],"text.emb":[1,0]}\n' | stream_of lists
	run -1 --separate-stderr near "$T/q.mts" "$T/lists.mts"
	[[ $stderr == *"lists.mts: column '_id' should hold one text or number a row" ]]
	mkstream </dev/null >"$T/none.mts"
	: >"$T/empty.mts"
	echo text >"$T/text.mts"
	for name in none empty text; do
		for files in "$name c" "c $name"; do
			# shellcheck disable=SC2046,SC2086
			run -1 --separate-stderr near $(printf "$T/%s.mts " $files)
			[ -z "$output" ]
			[[ ${#stderr_lines[@]} = 1 && $stderr == "near: "*"$name.mts: "* ]]
		done
	done
	run -1 --separate-stderr near -f other "$T/q.mts" "$T/c.mts"
	[[ $stderr == *"q.mts: there is no column 'other.emb'"* ]]
	for options in "" --json "--run -"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr bash -c "near $options '$T/q.mts' '$T/c.mts' >/dev/full"
		[[ $stderr == "near: "*"No space left on device"* ]]
	done
}

# 4. the page

@test "near --fuse: ranx's scores of every document, by ranks and by scaled scores" {
	cd "$T"
	for method in rrf "min-max --run-weights 0.3,0.7"; do
		# shellcheck disable=SC2086
		near --fuse $method "$GOLDEN/trec.run" "$GOLDEN/fuse.run" >fused
		awk -F'\t' -v method="${method%% *}" '
			NR == FNR { if ($1 == method) { wanted[$2, $3] = $4; all++ } next }
			{ d = $5 - wanted[$1, $3]; if (d < -1e-7 || d > 1e-7) { print; bad = 1 } all-- }
			$1 == before && $5 > score { print "not in order: " $0; bad = 1 }
			{ before = $1; score = $5 }
			END { exit bad || all != 0 || length(wanted) < 150 }' "$GOLDEN/fuse.tsv" fused
	done
}

@test "near --fuse: queries of one run alone, ties, -k, three runs by hand" {
	cd "$T"
	printf 'q Q0 a 1 3 x\nq Q0 b 2 2 x\nr Q0 a 1 5 x\n' >1.run
	printf 'q Q0 b 1 9 x\nq Q0 c 2 8 x\n' >2.run
	printf 's Q0 c 1 1 x\n' >3.run
	near --fuse rrf 1.run 2.run 3.run | cut -f 1,3 >got
	printf '%s\t%s\n' q b q a q c r a s c | cmp - got
	near --fuse rrf -k 1 -o top.run 1.run 2.run 3.run
	cut -f 3 top.run | paste -sd' ' | grep -x 'b a c'
	# a weight of 0 leaves a run's documents at 0; equal scores go by id, descending
	near --fuse min-max --run-weights 0,1 1.run 2.run | cut -f 1,3,5 >got
	printf '%s\t%s\t%s\n' q b 1 q c 0 q a 0 r a 0 | cmp - got
}

@test "near --fuse, --merge: invalid UTF-8 in a run is replaced with a warning, since ids may become equal" {
	printf 'q Q0 a\377 1 3 x\n' >"$T/odd.run"
	printf '{"id":"q","hits":[{"id":"a\377","score":2}]}\n' >"$T/odd.jsonl"
	printf 'q Q0 b 1 9 x\n' >"$T/even.run"
	cd "$T"
	for odd in odd.run odd.jsonl; do
		run -0 --separate-stderr near --fuse rrf $odd even.run
		[ "$stderr" = "near: warning: $odd: 1 invalid parts of UTF-8 were replaced by U+FFFD" ]
		grep -q 'a�' <<<"$output"
	done
}

@test "near --fuse, --merge, --mine: scores beyond float32 are refused, not infinite or NaN" {
	printf '%s\n' $'q\tQ0\ta\t1\t1e39\tt' $'q\tQ0\tb\t2\t1\tt' >"$T/far.run"
	printf '%s\n' $'q\tQ0\tc\t1\t1\tt' $'q\tQ0\td\t2\t-1e39\tt' >"$T/low.run"
	printf 'q\tQ0\te\t1\t0.5\tt\n' >"$T/near.run"
	echo '{"id":"q","hits":[{"id":"a","score":1e39}]}' >"$T/far.jsonl"
	printf 'q\ta\t1\n' >"$T/judged"
	local why="its score exceeds float32; scale the scores"
	for way in "--fuse min-max" "--fuse rrf" --merge; do
		dies "near: $T/far.run: query 'q', document 'a': $why" near $way "$T/near.run" "$T/far.run"
		dies "near: $T/low.run: query 'q', document 'd': $why" near $way "$T/low.run" "$T/near.run"
	done
	dies "near: $T/far.jsonl: query 'q', document 'a': $why" near --merge "$T/far.jsonl"
	dies "near: $T/far.run: query 'q', document 'a': $why" near --mine "$T/judged" "$T/far.run"
}

@test "near --fuse: wrong weights, a single run and other options are usage errors" {
	run -2 near --fuse rrf 1.run
	[[ ${lines[0]} == "near: --fuse takes two runs or more"* ]]
	for weights in 1 1,2,3 1, -1,1 1,x nan,1 1,inf 1,0x2 "1, 2" ""; do
		run -2 near --fuse rrf --run-weights "$weights" 1.run 2.run
		[[ ${lines[0]} == "near: --run-weights: '$weights' is not a list of 2 numbers from 0"* ]]
	done
	does_not_apply --similarity near --fuse rrf --similarity dot 1.run 2.run
	run -2 near --fuse min-max --run-weights 3e38,3e38 1.run 2.run
	[[ ${lines[0]} == "near: --run-weights: '3e38,3e38': the sum is beyond float32" ]]
	run -2 near --run-weights 1,2 q.mts c.mts
	[[ ${lines[0]} == "near: --run-weights needs --fuse" ]]
}

@test "near: the page's examples" {
	stream queries corpus
	cp "$T/corpus.mts" "$T/part1.mts"
	sed 's/"d/"e/; s/"q3"/"r3"/' "$GOLDEN/score_corpus.jsonl" | stream_of part2
	cp "$GOLDEN/score_qrels.tsv" "$T/test.tsv"
	printf 'what is it\n' >"$T/questions.txt"
	printf '{"_id":"%s","text":"%s"}\n' a one b two >"$T/corpus.jsonl"
	awk '/^\.Bd/ { on = 1; n++; next } /^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print >dir "/example." n }' \
		dir="$T" "$ROOT/man/near.1"
	cd "$T"
	[ "$(bash -e example.1 | wc -l)" = $((15 * 5 - 1)) ]
	[ "$(bash -e example.3 | grep -c '  1.0000  e')" -ge 120 ]
	bash -e example.8 >out
	[ "$(grep -c '^0\.9\|^1\.0' out)" -ge 1 ]
	[ "$(bash -e example.9 | wc -l)" = $((15 * 12 - 1)) ]
	sed -i "s/--cells 400/--cells 4/" example.10
	bash -e example.10 >out
	cmp out <(for i in 1 2 3 4; do near queries.mts corpus.mts; done)
	bash -eo pipefail example.4 >out
	mteb-score retrieval --qrels test.tsv queries.mts corpus.mts | cmp - out
	bash -eo pipefail example.5
	near --run - queries.mts part1.mts part2.mts | cmp - both.run
	cp 1.run words.run
	cp 2.run meaning.run
	bash -eo pipefail example.6
	near --fuse rrf --run-weights 1,2 1.run 2.run | cmp - both.run
	bash -eo pipefail example.7 | cut -f1,2 | diff - <(awk '!seen[$1]++' "$GOLDEN/near_cosine.tsv" | cut -f1,2)
	cp test.tsv train.tsv
	cp corpus.jsonl before.jsonl
	for side in queries corpus; do
		mts to jsonl -c _id $side.mts | sed 's/}/, "text": "any"}/' >$side.jsonl
	done
	bash -e example.11
	[ "$(wc -l <hard.jsonl)" -ge 10 ]
	jq -c '. + { lang: (if (._id | test("1")) then "de" else "en" end), year: 2001 }' "$GOLDEN/score_corpus.jsonl" | mkstream >corpus.mts
	bash -e example.12 >out
	cmp out <(for i in 1 2; do near queries.mts <(mts rows --where lang=de corpus.mts); done)
	mv before.jsonl corpus.jsonl
	tok -m "$GOLDEN/bert" -f text corpus.jsonl | encode -m "$GOLDEN/bert" >corpus.mts
	sed -i "s|-m MODEL|-m $GOLDEN/bert|g" example.2
	bash -eo pipefail example.2 >out
	[ "$(head -1 out)" = 'what is it' ]
	[ "$(awk 'NR > 1 { print $3, $4 }' out | sort | paste -sd' ')" = 'a one b two' ]
}
