#include "bpe.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "mem.h"
#include "utf8.h"

enum { SMALL = 64, NONE = UINT32_MAX };

/* A merge by its pair; open addressing. */
struct merge {
	int32_t left, right;
	int32_t id; /* of the joined; -1: an empty slot */
	uint32_t rank;
};

struct bpe {
	const struct symbols *symbols;
	struct bpe_rules rules;
	struct merge *merge;
	size_t mask, count;
	int shift;	   /* 64 - log2(slots) */
	uint32_t rank;	   /* of the next merge */
	int32_t last;	   /* id of the last joined token */
	int32_t byte[256]; /* of a byte, or of <0xXX>; -1: no token */
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
bpe_new(const struct symbols *symbols)
{
	struct bpe *bpe = mem_zero(1, sizeof *bpe);
	int bits = 8;

	bpe->symbols = symbols;
	/* about as many merges as there are tokens */
	while (((size_t)1 << bits) < 3 * (size_t)symbols_size(symbols) / 2)
		bits++;
	open_slots(bpe, bits);
	return bpe;
}

static int32_t
byte_symbol(const struct bpe *bpe, unsigned char byte)
{
	char text[4];
	size_t length = utf8_encode(bpe_character(byte), text);

	return symbols_find(bpe->symbols, text, length);
}

bool
bpe_has_bytes(const struct bpe *bpe)
{
	for (int byte = 0; byte < 256; byte++)
		if (byte_symbol(bpe, (unsigned char)byte) < 0)
			return false;
	return true;
}

void
bpe_set(struct bpe *bpe, const struct bpe_rules *rules)
{
	static const char digits[] = "0123456789ABCDEF";

	bpe->rules = *rules;
	for (int byte = 0; byte < 256; byte++) {
		char code[] = { '<', '0', 'x', digits[byte >> 4], digits[byte & 15],
			'>' };
		bpe->byte[byte] = rules->bytes
				      ? byte_symbol(bpe, (unsigned char)byte)
				      : symbols_find(bpe->symbols, code, sizeof code);
	}
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

/* The id of two texts as one.  Merges stand mostly in the order of the ids they make. */
static int32_t
find_joined(const struct bpe *bpe, const char *left, size_t left_length,
    const char *right, size_t right_length)
{
	size_t length, wanted = left_length + right_length;
	const char *text = symbols_text(bpe->symbols, bpe->last + 1, &length);

	if (text && length == wanted && !memcmp(text, left, left_length) &&
	    !memcmp(text + left_length, right, right_length))
		return bpe->last + 1;
	char small[256], *joined = wanted > sizeof small ? mem_new(wanted, 1) : small;
	memcpy(joined, left, left_length);
	memcpy(joined + left_length, right, right_length);
	int32_t id = symbols_find(bpe->symbols, joined, wanted);
	if (joined != small)
		free(joined);
	return id;
}

const char *
bpe_merge(struct bpe *bpe, const char *left, size_t left_length, const char *right,
    size_t right_length)
{
	struct merge merge = { .rank = bpe->rank };

	merge.left = symbols_find(bpe->symbols, left, left_length);
	if (merge.left < 0)
		return "left";
	merge.right = symbols_find(bpe->symbols, right, right_length);
	if (merge.right < 0)
		return "right";
	merge.id = find_joined(bpe, left, left_length, right, right_length);
	if (merge.id < 0)
		return "joined";
	if (10 * ++bpe->count > 8 * (bpe->mask + 1))
		widen(bpe);
	*find(bpe, merge.left, merge.right) = merge;
	bpe->last = merge.id;
	bpe->rank++;
	return NULL;
}

/* The first symbols of a piece. ------------------------------------------------------ */

/* Where they go: as many as the piece has bytes at most. */
struct start {
	const struct bpe *bpe;
	int32_t *id;
	size_t count;
	bool unknown; /* one is pending */
};

static void
start_unknown(struct start *start)
{
	if (start->unknown)
		start->id[start->count++] = start->bpe->rules.unknown;
	start->unknown = false;
}

/* Its bytes as tokens; false when one of them has none. */
static bool
start_bytes(struct start *start, const char *text, size_t length)
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
start_character(struct start *start, const char *text, size_t length)
{
	const struct bpe_rules *rules = &start->bpe->rules;
	int32_t id = symbols_find(start->bpe->symbols, text, length);

	if (id >= 0) {
		start_unknown(start);
		start->id[start->count++] = id;
		return;
	}
	/* as in the reference, an unknown that is pending comes after such bytes */
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
	struct start start = { .bpe = bpe, .id = id };
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
	return merge->rank; /* NONE where there is no merge */
}

/* Few symbols: the least of all ranks, again and again. */
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

/* Many: a heap of candidates over a list of what is left; those that came to nothing since
 * are known by their ids. */
struct candidate {
	uint32_t rank, at;
	int32_t left, right, id;
};

struct list {
	const struct bpe *bpe;
	int32_t *id; /* -1: merged into another */
	uint32_t *before, *after;
	uint32_t count;
	struct candidate *heap;
	size_t waiting, room;
};

static bool
goes_first(const struct candidate *a, const struct candidate *b)
{
	return a->rank < b->rank || (a->rank == b->rank && a->at < b->at);
}

static void
heap_push(struct list *list, uint32_t at)
{
	uint32_t next = list->after[at];
	struct candidate new;

	if (next >= list->count)
		return;
	new.left = list->id[at];
	new.right = list->id[next];
	new.rank = look(list->bpe, new.left, new.right, &new.id);
	new.at = at;
	if (new.rank == NONE)
		return;
	list->heap =
	    mem_grow(list->heap, &list->room, list->waiting + 1, sizeof *list->heap);
	size_t i = list->waiting++;
	for (; i > 0 && goes_first(&new, &list->heap[(i - 1) / 2]); i = (i - 1) / 2)
		list->heap[i] = list->heap[(i - 1) / 2];
	list->heap[i] = new;
}

static struct candidate
heap_pop(struct list *list)
{
	struct candidate top = list->heap[0], last = list->heap[--list->waiting];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < list->waiting; i = child) {
		if (child + 1 < list->waiting &&
		    goes_first(&list->heap[child + 1], &list->heap[child]))
			child++;
		if (!goes_first(&list->heap[child], &last))
			break;
		list->heap[i] = list->heap[child];
	}
	list->heap[i] = last;
	return top;
}

static void
list_merge(struct list *list, const struct candidate *best)
{
	uint32_t next = list->after[best->at], behind;

	if (list->id[best->at] != best->left || next >= list->count ||
	    list->id[next] != best->right)
		return;
	list->id[best->at] = best->id;
	list->id[next] = -1;
	behind = list->after[best->at] = list->after[next];
	if (behind < list->count)
		list->before[behind] = best->at;
	if (best->at > 0)
		heap_push(list, list->before[best->at]);
	heap_push(list, best->at);
}

static size_t
merge_many(const struct bpe *bpe, int32_t *id, size_t count)
{
	struct list list = { .bpe = bpe, .id = id, .count = (uint32_t)count };
	size_t kept = 0;

	if (count >= NONE)
		die("a word of %zu characters is too long", count);
	list.before = mem_new(count, sizeof *list.before);
	list.after = mem_new(count, sizeof *list.after);
	for (uint32_t i = 0; i < list.count; i++) {
		list.before[i] = i - 1;
		list.after[i] = i + 1;
	}
	for (uint32_t i = 0; i < list.count; i++)
		heap_push(&list, i);
	while (list.waiting) {
		struct candidate best = heap_pop(&list);
		list_merge(&list, &best);
	}
	for (size_t i = 0; i < count; i++)
		if (id[i] >= 0)
			id[kept++] = id[i];
	free(list.before);
	free(list.after);
	free(list.heap);
	return kept;
}

/* The id of a piece that is a token as it is, or -1. */
static int32_t
whole(const struct bpe *bpe, const char *text, size_t length)
{
	if (!bpe->rules.bytes)
		return symbols_find(bpe->symbols, text, length);
	char *characters = bpe_characters(text, length, &length);
	int32_t id = symbols_find(bpe->symbols, characters, length);
	free(characters);
	return id;
}

void
bpe_encode(const struct bpe *bpe, const char *text, size_t length, struct ids *out)
{
	int32_t id = bpe->rules.ignore_merges ? whole(bpe, text, length) : -1;

	if (id >= 0) {
		ids_push(out, id);
		return;
	}
	/* an unknown may be pending behind the bytes of all others */
	out->id =
	    mem_grow(out->id, &out->capacity, out->count + length + 1, sizeof *out->id);
	int32_t *start = out->id + out->count;
	size_t count = start_piece(bpe, text, length, start);
	out->count +=
	    count <= SMALL ? merge_few(bpe, start, count) : merge_many(bpe, start, count);
}

void
bpe_free(struct bpe *bpe)
{
	free(bpe->merge);
	free(bpe);
}
