#!/usr/bin/env bats
load helper

# Groups of neurons as experts: upcycle --neuron-experts, and their shares by encode --emit rw.

M=$GOLDEN/bert

# shares MODEL REQUEST: the column text.rw of three texts, a number a line
shares() {
	printf '7\n1 2 3\n4 5 6 8\n' | ids_stream text.ids | encode -q -m "$1" --emit "$2" | mts to jsonl | jq -r '."text.rw"[]'
}

# grouped COUNT: the tiny BERT, its neurons in so many groups as they stand
grouped() {
	cp -r "$M" "$T/grouped"
	jq ".neuron_experts = $1" "$M/config.json" >"$T/grouped/config.json"
}

@test "neurons: shares of groups agree with torch's, of the last token and of all" {
	grouped 4
	for pool in last mean; do
		jq -r ".$pool[]" "$GOLDEN/neurons.jsonl" >"$T/theirs"
		shares "$T/grouped" rw:pool=$pool | within "$T/theirs" 1e-6
	done
	shares "$T/grouped" rw | within <(jq -r ".last[]" "$GOLDEN/neurons.jsonl") 1e-6
	# each token's, one after another; their number is that of the tokens
	[ "$(printf '1 2 3\n' | ids_stream text.ids | encode -q -m "$T/grouped" --emit rw:pool=tokens | mts to jsonl |
		jq -c '."text.rw" | map(add * 1000 | round)')" = '[2000,2000,2000]' ]
}

rows_of() { # MODEL: its embeddings of three texts
	printf '7\n1 2 3\n4 5 6 8\n' | ids_stream text.ids | encode -q -m "$1" | mts to jsonl | jq -r '."text.emb"[]'
}

@test "neurons: upcycle makes groups of neurons with the same weights; embeddings stay as they were" {
	cp -r "$M" "$T/like"
	file=$T/like/model.safetensors
	# twelve neurons with eight weights each: the first three, four times
	for layer in 0 1; do
		at=$(tensor_offset "$file" encoder.layer.$layer.intermediate.dense.weight)
		tail -c +$((at + 1)) "$M/model.safetensors" | head -c 96 >"$T/kinds"
		cat "$T"/{kinds,kinds,kinds,kinds} | dd of="$file" conv=notrunc bs=1 seek="$at" status=none
	done
	upcycle -q -m "$T/like" --neuron-experts 3 -o "$T/out"
	[ "$(jq .neuron_experts "$T/out/config.json")" = 3 ]
	for layer in 0 1; do
		at=$(tensor_offset "$T/out/model.safetensors" encoder.layer.$layer.intermediate.dense.weight)
		tail -c +$((at + 1)) "$T/out/model.safetensors" | head -c 384 | od -An -v -tx4 -w32 | uniq -c | awk '{ print $1 }' |
			diff - <(printf '%s\n' 4 4 4)
	done
	rows_of "$T/like" >"$T/before"
	rows_of "$T/out" | within "$T/before" 1e-6
	# the same seed makes the same file; tensors outside of MLPs are as they were
	upcycle -q -m "$M" --neuron-experts 4 -o "$T/one"
	upcycle -q -m "$M" --neuron-experts 4 -o "$T/same"
	cmp "$T/one/model.safetensors" "$T/same/model.safetensors"
	rows_of "$M" >"$T/before"
	rows_of "$T/one" | within "$T/before" 1e-6
	join <(tensor_sums "$M" | sort) <(tensor_sums "$T/one" | sort) | awk '$2 != $3 { print $1 }' >"$T/moved"
	grep -vE 'intermediate.dense|layer.[01].output.dense.weight' "$T/moved" >"$T/others" || true
	diff /dev/null "$T/others"
}

@test "neurons: gated MLPs, and gate and up in one tensor" {
	for family in nomic_bert modernbert qwen3 gte; do
		F=$GOLDEN/families/$family
		upcycle -q -m "$F" --neuron-experts 2 -o "$T/out"
		rows_of "$F" >"$T/before"
		rows_of "$T/out" | within "$T/before" 1e-5
		shares "$T/out" rw | awk '{ s += $1 } END { exit s < 2.99 }'
	done
}

@test "neurons: train and upcycle take the folder; its groups stay" {
	upcycle -q -m "$M" --neuron-experts 4 -o "$T/grouped"
	upcycle -q -m "$T/grouped" --experts a,b -o "$T/mote"
	[ "$(jq .neuron_experts "$T/mote/config.json")" = 4 ]
}

@test "neurons: a model that gets token experts has no groups; one without groups and one with them have no mean" {
	upcycle -q -m "$M" --neuron-experts 4 -o "$T/grouped"
	upcycle -q -m "$T/grouped" --token-experts 2 -o "$T/tokens"
	[ "$(jq .neuron_experts "$T/tokens/config.json")" = null ]
	rows_of "$M" >"$T/before"
	rows_of "$T/tokens" | within "$T/before" 1e-5
	cd "$T"
	for pair in "$M $T/grouped" "$T/grouped $M"; do
		read -r one other <<<"$pair"
		dies "upcycle: $other/config.json: differs from that of $one in 'neuron_experts'; only models of one configuration" \
			upcycle -m "$one" --mean "$other" -o out
	done
	upcycle -q -m grouped --mean grouped -o same
	rows_of same | within before 1e-5
}

@test "neurons: groups that do not fit, and models without neurons, are refused" {
	cd "$T"
	dies "upcycle: $M: the MLP of block 0 has 12 neurons, which 5 experts cannot share equally" upcycle -m "$M" --neuron-experts 5 -o out
	dies "upcycle: $GOLDEN/families/olmoe: it has token experts; only a dense MLP is grouped" \
		upcycle -m "$GOLDEN/families/olmoe" --neuron-experts 2 -o out
	does_not_apply --every upcycle -m "$M" --neuron-experts 4 --every 2 -o out
	grouped 5
	run -1 --separate-stderr shares "$T/grouped" rw
	[[ "$stderr" == *"'neuron_experts': the MLP of block 0 has 12 neurons, which 5 experts cannot share equally"* ]]
	grouped 4
	ids_stream text.ids <<<'1 2' >ids.mts
	run -2 --separate-stderr encode -m "$T/grouped" --emit rw:logits ids.mts
	[ "${stderr_lines[0]}" = "encode: --emit: 'logits' does not belong to rw" ]
	run -1 --separate-stderr encode -m "$M" --emit rw ids.mts
	[[ "$stderr" == *"has no token experts, hence no routing weights (--emit rw); 'upcycle --neuron-experts N' groups"* ]]
}
