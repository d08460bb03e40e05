# any.mk - ARCH=any: on x86-64 the kernels are compiled for each level, with the level's name after theirs, and called
# through the table of lib/nn/dispatch.c.  On other machines they are compiled once, without -march.
ISAS    := $(if $(filter any,$(ARCH)),$(if $(filter x86_64,$(MACHINE)),x86-64 x86-64-v3 x86-64-v4))
KERNEL_OBJECTS := $(if $(ISAS),$(ISAS:%=$B/kernels-%.o) $B/lib/nn/dispatch.o,$(KERNELS))

# at -O3 gcc takes two minutes for product.c with SSE2 alone
define kernels_of
$B/$1/%.o: march := -march=$1$(if $(filter x86-64,$1), -O2,$(if $(QUICK), -O3))
$B/$1/%.o: %.c Makefile share/build/any.mk $B/flags | $(DEPS)
	$$(compile)
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
# by default gcc uses 256 of AVX-512's 512 bits; at -O1, for the sanitizers, it keeps almost nothing in registers; UBSan's
# checks of pointers take as long as ASan's checks of accesses
$B/lib/nn/%.o $(ISAS:%=$B/%/lib/nn/%.o): own_cppflags += $(if $(QUICK),-DQUICK)
$B/lib/nn/%.o $(ISAS:%=$B/%/lib/nn/%.o): own_cflags += $(if $(filter x86_64,$(MACHINE)),-mprefer-vector-width=512) \
	$(if $(SANITIZE),-O2 -fno-sanitize=null$(,)alignment$(,)pointer-overflow)

# for the tests: all but the kernels at -O0 and without -g, which takes a third of the time; in its own folder
any:
	+@$(MAKE) --no-print-directory ARCH=any QUICK=1 B=build/cpu-any-quick all
TESTED  += $(if $(filter build/cpu,$B),$(if $(filter x86_64-%,$(MAKE_HOST)),any))
.PHONY: any
