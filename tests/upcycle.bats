#!/usr/bin/env bats
load helper

FOUR=classification,clustering,search_query,search_document

# random_model FAMILY KEYS: $T/FAMILY, a tiny random model with the golden models' vocabulary and these keys in config.json
random_model() {
	mkdir -p "$T/$1.config"
	echo "{\"model_type\": \"$1\", \"vocab_size\": 40, \"hidden_size\": 8, \"num_hidden_layers\": 3,
		\"num_attention_heads\": 2, \"max_position_embeddings\": 24, \"intermediate_size\": 12,
		\"initializer_range\": 0.5 $2}" >"$T/$1.config/config.json"
	model_copy "$T/$1.config" "$T/$1" init 1
}

# 1. the known answer
# bats test_tags=plain
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

# bats test_tags=plain
@test "upcycle: experts of ModernBERT and Qwen3 give the dense model's embeddings, and so does their mean" {
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

# bats test_tags=plain
@test "upcycle: experts of decoders with windows, biases and norms of branches give the dense model's embeddings" {
	for family in qwen2 mistral llama eurobert gemma3_text; do
		ids() { ids_stream text.ids <"$GOLDEN/bert/ids.txt"; }
		embed_family() { ids | encode -q -m "$@" | ids_stream --rows text.emb; }
		embed_family "$GOLDEN/families/$family" >"$T/dense"
		upcycle -q -m "$GOLDEN/families/$family" --experts a,b -o "$T/mote"
		model_check "$T/mote" "$GOLDEN/families/$family/expected.safetensors"
		for expert in a b; do
			embed_family "$T/mote" -e $expert | cmp - "$T/dense"
		done
		upcycle -q --average -m "$T/mote" -o "$T/mean"
		embed_family "$T/mean" | cmp - "$T/dense"
		upcycle -q -m "$GOLDEN/families/$family" --token-experts 2 --token-top 1 -o "$T/tokens"
		embed_family "$T/tokens" | cmp - "$T/dense"
	done
	# norms of attention are shared
	upcycle -q -m "$GOLDEN/families/gemma3_text" --experts a,b -o "$T/mote"
	safetensors_list "$T/mote" | sed -n 's/.*layers\.1\.\(.*norm[a-z.]*\)\.weight\t.*/\1/p' | sort | paste -sd' ' >"$T/norms"
	diff "$T/norms" - <<<"input_layernorm post_attention_layernorm post_feedforward_layernorm.experts.a post_feedforward_layernorm.experts.b pre_feedforward_layernorm.experts.a pre_feedforward_layernorm.experts.b self_attn.k_norm self_attn.q_norm"
	upcycle -q -m "$GOLDEN/families/gemma3_text" --experts a,b --no-expert-norms -o "$T/mote"
	run ! grep -qa 'layernorm.experts' "$T/mote/model.safetensors"
}

@test "upcycle: blocks with token experts are refused, dense blocks of such a model are not" {
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

@test "upcycle: experts' tensors stand beside the originals; all else is unchanged" {
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

# bats test_tags=plain
@test "upcycle: --average of equal experts is the dense model" {
	embed "$GOLDEN/bert" >"$T/dense"
	upcycle -m "$GOLDEN/bert" --experts a,b,c -o "$T/mote"
	upcycle --average -m "$T/mote" -o "$T/mean"
	embed "$T/mean" | cmp - "$T/dense"
	run ! grep -q task_experts "$T/mean/config.json"
}

@test "upcycle: --average is the mean of different experts" {
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

@test "upcycle: --average of three random experts is their mean, computed by hand" {
	G=$GOLDEN/nomic_bert
	upcycle -m "$G" --experts a,b,c --layers 1 -o "$T/mote"
	model_copy "$T/mote" "$T/drawn" init 5
	upcycle --average -m "$T/drawn" -o "$T/mean"
	safetensors_list "$T/drawn" | awk '/experts/ { sub(/experts\.[abc]\./, ""); sum[$1] += $4 / 3; seen[$1]++ }
		END { for (name in sum) if (seen[name] == 3) printf "%s %.9g\n", name, sum[name] }' | sort >"$T/wanted"
	[ "$(wc -l <"$T/wanted")" -eq 7 ] # fc11, fc12, fc2; two norms with biases
	safetensors_list "$T/mean" | sort | join -o 2.4 "$T/wanted" - >"$T/got"
	cut -d' ' -f2 "$T/wanted" | within "$T/got" 1e-5
	# shared tensors are unchanged
	safetensors_list "$T/drawn" | grep -v experts | sort >"$T/shared"
	safetensors_list "$T/mean" | sort | comm -23 "$T/shared" - | wc -l | found -x 0
}

# two_experts OPTION...: $T/mote, a model with two different experts; right's tensor ends the file
two_experts() {
	upcycle -m "$GOLDEN/bert" --experts left,right "$@" -o "$T/mote"
	printf '\0%.0s' {1..64} | dd of="$T/mote/model.safetensors" bs=1 status=none conv=notrunc \
		seek=$(($(stat -c %s "$T/mote/model.safetensors") - 64))
}

# serve MODEL TASK: the task's prompts and embeddings of three texts
serve() {
	printf '%s\n' 'a red boat' 'the bird flies' 'the sea' | tok -m "$1" --task "$2" | encode -m "$1" |
		tee "$T/served.mts" | ids_stream --rows text.emb
	mts head "$T/served.mts" | grep -o '"prompts":{[^}]*}'
}

@test "upcycle --task: tasks share an expert, with its prompt or their own" {
	two_experts --task pairs=right --task sts=left --task left.2=left --prompt 'right=to the right: ' \
		--prompt 'sts=the same? '
	serve "$T/mote" right >"$T/right"
	serve "$T/mote" left >"$T/left"
	run ! diff -q "$T/left" "$T/right"
	grep -q '"text":"to the right: "' "$T/right"
	serve "$T/mote" pairs | cmp - "$T/right"
	serve "$T/mote" left.2 | cmp - "$T/left"
	# another prompt with the same expert
	serve "$T/mote" sts | tail -n 1 | found -x '"prompts":{"text":"the same? "}'
	printf '%s\n' 'a red boat' 'the bird flies' 'the sea' | tok -m "$T/mote" --prompt 'the same? ' |
		encode -m "$T/mote" -e left | ids_stream --rows text.emb |
		cmp - <(serve "$T/mote" sts | sed '$d')
	# a row may name a task in place of an expert
	printf '{"text": "a boat", "text.expert": "%s"}\n' right pairs left left.2 | tok -m "$T/mote" -f text |
		encode -m "$T/mote" | ids_stream --rows text.emb | uniq -c |
		awk '$1 != 2 { bad = 1 } END { exit bad || NR != 2 }'
}

@test "upcycle --task: changes the tasks of a model with experts without rewriting its weights" {
	two_experts --task sts=left
	serve "$T/mote" right >"$T/right"
	serve "$T/mote" left >"$T/left"
	upcycle -m "$T/mote" --task sts=right --task more=left -o "$T/hybrid"
	[ "$(stat -c %i "$T/mote/model.safetensors")" = "$(stat -c %i "$T/hybrid/model.safetensors")" ]
	cmp "$T/mote/vocab.txt" "$T/hybrid/vocab.txt"
	serve "$T/hybrid" sts | cmp - "$T/right"
	serve "$T/hybrid" more | cmp - "$T/left"
	serve "$T/mote" sts | cmp - "$T/left" # unchanged
	# removes a task, in place; a task with an expert's name has another expert
	upcycle -m "$T/hybrid" --task sts= --task left=right --prompt 'left=left still: ' -o "$T/hybrid"
	[ "$(jq -c .task_experts.tasks "$T/hybrid/config.json")" = '{"more":"left","left":"right"}' ]
	[ "$(stat -c %i "$T/mote/model.safetensors")" = "$(stat -c %i "$T/hybrid/model.safetensors")" ]
	run -1 serve "$T/hybrid" sts
	[[ "$output" == *"no prompt is called 'sts'; there are: left, right, more"* ]]
	serve "$T/hybrid" left | tail -n 1 | found -x '"prompts":{"text":"left still: "}'
	tok -m "$T/hybrid" <<<boat >"$T/ids.mts"
	encode -m "$T/hybrid" -e left "$T/ids.mts" | ids_stream --rows text.emb >"$T/by.task"
	encode -m "$T/mote" -e right "$T/ids.mts" | ids_stream --rows text.emb | cmp - "$T/by.task"
	encode -m "$T/hybrid" -e more "$T/ids.mts" | ids_stream --rows text.emb >"$T/by.row"
	encode -m "$T/mote" -e left "$T/ids.mts" | ids_stream --rows text.emb | cmp - "$T/by.row"
	# without tasks the key is removed
	upcycle -m "$T/hybrid" --task more= --task left= -o "$T/hybrid"
	run ! grep -q tasks "$T/hybrid/config.json"
	serve "$T/hybrid" right | cmp - "$T/right"
}

@test "upcycle --task: '*' gives each text the expert that its ids' hash selects" {
	upcycle -m "$GOLDEN/bert" --experts a,b,c --task 'any=*' --task sure=b --prompt 'any=z ' -o "$T/equal"
	model_copy "$T/equal" "$T/mote" init 5
	[ "$(jq -c .task_experts.tasks "$T/mote/config.json")" = '{"any":"*","sure":"b"}' ]
	# texts of a record, some repeated; prompts are part of the text
	words=(a the boat bird sea sun red little green flies sings sleeps runs man moon)
	for i in {0..23}; do
		echo "${words[i * 2 % 5]} ${words[i * 7 % 15]} ${words[i * i % 13]}"
	done >"$T/texts"
	sed 's/^/z /' "$T/texts" | tok -m "$T/mote" --prompt '' | mts to jsonl | jq -r '.["text.ids"] | join(" ")' >"$T/ids"
	while read -ra ids; do
		text_expert 3 "${ids[@]}"
	done <"$T/ids" >"$T/numbers"
	[ "$(sort -u "$T/numbers" | wc -l)" -eq 3 ]
	for expert in a b c; do
		ids_stream text.ids <"$T/ids" | encode --any-tokenizer -m "$T/mote" -e $expert |
			ids_stream --rows text.emb >"$T/$expert.emb"
	done
	paste -d'\n' "$T"/[abc].emb | awk -v numbers="$T/numbers" 'NR % 3 == 1 { getline n <numbers }
		(NR - 1) % 3 == n' >"$T/expected"
	[ "$(wc -l <"$T/expected")" -eq 24 ]
	# by tok --task, by --expert, by a column
	tok -m "$T/mote" --task any "$T/texts" | encode -m "$T/mote" -e a | ids_stream --rows text.emb |
		cmp - "$T/expected"
	for name in any '*'; do
		ids_stream text.ids <"$T/ids" >"$T/ids.mts"
		encode --any-tokenizer -m "$T/mote" --tokens 16 -e "$name" "$T/ids.mts" | ids_stream --rows text.emb |
			cmp - "$T/expected"
		for i in {1..24}; do
			printf '{"text.expert": "%s"}\n' "$([ $((i % 4)) = 0 ] && echo sure || echo "$name")"
		done | mts from jsonl | mts paste "$T/ids.mts" - | encode --any-tokenizer -m "$T/mote" |
			ids_stream --rows text.emb >"$T/rows"
		cmp "$T/rows" <(paste -d'\n' "$T/expected" "$T/b.emb" | awk 'NR % 2 == (int((NR + 1) / 2) % 4 != 0)')
	done
	# hidden states are the expert's too
	ids_stream text.ids '{"experts": {"text": "any"}}' <"$T/ids" |
		encode --any-tokenizer -m "$T/mote" --emit hs:layers=last:pool=mean |
		mts to jsonl | jq -c 'del(.["text.ids"])' >"$T/hidden"
	ids_stream text.ids <<<"$(head -1 "$T/ids")" |
		encode --any-tokenizer -m "$T/mote" --emit hs:layers=last:pool=mean -e "$(head -1 "$T/numbers" | tr 012 abc)" |
		mts to jsonl | jq -c 'del(.["text.ids"])' | cmp - <(head -1 "$T/hidden")
	# a dense model ignores it; '*' may be replaced by an expert, and back
	tok -m "$GOLDEN/bert" <<<boat | encode --any-tokenizer -m "$GOLDEN/bert" >"$T/dense"
	upcycle -m "$T/mote" --task 'any=c' --task 'sure=*' -o "$T/mote"
	ids_stream text.ids '{"experts": {"text": "sure"}}' <"$T/ids" | encode --any-tokenizer -m "$T/mote" |
		ids_stream --rows text.emb | cmp - "$T/expected"
	# an average has no tasks
	upcycle --average -m "$T/mote" -o "$T/mean"
	run ! grep -q task "$T/mean/config.json"
}

@test "upcycle --task: shards, custom modules and links of a cache" {
	two_experts
	serve "$T/mote" right >"$T/right"
	mkdir -p "$T/blobs" "$T/linked/0_Transformer"
	for file in "$T/mote"/*.*; do
		cp "$file" "$T/blobs/${file##*/}"
		ln -s "$T/blobs/${file##*/}" "$T/linked/0_Transformer/"
	done
	rm "$T/linked/0_Transformer/modules.json"
	mv "$T/linked/0_Transformer/config_sentence_transformers.json" "$T/linked"
	cp -r "$T/mote"/[1-9]_* "$T/linked"
	jq '.[0].path = "0_Transformer"' "$T/mote/modules.json" >"$T/linked/modules.json"
	upcycle -m "$T/linked/" --task sts=right -o "$T/out/"
	[ "$(cd "$T/out" && find . -type f | grep -vE 'token|vocab|sentence' | sort | tr '\n' ' ')" = \
		"./0_Transformer/config.json ./0_Transformer/model.safetensors ./1_Pooling/config.json ./modules.json " ]
	serve "$T/out" sts | cmp - "$T/right"
	# the weights in two files, on another file system
	python3 - "$T/mote" <<-'E' || skip "needs python3"
		import json, struct, sys
		path = sys.argv[1] + "/"
		data = open(path + "model.safetensors", "rb").read()
		n = struct.unpack("<Q", data[:8])[0]
		header = json.loads(data[8:8 + n])
		header.pop("__metadata__", None)
		half = sorted(header, key=lambda name: header[name]["data_offsets"])
		where = {}
		for i, names in enumerate((half[:7], half[7:])):
		    file, at, own, body = f"model-0000{i + 1}-of-00002.safetensors", 0, {}, b""
		    for name in names:
		        a, b = header[name]["data_offsets"]
		        own[name] = dict(header[name], data_offsets=[at, at + b - a])
		        at += b - a
		        body += data[8 + n + a:8 + n + b]
		        where[name] = file
		    text = json.dumps(own).encode()
		    text += b" " * (-len(text) % 8)
		    open(path + file, "wb").write(struct.pack("<Q", len(text)) + text + body)
		json.dump({"weight_map": where}, open(path + "model.safetensors.index.json", "w"))
	E
	rm "$T/mote/model.safetensors"
	upcycle -m "$T/mote" --task sts=right -o "$T/shards"
	serve "$T/shards" sts | cmp - "$T/right"
	other=$(mktemp -d -p /dev/shm 2>/dev/null) || skip "needs a second file system"
	upcycle -m "$T/mote" --task sts=right -o "$other/copy"
	serve "$other/copy" sts >"$T/copied"
	rm -r "$other"
	cmp "$T/copied" "$T/right"
}

@test "upcycle --average: tasks keep their prompts and share the one model" {
	two_experts --task pairs=right --task sts=left --prompt 'sts=the same? '
	upcycle --average -m "$T/mote" -o "$T/mean"
	run ! grep -q task "$T/mean/config.json"
	for task in left right pairs sts; do
		ids() { tok -m "$1" --task $task <<<'a boat' | mts head | grep -e '^record' -e ids; }
		[ "$(ids "$T/mean")" = "$(ids "$T/mote")" ]
	done
	tok -m "$T/mean" <<<'a boat' | encode -m "$T/mean" | ids_stream --rows text.emb >"$T/dense"
	printf '{"text": "a boat", "text.expert": "pairs"}\n' | tok -m "$T/mean" -f text | encode -m "$T/mean" |
		ids_stream --rows text.emb | cmp - "$T/dense"
}

@test "upcycle: an expert's matrices are contiguous, and encode reads no other expert's" {
	upcycle -m "$ROOT/share/models/mlm" --experts a,b,c,d,e,f -o "$T/mote"
	# in the order of the file
	head -c 20000 "$T/mote/model.safetensors" | grep -ao '"[^"]*mlp[^"]*experts\.[a-f]\.weight"' |
		sed 's/.*experts\.//' | uniq -c >"$T/runs"
	[ "$(wc -l <"$T/runs")" -eq 6 ]
	[ -x /usr/bin/time ] || skip "needs time(1)"
	most() { # FOLDER OPTION...: kilobytes
		tok -m "$1" "$T/texts" >"$T/ids.mts"
		/usr/bin/time -f %M -o "$T/kilobytes" encode -q -j 1 -m "$@" "$T/ids.mts" >"$T/out.mts"
		cat "$T/kilobytes"
	}
	echo "a small boat" >"$T/texts"
	dense=$(most "$ROOT/share/models/mlm")
	one=$(most "$T/mote" -e c)
	[ "$one" -lt $((dense + 3000)) ] # 17,700 for five experts
	# also if the expert's matrices are packed for many texts, as those of f32 are
	for i in {1..300}; do echo "a small boat with $i sails"; done >"$T/texts"
	model_copy "$ROOT/share/models/mlm" "$T/f32" f32
	upcycle -m "$T/f32" --experts a,b,c,d,e,f -o "$T/f32-mote"
	dense=$(most "$T/f32")
	one=$(most "$T/f32-mote" -e c)
	[ "$one" -lt $((dense + 3000)) ] # 65,000 more for all six
}

# Families with a dense MLP: with biases or without, gated or plain, post-norm or pre-norm, fused tensors.
DENSE="bert nomic_bert modernbert gte qwen3 mpnet t5 jina_bert jina_bert_code"

# bats test_tags=plain
@test "upcycle: one token expert gives the dense model's bits; two of four, renormalized, differ by rounding" {
	for family in $DENSE; do
		embed "$GOLDEN/families/$family" >"$T/dense"
		[ -s "$T/dense" ]
		for how in "1" "1 --no-renormalize" "4 --token-top 1" "1 --every 2"; do
			upcycle -m "$GOLDEN/families/$family" --token-experts $how -o "$T/moe"
			embed "$T/moe" | cmp - "$T/dense"
		done
		for how in 4 "5 --token-top 4" "3 --layers 1"; do
			upcycle -m "$GOLDEN/families/$family" --token-experts $how -o "$T/moe"
			paste -d' ' <(embed "$T/moe") "$T/dense" | awk '{ for (i = 1; i <= NF / 2; i++)
				if (($i - $(i + NF / 2)) ^ 2 > 1e-12) bad = 1 } END { exit bad || !NR }'
		done
		# without renormalization a part of the dense MLP is missing
		upcycle -m "$GOLDEN/families/$family" --token-experts 4 --no-renormalize -o "$T/moe"
		run ! cmp -s <(embed "$T/moe") "$T/dense"
	done
}

@test "upcycle: blocks with a short convolution have token experts like others" {
	for family in lfm2 lfm2_both; do
		upcycle -q -m "$GOLDEN/forward/$family" --token-experts 2 -o "$T/$family"
		embed "$GOLDEN/forward/$family" >"$T/dense"
		embed "$T/$family" >"$T/found"
		within "$T/dense" 1e-5 <"$T/found"
	done
}

@test "upcycle: token experts copy the MLP of their block only, and have a router" {
	upcycle -m "$GOLDEN/families/bert" --token-experts 3 --layers 1 -o "$T/moe"
	safetensors_list "$GOLDEN/families/bert" | sort >"$T/dense"
	safetensors_list "$T/moe" | grep -v router | sed 's/experts\.[0-2]\.//' | sort -u | diff - "$T/dense"
	safetensors_list "$T/moe" | grep -o '^[^	]*experts[^	]*' | sort | diff - <(
		for e in 0 1 2; do
			printf "encoder.layer.1.%s.dense.experts.$e.%s\n" intermediate bias intermediate weight \
				output bias output weight
		done | sort)
	safetensors_list "$T/moe" | grep router | cut -f1-3 >"$T/router"
	[ "$(cat "$T/router")" = "encoder.layer.1.router.weight	f32	3,8" ]
	[ "$(tr -d ' \n' <"$T/moe/config.json" | grep -o '"token_experts.*')" = \
		'"token_experts":{"count":3,"top":2,"renormalize":true,"layers":[1]}}' ]
	run ! test -e "$T/moe/config_sentence_transformers.json"
}

@test "upcycle: routers are drawn from the seed, different in each block" {
	options=(-m "$GOLDEN/families/modernbert" --token-experts 4)
	for seed in 0 0 1; do
		upcycle "${options[@]}" --seed $seed -o "$T/seed$seed"
		safetensors_list "$T/seed$seed" | grep router | cut -f4 >>"$T/routers$seed"
	done
	[ "$(sort -u "$T/routers0" "$T/routers1" | wc -l)" -eq 8 ] # 4 blocks, 2 seeds
	upcycle "${options[@]}" -o "$T/default"
	cmp "$T/default/model.safetensors" "$T/seed0/model.safetensors"
	# 100 times the deviation gives 100 times the values
	model_copy "$GOLDEN/families/modernbert" "$T/wide" f32
	sed -i 's/{/{"initializer_range": 2,/' "$T/wide/config.json"
	upcycle -m "$T/wide" --token-experts 4 -o "$T/moe"
	safetensors_list "$T/moe" | grep router | cut -f4 | paste - <(head -4 "$T/routers0") |
		awk '{ if (($1 - 100 * $2) ^ 2 > 1e-8 * $1 * $1) bad = 1 } END { exit bad || NR != 4 }'
}

@test "upcycle: a checkpoint's prefix and masked-language-model head stay" {
	upcycle -m "$GOLDEN/families/modernbert" --token-experts 2 -o "$T/moe"
	safetensors_list "$T/moe" | cut -f1 >"$T/names"
	grep -qx 'model.layers.3.router.weight' "$T/names"
	grep -qx 'model.layers.0.mlp.Wi.experts.1.weight' "$T/names"
	grep -qx 'head.dense.weight' "$T/names"
	run ! grep -x 'model.layers.0.mlp.Wi.weight' "$T/names"
}

@test "upcycle: a model with experts gets no token experts" {
	run -1 upcycle -m "$GOLDEN/families/olmoe" --token-experts 4 -o "$T/moe"
	[ "$output" = "upcycle: $GOLDEN/families/olmoe: has token experts already" ]
	upcycle -m "$GOLDEN/bert" --experts a -o "$T/mote"
	run -1 upcycle -m "$T/mote" --token-experts 4 -o "$T/moe"
	[ "$output" = "upcycle: $T/mote: has task experts; token experts start from a dense model" ]
	run -1 upcycle -m "$GOLDEN/bert" --token-experts 4 --every 3 -o "$T/moe"
	[[ "$output" == *"none of them"* ]]
	[ ! -e "$T/moe" ]
	# dense blocks of the model may have task experts
	upcycle -m "$GOLDEN/bert" --token-experts 4 --layers 1 -o "$T/moe"
	embed "$T/moe" >"$T/tokens"
	run -1 upcycle -m "$T/moe" --experts a,b -o "$T/both"
	[[ "$output" == *"block 1 has token experts"* ]]
	upcycle -m "$T/moe" --experts a,b --layers 0 -o "$T/both"
	embed "$T/both" -e b | cmp - "$T/tokens"
	run -1 upcycle --average -m "$T/moe" -o "$T/mean"
	[[ "$output" == *"has no task experts to average"* ]]
}

# 2. options
@test "upcycle: --layers and --every select blocks" {
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

@test "upcycle: --prompt adds prompts to a folder without prompts" {
	cp -r "$GOLDEN/bert" "$T/m"
	echo '{"prompts": {"clustering": "mine: "}, "similarity_fn_name": "dot"}' \
		>"$T/m/config_sentence_transformers.json"
	upcycle -m "$T/m" --experts clustering,search_query,x --prompt 'search_query=search query: ' \
		-o "$T/mote"
	[ "$(tr -d '\n' <"$T/mote/config_sentence_transformers.json" | tr -s ' ')" = \
		'{ "prompts": { "clustering": "mine: ", "search_query": "search query: ", "x": "x: " }, "similarity_fn_name": "dot"}' ]
}

# 3. usage
@test "upcycle: usage errors exit 2 and write no file" {
	upcycle -m "$GOLDEN/bert" --experts a -o "$T/mote"
	for arguments in "" "-m $GOLDEN/bert -o $T/o" "-m $GOLDEN/bert --experts a" "-o $T/o --experts a" \
		"-m $GOLDEN/bert -o $T/o --experts a,a" "-m $GOLDEN/bert -o $T/o --experts a/b" \
		"-m $GOLDEN/bert -o $T/o --experts a --layers 2" "-m $GOLDEN/bert -o $T/o --experts a --layers x" \
		"-m $GOLDEN/bert -o $T/o --experts a --layers 0 --every 2" \
		"-m $GOLDEN/bert -o $T/o --experts a --prompt b=x" "-m $GOLDEN/bert -o $T/o --experts a x" \
		"-m $GOLDEN/bert -o $T/o --experts a --average" "-m $T/mote -o $T/o --average --every 1" \
		"-m $T/mote -o $T/o --average --layers all" "-m $T/mote -o $T/o --average --no-expert-norms" \
		"-m $T/mote -o $T/o --average --prompt a=b" "-m $GOLDEN/bert -o $T/o --experts a --task b" \
		"-m $GOLDEN/bert -o $T/o --experts a --task b=c" "-m $GOLDEN/bert -o $T/o --experts a --task b=" \
		"-m $GOLDEN/bert -o $T/o --experts a --task b/c=a" "-m $GOLDEN/bert -o $T/o --experts a --task =a" \
		"-m $GOLDEN/bert -o $T/o --experts a --task b=a --task b=a" "-m $T/mote --task b=a" \
		"-m $GOLDEN/bert -o $T/o --experts a --prompt a=b --prompt a=c" \
		"-m $GOLDEN/bert -o $T/o --token-experts 0" \
		"-m $GOLDEN/bert -o $T/o --token-experts 4 --token-top 5" "-m $GOLDEN/bert -o $T/o --token-experts 1 --token-top 2" \
		"-m $GOLDEN/bert -o $T/o --token-experts 4 --token-top 0" "-m $GOLDEN/bert -o $T/o --token-experts four"; do
		run -2 --separate-stderr upcycle $arguments
		[ -z "$output" ]
		[ ! -e "$T/o" ]
	done
}

@test "upcycle: options that do not apply to --task without --experts are refused" {
	for option in "every 2" "layers 0" no-expert-norms; do
		does_not_apply "--${option% *}" upcycle --task b=a -m "$GOLDEN/bert" -o "$T/o" --$option
	done
	[ ! -e "$T/o" ]
}

@test "upcycle: options that do not apply are refused" {
	for option in "experts a" no-expert-norms "prompt a=b" "task b=a"; do
		does_not_apply "--${option% *}" upcycle --token-experts 2 -m "$GOLDEN/bert" -o "$T/o" --$option
	done
	for option in "token-top 1" no-renormalize "seed 1"; do
		does_not_apply "--${option% *}" upcycle --experts a -m "$GOLDEN/bert" -o "$T/o" --$option
		does_not_apply "--${option% *}" upcycle --average -m "$GOLDEN/bert" -o "$T/o" --$option
	done
	for option in "experts a" "token-experts 2" "every 2" "layers 0" no-expert-norms "prompt a=b" "task b=a"; do
		does_not_apply "--${option% *}" upcycle --average -m "$GOLDEN/bert" -o "$T/o" --$option
	done
	[ ! -e "$T/o" ]
}

# 4. bad input
@test "upcycle: faulty folders are refused, and leave no file" {
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

@test "upcycle --task: a missing task is refused with the model's tasks" {
	upcycle -m "$GOLDEN/bert" --experts left,right --task sts=left -o "$T/mote"
	wrong() { # MESSAGE OPTION...
		run -1 --separate-stderr upcycle -m "$T/mote" -o "$T/o" "${@:2}"
		[ "$stderr" = "upcycle: $T/mote: $1" ]
		[ ! -e "$T/o" ]
	}
	there='there are left, right, and the tasks sts'
	wrong "the task 'a' cannot have the expert 'up'; $there" --task a=up
	wrong "the task 'a' cannot have the expert 'sts'; $there" --task a=sts
	wrong "the task 'left' has no row that could be taken out; $there" --task left=
	wrong "the prompt 'up' is of no expert and no task; $there" --prompt up=x
	wrong "the prompt 'up' is of no expert and no task; $there" --prompt left=x --prompt up=x
	run -1 upcycle -m "$GOLDEN/bert" --task a=b -o "$T/o"
	[ "$output" = "upcycle: $GOLDEN/bert: has no task experts that could serve a task; --experts gives it some" ]
	tok -m "$T/mote" <<<boat >"$T/ids.mts"
	run -1 --separate-stderr encode -m "$T/mote" -e up "$T/ids.mts"
	[[ "$stderr" == *"has no task expert 'up'; it has left, right, and the tasks sts" ]]
}

@test "upcycle --task: a map of tasks that was edited by hand is checked" {
	upcycle -m "$GOLDEN/bert" --experts left,right --task sts=left --task pairs=left -o "$T/mote"
	cp "$T/mote/config.json" "$T/whole.json"
	tok -m "$T/mote" <<<boat >"$T/ids.mts"
	while IFS=$'\t' read -r tasks message; do
		jq ".task_experts.tasks = $tasks" "$T/whole.json" >"$T/mote/config.json"
		run -1 --separate-stderr encode -m "$T/mote" -e left "$T/ids.mts"
		[ "$stderr" = "encode: $T/mote/config.json: $message" ]
	done <<-'E'
		["left"]	'tasks' of task_experts must be an object: the expert of each task
		{"sts": 1}	the task 'sts' must have the name of an expert
		{"sts": null}	the task 'sts' must have the name of an expert
		{"sts": "up"}	the task 'sts' has the expert 'up'; there are left, right
		{"a b": "left"}	a task's name must be up to 63 letters, digits, '_', '-' or '.', not 'a b'
	E
	jq '.task_experts.tasks = {"sts": "right"}' "$T/whole.json" >"$T/mote/config.json"
	[ "$(serve "$T/mote" sts | tail -n 1)" = '"prompts":{"text":"right: "}' ]
	rm "$T/mote/config_sentence_transformers.json"
	tok -m "$T/mote" --task sts <<<boat | mts head | found '{"experts":{"text":"sts"}}$'
}

# 5. the man page
@test "upcycle: the manual's example runs as printed" {
	cd "$T"
	cp -r "$GOLDEN/nomic_bert" dense
	cp "$GOLDEN/static/bpe.json" dense/tokenizer.json
	example=$(page_examples upcycle.1)
	[ -n "$example" ]
	bash -e -c "$example"
	[ -e mote/model.safetensors ]
	[ -e tlr/model.safetensors ]
	[ -e table/model.safetensors ]
	[ "$(jq -c .task_experts.tasks random/config.json | grep -o '"[a-z_]*":"\*"' | wc -l)" -eq 4 ]
}

@test "upcycle: --merge-lora: the merged model equals the model with its adapter to 1e-5" {
	while read -r case model; do
		M=$GOLDEN/$model
		ids=$M/ids.txt
		[ -e "$ids" ] || ids=$GOLDEN/bert/ids.txt
		upcycle -m "$M" --merge-lora "$GOLDEN/adapter/$case" -o "$T/merged"
		ids_stream text.ids <"$ids" >"$T/ids.mts"
		encode -q -m "$M" --pooling mean --normalize --adapter "$GOLDEN/adapter/$case" "$T/ids.mts" >"$T/beside.mts"
		encode -q -m "$T/merged" --pooling mean --normalize "$T/ids.mts" >"$T/merged.mts"
		mts diff --atol 1e-5 "$T/beside.mts" "$T/merged.mts"
		encode -q -m "$M" --pooling mean --normalize "$T/ids.mts" >"$T/base.mts"
		run -1 mts diff --atol 1e-2 "$T/base.mts" "$T/merged.mts"
	done <<-E
		plain bert
		mixed bert
		fused nomic_bert
		qwen3 families/qwen3
		modern families/modernbert
	E
}

# bats test_tags=plain
@test "upcycle: --mean: the mean of all models' weights, in the first model's dtypes" {
	for seed in 1 2 3; do
		train -q --from-scratch --objective mlm --steps 1 -m "$GOLDEN/train/bert" -s $seed -o "$T/$seed" \
			<(pairs_stream <"$GOLDEN/train/pairs.txt")
	done
	upcycle -m "$T/1" --mean "$T/2" --mean "$T/3" -o "$T/mean"
	values() {
		local size
		size=$(od -An -tu8 -N8 "$T/$1/model.safetensors")
		tail -c +$((9 + size)) "$T/$1/model.safetensors" | od -An -v -w4 -tf4
	}
	paste <(values 1) <(values 2) <(values 3) <(values mean) | awk '
		{ d = ($1 + $2 + $3) / 3 - $4; if (d < 0) d = -d; if (d > 1e-6) { print; bad = 1 }; differ += $1 != $2 }
		END { exit bad || differ < 1000 }'
	cmp "$T/1/vocab.txt" "$T/mean/vocab.txt"
	# modules behind the pooling too
	for seed in 1 2; do
		cut -f1 "$GOLDEN/train/pairs.txt" | grep . | ids_stream text.ids | encode -q -m "$T/$seed" | geom whiten fit -q --kind scale --power 0.$seed -m "$T/$seed" -o "$T/head$seed"
	done
	upcycle -m "$T/head1" --mean "$T/head2" -o "$T/heads"
	linear() { od -An -v -w4 -tf4 -j "$((8 + $(od -An -tu8 -N8 "$1"/*_Dense/model.safetensors)))" "$1"/*_Dense/model.safetensors; }
	paste <(linear "$T/head1") <(linear "$T/head2") <(linear "$T/heads") | awk '{ d = ($1 + $2) / 2 - $3; if (d < 0) d = -d; differ += $1 != $2
		if (d > 1e-6) { print; bad = 1 } } END { exit bad || !differ }'
	upcycle -m "$T/2" --mean "$T/2" -o "$T/same"
	cmp "$T/2/model.safetensors" "$T/same/model.safetensors"
	model_copy "$T/1" "$T/half" bf16
	upcycle -m "$T/half" --mean "$T/2" -o "$T/mean"
	[ "$(safetensors_list "$T/mean/model.safetensors" | grep -c bf16)" -gt 10 ]
	# another shape, another tokenizer, weights behind the pooling
	run -1 --separate-stderr upcycle -m "$T/1" --mean "$GOLDEN/bert" -o "$T/out"
	[[ $stderr == "upcycle: $GOLDEN/bert: "*"models of one shape have a mean" ]]
	cp -r "$T/2" "$T/other"
	echo '{}' >"$T/other/tokenizer.json"
	run -1 --separate-stderr upcycle -m "$T/1" --mean "$T/other" -o "$T/out"
	[[ $stderr == "upcycle: $T/other/tokenizer.json: is not $T/1/tokenizer.json; "* ]]
	[ ! -e "$T/out" ]
	does_not_apply --experts upcycle -m "$T/1" --mean "$T/2" --experts a -o "$T/out"
}

# Equal shapes, but tensors that are used differently.
# bats test_tags=plain
@test "upcycle: --mean: models that use the same weights differently are refused by key" {
	for seed in 1 2; do
		train -q --from-scratch --objective mlm --steps 1 -m "$GOLDEN/train/bert" -s $seed -o "$T/$seed" \
			<(pairs_stream <"$GOLDEN/train/pairs.txt")
	done
	upcycle -m "$T/1" --mean "$T/2" -o "$T/mean"
	other() { # FILE FILTER MESSAGE: the second model with a file edited by jq, or added
		rm -rf "$T/other"
		cp -r "$T/2" "$T/other"
		[ ! -e "$T/2/$1" ] || cat "$T/2/$1" >"$T/old.json"
		[ -e "$T/2/$1" ] || echo '{}' >"$T/old.json"
		jq -c "$2" "$T/old.json" >"$T/other/$1"
		run -1 --separate-stderr upcycle -m "$T/1" --mean "$T/other" -o "$T/out"
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "upcycle: $T/other"*"$3"* ]]
		[ ! -e "$T/out" ]
	}
	other config.json '.num_attention_heads = 4' "config.json: differs from that of $T/1 in 'num_attention_heads'; only"
	other config.json '.hidden_act = "relu"' "in 'hidden_act'; only models of one configuration have a mean"
	other config.json '.layer_norm_eps = 1e-5' "in 'layer_norm_eps'; only"
	other config.json '.layer_norm_eps = 1e-5 | .hidden_act = "relu" | ._name_or_path = "x"' "in 'hidden_act', 'layer_norm_eps'; only"
	other 1_Pooling/config.json '.pooling_mode_cls_token = true | .pooling_mode_mean_tokens = false' "'pooling_mode'"
	other 1_Pooling/config.json '.include_prompt = false' "'include_prompt'"
	other modules.json '. + [{idx: 2, name: "2", path: "2_Normalize", type: "sentence_transformers.models.Normalize"}]' "in the modules after the pooling"
	other config_sentence_transformers.json '.truncate_dim = 4' "'truncate_dim'"
	other tokenizer_config.json '.do_lower_case = false' "they differ in 'do_lower_case'; models of one tokenizer"
	other special_tokens_map.json '.unk_token = "[MASK]"' "they differ in 'unk_token'; models of one tokenizer"
	other sentence_bert_config.json '.max_seq_length = 7' "takes texts of 7 tokens, $T/1 of "
	other config_sentence_transformers.json '.prompts = {"query": "q: "} | .default_prompt_name = "query"' "'default_prompt_name'"
	cp "$T/other/config_sentence_transformers.json" "$T/1"
	other config_sentence_transformers.json '.prompts = {"query": "Q: "} | .default_prompt_name = "query"' "its prompt 'query' is not that of $T/1"
	# settings that change no embedding may differ
	jq '.transformers_version = "4.1" | .hidden_dropout_prob = 0.3 | .initializer_range = 0.5 | .new = {}' "$T/2/config.json" >"$T/config.json"
	cp "$T/config.json" "$T/2"
	[ ! -e "$T/1/config_sentence_transformers.json" ] || cp "$T/1/config_sentence_transformers.json" "$T/2"
	[ -e "$T/1/tokenizer_config.json" ] || echo {} >"$T/1/tokenizer_config.json"
	jq '.name_or_path = "elsewhere" | .padding_side = "left"' "$T/1/tokenizer_config.json" >"$T/2/tokenizer_config.json"
	upcycle -m "$T/1" --mean "$T/2" -o "$T/out"
	cmp "$T/out/model.safetensors" "$T/mean/model.safetensors"
}

# bats test_tags=plain
@test "upcycle: --merge-lora takes over the width that the adapter's folder keeps, with its modules" {
	cp -r "$GOLDEN/adapter/plain" "$T/lora"
	cp -r "$GOLDEN/families/bert"/{modules.json,1_Pooling} "$T/lora"
	echo '{"truncate_dim": 5}' >"$T/lora/config_sentence_transformers.json"
	upcycle -m "$GOLDEN/bert" --merge-lora "$T/lora" -o "$T/merged"
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	encode -q -m "$T/merged" "$T/ids.mts" >"$T/made.mts"
	mts diff --atol 1e-5 "$T/made.mts" <(encode -q -m "$GOLDEN/bert" --adapter "$T/lora" "$T/ids.mts")
	[ "$(ids_stream --rows text.emb <"$T/made.mts" | awk 'NR == 1 { print NF }')" = 5 ]
	echo '{}' >"$T/lora/config_sentence_transformers.json"
	upcycle -m "$T/merged" --merge-lora "$T/lora" -o "$T/whole"
	[ "$(encode -q -m "$T/whole" "$T/ids.mts" | ids_stream --rows text.emb | awk 'NR == 1 { print NF }')" = 8 ]
}

@test "upcycle: --merge-lora: unchanged bf16 and f16 tensors keep their bits; an adapter that does not fit is refused" {
	model_copy "$GOLDEN/bert" "$T/half" bf16
	upcycle -m "$T/half" --merge-lora "$GOLDEN/adapter/plain" -o "$T/merged"
	join <(tensor_sums "$T/half" | sort) <(tensor_sums "$T/merged" | sort) >"$T/sums"
	[ "$(awk '$2 != $3 { print $1 }' "$T/sums" | grep -c 'self\.\(query\|value\)\.weight$')" = 4 ]
	[ "$(awk '$2 != $3' "$T/sums" | wc -l)" = 4 ]
	[ "$(safetensors_list "$T/merged/model.safetensors" | grep -c bf16)" -gt 4 ]
	run -1 --separate-stderr upcycle -m "$GOLDEN/nomic_bert" --merge-lora "$GOLDEN/adapter/plain" -o "$T/out"
	[[ $stderr == *"changes the module 'encoder.layer.0.attention.self.query'"* ]]
	[ ! -e "$T/out" ]
	does_not_apply --experts upcycle -m "$T/half" --merge-lora "$GOLDEN/adapter/plain" --experts a -o "$T/out"
}
