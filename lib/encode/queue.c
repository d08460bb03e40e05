#include "encode/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"

struct queued_batch {
	struct encoding *encoding; /* NULL: none is under way */
	int64_t record, count;
	float *rows;	 /* [count] embeddings */
	int64_t *places; /* [count] */
	float *const *made;
	size_t rows_room, places_room;
};

struct encode_queue {
	struct model *model;
	struct encode_queue_options options;
	struct queued_batch batches[2];
	int next; /* the older of them */
	int64_t added;
	float *cut; /* shortened embeddings, nn memory */
	size_t cut_size;
};

struct encode_queue *
encode_queue_new(struct model *model, const struct encode_queue_options *options)
{
	struct encode_queue *queue = mem_zero(1, sizeof *queue);

	queue->model = model;
	queue->options = *options;
	return queue;
}

void
encode_queue_free(struct encode_queue *queue)
{
	for (int i = 0; i < 2; i++) {
		free(queue->batches[i].rows);
		free(queue->batches[i].places);
	}
	nn_free(queue->cut, queue->cut_size);
	free(queue);
}

/* Cuts embeddings to their width.  As in sentence-transformers, the folder normalises before the cut, the user after it. */
static void
shorten(struct encode_queue *queue, float *made, size_t rows)
{
	size_t width = (size_t)queue->options.width;
	size_t full = (size_t)model_width(queue->model);

	if (width == full)
		return;
	for (size_t i = 0; i < rows; i++)
		memmove(made + i * width, made + i * full, width * sizeof *made);
	if (!queue->options.normalize)
		return;
	queue->cut =
	    nn_reserve(queue->cut, &queue->cut_size, rows * width, sizeof *queue->cut);
	nn_upload(queue->cut, made, rows * width * sizeof *queue->cut);
	nn_normalize(queue->cut, NULL, queue->cut, rows, width);
	nn_download(made, queue->cut, rows * width * sizeof *queue->cut);
}

/* Waits for a batch, and copies its embeddings to their rows. */
static void
end(struct encode_queue *queue, struct queued_batch *waiting)
{
	size_t width = (size_t)queue->options.width;

	if (!waiting->encoding)
		return;
	model_encode_end(waiting->encoding);
	waiting->encoding = NULL;
	shorten(queue, waiting->rows, (size_t)waiting->count);
	for (int64_t i = 0; i < waiting->count; i++)
		memcpy(*waiting->made + (size_t)waiting->places[i] * width,
		    waiting->rows + (size_t)i * width, width * sizeof(float));
}

void
encode_queue_add(struct encode_queue *queue, int64_t record, const struct batch *batch,
    float *const *made, const int64_t *places, const int64_t *order)
{
	struct queued_batch *waiting = &queue->batches[queue->next];
	size_t count = (size_t)batch->sequences;
	size_t full = (size_t)model_width(queue->model);

	end(queue, waiting);
	queue->next ^= 1;
	waiting->rows = mem_grow(
	    waiting->rows, &waiting->rows_room, count * full, sizeof *waiting->rows);
	waiting->places = mem_grow(
	    waiting->places, &waiting->places_room, count, sizeof *waiting->places);
	for (size_t i = 0; i < count; i++)
		waiting->places[i] = places[order[i]];
	waiting->record = record;
	waiting->count = batch->sequences;
	waiting->made = made;
	waiting->encoding = model_encode_begin(queue->model, batch, waiting->rows);
	queue->added++;
	if (!queue->options.ahead)
		end(queue, waiting);
}

void
encode_queue_commit(struct encode_queue *queue, int64_t record)
{
	for (int i = 0; i < 2; i++) {
		struct queued_batch *waiting = &queue->batches[queue->next ^ i];
		if (waiting->record <= record)
			end(queue, waiting);
	}
}

int64_t
encode_queue_batches(const struct encode_queue *queue)
{
	return queue->added;
}
