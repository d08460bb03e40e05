#!/usr/bin/env bats
load helper
load families

# slow

NAMES="bert roberta xlm-roberta camembert distilbert nomic_bert modernbert gte qwen3 olmoe qwen2_moe deepseek nomic_moe bert_tokens mpnet t5 t5_whole jina_bert jina_bert_code"
NAMES="$NAMES qwen2 mistral ministral3 llama eurobert ultrabert gemma gemma3_text umt5 electra ernie albert"

# Hidden states and router logits are within 1e-4, embeddings within 1e-5, gradients within 1e-4 of each parameter's greatest;
# every text has the same bits alone and in a batch, for lengths up to 2,048.
# bats test_tags=plain
@test "families: BERT agrees with transformers" { agrees bert; }
# bats test_tags=plain
@test "families: RoBERTa agrees; its positions begin after the padding id" { agrees roberta; }
# bats test_tags=plain
@test "families: XLM-RoBERTa agrees" { agrees xlm-roberta; }
# bats test_tags=plain
@test "families: CamemBERT agrees" { agrees camembert; }
# bats test_tags=plain
@test "families: DistilBERT agrees" { agrees distilbert; }
# bats test_tags=plain
@test "families: NomicBERT agrees; its rotary base is scaled for long texts" { agrees nomic_bert; }
# bats test_tags=plain
@test "families: ModernBERT agrees, within and beyond its window" { agrees modernbert; }
# bats test_tags=plain
@test "families: GTE v1.5 agrees with torch" { agrees gte; }
# bats test_tags=plain
@test "families: Qwen3 agrees" { agrees qwen3; }
# bats test_tags=plain
@test "families: OLMoE agrees" { agrees olmoe; }
# bats test_tags=plain
@test "families: Qwen2-MoE agrees, with and without experts in a layer" { agrees qwen2_moe; }
# bats test_tags=plain
@test "families: DeepSeekMoE agrees with torch" { agrees deepseek; }
# bats test_tags=plain
@test "families: Qwen2 agrees with a sliding window in one layer" { agrees qwen2; }
# bats test_tags=plain
@test "families: Mistral agrees, within and beyond its window" { agrees mistral; }
# bats test_tags=plain
@test "families: Llama agrees, with biases and llama3's rotary scaling" { agrees llama; }
# bats test_tags=plain
@test "families: EuroBERT and its masked-language-model head agree" { agrees eurobert; }
# bats test_tags=plain
@test "families: UltraBERT agrees, in either spelling" {
	agrees ultrabert
	copy ultrabert
	cp "$MODEL/config.5.json" "$MODEL/config.json"
	copy_agrees ultrabert
	agrees_with ultrabert expected 'del(.attention_windows) | .sliding_window = 4'
	agrees_with ultrabert expected 'del(.attention_windows) | .sliding_window = 4 | .layer_types = ["sliding_attention", "sliding_attention", "full_attention"]'
	agrees_with ultrabert expected '.attention_windows = [4, 9, 0] | .rope_theta[0] = 7'
	run ! agrees_with ultrabert expected '.rope_theta[1] = 7'
	run ! agrees_with ultrabert expected '.rope_theta[2] = 7'
	run ! agrees_with ultrabert expected '.attention_windows[2] = 4'
	refusals ultrabert <<-'E'
		s/"attention_windows": \[/"attention_windows": [4,/| 'attention_windows' must list the window of each of 3 layers
		s/"rope_theta": \[/"rope_theta": [4,/| 'rope_theta' must list the base of each of 3 layers
		s/null/"x"/| 'attention_windows' must hold whole numbers and null
		s/5000.0/"x"/| 'rope_theta' must hold numbers
	E
}
# bats test_tags=plain
@test "families: Ministral 3 agrees, in both directions and one; it refuses texts beyond the trained length" {
	agrees ministral3
	agrees_with ministral3 causal '.is_causal = true'
	agrees_with ministral3 window '.sliding_window = 3'
	seq -s ' ' 2049 | awk '{ for (i = 1; i <= NF; i++) printf "%d ", 3 + $i % 30 }' | ids_stream text.ids >"$T/long.mts"
	run -1 --separate-stderr encode -q --any-tokenizer -m "$FAMILIES/ministral3" "$T/long.mts"
	[[ $stderr == *"2049"*"2048"* ]] || { echo "$stderr"; false; }
	refusals ministral3 <<-'E'
		s/"rope_parameters"/"rope_parameter"/| 'rope_parameters' is missing
	E
}
# bats test_tags=plain
@test "families: llama_bidirec is Llama in both directions" {
	agrees_with llama bidirectional '.is_causal = false'
	agrees_with llama bidirectional '.model_type = "llama_bidirec"'
	agrees_with qwen3 bidirectional '.model_type = "bidirectional_pplx_qwen3" | .architectures = ["PPLXQwen3Model"] | .use_bidirectional_attention = true'
	copy qwen3
	refusals qwen3 <<-'E'
		s/"model_type": "qwen3"/"model_type": "bidirectional_pplx_qwen3"/| 'architectures' has 'Qwen3ForCausalLM'; only 'PPLXQwen3Model' is supported
	E
	run ! agrees_with llama bidirectional '.model_type = "llama"'
	refusals llama <<-'E'
		s/"model_type": "llama"/"model_type": "llama_bidirec", "pooling": "last"/| 'pooling' is 'last'; only 'avg' is supported
	E
}
# bats test_tags=plain
@test "families: Gemma agrees; its gelu is the tanh approximation" {
	agrees gemma
	agrees_with gemma expected '.hidden_act = "gelu_pytorch_tanh"'
	agrees_with gemma expected 'del(.hidden_act)'
}
# bats test_tags=plain
@test "families: Gemma 3 agrees, also bidirectional as in EmbeddingGemma" { agrees gemma3_text; }
# bats test_tags=plain
@test "families: NomicBERT with experts in every second block (v2-moe) agrees with torch" { agrees nomic_moe; }
# bats test_tags=plain
@test "families: MPNet agrees up to its last position, also its masked-language-model head" { agrees mpnet; }
# bats test_tags=plain
@test "families: T5's encoder agrees with heads wider than the model and gated MLPs, also as mT5" {
	agrees t5
	copy t5
	# without these keys: mT5's default
	sed -i '/feed_forward_proj/d; /dense_act_fn/d; s/"model_type": "t5"/"model_type": "mt5"/' "$MODEL/config.json"
	copy_agrees t5
}
# bats test_tags=plain
@test "families: UMT5's encoder agrees, with a relative position table in each block" { agrees umt5; }
# bats test_tags=plain
@test "families: ELECTRA agrees, with embeddings narrower than its blocks, also its masked-language-model head" { agrees electra; }
# bats test_tags=plain
@test "families: ERNIE agrees, with a table of task embeddings" {
	agrees ernie
	model_copy "$FAMILIES/ernie" "$T/half" bf16
	model_check "$T/half" "$FAMILIES/ernie/expected.safetensors" bf16
	copy ernie
	sed -i 's/"use_task_id": true/"use_task_id": false/' "$MODEL/config.json"
	run -1 encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
	[[ "$output" == *"tensor 'ernie.embeddings.task_type_embeddings.weight' is not supported for such a model"* ]]
}
# bats test_tags=plain
@test "families: ALBERT agrees with shared blocks; upcycle refuses to add experts to it" {
	agrees albert
	model_copy "$FAMILIES/albert" "$T/saved" f32
	diff <(safetensors_list "$T/saved" | sort) <(safetensors_list "$FAMILIES/albert" | grep -v 'predictions.decoder' | sort)
	model_check "$T/saved" "$FAMILIES/albert/expected.safetensors"
	for experts in "--experts a,b" "--token-experts 2"; do
		run -1 --separate-stderr upcycle -m "$FAMILIES/albert" $experts -o "$T/out"
		[ "$stderr" = "upcycle: $FAMILIES/albert: its blocks share their weights; they cannot be changed one by one" ]
		[ ! -e "$T/out" ]
	done
	refusals albert <<-'E'
		s/"inner_group_num": 1/"inner_group_num": 2/| 'inner_group_num' is 2; it must be in 1..1
		s/"num_hidden_groups": 2/"num_hidden_groups": 6/| 'num_hidden_groups' is 6; it must be in 1..5
	E
}
# bats test_tags=plain
@test "families: a whole T5 agrees; its decoder is not read and stays in a copy" {
	agrees t5_whole
	encode -m "$FAMILIES/t5_whole" < <(echo "3 4" | ids_stream text.ids) 2>"$T/err" >"$T/out.mts"
	[ ! -s "$T/err" ]
	model_copy "$FAMILIES/t5_whole" "$T/saved" f32
	diff <(tensor_sums "$FAMILIES/t5_whole" | sort) <(tensor_sums "$T/saved" | sort)
	tensor_sums "$T/saved" | found ^decoder.
	model_check "$T/saved" "$FAMILIES/t5_whole/expected.safetensors"
}
# bats test_tags=plain
@test "families: JinaBERT agrees with torch, with GEGLU and ReGLU" {
	agrees jina_bert
	copy jina_bert
	sed -i 's/geglu/reglu/' "$MODEL/config.json"
	model_check "$MODEL" "$FAMILIES/jina_bert/reglu.safetensors"
}
# bats test_tags=plain
@test "families: JinaBERT for code agrees with torch" { agrees jina_bert_code; }
# bats test_tags=plain
@test "families: BERT with upcycled token experts agrees with torch, renormalized or not" {
	agrees bert_tokens
	copy bert_tokens
	sed -i 's/"renormalize": true/"renormalize": false/' "$MODEL/config.json"
	model_check "$MODEL" "$FAMILIES/bert_tokens/plain.safetensors"
	# renormalized by default
	sed -i '/"renormalize": false/d' "$MODEL/config.json"
	model_check "$MODEL" "$FAMILIES/bert_tokens/plain.safetensors"
}

@test "families: cls and last pooling compute one row of the last block and give the bits of all rows" {
	texts="1 16 17 33 70 130"
	for length in $texts; do seq "$length" | awk '{ print 3 + $1 * 7 % 30 }' | paste -sd' '; done |
		ids_stream text.ids >"$T/ids.mts"
	rows() { # FAMILY POOLING [OPTION]...
		encode -q -m "$FAMILIES/$1" --no-normalize --pooling "$2" "${@:3}" <"$T/ids.mts" | ids_stream --rows text.emb
	}
	for family in $NAMES; do
		for precision in f32 bf16 int8; do
			rows $family cls+last --precision $precision >"$T/both"
			paste -d' ' <(rows $family cls --precision $precision) <(rows $family last --precision $precision) |
				cmp - "$T/both" || echo "$family $precision" >>"$T/differ"
			[ "$(wc -l <"$T/both")" -eq 6 ]
		done
	done
	[ ! -e "$T/differ" ] || { cat "$T/differ"; false; }
	# int8 is calibrated with all rows of the last block, whatever the pooling
	copy bert
	echo '{"pooling_mode_cls_token": true}' >"$MODEL/1_Pooling/config.json"
	encode -q -m "$MODEL" --no-normalize --precision int8 <"$T/ids.mts" | ids_stream --rows text.emb | cmp - <(rows bert cls --precision int8)
}

@test "families: in RoBERTa and XLM-RoBERTa a padding token has its own position and is not counted in others" {
	model_check "$FAMILIES/roberta" "$FAMILIES/roberta/padded.safetensors"
	model_check "$FAMILIES/xlm-roberta" "$FAMILIES/xlm-roberta/padded.safetensors"
}

@test "families: RoBERTa, XLM-RoBERTa and CamemBERT take as many tokens as there are positions after the padding id" {
	while read -r family most; do
		for length in $most $((most + 1)); do
			seq "$length" | sed 's/.*/7/' | paste -sd' ' | ids_stream text.ids >"$T/$length.mts"
		done
		encode -q -m "$FAMILIES/$family" <"$T/$most.mts" | mts stat >"$T/stat"
		run -1 encode -q -m "$FAMILIES/$family" <"$T/$((most + 1)).mts"
		[[ "$output" == *"has $((most + 1)) tokens, more than the $most that"* ]]
	done <<-E
		roberta 512
		xlm-roberta 512
		camembert 512
		distilbert 512
	E
	# another padding id moves the positions
	copy roberta
	sed -i 's/"pad_token_id": 2/"pad_token_id": 0/' "$MODEL/config.json"
	run ! copy_agrees roberta
	run -1 encode -q -m "$MODEL" < <(seq 515 | sed 's/.*/7/' | paste -sd' ' | ids_stream text.ids)
	[[ "$output" == *"more than the 514 that"* ]]
	# the default padding id is 1
	copy xlm-roberta
	sed -i '/"position_embedding_type"/d; s/"pad_token_id": 1,/"use_cache": false/' "$MODEL/config.json"
	copy_agrees xlm-roberta
}

@test "families: Gemma 3 is causal, or bidirectional with a window to both sides, as config.json says" {
	agrees_with gemma3_text causal '.use_bidirectional_attention = false'
	agrees_with gemma3_text causal 'del(.use_bidirectional_attention)'
	agrees_with gemma3_text wide '.use_bidirectional_attention = false | .is_causal = false'
	agrees_with gemma3_text expected '.sliding_window = 7' # the window to one side is half of it
	agrees_with gemma3_text expected 'del(.sliding_window_pattern) |
		.layer_types = ["sliding_attention", "sliding_attention", "full_attention"]'
	# with is_causal false transformers makes the window wider by one
	agrees_with gemma3_text expected '.is_causal = false | .sliding_window = 4'
}
@test "families: bidirectional windows of Qwen2 and Mistral are wider by one; layer_types; no window" {
	agrees_with qwen2 bidirectional '.is_causal = false'
	agrees_with qwen2 expected 'del(.max_window_layers) | .layer_types = ["full_attention", "sliding_attention"]'
	agrees_with mistral global '.sliding_window = null'
	agrees_with mistral global '.sliding_window = 4096'
	agrees_with mistral global 'del(.sliding_window)'
	for none in '.use_sliding_window = false' '.sliding_window = null' 'del(.max_window_layers)' \
		'del(.sliding_window)' '.max_window_layers = 2' '.layer_types = ["full_attention", "full_attention"]'; do
		copy qwen2
		jq "$none" "$FAMILIES/qwen2/config.json" >"$MODEL/config.json"
		encode -q -m "$MODEL" < <(seq -s ' ' 39 | ids_stream text.ids) | ids_stream --rows text.emb
	done | sort | uniq -c | awk 'END { exit !(NR == 1 && $1 == 6) }'
}
@test "families: rotary positions scaled by yarn agree" {
	yarn='"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64'
	agrees_with llama yarn ".rope_scaling = {$yarn}"
	agrees_with llama yarn ".rope_scaling = null | .rope_parameters = {\"rope_theta\": 500.0, $yarn}"
	agrees_with llama yarn ".original_max_position_embeddings = 64 | .rope_scaling = {${yarn/64/99}}"
	own='"beta_fast": 9.0, "beta_slow": 1.7, "truncate": false'
	agrees_with llama yarn_set ".rope_scaling = {$yarn, $own, \"mscale\": 1.3, \"mscale_all_dim\": 0.6}"
	agrees_with llama yarn_set ".rope_scaling = {$yarn, $own, \"attention_factor\": 1.0895888}"
	for factor in '"factor": 4,' ''; do # the default factor is 2048 / 512
		jq ".rope_scaling = {\"type\": \"yarn\", $factor \"original_max_position_embeddings\": 512}" \
			"$FAMILIES/llama/config.json" >"$MODEL/config.json"
		encode -q -m "$MODEL" < <(seq -s ' ' 39 | ids_stream text.ids) | ids_stream --rows text.emb
	done | sort | uniq -c | awk 'END { exit !(NR == 1 && $1 == 2) }'
}

@test "families: a decoder that config.json makes bidirectional is pooled by the mean" {
	while read -r edit; do
		copy qwen3
		sed -i "$edit" "$MODEL/config.json"
		model_check "$MODEL" "$FAMILIES/qwen3/bidirectional.safetensors"
		rm "$MODEL/modules.json"
		encode -m "$MODEL" < <(echo "3 4" | ids_stream text.ids) 2>"$T/err" >"$T/out.mts"
		grep -q "mean pooling is assumed" "$T/err"
	done <<-E
		s/{/{"is_causal": false,/
		s/{/{"use_bidirectional_attention": true,/
	E
	copy qwen3
	sed -i 's/{/{"is_causal": true, "use_bidirectional_attention": null,/' "$MODEL/config.json"
	copy_agrees qwen3
}

@test "families: an untied output matrix of a masked-language-model head is trained and saved" {
	agrees bert_mlm
	copy bert_mlm
	# without the key the file decides: the two matrices differ
	sed -i '/"pad_token_id"/s/,$//; /"tie_word_embeddings"/d' "$MODEL/config.json"
	copy_agrees bert_mlm
	model_copy "$MODEL" "$T/saved" f32
	model_check "$T/saved" "$FAMILIES/bert_mlm/expected.safetensors"
	grep -q '"tie_word_embeddings": false' "$T/saved/config.json"
	# a difference in the last of 320 values is enough; equal matrices, or a missing one, are tied
	data=$(($(od -An -tu8 -N8 "$MODEL/model.safetensors") + 8))
	for bytes in 1276 1280; do
		dd if="$FAMILIES/bert_mlm/model.safetensors" of="$MODEL/model.safetensors" bs=1 skip=$((data + 4288)) \
			seek=$((data + 10144)) count=$bytes conv=notrunc status=none
		model_copy "$MODEL" "$T/$bytes" f32
	done
	grep -qa 'decoder.weight"' "$T/1276/model.safetensors"
	run ! grep -qa 'decoder.weight"' "$T/1280/model.safetensors"
	model_copy "$FAMILIES/modernbert" "$T/tied" f32
	run ! grep -qa '"decoder.weight"' "$T/tied/model.safetensors"
	run ! grep -q tie_word_embeddings "$T/tied/config.json"
}

@test "families: a tensor that embeddings may depend on is refused, a head for another task is ignored" {
	copy olmoe
	encode -m "$MODEL" < <(echo "3 4" | ids_stream text.ids) 2>"$T/err" >"$T/out.mts"
	[ ! -s "$T/err" ]
	for name in linear1 my.head; do # names of as many bytes as lm_head
		sed "s/\"lm_head.weight\"/\"$name.weight\"/" "$FAMILIES/olmoe/model.safetensors" >"$MODEL/model.safetensors"
		run -1 encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
		[ "$output" = "encode: $MODEL/model.safetensors: tensor '$name.weight' is not supported for such a model, and embeddings may depend on it; take it out if they do not" ]
	done
}

@test "families: weights stored as bf16 are used without further rounding" {
	# the expected embeddings are those of the rounded weights, so the tolerance is the same 1e-4
	for family in $NAMES; do
		model_copy "$FAMILIES/$family" "$T/$family" bf16
		[ $((2 * $(stat -c %s "$T/$family/model.safetensors"))) -lt \
			$((3 * $(stat -c %s "$FAMILIES/$family/model.safetensors") / 2)) ]
		model_check "$T/$family" "$FAMILIES/$family/expected.safetensors" bf16
	done
}

# bats test_tags=plain
@test "families: config.json as transformers 5 writes it gives the same model" {
	for family in $(printf '%s\n' $NAMES | thin 3); do
		[ -e "$FAMILIES/$family/config.5.json" ] || continue
		copy "$family"
		mv "$MODEL/config.5.json" "$MODEL/config.json"
		copy_agrees "$family"
	done
}

# bats test_tags=plain
@test "families: other layouts of the same weights are recognised" {
	copy nomic_bert
	other_header native.header
	renamed_agrees nomic_bert
	copy gte
	other_header unpacked.header
	sed -i 's/"pack_qkv": true/"pack_qkv": false/' "$MODEL/config.json"
	renamed_agrees gte
	copy olmoe
	mv "$MODEL/stacked.safetensors" "$MODEL/model.safetensors"
	renamed_agrees olmoe
}

@test "families: prefixes that checkpoints put before tensor names are recognised" {
	copy modernbert
	# as many bytes, so that the header keeps its size
	sed -i 's/"model\./      "/g' "$MODEL/model.safetensors"
	renamed_agrees modernbert
}

@test "families: changed values in config.json change the embeddings" {
	while read -r family edit; do
		copy "$family"
		sed -i "$edit" "$MODEL/config.json"
		run -1 cmp -s "$MODEL/config.json" "$FAMILIES/$family/config.json"
		run ! copy_agrees "$family"
		[[ "$output" == *"BAD"* ]]
	done < <(thin 5 <<-E
		modernbert s/"local_attention": 8/"local_attention": 10/
		modernbert s/"global_attn_every_n_layers": 3/"global_attn_every_n_layers": 4/
		modernbert s/"local_rope_theta": 10000.0/"local_rope_theta": 20000.0/
		gte s/"factor": 2.0/"factor": 2.5/
		gte s/"gelu"/"gelu_new"/
		nomic_bert s/"rotary_scaling_factor": 2/"rotary_scaling_factor": null/
		nomic_bert s/"max_trained_positions": 16/"max_trained_positions": 18/
		qwen3 s/"rope_theta": 1000000/"rope_theta": 10000/
		olmoe s/"norm_topk_prob": false/"norm_topk_prob": true/
		nomic_moe s/"moe_normalize_expert_weights": false/"moe_normalize_expert_weights": true/
		nomic_moe s/"moe_top_k": 2/"moe_top_k": 3/
		bert_tokens s/"top": 2/"top": 3/
		olmoe s/"num_experts_per_tok": 2/"num_experts_per_tok": 3/
		qwen2_moe s/"norm_topk_prob": true/"norm_topk_prob": false/
		deepseek s/"rms_norm_eps": 1e-06/"rms_norm_eps": 0.01/
		mpnet s/"layer_norm_eps": 1e-05/"layer_norm_eps": 0.01/
		t5 s/"relative_attention_max_distance": 40/"relative_attention_max_distance": 41/
		t5 s/"gelu_new"/"gelu"/
		t5 s/"layer_norm_epsilon": 1e-06/"layer_norm_epsilon": 0.01/
		t5_whole s/{/{"relative_attention_max_distance": 127,/
		qwen2 s/"sliding_window": 5/"sliding_window": 4/
		qwen2 s/"max_window_layers": 1/"max_window_layers": 0/
		mistral s/"sliding_window": 4/"sliding_window": 5/
		llama s/"original_max_position_embeddings": 128/"original_max_position_embeddings": 64/
		llama s/"factor": 8.0/"factor": 4.0/
		gemma s/"gelu"/"relu"/
		gemma s/"rope_theta": 500.0/"rope_theta": 700.0/
		gemma3_text s/"sliding_window": 6/"sliding_window": 8/
		gemma3_text s/"query_pre_attn_scalar": 10/"query_pre_attn_scalar": 8/
		gemma3_text s/"rope_local_base_freq": 10000.0/"rope_local_base_freq": 20000.0/
		gemma3_text s/"rope_theta": 1000000.0/"rope_theta": 20000.0/
		gemma3_text s/"factor": 2.0/"factor": 3.0/
		gemma3_text s/"sliding_window_pattern": 3/"sliding_window_pattern": 2/
		gemma3_text s/"gelu_pytorch_tanh"/"gelu"/
	E
	)
}

@test "families: NomicBERT without a scaling factor keeps its rotary base for long texts" {
	for trained in 16 18; do
		copy nomic_bert
		sed -i "s/\"rotary_scaling_factor\": 2/\"rotary_scaling_factor\": null/; s/\"max_trained_positions\": 16/\"max_trained_positions\": $trained/" \
			"$MODEL/config.json"
		seq -s ' ' 39 | ids_stream text.ids | encode -q -m "$MODEL" | mts to jsonl >"$T/$trained"
	done
	cmp "$T/16" "$T/18"
}

@test "families: impossible sizes and heads are refused with file and key" {
	refusals modernbert <<-'E'
		s/"num_attention_heads": 2/"num_attention_heads": 3/| 'num_attention_heads' is 3; it must divide the width of the model, 16
		s/"num_attention_heads": 2/"num_attention_heads": 16/| rotary positions need an even head size, not 1
		s/"num_hidden_layers": 4/"num_hidden_layers": 0/| 'num_hidden_layers' is 0; it must be in 1..256
		s/"hidden_size": 16/"hidden_size": -16/| 'hidden_size' is -16; it must be in 1..65536
		s/"hidden_size": 16/"hidden_size": "16"/| 'hidden_size' is a string; it must be an integer
		s/"vocab_size": 40,//| 'vocab_size' is missing
		s/"local_attention": 8/"local_attention": 1/| 'local_attention' is 1; it must be in 2..
		s/"norm_eps": 1e-05/"norm_eps": 0/| the epsilon of the norms is 0
		s/"global_rope_theta": 160000.0/"global_rope_theta": 1/| the rotary base is 1; it must be above 1
		s/"global_attn_every_n_layers": 3/"global_attn_every_n_layers": 0/| 'global_attn_every_n_layers' is 0; it must be in 1..256
		s/{/{"layer_types": ["full_attention"],/| 'layer_types' must name the type of each of 4 layers
		s/{/{"layer_types": ["full_attention", 1, "linear", 2],/| 'layer_types' may hold 'full_attention' and 'sliding_attention'
	E
	refusals qwen3 <<-'E'
		s/"num_key_value_heads": 2/"num_key_value_heads": 3/| 4 attention heads cannot share 3 key/value heads
		s/"num_key_value_heads": 2/"num_key_value_heads": 8/| 'num_key_value_heads' is 8; it must be in 1..4
		s/"head_dim": 12/"head_dim": 13/| rotary positions need an even head size, not 13
		s/"head_dim": 12/"head_dim": 0/| 'head_dim' is 0; it must be in 1..1024
	E
	refusals mpnet <<-'E'
		s/"max_position_embeddings": 514/"max_position_embeddings": 2/| 'max_position_embeddings' is 2, and positions begin at 2
		s/"relative_attention_num_buckets": 32/"relative_attention_num_buckets": 16/| 'relative_attention_num_buckets' is 16; it must be in 32..32
	E
	refusals t5 <<-'E'
		s/"relative_attention_num_buckets": 14/"relative_attention_num_buckets": 3/| 'relative_attention_num_buckets' is 3; it must be in 4..65536
		s/"relative_attention_max_distance": 40/"relative_attention_max_distance": 3/| 14 buckets of distances do not fit into a distance of 3
		s/"d_kv": 6/"d_kv": 513/| the size of an attention head is 513; it must be in 1..512
		s/"d_ff": 10,//| 'd_ff' is missing
	E
}

@test "families: impossible settings of token experts are refused" {
	refusals olmoe <<-'E'
		s/"num_experts_per_tok": 2/"num_experts_per_tok": 7/| 'num_experts_per_tok' is 7; it must be in 1..6
		s/"num_experts_per_tok": 2/"num_experts_per_tok": 0/| 'num_experts_per_tok' is 0; it must be in 1..6
		s/"num_experts": 6/"num_experts": 0/| 'num_experts' is 0; it must be in 1..1024
		s/"clip_qkv": null/"clip_qkv": 8.0/| 'clip_qkv' is not supported; it must be null
	E
	refusals qwen2_moe <<-'E'
		s/"decoder_sparse_step": 2/"decoder_sparse_step": 0/| 'decoder_sparse_step' is 0; it must be in 1..256
		/mlp_only_layers/s/\[\]/["0"]/| 'mlp_only_layers' must list layers
		/mlp_only_layers/s/\[\]/2/| 'mlp_only_layers' must list layers
		s/"moe_intermediate_size": 6,//| 'moe_intermediate_size' is missing
	E
	refusals deepseek <<-'E'
		s/"scoring_func": "softmax"/"scoring_func": "sigmoid"/| 'scoring_func' is 'sigmoid'; only 'softmax' is supported
		s/"first_k_dense_replace": 1/"first_k_dense_replace": -1/| 'first_k_dense_replace' is -1; it must be in 0..256
		s/"num_experts_per_tok": 3/"num_experts_per_tok": 8/| 'num_experts_per_tok' is 8; it must be in 1..6
	E
	refusals nomic_moe <<-'E'
		s/"moe_top_k": 2/"moe_top_k": 6/| 'moe_top_k' is 6; it must be in 1..5
		s/"num_experts": 5,//| 'num_experts' is missing
		s/"moe_every_n_layers": 2/"moe_every_n_layers": 1/| 'moe_every_n_layers' is 1; it must be in 2..256
		s/"num_shared_experts": 0/"num_shared_experts": 1/| 'num_shared_experts' is 1; it must be in 0..0
		s/"ffn_div": 1/"ffn_div": 2/| 'ffn_div' is 2; it must be in 1..1
		s/"expert_choice_router": false/"expert_choice_router": true/| 'expert_choice_router' is true; only false is supported
		s/{/{"token_experts": {},/| a model that has token experts cannot have 'token_experts'
	E
	refusals bert_tokens <<-'E'
		s/"count": 4/"count": 0/| 'count' is 0; it must be in 1..1024
		s/"top": 2/"top": 5/| 'top' is 5; it must be in 1..4
		s/"count"/"counts"/| 'counts'
		s/"renormalize": true/"renormalize": 1/| 'renormalize' is an integer; it must be a boolean
		/"layers"/,/]/s/0/2/| 'layers' of token_experts must be in 0..1
		/"layers"/,/]/s/0/1/| block 1 has token experts already
		s/"layers": \[/"layers": [], "x": [/| 'x' is not known
	E
}

@test "families: tensor names of transformers 5 beside token experts are refused" {
	copy nomic_bert
	other_header native.header
	sed -i 's/{/{"num_experts": 4, "moe_top_k": 1, "moe_every_n_layers": 2,/' "$MODEL/config.json"
	run -1 encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
	[[ "$output" == *"has the names of transformers 5, which has no token experts in such a model" ]]
}

@test "families: geglu is a gated GELU, glu a gated sigmoid" {
	cp -r "$GOLDEN/nomic_bert" "$T/model"
	embedded() { # EDIT: the embedding with config.json so changed
		sed "$1" "$GOLDEN/nomic_bert/config.json" >"$T/model/config.json"
		ids_stream text.ids <"$GOLDEN/nomic_bert/ids.txt" | encode -q -m "$T/model" | ids_stream --rows text.emb
	}
	embedded '' >"$T/silu"
	embedded 's/"activation_function": "swiglu"/"hidden_act": "silu"/' | cmp - "$T/silu"
	embedded 's/"activation_function": "swiglu"/"hidden_act": "gelu"/' >"$T/gelu"
	embedded 's/swiglu/geglu/' | cmp - "$T/gelu"
	run -1 cmp -s "$T/gelu" "$T/silu"
	embedded 's/swiglu/glu/' >"$T/sigmoid"
	run -1 cmp -s "$T/sigmoid" "$T/gelu"
	run -1 cmp -s "$T/sigmoid" "$T/silu"
}

@test "families: unsupported rotary positions are refused" {
	refusals qwen3 <<-'E'
		s/"rope_scaling": null/"rope_scaling": {"type": "longrope", "factor": 4.0}/| the rope scaling 'longrope' is not supported; supported are default, linear, dynamic, ntk, llama3 and yarn
		s/"rope_scaling": null/"rope_scaling": {"rope_type": "linear"}/| 'factor' of the rope scaling is 0; it must be in 1..1024
		s/"rope_scaling": null/"rope_scaling": {"rope_type": "linear", "factor": "2"}/| 'factor' is a string; it must be a number
		s/"rope_scaling": null/"rope_scaling": "ntk"/| is looked for in a string, not in an object
		s/{/{"rope_parameters": {"rope_type": "llama4", "rope_theta": 5e5},/| the rope scaling 'llama4' is not supported
		s/{/{"rope_parameters": {"rope_type": "yarn", "factor": 0.5},/| 'factor' of the rope scaling is 0.5; it must be in 1..1024
		s/{/{"rope_parameters": {"rope_type": "yarn", "factor": 2, "beta_slow": 33},/| 'beta_fast' and 'beta_slow' of the rope scaling are 32 and 33; they must be above 0
		s/{/{"partial_rotary_factor": 0.5,/| 'partial_rotary_factor' must be 1
		s/"rope_theta": 1000000/"rope_theta": -5/| the rotary base is -5; it must be above 1
	E
	refusals llama <<-'E'
		s/"low_freq_factor": 1.0/"low_freq_factor": 4.0/| 'low_freq_factor' and 'high_freq_factor' of the rope scaling are 4 and 4; they must be above 0, and the second the greater
		s/"low_freq_factor": 1.0,//| 'low_freq_factor' and 'high_freq_factor' of the rope scaling are 0 and 4
		s/"original_max_position_embeddings": 128/"original_max_position_embeddings": 0/| 'original_max_position_embeddings' is 0; it must be 1 or more
	E
	refusals gte <<-'E'
		s/"factor": 2.0/"factor": 2.0, "mixed_b": 0.3/| 'mixed_b' of rope_scaling is not supported; it must be null
		s/"factor": 2.0/"factor": 1e9/| 'factor' of the rope scaling is 1e+09; it must be in 1..1024
		s/"logn_attention_scale": false/"logn_attention_scale": true/| 'logn_attention_scale' is true; only false is supported
		s/"position_embedding_type": "rope"/"position_embedding_type": "absolute"/| 'position_embedding_type' is 'absolute'; only 'rope' is supported
	E
	refusals nomic_bert <<-'E'
		s/"rotary_emb_base": 1000,//| 'rotary_emb_base' is missing
		s/"rotary_emb_fraction": 1.0/"rotary_emb_fraction": 0.5/| 'rotary_emb_fraction' must be 1
		s/"rotary_emb_interleaved": false/"rotary_emb_interleaved": true/| 'rotary_emb_interleaved' is true; only false is supported
		s/"rotary_emb_scale_base": null/"rotary_emb_scale_base": 512/| 'rotary_emb_scale_base' is not supported; it must be null
		s/"rotary_scaling_factor": 2/"rotary_scaling_factor": 0.5/| 'rotary_scaling_factor' is 0.5; it must be in 1..1024
		s/"n_head": 2/"n_head": 8/| dynamic rope scaling needs heads of size 4 or more, not 2
		s/"max_trained_positions": 16/"max_trained_positions": 0/| 'max_trained_positions' is 0
	E
	copy nomic_bert # with heads of 4
	sed -i 's/"n_head": 2/"n_head": 4/' "$MODEL/config.json"
	echo "3 4" | ids_stream text.ids | encode -q -m "$MODEL" | mts stat >/dev/null
	copy modernbert
	mv "$MODEL/config.5.json" "$MODEL/config.json"
	sed -i '0,/"rope_type": "default"/s//"rope_type": "linear"/' "$MODEL/config.json"
	refused "'rope_type' is 'linear'; only 'default' is supported"
}

@test "families: unsupported attention, norms and activations are refused" {
	refusals qwen3 <<-'E'
		s/{/{"layer_types": ["full_attention", "sliding_attention"],/| 'layer_types' has windows, which 'sliding_window' and 'use_sliding_window' do not
		s/{/{"layer_types": ["full_attention", "chunked_attention"],/| 'layer_types' may hold 'full_attention' and 'sliding_attention'
		s/{/{"layer_types": "sliding_attention",/| 'layer_types' must name the type of each of 2 layers
		s/"hidden_act": "silu"/"hidden_act": "xielu"/| 'hidden_act' is 'xielu'; supported are
	E
	refusals qwen2 <<-'E'
		s/"sliding_window": 5/"sliding_window": 1/| 'sliding_window' is 1; it must be in 2..
		s/"max_window_layers": 1/"max_window_layers": -1/| 'max_window_layers' is -1; it must be in 0..
	E
	for family in olmoe qwen2_moe deepseek llama eurobert; do
		refusals $family <<-'E'
			/use_sliding_window/d; s/{/{"use_sliding_window": true,/| 'use_sliding_window' is true; only false is supported
			s/{/{"layer_types": ["full_attention", "sliding_attention"],/| 'layer_types' may only hold 'full_attention'
			s/{/{"layer_types": "sliding_attention",/| 'layer_types' must list the types of layers
		E
	done
	refusals gemma3_text <<-'E'
		s/"attn_logit_softcapping": null/"attn_logit_softcapping": 50.0/| 'attn_logit_softcapping' is not supported; it must be null
		s/"final_logit_softcapping": null/"final_logit_softcapping": 30.0/| 'final_logit_softcapping' is not supported; it must be null
		s/"query_pre_attn_scalar": 10/"query_pre_attn_scalar": 0/| 'query_pre_attn_scalar' is 0; it must be above 0
		s/"sliding_window": 6/"sliding_window": null/| 'sliding_window' must not be null
		s/"sliding_window_pattern": 3/"sliding_window_pattern": 0/| 'sliding_window_pattern' is 0; it must be in 1..256
		s/"use_bidirectional_attention": true/"use_bidirectional_attention": "all"/| 'use_bidirectional_attention' is a string; it must be a boolean
		s/"model_type": "gemma3_text"/"model_type": "gemma9"/| 'model_type' is 'gemma9'; supported are albert, bert,
	E
	refusals bert <<-'E'
		s/"position_embedding_type": "absolute"/"position_embedding_type": "relative_key"/| 'position_embedding_type' is 'relative_key', which is not supported for such a model
		s/"position_embedding_type": "absolute"/"position_embedding_type": "alibi"/| 'feed_forward_type' is 'original'; supported are geglu and reglu
		s/{/{"is_decoder": true,/| 'is_decoder' is true; only false is supported
		s/{/{"quantization_config": {"load_in_4bit": true},/| quantised checkpoints are not read; use the float one
		s/"model_type": "bert"/"model_type": "gpt2"/| 'model_type' is 'gpt2'; supported are albert, bert,
	E
	refusals xlm-roberta <<-'E'
		s/"position_embedding_type": "absolute"/"position_embedding_type": "relative_key"/| 'position_embedding_type' is 'relative_key', which is not supported for such a model
		s/{/{"lora_adaptations": ["retrieval.query"],/| 'lora_adaptations' is not supported for such a model
		s/{/{"auto_map": {"AutoModel": "a--b.C"},/| 'auto_map' says that the model runs Python code of its folder, which is not supported
		s/"max_position_embeddings": 514/"max_position_embeddings": 2/| 'max_position_embeddings' is 2, and positions begin at 2
		s/"pad_token_id": 1/"pad_token_id": -1/| 'pad_token_id' is -1; it must be in 0..
		s/{/{"is_decoder": true,/| 'is_decoder' is true; only false is supported
	E
	refusals distilbert <<-'E'
		s/"n_heads": 4/"n_heads": 3/| 'n_heads' is 3; it must divide the width of the model, 8
		s/"dim": 8,//| 'dim' is missing
		s/"activation": "relu"/"activation": "mish"/| 'activation' is 'mish'; supported are
	E
	refusals jina_bert <<-'E'
		s/"geglu"/"swiglu"/| 'feed_forward_type' is 'swiglu'; supported are geglu and reglu
	E
	refusals t5 <<-'E'
		s/"gated-gelu"/"gated-mish"/; /dense_act_fn/d| 'dense_act_fn' is 'mish'; supported are
		s/"gelu_new"/"quick_gelu"/| 'dense_act_fn' is 'quick_gelu'; supported are
		s/{/{"is_decoder": true,/| 'is_decoder' is true; only false is supported
		s/"model_type": "t5"/"model_type": "longt5"/| 'model_type' is 'longt5'; supported are
	E
	refusals gte <<-'E'
		s/"layer_norm_type": "layer_norm"/"layer_norm_type": "rms_norm"/| 'layer_norm_type' is 'rms_norm'; only 'layer_norm' is supported
	E
	refusals nomic_bert <<-'E'
		s/"prenorm": false/"prenorm": true/| 'prenorm' is true; only false is supported
		s/"use_rms_norm": false/"use_rms_norm": true/| 'use_rms_norm' is true; only false is supported
		s/"causal": false/"causal": true/| 'causal' is true; only false is supported
	E
}

# bats test_tags=plain
@test "families: tensors whose shape disagrees with config.json are refused with both shapes" {
	while IFS='|' read -r family edit text; do
		copy "$family"
		sed -i "$edit" "$MODEL/config.json"
		run -1 encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
		[[ "$output" == "encode: $MODEL/model.safetensors: tensor "*"$text"* ]] || {
			echo "wanted: $text" "got: $output"
			false
		}
	done <<-'E'
		qwen3|s/"head_dim": 12/"head_dim": 8/|'layers.0.self_attn.q_proj.weight' has the shape [48, 16]; config.json asks for [32, 16]
		qwen3|s/{/{"mlp_bias": true,/|'layers.0.mlp.up_proj.bias' is missing
		gemma3_text|s/"attention_bias": false/"attention_bias": true/|'layers.0.self_attn.q_proj.bias' is missing
		qwen3|s/"num_hidden_layers": 2/"num_hidden_layers": 3/|'layers.2.self_attn.q_proj.weight' is missing
		modernbert|s/"intermediate_size": 12/"intermediate_size": 10/|'model.layers.0.mlp.Wi.weight' has the shape [24, 16]; config.json asks for [20, 16]
		olmoe|s/"num_experts": 6/"num_experts": 8/|'model.layers.0.mlp.gate.weight' has the shape [6, 16]; config.json asks for [8, 16]
		olmoe|s/"intermediate_size": 8/"intermediate_size": 6/|'model.layers.0.mlp.experts.0.up_proj.weight' has the shape [8, 16]; config.json asks for [6, 16]
		qwen2_moe|s/"decoder_sparse_step": 2/"decoder_sparse_step": 1/|'model.layers.0.mlp.gate.weight' is missing
		deepseek|s/"n_shared_experts": 2/"n_shared_experts": 3/|'model.layers.1.mlp.shared_experts.up_proj.weight' has the shape [12, 16]; config.json asks for [18, 16]
		nomic_moe|s/"num_experts": 5/"num_experts": 4/|'encoder.layers.1.mlp.router.layer.weight' has the shape [5, 16]; config.json asks for [4, 16]
		nomic_moe|s/"moe_every_n_layers": 2/"moe_every_n_layers": 3/|'encoder.layers.3.mlp.fc1.weight' is missing
		bert_tokens|s/"count": 4/"count": 5/|'encoder.layer.0.router.weight' has the shape [4, 8]; config.json asks for [5, 8]
		bert_tokens|s/"count": 4/"count": 3/|'encoder.layer.0.router.weight' has the shape [4, 8]; config.json asks for [3, 8]
		t5|s/"relative_attention_num_buckets": 14/"relative_attention_num_buckets": 16/|'encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight' has the shape [14, 3]; config.json asks for [16, 3]
		gte|s/"vocab_size": 40/"vocab_size": 41/|'embeddings.word_embeddings.weight' has the shape [40, 16]; config.json asks for [41, 16]
		gte|s/"type_vocab_size": 2/"type_vocab_size": 1/|'embeddings.token_type_embeddings.weight' has the shape [2, 16]; config.json asks for [1, 16]
	E
}

@test "families: ids outside the vocabulary and texts beyond the positions are refused with their numbers" {
	for family in $NAMES; do
		run -1 encode -q -m "$FAMILIES/$family" < <(printf '3 4\n5 40\n' | ids_stream text.ids)
		[[ "$output" == *"the token id 40 is not below the vocabulary of $FAMILIES/$family, 40"* ]]
	done
	seq 1 131 | sed 's/.*/3/' | paste -sd' ' | ids_stream text.ids >"$T/long.mts"
	run -1 encode -q -m "$FAMILIES/bert" <"$T/long.mts"
	[[ "$output" == *"131 tokens, more than the 130"* ]]
	seq 1 513 | sed 's/.*/3/' | paste -sd' ' | ids_stream text.ids >"$T/long.mts"
	run -1 encode -q -m "$FAMILIES/mpnet" <"$T/long.mts"
	[[ "$output" == *"513 tokens, more than the 512"* ]]
}

# bats test_tags=plain
@test "families: every number of threads gives the same bits" {
	for length in 3 300 130 64; do
		for ((t = 0; t < length; t++)); do
			printf '%d ' $((3 + (5 * t + t / 7) % 37))
		done
		echo
	done | ids_stream text.ids >"$T/ids.mts"
	for family in nomic_bert modernbert gte qwen3 olmoe qwen2_moe deepseek nomic_moe mpnet t5 umt5 jina_bert jina_bert_code qwen2 mistral ministral3 llama eurobert ultrabert gemma3_text; do
		encode -q -j1 -m "$FAMILIES/$family" <"$T/ids.mts" | ids_stream --rows text.emb >"$T/one"
		encode -q -j3 -m "$FAMILIES/$family" <"$T/ids.mts" | ids_stream --rows text.emb >"$T/three"
		[ "$(wc -l <"$T/one")" -eq 4 ]
		cmp "$T/one" "$T/three"
	done
}

# The gradient of a relative position table is summed by text and distance, whatever the threads.
# bats test_tags=plain
@test "families: relative position tables train the same with any number of threads, but for rounding in chunks" {
	sed -E 's/4([0-9])/1\1/g' "$GOLDEN/train/pairs.txt" | pairs_stream '{"temperature": 0.05}' >"$T/pairs.mts"
	for family in mpnet t5 umt5 jina_bert jina_bert_code; do
		learn() { # NAME OPTION...
			train -q -m "$FAMILIES/$family" -o "$T/$1" --lr 1e-2 --warmup 0 --epochs 3 "${@:2}" "$T/pairs.mts"
		}
		learn one -j 1
		learn three -j 3
		cmp "$T/one/model.safetensors" "$T/three/model.safetensors"
		learn pieces --tokens 30
		paste "$T/one.log.tsv" "$T/pieces.log.tsv" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF / 2; i++) at[$i] = i; next }
			{ for (name in at) if (name == "loss" || name == "gradient_norm") {
				a = $at[name]; b = $(at[name] + NF / 2); d = a < b ? b - a : a - b
				if (d > 1e-3 * a) { print name, a, b; bad = 1 } } } END { exit bad || NR < 4 }'
		join <(tensor_sums "$T/one" | sort) <(tensor_sums "$FAMILIES/$family" | sort) | awk '$2 != $3 { print $1 }' >"$T/moved"
		[ -s "$T/moved" ]
		[[ $family = jina_bert* ]] || grep -q relative_attention_bias "$T/moved"
		rm -r "$T"/{one,three,pieces}
	done
}

@test "families: a T5 encoder has no masked-language-model head; a freshly drawn MPNet has one" {
	sed -E 's/4([0-9])/1\1/g' "$GOLDEN/train/pairs.txt" | pairs_stream >"$T/pairs.mts"
	for family in t5 t5_whole mpnet; do
		copy $family
		cp "$GOLDEN/bert/vocab.txt" "$MODEL"
		echo '{"tokenizer_class": "BertTokenizer"}' >"$MODEL/tokenizer_config.json"
		options=(-q -m "$MODEL" -o "$T/out" --from-scratch --objective mlm --steps 1 "$T/pairs.mts")
		[ $family != mpnet ] || break
		run -1 --separate-stderr train "${options[@]}"
		[[ $stderr == *"$MODEL: has no masked-language-model head to train"* ]]
	done
	train "${options[@]}"
	safetensors_list "$T/out" | found 'lm_head.dense.weight'
	safetensors_list "$T/out" | grep 'encoder.relative_attention_bias.weight' | found '32.*3'
}

@test "families: freshly drawn norms multiply by one, also if the stored weight is one less" {
	for family in gemma3_text llama; do
		model_copy "$FAMILIES/$family" "$T/$family" init 1
		safetensors_list "$T/$family" | awk -F'\t' -v one=$([ $family = llama ] && echo 1) '
			/norm/ && !/bias/ { split($3, n, ","); wrong += $4 != one * n[1]; norms++ }
			END { exit !(norms > 4 && !wrong) }'
	done
}

@test "families: Gemma 3 scales embeddings in the dtype that they are stored in" {
	model_copy "$FAMILIES/gemma3_text" "$T/half" bf16
	model_copy "$T/half" "$T/whole" f32
	encode -q -m "$T/half" < <(echo "3 4 7" | ids_stream text.ids) | ids_stream --rows text.emb >"$T/rounded"
	encode -q -m "$T/whole" < <(echo "3 4 7" | ids_stream text.ids) | ids_stream --rows text.emb >"$T/exact"
	run ! within "$T/rounded" 1e-4 <"$T/exact"
	within "$T/rounded" 1e-2 <"$T/exact"
}

@test "families: weight decay applies to matrices of more than one row" {
	printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n21 22\t24 25\n' | pairs_stream '{"temperature": 0.5}' >"$T/pairs.mts"
	copy qwen2_moe
	cp "$GOLDEN/bert/vocab.txt" "$GOLDEN/bert/tokenizer_config.json" "$MODEL"
	for decay in 0 5; do
		train -q -j 1 -m "$MODEL" -o "$T/out$decay" --lr 1e-2 --warmup 0 --schedule constant \
			--steps 1 --decay $decay "$T/pairs.mts"
		tensor_sums "$T/out$decay" | sort >"$T/sums$decay"
	done
	join "$T/sums0" "$T/sums5" | awk '$2 == $3 { print $1 }' >"$T/same"
	join "$T/sums0" "$T/sums5" | awk '{ print $1 }' |
		grep -E 'norm\.weight$|\.bias$|layernorm|shared_expert_gate|^lm_head' >"$T/wanted" # no embedding depends on lm_head
	grep -q shared_expert_gate "$T/wanted" # [1, C]
	diff "$T/same" "$T/wanted"
}
