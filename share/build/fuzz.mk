# fuzz.mk - FUZZ=1: the programs of tests/fuzz, each of which gives damaged files to one reader, with libFuzzer
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_cflags = $(if $(FUZZ),-fsanitize=fuzzer-no-link -Wno-pass-failed)

## fuzz      throw damaged files at the readers, FUZZ_SECONDS=60 each (share/deps fuzz)
fuzz: all helpers
	tests/fuzz/run $B

fuzzers: $(FUZZERS:%=$B/fuzz/%)

# the harness defines the functions of lib/base/err.c, so that the linker leaves that file in the library
$B/tests/fuzz/harness.o: own_cflags += -fno-sanitize=fuzzer-no-link,undefined
$B/fuzz/%: $B/tests/fuzz/fuzz_%.o $B/tests/fuzz/harness.o $B/libmotes.a
	$(call link,-fsanitize=fuzzer -Wl$(,)--wrap=mmap$(,)--wrap=munmap$(,)--wrap=fopen$(,)--wrap=fclose)
.PHONY: fuzz fuzzers
