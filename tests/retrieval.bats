#!/usr/bin/env bats
load helper
load scores

# mteb-score retrieval. The other types are in mteb-score.bats.

# 1. known answers

@test "mteb-score retrieval: measures are pytrec_eval's, with ties and graded judgements" {
	stream queries corpus
	mteb-score -q retrieval --qrels "$GOLDEN/score_qrels.tsv" "$T/queries.mts" "$T/corpus.mts" |
		agrees "$GOLDEN/score_retrieval.tsv"
	mteb-score -q retrieval --ignore-identical-ids --qrels "$GOLDEN/score_qrels.tsv" \
		"$T/queries.mts" "$T/corpus.mts" | agrees "$GOLDEN/score_retrieval_ignored.tsv"
}

@test "mteb-score retrieval: of equal scores the greater id is first, as in trec_eval: nDCG 1/log2 3, MAP 1/2" {
	echo '{"_id":"q","x.emb":[1,0]}' | mkstream >"$T/q.mts"
	printf '%s\n' '{"_id":"a","x.emb":[2,0]}' '{"_id":"b","x.emb":[2,0]}' | mkstream >"$T/c.mts"
	printf 'q\ta\t1\n' >"$T/qrels"
	mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts" >"$T/out"
	[ "$(metric ndcg_at_10 <"$T/out")" = 0.63093 ]
	[ "$(metric map_at_10 <"$T/out")" = 0.5 ]
	[ "$(metric main_score <"$T/out")" = 0.63093 ]
}

@test "mteb-score retrieval: --run writes the hits, with qrels and without" {
	printf '%s\n' '{"_id":"q 1","x.emb":[1,0]}' '{"_id":"q 2","x.emb":[0,1]}' | mkstream >"$T/q.mts"
	printf '%s\n' '{"_id":"a","x.emb":[3,4]}' '{"_id":"b","x.emb":[2,0]}' | mkstream >"$T/c.mts"
	mteb-score retrieval --run - --top 1 "$T/q.mts" "$T/c.mts" >"$T/out"
	printf 'q 1\tQ0\tb\t1\t1\tmotes:cosine:1/2\nq 2\tQ0\ta\t1\t0.800000012\tmotes:cosine:1/2\n' | cmp - "$T/out"
	printf 'q 2\tb\t1\n' >"$T/qrels"
	mteb-score -q retrieval --qrels "$T/qrels" --run "$T/run" "$T/q.mts" "$T/c.mts" >"$T/out"
	[ "$(metric mrr_at_10 <"$T/out")" = 0.5 ]
	printf 'q 2\tQ0\ta\t1\t0.800000012\tmotes:cosine:1000/2\nq 2\tQ0\tb\t2\t0\tmotes:cosine:1000/2\n' |
		cmp - "$T/run"
}

@test "mteb-score retrieval --measures trec: values of each query are trec_eval's, with --relevant and --judged-only" {
	local options
	while IFS= read -r options; do
		# shellcheck disable=SC2086
		mteb-score -q retrieval --measures trec $options --qrels "$GOLDEN/trec.qrels" --from-run "$GOLDEN/trec.run" \
			--per-query "$T/queries.tsv" >"$T/out" 2>"$T/err"
		awk -F'\t' -v options="$options" '
			NR == FNR { if ($3 == options) { wanted[$1, $2] = $4; all++ } next }
			FNR == 1 { for (i = 2; i <= NF; i++) name[i] = $i; next }
			{ for (i = 2; i <= NF; i++) if (($1, name[i]) in wanted) {
				d = $i - wanted[$1, name[i]]
				if (d < -1e-11 || d > 1e-11) { print $1, name[i], $i, wanted[$1, name[i]]; bad = 1 }
				all-- } }
			END { exit bad || all != 0 || length(wanted) < 300 }' "$GOLDEN/trec.tsv" "$T/queries.tsv"
	done <<-E

		--relevant 2
		--judged-only
	E
}

@test "mteb-score retrieval --measures trec: sums, means, the geometric mean and rank-biased precision, computed by hand" {
	printf 'q1 a 1\nq1 b 0\nq2 a 1\nq2 c 2\n' >"$T/qrels"
	printf 'q1 Q0 b 1 3 x\nq1 Q0 a 2 2 x\nq2 Q0 b 1 3 x\n' >"$T/run"
	mteb-score -q retrieval --measures trec --at 1,4000 --qrels "$T/qrels" --from-run "$T/run" >"$T/out"
	[ "$(metric num_q <"$T/out")" = 2 ]
	[ "$(metric num_ret <"$T/out")" = 3 ]
	[ "$(metric num_rel <"$T/out")" = 3 ]
	[ "$(metric num_rel_ret <"$T/out")" = 1 ]
	[ "$(metric map <"$T/out")" = 0.25 ]
	[ "$(metric main_score <"$T/out")" = 0.25 ]
	metric gm_map <"$T/out" | awk '{ d = $1 - sqrt(0.5 * 1e-5); exit d < -1e-12 || d > 1e-12 }'
	metric rbp_0.80 <"$T/out" | awk '{ d = $1 - 0.2 * 0.8 / 2; exit d < -1e-12 || d > 1e-12 }'
	[ "$(metric success_1 <"$T/out")" = 0 ]
	[ "$(metric P_4000 <"$T/out")" = 0.000125 ]
	mteb-score -q retrieval --at 4000 --qrels "$T/qrels" --from-run "$T/run" | grep -P '^recall_at_4000\t0.5$'
}

@test "mteb-score retrieval: --judged-only drops unjudged hits from MTEB's measures too" {
	printf 'q a 1\nq b 0\n' >"$T/qrels"
	printf 'q Q0 x 1 4 x\nq Q0 b 2 3 x\nq Q0 a 3 2 x\n' >"$T/run"
	mteb-score -q retrieval --qrels "$T/qrels" --from-run "$T/run" | grep -P '^mrr_at_10\t0.3333333333333333$'
	mteb-score -q retrieval --judged-only --qrels "$T/qrels" --from-run "$T/run" | grep -P '^mrr_at_10\t0.5$'
}

@test "mteb-score retrieval: --relevant needs --measures trec; cut-offs above 1000 need a run" {
	run -2 mteb-score retrieval --relevant 2 --qrels x --from-run y
	[ "${lines[0]}" = "mteb-score: --relevant needs --measures trec" ]
	run -2 mteb-score retrieval --at 10,1001 --qrels x a b
	[[ ${lines[0]} == "mteb-score: --at: a search keeps 1000 documents a query; 'near -k 1001 --run' keeps more, for retrieval --from-run" ]]
}

@test "mteb-score retrieval: linear and exponential gain, computed by hand" {
	echo '{"id":7,"x.emb":[1,0]}' | mkstream >"$T/q.mts"
	printf '%s\n' '{"id":1,"x.emb":[2,0]}' '{"id":2,"x.emb":[1,1]}' | mkstream >"$T/c.mts"
	printf '7 0 1 1\n7 0 2 2\n' >"$T/qrels"
	mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts" | grep -P '^ndcg_at_10\t0.85972$'
	mteb-score retrieval --gain exp --qrels "$T/qrels" "$T/q.mts" "$T/c.mts" |
		grep -P '^ndcg_at_10\t0.79671$'
}

@test "mteb-score retrieval: of repeated judgements of a pair the last one counts" {
	echo '{"_id":"q","x.emb":[1,0]}' | mkstream >"$T/q.mts"
	printf '%s\n' '{"_id":"a","x.emb":[2,0]}' '{"_id":"b","x.emb":[1,1]}' | mkstream >"$T/c.mts"
	for grades in "0 3 2" "9 0 2"; do
		# shellcheck disable=SC2086
		{ printf 'q\ta\t%d\n' $grades; echo 'q b 1'; } >"$T/qrels"
		run -0 --separate-stderr mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
		[[ $stderr == *"qrels: 2 pairs are judged more than once: the last grade counts"* ]]
		[[ $output == *$'\nndcg_at_1\t1\n'* ]]
		sed -i 's/^q b 1$/q b 4/' "$T/qrels" # 2 of 4 at the first rank
		mteb-score -q retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts" | grep -P '^ndcg_at_1\t0.5$'
	done
}

@test "mteb-score retrieval: the search keeps the best 1000 of 3000 with ties at the cut" {
	echo '{"_id":"q","x.emb":[1,0]}' | mkstream >"$T/q.mts"
	# of 2500 equal documents the 1000 greatest ids are kept, d2499 first
	seq 0 2999 | awk '{ printf "{\"_id\":\"d%04d\",\"x.emb\":[%s]}\n", $1, $1 < 2500 ? "3,4" : "-1,2" }' |
		mkstream 500 >"$T/c.mts"
	seq -f 'q Q0 d%04g 1 0 all' 0 2999 >"$T/all"
	for candidates in "" "--candidates $T/all"; do
		# shellcheck disable=SC2086
		score() { mteb-score retrieval $candidates --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"; }
		printf 'q\td1500\t1\n' >"$T/qrels"
		[ "$(score | metric mrr_at_1000)" = 0.001 ]
		printf 'q\td1499\t1\n' >"$T/qrels"
		[ "$(score | metric recall_at_1000)" = 0 ]
	done
}

@test "mteb-score retrieval --candidates: takes MTEB's layout of reranking sets, or a TREC run" {
	rows() { jq -c --slurp "to_entries[] | .key as \$row | .value | $1" "$GOLDEN/score_rerank.jsonl"; }
	documents='[(.["positive.emb"] | to_entries[] | ["apositive_\($row)_0000\(.key)", 1, .value]),
		(.["negative.emb"] | to_entries[] | ["negative_\($row)_0000\(.key)", 0, .value])]'
	rows '{ _id: "q\($row)", "text.emb": .["query.emb"] }' | mkstream >"$T/q.mts"
	rows "$documents"'[] | { _id: .[0], "text.emb": .[2] }' | shuf --random-source=<(yes) |
		mkstream >"$T/c.mts"
	rows "$documents"'[] | { "query-id": "q\($row)", "corpus-id": .[0], score: .[1] }' >"$T/qrels"
	rows '{ "query-id": "q\($row)", "corpus-ids": '"$documents"' | map(.[0]) }' >"$T/top_ranked"
	score() {
		mteb-score retrieval --protocol v2 --qrels "$T/qrels" --candidates "$1" "$T/q.mts" "$T/c.mts"
	}
	score "$T/top_ranked" | agrees "$GOLDEN/score_rerank_v2.tsv"
	jq -r '.["query-id"] as $q | .["corpus-ids"][] | "\($q) Q0 \(.) 1 0.5 bm25"' "$T/top_ranked" >"$T/run"
	score "$T/run" | agrees "$GOLDEN/score_rerank_v2.tsv"
	{ head -3 "$T/top_ranked"; echo '{"query-id":"q0","corpus-ids":["far"]}'; } >"$T/few"
	run -0 --separate-stderr score "$T/few"
	[[ $stderr == *"few: 11 queries have no candidates: nothing is found for them; first: 'q3'"* ]]
	[[ $stderr == *"few: 1 candidates are not in the corpus: they are not found; first: 'far'"* ]]
	{ echo '{"query-id":"q0","corpus-ids":["far"]}'; head -3 "$T/top_ranked"; } >"$T/few"
	run -0 --separate-stderr score "$T/few"
	[[ $stderr == *"few: 1 candidates are not in the corpus"* ]]
	echo '{"query-id":"q0"}' >"$T/few"
	run -1 --separate-stderr score "$T/few"
	[[ $stderr == *"few:1: expected a string 'query-id' and a list 'corpus-ids'"* ]]
	echo '{"query-id":"z","corpus-ids":["far"]}' >"$T/few"
	run -1 --separate-stderr score "$T/few"
	[[ $stderr == *"few: there is no candidate for any query of"* ]]
}

@test "mteb-score retrieval: every score that mteb reports is mteb's, nAUC included, v1 and v2" {
	stream queries corpus
	for protocol in v1 v2; do
		mteb-score -q retrieval --protocol $protocol --qrels "$GOLDEN/score_qrels.tsv" \
			"$T/queries.mts" "$T/corpus.mts" | agrees "$GOLDEN/score_retrieval_$protocol.tsv"
	done
}

@test "mteb-score retrieval: --memory bounds the memory of queries and hits" {
	stream queries corpus
	score() { mteb-score -q retrieval --qrels "$GOLDEN/score_qrels.tsv" "$@" "$T/queries.mts" "$T/corpus.mts"; }
	score >"$T/all"
	score --memory 20M | cmp - "$T/all"
	run -1 --separate-stderr score --memory 100K
	[[ $stderr == *"queries.mts: "*" queries with 1000 hits each take "*" MB; allow that with --memory, or search for fewer"* ]]
}

# bats test_tags=plain
@test "mteb-score retrieval: a written run scores the same when it is read" {
	stream queries corpus
	score() { mteb-score -q retrieval --qrels "$GOLDEN/score_qrels.tsv" "$@"; }
	score --run "$T/run" "$T/queries.mts" "$T/corpus.mts" >"$T/one"
	score --from-run "$T/run" | cmp - "$T/one" # also the settings, which the run's tag carries
	score --ignore-identical-ids --run "$T/run.self" "$T/queries.mts" "$T/corpus.mts" >"$T/self"
	[[ $(head -1 "$T/self") == *", identical ids ignored, "* ]]
	score --from-run "$T/run.self" | cmp - "$T/self"
	# tags without settings, or with different ones
	for tag in motes bm25 motes:cosine motes:cosine:0/9 motes:cosine:9/9:odd motes:near:9/9; do
		sed "s|[^\t]*\$|$tag|" "$T/run" >"$T/tagged"
		[[ $(score --from-run "$T/tagged" | head -1) == *" similarity given, "*", gain grade, identical"* ]]
	done
	sed '$s|[^\t]*$|motes:dot:10/99|' "$T/run" >"$T/tagged"
	[[ $(score --from-run "$T/tagged" | head -1) == *" similarity given, "* ]]
	sed 's|[^\t]*$|motes:dot:10/99:others:0.5|' "$T/run" >"$T/tagged"
	[[ $(score --from-run "$T/tagged" | head -1) == *" similarity dot, "*", depth 10, threshold 0.5, identical ids ignored, documents 99, "* ]]
	sed -i '/^#/d' "$T/one"
	tr '\t' ' ' <"$T/run" | shuf --random-source=<(yes) | gzip >"$T/run.gz"
	grep -v nauc "$T/one" >"$T/want" # nAUC depends on the order of queries with equal confidence
	score --from-run "$T/run.gz" | agrees "$T/want"
}

@test "mteb-score retrieval --per-query --at: scores of each query are pytrec_eval's; their means are reported" {
	mteb-score -q retrieval --protocol v1 --at 50,1,5 --qrels "$GOLDEN/per_query_qrels.tsv" \
		--from-run "$GOLDEN/per_query_run.trec" --per-query "$T/table" >"$T/out"
	diff <(cut -f 1 "$T/table") <(cut -f 1 "$GOLDEN/per_query_expected.tsv")
	diff <(head -n 1 "$T/table" | cut -f 1-17) <(head -n 1 "$GOLDEN/per_query_expected.tsv")
	numbers() { tail -n +2 "$1" | cut -f 2-17 | tr '\t' '\n'; }
	numbers "$GOLDEN/per_query_expected.tsv" >"$T/want"
	numbers "$T/table" | within "$T/want" 1e-11
	means_are_reported "$T/table" "$T/out"
	[ "$(head -n 1 "$T/table" | tr '\t' '\n' | grep -c at_)" -eq 20 ] # five measures at four cut-offs, no nAUC
	# the cut-off of the main score is always there
	[ "$(cut -f 1 "$T/out" | grep ^ndcg_ | tr '\n' ' ')" = "ndcg_at_1 ndcg_at_5 ndcg_at_10 ndcg_at_50 " ]
	[ "$(metric main_score <"$T/out")" = "$(metric ndcg_at_10 <"$T/out")" ]
}

@test "mteb-score retrieval --per-query: has MTEB's cut-offs, v1 and v2; the file is written completely or not at all" {
	stream queries corpus
	for protocol in v1 v2; do
		score() {
			mteb-score -q retrieval --protocol $protocol --qrels "$GOLDEN/score_qrels.tsv" "$@" \
				"$T/queries.mts" "$T/corpus.mts"
		}
		score >"$T/plain"
		score --per-query "$T/table" >"$T/out"
		cmp "$T/plain" "$T/out"
		means_are_reported "$T/table" "$T/out"
		[ "$(wc -l <"$T/table")" -eq 14 ]
		[ "$(head -n 1 "$T/table" | wc -w)" -eq $([ $protocol = v1 ] && echo 36 || echo 44) ]
		score --at 3,7,3 --per-query "$T/few" >"$T/out"
		means_are_reported "$T/few" "$T/out"
		[[ $(head -n 1 "$T/few") == $'id\tndcg_at_3\tndcg_at_7\tndcg_at_10\tmap_at_3'* ]]
		[[ $(head -n 1 "$T/few") != *accuracy* ]] # accuracy is recall at 1
	done
	cp "$T/table" "$T/kept"
	run -1 mteb-score -q retrieval --per-query "$T/table" --qrels "$GOLDEN/score_qrels.tsv" "$T/queries.mts" /dev/null
	cmp "$T/kept" "$T/table"
	run -1 --separate-stderr mteb-score -q retrieval --per-query "$T/no/table" --qrels "$GOLDEN/score_qrels.tsv" \
		"$T/queries.mts" "$T/no such corpus"
	[[ $stderr == "mteb-score: $T/no/table: No such file or directory" ]] # before anything is read
	if [ -e /dev/full ]; then
		run -1 --separate-stderr score --per-query /dev/full
		[ -z "$output" ]
		[[ $stderr == "mteb-score: /dev/full: No space left on device" ]]
	fi
}

@test "mteb-score retrieval --complete: judged queries without hits count as 0, as with trec_eval -c" {
	run -0 --separate-stderr mteb-score retrieval --complete --at 1,5,50 --qrels "$GOLDEN/per_query_qrels.tsv" \
		--from-run "$GOLDEN/per_query_run.trec" --per-query "$T/table"
	echo "$output" >"$T/out"
	agrees "$GOLDEN/per_query_complete.tsv" <"$T/out"
	[[ $stderr == *"2 queries have judgements but nothing was found for them: they count as 0; first: 'q4'"* ]]
	[[ ${lines[0]} == *", queries without hits 0,"*", queries 12,"* ]]
	[ "$(cut -f 1 "$T/table" | tail -n 2 | tr '\n' ' ')" = "q4 q9 " ]
	[ "$(tail -n 2 "$T/table" | cut -f 2- | tr '\t' '\n' | sort -u)" = 0 ]
	means_are_reported "$T/table" "$T/out"
	# queries without an embedding
	echo '{"_id":"q","x.emb":[1,0]}' | mkstream >"$T/q.mts"
	echo '{"_id":"d","x.emb":[1,0]}' | mkstream >"$T/c.mts"
	printf 'q\td\t1\nabsent\td\t1\nz\td\t1\n' >"$T/qrels"
	[ "$(mteb-score -q retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts" | metric main_score)" = 1 ]
	run -0 --separate-stderr mteb-score retrieval --complete --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
	[[ $output == *$'\nmain_score\t0.33333\n'* ]]
	[[ $stderr == *"2 queries have judgements but no embedding: they count as 0; first: 'absent'"* ]]
	printf 'other\td\t1\n' >"$T/qrels" # without any judged query there is no score
	run -1 mteb-score retrieval --complete --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
}

# 2. bad input

@test "mteb-score retrieval: unmatched ids are reported with their number" {
	stream queries corpus
	score() { mteb-score retrieval --qrels "$T/qrels" "$T/queries.mts" "$T/corpus.mts"; }
	{ cat "$GOLDEN/score_qrels.tsv"; printf 'q99\td1\t1\nq98\td1\t1\nq0\td2\t1\nq0\td2\t2\n'; } >"$T/qrels"
	run -0 --separate-stderr score
	[[ $stderr == *"2 queries have judgements but no embedding: the means are over the others; first: 'q99'"* ]]
	[[ $stderr == *"1 judged documents are not in the corpus: they count as not found; first: 'nowhere'"* ]]
	[[ $stderr == *"1 pairs are judged more than once"* || $stderr == *"2 pairs are judged more than once"* ]]
	printf 'x\td1\t1\n' >"$T/qrels"
	run -1 --separate-stderr score
	[[ $stderr == *"none of its 15 ids has judgements (one that has is 'x')"* ]]
	printf 'q1\tx\t1\n' >"$T/qrels"
	run -1 --separate-stderr score
	[[ $stderr == *"it has none of the 1 documents of"*" (first: 'x')"* ]]
	printf 'q1\td1\t1024\nq0\td1\t1\n' >"$T/qrels"
	run -1 --separate-stderr mteb-score retrieval --gain exp --qrels "$T/qrels" "$T/queries.mts" "$T/corpus.mts"
	[[ $stderr == *"qrels: the grade 1024 is beyond an exponential gain"* ]]
	for line in 'q1\td1\tnan' 'q1\td1\t1e99' 'q1\td1' 'q1\td1\t2\t3\t4' 'q1\td1\t0.5' 'q1\td1\t0x10' 'q1\td1\tinf'; do
		printf 'q1\td1\t1\n'"$line"'\n' >"$T/qrels"
		run -1 --separate-stderr score
		[[ $stderr == *"qrels:2: "* ]]
	done
	: >"$T/qrels"
	run -1 --separate-stderr score
	[[ $stderr == *"no judgements"* ]]
}

@test "mteb-score retrieval: repeated ids, NaN, zero vectors and other widths" {
	printf 'q\tb\t1\n' >"$T/qrels"
	echo '{"_id":"q","x.emb":[1,0]}' | mkstream >"$T/q.mts"
	printf '%s\n' '{"_id":"a","x.emb":[1,0.2]}' '{"_id":"b","x.emb":[1,0.1]}' '{"_id":"a","x.emb":[1,0]}' \
		'{"_id":"n","x.emb":[null,0]}' '{"_id":"z","x.emb":[0,0]}' | mkstream 2 >"$T/c.mts"
	run -0 --separate-stderr mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
	[[ $stderr == *"1 rows repeat an id: the first one of each id counts; first: 'a'"* ]]
	[[ $stderr == *"1 embeddings are not finite: their similarities count as -1, as in the reference; first: 'n'"* ]]
	[[ $stderr == *"1 embeddings are zero"*"'z'"* ]]
	[[ $output == *$'\nndcg_at_10\t1\n'* ]]
	echo '{"_id":"b","x.emb":[1,0,0]}' | mkstream >"$T/c.mts"
	run -1 --separate-stderr mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
	[[ $stderr == *"its vectors have width 3, those of"* ]]
	echo '{"name":"b","x.emb":[1,0]}' | mkstream >"$T/c.mts"
	run -1 --separate-stderr mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
	[[ $stderr == *"no column '_id' or 'id'"* ]]
}

@test "mteb-score: queries and documents of different models are refused" {
	local query='{"_id":"q","label":1,"x.emb":[1,0]}' document='{"_id":"d","label":2,"x.emb":[0.6,0.8]}'
	printf 'q\td\t1\n' >"$T/qrels"
	for model in aaaa bbbb; do
		echo "$query" | mkstream 1 f32 $model >"$T/q.$model"
		printf '%s\n' "$query" "$document" | mkstream 1 f32 $model >"$T/c.$model"
	done
	printf '%s\n' "$query" "$document" | mkstream >"$T/c.none"
	for model in bert nomic_bert; do
		echo '{"_id":"a","text":"words"}' | tok -m "$GOLDEN/$model" -f text - |
			encode -m "$GOLDEN/$model" >"$T/$model.mts"
	done
	run -1 --separate-stderr mteb-score retrieval --run - "$T/bert.mts" "$T/nomic_bert.mts"
	[[ $stderr == *"nomic_bert.mts: its vectors are of model "*bert.mts*" of model "* ]]
	for words in "retrieval --qrels $T/qrels $T/q.aaaa" "classification --train $T/q.aaaa"; do
		[ "$words" = "${words#class}" ] || words=${words/q.aaaa/c.aaaa}
		# shellcheck disable=SC2086
		run -1 --separate-stderr mteb-score $words "$T/c.bbbb"
		[ -z "$output" ]
		[[ ${#stderr_lines[@]} = 1 && $stderr == *"c.bbbb: its vectors are of model bbbb, those of "*" of model aaaa: "*--any-model* ]]
		for file in "--any-model $T/c.bbbb" "$T/c.aaaa" "$T/c.none"; do
			# shellcheck disable=SC2086
			[ -n "$(mteb-score -q $words $file | metric main_score)" ]
		done
	done
}

@test "mteb-score retrieval: ids in judgements are text or integers; CSV is read" {
	printf '%s\n' '{"_id":"3","x.emb":[1,0]}' '{"_id":"0","x.emb":[1,1]}' | mkstream >"$T/q.mts"
	printf '%s\n' '{"_id":"a,b","x.emb":[1,0]}' '{"_id":"0","x.emb":[0,1]}' | mkstream >"$T/c.mts"
	score() { mteb-score -q retrieval --qrels "$1" "$T/q.mts" "$T/c.mts"; }
	printf '{"query-id":%s,"corpus-id":%s,"score":1}\n' 3 '"a,b"' 0 0 >"$T/qrels"
	[ "$(score "$T/qrels" | metric ndcg_at_1)" = 0.5 ] # the id "0" exists; 0.0 or false below must not be taken for it
	for ids in '3.0 0' 'true 0' 'null 0' '0 false' '0 0.0' '0 ["0"]'; do
		printf '{"query-id":%s,"corpus-id":%s,"score":1}\n' 3 0 $ids >"$T/qrels"
		run -1 --separate-stderr score "$T/qrels"
		[ -z "$output" ]
		[[ $stderr == *"qrels:2: "* ]]
	done
	for grade in '"1"' true null 0.5; do
		printf '{"query-id":3,"corpus-id":0,"score":%s}\n' 1 "$grade" >"$T/qrels"
		run -1 --separate-stderr score "$T/qrels"
		[[ $stderr == *"qrels:2: "* ]]
	done
	printf 'query-id,corpus-id,score\n3,"a,b",1\n0,"0",1\n' | tee "$T/test.csv" | gzip >"$T/test.csv.gz"
	for file in "$T/test.csv" "$T/test.csv.gz"; do
		[ "$(score "$file" | metric ndcg_at_1)" = 0.5 ]
	done
	printf '3,0,few\n' >>"$T/test.csv"
	run -1 --separate-stderr score "$T/test.csv"
	[[ $stderr == *"test.csv:4: the grade is not a number"* ]]
}

@test "mteb-score retrieval: ids that a run cannot hold are refused" {
	for id in 'a\tb' 'a\nb' 'a\u0000b'; do
		echo "{\"_id\":\"$id\",\"x.emb\":[1,0]}" | mkstream >"$T/bad.mts"
		echo '{"_id":"q","x.emb":[1,0]}' | mkstream >"$T/good.mts"
		for files in "bad good" "good bad"; do
			# shellcheck disable=SC2086
			run -1 --separate-stderr mteb-score retrieval --run "$T/run" $(printf "$T/%s.mts " $files)
			[[ $stderr == *"run: the id '"*"in a run; rename it"* ]]
			[ ! -e "$T/run" ]
		done
	done
	echo '{"_id":"a b","x.emb":[1,0]}' | mkstream >"$T/blank.mts"
	run -0 --separate-stderr mteb-score retrieval --run "$T/run" "$T/good.mts" "$T/blank.mts"
	[[ $stderr == *"run: 1 lines have a blank in an id"* ]]
	printf 'q\ta b\t1\n' >"$T/qrels"
	[ "$(mteb-score retrieval --qrels "$T/qrels" --from-run "$T/run" | metric main_score)" = 1 ]
}

@test "mteb-score --per-query: ids that a line cannot hold, and repeated ids, are refused" {
	for id in 'a\tb' 'a\nb' 'a\rb' 'a\u0000b' ''; do
		echo "{\"query-id\":\"$id\",\"corpus-id\":\"d\",\"score\":1}" >"$T/qrels"
		echo "{\"_id\":\"$id\",\"x.emb\":[1,0]}" | mkstream >"$T/q.mts"
		echo '{"_id":"d","x.emb":[1,0]}' | mkstream >"$T/c.mts"
		run -1 --separate-stderr mteb-score retrieval --qrels "$T/qrels" --per-query "$T/table" "$T/q.mts" "$T/c.mts"
		[ -z "$output" ]
		[ ! -e "$T/table" ]
		[ -z "$id" ] || [[ $stderr == "mteb-score: $T/table: the id 'a"*"in a table; rename it" ]]
	done
	for id in x y x; do
		echo "{\"id\":\"$id\",\"sentence1.emb\":[1,0],\"sentence2.emb\":[1,0],\"score\":1}"
	done | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score sts --per-query "$T/table" "$T/x.mts"
	[[ $stderr == "mteb-score: $T/table: the id 'x' occurs again; "* ]]
	[ ! -e "$T/table" ]
}

@test "mteb-score retrieval: queries without judgements are left out, queries without relevant documents count as 0" {
	printf '%s\n' '{"_id":"a","x.emb":[1,0]}' '{"_id":"b","x.emb":[0,1]}' '{"_id":"z","x.emb":[0,1]}' |
		mkstream >"$T/q.mts"
	echo '{"_id":"d","x.emb":[1,0]}' | mkstream >"$T/c.mts"
	printf 'a\td\t1\nb\td\t0\n' >"$T/qrels"
	run -0 --separate-stderr mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/c.mts"
	[[ $stderr == *"q.mts: 1 queries have no judgements: they are left out; first: 'z'"* ]]
	[[ $stderr == *"qrels: 1 queries have no relevant document: they count as 0, as in the reference"* ]]
	[[ $output == *$'\nndcg_at_10\t0.5\n'* ]]
	mkstream </dev/null >"$T/none.mts"
	run -1 --separate-stderr mteb-score retrieval --qrels "$T/qrels" "$T/none.mts" "$T/c.mts"
	[[ $stderr == *"none.mts: it has no columns"* ]]
	run -1 --separate-stderr mteb-score retrieval --qrels "$T/qrels" "$T/q.mts" "$T/none.mts"
	[[ $stderr == *"none.mts: it has no columns"* ]]
}

@test "mteb-score retrieval --from-run: malformed lines are refused; repeated lines and other queries get warnings" {
	printf 'a\td\t1\nb\td\t1\n' >"$T/qrels"
	score() { mteb-score retrieval --qrels "$T/qrels" --from-run "$T/run"; }
	printf 'a Q0 e 1 2.5 x\r\na Q0 d 2 2 x\na Q0 d 3 1 x\nz Q0 d 1 1 x\n\n' >"$T/run"
	run -0 --separate-stderr score
	[[ $stderr == *"run: 1 lines repeat a query and a document: the first one counts; one is of 'd'"* ]]
	[[ $stderr == *"qrels: 1 queries have judgements but nothing was found for them"*"first: 'b'"* ]]
	[[ $stderr == *"run: 1 queries have no judgements: they are left out; first: 'z'"* ]]
	[[ $output == *$'\nmrr_at_10\t0.5\n'* ]]
	# scores that are equal in float32: the greater id is first
	printf 'a Q0 d 1 0.50000000001 x\na Q0 e 2 0.5 x\nb Q0 d 1 1 x\n' >"$T/run"
	[[ $(score) == *$'\nmrr_at_10\t0.75\n'* ]]
	for line in 'a Q0 d 1 x' 'a Q0 d 1 2 x y' 'a Q0 d 1 nan x' 'a Q0 d 1 high x'; do
		printf 'b Q0 d 1 1 x\n%s\n' "$line" >"$T/run"
		run -1 --separate-stderr score
		[[ $stderr == *"run:2: "* ]]
	done
	: >"$T/run"
	run -1 --separate-stderr score
	[[ $stderr == *"nothing in it"* ]]
	printf 'y Q0 d 1 1 x\n' >"$T/run"
	run -1 --separate-stderr score
	[[ $stderr == *"none of its 1 queries has judgements in"*"the first there is 'a'"* ]]
}

# 3. real data, if it is there

@test "mteb-score: all-MiniLM-L6-v2 on SciFact has the published 64.51" {
	need_minilm
	need_data retrieval/scifact/corpus.jsonl.zst
	[ -n "${MOTES_LONG:-}" ] || skip "takes minutes (set MOTES_LONG)"
	scifact=$DATA/retrieval/scifact
	tok -m "$MOTES_MINILM" -f text "$scifact/queries.jsonl.zst" | encode -m "$MOTES_MINILM" >"$T/q.mts"
	tok -m "$MOTES_MINILM" -f text=title+text "$scifact/corpus.jsonl.zst" |
		encode -m "$MOTES_MINILM" >"$T/c.mts"
	mteb-score retrieval --qrels "$scifact/qrels/test.tsv" "$T/q.mts" "$T/c.mts" >"$T/out"
	metric main_score <"$T/out" | awk '{ exit !($1 >= 0.6446 && $1 <= 0.6456) }'
}

# ndcg FILE [RUN]: nDCG of a run with b at rank 2 and c at rank 1
ndcg() {
	printf '%s\tQ0\t%s\t1\t%s\tx\n' q1 a 3 q1 '"b"' 2 q2 c 1 >"$T/plain.trec"
	mteb-score -q retrieval --qrels "$1" --from-run "${2:-$T/plain.trec}" | metric ndcg_at_10
}

@test "mteb-score retrieval: judgements are found by the names of their columns, in any order, among others" {
	tab=$'\t'
	while IFS= read -r file; do
		printf '%b' "$file" >"$T/qrels.${file%%.*}"
		sed -i '1s/^[a-z]*\.//' "$T/qrels.${file%%.*}"
		echo "$file: $(ndcg "$T/qrels.${file%%.*}")"
		[ "$(ndcg "$T/qrels.${file%%.*}")" = 0.81546 ] # (1 / log2 3 + 1) / 2
	done <<-END
		tsv.query-id${tab}corpus-id${tab}score\nq1${tab}"""b"""${tab}1\nq2${tab}c${tab}1\n
		tsv.q1${tab}"""b"""${tab}1\nq2${tab}c${tab}1\n
		tsv.corpus-id${tab}query-id${tab}score\n"""b"""${tab}q1${tab}1\n"c"${tab}q2${tab}1\n
		tsv.${tab}query-id${tab}corpus-id${tab}score\n0${tab}q1${tab}"""b"""${tab}1\n1${tab}q2${tab}c${tab}1\n
		tsv.query-id${tab}corpus-id${tab}score\rq1${tab}"""b"""${tab}1\rq2${tab}c${tab}1
		csv.,query-id,corpus-id,score\n0,q1,"""b""",1\n1,q2,c,1\n
		csv.score,DocID,Query_ID,\n1,"""b""",q1,\n\n1,c,q2,\n
		trec.query iteration document relevance\nq1 0 "b" 1\nq2 0 c 1\n
		json.{"q1": {"\"b\"": 1}, "q2": {"c": 1, "a": 0}}
		json.\xef\xbb\xbf{"q1": {"\"b\"": 1}, "q2": {"c": 1}}
		json.[{"qid": "q1", "docid": "\"b\"", "relevance": 1},\n{"qid": "q2", "docid": "c", "relevance": 1}]
	END
	rm "$T"/qrels.*
	# a first line that is not a header is a judgement
	printf 'q1\tb\tTrue\nq2\tc\t1\n' >"$T/qrels"
	run -1 --separate-stderr ndcg "$T/qrels"
	[[ $stderr == "mteb-score: $T/qrels:1: the grade is not a number, and this is not a line of names"* ]]
	for grade in NaN '"1"' true null 0.5; do
		printf '{"q1": {"b": %s}}' "$grade" >"$T/qrels"
		run -1 --separate-stderr ndcg "$T/qrels"
		[[ $stderr == "mteb-score: $T/qrels: query 'q1', document 'b': the grade "* ]]
	done
	printf '{"q1": {"b": 1, "b": 0}}' >"$T/qrels"
	run -1 --separate-stderr ndcg "$T/qrels"
	[ "$stderr" = "mteb-score: $T/qrels: 'b' is given twice" ]
	# ids beyond 2^53 are distinct
	printf '{"query-id":1,"corpus-id":%s,"score":%s}\n' 18446744073709551615 1 18446744073709551614 0 >"$T/qrels"
	printf '1 Q0 %s 1 %s x\n' 18446744073709551614 2 18446744073709551615 1 >"$T/run"
	[ "$(ndcg "$T/qrels" "$T/run")" = 0.63093 ]
}

@test "mteb-score retrieval: runs may be JSON, have named columns, or MS MARCO's three columns" {
	printf '%s\t%s\t1\n' q1 b q2 c >"$T/qrels"
	while IFS= read -r file; do
		printf '%b' "$file" >"$T/run"
		echo "$file: $(ndcg "$T/qrels" "$T/run")"
		[ "$(ndcg "$T/qrels" "$T/run")" = 0.81546 ]
	done <<-END
		{"q1": {"b": 2, "a": 3.5}, "q2": {"c": -1}, "q3": {}}
		{"mteb_model_meta": {"model_name": "x"}, "default": {"test": {"q1": {"a": 3, "b": 2}, "q2": {"c": 1}}}}
		{"id":"q1","hits":[{"id":"a","score":3},{"id":"b","score":2}]}\n{"id":"q2","hits":[{"id":"c","score":1}]}\n
		q1\ta\t1\nq1\tb\t2\nq2\tc\t1\n
		q1 b 2\nq1 a 1\nq2 c 1\n
		query-id\tscore\tcorpus-id\nq1\t0.5\tb\nq1\t0.6\ta\nq2\t0\tc\n
		{"query-id":"q1","corpus-id":"b","score":2}\n{"query-id":"q1","corpus-id":"a","score":3}\n{"query-id":"q2","corpus-id":"c","score":0}\n
	END
	while IFS='|' read -r file message; do
		printf '%b' "$file" >"$T/run"
		run -1 --separate-stderr ndcg "$T/qrels" "$T/run"
		echo "$stderr"
		[[ $stderr == "mteb-score: $T/run$message"* ]]
	done <<-'END'
		q1\ta\t1\nq1\tb\t1\n|: query 'q1' has two documents of one rank
		q1\ta\t2\nq1\tb\t3\n|: query 'q1' has no document of rank 1
		q1\ta\t1\nq1\tb\t0.5\n|:2: of three columns
		{"q1": {"b": NaN}}|: query 'q1', document 'b': the score is not a number
		{"q1": {"b": 1}, "q2": [1]}|: query 'q2': an object of documents is expected
		{"a": {"test": {"q1": {"b": 1}}, "dev": {"q1": {"b": 1}}}}|: holds several subsets or splits, test, dev; keep one: jq '.["test"]'
		{"q1": {"b": 1}|:1: not valid JSON
	END
}

# bats test_tags=plain
@test "near, mteb-score: threads that fail at once print one message" {
	printf '{"_id":"a\\t%s","x.emb":[1,0]}\n' {1..64} | mkstream >"$T/q.mts"
	for try in {1..10}; do
		run -1 --separate-stderr env OMP_NUM_THREADS=16 TRY="$try" near --run "$T/run" "$T/q.mts" "$T/q.mts"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "near: $T/run: the id 'a?"*"rename it" ]]
		[ ! -e "$T/run" ]
	done
}
