# as-one.awk - tables of mteb-score --per-query of several sets as one table; a set's name stands before its queries' ids
#	awk -f as-one.awk scifact.tsv medquad.tsv
BEGIN { FS = OFS = "\t" }

FNR == 1 {
	set = FILENAME
	sub(/.*\//, "", set)
	sub(/\.tsv$/, "", set)
}

FNR > 1 { $1 = set ":" $1 }

NR == 1 || FNR > 1
