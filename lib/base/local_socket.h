/*
 * local_socket - Unix sockets: a path in the file system, no network.
 */
#ifndef BASE_LOCAL_SOCKET_H
#define BASE_LOCAL_SOCKET_H

#include <stdbool.h>

#include "base/output.h"

/* Whether the path is a socket. */
bool local_socket_is(const char *path);

/* A socket that listens at the path, or the one that systemd hands over (LISTEN_FDS).  The file appears when connections are
 * accepted, with mode 600.  Replaces the file of a process that has ended; dies if another process listens there, or if the
 * file is no socket.  *made: whether the file is to be removed at the end. */
int local_socket_listen(const char *path, bool *made);

/* Connects, sends a file ("-": standard input) and writes each part of the answer at once.  Dies with the
 * server's message if the answer failed (serve.h). */
void local_socket_ask(const char *path, const char *file, struct output *output);

#endif
