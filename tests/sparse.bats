#!/usr/bin/env bats
load helper

# Sparse encoders, and the search by their terms. Golden values: tests/golden/sparse.py (sentence-transformers' SparseEncoder).
S=$GOLDEN/sparse

# folder FORM: copies the model and its tokenizer to $T/FORM
folder() {
	tokenized_form "$S" "$1"
}
# bge: $T/bge, a model like BGE-M3 with its tokenizer
bge() {
	cp -r "$S/bge_m3" "$T/bge"
	cp "$GOLDEN/settings/xlm-roberta/sentencepiece.bpe.model" "$T/bge"
	jq -c '.model_max_length = 40' "$GOLDEN/settings/xlm-roberta/tokenizer_config.json" >"$T/bge/tokenizer_config.json"
}
# terms FORM [OPTION...]: a stream of the golden texts' terms
terms() {
	tok -q -m "$T/$1" "$S/texts.jsonl" | encode -q -m "$T/$1" "${@:2}"
}
# The ids and weights of a stream, a line for each text.
lines() {
	mts to jsonl "$@" | jq -c '{ids: ."text.sparse", weights: ."text.sparse.weights"}'
}
# draw COUNT NAME [FACTOR]: rows of up to ten of 60 terms; weights are multiples of 1/4, so that dot products are exact
draw() {
	seeded_awk -v n="$1" -v name="$2" -v factor="${3:-1}" 'BEGIN {
		srand(n)
		for (i = 0; i < n; i++) {
			ids = weights = ""
			for (id = 0; id < 60; id++)
				if (rand() < 4 / (id + 8)) {
					ids = ids "," id
					weights = weights "," factor * int(1 + rand() * 12) / 4
				}
			printf "{\"_id\": \"%s%d\", \"text.sparse\": [%s], \"text.sparse.weights\": [%s]}\n", name, i, substr(ids, 2), substr(weights, 2)
		}
	}' | mts from jsonl
}
# brute K QUERIES CORPUS [COSINE]: query, document and score of each query's best K documents, from all pairs
brute() {
	{ mts to jsonl "$2" | jq -r '["q", ._id, (."text.sparse" | length), ."text.sparse"[], ."text.sparse.weights"[]] | @tsv'
	mts to jsonl "$3" | jq -r '["d", ._id, (."text.sparse" | length), ."text.sparse"[], ."text.sparse.weights"[]] | @tsv'; } |
		awk -F'\t' -v cosine="${4:-}" '
		$1 == "q" { id[n++] = $2; for (i = 1; i <= $3; i++) { w[n - 1, $(3 + i)] = $(3 + $3 + i); s[n - 1] += $(3 + $3 + i) ^ 2 } next }
		{ own = 0; for (i = 1; i <= $3; i++) own += $(3 + $3 + i) ^ 2
		  for (q = 0; q < n; q++) {
			sum = 0
			for (i = 1; i <= $3; i++) if ((q, $(3 + i)) in w) sum += w[q, $(3 + i)] * $(3 + $3 + i)
			if (cosine) sum = own && s[q] ? sum / sqrt(own * s[q]) : 0
			printf "%s\t%s\t%.7g\n", id[q], $2, sum } }' |
		LC_ALL=C sort -t$'\t' -k1,1 -k3,3gr -k2,2r | awk -F'\t' -v k="$1" '$1 != last { count = 0; last = $1 } count++ < k'
}

# Adapters. ------------------------------------------------------------------------------

@test "sparse: with an adapter the weights are those of the merged model; one of the head that predicts tokens is refused" {
	folder bert
	cp -r "$S/bert" "$T/plain" # a model of words, which train takes
	rm -r "$T/plain"/*sentence* "$T/plain/modules.json" "$T/plain/1_SpladePooling"
	paste "$GOLDEN/bert/ids.txt" <(tac "$GOLDEN/bert/ids.txt") | pairs_stream |
		train -q -m "$T/plain" --lora rank=2,targets=0.attention.self.query --lr 0.5 --schedule constant --steps 2 -o "$T/adapter"
	relabel "$T/adapter/adapter_model.safetensors" . >"$T/bare" # without the print of the model that it was trained on
	mv "$T/bare" "$T/adapter/adapter_model.safetensors"
	upcycle -q -m "$T/plain" --merge-lora "$T/adapter" -o "$T/made"
	cp -r "$T/bert" "$T/merged"
	cp "$T/made/model.safetensors" "$T/merged"
	terms bert --emit sparse --adapter "$T/adapter" | lines >"$T/adapted"
	terms merged --emit sparse | lines >"$T/wanted"
	jq -c .ids "$T/adapted" | diff - <(jq -c .ids "$T/wanted")
	jq -c '.weights | @tsv' -r "$T/adapted" | within <(jq -r '.weights | @tsv' "$T/wanted") 1e-5
	run -1 cmp -s "$T/adapted" <(terms bert --emit sparse | lines)
	relabel "$T/adapter/adapter_model.safetensors" \
		'with_entries(.key |= sub("(bert.)?encoder.layer.0.attention.self.query"; "cls.predictions.transform.dense"))' >"$T/head"
	mv "$T/head" "$T/adapter/adapter_model.safetensors"
	sed -i 's/[a-z.0-9]*attention.self.query/cls.predictions.transform.dense/g' "$T/adapter/adapter_config.json"
	run -1 --separate-stderr encode -q --any-tokenizer -m "$T/bert" --emit sparse --adapter "$T/adapter" < <(ids_stream text.ids <<<"5 6")
	[[ $stderr == "encode: $T/adapter/adapter_model.safetensors: changes 'cls.predictions.transform.dense.weight' of $T/bert, of the head that predicts tokens, which is not supported" ]]
}

# Known answers. -------------------------------------------------------------------------

@test "sparse: terms and weights of every family, pooling and activation are SparseEncoder's" {
	count=0
	while IFS=$'\t' read -r form rest; do
		folder "$form"
		terms "$form" --emit sparse | lines >"$T/$form.made"
		jq -c .ids "$S/$form/expected.jsonl" | diff - <(jq -c .ids "$T/$form.made") || { echo "$form"; false; }
		# sums are larger
		[[ $form == bert_sum ]] && tolerance=5e-5 || tolerance=1e-5
		jq -r '.weights[]' "$T/$form.made" | within <(jq -r '.weights[]' "$S/$form/expected.jsonl") $tolerance || { echo "$form"; false; }
		count=$((count + 1))
	done <"$S/forms.tsv"
	[ "$count" -eq 18 ]
}

@test "sparse: the prefix of a wrapper is found once, also by the head that predicts tokens" {
	cp -r "$GOLDEN/sparse/bert" "$T/wrapped"
	relabel "$GOLDEN/sparse/bert/model.safetensors" 'with_entries(.key |= "module." + .)' >"$T/wrapped/model.safetensors"
	for model in "$GOLDEN/sparse/bert" "$T/wrapped"; do
		echo 5 6 7 | ids_stream text.ids | encode -v -m "$model" --emit sparse 2>"$T/log" | mts to jsonl
	done | sort -u | wc -l | found -x 1
	[ "$(grep -c "the names of its tensors begin with 'module" "$T/log")" -eq 1 ]
}

@test "sparse: a sparse encoder writes terms without --emit; the header has their number, model and similarity" {
	folder bert_sum
	terms bert_sum >"$T/plain.mts"
	terms bert_sum --emit sparse | mts diff - "$T/plain.mts"
	mts head --json "$T/plain.mts" | sed -n 1p >"$T/header"
	size=$(jq .vocab_size "$T/bert_sum/config.json")
	jq -e --arg size "$size" '.properties | ."sparse.terms" == $size and ."sparse.similarity" == "cosine" and .model != null' "$T/header"
	folder bert
	terms bert >"$T/dot.mts"
	mts head --json "$T/dot.mts" | jq -e -s '.[0].properties | has("sparse.similarity") | not'
}

@test "sparse: top=N keeps the greatest weights and overrides max_active_dims" {
	folder bert
	folder bert_untied
	terms bert --emit sparse:top=4 | lines >"$T/made"
	jq -c '[[.ids, .weights] | transpose | sort_by(-.[1], .[0])[:4] | sort[] | .[0]]' "$S/bert/expected.jsonl" | diff - <(jq -c .ids "$T/made")
	[ "$(terms bert_untied | lines | jq -c '.ids | length' | sort -u)" = 9 ]
	[ "$(terms bert_untied --emit sparse:top=11 | lines | jq -c '.ids | length' | sort -u)" = 11 ]
	terms bert --emit few=sparse:top=2 | mts to jsonl | jq -e -s 'all((."text.few" | length) == 2 and (."text.few.weights" | length) == 2)'
}

# bats test_tags=plain
@test "sparse: a text's terms do not depend on other texts or threads" {
	folder bert
	folder distilbert_sum
	for form in bert distilbert_sum; do
		terms $form >"$T/all.mts"
		terms $form --tokens 1 -j 1 | mts diff - "$T/all.mts"
		terms $form -j 3 | mts diff - "$T/all.mts"
	done
}

@test "sparse: terms beside hidden states, of lists of texts, and with other precisions" {
	folder bert
	terms bert --emit sparse,hs:pool=tokens | mts cat -c text.sparse,text.sparse.weights | lines | diff - <(terms bert | lines)
	jq -c -s '[{d: [.[0, 1].text]}, {d: []}, {d: [.[2:][].text]}][]' "$S/texts.jsonl" | tok -q -m "$T/bert" -f d --format jsonl |
		encode -q -m "$T/bert" | mts to jsonl >"$T/lists"
	jq -c '."d.sparse"[]' "$T/lists" | diff - <(jq -c .ids "$S/bert/expected.jsonl")
	jq -r '."d.sparse.weights"[][]' "$T/lists" | within <(jq -r '.weights[]' "$S/bert/expected.jsonl") 1e-5
	for precision in bf16 int8; do # the greatest weight of each text
		terms bert --precision $precision --emit sparse:top=1 | lines | jq '.weights[0]' |
			within <(jq '.weights | max' "$S/bert/expected.jsonl") 0.1
	done
	terms bert --weights int8 --emit sparse:top=1 | lines | jq '.weights[0]' | within <(jq '.weights | max' "$S/bert/expected.jsonl") 0.1
}

@test "sparse: tok --decode prints terms, the heaviest first" {
	folder bert_untied
	terms bert_untied >"$T/terms.mts"
	tok -q -m "$T/bert_untied" --decode "$T/terms.mts" | mts to jsonl >"$T/made"
	jq -e -s 'all(has("text.sparse") or has("text.sparse.weights") | not)' "$T/made"
	jq -n -c -r --slurpfile t "$T/bert_untied/tokenizer.json" '($t[0].model.vocab | to_entries | map({(.value | tostring): .key}) | add) as $v |
		inputs | [.ids, .weights] | transpose | sort_by(-.[1], .[0]) | map([$v[.[0] | tostring] // "?", .[1]]) | .[] | @tsv' \
		"$S/bert_untied/expected.jsonl" | awk -F'\t' '{ printf "%s%s %.2f", (NR % 9 == 1 ? "" : ", "), $1, $2 } NR % 9 == 0 { print "" }' |
		diff - <(jq -r '."text.terms"' "$T/made")
	tok -q -m "$T/bert_untied" --decode --keep "$T/terms.mts" | mts cat -c text.sparse,text.sparse.weights | lines | diff - <(lines "$T/terms.mts")
	jq -c -s '{d: [.[].text]}' "$S/texts.jsonl" | tok -q -m "$T/bert_untied" -f d --format jsonl | encode -q -m "$T/bert_untied" |
		tok -q -m "$T/bert_untied" --decode | mts to jsonl | jq -r '."d.terms"[]' | diff - <(jq -r '."text.terms"' "$T/made")
}

@test "sparse: an inference-free encoder encodes documents by its default route, queries by a table of weights" {
	query=$S/router/query_0_SparseStaticEmbedding
	for model in "$S/router" "$query"; do
		tok -q -m "$model" "$S/texts.jsonl" | encode -q -m "$model" >"$T/${model##*/}.mts"
		lines "$T/${model##*/}.mts" >"$T/made"
		jq -c .ids "$model/expected.jsonl" | diff - <(jq -c .ids "$T/made")
		jq '.weights[]' "$T/made" | within <(jq '.weights[]' "$model/expected.jsonl") 1e-5
	done
	near -q --any-model -k 7 --run "$T/made.run" "$T/query_0_SparseStaticEmbedding.mts" "$T/router.mts"
	jq -n -r '[inputs | [.ids, .weights] | transpose | map({(.[0] | tostring): .[1]}) | add] as $t | range(7) as $q | range(7) as $d |
		["t\($q)", "t\($d)", ([$t[$q] // {} | to_entries[] | .value * ($t[7 + $d][.key] // 0)] | add // 0)] | @tsv' \
		"$query/expected.jsonl" "$S/router/expected.jsonl" | sort >"$T/expected"
	cut -f1,3,5 "$T/made.run" | sort >"$T/made"
	cut -f3 "$T/made" | within <(cut -f3 "$T/expected") 2e-5
	tok -q -m "$query" "$S/texts.jsonl" | encode -q -m "$query" --emit sparse:top=2 | lines | jq -c .ids |
		diff - <(jq -c '[[.ids, .weights] | transpose | sort_by(-(.[1] | fabs))[:2] | sort[] | .[0]]' "$query/expected.jsonl")
}

@test "sparse: BGE-M3's lexical weights, token vectors and embeddings from one pass follow its formulas" {
	bge
	tok -q -m "$T/bge" "$S/texts.jsonl" | encode -q -m "$T/bge" --emit emb,sparse,tokens >"$T/both.mts"
	lines "$T/both.mts" >"$T/made"
	jq -c .ids "$S/bge_m3/expected.jsonl" | diff - <(jq -c .ids "$T/made")
	jq '.weights[]' "$T/made" | within <(jq '.weights[]' "$S/bge_m3/expected.jsonl") 1e-5
	mts to jsonl "$T/both.mts" | jq '."text.emb"[]' | within <(jq '.emb[]' "$S/bge_m3/expected.jsonl") 1e-5
	mts to jsonl "$T/both.mts" | jq '."text.tokens" | length' | diff - <(jq '.tokens | length' "$S/bge_m3/expected.jsonl")
	mts to jsonl "$T/both.mts" | jq '."text.tokens"[][]' | within <(jq '.tokens[][]' "$S/bge_m3/expected.jsonl") 1e-5
	tok -q -m "$T/bge" "$S/texts.jsonl" | encode -q -m "$T/bge" | mts diff - <(mts cat -c _id,text.emb "$T/both.mts") # like any dense model
	mts head --json "$T/both.mts" >"$T/header" # embeddings by cosine, terms by dot product
	jq -e -s '.[0].properties | has("similarity") or has("sparse.similarity") | not' "$T/header"
	near -q -f text.sparse -k 1 --run - "$T/both.mts" "$T/both.mts" | grep -P '^t3\tQ0\tt3\t1\t' | cut -f5 |
		within <(jq '.weights | map(. * .) | add' "$S/bge_m3/expected.jsonl" | sed -n 4p) 1e-4
}

@test "sparse: a model that is made of BGE-M3 has embeddings alone, and a warning says so" {
	bge
	paste "$GOLDEN/bert/ids.txt" <(tac "$GOLDEN/bert/ids.txt") | pairs_stream >"$T/pairs.mts"
	train --steps 1 -m "$T/bge" -o "$T/tuned" "$T/pairs.mts" 2>"$T/log"
	[ "$(grep -c "^train: warning: $T/bge: the new folder leaves sparse_linear.pt and colbert_linear.pt out: they belong to these weights" "$T/log")" = 1 ]
	[ ! -e "$T/tuned/sparse_linear.pt" ] && [ -e "$T/tuned/model.safetensors" ]
	train --steps 1 --lora rank=2 -m "$T/bge" -o "$T/adapter" "$T/pairs.mts" 2>"$T/log"
	run ! grep -q "leaves" "$T/log"
}

# The search. ----------------------------------------------------------------------------

@test "sparse: near finds the hits of a comparison of all pairs, ties by id, for any k and number of threads" {
	draw 21 q >"$T/q.mts"
	draw 300 d >"$T/c.mts"
	for k in 1 10 300; do
		near -q "$T/q.mts" "$T/c.mts" -k $k --run "$T/made.run"
		cut -f1,3,5 "$T/made.run" >"$T/made"
		brute $k "$T/q.mts" "$T/c.mts" | sort -s -k1,1 | diff - <(LC_ALL=C sort -s -k1,1 "$T/made")
		near -q "$T/q.mts" "$T/c.mts" -k $k -j 1 --run - | cmp - "$T/made.run"
	done
	near -q "$T/q.mts" "$T/c.mts" -k 10 --similarity cosine --run - | cut -f1,3,5 | LC_ALL=C sort -s -k1,1 >"$T/made"
	brute 10 "$T/q.mts" "$T/c.mts" cosine >"$T/expected"
	cut -f3 "$T/made" | within <(cut -f3 "$T/expected") 1e-6
	draw 300 d | mts split -n 3 -o "$T/part."
	near -q "$T/q.mts" "$T"/part.* -k 10 --run - | diff - <(near -q "$T/q.mts" "$T/c.mts" -k 10 --run -)
}

@test "sparse: near --best ranks a document by the best of its rows" {
	draw 21 q >"$T/q.mts"
	draw 300 d >"$T/c.mts"
	{ echo _id; seq 300 | awk '{ print "e" $1 % 23 }'; } >"$T/ids.tsv"
	mts cat --rename _id=row "$T/c.mts" | mts paste - <(mts from tsv "$T/ids.tsv") >"$T/e.mts"
	mts to jsonl -c _id "$T/c.mts" | jq -r ._id | paste - <(tail -n +2 "$T/ids.tsv") >"$T/of"
	near -q -k 300 --run - "$T/q.mts" "$T/c.mts" | awk -v OFS='\t' 'FILENAME != "-" { of[$1] = $2; next }
		!(($1, of[$3]) in seen) { seen[$1, of[$3]]; print $1, of[$3], $5 }' "$T/of" - | sort >"$T/want"
	near -q --best -k 300 --run - "$T/q.mts" "$T/e.mts" | cut -f1,3,5 | sort | diff "$T/want" -
	[ "$(near -q --best -k 4 --json "$T/q.mts" "$T/e.mts" | jq '.hits | length' | sort -u)" = 4 ]
}

@test "sparse: near's --threshold, --exclude-self, --self, --json and --memory apply to terms" {
	draw 40 d >"$T/c.mts"
	near -q "$T/c.mts" "$T/c.mts" -k 5 --exclude-self --run - | awk '$1 == $3 { exit 1 }'
	near -q "$T/c.mts" "$T/c.mts" -k 40 --threshold 8 --run "$T/made.run"
	brute 40 "$T/c.mts" "$T/c.mts" | awk -F'\t' '$3 >= 8' | wc -l | diff - <(wc -l <"$T/made.run")
	near -q --self -k 3 --json "$T/c.mts" | jq -e -s 'length > 0' >/dev/null
	near -q "$T/c.mts" "$T/c.mts" -k 2 --json | jq -e -s 'length == 40' >/dev/null
	near -q "$T/c.mts" "$T/c.mts" -k 5 --memory 64M --run - | cmp - <(near -q "$T/c.mts" "$T/c.mts" -k 5 --run -)
	printf 'query-id\tcorpus-id\tscore\nd0\td1\t1\nd3\td2\t1\n' >"$T/test.tsv"
	near -q "$T/c.mts" "$T/c.mts" --run "$T/all.run"
	mteb-score retrieval --qrels "$T/test.tsv" "$T/c.mts" "$T/c.mts" | diff - <(mteb-score retrieval --qrels "$T/test.tsv" --from-run "$T/all.run")
	awk '$1 == "d0" && $4 <= 7' "$T/all.run" >"$T/few.run"
	mteb-score retrieval --qrels "$T/test.tsv" --candidates "$T/few.run" "$T/c.mts" "$T/c.mts" >/dev/null
}

@test "sparse: texts of a model find each other; a run of terms fuses with one of embeddings" {
	folder bert
	tok -q -m "$T/bert" --keep "$S/texts.jsonl" | encode -q -m "$T/bert" >"$T/terms.mts"
	near -q "$T/terms.mts" "$T/terms.mts" -k 7 --run "$T/terms.run"
	jq -n -r '[inputs | [.ids, .weights] | transpose | map({(.[0] | tostring): .[1]}) | add] as $t | range(7) as $q | range(7) as $d |
		["t\($q)", "t\($d)", ([$t[$q] | to_entries[] | .value * ($t[$d][.key] // 0)] | add)] | @tsv' "$S/bert/expected.jsonl" | sort >"$T/expected"
	cut -f1,3,5 "$T/terms.run" | sort >"$T/made"
	diff <(cut -f1,2 "$T/expected") <(cut -f1,2 "$T/made")
	cut -f3 "$T/made" | within <(cut -f3 "$T/expected") 1e-3
	near "$T/terms.mts" "$T/terms.mts" -k 1 | found "the keeper lights the lantern"
	tok -q -m "$ROOT/share/models/base" "$S/texts.jsonl" | encode -q -m "$ROOT/share/models/base" >"$T/dense.mts"
	near -q "$T/dense.mts" "$T/dense.mts" --run "$T/dense.run"
	near --fuse rrf "$T/terms.run" "$T/dense.run" >"$T/both.run"
	[ "$(wc -l <"$T/both.run")" -eq 49 ]
	mts paste "$T/terms.mts" <(mts cat -c text.emb "$T/dense.mts") >"$T/both.mts" # embeddings, unless the terms are named
	near -q "$T/both.mts" "$T/both.mts" -k 7 --any-model --run - | diff <(cut -f1,3 "$T/dense.run") <(cut -f1,3 -)
	near -q -f text.sparse "$T/both.mts" "$T/both.mts" -k 7 --run - | diff - "$T/terms.run"
	mts to jsonl "$T/both.mts" | jq -c '{"text.sparse", "text.sparse.weights", _id}' | mts from jsonl >"$T/first.mts" # the column is number 0
	[ "$(mts head "$T/first.mts" | head -n 1 | cut -f2 | cut -d' ' -f1)" = text.sparse ]
	near -q -f text.sparse "$T/first.mts" "$T/first.mts" -k 7 --run - | diff - "$T/terms.run"
}

# Bad input. -----------------------------------------------------------------------------

@test "sparse: models without a masked-language-model head, or with part of one, are refused in one line" {
	cd "$T"
	folder bert
	jq -c '.' "$S/texts.jsonl" | tok -q -m bert >ids.mts
	dies "encode: bert: is a sparse encoder, which has no embeddings" encode -q -m bert --emit emb -o out ids.mts
	dies "upcycle: bert: is a sparse encoder, and texts are to be embedded" upcycle -q -m bert --static -o out
	for option in "--pooling mean" "--empty zero"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr encode -q -m bert $option -o out ids.mts
		[[ ${stderr_lines[0]} == "encode: ${option% *}"*" a sparse encoder"* ]]
	done
	for part in transform.dense transform.LayerNorm bias; do
		sed "s/predictions.$part/predictions.${part%????}nope/" "$S/bert/model.safetensors" >bert/model.safetensors
		dies "encode: bert/model.safetensors: tensor 'cls.predictions." encode -q -m bert -o out ids.mts
		[[ $stderr == *"of the head that predicts tokens is missing" ]]
	done
	relabel "$S/bert/model.safetensors" '."cls.predictions.transform.dense.weight".shape = [8, 32]' >bert/model.safetensors
	dies "encode: bert/model.safetensors: tensor 'cls.predictions.transform.dense.weight'" encode -q -m bert -o out ids.mts
	cp "$S/bert/model.safetensors" bert
	sed -i 's/"max"/"mean"/' bert/1_SpladePooling/config.json
	dies "encode: bert/1_SpladePooling/config.json: 'pooling_strategy' is 'mean'; supported are max and sum" encode -q -m bert -o out ids.mts
	sed -i 's/"mean"/"max"/; s/"relu"/"gelu"/' bert/1_SpladePooling/config.json
	dies "encode: bert/1_SpladePooling/config.json: 'activation_function' is 'gelu'" encode -q -m bert -o out ids.mts
	rm -r bert/1_SpladePooling
	dies "encode: bert/1_SpladePooling/config.json: " encode -q -m bert -o out ids.mts
	cp -r "$S/bert/1_SpladePooling" bert
	jq '. + [{"idx": 2, "name": "2", "path": "2_Normalize", "type": "x.Normalize"}]' "$S/bert/modules.json" >bert/modules.json
	dies "encode: bert/modules.json: no module is supported after a SpladePooling" encode -q -m bert -o out ids.mts
	jq '.[1].type = "x.SparseAutoEncoder"' "$S/bert/modules.json" >bert/modules.json
	dies "encode: bert/modules.json: the module 'SparseAutoEncoder' is not supported" encode -q -m bert -o out ids.mts
	jq '.[1].type = "x.Pooling"' "$S/bert/modules.json" >bert/modules.json
	dies "encode: bert/config_sentence_transformers.json: 'model_type' is 'SparseEncoder', and modules.json has no SpladePooling" \
		encode -q -m bert -o out ids.mts
	rm bert/config_sentence_transformers.json
	dies "encode: bert/sentence_bert_config.json: 'transformer_task' is 'fill-mask'" encode -q -m bert -o out ids.mts
	cp "$S"/bert/*.json bert
	run -2 --separate-stderr encode -q -m bert --emit sparse:top=0 ids.mts
	[[ $stderr == *"--emit: 'top=0' is not supported; sparse takes top=N"* ]]
	run -2 encode -q -m bert --emit sparse:pool=max ids.mts
	run -2 encode -q -m bert --emit sparse,few=sparse:top=3 ids.mts
}

@test "sparse: dense models have no terms; a sparse encoder cannot be trained" {
	cd "$T"
	folder bert
	echo '3 4 5' | ids_stream text.ids >ids.mts
	dies "encode: $GOLDEN/families/gte/model.safetensors: tensor 'lm_head.dense.weight' of the head" \
		encode -q -m "$GOLDEN/families/gte" --emit sparse -o out ids.mts
	for family in t5 qwen3; do
		dies "encode: $GOLDEN/families/$family/model.safetensors: a head that predicts masked tokens is not supported" \
			encode -q -m "$GOLDEN/families/$family" --emit sparse -o out ids.mts
	done
	printf '{"query": "a", "document": "b"}\n' >pairs.jsonl
	echo '{batch: 1, tasks: {t: {datasets: [{name: p, file: pairs.jsonl, query: query, document: document}]}}}' >p.yaml
	run -1 bash -c "tasksample p.yaml | tok -q -m bert | train -q -m bert -o out"
	[[ $output == *"train: bert: is a sparse encoder, which is read, not trained or written"* ]]
}

@test "sparse: damaged and incomplete folders of BGE-M3's kind, Routers and tables are refused in one line" {
	cd "$T"
	bge
	tok -q -m bge "$S/texts.jsonl" >ids.mts
	mv bge/sparse_linear.pt linear
	dies "encode: bge/sparse_linear.pt: is not there, but colbert_linear.pt is" encode -q -m bge --emit sparse -o out ids.mts
	head -c 900 linear >bge/sparse_linear.pt
	dies "encode: bge/sparse_linear.pt: " encode -q -m bge --emit sparse -o out ids.mts
	cp bge/colbert_linear.pt bge/sparse_linear.pt
	dies "encode: bge/sparse_linear.pt: 'weight' and 'bias' are not a linear layer of floats from the model's 16 channels to one number" \
		encode -q -m bge --emit sparse -o out ids.mts
	mv linear bge/sparse_linear.pt
	head -c 900 bge/colbert_linear.pt >vectors
	mv vectors bge/colbert_linear.pt
	dies "encode: bge/colbert_linear.pt: " encode -q -m bge --emit tokens -o out ids.mts
	encode -q -m bge --emit sparse ids.mts | mts stat | found text.sparse.weights
	rm bge/colbert_linear.pt
	dies "encode: bge/colbert_linear.pt: is not there, but sparse_linear.pt is" encode -q -m bge --emit tokens -o out ids.mts
	cp -r "$S/router" router
	tok -q -m router "$S/texts.jsonl" >ids.mts
	jq '.parameters.default_route = "query"' "$S/router/router_config.json" >router/router_config.json
	dies "encode: ids.mts: its tokens were made by another tokenizer" encode -q -m router -o out ids.mts
	tok -q -m router "$S/texts.jsonl" | encode -q -m router | lines | jq -c .ids |
		diff - <(jq -c .ids "$S/router/query_0_SparseStaticEmbedding/expected.jsonl")
	jq '.parameters.default_route = "both"' "$S/router/router_config.json" >router/router_config.json
	dies "encode: router/router_config.json: 'structure' has no modules of the route 'both'" encode -q -m router -o out ids.mts
	jq '.structure.document[1] = "../x"' "$S/router/router_config.json" >router/router_config.json
	dies "encode: router/router_config.json: 'path' is '../x'" encode -q -m router -o out ids.mts
	rm router/router_config.json
	dies "encode: router/router_config.json: " encode -q -m router -o out ids.mts
	cp -r "$S/router/query_0_SparseStaticEmbedding" table
	tok -q -m table "$S/texts.jsonl" >ids.mts
	relabel "$S/router/query_0_SparseStaticEmbedding/model.safetensors" '.weight.shape = [151, 1]' >table/model.safetensors
	dies "encode: table/model.safetensors: tensor 'weight' is not a list" encode -q -m table -o out ids.mts
	relabel "$S/router/query_0_SparseStaticEmbedding/model.safetensors" '.other = .weight | del(.weight)' >table/model.safetensors
	dies "encode: table/model.safetensors: " encode -q -m table -o out ids.mts
	echo '{"frozen": true, "path": "idf.json"}' >table/config.json
	dies "encode: table/config.json: weights in a JSON file are not supported" encode -q -m table -o out ids.mts
}

@test "sparse: damaged terms, other vocabularies, and vectors in place of terms are refused in one line" {
	cd "$T"
	row() { printf '{"_id": "a", "text.sparse": %s, "text.sparse.weights": %s}\n' "$1" "$2" | mts from jsonl; }
	row '[1, 4]' '[1.5, 2.5]' >good.mts
	near -q good.mts good.mts --run - | found 8.5
	row '[4, 1]' '[1.5, 2.5]' >bad.mts
	dies "near: bad.mts: record 1: row 1 of 'text.sparse': ids of terms do not ascend" near -q good.mts bad.mts
	row '[1, 1]' '[1.5, 2.5]' >bad.mts
	dies "near: bad.mts: record 1: row 1 of 'text.sparse': ids of terms do not ascend" near -q good.mts bad.mts
	row '[-1, 1]' '[1.5, 2.5]' >bad.mts
	dies "near: bad.mts: record 1: row 1 of 'text.sparse': ids of terms do not ascend" near -q bad.mts good.mts
	row '[1, 1000000000000]' '[1.5, 2.5]' >bad.mts
	dies "near: bad.mts: record 1: row 1 of 'text.sparse': ids of terms do not ascend" near -q good.mts bad.mts
	row '[1, 900000000]' '[1.5, 2.5]' >bad.mts
	dies "near: bad.mts: record 1: row 1 of 'text.sparse': " near -q good.mts bad.mts
	row '[1, 4]' '[1.5, 1e300]' >bad.mts
	dies "near: bad.mts: record 1: row 1 of 'text.sparse': a weight is not finite" near -q good.mts bad.mts
	row '[1, 4]' '[1.5]' >bad.mts
	dies "near: bad.mts: record 1: row 1" near -q good.mts bad.mts
	row '[1, 4]' '["x", "y"]' >bad.mts
	dies "near: bad.mts: the column 'text.sparse.weights' is not a list of weights" near -q good.mts bad.mts
	folder bert
	folder roberta
	terms bert >bert.mts
	terms roberta >other.mts
	dies "near: other.mts: its vectors are of model" near -q bert.mts other.mts
	dies "near: other.mts: its model has " near -q --any-model bert.mts other.mts
	echo '3 4 5' | ids_stream text.ids | encode -q -m "$GOLDEN/bert" >dense.mts
	dies "near: dense.mts: its vectors are embeddings, those of bert.mts are weights of terms" near -q --any-model bert.mts dense.mts
	dies "mts: bert.mts: there is no column '*.emb'" mts index -o out bert.mts
	head -c 300 bert.mts >cut.mts
	dies "near: cut.mts: " near -q bert.mts cut.mts
}
