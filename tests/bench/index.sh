# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# One query and 1,000 in BENCH_INDEX documents (400000) of width 384: near in an index, our whole program with its pages in memory;
# FAISS's search alone, in memory.
documents=${BENCH_INDEX:-400000}
bench_build=$1
make -s "$bench_build/support/mkstream"
"$bench_build/support/mkstream" random 1000 384 1 | mts cat -q --level 0 >"$work/q.mts"
"$bench_build/support/mkstream" random "$documents" 384 2 | mts cat -q --level 0 >"$work/c.mts"
mts rows --rows 1 "$work/q.mts" >"$work/q1.mts"
rm -rf "$work/c.index"
mts index -q -o "$work/c.index" "$work/c.mts"
for side in q c; do mts to npy -c text.emb "$work/$side.mts" >"$work/$side.npy"; done

index_peer() { "$peer" tests/bench/index_peer.py "$1" "$work" "$2"; }
ours_stream() { near "$work/q1.mts" "$work/c.mts"; }
ours_one() { near "$work/q1.mts" "$work/c.index"; }
ours_bits() { near --rescore 20 "$work/q1.mts" "$work/c.index"; }
ours_thousand() { near "$work/q.mts" "$work/c.index"; }
peer_flat() { index_peer flat 1; }
peer_8bit() { index_peer 8bit 1; }
peer_binary() { index_peer binary 1; }
peer_thousand() { index_peer flat 1000; }
row "near, 1 in $documents, a stream; FAISS flat" ours_stream peer_flat told
row "near, in an index; FAISS flat" ours_one peer_flat told
row "near, in an index; FAISS 8 bits" ours_one peer_8bit told
row "near --rescore 20; FAISS binary" ours_bits peer_binary told
row "near, 1,000 in an index; FAISS flat" ours_thousand peer_thousand told
rm -r "$work/c.index" "$work"/[qc].npy
