# scores.awk - MODEL/TASK.tsv of mteb-score as one table, a model a row; of MODEL-SEED the mean over the seeds
BEGIN {
	FS = OFS = "\t"
	columns = split("retrieval:ndcg_at_10 retrieval:recall_at_10 retrieval:mrr_at_10 " \
	    "classification:accuracy clustering:v_measure", column, " ")
}

FNR == 1 {
	parts = split(FILENAME, path, "/")
	model = path[parts - 1]
	sub(/-[0-9]+$/, "", model)
	task = path[parts]
	sub(/\..*/, "", task)
	if (!(model in seen)) {
		seen[model] = 1
		order[++models] = model
	}
}

/^[^#]/ {
	score[model, task ":" $1] += $2
	runs[model, task ":" $1]++
}

END {
	printf "model"
	for (i = 1; i <= columns; i++) {
		name = column[i]
		gsub(/[:_]/, " ", name)
		sub(/ at /, "@", name)
		printf "\t%s", name
	}
	print ""
	for (n = 1; n <= models; n++) {
		printf "%s", order[n]
		for (i = 1; i <= columns; i++)
			printf "\t%.4f", score[order[n], column[i]] / runs[order[n], column[i]]
		print ""
	}
}
