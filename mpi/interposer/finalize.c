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

static slow void merger_ended(void)
{
	if (merger >= 0)
		close(merger);
	merger = -1;
}

static slow int merge_parts(MPI_Comm self_only, int key, void *value, void *more)
{
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
	int key = MPI_KEYVAL_INVALID;
	struct stat status;
	const char *wanted = getenv("REPRISE_MERGE");
	if (foreign || !wanted || sscanf(wanted, "%d %d", &merger, &radix) != 2 || radix < 2)
		return;
	unsetenv("REPRISE_MERGE");
	if (fstat(merger, &status) || !S_ISSOCK(status.st_mode))
		merger = -1;
	else
		fcntl(merger, F_SETFD, FD_CLOEXEC);
	if (REAL(MPI_Comm_create_keyval)(not_copied, merge_parts, &key, NULL) == MPI_SUCCESS)
		REAL(MPI_Comm_set_attr)(MPI_COMM_SELF, key, NULL);
}
#else
static void prepare_merge(void) {}
#endif
