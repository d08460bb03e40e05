#include "geometry/principal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/status_line.h"
#include "geometry/eigen.h"
#include "text/lines.h"
#include "text/tsv.h"

/* The mean, and the first eigenvectors. */
struct basis {
	double *mean;
	struct eigen *eigen;
};

static struct basis
basis_of(const char *const *paths, int count, const struct embeddings_options *columns,
    int components)
{
	struct embeddings *embeddings = embeddings_open(paths, count, columns);
	int width = embeddings_width(embeddings);
	struct covariance *covariance = embeddings_covariance(
	    embeddings, "they do not vary in more directions than that");
	struct basis basis = { .mean = mem_new((size_t)width, sizeof(double)) };
	double *matrix = covariance_matrix(covariance, 1), all = 0;

	if (components > width)
		die("%s: --components: its vectors have %d values, and no more components",
		    embeddings_name(embeddings), width);
	for (int i = 0; i < width; i++)
		all += matrix[i * (size_t)width + (size_t)i];
	basis.eigen = eigen_symmetric(matrix, width, components);
	memcpy(basis.mean, covariance->mean, (size_t)width * sizeof *basis.mean);
	for (int i = 0; i < components; i++)
		inform("pc%d: %.4f of the variance", i + 1, basis.eigen->values[i] / all);
	free(matrix);
	covariance_free(covariance);
	embeddings_close(embeddings);
	return basis;
}

static void
project(const struct basis *basis, double *to, const float *vector)
{
	size_t width = (size_t)basis->eigen->width;

	for (int i = 0; i < basis->eigen->rank; i++) {
		const double *direction = basis->eigen->vectors + (size_t)i * width;
		to[i] = 0;
		for (size_t j = 0; j < width; j++)
			to[i] += direction[j] * ((double)vector[j] - basis->mean[j]);
	}
}

static void
print_stream(const char *path, const struct embeddings_options *columns,
    const struct basis *basis, const struct lines *lines)
{
	struct embeddings *embeddings = embeddings_open(&path, 1, columns);
	int components = basis->eigen->rank;
	double *numbers = mem_new((size_t)components, sizeof *numbers);
	const float *vectors;
	size_t rows;

	if (embeddings_width(embeddings) != basis->eigen->width)
		die("%s: its vectors have width %d, those of the basis %d", path,
		    embeddings_width(embeddings), basis->eigen->width);
	while ((vectors = embeddings_next(embeddings, &rows)))
		for (size_t row = 0; row < rows; row++) {
			char *id = embeddings_id(embeddings, row);
			char *dataset = embeddings_dataset(embeddings, row);
			tsv_check_name(path, "id", id, strlen(id), "a table");
			if (*dataset)
				tsv_check_name(path, "data set", dataset, strlen(dataset),
				    "a table");
			project(
			    basis, numbers, vectors + row * (size_t)basis->eigen->width);
			lines_put(lines, (const char *const[]){ path, id, dataset },
			    numbers, NULL, components);
			free(dataset);
			free(id);
		}
	free(numbers);
	embeddings_close(embeddings);
}

static void
print_head(const struct lines *lines, int components)
{
	char **names = mem_zero((size_t)components + 4, sizeof *names);

	names[0] = mem_string("stream");
	names[1] = mem_string("id");
	names[2] = mem_string("dataset");
	for (int i = 0; i < components; i++)
		names[3 + i] = mem_format("pc%d", i + 1);
	lines_head(lines, (const char *const *)names);
	for (int i = 0; i < components + 3; i++)
		free(names[i]);
	free(names);
}

static void
check_file(const char *path)
{
	if (!strcmp(path, "-"))
		die_usage("pca reads its streams twice: name files");
	file_need_twice(path);
}

void
principal_print(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct principal_options *options)
{
	const struct lines lines = { stdout, false, 3 };
	struct embeddings_options rows = *columns;

	rows.single = rows.any_model = true;
	for (int i = 0; i < count; i++)
		check_file(paths[i]);
	struct basis basis =
	    options->basis ? basis_of(&options->basis, 1, &rows, options->components)
			   : basis_of(paths, count, &rows, options->components);
	status_line_stop();
	print_head(&lines, options->components);
	for (int i = 0; i < count; i++)
		print_stream(paths[i], &rows, &basis, &lines);
	free(basis.mean);
	eigen_free(basis.eigen);
}
