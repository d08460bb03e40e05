# fuzz.mk - FUZZ=1: the programs of tests/fuzz; each feeds damaged files to one reader by libFuzzer
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_cflags = $(if $(FUZZ),-fsanitize=fuzzer-no-link -Wno-pass-failed)

## fuzz      feed damaged files to the readers, FUZZ_SECONDS=60 each (share/deps fuzz)
fuzz: all helpers
	tests/fuzz/run $B

fuzzers: $(FUZZERS:%=$B/fuzz/%)

# the harness defines the functions of lib/base/err.c, so the linker does not take that file
$B/tests/fuzz/harness.o: own_cflags += -fno-sanitize=fuzzer-no-link,undefined
$B/fuzz/%: $B/tests/fuzz/fuzz_%.o $B/tests/fuzz/harness.o $B/libmotes.a
	$(call link,-fsanitize=fuzzer -Wl$(,)--wrap=mmap$(,)--wrap=munmap$(,)--wrap=fopen$(,)--wrap=fclose)
.PHONY: fuzz fuzzers
