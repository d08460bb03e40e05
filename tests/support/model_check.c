/*
 * model_check DIR EXPECTED [bf16] - compare a tiny model with expected.safetensors (tests/golden/model.py, head.py, families.py)
 *
 * Embeddings, the gradient of every parameter and the masked-language-model head; a text alone gives the same as in a batch;
 * every gradient equals the central difference along a random direction, unless the model rounds its embeddings.  If the file has them, also the hidden states of all
 * layers (states [layers + 1, tokens, width]), the routers' logits (router [token expert layers, tokens, experts]) and long
 * texts (long.*).  In the case "folder" the head is the folder's own.  Of a model with task experts, which has no expected
 * values, only the differences, and that an expert gets gradients only from its own batches.
 * bf16: only embeddings, with weights in bf16.
 * Prints one line per comparison with the greatest error; exit 1 when one is too great.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/safetensors.h"
#include "golden_check.h"
#include "model/model.h"
#include "model/pooling.h"

/* The greater; NaN stays. */
static double
worse(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

/* Greatest difference of the first `count` values; NaN when there is one. */
static double
farthest_of(size_t count, const float *got, const struct safetensor *wanted)
{
	float *values = aligned(wanted);
	double worst = 0;

	for (size_t i = 0; i < count; i++)
		worst = worse(worst, fabs((double)got[i] - (double)values[i]));
	free(values);
	return worst;
}

static double
farthest(const float *got, const struct safetensor *wanted)
{
	return farthest_of(wanted->count, got, wanted);
}

static struct batch
batch_of(const struct safetensors *file)
{
	const struct safetensor *starts = safetensors_need(file, "starts");
	struct batch batch = { .sequences = (int64_t)starts->count - 1,
		.ids = aligned(safetensors_need(file, "ids")),
		.starts = aligned(starts),
		.expert = -1 };

	batch.tokens = batch.starts[batch.sequences];
	return batch;
}

/* Text i of a batch as its own batch; starts has two entries. */
static struct batch
alone(const struct batch *batch, int64_t i, int32_t *starts)
{
	struct batch one = { .sequences = 1,
		.starts = starts,
		.ids = batch->ids + batch->starts[i],
		.expert = -1 };

	starts[0] = 0;
	starts[1] = batch->starts[i + 1] - batch->starts[i];
	one.tokens = one.starts[one.sequences];
	return one;
}

static void
set_head(struct model *model, const char *name)
{
	if (!strcmp(name, "folder"))
		return;
	pooling_set(model_head(model), !strncmp(name, "cls", 3) ? "cls" : "mean");
	head_normalize(model_head(model), strstr(name, "normalize"));
}

/* sum(emb * demb) in double. */
static double
loss_of(struct model *model, const struct batch *batch, const float *demb)
{
	size_t n = (size_t)batch->sequences * (size_t)model_width(model);
	const float *emb = model_forward(model, batch);
	float *host = mem_new(n, sizeof *host);
	double loss = 0;

	nn_download(host, emb, n * sizeof *host);
	for (size_t i = 0; i < n; i++)
		loss += (double)host[i] * (double)demb[i];
	free(host);
	return loss;
}

static void
back(struct model *model, const struct batch *batch, const float *demb)
{
	size_t bytes =
	    (size_t)batch->sequences * (size_t)model_width(model) * sizeof *demb;
	float *on = nn_alloc(bytes);

	nn_upload(on, demb, bytes);
	nn_zero(model_gradients(model), model_size(model));
	loss_of(model, batch, demb);
	model_backward(model, batch, on, NULL);
	nn_free(on, bytes);
}

static void
check_gradients(struct model *model, const struct safetensors *file, const char *set)
{
	double worst = 0;
	int compared = 0;

	for (int i = 0; i < model_parameters(model); i++) {
		const struct parameter *p = model_parameter(model, i);
		char *name = mem_format("%s.grad.%s", set, p->name);
		const struct safetensor *wanted = safetensors_find(file, name);
		float *got = mem_new(p->count, sizeof *got);
		nn_download(
		    got, model_gradients(model) + p->offset, p->count * sizeof *got);
		if (wanted) {
			double error = distance(got, wanted->data, p->count);
			if (!(error <= 1e-4))
				verdict(set, p->name, error, 1e-4);
			worst = error > worst || isnan(error) ? error : worst;
			compared++;
		}
		free(got);
		free(name);
	}
	verdict(set, "gradients", compared ? worst : INFINITY, 1e-4);
}

/* Hidden states and routing of all layers, by model_watch. */
struct seen {
	float *states, *router;
	size_t state_room, router_room, state_count, router_count;
	double
	    worst; /* greatest error of a routing weight, from the softmax of its logits */
};

static void
keep(float **all, size_t *room, size_t *count, const float *more, size_t n)
{
	*all = mem_grow(*all, room, *count + n, sizeof **all);
	nn_download(*all + *count, more, n * sizeof **all);
	*count += n;
}

static void
see(void *context, const struct model_seen *shown)
{
	struct seen *seen = context;
	size_t n = shown->sequences.T * shown->E;

	keep(&seen->states, &seen->state_room, &seen->state_count, shown->hidden,
	    shown->sequences.T * shown->C);
	if (!shown->logits)
		return;
	keep(&seen->router, &seen->router_room, &seen->router_count, shown->logits, n);
	const float *logits = seen->router + seen->router_count - n;
	float *weights = mem_new(n, sizeof *weights);
	nn_download(weights, shown->routing, n * sizeof *weights);
	for (size_t t = 0; t < shown->sequences.T; t++) {
		double sum = 0;
		for (size_t e = 0; e < shown->E; e++)
			sum += exp((double)logits[t * shown->E + e]);
		for (size_t e = 0; e < shown->E; e++)
			seen->worst = fmax(seen->worst,
			    fabs(exp((double)logits[t * shown->E + e]) / sum -
				 (double)weights[t * shown->E + e]));
	}
	free(weights);
}

static void
check_seen(const struct safetensors *file, const char *name, const float *got, size_t n)
{
	const struct safetensor *wanted = safetensors_find(file, name);

	if (!wanted)
		return;
	if (wanted->count != n)
		die("%s: %zu values were seen, %zu are expected", name, n, wanted->count);
	verdict(name, "of all layers", farthest(got, wanted), 1e-4);
}

static void
check_states(const char *dir, const struct safetensors *file, const struct batch *batch)
{
	struct model *model = model_open(dir, MODEL_ENCODE, 0);
	struct seen seen = { 0 };
	float *emb =
	    mem_new((size_t)batch->sequences * (size_t)model_width(model), sizeof *emb);

	model_watch(model, see, &seen);
	model_encode(model, batch, emb);
	check_seen(file, "states", seen.states, seen.state_count);
	check_seen(file, "router", seen.router, seen.router_count);
	verdict("router", "softmax of its logits", seen.worst, 1e-6);
	model_close(model);
	free(seen.states);
	free(seen.router);
	free(emb);
}

static void
check_case(const char *dir, const struct safetensors *file, const struct batch *batch,
    const float *demb, const char *name)
{
	struct model *model = model_open(dir, MODEL_ENCODE, 0);
	char *key = mem_format("%s.emb", name);
	const struct safetensor *wanted = safetensors_need(file, key);
	float *emb = mem_new(wanted->count, sizeof *emb),
	      *one = mem_new(wanted->count, sizeof *one);
	size_t width = (size_t)model_width(model);

	set_head(model, name);
	model_encode(model, batch, emb);
	verdict(name, "embeddings", distance(emb, wanted->data, wanted->count), 1e-5);
	for (int64_t i = 0; i < batch->sequences; i++) {
		int32_t starts[2];
		struct batch text = alone(batch, i, starts);
		model_encode(model, &text, one + (size_t)i * width);
	}
	verdict(name, "alone and together", distance(one, emb, wanted->count), 0);
	model_close(model);
	model = model_open(dir, MODEL_TRAIN, 0);
	set_head(model, name);
	nn_download(emb, model_forward(model, batch), wanted->count * sizeof *emb);
	verdict(name, "training embeddings", distance(emb, wanted->data, wanted->count),
	    1e-5);
	back(model, batch, demb);
	check_gradients(model, file, name);
	model_close(model);
	free(emb);
	free(one);
	free(key);
}

/* Mean and last token of the last layer's hidden states, of every text. */
struct ends {
	int layers;
	float *last, *mean; /* [N,C] */
};

static void
see_ends(void *context, const struct model_seen *shown)
{
	struct ends *ends = context;
	size_t C = shown->C;

	if (shown->layer != ends->layers)
		return;
	size_t N = shown->sequences.N;
	float *x = mem_new(shown->sequences.T * C, sizeof *x);
	int32_t *starts = mem_new(N + 1, sizeof *starts);
	nn_download(x, shown->hidden, shown->sequences.T * C * sizeof *x);
	nn_download(starts, shown->sequences.starts, (N + 1) * sizeof *starts);
	for (size_t i = 0; i < N; i++)
		for (size_t c = 0; c < C; c++) {
			double sum = 0;
			int32_t first = starts[i], past = starts[i + 1];
			for (int32_t t = first; t < past; t++)
				sum += (double)x[(size_t)t * C + c];
			ends->mean[i * C + c] = (float)(sum / (past - first));
			ends->last[i * C + c] = x[(size_t)(past - 1) * C + c];
		}
	free(starts);
	free(x);
}

/* The ids of long_ids in families.py. */
static void
long_ids(int32_t *ids, int32_t length, int32_t vocabulary)
{
	enum { FIRST = 3 };

	for (int32_t t = 0; t < length; t++)
		ids[t] = FIRST + (7 * t * t + t / 5) % (vocabulary - FIRST);
}

/* Under ASan attention takes ten times as long, and 512 tokens reach the same code as 2,048. */
#ifdef __SANITIZE_ADDRESS__
enum { LONGEST = 512 };
#else
enum { LONGEST = INT32_MAX };
#endif

/* Long texts, in one batch and alone. */
static void
check_long(const char *dir, const struct safetensors *file)
{
	struct model *model = model_open(dir, MODEL_ENCODE, 0);
	const struct safetensor *lengths = safetensors_need(file, "long.lengths");
	const struct safetensor *last = safetensors_need(file, "long.last");
	const struct safetensor *mean = safetensors_need(file, "long.mean");
	const struct spec *spec = model_spec(model);
	int32_t *length = aligned(lengths), starts[32] = { 0 }, own[2], *ids = NULL;
	struct batch batch = { .expert = -1 };
	size_t N = lengths->count, C = (size_t)spec->width, room = 0;

	while (N > 0 && length[N - 1] > LONGEST)
		N--;
	for (size_t i = 0; i < N && i < 31; i++) {
		starts[i + 1] = starts[i] + length[i];
		ids = mem_grow(ids, &room, (size_t)starts[i + 1], sizeof *ids);
		long_ids(ids + starts[i], length[i], spec->vocabulary);
	}
	batch.ids = ids;
	batch.starts = starts;
	batch.sequences = (int64_t)N;
	batch.tokens = batch.starts[batch.sequences];
	struct ends ends = { spec->layers, mem_new(N * C, sizeof(float)),
		mem_new(N * C, sizeof(float)) };
	float *emb = mem_new(N * C, sizeof *emb), *one = mem_new(N * C, sizeof *one);
	model_watch(model, see_ends, &ends);
	model_encode(model, &batch, emb);
	model_watch(model, NULL, NULL);
	verdict("long texts", "last token", farthest_of(N * C, ends.last, last), 1e-4);
	verdict("long texts", "mean", farthest_of(N * C, ends.mean, mean), 1e-4);
	for (size_t i = 0; i < N; i++) {
		struct batch text = alone(&batch, (int64_t)i, own);
		model_encode(model, &text, one + i * C);
	}
	verdict("long texts", "alone and together",
	    memcmp(one, emb, N * C * sizeof *emb) ? 1 : 0, 0);
	model_close(model);
	free(length);
	free(ids);
	free(ends.last);
	free(ends.mean);
	free(emb);
	free(one);
}

/* Weights stored as bf16; nothing else is rounded, so that results agree to the digits of f32. */
static void
check_bf16(const char *dir, const struct safetensors *file, const struct batch *batch)
{
	struct model *model = model_open(dir, MODEL_ENCODE, 0);
	const struct safetensor *wanted = safetensors_need(file, "bf16.emb");
	float *emb = mem_new(wanted->count, sizeof *emb);

	model_encode(model, batch, emb);
	verdict("bf16", "embeddings", farthest(emb, wanted), 1e-4);
	model_close(model);
	free(emb);
}

static void
check_mlm(const char *dir, const struct safetensors *file, const struct batch *batch)
{
	struct model *model = model_open(dir, MODEL_TRAIN, 0);
	int32_t *positions = aligned(safetensors_need(file, "mlm.positions"));
	int32_t *targets = aligned(safetensors_need(file, "mlm.targets"));
	float *wanted = aligned(safetensors_need(file, "mlm.loss"));
	double correct;
	model_predict(model, batch, positions, targets,
	    (int64_t)safetensors_need(file, "mlm.positions")->count);
	double loss = model_predict_backward(model, batch, 1, &correct);

	verdict("mlm", "loss", fabs(loss - (double)*wanted) / (double)*wanted, 1e-6);
	check_gradients(model, file, "mlm");
	model_close(model);
	free(positions);
	free(targets);
	free(wanted);
}

static void
move(struct model *model, const struct parameter *p, const float *values,
    const float *direction, double by)
{
	float *moved = mem_new(p->count, sizeof *moved);

	for (size_t i = 0; i < p->count; i++)
		moved[i] = (float)((double)values[i] + by * (double)direction[i]);
	nn_upload(model_values(model) + p->offset, moved, p->count * sizeof *moved);
	free(moved);
}

/* (L(w + h u) - L(w - h u)) / 2h against g . u of one parameter. */
static double
difference(struct model *model, const struct batch *batch, const float *demb,
    const struct parameter *p, const float *gradient, const float *direction, double h)
{
	float *values = mem_new(p->count, sizeof *values);
	double slope = 0, length = 0;

	nn_download(values, model_values(model) + p->offset, p->count * sizeof *values);
	for (size_t j = 0; j < p->count; j++) {
		slope += (double)direction[j] * (double)gradient[j];
		length += (double)gradient[j] * (double)gradient[j];
	}
	move(model, p, values, direction, h);
	double up = loss_of(model, batch, demb);
	move(model, p, values, direction, -h);
	double down = loss_of(model, batch, demb);
	move(model, p, values, direction, 0);
	free(values);
	return fabs((up - down) / (2 * h) - slope) / fmax(sqrt(length), 0.25);
}

/* Checks every parameter.  The better of a long and a short step counts: over a long one the loss is not linear, or a
 * router chooses other experts; a short one is lost in rounding. */
static void
check_differences(struct model *model, const struct batch *batch, const float *demb)
{
	struct rng rng = rng_seed(3, 0);
	double worst = 0;
	float *all = mem_new(model_size(model), sizeof *all);

	back(model, batch, demb);
	nn_download(all, model_gradients(model), model_size(model) * sizeof *all);
	for (int i = 0; i < model_parameters(model); i++) {
		const struct parameter *p = model_parameter(model, i);
		float *direction = mem_new(p->count, sizeof *direction);
		const float *gradient = all + p->offset;
		for (size_t j = 0; j < p->count; j++)
			direction[j] = (float)rng_normal(&rng);
		double error =
		    difference(model, batch, demb, p, gradient, direction, 1e-3);
		if (!(error <= 5e-3))
			error =
			    difference(model, batch, demb, p, gradient, direction, 2e-4);
		if (!(error <= 5e-3))
			verdict("differences", p->name, error, 5e-3);
		worst = error > worst || isnan(error) ? error : worst;
		free(direction);
	}
	verdict("differences", "all parameters", worst, 5e-3);
	free(all);
}

/* Every expert learns from its own batch only. */
static void
check_experts(const char *dir, struct batch *batch, const float *demb)
{
	struct model *model = model_open(dir, MODEL_TRAIN, 0);
	struct rng rng = rng_seed(4, 0);

	for (int i = 0; i < model_parameters(model); i++) { /* parameters of experts */
		const struct parameter *p = model_parameter(model, i);
		if (p->expert < 0)
			continue;
		float *at = model_values(model) + p->offset;
		float *host = mem_new(p->count, sizeof *host);
		nn_download(host, at, p->count * sizeof *host);
		for (size_t j = 0; j < p->count; j++)
			host[j] += 0.1f * (float)rng_normal(&rng);
		nn_upload(at, host, p->count * sizeof *host);
		free(host);
	}
	for (batch->expert = 0; batch->expert < model_spec(model)->experts;
	     batch->expert++) {
		double other = 0;
		check_differences(model, batch, demb);
		for (int i = 0; i < model_parameters(model); i++) {
			const struct parameter *p = model_parameter(model, i);
			double norm =
			    nn_square_sum(model_gradients(model) + p->offset, p->count);
			if (p->expert >= 0 && p->expert != batch->expert)
				other += norm;
			else if (!p->predicts && norm == 0)
				verdict("no gradient", p->name, INFINITY, 0);
		}
		verdict("other experts' gradients",
		    model_spec(model)->expert_names[batch->expert], other, 0);
	}
	model_close(model);
}

static bool
rounds(struct model *model)
{
	const struct head *head = model_head(model);

	return head->count && head->modules[head->count - 1].kind == HEAD_INT8;
}

int
main(int argc, char **argv)
{
	static const struct cli_option options[] = { { 0 } };
	static const struct cli cli = { "model_check", "hold a model to reference values",
		"DIR EXPECTED [bf16]", options, NULL, NULL, NULL, NULL };

	nn_start(1, argv);
	cli_start(&cli, argc, argv);
	while (cli_next(&cli, argc, argv, NULL) != -1)
		;
	if (argc - optind < 2)
		die_usage("a model folder and a file of expected values are needed");
	bool bf16 = argc - optind > 2;
	const char *dir = argv[optind];
	struct safetensors *file = safetensors_open(argv[optind + 1]);
	struct model *model = model_open(dir, MODEL_TRAIN, 0);
	struct batch batch = batch_of(file);
	float *demb = aligned(safetensors_need(file, "demb"));
	if (bf16) {
		check_bf16(dir, file, &batch);
	} else if (model_spec(model)->experts) {
		check_experts(dir, &batch, demb);
	} else if (safetensors_find(file, "folder.emb")) {
		check_states(dir, file, &batch);
		if (!rounds(model))
			check_differences(model, &batch, demb);
		check_case(dir, file, &batch, demb, "folder");
		if (safetensors_find(file, "long.lengths"))
			check_long(dir, file);
		if (safetensors_find(file, "mlm.loss"))
			check_mlm(dir, file, &batch);
	} else {
		check_states(dir, file, &batch);
		check_differences(model, &batch, demb);
		check_case(dir, file, &batch, demb, "mean.normalize");
		check_case(dir, file, &batch, demb, "cls.raw");
		if (safetensors_find(file, "mlm.loss"))
			check_mlm(dir, file, &batch);
	}
	model_close(model);
	safetensors_close(file);
	free((void *)batch.ids);
	free(batch.starts);
	free(demb);
	return failed;
}
