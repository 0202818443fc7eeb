/*
 * Merging inside MPI_Finalize, where that is wanted: the processes merge what their recorders have along a
 * tree, as the reducer does with part files. Each has a socket that leads to its recorder.
 *
 * MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the latest first. Ours is the first, so
 * that all calls that the program makes in MPI_Finalize are recorded before.
 */
#if defined(HAVE_MPI_Ibcast) && defined(HAVE_MPI_Comm_split_type) && defined(HAVE_MPI_Comm_set_attr)
{{template "tree"}}
static int merger = -1, radix;
static unsigned long long socket_number; /* of the socket, which no other has */

/* Reports whether a file is the socket, and not one of the program's. */
static int is_merger(int file)
{
	struct stat status;
	return file >= 0 && !fstat(file, &status) && S_ISSOCK(status.st_mode) && status.st_ino == socket_number;
}

static slow void merger_ended(void)
{
	if (is_merger(merger))
		close(merger);
	merger = -1;
}

static slow int merge_parts(MPI_Comm self_only, int key, void *value, void *more)
{
	if (!is_merger(merger))
		merger = -1; /* the program has closed it */
	/* Nobody would read what is recorded from here on. */
	atomic_store(&active.flag, 0);
	say("w", 1);
	struct places p = find_places();
	int done = reduce(p.tree, radix);
	say(done && p.local == 0 ? "d" : "e", 1);
	return MPI_SUCCESS;
}

static int not_copied(MPI_Comm self_only, int key, void *more, void *value, void *copy, int *copied)
{
	*copied = 0;
	return MPI_SUCCESS;
}

/* prepare_merge takes the socket, which is not for programs that this one starts. Without it, the process takes part
   in the tree, as the others wait for it. */
static slow void prepare_merge(void)
{
	enum { FAR = 100 };
	int key = MPI_KEYVAL_INVALID, given;
	const char *wanted = getenv("REPRISE_MERGE");
	if (foreign || !wanted || sscanf(wanted, "%d %llu %d", &given, &socket_number, &radix) != 3 || radix < 2)
		return;
	unsetenv("REPRISE_MERGE");
	if (is_merger(given)) {
		merger = fcntl(given, F_DUPFD_CLOEXEC, FAR); /* out of the way of the program */
		if (merger >= 0)
			close(given);
	}
	if (REAL(MPI_Comm_create_keyval)(not_copied, merge_parts, &key, NULL) == MPI_SUCCESS)
		REAL(MPI_Comm_set_attr)(MPI_COMM_SELF, key, NULL);
}
#else
static void prepare_merge(void) {}
#endif
