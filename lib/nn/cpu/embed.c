#include "nn/nn.h"

#include "nn/cpu/cpu.h"

static size_t
position_of(const struct nn_sequences *sequences, size_t t)
{
	if (sequences->positions)
		return (size_t)sequences->positions[t];
	return t - (size_t)sequences->starts[nn_sequence_of(sequences, t)];
}

static size_t
type_of(const struct nn_sequences *sequences, size_t t)
{
	return sequences->types ? (size_t)sequences->types[t] : 0;
}

/* x = or += row `row` of a matrix of C columns */
static void
take_row(float *x, struct nn_matrix from, size_t row, size_t C, bool add)
{
	enum { SOME = 512 };
	const char *at = (const char *)from.at + row * C * dtype_size(from.dtype);

	if (!add) {
		tensor_to_f32(x, at, from.dtype, C);
		return;
	}
	for (size_t c = 0; c < C; c += SOME) {
		float part[SOME];
		size_t some = C - c < SOME ? C - c : SOME;
		tensor_to_f32(part, at + c * dtype_size(from.dtype), from.dtype, some);
		for (size_t i = 0; i < some; i++)
			x[c + i] += part[i];
	}
}

void
nn_embed(float *x, const int32_t *ids, const struct nn_sequences *sequences,
    struct nn_matrix tokens, struct nn_matrix types, struct nn_matrix positions, size_t C)
{
	size_t T = sequences->T;

#pragma omp parallel for schedule(static) if (nn_shared(T, C))
	for (size_t t = 0; t < T; t++) {
		float *row = x + t * C;
		take_row(row, tokens, (size_t)ids[t], C, false);
		if (types.at)
			take_row(row, types, type_of(sequences, t), C, true);
		if (positions.at)
			take_row(row, positions, position_of(sequences, t), C, true);
	}
}

/* Columns from..to-1 of the three gradients; one thread adds all rows, in order. */
static void
embed_back_slice(float *dtokens, float *dtypes, float *dpositions, const float *dx,
    const int32_t *ids, const struct nn_sequences *sequences, size_t C, size_t from,
    size_t to)
{
	const int32_t *starts = sequences->starts, *positions = sequences->positions;

	for (size_t i = 0; i < sequences->N; i++)
		for (size_t t = (size_t)starts[i]; t < (size_t)starts[i + 1]; t++) {
			const float *row = dx + t * C;
			float *token = dtokens ? dtokens + (size_t)ids[t] * C : NULL;
			size_t at =
			    positions ? (size_t)positions[t] : t - (size_t)starts[i];
			float *place = dpositions ? dpositions + at * C : NULL;
			for (size_t c = from; token && c < to; c++)
				token[c] += row[c];
			float *type = dtypes ? dtypes + type_of(sequences, t) * C : NULL;
			for (size_t c = from; type && c < to; c++)
				type[c] += row[c];
			for (size_t c = from; place && c < to; c++)
				place[c] += row[c];
		}
}

void
nn_embed_back(float *dtokens, float *dtypes, float *dpositions, const float *dx,
    const int32_t *ids, const struct nn_sequences *sequences, size_t C)
{
	const size_t step = nn_column_step(C);

#pragma omp parallel for schedule(                                                       \
    static) if (nn_shared(nn_blocks(C, step), sequences->T * step))
	for (size_t from = 0; from < C; from += step)
		embed_back_slice(dtokens, dtypes, dpositions, dx, ids, sequences, C, from,
		    from + step < C ? from + step : C);
}
