#!/usr/bin/env bats
load helper
load scores

# Scores and similarities beyond float32, and statistics without a value.

@test "mteb-score retrieval: a run with scores beyond float32 is scored, with mteb's figures" {
	for protocol in v1 v2; do
		timeout 20 mteb-score -q retrieval --protocol "$protocol" --qrels "$GOLDEN/score_extreme_qrels.tsv" \
			--from-run "$GOLDEN/score_extreme.trec" >"$T/$protocol"
	done
	agrees "$GOLDEN/score_extreme.tsv" <"$T/v2"
	grep -v nauc "$GOLDEN/score_extreme.tsv" >"$T/want"
	agrees "$T/want" <"$T/v1"
}

@test "dot products beyond float32 are refused with row and record" {
	echo '{"_id":"q","x.emb":[1e20,1]}' | mkstream >"$T/q.mts"
	printf '%s\n' '{"_id":"a","x.emb":[1,0]}' '{"_id":"b","x.emb":[-1e20,1]}' | mkstream >"$T/c.mts"
	printf 'q\ta\t1\n' >"$T/qrels"
	dies "mteb-score: $T/c.mts: row 'b': its dot product with a query may exceed float32" \
		timeout 20 mteb-score retrieval --similarity dot --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
	dies "near: $T/c.mts: row 'b': its dot product" timeout 20 near --similarity dot "$T/q.mts" "$T/c.mts"
	mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts" | grep -P '^mrr_at_1\t1$'
	echo '{"query.emb":[1e20,1],"positive.emb":[[1,0],[2,0]],"negative.emb":[[1e20,0]]}' | mkstream >"$T/r.mts"
	for protocol in v1 v2; do
		dies "mteb-score: $T/r.mts: record 1: the dot product of vector 1 of query.emb and vector 1 of negative.emb" \
			timeout 20 mteb-score reranking --similarity dot --protocol "$protocol" "$T/r.mts"
	done
	timeout 20 mteb-score reranking "$T/r.mts" >"$T/out"
	printf '%s\n' '{"sentence1.emb":[1,2],"sentence2.emb":[2,1],"score":1,"label":1}' \
		'{"sentence1.emb":[1e30,2],"sentence2.emb":[-1e30,1],"score":2,"label":0}' | mkstream >"$T/p.mts"
	for type in sts pairclassification; do
		dies "mteb-score: $T/p.mts: record 1: the dot product of vector 2 of sentence1.emb and vector 2" \
			timeout 20 mteb-score "$type" "$T/p.mts"
	done
	echo '{"human_summaries.emb":[[1e20,0]],"machine_summaries.emb":[[1,0],[1e20,1],[0,1]],"relevance":[1,2,3]}' |
		mkstream >"$T/s.mts"
	dies "mteb-score: $T/s.mts: record 1: the dot product of vector 2 of machine_summaries.emb and vector 1" \
		timeout 20 mteb-score summarization "$T/s.mts"
}
