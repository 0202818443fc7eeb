/*
 * Reads a file to its end and beyond, in all ways that end, and says how many bytes it was given: those
 * that a recording of it must have, whether the program asks for the status or not.
 */
#include <mpi.h>
#include <stdio.h>

static long long given;

static void add(MPI_Status *status, long long asked)
{
	int n;
	MPI_Get_count(status, MPI_BYTE, &n);
	given += n < asked ? n : asked;
}

#ifdef MPICH
enum { ENDS_SHORT = 1 };
#else
enum { ENDS_SHORT = 0 };
#endif

/* Reads in the background among messages, and completes both in all ways. */
static void background(MPI_File f, int offset)
{
	static int data[5][20], got[5];
	MPI_Request all[10];
	MPI_Status statuses[10], one;
	int indices[10], n, done;
	for (int way = 0; way < 12; way++) {
		for (int i = 0; i < 5; i++) {
			MPI_File_iread_at(f, offset, data[i], 20, MPI_INT, &all[2 * i]);
			MPI_Isend(&way, 1, MPI_INT, 0, i, MPI_COMM_SELF, &all[2 * i + 1]);
			MPI_Recv(&got[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		}
		int size;
		MPI_Offset length;
		MPI_File_get_size(f, &length);
		size = (int)(length - offset < 0 ? 0 : length - offset < 80 ? length - offset : 80);
		given += 5 * size;
		MPI_Status *s = way % 2 ? MPI_STATUSES_IGNORE : statuses, *t = way % 2 ? MPI_STATUS_IGNORE : &one;
		switch (way / 2) {
		case 0: MPI_Waitall(10, all, s); break;
		case 1:
			for (done = 0; done < 10; done += n)
				MPI_Waitsome(10, all, &n, indices, s);
			break;
		case 2:
			for (done = 0; done < 10; done++)
				MPI_Waitany(10, all, &n, t);
			break;
		case 3:
			for (int i = 0; i < 10; i++)
				MPI_Wait(&all[i], t);
			break;
		case 4:
			for (int i = 0; i < 10; i++)
				for (done = 0; !done;)
					MPI_Test(&all[i], &done, t);
			break;
		default:
			for (done = 0; done < 10; done += n > 0 ? n : 0) /* MPI_Testall aborts with MPICH 4.0.2 */
				MPI_Testsome(10, all, &n, indices, s);
		}
	}
}

/* A read that a library completes by PMPI, which does not count, and whose request is then that of a message; and requests that are not there. */
static void odd(MPI_File f)
{
	static char data[80];
	MPI_Request request, *none = NULL;
	int sent = 1, got;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_File_iread_at(f, 0, data, 80, MPI_BYTE, &request);
	MPI_Wait(none, MPI_STATUS_IGNORE);
	MPI_Waitall(2, none, MPI_STATUSES_IGNORE);
	MPI_Request_free(none);
	PMPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
	MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int buffer[64] = {0};
	MPI_File f;
	MPI_Status status;
	MPI_Init(&argc, &argv);
	MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_write(f, buffer, 200, MPI_BYTE, MPI_STATUS_IGNORE);
	for (int offset = 0; offset < 400; offset += 80) { /* 80, 80, 40, 0, 0 */
		MPI_File_read_at(f, offset, buffer, 20, MPI_INT, &status);
		add(&status, 80);
		MPI_File_read_at(f, offset, buffer, 20, MPI_INT, MPI_STATUS_IGNORE);
		add(&status, 80);
	}
	MPI_File_seek(f, 150, MPI_SEEK_SET);
	MPI_File_read(f, buffer, 25, MPI_SHORT, &status);
	add(&status, 50);
	MPI_File_read(f, buffer, 25, MPI_SHORT, &status);
	add(&status, 50);
	MPI_File_seek_shared(f, 190, MPI_SEEK_SET);
	MPI_File_read_shared(f, buffer, 30, MPI_BYTE, &status);
	add(&status, 30);
	/* The others never end with Open MPI where they are short. */
	for (int offset = 0; offset < (ENDS_SHORT ? 400 : 160); offset += 80) {
		MPI_File_read_at_all_begin(f, offset, buffer, 20, MPI_INT);
		MPI_File_read_at_all_end(f, buffer, &status);
		add(&status, 80);
		MPI_File_read_at_all_begin(f, offset, buffer, 20, MPI_INT);
		MPI_File_read_at_all_end(f, buffer, MPI_STATUS_IGNORE);
		add(&status, 80);
		background(f, offset);
	}
	odd(f);
	MPI_File_close(&f);
	MPI_Finalize();
	printf("%lld\n", given);
	return 0;
}
