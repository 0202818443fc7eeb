/*
 * Segments: files that are mapped, one after another for each lane.
 */
static slow void complain(const char *what)
{
	static _Atomic int once;
	if (!atomic_exchange(&once, 1)) {
		char text[512];
		int n = snprintf(text, sizeof text, "reprise: %s: %s; there are calls that are not recorded\n", what, strerror(errno));
		if (n > 0 && write(STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1) < 0)
			return;
	}
}

/* What else is in a segment's name comes after the directory. Threads may have
   small stacks. */
static char path[sizeof directory + 128];
static pthread_mutex_t path_lock = PTHREAD_MUTEX_INITIALIZER;

/* Maps a new file of a size, which may become larger. */
static struct header *map_segment(const struct lane *lane, size_t *wanted)
{
	size_t size = *wanted;
	struct rlimit limit;
	/* Beyond the limit, the kernel would send a signal. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && size > limit.rlim_cur) {
		errno = EFBIG;
		return NULL;
	}
	pthread_mutex_lock(&path_lock);
	int n = snprintf(path, sizeof path, "%s/", directory);
	snprintf(path + n, sizeof path - (size_t)n, "%u-%llx.%u.%u.spool", (unsigned)getpid(),
		(unsigned long long)loaded, lane->thread, lane->sequence);
	int in = is_held(&held_directory), error;
	int file = is_filtered() ? -1 : openat(in ? held_directory.file : AT_FDCWD, in ? path + n : path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *memory = MAP_FAILED;
	if (file < 0) {
		memory = map_spare(wanted);
		error = errno;
		memory = memory ? memory : MAP_FAILED;
	} else {
		/* Without blocks of its own, the file would kill the program on a full disk. */
		error = posix_fallocate(file, 0, (off_t)size);
		if (!error) {
			memory = map_pages(size, MAP_SHARED, file);
			error = errno;
		}
		close(file);
		if (memory == MAP_FAILED)
			unlinkat(in ? held_directory.file : AT_FDCWD, in ? path + n : path, 0);
	}
	pthread_mutex_unlock(&path_lock);
	errno = error;
	return memory == MAP_FAILED ? NULL : memory;
}

/* How many records are lost until it is tried again to have a segment. */
enum { TRY_AGAIN = 1024 };

static void tell_lost(struct lane *lane)
{
	uint64_t lost = atomic_load(&lane->lost);
	atomic_store(&lane->header->lost, doubled(lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX));
}

/* Counts a record that is not written. */
static slow void lose(struct lane *lane)
{
	atomic_fetch_add(&lane->lost, 1);
	if (lane->header)
		tell_lost(lane);
}

static slow int give_up(struct lane *lane)
{
	complain(directory);
	if (lane->header)
		atomic_store_explicit(&lane->header->state, doubled(BROKEN), memory_order_release);
	lane->at = lane->end = NULL;
	lane->broken = 1;
	lane->tries = 0;
	return 0;
}

/* A record has fewer words. */
enum { MOST_WORDS = (1 << 27) - 1 };

static void measure_cost(struct header *header, struct slot *slots);
static int64_t interval_after(uint64_t since);

/* Begins a segment that holds a record of so many words. Returns 0 and gives the
   lane up for a while if there is none to be had. */
static slow int begin_segment(struct lane *lane, size_t words)
{
	size_t size = smallest << (lane->sequence < 8 ? 2 * lane->sequence : 16);
	size = size < largest ? size : largest;
	size_t needed = sizeof(struct header) + 8 * (words + 1);
	if (size < needed)
		size = (needed + 0xffff) & ~(size_t)0xffff;
	if (!lane->slots) {
		void *slots = map_pages(SLOTS * sizeof *lane->slots, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (slots == MAP_FAILED)
			return give_up(lane);
		lane->slots = slots;
	}
	struct header *header = map_segment(lane, &size), *old = lane->header;
	/* What is left of a full disk may be enough for a smaller one. */
	while (!header && (errno == ENOSPC || errno == EFBIG) && size > smallest && size / 2 >= needed)
		size /= 2, header = map_segment(lane, &size);
	if (!header)
		return give_up(lane);
	if (!cost)
		measure_cost(header, lane->slots);
	header->cost = cost;
	header->job = job;
	header->machine = machine;
	header->table = TABLE;
	header->process = loaded;
	header->pid = (uint32_t)getpid();
	header->thread = lane->thread;
	header->sequence = lane->sequence++;
	header->invariant = (uint32_t)invariant;
	header->ticks[0] = load_ticks;
	header->monotonic[0] = load_monotonic;
	header->length = size;
	atomic_store(&header->written, sizeof *header);
	both_clocks(&header->ticks[1], &header->monotonic[1]);
	for (const uint64_t *w = &header->table; w < &header->check; w++)
		header->check = add_word(header->check, *w);
	header->check = mix(header->check);
	lane->tick = header->ticks[1];
	if (!(lane->sequence & COUNT_MASK))
		memset(lane->slots, 0, SLOTS * sizeof *lane->slots);
	/* What there was no space for before is made up for soon. */
	lane->calibrated = lane->broken ? 0 : header->ticks[1];
	lane->interval = interval_after(header->ticks[1] - load_ticks);
	lane->broken = 0;
	/* Another thread may be telling the rank, or that it is there. */
	pthread_mutex_lock(&lanes_lock);
	atomic_store(&header->size, doubled(atomic_load(&world_size)));
	atomic_store(&header->rank, doubled((uint32_t)atomic_load(&world_rank)));
	atomic_store(&header->threads, doubled(lane_count));
	atomic_store(&header->state, doubled(OPEN));
	lane->header = header;
	tell_lost(lane);
	pthread_mutex_unlock(&lanes_lock);
	/* The magic comes last: a segment with one has a whole header. */
	atomic_thread_fence(memory_order_release);
	memcpy(header->magic, "reprisp\3", 8);
	if (old) {
		atomic_store_explicit(&old->state, doubled(CONTINUED), memory_order_release);
		unmap_pages(old, lane->size);
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
	if (words > MOST_WORDS || lane->broken && ++lane->tries % TRY_AGAIN) {
		lose(lane);
		return 0;
	}
	sigset_t all, mask;
	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	int begun = begin_segment(lane, words);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_setcancelstate(state, &state);
	errno = saved;
	if (!begun)
		lose(lane);
	return begun;
}
