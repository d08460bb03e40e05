#!/usr/bin/env bats
# bats file_tags=plain
load helper

check() {
	run -0 nn_check "$1"
	[ -z "$output" ]
}
check_tokens() {
	run -0 nn_check_tokens "$1"
	[ -z "$output" ]
}
check_cpu() {
	run -0 nn_check_cpu "$1"
	[ -z "$output" ]
}

check_real() {
	run -0 nn_check_real "$1"
	[ -z "$output" ]
}

@test "nn: exp, 2^x, Phi and tanh are within their documented errors" { check_cpu functions; }
@test "nn: cross-entropy of a row of logits with NaN counts no hit" { check_cpu cross-entropy; }
@test "nn: AdamW's moments without a gradient become 0 and not subnormal" { check_cpu decay; }
@test "nn: a row has the same bits in every batch and with every number of threads" { check_cpu bits; }
@test "nn: attention with bf16 products agrees with plain loops, forward and backward, at every edge of a tile" {
	run -0 attention_check
	[ -z "$output" ]
}
@test "nn: matrix products and linear layers agree with plain loops, forward and backward" { check linear; check product; }
@test "nn: f16 and bf16 weights, read in place, give the bits of float32" {
	check half
	check_cpu widen
}
@test "nn: LayerNorm and RMSNorm agree with plain loops, forward and backward" { check norm; }
@test "nn: RMSNorm of heads in strided rows agrees with plain loops, forward and backward" { check heads; }
@test "nn: normalisation of rows to unit length agrees with plain loops, forward and backward" { check normalize; }
@test "nn: values and gradients of activations and GLU agree with plain loops; tanh as int8" { check activate; check int8; }
@test "nn: attention (causal, windows, grouped heads, relative positions) agrees with plain loops, forward and backward" { check attention; }
@test "nn: rotary positions agree with plain loops; the backward pass is the inverse rotation" { check_tokens rotary; }
@test "nn: embeddings, gather and scatter agree with plain loops" { check_tokens embed; }
@test "nn: every pooling, with and without prompts, agrees with plain loops, forward and backward" { check_tokens pool; }
@test "nn: softmax of rows, choice of experts, grouping and scaling of rows agree with plain loops" {
	run -0 mixture_check softmax routes rows
	[ -z "$output" ]
}
@test "nn: cross-entropy, its gradient, masks and hits agree with plain loops" { check_tokens loss; }
@test "nn: kernels agree with plain loops for rows of every length and for many rows" {
	run -0 nn_check_sizes
	[ -z "$output" ]
}
@test "nn: five steps of AdamW agree with plain loops" { check_tokens adamw; }
@test "nn: sums, scaling and tests for finite values agree with plain loops" { check_tokens vector; }

@test "nn: products of large weights, of many rows and of none, and of strided rows agree with plain loops" {
	run -0 pieces_check weights rows many nothing strides reach
	[ -z "$output" ]
}
@test "nn: products and linear layers at real sizes agree with plain loops, forward and backward" { check_real product; check_real linear; }
@test "nn: attention at real sizes agrees with plain loops, forward and backward" { check_real attention; }
@test "nn: at real sizes each row has the bits that it has alone" {
	check_real rows
	check_real pool
	check_real routes
}
@test "nn: sums over many rows and over long rows at real sizes agree with plain loops" {
	check_real parameters
	check_real tokens
	check_real vector
}
@test "nn: a buffer that grows is large enough, aligned, and kept while it suffices" { check_real memory; }

# 768 channels and 30,000 tokens: each run divides the batch, the products and the rows of a thread elsewhere.
@test "nn: a model of real width gives the same bits with 1 and 2 threads, in one batch and in two" {
	mkdir "$T/config"
	jq '.vocab_size = 30000 | .hidden_size = 768 | .num_hidden_layers = 1 | .num_attention_heads = 12 |
		.intermediate_size = 3072 | .max_position_embeddings = 512 | .torch_dtype = "bfloat16"' \
		"$GOLDEN/bert/config.json" >"$T/config/config.json"
	model_copy "$T/config" "$T/model" init 7
	seeded_awk 'BEGIN { srand(1); for (n = 1; n < 30; n++) {
		for (i = 0; i < n * n % 97 + 1; i++) printf "%d ", rand() * 30000; print "" } }' >"$T/ids.txt"
	ids_stream text.ids <"$T/ids.txt" >"$T/ids.mts"
	encode -j 1 -m "$T/model" "$T/ids.mts" | rows >"$T/one"
	[ "$(sort -u "$T/one" | wc -l)" = 29 ]
	encode -j 2 -m "$T/model" "$T/ids.mts" | rows | cmp - "$T/one"
	encode -j 2 --tokens 600 -m "$T/model" "$T/ids.mts" | rows | cmp - "$T/one"
	encode -j 1 --tokens 1 -m "$T/model" "$T/ids.mts" | rows | cmp - "$T/one"
}

@test "nn: CUDA=1 builds the kernels of lib/nn/cuda; without nvcc it fails with one line" {
	mkdir -p "$T/lib/nn/cpu" "$T/lib/nn/cuda" "$T/lib/nn/host" "$T/lib/base" "$T/lib/model/family"
	touch "$T/lib/nn/cpu/plain.c" "$T/lib/nn/host/both.c" "$T/lib/base/err.c" "$T/lib/nn/cuda/quick.cu"
	cp "$ROOT/Makefile" "$T"
	ln -s "$ROOT/share" "$T"
	cd "$T"
	unset MAKEFLAGS MFLAGS MAKELEVEL
	run -2 make CUDA=1 NVCC=no-such-compiler
	[ "${#lines[@]}" = 1 ] && [[ "$output" == *"there is no no-such-compiler, the compiler of the CUDA toolkit; build without CUDA=1"* ]]
	[ ! -e build ]
	run -0 make -n CUDA=1 NVCC=true build/cuda/libmotes.a
	[[ "$output" == *lib/nn/cuda/quick.cu* && "$output" == *lib/nn/host/both.c* ]]
	[[ "$output" == *lib/base/err.c* && "$output" != *plain.c* ]]
	run -0 make -n build/cpu/libmotes.a
	[[ "$output" != *quick.cu* && "$output" == *lib/nn/cpu/plain.c* && "$output" == *lib/nn/host/both.c* ]]
}

@test "nn: one restart corrects an OpenBLAS that mistakes the processor" {
	grep -q avx2 /proc/cpuinfo || skip "needs AVX2"
	readelf -h "$BUILD/support/nn_blas" | grep -c X86-64 || skip "for x86-64"
	run -0 env -u OPENBLAS_CORETYPE nn_blas
	[[ "$output" == *"OpenBLAS "@(SkylakeX|Cooperlake|Haswell|Zen|SapphireRapids)" kernels"* ]]
	! grep -q avx512vl /proc/cpuinfo || [[ "$output" != *@(Haswell|Zen)* ]]
	# the user's choice is kept
	run -0 env OPENBLAS_CORETYPE=Haswell nn_blas
	[[ "$output" == *"OpenBLAS Haswell kernels"* ]]
}

@test "nn: OpenBLAS gets all threads that it was promised, and no fewer addresses than it needs" {
	# OMP_DYNAMIC starts fewer on a busy machine, and OpenBLAS waits for the others for ever
	run -0 env OMP_DYNAMIC=true nn_blas
	[ "${lines[1]}" = "dynamic 0" ]
	case $BUILD in *sanitize*) return ;; esac # whose memory has terabytes of addresses
	for threads in 1 2; do
		run -1 --separate-stderr bash -c "ulimit -v 200000; OMP_NUM_THREADS=$threads timeout 20 group --help"
		[[ $stderr == "group: OpenBLAS needs "*" MB of addresses for "*", more than ulimit -v leaves; raise it"* ]]
	done
	run -0 bash -c "ulimit -v 600000; OMP_NUM_THREADS=1 timeout 60 group --help"
}

@test "nn: stacks that are too small are enlarged" {
	awk 'BEGIN { srand(1); for (i = 0; i < 300 * 32; i++) printf "%s%s", rand(), i % 32 == 31 ? "\n" : "," }' |
		sed 's/.*/{"v.emb":[&]}/' | mkstream >v.mts
	near --self -j 2 v.mts >expected
	for size in 128 "200 k" 1024B 0.5M; do
		OMP_STACKSIZE=$size near --self -j 2 v.mts | cmp - expected
	done
	(ulimit -S -s 256 && near --self -j 2 v.mts) | cmp - expected
	case $BUILD in *sanitize*) return ;; esac # which need more themselves
	run -1 --separate-stderr bash -c "ulimit -s 512; near --self v.mts"
	[ "$stderr" = "near: a thread needs a stack of 2048 KB, more than ulimit -s allows" ]
}

@test "nn: waiting threads sleep soon, unless the user sets how they wait" {
	run -0 env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT nn_blas
	[[ "$output" == *$'OMP_WAIT_POLICY=passive\nGOMP_SPINCOUNT=2000' ]]
	run -0 env -u OMP_WAIT_POLICY GOMP_SPINCOUNT=77 nn_blas
	[[ "$output" == *$'OMP_WAIT_POLICY=\nGOMP_SPINCOUNT=77' ]]
	run -0 env -u GOMP_SPINCOUNT OMP_WAIT_POLICY=active nn_blas
	[[ "$output" == *$'OMP_WAIT_POLICY=active\nGOMP_SPINCOUNT=' ]]
}

@test "nn: programs without linear algebra do not load OpenBLAS" {
	run ldd "$BUILD/support/nn_check"
	[[ "$output" != *openblas* ]]
}
