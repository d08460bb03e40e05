/*
 * replay - a stream that is read several times: a file from its start again, of a pipe what went
 * through it, which a spool keeps.
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

/* The stream from its first record; one at a time. */
struct reader *replay_reader(struct replay *replay);
void replay_close(struct replay *replay);

#endif
