/*
 * A file in a directory, the argument: nonblocking and split operations.
 */
#include "check.h"

enum { N = 4 };

static MPI_File file;

static MPI_Offset place(int who) { return who * N * (MPI_Offset)sizeof(int); }

static void fill(int *values, int base)
{
	for (int i = 0; i < N; i++)
		values[i] = 1000 * rank + base + i;
}

static void check(const char *what, const int *values, int base)
{
	for (int i = 0; i < N; i++)
		CHECK(values[i] == 1000 * rank + base + i);
	say("%s", what);
}

/* The rest of the status is not defined. */
static void say_count(const char *what, const MPI_Status *status)
{
	int n = -1;
	OK(MPI_Get_count(status, MPI_INT, &n));
	say("%s: %d", what, n);
}

static void nonblocking(void)
{
	int out[N], in[N];
	MPI_Request request;
	MPI_Status status = untouched();
	fill(out, 0);
	OK(MPI_File_iwrite_at_all(file, place(rank), out, N, MPI_INT, &request));
	OK(MPI_Wait(&request, &status));
	say_count("iwrite_at_all", &status);
	OK(MPI_File_iread_at_all(file, place(rank), in, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	check("iread_at_all", in, 0);
	fill(out, 10);
	OK(MPI_File_seek(file, place(rank), MPI_SEEK_SET));
	OK(MPI_File_iwrite_all(file, out, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_File_seek(file, place(rank), MPI_SEEK_SET));
	OK(MPI_File_iread_all(file, in, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	check("iread_all", in, 10);
	OK(MPI_File_seek(file, place(rank), MPI_SEEK_SET));
	OK(MPI_File_iread(file, in, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	check("iread", in, 10);
}

static void split(void)
{
	int out[N], in[N];
	MPI_Status status = untouched();
	fill(out, 20);
	OK(MPI_File_seek(file, place(rank), MPI_SEEK_SET));
	OK(MPI_File_write_all_begin(file, out, N, MPI_INT));
	OK(MPI_File_write_all_end(file, out, &status));
	say_count("write_all", &status);
	OK(MPI_File_read_at_all_begin(file, place(rank), in, N, MPI_INT));
	OK(MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE));
	check("read_at_all", in, 20);
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	fill(out, 30);
	OK(MPI_File_write_ordered_begin(file, out, N, MPI_INT));
	OK(MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE));
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	OK(MPI_File_read_ordered_begin(file, in, N, MPI_INT));
	OK(MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE));
	check("read_ordered", in, 30);
}

static void shared_pointer(void)
{
	int out[N], in[N];
	MPI_Request request;
	fill(out, 40);
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	OK(MPI_File_iwrite_shared(file, out, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	OK(MPI_File_iread_shared(file, in, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(in[0] % 1000 == 40); /* some rank's */
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	OK(MPI_File_read_shared(file, in, N, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(in[1] % 1000 == 41);
}

static int called;

static void handle(MPI_File *which, int *code, ...)
{
	called += *which == file && *code != MPI_SUCCESS;
}

static void errors(void)
{
	MPI_Errhandler mine, set;
	MPI_Info info;
	MPI_Aint extent;
	OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
	CHECK(extent == sizeof(int));
	OK(MPI_File_create_errhandler(handle, &mine));
	OK(MPI_File_set_errhandler(file, mine));
	OK(MPI_File_get_errhandler(file, &set));
	CHECK(set == mine);
	OK(MPI_Errhandler_free(&set));
	OK(MPI_File_call_errhandler(file, MPI_ERR_OTHER));
	CHECK(called == 1);
	CHECK(MPI_File_seek(file, -100, MPI_SEEK_SET) != MPI_SUCCESS);
	say("called %d", called);
	OK(MPI_Errhandler_free(&mine));
	OK(MPI_Info_create(&info));
	OK(MPI_File_set_info(file, info));
	OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
	char path[4096];
	begin(&argc, &argv);
	snprintf(path, sizeof path, "%s/more", argc > 1 ? argv[1] : ".");
	OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
	nonblocking();
	split();
	shared_pointer();
	errors();
	OK(MPI_File_close(&file));
	return end();
}
