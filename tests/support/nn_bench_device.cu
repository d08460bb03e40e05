/*
 * nn_bench_device [-t TOKENS] [-1] [-p] [-v] [MODEL]... - the kernels of a layer on a device, beside what the device can do
 *
 * The lines of a model are the kernels that encode --precision bf16 calls in a layer, at its shapes, for a batch of TOKENS (16,384)
 * in texts of 128 tokens:
 *
 *	calls	in a layer
 *	floor	us that the bytes and operations of a call take at the ceilings, which are measured first: a copy of
 *		2 GiB, and a bf16 product of 8192 x 8192 x 8192 by cuBLASLt
 *	time	us of a call on the device, by events, the median of 7; operands rotate, so that L2 does not hold them
 *	queue	us that the host takes to queue it: the device waits where this is longer than the time
 *	share	floor / time
 *
 * Below them are a layer's sum, and the tokens a second of all layers.  Lines that start with "-" are not in the sum.
 * -1, or fewer than 1,024 tokens: each kernel runs once, for a profiler or tests.  -p: on paper, without a device: the ceilings of an
 * H100, no times.  -v: with MOTES_CUDA_TUNE=1, cuBLASLt's algorithms.
 */
#include "nn/cuda/attention_bf16.h"
#include "nn/cuda/bf16.h"
#include "nn_bench_lines.h"

namespace
{

constexpr size_t LENGTH = 128, EXPERT_ROWS = 1 << 13;

std::string
sized(const char *what, size_t C, size_t O)
{
	return what + (" " + std::to_string(C)) + " -> " + std::to_string(O);
}

/* Kernels of f32 arrays. ------------------------------------------------------------------------- */

/* nn_linear with bf16 weights: floats in, floats out; and the product in it by itself */
void
linear(double calls, size_t C, size_t O, size_t ldy, bool bias)
{
	size_t T = bench.tokens;
	double operations = 2.0 * (double)T * (double)C * (double)O;
	double values = (double)T;
	double product = 2.0 * (double)(C * O) + values * (double)(2 * C + 4 * O);
	floats x(T * C), y(T * ldy), b(O);
	halves w(O, C), narrow(T, C);

	line(
	    sized("linear", C, O), calls, operations, product,
	    [&](int run) {
		    nn_linear(y.at(run), ldy, x.at(run), C, w.matrix(run),
			bias ? b.at(0) : NULL, T, C, O);
	    },
	    6 * values * (double)C);
	line(sized("product, bf16 to f32", C, O), 0, operations, product, [&](int run) {
		struct cublas_gemm p = {};
		p.c = y.at(run);
		p.a = narrow.at(run);
		p.b = w.at(run);
		p.bias = bias ? b.at(0) : NULL;
		p.ldc = ldy;
		p.lda = p.ldb = bf16_stride(C);
		p.M = T;
		p.N = O;
		p.K = C;
		p.kind = GEMM_BF16;
		p.b_transposed = p.no_split_k = true;
		p.alpha = 1;
		cublas_gemm(&p);
	});
}

void
narrow(size_t C)
{
	size_t T = bench.tokens;
	floats x(T * C);
	halves y(T, C);

	line("narrow " + std::to_string(C), 0, 0, 6.0 * (double)(T * C),
	    [&](int run) { convert_to_bf16(y.at(run), x.at(run), C, T, C); });
}

struct shapes {
	const char *name;
	size_t C, I, H, K, D, layers, experts, top;
	bool bert;
};

struct nn_attention
attention_of(const struct shapes *m, const struct texts *texts, bool bf16)
{
	struct nn_attention a = {};

	a.sequences = texts->sequences();
	a.H = m->H;
	a.K = m->K;
	a.D = m->D;
	a.ldq = a.ldkv = (m->H + 2 * m->K) * m->D;
	a.causal = !m->bert;
	a.bf16 = bf16;
	return a;
}

/* of: f32 arrays, of which products are of bf16, or of f32; or bf16 arrays */
enum attention_kind { ROUNDED, FLOATS, HALVES };

void
attention(const struct shapes *m, double calls, size_t length, enum attention_kind kind)
{
	static const char *const names[] = { ", f32 arrays", ", f32", ", bf16 arrays" };
	struct texts texts(length);
	size_t T = bench.tokens, Q = m->H * m->D, KV = m->K * m->D, G = Q + 2 * KV;
	floats qkv(kind == HALVES ? 1 : T * G), out(kind == HALVES ? 1 : T * Q);
	halves qkv16(kind == HALVES ? T : 1, G), out16(kind == HALVES ? T : 1, Q);
	const struct nn_attention a = attention_of(m, &texts, kind != FLOATS);

	line("attention, " + texts.name + names[kind], calls,
	    (m->bert ? 4 : 2) * texts.pairs * (double)Q,
	    (kind == HALVES ? 2.0 : 4.0) * (double)(T * (G + Q)), [&](int run) {
		    if (kind == HALVES) {
			    __nv_bfloat16 *q = qkv16.at(run);
			    attention_bf16(out16.at(run), q, q + Q, q + Q + KV, &a);
		    } else {
			    float *q = qkv.at(run);
			    nn_attention(out.at(run), NULL, q, q + Q, q + Q + KV, &a);
		    }
	    });
}

/* The norms and positions of queries and keys. */
void
heads(const struct shapes *m)
{
	struct texts texts(LENGTH);
	size_t T = bench.tokens, Q = m->H * m->D, KV = m->K * m->D, G = Q + 2 * KV;
	size_t some = (m->H + m->K) / 2; /* in the mean of queries and keys */
	floats qkv(T * G), w(m->D), inverse(m->D / 2);
	const struct nn_sequences sequences = texts.sequences();

	line("norm of heads", 2, 0, 4.0 * (double)(T * (Q + KV)), [&](int run) {
		float *q = qkv.at(run);
		nn_norm_heads(
		    q, G, NULL, q, G, w.at(0), NULL, 1e-6f, NN_RMSNORM, T, some, m->D);
	});
	line("rotary", 2, 0, 4.0 * (double)(T * (Q + KV)), [&](int run) {
		nn_rotary(qkv.at(run), G, inverse.at(0), 0, &sequences, some, m->D, 1);
	});
}

void
norm(const struct shapes *m)
{
	size_t T = bench.tokens, C = m->C;
	floats x(T * C), r(T * C), w(C), b(C);

	/* before the branches: s = x + r is kept */
	line(m->bert ? "norm of x + r" : "norm of x + r, sum kept", m->bert ? 2 : 1, 0,
	    (m->bert ? 12.0 : 16.0) * (double)(T * C), [&](int run) {
		    float *sum = x.at(run);
		    nn_norm(r.at(run), m->bert ? NULL : sum, NULL, sum, r.at(run),
			w.at(0), b.at(0), 1e-6f, m->bert ? NN_LAYERNORM : NN_RMSNORM, T,
			C);
	    });
	if (m->bert)
		return;
	line("norm", 1, 0, 8.0 * (double)(T * C), [&](int run) {
		nn_norm(r.at(run), NULL, NULL, x.at(run), NULL, w.at(0), NULL, 1e-6f,
		    NN_RMSNORM, T, C);
	});
	line("sum", 1, 0, 12.0 * (double)(T * C),
	    [&](int run) { nn_add(x.at(run), r.at(run), T * C); });
}

void
activation(const struct shapes *m, double calls, size_t rows)
{
	size_t n = rows * m->I;
	floats up(n), gate(n), y(n);

	if (m->bert)
		line("GELU", calls, 0, 8.0 * (double)n,
		    [&](int run) { nn_activate(y.at(run), up.at(run), NN_GELU, n); });
	else
		line("SiLU gate", calls, 0, 12.0 * (double)n, [&](int run) {
			nn_glu(y.at(run), up.at(run), gate.at(run), m->I, NN_SILU, rows,
			    m->I);
		});
}

/* Products of experts: `rows` rows in groups of as many as an expert has in a batch. */
void
grouped(const struct shapes *m, double calls, size_t rows, size_t C, size_t O)
{
	size_t each = std::max<size_t>(1, bench.tokens * m->top / m->experts);
	size_t count = std::min(m->experts, std::max<size_t>(1, rows / each));
	halves w(m->experts * O, C);
	floats x(rows * C), y(rows * O);

	line(
	    sized("grouped", C, O) + ", " + std::to_string(count) + " experts", calls,
	    2.0 * (double)rows * (double)C * (double)O,
	    2.0 * (double)(count * O * C) + (double)rows * (double)(2 * C + 4 * O),
	    [&](int run) {
		    std::vector<nn_gemm_group> groups(count);
		    for (size_t i = 0; i < count; i++) {
			    size_t e = ((size_t)run * count + i) % m->experts;
			    groups[i].w = { w.at(0) + e * O * bf16_stride(C), DTYPE_BF16,
				    true, false };
			    groups[i].rows = rows * (i + 1) / count - rows * i / count;
		    }
		    nn_linear_grouped(
			y.at(run), x.at(run), groups.data(), count, NULL, C, O);
	    },
	    6.0 * (double)rows * (double)C);
}

/* Of a mixture: the router, and the experts' rows in parts of EXPERT_ROWS, as mixture.c takes them. */
void
mixture(const struct shapes *m)
{
	size_t T = bench.tokens, C = m->C, E = m->experts, n = T * m->top;
	size_t rows = std::min(EXPERT_ROWS, n);
	double parts = (double)n / (double)rows;
	floats logits(T * E), p(T * E), weights(n), x(T * C), some(rows * C);
	size_t slotted = bench.paper ? 0 : n;
	scratch<int32_t> chosen(slotted), sorted(slotted), slots(slotted),
	    offsets(bench.paper ? 0 : E + 1);

	linear(1, C, E, E, false);
	line("softmax of experts", 1, 0, 8.0 * (double)(T * E),
	    [&](int run) { nn_softmax(p.at(run), logits.at(run), T, E); });
	line("route", 1, 0, 4.0 * (double)(T * E) + 8.0 * (double)n, [&](int run) {
		nn_route(chosen.at, weights.at(0), p.at(run), false, T, E, m->top);
	});
	line("sort by expert", 1, 0, 12.0 * (double)n, [&](int) {
		nn_sort_by_expert(
		    sorted.at, slots.at, offsets.at, chosen.at, T, E, m->top);
	});
	line("gather", parts, 0, 8.0 * (double)(rows * C),
	    [&](int run) { nn_gather(some.at(run), x.at(run), sorted.at, rows, C); });
	grouped(m, 2 * parts, rows, C, m->I);
	activation(m, parts, rows);
	grouped(m, parts, rows, m->I, C);
	line("scale of rows", parts, 0, 8.0 * (double)(rows * C),
	    [&](int run) { nn_scale_rows(some.at(run), weights.at(0), rows, C); });
	line("sum by token", parts, 0, 12.0 * (double)(rows * C), [&](int run) {
		nn_scatter_add(x.at(run), some.at(run), sorted.at, rows, C);
	});
	grouped(m, 0, n, C, m->I);
}

/* Kernels of bf16 arrays. ----------------------------------------------------------- */

uint16_t *
words(const halves &x, int run)
{
	return (uint16_t *)x.at(run);
}

/* Linear layers that read the same x, their outputs side by side; with act in the same call */
void
linear_bf16(double calls, size_t C, const std::vector<size_t> &outputs, bool bias,
    const enum nn_act *act)
{
	size_t T = bench.tokens, O = 0;
	std::string name = "linear " + std::to_string(C) + " -> ";

	for (size_t i = 0; i < outputs.size(); i++) {
		O += outputs[i];
		name += (i ? "|" : "") + std::to_string(outputs[i]);
	}
	halves x(T, C), y(T, O), w(O, C);
	floats b(O);
	line(name + (act ? ", GELU" : ""), calls, 2.0 * (double)T * (double)(C * O),
	    2.0 * (double)(T * (C + O) + C * O), [&](int run) {
		    std::vector<nn_bf16_layer> layers(outputs.size());
		    size_t row = 0;
		    for (size_t i = 0; i < outputs.size(); i++) {
			    layers[i].w = w.matrix(run);
			    layers[i].w.at = w.at(run) + row * bf16_stride(C);
			    layers[i].b = bias ? b.at(0) + row : NULL;
			    layers[i].O = outputs[i];
			    row += outputs[i];
		    }
		    nn_bf16()->linear(words(y, run), O, words(x, run), layers.data(),
			layers.size(), act, T, C);
	    });
}

void
gated_bf16(size_t C, size_t I)
{
	size_t T = bench.tokens;
	halves x(T, C), y(T, I), up(I, C), gate(I, C);

	line(sized("linear, SiLU gate", C, I), 1, 4.0 * (double)T * (double)(C * I),
	    2.0 * (double)(T * (C + I) + 2 * C * I), [&](int run) {
		    struct nn_bf16_layer layer = {};
		    layer.w = up.matrix(run);
		    layer.gate = gate.matrix(run);
		    layer.O = I;
		    nn_bf16()->linear_gated(
			words(y, run), words(x, run), &layer, NN_SILU, T, C);
	    });
}

void
norm_bf16(const struct shapes *m)
{
	size_t T = bench.tokens, C = m->C;
	halves x(T, C), y(T, C), r(T, C);
	floats sum(T * C), w(C), b(C);

	if (m->bert)
		line("norm of x + r", 2, 0, 6.0 * (double)(T * C), [&](int run) {
			nn_bf16()->norm(words(y, run), words(x, run), words(r, run), C,
			    w.at(0), b.at(0), 1e-6f, NN_LAYERNORM, T, C);
		});
	else
		line("norm of x + r, sum kept as f32", 2, 0, 12.0 * (double)(T * C),
		    [&](int run) {
			    nn_bf16()->norm_sum(words(y, run), sum.at(run), words(r, run),
				w.at(0), NULL, 1e-6f, NN_RMSNORM, T, C);
		    });
}

void
heads_bf16(const struct shapes *m)
{
	struct texts texts(LENGTH);
	size_t T = bench.tokens, Q = m->H * m->D, KV = m->K * m->D, G = Q + 2 * KV;
	floats w(m->D), inverse(m->D / 2);
	const float *const both[2] = { w.at(0), w.at(0) };
	const struct nn_sequences sequences = texts.sequences();
	halves qkv(T, G);

	line(
	    "norm and rotary of heads", 1, 0, 4.0 * (double)(T * (Q + KV)), [&](int run) {
		    nn_bf16()->heads(words(qkv, run), G, both, 1e-6f, NN_RMSNORM,
			inverse.at(0), 0, &sequences, m->H, m->K, m->D);
	    });
}

/* The experts, each with as many tokens as any other: token t has those from t top on. */
void
mixture_bf16(const struct shapes *m)
{
	size_t T = bench.tokens, C = m->C, I = m->I, E = m->experts, n = T * m->top;
	halves x(T, C), y(T, C), up(E * I, C), gate(E * I, C), down(E * C, I);
	std::vector<int32_t> chosen(n);
	std::vector<nn_bf16_layer> in(E), out(E);
	size_t slotted = bench.paper ? 0 : n;
	scratch<int32_t> experts(slotted), rows(slotted), slots(slotted),
	    offsets(bench.paper ? 0 : E + 1);
	floats weights(n);
	struct nn_bf16_routes routes = { rows.at, slots.at, weights.at(0), NULL, m->top };

	for (size_t i = 0; i < n; i++)
		chosen[i] = (int32_t)(i % E);
	if (!bench.paper) {
		nn_upload(experts.at, chosen.data(), n * sizeof chosen[0]);
		nn_sort_by_expert(
		    rows.at, slots.at, offsets.at, experts.at, T, E, m->top);
	}
	for (size_t e = 0; e < E; e++) {
		in[e].w = { up.at(0) + e * I * bf16_stride(C), DTYPE_BF16, true, false };
		in[e].gate = in[e].w;
		in[e].gate.at = gate.at(0) + e * I * bf16_stride(C);
		in[e].O = I;
		out[e].w = in[e].w;
		out[e].w.at = down.at(0) + e * C * bf16_stride(I);
		out[e].O = C;
		in[e].rows = out[e].rows = n / E + (e < n % E);
	}
	/* rows of all experts are gathered, read, gated, read again, and summed */
	line(
	    "experts, whole", 1, 6.0 * (double)n * (double)(C * I),
	    2.0 * (double)(T * C + n * (2 * C + I)) + 6.0 * (double)(E * C * I),
	    [&](int run) {
		    nn_bf16()->experts(words(y, run), words(x, run), in.data(),
			out.data(), E, &routes, NN_SILU, T, C, I);
	    },
	    2.0 * (double)(n * (I + C) + n * C + T * C));
}

void
in_bf16(const struct shapes *m)
{
	static const enum nn_act gelu = NN_GELU;
	size_t C = m->C, Q = m->H * m->D, KV = m->K * m->D;

	head((std::string(m->name) + ", bf16 between kernels").c_str());
	linear_bf16(1, C, { Q, KV, KV }, m->bert, NULL);
	if (!m->bert)
		heads_bf16(m);
	attention(m, 1, LENGTH, HALVES);
	attention(m, 0, 0, HALVES);
	attention(m, 0, 512, HALVES);
	linear_bf16(1, Q, { C }, m->bert, NULL);
	norm_bf16(m);
	if (m->experts)
		mixture_bf16(m);
	else {
		if (m->bert)
			linear_bf16(1, C, { m->I }, true, &gelu);
		else
			gated_bf16(C, m->I);
		linear_bf16(1, m->I, { C }, m->bert, NULL);
	}
	sums(m->layers);
}

/* Models. --------------------------------------------------------------------------- */

void
model(const struct shapes *m)
{
	size_t C = m->C, Q = m->H * m->D, KV = m->K * m->D, G = Q + 2 * KV;

	head((std::string(m->name) + ", floats between kernels").c_str());
	if (Q == KV)
		linear(3, C, Q, G, m->bert);
	else {
		linear(1, C, Q, G, false);
		linear(2, C, KV, G, false);
	}
	attention(m, 1, LENGTH, ROUNDED);
	attention(m, 0, 0, ROUNDED);
	attention(m, 0, 512, ROUNDED);
	attention(m, 0, LENGTH, FLOATS);
	if (!m->bert)
		heads(m);
	linear(1, Q, C, C, m->bert);
	norm(m);
	narrow(C);
	if (m->experts)
		mixture(m);
	else {
		linear(m->bert ? 1 : 2, C, m->I, m->I, m->bert);
		activation(m, 1, bench.tokens);
		linear(1, m->I, C, C, m->bert);
	}
	sums(m->layers);
	in_bf16(m);
}

/* The ceilings, measured. */
void
measure(void)
{
	size_t n = bench.quick ? 64 : 1 << 13, size = n * n * 8;
	double values = (double)n;
	floats a(size), b(size);
	halves x(n, n), y(n, n);

	bench.bytes = 8e6 * (double)size / times_of([&](int run) {
		nn_copy(b.at(run), a.at(run), size);
	}).device;
	bench.operations = 2e6 * values * values * values / times_of([&](int run) {
		struct cublas_gemm p = {};
		p.c = b.at(0);
		p.a = x.at(run);
		p.b = y.at(run);
		p.ldc = p.lda = p.ldb = p.M = p.N = p.K = n;
		p.kind = GEMM_BF16;
		p.b_transposed = true;
		p.alpha = 1;
		cublas_gemm(&p);
	}).device;
}
} // namespace

int
main(int argc, char **argv)
{
	static const struct shapes all[] = {
		{ "MiniLM", 384, 1536, 12, 12, 32, 6, 0, 0, true },
		{ "BERT-base", 768, 3072, 12, 12, 64, 12, 0, 0, true },
		{ "Qwen3-0.6B", 1024, 3072, 16, 8, 128, 28, 0, 0, false },
		{ "OLMoE-1B-7B", 2048, 1024, 16, 16, 128, 16, 64, 8, false },
	};
	int first = 1;

	for (; first < argc && argv[first][0] == '-'; first++)
		if (argv[first][1] == 'p')
			bench.paper = true;
		else if (argv[first][1] == 'v')
			verbosity = 1;
		else if (argv[first][1] == '1')
			bench.quick = true;
		else if (argv[first][1] == 't' && first + 1 < argc)
			bench.tokens = strtoull(argv[++first], NULL, 10);
	bench.quick = bench.quick || bench.tokens < 1 << 10;
	if (!bench.paper) {
		nn_start(0, argv);
		puts(nn_about());
		measure();
	}
	printf("%s: %.0f GB/s, %.1f TFLOP/s; %zu tokens\n",
	    bench.paper ? "on paper" : "measured", 1e-9 * bench.bytes,
	    1e-12 * bench.operations, bench.tokens);
	for (const struct shapes &m : all)
		if (first == argc ||
		    std::any_of(argv + first, argv + argc,
			[&](char *name) { return !strcmp(name, m.name); }))
			model(&m);
	return 0;
}
