#!/usr/bin/env bats
load helper

# leaderboard alone; tests/mteb.bats tests it in make mteb.

setup() {
	cd "$T"
	MODEL=$ROOT/share/models/base
	[ -e "$MODEL/model.safetensors" ] || skip "needs make base-model"
	REGISTRY=$ROOT/share/tasks.yaml
}

# files NAME...: empty files, for commands that read only names
files() {
	for file in "$@"; do
		mkdir -p "$(dirname "$file")"
		: >"$file"
	done
}

plan() {
	leaderboard plan -m "$MODEL" --registry "$REGISTRY" "$@"
}

report() {
	echo '{"task_type": "sts", "settings": {"pairs": "3108"}, "scores": {"main_score": 0.5,
		"cosine_spearman": 0.12345678901, "list": [0.1234567, 1, 0.7654321], "none": null,
		"scores_per_experiment": [{"accuracy": 0.1234567}], "v_measures": {"Level 0": [0.1234567, 0]}}}'
}

# 1. known answers

@test "leaderboard list: benchmarks, and the data sets of some, with mteb's facts about them" {
	run -0 leaderboard list --registry "$REGISTRY"
	[ "${lines[0]}" = $'benchmark\talso\ttasks' ]
	[[ "$output" == *$'\nMTEB(eng, v2)\tMTEB(eng), mteb-v2\t41\n'* ]]
	[ "$(awk -F'\t' '$3 < 1' <<<"$output" | wc -l)" -eq 0 ]
	known() { # BENCHMARK TYPE: how many sets
		leaderboard list --registry "$REGISTRY" "$1" | awk -F'\t' -v type="$2" 'NR > 1 && $2 ~ "^" type "$"' | wc -l
	}
	[ "$(known mteb Classification)" -eq 12 ]
	[ "$(known mteb Clustering)" -eq 11 ]
	[ "$(known mteb PairClassification)" -eq 3 ]
	[ "$(known mteb Reranking)" -eq 4 ]
	[ "$(known mteb Retrieval)" -eq 26 ] # 14 sets and the 12 parts of CQADupstack
	[ "$(known mteb STS)" -eq 10 ]
	[ "$(known mteb Summarization)" -eq 1 ]
	[ "$(known 'mteb(ENG, v2)' '.*')" -eq 41 ]
	[ "$(known mmteb '.*')" -eq 131 ]
	[ "$(known beir '.*')" -eq 26 ]
	[ "$(known finmteb '.*')" -eq 18 ]
	# a benchmark lists its own parts of a set; the name of the set lists all parts
	leaderboard list --registry "$REGISTRY" mteb-v2 | found -x $'STS17\tSTS\tcosine_spearman\t1\teng-Latn\tmteb/sts17-crosslingual-sts'
	leaderboard list --registry "$REGISTRY" sts17 | found -x $'STS17\tSTS\tcosine_spearman\t11\tkor-Hang, ara-Arab, eng-Latn, ...\tmteb/sts17-crosslingual-sts'
	dies "leaderboard: there is no task, type or benchmark 'nothing'; 'leaderboard list' prints the benchmarks" \
		leaderboard list --registry "$REGISTRY" sts17 nothing
}

@test "leaderboard: the registry is what share/python/mteb_tasks.py makes of mteb" {
	python=${MOTES_PYTHON:-python3}
	"$python" -c 'import mteb' 2>err || skip "needs the Python package mteb; MOTES_PYTHON is a Python that has it"
	version=$(sed -n 's/^# Made by .* from mteb \([0-9.]*\);.*/\1/p' "$REGISTRY")
	[ "$("$python" -c 'import mteb; print(mteb.__version__)')" = "$version" ] || skip "the registry is of mteb $version"
	HF_HUB_OFFLINE=1 "$python" "$ROOT/share/python/mteb_tasks.py" registry 2>err | cmp - "$REGISTRY"
}

@test "leaderboard plan: the folder's name decides which data set it is" {
	files d/sts/sick_r/test.tsv d/STS17/en-en/test.jsonl.gz d/classification/banking77/{train,test}.csv.zst \
		d/classification/amazon_counterfactual_en/{train,test}.jsonl d/arxiv-clustering-p2p/test.jsonl \
		d/MSMARCO/{corpus,queries}.jsonl d/MSMARCO/qrels/dev.tsv d/cqadupstack/android/{corpus,queries}.jsonl \
		d/cqadupstack/android/qrels/test.tsv d/reranking/fiqa2018/test.jsonl d/.hidden/test.jsonl d/notes/readme
	run -0 plan d
	expect() {
		grep -qxF "$1" <<<"$output" || {
			echo "missing: $1"
			return 1
		}
	}
	expect "SICK-R.test := d/sts/sick_r/test.tsv"
	expect "STS17@en-en@test.test := d/STS17/en-en/test.jsonl.gz"
	expect "Banking77Classification.train := d/classification/banking77/train.csv.zst"
	expect "AmazonCounterfactualClassification@en@test.samples := 32"
	expect "AmazonCounterfactualClassification.reports += AmazonCounterfactualClassification@en@test"
	expect "clustering += ArxivClusteringP2P"
	expect "MSMARCO.qrels := d/MSMARCO/qrels/dev.tsv"
	expect "MSMARCO.identical := --ignore-identical-ids"
	expect "retrieval += CQADupstackAndroidRetrieval"
	expect "reranking += FiQA2018Reranking"
	[ "$(grep -c '.type := ' <<<"$output")" -eq 8 ]
	# the first subset of the task
	files e/sts/STS17_ko_ko/test.jsonl
	run -0 plan e
	expect "STS17.reports += STS17@ko-ko@test"
}

@test "leaderboard plan: the variables of a plan, in full; a set's name selects its parts" {
	files d/cqadupstack/android/{corpus,queries}.jsonl d/cqadupstack/android/qrels/test.tsv \
		d/classification/emotion/{train,test}.jsonl d/STS17/en-en/test.jsonl d/STS17/en-de/test.jsonl d/sts/STS12/train.tsv
	cp -r "$MODEL" model
	echo '{"prompts": {"search_query": "q: ", "classification": "c: "}}' >model/config_sentence_transformers.json
	revision=$(leaderboard model -m model | jq -r .revision)
	run -0 leaderboard plan -m model --registry "$REGISTRY" d
	diff <(echo "$output") - <<-END
		# by leaderboard plan
		name := model
		revision := $revision

		retrieval += CQADupstackAndroidRetrieval
		CQADupstackAndroidRetrieval.task := CQADupstackAndroidRetrieval
		CQADupstackAndroidRetrieval.reports += CQADupstackAndroidRetrieval
		CQADupstackAndroidRetrieval.part := default@test
		CQADupstackAndroidRetrieval.type := Retrieval
		CQADupstackAndroidRetrieval.query := --task search_query
		CQADupstackAndroidRetrieval.queries := d/cqadupstack/android/queries.jsonl
		CQADupstackAndroidRetrieval.corpus := d/cqadupstack/android/corpus.jsonl
		CQADupstackAndroidRetrieval.qrels := d/cqadupstack/android/qrels/test.tsv

		classification += EmotionClassification
		EmotionClassification.task := EmotionClassification
		EmotionClassification.reports += EmotionClassification
		EmotionClassification.part := default@test
		EmotionClassification.type := Classification
		EmotionClassification.query := --task classification
		EmotionClassification.document := --task classification
		EmotionClassification.samples := 16
		EmotionClassification.train := d/classification/emotion/train.jsonl
		EmotionClassification.test := d/classification/emotion/test.jsonl

		faulty += STS12
		STS12.fault := \$\$'d/sts/STS12: there is no test.jsonl (.tsv, .csv; .gz, .zst, .xz, .bz2)'

		sts += STS17@en-de@test
		STS17@en-de@test.task := STS17
		STS17.reports += STS17@en-de@test
		STS17@en-de@test.part := en-de@test
		STS17@en-de@test.type := STS
		STS17@en-de@test.query := --task classification
		STS17@en-de@test.document := --task classification
		STS17@en-de@test.test := d/STS17/en-de/test.jsonl

		sts += STS17@en-en@test
		STS17@en-en@test.task := STS17
		STS17.reports += STS17@en-en@test
		STS17@en-en@test.part := en-en@test
		STS17@en-en@test.type := STS
		STS17@en-en@test.query := --task classification
		STS17@en-en@test.document := --task classification
		STS17@en-en@test.test := d/STS17/en-en/test.jsonl
	END
	[ "$(plan d CQADupstackRetrieval | grep '[.]type')" = "CQADupstackAndroidRetrieval.type := Retrieval" ]
}

@test "leaderboard plan: a prompt is the first of mteb's names that the model has, then the registry's" {
	files d/SciFact/{corpus,queries}.jsonl d/SciFact/qrels/test.tsv d/sts/STS12/test.tsv
	cp -r "$MODEL" model
	config=model/config_sentence_transformers.json
	names() {
		jq -n '{prompts: [$ARGS.positional[] | {(.): "text"}] | add}' --args "$@" >$config
		leaderboard plan -m model --registry "$REGISTRY" d | sed -n 's/^\(.*\)[.]\(query\|document\) := --task //p' | tr '\n' ' '
	}
	[ "$(names SciFact-query SciFact Retrieval-query Retrieval query search_query)" = "SciFact-query SciFact " ]
	[ "$(names SciFact Retrieval-query Retrieval query search_query)" = "SciFact SciFact " ]
	[ "$(names Retrieval-query Retrieval query search_query)" = "Retrieval-query Retrieval " ]
	[ "$(names Retrieval query search_query)" = "Retrieval Retrieval " ]
	[ "$(names query search_query)" = "query " ]
	[ "$(names search_query)" = "search_query " ]
	[ "$(names SciFact-document SciFact-query)" = "SciFact-query SciFact-document " ]
	[ "$(names Retrieval-document document search_document)" = "Retrieval-document " ]
	[ "$(names document search_document)" = "document " ]
	[ "$(names search_document)" = "search_document " ]
	[ "$(names STS12 STS classification)" = "STS12 STS12 " ]
	[ "$(names STS classification)" = "STS STS " ]
	[ "$(names classification STS12-query STS-query)" = "classification classification " ]
	[ "$(names STS12-query STS-query STS-document)" = "" ]
	# --task maps a task to an expert; that counts as a name, too
	rm -r model
	upcycle -m "$GOLDEN/bert" --experts search_query,classification --task STS12=search_query \
		--task Retrieval-document=search_query -o model
	[ "$(names search_query classification)" = "STS12 STS12 search_query Retrieval-document " ]
}

@test "leaderboard fields: options of tok for the fields that a file has" {
	echo '{"sent1": "a", "sentence2": "b"}' >x.jsonl
	[ "$(leaderboard fields --type STS x.jsonl)" = "-f sentence1=sent1 -f sentence2" ]
	printf '{"_id": "1", "text": "a"}\n{"_id": "2", "title": "x", "text": "a"}\n' >c.jsonl
	[ "$(leaderboard fields --type corpus c.jsonl)" = "-f document=title+text" ]
	head -n 1 c.jsonl >d.jsonl
	[ "$(leaderboard fields --type corpus d.jsonl)" = "-f text" ]
	[ "$(leaderboard fields --type queries d.jsonl)" = "-f text" ]
	printf 'text,label\na,b\n' >x.csv
	[ "$(leaderboard fields --type Clustering x.csv)" = "-f text" ]
	echo '{"_id": "1", "text": "red", "instruction": "of roses"}' >i.jsonl
	[ "$(leaderboard fields --type queries i.jsonl)" = "-f query=text+instruction" ]
	[ "$(leaderboard fields --type BitextMining x.jsonl)" = "-f sentence1=sent1 -f sentence2" ]
	[ "$(leaderboard fields --type Regression d.jsonl)" = "-f text" ]
}

@test "leaderboard judged: the queries with judgements, whatever the type of their ids" {
	printf '{"_id": 7, "text": "seven"}\n{"_id": "b", "text": "b"}\n{"id": "c", "text": "c"}\n' >q.jsonl
	printf '7\td1\t1\nc\td1\t0\n' >qrels.tsv
	run -0 leaderboard judged qrels.tsv q.jsonl
	[ "$output" = '{"_id":7,"text":"seven"}'$'\n''{"id":"c","text":"c"}' ]
	echo '{"query-id": 7, "corpus-id": 8, "score": 1}' >qrels.jsonl
	[ "$(leaderboard judged qrels.jsonl q.jsonl)" = '{"_id":7,"text":"seven"}' ]
}

@test "leaderboard drawn: keeps the texts that classification samples, all rows and labels; scores are the same" {
	for i in $(seq 60); do
		echo "{\"text\": \"row $i of $((i * 7919 % 101))\", \"label\": \"$((i % 3))\", \"n\": $i}"
	done >train.jsonl
	run -0 --separate-stderr leaderboard drawn -v --samples 2 train.jsonl
	# other texts become a full stop, since an empty text has no tokens for a tokenizer without special tokens
	left=$(grep -vc '"text":"\."' <<<"$output")
	[ "$stderr" = "leaderboard: train.jsonl: $left texts are drawn" ]
	[ "$left" -gt 6 ] && [ "$left" -lt 50 ]
	[ "${#lines[@]}" -eq 60 ]
	diff <(sed 's/"text": "[^"]*", //; s/ //g' train.jsonl) <(sed 's/"text":"[^"]*",//; s/ //g' <<<"$output")
	echo "$output" >drawn.jsonl
	for file in train drawn; do
		tok -m "$MODEL" -f text $file.jsonl | encode -m "$MODEL" -o $file.mts
	done
	mteb-score classification --samples 2 --train train.mts train.mts >whole
	mteb-score classification --samples 2 --train drawn.mts train.mts >few
	cmp whole few
	# more experiments draw further texts
	leaderboard drawn --samples 2 --experiments 12 train.jsonl | tok -m "$MODEL" -f text --format jsonl - | encode -m "$MODEL" -o drawn.mts
	for file in train drawn; do mteb-score classification --samples 2 --experiments 12 --train $file.mts train.mts >$file; done
	cmp train drawn
	printf 'text\tlabel\na\t1\nb\t02\n' >x.tsv
	[ "$(leaderboard drawn x.tsv)" = '{"text":"a","label":"1"}'$'\n''{"text":"b","label":"02"}' ]
}

@test "leaderboard result: a file as mteb's, rounded to 6 decimals; a set of another size gets a warning" {
	run -0 --separate-stderr leaderboard result --registry "$REGISTRY" --dataset STS12 < <(report)
	[ -z "$stderr" ]
	tr -d ' \n' <<<"$output" >flat
	revision=$(sed -n 's/^  STS12: .*revision: \([0-9a-f]*\),.*/\1/p' "$REGISTRY")
	[ ${#revision} -eq 40 ]
	grep -qF '{"dataset_revision":"'"$revision"'","task_name":"STS12","mteb_version":null,"scores":{"test":[{"main_score":0.123457,"cosine_spearman":0.123457,"list":[0.123457,1,0.765432],"none":null,"scores_per_experiment":[{"accuracy":0.123457}],"v_measures":{"Level0":[0.123457,0]},"hf_subset":"default","languages":["eng-Latn"]}]},"evaluation_time":null,"kg_co2_emissions":null,"motes":' flat
	version=$(leaderboard --version | sed -n 's/leaderboard (motes) \([0-9.]*\).*/\1/p')
	[ "$(jq -c .motes <<<"$output")" = \
		"{\"version\":\"$version\",\"task_type\":\"STS\",\"main_score\":\"cosine_spearman\",\"other_size\":false,\"settings\":{\"pairs\":\"3108\"}}" ]
	run -0 --separate-stderr leaderboard result --registry "$REGISTRY" --dataset STS13 < <(report)
	[[ "$stderr" == "leaderboard: warning: STS13: has 3108 pairs, mteb's has 1500: another set of that name" ]]
	[[ "$output" == *'"other_size": true'* ]]
	[[ "$output" == *'"dataset_revision": "local"'* ]]
	report >report.json
	# a list of any length
	jq -c '.scores.list = [range(100000)]' report.json | leaderboard result --registry "$REGISTRY" --dataset mine | jq -c '.scores.test[0].list' |
		cmp - <(jq -nc '[range(100000)]')
	run -0 leaderboard result --registry "$REGISTRY" --dataset mine report.json
	[[ "$output" == *'"task_type": "STS"'* ]]
}

# bats test_tags=plain
@test "leaderboard: in a way of scoring that begins with a template the revision depends on the template's text" {
	[[ $BUILD != *-sanitize ]] || skip "for the plain build"
	mkdir -p "$T/usr/bin" "$T/usr/share/motes"
	files d/STS12/test.tsv
	cp "$BUILD/bin/leaderboard" "$T/usr/bin"
	cp "$ROOT/share/known-models.tsv" "$T/usr/share/motes"
	templates() { printf 'mine: "%s"\nother: "%s"\n' "$@" >"$T/usr/share/motes/templates.yaml"; }
	revision() { "$T/usr/bin/leaderboard" model -m "$GOLDEN/bert" ${1:+--way "$1"} | jq -r .revision; }
	base() { "$T/usr/bin/leaderboard" plan -m "$GOLDEN/bert" -r "$ROOT/share/tasks.yaml" --way "$1" d | sed -n 's/^base_revision := //p'; }
	all() { for way in mine mine+sum other sum,alpha-auto ""; do revision "$way"; done; base mine+sum; base sum; }
	templates 'a {text}' 'b {text}'
	all >one
	templates 'a {text}' 'c {text}'
	all >two
	templates 'A {text}' 'c {text}'
	all >three
	[ "$(paste one two | awk '{ printf "%s", $1 == $2 }')" = 1101111 ]
	[ "$(paste two three | awk '{ printf "%s", $1 == $2 }')" = 0011101 ]
	[ "$(sort -u one | wc -l)" -eq 5 ] # combined streams depend on the template only
	[ "$(sed -n 6p one)" = "$(sed -n 1p one)" ]
	[ "$(sed -n 7p one)" = "$(sed -n 5p one)" ]
}

@test "leaderboard model: the revision depends on every byte that decides an embedding, and on no other" {
	revision() {
		leaderboard model -m "$1" | sed -n 's/.*"revision": "\([0-9a-f]*\)".*/\1/p'
	}
	cp -r "$MODEL" copy
	first=$(revision copy)
	[ "${#first}" -eq 32 ]
	[ "$(leaderboard model -m copy --name me/it)" = "$(leaderboard model -m "$MODEL" --name me/it)" ]
	# caches of weights have no effect
	echo word | tok -m copy | encode -m copy --weights int8 --weights-cache >/dev/null
	echo word | tok -m copy | encode -m copy --precision int8 --weights-cache >/dev/null
	[ -s copy/model.int8.safetensors ]
	[ -s copy/model.precision-int8.safetensors ]
	[ "$(revision copy)" = "$first" ]
	rm copy/model.{,precision-}int8.safetensors
	# the name of a file counts
	echo '{}' >copy/aa.json
	named=$(revision copy)
	mv copy/aa.json copy/ab.json
	[ "$(revision copy)" != "$named" ]
	rm copy/ab.json
	# the transformer in a subfolder, as in older models, and a Dense module with weights
	mkdir -p copy/{0_Transformer,2_Dense}
	mv copy/{config.json,model.safetensors,tokenizer.json,tokenizer_config.json,vocab.txt} copy/0_Transformer
	cp copy/0_Transformer/model.safetensors copy/2_Dense
	echo '{"in_features": 96, "out_features": 96}' >copy/2_Dense/config.json
	printf '[{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
		{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
		{"path": "2_Dense", "type": "sentence_transformers.models.Dense"},
		{"path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}]' >copy/modules.json
	declare -A seen=(["$first"]=1)
	fresh() {
		now=$(revision copy)
		[ -n "$now" ] && [ -z "${seen[$now]:-}" ] || {
			echo "not seen: $1"
			return 1
		}
		seen[$now]=1
	}
	fresh layout
	for file in merges.txt spiece.model sentencepiece.bpe.model chat_template.jinja chat_template.json; do
		echo "$file" >"copy/0_Transformer/$file"
		fresh "$file"
		echo >>"copy/0_Transformer/$file"
		fresh "$file, changed"
	done
	for file in modules.json config_sentence_transformers.json sentence_bert_config.json 1_Pooling/config.json \
		2_Dense/config.json 0_Transformer/{config.json,tokenizer.json,tokenizer_config.json,vocab.txt}; do
		echo >>"copy/$file"
		fresh "$file"
	done
	# one bit of the first, of an inner and of the last weight
	for file in 0_Transformer/model.safetensors 2_Dense/model.safetensors; do
		size=$(stat -c %s "copy/$file")
		head=$(od -An -tu8 -N8 "copy/$file")
		for at in $((head + 8)) $((size / 2 + 1)) $((size - 1)); do
			byte=$(od -An -tu1 -j "$at" -N1 "copy/$file")
			# shellcheck disable=SC2059 # the format is the byte
			printf "\\x$(printf %x $((byte ^ 1)))" | dd of="copy/$file" bs=1 seek="$at" conv=notrunc status=none
			fresh "$file at $at"
		done
	done
	mv copy/2_Dense/config.json copy/2_Dense/other.json
	fresh "another name"
	mv copy/2_Dense/other.json copy/2_Dense/config.json
	[ "$(revision copy)" != "$now" ]
	now=$(revision copy)
	mkdir copy/onnx
	echo more | tee -a copy/README.md >copy/onnx/config.json
	[ "$(revision copy)" = "$now" ]
	ln -s nowhere copy/lost.json
	dies "leaderboard: copy/lost.json: cannot be read: " leaderboard model -m copy
}

@test "leaderboard model, plan: adapters and pilots change the revision with each of their bytes" {
	files d/STS12/test.jsonl
	mkdir gates gates/notes
	cp -r "$GOLDEN/adapter/plain" gates/one
	cp -r "$GOLDEN/adapter/mixed" gates/two
	echo library >pilots.mts
	routed() { leaderboard "$1" -m "$MODEL" --gates gates --pilots pilots.mts "${@:2}"; }
	base=$(leaderboard model -m "$MODEL")
	[ "$(routed model | jq -r .name)" = "$(jq -r .name <<<"$base")+gates" ]
	[ "$(routed model --name me/it | jq -r .name)" = me/it ]
	adapters=$(for gate in one two; do
		file=gates/$gate/adapter_model.safetensors
		head -c $(($(od -An -tu8 -N8 $file) + 8)) $file | tail -c +9 |
			jq 'del(.__metadata__) | [.[].shape | reduce .[] as $d (1; . * $d)] | add'
	done | paste -s -d+)
	[ "$(routed model | jq .n_parameters)" -eq $(($(jq .n_parameters <<<"$base") + adapters)) ]
	routed plan --registry "$REGISTRY" d | sed -n 2,5p | diff - <(
		routed model | jq -r '"name := \(.name)\nrevision := \(.revision)"'
		jq -r '"base := \(.name)\nbase_revision := \(.revision)"' <<<"$base"
	)
	was=$(routed model)
	cp pilots.mts gates
	touch gates/notes/a.json
	mv pilots.mts others.mts
	[ "$(leaderboard model -m "$MODEL" --gates gates --pilots others.mts)" = "$was" ]
	mv others.mts pilots.mts
	was=$(routed plan --registry "$REGISTRY" d | grep '^revision')
	for change in 'echo more >>pilots.mts' 'echo >>gates/one/adapter_config.json' 'mv gates/two gates/three' \
		'printf x >>gates/three/adapter_model.safetensors'; do
		eval "$change"
		now=$(routed plan --registry "$REGISTRY" d | grep '^revision')
		[ "$now" != "$was" ]
		was=$now
	done
	run -2 leaderboard model -m "$MODEL" --gates gates
	[[ $output == *"--gates needs --pilots"* ]]
	run -2 leaderboard plan -m "$MODEL" --pilots pilots.mts --registry "$REGISTRY" d
	[[ $output == *"--pilots needs --gates"* ]]
}

@test "leaderboard model: the name is that of the folder or of the Hugging Face cache; all weights are counted" {
	mkdir -p models--me--small/snapshots
	cp -r "$MODEL" models--me--small/snapshots/abc
	echo '{"prompts": {"query": "find: "}}' >models--me--small/snapshots/abc/config_sentence_transformers.json
	run -0 leaderboard model -m models--me--small/snapshots/abc
	diff <(jq -c 'del(.revision, .n_parameters)' <<<"$output") - <<-END
		{"name":"me/small","similarity_fn_name":"cosine","use_instructions":true,"framework":[],"languages":null,"release_date":null,"license":null,"open_weights":null,"memory_usage_mb":null,"max_tokens":null,"embed_dim":null,"public_training_code":null,"public_training_data":null,"reference":null,"training_datasets":null,"adapted_from":null,"superseded_by":null}
	END
	[ "$(leaderboard model -m "$MODEL" | jq .use_instructions)" = false ]
	count() { # FILE: its number of weights
		head -c $(($(od -An -tu8 -N8 "$1") + 8)) "$1" | tail -c +9 | jq 'del(.__metadata__) | [.[].shape | reduce .[] as $d (1; . * $d)] | add'
	}
	count=$(count "$MODEL/model.safetensors")
	[[ "$output" == *"\"n_parameters\": $((count + $(count "$MODEL/2_Dense/model.safetensors"))),"* ]]
	cp -r "$MODEL" dense
	cp "$MODEL/model.safetensors" dense/2_Dense
	[[ "$(leaderboard model -m dense)" == *"\"n_parameters\": $((2 * count)),"* ]]
}

@test "leaderboard table: means by type and over all sets; parts of a set share a line; a missing set leaves its mean empty" {
	mkdir -p r/one/1 r/two/1
	put() {
		echo "{\"task_name\": \"$3\", \"scores\": {\"test\": [{\"main_score\": $4}]}}" >"r/$1/1/$3.json"
	}
	put one 1 STS12 0.5
	put one 1 STS13 0.7
	put two 1 STS12 0.25
	put one 1 SciFact 0.125
	put two 1 SciFact -0.001
	put two 1 CQADupstackAndroidRetrieval 0.5
	put two 1 CQADupstackGisRetrieval 0.25
	mv r/one/1/STS12.json r/one/1/zz.json # the file's name has no effect
	run -0 leaderboard table --protocol v1 --registry "$REGISTRY" r/one/1 r/two/1
	[ "${lines[0]}" = $'type\ttask\tmetric\tone\ttwo' ]
	[ "${lines[1]}" = $'Retrieval\tCQADupstackRetrieval\tndcg_at_10\t\t37.50' ]
	[ "${lines[2]}" = $'Retrieval\tSciFact\tndcg_at_10\t12.50\t-0.10' ]
	[ "${lines[3]}" = $'Retrieval\tmean of 2\t\t\t18.70' ]
	[ "${lines[4]}" = $'STS\tSTS12\tcosine_spearman\t50.00\t25.00' ]
	[ "${lines[6]}" = $'STS\tmean of 2\t\t60.00\t' ]
	[ "${lines[7]}" = $'all\tmean of 4\t\t\t' ]
	run -0 leaderboard table --protocol v1 --registry "$REGISTRY" --format markdown r/one/1 r/two/1
	[ "${lines[0]}" = '| type | data set | metric | one | two |' ]
	[ "${lines[1]}" = '|---|---|---|---:|---:|' ]
	[ "${lines[2]}" = '| Retrieval | CQADupstackRetrieval | ndcg_at_10 | | 37.50 \* |' ]
	run -0 leaderboard table --protocol v1 --registry "$REGISTRY" --format markdown r/two/1
	[ "${lines[2]}" = '| Retrieval | CQADupstackRetrieval | ndcg_at_10 | 37.50 \* |' ]
}

@test "leaderboard table: the HTML page has bars of scores" {
	mkdir -p r/one/1 r/two/1
	echo '{"name": "<b>&\"", "revision": "1"}' >r/one/1/model_meta.json
	echo '{"task_name": "STS12", "scores": {"test": [{"main_score": 0.5}]}}' >r/one/1/STS12.json
	echo '{"task_name": "STS13", "scores": {"test": [{"main_score": 1}]}, "motes": {"other_size": true}}' >r/two/1/STS13.json
	echo '{"task_name": "mine", "scores": {"test": [{"main_score": -0.25}]}, "motes": {"task_type": "Own"}}' >r/two/1/mine.json
	run -0 leaderboard table --registry "$REGISTRY" --format html r/one/1 r/two/1
	bar() {
		echo "<div class=\"bar\" title=\"$1\"><div><i style=\"width:$3%;background:var(--c$2)\"></i></div><span>$4</span></div>"
	}
	none() { echo "<div class=\"bar\" title=\"$1\"><span></span><span>&ndash;</span></div>"; }
	one='&lt;b&gt;&amp;&quot;'
	diff <(sed '1,/^<h1>/d; s/ [0-9]\{4\}-[0-9-]*/ DAY/; s/>[0-9]\{4\}-[0-9-]*</>DAY</' <<<"$output" | grep -v '^<p>') - <<-END
		<table>
		<tr><th>model</th><th>revision</th><th>data sets</th><th>files of</th></tr>
		<tr><td><i style="background:var(--c0)"></i>$one</td><td>1</td><td>1</td><td>DAY</td></tr>
		<tr><td><i style="background:var(--c1)"></i>two</td><td>1</td><td>2</td><td>DAY</td></tr>
		</table>
		<h2>Own</h2>
		<div class="set"><div>mine</div><div>
		$(none "$one")
		$(bar two 1 0.00 -25.00)
		</div></div>
		<h2>STS</h2>
		<div class="set"><div>STS12<small>cosine_spearman</small></div><div>
		$(bar "$one" 0 50.00 50.00)
		$(none two)
		</div></div>
		<div class="set"><div>STS13<small>cosine_spearman</small></div><div>
		$(none "$one")
		$(bar two 1 100.00 '100.00*')
		</div></div>
		<div class="set"><b>mean of 2</b><div>
		$(none "$one")
		$(none two)
		</div></div>
		<h2>All</h2>
		<div class="set"><b>mean of 3</b><div>
		$(none "$one")
		$(none two)
		</div></div>
		<div class="set"><b>mean of 2 types</b><div>
		$(none "$one")
		$(none two)
		</div></div>
		<div class="set"><b>rank (Borda)</b><div>
		<small>&lt;b&gt;&amp;&quot; 2 &middot; two 1</small>
		</div></div>
		</body>
		</html>
	END
	[[ $output == *"<p><small>Scores times 100, "*"* another set than mteb's of that name, by its size; or not all of its parts."* ]]
}

# scored MODEL TASK TYPE METRIC SCORE SETTINGS: writes a result to r/MODEL/1
scored() {
	mkdir -p "r/$1/1"
	printf '{"task_name": "%s", "scores": {"test": [{"main_score": %s}]}, "motes": {"task_type": "%s", "main_score": "%s", "settings": {%s}}}' \
		"$2" "$5" "$3" "$4" "$6" >"r/$1/1/$2.json"
}

@test "leaderboard table: the HTML page has sizes, settings and dates" {
	scored one mine Retrieval ndcg_at_10 0.5 '"protocol": "v1", "queries": "7", "ties": "id", "documents": "9", "main": "ndcg_at_10"'
	scored two mine Retrieval ndcg_at_10 0.4 '"protocol": "v1", "queries": "8", "ties": "id", "documents": "9"'
	scored two other Retrieval ndcg_at_10 0.4 '"protocol": "v2", "queries": "8<"'
	touch -d '2026-01-02 12:00' r/two/1/mine.json
	touch -d '2026-03-04 12:00' r/two/1/other.json r/one/1/mine.json
	leaderboard table --registry "$REGISTRY" --format html r/one/1 r/two/1 >page
	grep -F '<small>7 queries, 9 documents</small><small>or 8 queries, 9 documents</small>' page
	grep -F '<small>8&lt; queries</small>' page
	# equal settings once, different ones with their set and model
	grep -A2 '<summary>settings' page | sed 1d | diff - <(printf '%s\n' 'protocol v1, ties id<br>' 'other, two: protocol v2</details>')
	grep -F '<td>2026-03-04</td>' page
	grep -F '<td>2026-01-02 to 2026-03-04</td>' page
}

@test "leaderboard table: bars for the six models with most sets and best means; a single set has no mean" {
	for model in 1 2 3 4 5 6 7 8; do
		scored "m_$model" mine STS cosine_spearman "0.$model" ''
		scored "m_$model" other STS cosine_spearman "0.$model" ''
	done
	rm r/m_8/1/other.json
	leaderboard table --registry "$REGISTRY" --format html r/*/1 >page
	[ "$(grep -c 'class="bar" title="m_[2-7]"' page)" -eq 24 ]
	run ! grep 'title="m_[18]"' page
	[ "$(grep -o 'var(--c[0-9])"></i>m_.' page | tr -dc '0-9\n' | paste -sd' ')" = "02 13 24 35 46 57" ]
	grep -F '<small>m_1 10.00 &middot; m_8 80.00</small>' page
	for format in tsv markdown html; do
		run -0 leaderboard table --registry "$REGISTRY" --format $format r/m_8/1
		[[ $output != *"mean of"* ]]
	done
}

# interval TASK: the score and the ends of its interval on the page
interval() { sed -n "/<div>$1</,/^<.div>/s/.*<span>\([-0-9.]*\) <small>\([-0-9.]*\) to \([-0-9.]*\)<.*/\1 \2 \3/p" page; }

# Of two systems, of which one has the same score in every draw, the interval of the difference is that of the other's score.
@test "leaderboard table: intervals equal compare's, of means and of pairs; a table of another run gives none" {
	cp "$GOLDEN/compare_queries_a.tsv" means.tsv
	metric=$(head -n 1 means.tsv | cut -f2)
	score=$(awk -F'\t' 'NR > 1 { sum += $2 } END { printf "%.6f", sum / (NR - 1) }' means.tsv)
	scored one mine Retrieval "$metric" "$score" ''
	cp means.tsv r/one/1/mine.tsv
	awk -F'\t' -v OFS='\t' 'NR > 1 { $2 = 0 } { print $1, $2 }' means.tsv >zero.tsv
	cut -f1,2 means.tsv >own.tsv
	ends() { leaderboard compare -q --from-per-query --resamples 1000 "$1" "$2" | awk -F'\t' -v name="$3" -v plus="$4" \
		'$1 == name { printf "%.2f %.2f %.2f\n", 100 * $3, 100 * ($8 + plus), 100 * ($9 + plus) }'; }
	# a similarity that equals the gold score, or the label, has correlation or precision 1 in every draw
	for kind in gold label; do
		cut -f1,2,3 "$GOLDEN/compare_${kind}_a.tsv" >$kind.tsv
		[ "$(head -n 1 $kind.tsv | cut -f2)" = $kind ]
		awk -F'\t' -v OFS='\t' 'NR > 1 { $3 = $2 } { print }' $kind.tsv >$kind-same.tsv
	done
	measure=$(head -n 1 gold.tsv | cut -f3)
	other=$(head -n 1 label.tsv | cut -f3)
	score_of() { leaderboard compare -q --from-per-query --resamples 100 "$1" "$2" | awk -F'\t' -v name="$3" '$1 == name { printf "%.6f", $3 }'; }
	scored one pairs STS cosine_spearman "$(score_of gold-same.tsv gold.tsv "${measure}_spearman")" ''
	cp gold.tsv r/one/1/pairs.tsv
	scored one labels PairClassification max_ap "$(score_of label-same.tsv label.tsv "${other}_ap")" ''
	cp label.tsv r/one/1/labels.tsv
	leaderboard table --registry "$REGISTRY" --format html r/one/1 >page
	[ "$(interval mine)" = "$(ends zero.tsv own.tsv "$metric" 0)" ]
	[ "$(interval pairs)" = "$(ends gold-same.tsv gold.tsv "${measure}_spearman" 1)" ]
	[ "$(interval labels)" = "$(ends label-same.tsv label.tsv "${other}_ap" 1)" ]
	[ "$(grep -c '<u style' page)" -eq 3 ]
	# a table with another score than the result; one without queries
	scored one mine Retrieval "$metric" 0.123 ''
	leaderboard table --registry "$REGISTRY" --format html r/one/1 >page
	[ "$(grep -c '<u style' page)" -eq 2 ]
	echo broken >r/one/1/mine.tsv
	run -1 leaderboard table --registry "$REGISTRY" --format html r/one/1
	[[ $output == *"r/one/1/mine.tsv"* ]]
	# the other formats do not read the table
	leaderboard table --registry "$REGISTRY" r/one/1
}

@test "leaderboard compare: means, Welch's t, paired t and bootstrap are scipy's and numpy's" {
	make_results "$T/A/r" "$T/B/r"
	run -0 --separate-stderr leaderboard compare "$T/A/r" "$T/B/r"
	[ -z "$stderr" ]
	[ "${lines[0]}" = "B - A; 95 % intervals of 10000 resamples, seed 42" ]
	[ "${lines[2]}" = "$(awk -F'\t' 'NR == 1 { printf "%s\t%s\t%.2f\t%.2f\t%+.2f", $1, $2, $3, $4, $4 - $3 }' \
		"$GOLDEN/compare.tsv")" ]
	# as many digits as are printed: three of p, two of scores
	diff <(tail -n 5 <<<"$output") "$GOLDEN/compare_expected.tsv"
}

@test "leaderboard compare: another seed draws other intervals; Markdown; three models" {
	make_results "$T/A/r" "$T/B/r"
	seven=$(leaderboard compare --seed 7 --resamples 500 "$T/A/r" "$T/B/r" | tail -n 1)
	[ "$seven" != "$(tail -n 1 "$GOLDEN/compare_expected.tsv")" ]
	[ "$(cut -f 1-10 <<<"$seven")" = "$(tail -n 1 "$GOLDEN/compare_expected.tsv" | cut -f 1-10)" ]
	run -0 leaderboard compare --format markdown "$T/A/r" "$T/B/r" "$T/A/r"
	[ "$(grep -c '^| type' <<<"$output")" -eq 4 ]
	grep -q '^A (.*/A/r) - A (.*/A/r); ' <<<"$output" # a model and itself
	grep -q '^| all | 40 | 57.34 | 57.34 | +0.00 | 0.000 | 78.0 | 0.5 |  |  | +0.00 | +0.00 |$' <<<"$output"
}

@test "leaderboard compare: two runs, query by query: errors, p, Holm's correction and bootstrap are scipy's and numpy's" {
	cd "$GOLDEN/compare_runs"
	run -0 --separate-stderr leaderboard compare --resamples 1000 A B
	[[ $stderr == "leaderboard: warning: only 'q0' is in both A/results/the A/1/one.tsv and B/results/the B/1/one.tsv: "* ]]
	# after the tables over sets: one line for each set, one for its type
	sed -n '/^query by query$/,$p' <<<"$output" >"$T/got"
	sed -n 2p "$T/got" | diff - <(printf 'type\tdata set\tqueries\tmodel-A\tmodel-B\tdifference\tstandard_error\tp\tholm_p\tlow\thigh\n')
	sed -n 10p "$T/got" | diff - <(printf 'type\tsets\tqueries\tmodel-A\tmodel-B\tdifference\tstandard_error\tp\tlow\thigh\n')
	same() { # ROWS FILE PS COUNT: scores as in the file to two decimals, the columns PS to three digits
		sed -n "$1p" "$T/got" | paste - "$2" | awk -F'\t' -v ps=" $3 " 'BEGIN { OFS = FS } {
				n = NF / 2
				for (i = 1; i <= n; i++) {
					most = ps ~ " " i " " ? 0.006 * $(n + i) : 0.00501
					if (i < 4 || $i == "" || $(n + i) == "" ? $i != $(n + i) : ($i - $(n + i)) ^ 2 > most ^ 2) { print; bad = 1 }
				}
			} END { exit bad || NR != '"$4"' }'
	}
	same 3,8 sets.tsv '8 9' 6
	same 11,15 types.tsv 8 5
	# a run and itself: no difference, p at most 1
	leaderboard compare -q --resamples 100 A A | sed -n '/^query by query$/,$p' | sed -n 3,8p | cut -f6-11 | uniq |
		diff - <(printf '%s\t%s\t%s\t%s\t%s\t%s\n' +0.00 '' '' '' '' '' +0.00 0.00 1 1 +0.00 +0.00)
	# folders by their own names; each set has draws of its own, by the seed
	leaderboard compare -q --resamples 1000 "A/results/the A/1" B | diff - <(echo "$output")
	leaderboard compare -q --resamples 1000 --seed 7 A B | sed -n '/^query by query$/,$p' | sed 's/\t[^\t]*\t[^\t]*$//' | sed -n 5,6p |
		diff - <(sed -n 5,6p "$T/got" | sed 's/\t[^\t]*\t[^\t]*$//')
	leaderboard compare -q --resamples 1000 --seed 7 A B | sed -n '/^query by query$/,$p' | cut -f10- | sed -n 6p | run ! diff - <(cut -f10- "$T/got" | sed -n 6p)
	for set in few:44 many:45; do
		leaderboard compare -q --resamples 1000 --seed ${set#*:} --from-per-query */results/*/1/${set%:*}.tsv >"$T/one"
		[ "$(awk -F'\t' '$1 == "ndcg_at_10" { printf "%+.2f\t%+.2f", 100 * $8, 100 * $9 }' "$T/one")" = "$(awk -F'\t' -v set="${set%:*}" '$2 == set { print $10 "\t" $11 }' "$T/got")" ]
	done
	[ "$(leaderboard compare -q --format markdown A B | grep -c '^|---|---|---:|\|^|---|---|---|')" -ge 3 ]
}

@test "leaderboard compare: runs without tables of queries, with tables of another score, or of several models" {
	cp -r "$GOLDEN"/compare_runs/{A,B} .
	b="B/results/the B/1"
	# a set without a table has no line
	rm "$b/many.tsv"
	leaderboard compare -q --resamples 100 A B | sed -n '/^query by query$/,$p' >got
	cut -f2 got | sed -n 3,7p | diff - <(printf '%s\n' one same few gold more)
	# nor has one whose table gives another score than the result
	sed -i 's/"main_score": 0.5/"main_score": 0.4/' "$b/few.json"
	run -0 --separate-stderr leaderboard compare --resamples 100 A B
	[[ $stderr == *"leaderboard: warning: $b/few.tsv: is left out: its queries do not give the ndcg_at_10 of $b/few.json"* ]]
	[[ $(sed -n '/^query by query$/,$p' <<<"$output") != *few* ]]
	rm "$b"/*.tsv
	leaderboard compare -q A B >got
	run ! grep 'query by query' got
	# other pairs under the same ids
	cp -r "$GOLDEN"/compare_runs/B/* B
	awk -F'\t' -v OFS='\t' 'NR > 1 { $2 += 1 } { print }' "$b/gold.tsv" >higher && mv higher "$b/gold.tsv"
	run -1 --separate-stderr leaderboard compare A B
	[[ $stderr == *"leaderboard: $b/gold.tsv: the gold of 'q0' is "*", in A/results/the A/1/gold.tsv it is "* ]]
	# the model is named if there are two
	cp -r "A/results/the A" A/results/more
	dies "leaderboard: A: has results of 2 models; name the folder of one: A/results/more/1 A/results/the A/1" leaderboard compare B A
	mkdir -p none/deep
	dies "leaderboard: none: there are no results in it (TASK.json)" leaderboard compare A/results/more none
	leaderboard table --registry "$REGISTRY" B | grep -c many | grep -x 1
}

@test "leaderboard compare --from-per-query: means, paired t, randomisation and bootstrap are scipy's and numpy's" {
	run -0 --separate-stderr leaderboard compare --from-per-query "$GOLDEN"/compare_queries_{a,b}.tsv
	[ "${lines[0]}" = "compare_queries_b - compare_queries_a; 13 queries; 95 % intervals of 10000 resamples, seed 42" ]
	[ "${lines[1]}" = "$(echo metric compare_queries_a compare_queries_b difference paired_t paired_p random_p low high \
		standard_error | tr ' ' '\t')" ]
	[[ ${stderr_lines[0]} == *"2 queries are left out: only one of "*" has them; first: 'alone'" ]]
	[[ ${stderr_lines[1]} == *"2 metrics are left out: only one of "*" has them; first: 'only_a'" ]]
	tail -n +3 <<<"$output" >"$T/out"
	diff <(cut -f 1 "$T/out") <(cut -f 1 "$GOLDEN/compare_queries_expected.tsv")
	# nine digits, also of small numbers
	paste "$T/out" "$GOLDEN/compare_queries_expected.tsv" | awk -F'\t' '{
		for (i = 2; i <= 10; i++) { d = $i - $(i + 10); most = 1e-9 * ($(i + 10) < 0 ? -$(i + 10) : $(i + 10)) + 1e-300
			if (($i == "") != ($(i + 10) == "") || d > most || d < -most) { print $1, $i, "expected", $(i + 10); bad = 1 } } }
		END { exit bad || NR != 5 }'
}

@test "leaderboard compare --from-per-query: correlations and average precisions of pairs are scipy's and scikit-learn's" {
	for kind in gold label; do
		run -0 --separate-stderr leaderboard compare --from-per-query --resamples 1000 "$GOLDEN"/compare_${kind}_{a,b}.tsv
		[ -z "$stderr" ]
		tail -n +3 <<<"$output" | cut -f 1-4,8-10 >"$T/out"
		[ -z "$(tail -n +3 <<<"$output" | cut -f 5-7 | tr -d '\t\n')" ]
		paste "$T/out" "$GOLDEN/compare_${kind}_expected.tsv" | awk -F'\t' '{
			for (i = 2; i <= 7; i++) { d = $i - $(i + 7); if (d > 1e-11 || d < -1e-11) { print $1, $i, "expected", $(i + 7); bad = 1 } }
			bad = bad || $1 != $8 } END { exit bad || NR < 2 }'
	done
	# with one thread and two
	[ "$output" = "$(OMP_NUM_THREADS=1 leaderboard compare --from-per-query --resamples 1000 "$GOLDEN"/compare_label_{a,b}.tsv)" ]
}

@test "leaderboard compare --from-per-query: sampled signs agree with all signs, for every seed; --resamples decides which are tried" {
	p() { leaderboard compare -q --from-per-query "$@" "$GOLDEN"/compare_queries_{a,b}.tsv | awk -F'\t' '$1 == "plain" { print $7 }'; }
	[ "$(p --resamples 8192 --seed 1)" = 0.030029296875 ] # 2^13 assignments of signs
	drawn=$(p --resamples 8191 --seed 1)
	[ "$drawn" = "$(p --resamples 8191 --seed 1)" ]
	[ "$drawn" != "$(p --resamples 8191 --seed 2)" ]
	for seed in 1 2 3 4; do # within four standard errors
		p --resamples 8191 --seed $seed | awk '{ exit !($1 > 0.0225 && $1 < 0.0376) }'
	done
	# 150 equal differences, more than a word has bits: no sampled assignment is as extreme
	seq 150 | awk 'BEGIN { print "id\tm\tn" } { print $1 "\t0.5\t" $1 % 2 }' >"$T/a.tsv"
	seq 150 | awk 'BEGIN { print "id\tm\tn" } { print $1 "\t" 0.5 + 0.001 * (1 + $1 % 3) "\t" ($1 + 1) % 2 }' >"$T/b.tsv"
	run -0 leaderboard compare --from-per-query --resamples 999 "$T/a.tsv" "$T/b.tsv"
	[ "$(cut -f 7 <<<"${lines[2]}")" = 0.001 ]
	[ "$(cut -f 7 <<<"${lines[3]}")" = 1 ] # as many up as down: no assignment is closer to 0
}

@test "leaderboard compare --from-per-query: reads mteb-score's files; prints names; Markdown; three systems" {
	cd "$T"
	for k in 1 2; do
		mkdir $k
		awk -v k=$k '{ $5 = k == 1 ? $5 : $5 * $5 + NR % 5; print }' "$GOLDEN/per_query_run.trec" >$k.trec
		mteb-score -q retrieval --protocol v1 --qrels "$GOLDEN/per_query_qrels.tsv" --from-run $k.trec --per-query $k/base.tsv >$k.out
	done
	run -0 --separate-stderr leaderboard compare --from-per-query 1/base.tsv 2/base.tsv
	[ -z "$stderr" ]
	[ "${#lines[@]}" -eq 37 ]
	[[ ${lines[0]} == "2/base.tsv - 1/base.tsv; 10 queries; "* ]]
	for k in 1 2; do
		awk -F'\t' -v k=$k 'NR == FNR { if (/^[a-z]*_at_/) want[$1] = $2; next }
			FNR > 2 { d = $(k + 1) - want[$1]; if (d > 5.001e-6 || d < -5.001e-6) { print; exit 1 } }' $k.out - <<<"$output"
	done
	gzip -c 2/base.tsv >mote.tsv.gz
	run -0 leaderboard compare --from-per-query --format markdown 1/base.tsv mote.tsv.gz 1/base.tsv
	[ "$(grep -c '^| metric |' <<<"$output")" -eq 2 ]
	[[ ${lines[0]} == "mote - 1/base.tsv; 10 queries; "* ]]
	[ "${lines[2]}" = "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|" ]
	grep -q '^| ndcg_at_10 | 0.3899 | 0.3899 | +0.0000 |  |  | 1 | +0.0000 | +0.0000 | 0.0000 |$' <<<"$output" # a system and itself
	# signs that would end a cell
	cp 1/base.tsv $'one\ttwo.tsv'
	cp 1/base.tsv 'a|b.tsv'
	run -0 leaderboard compare --from-per-query $'one\ttwo.tsv' 2/base.tsv
	[[ ${lines[0]} == "base - one two; "* && ${lines[1]} == $'metric\tone two\tbase\tdifference\t'* ]]
	run -0 leaderboard compare --from-per-query --format markdown 'a|b.tsv' 2/base.tsv
	[[ ${lines[1]} == '| metric | a\|b | base | difference |'* ]]
}

@test "leaderboard table: tabs, line breaks and bars of a model's name do not end a cell" {
	mkdir m
	printf '{"name": "a|b\\tc\\nd", "revision": "r"}' >m/model_meta.json
	echo '{"task_name": "STS12", "scores": {"test": [{"main_score": 0.5}]}}' >m/STS12.json
	run -0 leaderboard table --registry "$REGISTRY" m
	[ "${lines[0]}" = $'type\ttask\tmetric\ta|b c d' ]
	run -0 leaderboard table --registry "$REGISTRY" --format markdown m
	[ "${lines[0]}" = '| type | data set | metric | a\|b c d |' ]
}

@test "leaderboard compare --from-per-query: where a draw of pairs has no value, a warning says why the interval is missing" {
	seq 100 | awk 'BEGIN { print "id\tlabel\tcosine" } { print $1 "\t" ($1 < 3) "\t" 1 / $1 }' >one.tsv
	awk 'NR > 1 { $3 = ($1 % 7) / 10 } { print $1 "\t" $2 "\t" $3 }' one.tsv >two.tsv
	run -0 --separate-stderr leaderboard compare --from-per-query one.tsv two.tsv
	[[ $stderr == "leaderboard: warning: cosine_ap: there is no interval and no error: a draw of the bootstrap has only equal values, or no positive pair" ]]
	[[ ${lines[2]} == $'cosine_ap\t1\t'*$'\t\t\t' ]]
}

@test "leaderboard compare --from-per-query: one query, missing, repeated and non-numeric values, pairs and foreign files are refused" {
	cd "$T"
	table() { printf "${2//,/\\t}\n" >"$1"; }
	compare() { run "-$1" --separate-stderr leaderboard compare --from-per-query a.tsv b.tsv; }
	table a.tsv 'id,m\nx,0.5\ny,1'
	table b.tsv 'id,m\nx,0.25'
	compare 0
	[ "${lines[2]}" = $'m\t0.5\t0.25\t-0.25\t\t\t1\t\t\t' ] # without a spread there is no test
	[ "${stderr_lines[0]}" = "leaderboard: warning: only 'x' is in both a.tsv and b.tsv: a single query has no t, interval or error" ]
	[[ $stderr == *"1 queries are left out"*"first: 'y'" ]]
	table a.tsv 'id,m\nx,0.25'
	table b.tsv 'id,m,n\nx,0.5,1\ny,1,1'
	compare 0
	[[ ${stderr_lines[1]} == *"1 queries are left out: only one of a.tsv and b.tsv has them; first: 'y'" ]]
	[[ ${stderr_lines[2]} == *"1 metrics are left out: only one of a.tsv and b.tsv has them; first: 'n'" ]]
	table a.tsv 'id,m\nx,0.5\ny,1'
	table b.tsv 'query,m\ny,nan\nx,0.25'
	compare 0
	[ "${lines[2]}" = $'m\t0.75\t\t\t\t\t\t\t\t' ]
	[[ $stderr == *"m: there are queries without a value"* ]]
	while IFS='|' read -r text message; do
		table b.tsv "$text"
		compare 1
		[ -z "$output" ]
		# shellcheck disable=SC2053 # a pattern
		[[ ${stderr_lines[-1]} == "leaderboard: "$message ]] || {
			echo "$stderr"
			return 1
		}
	done <<-'E'
		id,m\nx,1\ny,high|b.tsv:3: m: 'high' is not a number
		id,m\nx,1\ny,|b.tsv:3: m: '' is not a number
		id,m\nx,1\ny,inf|b.tsv:3: m: 'inf' is not a number
		id,m\nx,1\ny,1\nx,1|b.tsv:4: the id 'x' occurs again
		id,m\nx|b.tsv:2: 1 fields where the header line has 2
		id,m|b.tsv: there are no scores in it; *
		id\nx|b.tsv: there are no scores in it; *
		|b.tsv:*
		id,m\nz,1|b.tsv: it has no query of a.tsv (the first there is 'x')
		id,n\nx,1|b.tsv: it has no metric in common with a.tsv
		id,m,m\nx,1,1|b.tsv:1: two columns are called 'm'
	E
	mkdir folder
	run -1 leaderboard compare --from-per-query a.tsv folder
	table a.tsv 'id,label,cosine,cosine_accuracy\n1,1,0.75,1\n2,0,0.5,0'
	cp a.tsv b.tsv
	compare 0
	[ "${#lines[@]}" -eq 4 ] # similarities and labels are not metrics themselves; the metrics are computed from them
	[[ ${lines[2]} == cosine_accuracy* ]]
	[ "${lines[3]}" = $'cosine_ap\t1\t1\t0\t\t\t\t\t\t' ] # some draws have no positive pair
	table a.tsv 'id,label,cosine\n1,1,0.75'
	cp a.tsv b.tsv
	compare 0
	[ "${lines[2]}" = $'cosine_ap\t1\t1\t0\t\t\t\t\t\t' ] # a single pair has no interval
	[[ $stderr == *"only '1' is in both"* ]]
	table a.tsv 'id,gold,similarity\n1,4,0.75\n2,1,0.5'
	table b.tsv 'id,gold,similarity\n1,4,0.5\n2,2,0.75'
	compare 1
	[[ $stderr == "leaderboard: b.tsv: the gold of '2' is 2, in a.tsv it is 1: they are not of the same pairs" ]]
	does_not_apply --registry leaderboard compare --from-per-query --registry "$REGISTRY" a.tsv b.tsv
	run -2 leaderboard compare --from-per-query --format html a.tsv b.tsv
	run -2 leaderboard compare --from-per-query a.tsv
	run -2 leaderboard table --from-per-query --registry "$REGISTRY" folder
}

@test "leaderboard compare: only common data sets are compared; types come from the registry; folders without results are refused" {
	make_results "$T/A/r" "$T/B/r"
	sed -i 's/"motes": {[^}]*}, //' "$T"/[AB]/r/*.json
	rm "$T"/B/r/STS0[1-9].json
	echo 'types: { Letters: { main: x } }' >"$T/r.yaml"
	echo "tasks: { STS00: { type: Letters } }" >>"$T/r.yaml"
	run -0 --separate-stderr leaderboard compare --registry "$T/r.yaml" "$T/A/r" "$T/B/r"
	[[ "$stderr" == *"9 data sets are left out: only one of A and B has them" ]]
	grep -q $'^Letters\t1\t' <<<"$output"
	grep -q $'^Other\t30\t' <<<"$output"
	# of a benchmark, sets may be missing in both
	echo 'benchmarks: { some: { tasks: [STS00, STS05, STS10, STS99] } }' >>"$T/r.yaml"
	echo 'tasks: { STS00: { type: Letters }, STS05: { type: Letters }, STS10: { type: Letters }, STS99: { type: Letters } }' >"$T/four.yaml"
	run -0 --separate-stderr leaderboard compare --registry "$T/r.yaml" --registry "$T/four.yaml" --benchmark some "$T/A/r" "$T/B/r"
	[[ "$stderr" == *"1 data sets are left out: only one of A and B has them"*"1 data sets are left out: neither A nor B has them" ]]
	run -1 leaderboard compare "$T/A/r" "$T/none"
	[[ "$output" == "leaderboard: $T/none: cannot be read: No such file or directory" ]]
	echo '{"task_name": "x", "scores": {"test": [{"main_score": null}]}}' >"$T/B/r/x.json"
	run -0 --separate-stderr leaderboard compare "$T/A/r" "$T/B/r"
	[[ "$stderr" == "leaderboard: warning: $T/B/r/x.json: is left out: there is no main_score that is a number"* ]]
	run -2 leaderboard compare "$T/A/r"
	run -2 leaderboard compare --format html "$T/A/r" "$T/B/r"
	run -2 mteb-score compare "$T/A/r" "$T/B/r"
	[[ "$output" == *"leaderboard compare"* ]]
}

@test "leaderboard table: of several splits and subsets, the mean of those that the registry or a benchmark lists" {
	mkdir -p r/one/1
	entry() {
		echo "{\"main_score\": $1, \"hf_subset\": \"$2\"}"
	}
	put() {
		echo "{\"task_name\": \"$1\", \"scores\": $2}" >"r/one/1/$1.json"
	}
	put STS12 "{\"train\": [$(entry 0.1 default)], \"test\": [$(entry 0.5 default)]}"
	put MSMARCO "{\"test\": [$(entry 0.1 default)], \"dev\": [$(entry 0.25 default)]}"
	put STS17 "{\"test\": [$(entry 0.15 ar-ar), $(entry 0.75 en-en), $(entry 0.3 es-es), $(entry 0.9 xx-xx)]}"
	put STS22.v2 "{\"test\": [$(entry 0.25 de), $(entry 0.75 fr)]}"
	put AmazonReviewsClassification "{\"test\": [$(entry 0.25 en)], \"validation\": [$(entry 0.75 en)]}"
	put STS13 "{\"train\": [$(entry 0.1 default)]}"
	put mine "{\"dev\": [$(entry 0.1 default)], \"test\": [$(entry 0.5 left), $(entry 0.7 right)]}"
	put only "{\"validation\": [$(entry 0.7 default)]}"
	put many "{\"validation\": [$(entry 0.7 default)], \"dev\": [$(entry 0.1 default)]}"
	scores() { # OPTION...: sets and scores
		leaderboard table --registry "$REGISTRY" "$@" r/one/1 2>err | awk -F'\t' 'NR > 1 && $2 !~ /^mean/ && $4 { print $2, $4 }' | sort | tr '\n' ';'
	}
	[ "$(scores)" = "AmazonReviewsClassification 50.00;MSMARCO 25.00;STS12 50.00;STS17 40.00;STS22.v2 50.00;mine 60.00;only 70.00;" ]
	[ "$(<err)" = "leaderboard: warning: r/one/1/STS13.json: is left out: there is no main_score that is a number, of a split and subset that the registry has
leaderboard: warning: r/one/1/many.json: is left out: there is no main_score that is a number, of a split and subset that the registry has" ]
	# a star marks sets without some of their parts
	[ "$(leaderboard table --registry "$REGISTRY" --format markdown r/one/1 2>err | grep -c '[0-9] \\\*')" -eq 3 ]
	# a benchmark lists its own parts, and has no mean unless all its sets are there
	[ "$(scores --benchmark 'MTEB(eng, v2)')" = "STS12 50.00;STS17 75.00;" ]
	[ "$(scores --benchmark mteb)" = "AmazonReviewsClassification 25.00;MSMARCO 25.00;STS12 50.00;STS17 75.00;" ]
	run -0 leaderboard table --registry "$REGISTRY" --benchmark mteb-v2 r/one/1
	[[ "$output" == *$'\nSTS\tSTS22.v2\tcosine_spearman\t\n'* ]]
	[[ "$output" == *$'\nall\tmean of 41\t\t\n'* ]]
	dies "leaderboard: there is no benchmark 'MTEB(eng, v9)'; 'leaderboard list' prints all" \
		leaderboard table --registry "$REGISTRY" --benchmark 'MTEB(eng, v9)' r/one/1
}

@test "leaderboard result: the parts of a set are in one file, with their mean" {
	part() { echo "{\"task_type\": \"sts\", \"settings\": {\"pairs\": \"$2\", \"protocol\": \"v2\"}, \"scores\": {\"cosine_spearman\": $1}}"; }
	part 0.25 250 >en
	part 0.75 2846 >ko
	result() { leaderboard result --registry "$REGISTRY" --dataset STS17 "$@"; }
	mkdir -p m/r
	run -0 --separate-stderr result en-en@test=en ko-ko@test=ko
	[ -z "$stderr" ]
	echo "$output" >m/r/STS17.json
	jq -e '[.scores.test[] | [.hf_subset, .main_score, .languages]] == [["en-en", 0.25, ["eng-Latn"]], ["ko-ko", 0.75, ["kor-Hang"]]]
		and (.dataset_revision | length) == 40 and (.motes | .other_size | not) and .motes.settings == {"protocol": "v2"}' m/r/STS17.json
	leaderboard table --registry "$REGISTRY" m/r | found -x $'STS\tSTS17\tcosine_spearman\t50.00'
	part 0.5 7 >other
	run -0 --separate-stderr result en-en@test=en ko-ko@test=other
	[ "$stderr" = "leaderboard: warning: STS17: has 7 pairs, mteb's has 2846: another set of that name" ]
	jq -e '.dataset_revision == "local" and .motes.other_size' <<<"$output"
	dies "leaderboard: STS17: it has 11 parts: say which the report is of, ko-ko@test=FILE" result en
	dies "leaderboard: STS17: mteb has no subset and split 'en-en@dev'" result en-en@dev=en
	dies "leaderboard: STS17: there are two reports of en-en@test" result en-en@test=en ko-ko@test=ko en-en@test=ko
}

@test "leaderboard result: of a sample of the test rows the size is that of all" {
	scored() { # ROWS: of how many about 3000 are scored
		echo "{\"task_type\": \"multilabelclassification\", \"settings\": {\"test\": \"2998 of $1\"}, \"scores\": {\"accuracy\": 0.5}}" |
			leaderboard result --registry "$REGISTRY" --dataset SwedishPatentCPCGroupClassification
	}
	run -0 --separate-stderr scored 8575
	[ -z "$stderr" ]
	jq -e '(.dataset_revision | length) == 40 and (.motes.other_size | not)' <<<"$output"
	run -0 --separate-stderr scored 8574
	[ "$stderr" = "leaderboard: warning: SwedishPatentCPCGroupClassification: has 8574 test, mteb's has 8575: another set of that name" ]
}

@test "leaderboard plan: a benchmark selects its parts only; missing sets are named" {
	files d/STS17/{en-en,ko-ko}/test.jsonl d/biosses-sts/data/test-00000-of-00001.jsonl d/moods/STS12/test.jsonl d/STS13/train.jsonl \
		d/datasets--mteb--scidocs/snapshots/1a/{corpus/corpus,queries/queries,data/test}-00000-of-00001.jsonl
	run -0 --separate-stderr plan --benchmark 'MTEB(eng, v2)' d
	[[ "$stderr" == "MTEB(eng, v2): 5 of its 41 data sets are in d; missing are"$'\n'* ]]
	grep -qx '  STS22.v2  *mteb/sts22-crosslingual-sts' <<<"$stderr"
	[ "$(grep -c '^  ' <<<"$stderr")" -eq 36 ]
	grep -qx 'STS17@en-en@test.test := d/STS17/en-en/test.jsonl' <<<"$output"
	[[ "$output" != *ko-ko* ]]
	grep -qx 'BIOSSES.test := d/biosses-sts/data/test-00000-of-00001.jsonl' <<<"$output"
	grep -qx 'SCIDOCS.qrels := d/datasets--mteb--scidocs/snapshots/1a/data/test-00000-of-00001.jsonl' <<<"$output"
	grep -qx 'SCIDOCS.corpus := d/datasets--mteb--scidocs/snapshots/1a/corpus/corpus-00000-of-00001.jsonl' <<<"$output"
	grep -q "^STS13.fault := \$\$'d/STS13: there is no test.jsonl" <<<"$output"
	# of two snapshots that of the branch main counts, else the newest
	files h/datasets--mteb--sts12-sts/snapshots/{1a,2b}/data/test-00000-of-00001.jsonl
	touch -d 2030-01-01 h/datasets--mteb--sts12-sts/snapshots/2b
	plan h | found -x 'STS12.test := h/datasets--mteb--sts12-sts/snapshots/2b/data/test-00000-of-00001.jsonl'
	mkdir h/datasets--mteb--sts12-sts/refs
	echo 1a >h/datasets--mteb--sts12-sts/refs/main
	plan h | found -x 'STS12.test := h/datasets--mteb--sts12-sts/snapshots/1a/data/test-00000-of-00001.jsonl'
	# Parquet files are refused with the reason
	files p/STS22.v2/en/test-00000-of-00001.parquet p/mteb--x/y
	plan p | found -x "STS22.v2.fault := \$\$'p/STS22.v2: its rows are Parquet files, which are not read; motes(7), DATA FOLDERS, has a line that converts them'"
	# a set's other splits may be missing, even if their training rows or documents are there
	files s/AmazonReviewsClassification/en/{train,test}.jsonl s/ChemHotpotQARetrieval/{corpus,queries}.jsonl s/ChemHotpotQARetrieval/qrels/test.tsv
	[ -z "$(plan s | grep '[.]fault :=')" ]
	[ "$(plan s | grep -c '[.]part := ')" -eq 2 ]
	# the set's own folder is ambiguous if the set has two subsets
	files t/sts/two/test.jsonl u/sts/two/b/test.jsonl
	echo 'tasks: { two: { type: STS, subset: [a, b] } }' | tee t/tasks.yaml >u/tasks.yaml
	plan t | found -x "two.fault := \$\$'t/sts/two: there are no files of any of its 2 parts, such as a/test.jsonl'"
	plan u | found -x 'two@b@test.test := u/sts/two/b/test.jsonl'
	# names that differ only in case
	files f/FinancialPhraseBankClassification/{train,test}.jsonl g/FinancialPhrasebankClassification/train.jsonl
	plan f | found -x 'classification += FinancialPhraseBankClassification'
	plan g | found -x 'classification += FinancialPhrasebankClassification'
	# the benchmark's name selects the same parts; without it all are planned
	plan d mteb-v2 2>err | grep -v scidocs | diff - <(grep -v scidocs <<<"$output")
	plan d | found -x 'STS17@ko-ko@test.test := d/STS17/ko-ko/test.jsonl'
	dies "leaderboard: there is no benchmark 'x'; 'leaderboard list' prints all" plan --benchmark x d
	# a benchmark in the data's tasks.yaml
	echo 'benchmarks: { house: { also: [home], tasks: [SICK-R, STS17: { subsets: ko-ko }] } }' >d/tasks.yaml
	[ "$(plan --benchmark HOME d 2>err | grep '[.]part :=')" = "STS17@ko-ko@test.part := ko-ko@test" ]
	grep -qx 'house: 1 of its 2 data sets are in d; missing are' err
	rm d/tasks.yaml
	mkdir none
	run -1 --separate-stderr plan --benchmark bright none
	[[ "$stderr" == *"leaderboard: none: it has none of the data sets of BRIGHT" ]]
}

@test "leaderboard plan: a model that takes instructions gets mteb's sentence for the task, before queries only" {
	files d/STS12/test.jsonl d/SciFact/{corpus,queries}.jsonl d/SciFact/qrels/test.tsv d/Banking77Classification/{train,test}.jsonl
	cp -r "$MODEL" qwen3-embedding-0.6b
	prompts() { leaderboard plan --registry "$REGISTRY" "$@" d | grep -e '--prompt' -e '--task'; }
	# the template comes from known-models.tsv, by the folder's or the model's name
	diff <(prompts -m qwen3-embedding-0.6b) - <<-'END'
		Banking77Classification.query := --prompt $$'Instruct: Given a online banking query, find the corresponding intents\nQuery:'
		Banking77Classification.document := --prompt $$'Instruct: Given a online banking query, find the corresponding intents\nQuery:'
		STS12.query := --prompt $$'Instruct: Retrieve semantically similar text.\nQuery:'
		STS12.document := --prompt $$'Instruct: Retrieve semantically similar text.\nQuery:'
		SciFact.query := --prompt $$'Instruct: Given a scientific claim, retrieve documents that support or refute the claim\nQuery:'
	END
	prompts -m qwen3-embedding-0.6b --name intfloat/multilingual-e5-large-instruct | found -F "similar text.\\nQuery: '"
	run ! prompts -m qwen3-embedding-0.6b --instruct no
	run ! prompts -m "$MODEL"
	# characters that make and bash would interpret
	prompts -m "$MODEL" --instruct "it's # {instruction} \$x \\ "$'\n' | sed -n 's/^STS12.query/x/p' >make.mk
	printf 'all:\n\t@printf %%s %s\n' '$(patsubst --prompt,,$x)' >>make.mk
	diff <(make -s -f make.mk SHELL=/bin/bash) - <<<"it's # Retrieve semantically similar text. \$x \\ "
	run -2 leaderboard plan -m "$MODEL" --registry "$REGISTRY" --instruct "query: " d
	[[ $output == *"--instruct: it is 'no', or a text with {instruction}"* ]]
}

@test "leaderboard plan: a part of a multilabel set knows the earlier parts' training rows, from which samples are drawn first" {
	mkdir -p d/multilabelclassification/topics/{de,en,fr}
	for name in de en fr; do
		seq ${#name}${name/#*[ef]*/1} | sed 's/.*/{"text": "a", "label": ["b"]}/' | tee d/multilabelclassification/topics/$name/train.jsonl >d/multilabelclassification/topics/$name/test.jsonl
	done
	head -n 3 d/multilabelclassification/topics/de/train.jsonl >de && mv de d/multilabelclassification/topics/de/train.jsonl
	echo 'tasks: { topics: { type: MultilabelClassification, subset: [de, en, fr] } }' >d/tasks.yaml
	run -0 --separate-stderr plan d
	[ -z "$stderr" ]
	[ "$(grep earlier <<<"$output")" = "topics@en@test.earlier := --earlier 3
topics@fr@test.earlier := --earlier 3,21" ]
	rm -r d/multilabelclassification/topics/en
	run -0 --separate-stderr plan d
	[[ $stderr == *"topics@fr@test: 1 of its parts are missing; mteb, which has them, draws other training rows for those after them"* ]]
}

@test "leaderboard plan: the files of p-MRR, and the options for groups of queries" {
	files d/News21InstructionRetrieval/{queries,corpus,qrel_diff}.jsonl d/News21InstructionRetrieval/{qrels,top_ranked}/test.jsonl \
		d/NevIR/{queries,corpus,qrels,top_ranked}/test.jsonl \
		d/mFollowIRCrossLingual/{eng-fas/{queries,corpus,qrels/test,top_ranked},qrel_diff-fas/qrel_diff-00000-of-00001}.jsonl
	run -0 plan d
	grep -qx 'News21InstructionRetrieval.changed := d/News21InstructionRetrieval/qrel_diff.jsonl' <<<"$output"
	grep -qx 'retrieval += News21InstructionRetrieval' <<<"$output"
	grep -qx 'NevIR.groups := --groups pairs' <<<"$output"
	grep -qx 'mFollowIRCrossLingual@eng-fas@test.changed := d/mFollowIRCrossLingual/qrel_diff-fas/qrel_diff-00000-of-00001.jsonl' <<<"$output"
}

@test "leaderboard plan: a subset whose name has blanks has a folder without, and is printed so" {
	files d/ClusTREC-Covid/title_and_abstract/test.jsonl "e/ClusTREC-Covid/title and abstract/test.jsonl"
	plan d | found -x 'ClusTREC-Covid@title_and_abstract@test.part := title_and_abstract@test'
	plan e | found "make cannot read blanks and signs in paths; rename the folder of the subset to title_and_abstract"
	report | sed 's/"cosine_spearman"/"v_measure"/; s/"sts"/"clustering-fast"/' >report.json
	leaderboard result --registry "$REGISTRY" --dataset ClusTREC-Covid title_and_abstract@test=report.json 2>/dev/null >result.json
	[ "$(jq -r '.scores.test[].hf_subset' result.json)" = "title and abstract" ]
}

@test "leaderboard plan: subsets of a retrieval set are found, as BEIR and as the Hub lay them out" {
	files d/MIRACLRetrieval/{sw-corpus/dev,sw-queries/dev,sw-qrels/dev}-00000-of-00001.jsonl \
		d/MIRACLRetrieval/yo/{corpus,queries}.jsonl d/MIRACLRetrieval/yo/qrels/dev.tsv d/MIRACLRetrieval/ar/queries.jsonl
	run -0 plan d
	grep -qx 'MIRACLRetrieval@sw@dev.corpus := d/MIRACLRetrieval/sw-corpus/dev-00000-of-00001.jsonl' <<<"$output"
	grep -qx 'MIRACLRetrieval@sw@dev.qrels := d/MIRACLRetrieval/sw-qrels/dev-00000-of-00001.jsonl' <<<"$output"
	grep -qx 'MIRACLRetrieval@yo@dev.qrels := d/MIRACLRetrieval/yo/qrels/dev.tsv' <<<"$output"
	grep -qx "MIRACLRetrieval@ar@dev.fault := \$\$'d/MIRACLRetrieval, subset ar: there is no corpus.jsonl (.tsv, .csv; .gz, .zst, .xz, .bz2)'" <<<"$output"
}

# 2. options

@test "leaderboard plan: sets, types and benchmarks select; a registry may be one's own" {
	files d/sts/STS12/test.tsv d/SciFact/{corpus,queries}.jsonl d/SciFact/qrels/test.tsv \
		d/retrieval/shop/{corpus,queries}.jsonl d/retrieval/shop/qrels/test.tsv
	[ "$(plan d STS12 | grep -c .type)" -eq 1 ]
	[ "$(plan d retrieval | grep -c .type)" -eq 2 ]
	[ "$(plan d beir sts | grep -c .type)" -eq 2 ]
	[ "$(plan d sts12 BEIR | grep -c .type)" -eq 2 ]
	echo 'tasks: { shop: { type: Retrieval, split: dev, in: [mine, beir] } }' >d/tasks.yaml
	run -0 plan d mine
	[[ "$output" == *"shop.fault := \$\$'d/retrieval/shop: there is no qrels/dev.jsonl (.tsv, .csv; .gz, .zst, .xz, .bz2)'"* ]]
	[ "$(plan --name me/it d mine | sed -n 's/^name := //p')" = me/it ]
}

@test "leaderboard: a later registry overrides an earlier one; protocol v2 has its own main scores" {
	cat >own.yaml <<-END
		types: { STS: { main: pearson }, Pairs: { main: f1, main_v2: ap, prompt: { query: a, document: b } } }
		tasks: { STS12: { type: STS, split: dev, subset: en, size: 2, in: [mine, other] }, x: { type: Pairs, size: [3, 4] } }
	END
	report='{"settings": {"queries": "3", "documents": "5"}, "scores": {"pearson": 0.25, "f1": 0.5, "ap": 0.75}}'
	main() {
		leaderboard result --registry "$REGISTRY" --registry own.yaml "$@" <<<"$report" 2>err |
			jq -c '[.scores | to_entries[] | .key, .value[0].hf_subset, .value[0].main_score] + [.motes.main_score, .motes.other_size]'
	}
	[ "$(main --dataset STS12)" = '["dev","en",0.25,"pearson",true]' ]
	[ "$(main --dataset x --protocol v1)" = '["test","default",0.5,"f1",true]' ]
	diff err - <<<"leaderboard: warning: x: has 5 documents, mteb's has 4: another set of that name"
	[ "$(main --dataset x)" = '["test","default",0.75,"ap",true]' ]
	[ "$(main --dataset new --type pairs)" = '["test","default",0.75,"ap",false]' ]
	files d/sts/STS12/dev.jsonl d/x/test.jsonl d/sts/STS13/test.jsonl
	[ "$(plan --registry own.yaml d mine | grep -c .type)" -eq 1 ]
	[ "$(plan --registry own.yaml d other x | grep -c .type)" -eq 2 ]
}

@test "leaderboard: every command writes to -o" {
	files d/STS12/test.tsv
	printf '{"_id": "a", "text": "a"}\n{"_id": "b", "text": "b"}\n' >q.jsonl
	printf 'a\td1\t1\n' >qrels.tsv
	printf 'text\tlabel\na\t1\nb\t2\n' >train.tsv
	report >report.json
	make_results A/r B/r
	for options in "plan -m $MODEL --registry $REGISTRY d" "fields --type queries q.jsonl" "judged qrels.tsv q.jsonl" \
		"drawn train.tsv" "model -m $MODEL" "result --registry $REGISTRY --dataset STS12 report.json" \
		"table --registry $REGISTRY A/r" "compare A/r B/r"; do
		# shellcheck disable=SC2086 # words
		leaderboard $options >plain
		[ -s plain ]
		# shellcheck disable=SC2086
		run -0 leaderboard $options -o file
		[ -z "$output" ]
		cmp plain file
		rm file
	done
}

# 3. usage

@test "leaderboard: usage errors exit 2 with an empty standard output" {
	for options in "" "bogus" "plan d" "plan -m x d" "plan -m x -r y" "fields x" "fields --type STS" \
		"judged x" "drawn" "drawn --samples 0 x" "model" "model -m x y" "result --registry x" "table --registry x" "table --format pdf --registry $REGISTRY ." \
		"result --protocol v3" "compare x" "compare --resamples 1 x y" "table --registry x --format xml ." "fields --type Retrieval /dev/null"; do
		run -2 --separate-stderr bash -c "leaderboard $options </dev/null"
		[ -z "$output" ]
		[[ "$stderr" == "leaderboard: "* ]]
	done
}

@test "leaderboard: options that do not apply to a command are refused by their names" {
	for option in "model x" "registry y" "name z" "type STS" "dataset t" "samples 3" "protocol v2" \
		"format html" "resamples 200" "seed 1"; do
		does_not_apply "--${option% *}" leaderboard judged --$option q d
	done
	does_not_apply --samples leaderboard model --samples 3 -m x
	does_not_apply --format leaderboard plan --format html -m x --registry y d
	does_not_apply --seed leaderboard table --seed 2 --registry x y
	run -2 --separate-stderr leaderboard tabel --registry x y
	[[ $stderr == *"did you mean 'table'?"* ]]
}

# 4. wrong input

@test "leaderboard: a faulty file is refused with the fault" {
	wrong() {
		run -1 --separate-stderr "${@:2}"
		[ -z "$output" ]
		# shellcheck disable=SC2053 # a pattern
		[[ "$(tail -n 1 <<<"$stderr")" == "leaderboard: "$1 ]] || {
			echo "$stderr"
			return 1
		}
	}
	files d/sts/STS12/test.tsv d/what/test.tsv
	wrong "d: there is no data set, type or benchmark 'STS13'*" plan d STS13
	run -0 --separate-stderr plan d
	[[ "$stderr" == *"d/what: is left out: its type is not known"* ]]
	wrong "nowhere: the folder of data sets cannot be read:*" plan nowhere
	mkdir empty
	wrong "empty: it has no data sets*" plan empty
	files d/STS-12/test.tsv
	wrong "STS12: is there twice, in d/STS-12 and in d/sts/STS12" plan d
	files f/{sts,classification}/mine/test.tsv
	wrong "mine: is there twice, in f/classification/mine and in f/sts/mine" plan f
	mkdir -p "e/sts/a b"
	: >"e/sts/a b/test.tsv"
	wrong "e/sts/a b: make cannot read blanks*" plan e
	files "my data/sts/STS12/test.tsv"
	wrong "my data/sts/STS12: make cannot read blanks*" plan "my data"
	for line in 'tasks: { x: { type: Nothing } }' 'tasks: { x: { typ: STS } }' 'tasks: [x]' 'task: {}' \
		'tasks: { x: { type: STS, size: [1] } }' 'tasks: { x: { type: STS, size: 0 } }' \
		'tasks: { x: { type: STS, in: [1] } }' 'tasks: { x: { type: STS, prompt: { side: a } } }' \
		'tasks: { x: { type: Clustering, fast: sets, documents: 0 } }' 'tasks: { x: { type: STS, subsets: [a] } }' \
		'tasks: { x: { type: STS, subsets: {} } }' 'tasks: { x: { type: STS, sizes: 3 } }' 'tasks: { x: { type: STS, sizes: [0] } }' \
		'tasks: { x: { type: Retrieval, at: 5 } }' 'tasks: { x: { type: Retrieval, at: [a] } }' \
		'tasks: { x: { type: Retrieval, groups: some } }' 'tasks: { x: { type: STS, instruction: { side: a } } }' \
		'tasks: { STS12: { type: STS, subset: [a, b], sizes: [1] } }' 'benchmarks: 3' 'benchmarks: [a]' 'benchmarks: { a: [b] }' \
		'benchmarks: { a: { tasks: b } }' 'benchmarks: { a: { tasks: [3] } }' 'benchmarks: { a: { also: 3, tasks: [b] } }' \
		'benchmarks: { a: { tasks: [b: { split: c }] } }' 'benchmarks: { a: { tasks: [b: { splits: [3] }] } }' 'benchmarks: { a: {} }'; do
		echo "$line" >d/tasks.yaml
		wrong "d/tasks.yaml:1: *" plan d
	done
	rm d/tasks.yaml
	wrong "*no value of cosine_spearman, its main score" leaderboard result --registry "$REGISTRY" --dataset STS12 \
		< <(echo '{"task_type": "sts", "scores": {"cosine_spearman": null}}')
	wrong "<stdin>: empty, not a report; did the program before it fail?" leaderboard result --registry "$REGISTRY" --dataset STS12 </dev/null
	wrong "<stdin>:2: not valid JSON*" leaderboard result --registry "$REGISTRY" --dataset STS12 <<<'{"task_type": '
	mkdir r
	wrong "r: there are no results in it (TASK.json)" leaderboard table --registry "$REGISTRY" r
	echo '{}' >r/x.json
	wrong "r: there are no results in it (TASK.json)" leaderboard table --registry "$REGISTRY" r
	[[ $stderr == "leaderboard: warning: r/x.json: is left out: there is no task_name: not a result of mteb"* ]]
	echo '{"task_name": "STS12", "scores": {"test": [{"main_score": 0.5}]}}' | tee r/STS12.json >r/again.json
	wrong "r/again.json: is a second result of the task 'STS12', beside r/STS12.json; remove one of them" leaderboard table --registry "$REGISTRY" r
	echo '{"text": "x"}' >q.jsonl
	wrong "q.jsonl:1: there is no 'label'" leaderboard drawn q.jsonl
	wrong "*: is read twice: a regular file is needed" leaderboard drawn <(cat q.jsonl)
	printf 'a\tb\t1\n' >qrels.tsv
	wrong "q.jsonl:1: there is no '_id' or 'id'" leaderboard judged qrels.tsv q.jsonl
	wrong "q.jsonl: there is no 'sentence1' in its first records" leaderboard fields --type STS q.jsonl
}

@test "leaderboard --registry: entries that are parsed on demand equal those of a file parsed whole" {
	# a comment after an entry makes the parser read the whole file
	sed '$s/$/ # the last/' "$REGISTRY" >whole.yaml
	[ "$(tail -n 1 "$REGISTRY")" != "$(tail -n 1 whole.yaml)" ]
	mkdir -p r/m/1
	for set in CQADupstackEnglishRetrieval STS12 mine; do
		echo '{"task_name": "'$set'", "mteb_version": "2.1.0", "scores": {"test": [{"main_score": 0.5, "ndcg_at_10": 0.25, "hf_subset": "default"}]}}' >r/m/1/$set.json
	done
	files d/STS12/test.tsv d/datasets--mteb--cqadupstack-english/{corpus,queries}.jsonl d/banking_77/{train,test}.jsonl d/sts/mine/test.tsv
	both() {
		leaderboard "${@//FILE/$REGISTRY}" >a 2>a.err
		leaderboard "${@//FILE/whole.yaml}" >b 2>b.err
		cmp a b
		cmp a.err b.err
		[ "$(wc -l <a)" -gt 1 ]
	}
	both list --registry FILE STS 'MTEB(eng, v2)' CQADupstackRetrieval
	both table --registry FILE r/m/1
	both table --registry FILE --protocol v1 r/m/1
	both table --registry FILE --benchmark 'MTEB(eng, v1)' r/m/1
	report >report
	both result --registry FILE --dataset STS12 report
	both plan -m "$MODEL" --registry FILE d
	both plan -m "$MODEL" --registry FILE d 'MTEB(eng, v1)'
}

@test "leaderboard --registry: quotes, brackets, comments, aliases and line breaks in an entry follow YAML" {
	sed '/^benchmarks:/,$d' "$REGISTRY" >head.yaml
	# the tasks of a registry with these lines, and with a line more that makes the parser read the whole file
	same() {
		cat head.yaml - >entries.yaml
		{ cat entries.yaml; printf '%s\n' '  Last: {' '    type: STS }'; } >whole.yaml
		echo '  Last: { type: STS }' >>entries.yaml
		for file in entries whole; do
			status=0
			leaderboard list --registry $file.yaml STS >$file.out 2>$file.err || status=$?
			sed -i "s/$file.yaml/FILE/" $file.err
			[ $status -eq "$1" ]
		done
		cmp entries.out whole.out
		cmp entries.err whole.err
	}
	same 0 <<-'END'
		tasks:
		  # a comment
		  A: { type: STS, path: "a } b", instruction: "it's {" }

		  "B (two)": { type: STS, path: 'it''s # no comment', languages: [deu-Latn, "eng }"] }
		  C: {type: STS, path: it's, instruction: {query: "a \"} b", document: c}}
		  D.v2: { type: STS, path: "\u00e9 & co", instruction: a&b*c#d }
	END
	same 0 <<-'END'
		tasks:
		  A: &a { type: STS, path: a }
		  B: { <<: *a, path: b }
		  C: *a
	END
	same 0 <<-'END'
		tasks:
		  A: { type: STS,
		       path: more }
		  B:
		    type: STS
		  C: { type: STS } # { }
	END
	same 1 <<-'END'
		tasks:
		  A: { type: STS }
		  B: { type: STS }
		  A: { type: STS }
	END
	[[ "$(cat entries.err)" == *"'A' is given twice" ]]
	for line in 'B: { type: STS, typo: 1 }' 'B: { type: no }' 'B: { type: STS, path: [ }' 'B: { type: STS }}' 'B: { type: STS, type: STS }' \
		'B: { type: STS, path: !x y }' 'B: 3'; do
		printf '%s\n' 'tasks:' '  A: { type: STS }' "  $line" | same 1
	done
}

@test "leaderboard --registry: a fault in the first file's entry is found when the entry is used, one in later files at once" {
	report >report
	sed '/^  STS13: /s/{/{ typo: 1,/' "$REGISTRY" >first.yaml
	line=$(grep -n '^  STS13: ' first.yaml | cut -d: -f1)
	leaderboard result --registry first.yaml --dataset STS12 report >out
	run -1 --separate-stderr leaderboard result --registry first.yaml --dataset STS13 report
	[[ $stderr == "leaderboard: first.yaml:$line: "*typo* ]]
	run -1 --separate-stderr leaderboard list --registry first.yaml STS12
	[[ $stderr == "leaderboard: first.yaml:$line: "*typo* ]]
	run -1 --separate-stderr leaderboard result --registry "$REGISTRY" --registry first.yaml --dataset STS12 report
	[[ $stderr == "leaderboard: first.yaml:$line: "*typo* ]]
	# a later file's type does not change tasks of earlier files
	echo 'types: { STS: { main: pearson } }' >types.yaml
	leaderboard list --registry "$REGISTRY" --registry types.yaml STS12 | grep STS12 >list
	[ "$(cut -f 3 list)" = cosine_spearman ]
}

# 5. the page

@test "leaderboard: the examples of the page run" {
	files DATA/STS12/test.tsv
	cp -r "$MODEL" MODEL
	cp "$REGISTRY" tasks.yaml
	make_results results/base/1a2b3c results/mote/4d5e6f
	printf 'sentence1\tsentence2\tscore\na ship\tthe ship\t4\na pot\troses\t1\na cook\tsoup\t2\n' >test.tsv
	cp "$GOLDEN/per_query_qrels.tsv" qrels.tsv
	tee base.trec <"$GOLDEN/per_query_run.trec" | sed 's/ 0[.]/ 1./' >mote.trec
	page_examples leaderboard.1 >examples
	[ "$(wc -l <examples)" -eq 11 ]
	mkdir out
	cp -r "$GOLDEN"/compare_runs/{A,B} out
	bash -eu -o pipefail examples >shown 2>err
	grep -q '^| STS | STS12 | cosine_spearman | ' shown
	grep -q '^mote - base; 10 queries; ' shown
	grep -q '^model-B - model-A; ' shown
	grep -q '^query by query$' shown
}
