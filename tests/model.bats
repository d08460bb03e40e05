#!/usr/bin/env bats
load helper

# A copy of a golden folder, for damage.
spoil() { # family
	cp -r "$GOLDEN/$1" "$T/m"
	MODEL=$T/m
}
encode_ids() { # MODEL: encodes the golden texts
	ids_stream text.ids <"$MODEL/ids.txt" | encode -q -m "$MODEL" "$@" >"$T/out.mts"
}

# bats test_tags=plain
@test "model: BERT agrees with torch in embeddings, every gradient and the head" {
	model_check "$GOLDEN/bert" "$GOLDEN/bert/expected.safetensors"
}

# bats test_tags=plain
@test "model: NomicBERT agrees with torch in embeddings, every gradient and the head" {
	model_check "$GOLDEN/nomic_bert" "$GOLDEN/nomic_bert/expected.safetensors"
}

# bats test_tags=plain
@test "model: with task experts gradients agree with differences, and no expert learns from another's batch" {
	for family in bert nomic_bert; do
		upcycle -m "$GOLDEN/$family" --experts a,b,c -o "$T/$family"
		model_check "$T/$family" "$GOLDEN/$family/expected.safetensors"
		upcycle -m "$GOLDEN/$family" --experts a,b --layers odd --no-expert-norms -o "$T/$family.odd"
		model_check "$T/$family.odd" "$GOLDEN/$family/expected.safetensors"
	done
}

# bats test_tags=plain
@test "model: a saved model is the same in f32 and close in bf16" {
	for family in bert nomic_bert; do
		model_copy "$GOLDEN/$family" "$T/$family" f32
		model_check "$T/$family" "$GOLDEN/$family/expected.safetensors"
		diff "$GOLDEN/$family/vocab.txt" "$T/$family/vocab.txt"
		model_copy "$GOLDEN/$family" "$T/$family.half" bf16
		ids_stream text.ids <"$GOLDEN/$family/ids.txt" | encode -m "$T/$family.half" |
			ids_stream --rows text.emb | within "$GOLDEN/$family/embeddings.txt" 0.03
	done
}

# bats test_tags=plain
@test "model: a folder without weights gets random ones, equal for equal seeds" {
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

@test "model: a missing folder, config.json or weights file is refused by name" {
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

@test "model: a truncated weights file is refused" {
	spoil bert
	head -c 9000 "$GOLDEN/bert/model.safetensors" >"$MODEL/model.safetensors"
	run -1 encode_ids
	[[ "$output" == *"$MODEL/model.safetensors"* ]]
	head -c 100 "$GOLDEN/bert/model.safetensors" >"$MODEL/model.safetensors"
	run -1 encode_ids
	[[ "$output" == *"$MODEL/model.safetensors"* ]]
}

# bats test_tags=plain
@test "model: a tensor whose shape disagrees with config.json is refused with both shapes" {
	spoil bert
	sed -i 's/"intermediate_size": 12/"intermediate_size": 16/' "$MODEL/config.json"
	run -1 encode_ids
	[[ "$output" == *"tensor 'encoder.layer.0.intermediate.dense.weight' has the shape [12, 8]; config.json asks for [16, 8]"* ]]
}

@test "model: a missing tensor is refused by name; unused ones are reported" {
	spoil nomic_bert
	sed -i 's/"n_layer": 2/"n_layer": 3/' "$MODEL/config.json"
	run -1 encode_ids
	[[ "$output" == *"tensor 'encoder.layers.2.attn.Wqkv.weight' is missing; config.json asks for it, with the shape [24, 8]"* ]]
	sed -i 's/"n_layer": 3/"n_layer": 1/' "$MODEL/config.json"
	ids_stream text.ids <"$MODEL/ids.txt" | encode -m "$MODEL" 2>"$T/err" >"$T/out.mts"
	[[ "$(cat "$T/err")" == *"warning: "*" 9 tensors are not used"* ]]
}

@test "model: NaN in weights is refused with the tensor's name" {
	spoil bert
	# the last four bytes belong to the last tensor in the file
	printf '\0\0\300\177' | dd of="$MODEL/model.safetensors" bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s "$MODEL/model.safetensors") - 4))
	run -1 encode_ids
	[[ "$output" == *"$MODEL/model.safetensors: tensor '"*"' holds values that are not finite"* ]]
}

@test "model: NomicBERT's config.json may have the keys of transformers 5" {
	spoil nomic_bert
	cat >"$MODEL/config.json" <<-E
		{"model_type": "nomic_bert", "vocab_size": 40, "hidden_size": 8, "num_hidden_layers": 2,
		"num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 24,
		"hidden_act": "silu", "layer_norm_eps": 1e-12, "head_dim": 4, "dtype": "float32",
		"rope_parameters": {"rope_theta": 1000.0, "rope_type": "default"}}
	E
	encode_ids
	ids_stream --rows text.emb <"$T/out.mts" | within "$MODEL/embeddings.txt" 1e-6
}

@test "model: invalid values in config.json are refused with their key" {
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

@test "model: invalid values of task_experts are refused" {
	spoil bert
	for own in '"x"' '{"names": [], "layers": [0]}' '{"names": ["a", "a"], "layers": [0]}' \
		'{"names": ["a"], "layers": [2]}' '{"names": ["a"]}' '{"names": ["a"], "layer": [0]}' \
		'{"names": ["a/b"], "layers": [0]}'; do
		sed "s|{|{\"task_experts\": $own,|" "$GOLDEN/bert/config.json" >"$MODEL/config.json"
		run -1 encode_ids
		[[ "$output" == "encode: $MODEL/config.json"* ]]
	done
}

# folder CASE: the tiny BERT with the modules of a golden case
folder() { # CASE
	rm -rf "$T/m"
	mkdir "$T/m"
	MODEL=$T/m
	cp "$GOLDEN/bert"/*.* "$MODEL"
	rm "$MODEL/modules.json"
	cp -r "$GOLDEN/head/$1/." "$MODEL"
}
agrees() { # FILE [TOLERANCE]: the embeddings of the golden texts are those of the file
	encode_ids
	ids_stream --rows text.emb <"$T/out.mts" | within "$1" "${2:-2e-6}"
}
# pooling CONFIG: a folder with that configuration of pooling
pooling() {
	folder order
	echo '[{"path":"","type":"sentence_transformers.models.Transformer"},
		{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}]' >"$MODEL/modules.json"
	echo "$1" >"$MODEL/1_Pooling/config.json"
}

@test "model: pooling is sentence-transformers', given by a boolean and by a name" {
	while read -r key mode; do
		pooling "{\"word_embedding_dimension\": 8, \"pooling_mode_$key\": true}"
		agrees "$GOLDEN/head/pool/$mode.txt"
		for spelled in "\"$mode\"" "[\"$mode\"]"; do
			pooling "{\"embedding_dimension\": 8, \"pooling_mode\": $spelled}"
			agrees "$GOLDEN/head/pool/$mode.txt"
		done
	done <<-E
		cls_token cls
		max_tokens max
		mean_tokens mean
		mean_sqrt_len_tokens mean_sqrt_len_tokens
		weightedmean_tokens weightedmean
		lasttoken lasttoken
	E
	pooling '{"pooling_mode_mean_tokens": false}' # no pooling is chosen
	agrees "$GOLDEN/head/pool/mean.txt"
}

@test "model: without pooling settings causal language models pool the last token, others the mean" {
	for folder in bert:mean: families/qwen3:last:-token families/mistral:mean:; do
		rm -rf "$T/m"
		IFS=: read -r folder pool more <<<"$folder"
		cp -r "$GOLDEN/$folder" "$T/m"
		rm "$T/m/modules.json"
		ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
		encode -m "$T/m" "$T/ids.mts" 2>"$T/err" | ids_stream --rows text.emb >"$T/got"
		[[ "$(cat "$T/err")" == *"has no modules.json: $pool$more pooling is assumed"* ]]
		encode -q -m "$T/m" --pooling "$pool" "$T/ids.mts" | ids_stream --rows text.emb |
			within "$T/got" 0
	done
}

@test "model: several poolings are concatenated; as booleans in a fixed order" {
	P=$GOLDEN/head/pool
	paste -d' ' "$P/cls.txt" "$P/mean.txt" "$P/lasttoken.txt" >"$T/wanted"
	pooling '{"pooling_mode_lasttoken": true, "pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}'
	agrees "$T/wanted"
	pooling '{"pooling_mode": ["cls", "mean", "lasttoken"]}'
	agrees "$T/wanted"
	paste -d' ' "$P/lasttoken.txt" "$P/max.txt" "$P/max.txt" >"$T/wanted"
	pooling '{"pooling_mode": ["lasttoken", "max", "max"]}'
	agrees "$T/wanted"
}

@test "model: include_prompt false leaves the prompt out of every pooling" {
	sed 2d "$GOLDEN/bert/ids.txt" >"$T/ids.txt" # without the text of one token, which is shorter than the prompt
	for mode in cls max mean mean_sqrt_len_tokens weightedmean lasttoken; do
		pooling "{\"pooling_mode\": \"$mode\", \"include_prompt\": false}"
		ids_stream text.ids '{"prompt_tokens":{"text":2}}' <"$T/ids.txt" |
			encode -m "$MODEL" | ids_stream --rows text.emb |
			within "$GOLDEN/head/pool/$mode.prompt.txt" 2e-6
	done
}

@test "model: Dense and Normalize in any order, in f32, f16 and bf16, are sentence-transformers'" {
	for case in dense after both half brain order wider every int8; do
		folder $case
		agrees "$MODEL/embeddings.txt"
		model_copy "$MODEL" "$T/copy.$case" f32 # a saved copy
		MODEL=$T/copy.$case
		cp "$GOLDEN/bert/ids.txt" "$MODEL"
		agrees "$T/m/embeddings.txt"
	done
}

# bats test_tags=plain
@test "model: heads of Dense modules, a LayerNorm and a FlexibleQuantizer agree with torch in every gradient" {
	for case in both every int8; do
		folder $case
		model_check "$MODEL" "$MODEL/expected.safetensors"
		model_copy "$MODEL" "$T/$case" f32
		model_check "$T/$case" "$MODEL/expected.safetensors"
	done
	[ "$(jq -r .[-1].type "$T/int8/modules.json")" = st_quantize.FlexibleQuantizer ]
	# Dropout, which has no effect, is not written; tensors have the reference's names
	[ "$(jq -r '.[] | .path' "$T/every/modules.json" | paste -sd' ')" = " 1_Pooling 2_Dense 3_Dense 4_LayerNorm 5_Dense 6_Dense" ]
	for module in 2_Dense:2_Dense 3_Dense:3_Dense 5_Dense:6_Dense 6_Dense:7_Dense; do
		diff <(jq .activation_function "$T/every/${module%:*}/config.json") \
			<(jq .activation_function "$GOLDEN/head/every/${module#*:}/config.json")
	done
	diff <(jq . "$T/every/4_LayerNorm/config.json") <(jq . "$GOLDEN/head/every/5_LayerNorm/config.json")
	diff <(safetensors_list "$T/every/4_LayerNorm" | sort) <(safetensors_list "$GOLDEN/head/every/5_LayerNorm" | sort)
}

@test "model: upcycle keeps the head of a MoTE, and averages it back" {
	folder both
	upcycle -m "$MODEL" --experts a,b -o "$T/mote"
	ids_stream text.ids <"$MODEL/ids.txt" | encode -m "$T/mote" -e b | ids_stream --rows text.emb |
		within "$MODEL/embeddings.txt" 2e-6
	model_check "$T/mote" "$MODEL/expected.safetensors"
	upcycle --average -m "$T/mote" -o "$T/mean"
	cmp "$T/mote/2_Dense/model.safetensors" "$T/mean/2_Dense/model.safetensors"
	model_check "$T/mean" "$MODEL/expected.safetensors"
}

@test "model: the transformer may be in a subfolder, 0_Transformer" {
	folder dense
	mkdir "$MODEL/0_Transformer"
	mv "$MODEL"/{config.json,model.safetensors,vocab.txt,tokenizer_config.json} "$MODEL/0_Transformer"
	jq -c '.[0].path = "0_Transformer"' "$MODEL/modules.json" >"$T/modules"
	cp "$T/modules" "$MODEL/modules.json"
	agrees "$MODEL/embeddings.txt"
	tok -m "$MODEL" "$MODEL/texts.txt" | encode -m "$MODEL" --dim 3 | ids_stream --rows text.emb |
		within "$MODEL/dim.txt" 2e-6
	model_copy "$MODEL" "$T/copy" f32
	tok -m "$T/copy" "$MODEL/texts.txt" | encode -m "$T/copy" --dim 3 | ids_stream --rows text.emb |
		within "$MODEL/dim.txt" 2e-6
}

@test "model: modules.json may call the model's own folder '.'" {
	folder dense
	jq -c '.[0].path = "."' "$GOLDEN/head/dense/modules.json" >"$MODEL/modules.json"
	agrees "$MODEL/embeddings.txt"
	tok -m "$MODEL" "$MODEL/texts.txt" | encode -m "$MODEL" --dim 3 | ids_stream --rows text.emb |
		within "$MODEL/dim.txt" 2e-6
}

@test "model: unknown modules, and modules that do not fit, are refused by name" {
	refused() { # MESSAGE
		run -1 encode_ids
		[[ "$output" == *"$1"* ]]
	}
	change() { # FILE FILTER
		folder both
		jq -c "$2" "$MODEL/$1" >"$T/changed"
		cp "$T/changed" "$MODEL/$1"
	}
	change modules.json '.[3].type = "sentence_transformers.models.LSTM"'
	refused "modules.json: the module 'LSTM' is not supported; supported are Transformer, StaticEmbedding, Pooling, SpladePooling, Dense, LayerNorm, Normalize, Dropout and pplx-embed's FlexibleQuantizer"
	change modules.json '.[2].path = "../other"'
	refused "modules.json: 'path' is '../other'; it must be the plain name of a folder"
	change modules.json '.[2].path = ".."'
	refused "modules.json: 'path' is '..'; it must be the plain name of a folder"
	change modules.json '.[2].path = "d" * 64'
	refused "it must be the plain name of a folder"
	change modules.json '.[3] = .[1]'
	refused "one module Pooling is supported, right after the Transformer"
	change modules.json '.[3] = 7'
	refused "a module must be an object"
	change modules.json '{a: .}'
	refused "a list of modules is expected"
	change 1_Pooling/config.json '.pooling_mode = "median"'
	refused "1_Pooling/config.json: the pooling mode 'median' is not supported"
	change 1_Pooling/config.json 'del(.pooling_mode) | .pooling_mode_median_tokens = true'
	refused "1_Pooling/config.json: the pooling mode 'median_tokens' is not supported"
	change 1_Pooling/config.json '.pooling_mode = [range(7) | "cls"]'
	refused 'more than 6 pooling modes'
	# the reference refuses activation functions that are not torch's
	for name in torch.nn.modules.activation.Mish my.module.ReLU Tanh; do
		change 2_Dense/config.json ".activation_function = \"$name\""
		refused "2_Dense/config.json: 'activation_function' is '$name'; supported are Tanh, ReLU, GELU, Sigmoid, SiLU and Identity, of torch.nn"
	done
	change modules.json '.[3].type = "sentence_transformers.models.LayerNorm"'
	echo '{"dimension": 5}' >"$MODEL/3_Normalize/config.json"
	refused "$MODEL: its 3_LayerNorm takes vectors of 5 values, and is given 6"
	echo '{"dimension": 6}' >"$MODEL/3_Normalize/config.json"
	refused "$MODEL/3_Normalize: there are no weights"
	change 2_Dense/config.json '.module_input_name = "token_embeddings"'
	refused "2_Dense/config.json: makes '"
	change 3_Normalize/config.json '.module_input_name = "token_embeddings"'
	refused "3_Normalize/config.json: makes '"
	change 2_Dense/config.json '.use_residual = true'
	refused "2_Dense/config.json: 'use_residual' is supported for late-interaction models only"
	change 2_Dense/config.json 'del(.in_features)'
	refused "2_Dense/config.json: 'in_features' is missing"
	change 4_Dense/config.json '.in_features = 5'
	refused "its 4_Dense takes vectors of 5 values, and is given 6"
	change 2_Dense/config.json '.in_features = 16 | .out_features = 7'
	refused "its 4_Dense takes vectors of 6 values, and is given 7"
	change 4_Dense/config.json '.out_features = 3'
	refused "tensor 'linear.weight' has the shape [4, 6]; config.json asks for [3, 6]"
	change 4_Dense/config.json '.bias = true'
	refused "4_Dense/model.safetensors: tensor 'linear.bias' is missing"
	folder both
	rm "$MODEL/2_Dense/model.safetensors"
	refused "2_Dense: there are no weights: "
	folder both
	run -1 encode_ids --pooling cls
	[[ "$output" == *"its 2_Dense takes vectors of 16 values, and is given 8" ]]
}

@test "model: all-MiniLM-L6-v2 gives the published vectors" {
	need_minilm
	# "What is Deep Learning?", "Here is a test sentence"
	printf '%s\n' '101 2054 2003 2784 4083 1029 102' '101 2182 2003 1037 3231 6251 102' |
		ids_stream text.ids >"$T/ids.mts"
	encode -m "$MOTES_MINILM" --no-normalize <"$T/ids.mts" | ids_stream --rows text.emb |
		sed -n 1p | cut -d' ' -f1-4 >"$T/first"
	echo '-0.5904 -0.2522 0.1496 0.0551' | within "$T/first" 0.002
}

@test "model: an integer in config.json may be written 2.0, and not 2.5" {
	cp -r "$GOLDEN/bert" "$T/model"
	run -0 model_check "$T/model" "$GOLDEN/bert/expected.safetensors"
	sed -i 's/\("intermediate_size": [0-9]*\)/\1.0/' "$T/model/config.json"
	run -0 model_check "$T/model" "$GOLDEN/bert/expected.safetensors"
	sed -i 's/\("intermediate_size": [0-9]*\)\.0/\1.5/' "$T/model/config.json"
	run -1 --separate-stderr model_check "$T/model" "$GOLDEN/bert/expected.safetensors"
	[[ $stderr == *"'intermediate_size' is a number; it must be an integer" ]]
}
