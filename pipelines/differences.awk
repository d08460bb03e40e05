# differences.awk - what leaderboard compare --per-query found of one metric, in words
#	for seed...; leaderboard compare --per-query a-$seed.tsv b-$seed.tsv; leaderboard compare --per-query a.tsv b.tsv
# the last being of means over the seeds: awk -v metric=ndcg_at_10 -v first=A -v second=B -f differences.awk
# A claim has one sign in all seeds and an interval without 0.
BEGIN { FS = "\t" }

/; [0-9]+ queries;/ {
	queries = $0
	sub(/^[^;]*; /, "", queries)
	sub(/;.*/, "", queries)
}

$1 == metric {
	difference[++count] = $4
	low = $8
	high = $9
}

END {
	for (i = 1; i < count; i++) {
		seeds = seeds sprintf("%s%+.4f", i > 1 ? ", " : "", difference[i])
		same += difference[i] * difference[count] > 0
	}
	printf "%s - %s, %s, %s: %+.4f, 95 %% between %+.4f and %+.4f; by seed %s:\n", second, first, metric,
	    queries, difference[count], low, high, seeds
	if (low <= 0 && high >= 0)
		print "may be chance over queries."
	else if (same < count - 1)
		print "more than chance over queries, but not of one sign in all seeds: no claim."
	else if (count < 4)
		print "more than chance over queries; with fewer than three seeds no claim."
	else
		print "one sign in all seeds and more than chance over queries."
}
