# shim.mk - the CUDA kernels on the processor: compiled as C++, with the headers of tests/cuda instead of the toolkit's
SHIM    := $(patsubst %,$B/shim/%.o,$(basename $(wildcard lib/nn/host/*.c lib/nn/cuda/*.cu tests/cuda/*.cpp)))
SHIMMED := $(if $(CUDA)$(FUZZ)$(CROSS)$(filter any,$(ARCH)),,$(addprefix $B/shim/,bin/encode bin/near bin/train $(patsubst %,support/%,\
           nn_check nn_check_tokens nn_check_sizes nn_check_real mixture_check attention_check bf16_check int8_check linear_check packed_check pieces_check rounded_check grouped_check hopper_check nn_bench_device)))
# the sanitizers see kernels that changed (tests/shim.bats); a minute of compiling
TESTED  += $(if $(if $(SANITIZE),$(shell tests/kernels_changed || echo unchanged)),,$(SHIMMED))
# gcc 12 makes one load of a float4's and of four floats' loads and takes it for aligned
SHIMFLAGS := $(if $(filter clang,$(COMPILER)),,-fno-tree-slp-vectorize -fno-var-tracking)
# -O3 takes half as long again to compile, with the sanitizers -O1 twice as long, and the fibers run no faster with it
SHIMFLAGS += $(if $(SANITIZE),-Og,-O2 -g1)

$B/shim/%.o: %.cu Makefile share/build/shim.mk $B/flags | $(DEPS)
	@mkdir -p $(@D)
	$(CCACHE) $(CXX) -iquote tests/cuda -I tests/cuda $(PREPROCESS) $(COMPILE_CXX) -Wno-unknown-pragmas -Wno-pass-failed $(SHIMFLAGS) -MMD -MP -x c++ -c -o $@ $<
$B/shim/tests/cuda/%.o: tests/cuda/%.cpp Makefile share/build/shim.mk $B/flags | $(DEPS)
	@mkdir -p $(@D)
	$(CCACHE) $(CXX) -I tests/cuda $(PREPROCESS) $(COMPILE_CXX) -O3 -MMD -MP -c -o $@ $<
$B/shim/lib/nn/host/%.o: $B/lib/nn/host/%.o
	@mkdir -p $(@D)
	cp $< $@
$B/shim/bin/%: $B/tools/%.o $(SHIM) $B/libmotes.a
	@mkdir -p $(@D)
	$(CXX) $(COMPILE_CXX) $(LINK) -o $@ $^ $(LDLIBS)
$B/shim/support/nn_bench_device: $B/shim/tests/support/nn_bench_device.o $(SHIM) $B/libmotes.a
	@mkdir -p $(@D)
	$(CXX) $(COMPILE_CXX) $(LINK) -o $@ $^ $(LDLIBS)
$B/shim/support/%: $B/tests/support/%.o $(SHIM) $B/libmotes.a
	@mkdir -p $(@D)
	$(CXX) $(COMPILE_CXX) $(LINK) -o $@ $^ $(LDLIBS)
