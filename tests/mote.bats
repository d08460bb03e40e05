#!/usr/bin/env bats
load helper
load drawn

# slow

# pipelines/mote.mk: what its tables say, and a whole small run on drawn sets.

setup() {
	cd "$T"
}

@test "cells: means and deviations over seeds, errors over queries, claims" {
	mkdir em
	# two sets of one type and one of another, three seeds: differences of retrieval by seed are
	# (2 + 4) / 2, (3 + 5) / 2, (4 + 6) / 2
	for seed in 1 2 3; do
		printf '%s\n' "Retrieval a 0.10 0.1$((seed + 1)) 0.0$((seed + 1)) 0.003" \
			"Retrieval b 0.3$seed 0.40 0.0$((seed + 3)) 0.004" \
			"STS c 0.5 0.50 $([ $seed -eq 1 ] && echo -0.001 || echo 0.00$((seed - 2))) 0.0001" |
			sed "s/^/$seed /"
	done | tr ' ' '\t' >em/ic.tsv
	awk -v types="Retrieval STS Clustering" -f "$ROOT/pipelines/cells.awk" em/ic.tsv >cells
	cut -f1-3,4-6,9-13 cells >got
	cat >want <<-'END'
		base	arm	type	sets	base_mean	base_deviation	difference	difference_deviation	standard_error	seeds	claim
		em	ic	Retrieval	2	21.0000	0.5000	4.0000	1.0000	0.2500	3	yes
		em	ic	STS	1	50.0000	0.0000	0.0000	0.1000	0.0100	3	no
		em	ic	all sets	3	30.6667	0.3333	2.6667	0.7000	0.1667	3	yes
	END
	diff want got
	# without types the last row alone, of everything
	awk -f "$ROOT/pipelines/cells.awk" em/ic.tsv | cut -f3,9 >got
	printf 'type\tdifference\nall sets\t2.6667\n' | diff - got
	# two seeds claim nothing; nor do three whose signs differ
	grep -v ^3 em/ic.tsv >ic.tsv && mv ic.tsv em
	awk -v types=Retrieval -f "$ROOT/pipelines/cells.awk" em/ic.tsv | cut -f3,9,13 | grep -c 'no$' | grep -x 2
	# sets of one query have no error, and claim nothing
	sed 's/\t0.0001$/\t/; s/-0.001/0.001/; s/0.001\t$/0.003\t/; s/0.000\t$/0.003\t/' em/ic.tsv >ic.tsv
	mkdir one && cp ic.tsv one
	awk -v types="STS" -f "$ROOT/pipelines/cells.awk" one/ic.tsv | cut -f3,9,11,13 | diff - <(printf '%s\t%s\t%s\t%s\n' \
		type difference standard_error claim STS 0.3000 "" no "all sets" 0.3000 "" no)
	awk -v types="STS" -f "$ROOT/pipelines/cells.awk" one/ic.tsv | awk -v title=t -f "$ROOT/pipelines/table.awk" | grep -F '| +0.30 (0.00) |'
	awk -v title=table9 -f "$ROOT/pipelines/table.awk" cells >got
	head -n 4 got | diff - <(printf '%s\n' '| table9 | sets | em | ic - em |' '|---|---:|---:|---:|' \
		'| Retrieval | 2 | 21.00 (0.50) | +4.00 (1.00) ± 0.25 \* |' '| STS | 1 | 50.00 (0.00) | +0.00 (0.10) ± 0.01 |')
}

mote() {
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" WORDNET="$T/dictionaries" FOLDOC="$T/dictionaries/foldoc" \
		LR=1e-3 SEEDS=1 STEPS=4 "$@" </dev/null
}

# bats test_tags=plain
@test "mote: a whole table on drawn sets; texts that classifiers are fitted on are not in training" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	[ -e "$ROOT/share/models/mlm/model.safetensors" ] || skip "needs make base-model"
	drawn_sets
	drawn_text
	mote DATA="$T/data" mote-table6 >table 2>log || { cat log; false; }
	grep '^| [A-Za-z]' table | cut -d'|' -f2,3 | diff - <(printf ' %s \n' 'table6 | sets' 'Retrieval | 2' 'Classification | 3' \
		'Clustering | 2' 'Reranking | 1' 'PairClassification | 1' 'STS | 1' 'Summarization | 1' 'all sets | 11')
	[ -s out/mote/small/test/1e-3/table6.svg ]
	mote DATA="$T/data" "$T/out/mote/small/models/ea/1e-3/1/config.json"
	upcycle --average -m out/mote/small/models/mote/1e-3/1 -o mean
	cmp mean/model.safetensors out/mote/small/models/ea/1e-3/1/model.safetensors

	# every text that was learned from, of all tasks, without its instruction
	tasksample -C out/mote/data --all out/mote/small/plain.yaml >all.mts
	for side in query document; do
		mts to jsonl -c $side all.mts | jq -r ".$side"
	done | sort -u >learned
	grep -c 'of banking77' learned | grep -vx 0
	for set in banking77 emotion; do
		jq -r .text "out/mote/data/test/classification/$set/train.jsonl" | sort -u >fitted
		[ "$(wc -l <fitted)" -gt 10 ]
		[ -z "$(comm -12 learned fitted)" ]
	done
	# the development split: other rows again
	mote DATA="$T/data" SPLIT=dev "$T/out/mote/data/dev/made"
	jq -r .text out/mote/data/dev/classification/banking77/test.jsonl | sort -u >dev
	jq -r .text out/mote/data/test/classification/banking77/train.jsonl | sort -u | comm -12 dev - >both
	[ -s dev ] && [ ! -s both ]
	[ -z "$(comm -12 learned dev)" ]
	jq -r .text out/mote/data/dev/clustering/*subjects/test.jsonl | sort -u | comm -12 learned - >both
	[ ! -s both ]
	zstd -dc <out/mote/data/dev/retrieval/fin10k_qa/queries.jsonl.zst | jq -r '[._id, .text] | @tsv' |
		awk -F'\t' 'NR == FNR { asked[$1]; next } $1 in asked { print $2 }' <(cut -f1 out/mote/data/dev/retrieval/fin10k_qa/qrels/test.tsv) - |
		sort -u >dev
	[ "$(wc -l <dev)" -gt 10 ]
	[ -z "$(comm -12 learned dev)" ]
}

@test "mote: arms without instructions have none; static arms have them in the texts" {
	drawn_sets
	drawn_text
	mote DATA="$T/data" "$T/out/mote/small/plain.yaml"
	run ! grep -q prompts out/mote/small/plain.yaml
	tasksample -C out/mote/data --steps 9 out/mote/small/plain.yaml | mts head --json -n 1 | jq -e 'select(.prompts)' && false
	tasksample -C out/mote/data --steps 2 --batching static out/mote/small/instructed.yaml | mts to jsonl -c query,query.expert |
		jq -r '[.query, .["query.expert"]] | @tsv' | awk -F'\t' '{ sub(/: .*/, "", $1); gsub(/ /, "_", $1); print $1 == $2 }' | sort -u | grep -x 1
}

@test "mote: without real sets the dictionaries alone" {
	[ -e "$ROOT/share/models/mlm/model.safetensors" ] || skip "needs make base-model"
	drawn_text
	mote DATA="$T/none" "$T/out/mote/small/test/em/1e-3/1/scores.tsv"
	cut -f1,2 out/mote/small/test/em/1e-3/1/scores.tsv | sort | diff - <(printf '%s\t%s\n' Classification lexicographer \
		Clustering topics Retrieval dictionary)
	run ! grep -q real/ out/mote/small/instructed.yaml
	# Table 3 is of real sets alone, the rest can be had
	run ! mote DATA="$T/none" mote-table3
	[[ "$output" == *"mote-table3: the unseen tasks are real sets; name their folder with DATA="* ]]
	mote DATA="$T/none" -n mote | grep -o '/table[2-7].svg' | sort -u | tr -d '\n' | grep -x '/table2.svg/table4.svg/table5.svg/table6.svg/table7.svg'
}

@test "mote: runs side by side write no file of each other" {
	mkdir start && echo '{}' >start/config.json
	mote -n SIZE=paper START="$T/start" DATA="$T/mteb" SEEDS="1 2 3" mote-figure1 mote-table2 >plan
	grep -o '[^ |]*> [^ ;&]*\.mts' plan | awk '{ print $NF }' | sort >written
	[ "$(wc -l <written)" -eq 6 ]
	uniq -d written >twice
	grep -o '[-]o [^ ]*' plan | awk '{ print $NF }' | sort | uniq -d >>twice
	diff /dev/null twice
}

@test "mote: the paper's recipe has its tasks, batch and temperatures, and a file for each set" {
	recipe=$ROOT/share/recipes/mote-paper.yaml
	mkdir files
	sed -n 's/.*{name: \([^,]*\), file: \([^,}]*\).*/\1 \2/p' "$recipe" >sets
	[ "$(wc -l <sets)" -eq 27 ]
	while read -r name file; do
		if [ "$name" = reddit_title_body ]; then
			printf '{"title": "%s %d", "body": "a post %d"}\n' "$name" 1 1 "$name" 2 2
		else
			printf '["%s %d", "what it answers %d"]\n' "$name" 1 1 "$name" 2 2
		fi | gzip >"files/$file"
	done <sets
	tasksample -C files --batch 2 --plan "$recipe" | awk -F'\t' 'NR > 1 { print $3 }' | sort | uniq -c | awk '{ print $2, $1 }' |
		diff - <(printf '%s\n' 'classification 11' 'clustering 8' 'retrieval 8')
	tasksample -C files --batch 2 "$recipe" | mts stat | awk '$1 == "temperature" { print $2, $3 }' | sort | diff - <(printf '%s\n' '0.03 19' '0.06 8')
	grep -x 'batch: 6144' "$recipe"
	mkdir start && echo '{}' >start/config.json
	mote -n SIZE=paper START="$T/start" TRAIN="$T/files" DATA="$T/mteb" "$T/out/mote/paper/models/ic/5e-6/1/config.json" >plan
	grep -F -A2 "tasksample -q -C $T/files --seed 1 \$steps $T/out/mote/paper/instructed.yaml" plan | grep -e '--lr 5e-6 --decay 0.1 --seed 1'
}
