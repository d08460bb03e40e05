/*
 * tally - what was met on the way and has to be told once: how many, and which was the first.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally {
	int64_t count;
	char *first;
};

void tally_note(struct tally *tally, const char *id, size_t length);

/* Warn "STREAM: COUNT WHAT; first: 'ID'" if there were any, and forget them. */
void tally_tell(struct tally *tally, const char *stream, const char *what);

#endif
