/* amg.c: algebraic multigrid in the pattern of AMG and hypre: wrappers of all of MPI, a table of functions for the solver, one allocator,
 * handles of communication by kind of work, a union of what a message has, and levels whose number depends on the matrix. */
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int HYPRE_Int;
typedef double HYPRE_Real;
typedef MPI_Comm hypre_MPI_Comm;
typedef MPI_Request hypre_MPI_Request;
typedef MPI_Status hypre_MPI_Status;
typedef MPI_Datatype hypre_MPI_Datatype;

/* mpistubs */
HYPRE_Int hypre_MPI_Init(int *argc, char ***argv) { return MPI_Init(argc, argv); }
HYPRE_Int hypre_MPI_Finalize(void) { return MPI_Finalize(); }
HYPRE_Int hypre_MPI_Abort(hypre_MPI_Comm comm, HYPRE_Int code) { return MPI_Abort(comm, code); }
HYPRE_Real hypre_MPI_Wtime(void) { return MPI_Wtime(); }
HYPRE_Int hypre_MPI_Comm_size(hypre_MPI_Comm comm, HYPRE_Int *n)
{
	int mpi_n;
	HYPRE_Int ierr = MPI_Comm_size(comm, &mpi_n);
	*n = mpi_n;
	return ierr;
}
HYPRE_Int hypre_MPI_Comm_rank(hypre_MPI_Comm comm, HYPRE_Int *n)
{
	int mpi_n;
	HYPRE_Int ierr = MPI_Comm_rank(comm, &mpi_n);
	*n = mpi_n;
	return ierr;
}
HYPRE_Int hypre_MPI_Comm_dup(hypre_MPI_Comm comm, hypre_MPI_Comm *new) { return MPI_Comm_dup(comm, new); }
HYPRE_Int hypre_MPI_Comm_free(hypre_MPI_Comm *comm) { return MPI_Comm_free(comm); }
HYPRE_Int hypre_MPI_Comm_split(hypre_MPI_Comm comm, HYPRE_Int n, HYPRE_Int m, hypre_MPI_Comm *new) { return MPI_Comm_split(comm, n, m, new); }
HYPRE_Int hypre_MPI_Isend(void *buf, HYPRE_Int n, hypre_MPI_Datatype t, HYPRE_Int to, HYPRE_Int tag, hypre_MPI_Comm comm, hypre_MPI_Request *r)
{
	return MPI_Isend(buf, n, t, to, tag, comm, r);
}
HYPRE_Int hypre_MPI_Irecv(void *buf, HYPRE_Int n, hypre_MPI_Datatype t, HYPRE_Int from, HYPRE_Int tag, hypre_MPI_Comm comm, hypre_MPI_Request *r)
{
	return MPI_Irecv(buf, n, t, from, tag, comm, r);
}
HYPRE_Int hypre_MPI_Send(void *buf, HYPRE_Int n, hypre_MPI_Datatype t, HYPRE_Int to, HYPRE_Int tag, hypre_MPI_Comm comm)
{
	return MPI_Send(buf, n, t, to, tag, comm);
}
HYPRE_Int hypre_MPI_Recv(void *buf, HYPRE_Int n, hypre_MPI_Datatype t, HYPRE_Int from, HYPRE_Int tag, hypre_MPI_Comm comm, hypre_MPI_Status *s)
{
	return MPI_Recv(buf, n, t, from, tag, comm, s);
}
HYPRE_Int hypre_MPI_Waitall(HYPRE_Int n, hypre_MPI_Request *r, hypre_MPI_Status *s) { return MPI_Waitall(n, r, s); }
HYPRE_Int hypre_MPI_Wait(hypre_MPI_Request *r, hypre_MPI_Status *s) { return MPI_Wait(r, s); }
HYPRE_Int hypre_MPI_Waitany(HYPRE_Int n, hypre_MPI_Request *r, HYPRE_Int *k, hypre_MPI_Status *s) { return MPI_Waitany(n, r, k, s); }
HYPRE_Int hypre_MPI_Test(hypre_MPI_Request *r, HYPRE_Int *flag, hypre_MPI_Status *s) { return MPI_Test(r, flag, s); }
HYPRE_Int hypre_MPI_Testall(HYPRE_Int n, hypre_MPI_Request *r, HYPRE_Int *flag, hypre_MPI_Status *s) { return MPI_Testall(n, r, flag, s); }
HYPRE_Int hypre_MPI_Iprobe(HYPRE_Int from, HYPRE_Int tag, hypre_MPI_Comm comm, HYPRE_Int *flag, hypre_MPI_Status *s)
{
	return MPI_Iprobe(from, tag, comm, flag, s);
}
HYPRE_Int hypre_MPI_Get_count(hypre_MPI_Status *s, hypre_MPI_Datatype t, HYPRE_Int *n) { return MPI_Get_count(s, t, n); }
HYPRE_Int hypre_MPI_Bcast(void *buf, HYPRE_Int n, hypre_MPI_Datatype t, HYPRE_Int root, hypre_MPI_Comm comm) { return MPI_Bcast(buf, n, t, root, comm); }
HYPRE_Int hypre_MPI_Barrier(hypre_MPI_Comm comm) { return MPI_Barrier(comm); }
HYPRE_Int hypre_MPI_Allreduce(void *in, void *out, HYPRE_Int n, hypre_MPI_Datatype t, MPI_Op op, hypre_MPI_Comm comm)
{
	return MPI_Allreduce(in, out, n, t, op, comm);
}
HYPRE_Int hypre_MPI_Reduce(void *in, void *out, HYPRE_Int n, hypre_MPI_Datatype t, MPI_Op op, HYPRE_Int root, hypre_MPI_Comm comm)
{
	return MPI_Reduce(in, out, n, t, op, root, comm);
}
HYPRE_Int hypre_MPI_Scan(void *in, void *out, HYPRE_Int n, hypre_MPI_Datatype t, MPI_Op op, hypre_MPI_Comm comm) { return MPI_Scan(in, out, n, t, op, comm); }
HYPRE_Int hypre_MPI_Allgather(void *in, HYPRE_Int n, hypre_MPI_Datatype t, void *out, HYPRE_Int m, hypre_MPI_Datatype u, hypre_MPI_Comm comm)
{
	return MPI_Allgather(in, n, t, out, m, u, comm);
}
HYPRE_Int hypre_MPI_Send_init(void *buf, HYPRE_Int n, hypre_MPI_Datatype t, HYPRE_Int to, HYPRE_Int tag, hypre_MPI_Comm comm, hypre_MPI_Request *r)
{
	return MPI_Send_init(buf, n, t, to, tag, comm, r);
}
HYPRE_Int hypre_MPI_Recv_init(void *buf, HYPRE_Int n, hypre_MPI_Datatype t, HYPRE_Int to, HYPRE_Int tag, hypre_MPI_Comm comm, hypre_MPI_Request *r)
{
	return MPI_Recv_init(buf, n, t, to, tag, comm, r);
}
HYPRE_Int hypre_MPI_Startall(HYPRE_Int n, hypre_MPI_Request *r) { return MPI_Startall(n, r); }
HYPRE_Int hypre_MPI_Request_free(hypre_MPI_Request *r) { return MPI_Request_free(r); }
HYPRE_Int hypre_MPI_Type_contiguous(HYPRE_Int n, hypre_MPI_Datatype t, hypre_MPI_Datatype *new) { return MPI_Type_contiguous(n, t, new); }
HYPRE_Int hypre_MPI_Type_commit(hypre_MPI_Datatype *t) { return MPI_Type_commit(t); }
HYPRE_Int hypre_MPI_Type_free(hypre_MPI_Datatype *t) { return MPI_Type_free(t); }

/* memory */
static void hypre_OutOfMemory(size_t size)
{
	printf("Out of memory trying to allocate %d bytes\n", (int)size);
	fflush(stdout);
}
char *hypre_MAlloc(size_t size)
{
	char *p = NULL;
	if (size > 0) {
		p = malloc(size);
		if (p == NULL)
			hypre_OutOfMemory(size);
	}
	return p;
}
char *hypre_CAlloc(size_t count, size_t each)
{
	char *p = NULL;
	if (count * each > 0) {
		p = calloc(count, each);
		if (p == NULL)
			hypre_OutOfMemory(count * each);
	}
	return p;
}
void hypre_Free(char *p)
{
	if (p)
		free(p);
}
#define hypre_TAlloc(type, n) ((type *)hypre_MAlloc((size_t)(sizeof(type) * (n))))
#define hypre_CTAlloc(type, n) ((type *)hypre_CAlloc((size_t)(n), (size_t)sizeof(type)))
#define hypre_TFree(p) (hypre_Free((char *)p), p = NULL)

/* matrices and vectors */
typedef struct {
	HYPRE_Int size, owns_data;
	HYPRE_Real *data;
} hypre_Vector;

typedef struct {
	hypre_MPI_Comm comm;
	HYPRE_Int num_sends, *send_procs, *send_starts, *send_elmts, num_recvs, *recv_procs, *recv_starts;
} hypre_ParCSRCommPkg;

typedef union {
	HYPRE_Real *reals;
	HYPRE_Int *ints;
	void *any;
} hypre_Buffer;

typedef struct {
	hypre_ParCSRCommPkg *pkg;
	hypre_Buffer send, recv;
	HYPRE_Int num_requests;
	hypre_MPI_Request *requests;
} hypre_ParCSRCommHandle;

typedef struct {
	HYPRE_Int n, num_ext, first, global, *i, *j;
	HYPRE_Real *a;
	hypre_ParCSRCommPkg *pkg;
	hypre_MPI_Comm comm;
} hypre_ParCSRMatrix;

hypre_Vector *hypre_SeqVectorCreate(HYPRE_Int n)
{
	hypre_Vector *v = hypre_CTAlloc(hypre_Vector, 1);
	v->size = n, v->owns_data = 1, v->data = hypre_CTAlloc(HYPRE_Real, n);
	return v;
}
HYPRE_Int hypre_SeqVectorDestroy(hypre_Vector *v)
{
	if (v) {
		if (v->owns_data)
			hypre_TFree(v->data);
		hypre_TFree(v);
	}
	return 0;
}

hypre_ParCSRCommHandle *hypre_ParCSRCommHandleCreate(HYPRE_Int job, hypre_ParCSRCommPkg *pkg, void *send, void *recv)
{
	hypre_ParCSRCommHandle *h = hypre_CTAlloc(hypre_ParCSRCommHandle, 1);
	HYPRE_Int k = 0;
	h->pkg = pkg, h->num_requests = pkg->num_sends + pkg->num_recvs;
	h->send.any = send, h->recv.any = recv;
	h->requests = hypre_CTAlloc(hypre_MPI_Request, h->num_requests);
	switch (job) {
	case 1:
	case 2: {
		HYPRE_Real *d_send = h->send.reals, *d_recv = h->recv.reals;
		for (HYPRE_Int i = 0; i < pkg->num_recvs; i++)
			hypre_MPI_Irecv(&d_recv[pkg->recv_starts[i]], pkg->recv_starts[i + 1] - pkg->recv_starts[i], MPI_DOUBLE, pkg->recv_procs[i], 0, pkg->comm, &h->requests[k++]);
		for (HYPRE_Int i = 0; i < pkg->num_sends; i++)
			hypre_MPI_Isend(&d_send[pkg->send_starts[i]], pkg->send_starts[i + 1] - pkg->send_starts[i], MPI_DOUBLE, pkg->send_procs[i], 0, pkg->comm, &h->requests[k++]);
		break;
	}
	case 11:
	case 12: {
		HYPRE_Int *i_send = h->send.ints, *i_recv = h->recv.ints;
		for (HYPRE_Int i = 0; i < pkg->num_recvs; i++)
			hypre_MPI_Irecv(&i_recv[pkg->recv_starts[i]], pkg->recv_starts[i + 1] - pkg->recv_starts[i], MPI_INT, pkg->recv_procs[i], 0, pkg->comm, &h->requests[k++]);
		for (HYPRE_Int i = 0; i < pkg->num_sends; i++)
			hypre_MPI_Isend(&i_send[pkg->send_starts[i]], pkg->send_starts[i + 1] - pkg->send_starts[i], MPI_INT, pkg->send_procs[i], 0, pkg->comm, &h->requests[k++]);
		break;
	}
	}
	return h;
}
HYPRE_Int hypre_ParCSRCommHandleDestroy(hypre_ParCSRCommHandle *h)
{
	if (h->num_requests) {
		hypre_MPI_Status *status = hypre_CTAlloc(hypre_MPI_Status, h->num_requests);
		hypre_MPI_Waitall(h->num_requests, h->requests, status);
		hypre_TFree(status);
	}
	hypre_TFree(h->requests);
	hypre_TFree(h);
	return 0;
}

static hypre_ParCSRMatrix *laplacian(HYPRE_Int n, hypre_MPI_Comm comm)
{
	HYPRE_Int id, procs;
	hypre_MPI_Comm_rank(comm, &id);
	hypre_MPI_Comm_size(comm, &procs);
	hypre_ParCSRMatrix *A = hypre_CTAlloc(hypre_ParCSRMatrix, 1);
	A->n = n, A->first = id * n, A->global = n * procs, A->comm = comm;
	A->i = hypre_CTAlloc(HYPRE_Int, n + 1), A->j = hypre_CTAlloc(HYPRE_Int, 3 * n), A->a = hypre_CTAlloc(HYPRE_Real, 3 * n);
	HYPRE_Int k = 0;
	for (HYPRE_Int r = 0; r < n; r++) {
		HYPRE_Int g = A->first + r;
		A->i[r] = k;
		A->j[k] = g, A->a[k++] = 2.0 + 0.001 * (g % 7);
		if (g > 0)
			A->j[k] = g - 1, A->a[k++] = -1.0;
		if (g + 1 < A->global)
			A->j[k] = g + 1, A->a[k++] = -1.0;
	}
	A->i[n] = k;
	return A;
}

/* The neighbors of a matrix: counts of what is wanted go to all, lists to those that have them. */
static void hypre_MatvecCommPkgCreate(hypre_ParCSRMatrix *A)
{
	HYPRE_Int id, procs;
	hypre_MPI_Comm_rank(A->comm, &id);
	hypre_MPI_Comm_size(A->comm, &procs);
	HYPRE_Int *starts = hypre_CTAlloc(HYPRE_Int, procs + 1), *wanted = hypre_CTAlloc(HYPRE_Int, procs), *all = hypre_CTAlloc(HYPRE_Int, procs * procs);
	HYPRE_Int last = A->first + A->n;
	hypre_MPI_Allgather(&last, 1, MPI_INT, starts + 1, 1, MPI_INT, A->comm);
	HYPRE_Int *ext = hypre_CTAlloc(HYPRE_Int, A->i[A->n] + 1), num_ext = 0;
	for (HYPRE_Int p = 0; p < procs; p++)
		for (HYPRE_Int k = 0; k < A->i[A->n]; k++)
			if (p != id && A->j[k] >= starts[p] && A->j[k] < starts[p + 1]) {
				HYPRE_Int e = 0;
				while (e < num_ext && ext[e] != A->j[k])
					e++;
				if (e == num_ext)
					ext[num_ext++] = A->j[k], wanted[p]++;
			}
	hypre_MPI_Allgather(wanted, procs, MPI_INT, all, procs, MPI_INT, A->comm);
	hypre_ParCSRCommPkg *pkg = hypre_CTAlloc(hypre_ParCSRCommPkg, 1);
	pkg->comm = A->comm;
	pkg->send_procs = hypre_CTAlloc(HYPRE_Int, procs), pkg->recv_procs = hypre_CTAlloc(HYPRE_Int, procs);
	pkg->send_starts = hypre_CTAlloc(HYPRE_Int, procs + 1), pkg->recv_starts = hypre_CTAlloc(HYPRE_Int, procs + 1);
	for (HYPRE_Int p = 0; p < procs; p++) {
		if (wanted[p]) {
			pkg->recv_procs[pkg->num_recvs] = p;
			pkg->recv_starts[pkg->num_recvs + 1] = pkg->recv_starts[pkg->num_recvs] + wanted[p];
			pkg->num_recvs++;
		}
		if (all[p * procs + id]) {
			pkg->send_procs[pkg->num_sends] = p;
			pkg->send_starts[pkg->num_sends + 1] = pkg->send_starts[pkg->num_sends] + all[p * procs + id];
			pkg->num_sends++;
		}
	}
	pkg->send_elmts = hypre_CTAlloc(HYPRE_Int, pkg->send_starts[pkg->num_sends] + 1);
	/* the lists go the other way */
	hypre_MPI_Request *requests = hypre_CTAlloc(hypre_MPI_Request, pkg->num_sends + pkg->num_recvs);
	HYPRE_Int k = 0;
	for (HYPRE_Int i = 0; i < pkg->num_sends; i++)
		hypre_MPI_Irecv(&pkg->send_elmts[pkg->send_starts[i]], pkg->send_starts[i + 1] - pkg->send_starts[i], MPI_INT, pkg->send_procs[i], 12, A->comm, &requests[k++]);
	for (HYPRE_Int i = 0; i < pkg->num_recvs; i++)
		hypre_MPI_Isend(&ext[pkg->recv_starts[i]], pkg->recv_starts[i + 1] - pkg->recv_starts[i], MPI_INT, pkg->recv_procs[i], 12, A->comm, &requests[k++]);
	hypre_MPI_Waitall(k, requests, MPI_STATUSES_IGNORE);
	for (HYPRE_Int i = 0; i < pkg->send_starts[pkg->num_sends]; i++)
		pkg->send_elmts[i] -= A->first;
	for (HYPRE_Int i = 0; i < A->i[A->n]; i++) {
		if (A->j[i] >= A->first && A->j[i] < A->first + A->n)
			A->j[i] -= A->first;
		else
			for (HYPRE_Int e = 0; e < num_ext; e++)
				if (ext[e] == A->j[i]) {
					A->j[i] = A->n + e;
					break;
				}
	}
	A->pkg = pkg, A->num_ext = num_ext;
	hypre_TFree(requests);
	hypre_TFree(starts);
	hypre_TFree(wanted);
	hypre_TFree(all);
	hypre_TFree(ext);
}

HYPRE_Int hypre_ParCSRMatrixMatvec(HYPRE_Real alpha, void *vA, void *vx, HYPRE_Real beta, void *vy)
{
	hypre_ParCSRMatrix *A = vA;
	hypre_Vector *x = vx, *y = vy;
	HYPRE_Real *send = hypre_CTAlloc(HYPRE_Real, A->pkg->send_starts[A->pkg->num_sends]), *ext = hypre_CTAlloc(HYPRE_Real, A->num_ext);
	for (HYPRE_Int k = 0; k < A->pkg->send_starts[A->pkg->num_sends]; k++)
		send[k] = x->data[A->pkg->send_elmts[k]];
	hypre_ParCSRCommHandle *h = hypre_ParCSRCommHandleCreate(1, A->pkg, send, ext);
	hypre_ParCSRCommHandleDestroy(h);
	for (HYPRE_Int r = 0; r < A->n; r++) {
		HYPRE_Real s = 0;
		for (HYPRE_Int k = A->i[r]; k < A->i[r + 1]; k++)
			s += A->a[k] * (A->j[k] < A->n ? x->data[A->j[k]] : ext[A->j[k] - A->n]);
		y->data[r] = alpha * s + beta * y->data[r];
	}
	hypre_TFree(send);
	hypre_TFree(ext);
	return 0;
}
HYPRE_Real hypre_ParVectorInnerProd(void *vx, void *vy)
{
	hypre_Vector *x = vx, *y = vy;
	HYPRE_Real local = 0, result;
	for (HYPRE_Int k = 0; k < x->size; k++)
		local += x->data[k] * y->data[k];
	hypre_MPI_Allreduce(&local, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return result;
}
HYPRE_Int hypre_ParVectorAxpy(HYPRE_Real alpha, void *vx, void *vy)
{
	hypre_Vector *x = vx, *y = vy;
	for (HYPRE_Int k = 0; k < x->size; k++)
		y->data[k] += alpha * x->data[k];
	return 0;
}
HYPRE_Int hypre_ParVectorScale(HYPRE_Real alpha, void *vx)
{
	hypre_Vector *x = vx;
	for (HYPRE_Int k = 0; k < x->size; k++)
		x->data[k] *= alpha;
	return 0;
}
HYPRE_Int hypre_ParVectorCopy(void *vx, void *vy)
{
	hypre_Vector *x = vx, *y = vy;
	memcpy(y->data, x->data, sizeof(HYPRE_Real) * x->size);
	return 0;
}
void *hypre_ParKrylovCreateVector(void *v) { return hypre_SeqVectorCreate(((hypre_Vector *)v)->size); }
HYPRE_Int hypre_ParKrylovDestroyVector(void *v) { return hypre_SeqVectorDestroy(v); }

/* multigrid: each level has every other row */
typedef struct {
	HYPRE_Int num_levels, max_levels;
	hypre_ParCSRMatrix **A;
	hypre_Vector **F, **U;
	HYPRE_Real *l1;
} hypre_ParAMGData;

static HYPRE_Int coarse(hypre_ParCSRMatrix *A, HYPRE_Int *marker)
{
	/* markers of the boundary are exchanged, as PMIS does */
	HYPRE_Int sends = A->pkg->send_starts[A->pkg->num_sends], n = 0;
	HYPRE_Int *out = hypre_CTAlloc(HYPRE_Int, sends), *in = hypre_CTAlloc(HYPRE_Int, A->num_ext);
	for (HYPRE_Int r = 0; r < A->n; r++)
		marker[r] = (A->first + r) % 2 == 0;
	for (HYPRE_Int k = 0; k < sends; k++)
		out[k] = marker[A->pkg->send_elmts[k]];
	hypre_ParCSRCommHandle *h = hypre_ParCSRCommHandleCreate(11, A->pkg, out, in);
	hypre_ParCSRCommHandleDestroy(h);
	for (HYPRE_Int r = 0; r < A->n; r++)
		n += marker[r];
	hypre_TFree(out);
	hypre_TFree(in);
	return n;
}

void *hypre_BoomerAMGCreate(void)
{
	hypre_ParAMGData *amg = hypre_CTAlloc(hypre_ParAMGData, 1);
	amg->max_levels = 5;
	return amg;
}
HYPRE_Int hypre_BoomerAMGSetup(void *data, void *vA, void *vb, void *vx)
{
	hypre_ParAMGData *amg = data;
	hypre_ParCSRMatrix *A = vA;
	amg->A = hypre_CTAlloc(hypre_ParCSRMatrix *, amg->max_levels);
	amg->F = hypre_CTAlloc(hypre_Vector *, amg->max_levels), amg->U = hypre_CTAlloc(hypre_Vector *, amg->max_levels);
	amg->l1 = hypre_CTAlloc(HYPRE_Real, amg->max_levels);
	HYPRE_Int level = 0;
	for (;; level++) {
		amg->A[level] = A;
		amg->F[level] = level ? hypre_SeqVectorCreate(A->n) : vb, amg->U[level] = level ? hypre_SeqVectorCreate(A->n) : vx;
		for (HYPRE_Int k = A->i[0]; k < A->i[1]; k++)
			amg->l1[level] += fabs(A->a[k]);
		if (level + 1 == amg->max_levels)
			break;
		HYPRE_Int *marker = hypre_CTAlloc(HYPRE_Int, A->n), n = coarse(A, marker), total, least;
		hypre_MPI_Allreduce(&n, &total, 1, MPI_INT, MPI_SUM, A->comm);
		hypre_MPI_Allreduce(&n, &least, 1, MPI_INT, MPI_MIN, A->comm);
		hypre_TFree(marker);
		if (total < 9 || least < 2)
			break;
		A = laplacian(n, A->comm);
		HYPRE_Int last;
		hypre_MPI_Scan(&n, &last, 1, MPI_INT, MPI_SUM, A->comm);
		A->first = last - n, A->global = total;
		hypre_MatvecCommPkgCreate(A);
	}
	amg->num_levels = level + 1;
	return 0;
}
static void relax(hypre_ParCSRMatrix *A, hypre_Vector *f, hypre_Vector *u, HYPRE_Real l1)
{
	hypre_Vector *t = hypre_SeqVectorCreate(A->n);
	hypre_ParVectorCopy(f, t);
	hypre_ParCSRMatrixMatvec(-1.0, A, u, 1.0, t);
	for (HYPRE_Int k = 0; k < A->n; k++)
		u->data[k] += 0.9 * t->data[k] / l1;
	hypre_SeqVectorDestroy(t);
}
HYPRE_Int hypre_BoomerAMGSolve(void *data, void *vA, void *vb, void *vx)
{
	hypre_ParAMGData *amg = data;
	hypre_ParVectorCopy(vb, amg->F[0]);
	memset(amg->U[0]->data, 0, sizeof(HYPRE_Real) * amg->U[0]->size);
	for (HYPRE_Int l = 0; l < amg->num_levels; l++) {
		relax(amg->A[l], amg->F[l], amg->U[l], amg->l1[l]);
		if (l + 1 < amg->num_levels)
			for (HYPRE_Int k = 0; k < amg->F[l + 1]->size && 2 * k < amg->F[l]->size; k++)
				amg->F[l + 1]->data[k] = amg->F[l]->data[2 * k], amg->U[l + 1]->data[k] = 0;
	}
	for (HYPRE_Int l = amg->num_levels - 2; l >= 0; l--) {
		for (HYPRE_Int k = 0; k < amg->U[l + 1]->size && 2 * k < amg->U[l]->size; k++)
			amg->U[l]->data[2 * k] += amg->U[l + 1]->data[k];
		relax(amg->A[l], amg->F[l], amg->U[l], amg->l1[l]);
	}
	hypre_ParVectorCopy(amg->U[0], vx);
	return 0;
}

/* conjugate gradients by a table of functions */
typedef struct {
	char *(*CAlloc)(size_t count, size_t each);
	void (*Free)(char *p);
	void *(*CreateVector)(void *v);
	HYPRE_Int (*DestroyVector)(void *v);
	HYPRE_Int (*Matvec)(HYPRE_Real alpha, void *A, void *x, HYPRE_Real beta, void *y);
	HYPRE_Real (*InnerProd)(void *x, void *y);
	HYPRE_Int (*CopyVector)(void *x, void *y);
	HYPRE_Int (*ScaleVector)(HYPRE_Real alpha, void *x);
	HYPRE_Int (*Axpy)(HYPRE_Real alpha, void *x, void *y);
	HYPRE_Int (*precond)(void *data, void *A, void *b, void *x);
	HYPRE_Int (*precond_setup)(void *data, void *A, void *b, void *x);
} hypre_PCGFunctions;

typedef struct {
	HYPRE_Real tol;
	HYPRE_Int max_iter, num_iterations;
	void *A, *p, *s, *r, *precond_data;
	hypre_PCGFunctions *functions;
	HYPRE_Real *norms;
} hypre_PCGData;

hypre_PCGFunctions *hypre_PCGFunctionsCreate(char *(*CAlloc)(size_t, size_t), void (*Free)(char *), void *(*CreateVector)(void *),
	HYPRE_Int (*DestroyVector)(void *), HYPRE_Int (*Matvec)(HYPRE_Real, void *, void *, HYPRE_Real, void *), HYPRE_Real (*InnerProd)(void *, void *),
	HYPRE_Int (*CopyVector)(void *, void *), HYPRE_Int (*ScaleVector)(HYPRE_Real, void *), HYPRE_Int (*Axpy)(HYPRE_Real, void *, void *))
{
	hypre_PCGFunctions *f = (hypre_PCGFunctions *)CAlloc(1, sizeof(hypre_PCGFunctions));
	f->CAlloc = CAlloc, f->Free = Free, f->CreateVector = CreateVector, f->DestroyVector = DestroyVector, f->Matvec = Matvec;
	f->InnerProd = InnerProd, f->CopyVector = CopyVector, f->ScaleVector = ScaleVector, f->Axpy = Axpy;
	return f;
}
HYPRE_Int hypre_PCGSetup(hypre_PCGData *pcg, void *A, void *b, void *x)
{
	hypre_PCGFunctions *f = pcg->functions;
	pcg->A = A;
	pcg->p = f->CreateVector(x), pcg->s = f->CreateVector(x), pcg->r = f->CreateVector(b);
	pcg->norms = (HYPRE_Real *)f->CAlloc(pcg->max_iter + 1, sizeof(HYPRE_Real));
	return f->precond_setup(pcg->precond_data, A, f->CreateVector(b), f->CreateVector(x));
}
HYPRE_Int hypre_PCGSolve(hypre_PCGData *pcg, void *A, void *b, void *x)
{
	hypre_PCGFunctions *f = pcg->functions;
	HYPRE_Int i = 0, id;
	HYPRE_Real bi = f->InnerProd(b, b), gamma, old, alpha, i_prod = 0;
	hypre_MPI_Comm_rank(MPI_COMM_WORLD, &id);
	f->CopyVector(b, pcg->r);
	f->Matvec(-1.0, A, x, 1.0, pcg->r);
	f->precond(pcg->precond_data, A, pcg->r, pcg->p);
	gamma = f->InnerProd(pcg->r, pcg->p);
	while (i + 1 <= pcg->max_iter) {
		i++;
		f->Matvec(1.0, A, pcg->p, 0.0, pcg->s);
		alpha = gamma / f->InnerProd(pcg->s, pcg->p);
		old = gamma;
		f->Axpy(alpha, pcg->p, x);
		f->Axpy(-alpha, pcg->s, pcg->r);
		f->precond(pcg->precond_data, A, pcg->r, pcg->s);
		gamma = f->InnerProd(pcg->r, pcg->s);
		i_prod = f->InnerProd(pcg->r, pcg->r);
		pcg->norms[i] = sqrt(i_prod);
		if (id == 0)
			printf("%5d    %e    %f\n", i, pcg->norms[i], sqrt(i_prod / bi));
#ifdef CONVERGE
		if (i_prod / bi < pcg->tol * pcg->tol)
			break;
#endif
		f->ScaleVector(gamma / old, pcg->p);
		f->Axpy(1.0, pcg->s, pcg->p);
	}
	pcg->num_iterations = i;
	return 0;
}

int main(int argc, char **argv)
{
	HYPRE_Int n = argc > 1 ? atoi(argv[1]) : 24;
	hypre_MPI_Init(&argc, &argv);
	hypre_ParCSRMatrix *A = laplacian(n, MPI_COMM_WORLD);
	hypre_MatvecCommPkgCreate(A);
	hypre_Vector *b = hypre_SeqVectorCreate(n), *x = hypre_SeqVectorCreate(n);
	for (HYPRE_Int k = 0; k < n; k++)
		b->data[k] = 1.0;
	hypre_PCGData *pcg = hypre_CTAlloc(hypre_PCGData, 1);
	pcg->functions = hypre_PCGFunctionsCreate(hypre_CAlloc, hypre_Free, hypre_ParKrylovCreateVector, hypre_ParKrylovDestroyVector,
		hypre_ParCSRMatrixMatvec, hypre_ParVectorInnerProd, hypre_ParVectorCopy, hypre_ParVectorScale, hypre_ParVectorAxpy);
	pcg->functions->precond = hypre_BoomerAMGSolve, pcg->functions->precond_setup = hypre_BoomerAMGSetup;
	pcg->precond_data = hypre_BoomerAMGCreate();
	pcg->max_iter = 10, pcg->tol = 1e-8;
	hypre_PCGSetup(pcg, A, b, x);
	hypre_MPI_Barrier(MPI_COMM_WORLD);
	HYPRE_Real start = hypre_MPI_Wtime();
	hypre_PCGSolve(pcg, A, b, x);
	HYPRE_Real wall = hypre_MPI_Wtime() - start, most;
	hypre_MPI_Allreduce(&wall, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	hypre_MPI_Finalize();
	return 0;
}
