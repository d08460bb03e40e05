#!/usr/bin/env bats
load helper

with() { # ADAPTER [MODEL] [OPTION]...: the golden texts through the model and an adapter
	local adapter=$1 model=${2:-$GOLDEN/bert}
	ids_stream text.ids <"$model/ids.txt" | encode -m "$model" --lora "$adapter" "${@:3}"
}
agrees() { # CASE [MODEL]
	with "$GOLDEN/adapter/$1" "$GOLDEN/${2:-bert}" | ids_stream --rows text.emb |
		within "$GOLDEN/adapter/$1/embeddings.txt" 2e-6
}
change() { # FILTER: a copy of a golden adapter whose configuration is changed
	rm -rf "$T/a"
	cp -r "$GOLDEN/adapter/${2:-plain}" "$T/a"
	jq -c "$1" "$GOLDEN/adapter/${2:-plain}/adapter_config.json" >"$T/a/adapter_config.json"
}
refused() { # MESSAGE
	run -1 --separate-stderr with "$T/a"
	echo "$stderr"
	[[ $stderr == "encode: "*"$1"* ]] && [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "adapter: embeddings are PEFT's to 2e-6: rank and alpha, by module, rsLoRA" {
	agrees plain
	agrees mixed
	run ! cmp -s "$GOLDEN/adapter/plain/embeddings.txt" "$GOLDEN/bert/embeddings.txt"
}

@test "adapter: a fused Wqkv takes an adapter, of one layer" {
	agrees fused nomic_bert
}

@test "adapter: Qwen3's projections, saved from the model with its language head; ModernBERT's" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	while read -r case model; do
		encode -m "$GOLDEN/families/$model" --lora "$GOLDEN/adapter/$case" --pooling mean --normalize \
			"$T/ids.mts" | ids_stream --rows text.emb |
			within "$GOLDEN/adapter/$case/embeddings.txt" 2e-6
	done <<-E
		qwen3 qwen3
		modern modernbert
	E
}

@test "adapter: the names may have a prefix that the model lacks, and the other way round" {
	change .
	# the header is longer: written anew with its length
	header=$(od -An -tu8 -N8 "$GOLDEN/adapter/plain/adapter_model.safetensors")
	text=$(head -c $((8 + header)) "$GOLDEN/adapter/plain/adapter_model.safetensors" | tail -c +9 |
		sed 's/base_model\.model\.encoder/base_model.model.bert.encoder/g')
	{
		for i in 0 1 2 3 4 5 6 7; do printf "\\x$(printf %02x $((${#text} >> 8 * i & 255)))"; done
		printf %s "$text"
		tail -c +$((header + 9)) "$GOLDEN/adapter/plain/adapter_model.safetensors"
	} >"$T/a/adapter_model.safetensors"
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
}

@test "adapter: patterns of target_modules are not asked, lists are" {
	change '.target_modules = ".*self\\.(query|value)"'
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	change '.target_modules = ["self.query", "value"] | .layers_to_transform = [0, 1]'
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	change '.target_modules = ["uery", "value"]'
	refused "the module 'encoder.layer.0.attention.self.query' of the adapter is not among 'target_modules'"
	change '.layers_to_transform = 0'
	refused "the module 'encoder.layer.1.attention.self.query' of the adapter is not in 'layers_to_transform'"
}

@test "adapter: alpha sets the scale; of 0 the model is as without" {
	change '.lora_alpha = 0'
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/bert/embeddings.txt" 1e-6
	change '.alpha_pattern = {"query": 6, "value": 6} | .lora_alpha = 100'
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
}

# PEFT's in double: its own in float32 are up to 4e-6 from them (adapter.py prints it), as ours are.
@test "adapter: the gradient of every A and B is PEFT's to 1e-5" {
	while read -r case model; do
		adapter_check "$GOLDEN/$model" "$GOLDEN/adapter/$case" "$GOLDEN/adapter/$case/gradients.safetensors"
	done <<-E
		plain bert
		fused nomic_bert
		qwen3 families/qwen3
		modern families/modernbert
	E
}

@test "adapter: pairs on every linear layer of every family learn; with dropout too" {
	for family in bert nomic_bert modernbert gte qwen3 olmoe qwen2_moe deepseek nomic_moe bert_tokens qwen2 mistral llama eurobert gemma3_text; do
		adapter_check "$GOLDEN/families/$family" all-linear "$GOLDEN/families/$family/expected.safetensors"
		adapter_check "$GOLDEN/families/$family" all-linear "$GOLDEN/families/$family/expected.safetensors" 0.2
	done
}

@test "adapter: what is written is read again and gives the same" {
	adapter_copy "$GOLDEN/adapter/plain" "$T/copy"
	with "$T/copy" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	diff <(safetensors_list "$GOLDEN/adapter/plain/adapter_model.safetensors" | sort) \
		<(safetensors_list "$T/copy/adapter_model.safetensors" | sort)
	adapter_copy "$GOLDEN/adapter/plain" "$T/copy" # an adapter is replaced as a model is
	run -1 adapter_copy "$GOLDEN/adapter/plain" "$T"
	[[ "$output" == *"exists and is not a model folder"* ]]
}

@test "adapter: what plain LoRA does not do is refused by its key" {
	for edit in '.peft_type = "LOHA";peft_type' '.bias = "all";bias' '.use_dora = true;use_dora' \
		'.fan_in_fan_out = true;fan_in_fan_out' '.modules_to_save = ["pooler"];modules_to_save' \
		'.lora_bias = true;lora_bias' '.layer_replication = [[0, 1]];layer_replication' \
		'.something_new = {"a": 1};something_new' '.init_lora_weights = "pissa_niter_4";init_lora_weights' \
		'.rank_pattern = {"q.*": 4};rank_pattern' '.rank_pattern = 3;rank_pattern'; do
		change "${edit%;*}"
		refused "$T/a/adapter_config.json: "
		[[ $stderr == *"'${edit##*;}'"* ]]
	done
	# what is not known may be there as long as it asks for nothing
	for value in 0 0.0 '""' null false '[]' '{}'; do
		change ".something_new = $value"
		with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	done
	for value in 5 0.5 '"x"' true '[0]'; do
		change ".something_new = $value"
		refused "'something_new'"
	done
	echo '[]' >"$T/a/adapter_config.json"
	refused "$T/a/adapter_config.json: "
	rm "$T/a/adapter_config.json"
	refused "$T/a/adapter_config.json: no such file"
}

@test "adapter: tensors that do not fit are refused with names and shapes" {
	change '.r = 5'
	refused "'base_model.model.encoder.layer.0.attention.self.query.lora_A.weight' is of rank 4; adapter_config.json asks for 5"
	change '.r = 0'
	refused "asks for 0"
	change .
	rm "$T/a/adapter_model.safetensors"
	refused "adapter_model.safetensors: No such file"
	touch "$T/a/adapter_model.bin"
	refused "adapter_model.bin: pickled weights are not read; convert them to adapter_model.safetensors"
	change .
	sed -i 's/layer\.1\.attention\.self\.query\.lora_B/layer.1.attention.self.quern.lora_B/' "$T/a/adapter_model.safetensors"
	refused "tensor 'base_model.model.encoder.layer.1.attention.self.query.lora_B.weight' is missing"
	change .
	sed -i 's/lora_A\.weight/lora_E.weight/g' "$T/a/adapter_model.safetensors"
	refused "lora_E.weight' is not known; a LoRA adapter has 'base_model.model.MODULE.lora_A.weight'"
	change .
	sed -i 's/layer\.1\.attention/layer.7.attention/g' "$T/a/adapter_model.safetensors"
	refused "changes the module 'encoder.layer.7.attention.self.query'; $GOLDEN/bert has no tensor 'encoder.layer.7.attention.self.query.weight'"
	change '.target_modules = ["query", "value", "dense"]'
	sed -i 's/encoder\.layer\.1\.attention\.self\.query/x.encoder.layer.1.intermediate.dense/g' "$T/a/adapter_model.safetensors"
	refused "make [8, 8]; the tensor 'encoder.layer.1.intermediate.dense.weight' of $GOLDEN/bert is [12, 8]"
}

@test "adapter: values that are not finite are named" {
	change .
	printf '\0\0\300\177' | dd of="$T/a/adapter_model.safetensors" bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s "$T/a/adapter_model.safetensors") - 4))
	refused "holds values that are not finite"
}

@test "adapter: with rsLoRA the scale of a new pair is alpha / sqrt(rank)" {
	G=$GOLDEN/train
	learn() { # options of --lora
		pairs_stream '{"temperature": 0.05}' <"$G/pairs.txt" |
			train -q -j 1 -m "$G/bert" -o "$T/$1" --lr 1e-2 --warmup 0 --schedule constant --lora "$1" -
		tensor_sums "$T/$1/adapter_model.safetensors"
		tok -m "$G/bert" <<<"a small boat" | encode -m "$G/bert" --lora "$T/$1" | ids_stream --rows text.emb
	}
	learn rank=4,alpha=8,rslora >"$T/rooted"
	learn rank=4,alpha=16 >"$T/plain"
	learn rank=4,alpha=8 >"$T/half"
	cmp "$T/rooted" "$T/plain"
	run -1 cmp -s "$T/rooted" "$T/half"
}
