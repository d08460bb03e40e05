#include "train/loss_mask.h"

#include <string.h>

enum { DOCUMENT_TERMS = LOSS_DQ | LOSS_DD };

size_t
loss_mask_lists(const struct loss_mask *mask)
{
	return mask->terms & DOCUMENT_TERMS ? 2 : 1;
}

bool
loss_mask_needed(const struct loss_mask *mask)
{
	return mask->keys || mask->terms || mask->own_only;
}

size_t
loss_mask_target(const struct loss_mask *mask, size_t row)
{
	return row + (mask->back ? mask->layout.queries : mask->layout.documents);
}

void
loss_mask_keep(uint8_t *in, const struct loss_mask *mask, size_t row)
{
	in[loss_mask_target(mask, row)] = 1;
	if (mask->terms & LOSS_DQ)
		in[mask->layout.count + mask->layout.queries + row] = 1;
}

/* Clears candidates that are equal to a text of the row, or belong to an equal one, by one kind of keys. */
static void
clear_equal(
    uint8_t *in, const struct loss_mask *mask, const struct loss_keys *keys, size_t row)
{
	const struct loss_layout *at = &mask->layout;
	int64_t query = keys->query[row], document = keys->document[row];

	for (size_t j = 0; j < mask->rows; j++) {
		int64_t q = keys->query[j], d = keys->document[j];
		if (at->queries != SIZE_MAX)
			in[at->queries + j] &=
			    q != query && q != document && d != document;
		if (at->documents != SIZE_MAX)
			in[at->documents + j] &=
			    d != document && d != query && q != query;
	}
	for (size_t k = 0; at->negatives != SIZE_MAX && k < mask->negatives; k++)
		in[at->negatives + k] &=
		    keys->negatives[k] != document && keys->negatives[k] != query;
}

/* Leaves the similarities of `terms` in both lists, none of a text to itself or of a document to its row's negatives. */
static void
choose_terms(uint8_t *in, const struct loss_mask *mask, size_t row)
{
	const struct loss_layout *at = &mask->layout;
	uint8_t *of_document = in + at->count;

	if (!(mask->terms & LOSS_QQ))
		memset(in + at->queries, 0, mask->rows);
	in[at->queries + row] = 0;
	if (loss_mask_lists(mask) == 1)
		return;
	if (!(mask->terms & LOSS_DQ))
		memset(of_document + at->queries, 0, mask->rows);
	if (!(mask->terms & LOSS_DD)) {
		memset(of_document + at->documents, 0, mask->rows);
		memset(of_document + at->negatives, 0, mask->negatives);
	}
	of_document[at->documents + row] = 0;
	for (size_t k = 0; mask->terms & LOSS_DD && k < mask->negatives; k++)
		if (mask->owners[k] == (int64_t)row)
			of_document[at->negatives + k] = 0;
}

/* Clears the documents and negatives of other rows. */
static void
clear_others(uint8_t *in, const struct loss_mask *mask, size_t row)
{
	const struct loss_layout *at = &mask->layout;

	for (size_t j = 0; j < mask->rows; j++)
		in[at->documents + j] &= j == row;
	for (size_t k = 0; k < mask->negatives; k++)
		in[at->negatives + k] &= mask->owners[k] == (int64_t)row;
}

void
loss_mask_row(uint8_t *in, const struct loss_mask *mask, size_t row)
{
	size_t count = mask->layout.count;

	memset(in, 1, count);
	for (int kind = 0; mask->keys && kind < LOSS_KEYS; kind++)
		clear_equal(in, mask, &mask->keys[kind], row);
	if (loss_mask_lists(mask) == 2)
		memcpy(in + count, in, count);
	loss_mask_keep(in, mask, row);
	if (mask->terms)
		choose_terms(in, mask, row);
	if (mask->own_only && !mask->back)
		clear_others(in, mask, row);
}
