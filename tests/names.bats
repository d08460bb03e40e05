#!/usr/bin/env bats
load helper

# renamed FAMILY FILTER: $T/m, a golden family with tensors renamed by jq's FILTER
renamed() {
	rm -rf "$T/m"
	cp -r "$GOLDEN/families/$1" "$T/m"
	rm -f "$T"/m/expected.safetensors
	relabel "$GOLDEN/families/$1/model.safetensors" "with_entries(.key |= ($2))" >"$T/m/model.safetensors"
}
embed() { # MODEL
	printf '3 5 9\n11 12 3 30\n21\n' | ids_stream text.ids | encode -q -m "$1" --pooling mean | ids_stream --rows text.emb
}
learn() { # MODEL DIR
	printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream '{"temperature": 0.5}' |
		train -q -j 1 -m "$1" -o "$2" --lr 1e-2 --warmup 0 --schedule constant --steps 2 -
}

@test "names: a wrapper's prefix of all tensor names is recognised and not written" {
	while read -r family prefix written; do
		renamed "$family" "\"$prefix\" + ."
		embed "$T/m" >"$T/wrapped"
		embed "$GOLDEN/families/$family" | cmp - "$T/wrapped"
		upcycle -q --token-experts 1 -m "$T/m" -o "$T/up"
		tensor_names "$T/up" | found .
		run -1 grep -vE "^(${written/-/}[a-z_]*|head|decoder)\." <(tensor_names "$T/up") # ModernBERT's head lies beside the encoder
		run ! grep -qF "${prefix%"${written/-/}"}" <(tensor_names "$T/up")
		embed "$T/up" | cmp - "$T/wrapped"
	done <<-'E'
		bert module. -
		bert module.bert. bert.
		bert 0.auto_model. -
		bert _orig_mod.model. -
		nomic_bert module. -
		gte 0.model. -
		modernbert module.model. model.
		t5 0.auto_model. -
		qwen3 base_model.model.model. model.
		mpnet module. -
	E
}

@test "names: a file with two models is refused" {
	size=$(($(stat -c %s "$GOLDEN/bert/model.safetensors") - 8 - $(od -An -tu8 -N8 "$GOLDEN/bert/model.safetensors")))
	mkdir "$T/m"
	cp "$GOLDEN/bert/config.json" "$T/m"
	relabel "$GOLDEN/bert/model.safetensors" "(with_entries(.key |= \"query.\" + .)) +
		(with_entries(.key |= \"document.\" + . | .value.data_offsets |= map(. + $size)))" >"$T/m/model.safetensors"
	tail -c "$size" "$GOLDEN/bert/model.safetensors" >>"$T/m/model.safetensors"
	run -1 --separate-stderr embed "$T/m"
	[[ ${stderr_lines[0]} == "encode: $T/m/model.safetensors: has two such models, with the names '"*"...' and '"*"...'; take one out" ]]
}

# A pooler, a masked-language-model head and a classifier, on which no embedding depends.
@test "names: tensors beside the encoder stay in a written model" {
	rm -rf "$T/m"
	cp -r "$GOLDEN/families/bert" "$T/m"
	rm "$T/m/model.safetensors" "$T/m/expected.safetensors"
	cp "$GOLDEN/torch_file/bert/pytorch_model.bin" "$T/m"
	tensor_sums "$T/m" | grep pooler | LC_ALL=C sort >"$T/pooler"
	[ "$(wc -l <"$T/pooler")" -eq 2 ]
	kept() { # DIR: has the same pooler, and no second copy of the token embeddings
		tensor_sums "$1" | grep pooler | LC_ALL=C sort | cmp - "$T/pooler"
		run ! grep -q 'predictions.decoder.weight' <(tensor_names "$1")
	}
	echo '{{ messages }}' >"$T/m/chat_template.jinja"
	learn "$T/m" "$T/learned"
	kept "$T/learned"
	cmp "$T/m/chat_template.jinja" "$T/learned/chat_template.jinja"
	learn "$T/learned" "$T/again"
	kept "$T/again"
	run ! cmp -s <(tensor_sums "$T/learned") <(tensor_sums "$T/again")
	upcycle -q -m "$T/m" --experts a,b -o "$T/up"
	kept "$T/up"
	upcycle -q -m "$T/up" --average -o "$T/average"
	kept "$T/average"
	upcycle -q -m "$T/m" --token-experts 2 -o "$T/tokens"
	kept "$T/tokens"
	upcycle -q -m "$T/m" --mean "$T/learned" -o "$T/mean"
	kept "$T/mean"
}

@test "names: heads of other tasks stay, also after training in another precision" {
	cp -r "$GOLDEN/families/distilbert" "$T/m"
	rm -f "$T/m/expected.safetensors"
	tensor_names "$T/m" >"$T/before"
	relabel "$T/m/model.safetensors" 'with_entries(.key |= sub("^vocab_"; "pre_classifier.vocab_"))' >"$T/x"
	cp "$T/x" "$T/m/model.safetensors"
	tensor_names "$T/m" | grep -c ^pre_classifier >"$T/count"
	[ "$(cat "$T/count")" -gt 0 ]
	tensor_sums "$T/m" | grep ^pre_classifier >"$T/heads"
	learn "$T/m" "$T/learned"
	tensor_sums "$T/learned" | grep ^pre_classifier | LC_ALL=C sort | cmp - <(LC_ALL=C sort "$T/heads")
	[ "$(tensor_names "$T/learned" | wc -l)" -eq "$(wc -l <"$T/before")" ]
	model_copy "$T/m" "$T/half" bf16
	safetensors_list "$T/half" | grep ^pre_classifier | cut -f2 | sort -u | grep -x bf16
}

@test "names: a file given in place of a model's folder is refused with the folder to give" {
	cp -r "$GOLDEN/bert" "$T/m"
	printf '3 5 9\n' | ids_stream text.ids >"$T/ids.mts"
	told() { # PROGRAM...: dies with one line
		run -1 --separate-stderr "$@"
		echo "$stderr"
		[ "$stderr" = "$1: $T/m/model.safetensors: is a file; $what is a folder: give '$T/m'" ]
	}
	what="a model"
	told encode -m "$T/m/model.safetensors" "$T/ids.mts"
	told tok -m "$T/m/model.safetensors" "$T/ids.mts"
	told train -m "$T/m/model.safetensors" -o "$T/out" "$T/ids.mts"
	told upcycle -m "$T/m/model.safetensors" --experts a,b -o "$T/out"
	told leaderboard model -m "$T/m/model.safetensors"
	told upcycle -m "$T/m" --mean "$T/m/model.safetensors" -o "$T/out"
	what="an adapter"
	told encode -m "$T/m" --adapter "$T/m/model.safetensors" "$T/ids.mts"
	told upcycle -m "$T/m" --merge-lora "$T/m/model.safetensors" -o "$T/out"
	cd "$T/m"
	run -1 --separate-stderr encode -m config.json "$T/ids.mts"
	[ "$stderr" = "encode: config.json: is a file; a model is a folder: give '.'" ]
}
