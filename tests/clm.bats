#!/usr/bin/env bats
load helper
load train

G=$GOLDEN/clm

setup() {
	cd "$T" || return
	ids_stream text.ids <"$G/texts.txt" >texts.mts
}

# folder NAME: the checkpoint of which tests/golden/clm.py has values
folder() { # name
	case $1 in
	qwen3) echo "$G/qwen3" ;;
	gemma3_text | llama)
		[ -d "$T/$1" ] || cp -r "$GOLDEN/families/$1" "$T"
		jq '.use_bidirectional_attention = false | .tie_word_embeddings = true' "$GOLDEN/families/$1/config.json" >"$T/$1/config.json"
		echo "$T/$1"
		;;
	qwen3_tied) echo "$GOLDEN/families/qwen3" ;;
	*) echo "$GOLDEN/families/$1" ;;
	esac
}

# agrees NAME: loss and balance within 1e-6, gradients within 1e-4 of the reference, also in chunks
agrees() {
	run -0 clm_check "$(folder "$1")" texts.mts "$G/$1.safetensors"
	echo "$output"
	[[ "$output" == *"ok in one piece gradients"*"ok in pieces gradients"*"ok differences all parameters"* ]]
}
# bats test_tags=plain
@test "clm: Qwen3 with an untied output matrix agrees with transformers" { agrees qwen3; }
# bats test_tags=plain
@test "clm: Qwen3 with tied embeddings agrees" { agrees qwen3_tied; }
# bats test_tags=plain
@test "clm: OLMoE agrees, also in its balancing loss" { agrees olmoe; }
# bats test_tags=plain
@test "clm: Qwen2-MoE agrees" { agrees qwen2_moe; }
# bats test_tags=plain
@test "clm: DeepSeekMoE agrees with torch" { agrees deepseek; }
# bats test_tags=plain
@test "clm: Gemma 3 agrees; its embeddings are scaled at the input and not in the output matrix" { agrees gemma3_text; }
# bats test_tags=plain
@test "clm: Llama agrees" { agrees llama; }

# bats test_tags=plain
@test "clm: five steps agree with torch's AdamW to 1e-4: loss, balance, norm of the gradient" {
	for name in qwen3 qwen3_tied olmoe qwen2_moe deepseek gemma3_text llama; do
		for tokens in 9 1000; do
			case $name in qwen3* | gemma3_text | llama) balance= ;; *) balance="--balance 0.3" ;; esac
			# torch's AdamW would also decay experts without tokens, which ours leaves unchanged
			# shellcheck disable=SC2086
			train -q -m "$(folder $name)" -o out --objective clm $balance --schedule constant --warmup 0 --lr 5e-3 \
				--decay 0.1 --beta2 0.98 --eps 1e-6 --clip 0.5 --epochs 5 --update-unused --tokens $tokens texts.mts
			for column in loss gradient_norm ${balance:+balance}; do
				column "$column" out.log.tsv >ours
				column "$column" "$G/$name.tsv" >theirs
				close_to 1e-4 ours theirs
			done
			[ "$(wc -l <ours)" = 5 ]
		done
		# examples: each token of a text but the first
		[ "$(column examples out.log.tsv | sort -u)" = "$(awk 'NF > 1 { n += NF - 1 } END { print n }' "$G/texts.txt")" ]
	done
}

# bats test_tags=plain
@test "clm: --dev is the loss of held-out texts after a step: of the training texts, the next step's loss" {
	clm=(-q -m "$(folder olmoe)" --objective clm --schedule constant --warmup 0 --lr 5e-3 --epochs 5)
	for tokens in 9 1000; do
		train "${clm[@]}" -o out --tokens $tokens --save-every 1 --dev texts.mts texts.mts
		close_to 1e-5 <(column dev_loss out.log.tsv | head -n 5) <(column loss out.log.tsv | tail -n 5)
		[ "$(column dev_loss out.log.tsv | wc -l)" = 6 ]
	done
	# held-out texts change no weight and are measured at their interval
	head -n 7 "$G/texts.txt" | ids_stream text.ids >held.mts
	train "${clm[@]}" -o held --save-every 2 --dev held.mts texts.mts
	cmp out/model.safetensors held/model.safetensors
	[ "$(column dev_loss held.log.tsv | sed 's/..*/x/' | paste -sd,)" = x,,x,,x,x ]
	train "${clm[@]}" -o last --save-every 0 --dev held.mts texts.mts
	[ "$(column dev_loss last.log.tsv | paste -sd,)" = "$(column dev_loss held.log.tsv | head -n 1),,,,,$(column dev_loss held.log.tsv | tail -n 1)" ]
	train -q -m held -o again --objective clm --lr 1e-12 held.mts
	close_to 1e-5 <(column loss again.log.tsv) <(column dev_loss last.log.tsv | tail -n 1)

	run -2 --separate-stderr train "${clm[@]}" -o out --dev - texts.mts
	[ "${stderr%%$'\n'*}" = "train: --dev: it is read several times; give a FILE" ]
	printf '3\n4\n' | ids_stream text.ids >single.mts
	run -1 --separate-stderr train "${clm[@]}" -o none --dev single.mts texts.mts
	[ "$stderr" = "train: single.mts: there is nothing to predict in the texts held out" ]
	run -1 --separate-stderr train "${clm[@]}" -o none --dev nowhere.mts texts.mts
	[[ $stderr == "train: nowhere.mts: "* ]]
	[ ! -e none ]
}

# scratch [FILTER]: config/ of a small OLMoE, its config.json edited by jq's FILTER
scratch() {
	mkdir -p config
	jq "${1:-.}" >config/config.json <<-'E'
		{"model_type": "olmoe", "vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2,
		"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 2048, "intermediate_size": 8,
		"num_experts": 6, "num_experts_per_tok": 2, "initializer_range": 0.02}
	E
}
shapes() { # MODEL: name, type and shape of its tensors
	safetensors_list "$1/model.safetensors" | cut -f1-3 | sort
}

@test "clm: a model trained from scratch has the Hub's tensor names, an untied lm_head, and resumes" {
	scratch
	clm=(-q --objective clm --epochs 2)
	train "${clm[@]}" -m config --from-scratch -o out texts.mts
	diff <(shapes out) <(shapes "$GOLDEN/families/olmoe")
	grep -q '^lm_head.weight' <(shapes out)
	[ "$(jq .tie_word_embeddings out/config.json)" = false ]
	# weights are drawn as transformers draws them: normal with config.json's deviation, norms of ones
	train "${clm[@]}" -m config --from-scratch --lr 1e-12 -o drawn texts.mts
	for name in lm_head.weight model.embed_tokens.weight model.layers.1.mlp.gate.weight model.layers.0.mlp.experts.5.down_proj.weight; do
		mts from safetensors -c $name drawn/model.safetensors | mts to jsonl | jq -s --arg name $name 'map(.[$name][]) |
			(map(. * .) | add / length | sqrt) as $deviation | (map(fabs) | max) < 0.1 and $deviation > 0.015 and $deviation < 0.025' |
			grep -qx true
	done
	mts from safetensors -c model.norm.weight drawn/model.safetensors | mts to jsonl | jq -s 'map(.[] | . == 1) | all' | found -x true
	# with logits near 0 the loss is the entropy of a uniform distribution
	close_to 1e-2 <(column loss drawn.log.tsv | head -n 1) <(echo 3.6889) # ln 40
	train "${clm[@]}" -m out -o more texts.mts
	encode -q -m more texts.mts | ids_stream --rows text.emb >rows
	[ "$(wc -l <rows)" = 10 ]

	scratch '.tie_word_embeddings = true'
	train "${clm[@]}" -m config --from-scratch -o tied texts.mts
	diff <(shapes tied) <(shapes out | grep -v lm_head)
	[ "$(jq .tie_word_embeddings tied/config.json)" = true ]
	train "${clm[@]}" -m tied -o more texts.mts
}

@test "clm: loss falls to the entropy of the text and not below; tokens see no other text" {
	# each token is followed by one of two tokens
	seeded_awk 'BEGIN { srand(7); for (i = 0; i < 600; i++) { t = int(8 * rand()); for (n = 0; n < 16; n++) {
		printf "%d ", t + 3; t = (t + (rand() < 0.5 ? 1 : 3)) % 8 } print "" } }' | ids_stream text.ids >walk.mts
	scratch '.num_hidden_layers = 1 | .num_experts = 4'
	train -q -m config --from-scratch -o out --objective clm --lr 1e-2 --batch-tokens 800 --epochs 12 walk.mts
	column loss out.log.tsv | tail -n 12 | awk '{ sum += $1 } END { print sum / NR; exit !(sum / NR > 0.68 && sum / NR < 0.71) }' # ln 2
	column accuracy out.log.tsv | tail -n 12 | awk '{ sum += $1 } END { print sum / NR; exit !(sum / NR > 0.45 && sum / NR < 0.58) }'
	# the first token of a text is not predicted, nor sees the text before: if the second token repeats it, the loss goes to 0
	seeded_awk 'BEGIN { srand(8); for (i = 0; i < 600; i++) { t = 3 + int(8 * rand()); print t, t } }' | ids_stream text.ids >twice.mts
	train -q -m config --from-scratch -o out --objective clm --lr 1e-2 --batch-tokens 100 --epochs 12 twice.mts
	[ "$(column loss out.log.tsv | tail -n 12 | awk '{ sum += $1 } END { print (sum / NR < 0.02) }')" = 1 ]
}

@test "clm: the weight of the balancing loss is config.json's, unless --balance is given" {
	clm=(-q --from-scratch --objective clm --epochs 5 --lr 1e-2 --batch-tokens 30)
	scratch '.router_aux_loss_coef = 0.7'
	train "${clm[@]}" -m config -o own texts.mts
	scratch
	train "${clm[@]}" -m config -o said --balance 0.7 texts.mts
	cmp own/model.safetensors said/model.safetensors
	cmp own.log.tsv said.log.tsv
	train "${clm[@]}" -m config -o own texts.mts
	train "${clm[@]}" -m config -o little --balance 0.001 texts.mts
	cmp own.log.tsv little.log.tsv
	train "${clm[@]}" -m config -o none --balance 0 texts.mts
	run ! grep -q balance none.log.tsv
	# the balancing loss evens out the choice of experts: its minimum is 2
	awk -v a="$(column balance said.log.tsv | tail -n 1)" -v b="$(column balance little.log.tsv | tail -n 1)" \
		'BEGIN { exit !(a < b && a >= 2) }'
	scratch '.router_aux_loss_coef = -1'
	run -1 --separate-stderr train "${clm[@]}" -m config -o out texts.mts
	[[ $stderr == "train: config/config.json"*"'router_aux_loss_coef' is -1; it must be in 0..1e6" ]]
	[ ! -e out ]
	# DeepSeek's key, which belongs to another loss
	scratch '.aux_loss_alpha = 0.7'
	clm=("${clm[@]:1}")
	run -0 --separate-stderr train "${clm[@]}" -m config -o alpha texts.mts
	[[ $stderr == *"train: warning: config: its 'aux_loss_alpha', 0.7, weighs a loss of each block and text; "*"--balance"* ]]
	cmp alpha/model.safetensors said/model.safetensors
	cmp alpha.log.tsv said.log.tsv
	run -0 --separate-stderr train "${clm[@]}" -m config -o alpha --balance 0.001 texts.mts
	[[ $stderr != *aux_loss_alpha* ]]
	cmp alpha.log.tsv little.log.tsv
	scratch '.aux_loss_alpha = 0 | .seq_aux = true'
	run -0 --separate-stderr train "${clm[@]}" -m config -o alpha texts.mts
	[[ $stderr != *aux_loss_alpha* ]]
	run ! grep -q balance alpha.log.tsv
	scratch '.aux_loss_alpha = 0.3 | .router_aux_loss_coef = 0.7'
	run -0 --separate-stderr train "${clm[@]}" -m config -o alpha texts.mts
	[[ $stderr != *aux_loss_alpha* ]]
	cmp alpha.log.tsv said.log.tsv
	scratch '.aux_loss_alpha = "much"'
	run -1 --separate-stderr train "${clm[@]}" -m config -o out texts.mts
	[[ $stderr == *aux_loss_alpha* ]]
}

# bats test_tags=plain
@test "clm: a killed and resumed run has the same bits, from a file and from a pipe; another --balance is refused" {
	for _ in {1..80}; do cat "$G/texts.txt"; done | ids_stream text.ids >long.mts
	scratch
	options=(-q -m config --from-scratch --objective clm --batch-tokens 100 --save-every 7 --steps 30 --dev texts.mts)
	for input in - long.mts; do
		train -o whole "${options[@]}" $input <long.mts
		cut_short 17 -o out "${options[@]}" $input <long.mts
		run -1 --separate-stderr train -o out "${options[@]}" --balance 0.5 $input <long.mts
		[[ $stderr == *"is of a run with balance 0.001, this one has 0.5; "* ]]
		train -o out "${options[@]}" $input <long.mts
		cmp out/model.safetensors whole/model.safetensors
		cmp out.log.tsv whole.log.tsv
		rm -r out
	done
}

@test "clm: texts of one token are left out with a warning" {
	scratch
	clm=(-m config --from-scratch --objective clm --schedule constant)
	for input in texts.mts -; do
		run -0 --separate-stderr train "${clm[@]}" -o out $input <texts.mts
		[ "${stderr%%$'\n'*}" = "train: warning: $([ $input = - ] && echo '<stdin>' || echo $input): 1 texts of fewer than 2 tokens are left out" ]
		[ "$(column tokens out.log.tsv)" = "$(awk 'NF > 1 { n += NF } END { print n }' "$G/texts.txt")" ]
	done
	printf '3\n4\n\n' | ids_stream text.ids >single.mts
	for input in single.mts -; do
		run -1 --separate-stderr train -q "${clm[@]}" -o none $input <single.mts
		[[ $stderr == "train: "*": there is nothing to train on" ]]
	done
	[ ! -e none ]
}

# bats test_tags=plain
@test "clm: memory holds slices of the logits, not those of a whole batch" {
	case $BUILD in *sanitize*) skip "ASan has memory of its own" ;; esac
	scratch '.vocab_size = 60000 | .hidden_size = 8 | .num_hidden_layers = 1'
	awk 'BEGIN { for (i = 0; i < 32; i++) { for (t = 0; t < 128; t++) printf "%d ", (i * 977 + t * 131) % 60000; print "" } }' |
		ids_stream text.ids >wide.mts
	# 4,064 rows of logits would take 975 MB; parameters, gradients and moments take 15 MB, slices of the logits 62 MB
	(ulimit -v 450000 && train -q -m config --from-scratch -o out --objective clm wide.mts)
	[ "$(column examples out.log.tsv)" = 4064 ]
}

@test "clm: options and models that do not fit are refused in one line" {
	cp -r "$GOLDEN/families/bert_mlm" "$GOLDEN/families/olmoe" .
	run -1 --separate-stderr train -q -m bert_mlm -o out --objective clm texts.mts
	[ "$stderr" = "train: bert_mlm: is not a causal language model: its tokens see the tokens that they should predict; train it with --objective mlm" ]
	run -1 --separate-stderr train -q -m olmoe -o out --objective mlm texts.mts
	[ "$stderr" = "train: olmoe: is a causal language model; --objective clm is for such a model" ]
	jq '.is_causal = false' "$G/qwen3/config.json" >config.json
	cp -r "$G/qwen3" both
	cp config.json both
	run -1 --separate-stderr train -q -m both -o out --objective clm texts.mts
	[[ $stderr == "train: both: is not a causal language model"* ]]
	# base models without an output matrix, also if config.json denies that it is tied
	cp -r "$GOLDEN/families/qwen3" base
	for edit in '.tie_word_embeddings = false' 'del(.tie_word_embeddings)'; do
		jq "$edit" "$GOLDEN/families/qwen3/config.json" >base/config.json
		run -1 --separate-stderr train -q -m base -o out --objective clm texts.mts
		[ "$stderr" = "train: base: has no 'lm_head.weight' to predict tokens with, and config.json does not say \"tie_word_embeddings\": true; a model made by train --from-scratch --objective clm has one" ]
	done
	# other objectives need no output matrix
	printf '3 5 9\t4 6 7\n11 12 3\t8 9 30\n' | pairs_stream '{"temperature": 0.5}' >pairs.mts
	train -q -m base -o pairs pairs.mts
	run -1 --separate-stderr train -q -m olmoe -o out --objective clm <(printf '3 40\n' | ids_stream text.ids)
	[[ $stderr == *"the token id 40 is not below the vocabulary of olmoe, 40"* ]]
	run -1 --separate-stderr train -q -m olmoe -o out --objective clm <(seq 1 2049 | sed 's/.*/3/' | paste -sd' ' | ids_stream text.ids)
	[[ $stderr == *"has 2049 tokens, more than the 2048 that olmoe takes; truncate it (tok --max-length)"* ]]
	run -1 --separate-stderr train -q -m olmoe -o out --objective clm <(ids_stream text.other <"$G/texts.txt")
	[[ $stderr == *"there is no column NAME.ids; tokenise the texts with tok" ]]
	head -c 100 texts.mts >cut.mts
	run -1 --separate-stderr train -q -m olmoe -o out --objective clm cut.mts
	[[ $stderr == "train: cut.mts: "* ]]
	run -1 --separate-stderr train -q -m "$G/qwen3" -o out --objective clm --balance 0.1 texts.mts
	[ "$stderr" = "train: --balance: $G/qwen3 has no token experts" ]
	# NaN in the output matrix, the last tensor of the file
	size=$(wc -c <olmoe/model.safetensors)
	head -c 64 /dev/zero | tr '\0' '\377' | dd of=olmoe/model.safetensors conv=notrunc bs=1 seek=$((size - 64)) status=none
	run -1 --separate-stderr train -q -m olmoe -o out --objective clm texts.mts
	[[ $stderr == "train: texts.mts: the loss of step 1 is "*"nan; lower --lr, or look at the data; nothing was saved" ]]
	[ ! -e out ]
}

@test "clm: options that do not apply are refused" {
	for option in "mask-share 0.5" "temperature 1" bidirectional "reze 1" no-mask-duplicates "lora rank=2" freeze-documents "documents x"; do
		# shellcheck disable=SC2086
		does_not_apply "--${option% *}" train -m "$(folder olmoe)" -o out --objective clm --$option texts.mts
	done
	[ ! -e out.log.tsv ]
}

@test "clm: in a decoder with task experts only the named one is trained" {
	upcycle -q -m "$G/qwen3" --experts left,right -o mote
	clm=(-q --objective clm --decay 0 -m mote)
	run -2 --separate-stderr train "${clm[@]}" -o out texts.mts
	[ "${stderr%%$'\n'*}" = "train: the model has task experts: say which one learns, with --expert" ]
	run -2 --separate-stderr train "${clm[@]}" -o out --expert '*' texts.mts
	[ "${stderr%%$'\n'*}" = "train: --expert: a batch of causal language modelling has one expert; name it, not '*'" ]
	train "${clm[@]}" --expert left -o out texts.mts
	comm -12 <(tensor_sums mote | sort) <(tensor_sums out | sort) >same
	[ "$(grep -c left same)" = 0 ]
	[ "$(grep -c right same)" = "$(tensor_sums mote | grep -c right)" ]
	[ "$(grep -c lm_head same)" = 0 ]
}

@test "clm: a model that caps the logits of its tokens is refused" {
	cp -r "$GOLDEN/forward/uncapped" capped
	for change in '.final_logit_softcapping = 0.5' 'del(.final_logit_softcapping)'; do
		jq "$change" "$GOLDEN/forward/uncapped/config.json" >capped/config.json
		run -1 --separate-stderr train -q -m capped -o out --objective clm --steps 1 texts.mts
		[ "$stderr" = "train: capped: caps the logits of the tokens that it predicts ('final_logit_softcapping'), which is not supported" ]
	done
	jq '.final_logit_softcapping = null' "$GOLDEN/forward/uncapped/config.json" >capped/config.json
	train -q -m capped -o out --objective clm --steps 1 texts.mts
}
