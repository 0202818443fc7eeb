/*
 * Datatypes of which no call that is recorded tells the size: those that MPI chooses or takes from others,
 * and those that are made by calls which are not recorded, as MPI does for an array section of Fortran, or a
 * library by PMPI. They are in a set, and MPI is asked for their sizes when calls have used them.
 */
enum { OPEN_TYPES = 4096, PROBES = 16, OPEN_NONE = 0, OPEN_REMOVED = 1 };
static _Atomic uint64_t open_types[OPEN_TYPES];
static _Atomic int open_count;

static inline int any_open(void) { return atomic_load_explicit(&open_count, memory_order_relaxed); }

static inline _Atomic uint64_t *open_slot(uint64_t word, unsigned i)
{
	return &open_types[((word * 0x9e3779b97f4a7c15u >> 52) + i) % OPEN_TYPES];
}

/* Returns where a datatype is in the set, or NULL. */
static slow _Atomic uint64_t *find_open(uint64_t word)
{
	for (unsigned i = 0; i < PROBES; i++) {
		_Atomic uint64_t *slot = open_slot(word, i);
		uint64_t found = atomic_load_explicit(slot, memory_order_relaxed);
		if (found == word)
			return slot;
		if (found == OPEN_NONE)
			break;
	}
	return NULL;
}

static int is_constant(uint64_t word)
{
	for (unsigned i = 0; i < sizeof constant_types / sizeof *constant_types; i++)
		if (atomic_load_explicit(&constant_types[i], memory_order_relaxed) == word)
			return 1;
	return 0;
}

/* Adds a datatype to the set. Where there is no room, its size stays unknown. */
static slow void open_type(MPI_Datatype datatype)
{
	uint64_t word = WORD(datatype);
	if (word <= OPEN_REMOVED || is_constant(word))
		return;
	pthread_mutex_lock(&open_lock);
	for (unsigned i = 0; i < PROBES && !find_open(word); i++) {
		uint64_t found = atomic_load(open_slot(word, i));
		if (found == OPEN_NONE || found == OPEN_REMOVED) {
			atomic_store(open_slot(word, i), word);
			atomic_fetch_add(&open_count, 1);
		}
	}
	pthread_mutex_unlock(&open_lock);
}

static slow void remove_open(uint64_t word)
{
	pthread_mutex_lock(&open_lock);
	_Atomic uint64_t *slot = find_open(word);
	if (slot) {
		atomic_store(slot, OPEN_REMOVED);
		if (atomic_fetch_sub(&open_count, 1) == 1)
			for (unsigned i = 0; i < OPEN_TYPES; i++)
				atomic_store(&open_types[i], OPEN_NONE);
	}
	pthread_mutex_unlock(&open_lock);
}

/* A recorded call tells of what a datatype is made that has a handle from now on, or it is freed. */
static inline void close_type(MPI_Datatype datatype)
{
	if (unlikely(any_open()))
		remove_open(WORD(datatype));
}

static slow void ask_size(struct lane *lane, MPI_Datatype datatype)
{
	MPI_Count size = -1;
	uint64_t *at;
	if (!find_open(WORD(datatype)) || !atomic_load(&running) || REAL(MPI_Type_size_x)(datatype, &size) != MPI_SUCCESS ||
		size < 0 || !(at = reserve(lane, 3)))
		return;
	at[1] = WORD(datatype);
	at[2] = (uint64_t)size;
	publish(lane, at, at + 3, SIZED, 0, 0);
}

static slow void ask_sizes(struct lane *lane, int64_t n, const MPI_Datatype *datatypes)
{
	for (int64_t i = 0; datatypes && i < n; i++) {
		int64_t k = 0;
		while (k < i && datatypes[k] != datatypes[i])
			k++;
		if (k == i)
			ask_size(lane, datatypes[i]);
	}
}
