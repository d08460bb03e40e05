#!/usr/bin/env bats
# bats file_tags=plain
load helper

check() {
	run -0 mixture_check "$1"
	[ -z "$output" ]
}

@test "mixture: token experts agree with plain loops, their gradients with central differences" { check mixture; }
@test "mixture: a token has the same bits alone and in every batch, with its activations kept or computed again" { check bits; }
@test "mixture: grouped products of many experts equal the products of each expert" {
	run -0 grouped_check
	[ -z "$output" ]
}
@test "mixture: shared experts agree with plain loops, forward and backward" { check share; }

@test "block: the backward pass is the gradient of the forward pass, with post-norm and pre-norm" {
	for where in after before; do
		run -0 block_check $where
		[ -z "$output" ]
	done
}
