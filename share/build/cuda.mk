# cuda.mk - CUDA=1: programs that compute on a GPU, in build/cuda; make kernels: only the kernels of a backend
# the compute capabilities to compile for; a newer GPU compiles the last one's PTX
SM       = 80 90
NVCC     = nvcc
GENCODE  = $(foreach sm,$(SM),-gencode arch=compute_$(sm)$(,)code=sm_$(sm)) -gencode arch=compute_$(lastword $(SM))$(,)code=compute_$(lastword $(SM))
NVFLAGS  = -std=c++17 -O3 -lineinfo $(GENCODE) $(if $(WERROR),-Werror all-warnings) -Xcompiler -Wall$(,)-Wextra
CUDAHOME = $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v $(NVCC))))
CUDALIBS = -L$(CUDAHOME)/lib64 -Wl,-rpath,$(CUDAHOME)/lib64 -lcublasLt -lcudart -lstdc++
$(if $(CUDA),$(if $(shell command -v $(NVCC)),,$(error there is no $(NVCC), the compiler of the CUDA toolkit; build without CUDA=1)))

$B/%.o: %.cu Makefile share/build/cuda.mk $B/flags | $(DEPS)
	@mkdir -p $(@D)
	$(NVCC) -I lib $(NVFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# instructions of this chip only
$B/lib/nn/cuda/%_hopper.o: GENCODE = -gencode arch=compute_90a$(,)code=sm_90a

## kernels   compile only the kernels (CUDA=1: by nvcc, for all of SM; takes minutes and needs no device)
kernels: $(KERNELS)

# tests/cuda.bats compares a device with build/cpu
processors:
	+$(MAKE) CUDA= all build/cpu/support/pairs_stream
TESTED  += $(if $(CUDA),processors $B/support/nn_bench_device)
.PHONY: kernels processors
