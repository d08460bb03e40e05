#include "spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"

static bool
shape(bool present, int64_t *rows, int64_t r, int64_t *columns, int64_t c)
{
	*rows = r;
	*columns = c;
	return present;
}

bool
spec_block_shape(
    const struct spec *spec, enum block_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width, I = spec->inner;
	int64_t q = (int64_t)spec->heads * spec->head_size;
	int64_t kv = (int64_t)spec->kv_heads * spec->head_size;

	switch (which) {
	case BLOCK_Q: return shape(true, rows, q, columns, C);
	case BLOCK_Q_BIAS: return shape(spec->qkv_bias, rows, q, columns, 0);
	case BLOCK_K:
	case BLOCK_V: return shape(true, rows, kv, columns, C);
	case BLOCK_K_BIAS:
	case BLOCK_V_BIAS: return shape(spec->qkv_bias, rows, kv, columns, 0);
	case BLOCK_OUT: return shape(true, rows, C, columns, q);
	case BLOCK_OUT_BIAS: return shape(spec->out_bias, rows, C, columns, 0);
	case BLOCK_NORM1:
	case BLOCK_NORM2: return shape(true, rows, C, columns, 0);
	case BLOCK_NORM1_BIAS:
	case BLOCK_NORM2_BIAS:
		return shape(spec->norm == NN_LAYERNORM, rows, C, columns, 0);
	case BLOCK_UP: return shape(true, rows, I, columns, C);
	case BLOCK_UP_BIAS: return shape(spec->up_bias, rows, I, columns, 0);
	case BLOCK_GATE: return shape(spec->gated, rows, I, columns, C);
	case BLOCK_GATE_BIAS:
		return shape(spec->gated && spec->up_bias, rows, I, columns, 0);
	case BLOCK_DOWN: return shape(true, rows, C, columns, I);
	case BLOCK_DOWN_BIAS: return shape(spec->down_bias, rows, C, columns, 0);
	case BLOCK_PARAMETERS: break;
	}
	return false;
}

bool
spec_stem_shape(
    const struct spec *spec, enum stem_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width;
	bool biased = spec->norm == NN_LAYERNORM;

	switch (which) {
	case STEM_TOKENS: return shape(true, rows, spec->vocabulary, columns, C);
	case STEM_POSITIONS:
		return shape(spec->position_table, rows, spec->positions, columns, C);
	case STEM_TYPES: return shape(spec->types > 0, rows, spec->types, columns, C);
	case STEM_NORM: return shape(true, rows, C, columns, 0);
	case STEM_NORM_BIAS: return shape(biased, rows, C, columns, 0);
	case STEM_MLM_DENSE: return shape(true, rows, C, columns, C);
	case STEM_MLM_DENSE_BIAS: return shape(spec->mlm_bias, rows, C, columns, 0);
	case STEM_MLM_NORM: return shape(true, rows, C, columns, 0);
	case STEM_MLM_NORM_BIAS: return shape(biased, rows, C, columns, 0);
	case STEM_MLM_BIAS:
		return shape(spec->mlm_bias, rows, spec->vocabulary, columns, 0);
	case STEM_PARAMETERS: break;
	}
	return false;
}

void
spec_check(const struct spec *spec, const struct tree *config)
{
	if (spec->heads % spec->kv_heads)
		tree_die(config, "%d attention heads cannot share %d key/value heads",
		    spec->heads, spec->kv_heads);
	if (spec->head_size < 1 || spec->head_size > 1024)
		tree_die(config,
		    "the size of an attention head is %d; it must be in 1..1024",
		    spec->head_size);
	if (spec->rotary && spec->head_size % 2)
		tree_die(config, "rotary positions need an even head size, not %d",
		    spec->head_size);
	if (!(spec->norm_eps > 0 && spec->norm_eps < 1))
		tree_die(config, "the epsilon of the norms is %g; it must be in 0..1",
		    (double)spec->norm_eps);
	if (spec->rotary && !(spec->rotary_base > 1))
		tree_die(config, "the rotary base is %g; it must be above 1",
		    spec->rotary_base);
	if (tree_get(config, "quantization_config"))
		tree_die(tree_get(config, "quantization_config"),
		    "quantised checkpoints are not read; use the float one");
}

enum nn_act
spec_activation(const struct tree *config, const char *key, const char *otherwise)
{
	static const struct {
		const char *name;
		enum nn_act act;
	} names[] = { { "gelu", NN_GELU }, { "gelu_new", NN_GELU_TANH },
		{ "gelu_pytorch_tanh", NN_GELU_TANH }, { "gelu_fast", NN_GELU_TANH },
		{ "silu", NN_SILU }, { "swish", NN_SILU }, { "relu", NN_RELU } };
	const char *name = tree_string(config, key, otherwise);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i].name))
			return names[i].act;
	tree_die(
	    config, "'%s' is '%s'; known are gelu, gelu_new, silu and relu", key, name);
}

void
place_at(struct place *place, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(place->name, sizeof place->name, format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof place->name)
		die("%s...: the tensor's name is too long", place->name);
	place->first_row = place->tensor_rows = 0;
}
