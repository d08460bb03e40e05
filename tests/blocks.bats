#!/usr/bin/env bats
load helper
load families

# bats test_tags=plain
@test "blocks: fewer blocks in another order give the embeddings of transformers" {
	while read -r family order; do
		copy "$family"
		[ ! -e "$MODEL/config.5.json" ] || mv "$MODEL/config.5.json" "$MODEL/config.json"
		upcycle -m "$MODEL" --stack "$order" -o "$T/out"
		embed "$T/out" --pooling mean >"$T/found"
		within "$GOLDEN/blocks/$family.txt" 1e-6 <"$T/found"
		[ "$(wc -l <"$T/found")" = "$(wc -l <"$GOLDEN/bert/ids.txt")" ]
	done <<-E
		bert 1,0
		qwen3 1
		gemma3_text 2,0
		mpnet 1,0
	E
}

# bats test_tags=plain
@test "blocks: all blocks in their own order give the same model, in every family" {
	for path in "$GOLDEN"/families/*/; do
		family=$(basename "$path")
		layers=$(jq '.num_hidden_layers // .n_layers // .n_layer // .num_layers' "$path/config.json")
		[ "$family" != albert ] || continue
		[ "$layers" != null ] && [ -e "$path/model.safetensors" ] || continue
		upcycle -q -m "$path" --stack "$(seq -s, 0 $((layers - 1)))" -o "$T/out"
		embed "$path" >"$T/before"
		embed "$T/out" | cmp - "$T/before"
		echo "$family" >>"$T/compared"
	done
	[ "$(wc -l <"$T/compared")" -ge 25 ]
}

# bats test_tags=plain
@test "blocks: a repeated block leaves the embeddings as they were, to the bit in pre-norm families" {
	while read -r family order; do
		upcycle -m "$FAMILIES/$family" --stack "$order" -o "$T/out"
		embed "$FAMILIES/$family" >"$T/before"
		embed "$T/out" | cmp - "$T/before"
		layers=${order//[0-9]/}
		[ "$(jq .num_hidden_layers "$T/out/config.json")" = $((${#layers} + 1)) ]
	done <<-E
		qwen3 0,1,1
		gemma 0,0,0,1
		eurobert 0,0,1,1
		modernbert 0,1,2,3,1
		qwen2_moe 0,1,2,1
	E
}

# The packaged model has 256 channels; a token's variance is within a tenth of their mean.
@test "blocks: in post-norm families a repeated block changes embeddings little, and removing it restores the model" {
	embed "$ROOT/share/models/mlm" >"$T/before"
	upcycle -m "$ROOT/share/models/mlm" --stack 0,0,1,1,1,2,2 -o "$T/out"
	embed "$T/out" >"$T/after"
	run -1 cmp -s "$T/before" "$T/after"
	paste "$T/before" "$T/after" | awk '{ d = 0; n = NF / 2; for (i = 1; i <= n; i++) d += $i * $(n + i); if (d < 0.98) { print NR, d; bad = 1 } }
		END { exit bad || !NR }'
	upcycle -m "$T/out" --stack 0,2,5 -o "$T/again"
	embed "$T/again" | cmp - "$T/before"
	jq -e '.num_hidden_layers == 3' "$T/again/config.json"
}

# Freshly drawn norms have gains of 1 and biases of 0, so a norm behind a block that adds nothing changes nothing.
@test "blocks: in post-norm families with equal gains a repeated block leaves the embeddings as they were" {
	for family in bert nomic_bert jina_bert_code distilbert; do
		model_copy "$FAMILIES/$family" "$T/drawn" init 1
		upcycle -m "$T/drawn" --stack 0,0,1,1 -o "$T/out"
		upcycle -m "$T/drawn" --stack 0,1 -o "$T/two"
		embed "$T/two" >"$T/before"
		embed "$T/out" | within "$T/before" 5e-3
	done
}

# number FILE NAME: the first value of a tensor
number() { od -An -tf4 -j "$(tensor_offset "$1" "$2")" -N4 "$1" | tr -d ' '; }
@test "blocks: in a repeated block of an expert the expert's norms pass on the first block's output" {
	upcycle -m "$GOLDEN/bert" --experts a,b --layers 1 -o "$T/mote"
	weights=$T/mote/model.safetensors
	norm=encoder.layer.1.output.LayerNorm
	for i in a b; do # 8 channels each: the greatest gain is 5 or 7
		[ $i = a ] && bytes='\0\0\240@' || bytes='\0\0\340@'
		printf "$bytes" | dd of="$weights" bs=1 seek="$(tensor_offset "$weights" $norm.experts.$i.weight)" conv=notrunc status=none
	done
	upcycle -m "$T/mote" --stack 0,1,1 -o "$T/out"
	for i in a b; do
		gains=$(od -An -v -w32 -tf4 -j "$(tensor_offset "$weights" $norm.experts.$i.weight)" -N32 "$weights")
		biases=$(od -An -v -w32 -tf4 -j "$(tensor_offset "$weights" $norm.experts.$i.bias)" -N32 "$weights")
		for made in attention.output.LayerNorm output.LayerNorm; do
			printf '%s\n' "$gains" "$biases" "$(number "$T/out/model.safetensors" encoder.layer.2.$made.experts.$i.weight)" \
				"$(number "$T/out/model.safetensors" encoder.layer.2.$made.experts.$i.bias)" | awk '
				NR == 1 { for (i = 1; i <= 8; i++) gain += $i ^ 2 / 8 }
				NR == 2 { for (i = 1; i <= 8; i++) { mean += $i / 8; square += $i ^ 2 / 8 } }
				NR == 3 { d = $1 - sqrt(gain + square - mean ^ 2) }
				NR == 4 { e = $1 - mean }
				END { exit NR != 4 || d * d > 1e-10 || e * e > 1e-10 }'
		done
	done
	a=$(number "$T/out/model.safetensors" encoder.layer.2.output.LayerNorm.experts.a.weight)
	b=$(number "$T/out/model.safetensors" encoder.layer.2.output.LayerNorm.experts.b.weight)
	awk -v a="$a" -v b="$b" 'BEGIN { exit !(b > a + 0.3 && a > 1.5) }'
}

# bats test_tags=plain
@test "blocks: a moved block keeps its token experts; a model without such blocks has no member for them" {
	upcycle -m "$GOLDEN/bert" --token-experts 2 --layers 1 -o "$T/moe"
	for order in 1,0 0,1,1 0; do
		upcycle -m "$T/moe" --stack $order -o "$T/moved"
		upcycle -m "$GOLDEN/bert" --stack $order -o "$T/dense"
		embed "$T/dense" >"$T/wanted"
		embed "$T/moved" >"$T/found"
		within "$T/wanted" 1e-6 <"$T/found"
		jq -c .token_experts.layers "$T/moved/config.json"
	done >"$T/layers"
	[ "$(paste -sd' ' "$T/layers")" = "[0] [1,2] null" ]
	upcycle -m "$GOLDEN/bert" --experts a,b --layers 1 -o "$T/mote"
	upcycle -m "$T/mote" --stack 0 -o "$T/moved"
	for file in config.json model.safetensors; do cmp "$T/moved/$file" "$T/dense/$file"; done
}

# bats test_tags=plain
@test "blocks: windows and rotary bases that config.json lists for each block move with them" {
	upcycle -m "$GOLDEN/families/ultrabert" --stack 2,0,0 -o "$T/out"
	[ "$(jq -c '[.attention_windows, .rope_theta]' "$T/out/config.json")" = '[[null,4,4],[5000,100,100]]' ]
	upcycle -m "$GOLDEN/families/ultrabert" --stack 0,0,1,1,2 -o "$T/out"
	embed "$GOLDEN/families/ultrabert" >"$T/before"
	embed "$T/out" | cmp - "$T/before"
	upcycle -m "$GOLDEN/forward/lfm2" --stack 0,0,1,2,2,3,4 -o "$T/out"
	[ "$(jq -c .layer_types "$T/out/config.json")" = '["conv","conv","conv","full_attention","full_attention","conv","full_attention"]' ]
	embed "$GOLDEN/forward/lfm2" >"$T/before"
	embed "$T/out" | cmp - "$T/before"
}

# bats test_tags=plain
@test "blocks: a repeated block learns" {
	learn() { train -q --objective mlm --lr 1e-2 "$@" <(pairs_stream <"$GOLDEN/train/pairs.txt"); }
	learn --from-scratch --steps 1 -m "$GOLDEN/train/bert" -o "$T/start"
	upcycle -m "$T/start" --stack 0,0,1 -o "$T/deep"
	learn --steps 2 -m "$T/deep" -o "$T/learned"
	upcycle -m "$T/learned" --stack 0,2 -o "$T/without"
	embed "$T/learned" >"$T/with.txt"
	run -1 cmp -s "$T/with.txt" <(embed "$T/without")
}

# bats test_tags=plain
@test "blocks: a moved block keeps its task experts" {
	upcycle -m "$GOLDEN/bert" --experts a,b --layers 1 -o "$T/mote"
	upcycle -m "$T/mote" --stack 1,0 -o "$T/moved"
	upcycle -m "$GOLDEN/bert" --stack 1,0 -o "$T/turned"
	upcycle -m "$T/turned" --experts a,b --layers 0 -o "$T/wanted"
	for file in config.json config_sentence_transformers.json; do cmp "$T/moved/$file" "$T/wanted/$file"; done
	cmp <(safetensors_list "$T/moved/model.safetensors" | sort) <(safetensors_list "$T/wanted/model.safetensors" | sort)
	embed "$T/wanted" -e b >"$T/b.wanted"
	embed "$T/moved" -e b | cmp - "$T/b.wanted"
	upcycle -m "$T/mote" --stack 0,1,1 -o "$T/twice"
	for expert in a b; do embed "$T/twice" -e $expert >"$T/$expert"; done
	cmp "$T/a" "$T/b"
	[ "$(jq -c .task_experts.layers "$T/twice/config.json")" = "[1,2]" ]
}

@test "blocks: the folder's other files stay, and a shorter model has fewer tensors" {
	upcycle -m "$GOLDEN/bert" --stack 0 -o "$T/out"
	cmp "$GOLDEN/bert/vocab.txt" "$T/out/vocab.txt"
	cmp <(jq -S .dtype,.vocab_size "$GOLDEN/bert/config.json") <(jq -S .dtype,.vocab_size "$T/out/config.json")
	run ! grep -qa 'encoder.layer.1' "$T/out/model.safetensors"
	grep -qa 'cls.predictions.transform' "$T/out/model.safetensors"
}

@test "blocks: wrong orders and unsupported models are refused by name" {
	while IFS='|' read -r family order text; do
		run -1 --separate-stderr upcycle -m "$GOLDEN/$family" --stack "$order" -o "$T/out"
		[ "$stderr" = "upcycle: $GOLDEN/$family: $text" ]
		[ ! -e "$T/out" ]
	done <<-E
		families/albert|0,1|its blocks share their weights; they cannot be changed one by one
		families/modernbert|1,0|block 1 cannot become block 0: by config.json it would have another window, rotation, norm, head or MLP
		families/qwen2|1,0|block 1 cannot become block 0: by config.json it would have another window, rotation, norm, head or MLP
		families/gemma3_text|0,2|block 2 cannot become block 1: by config.json it would have another window, rotation, norm, head or MLP
		families/deepseek|1,0|block 1 cannot become block 0: by config.json it would have another window, rotation, norm, head or MLP
		forward/embedding_gemma2|0,1,2,3|has per-layer embeddings, whose blocks cannot be chosen
	E
	# attention where full_attn_idxs says so, whatever stood there
	cp -r "$GOLDEN/forward/lfm2" "$T/by_index"
	jq '.layer_types = null | .full_attn_idxs = [2, 4]' "$GOLDEN/forward/lfm2/config.json" >"$T/by_index/config.json"
	run -1 --separate-stderr upcycle -m "$T/by_index" --stack 2,1 -o "$T/out"
	[[ $stderr == *": block 2 cannot become block 0: by config.json it would have another window"* ]]
	for list in x 2 -1 0, ,0 0,2 "$(seq -s, 300 | sed 's/[0-9]*/0/g')"; do
		run -2 --separate-stderr upcycle -m "$GOLDEN/bert" --stack "$list" -o "$T/out"
		[[ $stderr == "upcycle: --stack: "* ]]
	done
	does_not_apply --experts upcycle -m "$GOLDEN/bert" --stack 0 --experts a -o "$T/out"
	[ ! -e "$T/out" ]
}
