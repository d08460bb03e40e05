# compile.mk - the flags of the compiler and the linker, and the recipes that call them
#	$(compile), $(link), $(call link,OPTIONS): recipes
#	own_cppflags, own_cflags, own_ldflags: our flags, to which targets add; the user's CPPFLAGS, CFLAGS and LDFLAGS follow them
#	march: the processor of a kernel that is compiled several times; it overrides the user's flags
,       := ,
WARN     = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wvla -Wwrite-strings $(if $(WERROR),-Werror)
# found out when the first file is compiled, since `make deps` may just have installed the compiler, and then kept
MACHINE  = $(eval MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine))))$(MACHINE)
BLAS     = $(eval BLAS := $(patsubst $(SYSROOT)%,%,$(shell ls -d $(SYSROOT)/usr/lib/$(MACHINE)-*/openblas-openmp)))$(BLAS)
# if deps is a goal, everything else waits for it under -j
DEPS    := $(filter deps,$(MAKECMDGOALS))
march    =
own_cppflags = -D_GNU_SOURCE -iquote lib $(patsubst /usr/lib/%,-I$(SYSROOT)/usr/include/%,$(BLAS))
# on Zen 2 and 3 gcc would split chains of multiply-adds, which is slower and gives other bits
FUSE     = $(if $(filter clang,$(COMPILER)),,--param=avoid-fma-max-bits=0)
# the sanitizers' reports need lines and functions; more of -g takes a fifth of the compile time
own_cflags = -std=c11 $(if $(QUICK),-O0,$(if $(SANITIZE)$(FUZZ),-O1 -g1,-O3 -g)) $(addprefix --sysroot=,$(SYSROOT)) $(if $(CROSS),,$(patsubst -march=any,,-march=$(ARCH))) -fopenmp \
           -fno-math-errno -fno-trapping-math -ffp-contract=fast $(FUSE) $(WARN) $(sanitizer_cflags) $(fuzz_cflags)
# programs for this machine link OpenBLAS by its full path; those for other machines use the OpenBLAS found there
# without position-independent code a sanitized process starts in a tenth less time
own_ldflags = $(if $(SANITIZE),-no-pie) $(addprefix -L$(SYSROOT),$(BLAS)) $(if $(filter any,$(ARCH)),,$(addprefix -Wl$(,)-rpath$(,),$(BLAS))) -Wl,--as-needed
LDLIBS   = $(if $(CUDA),$(CUDALIBS)) -lopenblas -llbfgs -lzstd -lz -llzma -lbz2 -lyaml -lutf8proc -lonig -lxxhash -lm
PREPROCESS = $(own_cppflags) $(CPPFLAGS)
COMPILE  = $(own_cflags) $(CFLAGS) $(march)
LINK     = $(own_ldflags) $(LDFLAGS)
# C++ lacks three of our warnings, and allows a structure and a function to share a name
CXX     := $(patsubst %clang,%clang++,$(patsubst %cc,%c++,$(patsubst %gcc,%g++,$(CC:%-$(VERSION)=%))))$(VERSION:%=-%)
COMPILE_CXX = $(patsubst -std=c11,-std=c++17,$(filter-out -Wshadow -Wstrict-prototypes -Wmissing-prototypes,$(COMPILE)))
# a checksum of the processor, on which -march=native depends; ccache does not see that
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

# $B/flags changes, so that everything is compiled again, if the compiler, the flags or the processor are not the last
# build's.  The flags of a folder given by B= are not compared.
FLAGS   := $(strip $(CC) $(COMPILE) $(CPPFLAGS) $(NATIVE) $(if $(CUDA),$(NVCC) $(NVFLAGS)))
$B/flags: $(if $(filter file,$(origin B)),$(if $(subst x$(FLAGS),,x$(file <$B/flags)),FORCE))
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@
