/*
 * The lengths that the table of functions speaks of. Those of inputs are asked before the function has looked at its
 * arguments, which may be what it refuses: there is no error of MPI that the function would not have. Every answer is local.
 */
static inline void *real_function(unsigned number)
{
	void *f = real_functions[number];
	return likely(f != NULL) ? f : (real_functions[number] = find_function(real_names[number]));
}

#define REAL(name) ((__typeof__(&name))real_function(N_##name))

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t completed(int n) { return n == MPI_UNDEFINED ? 0 : n; }
static inline int64_t triplets(int64_t n) { return n > 0 ? 3 * n : 0; }
static inline int64_t at_least_none(int64_t n) { return n > 0 ? n : 0; }
static inline int64_t last(int64_t n, const int *values) { return n > 0 && values ? values[n - 1] : 0; }

static int64_t sum(int64_t n, const int *values)
{
	int64_t total = 0;
	for (int64_t i = 0; values && i < n; i++)
		total += values[i];
	return total;
}

static int64_t pointers(char *const *list)
{
	int64_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

/* Whether MPI may be asked anything. */
static _Atomic int running;

static slow int is_running(void)
{
	int begun = 0, ended = 0;
	REAL(MPI_Initialized)(&begun);
	REAL(MPI_Finalized)(&ended);
	return begun && !ended;
}

/* Whether MPI may be asked about a communicator. */
static inline int has_members(MPI_Comm comm)
{
	return comm != MPI_COMM_NULL && (likely(atomic_load_explicit(&running, memory_order_relaxed)) || is_running());
}

static int64_t members(MPI_Comm comm)
{
	int n = 0;
	if (has_members(comm))
		REAL(MPI_Comm_size)(comm, &n);
	return n;
}

static int is_inter(MPI_Comm comm)
{
	int flag = 0;
	if (has_members(comm))
		REAL(MPI_Comm_test_inter)(comm, &flag);
	return flag;
}

/* The processes that a collective call exchanges data with. */
static int64_t peers(MPI_Comm comm)
{
	int n = 0;
	if (!is_inter(comm))
		return members(comm);
	REAL(MPI_Comm_remote_size)(comm, &n);
	return n;
}

static int at_root(int root, MPI_Comm comm)
{
	int rank = -1;
	if (root == MPI_ROOT)
		return 1;
	if (root < 0 || !has_members(comm) || is_inter(comm))
		return 0;
	REAL(MPI_Comm_rank)(comm, &rank);
	return rank == root;
}

/* What the arguments of a function that makes a communicator do not say. */
static int rank_in(MPI_Comm comm)
{
	int rank = -1;
	REAL(MPI_Comm_rank)(comm, &rank);
	return rank;
}

/* The rank in the group of the process itself, and how many processes are in that
   of the communicator, or on the other side of an intercommunicator. */
static slow void ask_group(MPI_Comm comm, int64_t group[2])
{
	if (comm == MPI_COMM_NULL)
		return;
	group[0] = rank_in(comm);
	group[1] = peers(comm);
}

static int64_t group_members(MPI_Group group)
{
	int n = 0;
	REAL(MPI_Group_size)(group, &n);
	return n;
}

/* The rank in a communicator of the first member of one that was made from it. */
static slow int leader_in(MPI_Comm parent, MPI_Comm comm)
{
	int first = 0, leader = -1;
	MPI_Group all, some;
	if (REAL(MPI_Comm_group)(parent, &all) == MPI_SUCCESS) {
		if (REAL(MPI_Comm_group)(comm, &some) == MPI_SUCCESS) {
			REAL(MPI_Group_translate_ranks)(some, 1, &first, all, &leader);
			REAL(MPI_Group_free)(&some);
		}
		REAL(MPI_Group_free)(&all);
	}
	return leader;
}

/* The ranks in a communicator of the members of a group. */
static slow int *ranks_in(MPI_Comm parent, MPI_Group group)
{
	int64_t n = group_members(group);
	int *ranks = n > 0 ? malloc(2 * (size_t)n * sizeof *ranks) : NULL;
	MPI_Group all;
	if (!ranks || REAL(MPI_Comm_group)(parent, &all) != MPI_SUCCESS) {
		free(ranks);
		return NULL;
	}
	for (int i = 0; i < n; i++)
		ranks[n + i] = i;
	REAL(MPI_Group_translate_ranks)(group, (int)n, ranks + n, all, ranks);
	REAL(MPI_Group_free)(&all);
	return ranks;
}

#ifdef HAVE_MPI_Group_from_session_pset
enum { SESSIONS = 64 };
static MPI_Session sessions[SESSIONS]; /* that there are, of which some may be forgotten */
static int session_count;
static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;

static slow void keep_session(MPI_Session session)
{
	pthread_mutex_lock(&sessions_lock);
	if (session_count < SESSIONS)
		sessions[session_count++] = session;
	pthread_mutex_unlock(&sessions_lock);
}

static slow void forget_session(MPI_Session session)
{
	pthread_mutex_lock(&sessions_lock);
	for (int i = 0; i < session_count; i++)
		if (sessions[i] == session)
			sessions[i] = sessions[--session_count];
	pthread_mutex_unlock(&sessions_lock);
}

/* All processes of the program, as one of its sessions or MPI_COMM_WORLD has them; says whether there is either. */
static slow int world_group(MPI_Group *all)
{
	int known = 0, begun = 0, ended = 0;
	pthread_mutex_lock(&sessions_lock);
	if (session_count)
		known = REAL(MPI_Group_from_session_pset)(sessions[0], "mpi://WORLD", all) == MPI_SUCCESS;
	pthread_mutex_unlock(&sessions_lock);
	if (known)
		return 1;
	REAL(MPI_Initialized)(&begun);
	REAL(MPI_Finalized)(&ended);
	return begun && !ended && REAL(MPI_Comm_group)(MPI_COMM_WORLD, all) == MPI_SUCCESS;
}

/* The ranks among all processes of the program of the members of a group. */
static slow int *ranks_in_world(MPI_Group group)
{
	int64_t n = group_members(group);
	int *ranks = n > 0 ? malloc(2 * (size_t)n * sizeof *ranks) : NULL;
	MPI_Group all;
	for (int i = 0; ranks && i < n; i++) {
		ranks[n + i] = i;
		ranks[i] = -1;
	}
	if (ranks && world_group(&all)) {
		REAL(MPI_Group_translate_ranks)(group, (int)n, ranks + n, all, ranks);
		REAL(MPI_Group_free)(&all);
	}
	return ranks;
}

/* The rank among all processes of the program of one of the remote group of an intercommunicator. */
static slow int remote_in_world(MPI_Comm comm, int rank)
{
	int world = -1;
	MPI_Group all, remote;
	if (!world_group(&all))
		return world;
	if (REAL(MPI_Comm_remote_group)(comm, &remote) == MPI_SUCCESS) {
		REAL(MPI_Group_translate_ranks)(remote, 1, &rank, all, &world);
		REAL(MPI_Group_free)(&remote);
	}
	REAL(MPI_Group_free)(&all);
	return world;
}
#endif

/* How many bytes a status says were read, and whether these are less than were asked for. */
static slow int64_t bytes_of(const MPI_Status *status)
{
	MPI_Count n = -1;
	if (status == MPI_STATUS_IGNORE || REAL(MPI_Get_elements_x)(status, MPI_BYTE, &n) != MPI_SUCCESS)
		return -1;
	return n;
}

static slow int is_short(const MPI_Status *status, int64_t count, MPI_Datatype datatype)
{
	MPI_Count size = 0;
	int64_t n = bytes_of(status);
	return n >= 0 && REAL(MPI_Type_size_x)(datatype, &size) == MPI_SUCCESS && n < count * size;
}

static inline void discard(int **asked) { free(*asked); }

static int topology(MPI_Comm comm)
{
	int kind = MPI_UNDEFINED;
	if (has_members(comm))
		REAL(MPI_Topo_test)(comm, &kind);
	return kind;
}

static int64_t dimensions(MPI_Comm comm)
{
	int n = 0;
	if (topology(comm) == MPI_CART)
		REAL(MPI_Cartdim_get)(comm, &n);
	return n;
}

static int64_t graph_nodes(MPI_Comm comm)
{
	int nodes = 0, edges = 0;
	REAL(MPI_Graphdims_get)(comm, &nodes, &edges);
	return nodes;
}

static int64_t graph_edges(MPI_Comm comm)
{
	int nodes = 0, edges = 0;
	REAL(MPI_Graphdims_get)(comm, &nodes, &edges);
	return edges;
}

static int64_t graph_degree(MPI_Comm comm, int rank)
{
	int n = 0;
	REAL(MPI_Graph_neighbors_count)(comm, rank, &n);
	return n;
}

static slow int64_t degree(MPI_Comm comm, int out)
{
	int rank = 0, n[2] = {0, 0}, weighted;
	switch (topology(comm)) {
	case MPI_CART:
		return 2 * dimensions(comm);
	case MPI_GRAPH:
		REAL(MPI_Comm_rank)(comm, &rank);
		return graph_degree(comm, rank);
	case MPI_DIST_GRAPH:
		REAL(MPI_Dist_graph_neighbors_count)(comm, &n[0], &n[1], &weighted);
		return n[out];
	}
	return 0;
}

static inline int64_t in_degree(MPI_Comm comm) { return degree(comm, 0); }
static inline int64_t out_degree(MPI_Comm comm) { return degree(comm, 1); }

/* The neighbours of the process in a graph, which others may have named: those of one
   direction, and behind them what nobody asks for. */
static slow int *graph_neighbours(MPI_Comm comm, int out)
{
	int n[2] = {(int)in_degree(comm), (int)out_degree(comm)};
	size_t all = (size_t)n[0] + (size_t)n[1];
	int *list = malloc((2 * all + 1) * sizeof *list), *other = list ? list + n[out] : NULL;
	if (list)
		REAL(MPI_Dist_graph_neighbors)(comm, n[0], out ? other : list, list + all, n[1], out ? list : other, list + all + n[0]);
	return list;
}

static inline int *new_sources(MPI_Comm comm) { return graph_neighbours(comm, 0); }
static inline int *new_destinations(MPI_Comm comm) { return graph_neighbours(comm, 1); }

static slow int64_t content(MPI_Datatype datatype, int which)
{
	int n[3] = {0, 0, 0}, combiner;
	REAL(MPI_Type_get_envelope)(datatype, &n[0], &n[1], &n[2], &combiner);
	return n[which];
}

static inline int64_t content_integers(MPI_Datatype datatype) { return content(datatype, 0); }
static inline int64_t content_addresses(MPI_Datatype datatype) { return content(datatype, 1); }
static inline int64_t content_datatypes(MPI_Datatype datatype) { return content(datatype, 2); }

#ifdef HAVE_MPI_Type_get_envelope_c
static slow int64_t large_content(MPI_Datatype datatype, int which)
{
	MPI_Count n[4] = {0, 0, 0, 0};
	int combiner;
	REAL(MPI_Type_get_envelope_c)(datatype, &n[0], &n[1], &n[2], &n[3], &combiner);
	return n[which];
}

static inline int64_t large_integers(MPI_Datatype datatype) { return large_content(datatype, 0); }
static inline int64_t large_addresses(MPI_Datatype datatype) { return large_content(datatype, 1); }
static inline int64_t large_counts(MPI_Datatype datatype) { return large_content(datatype, 2); }
static inline int64_t large_datatypes(MPI_Datatype datatype) { return large_content(datatype, 3); }
#endif

#ifdef MPI_F_STATUS_SIZE
#define FORTRAN_STATUS MPI_F_STATUS_SIZE
#else
#define FORTRAN_STATUS ((int64_t)(sizeof(MPI_Status) / sizeof(int)))
#endif

/* An error code, with its class above it: codes may differ between runs. */
static slow uint64_t error_word(int code)
{
	int class = MPI_SUCCESS;
	if (code != MPI_SUCCESS && atomic_load(&running))
		REAL(MPI_Error_class)(code, &class);
	return (uint64_t)(uint32_t)class << 32 | (uint32_t)code;
}

/* Reports whether the outputs of a call that returned an error are there all the
   same: those of the functions that complete several operations. */
static inline int in_status(uint64_t error)
{
	return error >> 32 == MPI_ERR_IN_STATUS;
}

/* Likewise of one that received a message for which there was not room enough: its status
   says where that came from. */
static inline int is_truncated(uint64_t error)
{
	return error >> 32 == MPI_ERR_TRUNCATE;
}

static inline uint64_t float_word(double x)
{
	uint64_t word;
	memcpy(&word, &x, sizeof word);
	return word;
}

/* Tells the spool the rank of the process in all of the program, and of how many it is one. */
static slow void tell_rank(int rank, int size)
{
	self.busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	pthread_mutex_lock(&lanes_lock);
	atomic_store(&world_rank, rank);
	atomic_store(&world_size, (uint32_t)size);
	for (struct lane *l = lanes; l; l = l->next) {
		if (!l->header)
			continue;
		atomic_store(&l->header->size, doubled((uint32_t)size));
		atomic_store(&l->header->rank, doubled((uint32_t)rank));
	}
	pthread_mutex_unlock(&lanes_lock);
	atomic_signal_fence(memory_order_seq_cst);
	self.busy = 0;
}

/* What was assumed when the program was sliced, if it was: texts, and NULL behind them. */
static void put_assumptions(struct lane *lane)
{
	for (const char *const *text = dlsym(RTLD_DEFAULT, "reprise_slice_assumptions"); text && *text; text++) {
		int64_t n = length_of(*text);
		uint64_t *at = reserve(lane, 2 + text_words(n));
		if (at)
			publish(lane, at, put_text(at + 1, n, *text), ASSUMPTION, 0, 0);
	}
}

/* Tells the spool of the constants, if no thread has. Others wait until it has them, so that no call
   comes before. */
static slow void tell_constants(struct lane *lane)
{
	self.told = 1;
	pthread_mutex_lock(&telling_lock);
	if (told_constants != loaded) {
		uint64_t lost = atomic_load(&lane->lost);
		find_library();
		put_constants(lane);
		if (atomic_load(&lane->lost) == lost)
			told_constants = loaded;
	}
	pthread_mutex_unlock(&telling_lock);
}

/* Tells the spool of the constants, the regions and the assumptions, if nobody has and MPI is
   initialized. */
static void tell_process(struct lane *lane)
{
	tell_constants(lane);
	uint64_t told = atomic_load(&told_process);
	if (told == loaded || !atomic_load(&running) || !atomic_compare_exchange_strong(&told_process, &told, loaded))
		return;
	uint64_t lost = atomic_load(&lane->lost);
	put_regions(lane);
	put_assumptions(lane);
	if (atomic_load(&lane->lost) != lost)
		atomic_store(&told_process, 0);
}

/* Tells the spool what is known once MPI is initialized. */
static slow void initialized(int rank, int size)
{
	atomic_store(&running, 1);
	struct lane *lane = enter(1);
	if (!lane)
		return;
	if (rank >= 0)
		tell_rank(rank, size);
	calibrate(lane);
}

static slow void initialized_world(void)
{
	if (!foreign)
		initialized(rank_in(MPI_COMM_WORLD), (int)members(MPI_COMM_WORLD));
}

#ifdef HAVE_MPI_Group_from_session_pset
static slow void initialized_session(MPI_Session session)
{
	MPI_Group world;
	int rank = -1, size = 0;
	if (foreign)
		return;
	if (atomic_load(&world_rank) < 0 &&
		REAL(MPI_Group_from_session_pset)(session, "mpi://WORLD", &world) == MPI_SUCCESS) {
		REAL(MPI_Group_rank)(world, &rank);
		REAL(MPI_Group_size)(world, &size);
		REAL(MPI_Group_free)(&world);
	}
	initialized(rank, size);
}
#endif
