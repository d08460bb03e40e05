#!/usr/bin/env bats
load helper
load drawn

# pipelines/routerretriever.mk: what the gates (adapters) learn from and are scored on, and a whole small run on drawn data sets.

setup() {
	cd "$T"
}

@test "queries-part: one query of five is for development; if there are too many, they are thinned evenly" {
	mkdir all few
	{
		printf 'query-id\tcorpus-id\tscore\n'
		for n in {1..20}; do printf 'q%d\td%d\t1\nq%d\tx\t1\n' "$n" "$n" "$n"; done
	} >train.tsv
	awk -v most=0 -v folder=all -f "$ROOT/pipelines/queries-part.awk" train.tsv train.tsv
	tail -n +2 all/dev.tsv | cut -f1 | uniq -c | awk '{ print $1, $2 }' | diff - <(printf '2 %s\n' q5 q10 q15 q20)
	cat all/train.tsv <(tail -n +2 all/dev.tsv) | sort | diff - <(sort train.tsv)
	tail -n +2 all/train.tsv | grep -v x | diff - <(tail -n +2 all/pairs.tsv)
	awk -v most=10 -v folder=few -f "$ROOT/pipelines/queries-part.awk" train.tsv train.tsv
	tail -n +2 few/train.tsv | cut -f1 | uniq | diff - <(printf '%s\n' q2 q4 q6 q8 q12 q14 q16 q18)
	tail -n +2 few/dev.tsv | cut -f1 | uniq | diff - <(printf '%s\n' q10 q20)
	[ "$(head -n 1 few/dev.tsv)" = "$(head -n 1 train.tsv)" ]
}

@test "routed: the line of each query is from the file of its gate" {
	printf 'id\tndcg_at_10\n1\t0.5\n2\t0.25\n' >a.tsv
	printf 'id\tndcg_at_10\n1\t1\n2\t0\n' >b.tsv
	printf '_id\tgate\n1\tb\n2\ta\n' | awk -f "$ROOT/pipelines/routed.awk" - gate=a a.tsv gate=b b.tsv | sort |
		diff - <(printf '%s\t%s\n' 1 1 2 0.25 id ndcg_at_10)
}

@test "shares: tied best gates share a query; tables are in percent, with means over seeds" {
	printf '%s\t%s\t%s\n' score.a score.b score.c 0.5 0.25 0.5 0 0 0 -2 -1 -3 1 0.5 1e-3 |
		awk -f "$ROOT/pipelines/shares.awk" | diff - <(printf '%s\t%s\n' a 0.458333 b 0.333333 c 0.208333)
	mkdir -p 1 2
	printf 'a\t0.5\nb\t0.5\n' >1/set.tsv
	printf 'a\t1\nb\t0\n' >2/set.tsv
	awk -v gates="b a" -f "$ROOT/pipelines/share-table.awk" 1/set.tsv 2/set.tsv | diff - <(printf '%s\t%s\t%s\n' set b a set 25.0 75.0)
}

@test "as-one: one table for the queries of several sets; knowledge: questions whose first context agrees" {
	mkdir -p a/probe b/probe
	printf 'id\tx\n1\t5\n2\t6\n' >left.tsv
	printf 'id\tx\n1\t7\n' >right.tsv
	awk -f "$ROOT/pipelines/as-one.awk" ./left.tsv right.tsv | diff - <(printf '%s\t%s\n' id x left:1 5 left:2 6 right:1 7)
	printf 'row\tmap\tmrr\n1\t1\t1\n2\t0.5\t0.5\n3\t1\t1\n' >a/probe/1.tsv
	printf 'row\tmap\tmrr\n1\t1\t0.5\n' >b/probe/7.tsv
	awk -f "$ROOT/pipelines/knowledge.awk" a/probe/1.tsv b/probe/7.tsv |
		diff - <(printf '%s\t%s\t%s\t%s\n' gate seed questions agree a 1 3 0.6667 b 7 1 0.0000)
}

@test "capitals: each question has the country's own city and four others; spelling and several capitals are left out" {
	while IFS=: read -r word instance definition; do
		printf 'n1\ttrain\tnoun.location\t%s\t\t\t%s\t%s\t\n' "$word" "$instance" "$definition"
	done >cities <<-E
		Aba, Aba town:1:the capital and largest city of Ruritania; a port
		Bebe:1:an old town; the capital of the Isle of Ys and Avalon in the north
		Cici:1:capital city of Lemuria
		Dodo:1:the capital of Mu
		Ende:1:capital of Thule, since 1900
		Old Ende:1:the former capital of Atlantis
		New Ende:1:the capital of Atlantis
		Ophir City:1:the capital of Ophir
		Ophal:1:the capital of Ophelia
		capital:0:the capital of Nowhere
	E
	printf 'id\tsplit\tclass\twords\tkind\ttopic\tinstance\tdefinition\texamples\n' | cat - cities >table
	awk -f "$ROOT/pipelines/capitals.awk" -f "$ROOT/pipelines/json.awk" table >probe
	jq -r '.query + " " + .positive[0]' probe | diff - <(
		echo "What is the capital of Ruritania? Aba is the capital of Ruritania."
		echo "What is the capital of the Isle of Ys and Avalon? Bebe is the capital of the Isle of Ys and Avalon."
		echo "What is the capital of Lemuria? Cici is the capital of Lemuria."
		echo "What is the capital of Mu? Dodo is the capital of Mu."
		echo "What is the capital of Thule? Ende is the capital of Thule."
	)
	jq -e 'all((.negative | unique | length) == 4 and (.positive[0] as $own | .negative | index($own) == null))' <(jq -s . probe)
	jq -r '.negative[]' probe | grep -c "is the capital of Mu." | grep -x 4
}

@test "served-elsewhere: queries that another gate serves better, with the difference" {
	printf '1\tone\n2\ttwo\n3\tthree\n' >texts
	printf 'id\tx\tndcg_at_10\n1\t9\t0.5\n2\t9\t0.25\n3\t9\t0\n' >a.tsv
	printf 'id\tx\tndcg_at_10\n1\t9\t1\n2\t9\t0.25\n3\t9\t0\n' >b.tsv
	awk -v own=a -f "$ROOT/pipelines/served-elsewhere.awk" texts gate=a a.tsv gate=b b.tsv | diff - <(printf 'one\ta\tb\t1.0000\t0.5000\n')
}

# Queries without the word that distinguishes twelve documents, so that gates find different hits.
three_sets() {
	for set in left right third; do
		as_beir data/retrieval/$set
		sed -i "s/\"text\": \"/&$set /" data/retrieval/$set/*.jsonl
		sed -Ei 's/ (the|a) [a-z]+ / \1 /' data/retrieval/$set/queries.jsonl
	done
}

router() {
	[ -e few.yaml ] || {
		printf 'batch: 16\nepochs: 1\nduplicates: keep\ntasks:\n'
		for set in left right; do
			printf '  %s:\n    datasets:\n      - {name: %s, beir: %s, split: pairs, sample: 60}\n' $set $set $set
		done
	} >few.yaml
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" ROUTER_RECIPE="$T/few.yaml" DICTIONARIES= DATA="$T/data" \
		OTHERS="third absent" LR=1e-2 SEEDS=1 QUERIES=100 LAYERS=1 LEAST=2 "$@" </dev/null
}

# bats test_tags=plain
@test "routerretriever: a table on drawn sets; queries go through the gates that their scores name" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	three_sets
	zstd -q --rm data/retrieval/right/corpus.jsonl
	at=out/routerretriever/small/base/1e-2
	base=out/routerretriever/small/base/base
	recorder
	router RUN="$T/record" routerretriever-table1 >table 2>log || { cat log; false; }
	[ "$(grep -c '/train .*-o [^ ]*$' ran)" -eq "$(find out/routerretriever -name adapter_config.json | wc -l)" ]
	[ "$(grep -c '/mteb-score ' ran)" -eq "$(find $at/single -name '*.tsv' | wc -l)" ]
	[ "$(grep -c '/encode .*-o [^ ]*$' ran)" -eq "$(find out/routerretriever/small/base/{corpus,learned,told} -name '*.mts' | wc -l)" ]
	grep '^| [a-z]' table | cut -d'|' -f2,3 | diff - <(for _ in 1 2; do printf '%s\n' ' table1 | sets ' ' left | 1 ' ' right | 1 ' ' third | 1 ' ' all sets | 3 '; done)
	[ "$(jq .max_seq_length $base/sentence_bert_config.json)" = 128 ]
	# 100 of 162 queries; a gate learns from 60 of 80; the test's queries are not among them
	data=out/routerretriever/data/left
	[ "$(tail -q -n +2 $data/qrels/{train,dev}.tsv | wc -l)" = 100 ]
	[ "$(sort $data/qrels/{train,dev,test}.tsv | uniq -d)" = $'query-id\tcorpus-id\tscore' ]
	[ "$(awk 'NR > 1' $at/gates/1/left.log.tsv | awk '{ n += $9 } END { print n }')" = 60 ]
	# a gate is trained by the pipe on train's page, with the base's documents
	leaderboard fields --type corpus $data/corpus.jsonl | xargs -I{} sh -c "tok -m $base {} $data/corpus.jsonl" | encode -m $base --keep -o corpus.mts
	tasksample -C out/routerretriever/data --task left --seed 1 few.yaml | tok -m $base |
		train -q -m $base --lora rank=8,alpha=32,dropout=0.1 --documents corpus.mts --lr 1e-2 --schedule linear --warmup 0.1 \
			--no-mask-duplicates --seed 1 -o mine
	cmp mine/adapter_model.safetensors $at/gates/1/left/adapter_model.safetensors
	# the library has the training queries' scores
	for set in left right; do
		leaderboard judged out/routerretriever/data/$set/qrels/train.tsv out/routerretriever/data/$set/queries.jsonl |
			tok -m $base --format jsonl - | encode -m $base |
			pilot-route --oracle left=$at/single/left/train/1/$set.tsv right=$at/single/right/train/1/$set.tsv >$set.mts
	done
	pilot-build fit left.mts right.mts -o pilots.mts
	mts to tsv -c gate,dataset,size,pilot.emb pilots.mts | diff - <(mts to tsv -c gate,dataset,size,pilot.emb $at/pilots/pilots/1.mts)
	# encoding by routed gates gives the scores of the table
	for set in left third; do
		leaderboard judged out/routerretriever/data/$set/qrels/test.tsv out/routerretriever/data/$set/queries.jsonl |
			tok -m $base --format jsonl - | encode -m $base --keep | pilot-route pilots.mts | encode -m $base --gates $at/gates/1 |
			mteb-score retrieval -q --qrels out/routerretriever/data/$set/qrels/test.tsv --per-query routed.tsv - \
				out/routerretriever/small/base/corpus/$set.mts >/dev/null
		sort routed.tsv | diff - <(sort $at/routed/pilots/test/1/$set.tsv)
	done
	# oracle: the better score of each query
	paste $at/single/{left,right}/test/1/third.tsv | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "ndcg_at_10") at[++n] = i; next }
		{ print $1 "\t" ($at[1] > $at[2] ? $at[1] : $at[2]) }' | sort |
		diff - <(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "ndcg_at_10") at = i; next } { print $1 "\t" $at }' \
			$at/routed/oracle/test/1/third.tsv | sort)
	# best-dev: the gate with the best mean on dev takes all test queries; for a set without a gate, on both sets' dev queries
	mean() { awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "ndcg_at_10") at = i; next } { sum += $at; n++ } END { printf "%.9f", sum / n }' "$@"; }
	better() { # LEFT RIGHT: files of a split
		awk -v left="$(mean $1)" -v right="$(mean $2)" 'BEGIN { print (left >= right ? "left" : "right") }'
	}
	gate=$(better $at/single/left/dev/1/right.tsv $at/single/right/dev/1/right.tsv)
	sort $at/single/$gate/test/1/right.tsv | diff - <(sort $at/routed/best-dev/test/1/right.tsv)
	gate=$(better "$(echo $at/single/left/dev/1/{left,right}.tsv)" "$(echo $at/single/right/dev/1/{left,right}.tsv)")
	sort $at/single/$gate/test/1/third.tsv | diff - <(sort $at/routed/best-dev/test/1/third.tsv)
}

# bats test_tags=plain
@test "routerretriever: the other tables and pictures" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of training, sanitized"
	three_sets
	at=out/routerretriever/small/base/1e-2
	router routerretriever >tables 2>log || { cat log; false; }
	for name in table1 table2 table3 table7 table12 rules weights weights-dev figure4 figure5 figure8 figure9 layers; do
		grep "^| $name |" tables
		grep -c '<svg' $at/$name.svg
	done
	for name in figure6 figure7 curve4 curve5 curve8 curve9; do
		grep -c '<svg' $at/$name.svg
	done
	# a rate is judged by the queries that the router sends to gates
	router "$T/$at/rate.tsv"
	awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "ndcg_at_10") at = i; f++; next } { sum[f] += $at; n[f]++ }
		END { printf "1e-2\t%.2f\n", 50 * (sum[1] / n[1] + sum[2] / n[2]) }' $at/routed/pilots/dev/1/{left,right}.tsv | diff - $at/rate.tsv
	run ! cmp $at/{routed/pilots,single/left}/dev/1/left.tsv
	# the shares of a set add up to all its queries
	awk -F'\t' 'NR > 1 { n++; if ($2 + $3 < 99.8 || $2 + $3 > 100.2) exit 1 } END { exit n != 3 }' $at/figure6.tsv
	awk -F'\t' 'NR > 1 { n++; if ($2 + $3 < 99.8 || $2 + $3 > 100.2) exit 1 } END { exit n != 3 }' $at/figure7.tsv
	diff out/routerretriever/small/base/table4.tsv <(printf '%s\t%s\t%s\t%s\t%s\n' set train dev test documents left 80 20 54 216 right 80 20 54 216 third 80 20 54 216)
	router QUERIES=50 routerretriever-table4 | cut -f1-3 | tail -n +2 | diff - <(printf '%s\t%s\t%s\n' left 40 10 right 40 10 third 40 10)
	# gates with trained documents, and from later layers, are kept beside these
	router DOCUMENTS=trained routerretriever-table7 >trained
	router FROM=1 LINEAR=attn.Wqkv routerretriever-table7 >later
	run ! diff trained later
	mts to jsonl out/routerretriever/small/base/corpus/left.mts >/dev/null
	mts to jsonl -c _id out/routerretriever/small/base/learned/left.mts | jq -r ._id | sort | diff - <(tail -n +2 out/routerretriever/data/left/qrels/pairs.tsv | cut -f2 | sort)
	jq -c '.target_modules | sort' out/routerretriever/small/base/1e-2-from-1/gates/1/left/adapter_config.json | grep -Fx '["1.attn.Wqkv","2.attn.Wqkv"]'
	# one pass: layer 1 chooses among gates that start there
	router LINEAR=attn.Wqkv routerretriever-onepass | grep -F '| onepass | sets | head | from-1 - head |'
	[ "$(awk -F'\t' '$3 == "left" { printf "%.6f", $5 }' $at/compare/test/base/from-1.tsv)" = \
		"$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "ndcg_at_10") at = i; next } { sum += $at } END { printf "%.6f", sum / (NR - 1) }' \
			$at-from-1/routed/head-layer-1/test/1/left.tsv)" ]
	router SAMPLES="10 30" routerretriever-figure3
	awk -F'\t' 'NR > 1 { print $1, $2, $3 }' $at/figure3.tsv | diff - <(for n in 10 30; do for gate in left right; do printf "$n $gate %s\n" left right third; done; done)
}

# The paper's data sets, drawn, with a model of two tiny layers and batches of eight.
paper_sets() {
	for set in "$@"; do
		as_beir beir/$set
		sed -i "s/\"text\": \"/&$set /; /_id\": \"[dq][0-9]*[1-9]\"/d" beir/$set/*.jsonl
		sed -i -E '/\t[dq][0-9]*[1-9]\t/d' beir/$set/qrels/*.tsv
	done
}

paper() {
	[ -e few.yaml ] || sed 's/^batch: .*/batch: 8/' "$ROOT/share/recipes/routerretriever-paper.yaml" >few.yaml
	make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" SIZE=paper ROUTER_RECIPE="$T/few.yaml" START="$T/start" \
		DATA="$T/beir" SEEDS=1 "$@" </dev/null
}

@test "routerretriever: the paper's size has its recipe, rate, length and data sets" {
	mkdir start && echo '{}' >start/config.json
	for set in arguana msmarco hotpotqa nfcorpus scifact quora fiqa trec-covid scidocs; do
		mkdir -p beir/$set/qrels
		touch beir/$set/{corpus,queries}.jsonl beir/$set/qrels/{train,dev,test}.tsv
	done
	paper -n routerretriever-table1 >plan
	grep -c '^echo "gate 1/' plan | grep -x 8 # and the multi-task gate
	grep -F 'echo "encode trec-covid"' plan
	run ! grep -F 'echo "encode nq"' plan
	# rounds of three epochs while dev queries gain; dot products; no document with the query's id is a hit
	grep -F -e "--task arguana --seed \$((1 * 1000 + round)) --epochs 3 $T/few.yaml" plan
	grep -F -- '--lr 1e-4 --similarity dot  --no-mask-duplicates --seed 1' plan
	grep -F 'mteb-score retrieval -q --similarity dot --ignore-identical-ids --qrels' plan
	run ! grep -F 'mteb-score retrieval -q --qrels' plan
	grep -F 'max_seq_length: 512' plan
	grep -F "msmarco/qrels/dev.tsv $T/out/routerretriever/data/msmarco/qrels/test.tsv" plan
	# all tables have rules, none with gates of later layers
	paper -n routerretriever >plan
	[ "$(grep -c '^echo "gate 1/' plan)" = 8 ]
	run ! grep -F 'layer-' plan
	# without ROUNDS the paper's schedule; TRAIN_OPTIONS and PRECISION are passed on
	paper -n ROUNDS= PRECISION=bf16 TRAIN_OPTIONS="--memory 4G" routerretriever-table1 >plan
	grep -F -A 2 -e "--task arguana --seed 1 $T/few.yaml" plan | grep -F -- '--precision bf16 --no-mask-duplicates --seed 1 --memory 4G --schedule linear --warmup 0.1 -o'
	awk '/encode -q -m/ && !/encode -q -m [^ ]* --precision bf16/' plan | diff - /dev/null
	# the code's order, in which the first of equal gates is best, and the figures' order
	paper -n routerretriever-table2 >plan
	grep -E 'pilot-build fit .*pilots/pilots/1.mts' plan | grep -oE '[a-z]+\.mts' | paste -sd' ' | grep -F 'msmarco.mts quora.mts arguana.mts hotpotqa.mts nfcorpus.mts scifact.mts fiqa.mts'
	# the multi-task gate is the first in the figures' order, others follow in another order
	paper -n ROUNDS= routerretriever-figure4-multi | grep -F -- '--task arguana --task fiqa --seed 1 <(sed'
	paper -n ORDERS=2 routerretriever-figure9 >plan
	first=$(grep -E 'pilot-build fit .*pilots/pilots-2/1.mts' plan | grep -oE '[a-z]+\.mts')
	other=$(grep -E 'pilot-build fit .*pilots/pilots-order2-2/1.mts' plan | grep -oE '[a-z]+\.mts')
	[ "$first" = $'arguana.mts\nfiqa.mts' ]
	[ "$(wc -l <<<"$other")" = 2 ]
	[ "$first" != "$other" ]
}

# bats test_tags=plain
@test "routerretriever: the paper's size runs on drawn sets: a batch of each gate, a table, the probe" {
	[[ $BUILD != *-sanitize ]] || skip "training, sanitized"
	cp -r "$GOLDEN/bert" start
	paper_sets msmarco arguana scifact scidocs
	rm beir/scidocs/qrels/train.tsv
	cp beir/msmarco/qrels/{test,dev}.tsv
	head -n 3 beir/msmarco/qrels/dev.tsv >beir/msmarco/qrels/test.tsv
	recorder
	paper ROUNDS=1 ROUND=1 RUN="$T/record" routerretriever-table1 >table 2>log || { cat log; false; }
	at=out/routerretriever/paper/start/1e-4
	[ "$(grep -c '/train ' ran)" = 4 ]
	for gate in msmarco arguana scifact balanced; do
		awk -F'\t' 'NR > 1 { n += $9 } END { exit !(n >= 8 && n % 8 == 0) }' $at/gates/1/$gate.round.log.tsv
		wc -l <$at/gates/1/$gate.rounds.tsv | grep -x 2
	done
	head -n 1 table | grep -F ' msmarco - base | balanced - base | pilots - base | pilots-less-msmarco - base | best - base | best-dev - base | oracle - base |'
	# MSMARCO is scored on its dev queries
	[ "$(wc -l <$at/single/msmarco/test/1/msmarco.tsv)" = "$(wc -l <beir/msmarco/qrels/dev.tsv)" ]
	printf '{"query": "a red boat", "positive": ["the red boat sails"], "negative": ["a blue fish", "the bird"]}\n' >probe.jsonl
	paper ROUNDS=1 ROUND=1 routerretriever-knowledge PROBE="$T/probe.jsonl" | cut -f1-3 | diff - <(printf '%s\t%s\t1\n' base 1 msmarco 1 arguana 1 scifact 1 | sed '1i gate\tseed\tquestions')
	run -2 paper routerretriever-knowledge
}

@test "routerretriever: rounds go on while dev queries gain, and the best one is kept" {
	[[ $BUILD != *-sanitize ]] || skip "training, sanitized"
	cp -r "$GOLDEN/bert" start
	paper_sets msmarco arguana
	paper ROUNDS=4 ROUND=1 PATIENCE=1 LR=1e-2 "$T/out/routerretriever/paper/start/1e-2/gates/1/arguana/adapter_config.json" 2>log || { cat log; false; }
	at=out/routerretriever/paper/start/1e-2/gates/1
	[ "$(ls -d $at/arguana*)" = "$at/arguana
$at/arguana.round.log.tsv
$at/arguana.rounds.tsv" ]
	# each round but the last is better than all before, unless there are four
	awk -F'\t' 'NR > 1 { if (stopped) exit 1; if ($2 > best || NR == 2) best = $2; else stopped = 1 } END { exit NR > 5 }' $at/arguana.rounds.tsv
	best=$(sort -t$'\t' -k2,2gr -k1,1n $at/arguana.rounds.tsv | head -n 1 | cut -f2)
	encode -q -m out/routerretriever/paper/start/base --adapter $at/arguana out/routerretriever/paper/start/told/emb/dev/arguana.mts |
		mteb-score retrieval -q --similarity dot --ignore-identical-ids --qrels out/routerretriever/data/arguana/qrels/dev.tsv - \
			out/routerretriever/paper/start/corpus/arguana.mts | awk '$1 == "ndcg_at_10" { printf "%.6f\n", $2 }' | grep -x "$best"
}
