/*
 * Calls that fail: what they return, which handler is called, and what is left in
 * statuses.
 */
#include "check.h"

static int called;

static int class_of(int code)
{
	int class = -1;
	OK(MPI_Error_class(code, &class));
	return class;
}

#define FAILS(call, expected) \
	do { \
		int code_ = call; \
		say("%s: class %d", #expected, class_of(code_)); \
		CHECK(class_of(code_) == expected); \
	} while (0)

static void handle(MPI_Comm *comm, int *code, ...)
{
	int n = -1;
	called++;
	OK(MPI_Comm_size(*comm, &n));
	say("handler: class %d, %d ranks", class_of(*code), n);
}

static void handle_win(MPI_Win *win, int *code, ...)
{
	called++;
	say("handler of a window: %d, class %d", *win != MPI_WIN_NULL, class_of(*code));
}

static void returned(MPI_Comm comm)
{
	int value = 1, got[2];
	MPI_Status status;
	MPI_Comm null = MPI_COMM_NULL, made;
	MPI_Datatype type = MPI_DATATYPE_NULL;
	OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
	FAILS(MPI_Send(&value, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
	FAILS(MPI_Send(&value, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG);
	FAILS(MPI_Send(&value, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
	FAILS(MPI_Send(&value, 1, type, 0, 0, comm), MPI_ERR_TYPE);
	FAILS(MPI_Bcast(&value, 1, MPI_INT, size + 3, comm), MPI_ERR_ROOT);
	CHECK(MPI_Comm_dup(null, &made) != MPI_SUCCESS);
	CHECK(MPI_Cart_create(comm, 1, (int[]){size + 1}, (int[]){0}, 0, &made) != MPI_SUCCESS);
	CHECK(MPI_Allreduce(&value, got, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS);

	/* A message that is too long. */
	int two[2] = {5, 6};
	MPI_Request request;
	status = untouched();
	OK(MPI_Isend(two, 2, MPI_INT, rank, 1, comm, &request));
	FAILS(MPI_Recv(got, 1, MPI_INT, rank, 1, comm, &status), MPI_ERR_TRUNCATE);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void in_statuses(MPI_Comm comm)
{
	int two[2] = {5, 6}, got[3] = {-1, -1, -1};
	MPI_Request requests[3], sends[3];
	MPI_Status statuses[3] = {untouched(), untouched(), untouched()};
	for (int i = 0; i < 3; i++)
		OK(MPI_Isend(two, i == 1 ? 2 : 1, MPI_INT, rank, 1 + i, comm, &sends[i]));
	for (int i = 0; i < 3; i++)
		OK(MPI_Irecv(&got[i], 1, MPI_INT, rank, 1 + i, comm, &requests[i]));
	FAILS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
	for (int i = 0; i < 3; i++) {
		say("status %d: class %d, source %d, tag %d, null %d", i, class_of(statuses[i].MPI_ERROR),
			statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, requests[i] == MPI_REQUEST_NULL);
		if (requests[i] != MPI_REQUEST_NULL)
			OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
	}
	CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE && got[0] == 5 && got[2] == 5);
	/* The same without statuses. */
	OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
	OK(MPI_Isend(two, 2, MPI_INT, rank, 4, comm, &sends[0]));
	OK(MPI_Irecv(&got[1], 1, MPI_INT, rank, 4, comm, &requests[0]));
	int code = MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
	CHECK(code != MPI_SUCCESS);
	say("ignored: class %d", class_of(code));
	OK(MPI_Wait(&sends[0], MPI_STATUS_IGNORE));
}

static void handlers(MPI_Comm comm)
{
	int value = 1, class, code, length;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Errhandler mine, set;
	OK(MPI_Comm_create_errhandler(handle, &mine));
	OK(MPI_Comm_set_errhandler(comm, mine));
	OK(MPI_Comm_get_errhandler(comm, &set));
	CHECK(set == mine);
	OK(MPI_Errhandler_free(&set));
	FAILS(MPI_Send(&value, 1, MPI_INT, -77, 0, comm), MPI_ERR_RANK);
	CHECK(called == 1);
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_string(code, "an error of the program"));
	OK(MPI_Error_string(code, text, &length));
	CHECK(class_of(code) == class && !strcmp(text, "an error of the program") && length == (int)strlen(text));
	OK(MPI_Comm_call_errhandler(comm, code));
	CHECK(called == 2);
	OK(MPI_Errhandler_free(&mine));
	CHECK(mine == MPI_ERRHANDLER_NULL);
}

static void others(void)
{
	int value = 1, memory = 0;
	MPI_File file;
	MPI_Win win;
	MPI_Errhandler mine;
	FAILS(MPI_File_open(MPI_COMM_SELF, "/no/such/directory/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
	CHECK(MPI_File_delete("/no/such/directory/file", MPI_INFO_NULL) != MPI_SUCCESS);
	OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_create_errhandler(handle_win, &mine));
	OK(MPI_Win_set_errhandler(win, mine));
	OK(MPI_Win_fence(0, win));
	called = 0;
	FAILS(MPI_Put(&value, 1, MPI_INT, size + 1, 0, 1, MPI_INT, win), MPI_ERR_RANK);
	CHECK(called == 1);
	OK(MPI_Win_fence(0, win));
	OK(MPI_Errhandler_free(&mine));
	OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
	MPI_Comm comm;
	begin(&argc, &argv);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	returned(comm);
	in_statuses(comm);
	handlers(comm);
	others();
	OK(MPI_Comm_free(&comm));
	return end();
}
