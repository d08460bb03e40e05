#include "base/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

enum { MESSAGE = 4096, PAUSE = 10 };

/* A client that is being answered. */
struct client {
	pid_t process;
	int connection, messages; /* the process's standard error, a file in memory */
};

struct server {
	int listener, signals;
	sigset_t before; /* blocked signals */
	struct client clients[SERVE_MOST];
	int count;
	void (*answer)(void *context);
	void *context;
};

/* In the new process. */
_Noreturn static void
answer(const struct server *server, int connection, int messages)
{
	for (int i = 0; i < server->count; i++) {
		close(server->clients[i].connection);
		close(server->clients[i].messages);
	}
	close(server->listener);
	close(server->signals);
	dup2(connection, STDIN_FILENO);
	dup2(connection, STDOUT_FILENO);
	dup2(messages, STDERR_FILENO);
	close(connection);
	close(messages);
	sigprocmask(SIG_SETMASK, &server->before, NULL);
	char byte; /* a client that only looks whether somebody listens sends none */
	if (recv(STDIN_FILENO, &byte, 1, MSG_PEEK) > 0)
		server->answer(server->context);
	exit(0);
}

static void
accept_client(struct server *server)
{
	int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);

	if (connection < 0) {
		poll(NULL, 0, PAUSE); /* it is gone, or descriptors are short */
		return;
	}
	int messages = memfd_create("messages", MFD_CLOEXEC);
	pid_t process = messages < 0 ? -1 : fork();
	if (process == 0)
		answer(server, connection, messages);
	if (process < 0) {
		warn("a client is turned away: %s", strerror(errno));
		close(connection);
		if (messages >= 0)
			close(messages);
		return;
	}
	server->clients[server->count++] =
	    (struct client){ process, connection, messages };
}

/* Tells the client if its answer failed, and closes the connection.  ends: the program ends. */
static void
end_client(const struct client *client, int status, bool ends)
{
	char text[MESSAGE + 1] = "";
	ssize_t count = pread(client->messages, text + 1, MESSAGE - 1, 0);
	size_t length = count > 0 ? (size_t)count : 0;
	bool gone = WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;

	if (length && write(STDERR_FILENO, text + 1, length) < 0)
		errno = 0; /* nobody reads the messages */
	if (WIFSIGNALED(status) && !gone)
		length = (size_t)snprintf(text + 1, MESSAGE,
		    "%s: the search was ended by signal %d (%s)\n", program_name,
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (status && !gone)
		send(client->connection, text, length + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (WIFSIGNALED(status) && !gone && !ends)
		warn("a search was ended by signal %d", WTERMSIG(status));
	close(client->connection);
	close(client->messages);
}

static void
reap(struct server *server)
{
	int status;
	pid_t process;

	while ((process = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < server->count; i++)
			if (server->clients[i].process == process) {
				end_client(&server->clients[i], status, false);
				server->clients[i] = server->clients[--server->count];
				break;
			}
}

/* Returns false if the program is to end. */
static bool
take_signal(struct server *server)
{
	struct signalfd_siginfo info;

	if (read(server->signals, &info, sizeof info) != sizeof info)
		return true;
	if (info.ssi_signo != SIGCHLD)
		return false;
	reap(server);
	return true;
}

static void
end_all(struct server *server)
{
	for (int i = 0; i < server->count; i++)
		kill(server->clients[i].process, SIGTERM);
	for (int i = 0; i < server->count; i++) {
		int status;
		while (
		    waitpid(server->clients[i].process, &status, 0) < 0 && errno == EINTR)
			;
		end_client(&server->clients[i], status, true);
	}
	server->count = 0;
}

void
serve(int listener, void (*answer_one)(void *context), void *context)
{
	struct server server = {
		.listener = listener, .answer = answer_one, .context = context
	};
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigprocmask(SIG_BLOCK, &blocked, &server.before);
	server.signals = signalfd(-1, &blocked, SFD_CLOEXEC);
	if (server.signals < 0)
		die("signals:");
	for (bool goes = true; goes;) {
		struct pollfd wanted[2] = { { server.signals, POLLIN, 0 },
			{ server.count < SERVE_MOST ? listener : -1, POLLIN, 0 } };
		if (poll(wanted, 2, -1) < 0 && errno != EINTR)
			die("the socket:");
		if (wanted[0].revents)
			goes = take_signal(&server);
		else if (wanted[1].revents)
			accept_client(&server);
	}
	end_all(&server);
	sigprocmask(SIG_SETMASK, &server.before, NULL);
	close(server.signals);
}
