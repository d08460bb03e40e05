#!/usr/bin/env bats
load helper

PROJECTED=$GOLDEN/projection

# bats test_tags=plain
@test "projection: each token is projected before the mean, as transformers and torch compute it" {
	embed "$PROJECTED" | within "$PROJECTED/embeddings.txt" 1e-6
	embed "$PROJECTED" --precision bf16 | within "$PROJECTED/embeddings.txt" 3e-2
	[ "$(embed "$PROJECTED" | sed -n 1p | wc -w)" = 6 ]
}

@test "projection: a folder that motes writes has a Dense after the pooling instead, which learns" {
	embed "$PROJECTED" >"$T/wanted"
	upcycle -m "$PROJECTED" --experts a,b -o "$T/mote"
	embed "$T/mote" -e a | cmp - "$T/wanted"
	[ "$(jq -r '.[2] | "\(.path) \(.type)"' "$T/mote/modules.json")" = "linear sentence_transformers.models.Dense" ]
	[ "$(safetensors_list "$T/mote/linear/model.safetensors" | grep -c '^linear.weight')" = 1 ]
	run ! grep -qa '"linear.weight"' "$T/mote/model.safetensors"
	paste <(cat "$GOLDEN/bert/ids.txt") <(tac "$GOLDEN/bert/ids.txt") | pairs_stream >"$T/pairs.mts"
	train -q -m "$PROJECTED" --steps 2 --lr 1e-2 -o "$T/learned" "$T/pairs.mts"
	run -1 cmp -s "$T/learned/linear/model.safetensors" "$T/mote/linear/model.safetensors"
	embed "$T/learned" >"$T/after"
	run -1 cmp -s "$T/after" "$T/wanted"
}

@test "projection: a pooling that does not commute with the projection is refused, also by --pooling" {
	for pooling in max cls+mean; do
		run -1 --separate-stderr embed "$PROJECTED" --pooling $pooling
		[[ $stderr == *"encode: $PROJECTED: projects each token before the pooling; this needs pooling cls, mean, mean_sqrt, weighted or last"* ]]
	done
	for pooling in cls last; do
		[ "$(embed "$PROJECTED" --pooling $pooling | sed -n 1p | wc -w)" = 6 ]
	done
}

@test "projection: an adapter whose modules.json lacks the Dense keeps it" {
	paste <(cat "$GOLDEN/bert/ids.txt") <(tac "$GOLDEN/bert/ids.txt") | pairs_stream >"$T/pairs.mts"
	train -q -m "$PROJECTED" --lora rank=2 --steps 2 --lr 1e-2 -o "$T/lora" "$T/pairs.mts"
	embed "$PROJECTED" --adapter "$T/lora" --no-normalize >"$T/wanted"
	run -1 cmp -s "$T/wanted" <(embed "$PROJECTED" --no-normalize)
	cp -r "$PROJECTED/1_Pooling" "$T/lora"
	jq 'del(.[2])' "$PROJECTED/modules.json" >"$T/lora/modules.json"
	embed "$PROJECTED" --adapter "$T/lora" | cmp - "$T/wanted"
}

# The tensor belongs to another head unless both keys fit.
@test "projection: with another num_labels or causal attention the tensor is refused" {
	for change in '.num_labels = 5' 'del(.num_labels)' '.use_bidirectional_attention = false'; do
		rm -rf "$T/m"
		cp -r "$PROJECTED" "$T/m"
		jq "$change" "$PROJECTED/config.json" >"$T/m/config.json"
		run -1 --separate-stderr embed "$T/m"
		[[ $stderr == *"encode: $T/m/model.safetensors: tensor 'linear.weight' is not supported for such a model"* ]]
	done
	upcycle -q -m "$PROJECTED" --mean "$PROJECTED" -o "$T/out"
	embed "$PROJECTED" | cmp - <(embed "$T/out")
}

@test "projection: distil --project learns a further projection, of the tokens' projections" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	mts paste "$T/ids.mts" <(encode -q -m "$GOLDEN/bert" "$T/ids.mts" | mts cat -c text.emb) >"$T/taught.mts"
	wide=$(mts to jsonl -c text.emb "$T/taught.mts" | sed -n 1p | jq '."text.emb" | length')
	train -q -m "$PROJECTED" --objective distil --project "$wide" --steps 3 --lr 1e-2 -o "$T/learned" "$T/taught.mts"
	[ "$(embed "$T/learned" | awk 'NR == 1 { print NF }')" = 6 ]
	run ! within "$PROJECTED/embeddings.txt" 1e-3 < <(embed "$T/learned")
}
