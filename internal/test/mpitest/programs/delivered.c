/*
 * Counts the signals that each rank gets. Argument: a directory, in which the file RANK gets a byte for each. A rank ends some time
 * after the first one.
 */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t got;
static int file;

static void handle(int number)
{
	char c = number;
	got = 1;
	if (write(file, &c, 1) != 1)
		_exit(1);
}

int main(int argc, char **argv)
{
	int const signals[] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	char path[4096];
	begin(&argc, &argv);
	snprintf(path, sizeof path, "%s/%d", argv[1], rank);
	for (int i = 0; i < 4; i++)
		CHECK(!sigaction(signals[i], &action, NULL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK((file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) >= 0);
	for (int left = 400, after = 40; left > 0 && after > 0; left--, after -= got) {
		OK(MPI_Barrier(MPI_COMM_SELF));
		usleep(10000);
	}
	end();
	return 0;
}
