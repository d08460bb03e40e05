# shellcheck shell=bash disable=SC2154 # runs, work: run sets them
# routing.sh - what choosing a gate costs beside encoding: sourced by run.
#
# Vectors of BENCH_QUERIES queries (1000000; of the model's width, on disk) routed by 49 pilots, seven gates on seven
# data sets, reading and writing of the stream included; beside it ("peer") encoding as many queries of 12 tokens: the
# seconds of BENCH_ENCODED of them (20000), times as many as that is fewer.
queries=${BENCH_QUERIES:-1000000} encoded=${BENCH_ENCODED:-20000}

routing_prepare() {
	local width
	awk -v n="$encoded" 'BEGIN { srand(1); for (i = 0; i < n; i++) {
		printf 2; for (t = 0; t < 10; t++) printf " %d", 1000 + int(rand() * 7000); print " 3" } }' |
		"$1/support/ids_stream" text.ids >"$work/queries.mts"
	width=$(mts rows --rows 1 "$work/queries.mts" | encode -q -m "$BENCH_MODEL" | mts to jsonl - | jq '.["text.emb"] | length')
	"$1/support/mkstream" random "$queries" "$width" 1 >"$work/vectors.mts"
	awk 'BEGIN { for (i = 0; i < 490; i++) {
		printf "{\"dataset\": \"d%d\"", i % 7; for (g = 0; g < 7; g++) printf ", \"score.g%d\": %d", g, g == int(i / 7) % 7
		print "}" } }' | mts from jsonl - >"$work/scores.mts"
	"$1/support/mkstream" random 490 "$width" 2 | mts paste - "$work/scores.mts" | pilot-build fit -o "$work/pilots.mts"
}

# routing_row ROUTED ENCODED - the seconds of all queries, their ratio
routing_row() {
	awk -v ours="$1" -v some="$2" -v queries="$queries" -v encoded="$encoded" 'BEGIN {
		all = some * queries / encoded
		printf "%-40s %10s %10.1f %8s\n", "pilot-route: " queries " queries; beside: encoding", ours, all,
			(all > 0 ? sprintf("%.4f", ours / all) : "-")
		printf "%-40s %10s %10s %8s\n", "  encoding told from that of " encoded, "", some, "" }'
}

bench_routing() {
	routing_prepare "$1"
	[ "$(pilot-build show "$work/pilots.mts" | sed 1d | wc -l)" -eq 49 ]
	routing_row "$(seconds pilot-route -q --level 0 -o /dev/null "$work/pilots.mts" "$work/vectors.mts")" \
		"$(seconds encode -q -m "$BENCH_MODEL" --cache 1 --level 0 -o /dev/null "$work/queries.mts")"
}
bench_routing "$1"
