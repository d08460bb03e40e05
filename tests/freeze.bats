#!/usr/bin/env bats
load helper
load train

G=$GOLDEN/train

setup() {
	pairs_stream '{"task": "play", "temperature": 0.05}' <"$G/pairs.txt" >"$T/pairs.mts"
	cd "$T" || return
}

# learn OPTION...: ten steps on the pairs, from the tiny BERT
learn() {
	train -q -m "$G/bert" -o out --lr 2e-3 --warmup 0 --decay 0.1 "$@" pairs.mts
}

# Limits the pairs to ids below 40, the vocabulary of other models.
few_ids() {
	sed 's/\b4\([0-7]\)\b/1\1/g' "$G/pairs.txt" | pairs_stream '{"temperature": 0.05}' >pairs.mts
}

# values FILE NAME: the tensor's values, one a line
values() {
	local header from to
	header=$(od -An -tu8 -N8 "$1" | tr -d ' ')
	read -r from to < <(head -c $((8 + header)) "$1" | tail -c +9 | jq -r --arg name "$2" '.[$name].data_offsets | @tsv')
	od -An -v -tf4 -w4 -j $((8 + header + from)) -N $((to - from)) "$1"
}

# moved A B: the names of the tensors that differ between two folders
moved() {
	join <(tensor_sums "$1" | sort) <(tensor_sums "$2" | sort) | awk '$2 != $3 { print $1 }'
}

# Globs over these files' tensor names; FROZEN in golden/train/trace.py has those over torch's names.
bert='embeddings.*,*layer.0.attention.*,*layer.1.output.dense.weight'
nomic_bert='emb*,*layers.0.*,*norm2.weight'

@test "freeze: ten steps agree with torch's with requires_grad False for the same weights" {
	for family in bert nomic_bert; do
		run -0 train -m "$G/$family" -o out --schedule linear --lr 2e-3 --warmup 3 --steps 20 \
			--decay 0.1 --clip 2 --beta2 0.98 --eps 1e-6 --freeze "${!family}" pairs.mts
		for name in loss gradient_norm; do # the norm is that of the trained weights' gradients
			close_to 1e-4 <(column $name out.log.tsv) <(column $name "$G/${family}_frozen.tsv")
		done
		[ "$family" = bert ] || continue
		# the gradient of a key's bias is zero, and AdamW turns its rounding errors into steps; others differ by rounding
		tensor_names "$G/bert_frozen.safetensors" >learn
		[ "$(wc -l <learn)" -eq 21 ]
		grep -v key.bias learn | while read -r name; do
			values "$G/bert_frozen.safetensors" "$name" >theirs
			values out/model.safetensors "$name" | within theirs 1e-6
		done
		diff learn <(moved "$G/bert" out)
	done
}

@test "freeze: patterns are globs, in lists or repeated; '!' excepts weights" {
	learn --freeze "$bert"
	cp out.log.tsv one.tsv
	learn --freeze 'embeddings.*' --freeze '*layer.0.attention.*' --freeze encoder.layer.1.output.dense.weight
	cmp out.log.tsv one.tsv
	learn --freeze '*,!*.1.output.*'
	[ "$(moved "$G/bert" out | sed 's/.*layer//' | xargs)" = \
		".1.output.LayerNorm.bias .1.output.LayerNorm.weight .1.output.dense.bias .1.output.dense.weight" ]
	learn --freeze '*,!*.bias,*' --freeze '!*.word_embeddings.weight'
	[ "$(moved "$G/bert" out)" = embeddings.word_embeddings.weight ]
	# a pooler that no embedding needs never learns
	few_ids
	cp -r "$GOLDEN/bert" pooled
	relabel "$GOLDEN/bert/model.safetensors" '."pooler.dense.bias" = ."cls.predictions.bias" | del(."cls.predictions.bias")' \
		>pooled/model.safetensors
	train -q -m pooled -o other --freeze 'pooler.*' pairs.mts
	tensor_names other/model.safetensors | grep -x pooler.dense.bias
	run -0 --separate-stderr train -v -m "$G/bert" -o out --freeze 'embeddings.*' pairs.mts
	[[ "$stderr" == *"train: $G/bert: 4448 of 6304 parameters learn"* ]]
}

@test "freeze: modules of a head are frozen by their folder's name" {
	cp -r "$G/bert" projected
	cp -r "$GOLDEN/head/both"/{modules.json,?_*} projected
	echo '{"pooling_mode": "mean"}' >projected/1_Pooling/config.json
	train -q -m projected -o out --lr 2e-3 --warmup 0 --freeze '*,!2_Dense.*' pairs.mts
	[ -z "$(moved projected out)" ]
	run ! diff <(values projected/2_Dense/model.safetensors linear.weight) <(values out/2_Dense/model.safetensors linear.weight)
	diff <(values projected/4_Dense/model.safetensors linear.weight) <(values out/4_Dense/model.safetensors linear.weight)
}

@test "freeze: only task experts, only the shared weights, or one expert may be frozen" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	pairs_stream '{"experts": {"query": "left", "document": "right"}}' <"$G/pairs.txt" >both.mts
	train -q -m mote -o out --lr 2e-3 --freeze '*,!*.experts.*' both.mts
	diff <(moved mote out) <(tensor_names mote/model.safetensors | grep -F .experts.)
	train -q -m mote -o out --lr 2e-3 --freeze '*.experts.*' both.mts
	diff <(moved mote out) <(tensor_names mote/model.safetensors | grep -vF .experts.)
	train -q -m mote -o out --lr 2e-3 --freeze '*.experts.left.*' both.mts
	diff <(moved mote out) <(tensor_names mote/model.safetensors | grep -vF .left.)
}

@test "freeze: token experts and their routers may be frozen" {
	upcycle -q -m "$G/bert" --token-experts 2 --token-top 2 -o moe
	train -q -m moe -o out --lr 2e-3 --freeze '*router*' pairs.mts
	diff <(moved moe out) <(tensor_names moe/model.safetensors | grep -v router)
	train -q -m moe -o out --lr 2e-3 --freeze '*,!*router*' pairs.mts
	diff <(moved moe out) <(tensor_names moe/model.safetensors | grep router)
}

@test "freeze: mlm: only the head learns, or all but the embeddings that are its output matrix" {
	tok -q -m "$G/bert" <<<$'the sea is wide\na house by the sea' >text.mts
	train -q -m "$G/bert" -o drawn --from-scratch --objective mlm text.mts
	train -q -m drawn -o out --objective mlm --epochs 9 --freeze '*,!cls.*' text.mts
	[ "$(moved drawn out | grep -c ^cls)" = "$(moved drawn out | wc -l)" ]
	[ -n "$(moved drawn out)" ]
	train -q -m drawn -o out --objective mlm --epochs 9 --freeze '*.word_embeddings.*' text.mts
	[ "$(moved drawn out | grep -c word_embeddings)" -eq 0 ]
	# InfoNCE does not use that head
	run -1 --separate-stderr train -q -m drawn -o new --freeze '*,!cls.*' pairs.mts
	[ "$stderr" = "train: --freeze: nothing is left of drawn to train" ]
	[ ! -e new.log.tsv ]
}

@test "freeze: relative position tables, of the model or of some blocks, may be frozen" {
	few_ids
	for family in mpnet t5 umt5; do
		F=$GOLDEN/families/$family
		tensor_names "$F/model.safetensors" | grep relative_attention_bias >tables
		[ "$(wc -l <tables)" -eq "$([ $family = umt5 ] && echo 3 || echo 1)" ]
		train -q -m "$F" -o out --lr 2e-3 --freeze "$(head -n 1 tables)" pairs.mts
		diff <(moved "$F" out | grep relative_attention_bias) <(tail -n +2 tables)
	done
}

# bats test_tags=plain
@test "freeze: a killed and resumed run has the same bits; a checkpoint holds trained weights only; other patterns are refused" {
	options=(-q --lr 1e-3 --epochs 3 --save-every 7)
	train -m "$G/bert" -o whole "${options[@]}" --freeze 'embeddings.*' pairs.mts
	cut_short 17 -m "$G/bert" -o out "${options[@]}" --freeze 'embeddings.*' pairs.mts
	[ "$(values out.checkpoint exp_avg | wc -l)" -eq $((4448)) ]
	run -1 --separate-stderr train -m "$G/bert" -o out "${options[@]}" pairs.mts
	[[ "$stderr" == *'is of a run with freeze ["embeddings.*"], this one has nothing; '* ]]
	run -1 train -m "$G/bert" -o out "${options[@]}" --freeze '*attention*' pairs.mts
	train -m "$G/bert" -o out "${options[@]}" --freeze 'embeddings.*' pairs.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
}

@test "freeze: patterns that fit no weight or leave none, and --lora, are refused" {
	run -1 --separate-stderr learn --freeze 'embeddings.*,nothing.*'
	[ "$stderr" = "train: --freeze: $G/bert has no weight 'nothing.*'; names are like 'embeddings.word_embeddings.weight'" ]
	run -1 --separate-stderr learn --freeze ''
	[[ "$stderr" == *"has no weight ''"* ]]
	run -1 --separate-stderr learn --freeze '*'
	[ "$stderr" = "train: --freeze: nothing is left of $G/bert to train" ]
	run -2 --separate-stderr learn --freeze 'embeddings.*' --lora rank=4
	[ "${stderr_lines[0]}" = "train: --freeze: with --lora no weight of the model learns" ]
	[ ! -e out ]
}
