# mote-similarity.awk - lines of geom similarity with their seed before them, MoTE beside IC, for people
#	awk -f mote-similarity.awk figure3.tsv
BEGIN { FS = "\t" }

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	print "| tasks | seed | texts | MoTE | IC | difference | Welch's p | paired p |"
	print "|---|---|---:|---:|---:|---:|---:|---:|"
	next
}

{
	printf "| %s | %s | %s | %.4f | %.4f | %+.4f | %.2g | %.2g |\n", $at["tasks"], $1, $3, $at["mean"], \
	    $at["against_mean"], $at["difference"], $at["welch_p"], $at["paired_p"]
}

END {
	print "\nMean cosine of a text's embeddings under two instructions; p, one-sided: MoTE's is lower."
}
