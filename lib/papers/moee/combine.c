#include "papers/moee/combine.h"

#include <math.h>
#include <string.h>

#include "search/similarity.h"

const char *const combine_names[] = { "sum", "concat", "hs", "rw", "apart", NULL };

static const float *
vector(const struct emitted_field *field, int kind, int64_t at)
{
	return field->parts[kind].x + at * field->parts[kind].width;
}

int
combine_width(const struct emitted_field *field)
{
	return field->parts[PART_HS].width + field->parts[PART_RW].width;
}

int
combine_vector(enum combine how, double alpha, float *to,
    const struct emitted_field *field, int64_t at)
{
	double whole = 0;
	int zeros = 0;

	for (int kind = 0; kind < PARTS; kind++) {
		int width = field->parts[kind].width;
		if (!width) /* not wanted */
			continue;
		const float *x = vector(field, kind, at);
		double square = similarity_dot(x, x, width);
		double factor = how == COMBINE_SUM && square > 0 ? 1 / sqrt(square) : 1;
		if (how == COMBINE_SUM && kind == PART_RW)
			factor *= sqrt(alpha);
		for (int i = 0; i < width; i++)
			to[i] = (float)(x[i] * factor);
		to += width;
		zeros += square == 0;
		whole += square;
	}
	return how == COMBINE_SUM ? zeros : whole == 0;
}

/* The dot products of a pair: both, and each with itself. */
struct products {
	double both, one, two;
};

static struct products
products(int kind, struct emitted_side one, struct emitted_side two)
{
	int width = one.field->parts[kind].width;

	if (!width)
		return (struct products){ 0 };
	const float *a = vector(one.field, kind, one.at),
		    *b = vector(two.field, kind, two.at);
	return (struct products){ similarity_dot(a, b, width),
		similarity_dot(a, a, width), similarity_dot(b, b, width) };
}

static double
cosine(struct products products)
{
	double square = products.one * products.two;

	return square > 0 ? products.both / sqrt(square) : 0;
}

double
combine_cosine(int kind, struct emitted_side one, struct emitted_side two)
{
	return cosine(products(kind, one, two));
}

double
combine_similarity(
    enum combine how, double alpha, struct emitted_side one, struct emitted_side two)
{
	struct products hs = products(PART_HS, one, two),
			rw = products(PART_RW, one, two);

	if (how == COMBINE_SUM)
		return cosine(hs) + alpha * cosine(rw);
	return cosine(
	    (struct products){ hs.both + rw.both, hs.one + rw.one, hs.two + rw.two });
}
