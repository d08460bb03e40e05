#!/usr/bin/env bats
load helper

# Cross-encoders. Golden values: tests/golden/rerank.py (sentence-transformers' CrossEncoder).
R=$GOLDEN/rerank

# folder FORM: copies the model and its tokenizer to $T/FORM
folder() {
	tokenized_form "$R" "$1"
}
# scores FORM [OPTION...]: the scores of the golden pairs, a line each
scores() {
	tok -q -m "$T/$1" --pair -f query -f text "$R/pairs.jsonl" | rerank -q -m "$T/$1" "${@:2}" |
		mts to tsv --spread -c pair.score | sed 1d
}
again() {
	rerank -q -m "$T/bert" --queries "$R/queries.jsonl" --texts "$R/documents.jsonl" "$@"
}

# Known answers. -------------------------------------------------------------------------

@test "rerank: a head of modules: its precision, what is refused of it" {
	folder modernbert_modules
	M=$T/modernbert_modules
	for precision in bf16 int8; do
		scores modernbert_modules --precision $precision | within "$R/modernbert_modules/expected.tsv" 0.05
	done
	change() { # FILE FILTER
		cp "$R/modernbert_modules/$1" "$M/$1"
		jq "$2" "$R/modernbert_modules/$1" >"$M/$1"
	}
	refused() {
		run -1 --separate-stderr rerank -q -m "$M" <(echo)
		[[ $stderr == "rerank: $M/$1" ]] || { echo "$stderr"; false; }
	}
	change 4_Dense/config.json '.module_output_name = "sentence_embedding"'
	refused "modules.json: the last module of a cross-encoder is a Dense that makes 'scores'; 'encode' embeds texts"
	change 4_Dense/config.json '.activation_function = "torch.nn.modules.activation.Tanh"'
	refused "config.json: the Dense that makes 'scores' has an activation, and 'activation_fn' is another; one is supported"
	change config_sentence_transformers.json '.activation_fn = "torch.nn.modules.linear.Identity"'
	scores modernbert_modules | awk '$1 < -1 || $1 > 1 { bad = 1 } END { exit bad }'
	change 4_Dense/config.json .
	change modules.json '. + [.[3] | .idx = 5]'
	refused "modules.json: no module is supported after the Dense that makes 'scores'"
	change modules.json '.[:3] + [.[1] | .type = "st_quantize.FlexibleQuantizer"] + .[3:]'
	refused "modules.json: the module 'FlexibleQuantizer' is supported for embeddings of texts only"
	change modules.json .
	change config.json '.architectures = ["ModernBertForSequenceClassification"]'
	refused "modules.json: a Pooling is of an encoder, and this is a classifier"
	change config.json .
	jq -c '. + {label: 1}' "$R/pairs.jsonl" | tok -q -m "$M" --pair -f query -f text --keep --format jsonl - >"$T/pairs.mts"
	run -1 --separate-stderr train -q --objective bce -m "$M" -o "$T/out" "$T/pairs.mts"
	[[ $stderr == "train: $M: a cross-encoder whose head is of modules can score pairs, but not be trained" ]] || { echo "$stderr"; false; }
}

@test "rerank: scores of every family, label and activation are CrossEncoder's" {
	count=0
	while IFS=$'\t' read -r form rest; do
		folder "$form"
		scores "$form" | within "$R/$form/expected.tsv" 1e-5 || { echo "$form"; false; }
		count=$((count + 1))
	done <"$R/forms.tsv"
	[ "$count" -eq 21 ]
}

@test "tok --pair: ids and token types of pairs equal the reference's in every truncation" {
	jq -c 'del(.ids, .second)' "$R/token_pairs.jsonl" | while read -r case; do
		eval "$(jq -r '@sh "form=\(.form) mode=\(.mode) most=\(.most) side=\(.side)"' <<<"$case")"
		jq -c '.pairs[] | {a: .[0], b: .[1]}' <<<"$case" |
			tok -q -m "$GOLDEN/settings/$form" --pair -f a -f b --format jsonl --max-length "$most" --truncation "$mode" --truncation-side "$side" |
			mts to jsonl | jq -sc '{ids: map(."pair.ids"), second: map(."pair.second")}'
	done >"$T/made"
	[ "$(wc -l <"$T/made")" -eq 40 ]
	jq -c '{ids, second}' "$R/token_pairs.jsonl" | diff - "$T/made"
}

@test "rerank: a run is sorted by the scores, which are those of the pairs" {
	folder bert
	first_run
	again "$T/first.run" >"$T/second.run"
	[ "$(wc -l <"$T/second.run")" -eq 40 ]
	cut -f1,3 "$T/first.run" | paste - "$R/bert/expected.tsv" | sort >"$T/expected"
	cut -f1,3,5 "$T/second.run" | sort >"$T/made"
	diff <(cut -f1,2 "$T/expected") <(cut -f1,2 "$T/made")
	cut -f3 "$T/made" | within <(cut -f3 "$T/expected") 1e-5
	sort -s -k1,1 -k5,5gr "$T/second.run" | diff - "$T/second.run"
	again - <"$T/first.run" | cmp - "$T/second.run"
	again --tokens 40 -j 1 "$T/first.run" | cmp - "$T/second.run"
}

# Options. -------------------------------------------------------------------------------

@test "rerank: -k, --max-length, --truncation, --field and --precision change the result as documented" {
	folder bert
	first_run
	again -k 3 "$T/first.run" >"$T/three.run"
	[ "$(cut -f3 "$T/three.run" | sort -u | tr '\n' ' ')" = "d0 d1 d2 " ]
	again "$T/first.run" | grep -P '\td[012]\t' | cut -f1,3,5 | diff - <(cut -f1,3,5 "$T/three.run")
	# truncated like pairs by tok
	most=24
	for mode in longest_first only_second; do
		again --max-length $most --truncation $mode "$T/first.run" | sort -k1,1 -k3,3 | cut -f5 >"$T/run.scores"
		tok -q -m "$T/bert" --pair --max-length $most --truncation $mode -f query -f text "$R/pairs.jsonl" | rerank -q -m "$T/bert" |
			mts to tsv -c pair.score | sed 1d | within "$T/run.scores" 1e-6
	done
	jq -r '["_id", "title", "body"], [._id, "the", .text] | @tsv' "$R/documents.jsonl" | awk '!/^_id/ || NR == 1' >"$T/titled.tsv"
	jq -c '.text = "the \(.text)"' "$R/documents.jsonl" >"$T/joined.jsonl"
	rerank -q -m "$T/bert" --queries "$R/queries.jsonl" --texts "$T/titled.tsv" -f text=title+body "$T/first.run" >"$T/titled.run"
	rerank -q -m "$T/bert" --queries "$R/queries.jsonl" --texts "$T/joined.jsonl" "$T/first.run" >"$T/joined.run"
	# except for the empty document, where joining trims the text
	diff <(grep -vP '\td3\t' "$T/titled.run" | cut -f1,3,5) <(grep -vP '\td3\t' "$T/joined.run" | cut -f1,3,5)
	scores bert >"$T/f32"
	for precision in bf16 int8; do
		scores bert --precision $precision | within "$T/f32" 0.1
	done
}

@test "rerank: texts may be streams with integer ids; --keep keeps the ids" {
	folder bert
	jq -c '{id: (._id[1:] | tonumber), text}' "$R/documents.jsonl" >"$T/numbers.jsonl"
	tok -q -m "$T/bert" --keep "$T/numbers.jsonl" >"$T/texts.mts"
	tok -q -m "$T/bert" --keep "$R/queries.jsonl" >"$T/queries.mts"
	first_run
	sed 's/\td\([0-9]\)/\t\1/' "$T/first.run" >"$T/numbers.run"
	again "$T/first.run" | sed 's/\td\([0-9]\)/\t\1/' >"$T/expected"
	rerank -q -m "$T/bert" --queries "$T/queries.mts" --texts "$T/texts.mts" "$T/numbers.run" | cmp - "$T/expected"
	rerank -q -m "$T/bert" --queries "$T/queries.mts" --texts "$T/numbers.jsonl" "$T/numbers.run" | cmp - "$T/expected"
	tok -q -m "$T/bert" --pair -f query -f text "$R/pairs.jsonl" >"$T/pairs.mts"
	rerank -q -m "$T/bert" --keep "$T/pairs.mts" | mts cat -c pair.ids,pair.second | mts diff - "$T/pairs.mts"
	rerank -q -m "$T/bert" "$T/pairs.mts" | mts to tsv | sed -n 1p | grep -x pair.score
	rerank -q -m "$T/bert" --any-tokenizer -o "$T/out.mts" --level 0 "$T/pairs.mts"
	mts to tsv "$T/out.mts" | sed 1d | within "$R/bert/expected.tsv" 1e-5
}

@test "rerank: mteb-score's nDCG of a reranked run follows from its ranks" {
	folder bert
	first_run
	printf 'query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td4\t1\nq2\td1\t1\n' >"$T/test.tsv"
	best=$(again "$T/first.run" | mteb-score retrieval --qrels "$T/test.tsv" --from-run - | grep -P '^ndcg_at_10\t')
	ranks=$(again "$T/first.run" | grep -P 'q0\tQ0\td0\t|q1\tQ0\td4\t|q2\tQ0\td1\t' |
		awk '{ sum += log(2) / log(1 + $4) } END { printf "%.5f", sum / 3 }')
	echo "$best $ranks"
	[ "$(cut -f2 <<<"$best" | xargs printf %.5f)" = "$ranks" ]
}

@test "rerank: --weights-cache writes the int8 weights, which the next start maps" {
	folder bert
	kept=$T/bert/model.precision-int8.safetensors
	scores bert --precision int8 >"$T/made"
	[ ! -e "$kept" ]
	scores bert --precision int8 --weights-cache | cmp - "$T/made"
	tok -q -m "$T/bert" --pair -f query -f text "$R/pairs.jsonl" >"$T/pairs.mts"
	rerank -v -m "$T/bert" --precision int8 "$T/pairs.mts" 2>"$T/err" | mts to tsv --spread -c pair.score | sed 1d | cmp - "$T/made"
	[ ! -e "$kept" ] || grep -q "mapped from $kept" "$T/err"
	[ -e "$kept" ] || grep -q "products of i8 are not quicker here" "$T/err"
	run -2 --separate-stderr rerank -m "$T/bert" --weights-cache "$T/pairs.mts"
	[ "${stderr_lines[0]}" = "rerank: --weights-cache needs --precision int8" ]
}

# Usage. ---------------------------------------------------------------------------------

@test "rerank, tok --pair: usage errors exit 2" {
	folder bert
	run -2 rerank -m "$T/bert" --queries "$R/queries.jsonl"
	[[ $output == *"--queries and --texts go together"* ]]
	does_not_apply --keep rerank -m "$T/bert" --keep --queries a --texts b c
	does_not_apply --top rerank -m "$T/bert" -k 3 c
	does_not_apply --prompt tok -m "$T/bert" --pair --prompt x -f query -f text "$R/pairs.jsonl"
	does_not_apply --truncation tok -m "$T/bert" --truncation only_second "$R/pairs.jsonl"
	run -2 tok -m "$T/bert" --pair -f query "$R/pairs.jsonl"
	[[ $output == *"--pair takes two fields or more"* ]]
	mkdir "$T/notes"
	echo a >"$T/notes/a.txt"
	run -2 tok -m "$T/bert" --pair -f a -f b "$T/notes"
	echo '{"a": ["x", "z"], "b": "y"}' >"$T/lists.jsonl"
	run -2 tok -m "$T/bert" --pair -f a -f b "$T/lists.jsonl"
	[[ $output == *"'a' has lists of texts; the first field has one text"* ]]
}

# Bad input. -----------------------------------------------------------------------------

@test "rerank: models without a known classifier are refused in one line" {
	cd "$T"
	first_run
	cp -r "$GOLDEN/families/bert" plain
	dies "rerank: plain/modules.json: the last module of a cross-encoder is a Dense that makes 'scores'; 'encode' embeds texts" rerank -m plain first.run
	rm plain/modules.json
	dies "rerank: plain/config.json: 'architectures'" rerank -m plain first.run
	folder bert
	sed 's/pooler/poller/' bert/model.safetensors >other
	cp other bert/model.safetensors
	dies "rerank: bert/model.safetensors: " rerank -m bert first.run
	cp "$R/bert_labels/model.safetensors" bert
	dies "rerank: bert/model.safetensors: tensor 'classifier.weight'" rerank -m bert first.run
	cp "$R/bert/model.safetensors" bert
	sed -i 's/activation.Sigmoid/activation.Mish/' bert/config_sentence_transformers.json
	dies "rerank: bert/config.json: 'activation_fn' is 'torch.nn.modules.activation.Mish'" rerank -m bert first.run
	sed -i 's/CrossEncoder/SparseEncoder/' bert/config_sentence_transformers.json
	dies "rerank: bert/config_sentence_transformers.json: 'model_type' is 'SparseEncoder'" rerank -m bert first.run
	cp "$R/bert/config_sentence_transformers.json" bert
	jq '. + [{"idx": 1, "name": "1", "path": "1", "type": "x.LogitScore"}]' "$R/bert/modules.json" >bert/modules.json
	dies "rerank: bert/modules.json: " rerank -m bert first.run
	folder bert_labels
	dies "rerank: bert_labels: gives 3 labels" rerank -m bert_labels --queries "$R/queries.jsonl" --texts "$R/documents.jsonl" first.run
	folder modernbert
	sed -i 's/"classifier_pooling": "cls"/"classifier_pooling": "max"/' modernbert/config.json
	dies "rerank: modernbert/config.json: 'classifier_pooling' is 'max'" rerank -m modernbert first.run
	cp -r "$GOLDEN/families/t5" t5
	rm t5/modules.json
	jq '.architectures = ["T5ForSequenceClassification"]' t5/config.json >c && mv c t5/config.json
	dies "rerank: t5/config.json: a classifier of a 't5' is not supported" rerank -m t5 first.run
}

@test "rerank: missing texts and pairs above the limit are refused in one line" {
	cd "$T"
	folder bert
	first_run
	sed 1d "$R/queries.jsonl" >few.jsonl
	dies "rerank: few.jsonl: 1 of the run's 5 queries have no text there; first: 'q0'" \
		rerank -q -m bert --queries few.jsonl --texts "$R/documents.jsonl" first.run
	sed 2,3d "$R/documents.jsonl" >few.jsonl
	dies "rerank: few.jsonl: 2 of the run's 8 documents have no text there; first: 'd1'" \
		rerank -q -m bert --queries "$R/queries.jsonl" --texts few.jsonl first.run
	jq -c '{text}' "$R/documents.jsonl" >none.jsonl
	dies "rerank: none.jsonl: there is no '_id' or 'id'" rerank -q -m bert --queries "$R/queries.jsonl" --texts none.jsonl first.run
	jq -c 'if ._id == "d2" then .text = null else . end' "$R/documents.jsonl" >null.jsonl
	dies "rerank: null.jsonl:3: 'text' is null" rerank -q -m bert --queries "$R/queries.jsonl" --texts null.jsonl first.run
	dies "rerank: null.jsonl:1: there is no 'body'; fields are: _id, text" \
		rerank -q -m bert -f body --queries "$R/queries.jsonl" --texts null.jsonl first.run
	printf '_id\ttext\nd1\t\xff sea\n' >bytes.tsv
	grep -P 'q0\tQ0\td1\t' first.run >one.run
	run -0 --separate-stderr rerank -m bert --queries "$R/queries.jsonl" --texts bytes.tsv one.run
	[[ $stderr == *"bytes.tsv: 1 invalid parts of UTF-8 were replaced by U+FFFD"* ]]
	dies "rerank: $R/queries.jsonl: query 'q0' and document 'd1': the pair is longer than 32 tokens" again --no-truncate first.run
	dies "rerank: $R/queries.jsonl: query 'q2' and document 'd0': the query alone is longer than 12 tokens" \
		again --max-length 12 --truncation only_second first.run
	dies "rerank: $T/bert: takes 48 tokens; --max-length 49 is more" again --max-length 49 first.run
	dies "rerank: $T/bert/tokenizer.json: a pair of at most 3 ids has no room" again --max-length 3 first.run
	dies "tok: $R/pairs.jsonl:2: the pair is longer than 32 tokens" tok -m bert --pair -f query -f text --no-truncate -o out "$R/pairs.jsonl"
	dies "tok: $R/pairs.jsonl:17: the first text of the pair is longer than 9 tokens" \
		tok -m bert --pair -f query -f text --truncation only_second --max-length 9 -o out "$R/pairs.jsonl"
}

@test "rerank: streams without pairs, of another tokenizer, truncated or damaged are refused" {
	cd "$T"
	folder bert
	folder roberta
	tok -q -m bert --pair -f query -f text "$R/pairs.jsonl" >pairs.mts
	tok -q -m bert -f text "$R/pairs.jsonl" >texts.mts
	dies "rerank: texts.mts: has no pairs ('pair.ids', 'pair.second')" rerank -q -m bert texts.mts
	dies "rerank: pairs.mts: " rerank -q -m roberta pairs.mts
	head -c 200 pairs.mts >cut.mts
	dies "rerank: cut.mts: " rerank -q -m bert -o out cut.mts
	printf '2 5 3\n' | ids_stream pair.ids >ids.mts
	dies "rerank: ids.mts: has no pairs" rerank -q -m bert --any-tokenizer ids.mts
}

@test "rerank: the page's examples" {
	cd "$T"
	folder bert
	export MOTES_MODEL=$T/bert
	first_run
	cp "$R"/*.jsonl .
	jq -r '["_id", "title", "text"], [._id, "the", .text] | @tsv' documents.jsonl | awk '!/^_id/ || NR == 1' >titled.tsv
	page_examples rerank.1 | grep -v -e --template | sed 's/-m MODEL//g; s/rerank /rerank -q /; s/tok /tok -q /' >examples
	[ "$(wc -l <examples)" -eq 3 ]
	while read -r line; do
		bash -eu -o pipefail -c "$line" >made || { echo "$line"; false; }
	done <examples
	[ "$(wc -l <second.run)" -eq 40 ]
	[ "$(wc -l <made)" -eq 40 ]
}
