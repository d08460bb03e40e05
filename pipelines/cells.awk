# cells.awk - comparisons BASE/ARM.tsv of tables.mk as the cells of one table, with errors over queries and over seeds
#	awk -v types="Retrieval STS" -f cells.awk em/ic.tsv em/mote.tsv
# Lines of comparisons: seed, type, set, both scores, difference, its standard error over queries, number of queries.  A row
# for each base, arm and type, and for all sets of these types together: means over seeds, times 100.  Without types all
# count, and only the last row is written; with types=every the types of the input, in their order; with by=set rows are sets
# instead of types; with only="STS12 STS13" other sets do not count.
#
# standard_error: over queries; of a mean over sets sqrt(sum of squares) / sets.  Seeds share their queries, so more seeds do
#	not make it smaller; their mean is taken.  A set of one query has no error and is left out; a row of such sets has none.
# seed_error: the deviation of the difference over seeds, divided by the root of their number; none of a single seed.
# error: the root of the sum of their squares.  The interaction of a seed with these queries is in both, so the error is rather
#	too large.
# p: two-sided, of Student's t = difference / error.  Its parts have different degrees of freedom: seeds one less than there are, a
#	set one less than it has queries.  p is the mean of the p by the degrees of each, weighted by its part of error^2; Cochran
#	and Cox weigh critical values so.  With three seeds 5 % is 4.3 errors where seeds make the error, 2 where many queries do.
#	In simulations a true difference of 0 has p < 0.05 in 3.5 to 5.2 % of tables, and p < 0.0025 in 0.05 to 0.26 %, whatever
#	the parts; by Welch's and Satterthwaite's degrees, which three seeds estimate badly, in up to 7.8 and 2.1 %.
# claim: yes if holm_p, p by Holm's correction over all cells of the table that have a p, is below 0.05.  A cell has a p
#	if it has both errors and three seeds or more.
BEGIN {
	FS = OFS = "\t"
	MANY = 1e6 # queries, if their number is not known
	types_count = types == "every" ? 0 : split(types, type, " ")
	for (i = 1; i <= types_count; i++)
		asked[type[i]] = 1
	only_count = split(only, set, " ")
	for (i = 1; i <= only_count; i++)
		counts[set[i]] = 1
}

FNR == 1 {
	parts = split(FILENAME, path, "/")
	name = path[parts]
	sub(/\.tsv$/, "", name)
	pair = path[parts - 1] SUBSEP name
	pairs[++pair_count] = pair
}

only_count && !($3 in counts) { next }

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

function add(row,    queries) {
	sets[pair, row, $1]++
	base[pair, row, $1] += $4
	arm[pair, row, $1] += $5
	difference[pair, row, $1] += $6
	square[pair, row, $1] += $7 * $7
	queries = $8 > 1 ? $8 : MANY
	if (!((pair, row, queries) in squares_of))
		sizes[pair, row] = sizes[pair, row] " " queries
	squares_of[pair, row, queries] += $7 * $7
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

# The mean error over queries.
function over_queries(row,    i, key, total) {
	for (i = 1; i <= seeds[pair]; i++) {
		key = pair SUBSEP row SUBSEP seed[pair, i]
		total += 100 * sqrt(square[key]) / sets[key]
	}
	return total / seeds[pair]
}

# The logarithm of the gamma function, by Stirling's series.
function log_gamma(x,    below) {
	for (below = 0; x < 10; x++)
		below += log(x)
	return (x - 0.5) * log(x) - x + 0.918938533204673 + 1 / (12 * x) - 1 / (360 * x ^ 3) + 1 / (1260 * x ^ 5) - below
}

# The incomplete beta function's share of the whole below x, by its continued fraction, which converges fast below its mean.
function beta_share(a, b, x,    m, c, d, h, k) {
	if (x <= 0 || x >= 1)
		return x > 0
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_share(b, a, 1 - x)
	c = 1
	d = h = 1 / (1 - (a + b) * x / (a + 1))
	for (m = 1; m < 1000; m++) {
		k = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
		d = 1 / (1 + k * d)
		c = 1 + k / c
		h *= c * d
		k = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
		d = 1 / (1 + k * d)
		c = 1 + k / c
		h *= c * d
		if ((c * d - 1) ^ 2 < 1e-28)
			break
	}
	return exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(1 - x)) * h / a
}

# The share of Student's t that is farther from 0.
function two_sided(t, freedom) {
	return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t))
}

# The p of t by the degrees of freedom of the queries of each set, weighted by their parts.
function by_queries(t, row,    i, size, total, all) {
	for (i = split(sizes[pair, row], size, " "); i >= 1; i--) {
		total += squares_of[pair, row, size[i]] * two_sided(t, size[i] - 1)
		all += squares_of[pair, row, size[i]]
	}
	return all > 0 ? total / all : 0
}

function cell(row,    names, of_seeds, of_queries, all, t) {
	n++
	split(pair, names, SUBSEP)
	over_seeds(base, row)
	line[n] = sprintf("%s\t%s\t%s\t%d\t%.4f\t%.4f", names[1], names[2], row, sets[pair, row, seed[pair, 1]], average, deviation)
	over_seeds(arm, row)
	line[n] = line[n] sprintf("\t%.4f\t%.4f", average, deviation)
	over_seeds(difference, row)
	of_queries = over_queries(row)
	of_seeds = deviation / sqrt(seeds[pair])
	all = sqrt(of_queries ^ 2 + of_seeds ^ 2)
	line[n] = line[n] sprintf("\t%.4f\t%.4f\t%s\t%d", average, deviation, known[pair, row] ? sprintf("%.4f", of_queries) : "", seeds[pair])
	errors[n] = (seeds[pair] > 1 ? sprintf("%.4f", of_seeds) : "") "\t" \
	    (seeds[pair] > 1 || known[pair, row] ? sprintf("%.4f", all) : "")
	if (!known[pair, row] || seeds[pair] < 3)
		return
	ordered[++tests] = n
	p[n] = average == 0
	if (all > 0) {
		t = average / all
		p[n] = (of_seeds ^ 2 * two_sided(t, seeds[pair] - 1) + of_queries ^ 2 * by_queries(t, row)) / all ^ 2
	}
}

# Sorts the cells that have a p by it, and corrects each.
function holm(    i, j, kept, most) {
	for (i = 2; i <= tests; i++) {
		kept = ordered[i]
		for (j = i; j > 1 && p[ordered[j - 1]] > p[kept]; j--)
			ordered[j] = ordered[j - 1]
		ordered[j] = kept
	}
	for (i = 1; i <= tests; i++) {
		j = p[ordered[i]] * (tests - i + 1)
		most = j > most ? j : most
		corrected[ordered[i]] = most < 1 ? most : 1
	}
}

END {
	print "base", "arm", "type", "sets", "base_mean", "base_deviation", "arm_mean", "arm_deviation", "difference", \
	    "difference_deviation", "standard_error", "seeds", "claim", "seed_error", "error", "p", "holm_p"
	type[types_count + 1] = "all sets"
	for (k = 1; k <= pair_count; k++) {
		pair = pairs[k]
		for (i = types_count ? 1 : types_count + 1; i <= types_count + 1; i++)
			if ((pair, type[i], seed[pair, 1]) in sets)
				cell(type[i])
	}
	holm()
	for (k = 1; k <= n; k++)
		print line[k], (k in p) && corrected[k] < 0.05 ? "yes" : "no", errors[k], \
		    (k in p) ? sprintf("%.3g", p[k]) : "", (k in p) ? sprintf("%.3g", corrected[k]) : ""
}
