# shim.mk - the CUDA kernels on the CPU: compiled as C++, with the headers of tests/cuda instead of the toolkit's
SHIM    := $(patsubst %,$B/shim/%.o,$(basename $(wildcard lib/nn/host/*.c lib/nn/cuda/*.cu tests/cuda/*.cpp)))
SHIMMED := $(if $(CUDA)$(FUZZ)$(CROSS)$(filter any,$(ARCH)),,$(addprefix $B/shim/,bin/encode bin/near bin/train $(patsubst %,support/%,\
           nn_check nn_check_tokens nn_check_sizes nn_check_real mixture_check attention_check bf16_check int8_check linear_check packed_check pieces_check rounded_check grouped_check hopper_check nn_bench_device)))
# the sanitizers test kernels only after a change (tests/shim.bats), since compiling them takes a minute
TESTED  += $(if $(if $(SANITIZE),$(shell tests/kernels_changed || echo unchanged)),,$(SHIMMED))
# gcc 12 would merge the loads of a float4 and of four floats into one load that it assumes to be aligned
SHIMFLAGS := $(if $(filter clang,$(COMPILER)),,-fno-tree-slp-vectorize -fno-var-tracking)
# -O3 takes half as long again to compile, -O1 with the sanitizers twice as long; neither makes the fibers run faster
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
