#!/usr/bin/env bats
load helper
load scores

# mts index, and near with an index.

setup() { cd "$T" || return; }

# same QUERIES INDEX STREAM...: near answers from the index as from the streams, to the byte
same() {
	near --json "$1" "$2" >of.index
	near --json "$1" "${@:3}" | cmp - of.index
}

# vectors COUNT WIDTH SEED: vectors near a subspace of ten dimensions, like those of texts
vectors() {
	seeded_awk -v count="$1" -v width="$2" -v seed="$3" 'BEGIN { srand(9); for (k = 0; k < 10; k++) for (j = 0; j < width; j++) base[k, j] = rand() - 0.5
		srand(seed); for (i = 1; i <= count; i++) { for (k = 0; k < 10; k++) z[k] = rand() + rand() - 1
			printf "{\"_id\":\"d%d\",\"text\":\"text of d%d\",\"x.emb\":[", i, i
			for (j = 0; j < width; j++) { x = 0.1 + rand() / 10; for (k = 0; k < 10; k++) x += z[k] * base[k, j]
				printf "%.5f%s", x, j < width - 1 ? "," : "]}\n" } } }'
}

# 1. known answers

@test "index: near finds in an index what it finds in the streams, to the byte, with every option" {
	stream queries corpus
	mts index -o c.index corpus.mts
	mts index --check c.index
	for options in "" "-k 1" "-k 200" "--exclude-self" "--threshold 0.3" "--run -" "--any-model -k 3"; do
		# shellcheck disable=SC2086
		near $options queries.mts corpus.mts >answer
		# shellcheck disable=SC2086
		near $options queries.mts c.index | cmp - answer
		for isa in plain avx2; do
			# shellcheck disable=SC2086
			MOTES_ISA=$isa near -j 1 $options queries.mts c.index | cmp - answer
		done
	done
	mts index --similarity dot -o dot.index corpus.mts
	near --similarity dot --json queries.mts corpus.mts >answer
	near --similarity dot --json queries.mts dot.index | cmp - answer
	# many queries are compared by matrix products, few by codes
	for i in 1 2 3 4 5 6; do jq -c "._id += \"-$i\"" "$GOLDEN/score_queries.jsonl"; done | mkstream >many.mts
	[ "$(near --json many.mts c.index | wc -l)" -gt 32 ]
	same many.mts c.index corpus.mts
	# mteb-score searches an index
	mteb-score -q retrieval --qrels "$GOLDEN/score_qrels.tsv" queries.mts corpus.mts >answer
	mteb-score -q retrieval --qrels "$GOLDEN/score_qrels.tsv" queries.mts c.index | cmp - answer
}

@test "index: thousands of rows, widths that are no multiple of a cache line, texts" {
	for width in 1 3 70 128; do
		vectors 3000 $width 1 | mkstream >c.mts
		vectors 3 $width 2 | mkstream >q.mts
		rm -rf c.index
		mts index -o c.index c.mts
		same q.mts c.index c.mts
		MOTES_ISA=plain near --json q.mts c.index | cmp - of.index
		MOTES_ISA=avx2 near --json -j 1 q.mts c.index | cmp - of.index
	done
	grep -q '"text":"text of d' of.index
}

@test "index: --rescore N compares the N best by bits; a greater N is closer to the exact answer" {
	vectors 2000 96 1 | mkstream >c.mts
	vectors 20 96 2 | mkstream >q.mts
	mts index -o c.index c.mts
	near --json q.mts c.index >exact
	for n in 1 5 20; do
		near --json --rescore $n q.mts c.index >n$n
		MOTES_ISA=plain near --json -j 1 --rescore $n q.mts c.index | cmp - n$n
		MOTES_ISA=avx2 near --json --rescore $n q.mts c.index | cmp - n$n
		# hits of both answers, of 200
		cat exact n$n | jq -r '.id as $q | .hits[] | "\($q) \(.id) \(.score)"' | sort | uniq -d | wc -l
	done >recall
	paste -sd' ' recall
	awk '{ if ($1 < last) exit 1; last = $1 } NR == 1 && $1 < 80 { exit 1 } END { if (last < 198) exit 1 }' recall
	# N above the number of rows compares them all
	near --json --rescore 1000 q.mts c.index | cmp - exact
	near --json --rescore 1000 --threshold 0.5 q.mts c.index | cmp - <(near --json --threshold 0.5 q.mts c.mts)
	# d1 of the corpus has the name of a query
	near --json -k 1 --rescore 2 --exclude-self q.mts c.index | jq -se 'map(select(.id == .hits[0].id)) == []'
	near --json -k 1 --rescore 2 <(mts rows --rows 1-20 c.mts) c.index | jq -se 'map(.id == .hits[0].id) | all'
}

@test "index: NaN, zeros, repeated ids, subnormal and large numbers, and ties give the answer of the streams" {
	printf '%s\n' '{"_id":"q","x.emb":[1,0,0.5]}' '{"_id":"n","x.emb":[null,0,1]}' '{"_id":"z","x.emb":[0,0,0]}' | mkstream >q.mts
	{
		printf '%s\n' '{"_id":"a","x.emb":[1,0.2,0]}' '{"_id":"a","x.emb":[1,0,0]}' '{"_id":"n","x.emb":[null,0,0]}' '{"_id":"z","x.emb":[0,0,0]}'
		for i in 1 2 3 10 20; do echo "{\"_id\":\"t$i\",\"x.emb\":[2,1,2]}"; done
		printf '%s\n' '{"_id":"s","x.emb":[1e-42,3e-41,0]}' '{"_id":"b","x.emb":[1e18,-1e18,3]}' '{"_id":"c","x.emb":[1e-22,1e-22,1e-22]}'
	} | mkstream >c.mts
	for kind in cosine dot; do
		run -0 --separate-stderr mts index --similarity $kind -o $kind.index c.mts
		[[ $stderr == *"1 rows repeat an id: the first one of each id counts; first: 'a'"* ]]
		[[ $stderr == *"1 embeddings are not finite: "*"first: 'n'"* && $stderr == *"1 embeddings are zero: "*"first: 'z'"* ]]
		near -q --similarity $kind --json q.mts c.mts >answer
		near -q --similarity $kind --json q.mts $kind.index | cmp - answer
		near -q --similarity $kind -k 3 --json q.mts c.mts >answer
		near -q --similarity $kind -k 3 --json q.mts $kind.index | cmp - answer
	done
	# subnormal products
	seeded_awk 'BEGIN { srand(4); for (i = 0; i < 1500; i++) { printf "{\"id\":%d,\"x.emb\":[", i; for (j = 0; j < 8; j++) printf "%.6e%s", (rand() - 0.5) * 1e-22, j < 7 ? "," : "]}\n" } }' | mkstream >s.mts
	mts index --similarity dot -o s.index s.mts
	near -q --json --similarity dot <(mts rows --rows 1-3 s.mts) s.mts >answer
	near -q --json --similarity dot <(mts rows --rows 1-3 s.mts) s.index | cmp - answer
}

@test "index: rows without ids are called by their numbers; integer ids, columns and texts are kept" {
	printf '{"text.emb":[%s]}\n' 1,0 1,0 0.6,0.8 | mkstream 2 >rows.mts
	mts index -o rows.index rows.mts
	same rows.mts rows.index rows.mts
	printf 'one\ntwo\nthree\n' >lines.txt
	near --json --texts lines.txt rows.mts rows.mts >answer
	near --json --texts lines.txt rows.mts rows.index | cmp - answer
	dies "near: rows.index: its rows have no ids, by which a run names the rows" near --run run <(echo '{"_id":"q","text.emb":[1,0]}' | mkstream) rows.index
	dies "near: rows.mts and rows.index: without ids on both sides" near --exclude-self rows.mts rows.index
	printf '{"id":%d,"path":"%s","x.emb":[%s],"y.emb":[%s]}\n' 7 seven 1,0 0,1 10 ten 0,1 1,0 | mkstream >two.mts
	mts cat --rename path=text two.mts | mts index -f y -o y.index
	mts cat --rename path=text two.mts >named.mts
	near -f y --json --texts <(mts to jsonl named.mts) two.mts two.mts >answer
	near -f y --json two.mts y.index | cmp - answer
	grep -q '"id":7,"text":"seven"' answer
	dies "near: y.index: its vectors are those of the column y.emb, not of 'x'" near -f x two.mts y.index
	dies "near: y.index: is an index, which shows the texts that it was made with" near --show path -f y two.mts y.index
}

@test "index: --append adds rows; the answer is that of both streams" {
	vectors 600 20 1 | mkstream >a.mts
	vectors 300 20 5 | jq -c '._id += "b" | ."x.emb"[0] *= 9' | mkstream >b.mts # values beyond the ranges of the first stream
	vectors 5 20 2 | mkstream >q.mts
	mts index -o c.index a.mts
	same q.mts c.index a.mts
	mts index --append -o c.index b.mts
	mts index --check c.index
	same q.mts c.index a.mts b.mts
	near -k 5 --json --rescore 50 q.mts c.index | cmp - <(near -k 5 --json q.mts a.mts b.mts)
	# a second append finds no row with a new id, and leaves each file as it is
	for how in "" "--codes-only" "--cells 8" "--graph 8"; do
		rm -rf d.index
		mts index -q $how -o d.index a.mts
		mts index --append -o d.index b.mts
		find d.index -type f -exec md5sum {} + | sort >before
		run -0 --separate-stderr mts index --append -o d.index b.mts
		[[ $stderr == *"mts: warning: b.mts: there is no new row in it; the index stays as it is" ]]
		find d.index -type f -exec md5sum {} + | sort | diff before -
		mts index --check d.index
	done
	mts index -q --append -o c.index b.mts
	same q.mts c.index a.mts b.mts
	mts index --check c.index
	# an index of several streams, one of them a pipe
	rm -r c.index
	mts cat a.mts | mts index -o c.index - b.mts
	same q.mts c.index a.mts b.mts
}

# 2. faults

@test "index: usage errors, a folder that is not an index, other models, widths and similarities are refused" {
	echo '{"_id":"q","x.emb":[1,0]}' | mkstream >c.mts
	mts index -o c.index c.mts
	for words in "c.mts" "--output= c.mts" "--check" "--check c.index c.index" "--check -o x c.index" "--level 3 -o x c.mts"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mts index $words
		[ -z "$output" ]
	done
	for words in "--rescore 4 c.mts c.mts" "c.mts c.index c.mts" "c.mts c.index c.index" "--rescore 0 c.mts c.index"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near $words
		[ -z "$output" ]
	done
	dies "near: c.index: is an index; --self reads a stream" near --self c.index
	dies "near: c.index: is a folder, not a tensor stream; near takes an index behind the queries" near c.index c.mts
	dies "mts: c.index: exists (--append adds rows to it); choose another name, or remove it first" mts index -o c.index c.mts
	mkdir full && touch full/x
	dies "mts: full: exists; choose another name, or remove it first" mts index -o full c.mts
	dies "mts: c.mts: exists and is not a folder" mts index -o c.mts c.mts
	ln -s none link
	dies "mts: link: exists and is not a folder that can be read" mts index -o link c.mts
	dies "mts: no.index: there is no index" mts index --append -o no.index c.mts
	mts rows --rows 2 c.mts >empty.mts
	dies "mts: empty.mts: there is no row in it" mts index -o x.index empty.mts
	mkdir empty.index
	mts index -o empty.index c.mts
	for id in q; do
		echo "{\"_id\":\"$id\",\"x.emb\":[1,0]}" | mkstream 1 f32 aaaa >aaaa.mts
		echo "{\"_id\":\"$id\",\"x.emb\":[1,0]}" | mkstream 1 f32 bbbb >bbbb.mts
		echo "{\"_id\":\"$id\",\"x.emb\":[1,0]}" | mkstream 1 f32 dddd dot >dot.mts
		echo "{\"_id\":\"$id\",\"x.emb\":[1,0,1]}" | mkstream >wide.mts
	done
	mts index -o a.index aaaa.mts
	dies "near: bbbb.mts: its vectors are of model bbbb, those of a.index of model aaaa: " near bbbb.mts a.index
	near --any-model bbbb.mts a.index
	near c.mts a.index
	dies "mts: bbbb.mts: its vectors are of model bbbb, those of a.index of model aaaa: " mts index --append -o a.index bbbb.mts
	dies "near: wide.mts: its vectors have width 3, those of a.index 2" near wide.mts a.index
	dies "near: c.index: its vectors are compared by cosine, those of dot.mts by dot" near dot.mts c.index
	dies "mts: dot.mts: its vectors are compared by dot, those of c.index by cosine" mts index --append -o c.index dot.mts
	dies "mts: numbers.mts: its rows have ids of another kind" mts index --append -o c.index <(echo '{"id":1,"x.emb":[1,0]}' | mkstream) 2>/dev/null || true
	[ -z "$(find . -name '*.part' -o -name '*.lock')" ]
}

@test "index: damaged, truncated and incomplete files are refused by name" {
	vectors 200 20 1 | mkstream >c.mts
	mts index -o c.index c.mts
	# files that are missing or shorter
	for file in vectors.f32 codes.u8 bits.u64 errors.f32 ids.u64 ids texts.u64 texts; do
		cp -r c.index x.index
		truncate -s -1 "x.index/$file"
		dies "near: x.index/$file: it has $(stat -c %s x.index/$file) bytes, and its index says " near c.mts x.index
		rm "x.index/$file"
		dies "near: x.index/$file: no such file" near c.mts x.index
		rm -r x.index
		# one changed byte
		cp -r c.index x.index
		printf X | dd of="x.index/$file" bs=1 seek=77 conv=notrunc status=none
		run -1 --separate-stderr mts index --check x.index
		[[ $stderr == "mts: x.index/$file: "*" the index is damaged; make it again" ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
		rm -r x.index
	done
	cp -r c.index x.index
	printf X | dd of=x.index/columns.f32 bs=1 seek=7 conv=notrunc status=none
	dies "near: x.index/columns.f32: it does not agree with its checksum" near c.mts x.index
	# index.json changed, truncated or of another kind
	for change in 's/"rows": 200/"rows": 100/' 's/cosine/dot/' 's/"width": 20/"width": 2/' 's/"version": 1/"version": 4/' '$d' 's/motes index/other/'; do
		rm -r x.index
		cp -r c.index x.index
		sed -i "$change" x.index/index.json
		run ! cmp -s x.index/index.json c.index/index.json
		run -1 --separate-stderr near c.mts x.index
		[ -z "$output" ]
		[[ $stderr == "near: x.index/index.json:"* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	# offsets of ids out of range
	rm -r x.index
	cp -r c.index x.index
	printf '\xff\xff\xff\xff\xff' | dd of=x.index/ids.u64 bs=1 seek=8 conv=notrunc status=none
	dies "near: x.index/ids.u64: row " near -k 200 c.mts x.index
}

@test "index: a process killed at any step leaves the old index or the new one; the next run adds the rows" {
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	vectors 90 12 1 | mkstream >a.mts
	vectors 30 12 4 | jq -c '._id += "b"' | mkstream >b.mts
	vectors 2 12 2 | mkstream >q.mts
	near --json q.mts a.mts >old
	near --json q.mts a.mts b.mts >new
	killed_at 0 mts index -o first.index a.mts 3>steps
	[ "$(wc -l <steps)" -gt 8 ]
	for ((n = 1; n <= $(wc -l <steps); n += 4)); do
		killed_at "$n" mts index -o k.index a.mts 3>/dev/null || [ $? -eq 137 ]
		[ ! -e k.index ] || near --json q.mts k.index | cmp - old
		rm -rf k.index*
	done
	cp -r first.index whole.index
	killed_at 0 mts index --append -o whole.index b.mts 3>steps
	for ((n = 1; n <= $(wc -l <steps); n++)); do
		rm -rf k.index*
		cp -r first.index k.index
		killed_at "$n" mts index --append -o k.index b.mts 3>/dev/null || [ $? -eq 137 ]
		near --json q.mts k.index >answer
		cmp -s answer old || cmp answer new
		mts index --check k.index
		cmp -s answer new || mts index --append -o k.index b.mts
		near --json q.mts k.index | cmp - new
		mts index --check k.index
	done
}

@test "index: near answers each line of an open pipe at once" {
	printf 'the %s\n' boat ship river fish >texts.txt
	tok -q -m "$GOLDEN/bert" --keep texts.txt | encode -q -m "$GOLDEN/bert" >c.mts
	mts index -o c.index c.mts
	mkfifo in out
	bash -o pipefail -c "tok -q -m $GOLDEN/bert --keep | encode -q -m $GOLDEN/bert | near -q --json -k 1 - c.index" <in >out 3>&- &
	live=$!
	exec 5>in 6<out
	for text in fish boat river ship fish; do
		echo "the $text" >&5
		IFS= read -r -t 600 -u 6 line
		[[ $line == "{\"id\":"*"\"text\":\"the $text\",\"hits\":[{\"id\":"*"\"text\":\"the $text\",\"score\":"* ]]
	done
	printf 'the %s\n' river ship >&5
	exec 5>&-
	[ "$(cut -d'"' -f6 <&6 | paste -sd,)" = "the river,the ship" ]
	exec 6<&-
	wait $live
}

@test "index: of two writers the second is refused" {
	vectors 50 8 1 | mkstream >a.mts
	mts index -o c.index a.mts
	mkfifo pipe
	mts index --append -o c.index pipe &
	writer=$!
	exec 5>pipe
	until [ -s c.index.lock ]; do sleep 0.01; done
	ln -s c.index other.index
	for name in c.index c.index/ other.index; do
		dies "mts: $T/c.index: process " mts index --append -o $name a.mts
	done
	vectors 5 8 3 | jq -c '._id += "b"' | mkstream >&5
	exec 5>&-
	wait $writer
	near --json -k 60 a.mts c.index | jq -se 'map(.hits | length == 55) | all'
}
