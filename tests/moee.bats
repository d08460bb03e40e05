#!/usr/bin/env bats
load helper
load drawn

# slow

# pipelines/moee.mk: tables and figures of a model of a few steps, compared with the programs run by hand.

setup() {
	cd "$T"
	# a narrow model, since make and the programs take most of the time
	jq '. + {vocab_size: 1024, hidden_size: 64, intermediate_size: 64, num_hidden_layers: 3}' "$ROOT/share/recipes/moee-model.json" >config.json
}

moee() {
	env -u MAKEFLAGS make -s --no-print-directory -C "$ROOT" B="${BUILD#"$ROOT"/}" OUT="$T/out" WORDNET="$T/dictionaries" FOLDOC="$T/dictionaries/foldoc" \
		DATA="$T/data" SEEDS=1 MOEE_TRAIN="--steps 2 --batch-tokens 512 --lr 1e-2" MOEE_PROMPTS="style tone" MOEE_CLUSTERS=3 \
		MOEE_CONFIG="$T/config.json" MOEE_COMMON=1 THRESHOLDS="0.1 0.3" "$@" </dev/null
}

# Six data sets, two of them with the pairs that the figures show.
paired_sets() {
	drawn_sets
	rm -r data/retrieval data/sts/stsbenchmark* data/classification/banking77
	for year in 12 13; do
		mkdir -p data/sts/sts$year
		sentences "in $year" | awk -F'\t' 'NR % 3 == 0 { s[++n] = $2 } END { for (i = 1; i < n; i++)
			printf "{\"sentence1\": \"%s\", \"sentence2\": \"%s\", \"score\": %.2f}\n", s[i], s[(i * 7) % n + 1], (i * 13) % 11 / 2 }' \
			>data/sts/sts$year/test.jsonl
	done
	zstdcat data/classification/emotion/train.jsonl.zst | sed 's/"kitchen"/0/; s/"harbour"/1/; s/"garden"/1/' >numbers
	mkdir -p data/classification/sst2
	awk 'NR % 2' numbers >data/classification/sst2/train.jsonl
	awk 'NR % 9 == 0' numbers >data/classification/sst2/test.jsonl
}

@test "pair-examples: pairs with high scores that one model ranks right and the other wrong, the clearest first" {
	awk 'BEGIN { print "id\tsentence1\tsentence2"; for (i = 1; i <= 8; i++) print i "\tone " i "\tother " i }' >texts.tsv
	# gold scores are the ids; a ranks 8 last, b ranks 7 first
	paste <(printf '%s\n' id 1 2 3 4 5 6 7 8) <(printf '%s\n' gold 1 2 3 4 5 6 7 8) <(printf '%s\n' similarity 2 3 4 5 6 7 8 1) >a.tsv
	paste <(printf '%s\n' id 1 2 3 4 5 6 7 8) <(printf '%s\n' gold 1 2 3 4 5 6 7 8) <(printf '%s\n' similarity 2 3 4 5 6 7 1 8) >b.tsv
	examples() { awk -v a=A -v b=B -f "$ROOT/pipelines/ranks.awk" -f "$ROOT/pipelines/pair-examples.awk" "$@"; }
	examples texts.tsv a.tsv b.tsv | diff - <(printf '%s\t%s\t%s\t%s\t%s\t%s\n' right gold A_off B_off sentence1 sentence2 \
		A 7 0.125 0.750 "one 7" "other 7" B 8 0.875 0.000 "one 8" "other 8")
	dies "b.tsv: of the pair '8' there are no texts" examples <(head -n 8 texts.tsv) <(head -n 8 a.tsv) b.tsv
	dies "pair-examples: two tables of the same pairs are needed" examples texts.tsv a.tsv <(head -n 8 b.tsv)
}

# bats test_tags=plain
@test "moee: tables and figures of a model of a few steps equal those of the programs run by hand" {
	[[ $BUILD != *-sanitize ]] || skip "minutes, sanitized"
	paired_sets
	drawn_text
	sentences running | cut -f2 >out/text/corpus.txt
	moee moee >tables 2>log || { cat log; false; }
	E=out/moee/small/model model=out/moee/model/1
	# the tokenizer of the model adds a special token
	[ "$(jq -c '.post_processor.single | map(keys[0])' $model/tokenizer.json)" = '["SpecialToken","Sequence"]' ]
	for name in table{1,3,4,5,6,8} figure{1,2,4,5,6} sum prompts alpha alphas norm legacy; do
		[ -s $E/$name.md ] || { echo "no $name"; false; }
		grep -qF "$(sed -n 3p $E/$name.md)" tables
	done
	for picture in table{3,4,5,8} sum prompts alpha norm legacy figure{1,2-1,3-hs,3-rw,4-1,5-1,6-1}; do [ -s $E/$picture.svg ] || { echo "no $picture"; false; }; done

	# the summed similarity of an STS set with the template
	made() { tok -q -m $model "$@" -f sentence1 -f sentence2 data/sts/sts12/test.jsonl | encode -q -m $model --emit hs,rw; }
	made --template prompteol >pairs.mts
	spearman() { mteb-score sts -q -f sentence1 -f sentence2 --json - | jq '.scores.main_score * 1e4 | round'; }
	of_cell() { awk -F'\t' -v set="$2" '$2 == set { printf "%.0f", 100 * $4 }' $E/scores/1/"$1"/scores.tsv; }
	[ "$(moee-sim -q --combine sum pairs.mts | spearman)" = "$(of_cell prompteol+sum STS12)" ]
	[ "$(moee-sim -q --combine rw pairs.mts | spearman)" = "$(of_cell prompteol+rw STS12)" ]
	[ "$(moee-sim -q --norm corpus pairs.mts | spearman)" = "$(of_cell prompteol+corpus STS12)" ]
	[ "$(moee-sim -q --alpha 0 --norm corpus pairs.mts | spearman)" = "$(of_cell prompteol+hs-corpus STS12)" ]
	[ "$(moee-sim -q --norm batch=64 pairs.mts | spearman)" = "$(of_cell prompteol+code STS12)" ]
	[ "$(moee-sim -q --alpha auto pairs.mts | spearman)" = "$(of_cell prompteol+auto STS12)" ]
	[ "$(made | moee-sim -q --combine concat | spearman)" = "$(of_cell plain+concat STS12)" ]
	[ "$(tok -q -m $model --template tone -f sentence1 -f sentence2 data/sts/sts12/test.jsonl | encode -q -m $model --emit hs,rw |
		moee-sim -q --combine rw | spearman)" = "$(of_cell tone+rw STS12)" ]
	[ "$(tok -q -m $model --template prompteol -f sentence1 -f sentence2 data/sts/sts12/test.jsonl | encode -q -m $model --pooling mean |
		spearman)" = "$(of_cell prompteol+hs-tokens STS12)" ]
	# a cell is the mean difference over the sets
	want=$(join -t "	" -j 2 <(sort -k2,2 $E/scores/1/prompteol+hs/scores.tsv) <(sort -k2,2 $E/scores/1/prompteol+sum/scores.tsv) |
		awk -F'\t' '$2 == "STS" { sum += $7 - $4; n++ } END { printf "%.2f", sum / n }')
	awk -F'\t' '$2 == "prompteol+sum" && $3 == "STS" { printf "%.2f", $9 }' $E/table4.tsv | within <(echo "$want") 0.011
	# the table's alpha is moee-sim's
	found=$(moee-sim --alpha auto pairs.mts -o with.mts && mts head --json with.mts | jq -r '.properties.emb // empty | sub(".*alpha="; "")')
	grep -qP "^1\tprompteol\tauto\tSTS12\t$found$" $E/alphas.tsv
	# Table 1: the paper's values and chance beside ours
	cut -f3,4 $E/table1.tsv | grep -c 'class\|chance' | found -x 5
	tok -q -m $model --template prompteol -f text data/clustering/twentynewsgroups_subjects/test.jsonl* | encode -q -m $model --emit hs,rw >texts.mts
	geom agreement -q -k 3 -f text.hs -f text.rw texts.mts | awk -F'\t' 'NR == 2' | cut -f3- >want
	awk -F'\t' '$3 ~ /hs$/ && $4 ~ /rw$/' $E/table1.tsv | cut -f5- | diff - want
	# Figure 4: two of the nine prompts, two kinds of vectors; Figure 5: the spread over prompts
	[ "$(head -n 1 $E/figure4-1.tsv | tr '\t' '\n' | grep -c .)" -ge 4 ]
	awk -F'\t' '$1 == "STS13" && $2 == "RW" { print $3, $8 }' $E/figure5-1.tsv >got
	awk '{ s += $4; n++ } END { print n, s / n }' <(grep -h STS13 $E/scores/1/{style,tone}+rw/scores.tsv) >want
	awk '{ print $1 }' got | diff - <(echo 2)
	awk -F'\t' '$1 == "STS13" && $2 == "RW" { print $9 }' $E/figure5-1.tsv | within <(cut -d' ' -f2 want) 1e-5
	# Figures 2 and 6: the scripts' output on the pairs' scores
	hs=$(echo $E/scores/1/prompteol+hs/results/*/*/STS13.tsv) rw=$(echo $E/scores/1/prompteol+rw/results/*/*/STS13.tsv)
	awk -v thresholds=0.3 -f "$ROOT/pipelines/ranks.awk" -f "$ROOT/pipelines/complementarity.awk" "$hs" "$rw" | tail -n 1 | sed 's/^/1\t/' >want
	grep -P '^1\tSTS13\t0.3\t' $E/figure2.tsv | diff - want
	[ "$(wc -l <$E/figure2.tsv)" -eq 5 ]
	tokens=$(tok -q -m $model -f sentence1 -f sentence2 data/sts/sts1[23]/test.jsonl | mts to jsonl -q |
		jq -s 'map(((."sentence1.ids" | length) + (."sentence2.ids" | length)) / 2) | [(map(select(. < 10)) | length), length] | join(" ")')
	[ "$(awk -F'\t' '$2 == 0 && $3 == 10 { n = $4 } $2 == "all" { all = $4 } END { print "\"" n + 0 " " all "\"" }' $E/figure6.tsv)" = "$tokens" ]
	awk -F'\t' 'NR > 1 && $1 == 1 && ($2 == "HS" && $4 + 0 < $5 || $2 == "RW" && $5 + 0 < $4)' $E/table6.tsv | wc -l |
		diff - <(tail -n +2 $E/table6.tsv | wc -l)
	[ "$(wc -l <$E/table6.tsv)" -gt 2 ] && [ "$(wc -l <$E/figure4.tsv)" -eq 3 ] && [ "$(wc -l <$E/figure5.tsv)" -eq 5 ]
	# a second run makes nothing
	moee moee 2>&1 >/dev/null | grep -v '^$' >again || true
	[ ! -s again ] || { cat again; false; }
	# other data in an older folder of the same name are scored anew; other prompts give other figures
	cp -r data other
	sed -i 's/"score": [0-9.]*/"score": 1/; 1s/1}/5}/' other/sts/sts12/test.jsonl
	find other -type f -exec touch -d 2020-01-01 {} +
	before=$(of_cell plain+hs STS12)
	moee "$T/$E/scores/1/plain+hs/scores.tsv" DATA="$T/other" >/dev/null 2>&1
	[ "$(of_cell plain+hs STS12)" != "$before" ]
	moee "$T/$E/figure5-1.tsv" DATA="$T/other" MOEE_PROMPTS="style" >/dev/null 2>&1
	[ "$(cut -f3 $E/figure5-1.tsv | sort -u | tr '\n' ' ')" = "1 lines " ]
}

@test "moee: MOEE_TEXT=documents also learns from documentation, mixed with the dictionaries, in bf16, in a folder of its own" {
	drawn_text
	sentences running | cut -f2 | sed -n 1,100p >out/text/corpus.txt
	mkdir out/documents
	sentences running | cut -f2 | sed -n '1,100{s/^/debian\t\tmanual /p}' >out/documents/passages.tsv
	learned=$T/out/moee/documents
	moee -o "$T/out/documents/passages.tsv" MOEE_TEXT=documents "$learned/held.txt" MOEE_TRAIN= 2>log || { cat log; false; }
	cat out/text/corpus.txt <(cut -f3 out/documents/passages.tsv) | sort | diff - <(sort "$learned"/{learn,held}.txt)
	[ "$(wc -l <"$learned/held.txt")" -eq 2 ]
	# both sources are mixed
	[ "$(head -n 50 "$learned/learn.txt" | grep -c '^manual ')" -gt 10 ]
	[ "$(tail -n 50 "$learned/learn.txt" | grep -c '^manual ')" -gt 10 ]
	documents() { env -u MAKEFLAGS make -n --no-print-directory -C "$ROOT" OUT="$T/out" DATA="$T/data" MOEE_TEXT=documents SEEDS=1 -o "$T/out/documents/passages.tsv" "$@" 2>&1; }
	documents "$learned/model/1/config.json" >plan
	found "train -m $learned/start .* --batch-tokens 2048 --precision bf16 --seed 1 .* -o $learned/model/1 " plan
	paired_sets
	documents "$T/out/moee/small/documents/scores/1/plain+hs/scores.tsv" >plan
	found " MODEL=$learned/model/1 NAME=documents-1 " plan
	run -2 documents moee-model MOEE_TEXT=docs
	[[ $output == *"MOEE_TEXT=docs: it can be documents, or nothing for the dictionaries alone"* ]]
}

@test "moee: neurons of a dense model are experts, in clustered groups and in groups of consecutive neurons" {
	paired_sets
	drawn_text
	neurons() { moee MODEL="$ROOT/tests/golden/train/bert" NEURON_EXPERTS=8 MOEE_TASKS=sts "$@"; }
	neurons "$T"/out/moee/neurons/bert/{grouped,chance}/1/config.json
	for kind in grouped chance; do
		[ "$(jq .neuron_experts out/moee/neurons/bert/$kind/1/config.json)" = 8 ]
	done
	cmp out/moee/neurons/bert/chance/1/model.safetensors "$ROOT/tests/golden/train/bert/model.safetensors"
	run ! cmp -s out/moee/neurons/bert/grouped/1/model.safetensors "$ROOT/tests/golden/train/bert/model.safetensors"
	neurons -n moee-neurons SEEDS="1 2" >plan
	for part in "grouped/%' NAME=bert-grouped SEEDS=\"1 2\" EMIT=hs,rw:pool=mean" "chance/%' NAME=bert-chance SEEDS=\"1\" EMIT=hs,rw:pool=mean"; do
		grep -qF "$part" plan
	done
	# a cell of the table
	grouped=$T/out/moee/neurons/bert/grouped
	moee "$T/out/moee/small/bert-grouped/scores/1/plain+rw/scores.tsv" MODEL="$grouped/%" NAME=bert-grouped EMIT=hs,rw:pool=mean MOEE_TASKS=sts
	tok -q -m "$grouped/1" -f sentence1 -f sentence2 data/sts/sts12/test.jsonl | encode -q -m "$grouped/1" --emit hs,rw:pool=mean |
		moee-sim -q --combine rw | mteb-score sts -q -f sentence1 -f sentence2 --json - | jq '.scores.main_score * 1e4 | round' >want
	awk -F'\t' '$2 == "STS12" { printf "%.0f\n", 100 * $4 }' "$T/out/moee/small/bert-grouped/scores/1/plain+rw/scores.tsv" | diff want -
}

# A few rows of each of the paper's 19 data sets, under MTEB's names.
nineteen_sets() {
	local rows set
	rows=$(sentences of | awk -F'\t' 'NR % 12 == 0 { printf "{\"text\": \"%s\", \"label\": %d}\n", $2, NR / 12 % 3 }')
	for set in STS12 STS13 STS14 STS15 STS16 BIOSSES SICK-R STSBenchmark; do
		mkdir -p "mteb/$set"
		awk 'BEGIN { for (i = 1; i <= 6; i++) printf "{\"sentence1\": \"soup %d\", \"sentence2\": \"a ship %d\", \"score\": %d}\n", i, 7 - i, i }' >"mteb/$set/test.jsonl"
	done
	for set in EmotionClassification ToxicConversationsClassification TweetSentimentExtractionClassification; do
		mkdir -p "mteb/$set"
		echo "$rows" | tee "mteb/$set/train.jsonl" >"mteb/$set/test.jsonl"
	done
	for set in MedrxivClusteringS2S TwentyNewsgroupsClustering; do
		mkdir -p "mteb/$set"
		echo "$rows" >"mteb/$set/test.jsonl"
	done
	for set in TwitterSemEval2015 TwitterURLCorpus; do
		mkdir -p "mteb/$set"
		sed 's/"score": \([0-9]\)/"label": \1/; s/"label": [246]/"label": 0/; s/"label": [35]/"label": 1/' mteb/STS12/test.jsonl >"mteb/$set/test.jsonl"
	done
	for set in AskUbuntuDupQuestions SciDocsRR StackOverflowDupQuestions; do
		mkdir -p "mteb/$set"
		printf '{"query": "soup %d", "positive": ["warm soup"], "negative": ["a ship", "roses"]}\n' 1 2 3 >"mteb/$set/test.jsonl"
	done
	mkdir -p mteb/SummEval
	printf '{"text": "t", "human_summaries": ["soup", "warm soup"], "machine_summaries": ["a soup", "a ship %d", "roses"], "relevance": [5, 1, 2]}\n' \
		1 2 >mteb/SummEval/test.jsonl
}

# bats test_tags=plain
@test "moee: the paper's size scores its 19 data sets in each way; a folder without them is refused" {
	[[ $BUILD != *-sanitize ]] || skip "minutes, sanitized"
	drawn_text
	sentences running | cut -f2 >out/text/corpus.txt
	nineteen_sets
	paper() { moee SIZE=paper MODEL="$T/out/moee/model/1" DATA="$T/mteb" "$@"; }
	moee "$T/out/moee/model/1/config.json" 2>log || { cat log; false; }
	E=out/moee/paper/1/scores/1
	paper "$T/$E"/plain+{hs,legacy}/scores.tsv 2>log || { cat log; false; }
	[ "$(wc -l <$E/plain+hs/scores.tsv)" -eq 19 ]
	[ "$(cut -f2 $E/plain+legacy/scores.tsv | sort | xargs)" = "EmotionClassification MedrxivClusteringS2S ToxicConversationsClassification \
TweetSentimentExtractionClassification TwentyNewsgroupsClustering" ]
	paper -n moee >plan 2>&1
	for way in rw concat sum auto grid corpus code hs-layers hs-tokens hs-both rw-tokens rw-logits sum-logits; do
		grep -q "scores/1/prompteol+$way/" plan
	done
	mkdir nothing
	run -2 --separate-stderr moee moee DATA="$T/nothing"
	[[ $stderr == "moee: there is nothing to score in DATA=$T/nothing; "* ]]
}
