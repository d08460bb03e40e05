#!/usr/bin/env bats
load helper
load scores

# A model's own similarity, which its folder names, in streams, searches, scores and results.

setup() {
	cd "$T"
}

@test "similarity: near and mteb-score use the dot product that the stream of a model names, with a message" {
	for name in queries corpus rerank summaries; do
		mkstream 7 f32 m dot <"$GOLDEN/score_$name.jsonl" >"$name.mts"
	done
	for name in sts pairs; do mkstream 7 f32 m dot <"$GOLDEN/score_$name.jsonl" >"$name.mts"; done
	# near.bats compares both similarities with numpy
	diff <(near -k 5 --run - queries.mts corpus.mts) <(near --similarity dot -k 5 --run - queries.mts corpus.mts)
	run ! diff -q <(near -k 5 --run - queries.mts corpus.mts) <(near --similarity cosine -k 5 --run - queries.mts corpus.mts)
	near -k 5 --run - queries.mts corpus.mts | found 'motes:dot:5/'
	for command in "retrieval --qrels $GOLDEN/score_qrels.tsv queries.mts corpus.mts" "reranking rerank.mts" \
		"reranking --protocol v2 rerank.mts" "summarization summaries.mts" "sts sts.mts" "pairclassification pairs.mts"; do
		# shellcheck disable=SC2086
		mteb-score -q $command >own
		# shellcheck disable=SC2086
		mteb-score -q $command --similarity dot | diff own -
		grep -q 'similarity dot' own
		# shellcheck disable=SC2086
		run ! cmp -s own <(mteb-score -q $command --similarity cosine)
	done
}

@test "similarity: near refuses distance-based models, and two models with different similarities" {
	mkstream 7 f32 m euclidean <"$GOLDEN/score_queries.jsonl" >queries.mts
	mkstream 7 f32 m euclidean <"$GOLDEN/score_corpus.jsonl" >corpus.mts
	for command in near "mteb-score retrieval --qrels $GOLDEN/score_qrels.tsv"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr $command queries.mts corpus.mts
		[[ $stderr == *": queries.mts: its model compares by euclidean, and a search knows cosine, dot and MaxSim: say --similarity" ]]
		# shellcheck disable=SC2086
		$command --similarity cosine queries.mts corpus.mts >out 2>/dev/null && rm out
	done
	mkstream 7 f32 n dot <"$GOLDEN/score_corpus.jsonl" >corpus.mts
	dies "near: corpus.mts: is to be compared by dot, queries.mts by euclidean; say --similarity" \
		near --any-model queries.mts corpus.mts
	mkstream 7 f32 m tanimoto <"$GOLDEN/score_sts.jsonl" >sts.mts
	dies "mteb-score: sts.mts: its model compares by 'tanimoto', which is not supported; say --similarity" mteb-score sts sts.mts
	mteb-score sts --similarity cosine sts.mts >/dev/null
}

@test "similarity: encode writes the folder's similarity to the stream, and results have it" {
	base=$ROOT/share/models/base
	[ -e "$base/model.safetensors" ] || skip "needs make base-model"
	cp -r "$base" model
	chmod -R u+w model
	config=model/config_sentence_transformers.json
	similarity() { # as JSON, from the stream's header and from model_meta.json
		jq ".similarity_fn_name = $1" "$base/config_sentence_transformers.json" >"$config"
		echo "a red ship" | tok -m model - | encode -m model | mts head --json | head -n 1 |
			jq -r '.properties.similarity'
		leaderboard model -m model | jq -r '.similarity_fn_name'
	}
	[ "$(similarity '"dot"' | xargs)" = "dot dot" ]
	[ "$(similarity '"manhattan"' | xargs)" = "manhattan manhattan" ]
	[ "$(similarity '"cosine"' | xargs)" = "null cosine" ]
	[ "$(similarity null | xargs)" = "null cosine" ]
	rm "$config"
	[ "$(leaderboard model -m model | jq -r '.similarity_fn_name')" = cosine ]
	jq '.similarity_fn_name = "maxsim"' "$base/config_sentence_transformers.json" >"$config"
	echo "a red ship" | tok -m model - >tokens.mts
	dies "encode: $config: similarity_fn_name 'maxsim' is none of cosine, dot, euclidean and manhattan" encode -m model tokens.mts
}
