/*
 * replay - reads a stream several times: a file is reopened, a pipe is first copied to a spool.
 *
 *	struct replay *replay = replay_open("-");
 *	for (each pass) {
 *		struct reader *reader = replay_reader(replay);
 *		...
 *		stream_close(reader);
 *	}
 *	replay_close(replay);
 */
#ifndef STREAM_REPLAY_H
#define STREAM_REPLAY_H

#include "stream/stream.h"

struct replay;

/* "-": standard input.  A pipe is read to its end here. */
struct replay *replay_open(const char *path);

/* A reader at the first record; close it before the next. */
struct reader *replay_reader(struct replay *replay);
void replay_close(struct replay *replay);

#endif
