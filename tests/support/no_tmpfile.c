/*
 * no_tmpfile [-l] COMMAND... - run a command as on a network file system: files without a name cannot be created and two names
 * cannot be exchanged; with -l files cannot be locked
 *
 * Exits 125 where the system cannot refuse these calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NONE = 125, TMPFILE_FLAG = O_TMPFILE & ~O_DIRECTORY };

#define LOAD(part)                                                                       \
	BPF_STMT(                                                                        \
	    BPF_LD | BPF_W | BPF_ABS, (unsigned)(offsetof(struct seccomp_data, part)))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

/* Installs the filter: the calls that its steps refuse fail from now on, in this process and in the command. */
static bool
install(struct sock_filter *steps, size_t count)
{
	struct sock_fprog program = { (unsigned short)count, steps };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
	struct sock_filter locks[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
		FAIL(ENOLCK),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter steps[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, TMPFILE_FLAG, 0, 2),
		FAIL(EOPNOTSUPP),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		FAIL(EINVAL),
	};
	bool no_locks = argc > 1 && !strcmp(argv[1], "-l");

	argv += no_locks;
	if (!argv[0] || !argv[1] || !install(steps, sizeof steps / sizeof *steps) ||
	    (no_locks && !install(locks, sizeof locks / sizeof *locks)))
		return NONE;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return NONE;
}
