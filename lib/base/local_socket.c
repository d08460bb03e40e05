#include "base/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/mem.h"

enum { HANDED_OVER = 3, BACKLOG = 128, CHUNK = 1 << 16, MESSAGE = 4096 };

bool
local_socket_is(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

static struct sockaddr_un
address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof address.sun_path)
		die("%s: is too long for the path of a socket", path);
	strcpy(address.sun_path, path);
	return address;
}

static int
new_socket(void)
{
	int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (made < 0)
		die("a Unix socket:");
	return made;
}

/* Returns -1 if nobody listens. */
static int
try_connect(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int made = new_socket();

	if (connect(made, (struct sockaddr *)&address, sizeof address) == 0)
		return made;
	int saved = errno;
	close(made);
	errno = saved;
	return -1;
}

/* Listening. ------------------------------------------------------------------------- */

/* The socket of systemd's unit; -1: there is none. */
static int
handed_over(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	int listens = 0;
	struct sockaddr_storage address = { 0 };
	socklen_t length = sizeof listens, room = sizeof address;

	if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid())
		return -1;
	if (strtol(count, NULL, 10) != 1)
		die("systemd hands over %s sockets; the unit must have one", count);
	if (getsockname(HANDED_OVER, (struct sockaddr *)&address, &room) ||
	    address.ss_family != AF_UNIX ||
	    getsockopt(HANDED_OVER, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) ||
	    !listens)
		die("what systemd hands over is no Unix socket that listens; the unit's ListenStream= must be a path, with Accept=no");
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	fcntl(HANDED_OVER, F_SETFD, FD_CLOEXEC);
	return HANDED_OVER;
}

/* Dies unless the path is free, or the socket of a process that has ended. */
static void
check_free(const char *path)
{
	struct stat status;

	if (lstat(path, &status) != 0)
		return;
	if (!S_ISSOCK(status.st_mode))
		die("%s: exists and is not a socket", path);
	int other = try_connect(path);
	if (other >= 0)
		die("%s: another process listens there", path);
	if (errno != ECONNREFUSED)
		die("%s:", path);
}

int
local_socket_listen(const char *path, bool *made)
{
	int listener = handed_over();

	*made = listener < 0;
	if (!*made)
		return listener;
	(void)address_of(path);
	/* of two processes that find the file of an ended one, the second finds the first */
	bool waited;
	struct lock *lock = lock_wait(path, &waited);
	check_free(path);
	/* it gets its name when it listens */
	char *hidden = mem_format("%s.%ld", path, (long)getpid());
	struct sockaddr_un address = address_of(hidden);
	listener = new_socket();
	unlink(hidden);
	mode_t before = umask(0177);
	int fault = bind(listener, (struct sockaddr *)&address, sizeof address);
	umask(before);
	if (fault)
		die("%s:", path);
	if (listen(listener, BACKLOG) || rename(hidden, path)) {
		int saved = errno;
		unlink(hidden);
		errno = saved;
		die("%s:", path);
	}
	lock_end(lock);
	free(hidden);
	return listener;
}

/* Asking. ---------------------------------------------------------------------------- */

struct exchange {
	const char *path;
	int file, socket;
	struct output *output;
	char bytes[CHUNK]; /* of the file, [at, end) not sent yet */
	size_t at, end;
	bool sent;	       /* all of the file */
	bool some;	       /* the file is not empty */
	char message[MESSAGE]; /* behind a zero byte of the answer */
	size_t length;
	bool failed;
};

static void
send_some(struct exchange *exchange)
{
	ssize_t count = send(exchange->socket, exchange->bytes + exchange->at,
	    exchange->end - exchange->at, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (count >= 0)
		exchange->at += (size_t)count;
	else if (errno == EPIPE || errno == ECONNRESET)
		exchange->sent = true; /* the answer says why */
	else if (errno != EAGAIN && errno != EINTR)
		die("%s:", exchange->path);
}

static void
read_some(struct exchange *exchange)
{
	ssize_t count = read(exchange->file, exchange->bytes, CHUNK);

	if (count < 0 && errno == EINTR)
		return;
	if (count < 0)
		die("the queries:");
	exchange->at = 0;
	exchange->end = (size_t)count;
	if (!count && !exchange->some)
		die("%s: empty, there are no queries; did the program before it fail?",
		    exchange->file == STDIN_FILENO ? "<stdin>" : "the queries");
	exchange->some = true;
	if (count)
		return;
	exchange->sent = true;
	shutdown(exchange->socket, SHUT_WR);
}

/* Returns false at the end. */
static bool
receive_some(struct exchange *exchange)
{
	char bytes[CHUNK];
	ssize_t count = recv(exchange->socket, bytes, CHUNK, 0);

	if (count < 0 && errno == EINTR)
		return true;
	if (count < 0 && exchange->failed)
		return false; /* the queries were not read to their end */
	if (count < 0)
		die("%s:", exchange->path);
	size_t all = (size_t)count, text = all;
	const char *zero = exchange->failed ? bytes : memchr(bytes, 0, all);
	if (zero) {
		text = (size_t)(zero - bytes);
		size_t from = text + !exchange->failed, rest = all - from,
		       room = MESSAGE - 1 - exchange->length;
		exchange->failed = true;
		memcpy(exchange->message + exchange->length, bytes + from,
		    rest < room ? rest : room);
		exchange->length += rest < room ? rest : room;
	}
	if (text) {
		output_write(exchange->output, bytes, text);
		output_flush(exchange->output);
	}
	return count > 0;
}

/* Dies with the last line of the other process's messages, without its name. */
_Noreturn static void
fail(struct exchange *exchange)
{
	char *text = exchange->message, *line;
	size_t name = strlen(program_name);

	while (exchange->length && text[exchange->length - 1] == '\n')
		exchange->length--;
	text[exchange->length] = 0;
	line = strrchr(text, '\n');
	text = line ? line + 1 : text;
	if (!strncmp(text, program_name, name) && !strncmp(text + name, ": ", 2))
		text += name + 2;
	die("%s: %s", exchange->path, *text ? text : "the search failed");
}

void
local_socket_ask(const char *path, const char *file, struct output *output)
{
	bool standard = !strcmp(file, "-");
	struct exchange *exchange = mem_zero(1, sizeof *exchange);
	bool goes = true;

	exchange->path = path;
	exchange->output = output;
	exchange->file = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	if (exchange->file < 0)
		die("%s:", file);
	exchange->socket = try_connect(path);
	if (exchange->socket < 0)
		die("%s:", path);
	while (goes) {
		bool waits = exchange->at < exchange->end; /* bytes that are not sent */
		struct pollfd wanted[2] = {
			{ exchange->socket,
			    (short)(POLLIN | (waits && !exchange->sent ? POLLOUT : 0)),
			    0 },
			{ exchange->sent || waits ? -1 : exchange->file, POLLIN, 0 }
		};
		if (poll(wanted, 2, -1) < 0 && errno != EINTR)
			die("%s:", path);
		if (wanted[0].revents & POLLOUT)
			send_some(exchange);
		if (wanted[1].revents)
			read_some(exchange);
		if (wanted[0].revents & (POLLIN | POLLHUP | POLLERR))
			goes = receive_some(exchange);
	}
	if (exchange->failed)
		fail(exchange);
	close(exchange->socket);
	if (!standard)
		close(exchange->file);
	free(exchange);
}
