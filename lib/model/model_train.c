/* The forward pass that remembers, the backward pass, and masked language modelling. */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/model_internal.h"

/* Rows of logits over the vocabulary at a time. */
enum { LOGITS = 256 };

/* Masked positions of one batch; M of them. */
struct mlm {
	size_t M, step;
	int32_t *positions, *targets;
	float *hidden, *dense, *act, *norm, *stats; /* [M,C]; stats [M,2] */
	float *logits;				    /* [step,V] */
	float *d;				    /* [M,C] */
};

struct training {
	struct device_batch on;
	struct block_batch block;
	float *sum0, *stats0, *x0;  /* [T,C], [T,2], [T,C] */
	struct block_state *states; /* [layers] */
	float *last, *stats_last;   /* [T,C], the last hidden states; [T,2] */
	struct block_scratch scratch;
	struct head_state head;
	float *d;	/* [T,C] */
	int64_t tokens; /* of the batch that is kept; 0: none */
	struct mlm mlm;
};

static void
layout_mlm(struct model *model, struct mlm *mlm, size_t M)
{
	struct workspace *w = &model->workspace;
	size_t C = (size_t)model->spec.width;

	mlm->M = M;
	mlm->step = M < LOGITS ? M : LOGITS;
	mlm->positions = workspace_take(w, M, 1, sizeof *mlm->positions);
	mlm->targets = workspace_take(w, M, 1, sizeof *mlm->targets);
	mlm->hidden = workspace_floats(w, M, C);
	mlm->dense = workspace_floats(w, M, C);
	mlm->act = workspace_floats(w, M, C);
	mlm->norm = workspace_floats(w, M, C);
	mlm->stats = workspace_floats(w, M, 2);
	mlm->logits = workspace_floats(w, mlm->step, (size_t)model->spec.vocabulary);
	mlm->d = workspace_floats(w, M, C);
}

static void
layout(struct model *model, const struct batch *batch, size_t masked)
{
	struct workspace *w = &model->workspace;
	struct training *t = model->training;
	const struct spec *spec = &model->spec;
	size_t T = (size_t)batch->tokens, C = (size_t)spec->width;

	device_batch_layout(&t->on, model, batch);
	float *x = t->x0 = t->sum0 = workspace_floats(w, T, C);
	if (spec->embedding_norm) {
		t->stats0 = workspace_floats(w, T, 2);
		x = t->x0 = workspace_floats(w, T, C);
	}
	for (int layer = 0; layer < spec->layers; layer++) {
		block_layout(&t->states[layer], w, spec, layer, T, x, true);
		x = t->states[layer].out;
	}
	t->last = x;
	if (spec->prenorm) {
		t->stats_last = workspace_floats(w, T, 2);
		t->last = workspace_floats(w, T, C);
	}
	block_scratch_layout(&t->scratch, w, spec, T);
	t->d = workspace_floats(w, T, C);
	if (masked) {
		layout_mlm(model, &t->mlm, masked);
		return;
	}
	head_layout(&t->head, w, &model->head, T, (size_t)batch->sequences, C, true);
}

/* From ids to the last layer's hidden states. */
static const float *
forward(struct model *model, const struct batch *batch, size_t masked)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	size_t C = (size_t)spec->width;

	if (!model->values)
		die("%s: was opened to encode, not to train", model->dir);
	model_demand(model, batch);
	if (!model->training) {
		model->training = mem_zero(1, sizeof *model->training);
		model->training->states =
		    mem_zero((size_t)spec->layers, sizeof(struct block_state));
	}
	struct training *t = model->training;
	workspace_measure(&model->workspace);
	layout(model, batch, masked);
	workspace_ready(&model->workspace);
	layout(model, batch, masked);
	device_batch_upload(&t->on, model, batch);
	t->block = model_block_batch(model, batch, &t->on);
	t->tokens = batch->tokens;
	nn_embed(t->sum0, t->on.ids, t->on.starts, stem[STEM_TOKENS], stem[STEM_TYPES],
	    stem[STEM_POSITIONS], t->block.N, C);
	if (spec->embedding_norm)
		nn_norm(t->x0, NULL, t->stats0, t->sum0, NULL, stem[STEM_NORM].at,
		    stem[STEM_NORM_BIAS].at, spec->norm_eps, spec->norm, t->block.T, C);
	for (int layer = 0; layer < spec->layers; layer++) {
		size_t index = model_block_index(model, layer, batch->expert);
		block_forward(
		    spec, layer, &model->blocks[index], &t->block, &t->states[layer]);
	}
	if (spec->prenorm)
		nn_norm(t->last, NULL, t->stats_last, t->states[spec->layers - 1].out,
		    NULL, stem[STEM_FINAL_NORM].at, stem[STEM_FINAL_NORM_BIAS].at,
		    spec->norm_eps, spec->norm, t->block.T, C);
	return t->last;
}

/* From t->d, the gradient of the last hidden states, to every parameter. */
static void
backward(struct model *model, const struct batch *batch)
{
	const struct spec *spec = &model->spec;
	struct training *t = model->training;
	float *const *g = model->dstem;
	size_t C = (size_t)spec->width;

	if (spec->prenorm)
		nn_norm_back(t->d, g[STEM_FINAL_NORM], g[STEM_FINAL_NORM_BIAS], t->d,
		    t->states[spec->layers - 1].out, t->stats_last,
		    model->stem[STEM_FINAL_NORM].at, spec->norm, t->block.T, C);
	for (int layer = spec->layers - 1; layer >= 0; layer--) {
		size_t index = model_block_index(model, layer, batch->expert);
		block_backward(spec, layer, &model->blocks[index], &model->dblocks[index],
		    &t->block, &t->states[layer], &t->scratch, t->d);
	}
	if (spec->embedding_norm)
		nn_norm_back(t->d, g[STEM_NORM], g[STEM_NORM_BIAS], t->d, t->sum0,
		    t->stats0, model->stem[STEM_NORM].at, spec->norm, t->block.T, C);
	nn_embed_back(g[STEM_TOKENS], g[STEM_TYPES], g[STEM_POSITIONS], t->d, t->on.ids,
	    t->on.starts, t->block.N, C);
	lora_gather(model);
	t->tokens = 0;
}

const float *
model_forward(struct model *model, const struct batch *batch)
{
	const float *x = forward(model, batch, 0);
	struct training *t = model->training;

	return head_forward(&model->head, &t->head, x, t->on.starts, t->on.skip,
	    t->block.N, (size_t)model->spec.width);
}

void
model_backward(struct model *model, const struct batch *batch, const float *demb)
{
	struct training *t = model->training;

	if (!t || t->tokens != batch->tokens)
		die("%s: a backward pass without its forward pass", model->dir);
	head_backward(&model->head, &t->head, t->d, demb, t->last, t->on.starts,
	    t->on.skip, t->block.T, t->block.N, (size_t)model->spec.width);
	backward(model, batch);
}

bool
model_has_mlm(const struct model *model)
{
	const struct nn_matrix *stem = model->stem;

	return stem[STEM_MLM_DENSE].at && stem[STEM_MLM_NORM].at &&
	       (stem[STEM_MLM_DECODER].at || !model->spec.mlm_untied);
}

/* The head, up to the norm before the decoder. */
static void
mlm_forward(struct model *model, const float *x)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	struct mlm *m = &model->training->mlm;
	size_t C = (size_t)spec->width;

	nn_gather(m->hidden, x, m->positions, m->M, C);
	nn_linear(m->dense, C, m->hidden, C, stem[STEM_MLM_DENSE],
	    stem[STEM_MLM_DENSE_BIAS].at, m->M, C, C);
	nn_activate(m->act, m->dense, spec->act, m->M * C);
	nn_norm(m->norm, NULL, m->stats, m->act, NULL, stem[STEM_MLM_NORM].at,
	    stem[STEM_MLM_NORM_BIAS].at, spec->norm_eps, spec->norm, m->M, C);
}

/* Logits, loss, and the gradient of the norm's output into m->d. */
static double
mlm_loss(struct model *model, float scale, bool back, int64_t *correct)
{
	const struct nn_matrix *stem = model->stem;
	float *const *g = model->dstem;
	struct mlm *m = &model->training->mlm;
	size_t C = (size_t)model->spec.width, V = (size_t)model->spec.vocabulary;
	enum stem_parameter decoder =
	    stem[STEM_MLM_DECODER].at ? STEM_MLM_DECODER : STEM_TOKENS;
	double loss = 0;
	int64_t right = 0;

	for (size_t first = 0; first < m->M; first += m->step) {
		size_t left = m->M - first, rows = left < m->step ? left : m->step;
		const float *norm = m->norm + first * C;
		int64_t some = 0;
		nn_linear(m->logits, V, norm, C, stem[decoder], stem[STEM_MLM_BIAS].at,
		    rows, C, V);
		loss += nn_cross_entropy(
		    m->logits, m->targets + first, NULL, scale, rows, V, &some);
		right += some;
		if (back)
			nn_linear_back(m->d + first * C, false, g[decoder],
			    g[STEM_MLM_BIAS], m->logits, V, norm, C, stem[decoder], rows,
			    C, V);
	}
	if (correct)
		*correct = right;
	return loss;
}

static void
mlm_backward(struct model *model)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	float *const *g = model->dstem;
	struct training *t = model->training;
	struct mlm *m = &t->mlm;
	size_t C = (size_t)spec->width;

	nn_norm_back(m->d, g[STEM_MLM_NORM], g[STEM_MLM_NORM_BIAS], m->d, m->act,
	    m->stats, stem[STEM_MLM_NORM].at, spec->norm, m->M, C);
	nn_activate_back(m->d, m->d, m->dense, spec->act, m->M * C);
	/* m->act has served: it takes the gradient of the gathered rows */
	nn_linear_back(m->act, false, g[STEM_MLM_DENSE], g[STEM_MLM_DENSE_BIAS], m->d, C,
	    m->hidden, C, stem[STEM_MLM_DENSE], m->M, C, C);
	nn_zero(t->d, t->block.T * C);
	nn_scatter_add(t->d, m->act, m->positions, m->M, C);
}

double
model_mlm(struct model *model, const struct batch *batch, const int32_t *positions,
    const int32_t *targets, int64_t count, float scale, bool back, int64_t *correct)
{
	if (!model_has_mlm(model))
		die("%s: has no masked-language-model head", model->dir);
	if (correct)
		*correct = 0;
	if (!count)
		return 0;
	for (int64_t i = 0; i < count; i++)
		if (positions[i] < 0 || positions[i] >= batch->tokens || targets[i] < 0 ||
		    targets[i] >= model->spec.vocabulary)
			die("%s: masked position %d or target %d is out of range",
			    model->dir, (int)positions[i], (int)targets[i]);
	const float *x = forward(model, batch, (size_t)count);
	struct mlm *m = &model->training->mlm;
	nn_upload(m->positions, positions, (size_t)count * sizeof *positions);
	nn_upload(m->targets, targets, (size_t)count * sizeof *targets);
	mlm_forward(model, x);
	double loss = mlm_loss(model, scale, back, correct);
	if (back) {
		mlm_backward(model);
		backward(model, batch);
	}
	return loss;
}

int
model_parameters(const struct model *model)
{
	int count = model->weights.count;
	size_t size;

	if (model->learning)
		lora_parameters(model, &count, &size);
	return count;
}

const struct parameter *
model_parameter(const struct model *model, int index)
{
	int count;
	size_t size;

	return model->learning ? lora_parameters(model, &count, &size) + index
			       : &model->weights.tensors[index];
}

float *
model_values(struct model *model)
{
	return model->values;
}

float *
model_gradients(struct model *model)
{
	return model->gradients;
}

size_t
model_size(const struct model *model)
{
	size_t size = model->weights.size;
	int count;

	if (model->learning)
		lora_parameters(model, &count, &size);
	return size;
}

void
training_free(struct model *model)
{
	if (!model->training)
		return;
	free(model->training->states);
	free(model->training);
}
