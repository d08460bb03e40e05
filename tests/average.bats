#!/usr/bin/env bats
load helper
load train

# train --ema: an exponential moving average of the weights.
G=$GOLDEN/train

setup() {
	cd "$T" || return
	pairs_stream '{"temperature": 0.05}' <"$G/pairs.txt" >pairs.mts
	options=(-q -m "$G/bert" --schedule linear --lr 2e-3 --warmup 3 --steps 20 --decay 0.1 --clip 2 --beta2 0.98 --eps 1e-6)
}

# values FILE NAME: the tensor's values, one a line
values() {
	mts from safetensors -c "$2" "$1" | mts to jsonl | jq -r '.[] | if type == "array" then flatten[] else . end'
}

# bats test_tags=plain
@test "average: the weights after ten steps are torch's; a decay of 0 turns it off; the log describes the weights that are trained" {
	train "${options[@]}" -o out --ema 0.8 pairs.mts
	# the gradient of a key's bias is zero; AdamW turns its rounding errors into steps
	tensor_names "$G/bert_ema.safetensors" | grep -v key.bias >learn
	[ "$(wc -l <learn)" -ge 30 ]
	while read -r name; do
		values "$G/bert_ema.safetensors" "$name" >theirs
		values out/model.safetensors "$name" | within theirs 2e-6
	done <learn
	train "${options[@]}" -o plain pairs.mts
	cmp out.log.tsv plain.log.tsv
	run ! cmp -s out/model.safetensors plain/model.safetensors
	train "${options[@]}" -o none --ema 0 pairs.mts
	cmp none/model.safetensors plain/model.safetensors
}

@test "average: a weight that training does not change keeps its bits" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	train "${options[@]}" -m mote -o moved -e left --ema 0.3 pairs.mts
	for folder in mote moved; do
		tensor_sums $folder/model.safetensors | grep right | sort >$folder.sums
	done
	[ -s mote.sums ]
	diff mote.sums moved.sums
}

@test "average: --dev measures the averaged weights, and the best step is chosen by them" {
	mts cat pairs.mts >dev.mts
	train "${options[@]}" -o out --ema 0.9 --dev dev.mts --dev-every 5 pairs.mts
	train "${options[@]}" -o plain --dev dev.mts --dev-every 5 pairs.mts
	# before the first step the average is the weights themselves
	cmp <(column dev_loss out.log.tsv | head -n 1) <(column dev_loss plain.log.tsv | head -n 1)
	run ! cmp -s <(column dev_loss out.log.tsv) <(column dev_loss plain.log.tsv)
	cmp <(column loss out.log.tsv) <(column loss plain.log.tsv)
	# the written model has the best loss of the log
	train -q -m out -o again --lr 1e-12 --steps 1 --last-step --dev dev.mts pairs.mts
	best=$(jq .dev.loss out/train.json)
	close_to 1e-5 <(column dev_loss again.log.tsv | head -n 1) <(echo "$best")
	[ "$(jq .settings.ema out/train.json)" = 0.9 ]
}

@test "average: a killed and resumed run has the same bits; another decay is refused" {
	more=("${options[@]}" --ema 0.9 --dev pairs.mts --dev-every 2 --save-every 1 --last-step)
	train "${more[@]}" -o whole pairs.mts
	cut_short 5 "${more[@]}" -o out pairs.mts
	[ "$(tensor_names out.checkpoint | paste -sd' ')" = "counts ema exp_avg exp_avg_sq state values" ]
	run -1 --separate-stderr train "${more[@]}" --ema 0.99 -o out pairs.mts
	[[ $stderr == "train: out.checkpoint: is of a run with ema 0.9, this one has 0.99;"* ]]
	train "${more[@]}" -o out pairs.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
	# a LoRA adapter
	lora=("${options[@]}" --lora rank=2 --ema 0.5 --save-every 1)
	train "${lora[@]}" -o adapter pairs.mts
	rm -r out
	cut_short 4 "${lora[@]}" -o out pairs.mts
	train "${lora[@]}" -o out pairs.mts
	cmp out/adapter_model.safetensors adapter/adapter_model.safetensors
	train "${lora[@]}" --ema 0 -o plain pairs.mts
	run ! cmp -s plain/adapter_model.safetensors adapter/adapter_model.safetensors
	for decay in 1 -0.1 x; do
		run -2 --separate-stderr train "${options[@]}" -o wrong --ema "$decay" pairs.mts
		[ ! -e wrong ]
	done
}
