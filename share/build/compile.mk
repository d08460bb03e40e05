# compile.mk - the flags of the compiler and the linker, and the recipes that call them
#	$(compile), $(link), $(call link,OPTIONS): recipes
#	own_cppflags, own_cflags, own_ldflags: our flags, to which a target may add; CPPFLAGS, CFLAGS and LDFLAGS of the user follow them
#	march: the processor of a kernel that is compiled several times; it wins over the user's flags
,       := ,
WARN     = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wvla -Wwrite-strings $(if $(WERROR),-Werror)
# asked when the first file is compiled and then remembered: `make deps` may just have installed the compiler
MACHINE  = $(eval MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine))))$(MACHINE)
BLAS     = $(eval BLAS := $(patsubst $(SYSROOT)%,%,$(shell ls -d $(SYSROOT)/usr/lib/$(MACHINE)-*/openblas-openmp)))$(BLAS)
# where deps is a goal, everything waits for it under -j
DEPS    := $(filter deps,$(MAKECMDGOALS))
march    =
own_cppflags = -D_GNU_SOURCE -iquote lib $(patsubst /usr/lib/%,-I$(SYSROOT)/usr/include/%,$(BLAS))
# on Zen 2 and 3 gcc would split what it takes for a chain of multiply-adds: slower, and other bits
FUSE     = $(if $(filter clang,$(COMPILER)),,--param=avoid-fma-max-bits=0)
# the sanitizers' reports take lines and functions; more of -g is a fifth of the time that compiling them takes
own_cflags = -std=c11 $(if $(QUICK),-O0,$(if $(SANITIZE)$(FUZZ),-O1 -g1,-O3 -g)) $(addprefix --sysroot=,$(SYSROOT)) $(if $(CROSS),,$(patsubst -march=any,,-march=$(ARCH))) -fopenmp \
           -fno-math-errno -fno-trapping-math -ffp-contract=fast $(FUSE) $(WARN) $(sanitizer_cflags) $(fuzz_cflags)
# the linker finds OpenBLAS by its full path here; a program for other machines takes the OpenBLAS that they have
# a sanitized process starts in a tenth less time where its tables need no relocation
own_ldflags = $(if $(SANITIZE),-no-pie) $(addprefix -L$(SYSROOT),$(BLAS)) $(if $(filter any,$(ARCH)),,$(addprefix -Wl$(,)-rpath$(,),$(BLAS))) -Wl,--as-needed
LDLIBS   = $(if $(CUDA),$(CUDALIBS)) -lopenblas -llbfgs -lzstd -lz -llzma -lbz2 -lyaml -lutf8proc -lonig -lxxhash -lm
PREPROCESS = $(own_cppflags) $(CPPFLAGS)
COMPILE  = $(own_cflags) $(CFLAGS) $(march)
LINK     = $(own_ldflags) $(LDFLAGS)
# C++ has no such warnings as three of ours, and lets a structure and a function have one name
CXX     := $(patsubst %clang,%clang++,$(patsubst %cc,%c++,$(patsubst %gcc,%g++,$(CC:%-$(VERSION)=%))))$(VERSION:%=-%)
COMPILE_CXX = $(patsubst -std=c11,-std=c++17,$(filter-out -Wshadow -Wstrict-prototypes -Wmissing-prototypes,$(COMPILE)))
# a checksum of the processor, which decides what -march=native means; ccache does not see that by itself
NATIVE  := $(if $(filter native,$(ARCH)),$(firstword $(shell grep -E '^(model|cpu family|flags|Features|CPU part)' /proc/cpuinfo 2>/dev/null | sort -u | cksum)))
CCACHE   = $(eval CCACHE := $(if $(findstring ccache,$(CC)),,$(if $(shell command -v ccache),CCACHE_NAMESPACE=motes$(NATIVE) ccache)))$(CCACHE)

define compile
@mkdir -p $(@D)
$(CCACHE) $(CC) $(PREPROCESS) $(COMPILE) -MMD -MP -c -o $@ $<
endef
define link
@mkdir -p $(@D)
$(CC) $(COMPILE) $1 $(LINK) -o $@ $^ $(LDLIBS)
endef

# $B/flags changes, and everything is compiled again, when the compiler, its flags or the processor differ from the last
# build's.  A folder given by B= on the command line is not compared.
FLAGS   := $(strip $(CC) $(COMPILE) $(CPPFLAGS) $(NATIVE) $(if $(CUDA),$(NVCC) $(NVFLAGS)))
$B/flags: $(if $(filter file,$(origin B)),$(if $(subst x$(FLAGS),,x$(file <$B/flags)),FORCE))
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@
