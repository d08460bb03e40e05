#!/usr/bin/env bats
load helper

@test "base: f16, bf16, conversions and random numbers do as their headers say" {
	run -0 base_check
	[ -z "$output" ]
}

@test "base: a size that overflows is an error, not a small block" {
	run -1 --separate-stderr base_check overflow
	[[ "$stderr" == "base_check: memory: "*"too large" ]]
}
