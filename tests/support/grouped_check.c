/*
 * grouped_check - compare nn_linear_grouped with nn_linear of each group: the same bits on the processor; a device may sum in
 * another order
 */
#include "nn_check.h"

/* Weights of every kind that layers have. */
enum kind { FLOATS, STORED_HALVES, PACKED_BF16, PACKED_BYTES, KINDS };

static struct nn_matrix
weights(enum kind kind, const float *w, size_t O, size_t C)
{
	enum dtype dtype = kind == FLOATS	  ? DTYPE_F32
			   : kind == PACKED_BYTES ? DTYPE_I8
						  : DTYPE_BF16;
	struct nn_matrix made = { .dtype = dtype };

	if (kind >= PACKED_BF16 && nn_supports(dtype)) {
		size_t size = nn_packed_size(dtype, O, C);
		void *to = array_new((size + sizeof(float) - 1) / sizeof(float))->at;
		if (!nn_pack(to, dtype, w, DTYPE_F32, false, NULL, O, C))
			die("weights are not finite");
		made.at = to;
		made.packed = true;
		return made;
	}
	struct array *stored = array_new(O * C);
	made.at = stored->at;
	if (dtype == DTYPE_BF16) {
		uint16_t *narrow = mem_new(O * C, sizeof *narrow);
		tensor_from_f32(narrow, DTYPE_BF16, w, O * C);
		nn_upload(stored->at, narrow, O * C * sizeof *narrow);
		free(narrow);
	} else {
		nn_upload(stored->at, w, O * C * sizeof *w);
		made.dtype = DTYPE_F32;
	}
	return made;
}

static void
groups_case(enum kind kind, const size_t *rows, size_t count, size_t C, size_t O,
    bool bias, const enum nn_act *act)
{
	struct nn_gemm_group *groups = mem_zero(count, sizeof *groups);
	float *w = mem_new(O * C, sizeof *w);
	size_t R = 0, row = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < O * C; j++)
			w[j] = (float)(rng_normal(&chance) / sqrt((double)C));
		groups[i] = (struct nn_gemm_group){ weights(kind, w, O, C),
			bias ? array_random(O, 1)->at : NULL, rows[i] };
		R += rows[i];
	}
	struct array *x = array_random(R * C, 1), *y = array_new(R * O);
	struct array *each = array_new(R * O);
	nn_linear_grouped(y->at, x->at, groups, count, act, C, O);
	for (size_t i = 0; i < count; i++) {
		struct nn_gemm_group *s = &groups[i];
		float *to = each->at + row * O, *from = x->at + row * C;
		if (act)
			nn_linear_activate(
			    to, O, from, C, s->w, s->b, *act, s->rows, C, O);
		else
			nn_linear(to, O, from, C, s->w, s->b, s->rows, C, O);
		row += s->rows;
	}
	if (nn_device()) {
		float *host = mem_new(R * O, sizeof *host);
		nn_download(host, each->at, R * O * sizeof *host);
		for (size_t i = 0; i < R * O; i++)
			each->ref[i] = (double)host[i];
		expect("groups", y->at, each->ref, R * O, 1e-5);
		free(host);
	} else
		expect_bits_of("groups", y->at, each->at, R * O);
	free(w);
	free(groups);
	arrays_free();
}

static void
check_kinds(void)
{
	static const size_t rows[] = { 3, 0, 130, 1, 0, 64, 0 };
	static const enum nn_act gelu = NN_GELU;

	for (enum kind kind = 0; kind < KINDS; kind++) {
		groups_case(kind, rows, 7, 40, 24, true, NULL);
		groups_case(kind, rows, 7, 40, 24, true, &gelu);
		groups_case(kind, rows, 1, 40, 24, false, NULL);
		groups_case(kind, rows + 1, 1, 40, 24, false, NULL);
	}
}

/* Tiles that are not full, rows that are no multiple of anything. */
static void
check_sizes(void)
{
	static const size_t rows[] = { 129, 1, 128, 65 };
	static const size_t sizes[] = { 1, 7, 64, 65, 130, 200 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
			groups_case(
			    PACKED_BF16, rows, 4, sizes[i], sizes[j], (i + j) % 2, NULL);
}

/* More groups than one launch computes. */
static void
check_many(void)
{
	enum { MANY = 150 };
	size_t rows[MANY];

	for (size_t i = 0; i < MANY; i++)
		rows[i] = rng_below(&chance, 4);
	groups_case(PACKED_BF16, rows, MANY, 24, 10, true, NULL);
}

static const struct check checks[] = {
	{ "kinds", check_kinds },
	{ "sizes", check_sizes },
	{ "many", check_many },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
