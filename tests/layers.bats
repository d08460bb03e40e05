#!/usr/bin/env bats
load helper

@test "layers: every file includes only its own header, lower floors and listed pairs" {
	run -0 "$ROOT/tests/support/layers" "$ROOT/lib"
	[ -z "$output" ]
}

@test "layers: an upward include and a breached wall are seen" {
	mkdir "$T/lib"
	printf '0 low\n1 high\n' >"$T/lib/LAYERS"
	printf '#include "high.h"\n#include <zstd.h>\n' >"$T/lib/low.c"
	printf '#include "low.h"\n' >"$T/lib/high.c"
	run -1 "$ROOT/tests/support/layers" "$T/lib"
	[ "${lines[0]}" = "low.c: includes high.h, which is not on a lower floor" ]
	[ "${lines[1]}" = "low.c: may not include <zstd>" ]
}
