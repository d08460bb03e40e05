# share-table.awk - the shares of gates by set, in percent, means over seeds
#	awk -v gates="a b" -f share-table.awk .../SEED/SET.tsv...
BEGIN { FS = OFS = "\t" }

FNR == 1 {
	parts = split(FILENAME, path, "/")
	set = path[parts]
	sub(/\.tsv$/, "", set)
	if (!seeds[set]++)
		order[++sets] = set
}

{ sum[set, $1] += $2 }

END {
	count = split(gates, gate, " ")
	printf "set"
	for (g = 1; g <= count; g++)
		printf "\t%s", gate[g]
	print ""
	for (s = 1; s <= sets; s++) {
		printf "%s", order[s]
		for (g = 1; g <= count; g++)
			printf "\t%.1f", 100 * sum[order[s], gate[g]] / seeds[order[s]]
		print ""
	}
}
