#!/usr/bin/env bats
load helper

FAMILIES=$GOLDEN/families
NAMES="bert nomic_bert modernbert gte qwen3 olmoe qwen2_moe deepseek"

# A copy of a family's folder that a test may change.
copy() { # family
	rm -rf "$T/m"
	cp -r "$FAMILIES/$1" "$T/m"
	MODEL=$T/m
}
agrees() { # family: its golden folder
	model_check "$FAMILIES/$1" "$FAMILIES/$1/expected.safetensors"
}
copy_agrees() { # family: what a test made of it
	model_check "$MODEL" "$FAMILIES/$1/expected.safetensors"
}
# The same of a copy whose tensors have other names, which are those of its gradients.
renamed_agrees() { # family
	run copy_agrees "$1"
	[[ "$output" == *"ok states of all layers"*"ok folder embeddings"*"ok long texts mean"* ]]
	[[ "$output" != *BAD*BAD* ]]
}
# The copy's weights with another header: the same data, other tensors.
other_header() { # header
	local size
	size=$(od -An -tu8 -N8 "$MODEL/model.safetensors")
	tail -c +$((size + 9)) "$MODEL/model.safetensors" >"$T/data"
	cat "$MODEL/$1" "$T/data" >"$MODEL/model.safetensors"
}
# encode refuses the copy, naming config.json and then `text`.
refused() { # text
	run -1 --separate-stderr encode -q -m "$MODEL" < <(echo "3 4" | ids_stream text.ids)
	[[ "$stderr" == "encode: $MODEL/config.json"*"$1"* ]] || {
		echo "wanted: $1" "got: $stderr"
		false
	}
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}
# The same after editing config.json, for lines "edit | text" on standard input.
refusals() { # family
	local edit text
	while IFS='|' read -r edit text; do
		copy "$1"
		sed -i "$(sed 's/ *$//' <<<"$edit")" "$MODEL/config.json"
		! cmp -s "$MODEL/config.json" "$FAMILIES/$1/config.json"
		refused "${text# }"
	done
}

# Hidden states and router logits within 1e-4, embeddings within 1e-5, gradients within 1e-4 of
# the greatest of each parameter; every text alone as in company, to the bit; lengths up to 2048.
@test "families: BERT agrees with transformers" { agrees bert; }
@test "families: NomicBERT agrees, its rotary base stretched for long texts" { agrees nomic_bert; }
@test "families: ModernBERT agrees, within and beyond its window" { agrees modernbert; }
@test "families: GTE v1.5 agrees with torch" { agrees gte; }
@test "families: Qwen3 agrees" { agrees qwen3; }
@test "families: OLMoE agrees" { agrees olmoe; }
@test "families: Qwen2-MoE agrees, layers with and without experts" { agrees qwen2_moe; }
@test "families: DeepSeekMoE agrees with torch" { agrees deepseek; }

@test "families: weights stored as bf16 are rounded once and computed with as they are" {
	# expected are embeddings of the rounded weights, hence 1e-4 again and no more
	for family in $NAMES; do
		model_copy "$FAMILIES/$family" "$T/$family" bf16
		[ $((2 * $(stat -c %s "$T/$family/model.safetensors"))) -lt \
			$((3 * $(stat -c %s "$FAMILIES/$family/model.safetensors") / 2)) ]
		model_check "$T/$family" "$FAMILIES/$family/expected.safetensors" bf16
	done
}

@test "families: the spelling of transformers 5 says the same" {
	for family in $NAMES; do
		[ -e "$FAMILIES/$family/config.5.json" ] || continue
		copy "$family"
		mv "$MODEL/config.5.json" "$MODEL/config.json"
		copy_agrees "$family"
	done
}

@test "families: other layouts of the same weights are found" {
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

@test "families: prefixes that checkpoints put before the names" {
	copy modernbert
	# as many bytes, so that the header keeps its size
	sed -i 's/"model\./      "/g' "$MODEL/model.safetensors"
	renamed_agrees modernbert
}

@test "families: what config.json says decides" {
	while read -r family edit; do
		copy "$family"
		sed -i "$edit" "$MODEL/config.json"
		! cmp -s "$MODEL/config.json" "$FAMILIES/$family/config.json"
		run ! copy_agrees "$family"
		[[ "$output" == *"BAD"* ]]
	done <<-E
		modernbert s/"local_attention": 8/"local_attention": 10/
		modernbert s/"global_attn_every_n_layers": 3/"global_attn_every_n_layers": 4/
		modernbert s/"local_rope_theta": 10000.0/"local_rope_theta": 20000.0/
		gte s/"factor": 2.0/"factor": 2.5/
		gte s/"gelu"/"gelu_new"/
		nomic_bert s/"rotary_scaling_factor": 2/"rotary_scaling_factor": null/
		nomic_bert s/"max_trained_positions": 16/"max_trained_positions": 18/
		qwen3 s/"rope_theta": 1000000/"rope_theta": 10000/
		olmoe s/"norm_topk_prob": false/"norm_topk_prob": true/
		olmoe s/"num_experts_per_tok": 2/"num_experts_per_tok": 3/
		qwen2_moe s/"norm_topk_prob": true/"norm_topk_prob": false/
		deepseek s/"rms_norm_eps": 1e-06/"rms_norm_eps": 0.01/
	E
}
