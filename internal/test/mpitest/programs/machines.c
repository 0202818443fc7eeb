/*
 * A library that puts each process of a program on a machine of its own, with clocks of its own: what asks C for
 * the time or for the boot id, as the recorder in the process does, gets that of this machine.
 *
 * The variable MACHINES of the environment has five numbers for each rank: its machine, zero for the real one; by how many
 * nanoseconds the clocks are ahead at a time, by how many parts in a thousand million they are fast, and both from a
 * second time on, besides. In front of all is the first time. The second is in the file that MACHINES_FILE names, as soon
 * as the program writes it there; zero before. Both are those of the real monotonic clock.
 *
 * With MACHINES_WANDER, which has two numbers of nanoseconds, clocks but for those of the first machine wander from one time to the next that are
 * as far apart as the second says: each time they are ahead by another amount below the first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int machine; /* zero if the process has no rank */
static int64_t begin, ahead, fast, later_ahead, later_fast, most, every;
static _Atomic int64_t none;
static _Atomic int64_t *second = &none;

static int really_open(const char *path, int flags, int mode) { return syscall(SYS_openat, AT_FDCWD, path, flags, mode); }

__attribute__((constructor)) static void find_machine(void)
{
	const char *rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
	const char *all = getenv("MACHINES"), *path = getenv("MACHINES_FILE");
	int n = 0;
	long long first;
	if (!rank || !all || sscanf(all, "%lld%n", &first, &n) != 1)
		return;
	long long p[5] = {0};
	for (int i = 0; i <= atoi(rank); i++)
		for (int k = 0; k < 5; k++) {
			all += n;
			if (sscanf(all, "%lld%n", &p[k], &n) != 1)
				return;
		}
	const char *wander = getenv("MACHINES_WANDER");
	long long amount[2];
	if (wander && p[0] > 1 && sscanf(wander, "%lld %lld", &amount[0], &amount[1]) == 2)
		most = amount[0], every = amount[1];
	begin = first, ahead = p[1], fast = p[2], later_ahead = p[3], later_fast = p[4];
	int file = path ? really_open(path, O_RDONLY | O_CLOEXEC, 0) : -1;
	if (file >= 0) {
		void *memory = mmap(NULL, sizeof *second, PROT_READ, MAP_SHARED, file, 0);
		close(file);
		if (memory != MAP_FAILED)
			second = memory;
	}
	machine = p[0];
}

/* Returns by how much the clocks are ahead at one of the times that they wander between. */
static int64_t ahead_at(uint64_t n)
{
	n = (n ^ n >> 7) * 0x9e3779b97f4a7c15u;
	return (n ^ n >> 32) * 0xd6e8feb86659fd93u % most;
}

/* Returns by how much the clocks of the machine have wandered. */
static int64_t wandered(int64_t since)
{
	if (!every || since < 0)
		return 0;
	int64_t n = since / every, from = ahead_at(n), to = ahead_at(n + 1);
	return from + (to - from) * (since % every) / every;
}

/* Returns by how much the clocks of the machine are ahead. */
static int64_t shift_at(int64_t monotonic)
{
	int64_t shift = ahead + (int64_t)((double)(monotonic - begin) * fast / 1e9), from = atomic_load(second);
	if (from && monotonic >= from)
		shift += later_ahead + (int64_t)((double)(monotonic - from) * later_fast / 1e9);
	return shift + wandered(monotonic - begin);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	struct timespec real, monotonic;
	if (syscall(SYS_clock_gettime, clock, &real) < 0)
		return -1;
	*t = real;
	if (!machine || clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
		return 0;
	if (clock == CLOCK_MONOTONIC)
		monotonic = real;
	else
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &monotonic);
	int64_t ns = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec + shift_at((int64_t)monotonic.tv_sec * 1000000000 + monotonic.tv_nsec);
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

/* Returns a file with a boot id of the machine. */
static int boot_id(void)
{
	char id[64];
	int file = memfd_create("boot_id", MFD_CLOEXEC), n = snprintf(id, sizeof id, "00000000-0000-4000-8000-%012d\n", machine);
	if (file >= 0 && (write(file, id, n) != n || lseek(file, 0, SEEK_SET) < 0))
		abort();
	return file;
}

int open(const char *path, int flags, ...)
{
	va_list list;
	va_start(list, flags);
	int mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, int) : 0;
	va_end(list);
	if (machine && !strcmp(path, "/proc/sys/kernel/random/boot_id"))
		return boot_id();
	/* With MACHINES_COUNTER, times are those of the counter of the processor, by the clock; else of the clock itself. */
	const char *sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
	if (machine && !getenv("MACHINES_COUNTER") && !strcmp(path, sources)) {
		errno = ENOENT;
		return -1;
	}
	return really_open(path, flags, mode);
}
