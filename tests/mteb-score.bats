#!/usr/bin/env bats
load helper
load scores

# 1. known answers

@test "mteb-score sts: correlations are scipy's, also with ties" {
	stream sts
	mteb-score sts "$T/sts.mts" | agrees "$GOLDEN/score_sts.tsv"
}

# bats test_tags=plain
@test "mteb-score classification: samples are the reference's, the optimum scikit-learn's" {
	stream many_train many_test two_train two_test
	mteb-score classification --train "$T/many_train.mts" "$T/many_test.mts" |
		agrees "$GOLDEN/score_many.tsv"
	mteb-score classification --train "$T/two_train.mts" "$T/two_test.mts" |
		agrees "$GOLDEN/score_two.tsv"
	# a pipe, which cannot be read twice
	mteb-score classification --train <(cat "$T/many_train.mts") "$T/many_test.mts" |
		agrees "$GOLDEN/score_many.tsv"
}

@test "mteb-score classification: metrics are mteb 2.26's, with scikit-learn's stopping rule, at three scales" {
	# at 0.01 the first gradient is nearly small enough; at 5 many fits use all 100 iterations
	for data in many two; do
		for scale in 0.01 1 5; do
			for part in train test; do
				jq -c --argjson s "$scale" '."text.emb" |= map(. * $s)' \
					"$GOLDEN/score_${data}_$part.jsonl" | mkstream 7 >"$T/$part.mts"
			done
			mteb-score -q classification --protocol v2 --solver reference \
				--train "$T/train.mts" "$T/test.mts" >"$T/out"
			agrees "$GOLDEN/score_mteb_${data}_$scale.tsv" <"$T/out"
		done
	done
}

@test "mteb-score clustering-fast: samples and scores are mteb 2.26's, with labels of three levels, of text and numbers" {
	score() { mteb-score -q clustering-fast --protocol v2 --sklearn 1.9 --max-documents 0.7 \
		--samples 1000 --experiments 4 "$@" | sed 's/^\([a-z_]*_level_[0-9]\)\t.* \(.*\)/\1_last\t\2/'; }
	mkstream 50 <"$GOLDEN/score_mteb_fast.jsonl" >"$T/text.mts"
	score "$T/text.mts" | agrees "$GOLDEN/score_mteb_fast_text.tsv"
	score - <"$T/text.mts" >"$T/seekable"
	# a pipe, which cannot be read twice
	mkstream 50 <"$GOLDEN/score_mteb_fast.jsonl" | score - | cmp - "$T/seekable"
	score "$T/text.mts" | cmp - "$T/seekable"
	jq -c '.labels |= map(.[1:] | tonumber)' "$GOLDEN/score_mteb_fast.jsonl" | mkstream 50 |
		score - | agrees "$GOLDEN/score_mteb_fast_number.tsv"
}

@test "mteb-score clustering: clusters are scikit-learn's, with either version's random stream" {
	stream sets
	for version in 1.8 1.9; do
		mteb-score clustering --sklearn "$version" "$T/sets.mts" |
			sed 's/^v_measures\t\(.*\) \(.*\)/v_1\t\1\nv_2\t\2/' |
			agrees "$GOLDEN/score_sets_$version.tsv"
	done
}

# bats test_tags=plain
@test "mteb-score: another seed samples the reference's rows" {
	stream many_train many_test sets mteb_fast
	score() { # NAME TYPE OPTION...: a line of the expected values
		local name=$1
		shift
		printf '%s\t%s\n' "$name" "$(mteb-score -q "$@" --seed 7 | metric main_score)"
	}
	{
		score classification classification --train "$T/many_train.mts" "$T/many_test.mts"
		score clustering clustering --sklearn 1.9 "$T/sets.mts"
		score clustering_fast clustering-fast --sklearn 1.9 --max-documents 0.7 --samples 1000 \
			--experiments 4 "$T/mteb_fast.mts"
	} | agrees "$GOLDEN/score_seed_7.tsv"
}

# bats test_tags=plain
@test "mteb-score clustering: one text a row, with a column of sets, gives the same as lists" {
	jq -c '. as $row | range(.labels | length) | { "text.emb": $row["sentences.emb"][.],
		label: $row.labels[.], set: ($row.labels | length) }' "$GOLDEN/score_sets.jsonl" |
		mkstream 100 >"$T/rows.mts"
	mteb-score clustering --protocol v1 "$T/rows.mts" | sed 's/^v_measures\t\(.*\) \(.*\)/v_1\t\1\nv_2\t\2/' |
		agrees "$GOLDEN/score_sets_1.8.tsv"
}

@test "mteb-score pairclassification: metrics and thresholds are mteb's, also with ties, v1 and v2" {
	stream pairs
	for protocol in v1 v2; do
		mteb-score -q pairclassification --protocol $protocol "$T/pairs.mts" |
			agrees "$GOLDEN/score_pairs_$protocol.tsv"
	done
}

# bats test_tags=plain
@test "mteb-score pairclassification: MTEB's old layout, one row of lists, gives the same" {
	jq -sc '{ "sent1.emb": map(.["sentence1.emb"]), "sent2.emb": map(.["sentence2.emb"]),
		labels: map(.label) }' "$GOLDEN/score_pairs.jsonl" | mkstream >"$T/x.mts"
	mteb-score -q pairclassification --protocol v1 "$T/x.mts" | agrees "$GOLDEN/score_pairs_v1.tsv"
	# its names have lower priority, wherever the columns stand
	jq -c '{"sentence1.emb": ."sentence1.emb", "sentence2.emb": ."sentence2.emb", "sent1.emb": ."sentence1.emb", "sent2.emb": ."sentence1.emb", label: .label}' \
		"$GOLDEN/score_pairs.jsonl" | mkstream >"$T/x.mts"
	mteb-score -q pairclassification --protocol v1 "$T/x.mts" | agrees "$GOLDEN/score_pairs_v1.tsv"
}

@test "mteb-score pairclassification: a list on one side only is refused" {
	echo '{"sent1.emb":[[1,0],[0,1]],"sent2.emb":[1,0],"labels":[1,0]}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score pairclassification "$T/x.mts"
	[[ $stderr == "mteb-score: $T/x.mts: "*"sent2.emb"* ]]
}

@test "mteb-score reranking: metrics are mteb's, also with ties, with one query a row and several" {
	stream rerank rerank_several
	for name in rerank rerank_several; do
		for protocol in v1 v2; do
			mteb-score reranking --protocol $protocol "$T/$name.mts" |
				agrees "$GOLDEN/score_${name}_$protocol.tsv"
		done
	done
}

@test "mteb-score summarization: metrics are mteb's, also with ties and with texts left out" {
	stream summaries
	for protocol in v1 v2; do
		mteb-score -q summarization --similarity euclidean --protocol $protocol \
			"$T/summaries.mts" | agrees "$GOLDEN/score_summaries_$protocol.tsv"
	done
	for similarity in dot manhattan; do
		mteb-score -q summarization --similarity $similarity "$T/summaries.mts" | found "^# .*, similarity $similarity,"
	done
	run -0 --separate-stderr mteb-score summarization "$T/summaries.mts"
	[[ $stderr == *"2 texts have relevances or similarities that are all equal: they are left out"* ]]
}

@test "mteb-score sts: the default is the model's own similarity; --similarity overrides it" {
	stream own
	for similarity in cosine dot; do
		mteb-score -q sts --similarity $similarity "$T/own.mts" |
			agrees "$GOLDEN/score_own_$similarity.tsv"
	done
}

# bats test_tags=plain
@test "mteb-score pairclassification: computed by hand; v1 cuts between equal similarities, v2 does not" {
	row() { echo "{\"sentence1.emb\":[1,0],\"sentence2.emb\":[$1],\"label\":$2}"; }
	{ row 1,0 1; row 6,8 1; row 3,4 0; row 0,1 0; } | mkstream >"$T/x.mts"
	mteb-score pairclassification --protocol v1 "$T/x.mts" >"$T/v1"
	mteb-score pairclassification "$T/x.mts" >"$T/v2"
	[ "$(metric cosine_accuracy <"$T/v1")" = 1 ]
	[ "$(metric cosine_accuracy <"$T/v2")" = 0.75 ]
	[ "$(metric cosine_f1 <"$T/v2")" = 0.8 ]
	[ "$(metric cosine_recall <"$T/v2")" = 1 ]
	printf 'cosine_precision\t0.6666667\ncosine_ap\t0.8333333\ncosine_accuracy_threshold\t0.8\n' >"$T/want"
	agrees "$T/want" <"$T/v2"
	[ "$(metric dot_ap <"$T/v1")" = 0.8333333333333333 ]
	[ "$(metric main_score <"$T/v1")" = 0.8333333333333333 ]
}

@test "mteb-score reranking: computed by hand, with one query and several, v1 and v2" {
	printf '%s\n' '{"query.emb":[1,0],"positive.emb":[[3,4]],"negative.emb":[[0,1],[3,4]]}' \
		'{"query.emb":[1,0],"positive.emb":[[3,4]],"negative.emb":[[1,0]]}' | mkstream >"$T/x.mts"
	mteb-score reranking --protocol v1 "$T/x.mts" >"$T/v1"
	[ "$(metric map <"$T/v1")" = 0.5 ]
	[ "$(metric mrr <"$T/v1")" = 0.75 ] # equal scores in the order of the row
	mteb-score reranking "$T/x.mts" >"$T/v2"
	[ "$(metric main_score <"$T/v2")" = 0.5 ]
	[ "$(metric mrr_at_10 <"$T/v2")" = 0.5 ] # negatives before positives
	echo '{"query.emb":[[1,0],[0,1]],"positive.emb":[[0,1]],"negative.emb":[[3,4]]}' |
		mkstream >"$T/x.mts"
	[ "$(mteb-score reranking --protocol v1 "$T/x.mts" | metric map)" = 1 ]
	mteb-score reranking "$T/x.mts" >"$T/v2"
	[ "$(metric map_at_1000 <"$T/v2")" = 0.75 ]
	[ "$(metric main_score <"$T/v2")" = 1 ]
}

@test "mteb-score summarization: computed by hand; v1 averages the correlation with its p" {
	echo '{"human_summaries.emb":[[1,0],[3,4]],"machine_summaries.emb":[[2,0],[1,1],[0,1],[-1,0]],
		"relevance":[4,3,1,2]}' | tr -d '\n' | mkstream >"$T/x.mts"
	# ranks 4 3 1 2 and 4 3 2 1: correlation 1 - 6 * 2 / 60, with p 0.2
	printf 'cosine_spearman\t0.8\nmain_score\t0.8\n' >"$T/want"
	mteb-score summarization "$T/x.mts" | agrees "$T/want"
	printf 'cosine_spearman\t0.5\nmain_score\t0.5\n' >"$T/want"
	mteb-score summarization --protocol v1 "$T/x.mts" | agrees "$T/want"
}

@test "mteb-score --per-query: the means of its columns are the reported scores, for every type and protocol" {
	stream rerank rerank_several pairs summaries
	for protocol in v1 v2; do
		table() { # TYPE STREAM PATTERN
			mteb-score -q "$1" --protocol $protocol --per-query "$T/$2.table" "$T/$2.mts" >"$T/out"
			mteb-score -q "$1" --protocol $protocol "$T/$2.mts" | cmp - "$T/out"
			means_are_reported "$T/$2.table" "$T/out" "$3"
		}
		table reranking rerank .
		table reranking rerank_several .
		table pairclassification pairs accuracy
		table summarization summaries .
		[ "$(head -n 1 "$T/pairs.table" | tr '\t' ' ')" = "id label similarity similarity_accuracy cosine cosine_accuracy \
manhattan manhattan_accuracy euclidean euclidean_accuracy dot dot_accuracy" ]
		[ "$(head -n 1 "$T/summaries.table" | tr '\t' ' ')" = \
			"id spearman pearson cosine_spearman cosine_pearson dot_spearman dot_pearson" ]
	done
	# several queries in a row: the greatest value, a line for each row
	run -1 grep -P '\tmap_at_1000' <(head -n 1 "$T/rerank_several.table")
	head -n 1 "$T/rerank_several.table" | grep -P '\tmax_over_subqueries_map_at_1000\t'
	mteb-score reranking --protocol v2 --at 2 --per-query "$T/table" "$T/rerank.mts" >"$T/out"
	means_are_reported "$T/table" "$T/out"
	[[ $(head -n 1 "$T/table") == $'id\tndcg_at_2\tndcg_at_1000\tmap_at_2\t'* ]]
	[ "$(metric main_score <"$T/out")" = "$(metric map_at_1000 <"$T/out")" ]
}

@test "mteb-score sts: equal cosines tie exactly: 0 at right angles, 1 if parallel, 0.5 and 1 with zeros" {
	mkstream >"$T/pairs.mts" <<-'END'
		{"sentence1.emb": [-2.0, -2, -2], "sentence2.emb": [-2.0, 0, 2], "score": 0.0}
		{"sentence1.emb": [-2.0, -2, -2], "sentence2.emb": [-1.0, -1, 2], "score": 1.0}
		{"sentence1.emb": [-2.0, -2, -2], "sentence2.emb": [-1.0, 1, 0], "score": 2.0}
		{"sentence1.emb": [1.0, 2, 3], "sentence2.emb": [3.0, 6, 9], "score": 3.0}
		{"sentence1.emb": [0.1, 0.7, 0.3], "sentence2.emb": [0.1, 0.7, 0.3], "score": 4.0}
		{"sentence1.emb": [1.0, 2, 3], "sentence2.emb": [0.0, 0, 0], "score": 5.0}
		{"sentence1.emb": [0.0, 0, 0], "sentence2.emb": [0.0, 0, 0], "score": 6.0}
	END
	mteb-score sts -q --per-query "$T/table" "$T/pairs.mts" >"$T/out"
	[ "$(cut -f4 "$T/table" | tail -n +2 | paste -sd' ')" = '0 0 0 1 1 0.5 1' ]
}

@test "mteb-score sts --per-query: the correlations of its columns are the reported scores" {
	stream sts
	mteb-score sts --per-query "$T/table" "$T/sts.mts" >"$T/out"
	[ "$(head -n 1 "$T/table" | tr '\t' ' ')" = "id gold similarity cosine manhattan euclidean" ]
	run -1 grep -P '\t-0(\t|$)' "$T/table" # distances of equal vectors are 0, not -0
	diff <(cut -f 1,2 "$T/table" | tail -n +2) <(jq -r '[input_line_number, .score + 0] | @tsv' "$GOLDEN/score_sts.jsonl")
	for measure in manhattan euclidean; do # the table's own columns, correlated again
		name=$measure awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == ENVIRON["name"]) k = i; next }
			{ printf "{\"similarity\":%s%s,\"score\":%.2f}\n", $k, $k ~ /[.]/ ? "" : ".0", $2 }' "$T/table" | mkstream | mteb-score sts >"$T/again"
		[ "$(metric spearman <"$T/again")" = "$(metric ${measure}_spearman <"$T/out")" ]
		[ "$(metric pearson <"$T/again")" = "$(metric ${measure}_pearson <"$T/out")" ]
	done
}

@test "mteb-score: one file for two of --run, --per-query and --output is refused" {
	stream sts
	cd "$T"
	run -2 --separate-stderr mteb-score sts --per-query out -o out sts.mts
	[ "${stderr_lines[0]}" = "mteb-score: --per-query and --output cannot both go to 'out'" ]
	run -2 --separate-stderr mteb-score retrieval --qrels q --run out --per-query out sts.mts sts.mts
	[ "${stderr_lines[0]}" = "mteb-score: --run and --per-query cannot both go to 'out'" ]
	[ ! -e out ]
}

@test "mteb-score --per-query: lines computed by hand; ids come from the stream, or are row numbers" {
	row() { echo "{\"sentence1.emb\":[1,0],\"sentence2.emb\":[$1],\"label\":$2,\"_id\":\"$3\"}"; }
	{ row 1,0 1 one; row 6,8 1 two; row 3,4 0 three; row 0,1 0 four; } | mkstream >"$T/x.mts"
	table() { mteb-score pairclassification --protocol $1 --per-query "$T/table" "$T/x.mts" >"$T/out"; }
	table v1 # v1 cuts between the equal similarities of two and three
	diff <(cut -f 1,2,5,6 "$T/table") - <<-'E'
		id	label	cosine	cosine_accuracy
		one	1	1	1
		two	1	0.6000000238418579	1
		three	0	0.6000000238418579	1
		four	0	0	1
	E
	table v2
	[ "$(cut -f 6 "$T/table" | tr '\n' ' ')" = "cosine_accuracy 1 0 1 1 " ]
	# a row that is left out keeps its number
	row='{"query.emb":[1,0],"positive.emb":[[1,0]],"negative.emb":[[0,1]]}'
	printf '%s\n' "$row" "${row/\[\[1,0\]\]/[]}" "$row" | mkstream >"$T/x.mts"
	mteb-score -q reranking --protocol v1 --per-query "$T/table" "$T/x.mts" >"$T/out"
	[ "$(tr '\n\t' ',:' <"$T/table")" = "id:map:mrr,1:1:1,3:1:1," ]
	# MTEB's old layout of one row of lists: pairs are numbered
	echo '{"id":"all","sentence1.emb":[[1,0],[0,1]],"sentence2.emb":[[1,0],[1,0]],"labels":[1,0]}' | mkstream >"$T/x.mts"
	table v1
	[ "$(cut -f 1,2 "$T/table" | tr '\n\t' ',:')" = "id:label,1:1,2:0," ]
	echo '{"human_summaries.emb":[[1,0],[3,4]],"machine_summaries.emb":[[2,0],[1,1],[0,1],[-1,0]],
		"relevance":[4,3,1,2],"_id":7}' | tr -d '\n' | mkstream >"$T/x.mts"
	mteb-score summarization --protocol v2 --per-query "$T/table" "$T/x.mts" >"$T/out"
	[ "$(cut -f 1,4 "$T/table" | tail -n 1)" = $'7\t0.8' ]
	row='{"human_summaries.emb":[[1,0]],"machine_summaries.emb":[[2,0],[1,1],[0,1]],"relevance":[4,3,1]}'
	printf '%s\n' "$row" "$(sed 's/,\[0,1\]\]/]/; s/,1\]}/]}/' <<<"$row")" "${row/4,3,1/2,2,2}" "$row" | mkstream >"$T/x.mts"
	mteb-score -q summarization --protocol v1 --per-query "$T/table" "$T/x.mts" >"$T/out"
	[ "$(cut -f 1 "$T/table" | tr '\n' ' ')" = "id 1 4 " ] # two texts are too few for p, and a constant has no correlation
	mteb-score -q summarization --per-query "$T/table" "$T/x.mts" >"$T/out"
	[ "$(cut -f 1 "$T/table" | tr '\n' ' ')" = "id 1 2 4 " ]
}

@test "mteb-score classification --per-query: the share of experiments in which a test row is right is scikit-learn's; ids" {
	stream many_train many_test two_train two_test
	for data in many two; do
		score() { mteb-score classification --train "$T/${data}_train.mts" "$@"; }
		score --per-query "$T/table" "$T/${data}_test.mts" >"$T/out"
		score "$T/${data}_test.mts" | cmp - "$T/out"
		diff "$T/table" "$GOLDEN/score_${data}_rows.tsv"
		means_are_reported "$T/table" "$T/out" .
		score --experiments 3 --solver reference --protocol v2 --per-query "$T/table" - <"$T/${data}_test.mts" >"$T/out"
		means_are_reported "$T/table" "$T/out" .
	done
	# rows are called by their ids; a label without training rows is never right
	printf '%s\n' '{"x.emb":[1,0],"label":"a"}' '{"x.emb":[0,1],"label":"b"}' | mkstream >"$T/train.mts"
	printf '{"x.emb":[%s],"label":"%s","id":"t%s"}\n' 1,0 a 3 0,1 a 1 1,0 c 2 0,1 b 7 | mkstream 3 >"$T/test.mts"
	mteb-score -q classification --train "$T/train.mts" --per-query "$T/table" "$T/test.mts" >"$T/out"
	[ "$(tr '\n\t' ',:' <"$T/table")" = "id:accuracy,t3:1,t1:0,t2:0,t7:1," ]
	[ "$(metric accuracy <"$T/out")" = 0.5 ]
}

@test "mteb-score clustering --per-query: a line for each set, by its id, its name or its number" {
	stream sets
	for version in 1.8 1.9; do
		mteb-score clustering --sklearn $version --per-query "$T/table" "$T/sets.mts" >"$T/out"
		mteb-score clustering --sklearn $version "$T/sets.mts" | cmp - "$T/out"
		means_are_reported "$T/table" "$T/out"
		awk -F'\t' '{ print "v_" $1 "\t" $2 }' "$T/table" | agrees <(grep '^v_[12]' "$GOLDEN/score_sets_$version.tsv")
	done
	jq -c '.id = "set \(input_line_number)"' "$GOLDEN/score_sets.jsonl" | mkstream >"$T/x.mts"
	mteb-score clustering --per-query "$T/named" "$T/x.mts" >"$T/out"
	sed '2,$s/^/set /' <(mteb-score clustering --per-query "$T/table" "$T/sets.mts" >"$T/out"; cat "$T/table") | cmp - "$T/named"
	row() { printf '{"x.emb":[%s],"label":%d,"set":%s}\n' "$@"; }
	{ row 1,0 1 '"b"' && row 1,0 1 '"a"' && row 0,1 2 '"b"' && row 1,0 2 '"a"'; } | mkstream 3 >"$T/x.mts"
	mteb-score clustering --per-query "$T/table" "$T/x.mts" >"$T/out" # both points of set a are equal and have two labels
	[ "$(tr '\n\t' ',:' <"$T/table")" = "id:v_measure,b:1,a:0," ]
	mteb-score clustering --per-query "$T/table" <(mts cat -c x.emb,label "$T/x.mts") >"$T/out"
	[ "$(cut -f 1 "$T/table" | tr '\n' ' ')" = "id 1 " ]
	means_are_reported "$T/table" "$T/out"
	{ row 1,0 1 '""' && row 0,1 1 '""'; } | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score clustering --per-query "$T/none" "$T/x.mts"
	[ -z "$output" ] && [ ! -e "$T/none" ]
	does_not_apply --per-query mteb-score clustering-fast --per-query "$T/none" "$T/x.mts"
}

# 2. options

@test "mteb-score: scores and labels that are text, as from TSV, count as the numbers they show" {
	stream sts
	jq -c '.score |= tostring' "$GOLDEN/score_sts.jsonl" | mkstream 7 >"$T/text.mts"
	mteb-score sts "$T/text.mts" | cmp - <(mteb-score sts "$T/sts.mts")
	# of labels 1 and 2 the positive class is 1; 9 comes before 10
	for part in train test; do
		jq -c '.label += 1' "$GOLDEN/score_two_$part.jsonl" | mkstream 7 >"$T/n$part.mts"
		jq -c '.label |= (. + 1 | tostring)' "$GOLDEN/score_two_$part.jsonl" | mkstream 7 >"$T/t$part.mts"
	done
	mteb-score classification --train "$T/ttrain.mts" "$T/ttest.mts" |
		cmp - <(mteb-score classification --train "$T/ntrain.mts" "$T/ntest.mts")
	for part in train test; do
		jq -c '.label |= "\(.)th"' "$GOLDEN/score_two_$part.jsonl" | mkstream 7 >"$T/w$part.mts"
	done
	run ! cmp <(mteb-score classification --train "$T/wtrain.mts" "$T/wtest.mts") \
		<(mteb-score classification --train "$T/ntrain.mts" "$T/ntest.mts")
	for score in 0x10 0x1p3 nan inf '' ' 5' 5,0; do
		printf '{"sentence1.emb":[1],"sentence2.emb":[1],"score":"%s"}\n' "$score" | mkstream >"$T/x.mts"
		run -1 --separate-stderr mteb-score sts "$T/x.mts"
		[ "$stderr" = "mteb-score: $T/x.mts: record 1: score: '$score' is not a number" ]
	done
}

@test "mteb-score sts: --field names the pair; a column of similarities is used unchanged" {
	printf '%s\n' '{"a.emb":[1,0],"b.emb":[1,0],"score":"5"}' '{"a.emb":[1,0],"b.emb":[0,1],"score":"1.5"}' \
		'{"a.emb":[1,0],"b.emb":[1,1],"score":"3"}' | mkstream >"$T/x.mts"
	[ "$(mteb-score sts -f a -f b "$T/x.mts" | metric main_score)" = 1 ]
	printf '%s\n' '{"similarity":0.1,"score":3}' '{"similarity":0.2,"score":2}' \
		'{"similarity":0.3,"score":1}' | mkstream >"$T/x.mts"
	[ "$(mteb-score sts <"$T/x.mts" | metric main_score)" = -1 ]
	printf '%s\n' '{"a.emb":[1,0],"b.emb":[1,0],"score":2,"similarity":0}' \
		'{"a.emb":[1,0],"b.emb":[0,1],"score":1,"similarity":1}' | mkstream >"$T/x.mts"
	[ "$(mteb-score sts <"$T/x.mts" | metric main_score)" = -1 ]
	[ "$(mteb-score sts -f a -f b <"$T/x.mts" | metric main_score)" = 1 ]
}

# bats test_tags=plain
@test "mteb-score: --json has the same values; the first line names the settings" {
	stream sts
	mteb-score sts --json "$T/sts.mts" | jq -r '.scores | to_entries[] | "\(.key)\t\(.value)"' |
		agrees "$GOLDEN/score_sts.tsv"
	run -0 mteb-score sts "$T/sts.mts"
	[[ ${lines[0]} == "# mteb-score sts: protocol v2, similarity cosine, ties mean rank, precision float32, "* ]]
	[[ ${lines[1]} == main_score$'\t'* ]]
}

@test "mteb-score classification: --samples, --experiments, --seed and --label change the result" {
	stream two_train two_test
	score() { mteb-score classification --train "$T/two_train.mts" "$T/two_test.mts" "$@"; }
	[ "$(score | metric accuracy_per_experiment | wc -w)" = 10 ]
	[ "$(score --experiments 3 | metric accuracy_per_experiment | wc -w)" = 3 ]
	[ "$(score --samples 4 | metric accuracy)" != "$(score | metric accuracy)" ]
	[ "$(score --seed 1 | metric accuracy)" != "$(score | metric accuracy)" ]
	run -1 --separate-stderr score --label kind
	[[ $stderr == *"there is no column 'kind' of labels"* ]]
}

@test "mteb-score clustering: --batch, --seed and --set change the result" {
	stream sets
	one=$(mteb-score clustering "$T/sets.mts" | metric v_measure)
	[ "$(mteb-score clustering --batch 50 "$T/sets.mts" | metric v_measure)" != "$one" ]
	[ "$(mteb-score clustering --seed 1 "$T/sets.mts" | metric v_measure)" != "$one" ]
	printf '%s\n' '{"x.emb":[1,0],"label":1,"kind":"a"}' '{"x.emb":[0,1],"label":2,"kind":"a"}' \
		'{"x.emb":[1,0],"label":1,"kind":"b"}' '{"x.emb":[0,1],"label":2,"kind":"b"}' |
		mkstream >"$T/x.mts"
	[ "$(mteb-score clustering --set kind "$T/x.mts" | metric v_measures)" = "1 1" ]
	[ "$(mteb-score clustering "$T/x.mts" | metric v_measures)" = 1 ]
}

@test "mteb-score: embeddings in f16, bf16 and f64 score as in f32" {
	score() { # TYPE DTYPE STREAM...: scores of vectors that every dtype represents exactly
		local type=$1 dtype=$2 name files=()
		shift 2
		for name in "$@"; do
			# not by jq: releases before 1.7 write 5.0 as 5, and the first value decides whether a column has integers
			perl -pe 's/(\.emb": )(\[.*?\])(?=, "|\})/my ($name, $list) = ($1, $2); $name . $list =~ s{-?[\d.]+}{int($& * 8) + 0}ger/ge' \
				"$GOLDEN/score_$name.jsonl" | mkstream 7 "$dtype" >"$T/$name.mts"
			files+=("$T/$name.mts")
		done
		case $type in
		retrieval) set -- --qrels "$GOLDEN/score_qrels.tsv" ;;
		classification) set -- --train "${files[0]}" && files=("${files[1]}") ;;
		*) set -- ;;
		esac
		mteb-score "$type" -q "$@" "${files[@]}"
	}
	for words in "sts sts" "pairclassification pairs" "reranking rerank_several" \
		"summarization summaries" "retrieval queries corpus" "classification two_train two_test" \
		"clustering sets"; do
		for dtype in f32 f16 bf16 f64; do
			# shellcheck disable=SC2086
			score ${words/ / $dtype } >"$T/$dtype"
			grep -q '^main_score.-\?[0-9.]*$' "$T/$dtype"
			cmp "$T/f32" "$T/$dtype"
		done
	done
}

# bats test_tags=plain
@test "mteb-score: any number of threads, and equal runs, give equal bytes" {
	stream queries corpus sets many_train many_test
	for threads in 1 2 3; do
		mteb-score -q retrieval -j $threads --qrels "$GOLDEN/score_qrels.tsv" "$T/queries.mts" \
			"$T/corpus.mts" >"$T/r$threads"
		mteb-score clustering -j $threads "$T/sets.mts" >"$T/c$threads"
		mteb-score classification -j $threads --train "$T/many_train.mts" "$T/many_test.mts" \
			>"$T/l$threads"
	done
	cmp "$T/r1" "$T/r2"
	cmp "$T/r1" "$T/r3"
	cmp "$T/c1" "$T/c3"
	cmp "$T/l1" "$T/l2"
}

# 3. usage

@test "mteb-score: usage errors exit 2 with an empty standard output" {
	stream queries
	for words in "" "nonsense" "sts a b" "sts -f only" "retrieval q c" "retrieval --qrels f q" \
		"retrieval --qrels f - -" "classification x" "sts --qrels f" "clustering --train x" \
		"retrieval --qrels f --run - q c" "retrieval --gain cubic" "clustering --sklearn 2" "sts --protocol v9" "sts --seed 1" \
		"clustering -f a -f b" "classification --samples 0" \
		"classification --solver newton --train x y" "clustering --solver exact" \
		"clustering-fast --max-documents 0" "clustering-fast --max-documents some" "reranking -f x" \
		"retrieval --from-run r" "retrieval --from-run r --qrels f q" "pairclassification -f x" \
		"retrieval --similarity manhattan --qrels f q c" "sts --similarity angle" \
		"clustering --similarity dot" "summarization a b" "sts --per-query -" "clustering-fast --per-query f" \
		"reranking --protocol v1 --at 5" "sts --at 5" "retrieval --complete --run - q c" \
		"retrieval --per-query f --run - q c" "reranking --complete"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr mteb-score $words
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}

@test "mteb-score: --at takes integers" {
	for list in "" 0 1000001 1,,2 ,1 1, 1,x 1.5 "1 2" -1 "$(seq -s, 1 33)"; do
		run -2 --separate-stderr mteb-score reranking --protocol v2 --at "$list" x
		[ -z "$output" ]
		[[ $stderr == "mteb-score: --at: '$list' is not a list of whole numbers in 1..1000000, commas between, at most 32"* ]]
	done
	run -2 --separate-stderr mteb-score reranking --protocol v2 --at 1001 x
	[[ $stderr == "mteb-score: --at: a search keeps 1000 documents a query"* ]]
	stream rerank
	mteb-score reranking --protocol v2 --at "$(seq -s, 1 32)" "$T/rerank.mts" >"$T/out"
	[ "$(grep -c '^ndcg_at_' "$T/out")" -eq 33 ] # and that of the main score
}

@test "mteb-score: options that do not apply to a type are refused; a mistyped type gets the nearest name" {
	for type in sts clustering "classification --train x"; do
		for option in "qrels f" ignore-identical-ids "candidates f" "from-run f" "run f" "top 3" \
			"gain exp" "memory 1M"; do
			# shellcheck disable=SC2086
			does_not_apply "--${option% *}" mteb-score $type --$option x.mts
		done
	done
	for option in "gain exp" "protocol v2" json "output x"; do
		# shellcheck disable=SC2086
		does_not_apply "--${option% *}" mteb-score retrieval --run y --$option q c
	done
	for option in "similarity dot" "field x" "memory 1M" "candidates f" any-model; do
		# shellcheck disable=SC2086
		does_not_apply "--${option% *}" mteb-score retrieval --qrels f --from-run r --$option
	done
	does_not_apply --field mteb-score summarization -f x y
	does_not_apply --max-documents mteb-score clustering --max-documents all x
	run -2 --separate-stderr mteb-score retreival q c
	[[ $stderr == "mteb-score: 'retreival' is not one of sts, "*"; did you mean 'retrieval'?"* ]]
}

@test "mteb-score: -o writes the scores to a file, as lines and as JSON" {
	stream sts
	for how in "" --json; do
		# shellcheck disable=SC2086
		mteb-score sts $how "$T/sts.mts" >"$T/printed"
		# shellcheck disable=SC2086
		mteb-score sts $how -o "$T/written" "$T/sts.mts" >"$T/nothing"
		cmp "$T/printed" "$T/written"
		[ ! -s "$T/nothing" ]
	done
	run -1 mteb-score sts -o "$T/written" </dev/null
	cmp "$T/printed" "$T/written"
}

# 4. bad input

@test "mteb-score pairclassification: one class, other labels, constant similarities, NaN, widths and lists" {
	score() { printf '%s\n' "$@" | mkstream >"$T/x.mts" && mteb-score pairclassification "$T/x.mts"; }
	one='{"sentence1.emb":[1,0],"sentence2.emb":[0,1],"label":1}'
	run -1 --separate-stderr score "$one" "$one"
	[[ $stderr == *"all 2 pairs have the label 1; there is nothing to tell apart"* ]]
	run -1 --separate-stderr score "$one" "${one/1\}/2\}}"
	[[ $stderr == *"pair 2 has the label 2; expected 0 or 1"* ]]
	run -0 --separate-stderr score "$one" "${one/1\}/0\}}"
	[[ $stderr == *"all values of cosine are equal: no threshold separates pairs"* ]]
	run -1 --separate-stderr score "$one" "${one/1,0/null,0}"
	[[ $stderr == *"record 1: sentence1.emb: row 2 is not finite"* ]]
	run -1 --separate-stderr score '{"sentence1.emb":[1,0,0],"sentence2.emb":[0,1],"label":1}'
	[[ $stderr == *"sentence1.emb has width 3 and sentence2.emb has 2"* ]]
	run -1 --separate-stderr score '{"sent1.emb":[[1,0]],"sent2.emb":[[0,1],[1,0]],"labels":[1]}'
	[[ $stderr == *"row 1 has 1 in sent1.emb and 2 in sent2.emb"* ]]
	run -1 --separate-stderr score '{"sent1.emb":[[1,0]],"sent2.emb":[[0,1]],"labels":[1,0]}'
	[[ $stderr == *"row 1 has 1 in sent1.emb and 2 in labels"* ]]
	run -1 --separate-stderr score '{"sentence1.emb":[1,0],"sentence2.emb":[0,1],"x":1}'
	[[ $stderr == *"no column 'label' with the labels"* ]]
	run -1 --separate-stderr score "$one"
	[[ $stderr == *"1 pairs; two at least are needed"* ]]
}

@test "mteb-score reranking: rows without texts, NaN, zero vectors, widths and missing columns" {
	score() { printf '%s\n' "$@" | mkstream >"$T/x.mts" && mteb-score reranking "$T/x.mts"; }
	one='{"query.emb":[1,0],"positive.emb":[[3,4]],"negative.emb":[[0,1]]}'
	run -0 --separate-stderr score "$one" "${one/\[\[0,1\]\]/[]}" "${one/\[\[3,4\]\]/[]}"
	[[ $stderr == *"2 of 3 rows have no query, no positive or no negative text: they are left out"* ]]
	[[ $output == *", rows 1, "* ]]
	run -1 --separate-stderr score "$one" "${one/\[0,1\]/[0,1],[1,1],[null,1]}"
	[[ $stderr == *"record 1: negative.emb: row 2: vector 3 is not finite"* ]]
	run -0 --separate-stderr score "${one/0,1/0,0}"
	[[ $stderr == *"1 vectors of negative.emb are zero: their cosines are 0"* ]]
	run -1 --separate-stderr score "${one/3,4/3,4,5}"
	[[ $stderr == *"query.emb has width 2 and positive.emb has 3"* ]]
	run -1 --separate-stderr score '{"query.emb":[1,0],"positive.emb":[[3,4]]}'
	[[ $stderr == *"no column 'negative.emb'"* ]]
}

@test "mteb-score summarization: lists of different lengths, too few texts, constant scores and NaN" {
	score() { printf '%s\n' "$@" | mkstream >"$T/x.mts" && mteb-score summarization "$T/x.mts"; }
	one='{"human_summaries.emb":[[1,0]],"machine_summaries.emb":[[1,0],[3,4],[0,1]],"relevance":[3,2,1]}'
	run -0 --separate-stderr score "$one" "${one/3,2,1/2,2,2}" "${one/\[\[1,0\]\]/[]}"
	[[ $stderr == *"1 texts have no human summary or fewer than 2 machine summaries: they are left out"* ]]
	[[ $stderr == *"1 texts have relevances or similarities that are all equal"* ]]
	[[ $output == *", texts 1, "* ]]
	run -1 --separate-stderr score "${one/3,2,1/2,2,2}"
	[[ $stderr == *"there is no text to score"* ]]
	run -1 --separate-stderr score "${one/3,2,1/3,2}"
	[[ $stderr == *"row 1 has 3 machine summaries and 2 relevances"* ]]
	run -1 --separate-stderr score "${one/3,2,1/3.5,null,1}"
	[[ $stderr == *"relevance: row 1 has nan, not a number to correlate"* ]]
	run -1 --separate-stderr score "${one/3,4/3,null}"
	[[ $stderr == *"machine_summaries.emb: row 1: vector 2 is not finite"* ]]
	run -1 --separate-stderr score "${one/relevance/quality}"
	[[ $stderr == *"no column 'relevance'"* ]]
}

@test "mteb-score sts: constant scores, NaN, missing columns and too few rows" {
	row='{"sentence1.emb":[1,0],"sentence2.emb":[0,1],"score":2}'
	printf '%s\n' "$row" "$row" "$row" | mkstream >"$T/x.mts"
	run -0 --separate-stderr mteb-score sts "$T/x.mts"
	[[ $output == *$'main_score\tnan'* ]]
	[[ $stderr == *"all gold scores or all similarities are equal"* ]]
	mteb-score -q sts --json "$T/x.mts" | jq -e '.scores.main_score == null' >/dev/null
	printf '%s\n' "$row" "${row/1,0/null,0}" | mkstream 1 >"$T/x.mts"
	run -1 --separate-stderr mteb-score sts "$T/x.mts"
	[[ $stderr == *"record 2: sentence1.emb: row 1 is not finite"* ]]
	echo "$row" | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score sts "$T/x.mts"
	[[ $stderr == *"1 pairs; two at least are needed"* ]]
	mkstream </dev/null >"$T/x.mts"
	run -1 --separate-stderr mteb-score sts "$T/x.mts"
	[[ $stderr == *"has no columns; was the input of the first program empty?"* ]]
	printf '%s\n' "${row/2\}/\"high\"\}}" "$row" | mkstream >"$T/x.mts" || true
	echo '{"sentence1.emb":[1,0],"sentence2.emb":[0,1],"score":"high"}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score sts "$T/x.mts"
	[[ $stderr == *"score: 'high' is not a number"* ]]
	echo '{"sentence1.emb":[1,0],"score":1}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score sts "$T/x.mts"
	[[ $stderr == *"no column 'sentence2.emb'"*"sentence1.emb, score"* ]]
}

@test "mteb-score classification: one label, unknown labels, few rows, NaN and empty streams" {
	printf '%s\n' '{"x.emb":[1,0],"label":"a"}' '{"x.emb":[0,1],"label":"a"}' | mkstream >"$T/one.mts"
	printf '%s\n' '{"x.emb":[1,0],"label":"a"}' '{"x.emb":[0,1],"label":"b"}' | mkstream >"$T/two.mts"
	printf '%s\n' '{"x.emb":[1,0],"label":"a"}' '{"x.emb":[0,1],"label":"c"}' | mkstream >"$T/test.mts"
	run -1 --separate-stderr mteb-score classification --train "$T/one.mts" "$T/test.mts"
	[[ $stderr == *"all 2 rows have the label 'a'"* ]]
	run -0 --separate-stderr mteb-score classification --train "$T/two.mts" "$T/test.mts"
	[[ $stderr == *"1 rows have 1 labels that no training row has (first: 'c'): they count as wrong"* ]]
	[[ $stderr == *"2 labels have fewer than 8 rows"* ]]
	[[ $output == *$'\naccuracy\t0.5\n'* ]]
	echo '{"x.emb":[null,0],"label":"a"}' | mkstream >"$T/nan.mts"
	run -1 --separate-stderr mteb-score classification --train "$T/two.mts" "$T/nan.mts"
	[[ $stderr == *"record 1: x.emb: row 1 is not finite"* ]]
	echo '{"x.emb":[1,0,0],"label":"a"}' | mkstream >"$T/wide.mts"
	run -1 --separate-stderr mteb-score classification --train "$T/two.mts" "$T/wide.mts"
	[[ $stderr == *"its vectors have width 3, those of"* ]]
}

@test "mteb-score classification: an unfinished fit gets a warning; only sampled rows of a file are kept in memory" {
	awk 'BEGIN { for (i = 0; i < 40; i++)
		printf "{\"x.emb\":[%g,%g,%g],\"label\":%d}\n", 1e6 * (i * 17 % 41), 1e-3 * (i * 23 % 37), i * 29 % 31 / 31, i % 3 }' |
		mkstream >"$T/x.mts"
	run -0 --separate-stderr mteb-score -v classification --train "$T/x.mts" "$T/x.mts"
	worst=$(sed -n 's/.*: experiment .* gradient //p' <<<"$stderr" | sort -g | tail -n 1)
	[[ $stderr == *"warning: a logistic regression stopped at a gradient of $worst, short of its optimum"* ]]
	[[ $stderr == *"x.mts: 40 of 40 rows are drawn"* ]]
	run -0 --separate-stderr mteb-score -v classification --train <(cat "$T/x.mts") "$T/x.mts"
	[[ $stderr != *"rows are drawn"* ]]
	run -0 --separate-stderr mteb-score classification --solver reference --train "$T/x.mts" "$T/x.mts"
	[[ $stderr != *"a logistic regression stopped"* ]]
}

@test "mteb-score clustering: one label, lists of different lengths, and several embeddings" {
	echo '{"x.emb":[[1,0],[0,1]],"labels":["a","a"]}' | mkstream >"$T/x.mts"
	run -0 --separate-stderr mteb-score clustering "$T/x.mts"
	[[ $stderr == *"1 of 1 sets have one label only: their v-measure counts as 1"* ]]
	echo '{"x.emb":[[1,0],[0,1]],"labels":["a","b","c"]}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score clustering "$T/x.mts"
	[[ $stderr == *"record 1: row 1 has 2 in x.emb and 3 in labels"* ]]
	echo '{"x.emb":[1,0],"y.emb":[1,0],"label":1}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score clustering "$T/x.mts"
	[[ $stderr == *"several columns of embeddings: x.emb, y.emb; choose one with --field"* ]]
}

@test "mteb-score clustering-fast: no sampled rows, no labels, and more labels than texts" {
	printf '%s\n' '{"x.emb":[1,0],"label":"a"}' '{"x.emb":[0,1],"label":"b"}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score clustering-fast "$T/x.mts"
	[[ $stderr == *"a share of 0.04 of its 2 texts is none; give --max-documents more"* ]]
	run -1 --separate-stderr mteb-score clustering-fast --max-documents all --samples 1 "$T/x.mts"
	[[ $stderr == *"2 labels at level 0 are more than the 1 texts of an experiment"* ]]
	mteb-score clustering-fast --max-documents all --samples 9 "$T/x.mts" | metric main_score |
		awk '{ exit !($1 > 1 - 1e-12 && $1 <= 1) }'
	printf '%s\n' '{"x.emb":[1,0],"labels":[1]}' '{"x.emb":[0,1],"labels":[]}' \
		'{"x.emb":[0,1],"labels":[-1]}' | mkstream 1 >"$T/x.mts"
	run -0 --separate-stderr mteb-score clustering-fast --max-documents all --samples 9 "$T/x.mts"
	[[ $stderr == *"2 of 3 texts have no label at level 0: they are left out there"* ]]
	printf '%s\n' '{"x.emb":[0,1],"labels":[-1]}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score clustering-fast --max-documents all "$T/x.mts"
	[[ $stderr == *"x.mts: no text that was drawn has a label"* ]]
	echo '{"x.emb":[null,0],"label":"a"}' | mkstream >"$T/x.mts"
	run -1 --separate-stderr mteb-score clustering-fast --max-documents all "$T/x.mts"
	[[ $stderr == *"record 1: x.emb: row 1 is not finite"* ]]
}

@test "mteb-score: a truncated stream is refused" {
	stream sts
	size=$(stat -c %s "$T/sts.mts")
	head -c $((size - 20)) "$T/sts.mts" >"$T/cut.mts"
	run -1 --separate-stderr mteb-score sts "$T/cut.mts"
	[ -z "$output" ]
	[[ $stderr == *cut.mts* ]]
}

# 5. the page's examples

@test "mteb-score: the examples of the page run" {
	stream sts pairs rerank summaries queries corpus many_train many_test sets tasks_{regression,multilabel}_{train,test}
	cd "$T"
	mv tasks_multilabel_train.mts topics.mts
	mv tasks_multilabel_test.mts test-topics.mts
	mv tasks_regression_train.mts years.mts
	mv tasks_regression_test.mts test-years.mts
	mv pairs.mts labelled.mts
	mv rerank.mts candidates.mts
	cp sts.mts pairs.mts
	cp labelled.mts translations.mts
	cp many_train.mts train.mts
	cp many_test.mts test.mts
	cp "$GOLDEN/score_qrels.tsv" test.tsv
	mkstream <"$GOLDEN/score_mteb_fast.jsonl" >rows.mts
	page_examples mteb-score.1 >examples
	[ "$(wc -l <examples)" -eq 15 ]
	while read -r line; do
		bash -c "$line" >out 2>/dev/null
		[ -s out ]
	done <examples
}

# 6. real data, if it is there

@test "mteb-score: all-MiniLM-L6-v2 on the STS Benchmark has the published 82.03" {
	need_minilm
	need_data sts/stsbenchmark/test.jsonl.zst
	tok -m "$MOTES_MINILM" -f sentence1 -f sentence2 "$DATA/sts/stsbenchmark/test.jsonl.zst" |
		encode -m "$MOTES_MINILM" | mteb-score sts >"$T/out"
	metric main_score <"$T/out" | awk '{ exit !($1 >= 0.8198 && $1 <= 0.8208) }'
}

@test "mteb-score: all-MiniLM-L6-v2 on AmazonCounterfactual has scikit-learn's 63.64" {
	need_minilm
	need_data classification/amazon_counterfactual_en/train.jsonl.zst
	[ -n "${MOTES_LONG:-}" ] || skip "takes minutes (set MOTES_LONG)"
	for part in train test; do
		tok -m "$MOTES_MINILM" -f text "$DATA/classification/amazon_counterfactual_en/$part.jsonl.zst" |
			encode -m "$MOTES_MINILM" >"$T/$part.mts"
	done
	mteb-score classification --samples 32 --solver reference --train "$T/train.mts" "$T/test.mts" |
		metric main_score | awk '{ exit !($1 >= 0.6355 && $1 <= 0.6373) }'
}
