/* Pooling, Dense and Normalize: forward and backward. */
#include "model/head.h"

void
head_layout(struct head_state *state, struct workspace *w, const struct head *head,
    size_t T, size_t N, size_t C, bool training)
{
	size_t width = (size_t)head->pools * C, widest = width;
	float *last = state->pooled = workspace_floats(w, N, width);

	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		bool dense = module->kind == HEAD_DENSE;
		if (dense)
			width = (size_t)module->out;
		widest = width > widest ? width : widest;
		/* what a backward does not ask for is overwritten */
		last = dense || training ? workspace_floats(w, N, width) : last;
		state->out[i] = last;
		state->before[i] = dense && module->tanh && training
				       ? workspace_floats(w, N, width)
				       : last;
		state->lengths[i] = dense ? NULL : workspace_floats(w, N, 1);
	}
	if (!training)
		return;
	state->d = workspace_floats(w, N, widest);
	state->other = workspace_floats(w, N, widest);
	state->scratch = head->pools > 1 ? workspace_floats(w, T, C) : NULL;
}

float *
head_forward(const struct head *head, const struct head_state *state, const float *x,
    const int32_t *starts, const int32_t *skip, size_t N, size_t C)
{
	size_t width = (size_t)head->pools * C;
	float *last = state->pooled;

	if (head->include_prompt)
		skip = NULL;
	for (int i = 0; i < head->pools; i++)
		nn_pool(
		    last + (size_t)i * C, width, x, starts, skip, head->pool[i], N, C);
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		float *out = state->out[i];
		if (module->kind == HEAD_DENSE) {
			size_t to = (size_t)module->out;
			nn_linear(state->before[i], to, last, width, module->weight,
			    module->bias_values, N, width, to);
			if (module->tanh)
				nn_activate(out, state->before[i], NN_TANH, N * to);
			width = to;
		} else {
			nn_normalize(out, state->lengths[i], last, N, width);
		}
		last = out;
	}
	return last;
}

void
head_backward(const struct head *head, const struct head_state *state, float *dx,
    const float *demb, const float *x, const int32_t *starts, const int32_t *skip,
    size_t T, size_t N, size_t C)
{
	size_t pooled = (size_t)head->pools * C, width = pooled;
	float *d = state->d, *other = state->other;

	if (head->include_prompt)
		skip = NULL;
	for (int i = 0; i < head->count; i++)
		if (head->modules[i].kind == HEAD_DENSE)
			width = (size_t)head->modules[i].out;
	nn_copy(d, demb, N * width);
	for (int i = head->count - 1; i >= 0; i--) {
		const struct head_module *module = &head->modules[i];
		const float *in = i ? state->out[i - 1] : state->pooled;
		if (module->kind == HEAD_NORMALIZE) {
			nn_normalize_back(
			    d, d, state->out[i], state->lengths[i], N, width);
			continue;
		}
		size_t from = (size_t)module->in;
		if (module->tanh)
			nn_activate_back(d, d, state->before[i], NN_TANH, N * width);
		nn_linear_back(other, false, module->dweight, module->dbias, d, width, in,
		    from, module->weight, N, from, width);
		float *swap = d;
		d = other;
		other = swap;
		width = from;
	}
	for (int i = 0; i < head->pools; i++) {
		float *to = i ? state->scratch : dx;
		nn_pool_back(
		    to, d + (size_t)i * C, pooled, x, starts, skip, head->pool[i], N, C);
		if (i)
			nn_add(dx, to, T * C);
	}
}
