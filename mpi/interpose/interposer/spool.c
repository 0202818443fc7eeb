/*
 * The interposer of Reprise: records the calls of an MPI program in a spool.
 *
 * The files of this directory and the wrappers that are generated from the table of
 * functions make up one translation unit, in the order spool, lookup, spares, segments, lanes, cost,
 * regions, job, values, load, questions, datatypes, finalize, fortran, sites, callers, memory, mappings, devices,
 * wrappers, lookups. The package
 * documentation of mpi describes the spool.
 *
 * The library refers to no symbol of MPI: it finds the functions at run time. So
 * it can be loaded into any process, such as the shell or mpirun, in which it
 * does nothing.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif
#include <mpi.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || UINTPTR_MAX != UINT64_MAX
#error "the spool is for little-endian machines with 64-bit addresses"
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define exported __attribute__((visibility("default")))
#define slow __attribute__((noinline, cold))

/* Types and flags of records. */
enum { BEGIN = 1, END, ALLOCATE, RELEASE, RESIZE, CLOCK, CONSTANT, REGION, MODULE, CALLERS, UNMAP, ASSUMPTION, SIZED, AGAIN };

/* Those of which the second word is a time, and those that may come again at another one. */
enum {
	TIMED = 1 << BEGIN | 1 << END | 1 << ALLOCATE | 1 << RELEASE | 1 << RESIZE | 1 << CLOCK | 1 << UNMAP,
	REPEATED = 1 << BEGIN | 1 << END | 1 << ALLOCATE | 1 << RELEASE | 1 << UNMAP,
};
enum { FAILED = 1, HIDDEN = 2, OUTERMOST = 4, LOCATED = 8 };

/* What stands for the length of a value that is not there. */
enum { ABSENT = -1, IGNORED = -2, UNUSED = -3, EMPTY = -4 };

/* Numbers of regions. */
enum { STACK = -16, STATIC = -17, STATIC_OF_OTHERS = -18, STACK_OF_THREAD = -512 };

/* States of a segment. */
enum { OPEN, CONTINUED, BROKEN };

struct header {
	char magic[8];
	uint64_t table;      /* fingerprint of the table of functions */
	uint64_t process;    /* real time at which it loaded the library, ns */
	uint32_t pid;
	uint32_t thread;
	uint32_t sequence;   /* number of the segment, from zero for each thread */
	uint32_t invariant;  /* nonzero if ticks are those of a counter */
	uint64_t ticks[2];   /* at two instants, */
	uint64_t monotonic[2]; /* and the monotonic clock at these, ns */
	uint64_t cost; /* of recording a call, ps */
	uint64_t job;  /* that the process belongs to, zero if it is unknown */
	uint64_t machine; /* and runs on, since that was started; zero if it is unknown */
	uint64_t length;  /* of the file, bytes */
	uint64_t check;   /* of what is above but the magic */
	/* What changes is in the lower half, and its complement in the upper. */
	_Atomic uint64_t rank; /* in MPI_COMM_WORLD, -1 as long as it is unknown */
	_Atomic uint64_t size; /* of MPI_COMM_WORLD, 0 as long as it is unknown */
	_Atomic uint64_t state;
	_Atomic uint64_t lost;    /* records of the lane that were not written, as far as there are 32 bits for them */
	_Atomic uint64_t threads; /* lanes of the process */
	_Atomic uint64_t written; /* bytes with the header, at least; without a complement */
};
_Static_assert(sizeof(struct header) == 160, "the header of a segment has 160 bytes");

static inline uint64_t doubled(uint32_t value) { return value | (uint64_t)~value << 32; }

/* A check of words: each is added to those before, and then the bits are mixed, so that any that is another changes the
   upper ones. */
static inline uint64_t add_word(uint64_t check, uint64_t word) { return (check << 13 | check >> 51) ^ word; }

static inline uint64_t mix(uint64_t check) { return check * UINT64_C(0x9e3779b97f4a7c15); }

/* Maps memory for the interposer itself, whose functions of that name record what the program
   maps. */
static void *map_pages(size_t size, int flags, int file)
{
	return (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, flags, file, (off_t)0);
}

static void unmap_pages(void *at, size_t size) { syscall(SYS_munmap, at, size); }

enum { MODULES = 16 };

/* An object that the loader has put into memory, and whether calls from it are looked at as
   made by who called it. */
struct module { uintptr_t from, size; int passed; };
enum { WRAPS = 2 }; /* passed: the lane tells of it all the same */

/* How far up the stack those called MPI whose calls a library of MPI passes on from an address. */
struct passage { uintptr_t address, distance; struct module module; };
enum { PASSAGES = 64 };

/* The latest record of a segment whose check leads to a place, but for its time: the key is its first word, with some
   bits of the count of segments, which is 0 only when there are no keys of another with these bits. */
enum { COUNT_MASK = (1 << 18) - 1, SLOT_BITS = 10, SLOTS = 1 << SLOT_BITS, SLOT_WORDS = 15, SHORT = 2 + SLOT_WORDS };

struct slot { uint64_t key, words[SLOT_WORDS]; };

/* A lane is what one thread at a time appends to. */
struct lane {
	uint64_t *at, *end;    /* free words of the segment */
	struct header *header; /* the segment, NULL before the first */
	size_t size;           /* of the segment, bytes */
	uint64_t tick;         /* in the latest record that has one */
	struct slot *slots;    /* SLOTS of them */
	uint64_t draft[SHORT]; /* of a short record */
	uint64_t calibrated;   /* ticks of the latest CLOCK */
	int64_t interval;      /* ticks until the next one */
	uint32_t thread, sequence;
	int broken;             /* there was no further segment to be had */
	uint64_t tries;         /* how often there was a record to write since then */
	_Atomic uint64_t lost;  /* records that were not written */
	struct lane *next;      /* all lanes */
	struct lane *next_free; /* lanes without a thread */
	struct module module;   /* of the latest call, if sites are recorded */
	struct module modules[MODULES]; /* the latest that the lane has told of, */
	unsigned told;                  /* and how many it has */
	unsigned closed;                /* objects had been closed at that time */
	struct module passed;           /* of the latest call that a library passed on */
	struct passage passages[PASSAGES];
	struct chain *chains;           /* NULL before the first, if callers are recorded */
};

/* What belongs to a thread. */
static __thread struct {
	struct lane *lane;
	unsigned depth; /* calls of MPI that the thread is in */
	uintptr_t outermost; /* frame of the first of them */
	int busy;       /* the thread is changing its lane */
	int ending;     /* how often the thread was told that it ends */
	int done;       /* the thread has left its lane for good */
	int told;       /* the spool has the constants, which are known before any call */
} self __attribute__((tls_model("initial-exec")));

/* Whether there is a spool to write to. The flag has a page for itself, which is
   zero in every child, however that was forked. */
static union {
	_Atomic int flag;
	char page[4096];
} active __attribute__((aligned(4096)));

static _Atomic int level = 1; /* what the program wants to be recorded */
static _Atomic unsigned closed; /* objects that were closed: what is known of addresses may be wrong */
static int foreign; /* the process uses another MPI than the library was built for */
static int invariant;
static unsigned sites; /* 1 if the addresses that calls return to are recorded, */
static int stacks; /* and those that their callers return to */
static char program_name[4096];
static size_t smallest = (size_t)256 << 10, largest = (size_t)4 << 20; /* sizes of segments */
static char directory[4096 - 128];
static _Atomic uint64_t told_process; /* of which the regions are in the spool */
static uint64_t told_constants; /* and of which the constants are; with telling_lock */
static pthread_mutex_t telling_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* of the set of datatypes */
static uint64_t loaded, load_ticks, load_monotonic;
static int forked; /* the process is a child of one that was recorded */
static uint64_t job, machine;
static uint64_t cost; /* of recording a call, ps; zero before it is measured */
static _Atomic int32_t world_rank = -1;
static _Atomic uint32_t world_size;

static pthread_mutex_t lanes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lane *lanes, *free_lanes;
static uint32_t lane_count;
static pthread_key_t thread_end;
static pthread_t main_thread;

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Ticks: those of the time-stamp counter where the kernel trusts it, nanoseconds
   elsewhere. */
static inline uint64_t now(void)
{
#if defined(__x86_64__)
	if (likely(invariant))
		return __rdtsc();
#endif
	return nanoseconds(CLOCK_MONOTONIC);
}

/* Ticks that are not taken before what precedes in the program is done. */
static inline uint64_t now_ordered(void)
{
#if defined(__x86_64__)
	_mm_lfence();
#endif
	return now();
}

/* The kernel lists the counter among its clocks as long as it finds it steady and the same on all processors, whether
   it uses it or, on a virtual machine, the clock of the hypervisor. */
static void find_clock(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	char names[256] = " ";
	int file = open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	ssize_t n = read(file, names + 1, sizeof names - 2);
	close(file);
	for (ssize_t i = 0; i <= n; i++)
		if (names[i] == '\n')
			names[i] = ' ';
	invariant = n > 0 && strstr(names, " tsc ") && __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8);
#endif
}

/* Takes both clocks at one instant, as well as can be in some tries. */
static void both_clocks(uint64_t *ticks, uint64_t *monotonic)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 4; i++) {
		uint64_t before = now(), ns = nanoseconds(CLOCK_MONOTONIC), after = now();
		if (after - before < best) {
			best = after - before;
			*ticks = before + best / 2;
			*monotonic = ns;
		}
	}
}

/* Returns the real time when the monotonic clock was so much, a moment ago, as well as can
   be in some tries. */
static uint64_t real_time_at(uint64_t monotonic)
{
	uint64_t best = UINT64_MAX, real = 0;
	for (int i = 0; i < 8; i++) {
		uint64_t before = nanoseconds(CLOCK_MONOTONIC), ns = nanoseconds(CLOCK_REALTIME), after = nanoseconds(CLOCK_MONOTONIC);
		if (after - before < best) {
			best = after - before;
			real = ns - (before + best / 2 - monotonic);
		}
	}
	return real;
}
