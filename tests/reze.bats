#!/usr/bin/env bats
load helper
load drawn

# pipelines/reze.mk: what each arm learns from and is scored on, and a whole small run on drawn data sets.

setup() {
	cd "$T"
}

recipe_of() { # SETTING...: awk's -v options
	awk "$@" -f "$ROOT/pipelines/reze-recipe.awk" r.yaml r.yaml
}

drawn_recipe() {
	cat >r.yaml <<-'END'
		# a comment
		batch: 8
		tasks:
		  # of words
		  words: # what they mean
		    datasets:
		      - {name: noun, file: [a.jsonl, b.jsonl], sample: 400} # Retrieval *
		      - {name: nouns, file: c.jsonl, part: 0-60%, sample: 400} # Retrieval
		      - {name: class, file: d.jsonl} # Classification *
		  money:
		    datasets:
		      - {name: bank, file: e.jsonl, names: [a, b], sample: 7} # Classification *
	END
}

@test "reze-recipe: the sets of a domain without the target, or the target alone with its shots" {
	drawn_recipe
	recipe_of -v target=noun | grep -v '^ *#\|^batch' | diff - <(printf '%s\n' 'tasks:' '  words: # what they mean' '    datasets:' \
		'      - {name: nouns, file: c.jsonl, part: 0-60%, sample: 400} # Retrieval' '      - {name: class, file: d.jsonl} # Classification *')
	recipe_of -v target=noun -v sample=100 | tail -n 2 | diff - <(printf '%s\n' '    datasets:' \
		'      - {name: noun, file: [a.jsonl, b.jsonl], sample: 100}')
	recipe_of -v target=class -v sample=5 | tail -n 1 | grep -Fx '      - {name: class, file: d.jsonl, sample: 5}'
	recipe_of -v target=bank -v sample=5 | tail -n 2 | diff - <(printf '%s\n' '    datasets:' '      - {name: bank, file: e.jsonl, names: [a, b], sample: 5}')
	recipe_of -v target=bank -v sample=5 | grep -x 'batch: 8'
	[ "$(recipe_of -v target=nouns -v told=1)" = "words nouns" ]
	[ "$(recipe_of -v target=bank -v told=1)" = "money bank" ]
	# all rows; all domains as one pool, which ignores a set's own shots; prompts
	recipe_of -v target=bank -v sample=all | tail -n 1 | grep -Fx '      - {name: bank, file: e.jsonl, names: [a, b]}'
	recipe_of -v target=bank -v pool=1 | grep -v '^ *#\|^batch' | diff - <(printf '%s\n' 'tasks:' '  pool:' '    datasets:' \
		'      - {name: noun, file: [a.jsonl, b.jsonl], sample: 400} # Retrieval *' '      - {name: nouns, file: c.jsonl, part: 0-60%, sample: 400} # Retrieval' \
		'      - {name: class, file: d.jsonl} # Classification *')
	recipe_of -v target=bank -v pool=1 -v sample=5 | diff - <(recipe_of -v target=bank -v sample=5)
	PROMPTS='{query: "q: ", document: "d: "}' recipe_of -v target=bank -v sample=5 | tail -n 3 |
		diff - <(printf '%s\n' '    prompts: {query: "q: ", document: "d: "}' '    datasets:' '      - {name: bank, file: e.jsonl, names: [a, b], sample: 5}')
	run -1 recipe_of -v target=none
	[ "$output" = "reze-recipe.awk: r.yaml has no data set none" ]
}

@test "pairs-to-beir: each query and document once, a judgement for each pair" {
	mkdir -p d/qrels
	printf '%s\t%s\n' '"a"' '"x \"y\""' '"b"' '"x \"y\""' '"a"' '"z"' '"a"' '"z"' | awk -v folder=d -f "$ROOT/pipelines/pairs-to-beir.awk"
	jq -c '[._id, .text]' d/corpus.jsonl | diff - <(printf '%s\n' '["d1","x \"y\""]' '["d2","z"]')
	jq -c '[._id, .text]' d/queries.jsonl | diff - <(printf '%s\n' '["q1","a"]' '["q2","b"]')
	tail -n +2 d/qrels/test.tsv | diff - <(printf '%s\t%s\t1\n' q1 d1 q2 d1 q1 d2)
}

@test "cells: every type in its order, or data sets instead of types" {
	mkdir ft
	printf '%s\t%s\t%s\t0.5\t0.6\t0.1\t0.01\n' 1 b-100 y-100 1 a-100 x-100 1 b-100 z-100 >ft/pft.tsv
	awk -v types=every -f "$ROOT/pipelines/cells.awk" ft/pft.tsv | cut -f3,4,9 |
		diff - <(printf '%s\t%s\t%s\n' type sets difference b-100 2 10.0000 a-100 1 10.0000 'all sets' 3 10.0000)
	awk -v types=every -v by=set -f "$ROOT/pipelines/cells.awk" ft/pft.tsv | cut -f3,4 |
		diff - <(printf '%s\t%s\n' type sets y-100 1 x-100 1 z-100 1 'all sets' 3)
	awk -v types=every -v only='x-100 z-100' -f "$ROOT/pipelines/cells.awk" ft/pft.tsv | cut -f3,4 |
		diff - <(printf '%s\t%s\n' type sets a-100 1 b-100 1 'all sets' 2)
}

# tables.mk's macro, which the papers' pipelines call
@test "compared: query by query, over all sets of both; the parts of a set count together" {
	mkdir -p {a,b}/results/m/1
	printf 'Classification\tWhole\taccuracy\t0\nClassification\tParts\taccuracy\t0\nSTS\tMissing\tcosine_spearman\t0\n' >a/scores.tsv
	scores() { printf 'id\taccuracy\n1\t%s\n2\t%s\n' "${@:2}" >"$1.tsv"; }
	scores a/results/m/1/Whole 0.25 0.5
	scores b/results/m/1/Whole 0.5 0.75
	scores a/results/m/1/Parts@en@test 0.125 0.25
	scores b/results/m/1/Parts@en@test 0.25 0.375
	scores a/results/m/1/Parts@de@test 0.5 0.5
	scores b/results/m/1/Parts@de@test 0.75 1
	scores a/results/m/1/Missing 0 0
	printf 'X := %s\nSHELL := bash\nall:\n\t@$(call compared,7,a,b)\ninclude %s\n' "$BUILD/bin" "$ROOT/pipelines/tables.mk" >makefile
	make -s all >out
	cut -f1-6,8 out | diff - <(printf '7\tClassification\t%s\n' $'Whole\t0.375\t0.625\t0.25\t2' $'Parts\t0.34375\t0.59375\t0.25\t4')
}

# a tenth of each set: 160 pairs in the first stage
reze() {
	[ -e few.yaml ] || sed 's/sample: 400/sample: 40/' "$ROOT/share/recipes/reze-small.yaml" >few.yaml
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" WORDNET="$T/dictionaries" FOLDOC="$T/dictionaries/foldoc" \
		START="$T/mlm" DATA="$T/none" REZE_RECIPE="$T/few.yaml" LR=1e-3 SEEDS=1 TARGETS=lexicographer SHOTS=16 "$@" </dev/null
}

# bats test_tags=plain
@test "reze: a whole table on drawn sets; no arm reads the target before its shots" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	drawn_text
	at=out/reze/small/mlm
	recorder
	reze RUN="$T/record" reze-table2 >table 2>log || { cat log; false; }
	# statistics, PFT and REZE, fine-tuned and not; make mteb scored four arms
	grep -v '/out/reze/.*/scores/' ran | sed 's|.* -o [^ ]*/reze/small/mlm/||; s/ .*//' | sort | diff - <(printf '%s\n' \
		1e-3/models/{ft,pft,reze}/lexicographer/16/1 1e-3/pre/{pft,reze}/lexicographer/1 statistics/lexicographer/all.mts | sort)
	[ "$(grep -c '/encode ' ran)" -gt 6 ] && [ "$(grep -c '/mteb-score ' ran)" -eq 5 ]
	grep '^| [a-z]' table | cut -d'|' -f2,3 | diff - <(printf '%s\n' ' table2 | sets ' ' language-16 | 1 ' ' all sets | 1 ' \
		' table2 | sets ' ' language-16 | 1 ' ' all sets | 1 ')
	for arm in pft whitening flow reze; do
		head -n 1 table | grep -F " $arm - ft |"
	done
	# pre-finetuning reads all other sets of the domain, and none of the target
	tasksample -C out/reze/data --all $at/without/lexicographer.yaml | mts to jsonl -c dataset | jq -r .dataset | sort | uniq -c |
		awk '{ print $2, $1 }' | diff - <(printf '%s\n' 'foldoc 40' 'name 40' 'sibling 40' 'wordnet 40')
	[ "$(tasksample -C out/reze/data --all $at/only/lexicographer/16.yaml | mts to jsonl -c dataset | sort | uniq -c | awk '{ print $1 }')" = 16 ]
	# REZE's first stage is the pipe on its page
	tasksample -C out/reze/data --all $at/without/lexicographer.yaml | tok -m $at/base | encode -m $at/base | reze-stats fit -o s.mts
	tasksample -C out/reze/data --seed 1 $at/without/lexicographer.yaml | tok -m $at/base | encode -m $at/base --keep | reze-stats apply s.mts |
		train -q -m $at/base --lr 1e-3 --warmup 0 --no-mask-duplicates --seed 1 --reze 1 -o mine
	cmp mine/model.safetensors $at/1e-3/pre/reze/lexicographer/1/model.safetensors
	run ! cmp mine/model.safetensors $at/1e-3/pre/pft/lexicographer/1/model.safetensors
	# whitening is fitted on PFT's embeddings of the target's pairs
	model=$at/1e-3/models/pft/lexicographer/16/1
	tasksample -C out/reze/data --all $at/only/lexicographer/16.yaml | tok -q -m $model | encode -m $model |
		geom whiten fit -q -f query -f document -o map.mts
	for part in train test; do
		set=out/reze/data/test/lexicographer/classification/lexicographer/$part.jsonl
		if [ $part = train ]; then leaderboard drawn --samples 8 $set; else cat $set; fi |
			tok -q -m $model --format jsonl -f text - | encode -m $model | geom whiten apply -q map.mts - >$part.mts
	done
	mteb-score classification --protocol v1 --samples 8 --train train.mts test.mts >mine.tsv
	awk '$1 == "accuracy" { printf "Classification\tlexicographer\taccuracy\t%.2f\n", 100 * $2 }' mine.tsv |
		diff - $at/1e-3/scores/test/whitening/lexicographer/16/1/scores.tsv
	# figures and tables: geom's on the base; REZE moved embeddings less than PFT
	reze reze-figure3 reze-drift reze-figure4 reze-table4 >views
	tasksample -C out/reze/data --all $at/without/lexicographer.yaml | tok -m $at/base | encode -m $at/base >base.mts
	geom isoscore -q --relations -f query -f document base.mts | awk -F'\t' 'NR == 2 { print $5 }' |
		diff - <(awk -F'\t' '$3 == "base.mts" { print $7 }' $at/1e-3/figure3.tsv)
	awk -F'\t' '$4 == "all" { moved[$1] = $8 } END { exit !(moved["reze"] > 0 && moved["reze"] < moved["pft"]) }' $at/1e-3/drift.tsv
	grep -c '<svg' $at/1e-3/figure4-lexicographer.svg
	grep -P '^name\t\d+\t\d+\t\d+$' $at/table4.tsv
	# other maps of PFT's embeddings, on the development split, which nothing has scored before
	reze FLOORS=1e-1 reze-maps >maps
	for arm in whitening whitening-1e-1 scale flow; do
		head -n 1 maps | grep -F " $arm - pft |"
		[ -s $at/1e-3/scores/dev/$arm/lexicographer/16/1/scores.tsv ]
	done
	[ -e $at/1e-3/scores/dev/pft/lexicographer/16/1/work ] && run ! ls -d $at/1e-3/scores/dev/flow/lexicographer/16/1/work
	# the effect of the same statistics on the same pairs; without shrinkage none
	reze reze-effect | grep -F '| language | plain | 4 | 160 | 0.0000 | 1.0000 | 1.0000 | 0.0000 |'
	awk -F'\t' '$2 == "reze" { print $5, $6 }' $at/1e-3/effect.tsv | diff - <(reze-stats effect s.mts base.mts | awk '$1 == "all" { print $3, $4 }')
}

@test "reze: shots are drawn by the seed; a pool of all domains; the model's prompts or PROMPTS, in recipes and in scoring" {
	drawn_text
	at=out/reze/small-draws/mlm
	reze DRAWS=1 "$T/$at/only/lexicographer/16/1.yaml" "$T/$at/only/lexicographer/16/2.yaml"
	for seed in 1 2; do
		tasksample -C out/reze/data --all $at/only/lexicographer/16/$seed.yaml | mts to jsonl -c query,document | sort >shots.$seed
		[ "$(wc -l <shots.$seed)" = 16 ]
	done
	run -1 cmp shots.1 shots.2
	sort out/text/train-class.jsonl | jq -c '{query, document}' | sort | comm -13 - <(sort -u shots.1 shots.2) | diff - /dev/null
	# both domains' sets without the target
	{ sed '/^  language/,$d' few.yaml; sed -n '/^  language/,/^  business/p' few.yaml | sed '$d'; sed -n '/^  language/,/^  business/p' few.yaml | sed '$d; s/^  language/  tongue/; s/name: /&other-/'; } >two.yaml
	reze POOL=1 REZE_RECIPE="$T/two.yaml" "$T/out/reze/small-pool/mlm/without/lexicographer.yaml"
	tasksample -C out/reze/data --all out/reze/small-pool/mlm/without/lexicographer.yaml | mts to jsonl -c dataset | sort -u | wc -l | grep -x 9
	# the model's prompts
	reze "$T/out/reze/small/mlm/without/lexicographer.yaml"
	run ! grep prompts out/reze/small/mlm/without/lexicographer.yaml
	rm -r out/reze/small
	reze PROMPTS='{"query": "query: ", "document": "passage: "}' "$T/out/reze/small/mlm/without/lexicographer.yaml"
	grep -Fx '    prompts: {query: "query: ", document: "passage: "}' out/reze/small/mlm/without/lexicographer.yaml
	jq -e '.prompts.query == "query: "' out/reze/small/mlm/base/config_sentence_transformers.json
}

@test "reze: more SHOTS or SEEDS make the table again" {
	mkdir -p out
	reze "$T/out/reze/small/mlm/1e-3/runs/main"
	[ "$(cat out/reze/small/mlm/1e-3/runs/main)" = "lexicographer/16, 1" ]
	touch -d '2020-01-01' out/reze/small/mlm/1e-3/runs/main
	reze "$T/out/reze/small/mlm/1e-3/runs/main"
	[ "$(date -r out/reze/small/mlm/1e-3/runs/main +%Y)" = 2020 ]
	reze SHOTS="16 32" "$T/out/reze/small/mlm/1e-3/runs/main"
	[ "$(cat out/reze/small/mlm/1e-3/runs/main)" = "lexicographer/16 lexicographer/32, 1" ]
	[ "$(date -r out/reze/small/mlm/1e-3/runs/main +%Y)" != 2020 ]
}

@test "reze: another LENGTH, START or DATA trains again, the same ones do not" {
	drawn_text
	at=out/reze/small/mlm
	tuned() { reze "$@" "$T/$at/1e-3/models/ft/lexicographer/16/1/config.json" 2>log; grep -c '^fine-tune' log; }
	[ "$(tuned LENGTH=32)" = 1 ]
	[ "$(jq .max_seq_length $at/base/sentence_bert_config.json)" = 32 ]
	run -1 tuned LENGTH=32
	[ "$(tuned LENGTH=48)" = 1 ]
	[ "$(jq .max_seq_length $at/base/sentence_bert_config.json)" = 48 ]
	mkdir elsewhere && cp -rp mlm elsewhere
	[ "$(tuned LENGTH=48 START="$T/elsewhere/mlm")" = 1 ]
	drawn_sets
	[ "$(tuned LENGTH=48 START="$T/elsewhere/mlm" DATA="$T/data")" = 1 ]
	[ -L out/reze/data/real ]
	run -1 tuned LENGTH=48 START="$T/elsewhere/mlm" DATA="$T/data"
	# a run with other settings does not resume from the checkpoint
	echo broken >$at/1e-3/models/ft/lexicographer/16/1.checkpoint
	[ "$(tuned LENGTH=32)" = 1 ]
}

@test "reze: at the paper's size another TRAIN trains again, another DATA is scored again" {
	mkdir start
	settings() { make -s --no-print-directory -C "$ROOT" OUT="$T/out" SIZE=paper START="$T/start" "$@" "$T/out/reze/paper/start/from" "$T/out/reze/paper/start/scored" </dev/null; }
	settings TRAIN=/one DATA=/two
	cat out/reze/paper/start/{from,scored} | diff - <(printf '%s\n' "$T/start, 1024, /one" /two)
	settings TRAIN=/three DATA=/four
	cat out/reze/paper/start/{from,scored} | diff - <(printf '%s\n' "$T/start, 1024, /three" /four)
	make -C "$ROOT" -pn OUT="$T/out" SIZE=paper START="$T/start" TARGETS=x help >rules
	grep '/scores/%/scores.tsv:.* [^ ]*/paper/start/scored ' rules
	grep '/base/config.json:.* [^ ]*/paper/start/from' rules
}

@test "reze: the paper's size has its recipe, rate, length and targets" {
	mkdir start && echo '{}' >start/config.json
	make -s --no-print-directory -C "$ROOT" -n OUT="$T/out" SIZE=paper START="$T/start" TRAIN="$T/files" DATA="$T/mteb" SEEDS=1 \
		reze-table2 </dev/null >plan
	at=$T/out/reze/paper/start
	# all tables and figures have rules
	make -s --no-print-directory -C "$ROOT" -n OUT="$T/out" SIZE=paper START="$T/start" TRAIN="$T/files" DATA="$T/mteb" SEEDS=1 reze </dev/null >all
	for arm in mean zero printed plain eta-0.3 eta-1 strong weight-10; do
		grep -c "^echo \"pre-finetune $arm/" all | grep -x 3
	done
	# thirteen targets, with three numbers of shots, with and without REZE
	grep -c '^echo "fine-tune ft/' plan | grep -x 39
	grep -c '^echo "fine-tune reze/' plan | grep -x 39
	grep -c '^echo "pre-finetune pft/' plan | grep -x 13
	grep -o '^echo "fine-tune ft/[A-Za-z0-9]*' plan | sort -u | sed 's,.*/,,' |
		diff - <(sed -n 's/.*{name: \([^,]*\),.*\*$/\1/p' "$ROOT/share/recipes/reze-paper.yaml" | sort)
	grep -F "tasksample -q -C $T/files --seed 1 $at/without/CosQA.yaml" -A 3 plan | grep -F -- '--lr 1e-4 --warmup 0 --no-mask-duplicates'
	grep -F "max_seq_length: 1024" plan
	grep -F 'TASKS="CosQA" DATA='"$T/mteb" plan
}

# A file of eight rows for each line of the recipe's domain, by its type.
paper_files() { # DOMAIN
	sed -n "/^  $1:/,/^  [a-z]*:\$/p" "$ROOT/share/recipes/reze-paper.yaml" | sed -n 's/.*{name: \([^,]*\), type: \([^,]*\), \(file\|beir\): \([^,}]*\).*/\1 \2 \4/p' |
		while read -r name type file; do
			mkdir -p "files/$(dirname "$file.")"
			case $type in
			Retrieval) as_beir "files/$file" && cp files/"$file"/qrels/{train,dev}.tsv ;;
			*) drawn_rows "$name" $type >"files/$file" ;;
			esac
		done
}

drawn_rows() { # SET TYPE
	for n in {1..8}; do
		case $2 in
		Classification) echo "{\"text\": \"text $n of $1\", \"label\": \"class $((n % 2))\"}" ;;
		Clustering) echo "{\"sentences\": \"text $n of $1\", \"labels\": \"class $((n % 2))\"}" ;;
		PairClassification) echo "{\"sentence1\": \"text $n of $1\", \"sentence2\": \"text of $1, $n\", \"labels\": 1}" ;;
		Reranking) echo "{\"query\": \"query $n of $1\", \"positive\": [\"answer $n\"], \"negative\": [\"other $n\"]}" ;;
		STS) echo "{\"sentence1\": \"text $n of $1\", \"sentence2\": \"text of $1, $n\", \"score\": 1}" ;;
		esac
	done
}

# bats test_tags=plain
@test "reze: the paper's size runs on drawn files: a batch of each arm and stage, each map, and a table" {
	[[ $BUILD != *-sanitize ]] || skip "training, sanitized"
	cp -r "$GOLDEN/bert" start
	paper_files finmteb
	mkdir -p mteb/classification/ESGClassification
	cp files/ESGClassification/train.jsonl mteb/classification/ESGClassification/train.jsonl
	cp files/ESGClassification/train.jsonl mteb/classification/ESGClassification/test.jsonl
	sed '/^  coir/,/^  finmteb/{/^  finmteb/!d}' "$ROOT/share/recipes/reze-paper.yaml" >few.yaml
	recorder
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" SIZE=paper START="$T/start" TRAIN="$T/files" DATA="$T/mteb" SEEDS=1 SHOTS=8 \
		LENGTH=16 TARGETS=ESGClassification REZE_RECIPE="$T/few.yaml" TRAIN_OPTIONS="--save-every 0" RUN="$T/record" reze-table2 </dev/null >table 2>log || { cat log; false; }
	for arm in pft whitening flow reze; do
		head -n 1 table | grep -F " $arm - ft |"
	done
	[ "$(grep -c -- '--save-every 0' ran)" = 5 ]
	at=out/reze/paper/start/1e-4
	for stage in pre/pft/ESGClassification pre/reze/ESGClassification models/ft/ESGClassification/8 models/reze/ESGClassification/8; do
		awk -F'\t' 'NR > 1 && $9 == 8 { n++ } END { exit !n }' $at/$stage/1.log.tsv
	done
}
