# cells.awk - comparisons BASE/ARM.tsv of tables.mk (seed, type, set, both scores, difference, standard error) as cells
#	awk -v types="Retrieval STS" -f cells.awk em/ic.tsv em/mote.tsv
# A row for each base, arm and type, and for all sets of these types together: means over seeds, times 100.  Without types
# all count, and only the last row is written; with types=every the types of the input, in their order; with by=set rows
# are sets instead of types.
# The standard error of a mean over sets is sqrt(sum of squares) / sets.  Seeds share their queries, so more seeds do not
# make it smaller; their mean is taken.  A set of one query has no error and is left out of it.  A row of such sets has no
# error and no significance.
BEGIN {
	FS = OFS = "\t"
	types_count = types == "every" ? 0 : split(types, type, " ")
	for (i = 1; i <= types_count; i++)
		asked[type[i]] = 1
}

FNR == 1 {
	parts = split(FILENAME, path, "/")
	name = path[parts]
	sub(/\.tsv$/, "", name)
	pair = path[parts - 1] SUBSEP name
	pairs[++pair_count] = pair
}

by == "set" { $2 = $3 }

types == "every" && !($2 in asked) {
	asked[$2] = 1
	type[++types_count] = $2
}

types_count && !($2 in asked) { next }

{
	if (!((pair, $1) in seen)) {
		seen[pair, $1] = 1
		seed[pair, ++seeds[pair]] = $1
	}
	add($2)
	add("all sets")
}

function add(row) {
	sets[pair, row, $1]++
	base[pair, row, $1] += $4
	arm[pair, row, $1] += $5
	difference[pair, row, $1] += $6
	square[pair, row, $1] += $7 * $7
	known[pair, row] += $7 != ""
}

# Mean over seeds of a sum over sets, in `average`; standard deviation over seeds, in `deviation`.
function over_seeds(sum, row,    i, n, key, x, total, squares) {
	total = squares = 0
	n = seeds[pair]
	for (i = 1; i <= n; i++) {
		key = pair SUBSEP row SUBSEP seed[pair, i]
		x[i] = 100 * sum[key] / sets[key]
		total += x[i]
	}
	average = total / n
	for (i = 1; i <= n; i++)
		squares += (x[i] - average) ^ 2
	deviation = n > 1 ? sqrt(squares / (n - 1)) : 0
}

function one_sign(row,    i, up) {
	for (i = 1; i <= seeds[pair]; i++)
		up += difference[pair, row, seed[pair, i]] > 0
	return up == 0 || up == seeds[pair]
}

function error(row,    i, key, total) {
	for (i = 1; i <= seeds[pair]; i++) {
		key = pair SUBSEP row SUBSEP seed[pair, i]
		total += 100 * sqrt(square[key]) / sets[key]
	}
	return total / seeds[pair]
}

function cell(row,    names, of_base, of_base_deviation, of_arm, of_arm_deviation, e, claim) {
	split(pair, names, SUBSEP)
	over_seeds(base, row)
	of_base = average
	of_base_deviation = deviation
	over_seeds(arm, row)
	of_arm = average
	of_arm_deviation = deviation
	over_seeds(difference, row)
	e = error(row)
	printf "%s\t%s\t%s\t%d", names[1], names[2], row, sets[pair, row, seed[pair, 1]]
	printf "\t%.4f\t%.4f\t%.4f\t%.4f", of_base, of_base_deviation, of_arm, of_arm_deviation
	claim = known[pair, row] && seeds[pair] >= 3 && one_sign(row) && (average > 2 * e || -average > 2 * e)
	printf "\t%.4f\t%.4f\t%s\t%d\t%s\n", average, deviation, known[pair, row] ? sprintf("%.4f", e) : "", seeds[pair], claim ? "yes" : "no"
}

END {
	print "base", "arm", "type", "sets", "base_mean", "base_deviation", "arm_mean", "arm_deviation", "difference", \
	    "difference_deviation", "standard_error", "seeds", "claim"
	type[types_count + 1] = "all sets"
	for (n = 1; n <= pair_count; n++) {
		pair = pairs[n]
		for (i = types_count ? 1 : types_count + 1; i <= types_count + 1; i++)
			if ((pair, type[i], seed[pair, 1]) in sets)
				cell(type[i])
	}
}
