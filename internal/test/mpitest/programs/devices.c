/* Sends to itself what lies in the memory of devices, by the tag. Needs a library with the
   functions declared here. */
#include <mpi.h>
#include <stddef.h>

int cudaSetDevice(int n);
int cudaMalloc(void **p, size_t n);
int cudaMallocManaged(void **p, size_t n, unsigned flags);
int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
int cudaMallocHost(void **p, size_t n);
int cudaFree(void *p);
int hipMalloc(void **p, size_t n);

static void from(const char *p, int tag)
{
	char in;
	MPI_Sendrecv(p, 1, MPI_CHAR, 0, tag, &in, 1, MPI_CHAR, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	void *first, *second, *managed, *host, *pitched, *hip, *again;
	size_t pitch;

	MPI_Init(&argc, &argv);
	if (cudaMalloc(&first, 1000) || cudaSetDevice(1) || cudaMalloc(&second, 1000) || cudaMallocManaged(&managed, 1000, 1) ||
		cudaMallocHost(&host, 1000) || cudaMallocPitch(&pitched, &pitch, 100, 3) || hipMalloc(&hip, 1000))
		MPI_Abort(MPI_COMM_WORLD, 1);
	from((char *)first + 16, 0);
	from((char *)second + 999, 1);
	from(managed, 2);
	from(host, 3);
	from((char *)pitched + 2 * pitch, 4);
	from((char *)hip + 8, 5);
	cudaFree(hip);
	if (cudaMalloc(&again, 10))
		MPI_Abort(MPI_COMM_WORLD, 1);
	from((char *)again + 4, 6);
	MPI_Finalize();
	return 0;
}
