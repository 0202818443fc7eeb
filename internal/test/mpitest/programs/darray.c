/* Datatypes of arrays that are distributed in all ways over up to 4 × 3 processes, and their
   sizes. */
#include <mpi.h>

static void sizes(int extent, int distribution, int block, int processes) {
	for (int rank = 0; rank < 3 * processes; rank++) {
		MPI_Datatype type;
		int size;
		MPI_Type_create_darray(3 * processes, rank, 3, (int[]){extent, 7, 2}, (int[]){distribution, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE},
			(int[]){block, 2, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){processes, 3, 1}, rank % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_SHORT, &type);
		MPI_Type_size(type, &size);
		MPI_Type_free(&type);
	}
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	for (int extent = 1; extent < 10; extent++)
		for (int processes = 1; processes < 5; processes++) {
			sizes(extent, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, processes);
			sizes(extent, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, processes);
			for (int block = 1; block < 6; block++) {
				sizes(extent, MPI_DISTRIBUTE_CYCLIC, block, processes);
				if (block * processes >= extent)
					sizes(extent, MPI_DISTRIBUTE_BLOCK, block, processes);
			}
		}
	/* Types that MPI chooses by precision. */
	MPI_Datatype types[3];
	int size;
	MPI_Type_create_f90_integer(9, &types[0]);
	MPI_Type_create_f90_real(10, MPI_UNDEFINED, &types[1]);
	MPI_Type_create_f90_complex(10, 100, &types[2]);
	for (int i = 0; i < 3; i++)
		MPI_Type_size(types[i], &size);
	MPI_Finalize();
}
