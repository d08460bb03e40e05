# sanitize.mk - SANITIZE=1: AddressSanitizer and UBSan, in build/cpu-sanitize; FUZZ=1 has them as well
sanitizer_cflags = $(if $(SANITIZE)$(FUZZ),-fsanitize=address$(,)undefined -fno-sanitize-recover=all)
# the tests' programs spend their time in plain reference loops: -O2 without UBSan
$B/tests/support/%.o: own_cflags += $(if $(SANITIZE),-O2 -fno-sanitize=undefined)
# ASan finds null pointers; UBSan's check of alignment stays, because a GPU needs alignment that a CPU does not
$B/shim/lib/nn/cuda/%.o: own_cflags += $(if $(SANITIZE),-fno-sanitize=null$(,)pointer-overflow)
