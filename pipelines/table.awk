# table.awk - the cells of cells.awk as a table for people, a part for each base
#	awk -v title=table2 -v paper=mote -f table.awk arms.tsv papers.tsv table2.tsv
# Below it, what the arms are (arms.tsv: paper, arm, words).  Where papers.tsv has a number of that paper, table, row, base and
# arm, a column beside ours.  Both files may be left out.
BEGIN { FS = "\t" }

FNR == 1 {
	kind = $1
	next
}

kind == "paper" {
	if ($1 == paper)
		words[$2] = $3
	next
}

kind == "table" {
	if ($1 == paper "-" title) {
		theirs[$3, $4, $2] = $6
		source = $7
	}
	next
}

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
	cell[$1, $2, $3] = sprintf("%+.2f%s%s", $9, $15 == "" ? "" : sprintf(" ± %.2f (%s, %s)", $15, part($11), part($14)), \
	    $13 == "yes" ? " \\*" : $16 != "" && $16 < 0.05 ? " (\\*)" : "")
	if (($1, $2, $3) in theirs)
		shown[$1, $2] = 1
	tests += $16 != ""
	seeds = $12
}

function part(error) {
	return error == "" ? "-" : sprintf("%.2f", error)
}

# The description of an arm: of its name, of the name with * for its last part, or of all parts that + joins.
function is(name,    parts, i, all, stem) {
	if (name in words)
		return words[name]
	stem = name
	while (sub(/-[^-]*$/, "", stem))
		if ((stem "-*") in words) {
			all = words[stem "-*"]
			sub(/\*/, substr(name, length(stem) + 2), all)
			return all
		}
	if (split(name, parts, "+") < 2)
		return ""
	for (i = 1; i in parts; i++) {
		if (is(parts[i]) == "")
			return ""
		all = all (i > 1 ? "; " : "") is(parts[i])
	}
	return all
}

function explain(name) {
	if (!(name in explained) && is(name) != "")
		legend = legend "- " name ": " is(name) "\n"
	explained[name]
}

END {
	for (n = 1; n <= bases; n++) {
		b = base[n]
		if (n != 1)
			print ""
		printf "| %s | sets | %s |", title, b
		explain(b)
		ruler = "|---|---:|---:|"
		for (c = 1; c <= columns[b]; c++) {
			a = arm[b, c]
			printf " %s - %s |%s", a, b, (b, a) in shown ? " paper |" : ""
			ruler = ruler "---:|" ((b, a) in shown ? "---:|" : "")
			explain(a)
			numbers += (b, a) in shown
		}
		print "\n" ruler
		for (r = 1; r <= rows[b]; r++) {
			t = type[b, r]
			printf "| %s | %d | %s |", t, sets[b, t], first[b, t]
			for (c = 1; c <= columns[b]; c++) {
				printf " %s |", cell[b, arm[b, c], t]
				if ((b, arm[b, c]) in shown)
					printf " %s |", theirs[b, arm[b, c], t]
			}
			print ""
		}
	}
	printf "\nTimes 100; means over %d seed%s, of the base with their deviation over seeds; ± the error of the difference, in\n" \
	    "brackets its two parts: over queries and over seeds; \\* p < 0.05, by Holm's correction over the %d cells that have a p;\n" \
	    "(\\*) p < 0.05 by itself.\n", \
	    seeds, seeds == 1 ? "" : "s", tests
	if (numbers)
		printf "paper: the difference there, %s.\n", source
	if (legend != "")
		printf "\n%s", legend
}
