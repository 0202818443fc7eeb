/*
 * Lanes: what one thread at a time writes to, and writing to it.
 */
static int find_stack(pthread_t thread, uintptr_t *address, size_t *size);
static void forget_chains(struct lane *lane);
static void put_region(struct lane *lane, uintptr_t address, size_t size, int64_t number);

/* Tells the spool how many lanes there are, before the new one has a record: who reads
   those of another has to wait for it. With lanes_lock. */
static slow void tell_threads(void)
{
	for (struct lane *l = lanes; l; l = l->next)
		if (l->header)
			atomic_store(&l->header->threads, doubled(lane_count));
}

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
		lane = map_pages(sizeof *lane, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (lane == MAP_FAILED) {
			lane = NULL;
		} else {
			lane->thread = lane_count++;
			lane->next = lanes;
			lanes = lane;
			tell_threads();
		}
	}
	pthread_mutex_unlock(&lanes_lock);
	uintptr_t stack;
	size_t size = 0;
	if (lane) {
		if (lane->chains) /* of another thread, with another stack */
			forget_chains(lane);
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
	pthread_mutex_init(&telling_lock, NULL);
	pthread_mutex_init(&open_lock, NULL);
	atomic_store(&world_rank, -1);
	atomic_store(&world_size, 0);
	main_thread = pthread_self();
	loaded = 0;
	forked = 1;
}

/* Returns the words for a record of at most so many, or NULL. The thread is busy until it publishes.
   A short record is made outside the segment: most need no place there. */
static inline uint64_t *reserve(struct lane *lane, size_t words)
{
	self.busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	/* One word stays zero: the reader stops there. */
	if (unlikely((size_t)(lane->end - lane->at) <= words)) {
		if (!next_segment(lane, words)) {
			self.busy = 0;
			return NULL;
		}
	}
	return words <= SHORT ? lane->draft : lane->at;
}

enum { NUMBER_AT = 27, TYPE_AT = 38, FLAGS_AT = 42, CHECK_AT = 46 };

/* Makes what the lane has written from its end to another word visible to readers: the first word last, with a check
   of all and of where it is. */
static inline void append(struct lane *lane, uint64_t word, uint64_t check, uint64_t *end)
{
	uint64_t *at = lane->at, from = (uint64_t)((char *)lane->header);
	check = mix(add_word(check, (uint64_t)(char *)at - from));
	lane->at = end;
	atomic_store_explicit((_Atomic uint64_t *)at, word | check >> CHECK_AT << CHECK_AT, memory_order_release);
	atomic_store_explicit(&lane->header->written, (uint64_t)(char *)end - from, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	self.busy = 0;
}

/* Reports whether the slot has what a record says, but for its time; if not, it has it now. */
static inline int is_known(struct slot *slot, uint64_t key, const uint64_t *words, size_t n)
{
	uint64_t differ = slot->key ^ key;
	for (size_t i = 0; i < n && !differ; i++)
		differ |= slot->words[i] ^ words[i];
	if (!differ)
		return 1;
	slot->key = key;
	for (size_t i = 0; i < n; i++)
		slot->words[i] = words[i];
	return 0;
}

/* Publishes the record from at to end, or that there is one again that the lane has written before: one like it, at
   another time. */
static __attribute__((noinline)) void publish(struct lane *lane, uint64_t *at, uint64_t *end, unsigned type, unsigned number, unsigned flags)
{
	size_t words = (size_t)(end - at);
	uint64_t word = (uint64_t)words | (uint64_t)number << NUMBER_AT | (uint64_t)type << TYPE_AT | (uint64_t)flags << FLAGS_AT;
	uint64_t check = word, *to = lane->at;
	for (const uint64_t *w = at + 2; w < end; w++)
		check = add_word(check, *w);
	if (TIMED >> type & 1) {
		uint64_t since = at[1] - lane->tick;
		lane->tick = at[1];
		if (likely(words <= SHORT && REPEATED >> type & 1)) {
			uint64_t place = mix(check) >> (64 - SLOT_BITS), key = word | (uint64_t)lane->sequence << CHECK_AT;
			if (likely(is_known(&lane->slots[place], key, at + 2, words - 2))) {
				int far = since >> NUMBER_AT != 0;
				uint64_t again = (far ? 0 : since) | place << NUMBER_AT | (uint64_t)AGAIN << TYPE_AT | (uint64_t)far << FLAGS_AT;
				uint64_t tick = at[1];
				if (unlikely(at == to))
					memset(at + 1, 0, (words - 1) * sizeof *at);
				check = add_word(check, again);
				if (unlikely(far)) {
					to[1] = tick;
					check = add_word(check, tick);
				}
				append(lane, again, check, to + 1 + far);
				return;
			}
		}
	}
	if (at != to)
		for (size_t i = 1; i < words; i++)
			to[i] = at[i];
	append(lane, word, add_word(check, to[1]), to + words);
}

static void tell_process(struct lane *lane);
static void find_library(void);

/* Returns for how many ticks the clock is known well enough that was read so many ticks after the first time. Two
   readings so far apart tell how long a tick is; a quarter of that later, the error is that of the readings and a
   quarter. The clock may be slewed, too: it is read every second or so. */
static int64_t interval_after(uint64_t since)
{
	return since / 4 < UINT64_C(1) << 31 ? (int64_t)(since / 4) : INT64_C(1) << 31;
}

static slow void calibrate(struct lane *lane)
{
	tell_process(lane);
	uint64_t *at = reserve(lane, 3);
	if (!at)
		return;
	both_clocks(&at[1], &at[2]);
	lane->calibrated = at[1];
	lane->interval = interval_after(at[1] - load_ticks);
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
		lose(lane);
		return NULL;
	}
	return lane;
}

static void tell_constants(struct lane *lane);

/* Returns the lane to record a call of MPI in, or NULL. The spool has the constants before the first,
   whatever that is: handles are told by them. */
static inline struct lane *enter_call(int always)
{
	struct lane *lane = enter(always);
	if (lane && unlikely(!self.told))
		tell_constants(lane);
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
