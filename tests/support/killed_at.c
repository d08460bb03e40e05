/*
 * killed_at - run a command and kill it before its Nth step on the disk, for tests
 *
 * killed_at [-w NAME] [-s SIGNAL] N COMMAND...
 *
 * A step is a call that changes names or waits for the disk, and with -w a write to a file of that name in any folder.  Each
 * step is written to file descriptor 3, one a line: "fsync PATH", "rename FROM TO".  N 0: the command runs to its end.
 * -s: send this signal, twice, as timeout(1) does (to the process and to its group), and let the command go on.
 * Exits as a shell would: 137 if the command was killed; 125 if processes cannot be traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NONE = 125, REPORT = 3 };

/* first, second: the numbers of the arguments that are paths, from 1; negative: a descriptor; 0: none. */
static const struct step {
	long number;
	const char *name;
	int first, second;
} disk[] = {
	{ SYS_fsync, "fsync", -1, 0 },
	{ SYS_fdatasync, "fsync", -1, 0 },
	{ SYS_ftruncate, "truncate", -1, 0 },
	{ SYS_truncate, "truncate", 1, 0 },
	{ SYS_mkdirat, "mkdir", 2, 0 },
	{ SYS_unlinkat, "unlink", 2, 0 },
	{ SYS_linkat, "link", 2, 4 },
	{ SYS_renameat2, "exchange", 2, 4 },
#ifdef SYS_renameat
	{ SYS_renameat, "rename", 2, 4 },
#endif
#ifdef SYS_rename
	{ SYS_rename, "rename", 1, 2 },
	{ SYS_mkdir, "mkdir", 1, 0 },
	{ SYS_unlink, "unlink", 1, 0 },
	{ SYS_rmdir, "unlink", 1, 0 },
#endif
}, writes[] = { { SYS_write, "write", -1, 0 } };
enum { DISK = sizeof disk / sizeof *disk };

static const struct step *steps = disk;
static int step_count = DISK;
static const char *written; /* -w */

static void
run(char **command)
{
	struct sock_filter filter[2 * DISK + 2] = { BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { (unsigned short)(2 * step_count + 2), filter };

	for (int i = 0; i < step_count; i++) {
		filter[2 * i + 1] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (unsigned)steps[i].number, 0, 1);
		filter[2 * i + 2] =
		    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	}
	filter[2 * step_count + 1] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(NONE);
	execvp(*command, command);
	perror(*command);
	_exit(127);
}

/* The path that an argument of the call names. */
static void
path_of(pid_t pid, const struct __ptrace_syscall_info *info, int argument,
    char text[static PATH_MAX])
{
	char name[64];
	unsigned long long value = info->seccomp.args[abs(argument) - 1];
	ssize_t length = 0;

	if (argument > 0) {
		struct iovec to = { text, PATH_MAX - 1 },
			     from = { (void *)(uintptr_t)value, PATH_MAX - 1 };
		/* the page may end after the path */
		for (; length <= 0 && from.iov_len > 16; from.iov_len /= 2)
			length = process_vm_readv(pid, &to, 1, &from, 1, 0);
	} else {
		snprintf(name, sizeof name, "/proc/%d/fd/%lld", (int)pid, value);
		length = readlink(name, text, PATH_MAX - 1);
	}
	text[length > 0 ? length : 0] = 0;
}

/* Prints a step; false for a write to another file. */
static bool
print_step(pid_t pid, const struct __ptrace_syscall_info *info)
{
	char first[PATH_MAX] = "", second[PATH_MAX] = "";
	const struct step *step = steps;

	while (step < steps + step_count - 1 && (long)info->seccomp.nr != step->number)
		step++;
	if (step->first)
		path_of(pid, info, step->first, first);
	if (step->second)
		path_of(pid, info, step->second, second);
	const char *slash = strrchr(first, '/');
	if (written && strcmp(slash ? slash + 1 : first, written) != 0)
		return false;
	dprintf(REPORT, "%s%s%s%s%s\n", step->name, *first ? " " : "", first,
	    *second ? " " : "", second);
	return true;
}

int
main(int argc, char **argv)
{
	int done = 0, status, option, by = SIGKILL, sent = 0;

	while ((option = getopt(argc, argv, "+w:s:")) != -1) {
		if (option == 'w') {
			written = optarg;
			steps = writes;
			step_count = 1;
		} else if (option == 's') {
			by = atoi(optarg);
		}
	}
	int last = argc > optind + 1 ? atoi(argv[optind]) : -1;
	if (last < 0) {
		fprintf(stderr, "usage: killed_at [-w NAME] [-s SIGNAL] N COMMAND...\n");
		return 2;
	}
	pid_t child = fork(), pid;
	if (!child)
		run(argv + optind + 1);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, 0,
		PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
		    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK))
		return NONE;
	ptrace(PTRACE_CONT, child, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct __ptrace_syscall_info info = { 0 };
		if (pid == child && (WIFEXITED(status) || WIFSIGNALED(status)))
			return WIFEXITED(status) ? WEXITSTATUS(status)
						 : 128 + WTERMSIG(status);
		if (!WIFSTOPPED(status))
			continue;
		int event = status >> 16, number = WSTOPSIG(status);
		if (event == PTRACE_EVENT_SECCOMP) {
			ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
			if (print_step(pid, &info) && ++done == last)
				sent = !kill(child, by);
		}
		/* a thread begins with a stop of its own; other signals are passed to the command */
		bool own = event || number == SIGTRAP || number == SIGSTOP;
		ptrace(PTRACE_CONT, pid, 0, own ? 0 : number);
		if (!own && number == by && sent == 1)
			sent += !kill(child, by);
	}
	return NONE;
}
