# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# From files of embeddings to scores, our whole programs; the peers' computation alone.
classical() { "$peer" tests/bench/classical.py "$1" "$work"; }

# The best 1000 of BENCH_DOCUMENTS documents of width 384 for each of 1,000 queries.
documents=${BENCH_DOCUMENTS:-100000}
bench_build=$1
make -s "$bench_build/support/mkstream" "$bench_build/support/search_bench"
# stored, as encode writes into a pipe: random vectors are no smaller when packed, and unpacking them costs more
"$bench_build/support/mkstream" random 1000 384 1 | mts cat -q --level 0 >"$work/q.mts"
"$bench_build/support/mkstream" random "$documents" 384 2 | mts cat -q --level 0 >"$work/c.mts"
for i in $(seq 0 999); do printf 'd%d\td%d\t1\n' "$i" $((7 * i)); done >"$work/qrels.tsv"
for side in q c; do mts to npy -c text.emb "$work/$side.mts" >"$work/$side.npy"; done

ours_search() { mteb-score retrieval --qrels "$work/qrels.tsv" "$work/q.mts" "$work/c.mts"; }
peer_search() { classical search; }
peer_semantic() { classical semantic; }
row "top 1000, 1k x $documents x 384; mteb" ours_search peer_search told
row "the same; sentence-transformers" ours_search peer_semantic told
ours_near() { near --run "$work/near" "$work/q.mts" "$work/c.mts"; }
peer_numpy() { classical numpy; }
same_search() { mteb-score retrieval --run "$work/run" "$work/q.mts" "$work/c.mts"; }
bare_products() { "$bench_build/support/search_bench" 1000 "$documents" 384 1000 | awk '$1 == "products" { print $2 }'; }
row "near --run of the same; numpy" ours_near peer_numpy told
row "the same; mteb-score --run" ours_near same_search
ours_ten() { near -o "$work/near" "$work/q.mts" "$work/c.mts"; }
row "the same; products alone, in memory" ours_near bare_products told
row "near, the best 10; products alone" ours_ten bare_products told

# Real sets, with all-MiniLM-L6-v2: Banking77's ten regressions, 20 Newsgroups' subject lines.
embed() { # SET NAME
	tok -m "$MOTES_MINILM" -f text "$MOTES_DATA/$1.jsonl.zst" | encode -m "$MOTES_MINILM" >"$work/$2.mts"
	mts to npy -c text.emb "$work/$2.mts" >"$work/$2.npy"
	mts to jsonl -c label "$work/$2.mts" >"$work/$2.labels"
}
ours_exact() { mteb-score classification --train "$work/train.mts" "$work/test.mts" "$@"; }
ours_reference() { ours_exact --solver reference; }
peer_classification() { classical classification; }
ours_clustering() { mteb-score clustering "$work/texts.mts"; }
peer_clustering() { classical clustering; }
ours_fast() { mteb-score clustering-fast --max-documents all "$work/texts.mts"; }
peer_fast() { classical clustering-fast; }
if [ -e "${MOTES_MINILM:-}/model.safetensors" ] && [ -e "${MOTES_DATA:-}/classification/banking77" ]; then
	embed classification/banking77/train train
	embed classification/banking77/test test
	embed clustering/twentynewsgroups_subjects/test texts
	row "Banking77, to the optimum; scikit-learn" ours_exact peer_classification told
	row "Banking77, as scikit-learn stops" ours_reference peer_classification told
	row "20 Newsgroups, one k-means; scikit-learn" ours_clustering peer_clustering told
	row "20 Newsgroups, quick protocol; mteb" ours_fast peer_fast told
else
	echo "regression and k-means: need MOTES_MINILM and MOTES_DATA"
fi
