# Pickled objects, buffers, one-sided communication, a file, threads, and receives of
# anything, by a module that loads MPI when it is imported.
import sys
import threading
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size

everything = comm.bcast({"list": list(range(10))} if rank == 0 else None)
neighbour = comm.sendrecv({"from": rank}, dest=right, source=left)
neighbours = comm.allgather(neighbour["from"])
for i in range(50):
    total = comm.allreduce(rank + i)

values = array("d", [float(i + rank) for i in range(100)])
sums = array("d", [0.0] * 100)
comm.Allreduce([values, MPI.DOUBLE], [sums, MPI.DOUBLE])

window = MPI.Win.Create(values, comm=comm)
window.Fence()
window.Put([array("d", [float(rank)]), MPI.DOUBLE], right)
window.Fence()
window.Free()

file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at_all(rank * 800, [values, MPI.DOUBLE])
file.Close()


def exchange(tag):
    for i in range(100):
        got = array("i", [0])
        receive = comm.Irecv([got, MPI.INT], source=left, tag=tag)
        comm.Isend([array("i", [i]), MPI.INT], dest=right, tag=tag).Wait()
        receive.Wait()
        assert got[0] == i


threads = [threading.Thread(target=exchange, args=(tag,)) for tag in range(4)]
if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
    for t in threads:
        t.start()
    for t in threads:
        t.join()

count = 0
for i in range(20):
    if rank == 0:
        for _ in range(1, size):
            count += comm.recv()["number"]
    else:
        comm.send({"number": i}, dest=0, tag=i)
half = comm.Split(rank % 2, rank)
print(everything, neighbours, total, list(sums[:3]), count, half.size, flush=True)
