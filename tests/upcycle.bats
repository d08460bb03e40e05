#!/usr/bin/env bats
load helper

FOUR=classification,clustering,search_query,search_document

# Embeddings of the golden texts, the bytes of their numbers.
embed() { # model [option...]
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" | encode --any-tokenizer -m "$@" |
		ids_stream --rows text.emb
}

# A tiny random model of a family, with the vocabulary of the golden ones.
random_model() { # family config... -> $T/FAMILY
	mkdir -p "$T/$1.config"
	echo "{\"model_type\": \"$1\", \"vocab_size\": 40, \"hidden_size\": 8, \"num_hidden_layers\": 3,
		\"num_attention_heads\": 2, \"max_position_embeddings\": 24, \"intermediate_size\": 12,
		\"initializer_range\": 0.5 $2}" >"$T/$1.config/config.json"
	model_copy "$T/$1.config" "$T/$1" init 1
}

# 1. the known answer
@test "upcycle: each expert gives the dense model's embeddings to the bit" {
	for family in bert nomic_bert; do
		embed "$GOLDEN/$family" >"$T/dense"
		for how in "" "--every 2" "--layers odd" "--layers 0" "--no-expert-norms"; do
			upcycle -m "$GOLDEN/$family" --experts $FOUR $how -o "$T/mote"
			for expert in ${FOUR//,/ }; do
				embed "$T/mote" -e $expert | cmp - "$T/dense"
			done
		done
	done
}

@test "upcycle: ModernBERT and Qwen3 too: experts equal the dense model, and their mean does" {
	random_model modernbert ', "local_attention": 4'
	random_model qwen3 ', "num_key_value_heads": 1'
	for family in modernbert qwen3; do
		embed "$T/$family" >"$T/dense"
		upcycle -m "$T/$family" --experts a,b --layers 1,2 -o "$T/mote"
		model_check "$T/mote" "$GOLDEN/bert/expected.safetensors"
		for expert in a b; do
			embed "$T/mote" -e $expert | cmp - "$T/dense"
		done
		upcycle --average -m "$T/mote" -o "$T/mean"
		embed "$T/mean" | cmp - "$T/dense"
	done
	run ! grep -qa 'layers.1.input_layernorm.experts' "$T/mote/model.safetensors"
	grep -qa 'layers.1.post_attention_layernorm.experts.a.weight' "$T/mote/model.safetensors"
}

@test "upcycle: blocks with token experts are refused, the dense ones beside them are not" {
	random_model qwen2_moe ', "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 4,
		"shared_expert_intermediate_size": 6, "mlp_only_layers": [1], "decoder_sparse_step": 1'
	run -1 upcycle -m "$T/qwen2_moe" --experts a,b -o "$T/mote"
	[ "$output" = "upcycle: $T/qwen2_moe: block 0 has token experts; task experts are copies of a dense MLP (choose --layers without it)" ]
	embed "$T/qwen2_moe" >"$T/dense"
	upcycle -m "$T/qwen2_moe" --experts a,b --layers 1 -o "$T/mote"
	embed "$T/mote" -e b | cmp - "$T/dense"
	sed -i 's/"layers": \[/&0, /' "$T/mote/config.json"
	run -1 upcycle --average -m "$T/mote" -o "$T/mean"
	[[ "$output" == *"block 0 has token experts, it cannot have task experts" ]]
}

@test "upcycle: tensors stand beside the originals, the rest is as it was" {
	upcycle -m "$GOLDEN/nomic_bert" --experts a,b --every 2 -o "$T/mote"
	model_tensors() { head -c 20000 "$1/model.safetensors" | grep -ao '"[a-z][A-Za-z0-9_.]*":{' | sort; }
	model_tensors "$T/mote" >"$T/names"
	grep -q '"encoder.layers.1.mlp.fc2.experts.a.weight"' "$T/names"
	grep -q '"encoder.layers.1.norm1.experts.b.bias"' "$T/names"
	run ! grep -q '"encoder.layers.1.mlp.fc2.weight"' "$T/names"
	grep -q '"encoder.layers.0.mlp.fc2.weight"' "$T/names"
	cmp "$T/mote/vocab.txt" "$GOLDEN/nomic_bert/vocab.txt"
	grep -q '"layers": \[' "$T/mote/config.json"
}

@test "upcycle: --average of experts that are equal is the dense model again" {
	embed "$GOLDEN/bert" >"$T/dense"
	upcycle -m "$GOLDEN/bert" --experts a,b,c -o "$T/mote"
	upcycle --average -m "$T/mote" -o "$T/mean"
	embed "$T/mean" | cmp - "$T/dense"
	run ! grep -q task_experts "$T/mean/config.json"
}

@test "upcycle: --average is the mean of experts that differ" {
	G=$GOLDEN/train
	upcycle -m "$G/bert" --experts left,right -o "$T/mote"
	pairs_stream '{"temperature": 0.05, "experts": {"query": "left", "document": "left"}}' <"$G/pairs.txt" |
		train -q -j 1 -m "$T/mote" -o "$T/learned" --lr 1e-2 --warmup 0 --schedule constant -
	upcycle --average -m "$T/learned" -o "$T/mean"
	safetensors_list "$T/learned" | awk '/experts/ { sub(/experts\.(left|right)\./, ""); sum[$1] += $4 / 2 }
		END { for (name in sum) printf "%s %.9g\n", name, sum[name] }' | sort >"$T/wanted"
	safetensors_list "$T/mean" | sort | join -o 2.4 "$T/wanted" - >"$T/got"
	[ "$(wc -l <"$T/got")" -eq 16 ] # of two blocks
	cut -d' ' -f2 "$T/wanted" | within "$T/got" 1e-5
	safetensors_list "$T/learned" | grep left | sed 's/experts\.left\.//' | sort |
		join -o 2.4 "$T/wanted" - >"$T/left"
	run ! within "$T/left" 1e-3 <"$T/got"
}

@test "upcycle: matrices of one expert lie together, and of the others encode touches nothing" {
	upcycle -m "$ROOT/share/models/base" --experts a,b,c,d,e,f -o "$T/mote"
	# in the order of the file
	head -c 20000 "$T/mote/model.safetensors" | grep -ao '"[^"]*mlp[^"]*experts\.[a-f]\.weight"' |
		sed 's/.*experts\.//' | uniq -c >"$T/runs"
	[ "$(wc -l <"$T/runs")" -eq 6 ]
	[ -x /usr/bin/time ] || skip "needs time(1)"
	most() { # folder option...: kilobytes
		tok -m "$1" <<<"a small boat" >"$T/ids.mts"
		/usr/bin/time -f %M -o "$T/kilobytes" encode -q -j 1 -m "$@" "$T/ids.mts" >"$T/out.mts"
		cat "$T/kilobytes"
	}
	dense=$(most "$ROOT/share/models/base")
	one=$(most "$T/mote" -e c)
	[ "$one" -lt $((dense + 3000)) ] # of 17,700 for five experts
}

# 2. options
@test "upcycle: --layers and --every choose blocks" {
	while read -r how wanted; do
		upcycle -m "$GOLDEN/bert" --experts a ${how/=/ } -o "$T/mote"
		[ "$(tr -d ' \n' <"$T/mote/config.json" | grep -o '"layers":[^]]*]')" = "\"layers\":$wanted" ]
	done <<-E
		--every=1 [0,1]
		--every=2 [1]
		--layers=all [0,1]
		--layers=odd [1]
		--layers=even [0]
		--layers=1,0 [0,1]
	E
}

@test "upcycle: prompts are added where there are none" {
	cp -r "$GOLDEN/bert" "$T/m"
	echo '{"prompts": {"clustering": "mine: "}, "similarity_fn_name": "dot"}' \
		>"$T/m/config_sentence_transformers.json"
	upcycle -m "$T/m" --experts clustering,search_query,x --prompt 'search_query=search query: ' \
		-o "$T/mote"
	[ "$(tr -d '\n' <"$T/mote/config_sentence_transformers.json" | tr -s ' ')" = \
		'{ "prompts": { "clustering": "mine: ", "search_query": "search query: ", "x": "x: " }, "similarity_fn_name": "dot"}' ]
}

# 3. usage
@test "upcycle: usage errors exit 2 and write nothing" {
	upcycle -m "$GOLDEN/bert" --experts a -o "$T/mote"
	for arguments in "" "-m $GOLDEN/bert -o $T/o" "-m $GOLDEN/bert --experts a" "-o $T/o --experts a" \
		"-m $GOLDEN/bert -o $T/o --experts a,a" "-m $GOLDEN/bert -o $T/o --experts a/b" \
		"-m $GOLDEN/bert -o $T/o --experts a --layers 2" "-m $GOLDEN/bert -o $T/o --experts a --layers x" \
		"-m $GOLDEN/bert -o $T/o --experts a --layers 0 --every 2" \
		"-m $GOLDEN/bert -o $T/o --experts a --prompt b=x" "-m $GOLDEN/bert -o $T/o --experts a x" \
		"-m $GOLDEN/bert -o $T/o --experts a --average" "-m $T/mote -o $T/o --average --every 1" \
		"-m $T/mote -o $T/o --average --layers all" "-m $T/mote -o $T/o --average --no-expert-norms" \
		"-m $T/mote -o $T/o --average --prompt a=b"; do
		run -2 --separate-stderr upcycle $arguments
		[ -z "$output" ]
		[ ! -e "$T/o" ]
	done
}

@test "upcycle: options that say nothing to --average are refused" {
	for option in "experts a" "every 2" "layers 0" no-expert-norms "prompt a=b"; do
		says_nothing "--${option% *}" upcycle --average -m "$GOLDEN/bert" -o "$T/o" --$option
	done
	[ ! -e "$T/o" ]
}

# 4. bad input
@test "upcycle: faults of the folders are named, and leave nothing behind" {
	run -1 upcycle -m "$T/none" --experts a -o "$T/o"
	[[ "$output" == "upcycle: $T/none: "* ]]
	upcycle -m "$GOLDEN/bert" --experts a -o "$T/mote"
	run -1 upcycle -m "$T/mote" --experts b -o "$T/o"
	[[ "$output" == *"$T/mote: has task experts already"* ]]
	run -1 upcycle --average -m "$GOLDEN/bert" -o "$T/o"
	[[ "$output" == *"has no task experts to average"* ]]
	run -1 upcycle -m "$GOLDEN/bert" --experts a --every 3 -o "$T/o"
	[[ "$output" == *"none of them"* ]]
	run -1 upcycle -m "$GOLDEN/bert" --experts a -o "$T/no/such/place"
	[[ "$output" == *"$T/no/such/place"* ]]
	head -c 5000 "$GOLDEN/bert/model.safetensors" >"$T/cut"
	cp -r "$GOLDEN/bert" "$T/m"
	cp "$T/cut" "$T/m/model.safetensors"
	run -1 upcycle -m "$T/m" --experts a -o "$T/o"
	[[ "$output" == *"$T/m/model.safetensors"* ]]
	[ "$(ls -A "$T" | sort | tr '\n' ' ')" = "cut m mote " ]
}

# 5. the man page
@test "upcycle: the manual's example runs as printed" {
	cd "$T"
	cp -r "$GOLDEN/nomic_bert" dense
	example=$(page_examples upcycle.1)
	[ -n "$example" ]
	bash -e -c "$example"
	[ -e mote/model.safetensors ]
}
