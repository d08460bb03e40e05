#!/usr/bin/env bats
load helper
load index

# mts index --graph, and near --beam.

setup() { cd "$T" || return; }

numbers() { od -An -v -w$((4 * $2)) -t u4 "$1"; }

@test "graph: --beam finds nearly all hits, a wider beam more; without it the answer is exact to the byte" {
	grouped_vectors 3000 1 | mkstream 700 >c.mts
	grouped_vectors 40 2 | mkstream >q.mts
	mts index -j 2 --graph 16 -c part -o c.index c.mts
	mts index --check c.index
	near --json q.mts c.mts >exact
	near --json q.mts c.index | cmp - exact
	near --json --beam 3000 q.mts c.index | cmp - exact # a beam of all rows
	near --json --rescore 300 q.mts c.index | cmp - exact
	last=0
	for n in 10 20 40 100; do
		near --json --beam $n q.mts c.index >n$n
		MOTES_ISA=plain near -j 1 --json --beam $n q.mts c.index | cmp - n$n
		MOTES_ISA=avx2 near -j 2 --json --beam $n q.mts c.index | cmp - n$n
		found=$(common exact n$n)
		[ "$found" -ge "$last" ]
		last=$found
	done
	[ "$(common exact n10)" -ge 300 ]
	[ "$last" -ge 398 ]
	# queries searched one by one have the same answers
	for i in 1 2 3; do near --json --beam 20 <(mts rows --rows $i q.mts) c.index; done | cmp - <(head -3 n20)
	# a beam is at least as wide as -k
	near --json -k 40 --beam 1 q.mts c.index | cmp - <(near --json -k 40 --beam 40 q.mts c.index)
	near --json --beam 40 --threshold 0.3 q.mts c.index | cmp - <(jq -c '.hits |= map(select(.score >= 0.3))' n40)
	mts rows --rows 5-30 c.mts >own.mts
	near --json --exclude-self --beam 100 own.mts c.index >others
	near --json --exclude-self own.mts c.mts >exact
	[ "$(common exact others)" -ge 255 ]
	jq -se 'map(.id as $id | .hits | map(.id == $id) | any) | any | not' others >/dev/null
}

@test "graph: under a condition the beam is wider; if few rows pass, all of them are compared" {
	grouped_vectors 3000 1 | mkstream 700 | mts rows --where 'part!=3' >c.mts
	grouped_vectors 20 5 | mkstream >rare.mts
	grouped_vectors 40 2 | mkstream >q.mts
	mts index -j 2 --graph 16 -c part,_id -o c.index c.mts rare.mts
	for where in part=1 part!=2 "_id~^d1-1"; do
		near --json --where "$where" q.mts c.mts rare.mts >exact
		near --json --where "$where" --beam 40 q.mts c.index >some
		[ "$(common exact some)" -ge 388 ]
		near --json --where "$where" --beam 40 <(mts rows --rows 7 q.mts) c.index | cmp - <(sed -n 7p some)
	done
	for where in part=3 "_id~^d5" "_id~nothing"; do # conditions that 5, 20 and 0 rows pass
		near --json --where "$where" --beam 10 q.mts c.index | cmp - <(near --json --where "$where" q.mts c.mts rare.mts)
	done
}

@test "graph: each row has N links to near rows, whatever the number of threads; a row is found by its own vector" {
	grouped_vectors 1000 1 | mkstream >c.mts
	mts index -j 1 --graph 8 -o c.index c.mts
	for options in "plain 2" "avx2 1"; do
		read -r isa threads <<<"$options"
		rm -rf again.index
		MOTES_ISA=$isa mts index -j "$threads" --graph 8 -o again.index c.mts
		cmp c.index/links.u32 again.index/links.u32
	done
	[ "$(stat -c %s c.index/links.u32)" = $((1000 * 8 * 4)) ]
	# no link is repeated or leads to its own row; unused places come last
	numbers c.index/links.u32 8 | awk 'NF != 8 { exit 1 } { delete seen; end = 0
		for (i = 1; i <= 8; i++) { if ($i == 4294967295) { end = 1; continue }
			if (end || $i >= 1000 || $i == NR - 1 || seen[$i]++) exit 1; links++ } }
		END { if (links < 4000) exit 1 }'
	near --json -k 1 --beam 16 c.mts c.index | jq -e 'select(.hits[0].id != .id) | .id' >missed || true
	[ "$(wc -l <missed)" -le 50 ]
}

@test "graph: dot products of vectors with different lengths; an index of codes only" {
	grouped_vectors 2000 1 16 3 | mkstream >c.mts
	grouped_vectors 40 2 16 3 | mkstream >q.mts
	near --json --similarity dot q.mts c.mts >exact
	mts index --similarity dot --graph 24 -o c.index c.mts
	near --json --similarity dot --beam 100 q.mts c.index >some
	[ "$(common exact some)" -ge 390 ]
	mts index --similarity dot --graph 24 --codes-only -o codes.index c.mts
	near --json --similarity dot q.mts codes.index >exact
	near --json --similarity dot --beam 100 q.mts codes.index >some
	[ "$(common exact some)" -ge 390 ]
}

@test "graph: --append links the new rows to one another too" {
	grouped_vectors 1000 1 | mkstream >a.mts
	grouped_vectors 300 2 | mkstream >b.mts
	grouped_vectors 20 3 | mkstream >c.mts
	grouped_vectors 20 4 | mkstream >q.mts
	mts index --graph 12 -c part -o c.index a.mts
	mts index --append -o c.index b.mts
	mts index --append -j 1 -o c.index c.mts a.mts
	mts index --check c.index
	near --json q.mts a.mts b.mts c.mts >exact
	near --json q.mts c.index | cmp - exact
	near --json --beam 64 q.mts c.index >some
	[ "$(common exact some)" -ge 198 ]
	near --json --beam 2000 q.mts c.index | cmp - exact
	[ "$(stat -c %s c.index/links.u32)" = $((1320 * 12 * 4)) ]
}

@test "graph: rows with NaN, zeros, equal rows, rows without ids, few rows" {
	{
		for _ in $(seq 300); do echo '{"x.emb":[1,2,2]}'; done
		printf '{"x.emb":[%s]}\n' null,0,1 0,0,0 1,0,0 0,1,0 0,0,1 -1,0,0 null,null,null
	} | mkstream 50 >c.mts
	printf '{"x.emb":[%s]}\n' 1,2,2 1,0.1,0 null,0,0 0,0,0 | mkstream >q.mts
	mts index -q --graph 8 -o c.index c.mts
	near -q --json -k 3 q.mts c.mts >answer
	near -q --json -k 3 --beam 400 q.mts c.index | cmp - answer
	near -q --json -k 3 --beam 20 q.mts c.index >some
	jq -se 'length == 4 and (.[0].hits | map(.id) == [1, 2, 3]) and .[1].hits[0].id == 303' some >/dev/null
	printf '{"x.emb":[%s]}\n' null,0 0,null null,1 | mkstream >nan.mts
	mts index -q --graph 2 -o nan.index nan.mts
	near -q --json --beam 1 -k 1 nan.mts nan.index | jq -se 'map(.hits | length == 0) | all' >/dev/null
	printf '{"x.emb":[1,0]}\n' | mkstream >one.mts
	mts index -q --graph 2 -o one.index one.mts
	near -q --json --beam 1 one.mts one.index | jq -se '.[0].hits | length == 1' >/dev/null
}

@test "graph: usage errors and damage are refused; an append killed at any step leaves a valid index" {
	grouped_vectors 60 1 8 | mkstream >a.mts
	grouped_vectors 20 2 8 | mkstream >b.mts
	grouped_vectors 2 3 8 | mkstream >q.mts
	mts index --graph 4 -o c.index a.mts
	mts index -o none.index a.mts
	for words in "--graph 1 -o x.index a.mts" "--graph 257 -o x.index a.mts" "--graph 4 --cells 4 -o x.index a.mts" "--append --graph 4 -o c.index b.mts"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mts index $words
		[ -z "$output" ]
	done
	[ -z "$(find . -name 'x.index*')" ]
	for words in "--beam 0 q.mts c.index" "--beam 20 q.mts none.index" "--beam 20 q.mts a.mts" "--beam 20 --rescore 2 q.mts c.index" "--beam 20 --probe 2 q.mts c.index"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near $words
		[ -z "$output" ]
	done
	# a link to a row that does not exist
	cp -r c.index x.index
	for i in $(seq 60); do printf '\xfe\xff\xff\x00' | dd of=x.index/links.u32 bs=1 seek=$((16 * (i - 1))) conv=notrunc status=none; done
	dies "mts: x.index/links.u32: it does not agree with its checksum" mts index --check x.index
	dies "near: x.index/links.u32: a link leads beyond the last row: the index is damaged" near --beam 10 -k 5 q.mts x.index
	near --json q.mts x.index | cmp - <(near --json q.mts a.mts) # exact answers use no links
	truncate -s -1 x.index/links.u32
	dies "near: x.index/links.u32: it " near q.mts x.index
	rm x.index/links.u32
	dies "near: x.index/links.u32: no such file" near q.mts x.index
	killed_appends --beam 60
}
