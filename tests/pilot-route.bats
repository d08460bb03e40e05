#!/usr/bin/env bats
load helper

# Golden values: tests/golden/routing.py (numpy).

setup() { cd "$T"; }

stream_of() { mkstream "${3:-5}" f32 "${2:-base}" >"$1.mts"; }
golden() {
	mkstream 7 f32 base <"$GOLDEN/routing_train.jsonl" >train.mts
	stream_of q <"$GOLDEN/routing_queries.jsonl"
	pilot-build fit train.mts -o pilots.mts
}
# routes: gate and scores of gates a, b and c in the stream on standard input
routes() { mts to jsonl - | jq -r '[.gate, .["score.a"], .["score.b"], .["score.c"]] | @tsv'; }
# same FILE [COLUMNS]: texts and numbers on standard input are those of the file
same() {
	cat "$1" >same
	tee got | cut -f1 | diff - <(cut -f1 same)
	cut -f2- got | within <(cut -f2- same) "${2:-2e-6}"
}
expected() { grep -P "^route\t$1\t$2\t" "$GOLDEN/routing_expected.tsv" | cut -f4-; }
# A file of scores for each gate, of the training queries, as mteb-score --per-query writes them.
scores() {
	mkdir -p scores
	for gate in a b c; do
		{
			printf 'id\tndcg_at_10\tmap\n'
			jq -r "[._id, .[\"score.$gate\"], 1 - .[\"score.$gate\"]] | @tsv" "$GOLDEN/routing_train.jsonl"
		} >scores/$gate.tsv
	done
}
# Pilots (4,0) and (0,2) of gate a, (1,1) of gate b.
hand() {
	cat <<-END
		{"dataset":"x","text.emb":[4,0],"score.a":1,"score.b":0}
		{"dataset":"y","text.emb":[0,2],"score.a":1,"score.b":0}
		{"dataset":"y","text.emb":[1,1],"score.a":0,"score.b":1}
	END
}

# 1. known answers

@test "pilot-route: scores by mean and by best pilot, dot and cosine, computed by hand" {
	hand | stream_of hand
	pilot-build fit hand.mts -o pilots.mts
	printf '{"_id":"%s","q.emb":%s}\n' 1 '[1,0]' 2 '[0,1]' 3 '[-1,3]' | stream_of q
	two() { pilot-route "$@" pilots.mts q.mts | mts to jsonl - | jq -r '[.gate, .["score.a"], .["score.b"]] | @tsv'; }
	two | same <(printf '%s\t%s\t%s\n' a 2 1 a 1 1 b 1 2)
	two --rule max | same <(printf '%s\t%s\t%s\n' a 4 1 a 2 1 a 6 2)
	# the root of 1/2 is 0.70711; 3/sqrt(10) is 0.94868, 2/sqrt(20) 0.44721
	two --similarity cosine | same <(printf '%s\t%s\t%s\n' b 0.5 0.7071068 b 0.5 0.7071068 b 0.3162278 0.4472136)
	two --similarity cosine --rule max | same <(printf '%s\t%s\t%s\n' a 1 0.7071068 a 1 0.7071068 a 0.9486833 0.4472136)
	# pilots of three queries and of one: (3 * 4 + 0) / 4, (0 + 2) / 4, (3 * -4 + 6) / 4
	{ hand && hand | head -n 1 && hand | head -n 1; } | stream_of five
	pilot-build fit five.mts -o five.pilots
	pilot-route --rule weighted five.pilots q.mts | mts to jsonl - | jq -r '[.gate, .["score.a"], .["score.b"]] | @tsv' |
		same <(printf '%s\t%s\t%s\n' a 3 1 b 0.5 1 b -1.5 2)
	# cosines 1 and 0 weighted by size; with equal sizes the weighted mean is the mean
	pilot-route --rule weighted --similarity cosine five.pilots q.mts | mts to jsonl - | jq '.["score.a"]' | head -n 1 | grep -x 0.75
	two --rule weighted | same <(two)
	printf '{"q.emb":[0,0]}\n' | stream_of zero
	run -0 --separate-stderr pilot-route --similarity cosine pilots.mts zero.mts -o out.mts
	[[ $stderr == *"zero.mts: 1 vectors of q.emb are zero: all their cosines are 0" ]]
}

@test "pilot-route: gates and scores equal NumPy's, with any number of threads and any division into records" {
	golden
	for rule in mean max; do
		for similarity in dot cosine; do
			expected $rule $similarity >wanted
			[ "$(wc -l <wanted)" -eq 12 ]
			pilot-route --rule $rule --similarity $similarity pilots.mts q.mts | routes | same wanted
		done
	done
	pilot-route pilots.mts q.mts -o a.mts
	pilot-route -j 1 pilots.mts <q.mts | mts diff a.mts -
	stream_of one base 1 <"$GOLDEN/routing_queries.jsonl"
	pilot-route pilots.mts one.mts | routes | diff - <(routes <a.mts)
	# other columns pass
	mts to jsonl a.mts | jq -c 'del(.gate, .["score.a", "score.b", "score.c"])' | diff - <(mts to jsonl q.mts)
	mts head --json a.mts | head -1 | jq -e '.properties.model == "base"'
}

@test "pilot-route: a classifier's score is its decision value" {
	golden
	for router in head experts; do
		pilot-build fit --router $router train.mts -o c.mts
		mts to jsonl c.mts | jq -s --slurpfile q "$GOLDEN/routing_queries.jsonl" -r '. as $c | $q[] | .["text.emb"] as $x |
			[$c[] | .["pilot.emb"] as $w | .bias + ([range(5) | $w[.] * $x[.]] | add)] |
			[["a", "b", "c"][index(max)]] + . | @tsv' >wanted
		pilot-route c.mts q.mts | routes | same wanted
	done
}

@test "pilot-route --router dataset: the data set of the nearest training query decides" {
	golden
	pilot-build fit --router dataset --samples 30 train.mts -o d.mts
	mts to jsonl d.mts | jq -s --slurpfile q "$GOLDEN/routing_queries.jsonl" -r '. as $c | $q[] | .["text.emb"] as $x |
		[$c[] | .["pilot.emb"] as $w | {gate, dot: ([range(5) | $w[.] * $x[.]] | add)}] | max_by(.dot).gate' >wanted
	[ "$(sort -u wanted | wc -l)" -eq 2 ]
	pilot-route d.mts q.mts | mts to jsonl - | jq -r .gate | diff - wanted
	pilot-route --rule mean d.mts q.mts | mts to jsonl - | jq -r .gate >mean
	run ! cmp -s mean wanted
}

@test "pilot-route --oracle and --best: read files of scores by id; pilot-build learns from them" {
	golden
	scores
	jq -c '{_id, dataset, "text.emb"}' "$GOLDEN/routing_train.jsonl" | sort -R --random-source=/dev/zero | stream_of plain
	pilot-route --oracle scores/*.tsv <plain.mts >oracle.mts
	mts to jsonl oracle.mts | jq -r '[._id, .["score.a"], .["score.b"], .["score.c"]] | @tsv' | sort |
		diff - <(jq -r '[._id, .["score.a"] + 0, .["score.b"] + 0, .["score.c"] + 0] | @tsv' "$GOLDEN/routing_train.jsonl" | sort)
	mts to jsonl oracle.mts | jq -e -s 'all([.["score.a", "score.b", "score.c"]] as $s |
		.gate == ["a", "b", "c"][$s | index(max)])'
	pilot-build fit --ties drop oracle.mts | mts to jsonl - | jq -r '[.gate, .dataset, .size] + .["pilot.emb"] | @tsv' | sort >got.pilots
	grep -P '^pilot\tdrop' "$GOLDEN/routing_expected.tsv" | cut -f3- | sort >wanted
	cut -f1,2 got.pilots | diff - <(cut -f1,2 wanted)
	cut -f3- got.pilots | within <(cut -f3- wanted) 2e-6
	# also with thousands of rows in a record
	mts to jsonl plain.mts >plain.jsonl
	for i in {1..99}; do cat plain.jsonl; done | stream_of many base 9999
	pilot-route --oracle scores/*.tsv <many.mts | routes | tail -n 60 | diff - <(routes <oracle.mts)
	# files may have names; their order decides between equal scores
	pilot-route --oracle one=scores/c.tsv two=scores/b.tsv <plain.mts | mts to jsonl - |
		jq -e -s 'all(.gate == (if .["score.two"] > .["score.one"] then "two" else "one" end))'
	pilot-route --oracle --metric map scores/a.tsv scores/b.tsv <plain.mts | mts to jsonl - |
		jq -e -s 'all(.gate == (if .["score.b"] > .["score.a"] then "b" else "a" end))'
	gzip -k scores/b.tsv
	pilot-route --oracle scores/a.tsv scores/b.tsv.gz <plain.mts | mts to jsonl - | jq -s -c '[.[] | keys[] | select(startswith("score"))] | unique' |
		diff - <(echo '["score.a","score.b"]')
	rm scores/b.tsv.gz
	pilot-route --best scores/*.tsv <q.mts | routes | sort -u >best
	[ "$(wc -l <best)" -eq 1 ]
	jq -s -r '[.[]["score.a"], .[]["score.b"], .[]["score.c"]] as $all | (length) as $n |
		[$all[:$n], $all[$n:2 * $n], $all[2 * $n:] | add / $n] | [["a", "b", "c"][index(max)]] + . | @tsv' \
		"$GOLDEN/routing_train.jsonl" >wanted
	same wanted 1e-12 <best
}

@test "pilot-route --random: draws the library's gates by the seed, about equally often" {
	golden
	mkstream random 3000 5 1 >many.mts
	pilot-route --random pilots.mts many.mts -o a.mts
	mts to jsonl a.mts | jq -r .gate | sort | uniq -c | awk '{ n++; bad += $1 < 900 || $1 > 1100 } END { exit n != 3 || bad }'
	run ! grep -q score <(mts stat a.mts)
	pilot-route --random --seed 42 pilots.mts many.mts | mts diff a.mts -
	run -1 mts diff a.mts <(pilot-route --random --seed 43 pilots.mts many.mts)
}

@test "pilot-route: in a pipe from tokens to routed queries each query has the embedding of its gate's adapter" {
	mkdir gates scores
	cp -r "$GOLDEN/adapter/plain" "$GOLDEN/adapter/mixed" gates
	M=$GOLDEN/bert
	printf '%s\n' text 'a red boat sails' 'the bird flies over the sea' 'a boat' 'the red bird' 'boat sails' >queries.tsv
	tok -m "$M" queries.tsv >ids.mts
	printf 'id\tndcg_at_10\n1\t1\n2\t0\n3\t1\n4\t0\n5\t1\n' >scores/plain.tsv
	printf 'id\tndcg_at_10\n1\t0\n2\t1\n3\t0\n4\t1\n5\t0\n' >scores/mixed.tsv
	encode -q -m "$M" ids.mts | pilot-route --oracle scores/*.tsv | pilot-build fit >pilots.mts
	tok -m "$M" queries.tsv | encode -q -m "$M" --keep | pilot-route --similarity cosine pilots.mts |
		encode -q -m "$M" --gates gates >q.mts
	mts to jsonl q.mts | jq -r .gate | sort -u | diff - <(printf 'mixed\nplain\n')
	for gate in plain mixed; do
		encode -q -m "$M" --adapter gates/$gate ids.mts | mts to jsonl - | jq -c '.["text.emb"]' >$gate
	done
	mts to jsonl q.mts | jq -r .gate | paste - plain mixed |
		awk -F'\t' '{ print $1 == "plain" ? $2 : $3 }' | diff - <(mts to jsonl q.mts | jq -c '.["text.emb"]')
	# the stream keeps the base model's fingerprint and has the adapters' in a property
	mts head --json q.mts | head -1 | jq -e --argjson ids "$(encode -q -m "$M" ids.mts | mts head --json | head -1)" \
		'.properties.model == $ids.properties.model and (.properties.gates | test("plain"))'
	# routed queries cannot be routed again
	run -1 pilot-route pilots.mts q.mts
	[[ $output == *"its vectors went through the gates"* ]]
}

@test "pilot-route: each field has a gate column, each text of a list its gate; encode applies them" {
	mkdir gates
	cp -r "$GOLDEN/adapter/plain" "$GOLDEN/adapter/mixed" gates
	M=$GOLDEN/bert
	printf '{"one":"%s","many":%s}\n' 'a red boat sails' '["the bird flies over the sea","a boat"]' 'a boat' '[]' \
		'the red bird' '["boat sails","a red boat sails","the red bird"]' >texts.jsonl
	tok -m "$M" -f one -f many texts.jsonl | encode -q -m "$M" --keep >texts.mts
	printf '%s\n' text 'a red boat sails' 'the bird flies over the sea' 'a boat' 'the red bird' 'boat sails' >all.tsv
	printf 'id\tndcg_at_10\n1\t1\n2\t0\n3\t1\n4\t0\n5\t1\n' >plain.tsv
	printf 'id\tndcg_at_10\n1\t0\n2\t1\n3\t0\n4\t1\n5\t0\n' >mixed.tsv
	tok -m "$M" all.tsv | encode -q -m "$M" --keep >all.mts
	pilot-route --oracle plain.tsv mixed.tsv <all.mts | pilot-build fit >pilots.mts
	pilot-route --similarity cosine pilots.mts all.mts | encode -q -m "$M" --gates gates >routed.mts
	# the result of each text routed alone
	mts to jsonl routed.mts | jq -c '[.gate, .["score.plain", "score.mixed"], .["text.emb"]]' |
		paste <(sed 1d all.tsv) - | sort >wanted
	[ "$(cut -f2 wanted | jq -r '.[0]' | sort -u | wc -l)" -eq 2 ]
	pilot-route --similarity cosine -f one -f many pilots.mts texts.mts | encode -q -m "$M" --gates gates >got.mts
	mts to jsonl got.mts >got.jsonl
	{
		jq -c '[.["one.gate", "one.score.plain", "one.score.mixed", "one.emb"]]' got.jsonl | paste <(jq -r .one texts.jsonl) -
		jq -c '[.["many.gate", "many.score.plain", "many.score.mixed", "many.emb"]] | transpose[]' got.jsonl |
			paste <(jq -r '.many[]' texts.jsonl) -
	} | sort -u | diff - wanted
	# the gate of a single field is called gate, also for lists
	tok -m "$M" -f many texts.jsonl | encode -q -m "$M" --keep | pilot-route --similarity cosine pilots.mts |
		encode -q -m "$M" --gates gates | mts to jsonl - | jq -c '[.gate, .["many.emb"]]' |
		diff - <(jq -c '[.["many.gate"], .["many.emb"]]' got.jsonl)
	# a list of gates that does not fit the texts
	tok -m "$M" -f one -f other=many texts.jsonl >other.mts
	mts from jsonl - <<<'{"other.gate":["plain"],"one.gate":"plain"}
		{"other.gate":[],"one.gate":""}
		{"other.gate":["mixed","plain","mixed"],"one.gate":""}' | mts paste other.mts - >wrong.mts
	run -1 encode -q -m "$M" --gates gates wrong.mts
	[[ $output == *"wrong.mts: record 1: row 1 does not have as many gates as texts in 'other.ids'" ]]
	run -1 pilot-route pilots.mts texts.mts
	[[ $output == *"texts.mts: it has embeddings of rows and of lists; choose with --field" ]]
	run -2 pilot-route -f one -f one pilots.mts texts.mts
}

@test "encode --pilots: in one pass each text has the gate, the scores and the bits of two passes" {
	mkdir gates early
	M=$GOLDEN/bert
	printf '%s\n' text 'a red boat sails' 'the bird flies over the sea' 'a boat' 'the red bird' 'boat sails' >all.tsv
	for gate in plain mixed; do
		paste all.tsv <(sort "$([ $gate = plain ] && echo -r || echo -f)" all.tsv) | sed '1s/.*/query\tdocument/' | tok -m "$M" -f query -f document --format tsv - |
			train -q -m "$M" --lora rank=2,targets=1.attention.self.query+1.attention.self.value --lr 0.5 --epochs 1 --steps 1 --warmup 0 --schedule constant -o gates/$gate
	done
	printf 'id\tndcg_at_10\n1\t1\n2\t0\n3\t1\n4\t0\n5\t1\n' >plain.tsv
	printf 'id\tndcg_at_10\n1\t0\n2\t1\n3\t0\n4\t1\n5\t0\n' >mixed.tsv
	tok -m "$M" all.tsv | encode -q -m "$M" --keep --emit emb=hs:layers=1 >layer.mts
	pilot-route --oracle plain.tsv mixed.tsv <layer.mts | pilot-build fit --router head >pilots.mts
	printf '{"one":"%s","many":%s}\n' 'a red boat sails' '["the bird flies over the sea","a boat"]' 'a boat' '[]' \
		'the red bird' '["boat sails","a red boat sails","the red bird"]' >texts.jsonl
	tok -m "$M" -f one -f many texts.jsonl >ids.mts
	encode -q -m "$M" --keep --emit emb=hs:layers=1 ids.mts | pilot-route -f one -f many pilots.mts | encode -q -m "$M" --gates gates >two.mts
	mts to jsonl two.mts | jq -cS . >two
	[ "$(jq -r '.["one.gate"], .["many.gate"][]' two | sort -u | wc -l)" -eq 2 ]
	[ "$(jq -c '.["one.emb"]' two)" != "$(encode -q -m "$M" ids.mts | mts to jsonl - | jq -c '.["one.emb"]')" ]
	encode -q -m "$M" --gates gates --pilots pilots.mts ids.mts >one.mts
	mts to jsonl one.mts | jq -cS . | diff two -
	encode -q -m "$M" --gates gates --pilots pilots.mts --tokens 7 ids.mts | mts to jsonl - | jq -cS . | diff two -
	for stream in one two; do mts head --json $stream.mts | head -1 | jq -cS '.properties | del(.tokenizer)' >$stream.properties; done
	diff one.properties two.properties
	# the gate of a single column is called gate; a stream without rows stays so
	tok -m "$M" all.tsv | encode -q -m "$M" --gates gates --pilots pilots.mts | mts to jsonl - | jq -c '[.gate, .["text.emb"]]' |
		diff - <(pilot-route pilots.mts layer.mts | encode -q -m "$M" --gates gates | mts to jsonl - | jq -c '[.gate, .["text.emb"]]')
	head -n 1 all.tsv | tok -m "$M" --format tsv -f text - | encode -q -m "$M" --gates gates --pilots pilots.mts | mts to jsonl - | diff - /dev/null
	# pilots that are pooled otherwise than the texts
	tok -m "$M" all.tsv | encode -q -m "$M" --keep --pooling max --emit emb=hs:layers=1 >max.mts
	pilot-route --oracle plain.tsv mixed.tsv <max.mts | pilot-build fit >max.pilots.mts
	run -1 encode -q -m "$M" --gates gates --pilots max.pilots.mts ids.mts
	[[ $output == *"max.pilots.mts: is a library of hs:layers=1:pool=max; gates are chosen on the way"* ]]
	# an adapter that changes an earlier block, a library of embeddings, a gate without an adapter
	cp -r "$GOLDEN/adapter/plain" "$GOLDEN/adapter/mixed" early
	run -1 encode -q -m "$M" --gates early --pilots pilots.mts ids.mts
	[[ $output == *"which comes before layer 1, where gates are chosen; train it with the targets of later layers" ]]
	# an adapter that changes only token experts of an early block
	mkdir experts
	sed -E 's/4([0-9])/1\1/g' "$GOLDEN/train/pairs.txt" | pairs_stream '{"temperature": 0.05}' >pairs.mts
	Q=$GOLDEN/families/olmoe
	encode -q -m "$Q" --emit emb=hs:layers=1 pairs.mts | mts cat -c query.emb --rename query.emb=text.emb - >some.mts
	mts rows --rows 1-5 some.mts >five.mts
	mts from jsonl - <<<'{"_id":"1"}
		{"_id":"2"}
		{"_id":"3"}
		{"_id":"4"}
		{"_id":"5"}' | mts paste five.mts - | pilot-route --oracle plain.tsv mixed.tsv | pilot-build fit >expert.mts
	for gate in plain mixed; do
		train -q -m "$Q" -o experts/$gate --warmup 0 --lora rank=1,targets=0.mlp.experts.0.up_proj pairs.mts
	done
	run -1 encode -q -m "$Q" --gates experts --pilots expert.mts pairs.mts
	[[ $output == *"experts.0.up_proj.weight', which comes before layer 1, where gates are chosen"* ]]
	encode -q -m "$M" --keep layer.mts >emb.mts
	pilot-route --oracle plain.tsv mixed.tsv <emb.mts | pilot-build fit >other.mts
	run -1 encode -q -m "$M" --gates gates --pilots other.mts ids.mts
	[[ $output == *"other.mts: is a library of embeddings; gates are chosen on the way by the hidden states of a layer"* ]]
	run -1 encode -q -m "$Q" --gates experts --pilots pilots.mts pairs.mts
	[[ $output == *"pilots.mts: is of model "*"; $Q is "* ]]
	layers=$(jq .num_hidden_layers "$M/config.json")
	tok -m "$M" all.tsv | encode -q -m "$M" --keep --emit emb=hs:layers="$layers" | pilot-route --oracle plain.tsv mixed.tsv | pilot-build fit >last.mts
	run -1 encode -q -m "$M" --gates gates --pilots last.mts ids.mts
	[[ $output == *"last.mts: is of layer $layers, and $M has $layers blocks: no gate comes after it"* ]]
	mv gates/mixed gates/else
	run -1 encode -q -m "$M" --gates gates --pilots pilots.mts ids.mts
	[[ $output == *"pilots.mts: sends texts to the gate 'mixed'; there are else, plain" ]]
	run -2 encode -q -m "$M" --pilots pilots.mts ids.mts
	# hidden states and embeddings are not mistaken for each other
	run -1 pilot-route pilots.mts emb.mts
	[[ $output == *"emb.mts: its vectors are embeddings, those of pilots.mts are hs:layers=1; encode both with the same --emit" ]]
	run -1 pilot-build fit <(pilot-route --oracle plain.tsv mixed.tsv <emb.mts) <(pilot-route --oracle plain.tsv mixed.tsv <layer.mts)
	[[ $output == *"its vectors are hs:layers=1, those of"*"are embeddings"* ]]
}

# 3. usage

@test "pilot-route: options that do not apply, and a missing library, are refused" {
	golden
	scores
	does_not_apply --metric pilot-route --metric map pilots.mts q.mts
	does_not_apply --seed pilot-route --seed 1 pilots.mts q.mts
	does_not_apply --rule pilot-route --oracle --rule max scores/a.tsv
	does_not_apply --similarity pilot-route --random --similarity dot pilots.mts
	run -2 pilot-route
	run -2 pilot-route --oracle
	run -2 pilot-route --oracle --best scores/a.tsv
	run -2 pilot-route pilots.mts q.mts q.mts
	run -2 pilot-route - -
	pilot-build fit --router head train.mts -o head.mts
	run -2 --separate-stderr pilot-route --rule mean head.mts q.mts
	[[ $stderr == "pilot-route: --rule does not apply to head.mts, which has classifiers, not pilots"* ]]
}

# 4. wrong input

@test "pilot-route: wrong streams, libraries and scores are refused by name" {
	golden
	scores
	refused() { # MESSAGE COMMAND...
		run -1 --separate-stderr "${@:2}" -o out
		[ ! -e out ]
		echo "$stderr"
		[[ $stderr == "pilot-route: "*"$1"* ]]
	}
	stream_of other another <"$GOLDEN/routing_queries.jsonl"
	refused "other.mts: its vectors are of model another, those of pilots.mts of model base" pilot-route pilots.mts other.mts
	pilot-route --any-model pilots.mts other.mts | routes | diff - <(pilot-route pilots.mts q.mts | routes)
	jq -c '.["text.emb"] += [1]' "$GOLDEN/routing_queries.jsonl" | stream_of wide
	refused "wide.mts: its vectors have width 6, those of pilots.mts 5" pilot-route pilots.mts wide.mts
	jq -c 'if ._id == "q7" then .["text.emb"][2] = null else . end' "$GOLDEN/routing_queries.jsonl" | stream_of nan
	refused "nan.mts: record 2: " pilot-route pilots.mts nan.mts
	refused "q.mts: is not a library of pilots" pilot-route q.mts pilots.mts
	refused "there are no pilots in it" pilot-route <(mts rows --where 'gate=none' pilots.mts) q.mts
	hand | sed 's/\[\(.\),\(.\)\]/[\1e25,\2e25]/' | stream_of huge
	pilot-build fit huge.mts -o huge.pilots
	refused "huge.mts: record 1: the score of vector 1 with gate 'a' is beyond f32" pilot-route huge.pilots huge.mts
	pilot-build fit --router head train.mts -o head.mts
	refused "the gate 'a' has two classifiers" pilot-route <(mts cat head.mts head.mts) q.mts
	mts to jsonl -c size pilots.mts | sed '2s/:.*/:null}/' | mts from jsonl | mts paste <(mts cat -c gate,dataset,pilot.emb pilots.mts) - >nan.pilots
	refused "nan.pilots: record 1: the size of row 2 is not finite" pilot-route nan.pilots q.mts
	mts to jsonl -c size pilots.mts | sed '2s/:.*/:0.0}/' | mts from jsonl | mts paste <(mts cat -c gate,dataset,pilot.emb pilots.mts) - >none.pilots
	refused "none.pilots: record 1: the size of row 2 is 0; a pilot has queries" pilot-route none.pilots q.mts
	mts to jsonl -c gate pilots.mts | sed '2s/:.*/:""}/' | mts from jsonl | mts paste <(mts cat -c dataset,pilot.emb,size pilots.mts) - >no.pilots
	refused "no.pilots: record 1: row 2 has no gate" pilot-route no.pilots q.mts
	head -c 300 pilots.mts >cut.mts
	refused "cut.mts" pilot-route cut.mts q.mts
	refused "lack the query 'q0'" pilot-route --oracle scores/a.tsv scores/b.tsv <q.mts
	refused "a gate 'a' was named before" pilot-route --oracle scores/a.tsv a=scores/b.tsv <q.mts
	refused "a gate's name has no '/'" pilot-route --oracle scores/a.tsv $'x\ty=scores/b.tsv' <q.mts
	refused "the gate has no name" pilot-route --oracle =scores/b.tsv <q.mts
	refused "scores/a.tsv: it has no 'recall', only: ndcg_at_10, map" pilot-route --oracle --metric recall scores/a.tsv <q.mts
	sed -i '$d' scores/b.tsv
	refused "are not of the same queries: there are 60 and 59" pilot-route --best scores/a.tsv scores/b.tsv <q.mts
	sed -i '3s/\t[^\t]*/\tnan/' scores/a.tsv
	refused "is not a number" pilot-route --oracle scores/a.tsv <train.mts
	refused "" pilot-route pilots.mts /dev/null
	run -1 bash -c 'pilot-route pilots.mts q.mts >/dev/full'
}

@test "pilot-route: a stream without rows stays so; existing gate and score columns are replaced" {
	golden
	mts rows --where '_id=none' q.mts | pilot-route pilots.mts | mts stat | found 'score.a'
	[ "$(pilot-route --level 0 pilots.mts q.mts | wc -c)" -gt "$(pilot-route --level 19 pilots.mts q.mts | wc -c)" ]
	pilot-route pilots.mts q.mts | pilot-route --rule max pilots.mts | routes | diff - <(pilot-route --rule max pilots.mts q.mts | routes)
	mts rows --where 'gate!=b' pilots.mts >fewer.mts
	pilot-route pilots.mts q.mts | pilot-route fewer.mts | mts to jsonl - | diff - <(pilot-route fewer.mts q.mts | mts to jsonl -)
	mts paste <(pilot-route pilots.mts q.mts | mts cat -c score.b) q.mts | pilot-route fewer.mts | mts to jsonl - | jq -e -s 'all(has("score.b") | not)'
	pilot-route pilots.mts q.mts | pilot-route --random fewer.mts | mts to jsonl - | jq -e -s 'all(has("score.a") | not)'
}

# 5. the man page
@test "pilot-route: the manual's examples run as printed" {
	mkdir scores gates
	ln -s "$GOLDEN/bert" model
	cp -r "$GOLDEN/adapter/plain" "$GOLDEN/adapter/mixed" gates
	printf '%s\t%s\n' id text 1 'a red boat sails' 2 'the bird flies' >queries.tsv
	printf 'id\tndcg_at_10\n1\t1\n2\t0\n' >scores/plain.tsv
	printf 'id\tndcg_at_10\n1\t0\n2\t1\n' >scores/mixed.tsv
	tok -m model queries.tsv | encode -q -m model | pilot-route --oracle scores/*.tsv | pilot-build fit >pilots.mts
	page_examples pilot-route.1 >examples
	[ "$(wc -l <examples)" -eq 3 ]
	bash -eu -o pipefail examples >counts
	awk '{ n += $1 } END { exit n != 2 }' counts
	[ "$(mts to jsonl oracle.mts | jq -r .gate | paste -s -d' ')" = "plain mixed" ]
}
