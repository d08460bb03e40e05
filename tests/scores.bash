# Shared by the tests of mteb-score.
# Golden values: tests/golden/score.py (scipy, scikit-learn, pytrec_eval) and score_types.py (mteb).

# stream NAME...: writes the golden rows to streams in $T
stream() {
	for name in "$@"; do
		mkstream 7 <"$GOLDEN/score_$name.jsonl" >"$T/$name.mts"
	done
}

# agrees EXPECTED <output: the output has every expected metric, within 1e-6, and nan where nan is expected
agrees() {
	awk -F'\t' 'NR == FNR { if ($0 !~ /^#/) want[$1] = $2; next }
		$1 in want { d = $2 - want[$1]; seen++
			if (($2 == "nan") != (want[$1] == "nan") || d > 1e-6 || d < -1e-6) {
				print $1, $2, "expected", want[$1]; bad = 1 } }
		END { for (k in want) all++
			if (seen != all) { print seen + 0 " of " all " metrics"; bad = 1 }
			exit bad }' "$1" -
}

# metric NAME <output: the metric's value
metric() {
	awk -F'\t' -v name="$1" '$1 == name { print $2 }'
}

# means_are_reported TABLE REPORT [PATTERN]: the report has the mean of each column of the --per-query file whose name matches,
# up to the rounding to 5 decimals that the report's first line states
means_are_reported() {
	awk -F'\t' -v pattern="${3:-.}" 'FILENAME == ARGV[2] {
			if ($0 ~ /^#/) { rounded = /rounding 5 decimals/; next }
			if ($1 in sum) { seen++; d = sum[$1] / (rows - 1) - $2
				most = rounded && $1 !~ /mrr/ ? 5.000001e-6 : 1e-14
				if ($2 == "nan" || d > most || d < -most) { print $1, sum[$1] / (rows - 1), "reported", $2; bad = 1 } }
			next }
		{ rows++
			for (i = 2; i <= NF; i++) if (rows == 1) name[i] = $i
				else if (name[i] ~ pattern) sum[name[i]] += $i }
		END { for (k in sum) all++
			if (!all || seen != all) { print seen + 0 " of " all + 0 " columns"; bad = 1 }
			exit bad }' "$1" "$2"
}
