#!/usr/bin/env bats
load helper

# near --mine: hard negatives from a run. Golden values: tests/golden/mine.py (sentence-transformers).
G=$GOLDEN/mine

setup() {
	cd "$T" || return
	command -v jq >/dev/null || skip "needs jq"
}

# triples OPTION...: query, document and each negative, sorted
triples() {
	near -q --mine "$G/qrels.tsv" "$@" "$G/run.trec" | jq -r '.query_id as $q | .document_id as $d | .negative_ids[] | [$q, $d, .] | @tsv' | sort
}

# bats test_tags=plain
@test "mine: triples are sentence-transformers', by default and with ranges, margins and limits of scores" {
	while read -r name options; do
		# shellcheck disable=SC2086
		diff <(triples $options) "$G/$name.tsv"
	done <<-END
		default
		range --skip 4 --depth 20 -k 5
		margin --margin 0.1 -k 4
		negative_margin --margin -0.05
		relative --relative-margin 0.2 --skip 2
		scores --max-score 0.6 --threshold 0.3 -k 6 --depth 30
		all --relative-margin 0.05 --margin 0.02 --max-score 0.7 --threshold -0.1 --skip 1 --depth 40 -k 2
	END
}

@test "mine: --random samples as many of the same candidates, by the seed" {
	triples --depth 20 -k 20 >all
	triples --depth 20 -k 4 --random >some
	[ "$(comm -23 some all | wc -l)" -eq 0 ]
	[ "$(cut -f 1,2 some | uniq -c | awk '{ print $1 }' | sort -u)" = 4 ]
	triples --depth 20 -k 4 --random --seed 1 >others
	run ! cmp -s some others
	triples --depth 20 -k 4 --random --seed 0 | cmp - some
	triples --depth 20 -k 4 >top
	run ! cmp -s some top
	# every rank is drawn about equally often
	for seed in {1..20}; do triples --depth 20 -k 4 --random --seed "$seed"; done | cut -f 3 | sort | uniq -c | sort -n | tail -n 1 | awk '{ exit $1 > 400 }'
}

@test "mine: scores and texts stand beside the ids, as tasksample reads them" {
	seq 0 24 | jq -c '{_id: "q\(.)", text: "where is \(.)"}' >queries.jsonl
	seq 0 119 | jq -c '{_id: "d\(.)", title: "no \(.)", text: "here \(.)"}' >corpus.jsonl
	near -q --mine "$G/qrels.tsv" --texts corpus.jsonl --query-texts queries.jsonl "$G/run.trec" -o hard.jsonl
	[ "$(jq -r .document hard.jsonl | head -n 1)" = "no $(jq -r .document_id hard.jsonl | head -n 1 | tr -d d) here $(jq -r .document_id hard.jsonl | head -n 1 | tr -d d)" ]
	# the scores of the run
	jq -r '.query_id as $q | ([.document_id] + .negative_ids) as $d | ([.score] + .negative_scores) as $s | range($d | length) | [$q, $d[.], $s[.]] | @tsv' hard.jsonl |
		sort -u >scores
	awk '{ print $1 "\t" $3 "\t" $5 }' "$G/run.trec" | sort | comm -23 scores - | diff - /dev/null
	cat >mix.yaml <<-'END'
		batch: 8
		tasks: {hard: {datasets: [{name: hard, file: hard.jsonl, query: query, document: document,
		  negatives: negatives, score: score, negative_scores: negative_scores}]}}
	END
	tasksample -q mix.yaml | tok -q -m "$GOLDEN/train/bert" | train -q -m "$GOLDEN/train/bert" --objective margin-mse -o out
	# a relevant document without a hit has no score
	printf 'q0\tQ0\td1\t1\t0.5\tx\nq0\tQ0\td2\t2\t0.25\tx\n' >run.trec
	printf 'q0\td9\t1\nq8\td1\t1\n' >qrels.tsv
	[ "$(near -q --mine qrels.tsv run.trec)" = '{"query_id":"q0","document_id":"d9","negative_ids":["d1","d2"],"score":null,"negative_scores":[0.5,0.25]}' ]
	run -0 --separate-stderr near -v --mine qrels.tsv --margin 0.1 run.trec
	[ -z "$output" ]
	[[ $stderr == *"1 pairs have no negatives and are left out"* ]]
}

@test "mine: options that do not apply, and files without a text, are refused" {
	for option in "--skip 1" "--depth 9" "--margin 0.1" "--relative-margin 0.1" "--max-score 1" --random "--query-texts q"; do
		# shellcheck disable=SC2086
		does_not_apply "${option% *}" near $option a.mts b.mts
	done
	does_not_apply --json near --json --mine "$G/qrels.tsv" "$G/run.trec"
	run -2 --separate-stderr near --mine "$G/qrels.tsv" --skip 9 --depth 10 "$G/run.trec"
	[ "${stderr_lines[0]}" = "near: --depth 10 after --skip 9 leaves fewer candidates than -k 3" ]
	run -2 --separate-stderr near --mine "$G/qrels.tsv" --texts corpus.jsonl "$G/run.trec"
	[ "${stderr_lines[0]}" = "near: --texts and --query-texts are given together, or neither" ]
	run -2 --separate-stderr near --mine "$G/qrels.tsv" -s 2 "$G/run.trec"
	[ "${stderr_lines[0]}" = "near: --seed needs --random" ]
	printf 'x\td1\t1\n' >other.tsv
	dies "near: other.tsv: judges none of the queries of $G/run.trec" near --mine other.tsv "$G/run.trec"
	dies "near: none.tsv:" near --mine none.tsv "$G/run.trec"
	dies "near: none.trec:" near --mine "$G/qrels.tsv" none.trec
	echo '{"_id": "d1", "text": "one"}' >corpus.jsonl
	dies "near: corpus.jsonl: has no text of 'd51'" near --mine "$G/qrels.tsv" --texts corpus.jsonl --query-texts corpus.jsonl "$G/run.trec"
	echo '{"text": "one"}' >corpus.jsonl
	dies "near: corpus.jsonl:1: there is no '_id' or 'id', by which a text is found" near --mine "$G/qrels.tsv" --texts corpus.jsonl --query-texts corpus.jsonl "$G/run.trec"
}
