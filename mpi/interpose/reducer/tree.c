/*
 * What the processes of a tree do: each passes on what merges for it, to which a socket leads. What is written
 * there begins with one byte:
 *
 *	f  number of files, then their numbers: read these, and merge them
 *	w  write the part of what this process has recorded, and merge it
 *	m  number of bytes, then these: merge what another process has
 *	g  give what is merged: number of bytes, then these
 *	r  write the trace of what is merged: one byte, 1 if no part is needed any more
 *	d  that is so, and this process may remove the directory
 *	e  end
 *
 * Numbers of bytes have 64 bits, others 32. A process that waits for others sleeps: there may be
 * more of them than processors.
 *
 * It is compiled in front of the reducer, and into the interposer, which finds the functions of MPI at run time.
 */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef REAL
#define REAL(name) name
#endif

enum { SIZE_TAG = 1, BYTES_TAG = 2 };

static int merger; /* the socket, negative if there is none */
static void merger_ended(void);

static char chunk[4 << 20];

/* must ends all processes if a function of MPI has failed: they would wait for each other. All that they have
   recorded is in parts. */
static void must(int code, const char *function)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int n;
	if (code == MPI_SUCCESS)
		return;
	REAL(MPI_Error_string)(code, text, &n);
	fprintf(stderr, "reprise: merging with MPI: %s: %s\n", function, text);
	struct timespec passed_on = {1, 0}; /* by launchers, which may drop it when they end */
	nanosleep(&passed_on, NULL);
	REAL(MPI_Abort)(MPI_COMM_WORLD, 1);
	_exit(1);
}
#define MUST(name, ...) must(REAL(name)(__VA_ARGS__), #name)

/* What a process gives whose merger has ended. */
static const char no_merger[] = "{\"failure\":\"what merges for a process has ended\"}\n";

/* hear reads what the merger writes, zeros if it has ended. */
static void hear(void *to, size_t n)
{
	for (char *p = to; n > 0;) {
		ssize_t some = merger < 0 ? 0 : recv(merger, p, n, 0);
		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0) {
			merger_ended();
			memset(p, 0, n);
			return;
		}
		p += some;
		n -= some;
	}
}

/* say writes to the merger, unless it has ended. */
static void say(const void *from, size_t n)
{
	for (const char *p = from; n > 0;) {
		ssize_t some = merger < 0 ? 0 : send(merger, p, n, MSG_NOSIGNAL);
		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0) {
			merger_ended();
			return;
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
		MUST(MPI_Test, &request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		nap(&ns);
	}
}

/* give passes on to a process what is merged, or that what merges has ended. */
static void give(int to, MPI_Comm tree)
{
	MPI_Request request;
	uint64_t n;
	say("g", 1);
	hear(&n, sizeof n);
	if (merger < 0)
		n = strlen(strcpy(chunk, no_merger));
	MUST(MPI_Isend, &n, 1, MPI_UINT64_T, to, SIZE_TAG, tree, &request);
	await(request);
	while (n > 0) {
		size_t some = n < sizeof chunk ? n : sizeof chunk;
		if (merger >= 0)
			hear(chunk, some);
		MUST(MPI_Isend, chunk, some, MPI_BYTE, to, BYTES_TAG, tree, &request);
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
		MUST(MPI_Iprobe, MPI_ANY_SOURCE, SIZE_TAG, tree, &there, &status);
		if (there)
			break;
	}
	int from = status.MPI_SOURCE;
	MUST(MPI_Irecv, &n, 1, MPI_UINT64_T, from, SIZE_TAG, tree, &request);
	await(request);
	say("m", 1);
	say(&n, sizeof n);
	while (n > 0) {
		size_t some = n < sizeof chunk ? n : sizeof chunk;
		MUST(MPI_Irecv, chunk, some, MPI_BYTE, from, BYTES_TAG, tree, &request);
		await(request);
		say(chunk, some);
		n -= some;
	}
}

/* reduce merges up to the root, and returns what the root said. */
static int reduce(MPI_Comm tree, int radix)
{
	MPI_Request request;
	int rank, size;
	MUST(MPI_Comm_rank, tree, &rank);
	MUST(MPI_Comm_size, tree, &size);
	int64_t step = 1;
	for (; rank % (step * radix) == 0 && step < size; step *= radix)
		for (int64_t child = rank + step; child < rank + step * radix && child < size; child += step)
			take(tree);
	char done = 0;
	if (rank > 0) {
		give(rank - rank % (step * radix), tree);
	} else {
		say("r", 1);
		hear(&done, 1);
	}
	MUST(MPI_Ibcast, &done, 1, MPI_CHAR, 0, tree, &request);
	await(request);
	return done;
}

/* What a process of a tree knows of the others. */
struct places {
	MPI_Comm node;  /* the processes of this node, */
	MPI_Comm nodes; /* the first of each node, for these only, */
	MPI_Comm tree;  /* and all, those of a node beside each other */
	int local;      /* rank in node */
};

static struct places find_places(void)
{
	struct places p;
	int world, place = 0;
	MPI_Errhandler before; /* not freed: some MPI refuse that of their own */
	MUST(MPI_Comm_get_errhandler, MPI_COMM_WORLD, &before);
	MUST(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* which is that of all that are made of it */
	MUST(MPI_Comm_rank, MPI_COMM_WORLD, &world);
	MUST(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world, MPI_INFO_NULL, &p.node);
	MUST(MPI_Comm_rank, p.node, &p.local);
	MUST(MPI_Comm_split, MPI_COMM_WORLD, p.local == 0 ? 0 : MPI_UNDEFINED, world, &p.nodes);
	if (p.local == 0)
		MUST(MPI_Comm_rank, p.nodes, &place);
	MUST(MPI_Bcast, &place, 1, MPI_INT, 0, p.node);
	MUST(MPI_Comm_split, MPI_COMM_WORLD, 0, place, &p.tree);
	MUST(MPI_Comm_set_errhandler, MPI_COMM_WORLD, before);
	return p;
}
