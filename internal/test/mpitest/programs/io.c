/*
 * A file in a directory, the argument, written and read by all ranks in all ways.
 */
#include "check.h"

enum { N = 4 };

static MPI_File file;

static void fill(int *values, int base)
{
	for (int i = 0; i < N; i++)
		values[i] = 1000 * rank + base + i;
}

static int is_filled(const int *values, int who, int base)
{
	for (int i = 0; i < N; i++)
		if (values[i] != 1000 * who + base + i)
			return 0;
	return 1;
}

static void explicit_offsets(void)
{
	int out[N], in[N], other = (rank + 1) % size;
	MPI_Offset here = rank * N * sizeof(int), there = other * N * sizeof(int), bytes, offset;
	MPI_Status status = untouched();
	MPI_Request request;
	fill(out, 0);
	OK(MPI_File_write_at(file, here, out, N, MPI_INT, &status));
	say_status("write_at", &status, MPI_INT);
	OK(MPI_File_sync(file));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_read_at_all(file, there, in, N, MPI_INT, &status));
	CHECK(is_filled(in, other, 0));
	OK(MPI_File_get_size(file, &bytes));
	CHECK(bytes == (MPI_Offset)(size * N * sizeof(int)));
	OK(MPI_Barrier(MPI_COMM_WORLD)); /* everyone has read */
	fill(out, 100);
	OK(MPI_File_write_at_all(file, here, out, N, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_iread_at(file, here, in, N, MPI_INT, &request));
	OK(MPI_Wait(&request, &status));
	CHECK(is_filled(in, rank, 100));
	OK(MPI_File_iwrite_at(file, here, out, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_File_get_byte_offset(file, 3, &offset));
	say("offset %ld", (long)offset);
}

static void individual_pointers(void)
{
	int out[N], in[N];
	MPI_Offset position, where;
	MPI_Request request;
	MPI_Status status = untouched();
	fill(out, 200);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_seek(file, rank * N * sizeof(int), MPI_SEEK_SET));
	OK(MPI_File_write(file, out, N, MPI_INT, &status));
	OK(MPI_File_get_position(file, &position));
	CHECK(position == (MPI_Offset)((rank + 1) * N * sizeof(int)));
	OK(MPI_File_seek(file, -(MPI_Offset)(N * sizeof(int)), MPI_SEEK_CUR));
	OK(MPI_File_read_all(file, in, N, MPI_INT, &status));
	CHECK(is_filled(in, rank, 200));
	OK(MPI_File_seek(file, rank * N * sizeof(int), MPI_SEEK_SET));
	OK(MPI_File_iwrite(file, out, N, MPI_INT, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_File_seek(file, 0, MPI_SEEK_END));
	OK(MPI_File_get_position(file, &where));
	OK(MPI_File_read(file, in, N, MPI_INT, &status));
	say_status("at the end", &status, MPI_INT);
}

/* A view in which each rank sees every size-th block. */
static void views(void)
{
	int out[2 * N], in[2 * N];
	char representation[MPI_MAX_DATAREP_STRING];
	MPI_Datatype block, view, etype, got;
	MPI_Offset at, position;
	MPI_Status status = untouched();
	OK(MPI_Type_contiguous(N, MPI_INT, &block));
	OK(MPI_Type_create_resized(block, 0, size * N * sizeof(int), &view));
	OK(MPI_Type_commit(&view));
	OK(MPI_File_set_view(file, 64 + rank * N * sizeof(int), MPI_INT, view, "native", MPI_INFO_NULL));
	fill(out, 300);
	fill(out + N, 400);
	OK(MPI_File_write_all(file, out, 2 * N, MPI_INT, &status));
	say_status("write_all", &status, MPI_INT);
	OK(MPI_File_get_view(file, &at, &etype, &got, representation));
	CHECK(at == (MPI_Offset)(64 + rank * N * sizeof(int)) && !strcmp(representation, "native"));
	OK(MPI_Type_free(&got));
	OK(MPI_File_read_at(file, N, in, N, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(is_filled(in, rank, 400));
	OK(MPI_File_get_position(file, &position));
	CHECK(position == 2 * N);
	OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
	OK(MPI_File_read_all_begin(file, in, 2 * N, MPI_INT));
	OK(MPI_File_read_all_end(file, in, &status));
	CHECK(is_filled(in, rank, 300) && is_filled(in + N, rank, 400));
	OK(MPI_File_write_at_all_begin(file, 0, out, N, MPI_INT));
	OK(MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE));
	OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	OK(MPI_Type_free(&view));
	OK(MPI_Type_free(&block));
}

static void shared_pointer(void)
{
	int out[N], in[N];
	MPI_Offset position;
	MPI_Status status = untouched();
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	fill(out, 500);
	OK(MPI_File_write_ordered(file, out, N, MPI_INT, &status));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_get_position_shared(file, &position));
	CHECK(position == (MPI_Offset)(size * N * sizeof(int)));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	OK(MPI_File_read_ordered(file, in, N, MPI_INT, &status));
	CHECK(is_filled(in, rank, 500));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_write_shared(file, out, N, MPI_INT, &status));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_get_position_shared(file, &position));
	CHECK(position == (MPI_Offset)(2 * size * N * sizeof(int)));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
	char path[4096];
	int mode, flag;
	MPI_Info info, used;
	MPI_Group group;
	begin(&argc, &argv);
	snprintf(path, sizeof path, "%s/file", argc > 1 ? argv[1] : ".");
	/* A file that is not there: an error that is returned, by default. */
	CHECK(MPI_File_open(MPI_COMM_SELF, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "access_style", "write_once,read_once"));
	OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
	OK(MPI_Info_free(&info));
	OK(MPI_File_get_amode(file, &mode));
	CHECK(mode & MPI_MODE_RDWR);
	OK(MPI_File_get_info(file, &used));
	OK(MPI_Info_free(&used));
	OK(MPI_File_get_group(file, &group));
	OK(MPI_Group_free(&group));
	OK(MPI_File_set_atomicity(file, 1));
	OK(MPI_File_get_atomicity(file, &flag));
	CHECK(flag);
	explicit_offsets();
	individual_pointers();
	views();
	shared_pointer();
	OK(MPI_File_preallocate(file, 4096));
	OK(MPI_File_set_size(file, 16));
	OK(MPI_File_close(&file));
	CHECK(file == MPI_FILE_NULL);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0)
		OK(MPI_File_delete(path, MPI_INFO_NULL));
	return end();
}
