#!/usr/bin/env bats
load helper

M=$GOLDEN/bert
ADAPTERS=$GOLDEN/adapter

gate() { # NAME FILTER [FROM]: a golden adapter in gates/ with its configuration edited by jq
	mkdir -p "$T/gates"
	cp -r "$ADAPTERS/${3:-plain}" "$T/gates/$1"
	jq -c "$2" "$ADAPTERS/${3:-plain}/adapter_config.json" >"$T/gates/$1/adapter_config.json"
}
zeros() { # FILE: fills the tensors' data with zeros
	local size start
	size=$(stat -c %s "$1")
	start=$(($(od -An -tu8 -N8 "$1") + 8))
	head -c $((size - start)) /dev/zero | dd of="$1" bs=1 seek="$start" conv=notrunc status=none
}
make_gates() { # seven adapters: ranks 4, 3, 2 and 1, several scales, one of zeros
	gate half '.lora_alpha = 2'
	gate one '.lora_alpha = 4'
	gate three '.lora_alpha = 12'
	gate minus '.lora_alpha = -4'
	gate rooted . mixed
	gate whole '.lora_alpha = 9' mixed
	gate zero .
	zeros "$T/gates/zero/adapter_model.safetensors"
	mkdir "$T/gates/notes"
	touch "$T/gates/notes/a" "$T/gates/list.txt"
}
# The golden texts once for each ADAPTER, with a column gate that names it; "" is no adapter. The order of names is shuffled.
named() { # ADAPTER...
	local name
	for name in "$@"; do cat "$M/ids.txt"; done | ids_stream text.ids >"$T/plain.mts"
	for name in "$@"; do sed "s/.*/{\"gate\": \"$name\"}/" "$M/ids.txt"; done |
		shuffled | mts from jsonl - >"$T/names.mts"
	mts paste "$T/plain.mts" "$T/names.mts"
}
shuffled() { # lines in another order, always the same
	awk '{ print (NR * 7919) % 1009 "\t" $0 }' | sort -n | cut -f2-
}
ALL=(half one three minus rooted whole zero "")
property() { # NAME: a property of the stream on standard input
	mts head --json | head -1 | jq -r --arg name "$1" '.properties[$name] // "none"'
}

# bats test_tags=plain
@test "gates: a linear layer with adapters equals plain loops, also with dropout and in its gradients" {
	for name in adapters dropout bits share; do
		run -0 linear_check $name
		[ -z "$output" ]
	done
}

# A large batch is divided among threads and packs its matrices; a single text does neither.
@test "gates: with enough texts for all threads each text goes through its own adapter" {
	make_gates
	seeded_awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { n = 2 + int(21 * rand()); printf "5"; for (t = 1; t < n; t++) printf " %d", 5 + int(rand() * 35); print "" } }' |
		ids_stream text.ids >"$T/plain.mts"
	for i in {1..50}; do printf '{"gate": "%s"}\n' "${ALL[@]}"; done | mts from jsonl - >"$T/names.mts"
	mts paste "$T/plain.mts" "$T/names.mts" >"$T/ids.mts"
	encode -q -m "$M" --gates "$T/gates" --tokens 1 "$T/ids.mts" | ids_stream --rows text.emb >"$T/alone"
	encode -q -m "$M" "$T/ids.mts" | ids_stream --rows text.emb >"$T/none"
	[ "$(paste -d@ "$T/alone" "$T/none" | awk -F@ '$1 != $2' | wc -l)" -eq 300 ] # of 400 texts one in eight has no adapter, another one zeros
	for threads in 1 2 3; do
		encode -q -m "$M" --gates "$T/gates" -j $threads "$T/ids.mts" | ids_stream --rows text.emb | cmp - "$T/alone"
	done
}

# bats test_tags=plain
@test "gates: in a batch with seven adapters, and texts without one, each text has the bits that it has alone" {
	make_gates
	named "${ALL[@]}" >"$T/ids.mts"
	encode -q -m "$M" --gates "$T/gates" "$T/ids.mts" >"$T/all.mts"
	[ "$(ids_stream --rows text.emb <"$T/all.mts" | sort -u | wc -l)" -gt $((3 * $(wc -l <"$M/ids.txt"))) ]
	for name in "${ALL[@]}"; do
		mts rows --where "gate=$name" "$T/ids.mts" >"$T/some.mts"
		mts rows --where "gate=$name" "$T/all.mts" >"$T/wanted.mts"
		if [ "$name" ]; then
			encode -q -m "$M" --adapter "$T/gates/$name" "$T/some.mts" >"$T/got.mts"
		else
			encode -q -m "$M" "$T/some.mts" >"$T/got.mts"
		fi
		mts diff "$T/got.mts" "$T/wanted.mts"
		encode -q -m "$M" --gates "$T/gates" "$T/some.mts" | mts diff "$T/got.mts" -
	done
	# with any batch size, and without the cache of repeated texts
	for tokens in 1 40 100000; do
		encode -q -m "$M" --gates "$T/gates" --tokens $tokens --cache 1 "$T/ids.mts" | mts diff "$T/all.mts" -
	done
}

# bats test_tags=plain
@test "gates: an adapter of zeros, and no adapter, give the base model's bits" {
	make_gates
	named zero "" zero >"$T/ids.mts"
	encode -q -m "$M" "$T/ids.mts" >"$T/base.mts"
	encode -q -m "$M" --gates "$T/gates" "$T/ids.mts" | mts diff "$T/base.mts" -
	encode -q -m "$M" --adapter "$T/gates/zero" "$T/ids.mts" | mts diff "$T/base.mts" -
}

# bats test_tags=plain
@test "gates: an activation, which is fused with its layer without an adapter, has the same bits with one" {
	mkdir "$T/gates"
	G=$GOLDEN/train
	pairs_stream '{"temperature": 0.05}' <"$G/pairs.txt" >"$T/pairs.mts"
	train -q -m "$G/bert" -o "$T/gates/all" --steps 1 --lora rank=2,targets=all-linear "$T/pairs.mts"
	zeros "$T/gates/all/adapter_model.safetensors"
	encode -q -m "$G/bert" "$T/pairs.mts" >"$T/base.mts"
	encode -q -m "$G/bert" --adapter "$T/gates/all" "$T/pairs.mts" | mts diff "$T/base.mts" -
}

@test "gates: adapters of token experts, and of tensors that hold several layers, agree alone and in a batch" {
	for family in olmoe qwen2_moe modernbert gte; do
		rm -rf "$T/gates"
		mkdir "$T/gates"
		# ids below 40, the size of the vocabulary
		sed -E 's/4([0-9])/1\1/g' "$GOLDEN/train/pairs.txt" | pairs_stream '{"temperature": 0.05}' >"$T/pairs.mts"
		for seed in 1 2; do
			train -q -m "$GOLDEN/families/$family" -o "$T/gates/g$seed" --lr 0.05 --warmup 0 --seed $seed \
				--lora rank=$((seed + 1)),targets=all-linear "$T/pairs.mts"
		done
		named g1 "" g2 >"$T/ids.mts"
		encode -q -m "$GOLDEN/families/$family" --gates "$T/gates" "$T/ids.mts" >"$T/all.mts"
		for seed in 1 2; do
			mts rows --where "gate=g$seed" "$T/ids.mts" |
				encode -q -m "$GOLDEN/families/$family" --adapter "$T/gates/g$seed" >"$T/got.mts"
			mts rows --where "gate=g$seed" "$T/all.mts" | mts diff "$T/got.mts" -
		done
		mts rows --where gate= "$T/ids.mts" | encode -q -m "$GOLDEN/families/$family" >"$T/got.mts"
		mts rows --where gate= "$T/all.mts" | mts diff "$T/got.mts" -
	done
}

@test "gates: with cls and last pooling the one row of the last block goes through its text's adapter" {
	make_gates
	named "${ALL[@]}" >"$T/ids.mts"
	rows() { # POOLING
		encode -q -m "$M" --gates "$T/gates" --no-normalize --pooling "$1" "$T/ids.mts" | ids_stream --rows text.emb
	}
	rows cls+last >"$T/both"
	[ "$(sort -u "$T/both" | wc -l)" -gt 20 ]
	paste -d' ' <(rows cls) <(rows last) | cmp - "$T/both"
}

@test "gates: a column X.gate overrides gate; a list's texts have their row's adapter" {
	make_gates
	cat >"$T/rows.jsonl" <<-'E'
		{"query": "abc", "negatives": ["bc", "a"], "gate": "one", "query.gate": "three"}
		{"query": "abc", "negatives": [], "gate": "", "query.gate": ""}
		{"query": "abc", "negatives": ["bc"], "gate": "half", "query.gate": "half"}
	E
	tok -m "$M" -f query -f negatives "$T/rows.jsonl" >"$T/ids.mts"
	encode -q -m "$M" --gates "$T/gates" "$T/ids.mts" >"$T/all.mts"
	same() { # ADAPTER ROW COLUMN: as with --adapter
		encode -q -m "$M" --adapter "$T/gates/$1" "$T/ids.mts" >"$T/one.mts"
		mts rows --rows "$2" "$T/one.mts" | mts cat -c "$3" >"$T/wanted.mts"
		mts rows --rows "$2" "$T/all.mts" | mts cat -c "$3" | mts diff "$T/wanted.mts" -
	}
	same three 1 query.emb
	same half 3 query.emb
	same one 1 negatives.emb
	same half 3 negatives.emb
	run -1 same one 1 query.emb
}

@test "gates: a stream keeps the base model's fingerprint and has the adapters' in a property" {
	make_gates
	named one "" >"$T/ids.mts"
	encode -q -m "$M" "$T/ids.mts" >"$T/base.mts"
	encode -q -m "$M" --gates "$T/gates" "$T/ids.mts" >"$T/gated.mts"
	encode -q -m "$M" --adapter "$T/gates/one/" "$T/ids.mts" >"$T/one.mts"
	encode -q -m "$M" --adapter "$T/gates/half" "$T/ids.mts" >"$T/half.mts"
	for stream in gated one half; do
		[ "$(property model <"$T/$stream.mts")" = "$(property model <"$T/base.mts")" ]
	done
	[ "$(property gates <"$T/base.mts")" = none ]
	[[ $(property gates <"$T/one.mts") =~ ^one\ [0-9a-f]{16}$ ]]
	[ "$(property gates <"$T/gated.mts" | tr , '\n' | awk '{ print $1 }' | paste -sd ' ')" = \
		"half minus one rooted three whole zero" ]
	# adapters that differ only in the scale have different fingerprints
	[ "$(property gates <"$T/one.mts" | cut -d' ' -f2)" != "$(property gates <"$T/half.mts" | cut -d' ' -f2)" ]
	# a second pass without --gates removes the property
	encode -q -m "$M" --keep --gates "$T/gates" "$T/ids.mts" | encode -q -m "$M" | mts diff "$T/base.mts" -
	[ "$(encode -q -m "$M" --keep --gates "$T/gates" "$T/ids.mts" | encode -q -m "$M" | property gates)" = none ]
}

@test "gates: near compares routed queries with a corpus of the base model, and not with another model's" {
	make_gates
	named one half >"$T/ids.mts"
	encode -q -m "$M" --gates "$T/gates" "$T/ids.mts" >"$T/queries.mts"
	ids_stream text.ids <"$M/ids.txt" >"$T/corpus.ids"
	encode -q -m "$M" "$T/corpus.ids" >"$T/corpus.mts"
	model_copy "$M" "$T/other" bf16
	encode -q -m "$T/other" "$T/corpus.ids" >"$T/other.mts"
	run -0 --separate-stderr near "$T/queries.mts" "$T/corpus.mts"
	[ -z "$stderr" ]
	run -1 --separate-stderr near "$T/queries.mts" "$T/other.mts"
	[[ $stderr == *"its vectors are of model"* ]]
}

@test "gates: a missing adapter, and one of another model, are refused by name" {
	refused() { # MESSAGE ENCODE-OPTION...
		run -1 --separate-stderr encode -q -m "${MODEL:-$M}" "${@:2}" "$T/ids.mts"
		echo "$stderr"
		[[ $stderr == "encode: "*"$1"* ]] && [ "${#stderr_lines[@]}" -eq 1 ]
	}
	make_gates
	named one two >"$T/ids.mts"
	refused "row 1 asks for the gate 'two'; there are half, minus, one, rooted, three, whole, zero" --gates "$T/gates"
	ids_stream text.ids <"$M/ids.txt" >"$T/ids.mts"
	refused "there is no column" --gates "$T/gates"
	refused "$T/none: the folder of gates cannot be read" --gates "$T/none"
	mkdir "$T/empty"
	refused "$T/empty: none of its folders holds a LoRA adapter" --gates "$T/empty"
	refused "$T/gates/one: is one adapter itself" --gates "$T/gates/one"
	# NomicBERT lacks the modules; the other model has another width
	named one >"$T/ids.mts"
	MODEL=$GOLDEN/nomic_bert refused "changes the module 'encoder.layer.0.attention.self.query'" --gates "$T/gates"
	MODEL=$GOLDEN/train/bert refused "make [8, 8]; the tensor" --gates "$T/gates"
	# an adapter of the same shapes that was trained on another model, which train records
	pairs_stream '{"temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >"$T/pairs.mts"
	train -q -m "$GOLDEN/train/bert" -o "$T/gate" --steps 1 --lora rank=2 "$T/pairs.mts"
	encode -q -m "$GOLDEN/train/bert" --adapter "$T/gate" "$T/ids.mts" >"$T/out.mts"
	model_copy "$GOLDEN/train/bert" "$T/other" bf16
	MODEL=$T/other refused "was trained on the model" --adapter "$T/gate"
	run -1 --separate-stderr train -q -m "$T/other" -o "$T/on" --lora "$T/gate" "$T/pairs.mts"
	[[ $stderr == *"was trained on the model"* ]]
	run -2 --separate-stderr encode -m "$M" --adapter "$T/gate" --gates "$T/gates" "$T/ids.mts"
	[[ $stderr == *"--adapter and --gates exclude each other"* ]]
	# NaN in an adapter
	mv "$T/gates/one" "$T/one"
	rm -r "$T/gates"/*
	mv "$T/one" "$T/gates/one"
	printf '\0\0\300\177' | dd of="$T/gates/one/adapter_model.safetensors" bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s "$T/gates/one/adapter_model.safetensors") - 4))
	refused "holds values that are not finite" --gates "$T/gates"
}

@test "gates: a stream without rows stays so; a truncated one is refused" {
	make_gates
	named one half >"$T/ids.mts"
	mts rows --where gate=nobody "$T/ids.mts" | encode -q -m "$M" --gates "$T/gates" >"$T/out.mts"
	[ "$(mts stat --json "$T/out.mts" | jq .rows)" = 0 ]
	run -1 encode -q -m "$M" --gates "$T/gates" < <(head -c 300 "$T/ids.mts")
}
