#!/usr/bin/env bats
load helper
load eight

# Models with a LoRA for each task, in the checkpoint (jina-embeddings-v3) or in folders (jina-embeddings-v5), and
# the configuration of nomic-embed-text-v2-moe as on the Hub.

J=$GOLDEN/jina
TASKS=(retrieval.query separation text-matching)

setup() { :; } # replaces eight.bash's

# A copy of the golden folder, for changes.
copy() {
	rm -rf "$T/m"
	cp -r "$J" "$T/m"
	chmod -R u+w "$T/m"
}
config() { # FILTER: edits the copy's config.json by jq
	jq "$1" "$J/config.json" >"$T/m/config.json"
}
rename_tensors() { # FROM TO
	relabel "$J/model.safetensors" "with_entries(.key |= sub(\"$1\"; \"$2\"))" >"$T/m/model.safetensors"
	run -1 cmp -s "$T/m/model.safetensors" "$J/model.safetensors"
}
rows() { # embeddings of the golden texts, a line each
	ids_stream text.ids <"$J/ids.txt" | encode -q "$@" | ids_stream --rows text.emb
}
long_texts() { # the texts of jina.py
	local n
	for n in 1 2 127 128 129 512; do
		awk -v n="$n" 'BEGIN { for (t = 0; t < n; t++) printf "%d ", 3 + (7 * t * t + int(t / 5)) % 37; print "" }'
	done
}
mixed() { # mixed.mts: 400 texts of 2 to 22 tokens, with a task each, or none, in text.expert
	seeded_awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { n = 2 + int(21 * rand()); printf "5"; for (t = 1; t < n; t++) printf " %d", 5 + int(rand() * 35); print "" } }' |
		ids_stream text.ids >"$T/plain.mts"
	for i in {1..100}; do printf '{"text.expert": "%s"}\n' "${TASKS[@]}" ""; done |
		awk '{ print (NR * 7919) % 1009 "\t" $0 }' | sort -n | cut -f2- | mts from jsonl - >"$T/names.mts"
	mts paste "$T/plain.mts" "$T/names.mts" >"$T/mixed.mts"
}

# 1. known answers
# bats test_tags=plain
@test "jina: hidden states of all layers are the reference's, for each task and without one" {
	for task in none "${TASKS[@]}"; do
		ids_stream text.ids <"$J/ids.txt" >"$T/ids.mts"
		[ "$task" = none ] || set -- --expert "$task"
		encode -q -m "$J" "$@" --emit hs:layers=all:pool=tokens "$T/ids.mts" | mts to jsonl |
			jq -r '."text.hs"[] | flatten | @tsv' | tr '\t' ' ' >"$T/got"
		[ "$(wc -l <"$T/got")" -eq 20 ]
		within "$J/$task.txt" 1e-5 <"$T/got"
	done
}

# bats test_tags=plain
@test "jina: embeddings of texts of 1 to 512 tokens are the reference's" {
	for task in none "${TASKS[@]}"; do
		[ "$task" = none ] || set -- --expert "$task"
		{ cat "$J/ids.txt" && long_texts; } | ids_stream text.ids | encode -q -m "$J" "$@" | ids_stream --rows text.emb >"$T/got"
		[ "$(wc -l <"$T/got")" -eq 11 ]
		within "$J/$task.emb.txt" 2e-6 <"$T/got"
	done
	# no two tasks have an embedding in common
	[ "$(cat "$J"/*.emb.txt | sort -u | wc -l)" -eq 44 ]
}

# bats test_tags=plain
@test "jina: without LoRAs, in both spellings and layouts, the model agrees with torch, and learns" {
	F=$GOLDEN/families/jina_v3
	model_check "$F" "$F/expected.safetensors"
	cp -r "$F" "$T/m"
	cp "$F/config.5.json" "$T/m/config.json"
	model_check "$T/m" "$F/expected.safetensors"
	size=$(od -An -tu8 -N8 "$F/model.safetensors")
	{ cat "$F/native.header" && tail -c +$((size + 9)) "$F/model.safetensors"; } >"$T/m/model.safetensors"
	run model_check "$T/m" "$F/expected.safetensors" # gradients have other names, so only part of the checks passes
	[[ "$output" == *"ok states of all layers"*"ok folder embeddings"*"ok long texts mean"* ]]
	model_copy "$F" "$T/saved" f32
	model_check "$T/saved" "$F/expected.safetensors"
	model_copy "$F" "$T/half" bf16
	model_check "$T/half" "$F/expected.safetensors" bf16
}

# 2. tasks in one stream
# bats test_tags=plain
@test "jina: in a stream of several tasks each text has the bits of its own task, in any batch, with any number of threads" {
	mixed
	encode -q -m "$J" --tokens 1 "$T/mixed.mts" >"$T/alone.mts"
	for task in "${TASKS[@]}" ""; do
		mts rows --where "text.expert=$task" "$T/mixed.mts" | mts cat -c text.ids >"$T/some.mts"
		mts rows --where "text.expert=$task" "$T/alone.mts" | mts cat -c text.emb >"$T/wanted.mts"
		[ "$(mts to jsonl "$T/wanted.mts" | wc -l)" -eq 100 ]
		encode -q -m "$J" ${task:+--expert $task} "$T/some.mts" | mts diff "$T/wanted.mts" -
	done
	for threads in 1 2 3; do
		encode -q -j $threads -m "$J" "$T/mixed.mts" | mts diff "$T/alone.mts" -
		encode -q -j $threads -m "$J" --tokens 300 --cache 1 "$T/mixed.mts" | mts diff "$T/alone.mts" -
	done
	# a task with more tokens than are computed at a time
	for i in {1..5}; do long_texts | tail -1; done | ids_stream text.ids >"$T/long.mts"
	encode -q -m "$J" --expert separation --emit emb,hs "$T/long.mts" | ids_stream --rows text.emb | sort -u >"$T/long"
	[ "$(wc -l <"$T/long")" -eq 1 ]
	within <(tail -1 "$J/separation.emb.txt") 2e-6 <"$T/long"
	[ "$(encode -q -m "$J" "$T/mixed.mts" | mts head --json | head -1 | jq '.properties | has("gates")')" = false ]
}

@test "jina: the row's task overrides the record's, which overrides --expert" {
	for task in none separation text-matching; do
		rows -m "$J" $([ $task = none ] || echo --expert $task) >"$T/$task"
	done
	record='{"experts": {"text": "separation"}}'
	ids_stream text.ids "$record" <"$J/ids.txt" >"$T/record.mts"
	encode -q -m "$J" "$T/record.mts" | ids_stream --rows text.emb | cmp - "$T/separation"
	encode -q -m "$J" --expert text-matching "$T/record.mts" | ids_stream --rows text.emb | cmp - "$T/separation"
	printf '{"text.expert": "%s"}\n' text-matching "" text-matching "" "" | mts from jsonl - >"$T/names.mts"
	mts paste "$T/record.mts" "$T/names.mts" | encode -q -m "$J" --expert separation | ids_stream --rows text.emb >"$T/got"
	for i in 1 3; do cmp <(sed -n ${i}p "$T/got") <(sed -n ${i}p "$T/text-matching"); done
	for i in 2 4 5; do cmp <(sed -n ${i}p "$T/got") <(sed -n ${i}p "$T/none"); done
}

@test "jina: tok --task adds the task's prompt (or config.json's) and names the task for encode" {
	copy
	cp "$GOLDEN/bert/vocab.txt" "$GOLDEN/bert/tokenizer_config.json" "$T/m"
	ids() { tok -q -m "$T/m" "$@" | mts to jsonl | jq -c '."text.ids"'; }
	echo "ab c" >"$T/text.txt"
	plain=$(ids "$T/text.txt")
	with=$(ids --prompt "abc: " "$T/text.txt")
	[ "$plain" != "$with" ]
	[ "$(ids --task retrieval.query "$T/text.txt")" = "$with" ]
	[ "$(ids --task separation "$T/text.txt")" = "$plain" ]
	tok -q -m "$T/m" --task retrieval.query "$T/text.txt" | encode -q -m "$T/m" | mts cat -c text.emb >"$T/got.mts"
	tok -q -m "$T/m" --prompt "abc: " "$T/text.txt" | encode -q -m "$T/m" --expert retrieval.query |
		mts cat -c text.emb | mts diff - "$T/got.mts"
	echo '{"prompts": {"separation": "abc: ", "other": "b"}}' >"$T/m/config_sentence_transformers.json"
	[ "$(ids --task separation "$T/text.txt")" = "$with" ]
	[ "$(ids --task retrieval.query "$T/text.txt")" = "$with" ]
	dies "tok: $T/m/config_sentence_transformers.json: no prompt is called 'query'; there are: separation, other, retrieval.query, text-matching" \
		tok -m "$T/m" --task query "$T/text.txt"
	# a prompt whose name is no task has no LoRA
	tok -q -m "$T/m" --task other "$T/text.txt" >"$T/other.mts"
	dies "encode: $T/other.mts: record 1: asks for the task 'other'; $T/m has retrieval.query, separation, text-matching" \
		encode -m "$T/m" "$T/other.mts"
	run -1 encode -q -m "$T/m" --expert nothing "$T/other.mts"
	[ "$output" = "encode: $T/m: has no task 'nothing'; it has retrieval.query, separation, text-matching" ]
	run -1 encode -q -m "$T/m" --expert '*' "$T/other.mts"
	[ "$output" = "encode: $T/m: has no task '*'; it has retrieval.query, separation, text-matching" ]
}

# 3. fewer bits
# bats test_tags=plain
@test "jina: --weights int8 and reduced precisions are close, also with LoRAs" {
	for task in none "${TASKS[@]}"; do
		[ "$task" = none ] || set -- --expert "$task"
		rows -m "$J" "$@" >"$T/f32"
		for way in --weights=int8 --precision=int8 --precision=bf16; do
			rows -m "$J" "$@" $way >"$T/few"
			[ $way = --precision=bf16 ] || run ! cmp -s "$T/f32" "$T/few"
			least_cosine "$T/f32" "$T/few" | awk '$1 < 0.999 { print; exit 1 }'
		done
	done
	copy
	rows -m "$J" --expert separation --weights int8 >"$T/int8"
	rows -m "$T/m" --expert separation --weights int8 --weights-cache | cmp - "$T/int8"
	rows -m "$T/m" --expert separation --weights int8 | cmp - "$T/int8"
}

# 4. refusals
@test "jina: changed values in config.json change the embeddings" {
	while read -r filter; do
		copy
		config "$filter"
		rows -m "$T/m" --expert separation >"$T/got"
		run -1 within <(head -5 "$J/separation.emb.txt") 1e-3 <"$T/got"
	done <<-'E'
		.lora_alpha = 3
		.rotary_emb_base = 50
		.layer_norm_eps = 0.1
		.hidden_act = "relu"
		.lora_adaptations = ["separation", "retrieval.query", "text-matching"]
	E
}

@test "jina: an invalid configuration is refused by its key" {
	while IFS='|' read -r filter text; do
		copy
		config "$filter"
		run -1 --separate-stderr encode -q -m "$T/m" < <(echo "3 4" | ids_stream text.ids)
		[[ "$stderr" == "encode: $T/m/config.json"*"$text"* && ${#stderr_lines[@]} -eq 1 ]] || {
			echo "wanted: $text" "got: $stderr"
			false
		}
	done <<-'E'
		.lora_adaptations = "separation"|'lora_adaptations' must list 1 to 64 tasks
		.lora_adaptations = []|'lora_adaptations' must list 1 to 64 tasks
		.lora_adaptations = ["a", "b", "a"]|'lora_adaptations' has 'a' twice
		.lora_adaptations = ["a", "b", 3]|'lora_adaptations': a task's name must be
		.lora_adaptations = ["a", "b", "c d"]|'lora_adaptations': a task's name must be
		.lora_rank = 0|'lora_rank' is 0; it must be in 1..16384
		del(.lora_rank)|'lora_rank' is missing
		del(.lora_alpha)|'lora_alpha' is missing
		.load_trained_adapters = false|'load_trained_adapters' is false; only true is supported
		del(.rotary_emb_base)|'rotary_emb_base' is missing
		.rotary_emb_dim = 4|'rotary_emb_dim' is 4; it must be in 8..8
		.rotary_emb_interleaved = true|'rotary_emb_interleaved' is true; only false is supported
		.rotary_emb_scale_base = 512|'rotary_emb_scale_base' is not supported; it must be null
		.truncate_dim = 8|'truncate_dim' is not supported here
		.task_experts = {"names": ["a"], "layers": [0]}|a model with LoRAs for tasks cannot have 'task_experts'
		.model_type = "xlm_roberta"|'model_type' is 'xlm_roberta'; supported are
	E
}

@test "jina: unknown tensors, and tensors that contradict config.json or are not finite, are refused by name" {
	refused() { # TEXT
		run -1 --separate-stderr encode -q -m "$T/m" --expert separation < <(echo "3 4" | ids_stream text.ids)
		[[ "$stderr" == "encode: $T/m/model.safetensors: "*"$1"* && ${#stderr_lines[@]} -eq 1 ]] || {
			echo "wanted: $1" "got: $stderr"
			false
		}
	}
	copy
	config '.lora_rank = 2'
	refused "'roberta.encoder.layers.0.mixer.Wqkv.parametrizations.weight.0.lora_A' has the shape [3, 3, 16]; config.json asks for [3, 2, 16]"
	copy
	config '.lora_adaptations += ["more"]'
	refused "Wqkv.parametrizations.weight.0.lora_A' has the shape [3, 3, 16]; config.json asks for [4, 3, 16]"
	copy
	config 'del(.lora_adaptations)'
	refused ".parametrizations.weight.0.lora_B' is not supported for such a model"
	for name in 1.mlp.fc2 1.mixer.out_proj; do
		for half in A B; do
			copy
			rename_tensors "layers.$name.parametrizations.weight.0.lora_$half" "layers.$name.parametrizations.weight.0.lora_C"
			refused "layers.$name.parametrizations.weight.0.lora_$half"
		done
	done
	for name in word_embeddings token_type_embeddings; do
		copy
		rename_tensors "$name.parametrizations.weight.0.lora_B" "$name.parametrizations.weight.0.lora_C"
		refused "$name.parametrizations.weight.0.lora_B"
	done
	copy # a LoRA of a missing module
	rename_tensors roberta.pooler.dense.parametrizations.weight.0 roberta.puller.dense.parametrizations.weight.0
	refused "tensor 'roberta.puller.dense.parametrizations.weight."
	copy # a LoRA of a vector
	rename_tensors roberta.emb_ln.weight roberta.emb_ln.parametrizations.weight.original
	refused "tensor 'roberta.emb_ln.parametrizations.weight.original' is not a matrix, and cannot have a LoRA"
	copy # a half of a LoRA that is not a matrix for each task
	relabel "$J/model.safetensors" '."roberta.encoder.layers.1.mlp.fc1.parametrizations.weight.0.lora_B".shape |= [.[0] * .[1], .[2]]' >"$T/m/model.safetensors"
	refused "layers.1.mlp.fc1.parametrizations.weight.0.lora_B' has the shape [72, 3]; config.json asks for [3, 24, 3]"
	copy # a checkpoint without LoRAs
	cp "$GOLDEN/families/jina_v3/model.safetensors" "$T/m"
	refused "roberta.encoder.layers.0.mixer.Wqkv.parametrizations.weight.0.lora_A'"
	copy # NaN in B of the last layer's last matrix, in the middle task
	M=$T/m
	spoil roberta.encoder.layers.1.mlp.fc2.parametrizations.weight.0.lora_B 140 '\xff\xff\xff\xff\xff\xff\xff\xff'
	refused "tensor 'roberta.encoder.layers.1.mlp.fc2.parametrizations.weight.0.lora_B' holds values that are not finite (NaN or infinity)"
	for task in retrieval.query text-matching; do
		rows -m "$T/m" --expert $task | within <(head -5 "$J/$task.emb.txt") 2e-6
	done
}

@test "jina: training, rewriting and further adapters are refused, and leave no file" {
	cp "$GOLDEN/bert/vocab.txt" "$GOLDEN/bert/tokenizer_config.json" "$T"
	copy
	cp "$T"/vocab.txt "$T"/tokenizer_config.json "$T/m"
	cd "$T"
	printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream '{"temperature": 0.5}' >pairs.mts
	has="$T/m: has LoRAs of its own for tasks (retrieval.query, separation, text-matching);"
	anew="$has such a model can encode, but not be trained, drawn or written anew"
	dies "train: $anew" train -q -m "$T/m" -o out --steps 1 pairs.mts
	dies "train: $has it takes no others" train -q -m "$T/m" -o out --steps 1 --lora rank=2 pairs.mts
	dies "upcycle: $anew" upcycle -q --experts a,b -m "$T/m" -o out
	dies "upcycle: $anew" upcycle -q --token-experts 2 -m "$T/m" -o out
	dies "upcycle: $anew" upcycle -q --mean "$T/m" -m "$T/m" -o out
	dies "upcycle: $anew" upcycle -q --merge-lora "$GOLDEN/adapter/plain" -m "$T/m" -o out
	ids_stream text.ids <"$J/ids.txt" >ids.mts
	dies "encode: $has it takes no others" encode -q -m "$T/m" --adapter "$GOLDEN/adapter/plain" ids.mts
	mkdir -p gates/a
	cp "$GOLDEN/adapter/plain"/adapter* gates/a
	dies "encode: $has it takes no others" encode -q -m "$T/m" --gates gates ids.mts
}

# 5. the others
@test "jina: v5 is a Qwen3 with a folder of adapters, which --gates reads" {
	Q=$GOLDEN/families/qwen3
	cp -r "$Q" "$T/m"
	jq '.model_type = "jina_embeddings_v5" | .architectures = ["JinaEmbeddingsV5Model"] | .task_names = ["retrieval", "clustering"]' \
		"$Q/config.json" >"$T/m/config.json"
	mkdir -p "$T/m/adapters"/{retrieval,clustering}
	cp "$GOLDEN/adapter/qwen3"/adapter* "$T/m/adapters/retrieval"
	cp "$GOLDEN/adapter/qwen3"/adapter_model.safetensors "$T/m/adapters/clustering"
	jq '.lora_alpha = 9' "$GOLDEN/adapter/qwen3/adapter_config.json" >"$T/m/adapters/clustering/adapter_config.json"
	ids_stream text.ids <"$J/ids.txt" >"$T/ids.mts"
	embedded() { encode "$@" "$T/ids.mts" 2>"$T/err" | ids_stream --rows text.emb; }
	embedded -m "$T/m" >"$T/none"
	grep -Fx "encode: warning: $T/m: has LoRA adapters in $T/m/adapters, but none is used; choose one with --adapter" "$T/err"
	embedded -m "$Q" | cmp - "$T/none"
	embedded -m "$T/m" --adapter "$T/m/adapters/retrieval" >"$T/retrieval"
	run ! grep "none is used" "$T/err"
	embedded -m "$Q" --adapter "$GOLDEN/adapter/qwen3" | cmp - "$T/retrieval"
	run -1 cmp -s "$T/none" "$T/retrieval"
	printf '{"gate": "%s"}\n' retrieval clustering "" retrieval clustering | mts from jsonl - >"$T/names.mts"
	mts paste "$T/ids.mts" "$T/names.mts" | encode -q -m "$T/m" --gates "$T/m/adapters" | ids_stream --rows text.emb >"$T/got"
	cmp <(sed -n '1p;4p' "$T/got") <(sed -n '1p;4p' "$T/retrieval")
	cmp <(sed -n 3p "$T/got") <(sed -n 3p "$T/none")
	[ "$(sed -n 5p "$T/got")" != "$(sed -n 5p "$T/retrieval")" ]
}

@test "jina: v5-nano is a EuroBERT with mlp_bias in its configuration" {
	E=$GOLDEN/families/eurobert
	cp -r "$E" "$T/m"
	jq '.model_type = "jina_embeddings_v5" | .architectures = ["JinaEmbeddingsV5Model"] | .head_dim = 6' "$E/config.json" >"$T/m/config.json"
	model_check "$T/m" "$E/expected.safetensors"
	ids_stream text.ids <"$J/ids.txt" >"$T/ids.mts"
	encode -q -m "$E" "$T/ids.mts" | ids_stream --rows text.emb >"$T/wanted"
	encode -q -m "$T/m" "$T/ids.mts" | ids_stream --rows text.emb | cmp - "$T/wanted"
	jq 'del(.mlp_bias)' "$T/m/config.json" >"$T/m/other.json"
	mv "$T/m/other.json" "$T/m/config.json"
	run -1 --separate-stderr encode -q -m "$T/m" "$T/ids.mts"
	[[ $stderr == "encode: $T/m/model.safetensors: "*q_norm* ]]
}

@test "jina: nomic-embed-text-v2-moe opens with every key of its config.json on the Hub" {
	N=$GOLDEN/families/nomic_moe
	cp -r "$N" "$T/m"
	jq '. + {"add_pooling_layer": false, "attn_pdrop": 0.0, "auto_map": {"AutoModel":
		"nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel"}, "bos_token_id": null, "dense_seq_output": true,
		"embd_pdrop": 0.1, "eos_token_id": null, "fused_bias_fc": true, "fused_dropout_add_ln": true, "initializer_range": 0.02,
		"moe_resid_pdrop": 0.0, "pad_token_id": 1, "pad_vocab_to_multiple_of": 64, "parallel_block_tied_norm": false,
		"reorder_and_upcast_attn": false, "resid_pdrop": 0.0, "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true,
		"summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true, "summary_type": "cls_index",
		"summary_use_proj": true, "use_cache": true, "use_flash_attn": true, "use_rms_norm": null, "use_xentropy": true}' \
		"$N/config.json" >"$T/m/config.json"
	model_check "$T/m" "$N/expected.safetensors"
	while IFS='|' read -r edit text; do
		jq "$edit" "$N/config.json" >"$T/m/config.json"
		run -1 encode -q -m "$T/m" < <(echo "3 4" | ids_stream text.ids)
		[[ "$output" == "encode: $T/m/config.json"*"$text" ]]
	done <<-'E'
		.scale_attn_weights = false|'scale_attn_weights' is false; only true is supported
		.scale_attn_by_inverse_layer_idx = true|'scale_attn_by_inverse_layer_idx' is true; only false is supported
	E
}
