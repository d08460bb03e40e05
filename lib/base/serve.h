/*
 * serve - answers the clients of a listening socket.  Each client gets a process, whose standard input and output are the
 * connection, as inetd does it, but without starting a program.
 *
 * A failed answer ends with a zero byte and the process's message, so that a client does not take half an answer for a whole one.
 * The message also goes to standard error when the process has ended.
 */
#ifndef BASE_SERVE_H
#define BASE_SERVE_H

enum { SERVE_MOST = 64 }; /* clients at the same time; others wait */

/* Calls answer(context) in a new process for each client, until SIGTERM or SIGINT, which end the processes, too.  No thread may have
 * been started before.  The end of the connection is the end of the answer. */
void serve(int listener, void (*answer)(void *context), void *context);

#endif
