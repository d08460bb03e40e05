#include "stream/text_column.h"

#include <stdlib.h>

void
text_column_clear(struct text_column *column)
{
	buffer_add(&column->bytes, "", 0);
	column->bytes.used = column->offsets.count = 0;
	numbers_add(&column->offsets, 0);
}

void
text_column_end(struct text_column *column)
{
	numbers_add(&column->offsets, (int64_t)column->bytes.used);
}

void
text_column_add(struct text_column *column, const char *text, size_t length)
{
	buffer_add(&column->bytes, text, length);
	text_column_end(column);
}

struct array
text_column_array(const struct text_column *column)
{
	return (struct array){ { column->offsets.data }, column->bytes.data };
}

void
text_column_free(struct text_column *column)
{
	free(column->bytes.data);
	free(column->offsets.data);
}
