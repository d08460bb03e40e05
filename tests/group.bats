#!/usr/bin/env bats
load helper

# Golden values: tests/golden/columns.py (scikit-learn's KMeans, sentence-transformers' community_detection).

setup() {
	cd "$T"
	mkstream 7 <"$GOLDEN/columns_train.jsonl" >rows.mts
}

# column NAME STREAM: its values, one a line
column() { mts to tsv -c "$1" "$2" | tail -n +2; }
golden() { tail -n +2 "$GOLDEN/columns_group.tsv" | cut -f"$1"; }

# 1. known answers

@test "group -k: clusters are those of scikit-learn's KMeans, distances to 1e-12" {
	group -k 7 rows.mts >out
	column group out | diff <(golden 1) -
	# both sum in double, in another order
	column distance out | within <(golden 2) 1e-12
	group -k 4 -s 3 -f text <rows.mts >out
	column group out | diff <(golden 3) -
	# other columns and the division into records are kept
	mts to jsonl -c label,number out | diff <(jq -c '{"label": .label, number}' "$GOLDEN/columns_train.jsonl") -
	[ "$(mts stat --json out | jq .records)" = "$(mts stat --json rows.mts | jq .records)" ]
}

@test "group --threshold: groups are those of community_detection" {
	group --threshold 0.9 --min-size 5 rows.mts >out
	column group out | diff <(golden 4) -
	group --threshold 0.97 --min-size 2 -j 1 rows.mts >out
	column group out | diff <(golden 5) -
	# the default of --min-size is 10
	group --threshold 0.9 rows.mts >ten
	group --threshold 0.9 --min-size 10 rows.mts >out
	diff <(column group ten) <(column group out)
}

@test "group --threshold: groups computed by hand" {
	# the second is near the first and the third, which are not near each other; the last is near none
	printf '{"x.emb":[%s]}\n' 1,0 0.8,0.6 0.28,0.96 0,-1 | mkstream >x.mts
	group --threshold 0.79 --min-size 3 x.mts | mts to tsv -c group,distance >out
	cut -f1 out | diff - <(printf '%s\n' group 0 0 0 -1)
	cut -f2 out | tail -n +2 | within <(printf '%s\n' 0.2 0 0.2 0) 1e-7
	# of candidates with equal sizes the first wins; its members cannot join the second
	printf '{"x.emb":[%s]}\n' 1,0 0.8,0.6 0.28,0.96 0,1 | mkstream >x.mts
	group --threshold 0.79 --min-size 2 x.mts | mts to tsv -c group | diff - <(printf '%s\n' group 0 0 0 -1)
	group --threshold 0.79 --min-size 1 x.mts | mts to tsv -c group | diff - <(printf '%s\n' group 0 0 0 1)
	# of equal texts one is the centre with distance 0
	printf '{"x.emb":[%s]}\n' 0.6,0.8 0.6,0.8 0.6,0.8 1,0 | mkstream >x.mts
	group --threshold 0.9 --min-size 2 x.mts | mts rows --where distance=0 | mts to tsv -c group | diff - <(printf '%s\n' group 0 -1)
	# a cosine equal to the threshold is near
	printf '{"x.emb":[%s]}\n' 1,0 0.5,0.8660254 | mkstream >x.mts
	group --threshold 0.5 --min-size 2 x.mts | mts to tsv -c group | diff - <(printf '%s\n' group 0 0)
	group --threshold 0.500001 --min-size 2 x.mts 2>err | mts to tsv -c group | diff - <(printf '%s\n' group -1 -1)
	grep -q "warning: no 2 texts lie within 0.500001 of one of them" err
}

@test "group --threshold: groups are right with more rows than a tile or a mask of bits has" {
	mkstream random 5000 3 1 >many.mts
	group --threshold 0.99 --min-size 2 many.mts >out
	# no text of a later group is near the centre of an earlier one, and all texts of a group are near its centre
	mts to jsonl -c group,distance,text.emb out | jq -sc '
		[.[] | select(.group >= 0 and .distance == 0)] as $centres
		| ([.[] | select(.distance > 0.010001)] | length),
		  ($centres | length) == ([.[].group] | max + 1),
		  ($centres | length) < 1000' | diff - <(printf '%s\n' 0 true true)
	group --threshold 0.99 --min-size 2 -j 1 many.mts | mts diff <(mts cat out) -
}

@test "group | topics: groups have words" {
	printf '{"text":"%s","x.emb":[%s]}\n' "the sea and a ship" 1,0 "ships at sea" 0.9,0.1 "bread and butter" 0,1 "fresh bread" 0.1,1 \
		"bread" 0,0.9 | mkstream >x.mts
	group -k 2 x.mts | topics --words 1 | cut -f1-4 | diff - <(printf '%s\t%s\t%s\t%s\n' cluster size word count 0 3 bread 3 1 2 sea 2)
}

# 2. options

@test "group: more clusters than different vectors; clusters of one row" {
	printf '{"x.emb":[%s]}\n' 1,0 1,0 0,1 0,1 0,1 | mkstream >x.mts
	run -0 --separate-stderr bash -c "group -k 4 x.mts | mts to tsv -c group,distance"
	printf '%s\n' "${lines[@]}" | cut -f1 | diff - <(printf '%s\n' group 1 1 0 0 0)
	printf '%s\n' "${lines[@]:1}" | cut -f2 | within <(printf '%s\n' 0 0 0 0 0) 1e-15
	[[ $stderr == *"group: warning: only 2 groups have texts: embeddings repeat"* ]]
	group -k 5 <(mts rows --rows 1-5 rows.mts) | mts to tsv -c group | sort | diff - <(printf '%s\n' 0 1 2 3 4 group)
	group -k 1 rows.mts | mts to tsv -c group | sort -u | diff - <(printf '%s\n' 0 group)
}

@test "group -v prints the inertia; --level and the seed reach the stream" {
	run -0 --separate-stderr group -v -k 7 -o out rows.mts
	inertia=$(grep -o 'inertia [^ ]*' <<<"$stderr" | cut -d' ' -f2)
	golden 2 | awk '{ sum += $1 * $1 } END { print sum }' | within <(echo "$inertia") 1e-4
	mts head --json out | head -n 1 | jq -e '.history[-1] | .seed == 42 and .program == "group"'
	group -k 7 --level 19 -o small rows.mts
	mts diff out small
	[ "$(stat -c %s small)" -le "$(stat -c %s out)" ]
}

# 3. usage

@test "group: usage errors exit 2" {
	for wrong in "" "-k 0" "-k x" "-k 2 --threshold 0.9" "--threshold 2" "--threshold 0.9 --min-size 0" "-k 2 rows.mts rows.mts"; do
		run -2 --separate-stderr group $wrong <rows.mts
		[ -z "$output" ]
	done
	does_not_apply --min-size group -k 2 --min-size 3 rows.mts
	does_not_apply --seed group --threshold 0.9 --seed 3 rows.mts
}

# 4. wrong input

@test "group: input that cannot be grouped is refused in one line" {
	refused() { dies "group: $1" group -o out "${@:2}"; }
	refused "rows.mts: -k 91: there are only 90 rows to make groups of" -k 91 rows.mts
	refused "rows.mts: there is no column 'x.emb' of vectors" -k 2 -f x rows.mts
	mts rows --where label=none rows.mts >none.mts
	refused "none.mts: there is no row in it" -k 2 none.mts
	refused "none.mts: there is no row in it" --threshold 0.9 none.mts
	printf '{"x.emb":[1,%s]}\n' 1 null | mkstream >nan.mts
	refused "nan.mts: record 1: x.emb: row 2 is not finite" -k 2 nan.mts
	refused "nan.mts: record 1: x.emb: row 2 is not finite" --threshold 0.9 nan.mts
	head -c -20 rows.mts >cut.mts
	refused "cut.mts: " -k 2 cut.mts
	refused "nowhere.mts: " -k 2 nowhere.mts
	run -1 --separate-stderr group -k 2 rows.mts -o /dev/full
	[[ $stderr == "group: /dev/full: "* ]]
	printf '{"x.emb":[%s]}\n' 1,0 0,0 1,0 | mkstream >zero.mts
	run -0 --separate-stderr bash -c "group --threshold 0.9 --min-size 2 zero.mts | mts to tsv -c group"
	[ "${lines[*]}" = "group 0 -1 0" ]
	[[ $stderr == *"zero.mts: 1 vectors of x.emb are zero: they are in no group"* ]]
	run -0 --separate-stderr bash -c "group --threshold 0 --min-size 2 zero.mts | mts to tsv -c group"
	[ "${lines[*]}" = "group 0 0 0" ]
	[ -z "$stderr" ]
}

# 5. the examples of the page

@test "group: the page's examples run" {
	printf '%s\n' "a ship on the sea" "a boat on the sea" "a ship on the sea" "fresh bread" "bread, fresh" >titles.txt
	page_examples group.1 | sed "s|-m MODEL|-m $GOLDEN/bert|g" >examples
	[ "$(grep -c '^group' examples)" -eq 4 ]
	bash -e -o pipefail -x examples >out
	[ "$(grep -cP '^\d\ta ship on the sea$' out)" -ge 1 ]
	[ "$(grep -cP '^0\t\d[^\t]*\ta ship on the sea$' out)" -eq 2 ]
	[ "$(mts to tsv -c text unique.mts | grep -c 'a ship on the sea')" -le 1 ]
}

# Real data, encoded by MiniLM; the figures are those of tests/bench/columns.sh.

# bats test_tags=plain
@test "group: titles of 20 newsgroups are grouped as by scikit-learn and sentence-transformers" {
	need_data clustering/twentynewsgroups_subjects/test.jsonl.zst
	need_minilm
	[[ $BUILD != *-sanitize ]] || skip "minutes, sanitized"
	tok -m "$MOTES_MINILM" -f text "$DATA/clustering/twentynewsgroups_subjects/test.jsonl.zst" | encode -m "$MOTES_MINILM" >x.mts
	run -0 --separate-stderr group -v -k 20 -o k.mts x.mts
	# KMeans(20, random_state=42) in double has 5926.36496; vectors of another processor may have another optimum
	grep -o 'inertia [^ ]*' <<<"$stderr" | cut -d' ' -f2 | within <(echo 5926.36496) 60
	# 329 groups of 3,500 texts
	group --threshold 0.7 --min-size 5 x.mts >t.mts
	column group t.mts | sort -n | tail -n 1 | within <(echo 328) 2
	column group t.mts | grep -vc '^-1$' | within <(echo 3500) 10
}

# 6. memory

@test "group: frees all memory before it exits" {
	export ASAN_OPTIONS=detect_leaks=1
	group -k 7 rows.mts >out
	group --threshold 0.9 --min-size 2 - <rows.mts >out
}
