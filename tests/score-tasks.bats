#!/usr/bin/env bats
# mteb-score's types of mteb 2: bitextmining, multilabelclassification, regression, and retrieval with instructions.
# Golden values: tests/golden/score_tasks.py (mteb's own tasks).
load helper
load scores

# 1. known answers

@test "mteb-score bitextmining: scores are mteb's, by cosine and dot product, and with given translations" {
	stream tasks_bitext tasks_bitext_gold
	for similarity in cosine dot; do
		mteb-score bitextmining --similarity $similarity "$T/tasks_bitext.mts" |
			agrees "$GOLDEN/score_tasks_bitext_$similarity.tsv"
	done
	mteb-score bitextmining "$T/tasks_bitext_gold.mts" | agrees "$GOLDEN/score_tasks_bitext_gold.tsv"
	# lists of vectors under other names
	jq -sc '{ "a.emb": map(.["sentence1.emb"]), "b.emb": map(.["sentence2.emb"]) }' "$GOLDEN/score_tasks_bitext.jsonl" |
		mkstream >"$T/lists.mts"
	mteb-score bitextmining -f a -f b "$T/lists.mts" | agrees "$GOLDEN/score_tasks_bitext_cosine.tsv"
}

@test "mteb-score bitextmining: computed by hand; of equal translations the first counts; scores of each row" {
	row() { printf '{"id":"%s","sentence1.emb":[%s],"sentence2.emb":[%s]}\n' "$@"; }
	{ row a 1,0 1,0; row b 1,0 1,0; row c 0,1 0,3; } | mkstream 2 >"$T/x.mts"
	mteb-score bitextmining --per-query "$T/table" "$T/x.mts" >"$T/out"
	[ "$(tr '\n\t' ',:' <"$T/table")" = "id:accuracy,a:1,b:0,c:1," ]
	# the first sentence2 is found twice and is right once: F1 2/3; the others have 0 and 1
	printf 'main_score\t0.5555555556\naccuracy\t0.6666666667\nprecision\t0.5\nrecall\t0.6666666667\n' >"$T/want"
	agrees "$T/want" <"$T/out"
	means_are_reported "$T/table" "$T/out"
	head -n 1 "$T/out" | grep -F 'similarity cosine, ties the first sentence2, precision float32, rounding none, gold the row, pairs 3'
	# every row names the right translation by number
	jq -c '. + {gold: 0}' <<-E | mkstream >"$T/gold.mts"
		$(row a 1,0 1,0; row b 1,0 1,0; row c 0,1 0,3)
	E
	[ "$(mteb-score bitextmining "$T/gold.mts" | metric accuracy)" = 0.6666666666666666 ]
}

@test "mteb-score --json: has every score that mteb's tasks report, by its name, in its list or object" {
	cd "$T"
	stream sts pairs summaries {two,many}_{train,test} sets mteb_fast queries corpus tasks_bitext \
		tasks_{multilabel,regression}_{train,test} tasks_instruct_{queries,corpus}
	names() { # NAME OPTION...: the paths in the report, [] after a list's name
		mteb-score -q "${@:2}" --json --protocol v2 | jq -r --arg type "$1" '.scores |
			[paths(type != "object" and type != "array")] | .[] |
			reduce .[] as $key (""; if ($key | type) == "number" then . + "[]" elif . == "" then $key else . + "." + $key end) |
			"\($type)\t\(.)"'
	}
	{
		names sts sts sts.mts
		names pairclassification pairclassification pairs.mts
		names bitextmining bitextmining tasks_bitext.mts
		names summarization summarization summaries.mts
		names classification2 classification --train two_train.mts two_test.mts
		names classification3 classification --train many_train.mts many_test.mts
		names multilabelclassification multilabelclassification --train tasks_multilabel_train.mts tasks_multilabel_test.mts
		names regression regression --train tasks_regression_train.mts tasks_regression_test.mts
		names clustering clustering sets.mts
		names clustering-fast clustering-fast --max-documents all --samples 200 --experiments 2 mteb_fast.mts
		names retrieval retrieval --qrels "$GOLDEN/score_qrels.tsv" queries.mts corpus.mts
		names instructions retrieval --qrels "$GOLDEN/score_tasks_instruct_qrels.tsv" \
			--changed "$GOLDEN/score_tasks_instruct_changed.jsonl" tasks_instruct_queries.mts tasks_instruct_corpus.mts
	} | LC_ALL=C sort -u >ours
	grep -v '^#' "$GOLDEN/score_keys.tsv" | LC_ALL=C sort | LC_ALL=C comm -23 - ours >missing
	diff missing /dev/null
	# scores that mteb does not report: thresholds, and the data's third level
	grep -v '^#' "$GOLDEN/score_keys.tsv" | LC_ALL=C sort | LC_ALL=C comm -13 - ours | run ! grep -v '_threshold$\|Level 2'
}

# The first and the last item of each list by experiment, as the golden values name them.
first_and_last() {
	sed 's/^\([a-z0-9]*\)_per_experiment\t\([^ ]*\).* \(.*\)/\1_first\t\2\n\1_last\t\3/'
}

@test "mteb-score regression: scores of each experiment are mteb's, of a sample and of all rows" {
	stream tasks_regression_{train,test} tasks_regression_all_{train,test}
	score() { # NAME OPTION...
		mteb-score regression --sklearn 1.9 --train "$T/tasks_$1_train.mts" "${@:2}" "$T/tasks_$1_test.mts"
	}
	score regression --samples 70 | first_and_last | agrees "$GOLDEN/score_tasks_regression.tsv"
	score regression_all | first_and_last | agrees "$GOLDEN/score_tasks_regression_all.tsv"
	# a pipe, which cannot be read twice
	cat "$T/tasks_regression_train.mts" | mteb-score regression --samples 70 --sklearn 1.9 --train - "$T/tasks_regression_test.mts" |
		cmp - <(score regression --samples 70)
	score regression --samples 70 --json | jq -e '.scores.scores_per_experiment | length == 10 and
		(.[0] | keys == ["kendalltau", "mae", "mse", "r2", "rmse"])' >/dev/null
	for threads in 1 2 3; do
		score regression --samples 70 -j $threads >"$T/$threads"
	done
	cmp "$T/1" "$T/2"
	cmp "$T/1" "$T/3"
}

@test "mteb-score multilabelclassification: scores of each experiment are mteb's, of all test rows and of a sample, from text and numbers" {
	for part in train test; do
		stream tasks_multilabel_$part
		mv "$T/tasks_multilabel_$part.mts" "$T/number_$part.mts"
		jq -c '.label |= map(. + 3 | tostring)' "$GOLDEN/score_tasks_multilabel_$part.jsonl" | mkstream 7 >"$T/text_$part.mts"
	done
	score() { # number|text OPTION...
		mteb-score -q multilabelclassification --train "$T/$1_train.mts" "${@:2}" "$T/$1_test.mts"
	}
	score number | first_and_last | agrees "$GOLDEN/score_tasks_multilabel.tsv"
	score number --test-rows 30 | first_and_last | agrees "$GOLDEN/score_tasks_multilabel_number.tsv"
	score text --test-rows 30 | first_and_last | agrees "$GOLDEN/score_tasks_multilabel_text.tsv"
	score number --earlier 90 | first_and_last | agrees "$GOLDEN/score_tasks_multilabel_second.tsv"
	score number --test-rows all | tail -n +2 | cmp - <(score number | tail -n +2)
	# pipes, which cannot be read twice
	score number --test-rows 30 >"$T/out"
	mteb-score -q multilabelclassification --test-rows 30 --train <(cat "$T/number_train.mts") <(cat "$T/number_test.mts") | cmp - "$T/out"
	for threads in 1 2 3; do
		score number -j $threads --json >"$T/$threads"
	done
	cmp "$T/1" "$T/2"
	cmp "$T/1" "$T/3"
	jq -e '.scores.scores_per_experiment | length == 10 and (.[0] | keys == ["accuracy", "f1", "hamming", "lrap"])' "$T/1" >/dev/null
	# --per-query lists all test rows, or those of the sample
	score number --per-query "$T/table" >"$T/out"
	means_are_reported "$T/table" "$T/out"
	[ "$(head -n 1 "$T/table" | tr '\t' ' ')" = "id accuracy lrap hamming" ]
	score number --test-rows 30 --per-query "$T/table" >"$T/out"
	means_are_reported "$T/table" "$T/out"
	[[ $(head -n 1 "$T/out") == *", test $(($(wc -l <"$T/table") - 1)) of 80, "* ]]
}

@test "mteb-score regression: computed by hand; the solution of least norm; scores of each row" {
	row() { printf '{"id":"%s","x.emb":[%s],"value":%s}\n' "$@"; }
	{ row a 1,1 2; row b 3,3 6; } | mkstream >"$T/train.mts" # of all planes that fit, the one with weights 1 and 1
	{ row c 2,0 2; row d 0,1 3; row e 5,0 5; } | mkstream 2 >"$T/test.mts"
	mteb-score regression --train "$T/train.mts" --per-query "$T/table" "$T/test.mts" >"$T/out"
	printf '%s\t%s\n' mae 0.6666666667 mse 1.3333333333 rmse 1.1547005384 r2 0.1428571429 kendalltau 0.3333333333 \
		main_score 0.3333333333 >"$T/want"
	agrees "$T/want" <"$T/out"
	means_are_reported "$T/table" "$T/out"
	cut -f 1,2 "$T/table" | tail -n +2 | agrees <(printf 'c\t0\nd\t2\ne\t0\n')
	# tau-b with one tie in the truth and one pair in the wrong order
	{ row c 2,0 2; row d 0,1 2; row e 5,0 1; row f 6,0 7; } | mkstream >"$T/test.mts"
	mteb-score regression --train "$T/train.mts" "$T/test.mts" | metric kendalltau |
		awk '{ d = $1 - 1 / sqrt(30); exit !(d < 1e-12 && d > -1e-12) }'
}

# 2. options and usage

@test "mteb-score retrieval --changed: p-MRR, and the scores of original and changed instructions, are mteb's" {
	stream tasks_instruct_queries tasks_instruct_corpus
	score() {
		mteb-score -q retrieval --protocol v2 --qrels "$GOLDEN/score_tasks_instruct_qrels.tsv" \
			--changed "$GOLDEN/score_tasks_instruct_changed.jsonl" "$@"
	}
	all=(--candidates "$GOLDEN/score_tasks_instruct_candidates.jsonl" "$T/tasks_instruct_queries.mts" "$T/tasks_instruct_corpus.mts")
	score "${all[@]}" >"$T/out"
	agrees "$GOLDEN/score_tasks_instruct.tsv" <"$T/out"
	[ "$(metric main_score <"$T/out")" = "$(metric p-MRR <"$T/out")" ]
	score --json "${all[@]}" | jq -e '.scores | has("p-MRR") and .og.ndcg_at_5 != .changed.ndcg_at_5 and
		(.og | keys) == (.changed | keys)' >/dev/null
	# scored from a run; --changed in the columns of a run
	score --run "$T/run" "${all[@]}" >"$T/out"
	score --from-run "$T/run" | agrees "$GOLDEN/score_tasks_instruct.tsv"
	jq -r '."query-id" as $q | ."corpus-ids"[] | "\($q) Q0 \(.) 1 1 x"' "$GOLDEN/score_tasks_instruct_changed.jsonl" >"$T/changed"
	score --changed "$T/changed" --from-run "$T/run" | agrees "$GOLDEN/score_tasks_instruct.tsv"
}

@test "mteb-score retrieval --groups: paired accuracy, robustness and levels are mteb's" {
	stream tasks_instruct_pairs tasks_instruct_groups tasks_instruct_corpus
	score() { # pairs|groups KIND
		mteb-score -q retrieval --qrels "$GOLDEN/score_tasks_instruct_$1_qrels.tsv" --groups "$2" \
			"$T/tasks_instruct_$1.mts" "$T/tasks_instruct_corpus.mts"
	}
	score pairs pairs | agrees "$GOLDEN/score_tasks_instruct_pairs.tsv"
	{ score groups levels && score groups robustness; } | agrees "$GOLDEN/score_tasks_instruct_groups.tsv"
	[ "$(score pairs pairs | metric main_score)" = 0.5 ]
	[ "$(score groups robustness | metric main_score)" = "$(score groups robustness | metric robustness_at_10)" ]
	[ "$(score groups levels | metric main_score)" = "$(score groups levels | metric ndcg_at_10)" ]
	dies "mteb-score: $GOLDEN/score_tasks_instruct_groups_qrels.tsv: the query 't0' is not there twice, as 't0_q1' and 't0_q2'" score groups pairs
}

@test "mteb-score retrieval --groups subqueries: max_over_subqueries is mteb's" {
	stream tasks_instruct_subqueries tasks_instruct_corpus
	score() {
		mteb-score -q retrieval --qrels "$GOLDEN/score_tasks_instruct_subqueries_qrels.tsv" --groups subqueries \
			--candidates "$GOLDEN/score_tasks_instruct_subqueries_candidates.jsonl" "$@" \
			"$T/tasks_instruct_subqueries.mts" "$T/tasks_instruct_corpus.mts"
	}
	score --per-query "$T/table" >"$T/out"
	agrees "$GOLDEN/score_tasks_instruct_subqueries.tsv" <"$T/out"
	[ "$(metric main_score <"$T/out")" = "$(metric max_over_subqueries_map_at_1000 <"$T/out")" ]
	[ "$(metric ndcg_at_10 <"$T/out")" != "$(metric max_over_subqueries_ndcg_at_10 <"$T/out")" ]
	[ "$(cut -f 1 "$T/table" | tail -n +2 | xargs)" = "s_0_t4-changed s_1_t5-og s_2_t5-changed" ]
	mean=$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "max_over_subqueries_ndcg_at_10") c = i; next } { s += $c }
		END { printf "%.5f", s / (NR - 1) }' "$T/table")
	[ "$mean" = "$(metric max_over_subqueries_ndcg_at_10 <"$T/out" | xargs printf %.5f)" ]
	run -2 --separate-stderr score --complete
	[[ $stderr == "mteb-score: --complete has no meaning with --groups subqueries"* ]]
}

@test "mteb-score retrieval --changed: computed by hand; usage errors and bad input" {
	printf 'a-og Q0 d%d %d %d x\n' 1 1 9 2 2 8 3 3 7 >"$T/run"
	printf 'a-changed Q0 d%d %d %d x\n' 2 1 9 3 2 8 1 3 7 >>"$T/run"
	printf 'query-id\tcorpus-id\tscore\na-og\td1\t1\na-changed\td2\t1\n' >"$T/qrels"
	score() { mteb-score -q retrieval --qrels "$T/qrels" --from-run "$T/run" "$@"; }
	# d1 falls from 1 to 3: 1 - 1/3; d3 rises from 3 to 2: 2/3 - 1; d9 is never found
	p_mrr() { printf '{"query-id":"a","corpus-ids":[%s]}\n' "$1" >"$T/c"; score --changed "$T/c" | metric p-MRR; }
	[ "$(p_mrr '"d1"')" = 0.6666666666666667 ]
	p_mrr '"d1","d3","d9"' | awk '{ d = $1 - 1 / 9; exit !(d < 1e-12 && d > -1e-12) }'
	score --changed "$T/c" >"$T/out"
	printf 'og_mrr_at_10\t1\nchanged_mrr_at_10\t1\n' >"$T/want"
	agrees "$T/want" <"$T/out"
	does_not_apply --changed mteb-score sts --changed x y
	for words in "--measures trec --changed $T/c" "--measures trec --groups pairs" "--groups all"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr score $words
		[ -z "$output" ]
	done
	echo '{"query-id":"b","corpus-ids":["d1"]}' >"$T/c"
	dies "mteb-score: $T/c: no id in it has the queries ID-og and ID-changed, and documents (the first id is 'b')" score --changed "$T/c"
	echo '{"query-id":"a","corpus-ids":["d1"]}' >>"$T/c"
	run -0 --separate-stderr mteb-score retrieval --qrels "$T/qrels" --from-run "$T/run" --changed "$T/c"
	[[ $stderr == *"1 ids have not both queries, ID-og and ID-changed: they are left out; first: 'b'"* ]]
	printf 'query-id\tcorpus-id\tscore\na-changed\td2\t1\n' >"$T/qrels"
	dies "mteb-score: --changed: no query with judgements has an id that ends with -og" score --changed "$T/c"
}

@test "mteb-score multilabelclassification: computed by hand; options and usage errors" {
	row() { printf '{"id":"%s","x.emb":[%s],"label":%s}\n' "$@"; }
	{ row 1 0 '["a","b","a"]'; row 2 0.1 '["a"]'; row 3 0.2 '["a","c"]'; row 4 9 '["b"]'; row 5 9.1 '["b"]'; } | mkstream >"$T/train.mts"
	# all rows are the five neighbours: three of five have a, and b
	{ row x 0 '["a","b"]'; row y 0 '["a"]'; row z 0 '["c"]'; row w 0 '[]'; } | mkstream 3 >"$T/test.mts"
	score() { mteb-score multilabelclassification --train "$T/train.mts" "$@" "$T/test.mts"; }
	score --per-query "$T/table" >"$T/out"
	diff "$T/table" - <<-'E'
		id	accuracy	lrap	hamming
		x	1	1	1
		y	0	0.5	0.5
		z	0	0.33333333333333337	0
		w	0	1	0
	E
	# F1 of a: 4 predicted, 2 right; of b: 4 predicted, 1 right; of c: none predicted
	printf 'f1\t0.3555555556\naccuracy\t0.25\nmain_score\t0.25\n' >"$T/want"
	agrees "$T/want" <"$T/out"
	stream tasks_multilabel_train tasks_multilabel_test
	jq -c '{"x.emb": ."x.emb", topics: .label}' "$GOLDEN/score_tasks_multilabel_test.jsonl" | mkstream >"$T/topics.mts"
	jq -c '{"x.emb": ."x.emb", topics: .label}' "$GOLDEN/score_tasks_multilabel_train.jsonl" | mkstream >"$T/train.mts"
	many() { mteb-score -q multilabelclassification --train "$T/tasks_multilabel_train.mts" "$@" "$T/tasks_multilabel_test.mts"; }
	mteb-score -q multilabelclassification --label topics --train "$T/train.mts" "$T/topics.mts" | cmp - <(many)
	for option in "seed 1" "samples 3" "test-rows 60" "earlier 10,20"; do
		# shellcheck disable=SC2086
		[ "$(many --$option | metric hamming)" != "$(many | metric hamming)" ]
	done
	[ "$(many --experiments 3 | metric f1_per_experiment | wc -w)" = 3 ]
	for words in x "--test-rows 0 --train x y" "--test-rows some --train x y" "--earlier 0 --train x y" "--train x a b"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mteb-score multilabelclassification $words
		[ -z "$output" ]
	done
	does_not_apply --solver mteb-score multilabelclassification --solver exact --train x y
	does_not_apply --test-rows mteb-score classification --test-rows 3 --train x y
}

@test "mteb-score regression: options and usage errors" {
	stream tasks_regression_train tasks_regression_test
	score() { mteb-score regression --samples 70 --train "$T/tasks_regression_train.mts" "$@" "$T/tasks_regression_test.mts"; }
	[ "$(score --seed 1 | metric mse)" != "$(score | metric mse)" ]
	[ "$(score --samples 100 | metric mse)" != "$(score | metric mse)" ]
	[ "$(score --experiments 3 | metric mae_per_experiment | wc -w)" = 3 ]
	# the experiments of seed 43 are those of seed 42 without the first
	[ "$(score --seed 43 --experiments 9 | metric mse_per_experiment)" = "$(score | metric mse_per_experiment | cut -d ' ' -f 2-)" ]
	jq -c '{"x.emb": ."x.emb", year: (.value | tostring)}' "$GOLDEN/score_tasks_regression_test.jsonl" | mkstream >"$T/year.mts"
	jq -c '{"x.emb": ."x.emb", year: .value}' "$GOLDEN/score_tasks_regression_train.jsonl" | mkstream >"$T/train.mts"
	mteb-score regression --samples 70 --label year --train "$T/train.mts" "$T/year.mts" | cmp - <(score)
	# scikit-learn 1.9 drops the singular value 1e-6; 1.8 drops those below 2^-23 times the number of rows or columns
	printf '{"x.emb":[%s],"value":%s}\n' 0,0 0 1,0 1 0,1e-6 1 1,1e-6 2 | mkstream >"$T/x.mts"
	[ "$(mteb-score regression --sklearn 1.8 --train "$T/x.mts" "$T/x.mts" | metric r2)" = 1 ]
	mteb-score regression --train "$T/x.mts" "$T/x.mts" | metric r2 | awk '{ exit !($1 < 0.6) }'
	for words in x "--train x a b" "--train x -f a -f b y" "--samples 0 --train x y"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mteb-score regression $words
		[ -z "$output" ]
	done
	does_not_apply --solver mteb-score regression --solver exact --train x y
}

@test "mteb-score bitextmining: options and usage errors" {
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

@test "mteb-score bitextmining: wrong translations, lists, widths, NaN, and dot products beyond float32 are refused" {
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

@test "mteb-score multilabelclassification: labels that are not lists, few rows, few labels, NaN and widths are refused" {
	row() { printf '{"x.emb":[%s],"label":%s}\n' "$@"; }
	for i in 1 2 3 4 5; do row "$i,1" '["a","b"]'; done | mkstream >"$T/train.mts"
	bad() { # MESSAGE JSON
		mkstream <<<"$2" >"$T/x.mts"
		dies "mteb-score: $T/x.mts: $1" mteb-score multilabelclassification --train "$T/train.mts" "$T/x.mts"
	}
	bad "column 'label' " '{"x.emb":[1,0],"label":"a"}'
	bad "there is no column 'label' of labels; name it with --label" '{"x.emb":[1,0],"topic":["a"]}'
	bad "its rows have 1 different labels; two at least are needed" '{"x.emb":[1,0],"label":["a"]}'
	bad "record 1: x.emb: row 1 is not finite" '{"x.emb":[null,0],"label":["a","b"]}'
	bad "its vectors have width 3" '{"x.emb":[1,0,0],"label":["a","b"]}'
	row 1,0 '["a","b"]' | mkstream >"$T/x.mts"
	mts rows --rows 1-4 "$T/train.mts" >"$T/few.mts"
	dies "mteb-score: $T/few.mts: an experiment draws 4 rows; the classifier needs its 5 nearest" \
		mteb-score multilabelclassification --train "$T/few.mts" "$T/x.mts"
	mts rows --where label=none "$T/train.mts" >"$T/none.mts" 2>"$T/why" || mts rows --rows 99 "$T/train.mts" >"$T/none.mts"
	dies "mteb-score: $T/none.mts: there are no rows in it" mteb-score multilabelclassification --train "$T/none.mts" "$T/x.mts"
	row 1,0 '["a","z"]' | mkstream >"$T/x.mts"
	run -0 --separate-stderr mteb-score multilabelclassification --train "$T/train.mts" "$T/x.mts"
	[[ $stderr == *"1 labels of the training rows are of no test row that is scored: they are ignored"* ]]
	# classification refuses lists of labels and names this type
	dies "mteb-score: $T/train.mts: column 'label' has lists of labels: score them by multilabelclassification" \
		mteb-score classification --train "$T/train.mts" "$T/x.mts"
}

@test "mteb-score regression: values that are not numbers, no rows, constants and widths are refused" {
	row() { printf '{"x.emb":[%s],"value":%s}\n' "$@"; }
	{ row 1,0 1; row 0,1 2; row 1,1 5; } | mkstream >"$T/train.mts"
	bad() { # MESSAGE JSON
		mkstream <<<"$2" >"$T/x.mts"
		dies "mteb-score: $T/x.mts: $1" mteb-score regression --train "$T/train.mts" "$T/x.mts"
	}
	bad "there is no column 'value' of numbers; name it with --label" '{"x.emb":[1,0],"year":1}'
	bad "record 1: value: 'many' is not a number" '{"x.emb":[1,0],"value":"many"}'
	bad "record 1: x.emb: row 1 is not finite" '{"x.emb":[null,0],"value":1}'
	bad "its vectors have width 3" '{"x.emb":[1,0,0],"value":1}'
	row 1,0 1 | mkstream >"$T/one.mts"
	dies "mteb-score: $T/one.mts: 1 training rows; two at least are needed" mteb-score regression --train "$T/one.mts" "$T/train.mts"
	mts rows --where value=9 "$T/train.mts" >"$T/none.mts"
	dies "mteb-score: $T/none.mts: there are no test rows in it" mteb-score regression --train "$T/train.mts" "$T/none.mts"
	{ row 1,0 1; row 0,1 1; } | mkstream >"$T/x.mts"
	run -0 --separate-stderr mteb-score regression --train "$T/train.mts" "$T/x.mts"
	[[ $stderr == *"all values or all predictions are equal"* ]]
	[[ $output == *$'main_score\tnan'* ]]
}
