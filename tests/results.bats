#!/usr/bin/env bats
load helper

# Result files of mteb and of several protocols in one table; mteb's tasks with their own way of scoring.

setup() {
	cd "$T"
	REGISTRY=$ROOT/share/tasks.yaml
}

# put FOLDER TASK MAIN [MOTES]: writes a result
put() {
	mkdir -p "$1"
	echo "{\"task_name\": \"$2\", \"mteb_version\": \"2.26.0\", ${4:+\"motes\": $4,}
		\"scores\": {\"test\": [{\"main_score\": $3, \"hf_subset\": \"default\", \"languages\": [\"eng-Latn\"]}]}}" >"$1/$2.json"
}

by_protocol() { # v1|v2 METRIC: the entry of motes in a result
	echo "{\"main_score\": \"$2\", \"settings\": {\"protocol\": \"$1\"}}"
}

cells() { # the lines of the table without means and ranks: task, metric, figures
	leaderboard table --registry "$REGISTRY" "$@" 2>err | grep -v 'mean\|Borda' | cut -f 2-
}

@test "leaderboard table: a result without a figure leaves its cell empty" {
	put a/1 STS12 0.5
	put a/1 STS13 null
	put a/1 STS15 '"high"'
	put a/1 STS16 "[]"
	put a/1 BIOSSES NaN
	put a/1 SICK-R -Infinity
	put b/1 STS12 0.25
	sed -i 's/"hf_subset"/"nauc_mrr_at_1_max": NaN, "hf_subset"/' b/1/STS12.json # other values may be NaN
	put b/1 STS13 0.75
	echo '{"name": null, "revision": null}' >a/1/model_meta.json
	# a result of mteb 1.0
	echo '{"mteb_dataset_name": "STS14", "mteb_version": "1.0.2", "dataset_revision": "x", "test": {"cos_sim": {"spearman": 0.3}}}' \
		>a/1/STS14.json
	for part in '"scores": null' '"scores": {"test": null}' '"scores": {"test": []}' '"scores": {"test": [1]}' '"scores": 3'; do
		echo "{\"task_name\": \"STSBenchmark\", \"motes\": [], $part}" >a/1/STSBenchmark.json
		[ "$(cells a/1 b/1)" = $'task\tmetric\ta\tb\nSTS12\tcosine_spearman\t50.00\t25.00\nSTS13\tcosine_spearman\t\t75.00' ]
		[ "$(grep -c 'a/1/.*: is left out: ' err)" -eq 7 ]
		grep -q 'warning: a/1/STSBenchmark.json: is left out: ' err
	done
	grep -q 'STS14.json: is left out: it is of an mteb before 1.11' err
	grep -q 'STS13.json: is left out: there is no main_score that is a number' err
	leaderboard compare a/1 b/1 2>err >out
	grep -q '1 data sets are left out' err
}

@test "leaderboard table, compare: protocols and revisions of one model have different names" {
	put v1/m/r AskUbuntuDupQuestions 0.5 "$(by_protocol v1 map)"
	put v2/m/r AskUbuntuDupQuestions 0.25 "$(by_protocol v2 map_at_1000)"
	[ "$(cells v1/m/r v2/m/r)" = $'task\tmetric\tm v1\tm v2\nAskUbuntuDupQuestions\tmap, map_at_1000\t50.00\t25.00' ]
	grep -q 'warning: m v1 and m v2 were scored by different protocols' err
	[ "$(cells v2/m/r)" = $'task\tmetric\tm\nAskUbuntuDupQuestions\tmap_at_1000\t25.00' ]
	[ ! -s err ]
	leaderboard compare v1/m/r v2/m/r 2>err | found '^m v2 - m v1; '
	# revisions distinguish results of one protocol, else folders do
	put v1/m/s AskUbuntuDupQuestions 0.5 "$(by_protocol v1 map)"
	[ "$(cells v1/m/r v1/m/s | head -n 1)" = $'task\tmetric\tm@r\tm@s' ]
	put again/m/r AskUbuntuDupQuestions 0.5 "$(by_protocol v1 map)"
	[ "$(cells v1/m/r again/m/r | head -n 1)" = $'task\tmetric\tm (v1/m/r)\tm (again/m/r)' ]
	[ ! -s err ]
}

@test "leaderboard table: the mean of types, and Borda ranks as on mteb's leaderboard, with ties and missing scores" {
	local n=0 types=(STS12 STS13 Banking77Classification SciFact NFCorpus STS14 STS15)
	while IFS= read -r line; do
		n=$((n + 1))
		for i in 1 2 3 4 5 6 7; do
			score=$(cut -f $i <<<"$line")
			[ -z "$score" ] || put "m$n/1" "${types[i - 1]}" "$score"
		done
	done <"$GOLDEN/borda.tsv"
	leaderboard table --registry "$REGISTRY" m{1,2,3,4,5}/1 >out
	[ "$(grep -P '^all\trank \(Borda\)\t' out | cut -f 4- | tr '\t' '\n')" = "$(cut -f 8 "$GOLDEN/borda.tsv")" ]
	# m2 and m5 have all types: STS 52.5 and 45.625 (of four sets), retrieval 15 and 30, classification 12.5 and 50
	[ "$(grep -P '^all\tmean of 3 types\t' out | cut -f 4-)" = $'\t26.67\t\t\t41.87' ]
	leaderboard table --registry "$REGISTRY" m2/1 >out
	run ! grep Borda out
}

@test "leaderboard table: CQADupstack's parts are one set in v1, separate sets in v2" {
	for part in Gaming Unix; do
		put v1/m/r "CQADupstack${part}Retrieval" 0.5 "$(by_protocol v1 ndcg_at_10)"
		put v2/m/r "CQADupstack${part}Retrieval" "0.2${#part}" "$(by_protocol v2 ndcg_at_10)"
		put mteb/m/r "CQADupstack${part}Retrieval" 0.75
	done
	[ "$(cells v1/m/r | sed 1d)" = $'CQADupstackRetrieval\tndcg_at_10\t50.00' ]
	two=$'CQADupstackGamingRetrieval\tndcg_at_10\t26.00\nCQADupstackUnixRetrieval\tndcg_at_10\t24.00'
	[ "$(cells v2/m/r | sed 1d)" = "$two" ]
	[ "$(cells v2/m/r v1/m/r | sed 1d | cut -f 1,3-)" = \
		$'CQADupstackGamingRetrieval\t26.00\t\nCQADupstackRetrieval\t\t50.00\nCQADupstackUnixRetrieval\t24.00\t' ]
	# --protocol decides for files that do not name one
	[ "$(cells --protocol v1 mteb/m/r | sed 1d)" = $'CQADupstackRetrieval\tndcg_at_10\t75.00' ]
	[ "$(cells mteb/m/r | sed 1d | wc -l)" -eq 2 ]
	leaderboard compare --protocol v2 --registry "$REGISTRY" mteb/m/r v2/m/r 2>err | found $'^Retrieval\tCQADupstackUnixRetrieval\t75.00\t24.00'
}

@test "leaderboard result: languages come from the registry; an unknown set has none" {
	languages() {
		mteb-score sts --json "$T/sts.mts" | leaderboard result --registry "$REGISTRY" "$@" 2>err | jq -c '.scores.test[0].languages'
	}
	mkstream <"$GOLDEN/score_sts.jsonl" >sts.mts
	[ "$(languages --dataset STS12)" = '["eng-Latn"]' ]
	[ "$(languages --dataset mine)" = '[]' ]
	cat >own.yaml <<-'END'
		languages: deu-Latn
		tasks: { mine: { type: STS }, both: { type: STS, languages: [fra-Latn, deu-Latn] } }
	END
	[ "$(languages --registry own.yaml --dataset mine)" = '["deu-Latn"]' ]
	[ "$(languages --registry own.yaml --dataset both)" = '["fra-Latn","deu-Latn"]' ]
	echo 'tasks: { mine: { type: STS, languages: 3 } }' >own.yaml
	dies "leaderboard: own.yaml:1: languages: a name or a list of names is expected" leaderboard result --registry "$REGISTRY" \
		--registry own.yaml --dataset mine /dev/null
}

@test "leaderboard result: a report that was scored in another way than mteb's is refused under the task's name" {
	report() { echo "{\"task_type\": \"$1\", \"settings\": {\"protocol\": \"$2\"}, \"scores\": {\"v_measure\": 0.5, \"cosine_spearman\": 0.5}}"; }
	result() { leaderboard result --registry "$REGISTRY" --dataset "$@"; }
	for task in ArXivHierarchicalClusteringP2P ArXivHierarchicalClusteringS2S BiorxivClusteringP2P.v2 MedrxivClusteringP2P.v2 \
		MedrxivClusteringS2S.v2 StackExchangeClustering.v2 StackExchangeClusteringP2P.v2 TwentyNewsgroupsClustering.v2; do
		report clustering v2 >legacy
		dies "leaderboard: $task: mteb scores it by clustering-fast, and this is a report of clustering" result "$task" legacy
		report clustering-fast v2 | result "$task" | jq -e '.scores.test[0].main_score == 0.5 and .motes.task_type == "Clustering"'
	done
	report clustering-fast v1 >fast
	dies "leaderboard: TwentyNewsgroupsClustering: mteb scores it by clustering, and" result TwentyNewsgroupsClustering fast
	report summarization v1 >v1
	report summarization v2 >v2
	result SummEval v1 >/dev/null
	result SummEvalSummarization.v2 v2 >/dev/null
	dies "leaderboard: SummEval: mteb scores it by protocol v1 alone, and this is a report of v2" result SummEval v2
	dies "leaderboard: SummEvalSummarization.v2: mteb scores it by protocol v2 alone, and" result SummEvalSummarization.v2 v1
	# a set of one's own
	report clustering-fast v2 | result mine | jq -e '.motes.task_type == "Clustering"'
}

# draw: results of five models for MTEB(eng, v2), laid out as mteb's cache; with a subset that the benchmark lacks, without one set
draw() {
	leaderboard list --registry "$REGISTRY" "MTEB(eng, v2)" | awk -F'\t' 'NR > 1 { print $1 }' >sets
	for m in 1 2 3 4 5; do
		mkdir -p results/lab__model-$m/r$m
		echo "{\"name\": \"lab/model-$m\", \"revision\": \"r$m\"}" >results/lab__model-$m/r$m/model_meta.json
		awk -v m=$m -v dir=results/lab__model-$m/r$m '{
			score = ((length($1) * 7919 + m * 104729 + NR * 1299709 * m) % 9973) / 10000
			subset = $1 == "STS17" ? "en-en" : $1 ~ /^(STS22.v2|Massive.*|MTOP.*|AmazonC.*)$/ ? "en" : "default"
			other = subset == "default" ? "" : sprintf(", {\"main_score\": 0.9, \"hf_subset\": \"%s\", \"languages\": [\"deu-Latn\"]}", \
				subset == "en" ? "de" : "es-es")
			printf "{\"dataset_revision\": \"x\", \"task_name\": \"%s\", \"mteb_version\": \"2.26.0\", \"scores\": {\"test\": [{\"main_score\": %.4f, \"hf_subset\": \"%s\", \"languages\": [\"eng-Latn\"]}%s]}, \"evaluation_time\": 1.5, \"kg_co2_emissions\": null}\n", \
				$1, score, subset, other > (dir "/" $1 ".json")
		}' sets
	done
	rm results/lab__model-5/r5/BIOSSES.json
}

@test "leaderboard table: a benchmark's means, ranks and scores of all subsets are mteb's" {
	draw
	leaderboard table --registry "$REGISTRY" --benchmark "MTEB(eng, v2)" results/*/* >table
	# the lines of means: type (all), model, value
	awk -F'\t' 'NR == 1 { for (m = 4; m <= NF; m++) model[m] = $m; next }
		$2 ~ /^mean of|^rank/ { key = $1 != "all" ? $1 : $2 ~ /types/ ? "Mean(TaskType)" : $2 ~ /rank/ ? "Rank" : "Mean(Task)"
			for (m = 4; m <= NF; m++) if ($m != "") print model[m], key, $m }' table | sort >ours
	# a type with one set has no mean; model-5 lacks BIOSSES and has no mean
	awk -F'\t' '$3 != "" && $2 != "Summarization" && !($1 ~ /5/ && $2 != "Rank") { printf $2 == "Rank" ? "%s %s %d\n" : "%s %s %.2f\n", $1, $2, $3 }' \
		"$GOLDEN/benchmark.tsv" | sort >mteb
	[ "$(grep -c Mean mteb)" -eq 8 ]
	awk '!/model-5/ || $2 == "Rank"' ours | diff mteb -
	run ! grep -q 'model-5 Mean' ours
	leaderboard table --registry "$REGISTRY" results/*/* 2>err | awk -F'\t' 'NR > 1 && $1 != "all" && $2 !~ /^mean/ { print $2, $4, $5, $6, $7, $8 }' |
		sort >scores
	awk -F'\t' 'NR > 1 { printf "%s", $1; for (m = 3; m <= 7; m++) printf $m == "" ? " " : " %.2f", 100 * $m; print "" }' "$GOLDEN/benchmark_frame.tsv" | sort |
		join - scores | awk '{ for (m = 2; m <= 6; m++) if (NF == 11 && ($m - $(m + 5) > 0.0101 || $(m + 5) - $m > 0.0101)) bad = 1 } END { exit bad || NR != 41 }'
}

@test "leaderboard table: the share of sets that a model was not trained on is mteb's, and empty if unknown" {
	draw
	leaderboard table --registry "$REGISTRY" --benchmark "MTEB(eng, v2)" results/*/* >table
	run ! grep zero-shot table
	for m in 1 2 3 4; do
		sets=$(sed -n "${m}p" "$GOLDEN/zero_shot.tsv" | cut -f 1)
		jq -n -c --arg sets "$sets" --arg m "$m" '{ name: "lab/model-\($m)", revision: "r\($m)",
			training_datasets: ($sets / "," | if $m == "4" then map({ (.): ["train"] }) | add else . end) }' \
			>"results/lab__model-$m/r$m/model_meta.json"
	done
	leaderboard table --registry "$REGISTRY" --benchmark "MTEB(eng, v2)" results/*/* >table
	[ "$(grep -P '^all\tzero-shot\t' table)" = $'all\tzero-shot\t\t'"$(cut -f 2 "$GOLDEN/zero_shot.tsv" | paste -s)"$'\t' ]
	leaderboard table --registry "$REGISTRY" --benchmark "MTEB(eng, v2)" --format markdown results/*/* | tail -n 1 >line
	[[ $(<line) == "| all | **zero-shot** |  | **95** | **100** | **92** | **97** | |" ]]
}

# bats test_tags=plain
@test "mteb: the result file of every type has the fields and values of mteb's; mteb reads it" {
	python=${MOTES_PYTHON:-python3}
	"$python" -c 'import mteb, sentence_transformers' 2>err || skip "needs the Python packages mteb and sentence-transformers; MOTES_PYTHON is a Python that has them"
	need_minilm
	HF_HUB_OFFLINE=1 "$python" "$GOLDEN/mteb_mocks.py" make "$MOTES_MINILM" "$T" >log 2>&1
	make -s --no-print-directory -C "$ROOT" mteb X="$BUILD/bin" MODEL="$MOTES_MINILM" NAME=lab/minilm DATA="$T/data" OUT="$T/out" \
		RESULTS="$T/cache/results" >table 2>err
	"$python" "$GOLDEN/mteb_mocks.py" compare "$(echo mteb/results/*/*)" "$(echo cache/results/*/*)" >differences
	[ "$(awk 'END { print $1 }' differences)" -gt 2000 ]
	HF_HUB_OFFLINE=1 "$python" -c 'import mteb
for model in mteb.ResultCache("cache").load_results(validate_and_filter=False):
    for task in model.task_results:
        print(task.task_name, "%g" % round(100 * task.get_score(), 2))' 2>err | sort >read
	[ "$(wc -l <read)" -eq 25 ]
	awk -F' *[|] *' '$3 ~ /Mock/ { print $3, $5 + 0 }' table | sort | diff read -
}
