/*
 * A program that closes the files it was started with, and has sockets of its own in their place.
 */
#include "check.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *pmi = getenv("PMI_FD");
	for (int i = 3; i < 64; i++)
		if (!pmi || i != atoi(pmi))
			close(i);
	int pair[2];
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Finalize());
	char byte = 0;
	CHECK(send(pair[0], "x", 1, 0) == 1 && recv(pair[1], &byte, 1, 0) == 1 && byte == 'x');
	return 0;
}
