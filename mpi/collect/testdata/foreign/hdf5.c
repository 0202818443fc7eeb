/* Writes a data set with parallel HDF5, all ranks together. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 64, COLUMNS = 16 };

int main(int argc, char **argv)
{
	int rank, size, data[ROWS * COLUMNS];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < ROWS * COLUMNS; i++)
		data[i] = rank * 10000 + i;
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_DATASET_CREATE), transfer = H5Pcreate(H5P_DATASET_XFER);
	H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
	H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
	H5Pset_obj_track_times(create, 0); /* the same bytes in every run */
	hsize_t all[2] = {ROWS, (hsize_t)COLUMNS * size}, count[2] = {ROWS, COLUMNS}, start[2] = {0, (hsize_t)COLUMNS * rank};
	hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
	hid_t space = H5Screate_simple(2, all, NULL), part = H5Screate_simple(2, count, NULL);
	hid_t set = H5Dcreate2(file, "data", H5T_NATIVE_INT, space, H5P_DEFAULT, create, H5P_DEFAULT);
	H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
	herr_t error = 0;
	for (int i = 0; i < 10; i++)
		error |= H5Dwrite(set, H5T_NATIVE_INT, part, space, transfer, data);
	error |= H5Dclose(set) | H5Sclose(space) | H5Sclose(part) | H5Fclose(file);
	error |= H5Pclose(access) | H5Pclose(create) | H5Pclose(transfer);
	MPI_Finalize();
	printf("error %d\n", error);
	return error != 0;
}
