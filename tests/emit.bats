#!/usr/bin/env bats
load helper

M=$GOLDEN/bert
O=$GOLDEN/families/olmoe
# The columns that REQUEST makes of three texts, as JSON Lines.
emit() { # MODEL REQUEST [OPTION]...
	printf '7\n1 2 3\n4 5 6 8\n' | ids_stream text.ids |
		encode -q -m "$1" --emit "${@:2}" | mts to jsonl
}
# holds FILTER: jq's FILTER is true for all rows; near(a; b): equal but for rounding
holds() {
	jq -e -s 'def close(a; b): [a, b | flatten | length] | .[0] == .[1];
		def near(a; b): close(a; b) and ([[a | flatten], [b | flatten]] | map(.[0]) | transpose |
			all(.[0] != null and .[1] != null and (.[0] - .[1] | fabs) < 1e-5));
		def mean: transpose | map(add / length);
		def unit: (map(. * .) | add | sqrt) as $n | map(. / $n);
		length == 3 and all('"$1"')' >/dev/null
}

@test "emit: the embedding is the pooled hidden states" {
	emit "$M" emb,hs,said=hs:layers=last,last=hs:pool=last,tokens=hs:pool=tokens >"$T/out"
	holds 'near(."text.hs" | unit; ."text.emb") and near(."text.tokens" | mean; ."text.hs") and
		near(."text.tokens"[-1]; ."text.last")' <"$T/out"
	holds '."text.said" == ."text.hs" and (."text.tokens" | length) > 0 and (."text.hs" | map(fabs) | add) > 0.1' <"$T/out"
}

@test "emit: layers=N, layers=all and layers=mean give the hidden states of one layer, of all, and their mean" {
	emit "$M" hs,all=hs:layers=all,some=hs:layers=-1+0,mean=hs:layers=mean,one=hs:layers=1,deep=hs:layers=all:pool=tokens >"$T/out"
	holds 'near(."text.all"[-1]; ."text.hs") and near(."text.all" | mean; ."text.mean") and
		near(."text.all"[1]; ."text.one") and near([."text.all"[0], ."text.all"[2]]; ."text.some") and
		near(."text.deep" | map(.[1]) | mean; ."text.one") and (."text.all" | length == 3)' <"$T/out"
	run ! holds 'near(."text.all"[0]; ."text.all"[1])' <"$T/out"
}

@test "emit: several poolings of one request are concatenated" {
	emit "$M" both=hs:pool=cls+last,first=hs:pool=cls,end=hs:pool=last |
		holds 'near(."text.both"; ."text.first" + ."text.end")'
}

@test "emit: routing weights have a softmax for every router, of the last token or of all" {
	emit "$O" rw,logits=rw:logits,tokens=rw:pool=tokens,mean=rw:pool=mean >"$T/out"
	holds '(."text.rw" | length) as $n | (."text.logits" | length) == $n and
		near(."text.tokens"[-1]; ."text.rw") and near(."text.tokens" | mean; ."text.mean")' <"$T/out"
	# two routers with six experts each
	holds '[."text.rw" | _nwise(6)] as $p | ($p | length == 2) and
		($p | all((add - 1 | fabs) < 1e-5)) and
		near([."text.logits" | _nwise(6) | map(exp) | (add as $s | map(. / $s))]; $p)' <"$T/out"
}

@test "emit: a decoder without sentence-transformers files pools its last token" {
	cp -r "$O" "$T/bare"
	rm -r "$T/bare/modules.json" "$T/bare/1_Pooling"
	emit "$T/bare" emb,hs:pool=last | holds 'near(."text.emb"; ."text.hs")'
}

# bats test_tags=plain
@test "emit: columns do not depend on the batch size; --keep keeps the ids; lists stay lists" {
	emit "$M" emb,hs:layers=all,t=hs:pool=tokens >"$T/out"
	emit "$M" emb,hs:layers=all,t=hs:pool=tokens --tokens 1 | cmp "$T/out" -
	printf '1 2\t3\n4 5 6\t7\n' | ids_stream text.ids | encode -q -m "$M" --emit hs:pool=tokens --keep >"$T/both.mts"
	[ "$(mts to jsonl "$T/both.mts" | jq -s '[.[]."text.hs" | flatten | length] | add')" -eq $((7 * 8)) ]
	[ "$(mts to jsonl "$T/both.mts" | jq -s '[.[]."text.ids" | flatten | length] | add')" -eq 7 ]
}

# The properties emb, hs and rw of a stream by the model O.
kinds() { # REQUEST
	printf '1 2 3\n4 5 6 8\n' | ids_stream text.ids | encode -q -m "$O" --emit "$1" -o "$T/kinds.mts"
	mts head --json "$T/kinds.mts" | head -n 1 | jq -c '.properties | [.emb, .hs, .rw]'
}

@test "emit: the stream's properties name the layer of hidden states and of the embedding" {
	[ "$(kinds emb,hs,rw)" = '[null,null,null]' ]
	[ "$(kinds hs:layers=1,rw:logits)" = '[null,"hs:layers=1","rw:logits"]' ]
	[ "$(kinds hs:layers=1:pool=last+mean,emb=hs:layers=0,early=rw)" = '["hs:layers=0","hs:layers=1:pool=last+mean",null]' ]
	[ "$(kinds rw=hs,hs=emb)" = '[null,"emb","hs"]' ]
	[ "$(kinds emb=hs,said=hs:layers=0,other=emb)" = '["hs",null,null]' ]
	# a second pass removes the properties of columns that are no longer there
	printf '1 2\n' | ids_stream text.ids | encode -q -m "$O" --keep --emit hs:layers=1,emb=rw | encode -q -m "$O" --emit emb -o "$T/again.mts"
	mts head --json "$T/again.mts" | head -n 1 | jq -e '.properties | has("emb") or has("hs") | not'
}

@test "emit: the stream's properties name --pooling where the folder pools otherwise, and such vectors are not compared with others" {
	cd "$T"
	printf '1 2 3\n4 5 6 8\n' | ids_stream text.ids >ids.mts
	kinds() { # OPTION...
		encode -q -m "$M" "$@" ids.mts >kinds.mts
		mts head --json kinds.mts | head -n 1 | jq -c '.properties | [.emb, .hs]'
	}
	own=$(kinds)
	[ "$own" = '[null,null]' ]
	cp kinds.mts own.mts
	[ "$(kinds --pooling mean)" = "$own" ]
	[ "$(kinds --pooling max)" = '["emb:pool=max",null]' ]
	dies "near: kinds.mts: its vectors are emb:pool=max, those of own.mts are embeddings; make both alike" near own.mts kinds.mts
	near --any-model own.mts kinds.mts >near.tsv
	near kinds.mts kinds.mts >near.tsv
	[ "$(kinds --pooling cls+mean --emit emb,hs:layers=1,deep=hs)" = '["emb:pool=cls+mean","hs:layers=1:pool=cls+mean"]' ]
	[ "$(kinds --pooling max --emit hs)" = '[null,"hs:pool=max"]' ]
	[ "$(kinds --emit hs:pool=max)" = '[null,"hs:pool=max"]' ]
	[ "$(kinds --pooling max --emit hs:pool=cls,emb)" = '["emb:pool=max","hs:pool=cls"]' ]
	[ "$(kinds --pooling max --emit emb=hs,hs=emb)" = '["hs:pool=max","emb:pool=max"]' ]
}

@test "emit: hidden states of different layers are not compared, nor vectors made of them" {
	cd "$T"
	printf '1 2 3\n4 5 6 8\n7 9\n' | ids_stream text.ids >ids.mts
	printf '{"_id":"%d","score":%d,"score.a":%d,"score.b":%d}\n' 1 1 0 1 2 2 1 0 3 3 0 1 | mts from jsonl - >told.mts
	hidden() { encode -q -m "$O" --emit "$1" ids.mts | mts paste - told.mts; }
	hidden hs,rw >last.mts
	hidden hs:layers=1,rw >one.mts
	hidden hs,rw:logits >logits.mts
	near --json -f text.hs one.mts one.mts | jq -s -e 'length == 3 and all(.hits[0].id == .id)'
	dies "near: one.mts: its vectors are hs:layers=1, those of last.mts are hs; make both alike" near -f text.hs last.mts one.mts
	near --any-model -f text.hs last.mts one.mts >/dev/null
	# the routing weights of both streams are of the same kind
	near -f text.rw last.mts one.mts >/dev/null
	dies "near: logits.mts: its vectors are rw:logits, those of one.mts are rw" near -f text.rw one.mts logits.mts
	# vectors that moee-sim makes of them
	for name in last one logits; do
		moee-sim -o $name-sum.mts $name.mts
	done
	mts head --json one-sum.mts | head -n 1 | jq -e '.properties.emb == "moee-sim:sum:alpha=1:hs:layers=1" and (.properties | has("hs") | not)'
	moee-sim --norm corpus=one.mts --keep one.mts | mts head --json | head -n 1 |
		jq -e '.properties | (.emb | test("^moee-sim:sum:alpha=1:norm=corpus=[0-9a-f]{16}:hs:layers=1$")) and .hs == "hs:layers=1"'
	moee-sim --combine rw -o rw.mts last.mts
	moee-sim --combine rw one.mts | near --any-model --json rw.mts - >/dev/null
	moee-sim --combine rw one.mts | near --json rw.mts - >/dev/null
	dies "near: one-sum.mts: its vectors are moee-sim:sum:alpha=1:hs:layers=1, those of last-sum.mts are moee-sim:sum:alpha=1;" near last-sum.mts one-sum.mts
	dies "near: logits-sum.mts: its vectors are moee-sim:sum:alpha=1:rw:logits" near last-sum.mts logits-sum.mts
	dies "moee-sim: one.mts: its hidden states are hs:layers=1, those of last.mts are hs; encode both with the same --emit" moee-sim --norm corpus=one.mts last.mts
	dies "moee-sim: last.mts: its routing weights are rw, those of logits.mts are rw:logits;" moee-sim --norm corpus=last.mts logits.mts
	printf 'query-id\tcorpus-id\tscore\n1\t1\t1\n' >qrels.tsv
	dies "mteb-score: one.mts: its vectors are hs:layers=1, those of last.mts are hs;" \
		mteb-score -q retrieval --qrels qrels.tsv -f text.hs last.mts one.mts
	# pilot-route refuses another layer than its library's
	pilot-build fit -f text.hs -o pilots.mts one.mts
	pilot-route -f text.hs pilots.mts one.mts >/dev/null
	dies "pilot-route: last.mts: its vectors are hs, those of pilots.mts are hs:layers=1; encode both with the same --emit" pilot-route -f text.hs pilots.mts last.mts
	pilot-build fit -f text.hs -o last.pilots.mts last.mts
	pilot-route -f text.hs last.pilots.mts last.mts >/dev/null
	mts index -q -f text.hs -o last.index last.mts
	near -f text.hs last.mts last.index >/dev/null
}

@test "emit: options that do not apply to the requested columns are refused" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	for option in normalize no-normalize "dim 2"; do
		# shellcheck disable=SC2086
		does_not_apply "--${option% *}" encode -m "$M" --emit hs --$option "$T/ids.mts"
		# shellcheck disable=SC2086
		encode -m "$M" --emit emb,hs --$option --any-tokenizer "$T/ids.mts" >"$T/out.mts"
	done
	does_not_apply --cache encode -m "$M" --emit emb --cache 1M "$T/ids.mts"
	does_not_apply --expert encode -m "$M" -e left "$T/ids.mts"
}

@test "emit: a column that the model cannot give is refused by its name" {
	printf '7\n' | ids_stream text.ids >"$T/text.mts"
	emit() {
		encode -q -m "$1" --emit "$2" -o "$T/out.mts" "$T/text.mts"
	}
	run -2 emit "$M" hidden
	[[ "$output" == *"'hidden' is not supported; supported are emb, tokens, sparse, hs and rw"* ]]
	run -2 emit "$M" hs:layers=3
	[[ "$output" == *"there is no layer 3; they are 0 (the embeddings) to 2"* ]]
	run -2 emit "$M" hs:layers=1+x
	[[ "$output" == *"'layers=x' is not supported"* ]]
	run -2 emit "$M" hs:pool=best
	[[ "$output" == *"'pool=best' is not supported"* ]]
	run -2 emit "$M" hs,hs:layers=0
	[[ "$output" == *"two columns would be called 'hs'"* ]]
	run -2 emit "$M" hs:logits
	[[ "$output" == *"'logits' does not belong to hs"* ]]
	run -1 emit "$M" rw
	[[ "$output" == *"has no token experts"* ]]
}

# A narrow mixture with the blocks and experts of a real one: the tensors of the family's golden folder, its block 1 and
# expert 0 repeated, with the values of that file in turn.
mixture() { # FAMILY BLOCKS EXPERTS FILTER: jq's filter for config.json
	local from=$GOLDEN/families/$1 size
	rm -rf "$T/m"
	mkdir "$T/m"
	jq "$4 | .num_hidden_layers = $2" "$from/config.json" >"$T/m/config.json"
	size=$(od -An -tu8 -N8 "$from/model.safetensors")
	tail -c +$((size + 9)) "$from/model.safetensors" >"$T/values"
	head -c $((size + 8)) "$from/model.safetensors" | tail -c "$size" | jq -cj --argjson dense "$(jq '.first_k_dense_replace // 0' "$T/m/config.json")" '
		[to_entries[] | select(.key != "__metadata__" and (.key | test("experts\\.[1-9]") | not)) | {key, shape: .value.shape}] as $all |
		[($all[] | select(.key | test("layers") | not)),
			(range('"$2"') as $l | $all[] | select(.key | startswith("model.layers.\(if $l < $dense then 0 else 1 end).")) |
			.key |= sub("layers\\.[01]"; "layers.\($l)") |
			if .key | test("mlp\\.gate\\.weight") then .shape[0] = '"$3"' else . end |
			if .key | test("experts\\.0\\.") then range('"$3"') as $e | .key |= sub("experts\\.0"; "experts.\($e)") else . end)] |
		reduce .[] as $t ({at: 0, made: {}}; (.at + ($t.shape | reduce .[] as $n (4; . * $n))) as $stop |
			.made[$t.key] = {dtype: "F32", shape: $t.shape, data_offsets: [.at, $stop]} | .at = $stop) | .made' >"$T/header"
	size=$(wc -c <"$T/header")
	{
		for _ in {0..7}; do
			printf '%b' "\\x$(printf %x $((size & 255)))"
			size=$((size >> 8))
		done
		cat "$T/header"
		while cat "$T/values" 2>/dev/null; do :; done | head -c "$(jq '[.[].data_offsets[1]] | max' "$T/header")"
	} >"$T/m/model.safetensors"
}

# Li and Zhou's vectors of a decoder: the last token of the last layer, and the weights of all routers.
@test "emit: routing weights have the widths of OLMoE-1B-7B, Qwen1.5-MoE-A2.7B and DeepSeekMoE-16B" {
	while read -r family blocks experts width edit; do
		mixture "$family" "$blocks" "$experts" "$edit"
		emit "$T/m" hs,rw,logits=rw:logits,last=hs:pool=last,all=hs:layers=all,mean=hs:layers=mean,every=rw:pool=mean,tokens=rw:pool=tokens >"$T/out"
		holds "(.\"text.rw\" | length) == $width and (.\"text.logits\" | length) == $width and (.\"text.every\" | length) == $width" <"$T/out"
		holds "[.\"text.rw\" | _nwise($experts)] as \$p | (\$p | all((add - 1 | fabs) < 1e-5)) and
			near([.\"text.logits\" | _nwise($experts) | map(exp) | (add as \$s | map(. / \$s))]; \$p)" <"$T/out"
		holds '."text.hs" == ."text.last" and (."text.hs" | length) == 16 and (."text.all" | length) == '$((blocks + 1))'
			and near(."text.all"[-1]; ."text.hs") and near(."text.all" | mean; ."text.mean")' <"$T/out"
		holds 'near(."text.tokens"[-1]; ."text.rw") and near(."text.tokens" | mean; ."text.every")' <"$T/out"
		# no two routers have equal weights
		jq -e -s "[.[-1].\"text.rw\" | _nwise($experts) | tojson] | unique | length == $width / $experts" "$T/out"
	done <<-'E'
		olmoe 16 64 1024 .num_experts=64|.num_experts_per_tok=8
		qwen2_moe 24 60 1440 .num_experts=60|.num_experts_per_tok=4|.norm_topk_prob=false|.decoder_sparse_step=1
		deepseek 28 64 1728 .n_routed_experts=64|.num_experts_per_tok=6
	E
}

@test "emit: encoders with token experts have routing weights, also those that upcycle makes" {
	routed() { # MODEL ROUTERS EXPERTS
		emit "$1" hs,rw,logits=rw:logits,mean=hs:pool=mean >"$T/out"
		holds "[.\"text.rw\" | _nwise($3)] as \$p | (\$p | length) == $2 and (\$p | all((add - 1 | fabs) < 1e-5)) and
			near([.\"text.logits\" | _nwise($3) | map(exp) | (add as \$s | map(. / \$s))]; \$p)" <"$T/out"
		holds '."text.hs" == ."text.mean"' <"$T/out"
	}
	routed "$GOLDEN/families/nomic_moe" 2 5
	routed "$GOLDEN/families/bert_tokens" 2 4
	upcycle -q -m "$M" --token-experts 3 -o "$T/tokens"
	routed "$T/tokens" "$(jq '.token_experts.layers | length' "$T/tokens/config.json")" 3
}
