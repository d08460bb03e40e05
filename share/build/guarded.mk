# guarded.mk - programs that die if code outside of lib/nn touches memory of the kernels (tests/guarded/guard.h)
GUARD   := $B/tests/guarded/memory.o $B/tests/guarded/wraps.o
# for the CPU, without the sanitizers, which protect memory in their own way
TESTED  += $(if $(CUDA)$(SANITIZE)$(FUZZ)$(filter any,$(ARCH)),,$(patsubst %,$B/guarded/%,bin/encode bin/near bin/train bin/upcycle support/seam_check))

## guarded   programs that die if the host touches memory of the kernels: tests/run build/cpu/guarded tests/train.bats
guarded: $(TOOLS:%=$B/guarded/bin/%) $(HELPERS:%=$B/guarded/support/%)

$B/guarded/bin/%: $B/tools/%.o $(GUARD) $B/libmotes.a
	$(call link,@$B/tests/guarded/options)
$B/guarded/support/%: $B/tests/support/%.o $(GUARD) $B/libmotes.a
	$(call link,@$B/tests/guarded/options)
$B/tests/guarded/wraps.c: tests/guarded/wraps.awk lib/nn/nn.h
	@mkdir -p $(@D)
	awk -v options=$(@D)/options -f $^ >$@
$B/tests/guarded/wraps.o: own_cppflags += -iquote tests/guarded
.PHONY: guarded
