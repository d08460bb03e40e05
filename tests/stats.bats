#!/usr/bin/env bats
# bats file_tags=plain
load helper

# Expected values: numpy 2.4 RandomState(42), CPython 3.11 Random(42), scipy 1.17, scikit-learn 1.9.

@test "mt19937: uniform, randint, shuffle (three times from seed 42) and choice are numpy's" {
	run -0 draw numpy
	[ "${lines[0]}" = "0.3745401188473625 0.9507143064099162" ]
	[ "${lines[1]}" = "51 92 14 71 60 20 82 86 74 74" ]
	[ "${lines[2]}" = "8 1 5 0 7 2 9 4 3 6" ]
	[ "${lines[3]}" = "3 1 2 8 4 5 6 7 0 9" ]
	[ "${lines[4]}" = "0 1 5 3 7 2 9 4 8 6" ]
	[ "${lines[5]}" = "374 950 731 598 156 155 58 866 601 708" ]
}

@test "undersample: the rows of mteb's first three experiments" {
	run -0 draw undersample
	[ "$output" = $'10 9 0 8 5 1\n3 7 10 2 0 5\n8 11 3 0 10 7' ]
}

@test "mt19937: random, choices and sample, from a set and from a pool, are Python's" {
	run -0 draw python
	[ "${lines[0]}" = "0.6394267984578837 0.02501075522266694" ]
	[ "${lines[1]}" = "6 0 2 2 7 6 8 0" ]
	[ "${lines[2]}" = "81 14 3 94 35 31 28 17 13 86" ]
	[ "${lines[3]}" = "3 0 8 7 16 2 11 1 10 17" ]
}

@test "stats: ranks, correlations, v-measure, AMI, confusion, incomplete beta, t and rounding are scipy's" {
	run -0 draw stats
	[ "${lines[0]}" = "1 2.5 2.5 4 6 6 6 8 " ]
	[ "${lines[1]}" = "pearson 0.696018761451 spearman 0.689560714965 constant nan" ]
	[ "${lines[2]}" = "v 0.800000000000 0.666666666667" ]
	[ "${lines[3]}" = "ami 0.093869595530 0.571428571429 1.000000000000 0.000000000000 1.000000000000" ]
	[ "${lines[4]}" = "confusion 0.375000000000 0.317460317460 0.321428571429 0.288888888889 0.300000000000 0.388888888889 0.375000000000 ap 0.225000000000 0.600000000000" ]
	[ "${lines[5]}" = "beta 0.369010119566 0.999915520000 0.178217544970" ]
	[ "${lines[6]}" = "t 0.060955787012 0.990942175466 p 0.096429634410" ]
	[ "${lines[7]}" = "round 0.12345 0 -2.6699999999999999" ]
}

# Golden values: tests/golden/student.py
@test "stats: Student's t is scipy's to 1e-11, and to a relative 1e-9 for small values, with few degrees of freedom and many" {
	cut -f1,2 "$GOLDEN/student.tsv" | draw student | paste "$GOLDEN/student.tsv" - | awk '
		{ off = $4 - $3; off = off < 0 ? -off : off
			if (off > 1e-11 || off > 1e-9 * $3) { print; bad = 1 } }
		END { exit bad || NR != 90 }'
}
