#!/usr/bin/env bats
load helper
load index

# near --where on streams and on an index.

setup() { cd "$T" || return; }

# vectors COUNT SEED: rows of width 20 with ids, a language and a year
vectors() {
	seeded_awk -v count="$1" -v seed="$2" 'BEGIN { srand(seed); split("de en fr", lang, " "); for (i = 1; i <= count; i++) {
		printf "{\"_id\":\"d%d\",\"text\":\"text of d%d\",\"lang\":\"%s\",\"year\":%d,\"x.emb\":[", i, i, lang[int(rand() * 3) + 1], 1990 + int(rand() * 30)
		for (j = 0; j < 20; j++) printf "%.5f%s", rand() + rand() - 1, j < 19 ? "," : "]}\n" } }'
}

@test "where: the answer is that among the rows that pass, in a stream and in an index, to the byte" {
	vectors 2000 1 | mkstream 300 >c.mts
	vectors 40 2 | mkstream >many.mts
	mts rows --rows 1-3 many.mts >few.mts
	mts index -c lang,year -o c.index c.mts
	mts index --check c.index
	for where in "--where lang=de" "--where lang=de --where year>=2010" "--where lang~^(de|fr)$ --where year!=2000" "--where year<1992"; do
		# shellcheck disable=SC2086
		mts rows $where c.mts >some.mts
		for queries in few.mts many.mts; do
			for options in "--json" "--json -k 100 --exclude-self" "--json --threshold 0.4" "--run -"; do
				# shellcheck disable=SC2086
				near $options $queries some.mts >answer
				# shellcheck disable=SC2086
				near $options $where $queries c.mts | cmp - answer
				# shellcheck disable=SC2086
				near $options $where $queries c.index | cmp - answer
			done
		done
		# shellcheck disable=SC2086
		near --json -k 20 $where few.mts c.index >answer
		for isa in plain avx2; do
			# shellcheck disable=SC2086
			MOTES_ISA=$isa near -j 1 --json -k 20 --rescore 1000 $where few.mts c.index | cmp - answer
		done
	done
	# --self
	mts rows --where lang=fr c.mts >fr.mts
	near --self -k 3 --json fr.mts >answer
	near --self -k 3 --json --where lang=fr c.mts | cmp - answer
	# no row passes
	near --json --where year=1 few.mts c.mts >answer
	[ "$(jq -s 'map(.hits == []) | all' answer)" = true ]
	near --json --where year=1 few.mts c.index | cmp - answer
	near --json --where year=1 many.mts c.index | cmp - <(near --json --where year=1 many.mts c.mts)
}

@test "where: rows without ids keep their numbers; texts come from a file" {
	printf '{"kind":"%s","x.emb":[%s]}\n' a 1,0 b 1,0 a 0,1 b 0.6,0.8 b 0.9,0.1 | mkstream 2 >rows.mts
	printf '{"x.emb":[1,0]}\n' | mkstream >q.mts
	printf 'one\ntwo\nthree\nfour\nfive\n' >lines.txt
	mts index --columns kind -o rows.index rows.mts
	for corpus in rows.mts rows.index; do
		near --json --where kind=b --texts lines.txt q.mts $corpus >answer
		[ "$(jq -c '[.hits[] | [.id, .text]]' answer)" = '[[2,"two"],[5,"five"],[4,"four"]]' ]
	done
	near --json --where kind=b --self rows.mts | jq -c .pair >pairs
	[ "$(cat pairs)" = "$(printf '[{"id":%d},{"id":%d}]\n' 2 5 4 5 2 4)" ]
	near --json --exclude-self --where kind=b rows.mts rows.mts | jq -c '[.id, (.hits | map(.id))]' >others
	[ "$(cat others)" = "$(printf '%s\n' '[1,[2,5,4]]' '[2,[5,4]]' '[3,[4,5,2]]' '[4,[5,2]]' '[5,[2,4]]')" ]
	# a pipe is answered line by line under the same condition
	printf '{"x.emb":[1,0]}\n{"x.emb":[0,1]}\n' | mkstream 1 >two.mts
	near --json --where kind=a -k 1 two.mts rows.mts | cmp - <(near --json --where kind=a -k 1 - rows.mts <two.mts)
}

@test "where: attributes of records; an index of several streams, with repeated ids, with --append" {
	for n in 1 2; do vectors 100 $n | jq -c "._id = \"$n\" + ._id" | mkstream 30 >$n.mts; done
	mts rows --rows 1-50 1.mts >half.mts
	vectors 5 3 | mkstream >q.mts
	mts index -c year,lang -o c.index half.mts 1.mts
	mts index --append -o c.index 1.mts 2.mts
	mts index --check c.index
	near --json --where lang=en --where 'year>2000' q.mts 1.mts 2.mts >answer
	near --json --where lang=en --where 'year>2000' q.mts c.index | cmp - answer
	# each record has another step
	stream_make 3 10 4 a.mts
	mts index -q -c good -o a.index a.mts
	near -q --json --where step=1 <(mts rows --where step=1 a.mts) <(mts rows --where step=1 a.mts) >answer
	for corpus in a.mts a.index; do
		near -q --json --where step=1 <(mts rows --where step=1 a.mts) $corpus | cmp - answer
	done
	near -q --json --where good=true a.mts a.mts >answer
	near -q --json --where good=true a.mts a.index | cmp - answer
}

@test "where: usage errors, missing columns and damage are refused" {
	vectors 50 1 | mkstream >c.mts
	mts index -c lang -o c.index c.mts
	mts index -o none.index c.mts
	for words in "--where lang c.mts c.mts" "--where year=x --merge c.mts" "--where lang~( c.mts c.index"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near $words
		[ -z "$output" ]
	done
	run -2 mts index --append -c lang -o c.index c.mts
	dies "near: none.index: it keeps no columns, which --where asks for" near --where lang=de c.mts none.index
	run -1 --separate-stderr near --where shape=round c.mts c.index
	[[ $stderr == *"near: c.index/kept.1.mts: there is no column 'shape'"* ]]
	dies "near: c.index/kept.1.mts: row 1: column 'lang': '" near --where 'lang>3' c.mts c.index
	dies "mts: c.mts: there is no column 'lung'" mts index -c lung -o x.index c.mts
	[ ! -e x.index ]
	cp -r c.index x.index
	printf X | dd of=x.index/kept.1.mts bs=1 seek=90 conv=notrunc status=none
	dies "near: x.index/kept.1.mts: it does not agree with its checksum" near --where lang=de c.mts x.index
	dies "mts: x.index/kept.1.mts: it does not agree with its checksum" mts index --check x.index
	near c.mts x.index >answer
	rm x.index/kept.1.mts
	dies "near: x.index/kept.1.mts: no such file" near --where lang=de c.mts x.index
}
