/* Masked language modelling: the head over the last hidden states of masked positions. */
#include "base/err.h"
#include "model/model_internal.h"

/* Rows of logits over the vocabulary at a time. */
enum { LOGITS = 256 };

void
mlm_layout(struct model *model, size_t M)
{
	struct mlm *mlm = &model->pass->mlm;
	struct workspace *w = &model->workspace;
	size_t C = (size_t)model->spec.width;

	mlm->M = M;
	mlm->rows = M < LOGITS ? M : LOGITS;
	mlm->positions = workspace_take(w, M, 1, sizeof *mlm->positions);
	mlm->targets = workspace_take(w, M, 1, sizeof *mlm->targets);
	mlm->hidden = workspace_floats(w, M, C);
	mlm->dense = workspace_floats(w, M, C);
	mlm->act = workspace_floats(w, M, C);
	mlm->norm = workspace_floats(w, M, C);
	mlm->stats = workspace_floats(w, M, 2);
	mlm->logits = workspace_floats(w, mlm->rows, (size_t)model->spec.vocabulary);
	mlm->d = workspace_floats(w, M, C);
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
	struct mlm *m = &model->pass->mlm;
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
	struct mlm *m = &model->pass->mlm;
	size_t C = (size_t)model->spec.width, V = (size_t)model->spec.vocabulary;
	enum stem_parameter decoder =
	    stem[STEM_MLM_DECODER].at ? STEM_MLM_DECODER : STEM_TOKENS;
	double loss = 0;
	int64_t right = 0;

	for (size_t first = 0; first < m->M; first += m->rows) {
		size_t left = m->M - first, rows = left < m->rows ? left : m->rows;
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
	struct pass *pass = model->pass;
	struct mlm *m = &pass->mlm;
	size_t C = (size_t)spec->width;

	nn_norm_back(m->d, g[STEM_MLM_NORM], g[STEM_MLM_NORM_BIAS], m->d, m->act,
	    m->stats, stem[STEM_MLM_NORM].at, spec->norm, m->M, C);
	nn_activate_back(m->d, m->d, m->dense, spec->act, m->M * C);
	/* m->act has served: it takes the gradient of the gathered rows */
	nn_linear_back(m->act, false, g[STEM_MLM_DENSE], g[STEM_MLM_DENSE_BIAS], m->d, C,
	    m->hidden, C, stem[STEM_MLM_DENSE], m->M, C, C);
	nn_zero(pass->d, pass->block.T * C);
	nn_scatter_add(pass->d, m->act, m->positions, m->M, C);
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
	const float *x = pass_forward(model, batch, true, (size_t)count);
	struct mlm *m = &model->pass->mlm;
	nn_upload(m->positions, positions, (size_t)count * sizeof *positions);
	nn_upload(m->targets, targets, (size_t)count * sizeof *targets);
	mlm_forward(model, x);
	double loss = mlm_loss(model, scale, back, correct);
	if (back) {
		mlm_backward(model);
		model->mlm_reached = true;
		pass_backward(model, batch);
	}
	return loss;
}
