/* Predicts tokens from the last hidden states of some positions: the head of masked language models (dense layer, activation,
 * norm, output matrix), or a decoder's output matrix alone. */
#include "base/err.h"
#include "model/family/family.h"
#include "model/model_struct.h"
#include "model/pass.h"
#include "model/tensor_search.h"

/* Rows of logits over the vocabulary at a time. */
enum { LOGITS = 256 };

/* Whether the head has a dense layer before the output matrix. */
static bool
transforms(const struct model *model)
{
	return model->weights.names->stem[STEM_MLM_DENSE];
}

void
prediction_layout(struct pass *pass, const struct model *model, size_t M)
{
	struct prediction *p = &pass->prediction;
	struct workspace *w = &pass->workspace;
	size_t C = (size_t)model->spec.width;
	size_t E = (size_t)spec_embedding_width(&model->spec), most = C > E ? C : E;

	p->M = M;
	p->rows = M < LOGITS ? M : LOGITS;
	p->positions = workspace_take(w, M, 1, sizeof *p->positions);
	p->targets = workspace_take(w, M, 1, sizeof *p->targets);
	p->norm = p->hidden = workspace_floats(w, M, C);
	if (transforms(model)) {
		p->dense = workspace_floats(w, M, E);
		p->act = workspace_floats(w, M, most);
		p->norm = workspace_floats(w, M, E);
		p->stats = workspace_floats(w, M, 2);
	}
	p->sum = workspace_take(w, 1, 1, sizeof *p->sum);
	p->logits = workspace_floats(w, p->rows, (size_t)model->spec.vocabulary);
	p->d = workspace_floats(w, M, most);
}

bool
model_predicts(const struct model *model)
{
	const struct nn_matrix *stem = model->stem;

	if (!model->spec.layers || !model->weights.names->stem[STEM_OUTPUT] ||
	    (!stem[STEM_OUTPUT].at && model->spec.untied))
		return false;
	return !transforms(model) || (stem[STEM_MLM_DENSE].at && stem[STEM_MLM_NORM].at);
}

void
prediction_demand(const struct model *model)
{
	const struct spec *spec = &model->spec;
	const char *const *names = model->weights.names->stem;
	const char *file = model->file ? safetensors_name(model->file) : model->dir;

	if (!spec->layers || spec->causal || !names[STEM_OUTPUT])
		die("%s: a head that predicts masked tokens is not supported for such a model",
		    file);
	for (int i = STEM_MLM_DENSE; i < STEM_PARAMETERS; i++) {
		char room[NAME_ROOM];
		int64_t rows, columns;
		const char *name =
		    tensor_search_name(room, names, (enum stem_parameter)i);
		bool needed = i != STEM_OUTPUT || spec->untied;
		if (name && needed && !model->stem[i].at &&
		    spec_stem_shape(spec, (enum stem_parameter)i, &rows, &columns))
			die("%s: tensor '%s' of the head that predicts tokens is missing",
			    file, name);
	}
}

/* A matrix of the head, to be multiplied as those of the blocks are. */
static struct nn_matrix
head_matrix(const struct model *model, enum stem_parameter which)
{
	struct nn_matrix matrix = model->stem[which];

	matrix.bf16 = model->rounded;
	return matrix;
}

void
prediction_to_output(const struct model *model, struct prediction *p)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	size_t C = (size_t)spec->width, E = (size_t)spec_embedding_width(spec);

	if (!transforms(model))
		return;
	nn_linear(p->dense, E, p->hidden, C, head_matrix(model, STEM_MLM_DENSE),
	    stem[STEM_MLM_DENSE_BIAS].at, p->M, C, E);
	nn_activate(p->act, p->dense, spec->head_act, p->M * E);
	nn_norm(p->norm, NULL, p->stats, p->act, NULL, stem[STEM_MLM_NORM].at,
	    stem[STEM_MLM_NORM_BIAS].at, spec->norm_eps, spec->norm, p->M, E);
}

static void
predict(struct model *model, const struct batch *batch, bool keep,
    const int32_t *positions, const int32_t *targets, int64_t count)
{
	if (!model_predicts(model))
		die("%s: has no head that predicts tokens", model->dir);
	for (int64_t i = 0; i < count; i++)
		if (positions[i] < 0 || positions[i] >= batch->tokens || targets[i] < 0 ||
		    targets[i] >= model->spec.vocabulary)
			die("%s: position %d or target %d is out of range", model->dir,
			    (int)positions[i], (int)targets[i]);
	const float *x = pass_forward(model, batch, keep, (size_t)count);
	struct prediction *p = &model->pass->prediction;
	if (!count)
		return;
	nn_upload(p->positions, positions, (size_t)count * sizeof *positions);
	nn_upload(p->targets, targets, (size_t)count * sizeof *targets);
	nn_gather(p->hidden, x, p->positions, p->M, (size_t)model->spec.width);
	prediction_to_output(model, p);
}

void
model_predict(struct model *model, const struct batch *batch, const int32_t *positions,
    const int32_t *targets, int64_t count)
{
	predict(model, batch, true, positions, targets, count);
}

/* Logits and loss; back: also p->d, the gradient of the output matrix' input. */
static void
output_loss(struct model *model, float scale, bool back)
{
	const struct nn_matrix *stem = model->stem;
	float *const *g = model->dstem;
	struct prediction *p = &model->pass->prediction;
	size_t E = (size_t)spec_embedding_width(&model->spec);
	size_t V = (size_t)model->spec.vocabulary;
	enum stem_parameter output = stem[STEM_OUTPUT].at ? STEM_OUTPUT : STEM_TOKENS;
	struct nn_matrix w = head_matrix(model, output);
	struct nn_loss none = { 0 };

	nn_upload(p->sum, &none, sizeof none);
	for (size_t first = 0; first < p->M; first += p->rows) {
		size_t left = p->M - first, rows = left < p->rows ? left : p->rows;
		const float *norm = p->norm + first * E;
		nn_linear(
		    p->logits, V, norm, E, w, stem[STEM_OUTPUT_BIAS].at, rows, E, V);
		nn_cross_entropy(
		    p->logits, p->sum, p->targets + first, NULL, scale, rows, V);
		if (back)
			nn_linear_back(p->d + first * E, false, g[output],
			    g[STEM_OUTPUT_BIAS], p->logits, V, norm, E, w, rows, E, V);
	}
}

/* From p->d to pass->d, the gradient of the last hidden states. */
static void
output_backward(struct model *model)
{
	const struct spec *spec = &model->spec;
	const struct nn_matrix *stem = model->stem;
	float *const *g = model->dstem, *d;
	struct pass *pass = model->pass;
	struct prediction *p = &pass->prediction;
	size_t C = (size_t)spec->width, E = (size_t)spec_embedding_width(spec);

	d = p->d;
	if (transforms(model)) {
		nn_norm_back(d, g[STEM_MLM_NORM], g[STEM_MLM_NORM_BIAS], d, p->act,
		    p->stats, stem[STEM_MLM_NORM].at, spec->norm, p->M, E);
		nn_activate_back(d, d, p->dense, spec->head_act, p->M * E);
		/* p->act is free now: it takes the gradient of the gathered rows */
		nn_linear_back(p->act, false, g[STEM_MLM_DENSE], g[STEM_MLM_DENSE_BIAS],
		    d, E, p->hidden, C, head_matrix(model, STEM_MLM_DENSE), p->M, C, E);
		d = p->act;
	}
	nn_zero(pass->d, pass->block.sequences.T * C);
	nn_scatter_add(pass->d, d, p->positions, p->M, C);
}

double
model_predict_backward(
    struct model *model, const struct batch *batch, float scale, double *correct)
{
	if (!model->passes_room || model->pass->batch != batch)
		die("%s: a backward pass without its forward pass", model->dir);
	struct nn_loss sum;
	output_loss(model, scale, true);
	struct nn_transfer *transfer =
	    nn_download_begin(&sum, model->pass->prediction.sum, sizeof sum);
	output_backward(model);
	model->predicts_reached = true;
	pass_backward(model, batch, NULL);
	nn_download_end(transfer);
	*correct = sum.correct;
	return sum.loss;
}

double
model_predict_loss(struct model *model, const struct batch *batch,
    const int32_t *positions, const int32_t *targets, int64_t count)
{
	predict(model, batch, false, positions, targets, count);
	if (!count)
		return 0;
	struct nn_loss sum;
	output_loss(model, 1, false);
	nn_download(&sum, model->pass->prediction.sum, sizeof sum);
	return sum.loss;
}
