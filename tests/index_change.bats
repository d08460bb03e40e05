#!/usr/bin/env bats
load helper
load scores

# mts index --append, --replace, --sync and --remove, and mts from index: an index that is changed answers as one of its rows.

setup() {
	cd "$T" || return
	rows 1 300 1 >a.mts
	rows 200 200 2 >b.mts # new numbers for d200 .. d300, and new rows
	rows 1 4 9 >q.mts
}

# rows FIRST COUNT SEED [NOTE]: rows dFIRST, ... with vectors of 12 numbers, a text and a part
rows() {
	seeded_awk -v first="$1" -v count="$2" -v seed="$3" -v note="${4-}" 'BEGIN { srand(seed)
		for (i = first; i < first + count; i++) {
			printf "{\"_id\":\"d%d\",\"text\":\"text of d%d%s\",\"part\":%d,\"x.emb\":[", i, i, note, i % 3
			for (j = 0; j < 12; j++) printf "%.4f%s", rand() - 0.5, j < 11 ? "," : "]}\n" } }' | mkstream
}

# without IDS STREAM: the rows whose ids are not lines of IDS
without() { mts to jsonl "$2" | jq -c --rawfile ids "$1" 'select(._id as $id | $ids | split("\n") | index($id) | not)'; }

# answers_as INDEX STREAM...: near finds in the index what it finds in the streams
answers_as() {
	local options
	mts index --check "$1"
	for options in "-k 1" "-k 600" "--threshold 0.5" "--exclude-self"; do
		# shellcheck disable=SC2086
		near --json $options q.mts "$1" >of.index
		# shellcheck disable=SC2086
		near --json $options q.mts "${@:2}" | cmp - of.index
	done
}

kinds=("" "--cells 9" "--graph 8" "-c part" "-c part --cells 5")

# 1. known answers

@test "index --replace: rows take the place of those with their ids, others are added" {
	mts to jsonl -c _id b.mts | jq -r ._id >new
	{ without new a.mts && mts to jsonl b.mts; } | mkstream >want.mts
	for how in "${kinds[@]}"; do
		rm -rf c.index
		# shellcheck disable=SC2086
		mts index -q $how -o c.index a.mts
		mts index -q --replace -o c.index b.mts
		answers_as c.index want.mts
		[[ $how != --graph* ]] || near --json -k 400 --beam 600 q.mts c.index | cmp - <(near --json -k 400 q.mts want.mts)
	done
	near --json --where part=1 q.mts c.index | cmp - <(near --json --where part=1 q.mts want.mts)
	near --json --probe 5 -k 400 q.mts c.index | cmp - <(near --json -k 400 q.mts want.mts)
	# many queries are compared by matrix products
	rows 500 50 7 >many.mts
	near --json many.mts c.index | cmp - <(near --json many.mts want.mts)
	mteb-score -q retrieval --qrels <(printf 'query-id\tcorpus-id\tscore\n'; for i in {500..549}; do printf 'd%d\td%d\t1\n' $i $((i - 300)); done) many.mts c.index >of.index
	mteb-score -q retrieval --qrels <(printf 'query-id\tcorpus-id\tscore\n'; for i in {500..549}; do printf 'd%d\td%d\t1\n' $i $((i - 300)); done) many.mts want.mts | cmp - of.index
}

@test "index --remove: the rows whose ids a file has, as lines, JSON, TSV; alone or before rows are added" {
	seq -f d%.0f 3 4 290 >gone
	without gone a.mts | mkstream >want.mts
	{ echo '{"_id": "d3"}'; sed 1d gone | jq -cR '{id: .}'; } >gone.jsonl
	{ printf 'n\t_id\n' && sed 's/^/1\t/' gone; } >gone.tsv
	for file in gone gone.jsonl gone.tsv; do
		for how in "${kinds[@]}"; do
			rm -rf c.index
			# shellcheck disable=SC2086
			mts index -q $how -o c.index a.mts
			mts index --remove $file -o c.index
			answers_as c.index want.mts
		done
	done
	# again: it warns, and leaves the files as they are
	find c.index -type f -exec md5sum {} + | sort >before
	run -0 --separate-stderr mts index --remove gone -o c.index
	[ "$stderr" = "mts: warning: gone: the index does not have 72 of its ids; first: 'd3'" ]
	find c.index -type f -exec md5sum {} + | sort | diff before -
	# a removed row comes back
	mts index -q --append -o c.index a.mts
	{ cat want.mts >kept.mts && mts to jsonl want.mts && mts to jsonl a.mts | jq -c --rawfile ids gone 'select(._id as $id | $ids | split("\n") | index($id))'; } | mkstream >all.mts
	answers_as c.index all.mts
	answers_as c.index a.mts
	# removed and added in one change; d5 is in neither
	rm -r c.index
	mts index -o c.index a.mts
	printf 'd5\nd200\n\n' | mts index -q --remove - --append -o c.index b.mts
	{ mts to jsonl a.mts | jq -c 'select(._id != "d5" and ._id != "d200")' && mts to jsonl b.mts | jq -c 'select(._id == "d200" or (._id[1:] | tonumber) > 300)'; } | mkstream >want.mts
	answers_as c.index want.mts
	# integers
	mts to jsonl -c _id,x.emb a.mts | jq -c '{id: (._id[1:] | tonumber), "x.emb": ."x.emb"}' | mkstream >numbers.mts
	mts index -o n.index numbers.mts
	printf '{"id": 7}\n{"id": "8"}\n' | mts index --remove - -o n.index
	near --json -k 300 q.mts n.index | cmp - <(near --json -k 300 q.mts <(mts rows --where id!=7 --where id!=8 numbers.mts))
}

@test "index --sync: the index gets the rows of the streams; equal ones stay, changed ones are replaced, others go" {
	{ mts to jsonl a.mts | jq -c 'select((._id[1:] | tonumber) % 5 > 0) | if ._id == "d7" then .text += " and more" elif ._id == "d9" then ."x.emb"[3] = 0.25 else . end' && mts to jsonl b.mts | tail -n 3; } | mkstream >now.mts
	for how in "${kinds[@]}" --codes-only; do
		rm -rf c.index
		# shellcheck disable=SC2086
		mts index -q $how -o c.index a.mts
		run -0 --separate-stderr mts index -v --sync -o c.index now.mts
		[[ $how == -c* ]] || [[ $stderr == *"mts: c.index: 5 rows added, 62 removed"* ]]
		mts index --check c.index
		near --json -k 400 q.mts c.index >answer
		[[ $how == --codes* ]] || cmp answer <(near --json -k 400 q.mts now.mts)
		jq -r '.hits[].id' answer | sort -u | diff - <(mts to jsonl -c _id now.mts | jq -r ._id | sort)
		[ "$(jq -r 'first(.hits[] | select(.id == "d7")).text' answer | uniq)" = "text of d7 and more" ]
		# the same once more changes nothing, unless columns may have changed
		find c.index -type f -exec md5sum {} + | sort >before
		run -0 --separate-stderr mts index -v --sync -o c.index now.mts
		[[ $how == -c* ]] || { [[ $stderr == *"mts: c.index: 0 rows added, 0 removed"* ]] && find c.index -type f -exec md5sum {} + | sort | diff before -; }
	done
	# a column that is kept changes alone
	rm -r c.index
	mts index -c part -o c.index a.mts
	mts to jsonl a.mts | jq -c '.part = 7' | mkstream | mts index -q --sync -o c.index
	[ "$(near --json -k 400 --where part=7 q.mts c.index | jq '.hits | length' | uniq)" = 300 ]
}

@test "index: when more rows are removed than stay, it says so; mts from index and mts index make it small again" {
	for how in "" "--cells 9" "--codes-only" "-c part,_id" "--similarity dot"; do
		rm -rf c.index small.index
		# shellcheck disable=SC2086
		mts index -q $how -o c.index a.mts
		mts index -q --sync -o c.index b.mts # the streams do not say how they are compared
		mts index -q --append -o c.index <(rows 600 9 3)
		mts from index --record-rows 100 c.index >back.mts
		# shellcheck disable=SC2086
		mts index -q $how -o small.index back.mts
		[ "$(jq '[.parts[].rows] | add' small.index/index.json)" = 209 ]
		near --json -k 300 q.mts c.index >of.index
		near --json -k 300 q.mts small.index >of.small
		[[ $how != *dot* ]] || cmp of.index of.small # unit vectors of cosine are scaled to length 1 again, codes are made again
		for file in of.index of.small; do jq -c '.hits[] | [.id, (.score * 100 | round)]' $file | sort >$file.rows; done
		[[ $how == --codes* ]] || diff of.index.rows of.small.rows
		mts to jsonl -c _id back.mts | jq -r ._id | diff - <(seq -f d%.0f 200 399; seq -f d%.0f 600 608)
	done
	mts index -q -o d.index a.mts
	run -0 --separate-stderr mts index --sync -o d.index b.mts
	[[ $stderr == *"mts: warning: d.index: 300 of its 500 rows are removed and take room: make it again of 'mts from index'" ]]
}

@test "mts from index: the rows, columns, properties and history that went in" {
	mts index -c part -o c.index a.mts b.mts 2>/dev/null
	mts from index c.index >back.mts
	mts rows --rows 1-300 back.mts | mts cat -c _id,text,part | mts diff <(mts cat -c _id,text,part a.mts) -
	# columns that the index keeps are as they were, also its ids, texts and vectors
	mts index -q -c x.emb,text,_id -o all.index a.mts
	mts from index all.index | mts diff <(mts cat -c _id,text,x.emb a.mts) -
	# unit vectors of cosine
	mts to jsonl -c x.emb back.mts | jq -e -s 'map(."x.emb" | map(. * .) | add - 1 | fabs < 1e-6) | all'
	mts index --similarity dot --cells 7 -o dot.index a.mts
	mts from index dot.index | mts diff <(mts cat -c _id,text,x.emb a.mts) -
	# integer ids, no texts, a model's name
	echo '{"id":5,"x.emb":[3,4]}' | mkstream 1 f32 aaaa dot >n.mts
	mts index -o n.index n.mts
	mts from index n.index | mts diff n.mts -
	mts from index -o back.mts n.index
	[ "$(mts head --json back.mts | jq -rs '.[0].properties | .model, .similarity')" = "$(mts head --json n.mts | jq -rs '.[0].properties | .model, .similarity')" ]
	mts head --json back.mts | jq -se '.[0].history | length == 2'
	# no ids
	mts cat -c x.emb a.mts | mts index -o p.index
	[ "$(mts from index p.index | mts stat | grep -c ^column)" = 1 ]
	# codes of 8 bits in, floats out
	mts cast i8 a.mts >coded.mts
	mts index -o i.index coded.mts
	mts from index i.index >floats.mts
	near --json q.mts floats.mts | cmp - <(near --json q.mts coded.mts)
	mts head --json coded.mts | jq -e -s '.[0].properties | has("x.emb.ranges")'
	mts head --json floats.mts | jq -e -s '.[0].properties | has("x.emb.ranges") | not'
}

# 2. faults

@test "index: changes that cannot be made are refused, and leave the index" {
	mts index -o c.index a.mts
	find c.index -type f -exec md5sum {} + | sort >before
	for words in "--append --replace" "--sync --replace" "--remove gone a.mts" "--remove gone -c part" "--remove gone --cells 3" "--replace --graph 4"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mts index -o c.index $words
		[ -z "$output" ]
	done
	dies "mts: none: " mts index --remove none -o c.index
	printf '{"x": 1}\n' >bad.jsonl
	dies "mts: bad.jsonl:1: there is no '_id' or 'id', a text or an integer; expected are ids, one a line, or a table with such a column" mts index --remove bad.jsonl -o c.index
	mts rows --rows 900 a.mts >empty.mts
	dies "mts: empty.mts: there is no row in it, and --sync would remove all rows of c.index; to do so, remove the folder" mts index --sync -o c.index empty.mts
	head -c 2000 a.mts >cut.mts
	run -1 mts index --sync -o c.index cut.mts
	dies "mts: no.index: there is no index" mts index --remove before -o no.index
	dies "mts: a.mts: there is no index; 'mts index' makes one" mts from index a.mts
	find c.index -type f -exec md5sum {} + | sort | diff before -
	mts cat -c x.emb a.mts | mts index -o p.index
	dies "mts: p.index: its rows have no ids, by which rows are replaced or removed" mts index --remove before -o p.index
	dies "mts: p.index: its rows have no ids, by which rows are replaced or removed" mts index --replace -o p.index <(mts cat -c x.emb b.mts)
	# a damaged list of removed rows
	mts index -q --replace -o c.index b.mts
	cp -r c.index x.index
	printf X | dd of=x.index/removed.u32 bs=1 seek=7 conv=notrunc status=none
	dies "near: x.index/removed.u32: it does not agree with its checksum: the index is damaged; make it again" near q.mts x.index
	truncate -s -1 x.index/removed.u32
	dies "near: x.index/removed.u32: it does not agree with its checksum" near q.mts x.index
	rm x.index/removed.u32
	dies "near: x.index/removed.u32: no such file" near q.mts x.index
}

@test "index: a change that is killed at any step is made whole or not at all" {
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	rows 1 60 1 >a.mts
	rows 50 30 2 >b.mts
	mts index -q -c part -o first.index a.mts
	near --json -k 100 q.mts first.index >old
	mts to jsonl b.mts | mkstream >want.mts
	near --json -k 100 q.mts want.mts >new
	cp -r first.index whole.index
	killed_at 0 mts index -q --sync -o whole.index b.mts 3>steps
	[ "$(wc -l <steps)" -gt 8 ]
	for ((n = 1; n <= $(wc -l <steps); n++)); do
		rm -rf k.index*
		cp -r first.index k.index
		killed_at "$n" mts index -q --sync -o k.index b.mts 3>/dev/null || [ $? -eq 137 ]
		near --json -k 100 q.mts k.index >answer
		cmp -s answer old || cmp answer new
		mts index --check k.index
		mts index -q --sync -o k.index b.mts
		near --json -k 100 q.mts k.index | cmp - new
		mts index --check k.index
	done
}
