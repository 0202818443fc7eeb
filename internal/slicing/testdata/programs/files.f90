! A file that one process writes and the others read behind a barrier, which is not sent only if nobody knows of it.
program files
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, n, i
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
     open(20, file='files.tmp')
     write(20, *) 3
     close(20)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  open(20, file='files.tmp', action='read')
  read(20, *) n
  close(20)
  do i = 1, n
     call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
end program
