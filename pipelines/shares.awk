# shares.awk - the number of queries for which a gate has the best score; ties count in equal shares
#	pilot-route ... | mts to tsv -c score.a,score.b | awk -f shares.awk
BEGIN { FS = OFS = "\t" }

NR == 1 {
	for (i = 1; i <= NF; i++)
		gate[i] = substr($i, length("score.") + 1)
	next
}

{
	best = $1
	ties = 0
	for (i = 1; i <= NF; i++) {
		if ($i + 0 > best + 0) {
			best = $i
			ties = 0
		}
		ties += $i == best
	}
	for (i = 1; i <= NF; i++)
		count[i] += $i == best ? 1 / ties : 0
	queries++
}

END {
	for (i = 1; i in gate; i++)
		printf "%s\t%.6f\n", gate[i], count[i] / queries
}
