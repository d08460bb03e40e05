# knowledge.awk - the share of questions whose nearest context agrees with what the model has learned
#	awk -f knowledge.awk out/.../knowledge/GATE/probe/SEED.tsv ...
# Input: tables of mteb-score reranking --per-query; mrr is 1 if the nearest context is one of the positive ones.
BEGIN {
	FS = OFS = "\t"
	print "gate", "seed", "questions", "agree"
}

FNR == 1 {
	if (NR > 1)
		put()
	for (i = 1; i <= NF; i++)
		if ($i == "mrr")
			at = i
	parts = split(FILENAME, part, "/")
	gate = part[parts - 2]
	seed = part[parts]
	sub(/\.tsv$/, "", seed)
	questions = agree = 0
	next
}

{
	questions++
	agree += $at == 1
}

END { put() }

function put() {
	print gate, seed, questions, sprintf("%.4f", agree / questions)
}
