#!/usr/bin/env bats
load helper
load scores

# Rows without a label, an id or a set do not count as a class, document or set of their own.

rows() { # FILTER [LABEL]: rows of two distant classes; those that awk's FILTER selects have no label
	awk -v OFS= "BEGIN { for (i = 0; i < 24; i++) { label = i % 2 ? \"\\\"b\\\"\" : \"\\\"a\\\"\"
		if ($1) label = \"${2-null}\"
		print \"{\\\"x.emb\\\":[\", i % 2 ? 9 : 1, \",\", i % 2 ? 1 : 8, \".\", i, \"],\\\"label\\\":\", label, \"}\" } }"
}

made() { # NAME: vectors and other columns of the file NAME as a stream
	jq -c 'with_entries(select(.key | endswith(".emb")))' "$1" | mkstream >vectors
	jq -c 'with_entries(select(.key | endswith(".emb") | not))' "$1" | mts from jsonl - >others
	mts paste vectors others >"$1.mts"
}

@test "unlabelled: every program that scores labels refuses a row without one" {
	rows 0 >all && rows 'i == 5' >holes && rows 'i == 5' '\"\"' >empty
	sed 's/"a"/1/; s/"b"/2/' holes >numbers
	for name in all holes empty numbers; do made "$name"; done
	mteb-score clustering all.mts | grep -P '^v_measure\t1$'
	mteb-score -q classification --train all.mts all.mts | grep -P '^accuracy\t1$'
	for name in holes empty numbers; do
		for command in clustering "clustering-fast --documents all" "classification --train all.mts" \
			"classification --train $name.mts"; do
			# shellcheck disable=SC2086
			dies "mteb-score: $name.mts: record 1: value 6 of 'label' is missing; leave out" \
				mteb-score -q $command "$name.mts"
		done
	done
	# lists of labels, and levels
	echo '{"x.emb":[[1,2],[2,1],[3,3]],"labels":["a","","b"]}' | mkstream >sets.mts
	dies "mteb-score: sets.mts: record 1: value 2 of 'labels' is missing" mteb-score clustering sets.mts
	# pairs
	printf '{"sentence1.emb":[1,2],"sentence2.emb":[2,%d],"label":%s,"score":%s}\n' 1 1 1 2 0 2 3 null null |
		cat >pairs
	made pairs
	for type in sts pairclassification; do
		run -1 --separate-stderr mteb-score "$type" pairs.mts
		[[ $stderr == "mteb-score: pairs.mts: record 1: "*": value 3 is nan, not a number to score with" ]]
	done
}

@test "unlabelled: classification refuses lists of labels and names the task type for them" {
	echo '{"x.emb":[1,2],"label":["a","b"]}' | mkstream >text.mts
	echo '{"x.emb":[1,2],"label":[1,2]}' | mkstream >numbers.mts
	echo '{"x.emb":[1,2],"label":"a"}' | mkstream >one.mts
	for name in text numbers; do
		dies "mteb-score: $name.mts: column 'label' has lists of labels: score them by multilabelclassification" \
			mteb-score classification --train $name.mts one.mts
		dies "mteb-score: $name.mts: column 'label' has lists of labels: score them by multilabelclassification" \
			mteb-score classification --train one.mts $name.mts
	done
	printf '%s\n' '{"text":"a","label":["x"]}' '{"text":"b","label":["x","y"]}' >train.jsonl
	dies "leaderboard: train.jsonl:1: 'label' is a list: say that the set is of type MultilabelClassification" leaderboard drawn train.jsonl
}

@test "leaderboard drawn: refuses a training row without a label" {
	for label in null '""' NaN; do
		printf '%s\n' '{"text":"a","label":"x"}' "{\"text\":\"b\",\"label\":$label}" >train.jsonl
		dies "leaderboard: train.jsonl:2: there is no 'label'" leaderboard drawn train.jsonl
	done
}

@test "unlabelled: a document without an id and a row without a set are refused" {
	echo '{"_id":"q","x.emb":[1,0]}' | mkstream >q.mts
	printf '%s\n' '{"_id":"a","x.emb":[1,0]}' '{"_id":"","x.emb":[1,1]}' '{"_id":"","x.emb":[1,2]}' |
		mkstream >c.mts
	printf 'q\ta\t1\n' >qrels
	dies "mteb-score: c.mts: record 1: row 2 has no '_id'" mteb-score retrieval --qrels qrels q.mts c.mts
	dies "near: c.mts: record 1: row 2 has no '_id'" near q.mts c.mts
	printf '%s\n' '{"x.emb":[1,0],"label":"a","set":"s"}' '{"x.emb":[1,1],"label":"b","set":""}' |
		mkstream >sets.mts
	dies "mteb-score: sets.mts: record 1: row 2 has no 'set', which names its set" mteb-score clustering sets.mts
}
setup() { cd "$T"; }
