#!/usr/bin/env bats
load helper
load index

# mts index --cells, and near --probe.

setup() { cd "$T" || return; }

@test "cells: without --probe, and with --probe of all cells or more, the answer is exact to the byte" {
	grouped_vectors 3000 1 | mkstream 700 >c.mts
	grouped_vectors 40 2 | mkstream >many.mts
	mts rows --rows 1-4 many.mts >few.mts
	mts index -j 2 --cells 40 -c part -o c.index c.mts
	mts index --check c.index
	for queries in few.mts many.mts; do
		for options in "--json" "--run -" "--json -k 100 --threshold 0.2" "--json --where part=1"; do
			# shellcheck disable=SC2086
			near $options $queries c.mts >answer
			for probe in "" "--probe all" "--probe 40" "--probe 1000"; do
				# shellcheck disable=SC2086
				near $options $probe $queries c.index | cmp - answer
			done
		done
		near --json --exclude-self --where part!=2 <(mts rows --rows 1-4 c.mts) c.mts >answer
		near --json --exclude-self --where part!=2 <(mts rows --rows 1-4 c.mts) c.index | cmp - answer
	done
	mts rows --rows 100-150 c.mts >own.mts
	near --json --exclude-self own.mts c.mts >answer
	near --json --exclude-self own.mts c.index | cmp - answer
	# --similarity dot
	mts index --similarity dot --cells 7 -o dot.index c.mts
	near --json --similarity dot many.mts c.mts >answer
	near --json --similarity dot --probe all many.mts dot.index | cmp - answer
	near --json --similarity dot --probe 7 few.mts dot.index | cmp - <(near --json --similarity dot few.mts c.mts)
}

@test "cells: --probe N is exact within N cells; a greater N finds more" {
	grouped_vectors 4000 1 | mkstream >c.mts
	grouped_vectors 30 2 | mkstream >q.mts
	mts index --cells 40 -o c.index c.mts
	near --json q.mts c.mts >exact
	for n in 1 2 4 10 39; do
		near --json --probe $n q.mts c.index >n$n
		MOTES_ISA=plain near -j 1 --json --probe $n q.mts c.index | cmp - n$n
		MOTES_ISA=avx2 near --json --probe $n q.mts c.index | cmp - n$n
		# scores are exact: each hit that is better than the tenth hit of the exact answer is in the exact answer
		[ "$(jq -s 'map(.hits[9].score)' exact | jq -c --slurpfile n n$n '[., [$n[].hits[9].score]] | transpose | map(.[0] >= .[1]) | all')" = true ]
		common exact n$n
	done >found
	paste -sd' ' found
	awk '$1 < last { exit 1 } { last = $1 } NR == 1 && $1 < 150 { exit 1 } NR == 3 && $1 < 270 { exit 1 } END { if (last < 299) exit 1 }' found
	# queries searched one by one have the same answers
	for i in 1 2 3; do near --json --probe 4 <(mts rows --rows $i q.mts) c.index; done | cmp - <(head -3 n4)
	# with --rescore
	near --json --probe 4 --rescore 100 q.mts c.index >bits
	[ "$(common bits n4)" -ge 299 ]
}

@test "cells: each row is in the cell of its nearest centroid; the rows of a cell are contiguous" {
	grouped_vectors 500 1 | mkstream >c.mts
	mts index --cells 8 -o c.index c.mts
	floats() { od -An -v -w$((24 * 4)) -t f4 "c.index/$1"; }
	floats cells.f32 | awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i * $i; if (s < 0.99999 || s > 1.00001) exit 1 } END { exit NR != 8 }'
	{ floats cells.f32; floats vectors.f32; } | awk 'NR <= 8 { for (i = 1; i <= NF; i++) c[NR, i] = $i; next }
		{ most = -2; for (k = 1; k <= 8; k++) { s = 0; for (i = 1; i <= NF; i++) s += c[k, i] * $i; if (s > most) { most = s; at = k } } print at }' >cell
	sort -n cell | cmp - cell
	uniq -c cell | awk '{ sum += $1; print sum }' >ends
	od -An -v -w8 -t u8 c.index/cells.u64 | tr -d ' ' | diff ends -
	od -An -v -w4 -t u4 c.index/places.u32 | tr -d ' ' | sort -n | diff - <(seq 0 499)
	# one thread makes the same cells
	mts index -j 1 --cells 8 -o again.index c.mts
	cmp c.index/cells.f32 again.index/cells.f32
	cmp c.index/places.u32 again.index/places.u32
}

@test "cells: --append adds rows to the nearest cells" {
	grouped_vectors 1000 1 | mkstream >a.mts
	grouped_vectors 300 2 | mkstream >b.mts
	grouped_vectors 200 3 | mkstream >c.mts
	grouped_vectors 20 4 | mkstream >q.mts
	mts index --cells 20 -c part -o c.index a.mts
	mts index --append -o c.index b.mts
	mts index --append -j 1 -o c.index c.mts a.mts
	mts index --check c.index
	near --json q.mts a.mts b.mts c.mts >exact
	for probe in all 20; do near --json --probe $probe q.mts c.index | cmp - exact; done
	near --json --probe 19 q.mts c.index >most
	[ "$(common exact most)" -ge 199 ]
	near --json --probe 2 q.mts c.index >some
	[ "$(common exact some)" -ge 150 ]
	near --json --where part=3 q.mts c.index | cmp - <(near --json --where part=3 q.mts a.mts b.mts c.mts)
	[ "$(stat -c %s c.index/cells.u64)" = $((3 * 20 * 8)) ]
	[ ! -e c.index/unsorted.f32 ]
}

@test "cells: an index keeps every column that -c names, also if the program restarts itself" {
	grouped_vectors 60 1 8 | mkstream >c.mts
	for kind in "--cells 4" "--graph 4" ""; do
		for policy in "" passive; do
			rm -rf c.index
			# shellcheck disable=SC2086
			env -u OMP_WAIT_POLICY ${policy:+OMP_WAIT_POLICY=$policy} mts index $kind -c part,_id -o c.index c.mts
			mts head -n 0 c.index/kept.1.mts >head
			grep -q '^column	part' head
			grep -q '^column	_id' head
			grep -q -- '-c part,_id' head
		done
	done
}

@test "cells: rows with NaN, zeros, equal rows, rows without ids, one cell, as many cells as rows" {
	{
		for i in 1 2 3 4 5 6; do echo "{\"x.emb\":[1,2,2]}"; done
		printf '{"x.emb":[%s]}\n' null,0,1 0,0,0 1,0,0 0,1,0 0,0,1 -1,0,0
	} | mkstream 5 >c.mts
	printf '{"x.emb":[%s]}\n' 1,2,2 1,0.1,0 null,0,0 0,0,0 | mkstream >q.mts
	near -q --json q.mts c.mts >answer
	for cells in 1 2 5 12; do
		rm -rf c.index
		mts index -q --cells $cells -o c.index c.mts
		near -q --json q.mts c.index | cmp - answer
		near -q --json --probe $cells q.mts c.index | cmp - answer
		near -q --json --probe 1 q.mts c.index | jq -se 'length == 4' >/dev/null
		near -q --json --exclude-self c.mts c.mts >others
	done
	printf '{"x.emb":[%s]}\n' null,0 0,null null,1 | mkstream >nan.mts
	mts index -q --cells 2 -o nan.index nan.mts
	near -q --json --probe 1 nan.mts nan.index | jq -se 'map(.hits | length == 3) | all'
}

@test "cells: usage errors and damage are refused; an append killed at any step leaves a valid index" {
	grouped_vectors 60 1 8 | mkstream >a.mts
	grouped_vectors 20 2 8 | mkstream >b.mts
	grouped_vectors 2 3 8 | mkstream >q.mts
	mts index --cells 4 -o c.index a.mts
	mts index -o none.index a.mts
	for words in "--cells 0 -o x.index a.mts" "--append --cells 4 -o c.index b.mts" "--check --cells 3 c.index"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mts index $words
		[ -z "$output" ]
	done
	for words in "--probe 0 q.mts c.index" "--probe some q.mts c.index" "--probe 2 q.mts none.index" "--probe 2 q.mts a.mts" "--probe 2x q.mts c.index"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near $words
		[ -z "$output" ]
	done
	dies "mts: a.mts: it has 60 rows, fewer than --cells 61" mts index --cells 61 -o x.index a.mts
	[ -z "$(find . -name 'x.index*')" ]
	for file in cells.f32 cells.u64 places.u32; do
		cp -r c.index x.index
		printf '\xff' | dd of="x.index/$file" bs=1 seek=3 conv=notrunc status=none
		dies "mts: x.index/$file: " mts index --check x.index
		run -1 --separate-stderr near -k 60 --probe 3 a.mts x.index
		[ "$file" = cells.f32 ] || [ -z "$output" ]
		truncate -s -1 "x.index/$file"
		dies "near: x.index/$file: it " near q.mts x.index
		rm "x.index/$file"
		dies "near: x.index/$file: no such file" near q.mts x.index
		rm -r x.index
	done
	killed_appends
}

@test "codes: an index without floats takes a quarter of the size and gives the answer of the decoded vectors" {
	grouped_vectors 3000 1 64 | mkstream 700 >c.mts
	grouped_vectors 40 2 64 | mkstream >many.mts
	mts rows --rows 1-5 many.mts >few.mts
	mts index -o c.index c.mts
	mts index --codes-only -o small.index c.mts
	mts index --codes-only --cells 30 -c part -o cells.index c.mts
	for index in small cells; do
		mts index --check $index.index
		[ ! -e $index.index/vectors.f32 ]
		[ ! -e $index.index/raw.f32 ]
	done
	[ "$(stat -c %s small.index/codes.u8)" = $((3000 * 64)) ]
	cmp small.index/codes.u8 c.index/codes.u8
	# a stream of the decoded vectors has the same answer
	{ od -An -v -w256 -t f4 small.index/columns.f32; od -An -v -w64 -t u1 small.index/codes.u8; } | awk '
		NR == 1 { for (i = 1; i <= 64; i++) start[i] = $i } NR == 2 { for (i = 1; i <= 64; i++) step[i] = $i }
		NR > 4 { printf "{\"_id\":\"d1-%d\",\"x.emb\":[", NR - 4; for (i = 1; i <= 64; i++) printf "%.9g%s", start[i] + step[i] * $i, i < 64 ? "," : "]}\n" }' |
		mkstream >decoded.mts
	mts index --codes-only --similarity dot -o dot.index c.mts
	near --json --similarity cosine many.mts c.mts >exact
	near --json many.mts small.index >answer
	[ "$(common <(jq -c '.hits |= map(.score = 1)' exact) <(jq -c '.hits |= map(.score = 1)' answer))" -ge 380 ]
	# near scales queries to unit length
	mts to jsonl many.mts | jq -c '(."x.emb" | map(. * .) | add | sqrt) as $n | ."x.emb" |= map(. / $n)' | mkstream >units.mts
	near --json --similarity dot units.mts decoded.mts >decoded
	jq -s '[.[].hits[].score]' decoded >one
	jq -s '[.[].hits[].score]' answer >other
	jq -se '.[0] as $a | .[1] as $b | [range($a | length) | ($a[.] - $b[.]) | fabs] | max < 1e-5' <(cat one other) >/dev/null
	# the bytes do not depend on the number of queries, the instruction set, cells or conditions
	head -5 answer >few
	for isa in plain avx2; do MOTES_ISA=$isa near -j 1 --json few.mts small.index | cmp - few; done
	near --json few.mts cells.index | cmp - few
	near --json many.mts cells.index | cmp - answer
	near --json --where part=1 many.mts cells.index >answer
	head -5 answer | cmp - <(near --json --where part=1 few.mts cells.index)
	near --json --rescore 600 few.mts small.index | cmp - few
	near --json --probe 29 few.mts cells.index >probed
	[ "$(common few probed)" -ge 49 ]
}

@test "codes: an index without floats takes appended rows and NaN; damaged or missing files are refused" {
	{ grouped_vectors 50 1 6; printf '{"_id":"n","text":"","part":0,"x.emb":[null,0,0,0,0,0]}\n{"_id":"z","text":"","part":0,"x.emb":[0,0,0,0,0,0]}\n'; } | mkstream >a.mts
	grouped_vectors 40 2 6 | jq -c '."x.emb"[0] *= 3' | mkstream >b.mts
	mts index -q --codes-only -o c.index a.mts
	mts index -q --append -o c.index b.mts
	mts index --check c.index
	near -q --json -k 92 a.mts c.index >answer
	jq -se 'map(.hits | length == 92) | all' answer >/dev/null
	[ "$(jq -s 'map(.hits[] | select(.id == "n") | .score == -1) | all' answer)" = true ]
	near -q --json -k 92 <(mts rows --rows 1-9 a.mts) c.index | cmp - <(head -9 answer)
	rm c.index/codes.u8
	dies "near: c.index/codes.u8: no such file" near -q a.mts c.index
	run -2 mts index --append --codes-only -o c.index a.mts
}
