# Makefile - build, check and install motes.  Start with: make help
# The settings below are given on the command line: make CC=clang SANITIZE=1 check.  share/build/*.mk have the flags and the variants
# of the build; a variant adds its programs to PROGRAMS, which `make all` builds, and to TESTED, which the tests need.
MAKEFLAGS   += --no-builtin-rules
SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

# the C compiler; CC=aarch64-linux-gnu-gcc cross-compiles
CC       = gcc
# the root of the target's headers and libraries, for a cross compiler; empty: Debian's own
SYSROOT  =
# gcc's -march=; any: programs with kernels for every x86-64 level, chosen at the start (any.mk)
ARCH     = native
# 1: a build with AddressSanitizer and UBSan (sanitize.mk)
SANITIZE =
# 1: a build for libFuzzer, with clang (fuzz.mk)
FUZZ     =
# 1: programs that compute on a GPU; needs the CUDA toolkit (cuda.mk, motes-cuda(7))
CUDA     =
# 1: train with MPI, which make install then installs (mpi.mk)
MPI      =
# 1: warnings are errors, as in .ci/run
WERROR  ?=
PREFIX   = /usr/local

# CC without its folder and version, and the prefix of a cross compiler
COMPILER := $(notdir $(lastword $(CC)))
VERSION  := $(filter 1% 2% 3% 4% 5% 6% 7% 8% 9%,$(lastword $(subst -, ,$(COMPILER))))
COMPILER := $(if $(VERSION),$(COMPILER:%-$(VERSION)=%),$(COMPILER))
CROSS    := $(patsubst %-gcc,%,$(filter %-gcc,$(COMPILER)))
BACKEND  := $(if $(CUDA),cuda,cpu)
B        := build/$(BACKEND)$(addprefix -,$(CROSS))$(if $(SANITIZE),-sanitize)$(if $(FUZZ),-fuzz)$(if $(filter clang,$(COMPILER)),-clang)$(if $(filter any,$(ARCH)),-any)

# on_path NAME: its path, found without a shell, since every start of make uses it
on_path  = $(wildcard $(addsuffix /$1,$(subst :, ,$(PATH))))

# each .c file of tools/ is a program, of tests/support/ a program of the tests, of lib/ a part of the library
TOOLS    := $(patsubst tools/%.c,%,$(wildcard tools/*.c))
HELPERS  := $(filter-out $(if $(CUDA),nn_check_cpu,hopper_check),$(patsubst tests/support/%.c,%,$(wildcard tests/support/*.c)))
KERNELS  := $(patsubst %,$B/%.o,$(basename $(wildcard lib/nn/host/*.c lib/nn/$(BACKEND)/*.c lib/nn/$(BACKEND)/*.cu)))
PROGRAMS := $(TOOLS:%=$B/bin/%)
TESTED   := $(HELPERS:%=$B/support/%)
# the folder of the programs, for pipelines
X        := $B/bin
-include pipelines/common.mk
include $(patsubst %,share/build/%.mk,compile install develop cuda mpi any guarded shim fuzz sanitize)

LIBRARY  := $(patsubst %.c,$B/%.o,$(filter-out lib/nn/% lib/ranks/mpi.c,$(wildcard lib/*/*.c lib/*/*/*.c))) $(KERNEL_OBJECTS)

## deps      install the Debian packages that build, demo and tests need
deps:
	@share/deps

## all       build every program into build/cpu/bin
all: $(PROGRAMS)

$B/bin/%: $B/tools/%.o $B/libmotes.a
	$(link)
$B/support/%: $B/tests/support/%.o $B/libmotes.a
	$(link)
$B/libmotes.a: $(LIBRARY)
	@rm -f $@
	$(CROSS:%=%-)ar rcsP $@ $^
$B/%.o: %.c Makefile share/build/compile.mk $B/flags | $(DEPS)
	$(compile)
$B/%.o: $B/%.c share/build/compile.mk $B/flags | $(DEPS)
	$(compile)

# the tests' programs that need neither a GPU nor a stand-in for one
helpers: $(HELPERS:%=$B/support/%)
tested: all $(TESTED)

## check     run the tests, all or TESTS=, against this build (SANITIZE=1: under ASan and UBSan; CUDA=1: those for a device)
# of two `make check` in one folder one builds after the other; their tests run at the same time
check: | $(DEPS)
	+@mkdir -p $B && flock $B $(MAKE) --no-print-directory tested
	tests/run $B $(or $(TESTS),$(if $(CUDA),tests/cuda.bats))

## clean     remove build/ (results stay in out/)
clean:
	rm -rf build

## help      this list
help:
	@awk 'FILENAME ~ /^pipelines/ && !n++ { print "" } /^## / { printf "%-17s", $$2; sub(/^## [^ ]+ +/, ""); print }' \
		Makefile $(filter share/build/%,$(MAKEFILE_LIST)) $(wildcard pipelines/*.mk)

include $(wildcard pipelines/tables.mk) $(filter-out %/common.mk %/tables.mk,$(wildcard pipelines/*.mk))
-include $(wildcard $(addprefix $B/,*/*.d */*/*.d */*/*/*.d */*/*/*/*.d))
.PHONY: FORCE deps all helpers tested check clean help
