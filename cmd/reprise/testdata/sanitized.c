#include <mpi.h>

int run_plugin(int *flag)
{
	MPI_Init(0, 0);
	MPI_Initialized(flag);
	return MPI_Finalize();
}

int main(void)
{
	int flag = 0;
	return run_plugin(&flag) || !flag;
}
