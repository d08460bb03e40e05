#!/usr/bin/env bats
load helper

# Models by their name on the Hub. The cache is laid out as by huggingface_hub: two revisions of one model, and a model without an
# owner.

setup() {
	cd "$T" || return
	unset HF_HUB_CACHE HF_HOME XDG_CACHE_HOME MOTES_MODEL
	export HOME=$T/home
	cache=$T/home/.cache/huggingface/hub
	model=$cache/models--some--tiny.bert
	mkdir -p "$model/refs/pr" "$model/snapshots/0a1b" "$model/blobs"
	for path in "$GOLDEN"/bert/*.* "$GOLDEN/bert/1_Pooling/config.json"; do
		file=${path#"$GOLDEN/bert/"}
		cp "$path" "$model/blobs/${file//\//_}"
		mkdir -p "$(dirname "$model/snapshots/0a1b/$file")"
		ln -sr "$model/blobs/${file//\//_}" "$model/snapshots/0a1b/$file"
	done
	cp -rL "$model/snapshots/0a1b" "$model/snapshots/2c3d"
	sed -i 's/the/teh/' "$model/snapshots/2c3d/vocab.txt"
	printf 0a1b >"$model/refs/main"
	printf '2c3d\n' >"$model/refs/pr/1"
	ln -s "$model" "$cache/models--plain"
}

ids() {
	echo the dog | tok "$@" | mts to jsonl
}

@test "hub: every program takes the name of a model in the local cache" {
	expected=$(ids -m "$GOLDEN/bert")
	[ "$(ids -m some/tiny.bert)" = "$expected" ]
	echo the dog | tok -m some/tiny.bert | encode -m some/tiny.bert >a.mts
	echo the dog | tok -m "$GOLDEN/bert" | encode -m "$GOLDEN/bert" | mts diff - a.mts
	tok -m "$GOLDEN/bert" <<<"the dog" | tok --decode -m "$GOLDEN/bert" >b.mts
	tok -m plain <<<"the dog" | tok --decode -m some/tiny.bert | mts diff - b.mts
	upcycle -m some/tiny.bert --experts a,b -o two
	[ "$(ids -m two)" = "$expected" ]
	[[ $(leaderboard model -m some/tiny.bert) == *'"name": "some/tiny.bert"'* ]]
	tok -m some/tiny.bert -o t.mts < <(printf 'the dog\n%.0s' {1..8})
	train -q -m some/tiny.bert --objective mlm --steps 1 -o trained t.mts
	[ "$(ids -m trained)" = "$expected" ]
}

@test "hub: NAME@REVISION takes a branch, a tag or a commit" {
	other=$(ids -m "$model/snapshots/2c3d")
	[ "$other" != "$(ids -m some/tiny.bert)" ]
	[ "$(ids -m some/tiny.bert@pr/1)" = "$other" ]
	[ "$(ids -m some/tiny.bert@2c3d)" = "$other" ]
	[ "$(ids -m some/tiny.bert@main)" = "$(ids -m some/tiny.bert)" ]
}

@test "hub: HF_HUB_CACHE overrides HF_HOME, XDG_CACHE_HOME and HOME; a local folder overrides the cache" {
	expected=$(ids -m some/tiny.bert)
	mv home/.cache/huggingface elsewhere
	run -1 tok -m some/tiny.bert </dev/null
	[ "$(HF_HOME=$T/elsewhere ids -m some/tiny.bert)" = "$expected" ]
	[ "$(HF_HOME=$T/none HF_HUB_CACHE=$T/elsewhere/hub ids -m some/tiny.bert)" = "$expected" ]
	mkdir caches
	mv elsewhere caches/huggingface
	[ "$(XDG_CACHE_HOME=$T/caches ids -m some/tiny.bert)" = "$expected" ]
	XDG_CACHE_HOME=$T/caches HF_HOME=$T/none run -1 tok -m some/tiny.bert </dev/null
	mkdir some
	cp -rL caches/huggingface/hub/models--some--tiny.bert/snapshots/2c3d some/tiny.bert
	[ "$(XDG_CACHE_HOME=$T/caches ids -m some/tiny.bert)" != "$expected" ]
}

@test "hub: MOTES_MODEL is the default of -m" {
	expected=$(ids -m "$GOLDEN/bert")
	export MOTES_MODEL=$GOLDEN/bert
	[ "$(ids)" = "$expected" ]
	echo the dog | tok | encode >a.mts
	echo the dog | tok -m "$GOLDEN/bert" | encode -m "$GOLDEN/bert" | mts diff - a.mts
	tok <<<"the dog" | tok --decode | mts diff - <(tok <<<"the dog" | tok --decode -m "$GOLDEN/bert")
	upcycle --experts a,b -o two
	[ "$(ids -m two)" = "$expected" ]
	tok -o t.mts < <(printf 'the dog\n%.0s' {1..8})
	train -q --objective mlm --steps 1 -o trained t.mts
	[[ $(leaderboard model) == *'"name": "bert"'* ]]
	MOTES_MODEL=some/tiny.bert@pr/1
	[ "$(ids)" != "$expected" ]
	[ "$(ids -m some/tiny.bert)" = "$expected" ]
	MOTES_MODEL=
	for program in tok encode "train -o x" "upcycle --experts a -o x" "leaderboard model"; do
		run -2 --separate-stderr $program </dev/null
		[ "${stderr_lines[0]}" = \
			"${program%% *}: no model is given; use -m MODEL, or set MOTES_MODEL to one for all" ]
	done
}

@test "hub: a missing model is refused with the command that fetches it" {
	run -1 --separate-stderr tok -m some/other </dev/null
	[ "$stderr" = "tok: some/other: no folder of that name, nor a model in $cache; 'motes get --fetch some/other' fetches it from the Hugging Face Hub" ]
	run -1 --separate-stderr encode -m some/tiny.bert@v2 </dev/null
	[ "$stderr" = "encode: some/tiny.bert@v2: no folder of that name, nor a model of that revision in $cache; 'motes get --fetch some/tiny.bert@v2' fetches it from the Hugging Face Hub" ]
	# the name of a known model without its owner
	for name in all-MiniLM-L6-v2 ALL-minilm-l6-v2; do
		run -1 --separate-stderr tok -m $name </dev/null
		[ "$stderr" = "tok: $name: no folder of that name; a model of the Hugging Face Hub is called sentence-transformers/all-MiniLM-L6-v2; 'motes get --fetch sentence-transformers/all-MiniLM-L6-v2' fetches it" ]
	done
	mkdir -p "$cache/models--BAAI--bge-m3"
	run -1 --separate-stderr encode -m bge-m3 </dev/null
	[ "$stderr" = "encode: bge-m3: no folder of that name; a model of the Hugging Face Hub is called BAAI/bge-m3" ]
	for program in tok encode; do
		run -1 --separate-stderr $program -m none </dev/null
		[ "$stderr" = "$program: none: no folder of that name; a model of the Hugging Face Hub is called ORG/NAME" ]
	done
	# names that the Hub cannot have are paths
	for path in /some/other ./some/other some/other/third ../x .hidden/x some/.x some/tiny.bert@../../x; do
		run -1 --separate-stderr encode -m "$path" </dev/null
		[[ $stderr == "encode: $path"*": No such file or directory" ]]
	done
}

@test "hub: a link to a file that is not there is an error, not an absent file; an empty reference names nothing" {
	snapshot=$model/snapshots/0a1b
	for file in modules.json vocab.txt config.json sentence_bert_config.json; do
		cp -r "$model" kept
		rm -f "$model/blobs/$file"
		ln -sfr "$model/blobs/$file" "$snapshot/$file"
		run -1 --separate-stderr tok -m some/tiny.bert <<<"the dog"
		[ "$stderr" = "tok: $snapshot/$file: a link to a file that is not there; copy or fetch that file, too" ]
		rm -r "$model" && mv kept "$model"
	done
	rm "$model/blobs/model.safetensors"
	tok -m some/tiny.bert -o ids.mts <<<"the dog"
	run -1 --separate-stderr encode -m some/tiny.bert ids.mts
	[ "$stderr" = "encode: $snapshot/model.safetensors: No such file or directory" ]
	: >"$model/refs/main"
	run -1 --separate-stderr tok -m some/tiny.bert <<<"the dog"
	[[ $stderr == "tok: some/tiny.bert: no folder of that name, nor a model of that revision in "* ]]
}
