#!/usr/bin/env bats
load helper

# share/known-models.tsv lists models that people use. Its columns are compared with a tiny checkpoint of the family, which has
# all unusual settings, and with a small tokenizer of the same kind; the models themselves are not needed.

TABLE=$ROOT/share/known-models.tsv

# The rows of embedding models, sparse encoders, late-interaction models and rerankers.
embedders() {
	awk -F'\t' 'NR > 1 && $5 == ""' "$TABLE"
}
sparse() {
	awk -F'\t' '$5 == "sparse"' "$TABLE"
}
late() {
	awk -F'\t' '$5 == "late"' "$TABLE"
}
rerankers() {
	awk -F'\t' '$5 == "rerank"' "$TABLE"
}

# folder FAMILY: its tiny checkpoint
folder() {
	case $1 in
	new) echo "$GOLDEN/families/gte" ;;
	gemma2 | nvembed | embedding_gemma2 | lfm2) echo "$GOLDEN/forward/$1" ;;
	llama_bidirec)
		cp -r "$GOLDEN"/families/llama "$T/llama_bidirec"
		sed -i 's/"model_type": "llama"/"model_type": "llama_bidirec"/' "$T/llama_bidirec/config.json"
		echo "$T/llama_bidirec"
		;;
	xlm-roberta/rotary) echo "$GOLDEN/families/jina_v3" ;;
	bidirectional_pplx_qwen3)
		mkdir -p "$T/pplx"
		cp -r "$GOLDEN"/families/qwen3/. "$T/pplx"
		sed -i 's/"model_type": "qwen3"/"model_type": "bidirectional_pplx_qwen3"/; s/Qwen3ForCausalLM/PPLXQwen3Model/' "$T/pplx/config.json"
		echo "$T/pplx"
		;;
	jina_embeddings_v5)
		mkdir -p "$T/v5"
		cp -r "$GOLDEN"/families/qwen3/. "$T/v5"
		sed -i 's/"model_type": "qwen3"/"model_type": "jina_embeddings_v5"/' "$T/v5/config.json"
		echo "$T/v5"
		;;
	model2vec) echo "$GOLDEN/static/plain" ;;
	qwen3_vl) echo "$GOLDEN/chat/qwen3_vl" ;;
	*) echo "$GOLDEN/families/$1" ;;
	esac
}

@test "known: every family of supported models encodes, and every kind of tokenizer tokenises" {
	embedders | awk -F'\t' '$2 != "-" { print $2 }' | sort -u >"$T/families"
	[ "$(wc -l <"$T/families")" -ge 15 ]
	while read -r family; do
		echo "$family"
		echo "3 4 5" | ids_stream text.ids | encode -q -m "$(folder "$family")" 2>/dev/null | mts stat >"$T/stat"
		grep -q emb "$T/stat"
	done <"$T/families"
	embedders | awk -F'\t' '$2 != "-" { print $3 }' | sort -u >"$T/kinds"
	diff "$T/kinds" - <<<$'bpe\nbyte-fallback\nunigram\nwordpiece'
	for tokenizer in bert unigram/xlmr unigram/gemma bpe/whole; do
		echo "a small text" | tok -q -m "$GOLDEN/$tokenizer" | mts stat >"$T/stat"
		grep -q text.ids "$T/stat"
	done
}

@test "known: unsupported models are refused with the feature that is missing" {
	cp -r "$GOLDEN/families/qwen3" "$T/m"
	for type in lfm3 xmod; do
		sed "s/\"model_type\": \"qwen3\"/\"model_type\": \"$type\"/" "$GOLDEN/families/qwen3/config.json" >"$T/m/config.json"
		run -1 encode -q -m "$T/m" < <(echo "3 4 5" | ids_stream text.ids)
		[[ $output == *"'model_type' is '$type'; supported are"* ]]
	done
}

@test "known: motes(7) lists every family, and says like README how many of the models open" {
	names=$(embedders | awk -F'\t' '{ n++; open += $2 != "-" } END { print open " of the " n }')
	grep -q "$names" "$ROOT/README.md"
	tr '\n' ' ' <"$ROOT/man/motes.7" | found "$names embedding models"
	[ "$(embedders | cut -f1 | sort -u | wc -l)" -eq 89 ]
	run -1 encode -q -m "$GOLDEN/families/no" < <(echo "3" | ids_stream text.ids)
	cp -r "$GOLDEN/families/bert" "$T/none"
	sed -i 's/"model_type": "bert"/"model_type": "none"/' "$T/none/config.json"
	run -1 encode -q -m "$T/none" < <(echo "3" | ids_stream text.ids)
	known=${output#*supported are }
	for family in ${known//,/}; do
		grep -q "^\.It Li.*${family%/*}\|^\.Li ${family%/*}" "$ROOT/man/motes.7" || {
			echo "motes.7 has no $family"
			false
		}
	done
}

# sparse.bats compares their weights with the reference.
@test "known: every family of sparse encoders has a golden model, and motes(7) says how many models open" {
	[ "$(sparse | cut -f1 | sort -u | wc -l)" -eq 16 ]
	for family in $(sparse | cut -f2 | sort -u); do
		grep -q "^$family	" "$GOLDEN/sparse/forms.tsv" || { echo "$family"; false; }
	done
	tr '\n' ' ' <"$ROOT/man/motes.7" | found "the $(sparse | wc -l) sparse encoders"
}

# late.bats compares their vectors with the reference.
@test "known: every supported family of late-interaction models has a golden model, and motes(7) says how many models open" {
	for family in $(late | awk -F'\t' '$2 != "-" { print $2 }' | sort -u); do
		jq -r .model_type "$GOLDEN"/late/*/config.json | found -x "${family%/rotary}"
	done
	names=$(late | awk -F'\t' '{ n++; open += $2 != "-" } END { print open " of the " n " late-interaction models" }')
	tr '\n' ' ' <"$ROOT/man/motes.7" | found "$names"
	cp -r "$GOLDEN/late/colbert" "$T/m"
	echo "3 4 5" | ids_stream text.ids >"$T/ids.mts"
	for type in lfm3 xmod; do
		jq -c ".model_type = \"$type\"" "$GOLDEN/late/colbert/config.json" >"$T/m/config.json"
		run -1 encode -q -m "$T/m" "$T/ids.mts"
		[[ $output == *"'model_type' is '$type'; supported are"* ]]
	done
}

# rerank.bats compares their scores with the reference.
@test "known: every supported family of rerankers has a golden model, and motes(7) says how many models open" {
	[ "$(rerankers | cut -f1 | sort -u | wc -l)" -eq 39 ]
	for family in $(rerankers | awk -F'\t' '$2 != "-" { print $2 }' | sort -u); do
		grep -q "^${family/new/gte}	" "$GOLDEN/rerank/forms.tsv" ||
			grep -q "\"model_type\": \"$family\"" "$GOLDEN"/{answers,chat}/*/config.json || { echo "$family"; false; }
	done
	names=$(rerankers | awk -F'\t' '{ n++; open += $2 != "-" } END { print open " of the " n " rerankers" }')
	tr '\n' ' ' <"$ROOT/man/motes.7" | found "$names"
	[ "$(rerankers | awk -F'\t' '$2 == "-"' | wc -l)" -eq 0 ]
	cp -r "$GOLDEN/families/qwen3" "$T/m"
	rm -f "$T/m/modules.json"
	jq -c '.model_type = "deberta"' "$GOLDEN/families/qwen3/config.json" >"$T/m/config.json"
	run -1 rerank -q -m "$T/m" /dev/null
	[[ $output == *"'model_type' is 'deberta'; supported are"* ]]
}
