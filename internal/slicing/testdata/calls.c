/* Writes the calls of MPI of a process, without addresses, to $CALLS.rank: it is loaded before a program. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *out;

static int bytes(MPI_Datatype t)
{
	int n;
	PMPI_Type_size(t, &n);
	return n;
}

static int members(MPI_Comm comm)
{
	int n;
	PMPI_Comm_size(comm, &n);
	return n;
}

int MPI_Init(int *argc, char ***argv)
{
	char name[4096];
	int result = PMPI_Init(argc, argv), rank;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof name, "%s.%d", getenv("CALLS"), rank);
	out = fopen(name, "w");
	return result;
}

int MPI_Finalize(void)
{
	fprintf(out, "Finalize\n");
	fclose(out);
	return PMPI_Finalize();
}

#define LOG(name, declared, arguments, format, ...) \
	int MPI_##name declared \
	{ \
		fprintf(out, #name format "\n", __VA_ARGS__); \
		return PMPI_##name arguments; \
	}

LOG(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), " %d %d %d %d", n, bytes(t), to, tag)
LOG(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), (b, n, t, from, tag, c, s), " %d %d %d %d", n, bytes(t), from, tag)
LOG(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r), " %d %d %d %d", n, bytes(t), to, tag)
LOG(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, from, tag, c, r), " %d %d %d %d", n, bytes(t), from, tag)
LOG(Send_init, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r), " %d %d %d %d", n, bytes(t), to, tag)
LOG(Recv_init, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, from, tag, c, r), " %d %d %d %d", n, bytes(t), from, tag)
LOG(Startall, (int n, MPI_Request *r), (n, r), " %d", n)
LOG(Request_free, (MPI_Request *r), (r), " %d", 1)
LOG(Wait, (MPI_Request *r, MPI_Status *s), (r, s), " %d", s == MPI_STATUS_IGNORE)
LOG(Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s), " %d", n)
LOG(Probe, (int from, int tag, MPI_Comm c, MPI_Status *s), (from, tag, c, s), " %d %d", from, tag)
LOG(Get_count, (const MPI_Status *s, MPI_Datatype t, int *n), (s, t, n), " %d", bytes(t))
LOG(Sendrecv, (const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn, MPI_Datatype rt, int from, int rtag, MPI_Comm c, MPI_Status *s),
	(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s), " %d %d %d %d %d %d %d %d", n, bytes(t), to, tag, rn, bytes(rt), from, rtag)
LOG(Sendrecv_replace, (void *b, int n, MPI_Datatype t, int to, int tag, int from, int rtag, MPI_Comm c, MPI_Status *s),
	(b, n, t, to, tag, from, rtag, c, s), " %d %d %d %d %d %d", n, bytes(t), to, tag, from, rtag)
LOG(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c), " %d %d %d %d", n, bytes(t), root, members(c))
LOG(Barrier, (MPI_Comm c), (c), " %d", members(c))
LOG(Allreduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, rb, n, t, o, c), " %d %d %d %d", n, bytes(t), members(c), b == MPI_IN_PLACE)
LOG(Reduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c), (b, rb, n, t, o, root, c), " %d %d %d %d", n, bytes(t), root, members(c))
LOG(Scan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, rb, n, t, o, c), " %d %d %d", n, bytes(t), members(c))
LOG(Allgather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rn, rt, c), " %d %d %d", n, rn, members(c))
LOG(Alltoall, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c), (b, n, t, rb, rn, rt, c), " %d %d %d", n, rn, members(c))
LOG(Gather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c), (b, n, t, rb, rn, rt, root, c), " %d %d %d", n, rn, root)
LOG(Scatter, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c), (b, n, t, rb, rn, rt, root, c), " %d %d %d", n, rn, root)
LOG(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *n), (c, color, key, n), " %d %d", color, key)
LOG(Comm_free, (MPI_Comm *c), (c), " %d", members(*c))
LOG(Type_vector, (int n, int k, int stride, MPI_Datatype t, MPI_Datatype *r), (n, k, stride, t, r), " %d %d %d", n, k, stride)
LOG(Type_free, (MPI_Datatype *t), (t), " %d", bytes(*t))
LOG(Op_create, (MPI_User_function *f, int commutes, MPI_Op *o), (f, commutes, o), " %d", commutes)

int MPI_Alltoallv(const void *b, const int *n, const int *at, MPI_Datatype t, void *rb, const int *rn, const int *rat, MPI_Datatype rt, MPI_Comm c)
{
	fprintf(out, "Alltoallv");
	for (int i = 0; i < members(c); i++)
		fprintf(out, " %d %d %d %d", n[i], at[i], rn[i], rat[i]);
	fprintf(out, "\n");
	return PMPI_Alltoallv(b, n, at, t, rb, rn, rat, rt, c);
}
