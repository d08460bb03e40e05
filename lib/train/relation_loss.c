#include "train/relation_loss.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "nn/nn.h"

/* Scratch memory, reused in each step; grows to the largest batch. */
struct relation_loss {
	size_t rows, width;
	int32_t *order;	  /* [2 rows] vectors: query and document of each relation */
	float *relations; /* [rows, 2 width] */
	float *targets;	  /* [rows, 2 width]; then the gradient */
	float *lengths, *cosines; /* [rows] of relations; of them and their targets */
	size_t order_size, relations_size, targets_size, lengths_size,
	    cosines_size; /* bytes */
	int32_t *host_order;
	float *host_cosines;
	size_t host_order_capacity, host_cosines_capacity;
};

struct relation_loss *
relation_loss_new(void)
{
	return mem_zero(1, sizeof(struct relation_loss));
}

void
relation_loss_free(struct relation_loss *loss)
{
	nn_free(loss->order, loss->order_size);
	nn_free(loss->relations, loss->relations_size);
	nn_free(loss->targets, loss->targets_size);
	nn_free(loss->lengths, loss->lengths_size);
	nn_free(loss->cosines, loss->cosines_size);
	free(loss->host_order);
	free(loss->host_cosines);
	free(loss);
}

static void
make_room(struct relation_loss *loss)
{
	size_t rows = loss->rows, bytes = loss->width * sizeof(float);

	loss->order =
	    nn_reserve(loss->order, &loss->order_size, 2 * rows, sizeof *loss->order);
	loss->relations =
	    nn_reserve(loss->relations, &loss->relations_size, 2 * rows, bytes);
	loss->targets = nn_reserve(loss->targets, &loss->targets_size, 2 * rows, bytes);
	loss->lengths =
	    nn_reserve(loss->lengths, &loss->lengths_size, rows, sizeof(float));
	loss->cosines =
	    nn_reserve(loss->cosines, &loss->cosines_size, rows, sizeof(float));
	loss->host_order = mem_grow(loss->host_order, &loss->host_order_capacity,
	    2 * rows, sizeof *loss->host_order);
	loss->host_cosines = mem_grow(loss->host_cosines, &loss->host_cosines_capacity,
	    rows, sizeof *loss->host_cosines);
}

/* Mean of 1 - cos; relations and targets have unit length. */
static double
mean_loss(struct relation_loss *loss)
{
	double sum = 0;

	nn_dot_rows(
	    loss->cosines, loss->relations, loss->targets, loss->rows, 2 * loss->width);
	nn_download(loss->host_cosines, loss->cosines, loss->rows * sizeof(float));
	for (size_t i = 0; i < loss->rows; i++)
		sum += 1 - (double)loss->host_cosines[i];
	return loss->rows ? sum / (double)loss->rows : 0;
}

double
relation_loss_measure(struct relation_loss *loss, const float *vectors,
    const float *targets, size_t rows, size_t width, double weight)
{
	loss->rows = rows;
	loss->width = width;
	make_room(loss);
	for (size_t i = 0; i < rows; i++) {
		loss->host_order[2 * i] = (int32_t)i;
		loss->host_order[2 * i + 1] = (int32_t)(rows + i);
	}
	nn_upload(loss->order, loss->host_order, 2 * rows * sizeof *loss->order);
	nn_gather(loss->relations, vectors, loss->order, 2 * rows, width);
	nn_upload(loss->targets, targets, 2 * rows * width * sizeof(float));
	nn_normalize(loss->targets, NULL, loss->targets, rows, 2 * width);
	nn_normalize(loss->relations, loss->lengths, loss->relations, rows, 2 * width);
	double mean = mean_loss(loss);
	/* d loss / d cosine is -1/B, and d cosine / d unit relation the unit target */
	nn_scale(loss->targets, (float)(-weight / (double)rows), 2 * rows * width);
	nn_normalize_back(loss->targets, loss->targets, loss->relations, loss->lengths,
	    rows, 2 * width);
	return mean;
}

void
relation_loss_add(struct relation_loss *loss, float *gradient)
{
	nn_scatter_add(gradient, loss->targets, loss->order, 2 * loss->rows, loss->width);
}
