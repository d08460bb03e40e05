#!/usr/bin/env bats
load helper

@test "base: f16, bf16, conversions and random numbers follow their headers" {
	run -0 base_check
	[ -z "$output" ]
}

@test "base: an allocation whose size overflows is an error" {
	run -1 --separate-stderr base_check overflow
	[[ "$stderr" == "base_check: memory: "*"too large" ]]
}
