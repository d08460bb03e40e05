#!/usr/bin/env bats
load helper
load train

# Training of cross-encoders: the losses bce and listnet. Golden values: tests/golden/cross.py (sentence-transformers).
G=$GOLDEN/cross
R=$GOLDEN/rerank

setup() {
	cd "$T" || return
	options=(-q --warmup 0 --schedule constant --lr 1e-3 --decay 0.1 --beta2 0.98 --eps 1e-6 --clip 0)
}

# folder FORM: copies a reranker and its tokenizer to the folder FORM
folder() {
	tokenized_form "$R" "$1"
}
# pairs FORM, lists FORM: FORM.pairs.mts and FORM.lists.mts, batches like the golden values'
pairs() {
	tok -q -m "$1" --pair -f query -f text --record-rows 8 "$G/labelled.jsonl" >"$1.pairs.mts"
}
lists() {
	tok -q -m "$1" --pair -f query -f document -f negatives --record-rows 4 "$G/lists.jsonl" >"$1.lists.mts"
}
# agrees NAME MODEL FILE OPTION...: loss and gradient norm of each step are those of NAME_MODEL.tsv
agrees() {
	train "${options[@]}" -m "$2" -o out "${@:4}" "$3"
	for name in loss gradient_norm; do
		close_to 1e-5 <(column $name out.log.tsv) <(column $name "$G/$1_$2.tsv") || { echo "$* $name"; return 1; }
	done
	[ "$(wc -l <out.log.tsv)" -eq 5 ]
}
# start: the folder start, an embedding model with the weights and the tokenizer of bert and no classifier
start() {
	cp -r bert start
	rm start/*sentence* start/modules.json
	cp -r "$GOLDEN/families/bert"/{modules.json,1_Pooling} start
	jq '.architectures = ["BertModel"] | del(.id2label, .label2id)' "$R/bert/config.json" >start/config.json
	echo '{"max_seq_length": 20}' >start/sentence_bert_config.json
}
# sums FOLDER: checksums of the encoder's tensors
sums() {
	tensor_sums "$1/model.safetensors" | grep ^bert. | sort
}

# bats test_tags=plain
@test "cross: steps of bce are sentence-transformers' for every family, in one chunk and with the gradient cache" {
	for form in bert roberta distilbert electra mpnet modernbert modernbert_mean gte nomic_bert qwen3; do
		folder $form
		pairs $form
		agrees bce $form $form.pairs.mts --objective bce
		agrees bce $form $form.pairs.mts --objective bce --tokens 40
		rerank -q -m out $form.pairs.mts >scores.mts
	done
}

@test "cross: dropout masks do not depend on chunks; held-out pairs have no dropout" {
	folder bert
	lists bert
	listnet=(-m bert --objective listnet --dev bert.lists.mts)
	train "${options[@]}" "${listnet[@]}" -o none bert.lists.mts
	train "${options[@]}" "${listnet[@]}" -o out --dropout 0.3 bert.lists.mts
	cmp <(column dev_loss none.log.tsv | head -n 1) <(column dev_loss out.log.tsv | head -n 1)
	run ! cmp -s <(column loss none.log.tsv) <(column loss out.log.tsv)
	train "${options[@]}" "${listnet[@]}" -o pieces --tokens 40 --dropout 0.3 bert.lists.mts
	close_to 1e-4 <(column loss pieces.log.tsv | tail -n +2) <(column loss out.log.tsv | tail -n +2)
}

# bats test_tags=plain
@test "cross: steps of bce with --positive-weight, of bce with negatives, and of listnet are sentence-transformers'" {
	folder bert
	pairs bert
	lists bert
	agrees weighted bert bert.pairs.mts --objective bce --positive-weight 3
	mts cat -c document.ids,document.second,negatives.ids,negatives.second bert.lists.mts >plain.mts
	for chunk in "" "--tokens 40"; do
		# shellcheck disable=SC2086
		{
			agrees negatives bert plain.mts --objective bce $chunk
			agrees listnet bert bert.lists.mts --objective listnet $chunk
			agrees plain bert plain.mts --objective listnet $chunk
		}
	done
	train "${options[@]}" -m bert -o sharp --objective listnet --temperature 0.1 plain.mts
	train "${options[@]}" -m bert -o soft --objective listnet plain.mts
	run ! cmp -s sharp.log.tsv soft.log.tsv
}

@test "cross: tok --pair with lists of texts makes a pair of each text" {
	folder bert
	lists bert
	jq -c '. as $r | ([.document] + .negatives)[] | {query: $r.query, text: .}' "$G/lists.jsonl" >flat.jsonl
	tok -q -m bert --pair -f query -f text flat.jsonl | mts to jsonl | jq -c '[."pair.ids", ."pair.second"]' >expected
	mts to jsonl bert.lists.mts | jq -c '[[."document.ids"] + ."negatives.ids", [."document.second"] + ."negatives.second"] | transpose[]' | diff expected -
	jq -c '{query, negatives}' "$G/lists.jsonl" | tok -q -m bert --pair -f query -f negatives --format jsonl >two.mts
	[ "$(mts to jsonl two.mts | jq -c '."negatives.second"')" = "$(mts to jsonl bert.lists.mts | jq -c '."negatives.second"')" ]
	dies "tok: $G/lists.jsonl: record 1: pair " tok -m bert --pair -f query -f negatives --max-length 8 --no-truncate -o out "$G/lists.jsonl"
}

# A new classifier. -------------------------------------------------------------------------

@test "cross: an encoder without a classifier gets one, drawn by the seed; an existing pooler is kept" {
	folder bert
	start
	pairs bert
	run -0 --separate-stderr train -m start --objective bce --lr 1e-12 --decay 0 -o made bert.pairs.mts
	[ "$(tensor_names made/model.safetensors)" = "$(tensor_names bert/model.safetensors)" ]
	diff <(sums bert) <(sums made)
	[ ! -e made/modules.json ] && [ ! -e made/sentence_bert_config.json ]
	[ "$(jq -c '[.architectures, .id2label]' made/config.json)" = '[["BertForSequenceClassification"],{"0":"LABEL_0"}]' ]
	rerank -q -m made bert.pairs.mts | mts to tsv -c pair.score | sed 1d >scores
	[ "$(awk '$1 > 0.05 && $1 < 0.95' scores | wc -l)" -eq 32 ]
	train -q -m start --objective bce --lr 1e-12 --decay 0 -o again bert.pairs.mts
	cmp made/model.safetensors again/model.safetensors
	train -q -m start --objective bce --lr 1e-12 --decay 0 -s 1 -o other bert.pairs.mts
	run ! cmp -s made/model.safetensors other/model.safetensors
	# a trained reranker keeps its classifier in the next training
	train -q -m made --objective bce --lr 1e-12 --decay 0 -s 1 -o third bert.pairs.mts
	diff <(sums made) <(sums third)
}

@test "cross: --freeze keeps weights unchanged; a resumed run has the same bits; the loss falls" {
	folder bert
	pairs bert
	train "${options[@]}" -m bert --objective bce --freeze 'bert.*' -o out bert.pairs.mts
	diff <(sums bert) <(sums out)
	run ! diff -q <(tensor_sums bert/model.safetensors | grep ^classifier.w) <(tensor_sums out/model.safetensors | grep ^classifier.w)
	settings=("${options[@]}" -m bert --objective bce --epochs 6 --save-every 2 --dev bert.pairs.mts --dev-every 3)
	train "${settings[@]}" -o whole bert.pairs.mts
	first=$(column loss whole.log.tsv | sed -n 2p) last=$(column loss whole.log.tsv | sed -n 22p)
	awk -v a="$first" -v b="$last" 'BEGIN { exit !(b < a) }'
	rm -r out out.log.tsv
	cut_short 8 "${settings[@]}" -o out bert.pairs.mts
	train "${settings[@]}" -o out bert.pairs.mts
	cmp whole.log.tsv out.log.tsv
	cmp whole/model.safetensors out/model.safetensors
}

@test "cross: --dev reports nDCG@10 of each query's candidates, average precision and accuracy" {
	folder bert
	jq -sc 'unique_by(.query)[]' "$G/lists.jsonl" >distinct.jsonl
	tok -q -m bert --pair -f query -f document -f negatives --record-rows 4 distinct.jsonl |
		mts cat -c document.ids,document.second,negatives.ids,negatives.second >plain.mts
	train "${options[@]}" -m bert --lr 1e-12 --objective bce -o out --dev plain.mts plain.mts
	[ "$(head -n 1 out.log.tsv | cut -f11-)" = $'dev_loss\tdev_accuracy\tdev_ndcg_at_10\tdev_ap' ]
	rerank -q -m bert plain.mts | mts to jsonl >scored.jsonl
	jq -sr 'map(."document.score" as $d | 1 / ((1 + (map_values(.)."negatives.score" | map(select(. >= $d)) | length) + 1) | log2)) | add / length' scored.jsonl >expected
	column dev_ndcg_at_10 out.log.tsv | tail -n 1 | close_to 1e-5 - expected
	jq -sr 'map([[."document.score", 1]] + (."negatives.score" | map([., 0]))) | add | sort_by(-.[0]) | to_entries
		| reduce .[] as $e ({n: 0, sum: 0}; if $e.value[1] == 1 then .n += 1 | .sum += .n / ($e.key + 1) else . end) | .sum / .n' scored.jsonl >expected
	column dev_ap out.log.tsv | tail -n 1 | close_to 1e-5 - expected
	column dev_accuracy out.log.tsv | tail -n 1 | close_to 1e-5 - <(jq -s 'map(if ."document.score" > (."negatives.score" | max) then 1 else 0 end) | add / length' scored.jsonl)
	# single pairs belong to the query of their first segment
	jq -c '. as $r | ([[.document, 1]] + (.negatives | map([., 0])))[] | {query: $r.query, text: .[0], label: .[1]}' distinct.jsonl |
		tok -q -m bert --pair -f query -f text --format jsonl >flat.mts
	train "${options[@]}" -m bert --lr 1e-12 --objective bce -o flat --dev flat.mts flat.mts
	for name in dev_ndcg_at_10 dev_ap; do
		close_to 1e-4 <(column $name flat.log.tsv | grep .) <(column $name out.log.tsv | grep .)
	done
	# without token types the first segment, and so the query, is unknown
	folder roberta
	pairs roberta
	train "${options[@]}" -m roberta --objective bce -o out2 --dev roberta.pairs.mts roberta.pairs.mts
	[ -z "$(column dev_ndcg_at_10 out2.log.tsv | tr -d '\n')" ]
	[ "$(jq '.development | has("ndcg_at_10")' out2/train.json)" != true ]
}

@test "cross: gradients agree with central differences" {
	pair_loss_check
}

# Bad input. ---------------------------------------------------------------------------------

@test "cross: wrong models, streams and labels are refused in one line" {
	folder bert
	pairs bert
	lists bert
	folder bert_labels
	tok -q -m bert -f query -f text "$G/labelled.jsonl" >texts.mts
	dies "train: texts.mts: has no pairs ('pair.ids' or 'document.ids'" train -m bert --objective bce -o out texts.mts
	dies "train: bert_labels: has 3 labels; a reranker is trained with one" train -m bert_labels --objective bce -o out bert.pairs.mts
	dies "train: bert.pairs.mts: record 1: has one candidate a query; listnet needs negatives.ids" train -m bert --objective listnet -o out bert.pairs.mts
	dies "train: bert.lists.mts: record 1: the label " train -m bert --objective bce -o out bert.lists.mts
	mts cat -c pair.ids,pair.second bert.pairs.mts >bare.mts
	dies 'train: bare.mts: there is no column "label" or "pair.score"' train -m bert --objective bce -o out bare.mts
	mts cat -c pair.ids,label bert.pairs.mts >bare.mts
	dies "train: bare.mts: has no pairs" train -m bert --objective bce -o out bare.mts
	mts cat -c document.ids,document.second,negatives.ids bert.lists.mts >bare.mts
	dies "train: bare.mts: has no pairs" train -m bert --objective bce -o out bare.mts
	mts cat -c document.ids,document.second,negatives.ids,negatives.second,document.score bert.lists.mts >bare.mts
	dies 'train: bare.mts: there is no column "negatives.score"' train -m bert --objective bce -o out bare.mts
	folder qwen3
	jq '.architectures = ["Qwen3Model"]' "$R/qwen3/config.json" >qwen3/config.json
	dies "train: qwen3: is a decoder; a new classifier is trained on encoders only" train -m qwen3 --objective bce -o out bert.pairs.mts
	start
	jq 'del(.architectures)' start/config.json >c && mv c start/config.json
	dies "train: start/config.json: 'architectures' is ''" train -m start --objective bce -o out bert.pairs.mts
	does_not_apply --from-scratch train -m bert --objective bce --from-scratch -o out bert.pairs.mts
	does_not_apply --lora train -m bert --objective bce --lora rank=2 -o out bert.pairs.mts
	does_not_apply --temperature train -m bert --objective bce --temperature 1 -o out bert.pairs.mts
	does_not_apply --positive-weight train -m bert --objective listnet --positive-weight 2 -o out bert.lists.mts
	[ ! -e out ]
}

@test "cross: of ERNIE's task embeddings the first learns from both texts of a pair, and no other" {
	folder ernie
	task=ernie.embeddings.task_type_embeddings.weight
	end=$(safetensors_list ernie | awk -F'\t' '{ n = split($3, shape, ","); size = 4; for (i = 1; i <= n; i++) size *= shape[i]; sum += size } END { print sum }')
	relabel ernie/model.safetensors ".[\"$task\"] = {dtype: \"F32\", shape: [3, 16], data_offsets: [$end, $((end + 192))]}" >table
	head -c 192 /dev/zero >>table
	mv table ernie/model.safetensors
	jq '.use_task_id = true' ernie/config.json >config
	mv config ernie/config.json
	pairs ernie
	mts to jsonl ernie.pairs.mts | jq -s 'all(."pair.second" < (."pair.ids" | length))' | found true
	train "${options[@]}" --decay 0 -m ernie -o out --objective bce ernie.pairs.mts
	tail -c +$(($(tensor_offset out/model.safetensors $task) + 1)) out/model.safetensors >rest
	head -c 192 rest >learned
	run -1 cmp -s <(head -c 64 learned) <(head -c 64 /dev/zero)
	tail -c 128 learned | cmp - <(head -c 128 /dev/zero)
}
