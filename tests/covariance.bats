#!/usr/bin/env bats
# bats file_tags=plain
load helper

rows=$GOLDEN/covariance_rows.tsv
expected=$GOLDEN/covariance_expected.tsv

# The covariance divided by n: the expected matrix times 29 / 30.
population() {
	awk 'NR > 1 { for (i = 1; i <= NF; i++) $i = sprintf("%.17g", $i * 29 / 30) } 1' <(head -n 6 "$expected")
}

@test "covariance: mean, covariance, eigenvalues and eigenvectors of vectors far from zero are numpy's" {
	covariance_show 5 5 1 30 <"$rows" | within "$expected" 1e-10
}

@test "covariance: merged sums of 1, 7 or 29 vectors equal the sums over all" {
	for piece in 1 7 29; do
		covariance_show 5 5 1 $piece <"$rows" | within "$expected" 1e-10
	done
}

@test "covariance: sums over several blocks with distant means are numpy's, divided by n" {
	population >"$T/expected"
	for _ in {1..40}; do cat "$rows"; done >"$T/in turns"
	sort "$T/in turns" >"$T/sorted"
	for order in "in turns" sorted; do
		for piece in 1200 700; do
			covariance_show 5 1 0 $piece <"$T/$order" | head -n 6 | within "$T/expected" 1e-10
		done
	done
}

@test "covariance: 1, 2, 3 and 8 threads agree, also if some have no rows; equal numbers of threads give equal bits" {
	covariance_show 5 5 1 0 <"$rows" | within "$expected" 1e-10
	population >"$T/expected"
	for _ in {1..40}; do cat "$rows"; done | sort >"$T/sorted"
	for threads in 1 2 3 8; do
		OMP_NUM_THREADS=$threads covariance_show 5 1 0 0 <"$T/sorted" >"$T/$threads"
		head -n 6 "$T/$threads" | within "$T/expected" 1e-10
		for _ in {1..5}; do OMP_NUM_THREADS=$threads covariance_show 5 1 0 0 <"$T/sorted" | cmp - "$T/$threads"; done
	done
}

@test "eigen: asked for two eigenvectors, gives those of the greatest eigenvalues" {
	{ head -n 6 "$expected" && sed -n 7p "$expected" | cut -f 1-2 && sed -n 8,9p "$expected"; } >"$T/two"
	covariance_show 5 2 1 30 <"$rows" | within "$T/two" 1e-10
}

@test "eigen: one number, a matrix of zeros, and equal eigenvalues have the expected eigenvectors" {
	run -0 covariance_show 1 1 0 9 <<<"1 2 6"
	[ "$output" = $'3\n4.666666666666667\n4.666666666666667\n1' ]
	run -0 covariance_show 2 2 0 9 <<<"1 7 1 7"
	[ "$output" = $'1\t7\n0\t0\n0\t0\n0\t0\n0\t1\n1\t0' ]
	run -0 covariance_show 2 2 0 9 <<<"1 1 -1 1 1 -1 -1 -1"
	[ "${lines[3]}" = $'1\t1' ]
}

@test "eigen: a matrix with NaN or infinity is an error" {
	run -1 --separate-stderr covariance_show 2 2 0 9 <<<"1 2 nan 3"
	[[ "$stderr" == *"the matrix whose eigenvectors are wanted is not finite at 1, 1" ]]
}
