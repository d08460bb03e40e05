#!/usr/bin/env bats
load helper

# Runs the recipes of motes-cookbook.7 as printed; a recipe is skipped if its package is missing.
PYTHON=${PEER_PYTHON:-python3}

# recipe NAME N: the N-th block under the heading NAME of the page
recipe() {
	awk -v name="$1" -v wanted="$2" '
		/^\.Ss / { here = substr($0, 5) == name; block = 0 }
		/^\.Ed/ { inside = 0 }
		inside && here && block == wanted
		/^\.Bd/ { inside = 1; block++ }' "$ROOT/man/motes-cookbook.7" |
		sed -e 's/\\&//; s/\\e/\\/g' >"$T/block"
	[ -s "$T/block" ]
	cat "$T/block"
}

# with MODULE...: skips the test unless Python has the modules
with() {
	for module; do
		"$PYTHON" -c "import $module" 2>/dev/null || skip "needs the Python module $module (set PEER_PYTHON)"
	done
	export PYTHONPATH=$ROOT/share/python PYTHONDONTWRITEBYTECODE=1
}

setup() {
	[ -e "$ROOT/share/models/base/model.safetensors" ] || skip "needs make base-model"
	export MOTES_MODEL=$ROOT/share/models/base
	cd "$T"
	mkdir notes
	printf '# Keys\n\nThe keys hang in the hall, "left".\n' >notes/house.md
	printf '# Boat\n\nThe boat lies at the pier.\n\n# Oil\n\nBuy lamp oil, and wicks.\n' >notes/harbour.md
	tok notes/ | encode >notes.mts
}

@test "cookbook: every recipe of the page has a test" {
	while read -r name; do
		grep -q "^@test \"cookbook: $name\"" "$BATS_TEST_FILENAME"
	done < <(sed -n 's/^\.Ss //p' "$ROOT/man/motes-cookbook.7")
}

@test "cookbook: jq" {
	echo '[{"id": 7, "body": "The tide is high."}]' >mails.json
	recipe jq 1 | bash -eu -o pipefail >out
	diff out - <<<$'2 harbour.md\n1 house.md'
	[ "$(mts to jsonl -c mail,text mails.mts)" = '{"mail":7,"text":"The tide is high."}' ]
}

@test "cookbook: NumPy" {
	recipe NumPy 1 | bash -eu -o pipefail
	mts cat -c text.emb notes.mts | mts diff - vectors.mts
	with numpy
	[ "$(recipe NumPy 2 | "$PYTHON" -)" = house.md:1 ]
}

@test "cookbook: vectors of another program" {
	printf '{"id": "%s", "text": "%s", "embedding": [%s]}\n' a x 1,0 b y 0.5,1 >vectors.jsonl
	recipe NumPy 3 | bash -eu -o pipefail
	[ "$(near --exclude-self --json other.mts other.mts | jq -r '.hits[0].id' | paste -sd' ')" = "b a" ]
}

@test "cookbook: pandas and Parquet" {
	with numpy pandas pyarrow
	recipe 'pandas and Parquet' 1 | "$PYTHON" -
	mts diff notes.mts again.mts
	recipe 'pandas and Parquet' 2 | bash -eu -o pipefail
	[ "$("$PYTHON" -c 'import pandas; f = pandas.read_csv("notes.csv"); print(f.shape, f["text"][2], f["text.emb_255"].dtype)')" = $'(3, 259) # Keys\n\nThe keys hang in the hall, "left". float64' ]
}

@test "cookbook: pgvector" {
	# a stand-in for psql, which records its statements and the copied data
	mkdir bin
	printf '#!/bin/sh\necho "$*" >>%q/statements\ncase $* in *STDIN*) cat >%q/copied;; *query*) cat >>%q/statements;; esac\n' "$T" "$T" "$T" >bin/psql
	chmod +x bin/psql
	PATH=$T/bin:$PATH
	recipe pgvector 1 | bash -eu -o pipefail
	[ "$(mts from csv --numbers start copied | mts to jsonl | jq -c '[.path, .start, (."text.emb" | fromjson | length)]' | paste -sd' ')" = \
		'["harbour.md",1,256] ["harbour.md",5,256] ["house.md",1,256]' ]
	grep -q '^-v query=\[[-0-9.e,]*\]$' statements
	# pgvector's Python package, if it is installed, reads the copied text as the vector
	with pgvector numpy
	"$PYTHON" -c 'import csv, pgvector; rows = list(csv.DictReader(open("copied"))); assert len(pgvector.Vector.from_text(rows[2]["text.emb"]).to_list()) == 256'
}

@test "cookbook: sqlite-vec" {
	command -v sqlite3 || skip "needs sqlite3"
	with sqlite_vec
	mkdir bin
	ln -s "$(command -v "$PYTHON")" bin/python3
	PYTHONPATH=$PYTHONPATH:$("$PYTHON" -c 'import os, sqlite_vec as s; print(os.path.dirname(os.path.dirname(s.__file__)))')
	PATH=$T/bin:$PATH
	recipe sqlite-vec 1 | bash -eu -o pipefail >out
	[ "$(head -n 1 out)" = 'house.md|1' ]
	[ "$(wc -l <out)" -eq 3 ]
}

@test "cookbook: FAISS" {
	with numpy faiss
	recipe FAISS 1 | "$PYTHON" - >out
	[[ $(head -n 1 out) == *' house.md 1' ]]
	[ "$(wc -l <out)" -eq 3 ]
}

@test "cookbook: LangChain" {
	with numpy
	if ! "$PYTHON" -c 'import langchain_core' 2>/dev/null; then
		mkdir langchain_core
		echo 'class Embeddings: pass' >langchain_core/embeddings.py
	fi
	recipe LangChain 1 >recipe.py
	"$PYTHON" - <<-'END'
		from recipe import Motes
		made = Motes(query="query: ")
		documents = made.embed_documents(["the keys", "the boat"])
		assert len(documents) == 2 and len(documents[0]) == 256 and isinstance(documents[0][0], float)
		assert made.embed_query("the keys") != documents[0]
		assert Motes().embed_query("the keys") == documents[0]
	END
}

@test "cookbook: Reranking" {
	R=$GOLDEN/rerank
	cp -r "$R/bert" reranker
	cp "$GOLDEN/settings/bert/tokenizer.json" reranker
	jq -c '.model_max_length = 32' "$GOLDEN/settings/bert/tokenizer_config.json" >reranker/tokenizer_config.json
	grep -v '"q4"' "$R/queries.jsonl" >queries.jsonl # q4 has no words
	cp "$R/documents.jsonl" corpus.jsonl
	sed -i 's/"text": ""/"text": "x"/' corpus.jsonl
	printf 'query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\nq2\td1\t1\n' >test.tsv
	recipe Reranking 1 >recipe.sh
	RERANKER=reranker bash -eu -o pipefail recipe.sh >out
	[ "$(wc -l <out)" -eq 1 ]
	# the model's best document by scores of single pairs
	jq -rs 'map(.text)[]' corpus.jsonl | sed 's/^/light of the lighthouse\t/; 1i query\ttext' >pairs.tsv
	best=$(tok -m reranker --pair -f query -f text pairs.tsv | rerank -m reranker | mts to tsv -c pair.score | sed 1d |
		awk '{ print "d" NR - 1, $1 }' | sort -k2,2gr | sed -n '1s/ .*//p')
	rerank -m reranker --queries queries.jsonl --texts corpus.jsonl first.run | grep -P "^q1\tQ0\t$best\t1\t"
	grep -P '^ndcg_at_10\t[0-9.]+\tndcg_at_10\t[0-9.]+$' out
}

@test "cookbook: Hybrid search" {
	cp -r "$GOLDEN/sparse/bert" splade
	cp "$GOLDEN/settings/bert"/tokenizer* splade
	cp "$GOLDEN/sparse/texts.jsonl" corpus.jsonl
	sed -n 1,2p corpus.jsonl >queries.jsonl
	recipe 'Hybrid search' 1 >recipe.sh
	SPLADE=splade bash -eu -o pipefail recipe.sh
	[ "$(wc -l <both.run)" -eq 14 ]
	near --fuse rrf dense.run sparse.run | diff - both.run
	run ! cmp dense.run sparse.run
	recipe 'Hybrid search' 2 | sed "s#/usr/local/share/motes/pipelines#$ROOT/pipelines#" >recipe.sh
	bash -eu -o pipefail recipe.sh
	[ "$(cut -f3 both.run | sort -u | wc -l)" -eq "$(wc -l <corpus.jsonl)" ]
	run ! cmp dense.run both.run
}

@test "cookbook: Long documents" {
	long=$(printf 'The boats lie in the harbour. %.0s' {1..40})
	jq -nc --arg long "$long" '{_id: "a", text: ($long + "The keys hang behind the kitchen door.")}, {_id: "b", text: "A garden of roses."}, {_id: "c", text: $long}' >corpus.jsonl
	printf '{"_id": "%s", "text": "%s"}\n' q "where are the keys of the kitchen" r "flowers of the garden" >queries.jsonl
	printf 'query-id\tcorpus-id\tscore\nq\ta\t1\nr\tb\t1\n' >qrels.tsv
	recipe 'Long documents' 1 | bash -eu -o pipefail >scores
	[ "$(mts stat passages.mts | awk '$1 == "rows" { print $2 }')" -gt 3 ]
	[ "$(awk '$4 == 1 { print $1, $3 }' best.run)" = $'q a\nr b' ]
	[ "$(cut -f1,3 best.run | sort | uniq -d)" = "" ]
	grep -qP '^ndcg_at_10\t1(\.0*)?$' scores
}

@test "cookbook: Labels without examples" {
	recipe 'Labels without examples' 1 | bash -eu -o pipefail >out
	[ "$(wc -l <out)" -eq 3 ]
	[ "$(awk '/pier|keys/ { print $1 }' out | paste -sd' ')" = "boat house" ]
}

@test "cookbook: Outliers" {
	recipe Outliers 1 | bash -eu -o pipefail >out
	[ "$(wc -l <out)" -eq 3 ]
	sort -g out | diff out -
}

@test "cookbook: Late interaction" {
	cp "$GOLDEN/late/documents.jsonl" corpus.jsonl
	sed -n 1,2p "$GOLDEN/late/queries.jsonl" >queries.jsonl
	recipe 'Late interaction' 1 | sed 's/-k 50/-k 3/' >recipe.sh
	COLBERT=$GOLDEN/late/colbert bash -eu -o pipefail recipe.sh
	[ "$(wc -l <second.run)" -eq 6 ]
	[ "$(wc -l <all.run)" -eq 14 ]
	diff <(cut -f1,3 first.run | sort) <(cut -f1,3 second.run | sort)
	cut -f1,3,5 all.run | sort >all
	cut -f1,3,5 second.run | sort | comm -23 - all | diff - /dev/null
	recipe 'Late interaction' 2 >recipe.sh
	bash -eu -o pipefail recipe.sh
	cut -f1,3 all.run | sort | diff - <(cut -f1,2 all)
}

# The folder start: a tiny BERT with its tokenizer, in place of the recipe's model.
start() {
	mkdir start
	cp "$GOLDEN/rerank/bert/model.safetensors" "$GOLDEN/settings/bert/tokenizer.json" start
	jq -c '.model_max_length = 32' "$GOLDEN/settings/bert/tokenizer_config.json" >start/tokenizer_config.json
	jq '.architectures = ["BertModel"]' "$GOLDEN/rerank/bert/config.json" >start/config.json
	export MOTES_MODEL=$PWD/start
}

@test "cookbook: Training a reranker" {
	R=$GOLDEN/rerank
	start
	grep -v '"q4"' "$R/queries.jsonl" >queries.jsonl # q4 has no words
	sed 's/"text": ""/"text": "x"/' "$R/documents.jsonl" >corpus.jsonl
	printf 'query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\nq2\td1\t1\n' >train.tsv
	recipe 'Training a reranker' 1 >recipe.sh
	bash -eu -o pipefail recipe.sh
	[ "$(wc -l <second.run)" -eq "$(wc -l <train.run)" ]
	[ "$(jq -s 'map(.negatives | length) | max' hard.jsonl)" -eq 4 ]
	recipe 'Training a reranker' 2 >recipe.sh
	bash -eu -o pipefail recipe.sh
	tok -m student -f text corpus.jsonl | encode -m student >c.mts
}

@test "cookbook: Texts of one field" {
	seeded_awk 'BEGIN { srand(5); for (i = 1; i <= 600; i++) { line = "cells"; for (j = 0; j < 12; j++) line = line " w" int(rand() * 300)
		printf "{\"_id\": \"%d\", \"text\": \"%s\"}\n", i, line } }' >corpus.jsonl
	head -n 20 corpus.jsonl >queries.jsonl
	recipe 'Texts of one field' 1 | bash -eu -o pipefail
	# each text finds itself; the vectors have length 1, and their covariance is flatter
	awk '$4 == 1' field.run | awk '$1 == $3 { n++ } END { exit n != 20 }'
	mts to jsonl -c text.emb field.mts | jq -e '.["text.emb"] | (map(. * .) | add) - 1 | fabs < 1e-5' >/dev/null
	geom isoscore -q --any-model raw.mts field.mts | awk -F'\t' 'NR == 2 { raw = $5 } NR == 3 { exit !($5 > raw) }'
}

@test "cookbook: A smaller model" {
	start
	jq -r .text "$GOLDEN/rerank/documents.jsonl" | grep . >texts.txt
	recipe 'A smaller model' 1 | sed 's/0,2,5/1/' >recipe.sh # the tiny model has two blocks
	bash -eu -o pipefail recipe.sh
	[ "$(jq .num_hidden_layers small/config.json)" = 1 ]
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "loss") at = i; next } NR == 2 { first = $at } { last = $at }
		END { exit !(first > 0 && last < first) }' small.log.tsv
}

@test "cookbook: TensorBoard" {
	with torch tensorboard
	seq 40 | awk 'BEGIN { print "query\tdocument" } { print "text " $1 "\tabout " $1 }' >pairs.tsv
	echo '{batch: 8, epochs: 2, tasks: {t: {datasets: [{name: t, file: pairs.tsv, query: query, document: document}]}}}' >mix.yaml
	tasksample -q mix.yaml | tok -q >batches.mts
	train -q --lora rank=2 -o tuned --dev batches.mts --dev-every 5 batches.mts
	recipe TensorBoard 1 | "$PYTHON" - 2>/dev/null
	"$PYTHON" - 2>/dev/null >values <<-'END'
		from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
		events = EventAccumulator("runs/tuned").Reload()
		for tag in ("loss", "dev_loss"):
		    for e in events.Scalars(tag): print(tag, e.step, "%.6g" % e.value)
	END
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { for (k = 1; k <= 2; k++) { n = k == 1 ? "loss" : "dev_loss"
		if ($c[n] != "") printf "%s %d %.6g\n", n, $1, $c[n] } }' tuned.log.tsv | sort >wanted
	[ "$(wc -l <wanted)" -ge 12 ]
	sort values | diff - wanted
}

@test "cookbook: cron" {
	recipe cron 1 >notes.mk
	rm notes.mts
	recipe cron 2 | sed 's/^\*\/10 \* \* \* \* //' >line
	sh -eu line >ran
	[ "$(mts to jsonl -c path,start notes.mts | jq -r '"\(.path):\(.start)"' | paste -sd' ')" = 'notes/harbour.md:1 notes/harbour.md:5 notes/house.md:1' ]
	touch -d '1 minute ago' notes notes/* index/notes/*
	touch notes.mts
	make -sf notes.mk -q
	before=$(stat -c %Y index/notes/house.md.mts)
	echo '# New' >notes/new.md
	rm notes/harbour.md
	sh -eu line
	[ "$(mts to jsonl -c path notes.mts | jq -r .path | paste -sd' ')" = 'notes/house.md notes/new.md' ]
	[ "$(stat -c %Y index/notes/house.md.mts)" -eq "$before" ]
	# an index follows the notes
	recipe cron 3 >>notes.mk
	make -sf notes.mk notes.index
	echo 'where is the lamp' | tok --keep | encode >q.mts
	near --json q.mts notes.index | cmp - <(near --json q.mts notes.mts)
	touch -d '1 minute ago' notes notes/* index/notes/*
	printf '# Lamp\n\nThe lamp hangs at the door.\n' >notes/house.md
	rm notes/new.md
	make -sf notes.mk notes.index
	near --json q.mts notes.index | cmp - <(near --json q.mts notes.mts)
	near q.mts notes.index | grep 'notes/house.md:1 '
	[ "$(jq '.removed.rows' notes.index/index.json)" -ge 2 ]
}

@test "cookbook: systemd" {
	recipe systemd 1 >motes.socket
	recipe systemd 2 >motes@.service
	grep -q '^Accept=yes' motes.socket
	command=$(sed -n 's/^ExecStart=//p' motes@.service)
	echo 'where are the keys?' | bash -c "$command" | near -k 1 notes.mts | grep 'house.md\|keys'
	cp motes@.service vectors.service
	recipe systemd 4 | bash -eu -o pipefail
	command=$(sed -n 's/^ExecStart=//p' motes@.service)
	echo 'where are the keys?' | bash -c "$command" | grep '  1 .*The keys hang'
	mv vectors.service motes@.service
	recipe systemd 5 >near.socket
	recipe systemd 6 >near.service
	command=$(sed -n 's/^ExecStart=//p' near.service | sed "s|%[th]|$T|g")
	$command 3>&- &
	until [ -S near.sock ]; do kill -0 $!; done
	recipe systemd 7 >ask
	XDG_RUNTIME_DIR=$T bash -eu -o pipefail ask | jq -e '.hits[0].text | test("keys hang")'
	kill $!
	# systemd-analyze verifies the unit files where systemd looks for them
	recipe systemd 3 | bash -n
	systemd-analyze verify --help >/dev/null 2>&1 || skip "needs systemd-analyze"
	cp motes@.service motes@1.service
	XDG_RUNTIME_DIR=$T systemd-analyze --user --man=no verify "$T/motes.socket" "$T/motes@1.service" "$T/near.socket" "$T/near.service" >out 2>&1 || true
	cat out
	if grep 'Failed to initialize' out; then skip "systemd-analyze does not start here"; fi
	run ! grep 'Unknown\|Failed to parse\|Invalid' out
}
