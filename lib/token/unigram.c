#include "token/unigram.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

static const double UNKNOWN_PENALTY = 10;
enum { SMALL = 256, INSERTED = 14, WORD = 8, AHEAD = 16 };

/* Reached by a byte, its label, which stands apart, and `skip` bytes behind it. */
struct node {
	uint32_t text;	/* those bytes, in the pool */
	uint32_t first; /* its children, in the order of their labels */
	int32_t id;	/* of the piece that ends here; -1: none */
	uint16_t skip, count;
};

struct unigram {
	char *pool; /* the pieces' texts, in order */
	struct node *node;
	unsigned char *label;
	size_t nodes, node_room;
	double *score; /* by id */
	double unknown;
	struct unigram_rules rules;
	int32_t byte[256]; /* of <0xXX>; -1: no piece */
	char *file;
};

/* Sorting the pieces. ------------------------------------------------------------------ */

/* A piece with eight of its bytes as a number, zeros behind its end; later with the place of its text. */
struct entry {
	uint64_t key;
	int32_t id;
	uint16_t length;
};

/* The texts of pieces as the vocabulary has them. */
struct texts {
	const char *pool;
	size_t size;
	uint32_t *start; /* by id */
};

static const char *
text_of(const struct texts *texts, const struct entry *entry)
{
	return texts->pool + texts->start[entry->id];
}

static uint64_t
key_at(const struct texts *texts, const struct entry *entry, size_t depth)
{
	size_t at = texts->start[entry->id] + depth, left = entry->length - depth;
	uint64_t key = 0;

	if (!left)
		return 0;
	memcpy(
	    &key, texts->pool + at, at + WORD <= texts->size ? WORD : texts->size - at);
	key = be64toh(key);
	return left < WORD ? key & ~(UINT64_MAX >> 8 * left) : key;
}

/* Of two that are equal up to `depth`, where their keys begin. */
static bool
goes_first(
    const struct texts *texts, size_t depth, const struct entry *a, const struct entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	size_t least = a->length < b->length ? a->length : b->length;
	int order = least <= depth ? 0
				   : memcmp(text_of(texts, a) + depth,
					 text_of(texts, b) + depth, least - depth);
	return order			? order < 0
	       : a->length != b->length ? a->length < b->length
					: a->id < b->id;
}

static void
insert(const struct texts *texts, size_t depth, struct entry *entry, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct entry moved = entry[i];
		size_t at = i;
		for (; at > 0 && goes_first(texts, depth, &moved, &entry[at - 1]); at--)
			entry[at] = entry[at - 1];
		entry[at] = moved;
	}
}

/* 0 where the piece ends at `depth`, else 1 + its byte there. */
static size_t
bucket(const struct entry *entry, size_t depth)
{
	return entry->length == depth ? 0
				      : 1 + (entry->key >> (56 - depth % WORD * 8) & 255);
}

/* By their buckets, stably.  Apart from sort, whose frames would hold its counts. */
static __attribute__((noinline)) void
scatter(struct entry *entry, struct entry *scratch, size_t count, size_t depth)
{
	size_t start[258] = { 0 };

	for (size_t i = 0; i < count; i++)
		start[bucket(&entry[i], depth) + 1]++;
	for (int b = 0; b < 257; b++)
		if (start[b + 1] == count) /* all in one */
			return;
	for (int b = 0; b < 257; b++)
		start[b + 1] += start[b];
	for (size_t i = 0; i < count; i++)
		scratch[start[bucket(&entry[i], depth)]++] = entry[i];
	memcpy(entry, scratch, count * sizeof *entry);
}

/* Pieces that are equal up to `depth`, by the bytes behind it; equal ones by id. */
static void
sort(const struct texts *texts, struct entry *entry, struct entry *scratch, size_t count,
    size_t depth)
{
	for (size_t i = 0; depth % WORD == 0 && i < count; i++) {
		if (i + AHEAD < count)
			__builtin_prefetch(text_of(texts, &entry[i + AHEAD]) + depth);
		entry[i].key = key_at(texts, &entry[i], depth);
	}
	if (count <= INSERTED) {
		insert(texts, depth - depth % WORD, entry, count);
		return;
	}
	scatter(entry, scratch, count, depth);
	for (size_t i = 0, next; i < count; i = next) {
		size_t kind = bucket(&entry[i], depth);
		for (next = i + 1; next < count && bucket(&entry[next], depth) == kind;)
			next++;
		if (kind && next - i > 1)
			sort(texts, entry + i, scratch, next - i, depth + 1);
	}
}

/* The trie. ---------------------------------------------------------------------------- */

/* Pieces that are equal up to `depth`, of which a node is still to be made. */
struct range {
	uint32_t first, last, node;
	uint16_t depth;
};

struct build {
	struct unigram *unigram;
	const struct entry *entry;
	uint16_t *common; /* bytes that an entry begins with as the one before it does */
	struct range *range;
	size_t ranges, range_room;
};

/* A node; of one piece alone it is done, with the rest of the piece's text. */
static void
add_node(struct build *build, unsigned char label, uint32_t first, uint32_t last,
    uint16_t depth)
{
	struct unigram *unigram = build->unigram;
	const struct entry *entry = &build->entry[first];
	size_t n = unigram->nodes++;

	if (n == unigram->node_room) {
		unigram->node = mem_grow(
		    unigram->node, &unigram->node_room, n + 1, sizeof *unigram->node);
		unigram->label = mem_resize(unigram->label, unigram->node_room, 1);
	}
	unigram->label[n] = label;
	unigram->node[n] = (struct node){ .text = (uint32_t)entry->key + depth,
		.id = entry->id,
		.skip = (uint16_t)(entry->length - depth) };
	if (last - first == 1 && n)
		return;
	build->range = mem_grow(
	    build->range, &build->range_room, build->ranges + 1, sizeof *build->range);
	build->range[build->ranges++] = (struct range){ first, last, (uint32_t)n, depth };
}

/* The bytes that all of a range begin with. */
static uint16_t
shared(const struct build *build, const struct range *range)
{
	uint16_t least = build->entry[range->first].length;

	for (uint32_t i = range->first + 1; i < range->last; i++)
		least = build->common[i] < least ? build->common[i] : least;
	return least;
}

/* The node of many pieces: what they have in common, and a child for each byte behind that. */
static void
branch(struct build *build, struct range range)
{
	struct unigram *unigram = build->unigram;
	const struct entry *entry = build->entry;
	uint16_t depth = range.node ? shared(build, &range) : 0;
	uint32_t first = (uint32_t)unigram->nodes;
	int32_t id = -1;

	for (; range.first < range.last && entry[range.first].length == depth;
	     range.first++)
		id = entry[range.first].id; /* of equal ones the last */
	for (uint32_t i = range.first, next; i < range.last; i = next) {
		for (next = i + 1; next < range.last && build->common[next] > depth;)
			next++;
		add_node(build, (unsigned char)unigram->pool[entry[i].key + depth], i,
		    next, (uint16_t)(depth + 1));
	}
	struct node *node = &unigram->node[range.node];
	node->id = id;
	node->first = first;
	node->count = (uint16_t)(unigram->nodes - first);
	node->skip = (uint16_t)(depth - range.depth);
}

/* The texts one after another in the order of the entries, which are now of these: those that are read
 * together stand together. */
static void
order_texts(
    struct build *build, struct entry *entry, const struct texts *texts, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += entry[i].length;
	char *to = build->unigram->pool = mem_new(used + 1, 1), *before = to;
	for (size_t i = 0; i < count; before = to, to += entry[i++].length) {
		uint32_t common = 0, length = entry[i].length;
		if (i + AHEAD < count)
			__builtin_prefetch(text_of(texts, &entry[i + AHEAD]));
		memcpy(to, text_of(texts, &entry[i]), length);
		if (i > 0 && entry[i - 1].length < length)
			length = entry[i - 1].length;
		while (i > 0 && common < length && to[common] == before[common])
			common++;
		build->common[i] = (uint16_t)common;
		entry[i].key = (uint64_t)(to - build->unigram->pool);
	}
}

static void
build_trie(struct unigram *unigram, const struct vocabulary *vocabulary)
{
	size_t count = (size_t)vocabulary_size(vocabulary), length;
	struct entry *entry = mem_new(count, sizeof *entry);
	struct entry *scratch = mem_new(count, sizeof *scratch);
	struct build build = { .unigram = unigram, .entry = entry };
	struct texts texts = { .pool = vocabulary_text(vocabulary, 0, NULL),
		.start = mem_new(count, sizeof *texts.start) };

	for (size_t i = 0; i < count; i++) {
		const char *text = vocabulary_text(vocabulary, (int32_t)i, &length);
		texts.start[i] = (uint32_t)(text - texts.pool);
		entry[i] = (struct entry){ .id = (int32_t)i, .length = (uint16_t)length };
		texts.size = (size_t)(text - texts.pool) + length;
	}
	sort(&texts, entry, scratch, count, 0);
	free(scratch);
	build.common = mem_new(count, sizeof *build.common);
	order_texts(&build, entry, &texts, count);
	free(texts.start);
	add_node(&build, 0, 0, (uint32_t)count, 0);
	while (build.ranges)
		branch(&build, build.range[--build.ranges]);
	free(build.common);
	free(build.range);
	free(entry);
}

/* The child that a byte leads to, or NULL. */
static const struct node *
child(const struct unigram *unigram, const struct node *node, unsigned char byte)
{
	const unsigned char *label = unigram->label + node->first, *found = label;

	if (node->count > 1)
		found = memchr(label, byte, node->count);
	else if (!node->count || *label != byte)
		found = NULL;
	return found ? &unigram->node[found - unigram->label] : NULL;
}

/* The next node at or below `node`, of which all bytes have been read, where text goes on at *at; NULL:
 * none.  *at moves behind what it stands for. */
static const struct node *
descend(const struct unigram *unigram, const struct node *node, const char *text,
    size_t length, size_t *at)
{
	if (*at == length || !(node = child(unigram, node, (unsigned char)text[*at])))
		return NULL;
	++*at;
	const char *rest = unigram->pool + node->text;
	if (node->skip > length - *at)
		return NULL;
	for (size_t i = 0; i < node->skip; i++)
		if (text[*at + i] != rest[i])
			return NULL;
	*at += node->skip;
	return node;
}

int32_t
unigram_find(const struct unigram *unigram, const char *text, size_t length)
{
	const struct node *node = unigram->node;
	size_t at = 0;

	while (node && at < length)
		node = descend(unigram, node, text, length, &at);
	return node ? node->id : -1;
}

struct unigram *
unigram_new(const struct vocabulary *vocabulary, double *score,
    const struct unigram_rules *rules, const char *file)
{
	static const char digits[] = "0123456789ABCDEF";
	struct unigram *unigram = mem_zero(1, sizeof *unigram);
	int32_t count = vocabulary_size(vocabulary);
	double least = score[0];

	unigram->score = score;
	unigram->rules = *rules;
	unigram->file = mem_string(file);
	for (int32_t i = 1; i < count; i++)
		least = score[i] < least ? score[i] : least;
	unigram->unknown = least - UNKNOWN_PENALTY;
	build_trie(unigram, vocabulary);
	for (int byte = 0; byte < 256; byte++) {
		char code[] = { '<', '0', 'x', digits[byte >> 4], digits[byte & 15],
			'>' };
		unigram->byte[byte] = unigram_find(unigram, code, sizeof code);
	}
	return unigram;
}

/* Encoding. ---------------------------------------------------------------------------- */

/* The best way to a place in the text: its sum, its last piece, and where that begins; later, of a place
 * on the way, where the piece that begins there ends. */
struct place {
	double sum;
	uint32_t other;
	int32_t id;
};

static const uint32_t NOWHERE = UINT32_MAX;

static void
reach(struct place *place, double sum, size_t start, int32_t id)
{
	if (place->other == NOWHERE || sum > place->sum)
		*place = (struct place){ sum, (uint32_t)start, id };
}

static void
find_ways(
    const struct unigram *unigram, const char *text, size_t length, struct place *place)
{
	int32_t code;

	for (size_t start = 0, bytes; start < length; start += bytes) {
		const struct node *node = unigram->node;
		double sum = place[start].sum;
		bool single = false;
		size_t at = start;
		bytes = utf8_decode(text + start, length - start, &code);
		while ((node = descend(unigram, node, text, length, &at))) {
			if (node->id < 0)
				continue;
			single |= at == start + bytes;
			reach(
			    &place[at], sum + unigram->score[node->id], start, node->id);
		}
		if (single)
			continue;
		if (unigram->rules.unknown < 0)
			die("%s: model: 'unk_id' is null, and '%.*s' of a text is no "
			    "piece",
			    unigram->file, (int)bytes, text + start);
		reach(&place[start + bytes], sum + unigram->unknown, start,
		    unigram->rules.unknown);
	}
}

/* A run of unknowns. */
static void
push_unknown(
    const struct unigram *unigram, const char *text, size_t length, struct ids *out)
{
	int32_t id = unigram_find(unigram, text, length);
	bool bytes = id < 0 && unigram->rules.byte_fallback;

	for (size_t i = 0; bytes && i < length; i++)
		bytes = unigram->byte[(unsigned char)text[i]] >= 0;
	if (!bytes)
		ids_push(out, id < 0 ? unigram->rules.unknown : id);
	for (size_t i = 0; bytes && i < length; i++)
		ids_push(out, unigram->byte[(unsigned char)text[i]]);
}

/* The ids of the way to the end. */
static void
push_way(const struct unigram *unigram, const char *text, size_t length,
    struct place *place, struct ids *out)
{
	int32_t unknown = unigram->rules.unknown;
	struct place last = place[length];

	/* the way back, turned: where pieces end, in the places where they begin */
	for (size_t end = length; end > 0;) {
		struct place before = place[last.other];
		place[last.other] = (struct place){ 0, (uint32_t)end, last.id };
		end = last.other;
		last = before;
	}
	for (size_t start = 0, end; start < length; start = end) {
		end = place[start].other;
		if (place[start].id != unknown) {
			ids_push(out, place[start].id);
			continue;
		}
		while (end < length && place[end].id == unknown)
			end = place[end].other;
		push_unknown(unigram, text + start, end - start, out);
	}
}

void
unigram_encode(
    const struct unigram *unigram, const char *text, size_t length, struct ids *out)
{
	struct place small[SMALL + 1], *place = small;

	if (length >= NOWHERE)
		die("a text of %zu bytes is too long", length);
	if (length > SMALL)
		place = mem_new(length + 1, sizeof *place);
	for (size_t i = 1; i <= length; i++)
		place[i].other = NOWHERE;
	place[0] = (struct place){ 0, 0, -1 };
	find_ways(unigram, text, length, place);
	push_way(unigram, text, length, place, out);
	if (place != small)
		free(place);
}

void
unigram_free(struct unigram *unigram)
{
	free(unigram->pool);
	free(unigram->node);
	free(unigram->label);
	free(unigram->score);
	free(unigram->file);
	free(unigram);
}
