#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/status_line.h"
#include "geometry/eigen.h"
#include "geometry/drift.h"
#include "score/measure/stats.h"
#include "score/per_query.h"
#include "text/json.h"
#include "text/lines.h"

enum { NUMBERS = 5 };

static const char *const names[] = { "component", "variance", "share", "shift", "moved",
	"moved_share", NULL };

/* A stream, its current vectors, and the next row of them. */
struct drift_stream {
	struct embeddings *embeddings;
	const char *path;
	const float *vectors;
	size_t rows, at;
};

struct drift {
	struct drift_stream before, after;
	size_t width;
	struct covariance *x, *moved; /* of x; of y - x */
	struct per_query *per_text;   /* NULL: none */
	double *distances, *cosines;
	size_t texts, distance_room, cosine_room;
};

static struct drift_stream
open_drift_stream(const char *path, const struct embeddings_options *columns)
{
	struct drift_stream stream = { .path = path };

	stream.embeddings = embeddings_open(&path, 1, columns);
	return stream;
}

/* Reads on if needed; false at the end. */
static bool
ready(struct drift_stream *stream)
{
	while (stream->at == stream->rows) {
		stream->at = stream->rows = 0;
		stream->vectors = embeddings_next(stream->embeddings, &stream->rows);
		if (!stream->vectors)
			return false;
	}
	return true;
}

static void
check_ids(const struct drift *drift, const char *before, const char *after)
{
	if (strcmp(before, after) != 0)
		die("%s: row %zu is '%s', in %s it is '%s'; bring both into one order (mts rows --sort _id)",
		    drift->after.path, drift->texts + 1, after, drift->before.path,
		    before);
}

static void
note_text(struct drift *drift, const char *id, const float *x, const float *y)
{
	double xx = 0, yy = 0, xy = 0, distance = 0;
	size_t text = drift->texts;

	for (size_t i = 0; i < drift->width; i++) {
		double a = (double)x[i], b = (double)y[i];
		xx += a * a;
		yy += b * b;
		xy += a * b;
		distance += (b - a) * (b - a);
	}
	drift->distances = mem_grow(
	    drift->distances, &drift->distance_room, text + 1, sizeof *drift->distances);
	drift->cosines = mem_grow(
	    drift->cosines, &drift->cosine_room, text + 1, sizeof *drift->cosines);
	drift->distances[text] = sqrt(distance);
	double cosine = xy / sqrt(xx * yy);
	drift->cosines[text] = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
	if (drift->per_text)
		per_query_add(drift->per_text, id, strlen(id));
}

static void
take(struct drift *drift, float *room)
{
	struct drift_stream *before = &drift->before, *after = &drift->after;
	const float *x = before->vectors + before->at * drift->width;
	const float *y = after->vectors + after->at * drift->width;
	char *id = embeddings_id(before->embeddings, before->at);
	char *other = embeddings_id(after->embeddings, after->at);

	check_ids(drift, id, other);
	for (size_t i = 0; i < drift->width; i++)
		room[i] = y[i] - x[i];
	covariance_add(drift->x, x, 1);
	covariance_add(drift->moved, room, 1);
	note_text(drift, id, x, y);
	drift->texts++;
	before->at++;
	after->at++;
	free(other);
	free(id);
}

static void
read_both(struct drift *drift)
{
	float *room = mem_new(drift->width, sizeof *room);
	bool more = ready(&drift->before), other = ready(&drift->after);

	while (more && other) {
		take(drift, room);
		more = ready(&drift->before);
		other = ready(&drift->after);
	}
	if (more || other)
		die("%s: it ends after %zu rows, %s goes on; compare the same texts",
		    more ? drift->after.path : drift->before.path, drift->texts,
		    more ? drift->before.path : drift->after.path);
	covariance_finish(drift->x);
	covariance_finish(drift->moved);
	free(room);
}

/* The lines. ----------------------------------------------------------------------- */

/* e . mean of d, and the mean of (e . d)^2. */
static void
along(const struct covariance *moved, const double *direction, double *shift,
    double *square)
{
	size_t width = (size_t)moved->width;
	double spread = 0;

	*shift = 0;
	for (size_t i = 0; i < width; i++) {
		const double *row = moved->scatter + i * width;
		double sum = row[i] * direction[i];
		for (size_t j = 0; j < i; j++)
			sum += 2 * row[j] * direction[j];
		spread += direction[i] * sum;
		*shift += direction[i] * moved->mean[i];
	}
	*square = spread / (double)moved->count + *shift * *shift;
}

/* The line of all directions. */
static void
total(const struct drift *drift, double numbers[NUMBERS])
{
	size_t width = drift->width;
	double variance = 0, mean = 0, spread = 0;

	for (size_t i = 0; i < width; i++) {
		variance += drift->x->scatter[i * width + i];
		spread += drift->moved->scatter[i * width + i];
		mean += drift->moved->mean[i] * drift->moved->mean[i];
	}
	memcpy(numbers,
	    (double[]){ variance / (double)(drift->texts - 1), 1, sqrt(mean),
		spread / (double)drift->texts + mean, 1 },
	    NUMBERS * sizeof *numbers);
}

/* [components + 2][NUMBERS]: each component, the rest, all. */
static double (*measure(const struct drift *drift, int components))[NUMBERS]
{
	double(*lines)[NUMBERS] = mem_new((size_t)components + 2, sizeof *lines);
	double *matrix = covariance_matrix(drift->x, 1), *all = lines[components + 1];
	double *rest = lines[components], mean = 0;
	struct eigen *eigen = eigen_symmetric(matrix, (int)drift->width, components);

	total(drift, all);
	memcpy(rest, all, sizeof *lines);
	mean = all[2] * all[2];
	for (int i = 0; i < components; i++) {
		double *line = lines[i];
		line[0] = eigen->values[i];
		line[1] = line[0] / all[0];
		along(drift->moved, eigen->vectors + (size_t)i * drift->width, &line[2],
		    &line[3]);
		line[4] = line[3] / all[3]; /* 0 / 0: nothing moved, no share */
		mean -= line[2] * line[2];
		rest[0] -= line[0];
		rest[3] -= line[3];
	}
	rest[0] = fmax(rest[0], 0);
	rest[1] = rest[0] / all[0];
	rest[2] = sqrt(fmax(mean, 0));
	rest[3] = fmax(rest[3], 0);
	rest[4] = rest[3] / all[3];
	all[4] = all[3] / all[3];
	free(matrix);
	eigen_free(eigen);
	return lines;
}

static char *
line_name(int line, int components)
{
	return line < components    ? mem_format("%d", line + 1)
	       : line == components ? mem_string("rest")
				    : mem_string("all");
}

static void
print_tsv(double (*numbers)[NUMBERS], int components)
{
	const struct lines lines = { stdout, false, 1 };

	lines_head(&lines, names);
	for (int i = 0; i < components + 2; i++) {
		char *name = line_name(i, components);
		lines_put(
		    &lines, (const char *const[]){ name }, numbers[i], NULL, NUMBERS);
		free(name);
	}
}

static void
print_json(const struct drift *drift, double (*numbers)[NUMBERS], int components)
{
	struct tree *root = tree_object(), *list = tree_list();
	int64_t texts = (int64_t)drift->texts;

	tree_set(root, "texts", tree_of_integer(texts));
	tree_set(root, "distance", tree_of_number(stats_mean(drift->distances, texts)));
	tree_set(root, "cosine", tree_of_number(stats_mean(drift->cosines, texts)));
	tree_set(root, "components", list);
	for (int i = 0; i < components + 2; i++) {
		struct tree *line = tree_add(list, tree_object());
		char *name = line_name(i, components);
		tree_set(line, names[0], tree_of_string(name));
		for (int j = 0; j < NUMBERS; j++)
			tree_set(line, names[j + 1], tree_of_number(numbers[i][j]));
		free(name);
	}
	json_print(root);
	tree_free(root);
}

static void
check(const struct drift *drift)
{
	double variance = 0;

	for (size_t i = 0; i < drift->width; i++)
		variance += drift->x->scatter[i * drift->width + i];
	if (drift->texts < 2 || !(variance > 0))
		die("%s: %zu text%s, which do not vary; two that differ at least have components",
		    drift->before.path, drift->texts, drift->texts == 1 ? "" : "s");
}

static struct drift
open_both(const char *before, const char *after, const struct embeddings_options *columns,
    const char *per_text)
{
	struct embeddings_options rows = *columns;
	struct drift drift = { 0 };

	rows.single = rows.any_model = true;
	drift.before = open_drift_stream(before, &rows);
	rows.silent = true;
	drift.after = open_drift_stream(after, &rows);
	int width = embeddings_width(drift.before.embeddings);
	int other = embeddings_width(drift.after.embeddings);

	if (width != other)
		die("%s: its vectors have width %d, those of %s %d: they have no common space",
		    after, other, before, width);
	drift.width = (size_t)width;
	drift.x = covariance_new(width);
	drift.moved = covariance_new(width);
	drift.per_text = per_text ? per_query_create(per_text) : NULL;
	return drift;
}

void
drift_print(const char *before, const char *after,
    const struct embeddings_options *columns, const struct drift_options *options)
{
	struct drift drift = open_both(before, after, columns, options->per_text);
	int width = (int)drift.width, components = options->components;

	if (components > width)
		die("%s: --components: its vectors have %d values, and no more components",
		    before, width);
	if (!components)
		components = width < 10 ? width : 10;
	read_both(&drift);
	check(&drift);
	status_line_stop();
	double(*numbers)[NUMBERS] = measure(&drift, components);
	if (options->json)
		print_json(&drift, numbers, components);
	else
		print_tsv(numbers, components);
	if (drift.per_text) {
		per_query_column(drift.per_text, drift.distances, "distance");
		per_query_column(drift.per_text, drift.cosines, "cosine");
		per_query_finish(drift.per_text);
	}
	free(numbers);
	free(drift.distances);
	free(drift.cosines);
	covariance_free(drift.x);
	covariance_free(drift.moved);
	embeddings_close(drift.before.embeddings);
	embeddings_close(drift.after.embeddings);
}
