#include "edit/distil.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "folder/folder.h"
#include "folder/safetensors.h"
#include "geometry/covariance.h"
#include "geometry/eigen.h"
#include "model/model.h"
#include "model/pooling.h"
#include "nn/nn.h"
#include "token/pruned.h"
#include "token/tokenizer.h"

enum { MOST = 512, SOME = 1024 }; /* ids of a text; tokens at a time */
static const double sif = 1e-4;

struct static_table {
	size_t rows, width;
	float *values; /* nn memory */
};

static struct static_table
table_new(size_t rows, size_t width)
{
	return (struct static_table){ rows, width,
		nn_alloc(mem_multiply(rows, width, "a table") * sizeof(float)) };
}

static void
table_free(struct static_table *table)
{
	nn_free(table->values, table->rows * table->width * sizeof(float));
}

/* The embedding of each token, encoded alone. */
static struct static_table
embed(const char *from, const struct pruned *pruned)
{
	struct model *model = model_open(from, MODEL_ENCODE, 0);
	struct tokenizer *tokenizer = tokenizer_open(from);
	struct head *head = model_head(model);
	struct ids around = { 0 }, all = { 0 };
	struct batch batch = { 0 };
	size_t before, after;

	model_demand_texts(model);
	if (!model_spec(model)->layers || model_spec(model)->experts)
		die("%s: has %s; a table is made of an encoder", from,
		    model_spec(model)->layers ? "task experts" : "no blocks");
	/* a projection of tokens stays */
	head->count = head->count && head->modules[0].module;
	head->include_prompt = true;
	pooling_set(head, "mean");
	tokenizer_template(tokenizer, &before, &after);
	tokenizer_encode(tokenizer, "", 0, 0, true, &around);
	struct static_table made = table_new(pruned->count, (size_t)model_width(model));
	struct progress *progress = progress_new("tokens", (int64_t)pruned->count);
	int64_t offsets[SOME + 1] = { 0 };
	for (size_t first = 0, some; first < pruned->count; first += some) {
		some = pruned->count - first < SOME ? pruned->count - first : SOME;
		all.count = 0;
		for (size_t i = 0; i < some; i++) {
			for (size_t j = 0; j < before; j++)
				ids_push(&all, around.id[j]);
			ids_push(&all, pruned->ids[first + i]);
			for (size_t j = 0; j < after; j++)
				ids_push(&all, around.id[before + j]);
			offsets[i + 1] = (int64_t)all.count;
		}
		batch_cut(&batch, all.id, offsets, 0, (int64_t)some, INT32_MAX);
		model_embed(model, &batch, made.values + first * made.width);
		progress_add(progress, (int64_t)some);
	}
	model_demand_finite(model, made.values, made.rows * made.width);
	progress_free(progress);
	batch_free(&batch);
	ids_free(&around);
	ids_free(&all);
	tokenizer_close(tokenizer);
	model_close(model);
	return made;
}

/* Subtracts the mean; returns the first eigenvectors of the covariance. */
static struct eigen *
centre(struct static_table *table, int width)
{
	size_t C = table->width;
	struct covariance *covariance = covariance_new((int)C);
	float *rows = mem_new(mem_multiply(table->rows, C, "a table"), sizeof *rows);

	nn_download(rows, table->values, table->rows * C * sizeof *rows);
	covariance_add(covariance, rows, (int64_t)table->rows);
	covariance_finish(covariance);
	for (size_t i = 0; i < table->rows * C; i++)
		rows[i] = (float)((double)rows[i] - covariance->mean[i % C]);
	nn_upload(table->values, rows, table->rows * C * sizeof *rows);
	double *matrix = covariance_matrix(covariance, 1);
	struct eigen *eigen = eigen_symmetric(matrix, (int)C, width);
	free(matrix);
	free(rows);
	covariance_free(covariance);
	return eigen;
}

/* Replaces the table by its principal components. */
static void
reduce(struct static_table *table, int width)
{
	struct eigen *eigen = centre(table, width);
	size_t C = table->width, count = (size_t)width * C;
	struct static_table reduced = table_new(table->rows, (size_t)width);
	float *vectors = nn_alloc(count * sizeof *vectors);
	float *host = mem_new(count, sizeof *host);

	for (size_t i = 0; i < count; i++)
		host[i] = (float)eigen->vectors[i];
	nn_upload(vectors, host, count * sizeof *host);
	nn_product_nt(
	    reduced.values, table->values, vectors, table->rows, (size_t)width, C, 1, 0);
	nn_free(vectors, count * sizeof *vectors);
	free(host);
	eigen_free(eigen);
	table_free(table);
	*table = reduced;
}

/* 1, or -1 where the number of greatest magnitude in a column is negative; to be freed. */
static float *
signs(const float *rows, const struct static_table *table)
{
	float *most = mem_zero(table->width, sizeof *most);

	for (size_t i = 0; i < table->rows * table->width; i++)
		if (fabsf(rows[i]) > fabsf(most[i % table->width]))
			most[i % table->width] = rows[i];
	for (size_t c = 0; c < table->width; c++)
		most[c] = most[c] < 0 ? -1 : 1;
	return most;
}

/* The table in host memory, rows weighed by SIF; to be freed. */
static float *
weigh(const struct static_table *table, bool reduced)
{
	size_t count = table->rows * table->width;
	float *rows = mem_new(count, sizeof *rows);
	double sum = 0;

	nn_download(rows, table->values, count * sizeof *rows);
	float *sign = signs(rows, table);
	for (size_t t = 0; t < table->rows; t++)
		sum += 1 / ((double)t + 2);
	for (size_t i = 0; i < count; i++) {
		double p = 1 / ((double)(i / table->width) + 2) / sum;
		double by = reduced ? (double)sign[i % table->width] : 1;
		rows[i] = (float)((double)rows[i] * by * sif / (sif + p));
	}
	free(sign);
	return rows;
}

static struct tree *
config_of(const char *from, size_t width)
{
	struct tree *config = tree_object();

	tree_set(config, "model_type", tree_of_string("model2vec"));
	tree_add(tree_set(config, "architectures", tree_list()),
	    tree_of_string("StaticModel"));
	tree_set(config, "tokenizer_name", tree_of_string(from));
	tree_set(config, "apply_pca", tree_of_integer((int64_t)width));
	tree_set(config, "sif_coefficient", tree_of_real(sif));
	tree_set(config, "hidden_dim", tree_of_integer((int64_t)width));
	tree_set(config, "seq_length", tree_of_integer(1000000));
	tree_set(config, "normalize", tree_of_boolean(true));
	tree_set(config, "max_length", tree_of_integer(MOST));
	tree_set(config, "embedding_dtype", tree_of_string("float16"));
	return config;
}

static void
write_table(const char *folder, const float *rows, const struct static_table *table)
{
	struct safetensor tensor = { .name = "embeddings",
		.dtype = DTYPE_F16,
		.rank = 2,
		.shape = { (int64_t)table->rows, (int64_t)table->width },
		.count = table->rows * table->width };
	char *path = mem_format("%s/model.safetensors", folder);
	void *halves = mem_new(tensor.count, dtype_size(tensor.dtype));

	tensor_from_f32(halves, tensor.dtype, rows, tensor.count);
	tensor.data = halves;
	safetensors_write(path, &tensor, 1, NULL, NULL);
	free(halves);
	free(path);
}

void
distil(const char *from, const char *dir, int width)
{
	folder_check(dir);
	struct pruned *pruned = pruned_read(from, MOST);
	struct static_table table = embed(from, pruned);
	bool reduced = false;

	if ((size_t)width > table.width)
		width = (int)table.width;
	if ((size_t)width < table.rows) {
		reduce(&table, width);
		reduced = true;
	}
	float *rows = weigh(&table, reduced);
	char *folder = folder_begin(dir);
	struct tree *config = config_of(from, table.width);
	struct head head = { 0 };
	head_of_table(&head);
	head_normalize(&head, true);
	head_write(&head, folder, (int)table.width);
	folder_write_json(folder, "config.json", config);
	folder_write_json(folder, "tokenizer.json", pruned->tokenizer);
	write_table(folder, rows, &table);
	folder_commit(folder, dir);
	tree_free(config);
	free(rows);
	table_free(&table);
	pruned_free(pruned);
}
