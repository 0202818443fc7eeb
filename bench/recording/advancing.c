/* Loops whose arguments advance: advancing PATTERN OUTER INNER makes OUTER times the same INNER steps, and the
   calls differ in addresses, counts, tags and offsets that are linear in the steps. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Rows of a grid go from rank to rank. */
static void sweep(int outer, int inner)
{
    int width = 35;
    double *grid = calloc((size_t)(inner + 1) * width, sizeof *grid);
    for (int o = 0; o < outer; o++) {
        for (int j = 1; j <= inner; j++) {
            if (rank > 0)
                MPI_Recv(&grid[j * width], 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank < size - 1)
                MPI_Send(&grid[j * width + width - 1], 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(grid);
}

/* The same round a ring, without waiting for each other. */
static void ring(int outer, int inner)
{
    double *sent = calloc(8 * (size_t)inner, sizeof *sent), *received = calloc(8 * (size_t)inner, sizeof *received);
    for (int o = 0; o < outer; o++)
        for (int j = 0; j < inner; j++) {
            MPI_Request requests[2];
            MPI_Irecv(&received[8 * j], 8, MPI_DOUBLE, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(&sent[8 * j], 8, MPI_DOUBLE, (rank + 1) % size, 2, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
    free(sent);
    free(received);
}

/* Likewise, with a tag for each message, and requests that are waited for an iteration later. */
static void flight(int outer, int inner)
{
    double *sent = calloc(8 * (size_t)inner, sizeof *sent), *received = calloc(8 * (size_t)inner, sizeof *received);
    for (int o = 0; o < outer; o++) {
        MPI_Request requests[2][2] = {{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
        for (int j = 0; j < inner; j++) {
            MPI_Irecv(&received[8 * j], 8, MPI_DOUBLE, (rank + size - 1) % size, j, MPI_COMM_WORLD, &requests[j % 2][0]);
            MPI_Isend(&sent[8 * j], 8, MPI_DOUBLE, (rank + 1) % size, j, MPI_COMM_WORLD, &requests[j % 2][1]);
            MPI_Waitall(2, requests[1 - j % 2], MPI_STATUSES_IGNORE);
        }
        MPI_Waitall(2, requests[(inner - 1) % 2], MPI_STATUSES_IGNORE);
    }
    free(sent);
    free(received);
}

/* Every message has a tag of its own. */
static void tags(int outer, int inner)
{
    int sent = 0, received;
    for (int k = 0; k < outer * inner; k++)
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, k % 20000, &received, 1, MPI_INT, (rank + size - 1) % size, k % 20000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Parts of a matrix that become smaller, of one rank after the other. */
static void panels(int outer, int inner)
{
    double *matrix = calloc(4 * (size_t)inner, sizeof *matrix);
    for (int o = 0; o < outer; o++)
        for (int k = 0; k < inner; k++)
            MPI_Bcast(&matrix[4 * k], 4 * (inner - k), MPI_DOUBLE, k % size, MPI_COMM_WORLD);
    free(matrix);
}

/* Each rank has its block of each record of a file. */
static void records(int outer, int inner)
{
    MPI_File file;
    int block[8] = {0};
    MPI_File_open(MPI_COMM_WORLD, "advancing.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    for (int k = 0; k < outer * inner; k++)
        MPI_File_write_at(file, (MPI_Offset)sizeof block * ((MPI_Offset)k * size + rank), block, 8, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    struct { const char *name; void (*run)(int, int); } patterns[] = {
        {"sweep", sweep}, {"ring", ring}, {"flight", flight}, {"tags", tags}, {"panels", panels}, {"records", records}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; argc > 3 && i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(argv[1], patterns[i].name) == 0)
            patterns[i].run(atoi(argv[2]), atoi(argv[3]));
    MPI_Finalize();
    return 0;
}
