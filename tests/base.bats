#!/usr/bin/env bats
load helper

@test "base: halves, conversions and random numbers keep their promises" {
	run -0 base_check
	[ -z "$output" ]
}

@test "base: a size that overflows is an error, not a small block" {
	run -1 --separate-stderr base_check overflow
	[[ "$stderr" == "base_check: memory: "*"too large" ]]
}
