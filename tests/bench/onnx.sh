# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# Tokens to embeddings beside ONNX Runtime, in floats and in eight bits, both with its weights exported from the same
# folder, and the eight bits made ahead: BENCH_TOKENS (32,768) drawn tokens in texts of one length, or a text of mixed lengths for each
# 32 of them; ours are whole programs, from start to exit, of the peer the runs alone, in batches of 32 sorted by length.  Then a text
# alone, of both from start to exit.  BENCH_SHAPES: of models drawn beside BENCH_MODEL, "bert-base qwen3-0.6b"; BENCH_PRECISIONS (f32
# int8); BENCH_THREADS (all cores).
[ "$peer" ] || return 0
build=$1
threads=${BENCH_THREADS:-$(nproc)}
precisions=${BENCH_PRECISIONS:-f32 int8}

# drawn LENGTH - that many tokens a text; 0: lengths whose logarithms are normal, around 40, up to 256
drawn() {
	awk -v length_="$1" -v tokens="${BENCH_TOKENS:-32768}" 'BEGIN {
		srand(1)
		texts = tokens / (length_ ? length_ : 32)
		for (i = 0; i < texts; i++) {
			n = int(40 * exp(0.9 * sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand())))
			n = length_ ? length_ : n < 4 ? 4 : n > 256 ? 256 : n
			for (t = 1; t <= n; t++) printf "%d%s", 1000 + int(rand() * 20000), t < n ? " " : "\n"
		}
	}'
}
onnx() { "$peer" tests/bench/onnx_peer.py "$@"; }

onnx_theirs() { onnx time "$work/onnx/$precision.onnx" "$threads" "$work/ids.txt"; }
onnx_ours() {
	local kept=()
	[ "$precision" != int8 ] || kept=(--weights-cache)
	encode -q -j "$threads" -m "$work/model" --cache 1 --precision "$precision" "${kept[@]}" "$work/ids.mts"
}

# onnx_rows NAME FOLDER [LENGTH...]
onnx_rows() {
	local name=$1 precision length what
	rm -rf "$work/model"
	cp -rs "$(realpath "$2")" "$work/model" # a writable copy, for the weights cache
	onnx export "$work/model" "$work/onnx" >"$work/onnx.log" 2>&1 || { echo "$name: the export failed"; tail -n 3 "$work/onnx.log"; return; }
	for length in "${@:3}"; do
		drawn "$length" >"$work/ids.txt"
		"$build/support/ids_stream" text.ids <"$work/ids.txt" >"$work/ids.mts"
		what="texts of $length"
		[ "$length" != 0 ] || what="mixed lengths"
		for precision in $precisions; do
			row "$name, $what, $precision" onnx_ours onnx_theirs told
		done
	done
	drawn "${BENCH_TOKENS:-32768}" | cut -d' ' -f 1-12 >"$work/ids.txt"
	"$build/support/ids_stream" text.ids <"$work/ids.txt" >"$work/ids.mts"
	for precision in $precisions; do
		row "$name, one text of 12, start to exit, $precision" onnx_ours onnx_theirs
	done
}
onnx_rows "${BENCH_MODEL##*/}" "$BENCH_MODEL" 32 128 512 0
for shape in ${BENCH_SHAPES:-}; do
	onnx draw "$shape" "$work/$shape" >"$work/onnx.log" 2>&1
	onnx_rows "$shape" "$work/$shape" 32 128 512 0
	rm -rf "${work:?}/$shape"
done
