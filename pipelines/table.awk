# table.awk - the cells of cells.awk as a table for people, a part for each base
#	awk -v title=table2 -f table.awk table2.tsv
BEGIN { FS = "\t" }

FNR == 1 { next }

!($1 in at) {
	at[$1] = ++bases
	base[bases] = $1
}

!(($1, $2) in column) {
	column[$1, $2] = ++columns[$1]
	arm[$1, columns[$1]] = $2
}

!(($1, $3) in row) {
	row[$1, $3] = ++rows[$1]
	type[$1, rows[$1]] = $3
	sets[$1, $3] = $4
	first[$1, $3] = sprintf("%.2f (%.2f)", $5, $6)
}

{
	cell[$1, $2, $3] = sprintf("%+.2f (%.2f)%s%s", $9, $10, $11 == "" ? "" : sprintf(" ± %.2f", $11), $13 == "yes" ? " \\*" : "")
	seeds = $12
}

END {
	for (n = 1; n <= bases; n++) {
		b = base[n]
		if (n != 1)
			print ""
		printf "| %s | sets | %s |", title, b
		for (c = 1; c <= columns[b]; c++)
			printf " %s - %s |", arm[b, c], b
		printf "\n|---|---:|---:|"
		for (c = 1; c <= columns[b]; c++)
			printf "---:|"
		print ""
		for (r = 1; r <= rows[b]; r++) {
			t = type[b, r]
			printf "| %s | %d | %s |", t, sets[b, t], first[b, t]
			for (c = 1; c <= columns[b]; c++)
				printf " %s |", cell[b, arm[b, c], t]
			print ""
		}
	}
	printf "\nTimes 100; means over %d seed%s, in brackets the standard deviation over them; ± the paired standard " \
	    "error over queries;\n\\* one sign in all seeds, of three or more, and beyond two standard errors.\n", seeds, seeds == 1 ? "" : "s"
}
