# differences.awk - what leaderboard compare --per-query found of one metric, in words
#	leaderboard compare --per-query a.tsv b.tsv... | awk -v metric=ndcg_at_10 -f differences.awk
BEGIN { FS = "\t" }

/; [0-9]+ queries;/ {
	pair = $0
	sub(/;.*/, "", pair)
	gsub(/\/[^ \/]*\.tsv/, "", pair) # out/demo/mote/queries.tsv is mote
	gsub(/[^ ]*\//, "", pair)
	queries = $0
	sub(/^[^;]*; /, "", queries)
	sub(/;.*/, "", queries)
}

$1 == metric {
	printf "%s, %s, %s: %+.4f, 95 %% between %+.4f and %+.4f: %s\n", metric, queries, pair, $4, $8, $9, \
	    ($8 > 0 || $9 < 0) ? "more than chance over queries" : "may be chance"
}
