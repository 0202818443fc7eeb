/*
 * Reduces the part files of a job along a tree of its processes. Each of them is started by a
 * process that merges, to which a socket, its standard input, leads.
 *
 * The arguments are the directory and the radix of the tree.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static int merger = STDIN_FILENO;

static void fail(const char *what)
{
	fprintf(stderr, "reprise: merging with MPI: %s: %s\n", what, strerror(errno));
	MPI_Abort(MPI_COMM_WORLD, 1);
	_exit(1);
}

/* merger_ended ends all: what merged has said why. */
static void merger_ended(void)
{
	MPI_Abort(MPI_COMM_WORLD, 1);
	_exit(1);
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

/* list returns the part files in a directory. There are none if no recorder made it here. Numbers
 * that no recorder gives would take memory. */
static struct files list(const char *directory)
{
	enum { RANKS = 1 << 24 }; /* more than parts may have */
	struct files f = {0};
	DIR *d = opendir(directory);
	if (d == NULL && errno == ENOENT)
		return f;
	if (d == NULL)
		fail(directory);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		int number, end = 0;
		if (sscanf(e->d_name, "rank%d.part.rpz%n", &number, &end) != 1 || end == 0 || e->d_name[end] != '\0' || number < 0)
			continue;
		if (number < RANKS)
			add(&f, number);
		else
			fprintf(stderr, "reprise: warning: left out: %s/%s: processes merge parts of ranks below %d\n", directory, e->d_name, RANKS);
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
	MUST(MPI_Comm_rank, nodes, &node);
	MUST(MPI_Comm_size, nodes, &count);
	for (int i = 0; i < f->n; i++)
		last = f->numbers[i] > last ? f->numbers[i] : last;
	MUST(MPI_Iallreduce, &last, &most, 1, MPI_INT, MPI_MAX, nodes, &request);
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
	MUST(MPI_Iallreduce, mine, lowest, most + 1, MPI_INT, MPI_MIN, nodes, &request);
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
	MUST(MPI_Comm_rank, node, &rank);
	MUST(MPI_Comm_size, node, &size);
	MUST(MPI_Ibcast, &n, 1, MPI_INT, 0, node, &request);
	await(request);
	while (f->n < n)
		add(f, 0);
	MUST(MPI_Ibcast, f->numbers, n, MPI_INT, 0, node, &request);
	await(request);
	int first = (int64_t)n * rank / size, end = (int64_t)n * (rank + 1) / size;
	int32_t count = end - first;
	say("f", 1);
	say(&count, sizeof count);
	for (int i = first; i < end; i++) {
		int32_t number = f->numbers[i];
		say(&number, sizeof number);
	}
	free(f->numbers);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	const char *directory = argv[1];
	struct places p = find_places();
	struct files files = {0};
	if (p.local == 0) {
		await_recorders(directory);
		files = list(directory);
		own(&files, p.nodes);
	}
	deal(&files, p.node);
	int done = reduce(p.tree, atoi(argv[2]));
	say(done && p.local == 0 ? "d" : "e", 1);
	MPI_Finalize();
	return 0;
}
