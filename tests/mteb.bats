#!/usr/bin/env bats
load helper

# slow

# make mteb on small data sets of every type and every format, with share/models/base.

setup() {
	[ -e "$ROOT/share/models/base/model.safetensors" ] || skip "needs make base-model"
	cd "$T"
	make_data
}

# A line "topic<TAB>sentence" for each sentence about three topics.
sentences() {
	for thing in "kitchen	the cook stirs the %s soup" "harbour	a %s ship leaves the harbour" \
		"garden	the %s roses need water"; do
		for word in old red small warm heavy quiet bright round; do
			# shellcheck disable=SC2059 # the format is the sentence
			printf "$thing\n" "$word"
		done
	done
}

make_data() {
	mkdir -p data/{sts/STS-12,classification/moods,clustering/rooms,clustering/words} \
		data/pairclassification/{same,lists} data/reranking/answers data/shelf/qrels \
		data/summarization/notes
	cat >data/sts/STS-12/test.csv <<-'END'
		sentence1,sentence2,score
		"the cook stirs the soup, slowly","a cook is stirring soup",4.5
		"a ship leaves ""the harbour""",the roses need water,0.5
		the roses need water,water is what roses need,4
		a red ship,a ship that is red,4.8
		a warm soup,a quiet garden,1
	END
	sentences | awk -F'\t' 'BEGIN { print "text\tlabel" } { print $2 "\t" $1 }' >data/classification/moods/train.tsv
	sentences | awk -F'\t' 'BEGIN { print "text\tlabel" } NR % 4 == 0 { print "look: " $2 "\t" $1 }' \
		>data/classification/moods/test.tsv
	sentences | awk -F'\t' '{ printf "{\"text\": \"%s\", \"label\": \"%s\"}\n", $2, $1 }' |
		gzip >data/clustering/rooms/test.jsonl.gz
	sentences | awk -F'\t' '{ s = s c "\"" $2 "\""; l = l c "\"" $1 "\""; c = ", " }
		END { for (i = 0; i < 2; i++) printf "{\"sentences\": [%s], \"labels\": [%s]}\n", s, l }' \
		>data/clustering/words/test.jsonl
	cat >data/pairclassification/same/test.jsonl <<-'END'
		{"sentence1": "a warm soup", "sentence2": "soup that is warm", "label": 1}
		{"sentence1": "a warm soup", "sentence2": "the ship leaves", "label": 0}
		{"sentence1": "the red roses", "sentence2": "roses, red ones", "label": 1}
		{"sentence1": "the red roses", "sentence2": "a heavy pot", "label": 0}
	END
	echo '{"sent1": ["a warm soup", "a warm soup"], "sent2": ["warm soup", "a ship"], "labels": [1, 0]}' \
		>data/pairclassification/lists/test.jsonl
	cat >data/reranking/answers/test.jsonl <<-'END'
		{"query": "what does the cook stir", "positive": ["the cook stirs the soup"], "negative": ["a ship leaves", "roses need water"]}
		{"query": "what leaves the harbour", "positive": ["a ship leaves the harbour"], "negative": ["the cook stirs the soup"]}
	END
	zstd -q --rm data/reranking/answers/test.jsonl
	sentences | awk -F'\t' '{ printf "{\"_id\": \"d%d\", \"title\": \"%s\", \"text\": \"%s\"}\n", NR, $1, $2 }' \
		>data/shelf/corpus.jsonl
	printf '{"_id": "q%d", "text": "%s"}\n' 1 "stirring a heavy soup" 2 "a quiet ship" 3 "never judged" \
		>data/shelf/queries.jsonl
	printf 'query-id\tcorpus-id\tscore\nq1\td5\t1\nq2\td14\t1\n' >data/shelf/qrels/test.tsv
	cat >data/summarization/notes/test.jsonl <<-'END'
		{"text": "x", "human_summaries": ["the cook stirs soup", "soup is stirred"], "machine_summaries": ["a cook stirs soup", "a ship", "soup"], "relevance": [4.5, 1, 3]}
		{"text": "y", "human_summaries": ["the ship leaves"], "machine_summaries": ["roses", "a ship leaves", "ships"], "relevance": [1, 5, 2.5]}
	END
}

mteb() {
	make -s --no-print-directory -C "$ROOT" mteb X="$BUILD/bin" MODEL="$ROOT/share/models/base" DATA="$T/data" \
		OUT="$T/out" RESULTS="$T/results" "$@"
}

@test "mteb: every type is scored, from every format; the table is written in three formats" {
	mteb 2>err >table
	diff table results/table.md
	[ "$(cut -f 1,2 results/table.tsv | sed 1d | tr '\t\n' ' ;')" = "Classification moods;Clustering rooms;Clustering words;Clustering mean of 2;PairClassification lists;PairClassification same;PairClassification mean of 2;Reranking answers;Retrieval shelf;STS STS12;Summarization notes;all mean of 9;all mean of 7 types;" ]
	[ "$(awk -F'\t' 'NR > 1 && ($4 == "" || $4 < -100 || $4 > 100)' results/table.tsv | wc -l)" -eq 0 ]
	# shellcheck disable=SC2016 # awk's
	[ "$(awk -F'\t' '$2 == "shelf" { print $4 }' results/table.tsv)" = 100.00 ]
	grep -q 'STS12 | cosine_spearman | .* \\\*' results/table.md
	grep -q "^<!DOCTYPE html>" results/table.html
	[ "$(grep -cE 'https?://|<script' results/table.html)" -eq 0 ]
}

@test "mteb: a transformer in a subfolder has the same scores under its own revision" {
	base=$ROOT/share/models/base
	cp -r "$base" model
	mkdir model/0_Transformer
	mv model/{config.json,model.safetensors,sentence_bert_config.json,tokenizer.json,tokenizer_config.json,vocab.txt} \
		model/0_Transformer
	sed 's/"path": ""/"path": "0_Transformer"/' "$base/modules.json" >model/modules.json
	mteb TASKS="STS12 shelf" >/dev/null 2>&1
	mteb TASKS="STS12 shelf" MODEL="$T/model" NAME=base >/dev/null 2>&1
	[ "$(find results/base -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ]
	[ "$(awk -F'\t' 'NR > 1 && $4 == $5 && $4 != "" && $2 !~ /Borda/' results/table.tsv | wc -l)" -eq 4 ]
}

@test "mteb: a result file has the reference's fields" {
	mteb TASKS="STS12 shelf" >/dev/null 2>&1
	folder=$(echo results/base/*)
	[ -e "$folder/STS12.json" ]
	[ "$(find "$folder" -name '*.json' | wc -l)" -eq 3 ]
	grep -q '"task_name": "STS12"' "$folder/STS12.json"
	grep -q '"main_score": ' "$folder/STS12.json"
	grep -q '"hf_subset": "default"' "$folder/STS12.json"
	grep -q '"mteb_version": null' "$folder/STS12.json"
	grep -q '"other_size": true' "$folder/STS12.json"
	grep -q "\"revision\": \"${folder##*/}\"" "$folder/model_meta.json"
	awk '/"[a-z0-9_]*": -?[0-9]+\.[0-9]{7}/ { bad = 1 } END { exit bad }' "$folder/shelf.json"
}

@test "mteb: finished sets are skipped; missing results and changed data are scored" {
	mteb TASKS=sts >/dev/null 2>&1
	stamp=$(stat -c %Y.%N "$(echo results/base/*/STS12.json)" "$(find out -name test.mts)")
	mteb TASKS="sts same" >/dev/null 2>err
	[ "$(stat -c %Y.%N "$(echo results/base/*/STS12.json)" "$(find out -name test.mts -path '*STS12*')")" = "$stamp" ]
	[ -e "$(echo results/base/*/same.json)" ]
	[ "$(grep -c STS12 err)" -eq 0 ]
	# interrupted between embeddings and score
	rm results/base/*/STS12.json
	mteb TASKS=STS12 >/dev/null 2>err
	[ -z "$(grep -v warning err)" ] # its report is there
	rm results/base/*/STS12.json out/mteb/base/*/STS12/score-v2.json
	mteb TASKS=STS12 >/dev/null 2>err
	[ "$(grep -v warning err)" = "STS12: score" ]
	sleep 1
	touch data/sts/STS-12/test.csv
	mteb TASKS=STS12 >/dev/null 2>err
	grep -q "STS12: encode" err
}

# bats test_tags=plain
@test "mteb: PER_QUERY=1 leaves a table beside each result, also of sets scored before without it" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of the programs that other tests run, sanitized"
	mteb TASKS="STS12 shelf moods" >/dev/null 2>&1
	[ -z "$(find results/base -name '*.tsv')" ]
	run=$(echo out/mteb/base/*) folder=$(echo results/base/*)
	cp -r "$folder" before
	mteb PER_QUERY=1 >table 2>err
	[ "$(cd "$folder" && echo *.tsv)" = "$(cd "$folder" && ls *.json | grep -v model_meta | sed 's/json$/tsv/' | xargs)" ]
	[ "$(find "$folder" -name '*.tsv' | wc -l)" -eq 9 ]
	run ! grep -E '^(STS12|shelf|moods): encode' err
	diff -x '*.tsv' -x same.json -x lists.json -x rooms.json -x words.json -x answers.json -x notes.json before "$folder"
	# each table is what mteb-score writes; make mteb's own table ignores them
	mteb-score sts --per-query own "$run/STS12/test.mts" >/dev/null
	cmp own "$folder/STS12.tsv"
	mteb-score -q classification --train "$run"/moods/{train,test}.mts --per-query own >/dev/null
	cmp own "$folder/moods.tsv"
	for set in moods:accuracy rooms:v_measure words:v_measure answers:map_at_1000 shelf:ndcg_at_10 notes:cosine_spearman; do
		awk -F'\t' -v name=${set#*:} 'NR == 1 { for (i = 2; i <= NF; i++) if ($i == name) c = i; next }
			{ sum += $c } END { printf "%.5f\n", sum / (NR - 1) }' "$folder/${set%:*}.tsv"
	done >means
	for set in moods rooms words answers shelf notes; do
		jq '.scores.test[0].main_score' "$folder/$set.json"
	done | within means 1.1e-5
	diff table results/table.md
	# a second run makes nothing
	mteb PER_QUERY=1 >/dev/null 2>err
	run ! grep -v -i warning err
	# changed texts replace result and table; a repeated id makes the set fail, and its old figure stays
	sleep 1
	touch data/sts/STS-12/test.csv
	mteb TASKS=STS12 >/dev/null 2>&1
	[ -e "$folder/STS12.json" ] && [ ! -e "$folder/STS12.tsv" ]
	printf '{"id": "x", "sentence1": "a %s", "sentence2": "a ship", "label": %d}\n' ship 1 pot 0 \
		>data/pairclassification/same/test.jsonl
	mteb TASKS=same >/dev/null 2>&1
	run -2 --separate-stderr mteb TASKS="same STS12" PER_QUERY=1
	[ "$(grep FAILED <<<"$stderr")" = "same: FAILED: mteb-score: $PWD/$folder/same.tsv: the id 'x' occurs again; each query needs an id of its own: rename it" ]
	[ -e "$folder/STS12.tsv" ] && [ -e "$folder/same.json" ]
	mteb TASKS=same >/dev/null
}

# make_gates: two adapters of the base model that change embeddings much, and a library that routes texts about kitchens to one.
make_gates() {
	local base=$ROOT/share/models/base gate seed=0
	mkdir gates
	sentences | awk -F'\t' 'BEGIN { print "query\tdocument" } { print $1 "\t" $2 }' |
		tok -m "$base" -f query -f document --format tsv - >pairs.mts
	for gate in one two; do
		train -q -m "$base" -o gates/$gate --lora rank=2,targets=all-linear --lr 0.05 --warmup 0 --steps 2 --save-every 0 \
			--seed $((++seed)) pairs.mts
		sentences | awk -F'\t' -v gate=$gate 'BEGIN { print "id\tndcg_at_10" } { print NR "\t" (($1 == "kitchen") == (gate == "one")) }' \
			>$gate.tsv
	done
	sentences | awk -F'\t' 'BEGIN { print "text" } { print $2 }' | tok -m "$base" -f text --format tsv - | encode -q -m "$base" |
		pilot-route --oracle one.tsv two.tsv | pilot-build fit >pilots.mts
}

# bats test_tags=plain
@test "mteb: GATES and PILOTS score routed queries, beside the model alone" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of the programs that other tests run, sanitized"
	base=$ROOT/share/models/base
	make_gates
	awk 'BEGIN { print "query-id\tcorpus-id\tscore"; for (d = 1; d <= 24; d++) print "q" d % 2 + 1 "\td" d "\t" d * 7 % 3 }' \
		>data/shelf/qrels/test.tsv
	routed() { mteb GATES="$T/gates" PILOTS="$T/pilots.mts" PER_QUERY=1 "$@"; }
	by_hand() { encode -q -m "$base" --keep | pilot-route pilots.mts | encode -q -m "$base" --gates gates; }
	mteb PER_QUERY=1 >/dev/null 2>&1
	cp -r out alone
	cp -r results/base results.base
	routed >table 2>err
	run=$(echo out/mteb/base+gates/*) own=$(echo out/mteb/base/*)
	grep -q '| base+gates | base |' table
	[ "$(grep -c ' 0\.00 \|FAILED' table err)" = $'table:0\nerr:0' ]
	# retrieval: scores of the pipe; documents are the model's existing ones
	leaderboard judged data/shelf/qrels/test.tsv data/shelf/queries.jsonl | tok -m "$base" -f text --format jsonl - | by_hand >q.mts
	[ "$(mts to jsonl q.mts | jq -r .gate | xargs)" = "one two" ]
	tok -m "$base" -f document=title+text data/shelf/corpus.jsonl | encode -q -m "$base" | mts diff - "$own/shelf/corpus.mts"
	mteb-score -q retrieval --qrels data/shelf/qrels/test.tsv --per-query by.hand q.mts "$own/shelf/corpus.mts" >/dev/null
	cmp by.hand results/base+gates/*/shelf.tsv
	run ! cmp -s by.hand results/base/*/shelf.tsv
	run ! grep -q 'shelf: encode corpus' err
	# the model's own files are unchanged
	diff -r alone/mteb/base out/mteb/base
	diff -r results.base results/base
	# reranking: documents are the model's
	list() { mts to jsonl "$1/answers/lists.mts" | jq -c ".[\"$2.emb\"]"; }
	for side in positive negative; do
		diff <(list "$run" $side) <(list "$own" $side)
	done
	zstdcat data/reranking/answers/test.jsonl.zst | tok -m "$base" -f query --format jsonl - | by_hand | mts to jsonl - |
		jq -c '.["query.emb"]' | diff - <(list "$run" query)
	# other types: each text of a pair or list is routed as if alone
	for text in 1 2; do
		tok -m "$base" -f sentence$text data/sts/STS-12/test.csv | by_hand | mts to jsonl - | jq -c ".[\"sentence$text.emb\"]" |
			diff - <(mts to jsonl "$run/STS12/test.mts" | jq -c ".[\"sentence$text.emb\"]")
	done
	sentences | awk -F'\t' 'BEGIN { print "text" } { print $2 }' | tok -m "$base" -f text --format tsv - | by_hand | mts to jsonl - |
		jq -c '.["text.emb"]' | diff - <(mts to jsonl "$run/words/test.mts" | head -1 | jq -c '.["sentences.emb"][]')
	# a second run makes nothing; another library counts as another model, whose documents exist
	routed >/dev/null 2>err
	run ! grep -v -i warning err
	mts rows --where 'gate=one' pilots.mts >one.mts
	mteb GATES="$T/gates" PILOTS="$T/one.mts" TASKS=shelf >/dev/null 2>err
	[ "$(grep encode err)" = "shelf: encode queries" ]
	[ "$(find results/base+gates -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ]
	# a library of a layer's hidden states: one pass, with adapters from that layer on
	mkdir late
	last=$(($(jq '.num_hidden_layers' "$base/config.json") - 1))
	for gate in one two; do
		train -q -m "$base" -o late/$gate --lora rank=2,targets=$last.attn.Wqkv --lr 0.05 --warmup 0 --steps 2 --save-every 0 pairs.mts
	done
	sentences | awk -F'\t' 'BEGIN { print "text" } { print $2 }' | tok -m "$base" -f text --format tsv - |
		encode -q -m "$base" --emit emb=hs:layers=$last | pilot-route --oracle one.tsv two.tsv | pilot-build fit >early.mts
	mteb GATES="$T/late" PILOTS="$T/early.mts" TASKS=shelf PER_QUERY=1 >/dev/null 2>&1
	leaderboard judged data/shelf/qrels/test.tsv data/shelf/queries.jsonl | tok -m "$base" -f text --format jsonl - |
		encode -q -m "$base" --gates late --pilots early.mts >q.mts
	mteb-score -q retrieval --qrels data/shelf/qrels/test.tsv --per-query by.hand q.mts "$own/shelf/corpus.mts" >/dev/null
	ls -t results/base+gates/*/shelf.tsv | head -n 1 | xargs cmp by.hand
	# with a template documents are encoded again
	routed TEMPLATE=style TASKS=shelf >/dev/null 2>err
	[ "$(grep -c 'shelf: encode corpus' err)" -eq 1 ]
	tok -m "$base" --template style -f document=title+text data/shelf/corpus.jsonl | encode -q -m "$base" | mts diff - "$own/style/shelf/corpus.mts"
	# GATES without PILOTS
	run -2 --separate-stderr mteb GATES="$T/gates"
	[[ $stderr == "mteb: GATES without PILOTS; add PILOTS=file: "* ]]
	run -2 --separate-stderr mteb PILOTS="$T/one.mts"
	[[ $stderr == "mteb: PILOTS without GATES; add GATES=dir: "* ]]
	run -2 --separate-stderr mteb DATA="$T/none"
	[[ $stderr == "mteb: there is no folder '$T/none'; give DATA=dir: "* ]]
}

@test "mteb: a folder or name with a blank or a special character is refused by its variable; a link to the folder works" {
	while read -r name value; do
		run -2 --separate-stderr mteb "$name=$value"
		[[ $stderr == *"common.mk:"*" $name='$value': a pipeline takes no name with a blank or one of : ; & "*"ln -s '$value' LINK.  Stop." ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done <<-END
		MODEL $T/my model
		DATA $T/my data
		DATA $T/a:b
		DATA $T/it's
		DATA $T/a#b
		OUT $T/out (2)
		RESULTS $T/[1]
		DATA $T/x\$y
		DATA $T/x%y
		OUT $T/x=y
		MODEL $T/x{a,b}
		GATES $T/my gates
		NAME my base
		START a\b
		TRAIN $T/a;b
	END
	mkdir "my data"
	mv data/sts "my data"
	ln -s "my data" link
	# NAME of the environment is left out; an option may follow operands, whatever the environment says
	NAME="John Doe" POSIXLY_CORRECT=1 mteb DATA="$T/link" TASKS=STS12 | found 'STS12'
	# letters beyond ASCII are no special characters
	cp -r "my data" "café"
	cp -r "$ROOT/share/models/base" "modèle"
	mteb DATA="$T/café" MODEL="$T/modèle" OUT="$T/é" RESULTS="$T/à=1" 2>/dev/null | found -F '| STS12 |'
	[ -e "$(echo à=1/modèle/*/STS12.json)" ]
}

@test "mteb: a subset whose name has a blank is scored from a folder without; its own folder and other signs are refused" {
	mkdir -p 'data/sts/two/a b' data/sts/two/{c_d,e,'$(echo x >>ran)'}
	for dir in data/sts/two/*; do cp data/sts/STS-12/test.csv "$dir"; done
	echo 'tasks: { two: { type: STS, subset: [a b, c d, e, "$(echo x >>ran)"] } }' >data/tasks.yaml
	run ! mteb TASKS=two
	[[ $output == *"two@a_b@test: FAILED: $T/data/sts/two: make cannot read blanks and signs in paths; rename the folder of the subset to a_b"* ]]
	[[ $output == *"rename the folder of the subset to __echo_x___ran_"* ]]
	[ ! -e ran ] && [ ! -e "$ROOT/ran" ]
	# its rows are older than the result, which lacks them
	mv 'data/sts/two/a b' data/sts/two/a_b
	rm -r data/sts/two/\$*
	mteb TASKS=two >/dev/null 2>&1
	jq -r ".scores.test[].hf_subset" results/base/*/two.json >subsets
	[ "$(sort subsets | paste -sd,)" = "a b,c d,e" ]
	# a part that an earlier run scored stays in the result
	rm -r data/sts/two/c_d
	touch data/sts/two/e/test.csv
	mteb TASKS=two >/dev/null 2>&1
	[ "$(jq -r '.scores.test[].hf_subset' results/base/*/two.json | sort | paste -sd,)" = "a b,c d,e" ]
	# a fault may have the shell's signs
	echo 'tasks: { three: { type: STS, subset: ["`echo x >>ran`\"$(echo x >>ran)#", b] } }' >data/tasks.yaml
	mkdir data/sts/three
	run ! mteb TASKS=three
	[[ $output == *"three: FAILED: $T/data/sts/three: there are no files of any of its 2 parts"* ]]
	[ ! -e ran ] && [ ! -e "$ROOT/ran" ]
}

@test "mteb: two runs at once, of two models, do not read each other's plan" {
	cat >waits <<-END
		#!/bin/bash
		until [ -e "$T/go" ]; do sleep 0.05; done
		exec "\$@"
	END
	chmod +x waits
	cp -r "$ROOT/share/models/base" other
	sed -i 's/"rope_theta": *1000.0/"rope_theta": 3.0/' other/config.json
	mteb TASKS=STS12 NAME=one RUN="$T/waits" >one.log 2>&1 3>&- &
	until grep -q 'STS12\.task' out/mteb/*.mk 2>/dev/null; do sleep 0.05; done
	mteb TASKS=same NAME=two MODEL="$T/other" >two.log 2>&1 || true
	touch go
	wait $!
	grep -q '| STS12 |.*80.00' one.log
	[ "$(jq -r .name results/one/*/model_meta.json)" = one ]
	[ "$(jq -r .name results/two/*/model_meta.json)" = two ]
}

# bats test_tags=plain
@test "mteb: COMBINE scores hidden states and routing weights, which are encoded once, beside the model alone" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of the programs that other tests run, sanitized"
	upcycle -m "$ROOT/share/models/base" --token-experts 4 -o moe 2>/dev/null
	combined() { mteb MODEL="$T/moe" PER_QUERY=1 "$@"; }
	made() { encode -q -m moe --emit hs,rw; }
	combined COMBINE=sum ALPHA=0.5 >table 2>err || { cat err; false; }
	grep -q '| moe+sum,alpha-0.5 | moe |' table || grep -q '| moe+sum,alpha-0.5 |' table
	[ "$(grep -c ' 0\.00 \|FAILED' table err)" = $'table:0\nerr:0' ]
	sum=$(echo results/moe+sum,alpha-0.5/*)
	# pairs by their similarity, queries and documents by their vectors
	tok -m moe -f sentence1 -f sentence2 data/sts/STS-12/test.csv | made >pairs.mts
	moee-sim --alpha 0.5 pairs.mts | mteb-score -q sts -f sentence1 -f sentence2 --per-query by.hand - >/dev/null
	cmp by.hand "$sum/STS12.tsv"
	leaderboard judged data/shelf/qrels/test.tsv data/shelf/queries.jsonl | tok -m moe -f text --format jsonl - | made >q.mts
	tok -m moe -f document=title+text data/shelf/corpus.jsonl | made >c.mts
	mteb-score -q retrieval --qrels data/shelf/qrels/test.tsv --per-query by.hand <(moee-sim --alpha 0.5 q.mts) \
		<(moee-sim --alpha 0.5 c.mts) >/dev/null
	cmp by.hand "$sum/shelf.tsv"
	# another way of combining encodes nothing; alpha is fitted on pairs
	combined COMBINE=sum ALPHA=auto TASKS="STS12 shelf moods" >/dev/null 2>err
	run ! grep encode err
	moee-sim --alpha auto pairs.mts | mteb-score -q sts -f sentence1 -f sentence2 --per-query by.hand - >/dev/null
	cmp by.hand results/moe+sum,alpha-auto/*/STS12.tsv
	mteb-score -q retrieval --qrels data/shelf/qrels/test.tsv --per-query by.hand <(moee-sim q.mts) <(moee-sim c.mts) >/dev/null
	cmp by.hand results/moe+sum,alpha-auto/*/shelf.tsv
	# statistics of the documents, or of the training rows
	combined COMBINE=rw NORM=corpus TASKS="shelf moods" >/dev/null 2>err
	run ! grep encode err
	mteb-score -q retrieval --qrels data/shelf/qrels/test.tsv --per-query by.hand <(moee-sim --combine rw --norm corpus=c.mts q.mts) \
		<(moee-sim --combine rw --norm corpus c.mts) >/dev/null
	cmp by.hand results/moe+rw,norm-corpus/*/shelf.tsv
	run=$(echo out/mteb/moe+rw,norm-corpus/*/moods) made=$(echo out/mteb/moe/*/plain-hs,rw/moods)
	moee-sim --combine rw --norm corpus $made/test.mts | mts diff - $run/test.mts
	moee-sim --combine rw --norm corpus=$made/test.mts $made/train.mts | mts diff - $run/train.mts
	# the released code's sum, for classification and clustering
	mkdir data/classification/counted
	for rows in train test; do
		sed 's/kitchen$/0/; s/harbour$/1/; s/garden$/2/' data/classification/moods/$rows.tsv >data/classification/counted/$rows.tsv
	done
	combined COMBINE=apart TASKS="counted rooms" >/dev/null 2>err || { cat err; false; }
	run ! grep 'rooms: encode' err
	made=$(echo out/mteb/moe/*/plain-hs,rw)
	for rows in counted/train counted/test rooms/test; do moee-sim --combine apart "$made/$rows.mts" >"$(tr / - <<<$rows)"; done
	legacy=(--legacy-sum 1 -f text.hs -f text.rw --json)
	mteb-score -q clustering "${legacy[@]}" rooms-test >by.hand
	[ "$(jq ".scores.v_measure * 1e5 | round" by.hand)" = "$(jq '.scores.test[0].v_measure * 1e5 | round' results/moe+apart/*/rooms.json)" ]
	mteb-score -q classification --samples 8 "${legacy[@]}" --train counted-train counted-test >by.hand
	[ "$(jq ".scores.accuracy * 1e5 | round" by.hand)" = "$(jq '.scores.test[0].accuracy * 1e5 | round' results/moe+apart/*/counted.json)" ]
	run -2 --separate-stderr combined COMBINE=apart TASKS=STS12
	grep -q 'STS12: COMBINE=apart applies to classification and clustering' <<<"$stderr"
	run -2 --separate-stderr combined COMBINE=rw NORM=batch=8 TASKS=moods
	grep -q 'moods: its batches would have rows without text; use NORM=corpus' <<<"$stderr"
	run -2 --separate-stderr combined COMBINE=mean
	[[ $stderr == "mteb: there is no COMBINE='mean'; it is one of hs rw concat sum apart"* ]]
	run ! grep encode <<<"$stderr"
	# a template is part of the model's name and of the encoded files
	combined COMBINE=hs TEMPLATE=prompteol TASKS=STS12 >/dev/null 2>err
	grep -q 'STS12: encode' err
	tok -m moe --template prompteol -f sentence1 -f sentence2 data/sts/STS-12/test.csv | made | moee-sim --combine hs |
		mteb-score -q sts -f sentence1 -f sentence2 --per-query by.hand - >/dev/null
	cmp by.hand results/moe+prompteol+hs/*/STS12.tsv
	# int8 weights count as another model
	combined WEIGHTS=int8 COMBINE=hs TASKS=STS12 >/dev/null 2>&1
	tok -m moe -f sentence1 -f sentence2 data/sts/STS-12/test.csv | encode -q -m moe --weights int8 --emit hs,rw | moee-sim --combine hs |
		mteb-score -q sts -f sentence1 -f sentence2 --per-query by.hand - >/dev/null
	cmp by.hand results/moe+hs+int8/*/STS12.tsv
	mteb MODEL="$T/moe" WEIGHTS=int8 TASKS=STS12 >/dev/null 2>&1
	tok -m moe -f sentence1 -f sentence2 data/sts/STS-12/test.csv | encode -q -m moe --weights int8 | mteb-score -q sts --json - |
		jq '.scores.main_score * 1e4 | round' | diff - <(jq '.scores.test[0].main_score * 1e4 | round' results/moe+int8/*/STS12.json)
	mteb MODEL="$T/moe" PRECISION=int8 TASKS=STS12 >/dev/null 2>&1
	tok -m moe -f sentence1 -f sentence2 data/sts/STS-12/test.csv | encode -q -m moe --precision int8 | mteb-score -q sts --json - |
		jq '.scores.main_score * 1e4 | round' | diff - <(jq '.scores.test[0].main_score * 1e4 | round' results/moe+precision-int8/*/STS12.json)
	run -2 --separate-stderr combined ALPHA=1
	[[ $stderr == "mteb: ALPHA needs COMBINE=sum"* ]]
	run -2 --separate-stderr combined COMBINE=hs ALPHA=1
	[[ $stderr == "mteb: ALPHA needs COMBINE=sum"* ]]
	run -2 --separate-stderr combined NORM=corpus
	[[ $stderr == "mteb: NORM needs COMBINE"* ]]
	run -2 --separate-stderr combined EMIT=hs
	[[ $stderr == "mteb: EMIT needs COMBINE"* ]]
	# so is an instruction before each text
	combined COMBINE=sum TASKS=STS12 RESULTS="$T/results.plain" >/dev/null 2>&1
	for out in out fresh; do
		combined COMBINE=sum "INSTRUCT=so:{instruction}:" TASKS=STS12 OUT="$T/$out" RESULTS="$T/results.$out" 2>/dev/null | grep STS12 >"table.$out"
	done
	diff table.out table.fresh
	cmp results.{out,fresh}/*/*/STS12.tsv
	run -1 cmp -s results.out/*/*/STS12.tsv results.plain/*/*/STS12.tsv
	run -2 --separate-stderr combined COMBINE=sum GATES="$T/moe" PILOTS="$T/q.mts"
	[[ $stderr == "mteb: COMBINE and GATES exclude each other"* ]]
}

# bats test_tags=plain
@test "mteb: a run that was killed while encoding resumes" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of the programs that other tests run, sanitized"
	sentences >few
	printf 'few\n%.0s' {1..1000} | xargs cat | cut -f 2 | awk '{ print "{\"text\": \"" NR " " $0 "\", \"label\": " NR % 3 "}" }' \
		>data/clustering/rooms/test.jsonl
	rm data/clustering/rooms/test.jsonl.gz
	set -m
	mteb TASKS="same rooms" >/dev/null 2>err &
	for _ in $(seq 300); do
		! grep -q "rooms: encode" err || break
		sleep 0.1
	done
	sleep 0.5
	kill -KILL -- -$!
	wait $! || true
	set +m
	[ ! -e "$(echo results/base/*/rooms.json)" ]
	sentences | awk -F'\t' '{ printf "{\"text\": \"%s\", \"label\": \"%s\"}\n", $2, $1 }' \
		>data/clustering/rooms/test.jsonl
	mteb TASKS="same rooms" >/dev/null 2>err
	[ -e "$(echo results/base/*/rooms.json)" ] && [ -e "$(echo results/base/*/same.json)" ]
}

# bats test_tags=plain
@test "mteb: RUN starts the jobs that encode and score; only a failed job is named and repeated" {
	[[ $BUILD != *-sanitize ]] || skip "minutes of the programs that other tests run, sanitized"
	mteb TASKS="STS12 shelf moods" RESULTS="$T/plain" >plain.md 2>/dev/null
	recorder
	rm -r out
	mteb TASKS="STS12 shelf moods" RUN="env NODE=1 $T/record" >table 2>/dev/null
	diff plain.md table
	for cell in plain results; do cat $cell/base/*/{STS12,shelf,moods}.json | grep -v evaluation_time >$cell.json; done
	cmp plain.json results.json
	grep -c '^bash -eu -o pipefail -c mkdir ' ran | grep -x 8
	[ "$(wc -l <ran)" -eq 8 ]
	[ "$(grep -c '/tok .*/encode' ran)" -eq 5 ]
	[ "$(grep -c '/mteb-score ' ran)" -eq 3 ]
	# a machine that fails while it encodes the corpus
	rm -r out results
	cat >lost <<-'END'
		#!/bin/bash
		[[ "$*" != *"encode corpus"* ]] || exit 9
		exec "$@"
	END
	chmod +x lost
	run ! mteb TASKS="STS12 shelf moods" RUN="$T/lost"
	[[ $output == *"shelf: FAILED"* && $output == *"| moods |"* ]]
	: >ran
	mteb TASKS="STS12 shelf moods" RUN="$T/record" 2>/dev/null | diff plain.md -
	[ "$(wc -l <ran)" -eq 2 ]
	[ "$(grep -c 'encode corpus\|shelf/score' ran)" -eq 2 ]
	# a missing RUN
	rm -r out results
	run ! mteb TASKS=STS12 RUN="$T/none"
	[[ $output == *"$T/none: No such file or directory"* ]]
}

@test "mteb: sets that fail are named at the end and do not stop others" {
	mkdir data/sts/{cut,empty,numbers} data/retrieval
	printf '{"sentence1": "a", "sentence2": "b", "score": 1}\n{"sentence1": \n' >data/sts/cut/test.jsonl
	printf '{"sentence1": "a", "sentence2": "b", "score": 1}\n{"sentence1": "c", "sentence2": "d", "score": 1}\n' \
		>data/sts/numbers/test.jsonl
	: >data/sts/empty/test.jsonl
	mkdir -p data/retrieval/half
	echo '{"_id": "1", "text": "x"}' >data/retrieval/half/corpus.jsonl
	run -2 --separate-stderr mteb TASKS="sts retrieval"
	[[ "$output" == *"STS12"* && "$output" == *"shelf"* ]]
	grep -q "^cut: FAILED: .*test.jsonl:2: not valid JSON" <<<"$stderr"
	grep -q "^empty: FAILED: leaderboard: .*: there is no 'sentence1'" <<<"$stderr"
	grep -q "^numbers: FAILED: leaderboard: .*no value of cosine_spearman" <<<"$stderr"
	grep -q "^half: FAILED: .*there is no queries.jsonl" <<<"$stderr"
	[ "$(grep -c FAILED <<<"$stderr")" -eq 4 ]
	# they are named again if nothing else is left to do; a repaired set is scored
	run -2 --separate-stderr mteb TASKS="sts retrieval"
	[ "$(grep -c FAILED <<<"$stderr")" -eq 4 ]
	rm -r data/sts/{cut,empty,numbers} data/retrieval
	mteb TASKS="sts retrieval" >/dev/null
}

@test "mteb: a set whose changed data cannot be encoded loses its old result" {
	mteb TASKS="same STS12" >/dev/null 2>&1
	grep -q "| same |" results/table.md
	sleep 1
	echo '{"sentence1": ' >data/pairclassification/same/test.jsonl
	run -2 --separate-stderr mteb TASKS="same STS12"
	grep -q "^same: FAILED: .*test.jsonl:1: not valid JSON" <<<"$stderr"
	[[ "$output" == *"| STS12 |"* && "$output" != *"| same |"* ]]
}

@test "mteb: a prompt is the model's, under mteb's names, else the registry's" {
	cp -r "$ROOT/share/models/base" model
	echo '{"prompts": {"Retrieval-query": "find: ", "STS12": "same? ", "classification": "kind: "}}' \
		>model/config_sentence_transformers.json
	mteb MODEL="$T/model" TASKS="STS12 shelf moods rooms" NAME=me/it >/dev/null 2>&1
	run=$(echo out/mteb/me__it/*)
	mts head "$run/shelf/queries.mts" | grep -c 'find: '
	mts head "$run/STS12/test.mts" | grep -c 'same? '
	mts head "$run/moods/train.mts" | grep -c 'kind: '
	[ "$(mts head "$run/shelf/corpus.mts" | grep -c prompts)" -eq 0 ]
	[ "$(mts head "$run/rooms/test.mts" | grep -c prompts)" -eq 0 ]
	[ -e "$(echo results/me__it/*/STS12.json)" ]
	grep -q '"name": "me/it"' results/me__it/*/model_meta.json
}

@test "mteb: options of the registry and of the model reach tok and mteb-score" {
	cp -r "$ROOT/share/models/base" model
	echo '{"prompts": {"search_query": "find: ", "search_document": "page: "}}' >model/config_sentence_transformers.json
	echo '{"_id": "q1", "title": "", "text": "stirring a heavy soup"}' >>data/shelf/corpus.jsonl
	cat >data/tasks.yaml <<-END
		tasks: { moods: { type: Classification, samples: 1, experiments: 40 }, shelf: { type: Retrieval, ignore_identical_ids: true } }
	END
	mteb MODEL="$T/model" TASKS="shelf answers moods" >/dev/null 2>&1
	run=$(echo out/mteb/model/*)
	folder=$(echo results/model/*)
	prompts() {
		mts head "$run/$1" | grep '^record' | grep -o '{.*' | jq -c .prompts
	}
	[ "$(prompts shelf/queries.mts)" = '{"text":"find: "}' ]
	[ "$(prompts shelf/corpus.mts)" = '{"document":"page: "}' ]
	[ "$(prompts answers/lists.mts)" = '{"query":"find: ","positive":"page: ","negative":"page: "}' ]
	[ "$(mts head "$run/shelf/queries.mts" | grep '^record')" = "$(mts head "$run/shelf/queries.mts" | grep '2 rows')" ]
	jq -e '.scores.test[0].ndcg_at_10 == 1' "$folder/shelf.json"
	jq -e '.motes.settings["samples per label"] == "1"' "$folder/moods.json"
	# the training texts of all experiments are there
	for rows in train test; do
		tok -m "$T/model" -f text data/classification/moods/$rows.tsv | encode -m "$T/model" -o $rows.mts
	done
	mteb-score --json classification --samples 1 --experiments 40 --train train.mts test.mts >by.hand
	jq -e --slurpfile own "$folder/moods.json" '(.scores.main_score - $own[0].scores.test[0].main_score | fabs) < 1e-6' by.hand
	# changed judgements are scored again
	sleep 1
	printf 'q1\td14\t1\nq3\td9\t1\n' >data/shelf/qrels/test.tsv
	mteb MODEL="$T/model" TASKS=shelf >/dev/null 2>&1
	jq -e '.scores.test[0].ndcg_at_10 < 1 and .motes.settings.queries == "2"' "$folder/shelf.json"
}

@test "mteb: clustering tasks of mteb's second version use clustering-fast, from the Hub's sets or from a text a row" {
	rm -r data
	mkdir -p data/clustering/{TwentyNewsgroupsClustering.v2,ArXivHierarchicalClusteringS2S,Mine.v2}
	# 264 texts in three sets, of which 4 % are sampled
	for word in {a..k}; do sentences | sed "s/\t/\t$word /"; done | jq -cR 'split("\t") | {sentences: .[1], labels: .[1][0:1]}' >rows.jsonl
	jq -cs '_nwise(100) | {sentences: map(.sentences), labels: map(.labels)}' rows.jsonl >sets.jsonl
	cp sets.jsonl data/clustering/TwentyNewsgroupsClustering.v2/test.jsonl
	cp sets.jsonl data/clustering/ArXivHierarchicalClusteringS2S/test.jsonl
	cp rows.jsonl data/clustering/Mine.v2/test.jsonl
	mkdir -p data/classification/SciRepEvalDRSMClassification
	cp rows.jsonl data/classification/SciRepEvalDRSMClassification/evaluation.jsonl
	run mteb PROTOCOL=v2
	grep -q 'SciRepEvalDRSMClassification: FAILED: mteb scores it by cross-validation in 5 folds, which motes has not' <<<"$output"
	rm -r data/classification
	grep -q 'ArXivHierarchicalClusteringS2S: FAILED: .*test.jsonl: mteb samples or splits these sets first' <<<"$output"
	grep -q "Mine.v2: FAILED: mteb scores sets of this name by clustering-fast; say how in tasks.yaml" <<<"$output"
	file=$(echo results/base/*/TwentyNewsgroupsClustering.v2.json)
	tok -m "$ROOT/share/models/base" -f sentences rows.jsonl | encode -m "$ROOT/share/models/base" >rows.mts
	mteb-score clustering-fast --protocol v2 --json rows.mts >fast.json
	jq -e '.scores.v_measure < 0.95' fast.json
	jq -e --slurpfile own "$file" '(.scores.main_score - $own[0].scores.test[0].main_score | fabs) < 1e-6 and
		(.scores.ami - $own[0].scores.test[0].ami | fabs) < 1e-6' fast.json
	jq -e '.motes.settings.drawn == "10" and .motes.settings.texts == "264" and .motes.other_size' "$file"
	# a set of one's own; labels of several levels
	rm -r data/clustering/ArXiv*
	jq -c '.labels |= [.[:1], .]' rows.jsonl >data/clustering/Mine.v2/test.jsonl
	echo 'tasks: { Mine.v2: { type: Clustering, fast: rows, documents: 100, samples: 200 } }' >data/tasks.yaml
	mteb PROTOCOL=v2 PER_QUERY=1
	jq -e '.motes.settings | .drawn == "100" and .levels == "2" and .experiments == "10 of 200 texts"' results/base/*/Mine.v2.json
}

@test "mteb: a set is chosen by its folder's name or its task's, in any case" {
	mv data/sts/STS-12 data/sts/sts12
	for word in sts12 STS12 Sts12; do
		rm -rf results
		mteb TASKS="$word" >/dev/null 2>err
		[ -e "$(echo results/base/*/STS12.json)" ]
	done
	mv data/sts/sts12 data/sts/STS-12
	mteb TASKS=sts-12 >/dev/null
}

@test "mteb: reranking from corpus, queries, qrels and top_ranked equals reranking from rows of lists" {
	zstd -qd --rm data/reranking/answers/test.jsonl.zst
	echo '{"query": "red roses", "positive": ["a heavy pot", "the cook"], "negative": ["the red roses", "roses need water"]}' \
		>>data/reranking/answers/test.jsonl
	folder=data/reranking/moved
	mkdir -p $folder/qrels
	documents='[(.positive[] | [., 1]), (.negative[] | [., 0])] | to_entries | map([("d\($row)_\(9 - .key)")] + .value)'
	rows() { jq -c --slurp "to_entries[] | .key as \$row | .value | $1" data/reranking/answers/test.jsonl; }
	rows '{_id: "q\($row)", text: .query}' >$folder/queries.jsonl
	rows "$documents[] | {_id: .[0], text: .[1]}" >$folder/corpus.jsonl
	{ printf 'query-id\tcorpus-id\tscore\n'; rows "$documents[] | [\"q\(\$row)\", .[0], .[2]] | @tsv" | jq -r .; } >$folder/qrels/test.tsv
	rows "{\"query-id\": \"q\(\$row)\", \"corpus-ids\": ($documents | map(.[0]))}" >$folder/top_ranked.jsonl
	mteb TASKS="answers moved"
	scores() { jq -c '.scores.test[0] | del(.hf_subset, .languages)' results/base/*/"$1.json"; }
	scores answers | jq -e 'length > 60 and .map_at_1000 < 0.9'
	diff <(scores answers | jq -S 'del(.main_score)') <(scores moved | jq -S 'del(.main_score)')
	[ "$(scores moved | jq .main_score)" = "$(scores answers | jq .map_at_1000)" ]
	# only the query's own candidates: of all documents another query's would be nearer
	jq -e '.motes.settings.candidates == "given" and .motes.task_type == "Reranking"' results/base/*/moved.json
	rm results/base/*/moved.json
	mkdir $folder/top_ranked
	mv $folder/top_ranked.jsonl $folder/top_ranked/test.jsonl
	mteb TASKS=moved >/dev/null
	[ "$(scores moved | jq .main_score)" = "$(scores answers | jq .map_at_1000)" ]
	# MindSmallReranking's score is the maximum over the queries of a row; here, over all
	cp -r $folder data/reranking/MindSmallReranking
	mteb TASKS=MindSmallReranking >/dev/null
	scores MindSmallReranking | jq -e '.main_score == .max_over_subqueries_map_at_1000 and .main_score != .map_at_1000 and .map_at_1000 > 0'
	run mteb TASKS=moved PROTOCOL=v1
	[[ $output == *"moved: FAILED: a corpus and top_ranked are scored only by protocol v2; say PROTOCOL=v2, or"* ]]
	mv $folder/top_ranked top
	run mteb TASKS=moved
	[[ $output == *"moved: FAILED: $T/data/reranking/moved: there is no top_ranked.jsonl"* ]]
}

@test "mteb: SummEval and its second version are scored as mteb does, with either PROTOCOL" {
	mv data/summarization/notes data/summarization/SummEval
	cp -r data/summarization/SummEval data/summarization/SummEvalSummarization.v2
	for protocol in v1 v2; do
		mteb TASKS=summarization PROTOCOL=$protocol >/dev/null
		test=$(find out -path '*SummEval/test.mts' | head -n 1)
		for set in SummEval.v1 SummEvalSummarization.v2; do
			jq -e --argjson own "$(mteb-score -q summarization --protocol "${set#*.}" --json "$test")" \
				'(.scores.test[0].main_score - $own.scores.main_score | fabs) < 1e-6' "$(echo results/base/*/"${set%.v1}.json")"
		done
		rm -r results
	done
	run ! diff -q <(mteb-score -q summarization --protocol v1 "$test" | sed 1d) \
		<(mteb-score -q summarization --protocol v2 "$test" | sed 1d)
}

@test "mteb: a second run follows what tasks.yaml says now" {
	cp -r "$ROOT/share/models/base" asking
	echo '{"prompts": {"asked": "a ship that they asked for: "}}' >asking/config_sentence_transformers.json
	cat >data/tasks.yaml <<-END
		tasks:
		  STS12: { type: STS }
		  moods: { type: Classification, experiments: 3, samples: 2 }
		  shelf: { type: Retrieval, at: [3] }
	END
	mteb MODEL="$T/asking" TASKS="STS12 moods shelf" >first 2>/dev/null
	mteb MODEL="$T/asking" TASKS="STS12 moods shelf" 2>err | diff first -
	run ! grep -q "encode\|score" err
	[ "$(jq '.scores.test[0].scores_per_experiment | length' results/*/*/moods.json)" = 3 ]
	sed -i 's/experiments: 3/experiments: 4/; s/\[3\]/[5]/; s/{ type: STS }/{ type: STS, prompt: asked }/' data/tasks.yaml
	mteb MODEL="$T/asking" TASKS="STS12 moods shelf" >second 2>err
	grep -q "STS12: encode" err
	run ! grep -q "shelf: encode" err
	jq -e '.scores.test[0] | has("recall_at_5") and (has("recall_at_3") | not)' results/*/*/shelf.json
	mteb MODEL="$T/asking" TASKS="STS12 moods shelf" OUT="$T/fresh" RESULTS="$T/fresh" >fresh.table 2>/dev/null
	diff fresh.table second
	[ "$(jq '.scores.test[0].scores_per_experiment | length' results/*/*/moods.json)" = 4 ]
	# the same set from another folder, whose files are older
	cp -r data other
	sed -i 's/,4.5$/,0.1/; s/,4.8$/,0.2/; s/,0.5$/,4/' other/sts/STS-12/test.csv
	touch -d 2001-01-01 other/sts/STS-12/test.csv
	mteb MODEL="$T/asking" DATA="$T/other" TASKS=STS12 >third 2>/dev/null
	run -1 diff <(grep STS12 second) <(grep STS12 third)
	mteb MODEL="$T/asking" TASKS=STS12 2>/dev/null | grep STS12 | diff <(grep STS12 second) -
	# results of another protocol in the same folder
	for protocol in v2 v1 v2 v1; do
		mteb MODEL="$T/asking" TASKS=STS12 PROTOCOL=$protocol RESULTS="$T/both" >/dev/null 2>&1
		[ "$(jq -r .motes.settings.protocol both/*/*/STS12.json)" = $protocol ]
	done
	# scores by query are those of the last scores
	mteb MODEL="$T/asking" TASKS=shelf PER_QUERY=1 >/dev/null 2>&1
	cp results/*/*/shelf.tsv queries.tsv
	sed -i 's/at: \[5\]/at: [1]/' data/tasks.yaml
	mteb MODEL="$T/asking" TASKS=shelf >/dev/null 2>&1
	run ! ls results/*/*/shelf.tsv
	mteb MODEL="$T/asking" TASKS=shelf PER_QUERY=1 >/dev/null 2>&1
	run -1 cmp -s queries.tsv results/*/*/shelf.tsv
}

@test "mteb: a line in the data's tasks.yaml adds a set; each protocol has its own results" {
	mkdir data/mine
	mv data/shelf/* data/mine
	rmdir data/shelf
	echo 'tasks: { mine: { type: Retrieval, main: mrr_at_10, in: home } }' >data/tasks.yaml
	mteb TASKS=home >/dev/null 2>&1
	grep -q "| mine | mrr_at_10 |" results/table.md
	mteb TASKS=answers PROTOCOL=v1 RESULTS="$T/one" >/dev/null 2>&1
	grep -q "| answers | map |" one/table.md
	mteb TASKS=answers >/dev/null 2>&1
	grep -q "| answers | map_at_1000 |" results/table.md
}

@test "mteb: subsets and splits of a set are scored one by one, with their mean in one file; a benchmark selects its parts" {
	mkdir -p data/STS17/{en-en,ko-ko} data/AmazonReviewsClassification/en
	cp data/sts/STS-12/test.csv data/STS17/en-en
	awk 'NR != 3' data/sts/STS-12/test.csv >data/STS17/ko-ko/test.csv
	cp data/classification/moods/*.tsv data/AmazonReviewsClassification/en
	head -n 4 data/classification/moods/test.tsv >data/AmazonReviewsClassification/en/validation.tsv
	mteb TASKS="STS17 AmazonReviewsClassification" PER_QUERY=1 >table 2>err
	grep -qx 'STS17@ko-ko@test: encode test' err
	cd results/base/*
	jq -e '[.scores.test[].hf_subset] == ["ko-ko", "en-en"]' STS17.json
	jq -e '[.scores | keys] == [["test", "validation"]] and .scores.test[0].hf_subset == "en"' AmazonReviewsClassification.json
	for pair in en-en ko-ko; do
		mteb-score sts --json "$T"/out/mteb/base/*/STS17@$pair@test/test.mts | jq .scores.cosine_spearman |
			within <(jq ".scores.test[] | select(.hf_subset == \"$pair\") | .main_score" STS17.json) 1e-6
	done
	[ -e STS17@ko-ko@test.tsv ] && [ -e AmazonReviewsClassification@en@validation.tsv ]
	jq '[.scores.test[].main_score] | add / 2 * 100' STS17.json | within <(awk -F'|' '/STS17/ { print $5 + 0 }' "$T/table") 0.005
	cd "$T"
	run -0 --separate-stderr mteb BENCHMARK="MTEB(eng, v2)" RESULTS="$T/eng" TASKS=sts
	[[ $stderr == *"MTEB(eng, v2): 2 of its 41 data sets are in $T/data; missing are"*"  BIOSSES "*"mteb/biosses-sts"* ]]
	# the benchmark's table has its part only, the result also a part that was scored before
	jq '.scores.test[] | select(.hf_subset == "en-en").main_score * 100' eng/base/*/STS17.json |
		within <(awk -F'|' '/STS17/ { print $5 + 0 }' eng/table.md) 0.005
	grep -q '^| STS | SICK-R | cosine_spearman | |' eng/table.md
	# a run that chooses one part keeps the other in the result
	touch data/STS17/en-en/test.csv
	mteb BENCHMARK="MTEB(eng, v2)" TASKS=STS17 >/dev/null 2>err
	grep -qx 'STS17@en-en@test: encode test' err
	run ! grep 'ko-ko' err
	jq -e '[.scores.test[].hf_subset] | sort == ["en-en", "ko-ko"]' results/base/*/STS17.json
	run -0 motes mteb --list BENCHMARK="MTEB(eng, v2)"
	[ "${#lines[@]}" -eq 42 ]
	[ "$(motes mteb --list TASKS=STS12)" = "$(leaderboard list --registry "$ROOT/share/tasks.yaml" STS12)" ]
}

@test "mteb: INSTRUCT puts mteb's sentence for each task before queries; other instructions count as another model" {
	mteb TASKS="STS12 shelf" >plain 2>&1
	mteb TASKS="STS12 shelf" INSTRUCT='Task: {instruction} ' >table 2>err
	head -n 1 table | found 'base+instruct-[0-9]* '
	run=$(echo out/mteb/base+instruct-*/*)
	vectors() { mts to jsonl "$1" | jq -c ".[\"$2\"][]"; }
	tok -m "$ROOT/share/models/base" -f sentence1 --prompt 'Task: Retrieve semantically similar text. ' data/sts/STS-12/test.csv |
		encode -m "$ROOT/share/models/base" -o by.hand
	vectors by.hand sentence1.emb | within <(vectors "$run/STS12/test.mts" sentence1.emb) 1e-6
	# documents have no instruction
	vectors "$run/shelf/corpus.mts" document.emb | within <(vectors "$(echo out/mteb/base/*/shelf/corpus.mts)" document.emb) 1e-6
	run ! cmp -s "$run/shelf/queries.mts" out/mteb/base/*/shelf/queries.mts
	# a template with the word "no" is not INSTRUCT=no; it and a benchmark may have an apostrophe
	mteb TASKS=STS12 INSTRUCT="The user's, no matter which: {instruction} " RESULTS="$T/words" >table 2>err
	head -n 1 table | found 'base+instruct-[0-9]* '
	run -2 --separate-stderr mteb BENCHMARK="it's"
	[[ $stderr == "leaderboard: there is no benchmark 'it's'; "* ]]
}

@test "mteb: types of mteb's second version are scored from rows as mteb has them" {
	mkdir -p data/bitextmining/verses data/regression/years data/multilabelclassification/things data/instructionretrieval/asked
	sentences | awk -F'\t' '{ printf "{\"sentence1\": \"%s\", \"sentence2\": \"so %s\"}\n", $2, $2 }' >data/bitextmining/verses/test.jsonl
	sentences | awk -F'\t' '{ printf "{\"text\": \"%s\", \"value\": %d}\n", $2, length($2) }' | tee data/regression/years/train.jsonl >data/regression/years/test.jsonl
	sentences | awk -F'\t' '{ printf "{\"text\": \"%s\", \"label\": [\"%s\", \"%d\"]}\n", $2, $1, length($2) % 2 }' |
		tee data/multilabelclassification/things/train.jsonl >data/multilabelclassification/things/test.jsonl
	cp -r data/shelf/* data/instructionretrieval/asked
	sed 's/}$/, "instruction": "of the harbour"}/' data/shelf/queries.jsonl >data/instructionretrieval/asked/queries.jsonl
	mteb TASKS="verses years things asked" >table 2>err
	grep -q '| BitextMining | verses | f1 | 100.00 |' table
	grep -q '| Regression | years | kendalltau |' table
	[ "$(jq '.scores.test[0].scores_per_experiment | length' results/base/*/years.json)" = 10 ]
	echo 'tasks: { years: { type: Regression, experiments: 3, samples: 15 } }' >data/tasks.yaml
	mteb TASKS=years OUT="$T/few" RESULTS="$T/few" >/dev/null 2>&1
	[ "$(jq '.scores.test[0].scores_per_experiment | length' few/base/*/years.json)" = 3 ]
	rm data/tasks.yaml
	grep -q '| MultilabelClassification | things | accuracy |' table
	grep -q '| InstructionRetrieval | asked | ndcg_at_20 |' table
	# an instruction is part of its query
	run=$(echo out/mteb/base/*)
	vectors() { mts to jsonl "$1" | jq -c ".[\"$2\"][]"; }
	jq -c '{text: "\(.text) \(.instruction)"}' data/instructionretrieval/asked/queries.jsonl | head -n 2 |
		tok -m "$ROOT/share/models/base" -f text --format jsonl - | encode -m "$ROOT/share/models/base" -o by.hand
	vectors by.hand text.emb | within <(vectors "$run/asked/queries.mts" query.emb) 1e-6
}

@test "mteb: all-MiniLM-L6-v2 has its published figures on real data sets" {
	need_minilm
	need_data sts/stsbenchmark
	make -s --no-print-directory -C "$ROOT" mteb X="$BUILD/bin" MODEL="$MOTES_MINILM" DATA="$DATA" OUT="$T/out" \
		RESULTS="$T/results" TASKS=STSBenchmark NAME=all-MiniLM-L6-v2 >/dev/null 2>&1
	grep -q "| STSBenchmark | cosine_spearman | 82.03 |" results/table.md
}
