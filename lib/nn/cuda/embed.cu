#include "nn/cuda/columns.h"
#include "nn/cuda/row.h"
#include "nn/cuda/sort.h"

namespace
{

struct embedding {
	float *x;
	const int32_t *ids, *starts, *position_ids, *type_ids;
	struct nn_matrix tokens, types, positions;
	size_t N, T, C;
	bool whole;
};

__device__ __forceinline__ size_t
position_of(const int32_t *starts, const int32_t *position_ids, size_t N, size_t t)
{
	if (position_ids)
		return (size_t)position_ids[t];
	return t - (size_t)starts[segment_of(starts, (int)N, (int32_t)t)];
}

/* Columns c..c+3 of a row. */
__device__ __forceinline__ struct four
take_row(struct nn_matrix from, size_t row, size_t c, size_t C, bool whole)
{
	struct four x = four_of(0);

	if (from.dtype == DTYPE_F32)
		return row_take((const float *)from.at + row * C, c, C, whole);
	for (int j = 0; j < 4; j++)
		if (c + j < C)
			x.at[j] = element_of(from.at, from.dtype, row * C + c + j);
	return x;
}

__global__ void
embed(struct embedding a)
{
	for (size_t t = lines_row(); t < a.T; t += lines_rows()) {
		size_t id = (size_t)a.ids[t], position = 0;
		size_t kind = a.type_ids ? (size_t)a.type_ids[t] : 0;
		if (a.positions.at)
			position = position_of(a.starts, a.position_ids, a.N, t);
		for (size_t c = lines_column(); c < a.C; c += lines_columns()) {
			struct four x = take_row(a.tokens, id, c, a.C, a.whole);
			if (a.types.at) {
				struct four type =
				    take_row(a.types, kind, c, a.C, a.whole);
				for (int j = 0; j < 4; j++)
					x.at[j] += type.at[j];
			}
			if (a.positions.at) {
				struct four own =
				    take_row(a.positions, position, c, a.C, a.whole);
				for (int j = 0; j < 4; j++)
					x.at[j] += own.at[j];
			}
			row_put(a.x + t * a.C, c, a.C, a.whole, x);
		}
	}
}

__global__ void
count_positions(int32_t *positions, const int32_t *starts, size_t N, size_t T)
{
	for (size_t t = grid_thread(); t < T; t += grid_threads())
		positions[t] = (int32_t)position_of(starts, NULL, N, t);
}

bool
whole_matrix(struct nn_matrix matrix, size_t C)
{
	return matrix.dtype != DTYPE_F32 || row_whole(matrix.at, C, C);
}
} // namespace

void
nn_embed(float *x, const int32_t *ids, const struct nn_sequences *sequences,
    struct nn_matrix tokens, struct nn_matrix types, struct nn_matrix positions, size_t C)
{
	struct row_grid lines = row_grid_of(sequences->T, C);
	bool whole = row_whole(x, C, C) && whole_matrix(tokens, C) &&
		     whole_matrix(types, C) && whole_matrix(positions, C);

	device_launch(embed, lines.grid, lines.block, 0,
	    embedding{ x, ids, sequences->starts, sequences->positions, sequences->types,
		tokens, types, positions, sequences->N, sequences->T, C, whole });
}

void
nn_embed_back(float *dtokens, float *dtypes, float *dpositions, const float *dx,
    const int32_t *ids, const struct nn_sequences *sequences, size_t C)
{
	size_t T = sequences->T;
	const int32_t *positions = sequences->positions;

	if (dtokens)
		device_scatter_add(dtokens, dx, ids, T, C);
	if (dtypes && sequences->types)
		device_scatter_add(dtypes, dx, sequences->types, T, C);
	else if (dtypes)
		column_sums(dtypes, matrix_element{ dx, C }, T, C);
	if (!dpositions)
		return;
	scratch<int32_t> counted(positions ? 0 : T);
	if (!positions)
		device_launch(count_positions, device_spread(T), BLOCK, 0, counted.at,
		    sequences->starts, sequences->N, T);
	device_scatter_add(dpositions, dx, positions ? positions : counted.at, T, C);
}
