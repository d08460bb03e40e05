# sanitize.mk - SANITIZE=1: AddressSanitizer and UBSan, in build/cpu-sanitize; FUZZ=1 has them too
sanitizer_cflags = $(if $(SANITIZE)$(FUZZ),-fsanitize=address$(,)undefined -fno-sanitize-recover=all)
# programs of tests spend their time in the loops that define the results: no UBSan there, and -O2
$B/tests/support/%.o: own_cflags += $(if $(SANITIZE),-O2 -fno-sanitize=undefined)
# ASan finds a null pointer, too; UBSan's check of alignment stays, because a GPU stops where the processor does not
$B/shim/lib/nn/cuda/%.o: own_cflags += $(if $(SANITIZE),-fno-sanitize=null$(,)pointer-overflow)
