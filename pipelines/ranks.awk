# ranks.awk - functions for tables of mteb-score sts --per-query: columns by name, ranks, pairs that a model ranks wrong.
# Include it first: awk -f ranks.awk -f complementarity.awk ...
BEGIN { FS = OFS = "\t" }

function fail(message) {
	print message > "/dev/stderr"
	failed = 1
	exit 1
}

# The number of the column of that name; for the first line of a file.
function column_of(name,    i) {
	for (i = 1; i <= NF; i++)
		if ($i == name)
			return i
	fail(FILENAME ": there is no column '" name "'")
}

# A number of the current line; "nan" is none.
function number(text) {
	if (text !~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/)
		fail(FILENAME ":" FNR ": '" text "' is not a number")
	return text + 0
}

# The file's name without folder and .tsv.
function bare(path) {
	sub(/.*\//, "", path)
	sub(/\.tsv$/, "", path)
	return path
}

# rank[1..n] of x[1..n], from 1; equal values share the mean of their ranks.  Sorted by Shell's method.
function ranks(x, n, rank,    order, gap, i, j, k, at) {
	for (i = 1; i <= n; i++)
		order[i] = i
	for (gap = 1; gap < n / 3; gap = 3 * gap + 1)
		;
	for (; gap >= 1; gap = int(gap / 3))
		for (i = gap + 1; i <= n; i++) {
			at = order[i]
			for (j = i; j > gap && x[order[j - gap]] > x[at]; j -= gap)
				order[j] = order[j - gap]
			order[j] = at
		}
	for (i = 1; i <= n; i = j) {
		for (j = i; j <= n && x[order[j]] == x[order[i]]; j++)
			;
		for (k = i; k < j; k++)
			rank[order[k]] = (i + j - 1) / 2
	}
}

# Spearman's correlation of x[1..n] and y[1..n]; "" where one of them does not vary.
function spearman(x, y, n,    a, b, i, middle, aa, bb, ab) {
	ranks(x, n, a)
	ranks(y, n, b)
	middle = (n + 1) / 2
	for (i = 1; i <= n; i++) {
		aa += (a[i] - middle) ^ 2
		bb += (b[i] - middle) ^ 2
		ab += (a[i] - middle) * (b[i] - middle)
	}
	return aa * bb > 0 ? ab / sqrt(aa * bb) : ""
}

# off[1..n]: how far the rank of each pair's similarity lies from that of its gold score, as a share of the n pairs.
function deviations(similarity, gold, n, off,    a, b, i) {
	ranks(similarity, n, a)
	ranks(gold, n, b)
	for (i = 1; i <= n; i++)
		off[i] = (a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]) / n
}
