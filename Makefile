# Makefile - build, check and install motes.  Start with: make help
MAKEFLAGS   += --no-builtin-rules
SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SECONDARY:

CC       = gcc
# any: one program for every processor of a kind, with the kernels for each beside each other
ARCH     = native
# where a cross compiler, CC=aarch64-linux-gnu-gcc, finds headers and libraries; nothing: where Debian installs them
SYSROOT  =
SANITIZE =
FUZZ     =
# 1: build/cuda, programs that compute on a GPU; needs the CUDA toolkit (motes-cuda(7))
CUDA     =
# 1: build/cpu/mpi/bin/train learns with others, which install then takes (share/deps mpi)
MPI      =
# 1: a warning is an error, as in .ci/run
WERROR  ?=
PREFIX   = /usr/local
BACKEND := $(if $(CUDA),cuda,cpu)
# gcc, gcc-12, aarch64-linux-gnu-gcc: without folder and version
COMPILER := $(shell basename "$(lastword $(CC))" | sed 's/-[0-9.]*$$//')
CROSS   := $(patsubst %-gcc,%,$(filter %-gcc,$(COMPILER)))
B       := build/$(BACKEND)$(addprefix -,$(CROSS))$(if $(SANITIZE),-sanitize)$(if $(FUZZ),-fuzz)$(if $(filter clang,$(COMPILER)),-clang)$(if $(filter any,$(ARCH)),-any)

WARN     = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wvla -Wwrite-strings $(if $(WERROR),-Werror)
# asked once, and when compiling: deps may just have put it there
MACHINE  = $(eval MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine))))$(MACHINE)
BLAS     = $(eval BLAS := $(patsubst $(SYSROOT)%,%,$(shell ls -d $(SYSROOT)/usr/lib/$(MACHINE)-*/openblas-openmp)))$(BLAS)
# under -j everything waits for deps where it is among the goals
DEPS    := $(filter deps,$(MAKECMDGOALS))
# CPPFLAGS, CFLAGS and LDFLAGS of the environment or the command line come behind ours
PREPROCESS = $(own_cppflags) $(CPPFLAGS)
COMPILE  = $(own_cflags) $(CFLAGS) $(march)
LINK     = $(own_ldflags) $(LDFLAGS)
# of kernels that are compiled once for each kind of processor
march    =
own_cppflags = -D_GNU_SOURCE -iquote lib $(patsubst /usr/lib/%,-I$(SYSROOT)/usr/include/%,$(BLAS))
# gcc would not fuse what it takes for a chain of multiply-adds on Zen 2 and 3: other bits, and slower
FUSE     = $(if $(filter clang,$(COMPILER)),,--param=avoid-fma-max-bits=0)
own_cflags = -std=c11 $(if $(SANITIZE)$(FUZZ),-O1,-O3) -g $(addprefix --sysroot=,$(SYSROOT)) $(if $(CROSS),,$(patsubst -march=any,,-march=$(ARCH))) -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=fast $(FUSE) \
           $(WARN) $(if $(SANITIZE)$(FUZZ),-fsanitize=address$(,)undefined -fno-sanitize-recover=all) \
           $(if $(FUZZ),-fsanitize=fuzzer-no-link -Wno-pass-failed)
# a program for any processor goes elsewhere, where the system says which OpenBLAS there is
own_ldflags = $(addprefix -L$(SYSROOT),$(BLAS)) $(if $(filter any,$(ARCH)),,$(addprefix -Wl$(,)-rpath$(,),$(BLAS))) -Wl,--as-needed
LDLIBS   = $(if $(CUDA),$(CUDALIBS)) -lopenblas -llbfgs -lzstd -lz -llzma -lbz2 -lyaml -lutf8proc -lonig -lxxhash -lm
,       := ,
CXX     := $(shell echo '$(CC)' | sed -E 's/clang(-[0-9.]+)?$$/clang++\1/; t; s/gcc(-[0-9.]+)?$$/g++\1/; t; s/cc$$/c++/')
# a structure and a function of C may have one name
COMPILE_CXX = $(patsubst -std=c11,-std=c++17,$(filter-out -Wshadow -Wstrict-prototypes -Wmissing-prototypes,$(COMPILE)))
# the processor, which decides what -march=native means
NATIVE  := $(if $(filter native,$(ARCH)),$(firstword $(shell grep -E '^(model|cpu family|flags|Features|CPU part)' /proc/cpuinfo 2>/dev/null | sort -u | cksum)))
# compiles where it is installed; it does not see by itself that another processor is another -march=native
CCACHE   = $(eval CCACHE := $(if $(findstring ccache,$(CC)),,$(if $(shell command -v ccache),CCACHE_NAMESPACE=motes$(NATIVE) ccache)))$(CCACHE)
# the GPUs that programs have code for; what is newer than all of them makes its own of the last
SM       = 80 90
NVCC     = nvcc
NVFLAGS  = -std=c++17 -O3 -lineinfo $(foreach sm,$(SM),-gencode arch=compute_$(sm)$(,)code=sm_$(sm)) -gencode arch=compute_$(lastword $(SM))$(,)code=compute_$(lastword $(SM)) \
           $(if $(WERROR),-Werror all-warnings) -Xcompiler -Wall$(,)-Wextra
CUDAHOME = $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v $(NVCC))))
CUDALIBS = -L$(CUDAHOME)/lib64 -Wl,-rpath,$(CUDAHOME)/lib64 -lcublasLt -lcudart -lstdc++

$(if $(CUDA),$(if $(shell command -v $(NVCC)),,$(error there is no $(NVCC), the compiler of the CUDA toolkit; build without CUDA=1)))
$(if $(MPI),$(if $(shell command -v mpicc),,$(error there is no mpicc; share/deps mpi installs it)))

TOOLS   := $(patsubst tools/%.c,%,$(wildcard tools/*.c))
# of the processor's kernels alone is nn_check_cpu
HELPERS := $(filter-out $(if $(CUDA),nn_check_cpu),$(patsubst tests/support/%.c,%,$(wildcard tests/support/*.c)))
# of one processor's kernels, without the sanitizers' own walls
GUARDED := $(if $(CUDA)$(SANITIZE)$(FUZZ)$(filter any,$(ARCH)),,$(addprefix bin/,encode near train upcycle) support/seam_check)
# without the sanitizers, which take MPI's memory for leaks
RANKED  := $(if $(SANITIZE)$(FUZZ)$(CROSS),,bin/train)
# those that a GPU's kernels are tried with on the processor
SHIMMED := $(if $(CUDA)$(FUZZ)$(CROSS)$(filter any,$(ARCH)),,$(addprefix bin/,encode near train) $(addprefix support/,nn_check nn_check_tokens nn_check_sizes nn_check_real mixture_check attention_check int8_check linear_check packed_check pieces_check rounded_check stretches_check))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
KERNELS := $(patsubst %,$B/%.o,$(basename $(wildcard lib/nn/host/*.c lib/nn/$(BACKEND)/*.c lib/nn/$(BACKEND)/*.cu)))
ISAS    := $(if $(filter any,$(ARCH)),$(if $(filter x86_64,$(MACHINE)),x86-64 x86-64-v3 x86-64-v4))
LIBOBJ  := $(patsubst %.c,$B/%.o,$(filter-out lib/nn/% lib/ranks/mpi.c,$(wildcard lib/*/*.c lib/*/*/*.c))) \
           $(if $(ISAS),$(ISAS:%=$B/kernels-%.o) $B/lib/nn/dispatch.o,$(KERNELS)) $B/families.o
PAGES   := $(wildcard man/*.[1-8])
# where bash-completion and zsh look
BASH_COMPLETION = share/bash-completion/completions
ZSH_COMPLETION  = share/zsh/site-functions
# the models that install takes
SHIPPED = $(wildcard share/models/*)
# the folders that install made
MADE    = $(DESTDIR)$(PREFIX)/share/motes/folders
FOLDERS = bin share/man/man1 share/man/man5 share/man/man7 $(BASH_COMPLETION) $(ZSH_COMPLETION)
-include pipelines/common.mk

## all       build every program into build/cpu/bin
all: $(TOOLS:%=$B/bin/%) $(if $(MPI),$(RANKED:%=$B/mpi/%))

# what the objects are compiled with: other compilers, flags or processors than the last time's compile them anew, but
# who names the folder B takes it as it is
FLAGS   := $(strip $(CC) $(COMPILE) $(CPPFLAGS) $(NATIVE) $(if $(CUDA),$(NVCC) $(NVFLAGS)))
$B/flags: $(if $(filter file,$(origin B)),$(if $(subst x$(FLAGS),,x$(file <$B/flags)),FORCE))
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@

$B/bin/%: $B/tools/%.o $B/libmotes.a
	@mkdir -p $(@D)
	$(CC) $(COMPILE) $(LINK) -o $@ $^ $(LDLIBS)

$B/support/%: $B/tests/support/%.o $B/libmotes.a
	@mkdir -p $(@D)
	$(CC) $(COMPILE) $(LINK) -o $@ $^ $(LDLIBS)

# gcc would leave half of AVX-512's registers unused; with the sanitizers, at -O1, nearly all of them
$B/lib/nn/%.o $(ISAS:%=$B/%/lib/nn/%.o): own_cflags += $(if $(filter x86_64,$(MACHINE)),-mprefer-vector-width=512) $(if $(SANITIZE),-O2)

$B/lib/ranks/mpi.o: own_cppflags += $(shell mpicc --showme:compile)

$B/tests/fuzz/harness.o: own_cflags += -fno-sanitize=fuzzer-no-link,undefined
# the harness stands in for lib/base/err.c, which the linker then leaves in the library
$B/fuzz/%: $B/tests/fuzz/fuzz_%.o $B/tests/fuzz/harness.o $B/libmotes.a
	@mkdir -p $(@D)
	$(CC) $(COMPILE) -fsanitize=fuzzer -Wl,--wrap=mmap,--wrap=munmap $(LINK) -o $@ $^ $(LDLIBS)

# of many processes: what stands before the library takes the place of lib/ranks/alone.c in it
$B/mpi/bin/%: $B/tools/%.o $B/lib/ranks/mpi.o $B/libmotes.a
	@mkdir -p $(@D)
	$(CC) $(COMPILE) $(LINK) -o $@ $^ $(LDLIBS) $(shell mpicc --showme:link)

# on the processor, what CUDA=1 computes on a device: its kernels as C++, with tests/cuda in the place of the toolkit
# gcc 12 takes the load that it makes of a float4's and of four floats' for aligned
SHIMFLAGS := $(if $(filter clang,$(COMPILER)),,-fno-tree-slp-vectorize -fno-var-tracking)
SHIM    := $(patsubst %,$B/shim/%.o,$(basename $(wildcard lib/nn/host/*.c lib/nn/cuda/*.cu tests/cuda/*.cpp)))
$B/shim/lib/nn/cuda/%.o: lib/nn/cuda/%.cu Makefile $B/flags | $(DEPS)
	@mkdir -p $(@D)
	$(CCACHE) $(CXX) -iquote tests/cuda -I tests/cuda $(PREPROCESS) $(COMPILE_CXX) -Wno-unknown-pragmas -Wno-pass-failed $(SHIMFLAGS) -MMD -MP -x c++ -c -o $@ $<

$B/shim/tests/cuda/%.o: tests/cuda/%.cpp Makefile $B/flags | $(DEPS)
	@mkdir -p $(@D)
	$(CCACHE) $(CXX) -I tests/cuda $(PREPROCESS) $(COMPILE_CXX) -O3 -MMD -MP -c -o $@ $<

$B/shim/lib/nn/host/%.o: $B/lib/nn/host/%.o
	@mkdir -p $(@D)
	cp $< $@

$B/shim/bin/%: $B/tools/%.o $(SHIM) $B/libmotes.a
	@mkdir -p $(@D)
	$(CXX) $(COMPILE_CXX) $(LINK) -o $@ $^ $(LDLIBS)

$B/shim/support/%: $B/tests/support/%.o $(SHIM) $B/libmotes.a
	@mkdir -p $(@D)
	$(CXX) $(COMPILE_CXX) $(LINK) -o $@ $^ $(LDLIBS)

# behind walls: memory of the kernels where nobody else can touch it (tests/guarded/guard.h)
GUARD   := $B/tests/guarded/memory.o $B/tests/guarded/wraps.o
$B/guarded/bin/%: $B/tools/%.o $(GUARD) $B/libmotes.a
	@mkdir -p $(@D)
	$(CC) $(COMPILE) $(LINK) @$B/tests/guarded/options -o $@ $^ $(LDLIBS)

$B/guarded/support/%: $B/tests/support/%.o $(GUARD) $B/libmotes.a
	@mkdir -p $(@D)
	$(CC) $(COMPILE) $(LINK) @$B/tests/guarded/options -o $@ $^ $(LDLIBS)

$B/tests/guarded/wraps.c: tests/guarded/wraps.awk lib/nn/nn.h
	@mkdir -p $(@D)
	awk -v options=$(@D)/options -f $^ >$@

$B/tests/guarded/wraps.o: $B/tests/guarded/wraps.c | $(DEPS)
	$(CCACHE) $(CC) $(PREPROCESS) -iquote tests/guarded $(COMPILE) -MMD -MP -c -o $@ $<

$B/libmotes.a: $(LIBOBJ)
	@rm -f $@
	$(CROSS:%=%-)ar rcsP $@ $^

# the table of lib/model/spec.h, of what lib/model/family holds
$B/families.c: lib/model/family $(wildcard lib/model/family/*.c) Makefile
	@mkdir -p $(@D)
	sed -n 's/^const struct family \(family_[a-z0-9_]*\) =.*/\1/p' $(filter %.c,$^) | awk ' \
		BEGIN { print "#include \"model/spec.h\"" } \
		{ print "extern const struct family " $$1 ";"; all = all "&" $$1 ", " } \
		END { print "const struct family *const families[] = { " all "NULL };" }' >$@

$B/families.o: $B/families.c | $(DEPS)
	$(CCACHE) $(CC) $(PREPROCESS) $(COMPILE) -MMD -MP -c -o $@ $<

$B/%.o: %.c Makefile $B/flags | $(DEPS)
	@mkdir -p $(@D)
	$(CCACHE) $(CC) $(PREPROCESS) $(COMPILE) -MMD -MP -c -o $@ $<

$B/%.o: %.cu Makefile $B/flags | $(DEPS)
	@mkdir -p $(@D)
	$(NVCC) -I lib $(NVFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# at -O3 gcc takes two minutes over product.c for the processors that have but SSE2
# the kernels once for each kind of processor, their names followed by its number; the program calls them through a table
define kernels_of
$B/$1/%.o: march := -march=$1$(if $(filter x86-64,$1), -O2)
$B/$1/%.o: %.c Makefile $B/flags | $(DEPS)
	@mkdir -p $$(@D)
	$$(CCACHE) $$(CC) $$(PREPROCESS) $$(COMPILE) -MMD -MP -c -o $$@ $$<

$B/kernels-$1.o: $(KERNELS:$B/%=$B/$1/%)
	$$(CC) -r -nostdlib -o $$@.all $$^
	$(CROSS:%=%-)nm -g --defined-only $$@.all | awk '$$$$2 == "T" { print $$$$3, $$$$3 "_$(subst -,_,$1)" }' >$$@.names
	$(CROSS:%=%-)objcopy --redefine-syms=$$@.names $$@.all $$@
endef
$(foreach isa,$(ISAS),$(eval $(call kernels_of,$(isa))))

$B/kernels.inc: $(firstword $(ISAS:%=$B/kernels-%.o))
	awk '{ print "KERNEL(" $$1 ")" }' $<.names >$@
$B/lib/nn/dispatch.o: $B/kernels.inc
$B/lib/nn/dispatch.o: own_cppflags += -I$B

# what the tests run; programs for any processor are gcc's, and tested on x86-64
TESTED  := $(HELPERS:%=$B/support/%) $(GUARDED:%=$B/guarded/%) $(SHIMMED:%=$B/shim/%) \
           $(if $(shell command -v mpicc),$(RANKED:%=$B/mpi/%)) $(if $(CUDA),processors) \
           $(if $(filter build/cpu,$B),$(if $(filter x86_64,$(shell uname -m)),any))
tested: all $(TESTED)
any:
	+@$(MAKE) --no-print-directory ARCH=any B=build/cpu-any all
# what a device computes is held to what the processor does; all other tests are of build/cpu
processors:
	+$(MAKE) CUDA= all build/cpu/support/pairs_stream

## check     run the tests, all or TESTS=, against this build (SANITIZE=1: under ASan and UBSan; CUDA=1: those for a device)
# one at a time builds in a folder, whose tests may run several times beside each other
check: | $(DEPS)
	+@mkdir -p $B && flock $B $(MAKE) --no-print-directory tested
	tests/run $B $(or $(TESTS),$(if $(CUDA),tests/cuda.bats))

## kernels   compile the kernels alone (CUDA=1: by nvcc, for all of SM, which takes minutes and needs no device)
kernels: $(KERNELS)

## guarded   all programs with walls around the memory of the kernels, for tests/run build/cpu/guarded tests/train.bats
guarded: $(TOOLS:%=$B/guarded/bin/%) $(HELPERS:%=$B/guarded/support/%)

## mutate    change one thing at a time in FILES=, N=40 SEED=1: what does no test notice? (TESTS=a.bats,b.bats AGAIN=its output)
mutate:
	tests/mutate -n $(or $(N),40) -s $(or $(SEED),1) $(TESTS:%=-t %) $(AGAIN:%=-a %) $(FILES)

## fuzz      throw damaged files at the readers, FUZZ_SECONDS=60 each (share/deps fuzz)
fuzz: all $(HELPERS:%=$B/support/%)
	tests/fuzz/run $B

fuzzers: $(FUZZERS:%=$B/fuzz/%)

## bench-peers  put what bench times beside ours, from PyPI, into the virtual environment PEERS=dir (build/peers)
PEERS = build/peers
bench-peers:
	python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install -q torch transformers sentence-transformers mteb scikit-learn scipy peft safetensors onnx onnxruntime
	@echo 'now: make bench PEER_PYTHON=$(PEERS)/bin/python'

## bench     time the programs beside their peers (PEER_PYTHON=: a python that has them)
bench: all $(HELPERS:%=$B/support/%) $(TEXT)/corpus.txt
	tests/bench/run $B

## lint      layout, man pages, shell scripts
lint:
	tests/lint

## deps      install from Debian what build, demo and tests need and is missing
deps:
	@share/deps

## install   to PREFIX=/usr/local (DESTDIR honoured); uninstall takes it away again
install: all
	made=$$(LC_ALL=C install -dv $(addprefix $(DESTDIR)$(PREFIX)/,share/motes share/motes/models $(FOLDERS)) | \
		sed -n "s#^install: creating directory '$(DESTDIR)\(.*\)'#\1#p"); \
		[ -z "$$made" ] || echo "$$made" >>$(MADE)
	install $(TOOLS:%=$B/bin/%) $(if $(MPI),$(RANKED:%=$B/mpi/%)) $(DESTDIR)$(PREFIX)/bin
	$(foreach page,$(PAGES),install -m 644 $(page) $(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)));)
	sed -i 's#/usr/local/share#$(PREFIX)/share#' $(DESTDIR)$(PREFIX)/share/man/man7/motes-tutorial.7 $(DESTDIR)$(PREFIX)/share/man/man7/motes-cookbook.7
	cp -r $(wildcard pipelines share/recipes share/examples share/cluster share/python share/*.yaml share/*.tsv share/*.sh) $(DESTDIR)$(PREFIX)/share/motes
	$(if $(SHIPPED),cp -r $(SHIPPED) $(DESTDIR)$(PREFIX)/share/motes/models)
	sed 's/PROGRAMS/$(TOOLS)/' share/completion/motes.bash | tee $(TOOLS:%=$(DESTDIR)$(PREFIX)/$(BASH_COMPLETION)/%.bash) >/dev/null
	sed 's/PROGRAMS/$(TOOLS)/' share/completion/motes.zsh >$(DESTDIR)$(PREFIX)/$(ZSH_COMPLETION)/_motes

uninstall:
	made=$$(tac $(MADE) 2>/dev/null || true); \
	rm -f $(TOOLS:%=$(DESTDIR)$(PREFIX)/bin/%) \
		$(foreach page,$(PAGES),$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
		$(TOOLS:%=$(DESTDIR)$(PREFIX)/$(BASH_COMPLETION)/%.bash) $(DESTDIR)$(PREFIX)/$(ZSH_COMPLETION)/_motes; \
	rm -rf $(DESTDIR)$(PREFIX)/share/motes; \
	while IFS= read -r folder; do \
		[ -z "$$folder" -o ! -d "$(DESTDIR)$$folder" ] || \
			rmdir --ignore-fail-on-non-empty "$(DESTDIR)$$folder"; \
	done <<<"$$made"

## deb       a package of Debian's, build/motes_*.deb, of programs for every x86-64 (share/deps deb; DEB=dir for build)
deb:
	+share/deb $(DEB)

## clean     remove build/ (results stay in out/)
clean:
	rm -rf build

## help      this list
help:
	@sed -n 's/^## //p' Makefile $(wildcard pipelines/*.mk)

# programs as the pipelines call them: order-only prerequisites there
X       := $B/bin
include $(wildcard pipelines/tables.mk) $(filter-out %/common.mk %/tables.mk,$(wildcard pipelines/*.mk))
-include $(wildcard $(addprefix $B/,*/*.d */*/*.d */*/*/*.d */*/*/*/*.d))
.PHONY: FORCE all tested any check processors kernels guarded mutate fuzz fuzzers bench bench-peers lint deps install uninstall deb clean help
