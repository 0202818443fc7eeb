/*
 * The interposer of Reprise: records the calls of an MPI program in a spool.
 *
 * The files of this directory and the wrappers that are generated from the table of
 * functions make up one translation unit, in the order spool, regions,
 * values, load, questions, memory, wrappers. The package documentation of
 * mpi describes the spool.
 *
 * The library refers to no symbol of MPI: it finds the functions at run time. So
 * it can be loaded into any process, such as the shell or mpirun, in which it
 * does nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
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
	uint64_t reserved[5];
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
	int done;       /* the thread ends */
} self __attribute__((tls_model("initial-exec")));

static _Atomic int active; /* there is a spool to write to */
static _Atomic int level = 1; /* what the program wants to be recorded */
static int invariant;
static size_t smallest = (size_t)256 << 10, largest = (size_t)4 << 20; /* sizes of segments */
static char directory[4096 - 128];
static uint64_t loaded, load_ticks, load_monotonic;
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

static struct header *map_segment(const struct lane *lane, size_t size)
{
	char path[4096];
	struct rlimit limit;
	/* Beyond the limit, the kernel would send a signal. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && size > limit.rlim_cur) {
		errno = EFBIG;
		return NULL;
	}
	snprintf(path, sizeof path, "%s/%u-%llx.%u.%u.spool", directory, (unsigned)getpid(),
		(unsigned long long)loaded, lane->thread, lane->sequence);
	int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return NULL;
	/* Without blocks of its own, the file would kill the program on a full disk. */
	int error = posix_fallocate(file, 0, (off_t)size);
	void *memory = MAP_FAILED;
	if (!error) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		error = errno;
	}
	close(file);
	if (memory == MAP_FAILED) {
		unlink(path);
		errno = error;
		return NULL;
	}
	return memory;
}

/* Begins a segment that holds a record of so many words. Returns 0 and gives the
   lane up if there is none to be had. */
static slow int next_segment(struct lane *lane, size_t words)
{
	int saved = errno;
	size_t size = smallest << (lane->sequence < 8 ? 2 * lane->sequence : 16);
	size = size < largest ? size : largest;
	size_t needed = sizeof(struct header) + 8 * (words + 1);
	if (size < needed)
		size = (needed + 0xffff) & ~(size_t)0xffff;
	struct header *header = map_segment(lane, size);
	if (!header) {
		complain(directory);
		if (lane->header) {
			atomic_fetch_add(&lane->header->lost, 1);
			atomic_store_explicit(&lane->header->state, BROKEN, memory_order_release);
		}
		lane->at = lane->end = NULL;
		lane->broken = 1;
		errno = saved;
		return 0;
	}
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
	atomic_store(&header->rank, atomic_load(&world_rank));
	/* The magic comes last: a segment with one has a whole header. */
	atomic_thread_fence(memory_order_release);
	memcpy(header->magic, "reprisp\1", 8);
	if (lane->header) {
		atomic_store_explicit(&lane->header->state, CONTINUED, memory_order_release);
		munmap(lane->header, lane->size);
	}
	lane->header = header;
	lane->size = size;
	lane->at = (uint64_t *)(header + 1);
	lane->end = (uint64_t *)((char *)header + size);
	errno = saved;
	return 1;
}

static void put_thread_stack(struct lane *lane);

/* Gives the thread a lane: one that an ended thread has left, or a new one. */
static slow struct lane *take_lane(void)
{
	if (self.done || self.busy)
		return NULL;
	self.busy = 1;
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
	if (lane)
		pthread_setspecific(thread_end, lane);
	self.lane = lane;
	self.busy = 0;
	if (lane)
		put_thread_stack(lane);
	errno = saved;
	return lane;
}

static void leave_lane(void *value)
{
	struct lane *lane = value;
	self.done = 1;
	self.lane = NULL;
	if (!atomic_load(&active))
		return;
	pthread_mutex_lock(&lanes_lock);
	lane->next_free = free_lanes;
	free_lanes = lane;
	pthread_mutex_unlock(&lanes_lock);
}

/* A forked child shares the pages of its parent and must leave them alone. */
static void in_child(void)
{
	atomic_store(&active, 0);
	self.lane = NULL;
}

/* Returns the free words for a record of at most so many, or NULL. The thread is
   busy until it publishes. */
static inline uint64_t *reserve(struct lane *lane, size_t words)
{
	self.busy = 1;
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
	if (unlikely(!atomic_load_explicit(&active, memory_order_relaxed)))
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

/* Returns the number of calls that the thread is in. An exception or longjmp may
   have left some: their frames are no longer below the caller's. */
static inline unsigned depth_of(void *frame)
{
	if (unlikely(self.depth && (uintptr_t)frame >= self.outermost))
		self.depth = 0;
	if (!self.depth)
		self.outermost = (uintptr_t)frame;
	return self.depth;
}

static inline unsigned begin_flags(unsigned depth)
{
	return (atomic_load_explicit(&level, memory_order_relaxed) ? 0 : HIDDEN) | (depth ? 0 : OUTERMOST);
}
