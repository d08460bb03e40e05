#!/usr/bin/env bats
load helper

# motes: its list, programs and pipelines by their words; motes get from a Hub of files; motes tune.

setup() {
	cd "$T" || return
	unset MAKEFLAGS MFLAGS MAKEOVERRIDES HF_HUB_CACHE HF_HOME XDG_CACHE_HOME HF_ENDPOINT HF_TOKEN
	export HOME=$T/home
}

# listed HEADING: the first words of the list's lines below the heading
listed() {
	motes | awk -v on="$1" '/:$/ { inside = index($0, on) } inside && /^    [a-z]/ { print $1 }'
}

# 1. the list

@test "motes: lists every program with the sentence of its page, and pipelines that make help also lists" {
	motes | sed -n 's/^    \([a-z][^ ]*\) *\(.*\)/\1 \2/p' >list
	for page in "$ROOT"/man/*.1; do
		name=$(basename "$page" .1)
		[ "$name" = motes ] || echo "$name $(sed -n 's/^\.Nd //p' "$page")"
	done | sort >wanted
	[ "$(wc -l <wanted)" -gt 10 ]
	# a program without a page is unfinished
	diff wanted <(grep -v "^\($(listed pipelines, | paste -sd'|' | sed 's/|/\\|/g')\) " list | sort)
	for pipeline in $(listed pipelines,); do
		grep -q "^## $pipeline " "$ROOT"/pipelines/*.mk
	done
	for group in "encode and search" train route score look; do
		[ -n "$(listed "$group")" ]
	done
	diff <(motes) <(motes --help)
	motes --help | found '^Usage: motes PROGRAM'
}

# 2. programs

@test "motes: the name of a program runs the program beside it with its arguments, options and exit status" {
	[ "$(motes tok --version)" = "$(tok --version)" ]
	[ "$(motes near --help)" = "$(near --help)" ]
	motes tok -m "$GOLDEN/bert" <<<"the dog" | mts diff - <(tok -m "$GOLDEN/bert" <<<"the dog")
	run -2 --separate-stderr motes encode --no-such-option
	[[ ${stderr_lines[0]} == "encode: "* ]]
	run -0 --separate-stderr motes route --version
	[[ $output == "pilot-route (motes) "* ]]
	[ "$stderr" = "motes: warning: 'route' is now called pilot-route" ]
}

@test "motes: finds programs in libexec; a missing one is refused with the folders that were searched" {
	mkdir -p there/bin there/libexec/motes
	cp "$BUILD/bin/motes" there/bin
	cp "$BUILD/bin/tok" there/libexec/motes
	[ "$(there/bin/motes tok --version)" = "$(tok --version)" ]
	run -1 --separate-stderr there/bin/motes near
	[[ $stderr == "motes: $T/there/bin/near: it does not start, nor does $T/there/bin/../libexec/motes/near; "*": No such file or directory" ]]
	run -1 --separate-stderr there/bin/motes mteb
	[[ $stderr == *"/share/motes/pipelines/Makefile: it is not there"* ]]
}

# 3. usage

@test "motes: an unknown word, and an option before a word, are usage errors" {
	run -2 --separate-stderr motes nera
	[[ ${stderr_lines[0]} == "motes: 'nera' is not one of tok, "*"; did you mean 'near'?" ]]
	run -2 --separate-stderr motes -q tok
	[ "${stderr_lines[0]}" = "motes: the options of tok come after its name" ]
	run -2 --separate-stderr motes get
	[[ ${stderr_lines[0]} == "motes: get: too few operands" ]]
	run -2 --separate-stderr motes get a b
	for name in ../x a/b/c '' 'a b' a/.b; do
		run -2 --separate-stderr motes get "$name"
		[[ ${stderr_lines[0]} == "motes: '$name' is not a name on the Hugging Face Hub"* ]]
	done
}

# 4. pipelines

@test "motes: --help of a pipeline prints the comment at the top of its file" {
	run -0 motes mteb --help
	[[ $output == *$'\tmotes mteb MODEL=dir DATA=dir '* && $output != *'make mteb'* ]]
	for pipeline in $(listed pipelines,); do
		motes "$pipeline" --help | sed -n 1p | found '\.mk - '
	done
}

# bats test_tags=plain
@test "motes: mteb runs from an installed tree, in the current folder, without the sources" {
	[[ $BUILD == */build/cpu ]] || skip "for the plain build"
	[ -e "$ROOT/share/models/base/model.safetensors" ] || skip "needs make base-model"
	make -s -C "$ROOT" B="$BUILD" install DESTDIR="$T/root" PREFIX=/usr
	mkdir -p here/data/sts/STS12 here/data/shelf/qrels
	cd here
	printf '%s\t%s\t%s\n' sentence1 sentence2 score "a warm soup" "soup that is warm" 5 "a red ship" "a quiet garden" 0 \
		"roses need water" "water the roses" 4 >data/sts/STS12/test.tsv
	printf '{"_id": "d%d", "title": "", "text": "%s"}\n' 1 "the cook stirs the soup" 2 "a ship leaves the harbour" >data/shelf/corpus.jsonl
	printf '{"_id": "q%d", "text": "%s"}\n' 1 "a cook stirs soup" 2 "ships in a harbour" >data/shelf/queries.jsonl
	printf 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n' >data/shelf/qrels/test.tsv
	# installed files have other places than in the source tree
	PATH=$T/root/usr/bin:/usr/bin:/bin
	page_examples motes.1 | grep '^motes mteb' >example
	bash -e example >table 2>err || { cat err; false; }
	grep -q 'shelf | ndcg_at_10 | 100.00 |' table
	grep -q '^| STS | STS12 | cosine_spearman ' table
	diff table results/table.md
	[ "$(ls -d *)" = $'data\nerr\nexample\nout\nresults\ntable' ]
	run ! grep -rl "$ROOT" out results
	# a second run makes nothing
	motes mteb DATA=data TASKS="STS12 shelf" >"$T/again" 2>err
	run ! grep encode err
	diff table "$T/again"
	# nothing is written to the installed tree
	[ -z "$(find "$T/root" -newer example)" ]
	# every pipeline is a goal there
	for pipeline in $(listed pipelines,); do
		motes "$pipeline" -n DATA=data >/dev/null
	done
}

# 5. a model of the Hub

# hub: a Hub of files, with a model and files beside it that motes does not read
hub() {
	local at=$T/hub/some/tiny.bert/resolve/0a1b2c
	mkdir -p "$at" "$T/hub/api/models/some/tiny.bert/revision"
	cp -r "$GOLDEN/bert/." "$at"
	mkdir -p "$at/onnx"
	touch "$at/onnx/model.onnx" "$at/tf_model.h5" "$at/pytorch_model.bin" "$at/.gitattributes"
	(cd "$at" && find . -type f | sed 's,^\./,,' | jq -R . | jq -c -s '{id: "some/tiny.bert", sha: "0a1b2c", siblings: map({rfilename: .})}') \
		>"$T/hub/api/models/some/tiny.bert/revision/main"
	export HF_ENDPOINT=file://$T/hub
}

@test "motes get: prints a valid script of the commands that --fetch runs" {
	[ "$(motes get some/tiny.bert@v2 | sed -n '1,5p')" = "endpoint='https://huggingface.co'
name='some/tiny.bert'
revision='v2'
cache='$T/home/.cache/huggingface/hub/models--some--tiny.bert'
to=''" ]
	HF_ENDPOINT=https://mirror HF_HOME="/it's" motes get -o "my model" all-minilm-l6-V2 >script
	sh -n script
	[ "$(sed '/^$/q' script; echo)" = "$(printf '%s\n' "endpoint='https://mirror'" "name='sentence-transformers/all-MiniLM-L6-v2'" "revision='main'" \
		"cache='/it'\\''s/hub/models--sentence-transformers--all-MiniLM-L6-v2'" "to='my model'" "")" ]
	page_examples motes.1 | grep '^motes get' >example
	bash -e example
	sh -n get-minilm.sh
	run -1 bash -c 'motes get some/x >/dev/full'
	[ "$output" = "motes: standard output: No space left on device" ]
}

@test "motes get: --fetch fetches the files that motes reads into the cache, where -m finds them" {
	command -v curl >/dev/null || skip "needs curl"
	hub
	run -0 --separate-stderr motes get --fetch some/tiny.bert
	cache=$T/home/.cache/huggingface/hub/models--some--tiny.bert
	[ "$output" = "$cache/snapshots/0a1b2c" ]
	[ "$(cat "$cache/refs/main")" = 0a1b2c ]
	(cd "$output" && find . -type f | sort) | diff - <(printf './%s\n' 1_Pooling/config.json config.json model.safetensors \
		modules.json tokenizer_config.json vocab.txt)
	echo the dog | tok -m some/tiny.bert | encode -m some/tiny.bert >a.mts
	echo the dog | tok -m "$GOLDEN/bert" | encode -m "$GOLDEN/bert" | mts diff - a.mts
	# a second run fetches nothing
	run -0 --separate-stderr motes get --fetch some/tiny.bert
	[ -z "$stderr" ]
	# a lost file is fetched again
	rm "$output/config.json"
	run -0 --separate-stderr motes get --fetch some/tiny.bert
	[ "$stderr" = config.json ]
}

@test "motes get: -o fetches into a folder; shards; weights of torch.save if there are no others" {
	command -v curl >/dev/null || skip "needs curl"
	hub
	at=$T/hub/some/tiny.bert/resolve/0a1b2c
	mkdir -p "$at/2_Dense" "$at/3_Dense"
	touch "$at/2_Dense/pytorch_model.bin" "$at"/3_Dense/{pytorch_model.bin,model.safetensors} "$at"/model-0000{1,2}-of-00002.safetensors \
		"$at/model.safetensors.index.json"
	rm "$at/model.safetensors"
	listing=$T/hub/api/models/some/tiny.bert/revision/main
	(cd "$at" && find . -type f | sed 's,^\./,,' | jq -R . | jq -s '{sha: "0a1b2c", siblings: map({rfilename: .})}') >"$listing"
	motes get --fetch -o here some/tiny.bert 2>/dev/null
	(cd here && find . -type f | grep -E 'model' | sort) | diff - <(printf './%s\n' 2_Dense/pytorch_model.bin 3_Dense/model.safetensors \
		model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json)
	[ ! -e "$T/home/.cache" ]
	run -1 --separate-stderr motes get --fetch -o here some/tiny.bert
	[ "$stderr" = "motes get: here is there already; name another folder" ]
	# names that lead out of the folder are ignored
	jq -c '.siblings += [{rfilename: "../../evil.json"}, {rfilename: "/etc/config.json"}, {rfilename: "1_a/../../config.json"}]' "$listing" >more
	cp more "$listing"
	motes get --fetch -o there some/tiny.bert 2>/dev/null
	diff -r here there
	# a model without weights
	jq -c '.siblings |= map(select(.rfilename | test("safetensors|bin") | not))' more >"$listing"
	run -1 --separate-stderr motes get --fetch -o none some/tiny.bert
	[ "$stderr" = "motes get: some/tiny.bert has no model.safetensors, and no pytorch_model.bin" ]
	[ ! -e none ]
}

@test "motes get: an interrupted download keeps a temporary name and resumes" {
	command -v curl >/dev/null || skip "needs curl"
	hub
	at=$T/hub/some/tiny.bert/resolve/0a1b2c
	mv "$at/model.safetensors" whole
	run -1 --separate-stderr motes get --fetch some/tiny.bert
	[[ $stderr == *"model.safetensors"*"run this again to go on" ]]
	grep -v ':' <<<"$stderr" | grep -v '^model.safetensors$' >first
	cache=$T/home/.cache/huggingface/hub/models--some--tiny.bert
	[ ! -e "$cache/refs" ] && [ ! -e "$cache/snapshots/0a1b2c" ] && [ -d "$cache/snapshots/0a1b2c.part" ]
	run -1 --separate-stderr tok -m some/tiny.bert </dev/null
	# the kept beginning differs from the Hub's, so that the result shows it
	mv whole "$at/model.safetensors"
	size=$(stat -c %s "$at/model.safetensors")
	head -c 1000 /dev/zero | tr '\0' x >"$cache/snapshots/0a1b2c.part/model.safetensors.part"
	run -0 --separate-stderr motes get --fetch some/tiny.bert
	[[ $stderr == model.safetensors* && -z $(grep -xFf first <<<"$stderr") ]]
	[ "$(stat -Lc %s "$output/model.safetensors")" -eq "$size" ]
	[ "$(head -c 1000 "$output/model.safetensors" | tr -d x | wc -c)" -eq 0 ]
	cmp <(tail -c +1001 "$output/model.safetensors") <(tail -c +1001 "$at/model.safetensors")
	[ ! -e "$cache/snapshots/0a1b2c.part" ]
}

@test "motes get: the token is sent in a header and not as an argument; files that the Hub lacks are named" {
	command -v curl >/dev/null || skip "needs curl"
	python3 -c 'import http.server' 2>/dev/null || skip "needs python3"
	hub
	cat >serve.py <<-'END'
		import http.server, sys
		class Hub(http.server.SimpleHTTPRequestHandler):
		    def do_GET(self):
		        if self.headers.get("Authorization") != "Bearer hf_secret":
		            return self.send_error(401)
		        super().do_GET()
		    def log_message(self, *arguments):
		        print(self.path, file=open("../log", "a"))
		server = http.server.HTTPServer(("127.0.0.1", 0), Hub)
		print(server.server_port, flush=True)
		server.serve_forever()
	END
	(cd hub && exec python3 ../serve.py >../port 2>/dev/null 3>&-) &
	server=$!
	until [ -s port ]; do sleep 0.05; done
	export HF_ENDPOINT=http://127.0.0.1:$(cat port)
	run -1 --separate-stderr motes get --fetch some/tiny.bert
	[[ ${stderr_lines[-1]} == "motes get: $HF_ENDPOINT does not list the files of some/tiny.bert, revision main; check the name, or set HF_TOKEN "* ]]
	export HF_TOKEN=hf_secret
	run ! grep -q hf_secret <(motes get some/tiny.bert)
	# this server sends whole files only
	mkdir -p here.0a1b2c.part
	head -c 100 /dev/zero >here.0a1b2c.part/model.safetensors.part
	run -0 --separate-stderr motes get --fetch -o here some/tiny.bert
	[ "$output" = here ]
	cmp here/model.safetensors "$GOLDEN/bert/model.safetensors"
	run -1 --separate-stderr motes get --fetch some/other
	kill $server
	grep -q '^/api/models/some/tiny.bert/revision/main$' log
}

# 6. an adapter in one command

# pairs N: a table of pairs with documents of twelve words; each third query has a second document
pairs() {
	printf 'query\tdocument\n'
	awk -v n="$1" 'BEGIN { split("dog cat ship cook soup rose water garden harbour bird stone king", w)
		for (i = 1; i <= n; i++) { a = w[i % 12 + 1]; b = w[int(i / 12) % 12 + 1]
			print "the " a " and the " b "\tno " b " is a " a; if (i % 3 == 0) print "the " a " and the " b "\tone " a " or " b } }'
}

@test "motes tune: trains an adapter and scores it on held-out queries; the printed commands, typed again, give the same" {
	command -v jq >/dev/null || skip "needs jq"
	pairs 60 >pairs.tsv
	export MOTES_MODEL=$GOLDEN/bert
	page_examples motes.1 | grep -A1 '^motes tune' >example
	[ "$(wc -l <example)" -eq 2 ]
	head -n 3 pairs.tsv | cut -f1 | sed 1d >texts.txt
	bash -e example >table 2>commands
	# at most 20 passes, though 200 steps would be more; no other files are written
	[ "$(sed -n 's/^epochs: //p' tuned.pairs/train.yaml)" -eq 20 ]
	[ "$(ls -d -- * | paste -sd' ')" = "commands example pairs.tsv table texts.mts texts.txt tuned tuned.log.tsv tuned.pairs" ]
	# a tenth of the queries is held out, with all their documents
	[ "$(wc -l <tuned.pairs/queries.jsonl)" -eq 6 ]
	[ "$(cut -f1 tuned.pairs/qrels.tsv | sort -u | wc -l)" -eq 6 ]
	jq -r .text tuned.pairs/queries.jsonl | sort >held
	jq -r .query tuned.pairs/train.jsonl | sort -u >read
	[ -z "$(comm -12 held read)" ]
	[ "$(cat held read | wc -l)" -eq 60 ]
	[ "$(($(wc -l <tuned.pairs/train.jsonl) + $(wc -l <tuned.pairs/qrels.tsv)))" -eq "$(sed 1d pairs.tsv | wc -l)" ]
	diff <(jq -r .text tuned.pairs/corpus.jsonl | sort) <(sed 1d pairs.tsv | cut -f2 | sort -u)
	# the printed scores are mteb-score's
	for measure in nDCG@10=ndcg_at_10 recall@10=recall_at_10; do
		paste <(awk -v m="^${measure#*=}\t" '$0 ~ m { print $2 }' tuned.pairs/base.txt) <(awk -v m="^${measure#*=}\t" '$0 ~ m { print $2 }' tuned.pairs/tuned.txt) |
			awk '{ printf "%.3f | %.3f\n", $1, $2 }' >wanted
		grep -F "| ${measure%=*} | $(cat wanted) | " table
	done
	# both models encode, with different weights
	run -1 mts diff -a 1e-4 tuned.pairs/base-queries.mts tuned.pairs/tuned-queries.mts
	tok texts.txt | encode --adapter tuned | mts diff - texts.mts
	# the printed commands again
	mv tuned before
	mv tuned.pairs/tuned-corpus.mts before.mts
	grep -v '^[0-9]\|^tasksample: \|^motes: ' commands >again
	bash -e again
	cmp before/adapter_model.safetensors tuned/adapter_model.safetensors
	cmp before.mts tuned.pairs/tuned-corpus.mts
}

@test "motes tune: --whole trains a model with the given settings, from named or known columns, also compressed ones" {
	command -v jq >/dev/null || skip "needs jq"
	pairs 30 | sed '1s/.*/a question\tx y/' | zstd -q >p.tsv.zst
	motes tune -m "$GOLDEN/bert" --whole --lr 0.002 --epochs 3 -b 8 -s 5 --query "a question" --document "x y" p.tsv.zst -o "a model" >table 2>err
	[ -e "a model/model.safetensors" ]
	[ "$(awk 'END { print NR - 1 }' "a model.log.tsv")" -eq 15 ]
	grep -q "^train -m\|| train -m .* --lr 0.002 --seed 5 -o a\\\\ model\$" err
	grep -q '^| MRR@10 |' table
	# the model card has the data, the commands and the scores
	grep -qFx '## Tuned by `motes tune`' "a model/README.md"
	[ "$(sed -n '/^| held-out/,/^$/p' "a model/README.md" | grep .)" = "$(cat table)" ]
	[ "$(sed -n '/^## Tuned/,$p' "a model/README.md" | sed -n '/^```sh/,/^```/p' | sed '1d;$d')" = "$(grep '^tasksample -\|^tok \|^mteb-score' err)" ]
	pairs 30 | sed 1d | jq -R -c 'split("\t") | {anchor: .[0], positive: .[1]}' >p.jsonl
	motes tune -q -m "$GOLDEN/bert" --epochs 1 --precision bf16 p.jsonl -o b 2>err
	[ ! -s err ]
	[ "$(jq -r .settings.precision b/train.json)" = bf16 ]
	[ "$(jq -r .text b.pairs/queries.jsonl)" = "$(jq -r .text "a model.pairs/queries.jsonl")" ]
}

# scored N: two texts and the share of common words; labelled and text tables come from it
scored() {
	awk -v n="$1" 'BEGIN { split("dog cat ship cook soup rose water garden harbour bird stone king", w)
		print "sentence1\tsentence2\tscore"
		for (i = 0; i < n; i++) { a = w[i % 12 + 1]; b = w[int(i / 12) % 12 + 1]; c = w[(i * 7 + 3) % 12 + 1]
			print "the " a " and the " b "\t" (i % 2 ? "a " c " without a " c "\t0" : "a " a " and a " c "\t" (c == b ? 5 : 2.5)) } }'
}

@test "motes tune: pairs with scores or labels, labelled texts and negatives: objective, held-out rows and measures" {
	command -v jq >/dev/null || skip "needs jq"
	export MOTES_MODEL=$GOLDEN/bert
	scored 120 >scores.tsv
	motes tune --epochs 2 scores.tsv -o scores >table 2>err
	grep -qFx "motes: tune: scores.tsv: scores: sentence1, sentence2, score: 96 rows to train on, 12 to choose the best step, 12 held out" err
	# rows with equal first texts are in the same part
	for part in train dev test; do jq -r .sentence1 scores.pairs/$part.jsonl | sort -u >$part; done
	[ -z "$(sort train dev test | uniq -d)" ]
	grep -q '| train -m .* --objective cosent .* --dev scores.pairs/dev.mts --dev-every 1 ' err
	# step 0 is the untrained model; the printed scores are mteb-score's
	[ "$(sed -n 2p scores.log.tsv | cut -f1-10)" = "0$(printf '\t%.0s' {1..9})" ]
	for m in base tuned; do awk '$1 == "cosine_spearman" { printf "%.3f\n", $2 }' scores.pairs/$m.txt; done | paste -sd' ' | sed 's/ / | /' >wanted
	grep -F "| Spearman | $(cat wanted) | " table

	awk -F'\t' -v OFS='\t' 'NR == 1 { print "a", "b", "same"; next } { print $1, $2, ($3 > 0) }' scores.tsv >matches.tsv
	motes tune --epochs 1 --query a --document b --label same matches.tsv -o matches >table 2>err
	grep -q "^motes: tune: matches.tsv: matches: a, b, same: " err
	grep -q '| train -m .* --objective online ' err
	awk '$1 == "cosine_ap" { printf "%.3f\n", $2 }' matches.pairs/base.txt >wanted
	grep -F "| average precision | $(cat wanted) | " table

	[ "$(jq -r .label matches.pairs/test.jsonl | sort -u | paste -sd,)" = 0,1 ]

	awk -F'\t' 'NR > 1 { print "{\"title\": \"" $1 "\", \"text\": \"" $2 "\", \"label\": " NR % 3 "}" }' scores.tsv >labels.jsonl
	motes tune --epochs 1 labels.jsonl -o labels >table 2>err
	grep -q "^motes: tune: labels.jsonl: labels: text, label: " err
	grep -qFx "motes: tune: labels.jsonl: not used: title" err
	grep -q 'label: label' labels.pairs/train.yaml
	awk '$1 == "accuracy" { printf "%.3f\n", $2 }' labels.pairs/tuned.txt >wanted
	grep -E "^\| accuracy \| [0-9.]+ \| $(cat wanted) \| " table

	pairs 12 | awk -F'\t' -v OFS='\t' '{ print $0, NR == 1 ? "negative_1" : "no " $1, NR == 1 ? "negative_2" : "", NR == 1 ? "gold" : NR % 2 }' >triples.tsv
	motes tune --epochs 1 triples.tsv -o triples >table 2>err
	grep -q "^motes: tune: triples.tsv: pairs: query, document, negative_1 negative_2: " err
	grep -qFx "motes: tune: triples.tsv: not used: gold; --score or --label names a column of scores or labels" err
	[ "$(jq -c '[.negatives[] | startswith("no the ")]' triples.pairs/train.jsonl | sort -u)" = "[true]" ]
	mts cat -c negatives.ids <(tasksample -q -C triples.pairs triples.pairs/train.yaml | tok -q) >/dev/null
}

# bats test_tags=plain,unsanitized
@test "motes tune: of several --lr the best step on the development rows decides" {
	command -v jq >/dev/null || skip "needs jq"
	export MOTES_MODEL=$GOLDEN/bert
	scored 120 >scores.tsv
	for rate in 1e-12 1e-2 3e-3; do
		motes tune -q --epochs 4 --lr $rate scores.tsv -o at.$rate >/dev/null
		printf '%s\t%s\n' "$(jq .dev.best at.$rate/train.json)" $rate
	done >bests
	best=$(sort -k1,1gr bests | head -n 1 | cut -f2)
	[ "$(cut -f1 bests | sort -u | wc -l)" -eq 3 ]
	mkdir -p tried/out.1e-2
	cd tried
	motes tune --epochs 4 --lr 1e-12,1e-2,3e-3 ../scores.tsv -o out >table 2>err
	[ "$(ls -d -- * | paste -sd' ')" = "err out out.1e-2 out.log.tsv out.pairs table" ]
	[ -z "$(ls out.1e-2 out.pairs | grep lr-)" ]
	cmp out/adapter_model.safetensors ../at.$best/adapter_model.safetensors
	cmp out.log.tsv ../at.$best.log.tsv
	while read -r score rate; do
		grep -qFx "motes: tune: --lr $rate: $score on the development rows" err
	done <../bests
	mv out first
	grep '^tasksample -\|^tok \|^rm \|^mv ' err | grep -v mteb-score >again
	bash -e again
	cmp first/adapter_model.safetensors out/adapter_model.safetensors
	rm -r out
	pairs 12 >few.tsv
	dies "motes: tune: few.tsv: too few rows to choose a rate by; give one --lr" motes tune --lr 1e-3,1e-2 few.tsv -o none
	[ ! -e none.pairs ]
	for wrong in 1e-3,x 1e-3,,1 , 1e-3,11; do
		run -2 --separate-stderr motes tune --lr $wrong few.tsv -o none
		[[ ${stderr_lines[0]} == "motes: --lr: '"* ]] || { echo "$wrong: $stderr"; return 1; }
	done
}

# bats test_tags=plain,unsanitized
@test "motes tune: a locale with a decimal comma changes no score and no choice of a rate" {
	command -v jq >/dev/null || skip "needs jq"
	printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n' >source
	localedef -c -i source ./comma 2>/dev/null || [ -d comma ] || skip "needs localedef"
	export MOTES_MODEL=$GOLDEN/bert
	pairs 120 >pairs.tsv
	motes tune -q --epochs 1 --lr 1e-12,1e-2 pairs.tsv -o point >wanted
	grep -q '| 0[.][0-9]' wanted
	LOCPATH=$PWD LC_ALL=comma motes tune -q --epochs 1 --lr 1e-12,1e-2 pairs.tsv -o comma.out >table
	diff wanted table
	cmp point/adapter_model.safetensors comma.out/adapter_model.safetensors
}

# bats test_tags=plain,unsanitized
@test "motes tune: --mine adds hard negatives of near --mine, from training documents, to the training rows only" {
	command -v jq >/dev/null || skip "needs jq"
	export MOTES_MODEL=$ROOT/share/models/base
	pairs 130 >pairs.tsv
	motes tune --epochs 1 pairs.tsv -o plain >/dev/null 2>&1
	motes tune --epochs 1 --mine 2 pairs.tsv -o mined >table 2>err
	for part in dev test queries corpus; do cmp {plain,mined}.pairs/$part.jsonl; done
	cmp {plain,mined}.pairs/base.tsv
	cmp <(jq -c 'del(.negatives)' mined.pairs/train.jsonl) plain.pairs/train.jsonl
	# the negatives that near finds in the texts
	near -q --mine mined.pairs/mine-qrels.tsv -k 2 --relative-margin 0.05 --texts mined.pairs/mine-corpus.jsonl --query-texts mined.pairs/mine-queries.jsonl \
		mined.pairs/mine.run | jq -c '{query, document, negatives}' | sort -u >wanted
	[ "$(wc -l <wanted)" -gt 50 ]
	jq -c 'select(.negatives != [])' mined.pairs/train.jsonl | sort -u | cmp - wanted
	grep -qFx "motes: tune: $(wc -l <wanted) of the $(wc -l <plain.pairs/train.jsonl) pairs have hard negatives" err
	diff <(jq -r '.negatives[]' mined.pairs/train.jsonl | sort -u | comm -23 - <(jq -r .document plain.pairs/train.jsonl | sort -u)) /dev/null
	# training reads the negatives; the held-out batches have none
	run ! cmp -s {plain,mined}.log.tsv
	run -1 mts cat -c negatives.ids mined.pairs/dev.mts
	cmp <(sed -n 2p plain.log.tsv) <(sed -n 2p mined.log.tsv)
	mv mined/adapter_model.safetensors first.safetensors
	rm -r mined mined.log.tsv
	grep '^tok \|^near \|^tasksample -' err >again
	bash -e again
	cmp first.safetensors mined/adapter_model.safetensors
	scored 120 >scores.tsv
	dies "motes: tune: --mine needs pairs of texts without scores, labels and negatives" motes tune --mine 1 scores.tsv -o out
	[ ! -e out.pairs ]
}

# bats test_tags=plain,unsanitized
@test "motes tune: prompts for queries and documents are the model's or the options', in training and in scores" {
	command -v jq >/dev/null || skip "needs jq"
	cp -r "$GOLDEN/bert" m
	printf '{"prompts": {"query": "the dog\\n", "passage": "a \\"b\\" '"'"'c: ", "document": null}}' >m/config_sentence_transformers.json
	export MOTES_MODEL=m
	pairs 130 >pairs.tsv
	motes tune --epochs 1 pairs.tsv -o own 2>err >/dev/null
	tok -q --task query -f text own.pairs/queries.jsonl | encode -q | mts diff - own.pairs/base-queries.mts
	tok -q --task passage -f text own.pairs/corpus.jsonl | encode -q | mts diff - own.pairs/base-corpus.mts
	tok -q --prompt '' -f text own.pairs/corpus.jsonl | encode -q >bare.mts
	run -1 mts diff bare.mts own.pairs/base-corpus.mts
	# training reads the same tokens, as does the search among held-out documents
	tasksample -q -C own.pairs own.pairs/train.yaml | tok -q --keep >train.mts
	for side in query document; do
		mts to jsonl -c $side train.mts | tok -q --task ${side/document/passage} --format jsonl -f $side - | mts to jsonl -c $side.ids >again
		mts to jsonl -c $side.ids train.mts | cmp - again
	done
	mts diff <(tok -q --task passage -f text own.pairs/dev-corpus.jsonl) own.pairs/dev-corpus.mts
	motes tune -q --epochs 1 --mine 1 pairs.tsv -o mined >/dev/null
	tok -q --task query -f text mined.pairs/mine-queries.jsonl | encode -q | mts diff - mined.pairs/mine-queries.mts
	tok -q --task passage -f text mined.pairs/mine-corpus.jsonl | encode -q | mts diff - mined.pairs/mine-corpus.mts
	# options override both prompts
	motes tune -q --epochs 1 --document-prompt "cat: " pairs.tsv -o given >/dev/null
	tok -q --prompt '' -f text given.pairs/queries.jsonl | encode -q | mts diff - given.pairs/base-queries.mts
	tok -q --prompt "cat: " -f text given.pairs/corpus.jsonl | encode -q | mts diff - given.pairs/base-corpus.mts
	grep -qF 'prompts: {query: "", document: "cat: "}' given.pairs/train.yaml
	for bad in '{"prompts": {"query": 3}}' '{"prompts": '; do
		cp -r "$GOLDEN/bert" bad
		printf %s "$bad" >bad/config_sentence_transformers.json
		run -1 --separate-stderr motes tune -m bad pairs.tsv -o none
		[ "$stderr" = "motes: tune: bad/config_sentence_transformers.json: it is not valid JSON, or a prompt is not a text" ]
		[ ! -e none.pairs ]
		rm -r bad
	done
	motes tune -q --epochs 1 --query-prompt "" pairs.tsv -o none >/dev/null
	mts diff bare.mts none.pairs/base-corpus.mts
	# two empty prompts leave out the one that the model puts before each text
	cp -r "$MOTES_MODEL" usual
	echo '{"prompts": {"query": "q: "}, "default_prompt_name": "query"}' >usual/config_sentence_transformers.json
	motes tune -q -m usual --epochs 1 --query-prompt "" --document-prompt "" pairs.tsv -o empty >/dev/null
	tasksample -q -C empty.pairs empty.pairs/train.yaml | tok -q -m usual --keep >train.mts
	mts to jsonl -c document train.mts | tok -q -m usual --prompt '' --format jsonl -f document - | mts to jsonl -c document.ids >again
	mts to jsonl -c document.ids train.mts | cmp - again
	tok -m usual --prompt '' -f text empty.pairs/queries.jsonl | encode -q -m usual | mts diff - empty.pairs/base-queries.mts
	scored 120 >scores.tsv
	dies "motes: tune: --query-prompt and --document-prompt need pairs without scores and labels" motes tune --query-prompt x scores.tsv -o out
}

@test "motes tune: unknown tables, existing folders and too few rows are refused in one line; few rows are not scored" {
	command -v jq >/dev/null || skip "needs jq"
	export MOTES_MODEL=$GOLDEN/bert
	pairs 4 >few.tsv
	sed '1s/.*/one\ttwo/' few.tsv >unnamed.tsv
	dies "motes: tune: unnamed.tsv: which of its columns are the pairs (one two)? Say so by --query and --document" motes tune unnamed.tsv -o out
	dies "motes: tune: few.tsv: no column of texts 'x'; there are: query document" motes tune --query x --document document few.tsv -o out
	dies "motes: tune: --query and --document are given together, or neither; " motes tune --query query few.tsv -o out
	dies "motes: tune: --document needs --query" motes tune --document query few.tsv -o out
	dies "motes: tune: --score and --label exclude each other" motes tune --score a --label b few.tsv -o out
	dies "motes: tune: few.tsv: no column 'rated'; there are: query document" motes tune --score rated few.tsv -o out
	printf 'premise\thypothesis\tlabel\na\tb\t1\na\tc\t2\n' >nli.tsv
	dies "motes: tune: nli.tsv: 'label' has other values than 0 and 1; " motes tune nli.tsv -o out
	printf 'title\tbody\tlabel\na\tb\tred\n' >topics.tsv
	sed '1s/title/headline/' topics.tsv >headlines.tsv
	dies "motes: tune: headlines.tsv: which of its columns has the texts (headline body label)? Say so by --query" motes tune headlines.tsv -o out
	dies "motes: tune: topics.tsv: 1 rows to train on; it needs more" motes tune topics.tsv -o out
	dies "motes: tune: few.txt: its name ends in none of .tsv, .csv, .jsonl, .ndjson, .json" motes tune few.txt -o out
	echo '[{"query": "a", "document": "b"}]' | tee one.json | jq -c .[] >one.ndjson
	for name in one.json one.ndjson; do
		dies "motes: tune: $name: 1 rows to train on; it needs more" motes tune "$name" -o out
	done
	head -n 2 few.tsv >one.tsv
	dies "motes: tune: one.tsv: 1 rows to train on; it needs more" motes tune one.tsv -o out
	run -2 --separate-stderr motes tune few.tsv
	[ "${stderr_lines[0]}" = "motes: tune: -o DIR is missing: the folder to write" ]
	run -0 --separate-stderr motes tune few.tsv --epochs 1 -o out
	[ -z "$output" ]
	[[ $stderr == *"motes: tune: few.tsv has too few rows to hold some out: nothing says whether training helps"* ]]
	[ -e out/adapter_model.safetensors ]
	mv out there
	mv out.pairs there.pairs
	motes tune -q few.tsv --epochs 1 -o out/
	cmp out/adapter_model.safetensors there/adapter_model.safetensors
	rm -r out out.pairs
	run -1 --separate-stderr motes tune few.tsv -o there
	[ "$stderr" = "motes: tune: there is there already; name another folder" ]
	# a refusal writes no file; existing files are not changed
	mkdir mine.pairs
	run -1 --separate-stderr motes tune few.tsv -o mine
	[ "$stderr" = "motes: tune: mine.pairs is there already; move it away" ]
	dies "mts: none.tsv:" motes tune none.tsv -o out
	head -n 1 few.tsv >headed.tsv
	dies "motes: tune: headed.tsv has no rows" motes tune headed.tsv -o out
	printf 'query\tdocument\n\ta\nb\t\n' >empty.tsv
	dies "motes: tune: empty.tsv: 0 rows to train on; it needs more; 2 rows lack a text and are left out" motes tune empty.tsv -o out
	printf 'query\tdocument\tscore\na\tb\t0,5\nc\td\t0,7\n' >comma.tsv
	dies "motes: tune: comma.tsv: 0 rows to train on; it needs more; 2 rows lack a text or a score and are left out" motes tune comma.tsv -o out
	printf 'text\tlabel\na\tred\nb\tred\n' >red.tsv
	dies "motes: tune: red.tsv: all rows to train on have the same 'label'; it needs two labels at least" motes tune red.tsv -o out
	# a model that does not open: the same command may be given again
	mkdir untokenised
	cp "$GOLDEN/bert/config.json" untokenised
	for again in 1 2; do
		run -1 --separate-stderr motes tune -q -m untokenised few.tsv -o out
		[[ $stderr == *"tok: untokenised: neither tokenizer.json, "* ]]
	done
	[ "$(ls -d -- *.pairs)" = $'mine.pairs\nthere.pairs' ]
}
