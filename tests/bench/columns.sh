# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# Labels, groups and pairs of real embeddings, compared with scikit-learn and sentence-transformers: differences, and seconds of both.
columns_of() { # SET NAME
	tok -m "$MOTES_MINILM" -f text "$MOTES_DATA/$1.jsonl.zst" | encode -m "$MOTES_MINILM" >"$work/$2.mts"
	mts to npy -c text.emb "$work/$2.mts" >"$work/$2.npy"
	mts to jsonl -c label "$work/$2.mts" >"$work/$2.labels"
}
compare_columns() { "$peer" tests/bench/columns.py "$1" "$work/$2" "${@:3}"; }
if [ -n "$peer" ] && [ -e "${MOTES_MINILM:-}/model.safetensors" ] && [ -e "${MOTES_DATA:-}/classification/banking77" ]; then
	for set in classification/banking77 classification/emotion clustering/twentynewsgroups_subjects; do
		echo "$set"
		for part in train test; do columns_of "$set/$part" "$part"; done
		compare_columns classify train "$work/test"
		compare_columns group test 20 0.75 5
		compare_columns pairs test 0.9
	done
	echo clustering/biomedical_titles
	columns_of clustering/biomedical_titles/test test
	compare_columns group test 20 0.75 10
else
	echo "labels and groups: need PEER_PYTHON, MOTES_MINILM and MOTES_DATA"
fi
