/*
 * Reduces the part files of a job along a tree of its processes. Each of them is started by a
 * process that merges, to which standard input and standard output lead. What is written there
 * begins with one byte:
 *
 *	f  number of files, then their numbers: read these, and merge them
 *	m  number of bytes, then these: merge what another process has
 *	g  give what is merged: number of bytes, then these
 *	r  write the trace of what is merged: one byte, 1 if no part is needed any more
 *	d  that is so, and this process may remove the directory
 *	e  end
 *
 * Numbers of bytes have 64 bits, others 32. A process that waits for others sleeps: there may be
 * more of them than processors.
 *
 * The arguments are the directory and the radix of the tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { SIZE_TAG = 1, BYTES_TAG = 2 };

static char chunk[4 << 20];

static void fail(const char *what)
{
	fprintf(stderr, "reprise: merging with MPI: %s: %s\n", what, strerror(errno));
	MPI_Abort(MPI_COMM_WORLD, 1);
	_exit(1);
}

/* get reads what the process that merges writes. If that has ended, it has said why. */
static void get(void *to, size_t n)
{
	for (char *p = to; n > 0;) {
		ssize_t some = read(0, p, n);
		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0) {
			MPI_Abort(MPI_COMM_WORLD, 1);
			_exit(1);
		}
		p += some;
		n -= some;
	}
}

static void put(const void *from, size_t n)
{
	for (const char *p = from; n > 0;) {
		ssize_t some = write(1, p, n);
		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0) {
			MPI_Abort(MPI_COMM_WORLD, 1);
			_exit(1);
		}
		p += some;
		n -= some;
	}
}

/* nap sleeps, longer each time. */
static void nap(long *ns)
{
	struct timespec t = {0, *ns};
	nanosleep(&t, NULL);
	if (*ns < 5 * 1000 * 1000)
		*ns *= 2;
}

static void await(MPI_Request request)
{
	long ns = 10 * 1000;
	for (int done = 0;;) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		nap(&ns);
	}
}

static size_t smaller(uint64_t a, size_t b) { return a < b ? a : b; }

/* give passes on to a process what is merged. */
static void give(int to, MPI_Comm tree)
{
	MPI_Request request;
	uint64_t n;
	put("g", 1);
	get(&n, sizeof n);
	MPI_Isend(&n, 1, MPI_UINT64_T, to, SIZE_TAG, tree, &request);
	await(request);
	while (n > 0) {
		size_t some = smaller(n, sizeof chunk);
		get(chunk, some);
		MPI_Isend(chunk, some, MPI_BYTE, to, BYTES_TAG, tree, &request);
		await(request);
		n -= some;
	}
}

/* take has merged what the next process gives, whichever it is. */
static void take(MPI_Comm tree)
{
	MPI_Request request;
	MPI_Status status;
	uint64_t n;
	long ns = 10 * 1000;
	for (int there = 0;; nap(&ns)) {
		MPI_Iprobe(MPI_ANY_SOURCE, SIZE_TAG, tree, &there, &status);
		if (there)
			break;
	}
	int from = status.MPI_SOURCE;
	MPI_Irecv(&n, 1, MPI_UINT64_T, from, SIZE_TAG, tree, &request);
	await(request);
	put("m", 1);
	put(&n, sizeof n);
	while (n > 0) {
		size_t some = smaller(n, sizeof chunk);
		MPI_Irecv(chunk, some, MPI_BYTE, from, BYTES_TAG, tree, &request);
		await(request);
		put(chunk, some);
		n -= some;
	}
}

/* await_recorders waits until no recorder on this node holds the lock of the directory: one
 * whose program was killed still writes its part. */
static void await_recorders(const char *directory)
{
	enum { SECONDS = 60 };
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/.recording", directory);
	int lock = open(path, O_RDWR | O_CLOEXEC);
	if (lock < 0)
		return;
	time_t until = time(NULL) + SECONDS;
	long ns = 1000 * 1000;
	while (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		if (time(NULL) > until) {
			fprintf(stderr, "reprise: warning: %s: a recorder is still at work after %d s: its ranks may be missing\n", directory, SECONDS);
			break;
		}
		nap(&ns);
	}
	close(lock);
}

/* A list of the numbers of part files. */
struct files {
	int *numbers;
	int n, most; /* in numbers, and that have room */
};

static void add(struct files *f, int number)
{
	if (f->n == f->most) {
		f->most = 2 * f->most + 64;
		f->numbers = realloc(f->numbers, f->most * sizeof *f->numbers);
		if (f->numbers == NULL)
			fail("a list of files");
	}
	f->numbers[f->n++] = number;
}

/* list returns the part files in a directory. There are none if no recorder made it here. */
static struct files list(const char *directory)
{
	struct files f = {0};
	DIR *d = opendir(directory);
	if (d == NULL && errno == ENOENT)
		return f;
	if (d == NULL)
		fail(directory);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		int number, end = 0;
		if (sscanf(e->d_name, "rank%d.part.rpz%n", &number, &end) == 1 && end > 0 && e->d_name[end] == '\0' && number >= 0)
			add(&f, number);
	}
	closedir(d);
	return f;
}

/*
 * own keeps those of the files that this node is to read. A directory may be of this node
 * alone, or the same on several: then each has an equal share. For that, nodes have different
 * ranks at each file, and the lowest of those that have the file reads it.
 */
static void own(struct files *f, MPI_Comm nodes)
{
	MPI_Request request;
	int node, count, last = 0, most;
	MPI_Comm_rank(nodes, &node);
	MPI_Comm_size(nodes, &count);
	for (int i = 0; i < f->n; i++)
		last = f->numbers[i] > last ? f->numbers[i] : last;
	MPI_Iallreduce(&last, &most, 1, MPI_INT, MPI_MAX, nodes, &request);
	await(request);
	int *mine = malloc(((size_t)most + 1) * sizeof *mine), *lowest = malloc(((size_t)most + 1) * sizeof *lowest);
	if (mine == NULL || lowest == NULL)
		fail("the owners of files");
	for (int i = 0; i <= most; i++)
		mine[i] = INT_MAX;
	for (int i = 0; i < f->n; i++) {
		int number = f->numbers[i], first = (int64_t)number * count / ((int64_t)most + 1);
		mine[number] = (node - first + count) % count;
	}
	MPI_Iallreduce(mine, lowest, most + 1, MPI_INT, MPI_MIN, nodes, &request);
	await(request);
	f->n = 0;
	for (int i = 0; i <= most; i++)
		if (mine[i] != INT_MAX && mine[i] == lowest[i])
			add(f, i);
	free(mine);
	free(lowest);
}

/* deal has this process read its share of the files of the node, of which rank 0 has the list. */
static void deal(struct files *f, MPI_Comm node)
{
	MPI_Request request;
	int rank, size, n = f->n;
	MPI_Comm_rank(node, &rank);
	MPI_Comm_size(node, &size);
	MPI_Ibcast(&n, 1, MPI_INT, 0, node, &request);
	await(request);
	while (f->n < n)
		add(f, 0);
	MPI_Ibcast(f->numbers, n, MPI_INT, 0, node, &request);
	await(request);
	int first = (int64_t)n * rank / size, end = (int64_t)n * (rank + 1) / size;
	int32_t count = end - first;
	put("f", 1);
	put(&count, sizeof count);
	for (int i = first; i < end; i++) {
		int32_t number = f->numbers[i];
		put(&number, sizeof number);
	}
	free(f->numbers);
}

/* reduce merges up to the root, and returns what the root said. */
static int reduce(MPI_Comm tree, int radix)
{
	MPI_Request request;
	int rank, size;
	MPI_Comm_rank(tree, &rank);
	MPI_Comm_size(tree, &size);
	int64_t step = 1;
	for (; rank % (step * radix) == 0 && step < size; step *= radix)
		for (int64_t child = rank + step; child < rank + step * radix && child < size; child += step)
			take(tree);
	char done = 0;
	if (rank > 0) {
		give(rank - rank % (step * radix), tree);
	} else {
		put("r", 1);
		get(&done, 1);
	}
	MPI_Ibcast(&done, 1, MPI_CHAR, 0, tree, &request);
	await(request);
	return done;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	const char *directory = argv[1];
	int world, local, place = 0;
	MPI_Comm node, nodes, tree;
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world, MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &local);
	MPI_Comm_split(MPI_COMM_WORLD, local == 0 ? 0 : MPI_UNDEFINED, world, &nodes);
	struct files files = {0};
	if (local == 0) {
		MPI_Comm_rank(nodes, &place);
		await_recorders(directory);
		files = list(directory);
		own(&files, nodes);
	}
	deal(&files, node);
	/* Those of a node are neighbours in the tree. */
	MPI_Bcast(&place, 1, MPI_INT, 0, node);
	MPI_Comm_split(MPI_COMM_WORLD, 0, place, &tree);
	int done = reduce(tree, atoi(argv[2]));
	put(done && local == 0 ? "d" : "e", 1);
	MPI_Finalize();
	return 0;
}
