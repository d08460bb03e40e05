#!/usr/bin/env bats
load helper
load drawn

# slow

# pipelines/mote.mk: its scripts and tables, and a whole small run on drawn data sets.

setup() {
	cd "$T"
}

# em/ic.tsv: two sets of one type and one of another, three seeds. The differences of retrieval by seed are
# (2 + 4) / 2, (3 + 5) / 2, (4 + 6) / 2.
small_cells() {
	mkdir -p em
	for seed in 1 2 3; do
		printf '%s\n' "Retrieval a 0.10 0.1$((seed + 1)) 0.0$((seed + 1)) 0.003" \
			"Retrieval b 0.3$seed 0.40 0.0$((seed + 3)) 0.004" \
			"STS c 0.5 0.50 $([ $seed -eq 1 ] && echo -0.001 || echo 0.00$((seed - 2))) 0.0001" |
			sed "s/^/$seed /"
	done | tr ' ' '\t' >em/ic.tsv
}
cells() { awk "$@" -f "$ROOT/pipelines/cells.awk" em/ic.tsv; }

@test "cells: means and deviations over seeds, standard errors over queries and over seeds" {
	small_cells
	cells -v types="Retrieval STS Clustering" >cells
	cut -f1-3,4-6,9-12,14-15 cells | diff - <(cat <<-'END'
		base	arm	type	sets	base_mean	base_deviation	difference	difference_deviation	standard_error	seeds	seed_error	error
		em	ic	Retrieval	2	21.0000	0.5000	4.0000	1.0000	0.2500	3	0.5774	0.6292
		em	ic	STS	1	50.0000	0.0000	0.0000	0.1000	0.0100	3	0.0577	0.0586
		em	ic	all sets	3	30.6667	0.3333	2.6667	0.7000	0.1667	3	0.4041	0.4372
	END
	)
	# without types only the last row, of all sets
	cells | cut -f3,9 | diff - <(printf 'type\tdifference\nall sets\t2.6667\n')
	# one seed gives no error over seeds; two give one, and no claim
	grep -v ^3 em/ic.tsv >two.tsv && mv two.tsv em/ic.tsv
	cells -v types=Retrieval | cut -f9,11-17 | tail -n 1 | diff - <(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' 3.5000 0.2500 2 no 0.5000 0.5590 '' '')
	grep ^1 em/ic.tsv >one.tsv && mv one.tsv em/ic.tsv
	cells -v types=Retrieval | cut -f9,11-17 | tail -n 1 | diff - <(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' 3.0000 0.2500 1 no '' 0.2500 '' '')
}

@test "cells: errors, p and Holm's correction are numpy's and scipy's" {
	(cd "$GOLDEN/cells" && awk -v types=every -f "$ROOT/pipelines/cells.awk" em/sure.tsv em/seeds.tsv em/queries.tsv em/equal.tsv ic/none.tsv) >cells
	cut -f1-4,13 cells | diff - <(cut -f1-4,11 "$GOLDEN/cells/expected.tsv")
	grep -c yes cells | grep -vx 0
	# four decimals of errors, three digits of p
	paste cells "$GOLDEN/cells/expected.tsv" | awk -F'\t' 'function far(ours, theirs, most) { return (ours - theirs) ^ 2 > most ^ 2 }
		NR > 1 { bad = far($9, $22, 6e-5) || far($11, $23, 6e-5) || far($14, $24, 6e-5) || far($15, $25, 6e-5) ||
				far($16, $26, 0.006 * $26) || far($17, $27, 0.006 * $27)
			if (bad) { print; failed = 1 } } END { exit failed || NR != 21 }'
}

@test "cells: claims depend on the errors over seeds and queries, the number of queries, and Holm's correction over the table" {
	rows() { # DIFFERENCES ERROR QUERIES: rows of one set and three seeds
		i=0
		for difference in $1; do printf '%d\tSTS\ta\t0.5\t0.5\t%s\t%s\t%s\n' $((++i)) "$difference" "$2" "$3"; done
	}
	claims() { awk -v types=STS -f "$ROOT/pipelines/cells.awk" "$@" | awk -F'\t' '$3 == "STS" { print $2, $13 }' | paste -sd' '; }
	mkdir em
	# 2.5 errors over queries are enough, over seeds with two degrees of freedom they are not
	rows "0.025 0.025 0.025" 0.01 1000 >em/queries.tsv
	rows "0.033 0.017 0.025" 0.0001 1000 >em/seeds.tsv
	rows "0.025 0.025 0.025" 0.01 4 >em/few.tsv
	claims em/queries.tsv | grep -x 'queries yes'
	claims em/seeds.tsv | grep -x 'seeds no'
	claims em/few.tsv | grep -x 'few no'
	# with three cells and their "all sets" p 0.0124 is not enough; a clear difference stays one
	rows "0.1 0.1 0.1" 0.01 1000 >em/sure.tsv
	claims em/queries.tsv em/seeds.tsv em/sure.tsv | grep -x 'queries no seeds no sure yes'
	# a set of one query has no error over queries and gives no claim
	rows "0.1 0.1 0.1" '' 1 >em/one.tsv
	awk -v types=STS -f "$ROOT/pipelines/cells.awk" em/one.tsv | cut -f3,9,11,13-17 | diff - <(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
		type difference standard_error claim seed_error error p holm_p STS 10.0000 '' no 0.0000 0.0000 '' '' \
		"all sets" 10.0000 '' no 0.0000 0.0000 '' '')
	claims em/one.tsv em/queries.tsv | grep -x 'one no queries yes'
	# no difference and no error give no claim
	rows "0 0 0" 0 9 >em/same.tsv
	claims em/same.tsv | grep -x 'same no'
}

@test "table: both errors and stars for claims; the arms below; the paper's numbers beside ours" {
	small_cells
	cells -v types="Retrieval STS" | awk -v title=table9 -f "$ROOT/pipelines/table.awk" >got
	diff got - <<-'END'
		| table9 | sets | em | ic - em |
		|---|---:|---:|---:|
		| Retrieval | 2 | 21.00 (0.50) | +4.00 ± 0.63 (0.25, 0.58) (\*) |
		| STS | 1 | 50.00 (0.00) | +0.00 ± 0.06 (0.01, 0.06) |
		| all sets | 3 | 30.67 (0.33) | +2.67 ± 0.44 (0.17, 0.40) (\*) |

		Times 100; means over 3 seeds, of the base with their deviation over seeds; ± the error of the difference, in
		brackets its two parts: over queries and over seeds; \* p < 0.05, by Holm's correction over the 3 cells that have a p;
		(\*) p < 0.05 by itself.
	END
	# alone in its table the last cell is a claim
	cells | awk -v title=table9 -f "$ROOT/pipelines/table.awk" | sed -n 3p | diff - <(echo '| all sets | 3 | 30.67 (0.33) | +2.67 ± 0.44 (0.17, 0.40) \* |')
	printf '%s\t%s\t%s\n' paper arm words mote em dense mote ic 'with instructions' reze ic other mote eta-\* 'eta *' >arms.tsv
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' table row base arm base_score difference source mote-table9 STS em ic 50 +1.25 'Table 9' \
		mote-table8 Retrieval em ic 50 +7 'Table 8' reze-table9 Retrieval em ic 50 +8 'Table 9' >papers.tsv
	cp em/ic.tsv em/eta-0.3.tsv
	sed 's/\t0.00[34]$/\t/' em/ic.tsv >em/x.tsv
	awk -v types="Retrieval STS" -f "$ROOT/pipelines/cells.awk" em/ic.tsv em/eta-0.3.tsv em/x.tsv |
		awk -v title=table9 -v paper=mote -f "$ROOT/pipelines/table.awk" arms.tsv papers.tsv - >got
	head -n 4 got | diff - <(cat <<-'END'
		| table9 | sets | em | ic - em | paper | eta-0.3 - em | x - em |
		|---|---:|---:|---:|---:|---:|---:|
		| Retrieval | 2 | 21.00 (0.50) | +4.00 ± 0.63 (0.25, 0.58) (\*) |  | +4.00 ± 0.63 (0.25, 0.58) (\*) | +4.00 ± 0.58 (-, 0.58) |
		| STS | 1 | 50.00 (0.00) | +0.00 ± 0.06 (0.01, 0.06) | +1.25 | +0.00 ± 0.06 (0.01, 0.06) | +0.00 ± 0.06 (0.01, 0.06) |
	END
	)
	tail -n 7 got | diff - <(printf '%s\n' "brackets its two parts: over queries and over seeds; \\* p < 0.05, by Holm's correction over the 8 cells that have a p;" \
		'(\*) p < 0.05 by itself.' \
		'paper: the difference there, Table 9.' '' '- em: dense' '- ic: with instructions' '- eta-0.3: eta 0.3')
	# an arm of two bases is explained once
	mkdir ic && cp em/ic.tsv ic/em.tsv
	awk -f "$ROOT/pipelines/cells.awk" em/ic.tsv ic/em.tsv | awk -v paper=mote -f "$ROOT/pipelines/table.awk" arms.tsv - | tail -n 3 |
		diff - <(printf '%s\n' '' '- em: dense' '- ic: with instructions')
	# names joined by +
	mkdir plain+hs && cp em/ic.tsv plain+hs/plain+rw.tsv
	awk -f "$ROOT/pipelines/cells.awk" plain+hs/plain+rw.tsv | awk -v paper=moee -f "$ROOT/pipelines/table.awk" "$ROOT/pipelines/arms.tsv" - |
		tail -n 2 | diff - <(printf '%s\n' '- plain+hs: no prompt; hidden states' '- plain+rw: no prompt; routing weights')
}

@test "tables: every arm of the papers' tables has an explanation, every number of a paper a cell" {
	mkdir -p start data/retrieval/fin10k_qa && echo '{"num_hidden_layers": 3}' >start/config.json && echo '{}' >start/sentence_bert_config.json
	for set in wordnet fin10k_qa scifact; do mkdir -p data/retrieval/$set/qrels && touch data/retrieval/$set/qrels/{train,test}.tsv data/retrieval/$set/{corpus,queries}.jsonl; done
	mkdir -p data/{clustering/a,classification/sst2,sts/sts12,reranking/x} && touch data/sts/sts12/test.jsonl data/clustering/a/test.jsonl
	asked() { make -s --no-print-directory -C "$ROOT" -n OUT="$T/out" START="$T/start" DATA="$T/data" "$@" </dev/null | grep -E 'awk.* -f [^ ]*(cells|table)[.]awk'; }
	for paper in mote reze routerretriever; do asked $paper; done >plan
	asked MODEL="$T/start" moee >>plan
	asked mote-hybrid >>plan
	grep -o '[^ ]*/compare/[^ ]*[.]tsv' plan | sort -u | while read -r file; do
		paper=$(sed "s,^$T/out/\([a-z]*\)/.*,\1," <<<"$file")
		for arm in "$(basename "${file%/*}")" "$(basename "${file%.tsv}")"; do
			# an adapter of a set has the set's name
			[[ $paper == routerretriever && $arm =~ ^(wordnet|foldoc|fin10k_qa|scifact)$ ]] || echo "$paper $arm"
		done
	done | sort -u >used
	[ "$(cut -d' ' -f1 used | uniq -c | awk '$1 > 5' | wc -l)" = 4 ]
	while read -r paper arm; do
		printf 'base\tarm\tx\n%s\t%s\tx\n' "$arm" "$arm" | awk -v paper="$paper" -f "$ROOT/pipelines/table.awk" "$ROOT/pipelines/arms.tsv" - |
			grep -F -e "- $arm: " >/dev/null || echo "$paper $arm"
	done <used | diff - /dev/null
	# each table of papers.tsv is one of ours
	awk -F'\t' 'NR > 1 { print $1 }' "$ROOT/pipelines/papers.tsv" | sort -u >tables
	sed -n "s/.*-v paper=\([a-z]*\) -v title='\([a-z0-9-]*\)'.*/\1-\2/p" plan | sort -u | comm -13 - tables | diff - /dev/null
	awk -F'\t' 'NR > 1 && (NF != 7 || $6 !~ /^[-+][0-9]+[.][0-9][0-9]$/ || $5 !~ /^[0-9]+[.][0-9][0-9]$/ || seen[$1, $2, $3, $4]++)' "$ROOT/pipelines/papers.tsv" | diff - /dev/null
}

mote() {
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" WORDNET="$T/dictionaries" FOLDOC="$T/dictionaries/foldoc" \
		START="$T/mlm" LR=1e-3 SEEDS=1 STEPS=4 "$@" </dev/null
}

# bats test_tags=plain
@test "mote: a whole table on drawn sets; texts that classifiers are fitted on are not in training" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	drawn_sets
	drawn_text
	mote DATA="$T/data" mote-table6 >table 2>log || { cat log; false; }
	grep '^| [A-Za-z]' table | cut -d'|' -f2,3 | diff - <(printf ' %s \n' 'table6 | sets' 'Retrieval | 2' 'Classification | 3' \
		'Clustering | 2' 'Reranking | 1' 'PairClassification | 1' 'STS | 1' 'Summarization | 1' 'all sets | 11')
	[ -s out/mote/small/mlm/test/1e-3/table6.svg ]
	mote DATA="$T/data" "$T/out/mote/small/mlm/models/ea/1e-3/1/config.json"
	upcycle --average -m out/mote/small/mlm/models/mote/1e-3/1 -o mean
	cmp mean/model.safetensors out/mote/small/mlm/models/ea/1e-3/1/model.safetensors

	# all training texts of all tasks, without their instructions
	tasksample -C out/mote/data --all out/mote/small/mlm/plain.yaml >all.mts
	for side in query document; do
		mts to jsonl -c $side all.mts | jq -r ".$side"
	done | sort -u >learned
	grep -c 'of banking77' learned | grep -vx 0
	for set in banking77 emotion; do
		jq -r .text "out/mote/data/test/classification/$set/train.jsonl" | sort -u >fitted
		[ "$(wc -l <fitted)" -gt 10 ]
		[ -z "$(comm -12 learned fitted)" ]
	done
	# the development split has other rows
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
	mote DATA="$T/data" "$T/out/mote/small/mlm/plain.yaml"
	run ! grep -q prompts out/mote/small/mlm/plain.yaml
	tasksample -C out/mote/data --steps 9 out/mote/small/mlm/plain.yaml | mts head --json -n 1 | jq -e 'select(.prompts)' && false
	tasksample -C out/mote/data --steps 2 --batching static out/mote/small/mlm/instructed.yaml | mts to jsonl -c query,query.expert |
		jq -r '[.query, .["query.expert"]] | @tsv' | awk -F'\t' '{ sub(/: .*/, "", $1); gsub(/ /, "_", $1); print $1 == $2 }' | sort -u | grep -x 1
}

@test "mote: without real data sets only the dictionaries are used" {
	drawn_text
	mote DATA="$T/none" "$T/out/mote/small/mlm/test/em/1e-3/1/scores.tsv"
	cut -f1,2 out/mote/small/mlm/test/em/1e-3/1/scores.tsv | sort | diff - <(printf '%s\t%s\n' Classification lexicographer \
		Clustering topics Retrieval dictionary)
	run ! grep -q real/ out/mote/small/mlm/instructed.yaml
	# Table 3 needs real data sets, the other tables do not
	run ! mote DATA="$T/none" mote-table3
	[[ "$output" == *"mote-table3: the unseen tasks are real sets; name their folder with DATA="* ]]
	mote DATA="$T/none" -n mote | grep -o '/table[2-7].svg' | sort -u | tr -d '\n' | grep -x '/table2.svg/table4.svg/table5.svg/table6.svg/table7.svg'
}

@test "mote: other STEPS, DATA or START train again, the same ones do not; each START has its own rates" {
	drawn_text
	at=out/mote/small/mlm/models/em/1e-3/1
	trained() { mote DATA="$T/none" "$@" "$T/out/mote/small/${start:-mlm}/models/em/1e-3/1/config.json" 2>log; grep -c '^train' log; }
	[ "$(trained STEPS=2)" = 1 ]
	[ "$(tail -n +2 $at.log.tsv | wc -l)" = 2 ]
	run -1 trained STEPS=2
	# a run with other settings does not resume from the checkpoint
	echo broken >$at.checkpoint
	[ "$(trained STEPS=3)" = 1 ]
	[ "$(tail -n +2 $at.log.tsv | wc -l)" = 3 ]
	# a run with the same settings resumes from it
	rm $at/config.json
	echo broken >$at.checkpoint
	run trained STEPS=3
	grep -F "$at.checkpoint" log
	rm $at.checkpoint
	[ "$(trained STEPS=3)" = 1 ]
	# real data sets enter the mix
	drawn_sets
	[ "$(trained STEPS=3 DATA="$T/data")" = 1 ]
	grep real/ out/mote/small/mlm/instructed.yaml
	run -1 trained STEPS=3 DATA="$T/data"
	# another START has its own folder; one of the same name is trained again
	cp -r mlm other
	mkdir elsewhere && cp -rp other elsewhere
	start=other
	[ "$(trained STEPS=3 DATA="$T/data" START="$T/other")" = 1 ]
	[ "$(trained STEPS=3 DATA="$T/data" START="$T/elsewhere/other")" = 1 ]
	run -1 trained STEPS=3 DATA="$T/data" START="$T/elsewhere/other"
	# rates by START; a START without rates has mlm's
	rate_of() { make -s --no-print-directory -C "$ROOT" -n OUT="$T/none" RATES="$T/rates.tsv" START="$1" mote-table2 </dev/null | grep -o 'echo "train em/[^/]*' | sort -u; }
	printf '%s\t%s\t%s\n' other em 1e-2 mlm em 1e-4 mlm ic 1e-5 other ic 1e-6 >rates.tsv
	[ "$(rate_of "$T/other")" = 'echo "train em/1e-2' ]
	[ "$(rate_of "$ROOT/share/models/mlm")" = 'echo "train em/1e-4' ]
	[ "$(rate_of "$ROOT/share/models/base")" = 'echo "train em/1e-4' ]
	# which is said, unless LR is given, or rates are being chosen
	borrows() { mote LR= RATES="$T/rates.tsv" "$@" "$T/out/mote/small/$(basename "${1#START=}")/from" 2>log; grep -c "rates.tsv has no rates of ${1##*/}: it is trained at those of mlm" log; }
	[ "$(borrows START="$ROOT/share/models/base")" = 1 ]
	[ "$(borrows START="$ROOT/share/models/base" LR=1e-3 || :)" = 0 ]
	[ "$(borrows START="$ROOT/share/models/mlm" || :)" = 0 ]
	[ "$(borrows START="$T/other" || :)" = 0 ]
	[ "$(borrows START="$ROOT/share/models/base" SPLIT=dev || :)" = 0 ]
}

@test "mote: other TYPES are scored again; rates found for a START are listed before those of others" {
	mkdir -p start out/mote/small/start/dev/{em,ic}/{5e-4,1e-3}/1
	echo '{}' >start/config.json
	mote START="$T/start" TYPES=STS "$T/out/mote/small/start/test/scored"
	[ "$(cat out/mote/small/start/test/scored)" = STS ]
	mote START="$T/start" "$T/out/mote/small/start/test/scored"
	[ "$(cat out/mote/small/start/test/scored)" = "Retrieval Classification Clustering" ]
	touch -d '2020-01-01' out/mote/small/start/test/scored
	mote START="$T/start" "$T/out/mote/small/start/test/scored"
	[ "$(date -r out/mote/small/start/test/scored +%Y)" = 2020 ]
	for arm in em ic; do
		printf 'STS\ta\tx\t%s\n' 50 40 >out/mote/small/start/dev/$arm/5e-4/1/scores.tsv
		printf 'STS\ta\tx\t%s\n' 30 $([ $arm = em ] && echo 80 || echo 50) >out/mote/small/start/dev/$arm/1e-3/1/scores.tsv
	done
	found=$T/out/mote/small/start
	mote $(printf -- "-o $found/dev/%s/1/scores.tsv " {em,ic}/{5e-4,1e-3}) START="$T/start" TUNED="em ic" LRS="5e-4 1e-3" SPLIT=dev "$found/rates.tsv"
	printf '%s\t%s\t%s\n' '# start' arm rate mlm em 1e-5 start em 1e-6 start random 1e-7 >rates.tsv
	mote MAKE=: START="$T/start" RATES="$T/rates.tsv" mote-rates >shown
	diff shown rates.tsv
	diff rates.tsv - <<-'END'
		# start	arm	rate	each rate that was tried and its mean
		start	em	1e-3	5e-4	45.00	1e-3	55.00
		start	ic	5e-4	5e-4	45.00	1e-3	40.00
		mlm	em	1e-5
		start	random	1e-7
	END
}

# Data sets of task-experts.mk's designs, and the files of packages.mk, newer than their sources.
drawn_more() {
	drawn_sets
	drawn_text
	for set in medquad cosqa cranfield; do
		as_beir data/retrieval/$set
	done
	for set in financial_phrasebank amazon_counterfactual_en; do
		mkdir data/classification/$set
		sentences "of $set" | as_json >data/classification/$set/train.jsonl
	done
	mkdir data/clustering/stackoverflow_titles
	for time in 1 2 3 4 5 6; do sentences "title $time"; done | as_json >data/clustering/stackoverflow_titles/test.jsonl
	find data -name '*.jsonl' -exec zstd -q --rm {} +
	mkdir -p out/demo/packages/lists
	touch out/demo/packages/lists/{Packages,Translation-en} out/demo/packages/{table.tsv,synopses.tsv,corpus.jsonl,{dev,test}.{jsonl,qrels}}
	paste <(sentences synopsis) <(sentences description) | awk -F'\t' '{ for (n = 0; n < 9; n++)
		printf "{\"query\": \"%s %d\", \"document\": \"%s %d\"}\n", $2, n, $4, n }' >out/demo/packages/train.jsonl
	sentences package | as_json | sed 's/"label"/"section"/' >out/demo/packages/sections.jsonl
}

design() {
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" WORDNET="$T/dictionaries" FOLDOC="$T/dictionaries/foldoc" \
		START="$T/mlm" BASE="$T/mlm" DATA="$T/data" E_RATES="$T/rates.tsv" LRS=1e-3 SEEDS=1 STEPS=2 "$@" </dev/null 2>log || { cat log; false; }
}

# bats test_tags=plain
@test "mote-forget: scores of the old task before and after the new one; frozen experts keep them to the bit" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	drawn_more
	# the other arms have no rules of their own
	few="dense experts-replay experts-frozen lora"
	# tables of one arm are made again with more arms
	design FORGET_ARMS=dense mote-forget >table
	run ! grep -q lora table
	design FORGET_ARMS="$few" mote-forget-rates | grep -cP '^mlm\tforget-[a-z-]*\t1e-3\t1e-3\t[0-9.]*$' | grep -x 4
	[ -e out/mote/experts/mlm/dev/forget.tsv ]
	design FORGET_ARMS="$few" mote-forget >table
	grep -q lora table
	grep '^| [a-z]' table | cut -d'|' -f2,3 | sort -u | diff - <(printf ' %s \n' 'all sets | 5' 'forget-2 | sets' 'new | 4' 'old | 1')
	# embeddings of the old task, by the model that each arm uses for it
	embeds() { tok -q -m "$1" --task dictionary -f text out/text/test/queries.jsonl | encode -q -m "$1" | mts cat -q -c text.emb | mts to jsonl; }
	M=out/mote/experts/mlm/models
	embeds out/mote/experts/mlm/start/forget-dense >base
	for arm in dense experts-replay experts-frozen; do
		embeds $M/forget-$arm/1e-3/1/2 | cmp -s - base && echo $arm kept || echo $arm moved
	done | diff - <(printf '%s\n' 'dense moved' 'experts-replay moved' 'experts-frozen kept')
	awk -F'\t' '$1 == "base" && $3 == "old" && $2 == "lora" { print $9 + 0 }' out/mote/experts/mlm/tables/forget-2.tsv | grep -x 0
	# replay: the old task's pairs are learned again, by its expert
	tasksample -C out/mote/data --plan --steps 0 out/mote/experts/mlm/forget-new.yaml >plan
	run ! grep -q define out/mote/experts/mlm/forget-new.yaml
	tasksample -C out/mote/data --epochs 1 --plan out/mote/experts/mlm/forget.yaml | cut -f3 | sort -u | grep -x define
	[ -s out/mote/experts/mlm/tables/forget.svg ]
}

# bats test_tags=plain
@test "mote-scale, mote-late: table, curve and starts; the control's experts have the batches of shared, without their tasks" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	drawn_more
	design LR=1e-3 mote-scale >table
	grep '^| [A-Za-z]' table | cut -d'|' -f2,3 | sort -u | diff - <(printf ' %s \n' 'Classification | 3' 'Clustering | 2' 'Retrieval | 2' \
		'all sets | 12' 'further | 2' 'scale-2 | sets' 'unseen | 3')
	[ -s out/mote/experts/mlm/tables/scale.svg ]
	# late models start from the trained dense one
	design LR=1e-3 "$T/out/mote/experts/mlm/start/late-mote-1/config.json"
	design LR=1e-3 -n "$T/out/mote/experts/mlm/tables/late-2.md" >plan
	for arm in ic mote shared chance; do grep -q "train late-$arm/1e-3/1/2" plan; done
	# also for a seed whose dense half is not trained yet
	design LR=1e-3 SEEDS="1 2" -n "$T/out/mote/experts/mlm/tables/late-2.md" >plan
	grep -q "train scale-ic/1e-3/2/2" plan
	# rates and models belong to a START; another has none yet
	printf '%s\tscale-ic\t%s\n' mlm 7e-4 other 3e-5 >rates.tsv
	cp -r mlm other
	rates_of() { design START="$T/$1" -pn "$T/out/mote/experts/$1/seeds" | awk '$1 == "scale-ic.lr" { print $1, $3 } $1 == "scale-mote.lr" { print $1, $3 }'; }
	rates_of mlm | sort -u | diff - <(printf '%s\n' 'scale-ic.lr 7e-4' 'scale-mote.lr ')
	rates_of other | sort -u | diff - <(printf '%s\n' 'scale-ic.lr 3e-5' 'scale-mote.lr ')
	# a late split needs the dense half's rate, not the rates of the arms from the start
	printf 'other\tlate-%s\t1e-4\n' ic mote shared chance >>rates.tsv
	run make -n --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" START="$T/other" DATA="$T/data" E_RATES="$T/rates.tsv" mote-late
	[[ $output == *"train scale-ic/3e-5/1/256"* && $output == *"train late-mote/1e-4/1/256"* ]]
	[[ $output != *"train scale-mote"* && $output != *mote-scale-rates* ]]
	grep -q "train late-mote/1e-3/2/2" plan
	upcycle -m out/mote/experts/mlm/models/scale-ic/1e-3/1/2 --experts classification,clustering,search_query,search_document -o late
	cmp late/model.safetensors out/mote/experts/mlm/start/late-mote-1/model.safetensors

	E=out/mote/experts/mlm
	experts_in() { tasksample -C out/mote/data --steps 40 "$1" | mts head --json -n 9999 | jq -c '.attributes.experts // empty'; }
	experts_in $E/chance.yaml | jq -r '[.query, .document] | unique | join(" ")' | sort -u | diff - <(printf '%s\n' one three two)
	diff <(tasksample -C out/mote/data --steps 9 $E/chance.yaml | mts to jsonl) <(tasksample -C out/mote/data --steps 9 $E/scale.yaml | mts to jsonl)
	jq -c .task_experts.tasks $E/start/chance/config.json | grep -x '{"classification":"one","clustering":"one","search_query":"one","search_document":"one"}'
	jq -cS .prompts $E/start/chance/config_sentence_transformers.json >chance
	jq -cS .prompts $E/start/ic/config_sentence_transformers.json | diff - <(sed 's/"one":"[^"]*",//; s/"three":"[^"]*",//; s/"two":"[^"]*"//; s/,}/}/' chance)
	run -2 --separate-stderr make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" DATA="$T/none" mote-scale
	[[ "$stderr" == *"mote-scale: its sets are real; name their folder with DATA="* ]]
}

# The files that the paper's recipe names, each with two pairs of letters, and a tiny model whose vocabulary is letters.
paper_files() {
	mkdir files
	grep -o '[^ ,[]*[.]jsonl[.]gz' "$ROOT/share/recipes/mote-paper.yaml" >names
	[ "$(wc -l <names)" -eq 38 ]
	cat -n names | while read -r number file; do
		for n in $((2 * number)) $((2 * number + 1)); do
			word=$(printf %03o $n | tr 0-7 a-h)
			case $file in
			reddit*) printf '{"title": "q %s", "body": "d%s post"}\n' $word $word ;;
			*) printf '["q %s", "d%s a"]\n' $word $word ;;
			esac
		done | gzip >"files/$file"
	done
	cp -r "$GOLDEN/train/nomic_bert" start
}

paper() {
	mote SIZE=paper START="$T/start" TRAIN="$T/files" DATA="$T/mteb" LR=5e-6 "$@"
}

@test "mote: runs side by side write different files" {
	paper_files
	paper -n SEEDS="1 2 3" mote-figure1 mote-table2 >plan
	grep -o '[^ |]*> [^ ;&]*\.mts' plan | awk '{ print $NF }' | sort >written
	[ "$(wc -l <written)" -eq 6 ]
	uniq -d written >twice
	grep -o '[-]o [^ ]*' plan | awk '{ print $NF }' | sort | uniq -d >>twice
	diff /dev/null twice
}

@test "mote: the paper's recipe has its tasks, batch, temperatures and nomic's counts, and a file for each set" {
	recipe=$ROOT/share/recipes/mote-paper.yaml
	paper_files
	tasksample -C files --batch 2 --plan "$recipe" | awk -F'\t' 'NR > 1 { print $3 }' | sort | uniq -c | awk '{ print $2, $1 }' |
		diff - <(printf '%s\n' 'classification 11' 'clustering 19' 'retrieval 8')
	tasksample -C files --batch 2 "$recipe" | mts stat | awk '$1 == "temperature" { print $2, $3 }' | sort | diff - <(printf '%s\n' '0.03 19' '0.06 19')
	grep -x 'batch: 6144' "$recipe"
	# 234,553,344 pairs without those of two sets that have no file
	[ "$(grep -o 'sample: [0-9]*' "$recipe" | awk '{ s += $2 } END { printf "%d", s }')" -eq 222085120 ]
}

# bats test_tags=plain
@test "mote: the paper's size trains a batch of each arm from files of the recipe's names, unpacked and indexed once" {
	paper_files
	gzip -d files/squad_pairs.jsonl.gz
	arms="em ic mote random eob tlr tlr-raw static shared joined chance warmup sem-retrieval sem-classification sem-clustering homogeneous heterogeneous warm ea ea-eob"
	mapfile -t models < <(printf "$T/out/mote/paper/start/models/%s/5e-6/1/config.json\n" $arms)
	paper BATCH=2 STEPS=1 TRAIN_OPTIONS="--memory 64M" "${models[@]}" >log 2>&1 || { cat log; false; }
	for arm in $arms; do
		[ -s "out/mote/paper/start/models/$arm/5e-6/1/model.safetensors" ]
		case $arm in ea*) continue ;; esac
		# a step of two examples with a loss above 0
		[ "$(awk -F'\t' 'END { print NR, $9, ($5 > 0) }' "out/mote/paper/start/models/$arm/5e-6/1.log.tsv")" = "2 2 1" ]
	done
	[ "$(find out/mote/index -type f | wc -l)" -ge 27 ]
	[ -L out/mote/files/squad_pairs.jsonl ] && [ ! -L out/mote/files/PAQ_pairs.jsonl ]
	# other options train again; each rank has its own pipe
	ic=$T/out/mote/paper/start/models/ic/5e-6/1/config.json
	paper BATCH=2 STEPS=1 TRAIN_OPTIONS="--memory 64M" "$ic" 2>again
	diff /dev/null again
	paper BATCH=2 STEPS=1 PRECISION=bf16 "$ic" 2>again
	[ "$(grep -c ^train again)" -eq 1 ]
	paper -n PRECISION=bf16 RANKS=8 TRAIN_OPTIONS="--clip 2" RUN=share/cluster/one-device "$ic" >plan
	for part in "mpirun -n 8 bash -o pipefail -c '" "tasksample -q -C $T/out/mote/files --index $T/out/mote/index --rank \${OMPI_COMM_WORLD_RANK:-" \
		"mpi/bin/train -q -m $T/out/mote/paper/start/start/instructed --lr 5e-6 --decay 0.1 --seed 1 --precision bf16 --clip 2"; do
		grep -qF -- "$part" plan
	done
	# all tables
	paper -n mote >plan
	grep -c '/table[2-7].svg' plan
	rm files/npr.jsonl.gz out/mote/files/npr.jsonl out/mote/index/made
	run -2 --separate-stderr paper "$ic"
	[[ "$stderr" == "mote: there is no npr.jsonl.gz in TRAIN=$T/files; "* ]]
}
