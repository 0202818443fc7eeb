/*
 * The interposer of Reprise: records the calls of an MPI program in a spool.
 *
 * The files of this directory and the wrappers that are generated from the table of
 * functions make up one translation unit, in the order spool, cost,
 * regions, values, load, questions, fortran, memory, wrappers. The package documentation of
 * mpi describes the spool.
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
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
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
enum { BEGIN = 1, END, ALLOCATE, RELEASE, RESIZE, CLOCK, CONSTANT, REGION };
enum { FAILED = 1, HIDDEN = 2, OUTERMOST = 4 };

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
	_Atomic int32_t rank; /* in MPI_COMM_WORLD, -1 as long as it is unknown */
	_Atomic uint32_t state;
	_Atomic uint64_t lost; /* records that were not written */
	uint64_t cost; /* of recording a call, ps */
	uint64_t reserved[4];
};
_Static_assert(sizeof(struct header) == 128, "the header of a segment has 128 bytes");

/* A lane is what one thread at a time appends to. */
struct lane {
	uint64_t *at, *end;    /* free words of the segment */
	struct header *header; /* the segment, NULL before the first */
	size_t size;           /* of the segment, bytes */
	uint64_t calibrated;   /* ticks of the latest CLOCK */
	uint32_t thread, sequence;
	int broken;             /* there was no further segment to be had */
	struct lane *next;      /* all lanes */
	struct lane *next_free; /* lanes without a thread */
};

/* What belongs to a thread. */
static __thread struct {
	struct lane *lane;
	unsigned depth; /* calls of MPI that the thread is in */
	uintptr_t outermost; /* frame of the first of them */
	int busy;       /* the thread is changing its lane */
	int ending;     /* how often the thread was told that it ends */
	int done;       /* the thread has left its lane for good */
} self __attribute__((tls_model("initial-exec")));

/* Whether there is a spool to write to. The flag has a page for itself, which is
   zero in every child, however that was forked. */
static union {
	_Atomic int flag;
	char page[4096];
} active __attribute__((aligned(4096)));

static _Atomic int level = 1; /* what the program wants to be recorded */
static int invariant;
static size_t smallest = (size_t)256 << 10, largest = (size_t)4 << 20; /* sizes of segments */
static char directory[4096 - 128];
static _Atomic uint64_t told_process; /* of which the constants and regions are in the spool */
static uint64_t loaded, load_ticks, load_monotonic;
static uint64_t cost; /* of recording a call, ps; zero before it is measured */
static _Atomic int32_t world_rank = -1;

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

static void find_clock(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	char name[8] = "";
	int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	ssize_t n = read(file, name, sizeof name - 1);
	close(file);
	invariant = n >= 3 && !strncmp(name, "tsc", 3) && (name[3] == '\n' || !name[3]) &&
		__get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8);
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

static slow void complain(const char *what)
{
	static _Atomic int once;
	if (!atomic_exchange(&once, 1)) {
		char text[512];
		int n = snprintf(text, sizeof text, "reprise: %s: %s; calls are no longer recorded\n", what, strerror(errno));
		if (n > 0 && write(STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1) < 0)
			return;
	}
}

/* What else is in a segment's name comes after the directory. Threads may have
   small stacks. */
static char path[sizeof directory + 128];
static pthread_mutex_t path_lock = PTHREAD_MUTEX_INITIALIZER;

static struct header *map_segment(const struct lane *lane, size_t size)
{
	struct rlimit limit;
	/* Beyond the limit, the kernel would send a signal. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && size > limit.rlim_cur) {
		errno = EFBIG;
		return NULL;
	}
	pthread_mutex_lock(&path_lock);
	snprintf(path, sizeof path, "%s/%u-%llx.%u.%u.spool", directory, (unsigned)getpid(),
		(unsigned long long)loaded, lane->thread, lane->sequence);
	int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error;
	void *memory = MAP_FAILED;
	if (file < 0) {
		error = errno;
	} else {
		/* Without blocks of its own, the file would kill the program on a full disk. */
		error = posix_fallocate(file, 0, (off_t)size);
		if (!error) {
			memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
			error = errno;
		}
		close(file);
		if (memory == MAP_FAILED)
			unlink(path);
	}
	pthread_mutex_unlock(&path_lock);
	errno = error;
	return memory == MAP_FAILED ? NULL : memory;
}

static slow int give_up(struct lane *lane)
{
	complain(directory);
	if (lane->header) {
		atomic_fetch_add(&lane->header->lost, 1);
		atomic_store_explicit(&lane->header->state, BROKEN, memory_order_release);
	}
	lane->at = lane->end = NULL;
	lane->broken = 1;
	return 0;
}

static void measure_cost(struct header *header);

/* Begins a segment that holds a record of so many words. Returns 0 and gives the
   lane up if there is none to be had. */
static slow int begin_segment(struct lane *lane, size_t words)
{
	size_t size = smallest << (lane->sequence < 8 ? 2 * lane->sequence : 16);
	size = size < largest ? size : largest;
	size_t needed = sizeof(struct header) + 8 * (words + 1);
	if (size < needed)
		size = (needed + 0xffff) & ~(size_t)0xffff;
	struct header *header = map_segment(lane, size), *old = lane->header;
	if (!header)
		return give_up(lane);
	if (!cost)
		measure_cost(header);
	header->cost = cost;
	header->table = TABLE;
	header->process = loaded;
	header->pid = (uint32_t)getpid();
	header->thread = lane->thread;
	header->sequence = lane->sequence++;
	header->invariant = (uint32_t)invariant;
	header->ticks[0] = load_ticks;
	header->monotonic[0] = load_monotonic;
	both_clocks(&header->ticks[1], &header->monotonic[1]);
	lane->calibrated = header->ticks[1];
	/* Another thread may be telling the rank. */
	pthread_mutex_lock(&lanes_lock);
	atomic_store(&header->rank, atomic_load(&world_rank));
	lane->header = header;
	pthread_mutex_unlock(&lanes_lock);
	/* The magic comes last: a segment with one has a whole header. */
	atomic_thread_fence(memory_order_release);
	memcpy(header->magic, "reprisp\1", 8);
	if (old) {
		atomic_store_explicit(&old->state, CONTINUED, memory_order_release);
		munmap(old, lane->size);
	}
	lane->size = size;
	lane->at = (uint64_t *)(header + 1);
	lane->end = (uint64_t *)((char *)header + size);
	return 1;
}

/* Does so where nobody expects that the thread is cancelled or errno changed, and
   without signals: those of a timer could interrupt it again and again. */
static slow int next_segment(struct lane *lane, size_t words)
{
	int saved = errno, state;
	sigset_t all, mask;
	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	int begun = begin_segment(lane, words);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_setcancelstate(state, &state);
	errno = saved;
	return begun;
}

static int find_stack(pthread_t thread, uintptr_t *address, size_t *size);
static void put_region(struct lane *lane, uintptr_t address, size_t size, int64_t number);

/* Gives the thread a lane: one that an ended thread has left, or a new one. */
static slow struct lane *take_lane(void)
{
	if (self.done || self.busy)
		return NULL;
	self.busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	int saved = errno;
	pthread_mutex_lock(&lanes_lock);
	struct lane *lane = free_lanes;
	if (lane) {
		free_lanes = lane->next_free;
	} else {
		lane = mmap(NULL, sizeof *lane, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (lane == MAP_FAILED) {
			lane = NULL;
		} else {
			lane->thread = lane_count++;
			lane->next = lanes;
			lanes = lane;
		}
	}
	pthread_mutex_unlock(&lanes_lock);
	uintptr_t stack;
	size_t size = 0;
	if (lane) {
		pthread_setspecific(thread_end, lane);
		if (!pthread_equal(pthread_self(), main_thread) && !find_stack(pthread_self(), &stack, &size))
			size = 0;
	}
	self.lane = lane;
	atomic_signal_fence(memory_order_seq_cst);
	self.busy = 0;
	if (size)
		put_region(lane, stack, size, (int64_t)STACK_OF_THREAD - lane->thread);
	errno = saved;
	return lane;
}

/* The destructors of other keys may still call MPI and allocate memory: the lane is
   left in the last round of them. */
static void leave_lane(void *value)
{
	struct lane *lane = value;
	if (++self.ending < PTHREAD_DESTRUCTOR_ITERATIONS && !pthread_setspecific(thread_end, lane))
		return;
	self.done = 1;
	self.lane = NULL;
	if (!atomic_load(&active.flag))
		return;
	pthread_mutex_lock(&lanes_lock);
	lane->next_free = free_lanes;
	free_lanes = lane;
	pthread_mutex_unlock(&lanes_lock);
}

/* A forked child shares the pages of its parent and must leave them alone. It may
   be one that calls MPI_Init itself. */
static void in_child(void)
{
	atomic_store(&active.flag, 0);
	memset(&self, 0, sizeof self);
	lanes = free_lanes = NULL;
	lane_count = 0;
	pthread_mutex_init(&lanes_lock, NULL);
	pthread_mutex_init(&path_lock, NULL);
	atomic_store(&world_rank, -1);
	main_thread = pthread_self();
	loaded = 0;
}

/* Returns the free words for a record of at most so many, or NULL. The thread is
   busy until it publishes. */
static inline uint64_t *reserve(struct lane *lane, size_t words)
{
	self.busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	/* One word stays zero: the reader stops there. */
	if (unlikely((size_t)(lane->end - lane->at) <= words)) {
		if (lane->broken || !next_segment(lane, words)) {
			self.busy = 0;
			return NULL;
		}
	}
	return lane->at;
}

/* Publishes the record from at to end: its first word is written last. */
static inline void publish(struct lane *lane, uint64_t *at, uint64_t *end, unsigned type, unsigned number, unsigned flags)
{
	uint64_t word = (uint64_t)((end - at) * 8) | (uint64_t)number << 32 | (uint64_t)type << 48 | (uint64_t)flags << 56;
	lane->at = end;
	atomic_store_explicit((_Atomic uint64_t *)at, word, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	self.busy = 0;
}

static slow void calibrate(struct lane *lane)
{
	uint64_t *at = reserve(lane, 3);
	if (!at)
		return;
	both_clocks(&at[1], &at[2]);
	lane->calibrated = at[1];
	publish(lane, at, at + 3, CLOCK, 0, 0);
}

/* Returns the lane to record a call in, or NULL. */
static inline struct lane *enter(int always)
{
	if (unlikely(!atomic_load_explicit(&active.flag, memory_order_relaxed)))
		return NULL;
	if (unlikely(!always && !atomic_load_explicit(&level, memory_order_relaxed)))
		return NULL;
	struct lane *lane = self.lane;
	if (unlikely(!lane) && !(lane = take_lane()))
		return NULL;
	if (unlikely(self.busy)) {
		if (lane->header)
			atomic_fetch_add(&lane->header->lost, 1);
		return NULL;
	}
	return lane;
}

/* Reports whether the thread runs a signal handler on a stack of its own. */
static slow int on_signal_stack(void)
{
	stack_t stack;
	return !sigaltstack(NULL, &stack) && stack.ss_flags & SS_ONSTACK;
}

/* Returns the number of calls that the thread is in. A longjmp may have left some:
   their frames are no longer below the caller's. */
static inline unsigned depth_of(void *frame)
{
	if (unlikely(self.depth && (uintptr_t)frame >= self.outermost) && !on_signal_stack())
		self.depth = 0;
	if (!self.depth)
		self.outermost = (uintptr_t)frame;
	return self.depth;
}

/* An exception may leave a call, too. */
static inline void restore_depth(const unsigned *depth) { self.depth = *depth; }

static inline unsigned begin_flags(unsigned depth)
{
	return (atomic_load_explicit(&level, memory_order_relaxed) ? 0 : HIDDEN) | (depth ? 0 : OUTERMOST);
}
