#!/usr/bin/env bats
load helper

# Families that encode but cannot be trained. Golden values: tests/golden/forward.py (transformers).
D=$GOLDEN/forward

embed() { # MODEL [OPTION]...
	ids_stream text.ids <"$D/ids.txt" | encode -q --any-tokenizer -m "$@" | ids_stream --rows text.emb
}

# vary MODEL: $T/m is a copy, whose config.json `config` changes; `same` compares its embeddings with MODEL's, and `refused`
# reads lines CHANGE|MESSAGE
vary() {
	cp -r "$D/$1" "$T/m"
	settings=$D/$1/config.json
	embed "$D/$1" --pooling mean >"$T/wanted"
}

config() { jq "$1" "$settings" >"$T/m/config.json"; }
same() { embed "$T/m" --pooling mean | cmp - "$T/wanted"; }

refused() {
	local change text
	while IFS='|' read -r change text; do
		config "$change"
		run -1 --separate-stderr embed "$T/m"
		[[ $stderr == *"encode: $T/m/config.json"*"$text"* ]] || { echo "$change: $stderr"; false; }
	done
}

# bats test_tags=plain
@test "forward: embeddings of DeBERTa, Gemma 2, EmbeddingGemma 2 and LFM2 are transformers', for texts up to 300 tokens" {
	for form in buckets plain gemma2 uncapped embedding_gemma2 lfm2 lfm2_both; do
		embed "$D/$form" --pooling mean | within "$D/$form.txt" 3e-6 # values up to 4
		embed "$D/$form" --pooling mean --precision bf16 | within "$D/$form.txt" 0.1
		embed "$D/$form" --pooling mean --weights int8 | within "$D/$form.txt" 0.1
	done
}

# bats test_tags=plain
@test "forward: EmbeddingGemma 2's text model by itself, sizes of single layers, and what config.json leaves out" {
	vary embedding_gemma2
	config '.text_config' && same
	config '.text_config.per_layer_config |= {"01": ."1", "3": ."3"}' && same
	config 'del(.text_config.per_layer_config) | .text_config += {global_head_dim: 10, num_global_key_value_heads: 1}' && same
	config '.text_config.layer_types[3] = "sliding_attention"' && same # the last layer is global in any case
	config 'del(.text_config.layer_types) | .text_config.sliding_window_pattern = 2' && same
	config 'del(.text_config.rope_parameters)' && same
	config '.text_config.rope_parameters.full_attention.rope_theta = 100' && run ! same
	config '.text_config.rope_parameters.sliding_attention.rope_theta = 100' && run ! same
	config '.text_config.sliding_window = 6' && run ! same
	config '.text_config.rms_norm_eps = 0.1' && run ! same
	# the projection of tokens changes places with these poolings alone
	printf '3 4\n' | ids_stream text.ids >"$T/two.mts"
	[ "$(encode -q --any-tokenizer -m "$D/embedding_gemma2" --pooling last "$T/two.mts" | ids_stream --rows text.emb | wc -w)" -eq 14 ]
	run -1 encode -q --any-tokenizer -m "$D/embedding_gemma2" --pooling max "$T/two.mts"
	[[ $output == *"projects each token before the pooling"* ]]
	refused <<-E
		.text_config.model_type = "gemma3_text"|'model_type' of text_config is 'gemma3_text'; it must be 'embedding_gemma2_text'
		del(.text_config)|'text_config' is missing
		.text_config.per_layer_config = []|'per_layer_config' must be an object
		.text_config.per_layer_config."4" = {}|'per_layer_config' must have an object for each layer, whose key is a number in 0..3
		.text_config.per_layer_config."1x" = {}|'per_layer_config' must have an object for each layer
		.text_config.per_layer_config."1".rms_norm_eps = 1|'rms_norm_eps' of a single layer is not supported
		.text_config.per_layer_config."1".head_dim = 12|layer 3 has heads of size 10, another of its kind 12
		.text_config.per_layer_config."1".num_key_value_heads = 3|4 attention heads cannot share 3 key/value heads
		.text_config.rope_parameters.full_attention.rope_type = "yarn"|'rope_type' is 'yarn'; only 'default' is supported
	E
	config '.text_config.embedding_dim = 13'
	run -1 --separate-stderr embed "$T/m" --pooling mean
	[[ $stderr == *"embedding_projection.weight"*"14, 12"* ]] || { echo "$stderr"; false; }
}

# Gradients are within 1e-4 of each parameter's greatest; central differences agree.
@test "forward: EmbeddingGemma 2 learns: gradients are transformers', a written model has the names of its file" {
	model_check "$D/embedding_gemma2" "$D/embedding_gemma2.safetensors"
	printf '3 4 5\t5 6\n7 8\t9 10 11\n12 13\t14\n' | pairs_stream >"$T/pairs.mts"
	learn() { train -q -m "$D/embedding_gemma2" --lr 1e-2 --warmup 0 --schedule constant "$@" "$T/pairs.mts"; }
	learn -o "$T/all"
	tensors() { safetensors_list "$1/model.safetensors" | LC_ALL=C sort; }
	diff <(tensors "$D/embedding_gemma2" | cut -f1-3) <(tensors "$T/all" | cut -f1-3)
	[ "$(jq -r '.[].type' "$T/all/modules.json" | sed 's/.*\.//' | paste -sd' ')" = "Transformer Pooling" ]
	jq -e '.text_config.embedding_dim == 14' "$T/all/config.json"
	embed "$D/embedding_gemma2" >"$T/before"
	embed "$T/all" >"$T/after"
	run ! cmp -s "$T/before" "$T/after"
	# the blocks' factors stay, whatever is frozen
	learn -o "$T/some" --freeze '*,!*layer_scalar,!*embedding_projection*'
	[ "$(LC_ALL=C comm -13 <(tensors "$D/embedding_gemma2") <(tensors "$T/some") | cut -f1)" = language_model.embedding_projection.weight ]
	# a LoRA, and the same merged
	learn -o "$T/lora" --lora rank=2,targets=per_layer_model_projection+per_layer_input_gate+q_proj
	upcycle -q -m "$D/embedding_gemma2" --merge-lora "$T/lora" -o "$T/merged"
	diff <(tensors "$D/embedding_gemma2" | cut -f1-3) <(tensors "$T/merged" | cut -f1-3)
	embed "$D/embedding_gemma2" --adapter "$T/lora" >"$T/adapted"
	embed "$T/merged" | within "$T/adapted" 2e-5
	run ! cmp -s "$T/before" "$T/adapted"
	# a map is a module beside the projection
	ids_stream text.ids <"$D/ids.txt" | encode -q --any-tokenizer -m "$D/embedding_gemma2" >"$T/x.mts"
	geom whiten fit -q --kind scale -m "$D/embedding_gemma2" -o "$T/scaled" "$T/x.mts"
	embed "$T/scaled" | within <(geom whiten fit -q --kind scale -o "$T/map.mts" "$T/x.mts" && geom whiten apply -q "$T/map.mts" "$T/x.mts" | ids_stream --rows text.emb) 1e-5
	run -1 --separate-stderr train -q --from-scratch -m "$D/embedding_gemma2" -o "$T/out" "$T/pairs.mts"
	[[ $stderr == *"EmbeddingGemma 2 is not drawn at random"* ]] || { echo "$stderr"; false; }
}

@test "forward: LFM2 learns: gradients are transformers', of convolutions one way and both" {
	for form in lfm2 lfm2_both; do
		model_check "$D/$form" "$D/$form.safetensors"
	done
	printf '3 4 5\t5 6\n7 8\t9 10 11\n12 13\t14\n' | pairs_stream >"$T/pairs.mts"
	learn() { train -q -m "$D/lfm2" --lr 1e-2 --warmup 0 --schedule constant "$@" "$T/pairs.mts"; }
	learn -o "$T/all"
	diff <(safetensors_list "$D/lfm2" | cut -f1-3 | sort) <(safetensors_list "$T/all" | cut -f1-3 | sort)
	learn -o "$T/lora" --lora rank=2,targets=in_proj+out_proj+w1
	upcycle -q -m "$D/lfm2" --merge-lora "$T/lora" -o "$T/merged"
	embed "$D/lfm2" --adapter "$T/lora" >"$T/adapted"
	embed "$T/merged" | within "$T/adapted" 2e-5
	run ! cmp -s <(embed "$D/lfm2") "$T/adapted"
	run -1 --separate-stderr train -q --from-scratch -m "$D/lfm2" -o "$T/out" "$T/pairs.mts"
	[[ $stderr == *"LFM2 is not drawn at random"* ]]
}

# bats test_tags=plain
@test "forward: LFM2's older keys, and the sizes and kinds that config.json says" {
	vary lfm2
	config 'del(.layer_types) | .full_attn_idxs = [2, 4]' && same
	config '.block_ff_dim = .intermediate_size | del(.intermediate_size)' && same
	config '.block_auto_adjust_ff_dim = false | .intermediate_size = 18' && same
	config '.block_ffn_dim_multiplier = 0.5 | .intermediate_size = 50' && same
	config '.block_norm_eps = .norm_eps | del(.norm_eps)' && same
	config '.norm_eps = 0.1' && run ! same
	config '.is_causal = false' && run ! same
	config '.rope_parameters.rope_theta = 100' && run ! same
	config '.architectures = ["Lfm2BidirectionalModel"]' && run ! same
	# the convolution of a causal model sees no later token, nor another text
	for one in "5 6 7 8" "5 6 7 9"; do
		ids_stream text.ids <<<"$one" | encode -q --any-tokenizer -m "$D/lfm2" --emit hs:pool=tokens | mts to jsonl | jq -c '."text.hs"[:3]'
	done >"$T/three"
	[ "$(sort -u "$T/three" | wc -l)" -eq 1 ]
	refused <<-E
		.layer_types[0] = "sliding_attention"|'layer_types' may hold 'conv' and 'full_attention'
		.layer_types = ["conv"]|'layer_types' must name the type of each of 5 layers
		.block_ffn_dim_multiplier = -1|'block_ffn_dim_multiplier' is -1; it must be in 0..64
		.block_ff_dim = 99|'intermediate_size' is 20, and 'block_ff_dim' is 99
		.conv_L_cache = 0|'conv_L_cache' is 0; it must be in 1..64
	E
	config '.conv_L_cache = 4'
	run -1 --separate-stderr embed "$T/m" --pooling mean
	[[ $stderr == *"layers.0.conv.conv.weight' has the shape [12, 1, 3]; config.json asks for [12, 1, 4]"* ]] || { echo "$stderr"; false; }
}

# bats test_tags=plain
@test "forward: embeddings of NV-Embed are its reference's, in all precisions and types of weights" {
	embed "$D/nvembed" | within "$D/nvembed.txt" 2e-6
	for option in "--precision bf16" "--precision int8" "--weights int8"; do
		embed "$D/nvembed" $option | within "$D/nvembed.txt" 0.05
	done
	# without a prompt's tokens in the mean, unless config.json says otherwise
	prompted() { # MODEL
		ids_stream text.ids '{"prompt_tokens":{"text":2}}' < <(sed 1,2d "$D/ids.txt") | encode -q --any-tokenizer -m "$1" | ids_stream --rows text.emb
	}
	sed 1,2d "$D/nvembed.txt" >"$T/whole"
	run ! within "$T/whole" 1e-3 < <(prompted "$D/nvembed")
	cp -r "$D/nvembed" "$T/m"
	jq '.is_mask_instruction = false' "$D/nvembed/config.json" >"$T/m/config.json"
	prompted "$T/m" | within "$T/whole" 2e-6
	jq '.latent_attention_config.output_normalize = false' "$D/nvembed/config.json" >"$T/m/config.json"
	embed "$T/m" | cmp - <(embed "$D/nvembed" --no-normalize)
	run ! cmp -s <(embed "$T/m") <(embed "$D/nvembed")
	# as published: modules.json decides
	mkdir "$T/m/1_Pooling"
	echo '{"pooling_mode_mean_tokens": true, "include_prompt": false}' >"$T/m/1_Pooling/config.json"
	echo '["Transformer", "Pooling", "Normalize"]' |
		jq 'to_entries | map({idx: .key, path: (if .key == 1 then "1_Pooling" else "" end), type: "sentence_transformers.models.\(.value)"})' >"$T/m/modules.json"
	embed "$T/m" | cmp - <(embed "$D/nvembed")
	prompted "$T/m" | cmp - <(prompted "$D/nvembed")
	# a map is added to the pooling that config.json implies
	ids_stream text.ids <"$D/ids.txt" | encode -q --any-tokenizer -m "$D/nvembed" >"$T/x.mts"
	geom whiten fit -q --kind scale -m "$D/nvembed" -o "$T/scaled" "$T/x.mts"
	embed "$T/scaled" | within <(geom whiten fit -q --kind scale -o "$T/map.mts" "$T/x.mts" && geom whiten apply -q "$T/map.mts" "$T/x.mts" | ids_stream --rows text.emb) 1e-5
}

# bats test_tags=plain
@test "forward: a text has the same bits alone and in a batch, with one thread and seven" {
	jq '.num_hidden_layers = 4 | .layer_types |= .[:4]' "$D/lfm2/config.json" >"$T/config.json" # the last layer is a convolution
	cp -r "$D/lfm2" "$T/conv" && mv "$T/config.json" "$T/conv"
	for form in buckets gemma2 nvembed embedding_gemma2 lfm2 lfm2_both conv; do
		model=$D/$form
		[ $form != conv ] || model=$T/conv
		embed "$model" --pooling mean >"$T/together"
		while read -r line; do
			ids_stream text.ids <<<"$line" | encode -q --any-tokenizer -m "$model" --pooling mean -j 1 | ids_stream --rows text.emb
		done <"$D/ids.txt" | cmp - "$T/together"
		embed "$model" --pooling mean -j 7 | cmp - "$T/together"
		for one in cls last; do # only this token's row of the last block is computed
			[ $form != embedding_gemma2 ] || continue # its projection needs one pooling
			embed "$model" --no-normalize --pooling $one+mean | awk '{ print $1 }' >"$T/both"
			embed "$model" --no-normalize --pooling $one | awk '{ print $1 }' | cmp - "$T/both"
		done
	done
}

@test "forward: DeBERTa's pos_att_type may be one string, as in older files" {
	cp -r "$D/buckets" "$T/m"
	jq '.pos_att_type = "p2c|c2p"' "$D/buckets/config.json" >"$T/m/config.json"
	embed "$T/m" --pooling mean | within "$D/buckets.txt" 2e-6
}

@test "forward: unsupported settings are refused by key, as are training and adapters, also of late-interaction and sparse models" {
	cp -r "$D/buckets" "$T/m"
	while IFS='|' read -r change text; do
		jq "$change" "$D/buckets/config.json" >"$T/m/config.json"
		run -1 --separate-stderr embed "$T/m"
		[[ $stderr == *"encode: $T/m/config.json"*"$text"* ]] || { echo "$change: $stderr"; false; }
	done <<-E
		.share_att_key = false|'relative_attention' and 'share_att_key' must be true (DeBERTa v3)
		.relative_attention = false|'relative_attention' and 'share_att_key' must be true (DeBERTa v3)
		.pos_att_type = ["c2p"]|'pos_att_type' must have c2p and p2c
		.pos_att_type = "p2c"|'pos_att_type' must have c2p and p2c
		del(.pos_att_type)|'pos_att_type' must have c2p and p2c
		.position_biased_input = true|'position_biased_input' must be false (DeBERTa v3)
		del(.position_biased_input)|'position_biased_input' must be false (DeBERTa v3)
		.is_decoder = true|'is_decoder'
		.conv_kernel_size = 3|'conv_kernel_size'
		.embedding_size = 6|'embedding_size'
		.norm_rel_ebd = "batch_norm"|'norm_rel_ebd' is 'batch_norm'; supported are layer_norm and none
		.position_buckets = 1|'position_buckets' is 1; it must be 2 or more, and 'max_relative_positions' above half of it plus 1
		.max_relative_positions = 5|'position_buckets' is 8; it must be 2 or more, and 'max_relative_positions' above half of it plus 1
		.pooler_hidden_act = "tanh"|'pooler_hidden_act' must be gelu
	E
	cp "$D/gemma2/model.safetensors" "$T/m"
	for cap in -1 0; do
		jq ".attn_logit_softcapping = $cap" "$D/gemma2/config.json" >"$T/m/config.json"
		run -1 --separate-stderr embed "$T/m"
		[[ $stderr == *"'attn_logit_softcapping' is $cap; it must be above 0"* ]]
	done
	while IFS='|' read -r change text; do
		jq "$change" "$D/nvembed/config.json" >"$T/m/config.json"
		run -1 --separate-stderr embed "$T/m"
		[[ $stderr == *"encode: $T/m/config.json"*"$text"* ]] || { echo "$change: $stderr"; false; }
	done <<-E
		.text_config.model_type = "mistral"|'model_type' of text_config is 'mistral'; it must be 'bidir_mistral'
		del(.text_config)|'text_config' is missing
		.latent_attention_config = 3|'latent_attention_config' must be an object
		.latent_attention_config.latent_dim = 6|'latent_dim' must be 'hidden_size' of text_config, 12
		.latent_attention_config.hidden_dim = 6|'hidden_dim' must be 'hidden_size' of text_config, 12
	E
	while IFS='|' read -r model what; do
		for how in "" "--lora rank=2"; do
			run -1 --separate-stderr train -q $how --schedule constant -m "$GOLDEN/$model" -o "$T/out" < <(pairs_stream <<<"3 4	5 6")
			[[ $stderr == "train: $GOLDEN/$model: "*$what* ]] || { echo "$model: $stderr"; false; }
		done
	done <<-E
		forward/buckets|DeBERTa can encode, but not be trained, drawn or written anew
		forward/gemma2|Gemma 2 can encode, but not be trained, drawn or written anew
		forward/nvembed|NV-Embed can encode, but not be trained, drawn or written anew
		late/pylate_bert|embeds tokens (late interaction); such a model can encode, but not be trained, drawn or written anew
		sparse/bert|is a sparse encoder
	E
	run -1 --separate-stderr train -q --lora rank=2 --schedule constant -m "$GOLDEN/static/st" -o "$T/out" < <(pairs_stream <<<"3 4	5 6")
	[ "$stderr" = "train: $GOLDEN/static/st: has no blocks, hence no layers for a LoRA" ]
	run -1 --separate-stderr embed "$D/buckets" --adapter "$GOLDEN/adapter/plain"
	[[ $stderr == *"$D/buckets: is a DeBERTa; adapters of such a model are not supported"* ]]
	[ ! -e "$T/out" ]
}
