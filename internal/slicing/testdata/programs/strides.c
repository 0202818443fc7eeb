/* Fields of arrays of structures, written in one way and read in another: each sum is the number of bytes of a message. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct pair { int x, y; };
struct record { char name[6]; short tags[3]; struct pair pairs[4]; double unused[50]; union { int i; float f; } u; int last[2]; };

static struct record table[7], other[7];
static int rank, size, zero;

static void tell(int n)
{
	char buffer[4096] = {0};
	if (rank == 0)
		MPI_Send(buffer, 1 + (n & 1023), MPI_CHAR, 1, n & 7, MPI_COMM_WORLD);
	else if (rank == 1)
		MPI_Recv(buffer, sizeof buffer, MPI_CHAR, 0, n & 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute(struct record *r, int n)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < 50; i++)
			r[k].unused[i] = 0.5 * r[k].unused[i] + k + i + rank;
}

static int fields(const struct record *r, int n)
{
	int sum = 0;
	for (int k = 0; k < n; k++)
		sum += r[k].pairs[(k + zero) % 4].y + r[k].last[k % 2] + r[k].tags[k % 3];
	return sum;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	zero = argc > 100;
	compute(table, 7);
	/* By index, and through a pointer to one field that goes from structure to structure. */
	for (int k = 0; k < 7; k++) {
		table[k].pairs[k % 4].y = 3 * k + 1;
		table[k].last[k % 2] = k;
		table[k].tags[k % 3] = 5;
	}
	tell(fields(table, 7));
	int *at = &table[zero].last[0];
	for (int k = 0; k < 7; k++, at += sizeof(struct record) / sizeof *at)
		*at = 11 + k;
	tell(fields(table, 7));
	/* From behind the last one. */
	struct record *end = table + 7;
	end[-1 - zero].last[0] = 40;
	(end - 2)->last[1] = 41;
	tell(fields(table, 7));
	short *tag = &table[2].tags[3 - zero];
	tag[-1] = 9;
	tell(fields(table, 7));
	char *letter = table[3].name + sizeof table[3].name + zero;
	letter[-1] = 17;
	int letters = 0;
	for (int i = 0; i < 6; i++)
		letters += table[3 + zero].name[i];
	tell(letters);
	/* As bytes, and as integers without a structure. */
	memcpy(&other[1], table, 6 * sizeof *table);
	other[zero] = other[1 + zero];
	tell(fields(other, 7));
	int *flat = (int *)other;
	for (size_t i = 0; i < sizeof other / sizeof *flat; i += 1 + zero)
		flat[i] ^= 2;
	tell(fields(other, 7));
	unsigned char *bytes = (unsigned char *)&other[zero];
	for (size_t i = 0; i < sizeof other; i++)
		bytes[i] = bytes[i] * 3 + 1;
	tell(fields(other, 7));
	/* A union, and an array in an array by one index. */
	for (int k = 0; k < 7; k++)
		table[k].u.f = 1.5f * k;
	tell(table[3 + zero].u.i >> 20);
	struct pair *pairs = &table[0].pairs[0];
	for (int k = 0; k < 4; k++)
		pairs[k + zero].x = k * k;
	tell(table[zero].pairs[3 - zero].x);
	/* On the heap, of a size that is not known, and as an argument by value. */
	int n = 3 + size;
	struct record *heap = calloc(n, sizeof *heap);
	compute(heap, n);
	for (int k = 0; k < n; k++)
		heap[k] = table[k % 7];
	heap = realloc(heap, 2 * n * sizeof *heap);
	struct record *back = heap + n - 1;
	for (; back > heap; back--)
		back->pairs[(back - heap) % 4].y += back[-1].pairs[0].y + 1;
	tell(fields(heap, n));
	qsort(heap, n, sizeof *heap, (int (*)(const void *, const void *))strcmp);
	tell(fields(heap, n));
	free(heap);
	/* What an MPI says of a message of no process. */
	MPI_Request edge[2];
	MPI_Status ended[2];
	MPI_Irecv(&n, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &edge[0]);
	MPI_Irecv(&n, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &edge[1]);
	MPI_Wait(&edge[0], &ended[0]);
	MPI_Waitall(2, edge, ended);
	MPI_Finalize();
	return 0;
}
