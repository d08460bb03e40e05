/* Files of other programs: rows of text, judgements, runs, NumPy arrays.  The first byte selects the kind; the rest is
 * the file, compressed or not. */
#include "harness.h"
#include "mts/npy.h"
#include "search/run.h"
#include "stream/table.h"
#include "text/datafile.h"
#include "text/qrels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct file {
	const char *path;
	unsigned kind;
};

static void
read_table(const struct file *file)
{
	struct datafile *rows =
	    datafile_open(file->path, (enum datafile_format)(file->kind % 5));
	struct record record;

	datafile_max_line(rows, 1 << 20);
	struct table *table = table_open(rows);
	while (table_next(table, 16, 1 << 16, &record))
		;
	table_close(table);
}

static void
read_array(const struct file *file)
{
	struct input *input = input_open(file->path);
	struct npy npy = npy_read(input);
	char row[1 << 12];
	int64_t bytes = (int64_t)dtype_size(npy.dtype);

	for (int axis = 1; axis < npy.rank && bytes <= (int64_t)sizeof row; axis++)
		bytes = npy.shape[axis] > (int64_t)sizeof row ? (int64_t)sizeof row + 1
							      : bytes * npy.shape[axis];
	for (int64_t i = 0; bytes && bytes <= (int64_t)sizeof row && i < 64 && npy.rank &&
			    i < npy.shape[0];
	     i++)
		npy_rows(input, &npy, row, 1);
	npy_free(&npy);
	input_close(input);
}

static void
run(void *context)
{
	const struct file *file = context;

	switch (file->kind / 5) {
	case 1: qrels_free(qrels_read(file->path)); break;
	case 2: run_free(run_read(file->path)); break;
	case 3: run_free(run_read_candidates(file->path)); break;
	case 4: read_array(file); break;
	default: read_table(file); break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct file file = { harness_file("file", data + 1, size - 1), data[0] % 25 };

	harness_run(run, &file);
	return 0;
}
