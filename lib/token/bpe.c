#include "token/bpe.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { SMALL = 64, BATCH = 64, WHOLE = 64, WHOLE_YES = 1 };
static const uint32_t NONE = UINT32_MAX;

/* A merge, in a hash table by pair; open addressing. */
struct merge {
	int32_t left, right;
	int32_t id; /* result; -1: an empty slot */
	uint32_t rank;
};

/* A merge to be resolved: its two texts, concatenated. */
struct pending_merge {
	size_t start, left, right; /* offset in bpe->text; lengths */
};

struct bpe {
	const struct vocabulary *vocabulary;
	/* by id: whether merging the token's own text is known to give the token.  Written by
	 * whichever thread finds out, always the same. */
	_Atomic unsigned char *known;
	struct spelling {
		char text[2];
		unsigned char length;
	} spelling[256]; /* by byte */
	char *file;
	struct bpe_rules rules;
	struct merge *merge;
	size_t mask;
	int shift;     /* 64 - log2(slots) */
	uint32_t rank; /* of the next merge */
	int32_t last;  /* id of the last joined token */
	struct pending_merge wait[BATCH];
	size_t waiting;
	char *text; /* of pending merges */
	size_t used, room;
	int32_t byte[256]; /* id of a byte, or of <0xXX>; -1: none */
};

int32_t
bpe_character(unsigned char byte)
{
	if ((byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD))
		return byte;
	return byte < '!'    ? 0x100 + byte
	       : byte < 0xA1 ? 0x100 + 33 + byte - 0x7F
			     : 0x100 + 67;
}

char *
bpe_characters(const char *text, size_t length, size_t *made)
{
	char *to = mem_new(mem_multiply(length + 1, 2, "a text"), 1);

	*made = 0;
	for (size_t i = 0; i < length; i++)
		*made += utf8_encode(bpe_character((unsigned char)text[i]), to + *made);
	return to;
}

static uint64_t
hash(int32_t left, int32_t right)
{
	uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;

	pair *= 0x9E3779B97F4A7C15u;
	return (pair ^ pair >> 29) * 0xff51afd7ed558ccdu;
}

static void
open_slots(struct bpe *bpe, int bits)
{
	size_t slots = (size_t)1 << bits;

	bpe->merge = mem_new(slots, sizeof *bpe->merge);
	memset(bpe->merge, 0xFF, slots * sizeof *bpe->merge);
	bpe->mask = slots - 1;
	bpe->shift = 64 - bits;
}

struct bpe *
bpe_new(const struct vocabulary *vocabulary, const char *file)
{
	struct bpe *bpe = mem_zero(1, sizeof *bpe);
	int bits = 8;

	bpe->vocabulary = vocabulary;
	bpe->file = mem_string(file);
	/* about as many merges as there are tokens */
	while (((size_t)1 << bits) < 3 * (size_t)vocabulary_size(vocabulary) / 2)
		bits++;
	open_slots(bpe, bits);
	return bpe;
}

static int32_t
byte_symbol(const struct bpe *bpe, unsigned char byte)
{
	char text[4];
	size_t length = utf8_encode(bpe_character(byte), text);

	return vocabulary_find(bpe->vocabulary, text, length);
}

bool
bpe_has_bytes(const struct bpe *bpe)
{
	for (int byte = 0; byte < 256; byte++)
		if (byte_symbol(bpe, (unsigned char)byte) < 0)
			return false;
	return true;
}

/* The slot of a pair, or the empty one where it belongs. */
static struct merge *
find(const struct bpe *bpe, int32_t left, int32_t right)
{
	size_t at = hash(left, right) >> bpe->shift;

	while (bpe->merge[at].id >= 0 &&
	       (bpe->merge[at].left != left || bpe->merge[at].right != right))
		at = (at + 1) & bpe->mask;
	return &bpe->merge[at];
}

static void
widen(struct bpe *bpe)
{
	struct merge *old = bpe->merge;
	size_t slots = bpe->mask + 1;

	open_slots(bpe, 64 - bpe->shift + 1);
	for (size_t i = 0; i < slots; i++)
		if (old[i].id >= 0)
			*find(bpe, old[i].left, old[i].right) = old[i];
	free(old);
}

/* The id of a merge's result; most merges are in the order of these ids. */
static int32_t
find_joined(const struct bpe *bpe, const char *joined, size_t length)
{
	size_t size;
	const char *text = vocabulary_text(bpe->vocabulary, bpe->last + 1, &size);

	if (text && size == length && !memcmp(text, joined, length))
		return bpe->last + 1;
	return vocabulary_find(bpe->vocabulary, joined, length);
}

/* At most so many bytes of a text in a message. */
static int
shown(size_t length)
{
	return length < 100 ? (int)length : 100;
}

/* Resolves pending merges in a batch, which prefetches the hash table. */
static void
resolve(struct bpe *bpe)
{
	uint64_t key[BATCH][2];
	struct merge merge[BATCH];

	for (size_t i = 0; i < bpe->waiting; i++) {
		const struct pending_merge *wait = &bpe->wait[i];
		const char *left = bpe->text + wait->start, *right = left + wait->left;
		key[i][0] = vocabulary_key(bpe->vocabulary, left, wait->left);
		key[i][1] = vocabulary_key(bpe->vocabulary, right, wait->right);
	}
	for (size_t i = 0; i < bpe->waiting; i++) {
		const struct pending_merge *wait = &bpe->wait[i];
		const char *left = bpe->text + wait->start, *right = left + wait->left;
		merge[i].left =
		    vocabulary_find_key(bpe->vocabulary, left, wait->left, key[i][0]);
		merge[i].right =
		    vocabulary_find_key(bpe->vocabulary, right, wait->right, key[i][1]);
		merge[i].id = find_joined(bpe, left, wait->left + wait->right);
		if (merge[i].left < 0 || merge[i].right < 0 || merge[i].id < 0)
			die("%s: merge %u, '%.*s %.*s': the vocabulary lacks %s",
			    bpe->file, bpe->rank + (uint32_t)i, shown(wait->left), left,
			    shown(wait->right), right,
			    merge[i].left < 0	 ? "its left token"
			    : merge[i].right < 0 ? "its right token"
						 : "its result");
		bpe->last = merge[i].id;
		__builtin_prefetch(
		    &bpe->merge[hash(merge[i].left, merge[i].right) >> bpe->shift]);
	}
	for (size_t i = 0; i < bpe->waiting; i++) {
		merge[i].rank = bpe->rank++;
		*find(bpe, merge[i].left, merge[i].right) = merge[i];
	}
	bpe->waiting = bpe->used = 0;
	if (10 * (size_t)bpe->rank > 7 * (bpe->mask + 1))
		widen(bpe);
}

void
bpe_merge(struct bpe *bpe, const char *left, size_t left_length, const char *right,
    size_t right_length)
{
	bpe->text = mem_grow(
	    bpe->text, &bpe->room, bpe->used + left_length + right_length + 1, 1);
	memcpy(bpe->text + bpe->used, left, left_length);
	memcpy(bpe->text + bpe->used + left_length, right, right_length);
	bpe->wait[bpe->waiting++] =
	    (struct pending_merge){ bpe->used, left_length, right_length };
	bpe->used += left_length + right_length;
	if (bpe->waiting == BATCH)
		resolve(bpe);
}

void
bpe_set(struct bpe *bpe, const struct bpe_rules *rules)
{
	resolve(bpe);
	free(bpe->text);
	bpe->text = NULL;
	bpe->rules = *rules;
	bpe->known = mem_zero((size_t)vocabulary_size(bpe->vocabulary), 1);
	for (int byte = 0; byte < 256; byte++) {
		struct spelling *spelling = &bpe->spelling[byte];
		spelling->length = (unsigned char)utf8_encode(
		    bpe_character((unsigned char)byte), spelling->text);
		char code[sizeof "<0xFF>"];
		snprintf(code, sizeof code, "<0x%02X>", (unsigned)byte);
		bpe->byte[byte] = rules->bytes ? byte_symbol(bpe, (unsigned char)byte)
					       : vocabulary_find(bpe->vocabulary, code,
						     sizeof code - 1);
	}
}

/* The first symbols of a piece. ------------------------------------------------------ */

/* The initial symbols of a pre-token; at most as many as it has bytes. */
struct bpe_start {
	const struct bpe *bpe;
	int32_t *id;
	size_t count;
	bool unknown; /* an unknown id is pending */
};

static void
start_unknown(struct bpe_start *start)
{
	if (start->unknown)
		start->id[start->count++] = start->bpe->rules.unknown;
	start->unknown = false;
}

/* Appends byte tokens; false if one does not exist. */
static bool
start_bytes(struct bpe_start *start, const char *text, size_t length)
{
	const int32_t *byte = start->bpe->byte;

	for (size_t i = 0; i < length; i++)
		if (byte[(unsigned char)text[i]] < 0)
			return false;
	for (size_t i = 0; i < length; i++)
		start->id[start->count++] = byte[(unsigned char)text[i]];
	return true;
}

static void
start_character(struct bpe_start *start, const char *text, size_t length)
{
	const struct bpe_rules *rules = &start->bpe->rules;
	int32_t id = vocabulary_find(start->bpe->vocabulary, text, length);

	if (id >= 0) {
		start_unknown(start);
		start->id[start->count++] = id;
		return;
	}
	/* as in the reference, a pending unknown id comes after the bytes */
	if (rules->byte_fallback && start_bytes(start, text, length))
		return;
	if (rules->unknown < 0)
		return;
	if (!rules->fuse_unknown)
		start_unknown(start);
	start->unknown = true;
}

static size_t
start_piece(const struct bpe *bpe, const char *text, size_t length, int32_t *id)
{
	struct bpe_start start = { .bpe = bpe, .id = id };
	int32_t code;

	if (bpe->rules.bytes) {
		for (size_t i = 0; i < length; i++) {
			id[start.count] = bpe->byte[(unsigned char)text[i]];
			start.count += id[start.count] >= 0;
		}
		return start.count;
	}
	for (size_t at = 0, bytes; at < length; at += bytes) {
		bytes = utf8_decode(text + at, length - at, &code);
		start_character(&start, text + at, bytes);
	}
	start_unknown(&start);
	return start.count;
}

/* Merging. --------------------------------------------------------------------------- */

static uint32_t
look(const struct bpe *bpe, int32_t left, int32_t right, int32_t *made)
{
	const struct merge *merge = find(bpe, left, right);

	*made = merge->id;
	return merge->rank; /* NONE: no merge */
}

/* For few symbols: searches all pairs for the least rank, repeatedly. */
static size_t
merge_few(const struct bpe *bpe, int32_t *id, size_t count)
{
	uint32_t rank[SMALL];
	int32_t made[SMALL];

	for (size_t i = 0; i + 1 < count; i++)
		rank[i] = look(bpe, id[i], id[i + 1], &made[i]);
	while (count > 1) {
		size_t best = 0;
		for (size_t i = 1; i + 1 < count; i++)
			best = rank[i] < rank[best] ? i : best;
		if (rank[best] == NONE)
			break;
		id[best] = made[best];
		count--;
		for (size_t i = best + 1; i < count; i++) {
			id[i] = id[i + 1];
			rank[i] = rank[i + 1];
			made[i] = made[i + 1];
		}
		if (best > 0)
			rank[best - 1] =
			    look(bpe, id[best - 1], id[best], &made[best - 1]);
		if (best + 1 < count)
			rank[best] = look(bpe, id[best], id[best + 1], &made[best]);
	}
	return count;
}

/* For many symbols: a heap of candidate pairs over a linked list of the symbols.  A candidate is out of date if the
 * ids at its place have changed. */
struct merge_candidate {
	uint32_t rank, at;
	int32_t left, right, id;
};

struct chain {
	const struct bpe *bpe;
	int32_t *id; /* -1: merged into its neighbour */
	uint32_t *before, *after;
	uint32_t count;
	struct merge_candidate *heap;
	size_t waiting, room;
};

static bool
goes_first(const struct merge_candidate *a, const struct merge_candidate *b)
{
	return a->rank < b->rank || (a->rank == b->rank && a->at < b->at);
}

static void
heap_push(struct chain *chain, uint32_t at)
{
	uint32_t next = chain->after[at];
	struct merge_candidate new;

	if (next >= chain->count)
		return;
	new.left = chain->id[at];
	new.right = chain->id[next];
	new.rank = look(chain->bpe, new.left, new.right, &new.id);
	new.at = at;
	if (new.rank == NONE)
		return;
	chain->heap =
	    mem_grow(chain->heap, &chain->room, chain->waiting + 1, sizeof *chain->heap);
	size_t i = chain->waiting++;
	for (; i > 0 && goes_first(&new, &chain->heap[(i - 1) / 2]); i = (i - 1) / 2)
		chain->heap[i] = chain->heap[(i - 1) / 2];
	chain->heap[i] = new;
}

static struct merge_candidate
heap_pop(struct chain *chain)
{
	struct merge_candidate top = chain->heap[0], last = chain->heap[--chain->waiting];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < chain->waiting; i = child) {
		if (child + 1 < chain->waiting &&
		    goes_first(&chain->heap[child + 1], &chain->heap[child]))
			child++;
		if (!goes_first(&chain->heap[child], &last))
			break;
		chain->heap[i] = chain->heap[child];
	}
	chain->heap[i] = last;
	return top;
}

static void
chain_merge(struct chain *chain, const struct merge_candidate *best)
{
	uint32_t next = chain->after[best->at], behind;

	if (chain->id[best->at] != best->left || next >= chain->count ||
	    chain->id[next] != best->right)
		return;
	chain->id[best->at] = best->id;
	chain->id[next] = -1;
	behind = chain->after[best->at] = chain->after[next];
	if (behind < chain->count)
		chain->before[behind] = best->at;
	if (best->at > 0)
		heap_push(chain, chain->before[best->at]);
	heap_push(chain, best->at);
}

static size_t
merge_many(const struct bpe *bpe, int32_t *id, size_t count)
{
	struct chain chain = { .bpe = bpe, .id = id, .count = (uint32_t)count };
	size_t kept = 0;

	if (count >= NONE)
		die("a word of %zu characters is too long", count);
	chain.before = mem_new(count, sizeof *chain.before);
	chain.after = mem_new(count, sizeof *chain.after);
	for (uint32_t i = 0; i < chain.count; i++) {
		chain.before[i] = i - 1;
		chain.after[i] = i + 1;
	}
	for (uint32_t i = 0; i < chain.count; i++)
		heap_push(&chain, i);
	while (chain.waiting) {
		struct merge_candidate best = heap_pop(&chain);
		chain_merge(&chain, &best);
	}
	for (size_t i = 0; i < count; i++)
		if (id[i] >= 0)
			id[kept++] = id[i];
	free(chain.before);
	free(chain.after);
	free(chain.heap);
	return kept;
}

/* The id of the token that is the whole piece, or -1. Long pieces are looked up only with ignore_merges. */
static int32_t
whole(const struct bpe *bpe, const char *text, size_t length)
{
	char small[2 * WHOLE], *made = small;
	size_t bytes = 0;

	if (!length || (length > WHOLE && !bpe->rules.ignore_merges))
		return -1;
	small[0] = 0; /* silences a warning: there is at least one byte */
	if (!bpe->rules.bytes)
		return vocabulary_find(bpe->vocabulary, text, length);
	if (length > WHOLE)
		made = mem_new(mem_multiply(length, 2, "a word"), 1);
	for (size_t i = 0; i < length; i++) {
		const struct spelling *spelling = &bpe->spelling[(unsigned char)text[i]];
		made[bytes] = spelling->text[0];
		made[bytes + 1] = spelling->text[1];
		bytes += spelling->length;
	}
	int32_t id = vocabulary_find(bpe->vocabulary, made, bytes);
	if (made != small)
		free(made);
	return id;
}

/* Encodes from the initial symbols. */
static void
merge(const struct bpe *bpe, const char *text, size_t length, struct ids *out)
{
	/* flush a pending unknown id */
	out->id = mem_grow(out->id, &out->capacity,
	    mem_add(out->count, length + 1, "ids"), sizeof *out->id);
	int32_t *start = out->id + out->count;
	size_t count = start_piece(bpe, text, length, start);
	out->count +=
	    count <= SMALL ? merge_few(bpe, start, count) : merge_many(bpe, start, count);
}

void
bpe_encode(const struct bpe *bpe, const char *text, size_t length, struct ids *out)
{
	int32_t id = whole(bpe, text, length);
	size_t before = out->count;

	if (id >= 0 &&
	    (bpe->rules.ignore_merges || atomic_load_explicit(&bpe->known[id],
					     memory_order_relaxed) == WHOLE_YES)) {
		ids_push(out, id);
		return;
	}
	merge(bpe, text, length, out);
	if (id >= 0 && out->count == before + 1 && out->id[before] == id)
		atomic_store_explicit(&bpe->known[id], WHOLE_YES, memory_order_relaxed);
}

void
bpe_free(struct bpe *bpe)
{
	free(bpe->merge);
	free((void *)bpe->known);
	free(bpe->text);
	free(bpe->file);
	free(bpe);
}
