#!/usr/bin/env bats
# The types of mteb-score that mteb 2 added: bitextmining, multilabelclassification, regression, and retrieval with instructions.
# Golden values: tests/golden/score_tasks.py (mteb's own tasks).
load helper
load scores

# 1. known answers

@test "mteb-score bitextmining: mteb's scores, by cosine and dot product, and with given translations" {
	stream tasks_bitext tasks_bitext_gold
	for similarity in cosine dot; do
		mteb-score bitextmining --similarity $similarity "$T/tasks_bitext.mts" |
			agrees "$GOLDEN/score_tasks_bitext_$similarity.tsv"
	done
	mteb-score bitextmining "$T/tasks_bitext_gold.mts" | agrees "$GOLDEN/score_tasks_bitext_gold.tsv"
	# lists of vectors, and other names
	jq -sc '{ "a.emb": map(.["sentence1.emb"]), "b.emb": map(.["sentence2.emb"]) }' "$GOLDEN/score_tasks_bitext.jsonl" |
		mkstream >"$T/lists.mts"
	mteb-score bitextmining -f a -f b "$T/lists.mts" | agrees "$GOLDEN/score_tasks_bitext_cosine.tsv"
}

@test "mteb-score bitextmining: by hand; the first of equal translations; scores per row" {
	row() { printf '{"id":"%s","sentence1.emb":[%s],"sentence2.emb":[%s]}\n' "$@"; }
	{ row a 1,0 1,0; row b 1,0 1,0; row c 0,1 0,3; } | mkstream 2 >"$T/x.mts"
	mteb-score bitextmining --per-query "$T/table" "$T/x.mts" >"$T/out"
	[ "$(tr '\n\t' ',:' <"$T/table")" = "id:accuracy,a:1,b:0,c:1," ]
	# the first sentence2 is found twice and right once: F1 2/3; the others 0 and 1
	printf 'main_score\t0.5555555556\naccuracy\t0.6666666667\nprecision\t0.5\nrecall\t0.6666666667\n' >"$T/want"
	agrees "$T/want" <"$T/out"
	means_are_reported "$T/table" "$T/out"
	head -n 1 "$T/out" | grep -F 'similarity cosine, ties the first sentence2, precision float32, rounding none, gold the row, pairs 3'
	# every row has its own number of the right one
	jq -c '. + {gold: 0}' <<-E | mkstream >"$T/gold.mts"
		$(row a 1,0 1,0; row b 1,0 1,0; row c 0,1 0,3)
	E
	[ "$(mteb-score bitextmining "$T/gold.mts" | metric accuracy)" = 0.6666666666666666 ]
}

# 2. options and usage

@test "mteb-score bitextmining: options and usage" {
	stream tasks_bitext
	for threads in 1 2 3; do
		mteb-score bitextmining -j $threads --json "$T/tasks_bitext.mts" >"$T/$threads"
	done
	cmp "$T/1" "$T/2"
	cmp "$T/1" "$T/3"
	jq -e '.task_type == "bitextmining" and .scores.main_score == .scores.f1' "$T/1" >/dev/null
	for words in "-f only x" "--similarity euclidean x" "a b"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mteb-score bitextmining $words
		[ -z "$output" ]
	done
	does_not_apply --label mteb-score bitextmining --label x y
}

# 3. bad input

@test "mteb-score bitextmining: bad translations, lengths, widths, NaN, dot products beyond float32" {
	bad() { # MESSAGE JSON
		mkstream <<<"$2" >"$T/x.mts"
		dies "mteb-score: $T/x.mts: $1" mteb-score bitextmining "${@:3}" "$T/x.mts"
	}
	bad "there is no column 'sentence2.emb'" '{"sentence1.emb":[1,0]}'
	bad "sentence1.emb has width 2 and sentence2.emb has 1" '{"sentence1.emb":[1,0],"sentence2.emb":[1]}'
	bad "record 1: sentence2.emb: row 1 is not finite" '{"sentence1.emb":[1,0],"sentence2.emb":[null,1]}'
	bad "record 1: row 1 has 2 in sentence1.emb and 1 in sentence2.emb" '{"sentence1.emb":[[1],[2]],"sentence2.emb":[[1]]}'
	bad "record 1: row 1 has 1 in sentence1.emb and 2 in gold" '{"sentence1.emb":[[1]],"sentence2.emb":[[1]],"gold":[0,0]}'
	bad "record 1: gold: value 1 is 0.5, not the number of a sentence2, from 0" '{"sentence1.emb":[1],"sentence2.emb":[1],"gold":0.5}'
	bad "gold: the sentence1 1 has the sentence2 1, counted from 0; there are only 1" '{"sentence1.emb":[1],"sentence2.emb":[1],"gold":1}'
	mkstream <<<'{"sentence1.emb":[1],"sentence2.emb":[1],"x":1}' | mts rows --where x=2 >"$T/x.mts"
	dies "mteb-score: $T/x.mts: there is no pair in it" mteb-score bitextmining "$T/x.mts"
	bad "a dot product may exceed float32" '{"sentence1.emb":[1e30,0],"sentence2.emb":[1e30,1]}' --similarity dot
	mkstream <<<'{"sentence1.emb":[0,0],"sentence2.emb":[0,1]}' >"$T/x.mts"
	run -0 --separate-stderr mteb-score bitextmining "$T/x.mts"
	[[ $stderr == *"1 vectors of sentence1.emb are zero: their cosines are 0"* ]]
}
