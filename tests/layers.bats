#!/usr/bin/env bats
# bats file_tags=plain,unsanitized
load helper

@test "layers: a file includes headers of its own room, of the rooms above it, and of the libraries that LAYERS allows it" {
	run -0 "$ROOT/tests/support/layers" "$ROOT/lib"
	[ -z "$output" ]
}

@test "layers: no file includes <regex.h>; Oniguruma shadows its functions" {
	run ! grep -rn --include='*.[ch]' '#include <regex.h>' "$ROOT/lib" "$ROOT/tools" "$ROOT/tests"
}

@test "layers: a downward include, a forbidden library and a file without a room are reported" {
	mkdir -p "$T/lib/low/deep" "$T/lib/high" "$T/lib/other"
	printf 'low\tthe ground: all of it | zlib: pipe\nhigh\tthe rest\n' >"$T/lib/LAYERS"
	printf '#include "high/b.h"\n#include <zlib.h>\n' >"$T/lib/low/deep/a.c"
	printf '#include "low/a.h"\n#include "high/b.h"\n' >"$T/lib/high/b.c"
	printf '#include <zlib.h>\n' >"$T/lib/low/pipe.c"
	printf '#include <zlib.h>\n' >"$T/lib/high/pipe.c"
	touch "$T/lib/other/c.c" "$T/lib/d.h"
	run -1 "$ROOT/tests/support/layers" "$T/lib"
	diff - <(echo "$output") <<-END
		d.h: not in a room of LAYERS
		high/pipe.c: may not include <zlib.h>
		low/deep/a.c: includes high/b.h, which is not in its room or above
		low/deep/a.c: may not include <zlib.h>
		other/c.c: not in a room of LAYERS
	END
}
