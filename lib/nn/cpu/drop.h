/*
 * drop - which values dropout sets to 0: those whose hash of the row's key, a salt and the column is low.
 */
#ifndef NN_CPU_DROP_H
#define NN_CPU_DROP_H

#include <stdint.h>

#include "nn/cpu/cpu.h"

/* MurmurHash3's finaliser. */
NN_INLINE uint32_t
mixed(uint32_t x)
{
	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	return x ^ x >> 16;
}

/* The words of a row, from its key. */
struct drop_row {
	uint32_t low, high;
};

NN_INLINE struct drop_row
drop_row_of(uint64_t key, uint64_t salt)
{
	uint64_t hash = (key ^ salt) * 0x9e3779b97f4a7c15;

	return (struct drop_row){ (uint32_t)hash, (uint32_t)(hash >> 32) };
}

/* A number is dropped if this is below the rate times 2^32. */
NN_INLINE uint32_t
drop_draw(uint32_t low, uint32_t high, uint32_t column)
{
	return mixed(mixed(column ^ low) ^ high);
}

NN_INLINE uint32_t
drop_below(double rate)
{
	return (uint32_t)(rate * 4294967296.0);
}

#endif
