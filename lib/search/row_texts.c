#include "search/row_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
row_texts_put(struct row_texts *texts, int64_t number, const char *bytes, size_t length)
{
	if (number >= texts->rows) {
		texts->at = mem_grow(
		    texts->at, &texts->room, (size_t)number + 1, sizeof *texts->at);
		while (texts->rows <= number)
			texts->at[texts->rows++] = NULL;
	}
	if (texts->at[number])
		return;
	struct row_text *text = mem_new(1, mem_add(sizeof *text, length, "text"));
	text->length = length;
	if (length)
		memcpy(text->bytes, bytes, length);
	texts->at[number] = text;
	texts->kept++;
}

const struct row_text *
row_texts_get(const struct row_texts *texts, int64_t number)
{
	return number < texts->rows ? texts->at[number] : NULL;
}

void
row_texts_sweep(struct row_texts *texts, const bool *wanted)
{
	for (int64_t i = 0; i < texts->rows; i++) {
		if (wanted[i] || !texts->at[i])
			continue;
		free(texts->at[i]);
		texts->at[i] = NULL;
		texts->kept--;
	}
}

void
row_texts_free(struct row_texts *texts)
{
	for (int64_t i = 0; i < texts->rows; i++)
		free(texts->at[i]);
	free(texts->at);
	*texts = (struct row_texts){ 0 };
}
