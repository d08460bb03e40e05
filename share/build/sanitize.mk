# sanitize.mk - SANITIZE=1: AddressSanitizer and UBSan, in build/cpu-sanitize; FUZZ=1 has them too
sanitizer_cflags = $(if $(SANITIZE)$(FUZZ),-fsanitize=address$(,)undefined -fno-sanitize-recover=all)
