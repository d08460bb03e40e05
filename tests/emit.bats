#!/usr/bin/env bats
load helper

M=$GOLDEN/bert
O=$GOLDEN/families/olmoe
# The columns that a request makes of three texts, as JSON Lines.
emit() { # model request [option]...
	printf '7\n1 2 3\n4 5 6 8\n' | ids_stream text.ids |
		encode -q -m "$1" --emit "${@:2}" | mts to jsonl
}
# True for all rows; f(a; b): equal but for rounding.
holds() {
	jq -e -s 'def close(a; b): [a, b | flatten | length] | .[0] == .[1];
		def near(a; b): close(a; b) and ([[a | flatten], [b | flatten]] | map(.[0]) | transpose |
			all(.[0] != null and .[1] != null and (.[0] - .[1] | fabs) < 1e-5));
		def mean: transpose | map(add / length);
		def unit: (map(. * .) | add | sqrt) as $n | map(. / $n);
		length == 3 and all('"$1"')' >/dev/null
}

@test "emit: hidden states are those that the embedding is made of" {
	emit "$M" emb,hs,said=hs:layers=last,last=hs:pool=last,tokens=hs:pool=tokens >"$T/out"
	holds 'near(."text.hs" | unit; ."text.emb") and near(."text.tokens" | mean; ."text.hs") and
		near(."text.tokens"[-1]; ."text.last")' <"$T/out"
	holds '."text.said" == ."text.hs" and (."text.tokens" | length) > 0 and (."text.hs" | map(fabs) | add) > 0.1' <"$T/out"
}

@test "emit: layers by number, all, their mean" {
	emit "$M" hs,all=hs:layers=all,some=hs:layers=0+-1,mean=hs:layers=mean,one=hs:layers=1,deep=hs:layers=all:pool=tokens >"$T/out"
	holds 'near(."text.all"[-1]; ."text.hs") and near(."text.all" | mean; ."text.mean") and
		near(."text.all"[1]; ."text.one") and near([."text.all"[0], ."text.all"[2]]; ."text.some") and
		near(."text.deep" | map(.[1]) | mean; ."text.one") and (."text.all" | length == 3)' <"$T/out"
	run ! holds 'near(."text.all"[0]; ."text.all"[1])' <"$T/out"
}

@test "emit: several poolings stand side by side" {
	emit "$M" both=hs:pool=cls+last,first=hs:pool=cls,end=hs:pool=last |
		holds 'near(."text.both"; ."text.first" + ."text.end")'
}

@test "emit: routing weights of every router, of the last token or all" {
	emit "$O" rw,logits=rw:logits,tokens=rw:pool=tokens,mean=rw:pool=mean >"$T/out"
	holds '(."text.rw" | length) as $n | (."text.logits" | length) == $n and
		near(."text.tokens"[-1]; ."text.rw") and near(."text.tokens" | mean; ."text.mean")' <"$T/out"
	# two routers of six experts
	holds '[."text.rw" | _nwise(6)] as $p | ($p | length == 2) and
		($p | all((add - 1 | fabs) < 1e-5)) and
		near([."text.logits" | _nwise(6) | map(exp) | (add as $s | map(. / $s))]; $p)' <"$T/out"
}

@test "emit: a decoder without sentence-transformers files pools its last token" {
	cp -r "$O" "$T/bare"
	rm -r "$T/bare/modules.json" "$T/bare/1_Pooling"
	emit "$T/bare" emb,hs:pool=last | holds 'near(."text.emb"; ."text.hs")'
}

@test "emit: the same whatever the size of the batches; ids and depth are kept" {
	emit "$M" emb,hs:layers=all,t=hs:pool=tokens >"$T/out"
	emit "$M" emb,hs:layers=all,t=hs:pool=tokens --tokens 1 | cmp "$T/out" -
	printf '1 2\t3\n4 5 6\t7\n' | ids_stream text.ids | encode -q -m "$M" --emit hs:pool=tokens --keep >"$T/both.mts"
	[ "$(mts to jsonl "$T/both.mts" | jq -s '[.[]."text.hs" | flatten | length] | add')" -eq $((7 * 8)) ]
	[ "$(mts to jsonl "$T/both.mts" | jq -s '[.[]."text.ids" | flatten | length] | add')" -eq 7 ]
}

@test "emit: options that say nothing to what is made are refused" {
	ids_stream text.ids <"$GOLDEN/bert/ids.txt" >"$T/ids.mts"
	for option in normalize no-normalize "dim 2"; do
		# shellcheck disable=SC2086
		says_nothing "--${option% *}" encode -m "$M" --emit hs --$option "$T/ids.mts"
		# shellcheck disable=SC2086
		encode -m "$M" --emit emb,hs --$option --any-tokenizer "$T/ids.mts" >"$T/out.mts"
	done
	says_nothing --cache encode -m "$M" --emit emb --cache 1M "$T/ids.mts"
	says_nothing --expert encode -m "$M" -e left "$T/ids.mts"
}

@test "emit: what cannot be made is named" {
	printf '7\n' | ids_stream text.ids >"$T/text.mts"
	emit() {
		encode -q -m "$1" --emit "$2" -o "$T/out.mts" "$T/text.mts"
	}
	run -2 emit "$M" hidden
	[[ "$output" == *"'hidden' is not known; known are emb, hs and rw"* ]]
	run -2 emit "$M" hs:layers=3
	[[ "$output" == *"there is no layer 3; they are 0 (the embeddings) to 2"* ]]
	run -2 emit "$M" hs:layers=1+x
	[[ "$output" == *"'layers=x' is not known"* ]]
	run -2 emit "$M" hs:pool=best
	[[ "$output" == *"'pool=best' is not known"* ]]
	run -2 emit "$M" hs,hs:layers=0
	[[ "$output" == *"two columns would be called 'hs'"* ]]
	run -2 emit "$M" hs:logits
	[[ "$output" == *"'logits' does not belong to hs"* ]]
	run -1 emit "$M" rw
	[[ "$output" == *"has no token experts"* ]]
}
