#include "geometry/isotropy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/json.h"
#include "text/lines.h"

static const char *const names[] = { "stream", "vectors", "width", "variance", "isoscore",
	"dimensions", NULL };

enum { NUMBERS = 5 };

struct isotropy {
	double variance;   /* total */
	double score;	   /* IsoScore */
	double dimensions; /* n phi, the effective number */
};

static struct isotropy
isotropy_of(const struct covariance *covariance)
{
	size_t n = (size_t)covariance->width;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		const double *row = covariance->scatter + i * n;
		double others = 0;
		for (size_t j = 0; j < i; j++)
			others += row[j] * row[j];
		sum += row[i];
		squares += row[i] * row[i] + 2 * others;
	}
	double dimensions = sum * sum / squares;
	return (struct isotropy){ .variance = sum / (double)(covariance->count - 1),
		.dimensions = dimensions,
		.score = (dimensions - 1) / (double)(n - 1) };
}

/* Computes the numbers of a stream; returns its name. */
static char *
measure(
    const char *path, const struct embeddings_options *columns, double numbers[NUMBERS])
{
	struct embeddings *embeddings = embeddings_open(&path, 1, columns);
	char *name = mem_string(embeddings_name(embeddings));
	int width = embeddings_width(embeddings);

	if (width < 2)
		die("%s: vectors of one value have no isotropy", name);
	struct covariance *covariance = embeddings_covariance(
	    embeddings, "so few do not vary in all directions: the score is too low");
	struct isotropy isotropy = isotropy_of(covariance);
	memcpy(numbers,
	    (double[]){ (double)covariance->count, width, isotropy.variance,
		isotropy.score, isotropy.dimensions },
	    NUMBERS * sizeof *numbers);
	covariance_free(covariance);
	embeddings_close(embeddings);
	return name;
}

static struct tree *
object_of(const char *name, const double numbers[NUMBERS])
{
	struct tree *object = tree_object();

	tree_set(object, names[0], tree_of_string(name));
	for (int i = 0; i < NUMBERS; i++)
		tree_set(object, names[i + 1],
		    i < 2 ? tree_of_integer((int64_t)numbers[i])
			  : tree_of_real(numbers[i]));
	return object;
}

static void
print_json(char *const *streams, double (*numbers)[NUMBERS], int count)
{
	struct tree *list = tree_list();

	for (int i = 0; i < count; i++)
		tree_add(list, object_of(streams[i], numbers[i]));
	json_print(list);
	tree_free(list);
}

static void
print_tsv(char *const *streams, double (*numbers)[NUMBERS], int count)
{
	const struct lines lines = { stdout, false, 1 };

	lines_head(&lines, names);
	for (int i = 0; i < count; i++)
		lines_put(&lines, (const char *const[]){ streams[i] }, numbers[i], NULL,
		    NUMBERS);
}

void
isotropy_print(const char *const *paths, int count,
    const struct embeddings_options *columns, bool json)
{
	double(*numbers)[NUMBERS] = mem_new((size_t)count, sizeof *numbers);
	char **streams = mem_new((size_t)count, sizeof *streams);

	for (int i = 0; i < count; i++)
		streams[i] = measure(paths[i], columns, numbers[i]);
	(json ? print_json : print_tsv)(streams, numbers, count);
	for (int i = 0; i < count; i++)
		free(streams[i]);
	free(streams);
	free(numbers);
}
