#include "token/train/pair_counts.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct token_pair {
	int32_t left, right;
	int64_t count;
	uint32_t *word;
	size_t words, capacity;
	bool grown; /* count grew since it entered the heap */
};

/* A heap entry: the pair's count when it entered, which may have changed since. */
struct guess {
	int64_t count;
	uint32_t pair;
};

struct pair_counts {
	struct token_pair *pair;
	size_t count, capacity;
	uint32_t *slot; /* hash table: index into pair + 1; 0: empty */
	size_t slots;
	struct guess *heap;
	size_t guesses, room;
	uint32_t *grown; /* pairs to put into the heap, or again */
	size_t growing, grown_room;
};

struct pair_counts *
pair_counts_new(void)
{
	struct pair_counts *pairs = mem_zero(1, sizeof *pairs);

	pairs->slots = 1 << 12;
	pairs->slot = mem_zero(pairs->slots, sizeof *pairs->slot);
	return pairs;
}

static size_t
find(const struct pair_counts *pairs, int32_t left, int32_t right)
{
	uint64_t hash =
	    ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9E3779B97F4A7C15u;
	size_t mask = pairs->slots - 1, at = (hash ^ hash >> 32) & mask;

	for (; pairs->slot[at]; at = (at + 1) & mask) {
		const struct token_pair *pair = &pairs->pair[pairs->slot[at] - 1];
		if (pair->left == left && pair->right == right)
			break;
	}
	return at;
}

static void
widen(struct pair_counts *pairs)
{
	free(pairs->slot);
	pairs->slots *= 2;
	pairs->slot = mem_zero(pairs->slots, sizeof *pairs->slot);
	for (size_t i = 0; i < pairs->count; i++)
		pairs->slot[find(pairs, pairs->pair[i].left, pairs->pair[i].right)] =
		    (uint32_t)i + 1;
}

static bool
before(const struct pair_counts *pairs, const struct guess *a, const struct guess *b)
{
	const struct token_pair *x = &pairs->pair[a->pair], *y = &pairs->pair[b->pair];

	if (a->count != b->count)
		return a->count > b->count;
	return x->left != y->left ? x->left < y->left : x->right < y->right;
}

static void
push(struct pair_counts *pairs, struct guess guess)
{
	pairs->heap =
	    mem_grow(pairs->heap, &pairs->room, pairs->guesses + 1, sizeof *pairs->heap);
	size_t at = pairs->guesses++;
	for (size_t up; at > 0 && before(pairs, &guess, &pairs->heap[up = (at - 1) / 2]);
	     at = up)
		pairs->heap[at] = pairs->heap[up];
	pairs->heap[at] = guess;
}

static struct guess
pop(struct pair_counts *pairs)
{
	struct guess top = pairs->heap[0], last = pairs->heap[--pairs->guesses];
	size_t at = 0;

	for (size_t down = 1; down < pairs->guesses; down = 2 * at + 1) {
		if (down + 1 < pairs->guesses &&
		    before(pairs, &pairs->heap[down + 1], &pairs->heap[down]))
			down++;
		if (!before(pairs, &pairs->heap[down], &last))
			break;
		pairs->heap[at] = pairs->heap[down];
		at = down;
	}
	pairs->heap[at] = last;
	return top;
}

void
pair_counts_change(
    struct pair_counts *pairs, int32_t left, int32_t right, int64_t change, uint32_t word)
{
	if (2 * pairs->count >= pairs->slots)
		widen(pairs);
	size_t at = find(pairs, left, right);
	if (!pairs->slot[at]) {
		pairs->pair = mem_grow(
		    pairs->pair, &pairs->capacity, pairs->count + 1, sizeof *pairs->pair);
		pairs->pair[pairs->count++] =
		    (struct token_pair){ .left = left, .right = right };
		pairs->slot[at] = (uint32_t)pairs->count;
	}
	uint32_t index = pairs->slot[at] - 1;
	struct token_pair *pair = &pairs->pair[index];
	pair->count += change;
	if (change <= 0)
		return;
	if (!pair->words || pair->word[pair->words - 1] != word) {
		pair->word = mem_grow(
		    pair->word, &pair->capacity, pair->words + 1, sizeof *pair->word);
		pair->word[pair->words++] = word;
	}
	if (!pair->grown) {
		pair->grown = true;
		pairs->grown = mem_grow(pairs->grown, &pairs->grown_room,
		    pairs->growing + 1, sizeof *pairs->grown);
		pairs->grown[pairs->growing++] = index;
	}
}

int64_t
pair_counts_take(struct pair_counts *pairs, int32_t *left, int32_t *right)
{
	for (size_t i = 0; i < pairs->growing; i++) {
		struct token_pair *pair = &pairs->pair[pairs->grown[i]];
		pair->grown = false;
		if (pair->count > 0)
			push(pairs, (struct guess){ pair->count, pairs->grown[i] });
	}
	pairs->growing = 0;
	while (pairs->guesses) {
		struct guess guess = pop(pairs);
		const struct token_pair *pair = &pairs->pair[guess.pair];
		if (guess.count !=
		    pair->count) { /* the count shrank; grown pairs were entered above */
			if (pair->count > 0 && pair->count < guess.count)
				push(pairs, (struct guess){ pair->count, guess.pair });
			continue;
		}
		*left = pair->left;
		*right = pair->right;
		return pair->count;
	}
	return 0;
}

uint32_t *
pair_counts_where(struct pair_counts *pairs, int32_t left, int32_t right, size_t *count)
{
	struct token_pair *pair = &pairs->pair[pairs->slot[find(pairs, left, right)] - 1];
	uint32_t *word = pair->word;

	*count = pair->words;
	pair->word = NULL;
	pair->words = pair->capacity = 0;
	return word;
}

void
pair_counts_free(struct pair_counts *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		free(pairs->pair[i].word);
	free(pairs->pair);
	free(pairs->slot);
	free(pairs->heap);
	free(pairs->grown);
	free(pairs);
}
