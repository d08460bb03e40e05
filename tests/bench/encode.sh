# shellcheck shell=bash disable=SC2154 # peer, work: run sets them
# The speed of encode beside ONNX Runtime, OpenVINO and llama.cpp, with weights exported from the same folder; their 8-bit
# weights are made before the measurement.  BENCH_TOKENS (32,768) random tokens in texts of one length (BENCH_LENGTHS: "32 128 512 0"; 0: mixed lengths, a
# text for every 32 tokens).  Our times are of whole programs, from start to exit; the peers' are of inference only, with texts
# sorted by length, in batches of 32 texts, or of up to 512, 1,024 or 2,048 tokens (llama.cpp).  Then single texts, both from start
# to exit.  BENCH_SHAPES: random models that are measured beside BENCH_MODEL, "bert-base qwen3-0.6b".
[ "$peer" ] || return 0

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
encode_ours() {
	encode -q -j "$threads" -m "$work/model" --cache 1 --precision "$precision" "${kept[@]}" "$work/texts.mts"
}

# encode_texts - the lines of token ids of standard input, for both
programs=$1
encode_texts() {
	"$programs/support/ids_stream" text.ids >"$work/texts.mts"
	mts to jsonl "$work/texts.mts" >"$work/texts.jsonl"
}

# encode_rows NAME FOLDER
encode_rows() {
	local length
	rm -rf "$work/model"
	cp -rs "$(realpath "$2")" "$work/model" # a writable copy, for the weights cache
	drawn 0 | encode_texts
	runtime_export "$work/model" || return 0
	for length in ${BENCH_LENGTHS:-32 128 512 0}; do
		drawn "$length" | encode_texts
		if [ "$length" = 0 ]; then length=mixed; else length="of $length"; fi
		runtime_rows "$1, $length" encode_ours told
	done
	drawn "${BENCH_TOKENS:-32768}" | cut -d' ' -f 1-12 | encode_texts
	runtime_rows "$1, one of 12" encode_ours
}
encode_rows "${BENCH_NAME:-${BENCH_MODEL##*/}}" "$BENCH_MODEL"
for shape in ${BENCH_SHAPES:-}; do
	runtime draw "$shape" "$work/$shape" >"$work/runtime.log" 2>&1
	encode_rows "$shape" "$work/$shape"
	rm -rf "${work:?}/$shape"
done
