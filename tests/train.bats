#!/usr/bin/env bats
load helper
load train

# slow

G=$GOLDEN/train

setup() {
	pairs_stream '{"task": "play", "temperature": 0.05}' <"$G/pairs.txt" >"$T/pairs.mts"
	cd "$T" || return
}

# learn OPTION...: ten steps on the pairs, from the tiny BERT
learn() {
	train -q -m "$G/bert" -o out --lr 2e-3 --warmup 0 "$@" pairs.mts
}

# learns SHARE OPTION...: the mean loss of the last hundred steps is below SHARE of that of the first hundred
learns() {
	train -o learns "${@:2}"
	awk -F'\t' -v share="$1" 'NR > 1 && NR <= 101 { a += $5 } { b[NR] = $5 }
		END { for (i = NR - 99; i <= NR; i++) c += b[i]; exit !(c < share * a) }' learns.log.tsv
}

# differ A B: two columns of numbers differ somewhere by more than a tenth
differ() {
	run -1 close_to 1e-1 "$1" "$2"
}

# bats test_tags=plain
@test "train: ten steps agree with torch's AdamW to 1e-5 in loss, learning rate and gradient norm" {
	options=(--schedule linear --lr 2e-3 --warmup 3 --steps 20 --decay 0.1 --clip 2 --beta2 0.98 --eps 1e-6 pairs.mts)
	for family in bert nomic_bert bert_dot; do
		case $family in
		bert_dot) run -0 train -m "$G/bert" -o out --similarity dot --temperature 1 "${options[@]}" ;;
		*) run -0 train -m "$G/$family" -o out "${options[@]}" ;;
		esac
		for name in loss lr gradient_norm; do
			column $name out.log.tsv >ours
			column $name "$G/$family.tsv" >theirs
			close_to 1e-5 ours theirs
		done
	done
}

# bats test_tags=plain
@test "train: loss and its gradient agree with plain loops in double precision" {
	loss_check
}

# bf16 rounds by at most 2^-9 of a value. If it is not faster on this processor, the test only checks that f32 takes its place.
# bats test_tags=plain
@test "train: --precision bf16 is close to f32 and independent of threads; a run resumes only with the same precision" {
	learn
	MOTES_ISA=plain train -q -m "$G/bert" -o plain --lr 2e-3 --warmup 0 --precision bf16 pairs.mts
	MOTES_ISA=plain train -q -m "$G/bert" -o exact --lr 2e-3 --warmup 0 pairs.mts
	cmp plain/model.safetensors exact/model.safetensors
	encode --version | found 'bf16 by' || skip "products of bf16 are not quicker on this processor"
	for family in bert nomic_bert; do
		train -q -m "$G/$family" -o f32 --lr 2e-3 --warmup 0 pairs.mts
		train -q -m "$G/$family" -o bf16 --lr 2e-3 --warmup 0 --precision bf16 pairs.mts
		for name in loss gradient_norm; do
			column $name f32.log.tsv >floats
			column $name bf16.log.tsv >halves
			close_to 0.02 halves floats
			run -1 close_to 1e-5 halves floats
		done
	done
	env train -q -j 2 -m "$G/$family" -o again --lr 2e-3 --warmup 0 --precision bf16 pairs.mts
	cmp again/model.safetensors bf16/model.safetensors
	# an adapter, whose base is kept in bf16, and token experts
	train -q -m "$G/bert" -o lora --lora "$G/lora" --lr 2e-3 pairs.mts
	train -q -m "$G/bert" -o lora16 --lora "$G/lora" --lr 2e-3 --precision bf16 pairs.mts
	upcycle -m "$G/bert" --token-experts 4 -o experts
	train -q -m experts -o tokens --lr 2e-3 pairs.mts
	train -q -m experts -o tokens16 --lr 2e-3 --precision bf16 pairs.mts
	# a masked-language-model head
	train -q -m "$G/bert" --from-scratch --objective mlm --batch-tokens 300 -o words pairs.mts
	train -q -m "$G/bert" --from-scratch --objective mlm --batch-tokens 300 -o words16 --precision bf16 pairs.mts
	for name in lora tokens words; do
		column loss $name.log.tsv >floats
		column loss ${name}16.log.tsv >halves
		close_to 0.02 halves floats
		run -1 close_to 1e-5 halves floats
	done
	# of a base that is stored in bf16 or f16 the products are rounded, too
	for type in bf16 f16; do
		model_copy "$G/bert" short $type
		model_copy short long f32
		for base in short long; do
			train -q -m $base -o lora.$base --lora rank=4,targets=all-linear --lr 2e-3 --precision bf16 pairs.mts
		done
		cmp <(relabel lora.short/adapter_model.safetensors .) <(relabel lora.long/adapter_model.safetensors .)
		train -q -m short -o exact --lora rank=4,targets=all-linear --lr 2e-3 pairs.mts
		run -1 cmp -s <(relabel exact/adapter_model.safetensors .) <(relabel lora.short/adapter_model.safetensors .)
	done
	rm -r out
	cut_short 4 -q -m "$G/bert" -o out --save-every 1 --epochs 50 --precision bf16 pairs.mts
	run -1 train -q -m "$G/bert" -o out --save-every 1 --epochs 50 pairs.mts
	[[ "$output" == *"is of a run with precision \"bf16\", this one has nothing"* ]]
}

# targeted.mts: the pairs with the targets that tests/golden/train/trace.py drew.
targeted() {
	mkstream 8 <"$G/reze_targets.jsonl" | mts cat --rename relation.emb=relation.target | mts paste pairs.mts - >targeted.mts
}

# bats test_tags=plain
@test "train: --reze: ten steps agree with torch's to 1e-5, for a model and for an adapter" {
	targeted
	options=(--schedule linear --lr 2e-3 --warmup 3 --steps 20 --decay 0.1 --clip 2 --beta2 0.98 --eps 1e-6 --reze 30)
	train -q -m "$G/bert" -o out "${options[@]}" targeted.mts
	train -q -m "$G/bert" -o adapter --lora "$G/lora" "${options[@]}" targeted.mts
	for name in loss reze gradient_norm; do
		column $name out.log.tsv >ours
		column $name "$G/reze.tsv" >theirs
		close_to 1e-5 ours theirs
		column $name adapter.log.tsv >ours
		column $name "$G/reze_lora.tsv" >theirs
		close_to 1e-5 ours theirs
	done
	[ "$(wc -l <theirs)" -eq 10 ]
}

# bats test_tags=plain
@test "train: --reze in chunks, with --accumulate, and with task experts has the same losses and gradients" {
	targeted
	options=(-q --lr 2e-3 --warmup 0 --reze 30)
	upcycle -q -m "$G/bert" --experts left,right -o mote
	pairs_stream '{"temperature": 0.05, "experts": {"query": "left", "document": "right"}}' <"$G/pairs.txt" |
		mts paste - <(mts cat -c relation.target targeted.mts) >experts.mts
	for model in "$G/bert targeted" "mote experts"; do
		for accumulate in 1 2; do
			train "${options[@]}" -m "${model% *}" --accumulate $accumulate -o whole "${model#* }.mts"
			train "${options[@]}" -m "${model% *}" --accumulate $accumulate --tokens 40 -o parts "${model#* }.mts"
			for name in loss reze gradient_norm; do
				close_to 1e-4 <(column $name parts.log.tsv) <(column $name whole.log.tsv)
			done
			[ "$(column reze whole.log.tsv | wc -l)" -eq $((10 / accumulate)) ]
		done
	done
	# experts start as the model; two batches have the mean loss
	train "${options[@]}" -m "$G/bert" -o one --lr 1e-12 targeted.mts
	close_to 1e-5 <(column reze whole.log.tsv | head -n 1) \
		<(column reze one.log.tsv | head -n 2 | awk '{ sum += $1 } END { print sum / NR }')
	# frozen documents are part of the relation too
	train "${options[@]}" -m "$G/bert" -o adapter --lora rank=2 --freeze-documents targeted.mts
	close_to 1e-5 <(column reze adapter.log.tsv | head -n 1) <(column reze one.log.tsv | head -n 1)
}

# bats test_tags=plain
@test "train: --reze 0 is plain training to the bit; a greater weight moves relations closer to their targets" {
	targeted
	learn
	train -q -m "$G/bert" -o zero --lr 2e-3 --warmup 0 --reze 0 targeted.mts
	cmp out/model.safetensors zero/model.safetensors
	cmp out.log.tsv zero.log.tsv
	for _ in {1..80}; do head -n 1 "$G/reze_targets.jsonl"; done | mkstream 8 |
		mts cat --rename relation.emb=relation.target | mts paste pairs.mts - >same.mts
	for weight in 0.001 1000; do
		train -q -m "$G/bert" -o "by$weight" --lr 2e-3 --warmup 0 --epochs 5 --reze $weight same.mts
	done
	[ "$(paste <(column reze by1000.log.tsv) <(column reze by0.001.log.tsv) | tail -n 5 |
		awk '{ a += $1; b += $2 } END { print a < 0.8 * b }')" = 1 ]
}

@test "train: --reze without targets, with targets that do not fit, or with options that do not apply is refused" {
	targeted
	run -1 --separate-stderr train -q -m "$G/bert" -o out --reze 1 pairs.mts
	[ "$stderr" = 'train: pairs.mts: there is no column "relation.target", to which --reze holds the model; reze-stats apply makes it' ]
	sed 's/:\[[^,]*,/:[/' "$G/reze_targets.jsonl" | mkstream 8 | mts cat --rename relation.emb=relation.target |
		mts paste pairs.mts - >narrow.mts
	run -1 --separate-stderr train -q -m "$G/bert" -o out --reze 1 narrow.mts
	[ "$stderr" = "train: narrow.mts: column \"relation.target\" is not of vectors of 32 components, twice the width of $G/bert" ]
	mkstream 8 <"$G/reze_targets.jsonl" | mts cast i8 -q -c relation.emb | mts cat --rename relation.emb=relation.target |
		mts paste pairs.mts - >whole.mts
	run -1 --separate-stderr train -q -m "$G/bert" -o out --reze 1 whole.mts
	[ "$stderr" = "train: whole.mts: column \"relation.target\" is not of vectors of 32 components, twice the width of $G/bert" ]
	sed '20s/:\[[^,]*,/:[null,/' "$G/reze_targets.jsonl" | mkstream 8 | mts cat --rename relation.emb=relation.target |
		mts paste pairs.mts - >nan.mts
	run -1 --separate-stderr train -q -m "$G/bert" -o out --reze 1 nan.mts
	[[ $stderr == "train: nan.mts: record 3: relation.target: row 4 is not finite (NaN or infinity); "* ]]
	for weight in -1 nan x; do
		run -2 --separate-stderr train -q -m "$G/bert" -o out --reze $weight targeted.mts
	done
	does_not_apply --reze train -q -m "$G/bert" -o out --objective mlm --reze 1 pairs.mts
	[ ! -e out ]
}

# bats test_tags=plain
@test "train: --reze: a run resumes only with the same weight and targets" {
	targeted
	options=(-q -m "$G/bert" --lr 1e-3 --epochs 3 --save-every 7)
	train -o whole "${options[@]}" --reze 2 targeted.mts
	cut_short 17 -o out "${options[@]}" --reze 2 targeted.mts
	run -1 --separate-stderr train -o out "${options[@]}" --reze 3 targeted.mts
	[[ $stderr == *"is of a run with reze 2.0, this one has 3.0; "* ]]
	run -1 --separate-stderr train -o out "${options[@]}" targeted.mts
	[[ $stderr == *"is of a run with reze 2.0, this one has nothing; "* ]]
	sed 's/:\[[^,]*,/:[7,/' "$G/reze_targets.jsonl" | mkstream 8 | mts cat --rename relation.emb=relation.target |
		mts paste pairs.mts - >other.mts
	run -1 --separate-stderr train -o out "${options[@]}" --reze 2 other.mts
	[[ $stderr == *"are not those that the checkpoint was trained on"* ]]
	train -o out "${options[@]}" --reze 2 targeted.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
}

@test "train: masks are BERT's: 80 % mask tokens, 10 % random tokens, 10 % unchanged" {
	mlm_check
}

# bats test_tags=plain
@test "train: the gradient of a batch of 512 is the same in one chunk and in chunks of 32" {
	gradient_cache_check "$G/bert" 512 32
	gradient_cache_check "$G/nomic_bert" 512 32
	# chunks of three experts, their states kept together, and one after the other
	upcycle -m "$G/nomic_bert" --experts a,b,c -o mote
	gradient_cache_check mote 512 32 >said
	[ "$(head -n 1 said | cut -d: -f1)" = "3 chunks" ]
}

@test "train: chunks change the loss only by rounding; --bidirectional and --temperature follow their definition" {
	learn
	column loss out.log.tsv >whole
	learn --tokens 40
	column loss out.log.tsv >ours
	close_to 1e-4 ours whole
	pairs_stream <"$G/pairs.txt" >plain.mts # without a temperature: MoTE's is the default
	train -q -m "$G/bert" -o out --lr 2e-3 --warmup 0 plain.mts
	column loss out.log.tsv >ours
	learn --temperature 0.03
	cmp ours <(column loss out.log.tsv)
	for option in --bidirectional "--temperature 0.5"; do
		# shellcheck disable=SC2086
		learn $option
		column loss out.log.tsv >ours
		differ ours whole
	done
}

# A checkpoint has the number of tokens that --memory gave.
@test "train: --memory bounds the activations of the backward pass, with at least 512 tokens" {
	tokens_of() {
		rm -rf out*
		cut_short 2 -q -m "$G/bert" -o out --save-every 1 --epochs 50 "$@" pairs.mts 2>/dev/null >&2
		tr -d '\0' <out.checkpoint | grep -ao '"tokens":[0-9]*' | cut -d: -f2
	}
	eight=$(tokens_of --memory 8M)
	sixteen=$(tokens_of --memory 16M)
	[ "$eight" -gt 512 ]
	[ $((sixteen - 2 * eight)) -ge 0 ] && [ $((sixteen - 2 * eight)) -le 1 ]
	[ "$(tokens_of --memory 1K)" -eq 512 ]
	[ "$(tokens_of)" -eq "$(tokens_of --memory 1G)" ]
	run -2 learn --memory 1G --tokens 100
	[[ "$output" == *"--memory and --tokens exclude each other"* ]]
}

# bats test_tags=plain
@test "train: equal texts are not negatives of each other, except with --no-mask-duplicates" {
	printf '2 5 3\t2 6 3\n2 7 3\t2 6 3\n\n' | pairs_stream >twins.mts
	train -q -m "$G/bert" -o out --warmup 0 --steps 2 --schedule constant twins.mts
	[ "$(column loss out.log.tsv)" = 0 ]
	train -q -m "$G/bert" -o out --warmup 0 --no-mask-duplicates twins.mts
	close_to 1e-5 <(column loss out.log.tsv) <(echo 0.6931472)
	# nor is a hard negative that equals the document
	printf '2 5 3\t2 6 3\t2 6 3\n\n' | pairs_stream >negative.mts
	train -q -m "$G/bert" -o out --warmup 0 --steps 1 --schedule constant negative.mts
	[ "$(column loss out.log.tsv)" = 0 ]
}

# bats test_tags=plain
@test "train: texts are equal if their keys or their tokens are" {
	row() { printf '{"query": "%s", "document": "%s"}\n' "$@"; }
	printf 'batch: 2\ntasks: {a: {datasets: [{name: x, file: x.jsonl}]}}\n' >x.yaml
	loss() {
		tasksample -q "${@:2}" x.yaml | tok -q -m "$G/bert" -f query -f document >"$1.mts"
		train -q -m "$G/bert" -o out --warmup 0 --temperature 0.05 "$1.mts"
		column loss out.log.tsv
	}
	{ row sea lamp && row moon dog; } >x.jsonl
	[ "$(loss other | awk '{ print ($1 > 0.1) }')" = 1 ]
	# texts that differ in case, in spaces, or after the truncation
	{ row sea "the lamp" && row moon " The LAMP "; } >x.jsonl
	[ "$(loss case)" = 0 ]
	{ row Sea lamp && row "sea " dog; } >x.jsonl
	[ "$(loss queries)" = 0 ]
	# different texts of one label
	printf '{"text": "%s", "label": "%s"}\n' sea a lamp a >x.jsonl
	printf 'batch: 2\ntasks: {a: {datasets: [{name: x, file: x.jsonl, label: label}]}}\n' >x.yaml
	[ "$(loss labels)" = 0 ]
}

@test "train: the epoch in the log counts passes over the data, by tasksample or by train" {
	train -q -m "$G/bert" -o out --epochs 3 pairs.mts
	[ "$(column epoch out.log.tsv | uniq -c | awk '{ print $1 "x" $2 }' | paste -sd' ')" = "10x0 10x1 10x2" ]
	for i in {1..8}; do echo "{\"query\": \"sea $i\", \"document\": \"lamp $i\"}"; done >x.jsonl
	printf 'batch: 4\ntasks: {a: {datasets: [{name: x, file: x.jsonl}]}}\n' >x.yaml
	tasksample -q --epochs 2 x.yaml | tok -q -m "$G/bert" >two.mts
	train -q -m "$G/bert" -o out --epochs 2 two.mts
	[ "$(column epoch out.log.tsv | paste -sd' ')" = "0 0 1 1 2 2 3 3" ]
	train -q -m "$G/bert" -o out - <two.mts
	[ "$(column epoch out.log.tsv | paste -sd' ')" = "0 0 1 1" ]
	# batches before an interruption count
	train -q -m "$G/bert" -o whole --schedule constant --epochs 9 two.mts
	rm -r out
	cut_short 20 -q -m "$G/bert" -o out --schedule constant --epochs 9 --save-every 3 two.mts
	train -q -m "$G/bert" -o out --schedule constant --epochs 9 --save-every 3 two.mts
	cmp out.log.tsv whole.log.tsv
	[ "$(column epoch out.log.tsv | tail -n 1)" = 17 ]
}

@test "train: of documents with equal embeddings each counts in the accuracy with the probability of chance" {
	for i in {5..12}; do printf '2 %d 3\t2 6 3\n' $i; done | pairs_stream >same.mts
	train -q -m "$G/bert" -o out --no-mask-duplicates same.mts
	[ "$(column accuracy out.log.tsv)" = 0.125 ]
	# two equal documents, and six that are right or wrong
	for i in {5..12}; do printf '2 %d 3\t2 %d 3\n' $i $((i < 7 ? 6 : i)); done | pairs_stream >two.mts
	train -q -m "$G/bert" -o out --no-mask-duplicates two.mts
	column accuracy out.log.tsv | awk '{ print; n = 8 * $1; exit !(n == int(n) && n <= 7 || n == int(n) + 0.5) }'
}

# bats test_tags=plain
@test "train: --false-negatives drops candidates that are too similar, in training only" {
	for x in 10 -10 0.02; do
		train -q -m "$G/bert" -o out --false-negatives $x --dev pairs.mts --warmup 0 pairs.mts
		mv out.log.tsv "by$x.tsv"
	done
	train -q -m "$G/bert" -o out --dev pairs.mts --warmup 0 pairs.mts
	# a margin of 10 drops no candidate; one of -10 drops all, which makes the loss 0
	cut -f5 out.log.tsv | diff - <(cut -f5 by10.tsv)
	[ "$(column loss by-10.tsv | grep . | sort -u)" = 0 ]
	# between them the loss is smaller; held-out pairs have all candidates
	paste <(column loss by0.02.tsv | grep .) <(column loss out.log.tsv | grep .) | awk '{ if ($1 > $2) bad = 1; if ($1 < $2) less = 1 } NR == 1 { exit } END { exit bad || !less }'
	for x in 10 -10 0.02; do
		[ "$(column dev_loss by$x.tsv | head -n 1)" = "$(column dev_loss out.log.tsv | head -n 1)" ]
	done
	does_not_apply --false-negatives train -m "$G/bert" -o out --objective mse --false-negatives 1 pairs.mts
}

@test "train: unused columns of tokens are reported; an expert that the model lacks is refused" {
	echo '{"query": "sea", "document": "lamp", "negative": "moon"}' >x.jsonl
	fields=(-f query -f document)
	tok -q -m "$G/bert" "${fields[@]}" -f negative x.jsonl >named.mts
	run -0 --separate-stderr env train -j 1 -m "$G/bert" -o out named.mts
	[ "$stderr" = 'train: warning: named.mts: column "negative.ids" is not trained on; hard negatives are in "negatives.ids", which tok -f negatives=negative makes' ]
	tok -q -m "$G/bert" "${fields[@]}" -f negatives=negative x.jsonl >renamed.mts
	[ "$(column loss out.log.tsv)" = 0 ]
	run -0 --separate-stderr env train -j 1 -m "$G/bert" -o out renamed.mts
	[ -z "$stderr" ]
	[ "$(column loss out.log.tsv | awk '{ print ($1 > 1e-6) }')" = 1 ]
	tok -q -m "$G/bert" x.jsonl -f query >text.mts
	rm -r out
	for name in left '*'; do
		run -1 --separate-stderr train -q -m "$G/bert" -o out --from-scratch --objective mlm --expert "$name" text.mts
		[ "$stderr" = "train: $G/bert: has no task expert '$name'" ]
		run -1 --separate-stderr train -q -m "$G/bert" -o out --expert "$name" renamed.mts
		[ "$stderr" = "train: $G/bert: has no task expert '$name'" ]
		[ ! -e out ]
	done
}

@test "train: without --dropout the rates of config.json are ignored, and -v names them" {
	cp -r "$G/bert" rates
	jq '. + {hidden_dropout_prob: 0.5, attention_probs_dropout_prob: 0.25, attention_dropout: 0, classifier_dropout: 0.9}' "$G/bert/config.json" >rates/config.json
	run -0 --separate-stderr env train -j 1 -v -m rates -o out --lr 1e-12 pairs.mts
	[[ $stderr == *"train: rates: training is without dropout; config.json has attention_probs_dropout_prob 0.25, hidden_dropout_prob 0.5"$'\n'* ]]
	cp out.log.tsv rates.tsv
	jq '. + {hidden_dropout_prob: 0, attention_probs_dropout_prob: 0}' "$G/bert/config.json" >rates/config.json
	run -0 --separate-stderr env train -j 1 -v -m rates -o out --lr 1e-12 pairs.mts
	[[ $stderr != *dropout* ]]
	cmp out.log.tsv rates.tsv
}

# bats test_tags=plain
@test "train: a task expert without rows in a step keeps its bits" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	pairs_stream '{"experts": {"query": "left", "document": "left"}}' <"$G/pairs.txt" >left.mts
	train -q -m mote -o out --lr 1e-3 --decay 0.1 left.mts
	tensor_sums mote | sort >before
	tensor_sums out | sort >after
	[ "$(join before after | awk '$2 == $3' | grep -vc right)" = 0 ]
	[ "$(join before after | awk '$2 != $3' | grep -c right)" = 0 ]
	[ "$(grep -c right after)" -gt 0 ]
	# with --update-unused its matrices decay, as in flattened optimiser states
	train -q -m mote -o out --lr 1e-3 --decay 0.1 --update-unused left.mts
	tensor_sums out | sort >after
	[ "$(join before after | awk '$2 != $3' | grep -c right)" -gt 0 ]

	# each side has its own expert, else that of --expert
	pairs_stream '{"temperature": 0.05, "experts": {"query": "left", "document": "right"}}' <"$G/pairs.txt" >both.mts
	train -q -m mote -o out --warmup 0 both.mts
	train -q -m mote -o same --warmup 0 --expert right pairs.mts
	close_to 1e-5 <(column loss out.log.tsv | head -1) <(column loss same.log.tsv | head -1)

	run -1 --separate-stderr train -q -m mote -o out pairs.mts
	[ "$stderr" = "train: pairs.mts: record 1: names no task expert for 'query'; use 'tok --task NAME', or --expert with one of left, right" ]
	pairs_stream '{"experts": {"query": "up", "document": "left"}}' <"$G/pairs.txt" >up.mts
	run -1 --separate-stderr train -q -m mote -o out up.mts
	[ "$stderr" = "train: up.mts: record 1: asks for the task expert 'up'; mote has left, right" ]
}

# moments CHECKPOINT: the moments, a line each, as 8 hexadecimal digits
moments() {
	local header from to
	header=$(od -An -tu8 -N8 "$1" | tr -d ' ')
	for name in exp_avg exp_avg_sq; do
		read -r from to < <(head -c $((8 + header)) "$1" | tail -c +9 | jq -r ".$name.data_offsets | @tsv")
		od -An -v -tx4 -w4 -j $((8 + header + from)) -N $((to - from)) "$1"
	done
}

# bats test_tags=plain
@test "train: AdamW's moments of a task expert without rows keep their bits" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	for side in left right; do
		pairs_stream "{\"experts\": {\"query\": \"$side\", \"document\": \"$side\"}}" <"$G/pairs.txt" >$side.mts
	done
	mts cat right.mts left.mts left.mts >both.mts
	cut_short 12 -q -m mote -o out --save-every 1 both.mts
	moments out.checkpoint >first
	cut_short 3 -q -m mote -o out --save-every 1 both.mts
	moments out.checkpoint >second
	# both checkpoints are after the right expert's last step; all other moments have changed
	right=$(($(paste first second | awk '$1 != "00000000" && $1 == $2' | wc -l)))
	moved=$(paste first second | awk '$1 != $2' | wc -l)
	[ "$right" -gt 0 ]
	header=$(od -An -tu8 -N8 mote/model.safetensors | tr -d ' ')
	count='[to_entries[] | select(.key | test($expert)) | .value.shape | reduce .[] as $n (1; . * $n)] | add'
	parameters() { head -c $((8 + header)) mote/model.safetensors | tail -c +9 | jq --arg expert "$1" "del(.__metadata__) | $count"; }
	echo "$right $moved $(parameters right) $(parameters left) $(wc -l <first)"
	[ "$right" -le $((2 * $(parameters right))) ]
	[ "$right" -gt $((2 * $(parameters right) * 9 / 10)) ]
	[ "$moved" -gt $((2 * $(parameters left))) ]
}

@test "train: tasks that share an expert train it together, and the model keeps the tasks" {
	upcycle -q -m "$G/bert" --experts left,right --task a=left --task b=left --task right=left -o mote
	pairs_stream '{"experts": {"query": "left", "document": "left"}}' <"$G/pairs.txt" >own.mts
	train -q -m mote -o own --warmup 0 own.mts
	for names in '"query": "a", "document": "b"' '"query": "b", "document": "right"'; do
		pairs_stream "{\"experts\": {$names}}" <"$G/pairs.txt" >shared.mts
		train -q -m mote -o shared --warmup 0 shared.mts
		cmp own/model.safetensors shared/model.safetensors
	done
	pairs_stream '{}' <"$G/pairs.txt" >unnamed.mts
	train -q -m mote -o shared --warmup 0 --expert b unnamed.mts
	cmp own/model.safetensors shared/model.safetensors
	[ "$(jq -c .task_experts.tasks shared/config.json)" = '{"a":"left","b":"left","right":"left"}' ]
	pairs_stream '{"experts": {"query": "c", "document": "a"}}' <"$G/pairs.txt" >up.mts
	run -1 --separate-stderr train -q -m mote -o out up.mts
	[ "$stderr" = "train: up.mts: record 1: asks for the task expert 'c'; mote has left, right, and the tasks a, b, right" ]
}

# bats test_tags=plain
@test "train: with the expert '*' each text trains the expert that its ids' hash selects, to the bit" {
	upcycle -q -m "$G/bert" --experts left,right --task 'any=*' -o equal
	model_copy equal mote init 5
	# negatives share their document's expert, since a row has one expert for both
	names=(left right)
	while IFS=$'\t' read -ra texts; do
		[ ${#texts[@]} != 0 ] || { echo; continue; }
		query=$(text_expert 2 ${texts[0]}) document=$(text_expert 2 ${texts[1]})
		echo "{\"query.expert\": \"${names[query]}\", \"document.expert\": \"${names[document]}\"}" >>experts.jsonl
		printf '%s\t%s' "${texts[@]:0:2}"
		for negative in "${texts[@]:2}"; do
			[ "$(text_expert 2 $negative)" != "$document" ] || printf '\t%s' "$negative"
		done
		echo
	done <"$G/pairs.txt" >some.txt
	[ "$(sort experts.jsonl | uniq -c | wc -l)" = 4 ]
	[ "$(awk -F'\t' '{ n += NF > 2 } END { print n }' some.txt)" -gt 5 ]
	pairs_stream '{"temperature": 0.05}' <some.txt >some.mts
	mts from jsonl --record-rows 8 experts.jsonl | mts paste some.mts - >named.mts
	for tokens in 30 4000; do
		train -q -m mote -o named --warmup 0 --tokens $tokens named.mts
		for name in any '*'; do
			train -q -m mote -o out --warmup 0 --tokens $tokens --expert "$name" some.mts
			cmp out/model.safetensors named/model.safetensors
			cmp out.log.tsv named.log.tsv
		done
	done
	pairs_stream '{"temperature": 0.05, "experts": {"query": "any", "document": "*"}}' <some.txt >any.mts
	train -q -m mote -o out --warmup 0 --tokens 4000 any.mts
	cmp out/model.safetensors named/model.safetensors
	# negatives by their own ids: the loss follows from encode's vectors
	pairs_stream '{"temperature": 0.05, "experts": {"query": "left", "document": "any", "negatives": "any"}}' \
		<"$G/pairs.txt" >all.mts
	train -q -m mote -o out --lr 1e-12 all.mts
	close_to 1e-4 <(column loss out.log.tsv) <(loss_of mote all.mts | cut -f1)
	pairs_stream '{"temperature": 0.05, "experts": {"query": "left", "document": "any", "negatives": "left"}}' \
		<"$G/pairs.txt" >left.mts
	run -1 close_to 1e-3 <(column loss out.log.tsv) <(loss_of mote left.mts | cut -f1)
	run -2 --separate-stderr train -q -m mote -o mlm --from-scratch --objective mlm --expert any pairs.mts
	[ "${stderr%%$'\n'*}" = "train: --expert: a batch of masked language modelling has one expert; name it, not 'any'" ]
}

# bats test_tags=plain
@test "train: token experts: both losses and all gradients agree with torch's, also in chunks; unchosen experts keep their bits" {
	for family in bert_tokens nomic_moe; do
		F=$GOLDEN/families/$family
		run -0 balance_check "$F" "$F/expected.safetensors" "$F/balance.safetensors"
		[[ "$output" == *"1 chunks"*"ok token experts InfoNCE"*"ok token experts balance"*"ok token experts gradients"*" chunks"*"ok token experts gradients"* ]]
		[[ "$output" == *"ok token experts only the chosen experts change"*"ok token experts all experts change"* ]]
	done
}

# token_experts OPTION...: ten steps on the pairs, from the tiny BERT upcycled to token experts
token_experts() {
	[ -e moe ] || upcycle -m "$G/bert" --token-experts 4 --seed 3 -o moe
	train -q -m moe -o out --lr 2e-3 --warmup 0 "$@" pairs.mts
}

# bats test_tags=plain
@test "train: token experts train the same with --tokens 40 and in one chunk" {
	for balance in 0.3 0; do
		token_experts --balance $balance
		cp out.log.tsv whole.tsv
		token_experts --balance $balance --tokens 40
		for name in loss gradient_norm $([ $balance = 0 ] || echo balance); do
			column $name out.log.tsv >ours
			column $name whole.tsv >theirs
			[ "$(wc -l <ours)" -eq 10 ]
			close_to 1e-5 ours theirs
		done
	done
}

@test "train: --balance evens out the choice of experts, by a little with the default" {
	token_experts --balance 0 --epochs 6
	run ! grep -q balance out.log.tsv
	token_experts --balance 0.001 --epochs 6
	cp out.log.tsv little.tsv
	token_experts --epochs 6
	cmp out.log.tsv little.tsv
	token_experts --balance 1 --epochs 6
	# about 2 for each side, or more
	column balance out.log.tsv | awk '$1 < 3.8 { exit 1 }'
	[ "$(paste <(column balance out.log.tsv) <(column balance little.tsv) |
		tail -10 | awk '{ a += $1; b += $2 } END { print a < b }')" = 1 ]
	# both losses are equal before the first step
	[ "$(column balance out.log.tsv | head -1)" = "$(column balance little.tsv | head -1)" ]
	[ "$(column loss out.log.tsv | head -1)" = "$(column loss little.tsv | head -1)" ]
}

@test "train: --balance of a single expert is constant, and training is the dense model's" {
	upcycle -m "$G/bert" --token-experts 1 -o moe
	token_experts --balance 5
	[ "$(column balance out.log.tsv | sort -u)" = 2 ]
	column loss out.log.tsv >ours
	learn
	column loss out.log.tsv >theirs
	close_to 1e-6 ours theirs
}

# bats test_tags=plain
@test "train: token experts: a killed and resumed run has the same bits; another --balance is refused" {
	options=(-q --lr 1e-3 --epochs 3 --save-every 7 --balance 0.1)
	[ -e moe ] || upcycle -m "$G/bert" --token-experts 4 -o moe
	train -m moe -o whole "${options[@]}" pairs.mts
	cut_short 17 -m moe -o out "${options[@]}" pairs.mts
	run -1 train -m moe -o out "${options[@]}" --balance 0.2 pairs.mts
	[[ "$output" == *"is of a run with balance 0.1"* ]]
	train -m moe -o out "${options[@]}" pairs.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
}

@test "train: --balance is refused without token experts and with options that exclude it" {
	run -1 --separate-stderr train -q -m "$G/bert" -o out --balance 0.1 pairs.mts
	[ "$stderr" = "train: --balance: $G/bert has no token experts" ]
	does_not_apply --balance train -q -m "$G/bert" -o out --objective mlm --balance 0.1 pairs.mts
	run -2 --separate-stderr train -q -m "$G/bert" -o out --lora rank=2 --balance 0.1 pairs.mts
	[ ! -e out ]
	train -q -m "$G/bert" -o out --balance 0 --steps 1 pairs.mts
}

# bats test_tags=plain
@test "train: the gradient norm is that of the step's gradients, whichever experts had rows before" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	for side in left right; do
		pairs_stream "{\"experts\": {\"query\": \"$side\", \"document\": \"$side\"}}" <"$G/pairs.txt" >$side.mts
	done
	options=(-q -m mote --lr 1e-12 --schedule constant --warmup 0 --clip 0)
	for side in left right; do
		train "${options[@]}" -o $side $side.mts
	done
	mts cat left.mts right.mts left.mts >turns.mts
	train "${options[@]}" -o turns turns.mts
	for side in left right left; do column gradient_norm $side.log.tsv; done >theirs
	column gradient_norm turns.log.tsv >ours
	close_to 1e-5 ours theirs
	[ "$(wc -l <ours)" = 30 ]
}

# decayed MODEL: the tensors that weight decay changes, by one step with it and one without
decayed() {
	local options=(-q -m "$1" --steps 1 --warmup 0 --schedule constant --lr 1e-3)
	train "${options[@]}" --decay 0 -o out "${@:2}" pairs.mts
	sums "${@:2}" >without
	train "${options[@]}" --decay 0.5 -o out "${@:2}" pairs.mts
	sums "${@:2}" | join without - | awk '$2 != $3 { print $1 }'
}
sums() {
	if [ $# -gt 0 ]; then tensor_sums out/adapter_model.safetensors; else tensor_sums out; fi | sort
}

# bats test_tags=plain
@test "train: tensors with one row or one column do not decay, as after torch's squeeze" {
	mkdir config
	cat >config/config.json <<-'E'
		{"model_type": "bert", "vocab_size": 48, "hidden_size": 16, "num_hidden_layers": 1,
		"num_attention_heads": 2, "max_position_embeddings": 64, "intermediate_size": 12,
		"type_vocab_size": 1, "initializer_range": 0.3}
	E
	model_copy config bert init 3
	cat >config/config.json <<-'E'
		{"model_type": "qwen2_moe", "vocab_size": 48, "hidden_size": 16, "num_hidden_layers": 1,
		"num_attention_heads": 2, "max_position_embeddings": 64, "intermediate_size": 12,
		"num_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 4,
		"shared_expert_intermediate_size": 6, "decoder_sparse_step": 1, "initializer_range": 0.3}
	E
	model_copy config qwen init 3
	for model in bert qwen; do
		cp "$G/bert/vocab.txt" $model
		decayed $model >$model.names
		run -1 grep -E 'bias|norm|token_type|shared_expert_gate' $model.names
	done
	grep -q word_embeddings bert.names
	grep -q 'shared_expert.up_proj' qwen.names
	[ -z "$(decayed bert --lora rank=1,targets=query)" ]
	[ "$(decayed bert --lora rank=2,targets=query)" = base_model.model.encoder.layer.0.attention.self.query.lora_A.weight ]
}

# loss_of MODEL STREAM: InfoNCE at temperature 0.05 of each eight rows, and the number of right documents, from
# encode's vectors
loss_of() {
	encode -q --any-tokenizer -m "$1" "$2" | mts to jsonl | jq -s '
		def dot(a; b): [a, b] | transpose | map(.[0] * .[1]) | add;
		def unit: (map(. * .) | add | sqrt) as $n | map(. / $n);
		_nwise(8) | map(."query.emb" | unit) as $q | map(."document.emb" | unit) as $d |
		($d + map(."negatives.emb"[] | unit)) as $c |
		[range(8) as $i | [$c[] | dot($q[$i]; .) / 0.05] |
			{ loss: ((map(exp) | add | log) - .[$i]), right: (if max == .[$i] then 1 else 0 end) }] |
		[(map(.loss) | add / 8), (map(.right) | add / 8)] | @tsv' -r
}

@test "train: each side has its expert, negatives the documents'; the loss follows from encode's vectors" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	train -q -m mote -o apart --expert left --lr 1e-2 --warmup 0 pairs.mts
	# encode needs an expert for negatives; train knows two sides
	pairs_stream '{"temperature": 0.05,
		"experts": {"query": "left", "document": "right", "negatives": "right"}}' <"$G/pairs.txt" >sides.mts
	train -q -m apart -o out --lr 1e-12 sides.mts
	loss_of apart sides.mts >expected
	close_to 1e-4 <(column loss out.log.tsv) <(cut -f1 expected)
	cmp <(column accuracy out.log.tsv) <(cut -f2 expected)
	[ "$(cut -f2 expected | sort -u | wc -l)" -gt 2 ]
	pairs_stream '{"temperature": 0.05,
		"experts": {"query": "left", "document": "right", "negatives": "left"}}' <"$G/pairs.txt" >other.mts
	run -1 close_to 1e-3 <(column loss out.log.tsv) <(loss_of apart other.mts | cut -f1)
}

@test "train: include_prompt false leaves prompts out of the mean, as in encode" {
	cp -r "$G/bert" prompted
	mkdir -p prompted/1_Pooling
	echo '[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
		{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]' >prompted/modules.json
	for include in false true; do
		echo "{\"word_embedding_dimension\": 16, \"pooling_mode_mean_tokens\": true, \"include_prompt\": $include}" \
			>prompted/1_Pooling/config.json
		pairs_stream '{"temperature": 0.05, "prompt_tokens": {"query": 2, "document": 1, "negatives": 1}}' \
			<"$G/pairs.txt" >prompts.mts
		train -q -m prompted -o out --lr 1e-12 prompts.mts
		column loss out.log.tsv >$include
		close_to 1e-4 $include <(loss_of prompted prompts.mts | cut -f1)
	done
	differ false true
}

# losses ATTRIBUTE: the losses of a folder that leaves prompts out, on batches with this attribute prompt_tokens
losses() {
	pairs_stream "{\"prompt_tokens\": $1}" <"$G/pairs.txt" >prompts.mts
	train -q -m prompted -o out --lr 1e-12 prompts.mts
	column loss out.log.tsv
}

# bats test_tags=plain
@test "train: prompts longer than 2^32 tokens cover the whole text, negative lengths none" {
	cp -r "$G/bert" prompted
	mkdir -p prompted/1_Pooling
	echo '[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
		{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]' >prompted/modules.json
	echo '{"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true, "include_prompt": false}' \
		>prompted/1_Pooling/config.json
	losses '{"query": 100000}' >all
	losses '{"query": 4294967298}' | cmp - all # 2 in 32 bits
	losses '{"query": 2}' >two
	differ two all
	losses '{"document": 1}' >one
	losses '{"query": -1, "document": 1}' | cmp - one
}

# bats test_tags=plain
@test "train: --accumulate averages: a batch twice equals the batch" {
	head -n 9 "$G/pairs.txt" | pairs_stream >one.mts
	mts cat one.mts one.mts >two.mts
	options=(-q -m "$G/bert" --schedule constant --warmup 0 --lr 1e-3 --clip 0)
	train "${options[@]}" -o one one.mts
	train "${options[@]}" -o two --accumulate 2 two.mts
	for name in loss gradient_norm; do
		close_to 1e-5 <(column $name one.log.tsv) <(column $name two.log.tsv)
	done
	[ "$(column examples two.log.tsv)" = 16 ]
	[ "$(column tokens two.log.tsv)" -eq "$(mts to jsonl two.mts | jq -s '[.[] | to_entries[] | select(.key | endswith(".ids")).value] | flatten | length')" ]
}

@test "train: --seed decides weights, masks, and the order of sequences and pairs" {
	options=(-q --schedule constant --warmup 0 --lr 1e-12)
	mlm=(--objective mlm --batch-tokens 300)
	for seed in 1 2; do
		train "${options[@]}" "${mlm[@]}" -m "$G/nomic_bert" --from-scratch --seed $seed -o drawn$seed pairs.mts
		tensor_sums drawn$seed | grep -vE 'bias|norm|ln' >drawn$seed.sums
		# the same weights; standard input is read in order, so that only masks differ
		train "${options[@]}" "${mlm[@]}" -m drawn1 --seed $seed -o masks$seed <pairs.mts
		train "${options[@]}" "${mlm[@]}" -m drawn1 --seed $seed -o order$seed pairs.mts
		train "${options[@]}" -m "$G/bert" --lora rank=2 --seed $seed -o pairs$seed pairs.mts
		tensor_sums pairs$seed/adapter_model.safetensors | grep lora_A >pairs$seed.sums
	done
	run -1 grep -Fx -f drawn1.sums drawn2.sums # no tensor is the same
	run -1 grep -Fx -f pairs1.sums pairs2.sums
	cmp <(column tokens masks1.log.tsv) <(column tokens masks2.log.tsv)
	run -1 cmp -s <(column examples masks1.log.tsv) <(column examples masks2.log.tsv)
	run -1 cmp -s <(column tokens order1.log.tsv) <(column tokens order2.log.tsv)
	# each sequence once an epoch, each epoch in its own order
	train "${options[@]}" "${mlm[@]}" -m drawn1 --epochs 2 -o epochs pairs.mts
	total() { awk -v epoch="$1" 'NR > 1 && $2 == epoch { n += $(NF) } END { print n }' "$2"; }
	[ "$(total 0 epochs.log.tsv)" = "$(total 0 masks1.log.tsv)" ]
	[ "$(total 1 epochs.log.tsv)" = "$(total 0 masks1.log.tsv)" ]
	run -1 cmp -s <(awk '$2 == 0 { print $NF }' epochs.log.tsv) <(awk '$2 == 1 { print $NF }' epochs.log.tsv)
}

@test "train: --schedule, --warmup, --accumulate and --steps follow their definition" {
	learn --schedule linear
	close_to 1e-6 <(column lr out.log.tsv) <(seq 2e-3 -2e-4 2e-4)
	learn --schedule constant
	[ "$(column lr out.log.tsv | sort -u)" = 0.002 ]
	learn --schedule cosine
	[ "$(column lr out.log.tsv | sed -n 6p)" = 0.001 ]
	learn --schedule wsd --epochs 3
	close_to 1e-6 <(column lr out.log.tsv | tail -n 4) <(printf '%s\n' 2e-3 2e-3 1.3333333e-3 0.66666667e-3)
	learn --warmup 0.5 --schedule constant
	[ "$(column lr out.log.tsv | sed -n 2p)" = 0.0004 ]
	learn --accumulate 4
	[ "$(column step out.log.tsv | tail -1)" = 3 ]
	[ "$(column examples out.log.tsv | paste -sd ' ')" = "32 32 16" ]
	learn --steps 4
	[ "$(wc -l <out.log.tsv)" = 5 ]
	learn --epochs 3
	[ "$(column epoch out.log.tsv | uniq -c | awk '{ print $1, $2 }' | paste -sd,)" = "10 0,10 1,10 2" ]
	learn --timing
	[ "$(head -1 out.log.tsv | cut -f12)" = tokens_per_second ]
}

# bats test_tags=plain
@test "train: equal commands write equal bytes" {
	learn
	cp -r out first
	cp out.log.tsv first.tsv
	learn
	cmp out/model.safetensors first/model.safetensors
	cmp out.log.tsv first.tsv
	env train -q -j 2 -m "$G/bert" -o two --epochs 2 pairs.mts
	env train -q -j 2 -m "$G/bert" -o again --epochs 2 pairs.mts
	cmp two/model.safetensors again/model.safetensors
	learn --lr 3e-3
	run -1 cmp -s out/model.safetensors first/model.safetensors
	learn --dtype bf16
	[ "$(wc -c <out/model.safetensors)" -lt 20000 ]
}

@test "train: a killed and resumed run has the weights and the log of an uninterrupted run" {
	options=(-q -m "$G/bert" --lr 1e-3 --epochs 6 --save-every 7 pairs.mts)
	train -o whole "${options[@]}"
	cut_short 17 -o out "${options[@]}"
	[ "$(wc -l <out.log.tsv)" -eq 18 ]
	cut_short 24 -o out "${options[@]}" -v 2>resumed
	[ "$(sed -n 's/.*: goes on after step //p' resumed)" -eq 14 ]
	[ "$(wc -l <out.log.tsv)" -eq 39 ]
	train -o out "${options[@]}"
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
	[ ! -e out.checkpoint ]
}

# stop SIGNAL STEPS OPTION...: signals train when it is about to log the step after STEPS; returns its status
stop() {
	local signal=$1 steps=$2 status=0
	shift 2
	killed_at -w out.log.tsv -s "$(kill -l "$signal")" $((steps + 1)) \
		env --default-signal="$signal" train -j 1 "$@" 2>stopped 3>/dev/null || status=$?
	[ ! -e out ] && [ -e out.checkpoint ] && return $status
}

# bats test_tags=plain
@test "train: SIGTERM and SIGINT leave a checkpoint, which resumes to the same bits" {
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	options=(-m "$G/bert" --lr 1e-3 --epochs 9 --accumulate 3 --save-every 0 pairs.mts)
	train -q -o whole "${options[@]}"
	run -143 stop TERM 8 -o out "${options[@]}"
	[ "$(wc -l <out.log.tsv)" -eq 10 ]
	[ "$(cat stopped)" = "train: out.checkpoint: stopped by signal 15 after step 9; the same command goes on from there" ]
	run -130 stop INT 7 -o out "${options[@]}"
	[ "$(wc -l <out.log.tsv)" -eq 18 ]
	train -q -o out "${options[@]}"
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
	[ ! -e out.checkpoint ]
}

@test "train: a second run in a folder is refused and names the first; a failed run leaves no lock" {
	mkfifo pipe
	pairs_stream '{"temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >pairs.mts
	options=(-m "$GOLDEN/train/bert" --steps 1 -o out)
	exec 4<>pipe
	env train -j 1 "${options[@]}" <&4 2>first 3>&- &
	first=$!
	until [ -s out.lock ]; do kill -0 "$first"; done
	run -1 --separate-stderr train "${options[@]}" pairs.mts
	[ "$stderr" = "train: out: process $first on $(uname -n) (train) is writing it; wait until that has ended, or choose another name" ]
	run -1 --separate-stderr train "${options[@]/out/./out/}" pairs.mts
	[[ $stderr == "train: ./out/: process $first on "* ]]
	run -1 --separate-stderr upcycle -m "$GOLDEN/train/bert" --experts a -o out
	[[ $stderr == "upcycle: out: process $first on "* ]]
	[ ! -e out ] && [ ! -e out.log.tsv ] && [ -e out.lock ]
	kill -9 "$first"
	wait "$first" || true
	exec 4>&-
	[ -e out.lock ] # a killed process cannot remove it
	train "${options[@]}" pairs.mts
	[ -e out/model.safetensors ] && [ ! -e out.lock ]
	# a failing one does
	run -1 train "${options[@]}" none.mts
	[ ! -e out.lock ]
}

# bats test_tags=plain
@test "train: killed at any step on the disk, the same command resumes to the same weights" {
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	pairs_stream '{"temperature": 0.05}' <"$GOLDEN/train/pairs.txt" >pairs.mts
	options=(-q -m "$GOLDEN/train/bert" --epochs 2 --steps 2 --save-every 1 pairs.mts -o)
	train "${options[@]}" whole
	for ((n = 1, status = 137; status == 137; n++)); do
		rm -rf out out.*
		status=0
		killed_at "$n" env train -j 1 "${options[@]}" out 3>/dev/null || status=$?
		# train.json has the commands, which differ
		[ ! -e out ] || diff -r -x train.json out whole
		train "${options[@]}" out
		diff -r -x train.json out whole
		cmp out.log.tsv whole.log.tsv
		[ ! -e out.checkpoint ] && [ ! -e out.lock ]
	done
	[ "$status" = 0 ] && [ "$n" -gt 20 ]
}

@test "train: a signal to the whole pipe leaves a checkpoint" {
	for i in {1..6}; do cat "$G/pairs.txt"; done | pairs_stream >long.mts
	options=(-q -m "$G/bert" -o out --lr 1e-3 --steps 60)
	train "${options[@]}" -o whole <long.mts
	head -c $(($(stat -c %s long.mts) / 2)) long.mts >half.mts
	run -1 train "${options[@]}" <half.mts
	steps=$(wc -l <out.log.tsv)
	rm out.*
	mkfifo pipe
	exec 9<>pipe # held open, so that the input does not end
	cat half.mts >&9 &
	env --default-signal=INT train -j 1 "${options[@]}" <pipe 9<&- 2>stopped &
	pid=$!
	until [ -e out.log.tsv ] && [ "$(wc -l <out.log.tsv)" = "$steps" ]; do kill -0 $pid; done
	kill -s INT $pid
	exec 9<&-
	wait $pid && false || [ $? = 130 ]
	grep -q '<stdin>: ' stopped
	[ -e out.checkpoint ]
	train "${options[@]}" <long.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
}

# bats test_tags=plain
@test "train: masked language modelling from standard input, killed and resumed, gives the same bits" {
	for i in {1..40}; do cat "$G/pairs.txt"; done | pairs_stream >long.mts
	options=(-q -m "$G/bert" --from-scratch --objective mlm --batch-tokens 300 --lr 1e-3 --steps 60 --save-every 7)
	train -o whole "${options[@]}" <long.mts
	cut_short 20 -o out "${options[@]}" <long.mts
	train -o out "${options[@]}" <long.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
}

# bats test_tags=plain
@test "train: writing a checkpoint and the model takes no memory" {
	case $BUILD in *sanitize*) skip "ASan has memory of its own" ;; esac
	mkdir config
	cat >config/config.json <<-'E'
		{"model_type": "bert", "vocab_size": 30000, "hidden_size": 512, "num_hidden_layers": 1,
		"num_attention_heads": 8, "max_position_embeddings": 64, "intermediate_size": 64}
	E
	cp "$G/bert/vocab.txt" config
	# 65 MB each of parameters, gradients and two moments; 190 MB for everything else
	(ulimit -v 450000 && train -q -m config -o out --from-scratch --steps 1 --save-every 1 pairs.mts)
	[ "$(stat -c %s out/model.safetensors)" -gt 60000000 ]
	(ulimit -v 450000 && train -q -m config -o out --from-scratch --steps 1 --dtype bf16 --save-every 0 pairs.mts)
	[ "$(stat -c %s out/model.safetensors)" -lt 40000000 ]
}

# bats test_tags=plain
@test "train: a resumed run reads past the batches on standard input that it has seen; other batches are refused" {
	for i in {1..6}; do cat "$G/pairs.txt"; done | pairs_stream >long.mts
	options=(-q -m "$G/bert" --lr 1e-3 --steps 150 --save-every 7)
	train -o whole "${options[@]}" <long.mts
	cut_short 17 -o out "${options[@]}" <long.mts
	mkdir kept
	cp out.checkpoint out.log.tsv kept
	train -o out "${options[@]}" <long.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv

	rm -r out
	mv kept/* .
	run -1 --separate-stderr train -o out "${options[@]}" <pairs.mts
	[[ "$stderr" == *"ends after 10 batches; the checkpoint has seen "* ]]
	for i in {1..15}; do tac "$G/pairs.txt"; done | pairs_stream >other.mts
	run -1 --separate-stderr train -o out "${options[@]}" <other.mts
	[[ "$stderr" == *"are not those that the checkpoint was trained on"* ]]
}

# bats test_tags=plain
@test "train: a run does not resume with the same texts in other pairs, at another temperature, with other experts or other --documents" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	experts='"experts": {"query": "left", "document": "right"}'
	options=(-q -m mote --lr 1e-3 --schedule constant --epochs 50 --save-every 3 -o out)
	pairs_stream "{\"temperature\": 0.05, $experts}" <"$G/pairs.txt" >same.mts
	cut_short 8 "${options[@]}" same.mts
	# the first two rows of each batch exchange their documents
	awk -F'\t' -v OFS='\t' '!NF { n = 0; print; next } { n++ } n == 1 { split($0, first); held = $0; next }
		n == 2 { second = $2; $2 = first[2]; line = $0; $0 = held; $2 = second; print; print line; next } { print }' "$G/pairs.txt" |
		pairs_stream "{\"temperature\": 0.05, $experts}" >pairs.mts
	pairs_stream "{\"temperature\": 0.5, $experts}" <"$G/pairs.txt" >temperature.mts
	pairs_stream "{\"temperature\": 0.05, ${experts/right/left}}" <"$G/pairs.txt" >experts.mts
	for other in pairs temperature experts; do
		run -1 --separate-stderr train "${options[@]}" $other.mts
		[[ $stderr == "train: $other.mts: its first "*" batches are not those that the checkpoint was trained on; give the same stream, or --restart" ]]
	done
	train "${options[@]}" same.mts

	options=(-q -m "$G/bert" --lr 1e-3 --schedule constant --epochs 50 --save-every 3 -o out --documents vectors.mts same.mts)
	encode -q --keep -m "$G/bert" same.mts >vectors.mts
	rm -r out
	cut_short 8 "${options[@]}"
	mts rows --rows 3- vectors.mts | mts cat - <(mts rows --rows 1-2 vectors.mts) >turned.mts
	mv vectors.mts kept.mts
	mv turned.mts vectors.mts
	run -1 --separate-stderr train "${options[@]}"
	[ "$stderr" = "train: vectors.mts: is not the file of embeddings that the checkpoint was trained with; give the same, or --restart" ]
	mv kept.mts vectors.mts
	train "${options[@]}"
}

# sample OPTION...: tokens of batches from a recipe of two tasks, whose texts are letters
sample() {
	tasksample -C "$T" --epochs 3 "$@" mix.yaml | tok -q -m "$G/bert"
}

recipe() {
	local letters=({a..z})
	for i in {0..99}; do
		a=${letters[i % 26]} b=${letters[i * 7 % 25]} c=${letters[i * 3 % 23]}
		printf '{"query": "%s %s", "document": "%s %s", "hard": ["%s"]}\n' "$a" "$b" "$b" "$c" "$c$a"
	done >some.jsonl
	cat >mix.yaml <<-'END'
		batch: 10
		tasks:
		  find: {temperature: 0.1, datasets: [{name: some, file: some.jsonl, negatives: hard}]}
		  sort: {temperature: 0.2, prompts: "z ", datasets: [{name: same, file: some.jsonl}]}
	END
}

@test "train: reads batches of tasksample and tok, and resumes where tasksample --skip begins" {
	recipe
	sample >all.mts
	options=(-q -m "$G/bert" --lr 1e-3 --save-every 7)
	train "${options[@]}" -o whole <all.mts
	[ "$(column task whole.log.tsv | sort | uniq -c | awk '{ print $1 $2 }' | paste -sd,)" = 30find,30sort ]
	cut_short 17 "${options[@]}" -o out <all.mts
	step=$(grep -ao '"batches":[0-9]*' out.checkpoint)
	sample --skip "${step#*:}" | train "${options[@]}" -o out
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
}

@test "train: rows of one batch may have different experts" {
	recipe
	sed -i 's/{temperature: 0.1/{experts: left/; s/{temperature: 0.2/{experts: {query: right, document: left}/' mix.yaml
	upcycle -q -m "$G/bert" --experts left,right -o mote
	tasksample -q --batching static mix.yaml | tok -q -m mote >static.mts
	train -q -m mote -o out static.mts
	train -q -m mote -o chunks --tokens 20 static.mts
	column loss out.log.tsv >whole
	column loss chunks.log.tsv >ours
	close_to 1e-4 ours whole
	# both experts learn
	tensor_sums mote | sort >before
	tensor_sums out | sort >after
	[ "$(join before after | awk '$2 == $3' | wc -l)" = 0 ]
}

@test "train: the page's examples run" {
	recipe
	cp mix.yaml gate.yaml
	cp mix.yaml pairs.yaml
	printf 'sentence1\tsentence2\tscore\n' >rated.tsv
	awk 'BEGIN { for (i = 0; i < 40; i++) printf "%c b\tb %c\t%.1f\n", 97 + i % 25, 99 + i % 20, i % 11 / 2 }' >>rated.tsv
	cp mix.yaml held-out.yaml
	upcycle -q -m "$G/bert" --experts left -o mote
	sed -i 's/batch:/temperature: 0.1\n&/; s/{temperature: 0../{experts: left/' mix.yaml
	mkdir base
	cp "$G/nomic_bert"/{config.json,vocab.txt} base
	cp some.jsonl text.jsonl
	sed -n '1,30s/.*"document": \("[^"]*"\).*/{"text": \1}/p' some.jsonl >corpus.jsonl
	cp -r "$G/bert" contriever
	sed -i 's/{/{ "architectures": ["BertModel"],/' contriever/config.json
	cp -r contriever guide
	cp -r contriever small
	seq 100 | sed 's/$/ a b/' >lines.txt
	cp -r "$GOLDEN/families/olmoe" .
	cp "$G/nomic_bert/vocab.txt" olmoe
	sed -i 's/"vocab_size": 40/"vocab_size": 48/' olmoe/config.json
	echo '{"query": "a b", "document": "b c", "negatives": ["d", "e a"]}' >hard.jsonl
	page_examples train.1 >examples
	[ "$(wc -l <examples)" -eq 28 ]
	bash -eu -o pipefail examples
	[ -e trained/model.safetensors ]
	[ -e model/model.safetensors ]
	[ -e decoder/model.safetensors ]
	[ -e tuned/model.safetensors ]
	[ -e rated/model.safetensors ]
	[ -e reranker/model.safetensors ]
	[ "$(wc -l <small2.log.tsv)" = 7 ]
	[ "$(wc -l <trained.log.tsv)" = 3 ]
	[ -e gate/adapter_model.safetensors ]
}

# bats test_tags=plain
@test "train: masked language modelling learns, and resumes to the same bits" {
	options=(-q -m "$G/nomic_bert" --from-scratch --objective mlm --lr 5e-3 --batch-tokens 300
		--save-every 9 --seed 4 pairs.mts)
	# under the sanitizers 9 epochs run the same lines
	[[ $BUILD == *-sanitize* ]] || learns 0.8 "${options[@]}" --epochs 300
	options+=(--epochs 9)
	train -o whole "${options[@]}"
	cut_short 20 -o out "${options[@]}"
	train -o out "${options[@]}"
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
	# training goes on from the written model with its head
	train -q -m out -o more --objective mlm --schedule constant --warmup 0 --batch-tokens 300 <pairs.mts
}

# bats test_tags=plain
@test "train: --dev: held-out texts have the same masks each time" {
	options=(-q -m "$G/bert" --from-scratch --objective mlm --save-every 1 --schedule constant --warmup 0)
	# in one batch they have the masks of the first training batch
	train "${options[@]}" -o out --lr 1e-12 --dev pairs.mts --batch-tokens 100000 pairs.mts
	close_to 1e-6 <(column dev_loss out.log.tsv | tail -n 1) <(column loss out.log.tsv | tail -n 1)
	options+=(--batch-tokens 300)
	train "${options[@]}" -o out --lr 1e-12 --dev pairs.mts pairs.mts
	[ "$(column dev_loss out.log.tsv | wc -l)" -gt 3 ]
	[ "$(column dev_loss out.log.tsv | sort -u | wc -l)" = 1 ]
	train "${options[@]}" -o learns --lr 1e-2 --epochs 20 --dev pairs.mts pairs.mts
	[ "$(column dev_loss learns.log.tsv | awk 'NR == 1 { a = $1 } END { print ($1 < 0.95 * a) }')" = 1 ]
}

@test "train: masked tokens become the mask token" {
	# with an untied head a step changes only the embeddings of tokens in the input
	cp -r "$GOLDEN/families/bert_mlm" model
	head -n 40 "$G/nomic_bert/vocab.txt" >model/vocab.txt
	for _ in {1..12}; do echo 'a b c d e f g h'; done | tok -m model -f text - >text.mts
	train -q -m model -o out --objective mlm --steps 1 --decay 0 --schedule constant --warmup 0 --lr 1e-2 text.mts
	table=$(safetensors_list model/model.safetensors | cut -f1 | grep word_embeddings)
	for side in model out; do
		mts from safetensors -c "$table" $side/model.safetensors | mts to jsonl >$side.rows
	done
	paste -d '|' model.rows out.rows | awk -F'|' '$1 != $2 { print NR - 1 }' >moved
	token() { echo $(($(grep -nx "$1" model/vocab.txt | cut -d: -f1) - 1)); }
	for text in '\[MASK\]' '\[CLS\]' '\[SEP\]' a h; do
		grep -x "$(token "$text")" moved
	done
	run ! grep -x "$(token '\[PAD\]')" moved
}

# bats test_tags=plain
@test "train: --lora: ten steps of an adapter agree with torch's and PEFT's to 1e-4" {
	train -q -m "$G/bert" -o out --lora "$G/lora" --schedule linear --lr 2e-3 --warmup 3 --steps 20 \
		--decay 0.1 --clip 2 --beta2 0.98 --eps 1e-6 pairs.mts
	for name in loss lr gradient_norm; do
		column $name out.log.tsv >ours
		column $name "$G/lora.tsv" >theirs
		close_to 1e-5 ours theirs
	done
	train -q -m "$G/bert" -o queries --lora "$G/lora" --schedule linear --lr 2e-3 --warmup 3 --steps 20 \
		--decay 0.1 --clip 2 --beta2 0.98 --eps 1e-6 --freeze-documents --tokens 40 pairs.mts
	for name in loss gradient_norm; do
		column $name queries.log.tsv >ours
		column $name "$G/lora_queries.tsv" >theirs
		close_to 1e-5 ours theirs
	done
	grep -q '"r": 4' out/adapter_config.json
	grep -q '"lora_alpha": 6' out/adapter_config.json
}

@test "train: --lora: the written adapter encodes as in training; B starts at zero" {
	options=(-q -m "$G/bert" --schedule constant --warmup 0 --lr 1e-2)
	train "${options[@]}" -o out --lora rank=2,alpha=8,targets=query+output.dense --steps 1 pairs.mts
	train "${options[@]}" -o dense --steps 1 pairs.mts
	column loss out.log.tsv >ours
	column loss dense.log.tsv >theirs
	cmp ours theirs
	[ "$(ls out)" = "$(printf '%s\n' adapter_config.json adapter_model.safetensors train.json)" ]
	# six modules: query, attention.output.dense and output.dense in two blocks
	[ "$(grep -ao 'encoder[a-z0-9_.]*lora_B.weight' out/adapter_model.safetensors | wc -l)" = 6 ]
	# encode --adapter gives other embeddings, and train --lora out goes on with another loss
	for side in '' '--adapter out'; do
		# shellcheck disable=SC2086
		encode -q -m "$G/bert" $side pairs.mts | ids_stream --rows query.emb >"rows$side"
	done
	run -1 cmp -s rows "rows--adapter out"
	train "${options[@]}" -o on --lora out --steps 1 pairs.mts
	column loss on.log.tsv >ours
	run -1 close_to 1e-3 ours theirs
}

@test "train: train.json records how the weights were made: of models, adapters, tables and language models" {
	noted() { jq -c "$1" "${2:-out}/train.json"; }
	version=$(train --version | sed -n 's/^train (motes) //p')
	encode -q -m "$G/bert" -o vectors.mts pairs.mts
	fingerprint=$(mts head --json -n 0 vectors.mts | jq -r .properties.model)
	MOTES_MODEL=$G/bert env train -q -o out --lr 2e-3 --epochs 2 --accumulate 2 -s 7 --dtype bf16 pairs.mts
	[ "$(noted '[.command, .start, .ranks, .dtype, .objective]')" = "[\"train -q -o out --lr 2e-3 --epochs 2 --accumulate 2 -s 7 --dtype bf16 pairs.mts\",\"$G/bert\",1,\"bf16\",\"infonce\"]" ]
	# options that were given, and defaults
	noted '.settings | [.version, .model, .seed, .steps, .epochs, .lr, .schedule, .clip + 0, .lora]' |
		diff - <(jq -nc --arg v "$version" --arg f "$fingerprint" '[$v, $f, 7, 10, 2, 0.002, "cosine", 1, ""]')
	[ "$(noted '[.steps, .batches, .read.taken]')" = '[10,20,20]' ]
	noted .stream | diff - <(mts head --json -n 0 pairs.mts | jq -c '{name: "pairs.mts", properties, history}')
	noted '.stream.history | length' | grep -vx 0
	hash=$(noted .read.hash)
	# the same after an interruption; other batches have another hash
	rm -r out
	cut_short 4 -q -m "$G/bert" -o out --save-every 1 --epochs 2 pairs.mts
	train -q -m "$G/bert" -o out --epochs 2 pairs.mts
	train -q -m "$G/bert" -o whole --epochs 2 pairs.mts
	noted 'del(.command)' | diff - <(noted 'del(.command)' whole)
	pairs_stream '{}' <<<$'a ship\tthe ship\na pot\troses' | tee other.mts | train -q -m "$G/bert" -o other --steps 1 -
	[ "$(noted .stream.name other)" = '"<stdin>"' ]
	[ "$(noted .read.hash other)" != "$hash" ]
	train -q -m "$G/bert" -o again --epochs 2 pairs.mts
	[ "$(noted .read.hash again)" = "$hash" ]
	# an adapter; a table of static embeddings; a model that learns from texts
	train -q -m "$G/bert" -o lora --lora rank=2 --steps 1 other.mts
	[ "$(noted '[.settings.lora, .settings.model, .steps]' lora)" = "[\"rank=2\",\"$fingerprint\",1]" ]
	cp -r "$GOLDEN/static/plain" table && cp "$GOLDEN/static/tokenizer.json" table
	pairs_stream '{}' <"$GOLDEN/static/pairs.txt" | mts cat -q | train -q -m table -o tuned --steps 1
	[ "$(noted '[.steps, (.stream.history | map(.program))]' tuned)" = '[1,["pairs_stream","mts"]]' ]
	seq 1 9 | ids_stream text.ids >text.mts
	train -q -m "$G/bert" -o words --from-scratch --objective mlm --steps 1 text.mts
	[ "$(noted '[.objective, .stream.name, .read.taken]' words)" = '["mlm","text.mts",9]' ]
	# the file is not part of the model: neither of its revision nor of folders made from it
	revision=$(leaderboard model -m out | jq .revision)
	echo '{}' >out/train.json
	[ "$(leaderboard model -m out | jq .revision)" = "$revision" ]
	upcycle -q --experts a -m out -o experts
	[ ! -e experts/train.json ]
	encode -q -m out -o vectors.mts pairs.mts
	geom whiten fit -q -m out -f query -f document -o white vectors.mts
	[ -e white/model.safetensors ] && [ ! -e white/train.json ]
	train -q -m out -o out --steps 1 other.mts # replaced like any file of the model
	[ "$(noted .start)" = '"out"' ]
}

@test "train: --warmup as a share of the steps needs their number; a number of steps does not" {
	run -2 --separate-stderr train -q -m "$G/bert" -o out --schedule constant --warmup 0.5 <pairs.mts
	[[ $stderr == "train: --warmup 0.5, a share of the steps, needs their number: give --steps, or a number of warm-up steps"* ]]
	train -q -m "$G/bert" -o out --schedule constant --warmup 2 --lr 1e-3 <pairs.mts
	[ "$(column lr out.log.tsv | sed -n 1,3p | tr '\n' ' ')" = "0 0.0005 0.001 " ]
	train -q -m "$G/bert" -o none --schedule constant --lr 1e-3 <pairs.mts
	[ "$(column lr none.log.tsv | sort -u)" = 0.001 ]
	train -q -m "$G/bert" -o usual --schedule constant --lr 1e-3 --steps 40 --epochs 40 pairs.mts
	[ "$(column lr usual.log.tsv | sed -n 1,3p | tr '\n' ' ')" = "0 0.0005 0.001 " ]
}

# Attention stays f32, so that a chunk that goes forward twice has the same embeddings both times.
@test "train: --precision bf16: losses and gradients of texts of more than 64 tokens do not depend on the chunks" {
	seeded_awk 'BEGIN { srand(3); for (i = 0; i < 8; i++) { for (j = 0; j < 2; j++) { printf j ? "\t" : ""
		for (n = 100 + int(60 * rand()); n; n--) printf "%s%d", n % 1000 ? " " : "", 3 + int(30 * rand()) } print "" } }' | sed 's/^ //; s/\t /\t/' | pairs_stream >long.mts
	for chunk in 4096 256; do
		train -q -m "$GOLDEN/families/gte" -o out --precision bf16 --steps 1 --schedule constant --tokens $chunk long.mts
		column loss out.log.tsv >loss.$chunk
		column gradient_norm out.log.tsv >norm.$chunk
		rm -r out*
	done
	close_to 1e-6 loss.256 loss.4096
	close_to 1e-5 norm.256 norm.4096
}

@test "train: --lora DIR with a pooling of its own, other than the model's, is refused" {
	train -q -m "$G/bert" -o first --lora rank=2 pairs.mts
	mkdir first/1_Pooling
	echo '{"pooling_mode": "max"}' >first/1_Pooling/config.json
	jq 'map(select(.type | test("Normalize") | not))' "$GOLDEN/families/bert/modules.json" >first/modules.json
	run -1 --separate-stderr train -q -m "$G/bert" -o more --lora first pairs.mts
	[ "$stderr" = "train: first: differs from $G/bert in 'pooling_mode'; make these alike" ]
	rm first/modules.json
	train -q -m "$G/bert" -o more --lora first pairs.mts
}

# bats test_tags=plain
@test "train: --lora: dropout depends on the seed and not on chunks; --dev and encode have none" {
	options=(-q -m "$G/bert" --schedule constant --warmup 0 --lr 1e-2 --lora rank=4,alpha=16,dropout=0.4,targets=query+output.dense)
	train "${options[@]}" -o out pairs.mts
	train "${options[@]}" -o same pairs.mts
	cmp out.log.tsv same.log.tsv
	cmp out/adapter_model.safetensors same/adapter_model.safetensors
	grep -q '"lora_dropout": 0.4' out/adapter_config.json
	# the gradient cache computes a chunk twice, with the same masks
	train "${options[@]}" -o pieces --tokens 40 pairs.mts
	for name in loss gradient_norm; do
		column $name out.log.tsv >whole
		column $name pieces.log.tsv >ours
		close_to 1e-3 ours whole
	done
	train "${options[@]}" -o other --seed 1 pairs.mts
	run ! cmp -s out.log.tsv other.log.tsv
	# a chunk so long that threads divide it the first time
	for _ in 1 2 3; do
		grep -v '^$' "$G/pairs.txt"
		echo
	done | pairs_stream '{"task": "play", "temperature": 0.05}' >many.mts
	train "${options[@]}" -o long many.mts
	train "${options[@]}" -o parts -j 1 --tokens 400 many.mts
	for name in loss gradient_norm; do
		column $name long.log.tsv >whole
		column $name parts.log.tsv >ours
		close_to 1e-3 ours whole
	done
	train "${options[@]}" -o none --lora rank=4,alpha=16,targets=query+output.dense pairs.mts
	column loss out.log.tsv >ours
	column loss none.log.tsv >without
	# B is zero in the first step
	cmp <(head -n 1 ours) <(head -n 1 without)
	run ! cmp -s ours without
	# training goes on with the adapter's rate; encode has no dropout
	train -q -m "$G/bert" -o on --lora out --steps 1 pairs.mts
	grep -q '"lora_dropout": 0.4' on/adapter_config.json
	encode -q -m "$G/bert" --adapter out pairs.mts >a.mts
	sed -i 's/"lora_dropout": 0.4/"lora_dropout": 0.0/' out/adapter_config.json
	encode -q -m "$G/bert" --adapter out pairs.mts | mts diff a.mts -
}

# bats test_tags=plain
@test "train: --lora: equal commands, killed and resumed too, give the same bits; other pairs are refused" {
	options=(-q -m "$G/bert" --lr 1e-2 --save-every 7 --lora rank=2,rslora pairs.mts)
	[[ $BUILD == *-sanitize* ]] || learns 0.7 "${options[@]}" --epochs 80
	options+=(--epochs 6)
	train -o whole "${options[@]}"
	cut_short 17 -o out "${options[@]}"
	run -1 --separate-stderr train -o out "${options[@]}" --lora rank=3
	[[ "$stderr" == *'is of a run with lora "rank=2,rslora", this one has "rank=3"'* ]]
	train -o out "${options[@]}"
	cmp out/adapter_model.safetensors whole/adapter_model.safetensors
	cmp out.log.tsv whole.log.tsv
}

@test "train: --lora on the attention of a model with bf16 token experts, which stay mapped in memory" {
	mkdir config
	cat >config/config.json <<-'E'
		{"model_type": "olmoe", "vocab_size": 48, "hidden_size": 16, "num_hidden_layers": 2,
		"num_attention_heads": 2, "max_position_embeddings": 64, "intermediate_size": 12,
		"num_experts": 6, "num_experts_per_tok": 2, "initializer_range": 0.3}
	E
	model_copy config whole init 3
	model_copy whole base bf16
	cp "$G/bert/vocab.txt" base
	md5sum base/model.safetensors >sum
	train -q -m base -o out --lora rank=4,targets=q_proj+v_proj --lr 1e-2 --epochs 60 pairs.mts
	md5sum --quiet -c sum
	awk -F'\t' 'NR > 1 && NR <= 101 { a += $5 } { b[NR] = $5 }
		END { for (i = NR - 99; i <= NR; i++) c += b[i]; exit !(c < 0.8 * a) }' out.log.tsv
	encode -q -m base --adapter out pairs.mts >out.mts
	# layers of a token expert may have an adapter
	train -q -m base -o out --lora rank=2,targets=experts.3.up_proj --steps 5 pairs.mts
	encode -q -m base --adapter out pairs.mts >out.mts
}

@test "train: --documents: precomputed embeddings give the run that computes them" {
	options=(-q -m "$G/bert" --schedule constant --warmup 0 --lr 1e-2 --lora rank=4 pairs.mts)
	encode -q --keep -m "$G/bert" pairs.mts >documents.mts
	train -o computed --freeze-documents "${options[@]}"
	train -o stored --documents documents.mts "${options[@]}"
	cmp computed.log.tsv stored.log.tsv
	cmp computed/adapter_model.safetensors stored/adapter_model.safetensors
	# found by their tokens, in another column and another order
	mts cat -c document.ids,document.emb --rename document.ids=x.ids --rename document.emb=x.emb documents.mts >x.mts
	mts cat -c negatives.ids,negatives.emb documents.mts >negatives.mts
	run -1 --separate-stderr train -o some --documents x.mts "${options[@]}"
	[[ $stderr == "train: pairs.mts: record 2: text "*" of 'negatives' is not in x.mts, or was cut to other tokens there" ]]
	mts paste x.mts negatives.mts >both.mts
	train -o again --documents both.mts "${options[@]}"
	cmp computed.log.tsv again.log.tsv
	# all weights may learn, for the queries
	train -q -m "$G/bert" -o dense --documents documents.mts --steps 3 pairs.mts
	[ -e dense/model.safetensors ]
	run -1 cmp -s computed.log.tsv dense.log.tsv
}

@test "train: --documents: embeddings that are missing, malformed or of another model are refused" {
	options=(-q -m "$G/bert" -o out --lora rank=2)
	encode -q -m "$G/bert" pairs.mts >bare.mts
	run -1 --separate-stderr train "${options[@]}" --documents bare.mts pairs.mts
	[[ $stderr == *"bare.mts: has no embeddings (X.emb) with their tokens (X.ids) beside them; encode --keep makes both" ]]
	model_copy "$G/bert" other bf16
	encode -q --keep -m other pairs.mts >other.mts
	run -1 --separate-stderr train "${options[@]}" --documents other.mts pairs.mts
	[[ $stderr == *"other.mts: its vectors are of the model "* ]]
	train -q -m "$G/bert" -o adapter --lora rank=2 --steps 1 pairs.mts
	encode -q --keep -m "$G/bert" --adapter adapter pairs.mts >adapted.mts
	run -1 --separate-stderr train "${options[@]}" --documents adapted.mts pairs.mts
	[ "$stderr" = "train: adapted.mts: its vectors are of an adapter; leave out --adapter and --gates of encode" ]
	encode -q --keep -m "$G/bert" --emit emb=hs:layers=1 pairs.mts >hidden.mts
	run -1 --separate-stderr train "${options[@]}" --documents hidden.mts pairs.mts
	[[ $stderr == "train: hidden.mts: its embeddings are 'hs:layers=1"*"'; leave out --emit of encode" ]]
	encode -q --keep --dim 4 -m "$G/bert" pairs.mts >short.mts
	run -1 --separate-stderr train "${options[@]}" --documents short.mts pairs.mts
	[[ $stderr == *"has vectors of 4 components; $G/bert makes 16"* ]]
	encode -q --keep --dtype bit -m "$G/bert" pairs.mts >bits.mts
	run -1 --separate-stderr train "${options[@]}" --documents bits.mts pairs.mts
	[[ $stderr == "train: bits.mts: column '"*".emb' holds single bits; 'mts cast f32' makes floats of them" ]]
	head -c 2000 bare.mts >cut.mts
	run -1 train "${options[@]}" --documents cut.mts pairs.mts
	run -1 train "${options[@]}" --documents none.mts pairs.mts
	run -2 train "${options[@]}" --documents bare.mts --freeze-documents pairs.mts
	run -2 --separate-stderr train -q -m "$G/nomic_bert" -o out --objective mlm --documents bare.mts pairs.mts
	[[ $stderr == *"--documents does not apply to --objective mlm"* ]]
	[ ! -e out ]
}

@test "train: --lora: invalid settings are refused" {
	run -1 --separate-stderr learn --lora targets=word_embeddings
	[[ "$stderr" == *"none of its linear layers is called 'word_embeddings'" ]]
	for how in rank=0 rank=x alpha=-1 dropout=1 dropout=x width=3 none/such "" "rank"; do
		run -2 --separate-stderr learn --lora "$how"
		[ -n "$stderr" ]
	done
	run -2 --separate-stderr learn --lora rank=2 --objective mlm
	run -2 --separate-stderr learn --freeze-documents
	[ ! -e out ]
}

@test "train: the Dense modules of a head learn and are written" {
	cp -r "$G/bert" projected
	cp -r "$GOLDEN/head/both"/{modules.json,?_*} projected
	echo '{"pooling_mode": "mean"}' >projected/1_Pooling/config.json
	train -q -m projected -o one --lr 2e-3 --warmup 0 --steps 6 pairs.mts
	for module in 2_Dense 4_Dense; do
		diff "$T/one/$module/config.json" <(jq --indent 2 'del(.module_input_name, .module_output_name)' \
			"projected/$module/config.json")
		run ! cmp -s "one/$module/model.safetensors" "projected/$module/model.safetensors"
	done
	[ "$(tok -m one <<<'the sea' | encode -m one | ids_stream --rows text.emb | wc -w)" -eq 4 ]
}

@test "train: a run may resume with other chunks, and at a constant rate for more steps" {
	options=(-q -m "$G/bert" --lr 1e-3 --save-every 7)
	# more steps give the weights of a run of that length; fewer steps than done, or another warm-up, are refused
	train -o whole "${options[@]}" --schedule constant --warmup 5 --epochs 6 pairs.mts
	cut_short 17 -o out "${options[@]}" --schedule constant --warmup 5 --steps 40 --epochs 9 pairs.mts
	cp out.checkpoint kept && cp out.log.tsv kept.log
	run -1 --separate-stderr train -o out "${options[@]}" --schedule constant --epochs 6 pairs.mts
	[[ $stderr == *"is of a run with warmup 5, this one has 3; "* ]]
	run -1 --separate-stderr train -o out "${options[@]}" --schedule constant --warmup 5 --steps 3 pairs.mts
	[[ $stderr == "train: out.checkpoint: has "*" steps done, and this run is to have 3; give --steps "* ]]
	train -o out "${options[@]}" --schedule constant --warmup 5 --epochs 6 pairs.mts
	cmp out/model.safetensors whole/model.safetensors
	cmp out.log.tsv whole.log.tsv
	# other chunks give the same but for rounding
	cp kept out.checkpoint && cp kept.log out.log.tsv && rm -r out
	train -o out "${options[@]}" --schedule constant --warmup 5 --epochs 6 --tokens 40 pairs.mts
	run -1 cmp out/model.safetensors whole/model.safetensors
	close_to 1e-3 <(column loss out.log.tsv) <(column loss whole.log.tsv)
	[ "$(column step out.log.tsv | tail -n 1)" = 60 ]
	# the masks of --dev are drawn chunk by chunk
	mask=(-q -m "$G/bert" --from-scratch --objective mlm --batch-tokens 64 --epochs 3 --save-every 7 --dev pairs.mts pairs.mts)
	rm -r out out.log.tsv
	cut_short 17 -o out "${mask[@]}"
	run -1 --separate-stderr train -o out "${mask[@]}" --tokens 40
	[[ $stderr == *"is of a run with tokens "* ]]
}

@test "train: a resumed log keeps its columns and rows" {
	options=(-m "$G/bert" -o out --epochs 6 --save-every 7)
	columns() { awk -F'\t' '{ print NF }' out.log.tsv | sort -u; }
	cut_short 30 -q "${options[@]}" pairs.mts
	run -0 --separate-stderr train -j 1 "${options[@]}" --timing pairs.mts
	[[ $stderr == *"train: warning: out.log.tsv: began without columns that --timing would have; it stays so"* ]]
	[ "$(columns)" = 10 ]
	[ "$(wc -l <out.log.tsv)" = 61 ]
	rm -r out
	cut_short 30 -q "${options[@]}" --timing pairs.mts
	train -q "${options[@]}" pairs.mts
	[ "$(columns)" = 12 ]
	# a truncated log is not padded with zeros
	rm -r out
	cut_short 30 -q "${options[@]}" pairs.mts
	head -n 20 out.log.tsv >few && cp few out.log.tsv
	run -0 --separate-stderr train -j 1 "${options[@]}" pairs.mts
	[[ $stderr == *"train: warning: out.log.tsv: has lost lines since the checkpoint was written"* ]]
	head -n 20 out.log.tsv | cmp few -
	[ "$(columns)" = 10 ]
	[ "$(column step out.log.tsv | tail -n 1)" = 60 ]
	# a log that is lost or empty begins anew, with a header, and is missed
	for lose in "rm out.log.tsv" "truncate -s 0 out.log.tsv"; do
		rm -r out
		cut_short 30 -q "${options[@]}" pairs.mts
		$lose
		run -0 --separate-stderr train -j 1 "${options[@]}" pairs.mts
		[[ $stderr == *"train: warning: out.log.tsv: has lost lines since the checkpoint was written"* ]]
		[ "$(columns)" = 10 ]
		[ "$(head -n 1 out.log.tsv | cut -f 1)" = step ]
		[ "$(column step out.log.tsv | tail -n 1)" = 60 ]
	done
}

@test "train: a checkpoint of other settings is refused; --restart begins again" {
	options=(-q -m "$G/bert" -o out --epochs 6 --save-every 7)
	cut_short 30 "${options[@]}" --lr 1e-3 pairs.mts
	run -1 --separate-stderr train "${options[@]}" --lr 1e-4 pairs.mts
	[ "$stderr" = "train: out.checkpoint: is of a run with lr 0.001, this one has 0.0001; give the same options, or --restart to begin anew" ]
	run -1 --separate-stderr train "${options[@]}" --lr 1e-3 -m "$G/nomic_bert" pairs.mts
	[[ "$stderr" == *"is of a run with model "* ]]
	for other in "seed 7" "steps 401" "temperature 0.5" "similarity dot" bidirectional no-mask-duplicates "false-negatives 1" own-negatives "denominator qq" "lr-of *=1" \
		"beta1 0.5" "beta2 0.5" "eps 1e-3" "decay 0.5" "clip 5" "schedule constant" "warmup 7" update-unused; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr train "${options[@]}" --lr 1e-3 --$other pairs.mts
		echo "$other: $stderr"
		[[ "$stderr" == "train: out.checkpoint: is of a run with ${other%% *}"* ]]
	done
	head -c 3000 out.checkpoint >broken
	mv broken out.checkpoint
	run -1 --separate-stderr train "${options[@]}" --lr 1e-3 pairs.mts
	[[ "$stderr" == "train: out.checkpoint: "* ]]
	train -q -m "$G/bert" -o out --restart pairs.mts
	[ -e out/model.safetensors ]
}

@test "train: usage errors exit 2 and write no file" {
	for arguments in "" "-m $G/bert" "-m $G/bert -o out --objective x" "-m $G/bert -o out --lr 0" \
		"-m $G/bert -o out --schedule x" "-m $G/bert -o out --dtype i8" "-m $G/bert -o out a b" \
		"-m $G/bert -o out --epochs 2" "-m $G/bert -o out --no-such"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr train $arguments <pairs.mts
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
	run -2 --separate-stderr train -m "$G/bert" -o out <pairs.mts
	[[ "$stderr" == *"give --steps, or --schedule constant"* ]]
	[ ! -e out ]
	[ ! -e out.log.tsv ]
}

@test "train: bad streams exit 1 with the record's number, and the old model stays" {
	learn
	cp -r out old
	head -c 2000 pairs.mts >cut.mts
	run -1 --separate-stderr train -m "$G/bert" -o out --schedule constant cut.mts
	[[ "$stderr" == "train: cut.mts: "* ]]
	printf '2 5 3\t2 999 3\n\n' | pairs_stream >big.mts
	run -1 --separate-stderr train -q -m "$G/bert" -o out big.mts
	[[ "$stderr" == "train: big.mts: record 1: "*999* ]]
	printf '2 5 3\t\n\n' | pairs_stream >empty.mts
	run -1 --separate-stderr train -q -m "$G/bert" -o out empty.mts
	[ "$stderr" = "train: empty.mts: record 1: column 'document.ids': text 1 has no tokens" ]
	cp -r "$G/bert" $'b\xff'
	run -1 --separate-stderr train -q -m $'b\xff' -o out big.mts
	[[ $stderr == "train: "*": is not UTF-8, as the files that name the model are; rename the folder" ]]
	pairs_stream </dev/null >none.mts
	run -1 --separate-stderr train -q -m "$G/bert" -o out none.mts
	[ "$stderr" = "train: none.mts: there is nothing to train on" ]
	run -1 --separate-stderr train -q -m "$G/bert" -o out --expert x pairs.mts
	[[ "$stderr" == *"has no task expert 'x'" ]]
	cmp out/model.safetensors old/model.safetensors
}

@test "train: contradictory options and input are refused before the first step" {
	mkdir out
	touch out/precious
	run -1 --separate-stderr learn
	[ "$stderr" = "train: out: exists and is not a model folder; choose another name" ]
	run -1 --separate-stderr train -m "$G/bert" -o none/such pairs.mts
	[[ "$stderr" == "train: none/such"*": No such file or directory" ]]
	cp -r "$G/bert" other
	echo '[unused]' >>other/vocab.txt
	recipe
	sample >all.mts
	run -1 --separate-stderr train -m other -o new all.mts
	[[ "$stderr" == "train: all.mts: its tokens were made by another tokenizer ("* ]]
	run -1 --separate-stderr train -m other -o new --objective mlm --from-scratch all.mts
	[[ "$stderr" == "train: all.mts: its tokens were made by another tokenizer ("* ]]
	run -1 --separate-stderr train -m "$G/bert" -o new --objective mlm all.mts
	[[ "$stderr" == *"has no masked-language-model head to train"* ]]
	tasksample mix.yaml >texts.mts
	run -1 --separate-stderr train -m "$G/bert" -o new texts.mts
	[[ "$stderr" == "train: texts.mts: "*query.ids* ]]
	run -1 --separate-stderr train -m "$G/bert" -o new --objective mlm --from-scratch texts.mts
	[ "$stderr" = "train: texts.mts: there is no column NAME.ids; tokenise the texts with tok" ]
	[ ! -e new ]
}

@test "train: a loss that is not finite stops the run with step and record" {
	cp -r "$G/bert" nan
	size=$(wc -c <nan/model.safetensors)
	head -c 256 /dev/zero | tr '\0' '\377' | dd of=nan/model.safetensors conv=notrunc bs=1 seek=$((size - 2000)) status=none
	run -1 --separate-stderr train -q -m nan -o out pairs.mts
	[[ "$stderr" == "train: pairs.mts: record 1: the loss of step 1, task play is "*nan* ]]
	[ ! -e out ]
}

@test "train: with the gradient cache a weight that is not finite is refused by name" {
	cp -r "$G/bert" bad
	printf '\0\0\300\177' | dd of=bad/model.safetensors bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s bad/model.safetensors) - 4))
	run -1 --separate-stderr train -q -m bad -o out --tokens 40 pairs.mts
	[[ $stderr == "train: bad/model.safetensors: tensor '"*"' holds values that are not finite (NaN or infinity)" ]]
}

@test "train: a full disk is an error, and the last checkpoint stays" {
	learn --save-every 4 --epochs 2
	cp -r out old
	run -1 --separate-stderr bash -c "trap '' XFSZ; ulimit -f 16; train -q -m '$G/bert' -o out pairs.mts"
	[[ "$stderr" == "train: out"* ]]
	cmp out/model.safetensors old/model.safetensors
	# the log, which is written step by step
	run -1 --separate-stderr bash -c "trap '' XFSZ; ulimit -f 1; train -q -m '$G/bert' -o new --epochs 9 --save-every 0 pairs.mts"
	[[ "$stderr" == "train: new.log.tsv: "* ]]
	# a run that was asked to stop tries its checkpoint once
	killed_at 0 true 3>/dev/null || skip "needs ptrace"
	rm -r out
	(
		trap '' XFSZ
		ulimit -f 16
		killed_at -w out.log.tsv -s 15 9 env --default-signal=TERM \
			train -j 1 -q -m "$G/bert" -o out --epochs 9 --save-every 0 pairs.mts 2>stopped 3>/dev/null
	) || true
	[ "$(cat stopped)" = "train: out.checkpoint: File too large" ]
	[ ! -e out.checkpoint ]
}

@test "train: a default is the value that --help prints: giving it changes no byte" {
	pairs_stream '{"task": "play"}' <"$G/pairs.txt" >plain.mts
	train -q -m "$G/bert" -o out plain.mts
	train -q -m "$G/bert" -o said --objective infonce --epochs 1 --lr 2e-5 --schedule cosine --warmup 0.05 \
		--decay 0.01 --beta1 0.9 --beta2 0.999 --eps 1e-8 --clip 1 --accumulate 1 --temperature 0.03 --similarity cosine \
		--save-every 500 --dtype f32 --seed 0 plain.mts
	cmp out/model.safetensors said/model.safetensors
	cmp out.log.tsv said.log.tsv
	train -q -m "$G/bert" --from-scratch -o out --objective mlm plain.mts
	train -q -m "$G/bert" --from-scratch -o said --objective mlm --lr 5e-4 --batch-tokens 8192 --mask-share 0.15 --seed 0 plain.mts
	cmp out/model.safetensors said/model.safetensors
	cmp out.log.tsv said.log.tsv
}

@test "train: masked language modelling of a model with task experts trains the named expert only" {
	upcycle -q -m "$G/bert" --experts left,right -o mote
	mlm=(-q --objective mlm --decay 0)
	run -2 --separate-stderr train "${mlm[@]}" --from-scratch -m mote -o drawn pairs.mts
	[ "${stderr%%$'\n'*}" = "train: the model has task experts: say which one learns, with --expert" ]
	run -1 --separate-stderr train "${mlm[@]}" --from-scratch --expert up -m mote -o drawn pairs.mts
	[ "$stderr" = "train: mote: has no task expert 'up'; it has left, right" ]
	train "${mlm[@]}" --from-scratch --expert left -m mote -o drawn pairs.mts
	train "${mlm[@]}" --expert right -m drawn -o right pairs.mts
	tensor_sums drawn | sort >before
	tensor_sums right | sort >after
	comm -12 before after >same
	[ "$(grep -c right same)" -eq 0 ]
	[ "$(grep -c left same)" -eq "$(grep -c left before)" ]
	[ "$(grep -c left same)" -gt 0 ]
}

@test "train: masked language modelling takes RoBERTa's names of special tokens as well as BERT's" {
	cp -r "$G/bert" named
	rm named/vocab.txt
	jq -nR '[inputs | {"[MASK]": "<mask>", "[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>", "[UNK]": "<unk>"}[.] // .] |
		to_entries | {version: "1.0", added_tokens: [], model: {type: "WordPiece", unk_token: "<unk>",
		continuing_subword_prefix: "##", max_input_chars_per_word: 100,
		vocab: map({key: .value, value: .key}) | from_entries}}' "$G/bert/vocab.txt" >named/tokenizer.json
	echo '{"mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}' \
		>named/tokenizer_config.json
	for model in "$G/bert" named; do
		train -q --objective mlm --from-scratch --mask-share 0.5 -m "$model" -o "of_${model##*/}" pairs.mts
	done
	cmp of_named.log.tsv of_bert.log.tsv
	cmp of_named/model.safetensors of_bert/model.safetensors
}

@test "train: masked language modelling masks no special token" {
	printf '0 1 2 3 4\n%.0s' 1 2 3 | ids_stream text.ids >special.mts
	train -q --objective mlm --from-scratch --mask-share 1 -m "$G/bert" -o out special.mts
	[ "$(column gradient_norm out.log.tsv)" = 0 ]
	run -1 --separate-stderr train -q --objective mlm --from-scratch -m "$G/bert" -o out --dev special.mts pairs.mts
	[ "$stderr" = "train: special.mts: there is nothing to predict in the texts held out" ]
}

@test "train: a step with batches of several tasks is logged as mixed" {
	for task in play work; do
		head -n 80 "$G/pairs.txt" | pairs_stream "{\"task\": \"$task\"}" >$task.mts
	done
	cat play.mts work.mts work.mts >both.mts
	train -q -m "$G/bert" -o out --accumulate 2 both.mts
	[ "$(column task out.log.tsv | uniq -c | tr -s ' \n' ' ')" = " 4 play 1 mixed 9 work " ]
}

@test "train: options that do not apply to the objective are refused" {
	for option in "batch-tokens 9" "mask-share 0.5"; do
		does_not_apply "--${option% *}" train -m "$G/bert" -o out --$option pairs.mts
	done
	for option in "temperature 1" "similarity dot" bidirectional no-mask-duplicates freeze-documents "lora rank=2"; do
		does_not_apply "--${option% *}" train -m "$G/bert" -o out --objective mlm --$option pairs.mts
	done
	[ ! -e out ]
	[ ! -e out.log.tsv ]
}
