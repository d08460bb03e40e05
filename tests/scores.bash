# What the tests of mteb-score share.
# Golden values: tests/golden/score.py (scipy, scikit-learn, pytrec_eval) and score_types.py (mteb).

stream() { # name...: streams of the golden rows in $T
	for name in "$@"; do
		mkstream 7 <"$GOLDEN/score_$name.jsonl" >"$T/$name.mts"
	done
}

# agrees EXPECTED <output: every expected metric is there, within 1e-6; nan where nan is expected
agrees() {
	awk -F'\t' 'NR == FNR { if ($0 !~ /^#/) want[$1] = $2; next }
		$1 in want { d = $2 - want[$1]; seen++
			if (($2 == "nan") != (want[$1] == "nan") || d > 1e-6 || d < -1e-6) {
				print $1, $2, "expected", want[$1]; bad = 1 } }
		END { for (k in want) all++
			if (seen != all) { print seen + 0 " of " all " metrics"; bad = 1 }
			exit bad }' "$1" -
}

metric() { # name <output
	awk -F'\t' -v name="$1" '$1 == name { print $2 }'
}
