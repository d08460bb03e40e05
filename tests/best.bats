#!/usr/bin/env bats
load helper
load scores

# near --best: rows with the same id are passages of one document, which its best passage ranks.

setup() { cd "$T" || return; }

# rows COUNT DOCUMENTS SEED [WIDTH] [WHOLE]: rows of documents d0, d1, ... at random; WHOLE: small whole numbers, so that scores tie
rows() {
	seeded_awk -v count="$1" -v documents="$2" -v seed="$3" -v width="${4:-9}" -v whole="${5-}" 'BEGIN { srand(seed)
		for (i = 0; i < count; i++) {
			printf "{\"_id\":\"d%d\",\"text\":\"row %d\",\"part\":%d,\"x.emb\":[", int(rand() * documents), i, i % 4
			for (j = 0; j < width; j++) {
				x = sprintf("%.4f", whole ? int(rand() * 5) - 2 : rand() - 0.5)
				printf "%s%s", x + 0 == 0 ? 0 : x, j < width - 1 ? "," : "]}\n" } } }' # jq would make 0 of -0
}

# best K [FILTER]: the answer of near to all rows of c.mts, each called by its number and its document, cut to the best of each
# document; equal scores by id, descending, and of a document's equal rows the first
best() {
	mts to jsonl c.mts | jq -c "${2:-.}"' | .id = "\(input_line_number - 1) \(._id)" | ._id = .id | del(.id)' | mkstream >all.mts
	near --json --similarity "${similarity:-cosine}" -k 100000 ${threshold+--threshold $threshold} q.mts all.mts | jq -c --argjson k "$1" '
		.hits |= (map(.row = (.id | split(" ")[0] | tonumber) | .id |= split(" ")[1]) | group_by(.id) | map(max_by([.score, -.row])) |
			sort_by(-.score, (.id | explode | map(-.) + [1])) | .[:$k] | map(del(.row)))'
}

# 1. known answers

@test "best: a document ranks by its best row, which is shown; exact for any depth, in one stream and in several" {
	rows 2000 150 1 | mkstream 300 >c.mts
	rows 5 5 2 | jq -c '._id = "q\(input_line_number)"' | mkstream >q.mts
	for k in 1 3 10 149 1000; do
		best $k >want
		near --json --best -k $k q.mts c.mts | jq -c . | diff want -
	done
	[ "$(jq '.hits | length' want | uniq)" = 150 ]
	mts split -n 3 c.mts
	near --json --best -k 1000 -j 1 q.mts c.01.mts c.02.mts c.03.mts | jq -c . | diff want -
	# few at a time
	near --json --best -k 1000 --memory 2M q.mts c.mts | jq -c . | diff want -
	similarity=dot best 7 >want
	near --json --best --similarity dot -k 7 q.mts c.mts | jq -c . | diff want -
	threshold=0.6 best 10 >want
	near --json --best --threshold 0.6 q.mts c.mts | jq -c . | diff want -
	best 10 'select(.part == 2)' >want
	near --json --best --where part=2 q.mts c.mts | jq -c . | diff want -
	# texts of a file are those of documents
	jq -nc 'range(150) | {_id: "d\(.)", text: "document \(.)"}' >texts.jsonl
	run -0 --separate-stderr near --json --best --texts texts.jsonl q.mts c.mts
	[ -z "$stderr" ]
	jq -e -s 'map(.hits[] | .text == "document \(.id[1:])") | all' <<<"$output"
	mts index --best -o t.index c.mts
	near --json --texts texts.jsonl q.mts t.index | cmp - <(echo "$output")
	# another column of the best row
	near --json --best --show part q.mts c.mts | jq -r '.hits[] | .text' | sort -u | paste -sd' ' | grep -x '0 1 2 3'
	# without repeated ids it is the usual answer
	mts to jsonl c.mts | jq -c '._id = "r\(input_line_number)"' | mkstream >once.mts
	near --json --best q.mts once.mts | cmp - <(near --json q.mts once.mts)
}

@test "best: equal scores, rows that repeat exactly, many queries" {
	rows 1500 40 3 4 whole | mkstream >c.mts
	rows 70 70 4 4 whole | jq -c '._id = "q\(input_line_number)"' | mkstream >q.mts
	for k in 1 5 30; do
		best $k >want
		near -q --json --best -k $k q.mts c.mts | jq -c . | diff want -
		MOTES_ISA=plain near -q -j 1 --json --best -k $k q.mts c.mts | jq -c . | diff want -
	done
	# one document
	mts to jsonl c.mts | jq -c '._id = "d"' | mkstream >one.mts
	[ "$(near -q --json --best q.mts one.mts | jq -c '[.hits | length, .[0].id]' | sort | uniq -c | awk '{ print $1, $2 }')" = '70 [1,"d"]' ]
}

@test "best: a run has each document once, and its score is that of the best row; mteb-score takes it" {
	rows 600 60 5 | mkstream >c.mts
	rows 9 9 6 | jq -c '._id = "q\(input_line_number)"' | mkstream >q.mts
	near --best --run x.run q.mts c.mts
	best 1000 | jq -r '.id as $q | .hits[] | "\($q)\t\(.id)\t\(.score)"' >want
	cut -f1,3 x.run | diff <(cut -f1,2 want) -
	cut -f5 x.run | within <(cut -f3 want) 1e-6
	cut -f6 x.run | sort -u | grep -x 'motes:cosine:1000/60'
	printf 'query-id\tcorpus-id\tscore\nq1\td3\t1\nq2\td5\t1\n' >qrels.tsv
	mteb-score -q retrieval --qrels qrels.tsv --from-run x.run >got
	# as of the best rows alone
	near -q --run y.run q.mts c.mts
	run ! cmp -s x.run y.run
	awk -F'\t' '{ print $1 }' x.run | uniq -c | awk '{ print $1 }' | uniq | grep -x 60
}

@test "best: --exclude-self drops all rows of the query's document" {
	rows 400 50 7 | mkstream 50 >c.mts
	mts to jsonl c.mts | jq -c -s 'unique_by(._id)[:6][]' | mkstream >q.mts
	best 100 | jq -c '.id as $q | .hits |= map(select(.id != $q))' >want
	near --json --best --exclude-self -k 100 q.mts c.mts | jq -c . | diff want -
	[ "$(jq '.hits | length' want | sort -n | tail -n 1)" = 49 ]
}

@test "best: passages of tok; the recipe's documents" {
	for i in {1..12}; do
		jq -nc --arg id "d$i" --arg text "$(for j in {1..6}; do echo "the ship $i and the sea $j of the river $((i * j)), a boat."; done)" '{_id: $id, text: $text}'
	done >corpus.jsonl
	tok -q -m "$GOLDEN/bert" --passages 20 --keep -f text corpus.jsonl | encode -q -m "$GOLDEN/bert" >c.mts
	[ "$(mts to jsonl -c _id c.mts | wc -l)" -gt 24 ]
	echo 'the river 30' | tok -q -m "$GOLDEN/bert" --keep | encode -q -m "$GOLDEN/bert" >q.mts
	run -0 --separate-stderr near -k 12 q.mts c.mts
	[[ $stderr == *"passages repeat an id: the first one of each id counts; 'near --best' takes the best one"* ]]
	run -0 --separate-stderr near --best --json -k 12 q.mts c.mts
	[ -z "$stderr" ]
	jq -r '.hits[].id' <<<"$output" | sort | diff - <(printf 'd%s\n' {1..12} | sort)
	near -q --json -k 100 q.mts <(mts cat --rename _id=document c.mts) | jq '.hits[0].score' | diff - <(jq '.hits[0].score' <<<"$output")
}

@test "best: an index keeps passages; its answer is that of the streams, and changes go by documents" {
	rows 900 80 8 | mkstream 100 >c.mts
	rows 60 60 9 | jq -c '._id = "q\(input_line_number)"' | mkstream >many.mts
	mts rows --rows 1-5 many.mts >q.mts
	for how in "" "--cells 7" "--graph 8" "-c part"; do
		rm -rf c.index
		# shellcheck disable=SC2086
		mts index --best $how -o c.index c.mts
		mts index --check c.index
		for queries in q many; do
			for k in 1 7 100; do
				near --json --best -k $k $queries.mts c.mts >want
				near --json -k $k $queries.mts c.index | cmp want -
				near --json --best -k $k $queries.mts c.index | cmp want -
			done
		done
		near -q --json --exclude-self --best -k 90 c.mts c.mts >want
		near -q --json --exclude-self -k 90 c.mts c.index | cmp want -
		near --best --run want q.mts c.mts
		near --run - q.mts c.index | cut -f1-5 | diff <(cut -f1-5 want) -
	done
	near --json --best --where part=1 q.mts c.mts | cmp - <(near --json --where part=1 q.mts c.index)
	[ "$(mts from index c.index | mts to jsonl -c _id | wc -l)" = 900 ]
	printf 'query-id\tcorpus-id\tscore\nq1\td3\t1\nq2\td5\t1\n' >qrels.tsv
	near --best --run x.run q.mts c.mts
	mteb-score -q retrieval --qrels qrels.tsv q.mts c.index | grep ndcg_at_10 | diff - <(mteb-score -q retrieval --qrels qrels.tsv --from-run x.run | grep ndcg_at_10)
	# d3 loses a passage, d5 gets another one, d7 goes, e comes with two
	mts to jsonl c.mts | jq -c 'select(._id != "d7") | select(.text != $gone) | if ._id == "d5" then ., (.text += "." | ."x.emb"[0] += 0.5) else . end' \
		--arg gone "$(mts to jsonl c.mts | jq -r 'select(._id == "d3").text' | head -n 1)" >now.jsonl
	rows 2 1 3 | jq -c '._id = "e"' >>now.jsonl
	mkstream 100 <now.jsonl >now.mts
	passages=$(grep -c '"_id":"d5"' now.jsonl)
	for how in "" "--cells 7" --codes-only; do
		rm -rf c.index
		# shellcheck disable=SC2086
		mts index --best $how -o c.index c.mts
		run -0 --separate-stderr mts index -v --sync -o c.index now.mts
		[[ $stderr == *"mts: c.index: $((passages / 2 + 2)) rows added, $(mts to jsonl c.mts | jq -r ._id | grep -cx d7 | awk '{ print $1 + 1 }') removed"* ]]
		[ "$(mts from index c.index | mts to jsonl -c _id,text | sort | cksum)" = "$(mts to jsonl -c _id,text now.mts | sort | cksum)" ]
		near --json --best -k 100 q.mts now.mts >want
		[[ $how == --codes* ]] || near --json -k 100 q.mts c.index | cmp want -
	done
	# --append leaves known documents out, --replace takes the stream's passages of a document, --remove all
	rm -rf c.index
	mts index --best -o c.index c.mts
	mts index -q --append -o c.index now.mts
	[ "$(mts from index c.index | mts to jsonl -c _id | wc -l)" = 902 ]
	rows 3 1 5 | jq -c '._id = "d9"' | mkstream | mts index -q --replace -o c.index
	[ "$(mts from index c.index | mts to jsonl -c _id | grep -cx '{"_id":"d9"}')" = 3 ]
	printf 'e\nd9\n' | mts index --remove - -o c.index
	mts from index c.index | mts to jsonl -c _id | sort -u | diff - <(mts to jsonl -c _id c.mts | sort -u | grep -v d9\")
}

# 2. faults

@test "best: rows without ids, an index, pairs and candidates are refused" {
	rows 20 5 1 | mkstream >c.mts
	mts cat -c x.emb c.mts >places.mts
	dies "near: places.mts: its rows have no ids, by which --best knows the passages of a document" near --best c.mts places.mts
	mts index -q -o c.index c.mts
	run -2 --separate-stderr near --best c.mts c.index
	[[ $stderr == "near: --best: c.index has one row of each id; 'mts index --best' keeps all"* ]]
	dies "mts: places.mts: its rows have no ids, by which --best knows the passages of a document" mts index --best -o p.index places.mts
	run -2 mts index --best --append -o c.index c.mts
	for words in "--self c.mts" "--candidates x --run - c.mts c.mts"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr near --best $words
		[ -z "$output" ]
	done
}
