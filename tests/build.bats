#!/usr/bin/env bats
# bats file_tags=plain,unsanitized
load helper

# The Makefile: which files it compiles again, and with which flags. tests/run: its counts. Each test has its own folder.

OBJECT=build/cpu/lib/base/utf8.o

setup() {
	cd "$T" || return
	cp "$ROOT/Makefile" .
	ln -s "$ROOT"/{lib,tools,tests,share,pipelines,man} .
	unset MAKEFLAGS MFLAGS MAKEOVERRIDES
}

# up_to_date VARIABLE...: succeeds if make would compile nothing
up_to_date() {
	make -q "$OBJECT" "$@"
}

@test "build: another processor, other flags or another compiler compile everything again; the same ones compile nothing" {
	make -s "$OBJECT"
	up_to_date
	run ! up_to_date ARCH=x86-64-v2
	run ! up_to_date CFLAGS=-O0
	run ! up_to_date CPPFLAGS="-D_GNU_SOURCE -iquote lib -DX"
	run ! up_to_date CC=cc
	up_to_date # make -q changes no file
	make -s "$OBJECT" ARCH=x86-64-v2
	up_to_date ARCH=x86-64-v2
	run ! up_to_date
	# the build folder was made on another processor
	make -s "$OBJECT"
	sed -i 's/$/0/' build/cpu/flags
	run ! up_to_date
	# the flags of a folder given by B= are not compared
	make -s "$OBJECT"
	up_to_date B=build/cpu ARCH=x86-64-v2
}

@test "build: a distribution's flags follow ours; WERROR=1 makes warnings errors" {
	run -0 env CFLAGS="-O2 -fstack-protector-strong" CPPFLAGS=-D_FORTIFY_SOURCE=2 LDFLAGS=-Wl,-z,now make -n CCACHE= build/cpu/bin/tok
	compiled=$(grep -e '-c -o build/cpu/tools/tok.o' <<<"$output")
	[[ $compiled == *" -iquote lib "*" -D_FORTIFY_SOURCE=2 "*" -O3 "*" -Wall "*" -O2 -fstack-protector-strong "* ]]
	[[ $(grep -e '-o build/cpu/bin/tok ' <<<"$output") == *" -O2 -fstack-protector-strong "*" -Wl,--as-needed -Wl,-z,now -o "* ]]
	[[ $output != *-Werror* ]]
	run -0 make -n CCACHE= CFLAGS=-Og build/cpu/bin/tok
	[[ $output == *" -O3 "*" -Og "* ]]
	# CFLAGS do not change which processors a kernel is compiled for
	run -0 make -n CCACHE= ARCH=any CFLAGS="-O2 -march=x86-64" CC="gcc" B=build/any all
	if [[ $(uname -m) == x86_64 ]]; then
		grep -e 'x86-64-v4/lib/nn/.*\.o' <<<"$output" | grep -e ' -c ' >kernels
		[ -s kernels ]
		run ! grep -v -e '-march=x86-64 .*-march=x86-64-v4 ' kernels
	fi
	run -0 make -n CCACHE= WERROR=1 build/cpu/bin/tok
	[[ $output == *" -Werror "* ]]
	grep -q '^export WERROR=1' "$ROOT/.ci/run"
}

@test "build: every spelling of a compiler gets the flags that decide bits, and its own folder" {
	for compiler in gcc gcc-12 /usr/bin/gcc cc "ccache gcc" aarch64-linux-gnu-gcc-12; do
		run -0 make -n CC="$compiler" CCACHE= all
		[[ $output == *avoid-fma-max-bits* ]]
	done
	for compiler in clang clang-14 /usr/bin/clang; do
		run -0 make -n CC="$compiler" CCACHE= all
		[[ $output != *avoid-fma-max-bits* && $output == *build/cpu-clang/* && $output != *build/cpu/* ]]
	done
	run -0 make -n CC=aarch64-linux-gnu-gcc-12 CCACHE= all
	[[ $output == *build/cpu-aarch64-linux-gnu/* && $output == *aarch64-linux-gnu-ar* ]]
	# C++ compilers
	for compiler in gcc-12=g++-12 /opt/gcc/bin/gcc=/opt/gcc/bin/g++ "ccache clang-14=ccache clang++-14" cc=c++; do
		make -p -n CC="${compiler%=*}" help >printed 2>/dev/null || true
		grep -qx "CXX := ${compiler#*=}" printed
	done
}

@test "tests/run: counts passed, failed, skipped and broken tests, and lists the slowest files" {
	mkdir -p tree/tests
	cp "$ROOT/tests/run" tree/tests/
	printf '@test "one" { true; }\n@test "two" { skip; }\n' >tree/tests/a.bats
	printf '# slow\n@test "long" { sleep 1.2; }\n# bats test_tags=plain\n@test "tagged" { true; }\n' >tree/tests/b.bats
	printf '# alone\n@test "bad" { false; }\n' >tree/tests/c.bats
	run -1 tree/tests/run "$T"
	[ "${lines[-1]}" = "3 passed, 1 failed, 1 skipped" ]
	[[ $output == *$'seconds of the slowest files:\n'[0-9]' tests/b.bats'$'\n'* ]]
	run -0 tree/tests/run "$T" tests/a.bats tests/b.bats
	[ "${lines[-1]}" = "3 passed, 0 failed, 1 skipped" ]
	run -0 tree/tests/run "$T" -f 'one|long' tests/a.bats tests/b.bats
	[ "${lines[-1]}" = "2 passed, 0 failed" ]
	run -0 tree/tests/run "$T" --filter-tags plain
	[ "${lines[-1]}" = "1 passed, 0 failed" ]
	# a sanitized build leaves out tests tagged unsanitized, unless tags are given
	printf '# bats test_tags=plain,unsanitized\n@test "sources" { true; }\n' >>tree/tests/b.bats
	mkdir cpu-sanitize
	run -0 tree/tests/run "$T" tests/a.bats tests/b.bats
	[ "${lines[-1]}" = "4 passed, 0 failed, 1 skipped" ]
	run -0 tree/tests/run "$T/cpu-sanitize" tests/a.bats tests/b.bats
	[ "${lines[-1]}" = "3 passed, 0 failed, 1 skipped" ]
	run -0 tree/tests/run "$T/cpu-sanitize" --filter-tags plain
	[ "${lines[-1]}" = "2 passed, 0 failed" ]
	run -1 tree/tests/run "$T" tests/a.bats tests/none.bats
	[ "${lines[-1]}" = "1 passed, 1 failed, 1 skipped" ]
	echo '@test "cut" { exit' >tree/tests/d.bats
	run -1 tree/tests/run "$T" tests/d.bats tests/a.bats
	[[ ${lines[-1]} == "1 passed, "[1-9]" failed, 1 skipped" ]]
	run -2 tree/tests/run none
}
