#include "train/text_keys.h"

#include <string.h>

#include "base/err.h"
#include "base/rng.h"

void
text_keys(int64_t *keys, int64_t *tokens, const struct reader *reader,
    const struct record *record, int index, const struct sequence *sequences,
    int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		tokens[i] = (int64_t)rng_hash(0, sequences[i].ids,
		    (size_t)sequences[i].length * sizeof *sequences[i].ids);
	if (index < 0 || !count) {
		memcpy(keys, tokens, (size_t)count * sizeof *keys);
		return;
	}
	const struct column *column = stream_column(reader, index);
	const struct array *array = &record->columns[index];
	if (column->rank || column_elements(column, array, record->rows) != count)
		die("%s: record %lld: the column has another number of keys than there are sequences",
		    stream_name(reader), (long long)stream_records(reader));
	memcpy(keys, array->data, (size_t)count * sizeof *keys);
}
