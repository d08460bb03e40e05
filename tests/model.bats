#!/usr/bin/env bats
load helper

# A copy of a golden folder that a test may spoil.
spoil() { # family
	cp -r "$GOLDEN/$1" "$T/m"
	MODEL=$T/m
}
encode_ids() { # model: the golden texts through it
	ids_stream text.ids <"$MODEL/ids.txt" | encode -q -m "$MODEL" >"$T/out.mts"
}

@test "model: BERT agrees with torch: embeddings, every gradient, the head" {
	model_check "$GOLDEN/bert" "$GOLDEN/bert/expected.safetensors"
}

@test "model: NomicBERT agrees with torch: embeddings, every gradient, the head" {
	model_check "$GOLDEN/nomic_bert" "$GOLDEN/nomic_bert/expected.safetensors"
}

@test "model: with experts, differences agree and no expert learns from another's batch" {
	for family in bert nomic_bert; do
		upcycle -m "$GOLDEN/$family" --experts a,b,c -o "$T/$family"
		model_check "$T/$family" "$GOLDEN/$family/expected.safetensors"
		upcycle -m "$GOLDEN/$family" --experts a,b --layers odd --no-expert-norms -o "$T/$family.odd"
		model_check "$T/$family.odd" "$GOLDEN/$family/expected.safetensors"
	done
}

@test "model: saved and opened again, in f32 the same, in bf16 near" {
	for family in bert nomic_bert; do
		model_copy "$GOLDEN/$family" "$T/$family" f32
		model_check "$T/$family" "$GOLDEN/$family/expected.safetensors"
		diff "$GOLDEN/$family/vocab.txt" "$T/$family/vocab.txt"
		model_copy "$GOLDEN/$family" "$T/$family.half" bf16
		ids_stream text.ids <"$GOLDEN/$family/ids.txt" | encode -m "$T/$family.half" |
			ids_stream --rows text.emb | near "$GOLDEN/$family/embeddings.txt" 0.03
	done
}

@test "model: a folder is replaced whole, and nothing but a model folder is" {
	model_copy "$GOLDEN/bert" "$T/saved" f32
	touch "$T/saved/old"
	model_copy "$GOLDEN/nomic_bert" "$T/saved" f32
	[ ! -e "$T/saved/old" ]
	model_check "$T/saved" "$GOLDEN/nomic_bert/expected.safetensors"
	mkdir "$T/mine"
	touch "$T/mine/letter"
	run -1 model_copy "$GOLDEN/bert" "$T/mine" f32
	[[ "$output" == *"$T/mine: exists and is not a model folder"* ]]
	[ -e "$T/mine/letter" ]
	[ "$(ls "$T" | grep -c new-)" -eq 0 ]
}

@test "model: what a killed program left beside a folder goes, what a living one writes stays" {
	mkdir "$T/saved.new-999999999" "$T/saved.new-$$" "$T/saved.new-x"
	touch "$T/saved.new-999999999/config.json"
	model_copy "$GOLDEN/bert" "$T/saved" f32
	[ ! -e "$T/saved.new-999999999" ]
	[ -e "$T/saved.new-$$" ] && [ -e "$T/saved.new-x" ]
}

@test "model: a full disk is reported and leaves the old folder as it was" {
	model_copy "$GOLDEN/bert" "$T/saved" f32
	cp -r "$T/saved" "$T/before"
	run bash -c "ulimit -f 4; trap '' XFSZ; model_copy '$GOLDEN/nomic_bert' '$T/saved' f32"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$T/saved.new-"*"File too large"* ]]
	diff -r "$T/before" "$T/saved"
}

@test "model: no weights on disk: drawn from the seed, the same for the same seed" {
	mkdir "$T/init"
	cp "$GOLDEN/nomic_bert/config.json" "$T/init"
	for seed in 1 1 2; do
		model_copy "$T/init" "$T/out" init $seed
		md5sum <"$T/out/model.safetensors"
	done >"$T/sums"
	[ "$(sed -n 1p "$T/sums")" = "$(sed -n 2p "$T/sums")" ]
	[ "$(sed -n 1p "$T/sums")" != "$(sed -n 3p "$T/sums")" ]
	ids_stream text.ids <"$GOLDEN/nomic_bert/ids.txt" | encode -m "$T/out" >"$T/out.mts"
}

@test "model: a missing folder, config.json or file of weights is named" {
	run -1 encode -m "$T/none" </dev/null
	[[ "$output" == "encode: $T/none: "*"No such file"* ]]
	spoil bert
	rm "$MODEL/model.safetensors"
	run -1 encode_ids
	[[ "$output" == *"$MODEL"*"safetensors"* ]]
	rm "$MODEL/config.json"
	run -1 encode_ids
	[[ "$output" == *"$MODEL/config.json"* ]]
}

@test "model: a truncated file of weights is refused" {
	spoil bert
	head -c 9000 "$GOLDEN/bert/model.safetensors" >"$MODEL/model.safetensors"
	run -1 encode_ids
	[[ "$output" == *"$MODEL/model.safetensors"* ]]
	head -c 100 "$GOLDEN/bert/model.safetensors" >"$MODEL/model.safetensors"
	run -1 encode_ids
	[[ "$output" == *"$MODEL/model.safetensors"* ]]
}

@test "model: a shape that disagrees with config.json names tensor and both shapes" {
	spoil bert
	sed -i 's/"intermediate_size": 12/"intermediate_size": 16/' "$MODEL/config.json"
	run -1 encode_ids
	[[ "$output" == *"tensor 'encoder.layer.0.intermediate.dense.weight' has the shape [12, 8]; config.json asks for [16, 8]"* ]]
}

@test "model: a missing tensor is named; superfluous ones are reported" {
	spoil nomic_bert
	sed -i 's/"n_layer": 2/"n_layer": 3/' "$MODEL/config.json"
	run -1 encode_ids
	[[ "$output" == *"tensor 'encoder.layers.2.attn.Wqkv.weight' is missing; config.json asks for it, with the shape [24, 8]"* ]]
	sed -i 's/"n_layer": 3/"n_layer": 1/' "$MODEL/config.json"
	ids_stream text.ids <"$MODEL/ids.txt" | encode -m "$MODEL" 2>"$T/err" >"$T/out.mts"
	[[ "$(cat "$T/err")" == *"warning: "*" 9 tensors are not used"* ]]
}

@test "model: NaN in weights names the tensor" {
	spoil bert
	# the last four bytes belong to the last tensor in the file
	printf '\0\0\300\177' | dd of="$MODEL/model.safetensors" bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s "$MODEL/model.safetensors") - 4))
	run -1 encode_ids
	[[ "$output" == *"$MODEL/model.safetensors: tensor '"*"' holds values that are not finite"* ]]
}

@test "model: NomicBERT's configuration in the spelling of transformers 5" {
	spoil nomic_bert
	cat >"$MODEL/config.json" <<-E
		{"model_type": "nomic_bert", "vocab_size": 40, "hidden_size": 8, "num_hidden_layers": 2,
		"num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 24,
		"hidden_act": "silu", "layer_norm_eps": 1e-12, "head_dim": 4, "dtype": "float32",
		"rope_parameters": {"rope_theta": 1000.0, "rope_type": "default"}}
	E
	encode_ids
	ids_stream --rows text.emb <"$T/out.mts" | near "$MODEL/embeddings.txt" 1e-6
}

@test "model: what config.json may not say is refused with the key" {
	spoil bert
	for edit in 's/"bert"/"gpt2"/;model_type' 's/: 2,/: 3,/;num_attention_heads' \
		's/"gelu"/"mish"/;hidden_act' 's/"vocab_size": 40,//;vocab_size' \
		's/{/{"position_embedding_type": "relative_key",/;position_embedding_type'; do
		sed "${edit%;*}" "$GOLDEN/bert/config.json" >"$MODEL/config.json"
		run -1 encode_ids
		[[ "$output" == *"$MODEL/config.json"*"${edit##*;}"* ]]
	done
	echo '{' >"$MODEL/config.json"
	run -1 encode_ids
	[[ "$output" == *"$MODEL/config.json:"* ]]
}

@test "model: what task_experts may not say is refused" {
	spoil bert
	for own in '"x"' '{"names": [], "layers": [0]}' '{"names": ["a", "a"], "layers": [0]}' \
		'{"names": ["a"], "layers": [2]}' '{"names": ["a"]}' '{"names": ["a"], "layer": [0]}' \
		'{"names": ["a/b"], "layers": [0]}'; do
		sed "s|{|{\"task_experts\": $own,|" "$GOLDEN/bert/config.json" >"$MODEL/config.json"
		run -1 encode_ids
		[[ "$output" == "encode: $MODEL/config.json"* ]]
	done
}

@test "model: all-MiniLM-L6-v2 gives the published vectors" {
	need_minilm
	# "What is Deep Learning?", "Here is a test sentence"
	printf '%s\n' '101 2054 2003 2784 4083 1029 102' '101 2182 2003 1037 3231 6251 102' |
		ids_stream text.ids >"$T/ids.mts"
	encode -m "$MOTES_MINILM" --no-normalize <"$T/ids.mts" | ids_stream --rows text.emb |
		sed -n 1p | cut -d' ' -f1-4 >"$T/first"
	echo '-0.5904 -0.2522 0.1496 0.0551' | near "$T/first" 0.002
}
