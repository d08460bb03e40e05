#include "token/unigram.h"

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

static const double UNKNOWN_PENALTY = 10;
/* Marks the start of a word. */
static const char MARK[] = "\xe2\x96\x81";
enum { SMALL = 256, AHEAD = 16, INLINE = 4, MARKED = sizeof MARK, GROUPS = 512 };

/* A node is reached by a byte, its label (in trie_group.label), and `skip` bytes after it. */
struct trie_node {
	union {
		uint32_t at;	    /* offset of the bytes in the vocabulary */
		char bytes[INLINE]; /* the bytes, if they fit */
	} rest;
	uint32_t first; /* index of its children, sorted by label */
	int32_t id;	/* piece that ends here; -1: none */
	uint16_t skip, count;
};

/* The pieces that begin with a byte, or with MARK and a byte.  Their trie is built when a text first needs it; most
 * texts need few groups. */
struct trie_group {
	atomic_bool built;
	uint32_t count;
	int32_t last; /* its last piece; the others are linked by `before` */
	struct trie_node root, *node;
	unsigned char *label;
	size_t nodes;
};

struct unigram {
	const struct vocabulary *vocabulary;
	const char *pool; /* texts of the vocabulary */
	size_t size;
	struct trie_group group[GROUPS];
	int32_t *before; /* by id: the previous piece of its group */
	int32_t empty;	 /* id of the empty piece, or -1 */
	pthread_mutex_t building;
	double *score; /* by id */
	double unknown;
	struct unigram_rules rules;
	int32_t byte[256]; /* id of <0xXX>; -1: none */
	char *file;
};

/* Sorting a group's pieces. ------------------------------------------------------------ */

/* A piece for sorting.  key: its next KEY bytes, big-endian, padded by zeros; then their number, at most KEY + 1. */
struct piece_key {
	uint64_t key;
	uint32_t start; /* offset of its text */
	int32_t id;
	uint16_t length;
	uint16_t common; /* length of the common prefix with the entry before it */
};
enum { KEY = 7, MORE = KEY + 1, COUNTED = 48 };

static uint64_t
key_at(const struct unigram *unigram, const struct piece_key *entry, size_t depth)
{
	size_t at = entry->start + depth, left = entry->length - depth;
	uint64_t key = 0;

	if (at + sizeof key <= unigram->size)
		memcpy(&key, unigram->pool + at, sizeof key);
	else
		memcpy(&key, unigram->pool + at, unigram->size - at);
	key = be64toh(key);
	return left < MORE ? (key & ~(UINT64_MAX >> 8 * left)) | left
			   : (key & ~(uint64_t)255) | MORE;
}

/* Number of equal leading bytes of two different keys. */
static unsigned
common_bytes(uint64_t a, uint64_t b)
{
	unsigned same = (unsigned)__builtin_clzll(a ^ b) / 8;
	unsigned least = (unsigned)((a & 255) < (b & 255) ? a & 255 : b & 255);

	return same < least ? same : least;
}

/* Stable sort by key. */
static void
insert(struct piece_key *entry, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct piece_key moved = entry[i];
		size_t at = i;
		for (; at > 0 && moved.key < entry[at - 1].key; at--)
			entry[at] = entry[at - 1];
		entry[at] = moved;
	}
}

/* The same for many entries: byte by byte, from the last. noinline: else each frame of sort would hold its counts. */
static __attribute__((noinline)) void
scatter(struct piece_key *entry, struct piece_key *scratch, size_t count)
{
	uint32_t start[8][256] = { 0 };
	struct piece_key *from = entry, *to = scratch, *turned;

	for (size_t i = 0; i < count; i++)
		for (int b = 0; b < 8; b++)
			start[b][entry[i].key >> 8 * b & 255]++;
	for (int b = 0; b < 8; b++) {
		uint32_t sum = 0, here;
		if (start[b][from->key >> 8 * b & 255] == count) /* all alike */
			continue;
		for (int value = 0; value < 256; value++, sum += here) {
			here = start[b][value];
			start[b][value] = sum;
		}
		for (size_t i = 0; i < count; i++)
			to[start[b][from[i].key >> 8 * b & 255]++] = from[i];
		turned = from;
		from = to;
		to = turned;
	}
	if (from != entry)
		memcpy(entry, from, count * sizeof *entry);
}

/* Pieces that are equal up to `depth`, by the bytes behind it; equal ones by id. */
static void
sort(const struct unigram *unigram, struct piece_key *entry, struct piece_key *scratch,
    size_t count, size_t depth)
{
	uint64_t before = 0;

	for (size_t i = 0; i < count; i++) {
		if (i + AHEAD < count)
			__builtin_prefetch(
			    unigram->pool + entry[i + AHEAD].start + depth);
		entry[i].key = key_at(unigram, &entry[i], depth);
	}
	if (count < COUNTED)
		insert(entry, count);
	else
		scatter(entry, scratch, count);
	for (size_t i = 0, next; i < count; i = next) {
		uint64_t key = entry[i].key;
		for (next = i + 1; next < count && entry[next].key == key;)
			entry[next++].common = entry[i].length; /* of equal ones */
		if (next - i > 1 && (key & 255) == MORE)
			sort(unigram, entry + i, scratch, next - i, depth + KEY);
		if (i > 0)
			entry[i].common = (uint16_t)(depth + common_bytes(before, key));
		before = key;
	}
}

/* Its trie. ---------------------------------------------------------------------------- */

/* A node on the path to the piece added last, which may get more children: the first `depth` bytes of a text. */
struct open_node {
	uint32_t text, depth;
	size_t children; /* their start in `loose` */
	int32_t id;
};

struct trie_builder {
	const char *pool;
	struct trie_group *group;
	struct open_node *open; /* from the group's root down */
	size_t opened, open_room;
	/* children of open nodes; they become contiguous when the node is closed */
	struct trie_node *loose;
	unsigned char *label;
	size_t count, loose_room;
};

/* Stores the loose children from `first` on in the group; returns their index. */
static uint32_t
settle(struct trie_builder *build, size_t first)
{
	struct trie_group *group = build->group;
	size_t at = group->nodes, count = build->count - first;

	if (!count)
		return 0;
	memcpy(group->node + at, build->loose + first, count * sizeof *group->node);
	memcpy(group->label + at, build->label + first, count);
	group->nodes += count;
	build->count = first;
	return (uint32_t)at;
}

/* Closes the last open node: it becomes a loose child of a node that ends at `depth`. */
static void
close_node(struct trie_builder *build, uint32_t depth)
{
	const struct open_node *open = &build->open[--build->opened];
	const char *text = build->pool + open->text + depth;
	struct trie_node node = { .id = open->id,
		.count = (uint16_t)(build->count - open->children),
		.skip = (uint16_t)(open->depth - depth - 1) };

	node.first = settle(build, open->children);
	if (node.skip <= INLINE)
		memcpy(node.rest.bytes, text + 1, node.skip);
	else
		node.rest.at = open->text + depth + 1;
	if (build->count == build->loose_room) {
		build->loose = mem_grow(build->loose, &build->loose_room,
		    build->count + 1, sizeof *build->loose);
		build->label = mem_resize(build->label, build->loose_room, 1);
	}
	build->label[build->count] = (unsigned char)*text;
	build->loose[build->count++] = node;
}

static void
open_node(struct trie_builder *build, uint32_t text, uint32_t depth, int32_t id,
    size_t children)
{
	if (build->opened == build->open_room)
		build->open = mem_grow(build->open, &build->open_room, build->opened + 1,
		    sizeof *build->open);
	build->open[build->opened++] = (struct open_node){ text, depth, children, id };
}

/* Closes nodes deeper than the `depth` bytes shared with the next piece. */
static void
close_nodes(struct trie_builder *build, uint32_t depth)
{
	while (build->open[build->opened - 1].depth > depth) {
		struct open_node open = build->open[build->opened - 1];
		uint32_t above = build->open[build->opened - 2].depth;
		close_node(build, above > depth ? above : depth);
		if (above < depth)
			open_node(build, open.text, depth, -1, open.children);
	}
}

static void
build_trie(const struct unigram *unigram, struct trie_group *group,
    const struct piece_key *entry, size_t count, uint32_t depth)
{
	struct trie_builder build = { .pool = unigram->pool, .group = group };

	group->node = mem_large(2 * count, sizeof *group->node);
	group->label = mem_new(2 * count, 1);
	open_node(&build, entry->start, depth, -1, 0);
	for (size_t i = 0; i < count; i++) {
		if (i + AHEAD < count)
			__builtin_prefetch(unigram->pool + entry[i + AHEAD].start);
		if (i > 0)
			close_nodes(&build, entry[i].common);
		struct open_node *last = &build.open[build.opened - 1];
		if (last->depth == entry[i].length) /* the root, or a duplicate */
			last->id = entry[i].id;
		else
			open_node(&build, entry[i].start, entry[i].length, entry[i].id,
			    build.count);
	}
	close_nodes(&build, depth);
	group->root =
	    (struct trie_node){ .id = build.open[0].id, .count = (uint16_t)build.count };
	group->root.first = settle(&build, 0);
	free(build.open);
	free(build.loose);
	free(build.label);
}

static void
build_group(const struct unigram *unigram, struct trie_group *group)
{
	size_t count = group->count, length;
	int32_t id = group->last;
	struct piece_key *entry = mem_large(count, sizeof *entry);
	struct piece_key *scratch = mem_large(count, sizeof *scratch);
	uint32_t depth = group < unigram->group + 256 ? 1 : MARKED;

	for (size_t i = count; i-- > 0; id = unigram->before[id]) {
		const char *text = vocabulary_text(unigram->vocabulary, id, &length);
		entry[i] = (struct piece_key){ .start = (uint32_t)(text - unigram->pool),
			.id = id,
			.length = (uint16_t)length };
	}
	sort(unigram, entry, scratch, count, depth);
	free(scratch);
	build_trie(unigram, group, entry, count, depth);
	free(entry);
}

/* The groups. -------------------------------------------------------------------------- */

static bool
is_marked(const char *text, size_t length)
{
	return length >= MARKED && !memcmp(text, MARK, MARKED - 1);
}

/* The group of a piece; GROUPS: the piece is empty. */
static size_t
group_of(const char *text, size_t length)
{
	return !length			 ? GROUPS
	       : is_marked(text, length) ? 256 + (size_t)(unsigned char)text[MARKED - 1]
					 : (size_t)(unsigned char)*text;
}

/* Returns a group, building it first if needed; one thread builds while others wait. */
static const struct trie_group *
group_at(const struct unigram *unigram, size_t number)
{
	struct trie_group *group = (struct trie_group *)&unigram->group[number];

	if (atomic_load_explicit(&group->built, memory_order_acquire))
		return group;
	pthread_mutex_t *building = (pthread_mutex_t *)&unigram->building;
	pthread_mutex_lock(building);
	if (!atomic_load_explicit(&group->built, memory_order_relaxed)) {
		build_group(unigram, group);
		atomic_store_explicit(&group->built, true, memory_order_release);
	}
	pthread_mutex_unlock(building);
	return group;
}

static void
part_groups(struct unigram *unigram)
{
	const struct vocabulary *vocabulary = unigram->vocabulary;
	size_t length;

	unigram->empty = -1;
	unigram->before =
	    mem_new((size_t)vocabulary_size(vocabulary), sizeof *unigram->before);
	unigram->pool = vocabulary_text(vocabulary, 0, NULL);
	for (int32_t id = 0; id < vocabulary_size(vocabulary); id++) {
		const char *text = vocabulary_text(vocabulary, id, &length);
		unigram->size = (size_t)(text - unigram->pool) + length;
		if (!length) {
			unigram->empty = id;
			continue;
		}
		struct trie_group *group = &unigram->group[group_of(text, length)];
		unigram->before[id] = group->last;
		group->last = id;
		group->count++;
	}
	for (size_t g = 0; g < GROUPS; g++) {
		unigram->group[g].root.id = -1;
		atomic_init(&unigram->group[g].built, !unigram->group[g].count);
	}
}

/* The child with this label, or NULL. */
static const struct trie_node *
child(const struct trie_group *group, const struct trie_node *node, unsigned char byte)
{
	if (!node->count)
		return NULL;
	const unsigned char *label = group->label + node->first, *found = label;
	if (node->count > 1)
		found = memchr(label, byte, node->count);
	else if (*label != byte)
		found = NULL;
	return found ? &group->node[found - group->label] : NULL;
}

/* The next node at or below `node`, all of whose bytes have been read, where text goes on at *at; NULL:
 * none.  *at moves behind its text. */
static const struct trie_node *
descend(const struct unigram *unigram, const struct trie_group *group,
    const struct trie_node *node, const char *text, size_t length, size_t *at)
{
	if (*at == length || !(node = child(group, node, (unsigned char)text[*at])))
		return NULL;
	++*at;
	const char *rest =
	    node->skip <= INLINE ? node->rest.bytes : unigram->pool + node->rest.at;
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
	size_t number = group_of(text, length), at = number < 256 ? 1 : MARKED;

	if (number == GROUPS)
		return unigram->empty;
	const struct trie_group *group = group_at(unigram, number);
	const struct trie_node *node = &group->root;
	while (node && at < length)
		node = descend(unigram, group, node, text, length, &at);
	return node ? node->id : -1;
}

struct unigram *
unigram_new(const struct vocabulary *vocabulary, double *score,
    const struct unigram_rules *rules, const char *file)
{
	struct unigram *unigram = mem_zero(1, sizeof *unigram);
	int32_t count = vocabulary_size(vocabulary);
	double least = score[0];

	unigram->score = score;
	unigram->rules = *rules;
	unigram->file = mem_string(file);
	for (int32_t i = 1; i < count; i++)
		least = score[i] < least ? score[i] : least;
	unigram->unknown = least - UNKNOWN_PENALTY;
	unigram->vocabulary = vocabulary;
	pthread_mutex_init(&unigram->building, NULL);
	part_groups(unigram);
	for (int byte = 0; byte < 256; byte++) {
		char code[sizeof "<0xFF>"];
		snprintf(code, sizeof code, "<0x%02X>", (unsigned)byte);
		unigram->byte[byte] = unigram_find(unigram, code, sizeof code - 1);
	}
	return unigram;
}

/* Encoding. ---------------------------------------------------------------------------- */

/* The best way to a place in the text: its sum, its last piece, and where that begins; later, of a place
 * on the way, where the piece that begins there ends. */
struct best_piece {
	double sum;
	uint32_t other;
	int32_t id;
};

static const uint32_t NOWHERE = UINT32_MAX;

static void
reach(struct best_piece *place, double sum, size_t start, int32_t id)
{
	if (place->other == NOWHERE || sum > place->sum)
		*place = (struct best_piece){ sum, (uint32_t)start, id };
}

/* Extends the best path at `start` by all matching pieces of a group, whose root ends at `at`; returns whether one
 * ends at `single`. */
static bool
follow(const struct unigram *unigram, const struct trie_group *group, const char *text,
    size_t length, size_t start, size_t at, size_t single, struct best_piece *place)
{
	const struct trie_node *node = &group->root;
	double sum = place[start].sum;
	bool found = false;

	do {
		if (node->id < 0)
			continue;
		found |= at == single;
		reach(&place[at], sum + unigram->score[node->id], start, node->id);
	} while ((node = descend(unigram, group, node, text, length, &at)));
	return found;
}

static void
find_ways(const struct unigram *unigram, const char *text, size_t length,
    struct best_piece *place)
{
	int32_t code;

	for (size_t start = 0, bytes; start < length; start += bytes) {
		const struct trie_group *group =
		    group_at(unigram, (unsigned char)text[start]);
		bytes = utf8_decode(text + start, length - start, &code);
		bool single = follow(
		    unigram, group, text, length, start, start + 1, start + bytes, place);
		if (is_marked(text + start, length - start)) {
			group = group_at(unigram, group_of(text + start, length - start));
			follow(unigram, group, text, length, start, start + MARKED,
			    start + bytes, place);
		}
		if (single)
			continue;
		if (unigram->rules.unknown < 0)
			die("%s: model: 'unk_id' is null, and '%.*s' of a text is not a piece",
			    unigram->file, (int)bytes, text + start);
		reach(&place[start + bytes], place[start].sum + unigram->unknown, start,
		    unigram->rules.unknown);
	}
}

/* Appends a run of unknown characters. */
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

/* Appends the ids of the best path. */
static void
push_way(const struct unigram *unigram, const char *text, size_t length,
    struct best_piece *place, struct ids *out)
{
	int32_t unknown = unigram->rules.unknown;
	struct best_piece last = place[length];

	/* reverse the path: store ends of pieces at their starts */
	for (size_t end = length; end > 0;) {
		struct best_piece before = place[last.other];
		place[last.other] = (struct best_piece){ 0, (uint32_t)end, last.id };
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
	struct best_piece small[SMALL + 1], *place = small;

	if (length >= NOWHERE)
		die("a text of %zu bytes is too long", length);
	if (length > SMALL)
		place = mem_new(length + 1, sizeof *place);
	for (size_t i = 1; i <= length; i++)
		place[i].other = NOWHERE;
	place[0] = (struct best_piece){ 0, 0, -1 };
	find_ways(unigram, text, length, place);
	push_way(unigram, text, length, place, out);
	if (place != small)
		free(place);
}

void
unigram_free(struct unigram *unigram)
{
	for (size_t g = 0; g < GROUPS; g++) {
		free(unigram->group[g].node);
		free(unigram->group[g].label);
	}
	pthread_mutex_destroy(&unigram->building);
	free(unigram->before);
	free(unigram->score);
	free(unigram->file);
	free(unigram);
}
