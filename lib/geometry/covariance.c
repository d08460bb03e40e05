#include "geometry/covariance.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"

/* Columns that a thread takes at a time: of each row so much that it is read ahead. */
enum { COLUMNS = 512 };

/* Of the matrices of all threads. */
static const size_t most_bytes = (size_t)1 << 30;

enum { HUGE_PAGE = 2 << 20 };

/* Not cleared; to be freed.  Matrix and block are gone through with every update, and are more pages than
 * the processor knows the places of: huge ones, where the system gives them. */
static double *
new_numbers(size_t count)
{
	size_t bytes = mem_multiply(count, sizeof(double), "a covariance");

	if (bytes < HUGE_PAGE)
		return mem_new(count, sizeof(double));
	bytes = mem_add(bytes, HUGE_PAGE - 1, "a covariance") / HUGE_PAGE * HUGE_PAGE;
	double *numbers = aligned_alloc(HUGE_PAGE, bytes);
	if (!numbers)
		die("out of memory: %zu bytes were asked for", bytes);
	madvise(numbers, bytes, MADV_HUGEPAGE);
	return numbers;
}

struct covariance *
covariance_new(int width)
{
	struct covariance *covariance = mem_zero(1, sizeof *covariance);
	size_t columns = (size_t)width;
	size_t square = mem_multiply(columns, columns, "a covariance");

	covariance->width = width;
	covariance->mean = mem_zero(columns, sizeof(double));
	covariance->scatter = memset(new_numbers(square), 0, square * sizeof(double));
	return covariance;
}

/* The held vectors, in double and centred on their mean, which goes to `mean`. */
static void
centre_block(struct covariance *covariance, double *mean)
{
	int width = covariance->width;
	int64_t rows = covariance->holds;

#pragma omp parallel for schedule(static)
	for (int first = 0; first < width; first += COLUMNS) {
		int end = width - first < COLUMNS ? width : first + COLUMNS;
		memset(mean + first, 0, (size_t)(end - first) * sizeof *mean);
		for (int64_t i = 0; i < rows; i++)
			for (int j = first; j < end; j++)
				mean[j] += (double)covariance->held[i * width + j];
		for (int j = first; j < end; j++)
			mean[j] /= (double)rows;
		for (int64_t i = 0; i < rows; i++)
			for (int j = first; j < end; j++)
				covariance->block[i * width + j] =
				    (double)covariance->held[i * width + j] - mean[j];
	}
}

/* Move the mean to that of `count` further vectors, whose mean lies at `mean`.  What the squares of that
 * distance add to the scatter is row row^T, and goes to `row`, which may be `mean`. */
static void
shift_mean(struct covariance *covariance, const double *mean, int64_t count, double *row)
{
	double before = (double)covariance->count, more = (double)count;
	double weight = sqrt(before * more / (before + more));

	for (int j = 0; j < covariance->width; j++) {
		double apart = mean[j] - covariance->mean[j];
		covariance->mean[j] += apart * (more / (before + more));
		row[j] = weight * apart;
	}
	covariance->count += count;
}

/* scatter += rows^T rows, in the lower triangle */
static void
add_rows(struct covariance *covariance, const double *rows, int64_t count)
{
	int width = covariance->width;

	cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, width, (int)count, 1, rows,
	    width, 1, covariance->scatter, width);
}

void
covariance_finish(struct covariance *covariance)
{
	if (covariance->holds == 0)
		return;
	double *last = covariance->block + covariance->holds * covariance->width;
	centre_block(covariance, last);
	shift_mean(covariance, last, covariance->holds, last);
	add_rows(covariance, covariance->block, covariance->holds + 1);
	covariance->holds = 0;
}

static void
make_block(struct covariance *covariance)
{
	size_t width = (size_t)covariance->width;

	if (covariance->held)
		return;
	covariance->held = mem_new(COVARIANCE_BLOCK * width, sizeof(float));
	covariance->block = new_numbers((COVARIANCE_BLOCK + 1) * width);
}

void
covariance_add(struct covariance *covariance, const float *vectors, int64_t count)
{
	size_t width = (size_t)covariance->width;

	make_block(covariance);
	while (count > 0) {
		int64_t room = COVARIANCE_BLOCK - covariance->holds;
		int64_t taken = count < room ? count : room;
		memcpy(covariance->held + (size_t)covariance->holds * width, vectors,
		    (size_t)taken * width * sizeof *vectors);
		covariance->holds += taken;
		vectors += (size_t)taken * width;
		count -= taken;
		if (covariance->holds == COVARIANCE_BLOCK)
			covariance_finish(covariance);
	}
}

void
covariance_merge(struct covariance *covariance, const struct covariance *other)
{
	size_t width = (size_t)covariance->width;

	covariance_finish(covariance);
	if (other->count == 0)
		return;
	double *row = mem_new(width, sizeof *row);
	shift_mean(covariance, other->mean, other->count, row);
	for (size_t i = 0; i < width; i++)
		for (size_t j = 0; j <= i; j++)
			covariance->scatter[i * width + j] +=
			    other->scatter[i * width + j] + row[i] * row[j];
	free(row);
}

/* Sums of a thread, and whether it may ask for vectors now. */
struct lane {
	struct covariance *sums;
	sem_t turn;
};

/* Whoever has its vectors hands the turn on, so that blocks are asked for in order, and go in turns to the
 * threads: the same ones to each, in every run. */
static void
add_in_turns(
    struct lane *lane, struct lane *next, covariance_source *source, void *context)
{
	struct covariance *sums = lane->sums;
	bool more = true;

	make_block(sums);
	while (more) {
		while (sem_wait(&lane->turn) != 0 && errno == EINTR)
			;
		sums->holds = source(context, sums->held);
		more = sums->holds == COVARIANCE_BLOCK;
		sem_post(&next->turn);
		covariance_finish(sums);
	}
}

/* Where there is not the room for a matrix a thread, the BLAS shares the work out. */
static int
lanes_of(int width)
{
	size_t threads = (size_t)omp_get_max_threads(), columns = (size_t)width;

	return columns * columns <= most_bytes / sizeof(double) / threads ? (int)threads
									  : 1;
}

void
covariance_collect(
    struct covariance *covariance, covariance_source *source, void *context)
{
	int count = lanes_of(covariance->width);
	struct lane *lanes = mem_new((size_t)count, sizeof *lanes);

	covariance_finish(covariance);
	for (int i = 0; i < count; i++) {
		lanes[i].sums = i ? covariance_new(covariance->width) : covariance;
		sem_init(&lanes[i].turn, 0, i == 0);
	}
#pragma omp parallel num_threads(count)
	{
		int own = omp_get_thread_num(), next = (own + 1) % omp_get_num_threads();
		add_in_turns(&lanes[own], &lanes[next], source, context);
	}
	for (int i = 1; i < count; i++) {
		covariance_merge(covariance, lanes[i].sums);
		covariance_free(lanes[i].sums);
	}
	for (int i = 0; i < count; i++)
		sem_destroy(&lanes[i].turn);
	free(lanes);
}

double *
covariance_matrix(const struct covariance *covariance, int lost)
{
	size_t width = (size_t)covariance->width;
	double *matrix = new_numbers(width * width);

	for (size_t i = 0; i < width; i++)
		for (size_t j = 0; j <= i; j++)
			matrix[i * width + j] = matrix[j * width + i] =
			    covariance->scatter[i * width + j] /
			    (double)(covariance->count - lost);
	return matrix;
}

void
covariance_free(struct covariance *covariance)
{
	free(covariance->mean);
	free(covariance->scatter);
	free(covariance->held);
	free(covariance->block);
	free(covariance);
}
