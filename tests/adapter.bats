#!/usr/bin/env bats
load helper

with() { # ADAPTER [MODEL] [OPTION]...: encodes the golden texts by the model with the adapter
	local adapter=$1 model=${2:-$GOLDEN/bert}
	ids_stream text.ids <"$model/ids.txt" | encode -m "$model" --adapter "$adapter" "${@:3}"
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

forget() { # FILE: removes the adapter's note of its model
	relabel "$1" . >"$T/forgotten"
	mv "$T/forgotten" "$1"
}
# Renames the weights of a NomicBERT or a GTE to transformers 5's module names, under which one matrix of the file is several.
native() { # MODEL
	relabel "$1/model.safetensors" 'def parts($names): . as {$key, $value} | ($names | length) as $n |
			(($value.data_offsets[1] - $value.data_offsets[0]) / $n) as $bytes | range($n) as $i |
			{key: ($key | sub("attn.Wqkv|attention.qkv_proj|mlp.up_gate_proj"; $names[$i])),
				value: ($value | .shape[0] /= $n | .data_offsets = [$value.data_offsets[0] + $i * $bytes,
					$value.data_offsets[0] + ($i + 1) * $bytes])};
		to_entries | map(if .key | test("attn.Wqkv|attention.qkv_proj") then
				parts(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"])
			elif .key | test("mlp.up_gate_proj") then parts(["mlp.up_proj", "mlp.gate_proj"]) else . end |
			.key |= (sub("encoder.layers?"; "layers") | sub("^emb_ln"; "embeddings.LayerNorm") |
				sub("attn.out_proj|attention.o_proj"; "self_attn.o_proj") | sub("fc11"; "up_proj") |
				sub("fc12"; "gate_proj") | sub("fc2"; "down_proj") |
				sub("norm1|attn_ln"; "post_attention_layernorm") | sub("norm2|mlp_ln"; "post_mlp_layernorm") |
				sub("lm_head.norm"; "lm_head.layer_norm"))) | from_entries'
}

@test "adapter: embeddings with alpha, a rank and alpha per module, and rsLoRA are PEFT's to 2e-6" {
	agrees plain
	agrees mixed
	run ! cmp -s "$GOLDEN/adapter/plain/embeddings.txt" "$GOLDEN/bert/embeddings.txt"
}

@test "adapter: a fused Wqkv takes an adapter, also on one layer only" {
	agrees fused nomic_bert
}

@test "adapter: Qwen3's projections, saved from the model with its language head, and ModernBERT's give PEFT's embeddings" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	while read -r case model; do
		encode -m "$GOLDEN/families/$model" --adapter "$GOLDEN/adapter/$case" --pooling mean --normalize \
			"$T/ids.mts" | ids_stream --rows text.emb |
			within "$GOLDEN/adapter/$case/embeddings.txt" 2e-6
	done <<-E
		qwen3 qwen3
		modern modernbert
	E
}

@test "adapter: tensor names may have a prefix that the model's names lack, or lack one that these have" {
	change .
	relabel "$GOLDEN/adapter/plain/adapter_model.safetensors" \
		'with_entries(.key |= sub("base_model.model.encoder"; "base_model.model.bert.encoder"))' >"$T/a/adapter_model.safetensors"
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
}

@test "adapter: target_modules is a pattern of whole names, or a list of name endings" {
	for pattern in '.*self\\.(query|value)' 'encoder\\.layer\\.\\d+\\.attention\\.self\\.(?:query|value)' all-linear; do
		change ".target_modules = \"$pattern\""
		with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	done
	for pattern in 'self\\.(query|value)' '.*self\\.(query|val)' '.*\\.query'; do
		change ".target_modules = \"$pattern\""
		refused "of the adapter is not among 'target_modules'"
	done
	change '.rank_pattern = {"q(": 4}'
	refused "adapter_config.json: expression '"
	change '.target_modules = ["self.query", "value"] | .layers_to_transform = [0, 1]'
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	# Python, too, finds the layer 1 in [0, 1.0]
	sed -i -z 's/"layers_to_transform": *\[[^]]*\]/"layers_to_transform": [0, 1.0]/' "$T/a/adapter_config.json"
	grep -q '\[0, 1.0\]' "$T/a/adapter_config.json"
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	change '.target_modules = ["uery", "value"]'
	refused "the module 'encoder.layer.0.attention.self.query' of the adapter is not among 'target_modules'"
	change '.layers_to_transform = 0'
	refused "the module 'encoder.layer.1.attention.self.query' of the adapter is not in 'layers_to_transform'"
}

@test "adapter: alpha sets the scale; alpha 0 gives the model without the adapter" {
	change '.lora_alpha = 0'
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/bert/embeddings.txt" 1e-6
	change '.alpha_pattern = {"query": 6, "value": 6} | .lora_alpha = 100'
	with "$T/a" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
}

# target_modules is all-linear, which includes the unused pooler; patterns are regular expressions; ranks differ.
@test "adapter: matrices for the pooler are accepted without a warning, whether the model has a pooler or not; also from .bin" {
	pooled() { # ADAPTER MODEL
		ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
		encode -m "$2" --adapter "$1" --pooling mean --normalize "$T/ids.mts" 2>"$T/err" | ids_stream --rows text.emb |
			within "$GOLDEN/adapter/pooled/embeddings.txt" 2e-6
		cat "$T/err"
		[ ! -s "$T/err" ]
	}
	pooled "$GOLDEN/adapter/pooled" "$GOLDEN/families/bert"
	mkdir "$T/m"
	cp -r "$GOLDEN/families/bert"/{1_Pooling,config.json,modules.json} "$T/m"
	cp "$GOLDEN/torch_file/bert/pytorch_model.bin" "$T/m"
	pooled "$GOLDEN/adapter/pooled" "$T/m"
	change . pooled
	rm "$T/a/adapter_model.safetensors"
	pooled "$T/a" "$T/m"
	# with another pattern the pooler's rank is no longer that of its tensors
	change '.rank_pattern = {"output\\.dense": 3, "^pooler\\.d.*": 1}' pooled
	run -1 --separate-stderr encode -m "$GOLDEN/families/bert" --adapter "$T/a" "$T/ids.mts"
	[[ $stderr == *"attention.output.dense.lora_A.weight' is of rank 2; adapter_config.json asks for 3" ]]
	change '.alpha_pattern = {"(query|key)": 5}' pooled
	encode -m "$GOLDEN/families/bert" --adapter "$T/a" --pooling mean --normalize "$T/ids.mts" | ids_stream --rows text.emb >"$T/other"
	run ! within "$GOLDEN/adapter/pooled/embeddings.txt" 1e-4 <"$T/other"
	# a merged file has PEFT's pooler, which other programs use
	upcycle -q -m "$T/m" --merge-lora "$GOLDEN/adapter/pooled" -o "$T/merged"
	offsets=$(head -c 9000 "$T/merged/model.safetensors" | grep -ao '"bert.pooler.dense.weight":{[^}]*}' | grep -o '\[[0-9]*,[0-9]*\]}' | tr -d '[]}')
	size=$(od -An -tu8 -N8 "$T/merged/model.safetensors")
	od -An -v -w32 -tf4 -j $((8 + size + ${offsets%,*})) -N $((${offsets#*,} - ${offsets%,*})) "$T/merged/model.safetensors" |
		within "$GOLDEN/adapter/pooled/pooler.txt" 1e-6
	encode -q -m "$T/merged" --pooling mean --normalize "$T/ids.mts" | ids_stream --rows text.emb |
		within "$GOLDEN/adapter/pooled/embeddings.txt" 2e-6
	# a pair of matrices whose shapes do not fit the pooler
	change '.rank_pattern["^pooler.*"] = 8 | del(.rank_pattern["^pooler\\.d.*"])' pooled
	relabel "$GOLDEN/adapter/pooled/adapter_model.safetensors" 'with_entries(if .key | test("pooler") then .value.shape |= reverse else . end)' >"$T/a/adapter_model.safetensors"
	run -1 --separate-stderr encode -m "$T/m" --adapter "$T/a" "$T/ids.mts"
	[[ $stderr == *"'lora_B' and 'lora_A' of 'pooler.dense' make [1, 1]; the tensor 'bert.pooler.dense.weight' of $T/m is [8, 8]" ]]
}

@test "adapter: training resumes from an adapter of several ranks and keeps its ranks and frozen matrices" {
	printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream '{"temperature": 0.5}' >"$T/pairs.mts"
	train -q -j 1 -m "$GOLDEN/families/bert" --lora "$GOLDEN/adapter/pooled" -o "$T/none" --lr 1e-12 --warmup 0 --schedule constant "$T/pairs.mts"
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	encode -q -m "$GOLDEN/families/bert" --adapter "$T/none" --pooling mean --normalize "$T/ids.mts" | ids_stream --rows text.emb |
		within "$GOLDEN/adapter/pooled/embeddings.txt" 2e-6
	train -q -j 1 -m "$GOLDEN/families/bert" --lora "$GOLDEN/adapter/pooled" -o "$T/more" --lr 1e-2 --warmup 0 --schedule constant "$T/pairs.mts"
	diff <(safetensors_list "$T/more/adapter_model.safetensors" | cut -f 1,3 | sort) \
		<(safetensors_list "$GOLDEN/adapter/pooled/adapter_model.safetensors" | cut -f 1,3 | sort)
	join <(tensor_sums "$T/more/adapter_model.safetensors" | sort) \
		<(tensor_sums "$GOLDEN/adapter/pooled/adapter_model.safetensors" | sort) | awk '$2 == $3 { print $1 }' >"$T/still"
	diff - "$T/still" <<-'E'
		base_model.model.pooler.dense.lora_A.weight
		base_model.model.pooler.dense.lora_B.weight
	E
}

# The golden headers give the same weights the names that transformers 5 has in memory; save_pretrained writes the older names.
@test "adapter: names of transformers 5 fit checkpoints with older names, and the other way round" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	near() { # ADAPTER MODEL EXPECTED
		encode -m "$2" --adapter "$1" --pooling mean --normalize "$T/ids.mts" | ids_stream --rows text.emb | within "$3" 2e-6
	}
	for case in nomic gte; do
		family=$case
		[ $case = gte ] || family=nomic_bert
		F=$GOLDEN/families/$family
		near "$GOLDEN/adapter/native_$case" "$F" "$GOLDEN/adapter/native_$case/embeddings.txt"
		mkdir "$T/$case"
		cp -r "$F"/{1_Pooling,modules.json} "$T/$case"
		cp "$F/config.5.json" "$T/$case/config.json"
		native "$F" >"$T/$case/model.safetensors"
		near "$GOLDEN/adapter/native_$case" "$T/$case" "$GOLDEN/adapter/native_$case/embeddings.txt"
		# merged into a checkpoint with either names
		for m in "$F" "$T/$case"; do
			upcycle -q -m "$m" --merge-lora "$GOLDEN/adapter/native_$case" -o "$T/merged"
			encode -q -m "$T/merged" --pooling mean --normalize "$T/ids.mts" | ids_stream --rows text.emb |
				within "$GOLDEN/adapter/native_$case/embeddings.txt" 2e-6
		done
		# an adapter with older names fits its own checkpoint by name
		printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream '{"temperature": 0.5}' |
			train -q -j 1 -m "$F" --lora targets=all-linear,rank=2 -o "$T/old" --lr 1 --warmup 0 --schedule constant -
		encode -m "$F" --adapter "$T/old" --pooling mean --normalize "$T/ids.mts" | ids_stream --rows text.emb >"$T/wanted"
		encode -m "$F" --pooling mean --normalize "$T/ids.mts" | ids_stream --rows text.emb >"$T/base"
		run ! within "$T/base" 1e-3 <"$T/wanted"
		forget "$T/old/adapter_model.safetensors"
		near "$T/old" "$T/$case" "$T/wanted"
		# part of a packed matrix cannot be trained in that checkpoint
		run -1 --separate-stderr train -q -m "$F" --lora "$GOLDEN/adapter/native_$case" -o "$T/out" "$T/ids.mts"
		[[ $stderr == *"is not one matrix in $F, but part of '"*"train on a folder that has the adapter's names" ]]
	done
	# NomicBERT, whose older modules PEFT adapts
	mkdir "$T/tiny"
	cp -r "$GOLDEN/nomic_bert"/{1_Pooling,modules.json,config.json,ids.txt,vocab.txt,tokenizer_config.json} "$T/tiny"
	native "$GOLDEN/nomic_bert" >"$T/tiny/model.safetensors"
	with "$GOLDEN/adapter/fused" "$T/tiny" | ids_stream --rows text.emb | within "$GOLDEN/adapter/fused/embeddings.txt" 2e-6
	# the model with its masked-language-model head
	for m in "$GOLDEN/nomic_bert" "$T/tiny"; do
		printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream |
			train -q -j 1 -m "$m" -o "$T/predicts" --objective mlm --lr 1e-3 --warmup 0 --steps 3 - 2>"$T/err" || cat "$T/err"
		awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["loss"] }' "$T/predicts.log.tsv" >"$T/log.$(basename "$m")"
		safetensors_list "$T/predicts" | grep -c 'cls.predictions.transform' | grep -x 3
	done
	within "$T/log.nomic_bert" 1e-5 <"$T/log.tiny"
	cp -r "$GOLDEN/adapter/fused" "$T/wrong"
	sed -i 's/layers\.1\.attn\.Wqkv/layers.9.attn.Wqkv/g' "$T/wrong/adapter_model.safetensors"
	jq 'del(.layers_to_transform)' "$GOLDEN/adapter/fused/adapter_config.json" >"$T/wrong/adapter_config.json"
	run -1 --separate-stderr with "$T/wrong" "$T/tiny"
	[[ $stderr == *"changes the module 'encoder.layers.9.attn.Wqkv'; $T/tiny has no tensor"* ]]
}

# The reference is PEFT in double: PEFT's own float32 gradients are up to 4e-6 from it (adapter.py prints the distance), like ours.
# bats test_tags=plain
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

@test "adapter: pairs of matrices on every linear layer of every family learn, also with dropout" {
	for family in bert nomic_bert modernbert gte qwen3 olmoe qwen2_moe deepseek nomic_moe bert_tokens qwen2 mistral ministral3 llama eurobert ultrabert gemma3_text; do
		adapter_check "$GOLDEN/families/$family" all-linear "$GOLDEN/families/$family/expected.safetensors"
		adapter_check "$GOLDEN/families/$family" all-linear "$GOLDEN/families/$family/expected.safetensors" 0.2
	done
}

# bats test_tags=plain
@test "adapter: a written adapter is read back and gives the same embeddings" {
	adapter_copy "$GOLDEN/adapter/plain" "$T/copy"
	with "$T/copy" | ids_stream --rows text.emb | within "$GOLDEN/adapter/plain/embeddings.txt" 2e-6
	diff <(safetensors_list "$GOLDEN/adapter/plain/adapter_model.safetensors" | sort) \
		<(safetensors_list "$T/copy/adapter_model.safetensors" | sort)
	adapter_copy "$GOLDEN/adapter/plain" "$T/copy" # a second save replaces the adapter's folder, as it would a model's
	run -1 adapter_copy "$GOLDEN/adapter/plain" "$T"
	[[ "$output" == *"exists and is not a model folder"* ]]
}

@test "adapter: variants beyond plain LoRA are refused by their key" {
	for edit in '.peft_type = "LOHA";peft_type' '.bias = "all";bias' '.use_dora = true;use_dora' \
		'.fan_in_fan_out = true;fan_in_fan_out' '.modules_to_save = ["pooler"];modules_to_save' \
		'.lora_bias = true;lora_bias' '.layer_replication = [[0, 1]];layer_replication' \
		'.something_new = {"a": 1};something_new' '.init_lora_weights = "pissa_niter_4";init_lora_weights' \
		'.rank_pattern = 3;rank_pattern'; do
		change "${edit%;*}"
		refused "$T/a/adapter_config.json: "
		[[ $stderr == *"'${edit##*;}'"* ]]
	done
	# an unknown key is accepted if its value means none
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

@test "adapter: tensors that do not fit the model are refused with names and shapes" {
	change '.r = 5'
	refused "'base_model.model.encoder.layer.0.attention.self.query.lora_A.weight' is of rank 4; adapter_config.json asks for 5"
	change '.r = 0'
	refused "asks for 0"
	change .
	rm "$T/a/adapter_model.safetensors"
	refused "adapter_model.safetensors: No such file"
	echo "something else entirely" >"$T/a/adapter_model.bin"
	refused "adapter_model.bin: not a file of torch.save"
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

@test "adapter: the dense MLP's module is refused by a model with task experts, which each have their own" {
	printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream '{"temperature": 0.5}' |
		train -q -m "$GOLDEN/bert" --lora rank=2,targets=intermediate.dense -o "$T/a" --lr 1 --warmup 0 --schedule constant -
	forget "$T/a/adapter_model.safetensors"
	upcycle -q -m "$GOLDEN/bert" --experts one,two -o "$T/mote"
	why="'encoder.layer.0.intermediate.dense', of which each task expert of $T/mote has its own; an adapter names one of them, as in 'encoder.layer.0.intermediate.dense.experts.one'"
	run -1 with "$T/a" "$T/mote" --any-tokenizer -e two
	[[ $output == *"$why"* ]]
	cd "$T"
	dies "upcycle: $T/a/adapter_model.safetensors: changes $why" upcycle -m "$T/mote" --merge-lora "$T/a" -o out
	relabel "$T/a/adapter_model.safetensors" 'with_entries(.key |= sub("dense"; "dense.experts.two"))' >"$T/renamed"
	mv "$T/renamed" "$T/a/adapter_model.safetensors"
	jq '.target_modules = ["two"]' "$T/a/adapter_config.json" >"$T/config"
	mv "$T/config" "$T/a/adapter_config.json"
	embeds() { ids_stream text.ids <"$GOLDEN/bert/ids.txt" | encode -q --any-tokenizer -m "$T/mote" "$@" | ids_stream --rows text.emb; }
	embeds -e one >"$T/dense"
	embeds --adapter "$T/a" -e one | cmp - "$T/dense"
	run ! cmp -s "$T/dense" <(embeds --adapter "$T/a" -e two)
}

@test "adapter: values that are not finite are refused with the tensor's name" {
	change .
	printf '\0\0\300\177' | dd of="$T/a/adapter_model.safetensors" bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s "$T/a/adapter_model.safetensors") - 4))
	refused "holds values that are not finite"
}

@test "adapter: with rsLoRA the scale of a new pair is alpha / sqrt(rank)" {
	G=$GOLDEN/train
	learn() { # OPTIONS: the value of --lora
		pairs_stream '{"temperature": 0.05}' <"$G/pairs.txt" |
			train -q -j 1 -m "$G/bert" -o "$T/$1" --lr 1e-2 --warmup 0 --schedule constant --lora "$1" -
		tensor_sums "$T/$1/adapter_model.safetensors"
		tok -m "$G/bert" <<<"a small boat" | encode -m "$G/bert" --adapter "$T/$1" | ids_stream --rows text.emb
	}
	learn rank=4,alpha=8,rslora >"$T/rooted"
	learn rank=4,alpha=16 >"$T/plain"
	learn rank=4,alpha=8 >"$T/half"
	cmp "$T/rooted" "$T/plain"
	run -1 cmp -s "$T/rooted" "$T/half"
}

# PEFT and sentence-transformers save a folder that names the base model instead of containing it.
@test "adapter: -m FOLDER of an adapter opens the base model that its configuration names" {
	cp -r "$GOLDEN/bert" "$T/base"
	change ".base_model_name_or_path = \"$T/base\""
	printf 'a red boat\nthe bird flies\n' >"$T/texts"
	tok -m "$T/base" "$T/texts" >"$T/ids.mts"
	tok -m "$T/a" "$T/texts" | mts to jsonl | cmp - <(mts to jsonl "$T/ids.mts")
	encode -m "$T/base" --adapter "$T/a" "$T/ids.mts" | mts to jsonl >"$T/wanted"
	encode -m "$T/a" "$T/ids.mts" | mts to jsonl | cmp - "$T/wanted"
	run ! cmp -s <(encode -m "$T/base" "$T/ids.mts" | mts to jsonl) "$T/wanted"
	diff <(encode -m "$T/a" "$T/ids.mts" | mts head | grep -o '"gates":"[^"]*"\|"model":"[^"]*"') \
		<(encode -m "$T/base" --adapter "$T/a" "$T/ids.mts" | mts head | grep -o '"gates":"[^"]*"\|"model":"[^"]*"')
	# the base model by its name on the Hub, from the cache; in the adapter's own folder
	mkdir -p "$T/hub/models--some--base/refs" "$T/hub/models--some--base/snapshots"
	echo abc >"$T/hub/models--some--base/refs/main"
	cp -r "$T/base" "$T/hub/models--some--base/snapshots/abc"
	change '.base_model_name_or_path = "some/base"'
	HF_HUB_CACHE=$T/hub encode -m "$T/a" "$T/ids.mts" | mts to jsonl | cmp - "$T/wanted"
	cp -r "$T/base" "$T/both"
	cp "$GOLDEN/adapter/plain"/adapter_* "$T/both"
	encode -m "$T/both" "$T/ids.mts" | mts to jsonl | cmp - "$T/wanted"
	# a base model that is not found, and options that contradict the adapter, are errors
	HF_HUB_CACHE=$T/none run -1 --separate-stderr encode -m "$T/a" "$T/ids.mts"
	[ "$stderr" = "encode: $T/a: is a LoRA adapter of 'some/base', which is not a model's folder here, nor in the cache of the Hugging Face Hub; give that model with -m, and this folder with --adapter" ]
	run -1 --separate-stderr tok -m "$T/a" "$T/texts"
	[[ $stderr == "tok: $T/a: is a LoRA adapter of 'some/base', which is not a model's folder here"* ]]
	for program in "leaderboard model" "train -o $T/out" "upcycle --experts a,b -o $T/out" "train --lora rank=2 -o $T/out"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr $program -m "$T/a" < <(pairs_stream <<<$'3 5\t4 6')
		[[ $stderr == *"$T/a: is a LoRA adapter of 'some/base', not a model; 'upcycle -m some/base --merge-lora $T/a -o DIR' makes one, and 'train -m some/base --lora $T/a' goes on from it" ]]
	done
	change 'del(.base_model_name_or_path)'
	run -1 --separate-stderr encode -m "$T/a" "$T/ids.mts"
	[[ $stderr == "encode: $T/a/adapter_config.json: the adapter does not name its base model "* ]]
	change ".base_model_name_or_path = \"$T/base\""
	run -2 encode -m "$T/a" --adapter "$T/a" "$T/ids.mts"
	[[ $output == *"is a LoRA adapter itself; --adapter and --gates take adapters of the model that -m names"* ]]
}

@test "adapter: pooling follows the files of a folder saved by sentence-transformers" {
	cp -r "$GOLDEN/bert" "$T/base"
	change ".base_model_name_or_path = \"$T/base\""
	cp -r "$GOLDEN/bert"/{vocab.txt,tokenizer_config.json,modules.json} "$T/a"
	mkdir "$T/a/1_Pooling"
	jq '.pooling_mode_cls_token = true | .pooling_mode_mean_tokens = false' "$GOLDEN/bert/1_Pooling/config.json" >"$T/a/1_Pooling/config.json"
	printf 'a red boat\nthe bird flies\n' | tok -m "$T/a" >"$T/ids.mts"
	encode -m "$T/base" --adapter "$GOLDEN/adapter/plain" --pooling cls "$T/ids.mts" | ids_stream --rows text.emb >"$T/wanted"
	encode -m "$T/a" "$T/ids.mts" 2>"$T/err" | ids_stream --rows text.emb | cmp - "$T/wanted"
	[ ! -s "$T/err" ]
	# the base model's folder may lack pooling settings
	rm -r "$T/base/modules.json" "$T/base/1_Pooling"
	encode -m "$T/a" "$T/ids.mts" 2>"$T/err" | ids_stream --rows text.emb | cmp - "$T/wanted"
	[ ! -s "$T/err" ]
	# pooling also follows the adapter if -m names another model, and if the adapter is merged; adapters of one batch share one pooling
	encode -m "$GOLDEN/bert" --adapter "$T/a" "$T/ids.mts" | ids_stream --rows text.emb | cmp - "$T/wanted"
	upcycle -q -m "$T/base" --merge-lora "$T/a" -o "$T/merged"
	encode -m "$T/merged" "$T/ids.mts" | ids_stream --rows text.emb | within "$T/wanted" 2e-6
	mkdir "$T/gates"
	cp -r "$T/a" "$T/gates/one"
	run -1 --separate-stderr encode -m "$GOLDEN/bert" --gates "$T/gates" "$T/ids.mts"
	[ "$stderr" = "encode: $T/gates/one: differs from $GOLDEN/bert in 'pooling_mode'; make these alike" ]
	echo '{"prompts": {"query": "q: "}, "default_prompt_name": "query"}' >"$T/a/config_sentence_transformers.json"
	run -1 --separate-stderr tok -m "$T/a" <<<"a"
	[[ $stderr == "tok: $T/a: its default prompt is 'q: ', that of $T/base is ''"* ]]
	rm "$T/a/config_sentence_transformers.json"
	echo more >>"$T/a/vocab.txt"
	tok -m "$T/a" <<<"a" 2>"$T/err" >"$T/x.mts"
	[ "$(cat "$T/err")" = "tok: warning: $T/a: has a tokenizer that is not that of $T/base, whose is used" ]
	rm "$T/a/vocab.txt"
	echo '{"max_seq_length": 7}' >"$T/a/sentence_bert_config.json"
	tok -m "$T/a" <<<"a" 2>"$T/err" >"$T/x.mts"
	[ "$(cat "$T/err")" = "tok: warning: $T/a: takes texts of 7 tokens, $T/base of 24, which counts; give --max-length" ]
	# lengths and padding saved in tokenizer.json do not change the tokens
	rm "$T/a/sentence_bert_config.json"
	jq '.truncation = {"max_length": 24}' "$GOLDEN/static/bpe.json" >"$T/a/tokenizer.json"
	cp "$GOLDEN/static/bpe.json" "$T/base/tokenizer.json"
	tok -m "$T/a" <<<"a" 2>"$T/err" >"$T/x.mts"
	[ ! -s "$T/err" ]
	jq 'del(.truncation) | .normalizer = null | .pre_tokenizer = null' "$GOLDEN/static/bpe.json" >"$T/a/tokenizer.json"
	tok -m "$T/a" <<<"a" 2>"$T/err" >"$T/x.mts"
	grep -q "has a tokenizer that is not that of" "$T/err"
}
