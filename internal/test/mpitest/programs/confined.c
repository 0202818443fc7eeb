/*
 * Makes many calls after it has given up what lets it open files. Arguments: how, and how many calls.
 *
 *	chroot   another root directory
 *	setuid   another user, who is nobody
 *	seccomp  a filter of system calls: no file can be opened
 *	kill     the same, and who tries to is killed
 */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void filter(unsigned action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_open
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 2, 0),
#else
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, action),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	if (!strcmp(argv[1], "chroot"))
		CHECK(!chroot("/proc") && !chdir("/"));
	else if (!strcmp(argv[1], "setuid"))
		CHECK(!setuid(65534));
	else
		filter(!strcmp(argv[1], "kill") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM);
	for (long i = atol(argv[2]); i > 0; i--)
		OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	fflush(stdout);
	_exit(0); /* MPI_Finalize may open files */
}
