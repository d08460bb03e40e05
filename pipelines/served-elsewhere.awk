# served-elsewhere.awk - queries that the gate of another set serves better than their own set's
#	awk -v own=a -f served-elsewhere.awk texts.tsv gate=a a.tsv gate=b b.tsv
# texts.tsv: id, text; the others are tables of mteb-score --per-query.  Writes query, set, gate, its nDCG@10, the own gate's.
BEGIN { FS = OFS = "\t" }

!gate {
	text[$1] = $2
	next
}

FNR == 1 {
	for (i = 1; i <= NF; i++)
		if ($i == "ndcg_at_10")
			at = i
	next
}

{
	if (gate == own)
		own_score[$1] = $at
	if (!($1 in best) || $at > score[$1]) {
		best[$1] = gate
		score[$1] = $at + 0
	}
}

END {
	for (id in best)
		if (score[id] > own_score[id])
			printf "%s\t%s\t%s\t%.4f\t%.4f\n", text[id], own, best[id], score[id], own_score[id]
}
