#!/usr/bin/env bats
load helper
load families

# Keys of config.json that change the reference's result: each is applied or refused by name.

# embeds EDIT: the embedding of one text by the copy, its config.json edited by jq, a line of numbers
embeds() {
	jq "$1" "$FAMILIES/$FAMILY/config${SPELLING:-}.json" >"$MODEL/config.json"
	encode -q -m "$MODEL" < <(seq -s ' ' 39 | ids_stream text.ids) | ids_stream --rows text.emb
}

@test "config: layer_types of a Mistral name the layers with a sliding window" {
	agrees_with mistral layers '.layer_types = ["full_attention", "sliding_attention"]'
	agrees_with mistral layers '.model_type = "ministral" | .layer_types = ["full_attention", "sliding_attention"]'
	agrees_with mistral expected '.layer_types = ["sliding_attention", "sliding_attention"]'
	agrees_with mistral global '.layer_types = ["full_attention", "full_attention"]'
	refusals mistral <<-'E2'
		s/{/{"layer_types": ["full_attention", "sliding_attention"],/; s/"sliding_window": 4/"sliding_window": null/| 'layer_types' has windows, which 'sliding_window' and 'use_sliding_window' do not
	E2
}

@test "config: ModernBERT's window is twice sliding_window" {
	agrees_with modernbert expected 'del(.local_attention) | .sliding_window = 4'
	agrees_with modernbert expected '.local_attention = 99 | .sliding_window = 4'
}

@test "config: ModernBERT's masked-language-model head has the activation and the biases of config.json" {
	agrees_with modernbert head '.classifier_activation = "silu"'
	run ! agrees_with modernbert expected '.classifier_activation = "silu"'
	# a bias in the file is ignored if config.json says that there is none
	agrees_with modernbert no_bias '.decoder_bias = false'
	while read -r edit bias; do
		copy modernbert
		jq "$edit" "$FAMILIES/modernbert/config.json" >"$MODEL/config.json"
		model_copy "$MODEL" "$T/drawn" init 1
		[ "$(safetensors_list "$T/drawn" | grep -o '^\(head.dense\|decoder\).bias' | sort | paste -sd+)" = "$bias" ]
		rm -r "$T/drawn"
	done <<-'E2'
		. decoder.bias
		.decoder_bias=false|.classifier_bias=true head.dense.bias
		.classifier_bias=true decoder.bias+head.dense.bias
	E2
}

@test "config: MPNet's padding id is 1 whatever pad_token_id is" {
	model_check "$FAMILIES/mpnet" "$FAMILIES/mpnet/padded.safetensors"
	for number in 0 2 null; do
		agrees_with mpnet expected ".pad_token_id = $number"
		agrees_with mpnet padded ".pad_token_id = $number"
	done
	run -1 encode -q -m "$MODEL" < <(seq 513 | sed 's/.*/7/' | paste -sd' ' | ids_stream text.ids)
	[[ "$output" == *"more than the 512 that"* ]]
}

@test "config: a T5 encoder uses its own embeddings if the file has them" {
	agrees t5_own
	# a copy has them under their own name
	model_copy "$FAMILIES/t5_own" "$T/saved" f32
	safetensors_list "$T/saved" | found '^encoder.embed_tokens.weight'
	diff <(tensor_sums "$FAMILIES/t5_own" | sort) <(tensor_sums "$T/saved" | sort) # the decoder's are unchanged
	model_check "$T/saved" "$FAMILIES/t5_own/expected.safetensors"
	# if both are equal, a copy has the shared ones only
	copy t5_own
	dd if="$FAMILIES/t5_own/model.safetensors" of="$MODEL/model.safetensors" bs=1 count=$((40 * 8 * 4)) \
		skip="$(tensor_offset "$MODEL/model.safetensors" encoder.embed_tokens.weight)" \
		seek="$(tensor_offset "$MODEL/model.safetensors" shared.weight)" conv=notrunc status=none
	model_copy "$MODEL" "$T/equal" f32
	safetensors_list "$T/equal" | found '^shared.weight'
	run ! grep -qa 'embed_tokens' "$T/equal/model.safetensors"
	run model_check "$MODEL" "$FAMILIES/t5_own/expected.safetensors"
	[[ "$output" == *"ok folder embeddings"* ]]
}

@test "config: T5's activations; is_gated_act that contradicts the weights is refused" {
	agrees_with t5 silu '.feed_forward_proj = "gated-silu" | del(.dense_act_fn)'
	agrees_with t5 silu '.dense_act_fn = "silu"'
	copy t5
	sed -i 's/"is_gated_act": true/"is_gated_act": false/' "$MODEL/config.json"
	run -1 encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
	[[ "$output" == *"tensor 'encoder.block.0.layer.1.DenseReluDense.wi.weight' is missing"* ]]
}

@test "config: a size may have its family's key or the common one; two keys that differ are refused" {
	agrees_with distilbert expected 'del(.n_layers, .dim, .n_heads) | .num_hidden_layers = 3 | .hidden_size = 8 | .num_attention_heads = 4'
	agrees_with t5 expected 'del(.num_layers, .d_kv) | .num_hidden_layers = 2 | .head_dim = 6'
	refusals distilbert <<-'E2'
		s/{/{"num_hidden_layers": 1,/| 'num_hidden_layers' is 1, and 'n_layers' is 3
		s/{/{"num_attention_heads": 2,/| 'num_attention_heads' is 2, and 'n_heads' is 4
	E2
	refusals t5 <<-'E2'
		s/{/{"num_hidden_layers": 1,/| 'num_hidden_layers' is 1, and 'num_layers' is 2
	E2
	refusals nomic_bert <<-'E2'
		s/{/{"num_hidden_layers": 1,/| 'num_hidden_layers' is 1, and 'n_layer' is 2
	E2
}

@test "config: rope_scaling overrides rope_parameters; a missing rope_theta gets the reference's default" {
	yarn='{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}'
	agrees_with llama yarn ".rope_scaling = $yarn | .rope_parameters = {\"rope_type\": \"linear\", \"factor\": 3, \"rope_theta\": 77}"
	agrees_with llama yarn ".rope_scaling = {} | .rope_parameters = $yarn"
	agrees_with gemma3_text expected '.rope_parameters = {"full_attention": {"rope_type": "default", "rope_theta": 1e6}}'
	FAMILY=gte SPELLING=.5
	copy gte
	embeds '.rope_parameters = {"rope_type": "default"}' >"$T/default"
	embeds '.rope_parameters = {"rope_type": "default", "rope_theta": 160000}' | cmp - "$T/default"
	run ! cmp -s "$T/default" <(embeds '.rope_parameters = {"rope_type": "default", "rope_theta": 10000}')
}

@test "config: models without a table of positions take texts up to max_seq_length" {
	for family in qwen3 modernbert jina_bert gte; do
		copy $family
		sed -i 's/"max_position_embeddings": 2048/"max_position_embeddings": 100/' "$MODEL/config.json"
		run ! copy_agrees $family
		[[ "$output" == *"127 tokens, more than the 100"* ]]
		echo '{"max_seq_length": 2048, "do_lower_case": false}' >"$MODEL/sentence_bert_config.json"
		copy_agrees $family
		# up to the limit, and no longer
		echo '{"max_seq_length": 128}' >"$MODEL/sentence_bert_config.json"
		seq 129 | sed 's/.*/3/' | paste -sd' ' | ids_stream text.ids >"$T/129.mts"
		run -1 encode -q -m "$MODEL" "$T/129.mts"
		[[ "$output" == *"129 tokens, more than the 128 that"* ]]
	done
	# the table of positions sets the limit
	copy mpnet
	echo '{"max_seq_length": 2048}' >"$MODEL/sentence_bert_config.json"
	run -1 encode -q -m "$MODEL" < <(seq 513 | sed 's/.*/3/' | paste -sd' ' | ids_stream text.ids)
	[[ "$output" == *"513 tokens, more than the 512 that"* ]]
}

@test "config: sentence_bert_config.json is read under each of its names; encode and tok refuse unknown keys" {
	copy bert
	cp "$GOLDEN"/bert/{vocab.txt,tokenizer_config.json} "$MODEL"
	echo "a text" >"$T/text"
	echo "3 4" | ids_stream text.ids >"$T/ids.mts"
	encode -q -m "$MODEL" "$T/ids.mts" | ids_stream --rows text.emb >"$T/plain"
	text='"modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}'
	# the current format and the former one
	for known in "{\"transformer_task\": \"feature-extraction\", $text}, \"module_output_name\": \"token_embeddings\"}" \
		"{$text, \"image\": {\"method\": \"get_image_features\"}}, \"module_output_name\": \"token_embeddings\"}" \
		'{"max_seq_length": 12, "do_lower_case": false, "query_length": null, "model_args": {"torch_dtype": "float32"}}'; do
		echo "$known" >"$MODEL/sentence_bert_config.json"
		encode -q -m "$MODEL" "$T/ids.mts" | ids_stream --rows text.emb | cmp - "$T/plain"
		tok -q -m "$MODEL" "$T/text" >"$T/out"
	done
	rm "$MODEL/sentence_bert_config.json"
	files=(bert albert xlnet)
	while IFS='|' read -r config message; do
		file=sentence_${files[$((++i % 3))]}_config.json
		echo "$config" >"$MODEL/$file"
		for program in "encode -q -m $MODEL $T/ids.mts" "tok -q -m $MODEL $T/text"; do
			run -1 --separate-stderr $program
			[ -z "$output" ]
			[[ "$stderr" == "${program%% *}: $MODEL/$file: $message" ]] || {
				echo "wanted: $message" "got: $stderr"
				false
			}
		done
		rm "$MODEL/$file"
	done <<-E2
		{"modality_config": {"text": {"method": "forward", "method_output_name": "pooler_output"}}, "module_output_name": "sentence_embedding"}|'method_output_name' is 'pooler_output'; only 'last_hidden_state' is supported
		{"modality_config": {"text": {"method": "get_text_features", "method_output_name": "last_hidden_state"}}}|'method' is 'get_text_features'; only 'forward' is supported
		{"modality_config": {"text": {"method": "forward", "method_output_name": ["hidden_states", "-2"]}}}|'method_output_name' is a list; only 'last_hidden_state' is supported
		{$text}, "module_output_name": "sentence_embedding"}|'module_output_name' is 'sentence_embedding'; only 'token_embeddings' is supported
		{$text, "message": {"method": "forward"}}, "module_output_name": "token_embeddings"}|'method_output_name' is ''; only 'last_hidden_state' is supported
		{$text, "message": {"method": "generate", "method_output_name": "last_hidden_state"}}, "module_output_name": "token_embeddings"}|'method' is 'generate'; only 'forward' is supported
		{"modality_config": {"image": {}}}|'modality_config' does not say what becomes of 'text'
		{"query_length": 32}|'query_length' is not supported; it must be null
		{"query_expansion": {"length": 32}}|'query_expansion' is not supported; it must be null
		{"processing_kwargs": {"text": {"max_length": 4}}}|'text' in 'processing_kwargs' is not supported
		{"config_args": {"num_hidden_layers": 1}}|'num_hidden_layers' in 'config_args' is not supported
		{"model_args": 7}|'model_args' must be an object
	E2
}

@test "config: folders of sentence-transformers' CrossEncoder are refused by encode" {
	copy bert
	for kind in CrossEncoder; do
		echo "{\"model_type\": \"$kind\"}" >"$MODEL/config_sentence_transformers.json"
		run -1 --separate-stderr encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
		[ "$stderr" = "encode: $MODEL/config_sentence_transformers.json: 'model_type' is '$kind'; only 'SentenceTransformer' is supported" ]
	done
	echo '{"model_type": "SentenceTransformer"}' >"$MODEL/config_sentence_transformers.json"
	copy_agrees bert
}

@test "config: modules.json without a Pooling gets its own message, not that of a missing file" {
	copy bert
	jq 'del(.[1])' "$FAMILIES/bert/modules.json" >"$MODEL/modules.json"
	run -0 --separate-stderr encode -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
	[[ "$stderr" == *"$MODEL: has no module Pooling in modules.json: mean pooling is assumed; --pooling says otherwise"* ]]
	[[ "$stderr" != *"has no modules.json"* ]]
}
