/*
 * Reads of files in the background. The call that completes one has a status with the bytes that it has read.
 * Requests of reads are kept until then: statuses of other operations do not tell bytes.
 */
struct read {
	MPI_Request request;
	struct read *next;
};

enum { READ_LISTS = 1 << 10 };

static struct read *read_lists[READ_LISTS];
static pthread_mutex_t reads_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t reads_held;

static inline int reads_pend(void) { return unlikely(atomic_load_explicit(&reads_held, memory_order_relaxed) != 0); }

static struct read **read_list(MPI_Request request)
{
	return &read_lists[WORD(request) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static void keep_read(struct read *read)
{
	pthread_mutex_lock(&reads_lock);
	struct read **list = read_list(read->request);
	read->next = *list;
	*list = read;
	atomic_fetch_add(&reads_held, 1);
	pthread_mutex_unlock(&reads_lock);
}

/* The read of a request, which is not kept any more; NULL if it is of anything else. */
static struct read *take_read(MPI_Request request)
{
	struct read *found = NULL;
	pthread_mutex_lock(&reads_lock);
	for (struct read **at = read_list(request); *at; at = &(*at)->next) {
		if ((*at)->request == request) {
			found = *at;
			*at = found->next;
			atomic_fetch_sub(&reads_held, 1);
			break;
		}
	}
	pthread_mutex_unlock(&reads_lock);
	return found;
}

/* Forgets the read of a request that is freed, or that is of another operation by now: a library has completed
   the read by PMPI. */
static slow void forget_read(const MPI_Request *request)
{
	if (request)
		free(take_read(*request));
}

/* Takes note of a read that has begun. */
static slow void note_read(MPI_Request request)
{
	struct read *read = request == MPI_REQUEST_NULL ? NULL : malloc(sizeof *read);
	if (read) {
		read->request = request;
		keep_read(read);
	}
}

enum { NOT_TOLD = -2 }; /* what stands for a number of bytes that MPI does not say */

/* The reads among the requests that a call may complete, each at the place of its request. */
struct reads {
	struct read **at; /* NULL if there are none */
	int64_t n;
	const MPI_Request *requests;
};

/* Takes the reads before a call that may complete them: another thread may begin one with the same
   request before it has returned. */
static slow void take_reads(struct reads *reads, int64_t n, const MPI_Request *requests)
{
	int any = 0;
	struct read **at = n > 0 && requests ? calloc((size_t)n, sizeof *at) : NULL;
	for (int64_t i = 0; at && i < n; i++)
		any |= (at[i] = take_read(requests[i])) != NULL;
	if (any)
		*reads = (struct reads){at, n, requests};
	else
		free(at);
}

/* Whether the call has completed the read of a request. */
static int has_read(const struct reads *reads, int64_t i)
{
	return i >= 0 && i < reads->n && reads->at[i] && reads->requests[i] == MPI_REQUEST_NULL;
}

/* Keeps those that the call has not completed. */
static inline void return_reads(struct reads *reads)
{
	for (int64_t i = 0; unlikely(reads->at != NULL) && i < reads->n; i++) {
		if (reads->at[i] && !has_read(reads, i))
			keep_read(reads->at[i]);
		else
			free(reads->at[i]);
	}
	free(reads->at);
}

/* Records the bytes of the reads that a call has completed. Each of n statuses is of the request with an index;
   without indices they are those of all requests. */
static slow void tell_reads(struct lane *lane, const struct reads *reads, int64_t n, const int *indices,
		const MPI_Status *statuses)
{
	for (int64_t k = 0; k < n; k++) {
		int64_t i = indices ? indices[k] : k;
		uint64_t *at = has_read(reads, i) ? reserve(lane, 3) : NULL;
		if (!at)
			continue;
		int64_t bytes = statuses == MPI_STATUSES_IGNORE ? -1 : bytes_of(&statuses[k]);
		at[1] = WORD(reads->at[i]->request);
		at[2] = (uint64_t)(bytes < 0 ? NOT_TOLD : bytes);
		publish(lane, at, at + 3, SIZED, 0, 0);
	}
}

/* How a call that completes requests uses statuses of our own. */
static inline int ours(const struct reads *reads)
{
	return any_wildcard() ? OURS_TOLD : reads->at ? OURS_ASKED : NOT_OURS;
}
