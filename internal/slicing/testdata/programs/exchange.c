/* What is sent, and where it comes from, in ways that are not usual. Each value is the count of a broadcast on one rank. */
#include <mpi.h>
#include <stddef.h>

static int rank, size, next, previous, buffer[64], first[4], second[4], third[4], got[16], later[8], received[8], parts[4], whole[4];
static struct { int n; double x; int tail[3]; } sent[4], copied[4];

static void show(int n) { MPI_Bcast(buffer, n & 63, MPI_INT, 0, MPI_COMM_SELF); }

/* Messages that are filled after they are prepared. */
static void persistent(void)
{
	MPI_Request q[2];
	MPI_Recv_init(received, 8, MPI_INT, previous, 1, MPI_COMM_WORLD, &q[0]);
	MPI_Send_init(later, 8, MPI_INT, next, 1, MPI_COMM_WORLD, &q[1]);
	later[2] = rank + 4;
	MPI_Startall(2, q);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	show(received[2]);
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}

/* Contributions that are where the result will be, for some. */
static void in_place(void)
{
	void *from = rank < 9 ? MPI_IN_PLACE : parts;
	if (rank == 0) {
		whole[0] = 5;
		MPI_Allgather(from, 1, MPI_INT, whole, 1, MPI_INT, MPI_COMM_WORLD);
	} else {
		MPI_Allgather(from, 1, MPI_INT, whole, 1, MPI_INT, MPI_COMM_WORLD);
		show(whole[0]);
	}
}

/* Datatypes that reach variables by their addresses. */
static void datatypes(void)
{
	int lengths[3] = {4, 4, 1};
	MPI_Aint addresses[2] = {(MPI_Aint)first, (MPI_Aint)second}, apart[2] = {0, (char *)third - (char *)first}, around[3] = {-8, 0, 8};
	MPI_Datatype t;
	second[1] = rank + 6;
	MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Sendrecv(MPI_BOTTOM, 1, t, next, 1, got, 8, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	show(got[5]);
	MPI_Type_free(&t);
	third[2] = rank + 3;
	MPI_Type_create_hindexed(2, lengths, apart, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Sendrecv(first, 1, t, next, 1, got, 8, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	show(got[6]);
	MPI_Type_free(&t);
	first[0] = rank + 8;
	lengths[0] = lengths[1] = 1;
	MPI_Type_create_hindexed(3, lengths, around, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Sendrecv(first + 2, 1, t, next, 1, got, 3, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	show(got[0]);
	MPI_Type_free(&t);
	for (int i = 0; i < 4; i++)
		sent[i].n = i + rank, sent[i].tail[2] = i * rank;
	MPI_Sendrecv(sent, sizeof sent, MPI_BYTE, next, 1, copied, sizeof copied, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	show(copied[2].tail[2]);
	show(copied[3].n);
	char packed[64];
	int at = 0, from = rank + 31, to = 0;
	MPI_Pack(&from, 1, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
	at = 0;
	MPI_Unpack(packed, sizeof packed, &at, &to, 1, MPI_INT, MPI_COMM_WORLD);
	show(to);
}

/* Attributes, and the number of elements that there are. */
static void attributes(void)
{
	int key, value = rank + 3, *found, is, count;
	MPI_Comm other;
	MPI_Status status;
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
	value = rank + 8;
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Comm_get_attr(other, key, &found, &is);
	show(*found);
	MPI_Comm_free(&other);
	MPI_Sendrecv(first, 1 + (rank & 1), MPI_INT, next, 5, got, 16, MPI_INT, previous, 5, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	show(count);
	show(status.MPI_SOURCE + status.MPI_TAG);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	next = (rank + 1) % size, previous = (rank + size - 1) % size;
	persistent(), in_place(), datatypes(), attributes();
	MPI_Finalize();
	return 0;
}
