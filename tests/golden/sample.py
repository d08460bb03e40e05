#!/usr/bin/env python3
"""Rows that 'mts rows --sample N --seed S' takes of M, from the definitions alone: xoshiro256++ seeded by
splitmix64's finaliser (lib/base/rng.h), and Vitter's algorithm R.  tests/rows.bats holds what this prints.

	python3 tests/golden/sample.py 5 20 1
"""
import sys

BITS = (1 << 64) - 1


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & BITS
    x = (x ^ x >> 27) * 0x94D049BB133111EB & BITS
    return x ^ x >> 31


def numbers(seed):
    x = mix(seed + 0x9E3779B97F4A7C15 & BITS) ^ mix(0x632BE59BD9B4E019)
    s = []
    for _ in range(4):
        x = x + 0x9E3779B97F4A7C15 & BITS
        s.append(mix(x))
    while True:
        total = s[0] + s[3] & BITS
        yield (total << 23 | total >> 41) + s[0] & BITS
        t = s[1] << 17 & BITS
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = (s[3] << 45 | s[3] >> 19) & BITS


def below(source, limit):
    return next(x for x in source if x >= (1 << 64) % limit) % limit


def sample(count, rows, seed):
    source, taken = numbers(seed), []
    for row in range(1, rows + 1):
        if len(taken) < count:
            taken.append(row)
        elif (place := below(source, row)) < count:
            taken[place] = row
    return sorted(taken)


print(*sample(*map(int, sys.argv[1:4])))
