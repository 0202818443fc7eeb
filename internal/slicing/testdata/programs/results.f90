! Messages whose data goes to a file of results, and input from another file, which may be missing: no message is sent.
program results
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, size, steps, i, problem, status(MPI_STATUS_SIZE)
  double precision :: mine(100), theirs(100)
  character(len=20) :: text
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  steps = 4
  open(10, file='input.txt', status='old', action='read', iostat=problem)
  if (problem == 0) then
     read(10, *) steps
     close(10)
  end if
  if (rank == 0) open(20, file='results.tmp')
  write(text, '(i8)') steps + rank
  read(text, *) i
  call MPI_Bcast(mine, i, MPI_DOUBLE_PRECISION, 0, MPI_COMM_SELF, ierr)
  do i = 1, steps
     mine = rank + sqrt(real(i))
     call MPI_Sendrecv(mine, 100, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 1, theirs, 100, MPI_DOUBLE_PRECISION, &
          mod(rank + size - 1, size), 1, MPI_COMM_WORLD, status, ierr)
     if (rank == 0) write(20, *) i, sum(theirs)
  end do
  if (rank == 0) close(20, status='delete')
  call MPI_Finalize(ierr)
end program
