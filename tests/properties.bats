#!/usr/bin/env bats
load helper

# What a stream's header and attributes say of its columns (mts.5), where streams or columns of several kinds meet.
B=$GOLDEN/bert

setup() { cd "$T" || return; }

# prompted: the model m, whose mean leaves the prompts out, and its tokens of queries and of documents
prompted() {
	cp -r "$B" m
	echo '{"pooling_mode_mean_tokens": true, "include_prompt": false}' >m/1_Pooling/config.json
	echo '{"prompts": {"query": "the dog ", "document": "a cat of "}}' >m/config_sentence_transformers.json
	printf '%s\n' '{"query": "a small house", "document": "the sea"}' '{"query": "of the light", "document": "a house at the sea"}' >texts.jsonl
	tok -m m --task query -f query texts.jsonl >q.mts
	tok -m m --task document -f document texts.jsonl >d.mts
}
# vectors COLUMN: the column of the stream on standard input, under the name x
vectors() {
	mts cat -c "$1" --rename "$1=x" | mts to jsonl
}

@test "properties: mts paste and mts cat --rename keep the prompts that stand in each column of ids" {
	prompted
	encode -m m d.mts | vectors document.emb >wanted
	mts paste q.mts d.mts | encode -m m | vectors document.emb | diff wanted -
	mts paste d.mts q.mts | encode -m m | vectors document.emb | diff wanted -
	for name in passage p; do
		mts cat --rename document.ids=$name.ids d.mts | encode -m m | vectors $name.emb | diff wanted -
	done
	cp -r "$B" plain
	run -1 diff wanted <(encode -q --any-tokenizer -m plain d.mts | vectors document.emb)
}

@test "properties: mts paste leaves out the similarity and the kind that only one column of embeddings has" {
	echo '{"a.emb": [1, 0]}' | mkstream 8 f32 M dot >a.mts
	echo '{"b.emb": [0, 2]}' | mkstream 8 f32 M >b.mts
	for order in "a.mts b.mts" "b.mts a.mts"; do
		# shellcheck disable=SC2086
		mts paste $order 2>log >both.mts
		grep -q "the property 'similarity' is not that of all embeddings and is left out" log
		mts head --json both.mts | sed -n 1p | jq -e '.properties | has("similarity") | not'
	done
	mts cat --rename a.emb=c.emb a.mts >c.mts
	mts paste b.mts a.mts c.mts 2>log | mts head --json | sed -n 1p | jq -e '.properties | has("similarity") | not'
	[ "$(grep -c "the property 'similarity'" log)" = 1 ]
	echo '{"text": "x"}' | mkstream >text.mts
	mts paste a.mts text.mts 2>log | mts head --json | sed -n 1p | jq -e '.properties.similarity == "dot"'
	[ ! -s log ]
}

@test "properties: encode and tok do not give another model's column their name without a word" {
	prompted
	encode -q --any-tokenizer -m "$B" q.mts >a.mts
	mts paste a.mts d.mts >both.mts
	encode --any-tokenizer -m m both.mts 2>log >out.mts
	grep -q "'query.emb' is not of m, but will count as of that model; drop it (mts cat -c), or paste it to the result" log
	encode --any-tokenizer -m m d.mts 2>log >out.mts
	run ! grep -q "will count as" log
	cp -r m other
	echo horse >>other/vocab.txt
	run -1 --separate-stderr tok -m other -f document <(mts paste <(mts cat -c query.ids q.mts) <(mts from jsonl texts.jsonl))
	[[ $stderr == *"'query.ids' was made by another tokenizer ("*") than that of other ("*"); make both with one, or drop it (mts cat -c)"* ]]
}

@test "properties: ranges of i8 need vectors of each column among the first" {
	seeded_awk 'BEGIN { srand(5); for (i = 0; i < 11000; i++)
		printf "{\"a.emb\": [%.3f, %.3f], \"b.emb\": [%s]}\n", rand(), rand(), i < 10900 && i ? "" : sprintf("[%.3f, %.3f]", rand(), rand()) }' >rows.jsonl
	mkstream 500 <rows.jsonl >late.mts
	mts cast -q i8 late.mts >coded.mts # the first row has one
	mts rows --rows 2- late.mts >blind.mts
	run -1 --separate-stderr mts cast -q i8 -o coded.mts blind.mts
	[[ $stderr == *"column 'b.emb' has its first vectors after those that the ranges of the codes are taken from; give --ranges"* ]]
	mts cast -q i8 --ranges late.mts blind.mts | mts cast f32 | mts diff --atol 0.01 - blind.mts
}

@test "properties: whitening, flows and REZE's statistics fit one kind of vectors, and tell of others" {
	ids_stream text.ids <"$B/ids.txt" >ids.mts
	encode -q -m "$B" ids.mts >plain.mts
	encode -q -m "$B" --emit emb=hs:layers=1 ids.mts >hidden.mts
	geom whiten fit -q --kind scale -o map.mts hidden.mts
	run -1 --separate-stderr geom whiten apply -q map.mts plain.mts
	[[ $stderr == "geom: plain.mts: its vectors are embeddings, map.mts was fitted to hs:layers=1"*"; make both alike, or say --any-model" ]]
	geom whiten apply -q map.mts hidden.mts >/dev/null
	geom whiten apply -q --any-model map.mts plain.mts >/dev/null
	run -1 --separate-stderr geom whiten fit -q -m "$B" -o white hidden.mts
	[[ $stderr == *"its vectors are hs:layers=1"*", not the embeddings of $B; encode without --emit" ]]
	train -q -m "$B" --lora rank=2 --steps 1 -o lora < <(paste "$B/ids.txt" <(tac "$B/ids.txt") | pairs_stream)
	encode -q -m "$B" --adapter lora ids.mts >adapted.mts
	run -1 --separate-stderr geom whiten fit -q -m "$B" -o white adapted.mts
	[[ $stderr == *"its vectors went through the adapters "*", and $B has none; encode without --adapter and --gates" ]]
	# of two columns one is mapped
	mts paste <(mts cat -c text.emb --rename text.emb=a.emb plain.mts) <(mts cat -c text.emb --rename text.emb=b.emb plain.mts) >two.mts
	geom whiten fit --kind scale -o map.mts plain.mts 2>/dev/null
	geom whiten apply -f a map.mts two.mts 2>log >out.mts
	grep -q "'b.emb' is not mapped, but will count as mapped; name it by --field, too, or drop it" log
	geom whiten apply -f a -f b map.mts two.mts 2>log >out.mts
	run ! grep -q "is not mapped" log
}

@test "properties: near refuses a corpus of streams that compare in two ways, and an index of hidden states for embeddings" {
	echo '{"_id": "q", "x.emb": [1, 0]}' | mkstream 8 f32 M dot >q.mts
	echo '{"_id": "a", "x.emb": [1, 0]}' | mkstream 8 f32 M dot >dot.mts
	echo '{"_id": "b", "x.emb": [3, 4]}' | mkstream 8 f32 M >cosine.mts
	for order in "dot.mts cosine.mts" "cosine.mts dot.mts"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr near q.mts $order
		[[ $stderr == *" to be compared by "*"; say --similarity"* ]]
	done
	near --similarity dot -k 2 --json q.mts dot.mts cosine.mts | jq -c '.hits | map(.score)' | found -x '\[3,1\]'
	echo '{"_id": "h", "x.hs": [1, 0]}' | mkstream 8 f32 M >hs.mts
	mts index -q -f x.hs -o hs.index hs.mts
	run -1 near cosine.mts hs.index
	[[ $output == *"hs"* ]]
	near -f x.hs hs.mts hs.index | grep -c h
}

@test "properties: classify predicts truth values of truth values" {
	printf '%s\n' '{"ok": true, "x.emb": [1, 0]}' '{"ok": true, "x.emb": [2, 0.1]}' '{"ok": false, "x.emb": [0, 1]}' '{"ok": false, "x.emb": [0.1, 2]}' >rows.jsonl
	mts paste -q <(jq -c '{ok}' rows.jsonl | mts from jsonl) <(jq -c 'del(.ok)' rows.jsonl | mkstream) >rows.mts
	classify --label ok --train rows.mts rows.mts | mts to jsonl -c prediction,ok | jq -c 'select(.prediction != .ok)' >wrong
	[ ! -s wrong ]
	classify --label ok --train rows.mts rows.mts | mts to jsonl -c prediction | sed -n 1p | grep -x '{"prediction":true}'
}

@test "properties: mteb-score knows all documents of an index, also beyond the hits" {
	seeded_awk 'BEGIN { srand(2); for (i = 0; i < 1500; i++) printf "{\"_id\": \"d%d\", \"document.emb\": [%.4f, %.4f]}\n", i, 1 + rand() / 100 + (i == 7 ? 0 : 1), rand() / 100 + (i == 7) }' >d.jsonl
	mkstream 500 f32 M <d.jsonl >d.mts
	echo '{"_id": "q", "query.emb": [1, 0]}' | mkstream 8 f32 M >q.mts
	printf 'query-id\tcorpus-id\tscore\nq\td7\t1\n' >qrels.tsv
	mts index -q -f document -o d.index d.mts
	mteb-score -q retrieval --qrels qrels.tsv q.mts d.mts >of.stream
	mteb-score -q retrieval --qrels qrels.tsv q.mts d.index | diff of.stream -
}

@test "properties: near counts whole numbers as weights of terms" {
	printf '%s\n' '{"_id": "a", "x.sparse": [1, 4], "x.sparse.weights": [2, 3]}' '{"_id": "b", "x.sparse": [4], "x.sparse.weights": [5]}' | mts from jsonl >t.mts
	near --json -k 2 -f x.sparse t.mts t.mts | sed -n 1p | jq -c '.hits | map(.score)' | found -x '\[15,13\]'
}
