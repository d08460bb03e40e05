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

/* Columns per step of a thread: enough of each row for hardware prefetch. */
enum { COLUMNS = 512 };

/* Maximal memory of the matrices of all threads. */
static const size_t most_bytes = (size_t)1 << 30;

enum { HUGE_PAGE = 2 << 20 };

/* Uninitialised memory, in huge pages if the system has them: each update reads all of matrix and block, which have more pages than
 * the TLB.  The caller frees it. */
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

/* Writes the pending vectors to the block, in double and centred on their mean, and the mean to `mean`. */
static void
centre_block(struct covariance *covariance, double *mean)
{
	int width = covariance->width;
	int64_t rows = covariance->pending_count;

#pragma omp parallel for schedule(static)
	for (int first = 0; first < width; first += COLUMNS) {
		int end = width - first < COLUMNS ? width : first + COLUMNS;
		memset(mean + first, 0, (size_t)(end - first) * sizeof *mean);
		for (int64_t i = 0; i < rows; i++)
			for (int j = first; j < end; j++)
				mean[j] += (double)covariance->pending[i * width + j];
		for (int j = first; j < end; j++)
			mean[j] /= (double)rows;
		for (int64_t i = 0; i < rows; i++)
			for (int j = first; j < end; j++)
				covariance->block[i * width + j] =
				    (double)covariance->pending[i * width + j] - mean[j];
	}
}

/* Updates the mean by `count` further vectors of mean `mean`.  row row^T is what the difference of the means adds to the scatter;
 * `row` may be `mean`. */
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
	if (covariance->pending_count == 0)
		return;
	double *last = covariance->block + covariance->pending_count * covariance->width;
	centre_block(covariance, last);
	shift_mean(covariance, last, covariance->pending_count, last);
	add_rows(covariance, covariance->block, covariance->pending_count + 1);
	covariance->pending_count = 0;
}

static void
make_block(struct covariance *covariance)
{
	size_t width = (size_t)covariance->width;

	if (covariance->pending)
		return;
	covariance->pending = mem_new(COVARIANCE_BLOCK * width, sizeof(float));
	covariance->block = new_numbers((COVARIANCE_BLOCK + 1) * width);
}

void
covariance_add(struct covariance *covariance, const float *vectors, int64_t count)
{
	size_t width = (size_t)covariance->width;

	make_block(covariance);
	while (count > 0) {
		int64_t room = COVARIANCE_BLOCK - covariance->pending_count;
		int64_t taken = count < room ? count : room;
		memcpy(covariance->pending + (size_t)covariance->pending_count * width,
		    vectors, (size_t)taken * width * sizeof *vectors);
		covariance->pending_count += taken;
		vectors += (size_t)taken * width;
		count -= taken;
		if (covariance->pending_count == COVARIANCE_BLOCK)
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

/* A thread's covariance, and a semaphore: may it read now? */
struct summing_thread {
	struct covariance *sums;
	sem_t turn;
};

/* A thread that has read passes the turn on: the threads read in a fixed order, so each gets the same blocks in every run. */
static void
add_in_turns(struct summing_thread *thread, struct summing_thread *next,
    covariance_source *source, void *context)
{
	struct covariance *sums = thread->sums;
	bool more = true;

	make_block(sums);
	while (more) {
		while (sem_wait(&thread->turn) != 0 && errno == EINTR)
			;
		sums->pending_count = source(context, sums->pending);
		more = sums->pending_count == COVARIANCE_BLOCK;
		sem_post(&next->turn);
		covariance_finish(sums);
	}
}

/* One thread per matrix if there is memory for them; else one matrix, and the BLAS uses the threads. */
static int
threads_of(int width)
{
	size_t threads = (size_t)omp_get_max_threads(), columns = (size_t)width;

	return columns * columns <= most_bytes / sizeof(double) / threads ? (int)threads
									  : 1;
}

void
covariance_collect(
    struct covariance *covariance, covariance_source *source, void *context)
{
	int count = threads_of(covariance->width);
	struct summing_thread *threads = mem_new((size_t)count, sizeof *threads);

	covariance_finish(covariance);
	for (int i = 0; i < count; i++) {
		threads[i].sums = i ? covariance_new(covariance->width) : covariance;
		sem_init(&threads[i].turn, 0, i == 0);
	}
#pragma omp parallel num_threads(count)
	{
		int own = omp_get_thread_num(), next = (own + 1) % omp_get_num_threads();
		add_in_turns(&threads[own], &threads[next], source, context);
	}
	for (int i = 1; i < count; i++) {
		covariance_merge(covariance, threads[i].sums);
		covariance_free(threads[i].sums);
	}
	for (int i = 0; i < count; i++)
		sem_destroy(&threads[i].turn);
	free(threads);
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
	free(covariance->pending);
	free(covariance->block);
	free(covariance);
}
