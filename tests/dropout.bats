#!/usr/bin/env bats
load helper
load train

# train --dropout.
G=$GOLDEN/train

setup() {
	cd "$T" || return
	pairs_stream '{"temperature": 0.05}' <"$G/pairs.txt" >pairs.mts
	options=(-q -m "$G/bert" --schedule constant --warmup 0 --lr 1e-3)
}

# same A B: the two runs have equal logs and weights
same() {
	cmp "$1.log.tsv" "$2.log.tsv" && cmp "$1/model.safetensors" "$2/model.safetensors"
}
# close A B: losses and gradients of the two runs are equal but for rounding
close() {
	for name in loss gradient_norm; do
		close_to 1e-3 <(column $name "$1.log.tsv") <(column $name "$2.log.tsv")
	done
}
# unlike A B: the losses of the two runs differ
unlike() {
	run ! cmp -s <(column loss "$1.log.tsv") <(column loss "$2.log.tsv")
}
# rates FILTER: the folder model, the tiny BERT with its config.json edited by jq
rates() {
	cp -r "$G/bert" model
	jq "$1" "$G/bert/config.json" >model/config.json
}

# bats test_tags=plain
@test "dropout: with the same masks embeddings and gradients are those of transformers, wherever a family has dropout" {
	# families with ReLU have a wider bound of the central differences
	for family in "albert 2e-2" bert camembert "distilbert 4e-2" electra ernie "modernbert 2e-2" mpnet nomic_bert roberta xlm-roberta; do
		read -r name bound <<<"$family"
		# shellcheck disable=SC2086
		run -0 dropout_check "$GOLDEN/families/$name" "$GOLDEN/families/$name/expected.safetensors" "$GOLDEN/dropout.safetensors" $name $bound
	done
	name=$GOLDEN/families/jina_bert
	run -0 dropout_check "$name" "$name/expected.safetensors" "$GOLDEN/dropout.safetensors" none
}

# bats test_tags=plain
@test "dropout: attention equals plain loops, forward and backward" {
	run -0 nn_check_cpu dropped
	[ -z "$output" ]
}

# bats test_tags=plain
@test "dropout: train: masks depend on the seed and not on chunks or threads; a rate of 0 turns dropout off" {
	train "${options[@]}" -o none pairs.mts
	train "${options[@]}" -o zero --dropout 0 pairs.mts
	same none zero
	train "${options[@]}" -o out --dropout 0.3 pairs.mts
	unlike none out
	train "${options[@]}" -o again -j 3 --dropout 0.3 pairs.mts
	same out again
	train "${options[@]}" -o other --seed 1 --dropout 0.3 pairs.mts
	unlike other out
	# the gradient cache computes a chunk twice, with the same masks
	train "${options[@]}" -o pieces --tokens 40 --dropout 0.3 pairs.mts
	close pieces out
	# the first loss, before any step, is the same to the bit
	cmp <(column loss pieces.log.tsv | head -n 1) <(column loss out.log.tsv | head -n 1)
	# a chunk so long that threads divide it the first time
	for _ in 1 2 3; do
		grep -v '^$' "$G/pairs.txt"
		echo
	done | pairs_stream '{"temperature": 0.05}' >many.mts
	train "${options[@]}" -o long --dropout 0.3 many.mts
	train "${options[@]}" -o parts -j 2 --tokens 400 --dropout 0.3 many.mts
	close parts long
}

@test "dropout: train: --dropout config takes the rates of config.json under the family's keys, and transformers' defaults" {
	rates '. + {hidden_dropout_prob: 0.3, attention_probs_dropout_prob: 0.3}'
	options=(--schedule constant --warmup 0 --lr 1e-3)
	train "${options[@]}" -q -m model -o out --dropout config pairs.mts
	train "${options[@]}" -q -m "$G/bert" -o rate --dropout 0.3 pairs.mts
	cmp out.log.tsv rate.log.tsv
	# the written folder keeps the rates
	jq -e '.hidden_dropout_prob == 0.3' out/config.json
	rates 'del(.hidden_dropout_prob, .attention_probs_dropout_prob)'
	run -0 --separate-stderr env train -j 1 "${options[@]}" -v -m model -o absent --dropout config pairs.mts
	[[ $stderr == *"train: model: dropout: embeddings 0.1, attention weights 0.1, attention 0.1, MLP 0.1"$'\n'* ]]
	[[ $stderr != *"without dropout"* ]]
	train "${options[@]}" -q -m "$G/bert" -o rate --dropout 0.1 pairs.mts
	cmp absent.log.tsv rate.log.tsv
	rates '. + {hidden_dropout_prob: 0, attention_probs_dropout_prob: 0.2}'
	run -0 --separate-stderr env train -j 1 "${options[@]}" -v -m model -o weights --dropout config pairs.mts
	[[ $stderr == *"train: model: dropout: attention weights 0.2"$'\n'* ]]
	unlike weights absent
	rates '. + {hidden_dropout_prob: 0, attention_probs_dropout_prob: 0}'
	run -0 --separate-stderr env train -j 1 "${options[@]}" -m model -o zero --dropout config pairs.mts
	[ "${stderr_lines[0]}" = "train: warning: model: --dropout config: all rates of config.json are 0" ]
	rates '.hidden_dropout_prob = 1'
	run -1 --separate-stderr train -q -m model -o wrong --dropout config pairs.mts
	[ "$stderr" = "train: model/config.json: has the dropout rate 1; it must be below 1" ]
	run -0 --separate-stderr env train -j 1 -v -m "$G/nomic_bert" -o nomic --dropout 0.2 pairs.mts
	[[ $stderr == *"nomic_bert: dropout: embeddings 0.2, attention weights 0.2, attention 0.2, MLP 0.2"$'\n'* ]]
}

@test "dropout: train: held-out pairs, frozen documents and the written model have no dropout" {
	train "${options[@]}" -o none --lr 1e-12 --dev pairs.mts pairs.mts
	train "${options[@]}" -o out --lr 1e-12 --dev pairs.mts --dropout 0.4 pairs.mts
	cmp <(column dev_loss none.log.tsv) <(column dev_loss out.log.tsv)
	unlike none out
	encode -q -m none pairs.mts >vectors.mts
	encode -q -m out pairs.mts | mts diff --atol 1e-5 vectors.mts -
	# frozen documents have the base model's embeddings, as a stream of them shows
	encode -q -m "$G/bert" --keep <(mts cat -c document.ids pairs.mts) >documents.mts
	mts cat -c query.ids,document.ids pairs.mts >two.mts
	lora=(--lora "rank=2,targets=query" --dropout 0.3)
	train "${options[@]}" "${lora[@]}" -o frozen --freeze-documents two.mts
	train "${options[@]}" "${lora[@]}" -o stored --documents documents.mts two.mts
	close_to 1e-5 <(column loss frozen.log.tsv) <(column loss stored.log.tsv)
	train "${options[@]}" "${lora[@]:0:2}" -o plain --freeze-documents two.mts
	unlike plain frozen
}

@test "dropout: train: masked language models and task experts have dropout; a killed and resumed run has the same bits" {
	tok -q -m "$G/bert" "$ROOT/README.md" >text.mts
	mlm=(-q -m "$G/bert" --from-scratch --objective mlm --batch-tokens 300 --steps 12 --save-every 1 --schedule constant --warmup 0)
	train "${mlm[@]}" -o none text.mts
	train "${mlm[@]}" -o whole --dropout 0.2 text.mts
	unlike none whole
	train "${mlm[@]}" -o pieces --tokens 90 --dropout 0.2 text.mts
	close pieces whole
	cut_short 5 "${mlm[@]}" -o out --dropout 0.2 text.mts
	run -1 --separate-stderr train "${mlm[@]}" -o out text.mts
	[[ $stderr == "train: out.checkpoint: is of a run with dropout 0.2, this one has nothing;"* ]]
	run -1 --separate-stderr train "${mlm[@]}" -o out --dropout config text.mts
	[[ $stderr == *'with dropout 0.2, this one has "config";'* ]]
	train "${mlm[@]}" -o out --dropout 0.2 text.mts
	same out whole
	upcycle -q -m "$G/bert" --experts left,right -o mote
	for rate in 0 0.2; do
		train "${options[@]}" -m mote -o mote$rate -e left --dropout $rate pairs.mts
	done
	unlike mote0 mote0.2
}

@test "dropout: train: invalid rates, and families with unknown dropout, are refused in one line" {
	for how in x 1 -0.1 "" configs; do
		run -2 --separate-stderr train "${options[@]}" -o out --dropout "$how" pairs.mts
		[[ $stderr == "train: --dropout"* ]]
		[ ! -e out ]
	done
	for family in gte qwen3 t5; do
		dies "train: $GOLDEN/families/$family: dropout is not supported for such a model; train it without" \
			train -q -m "$GOLDEN/families/$family" -o out --dropout 0.1 pairs.mts
	done
}
