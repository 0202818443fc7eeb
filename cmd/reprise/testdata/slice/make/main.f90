program main
  use mpi
  use grid
  implicit none
  integer :: error, i
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, 3
    call exchange(10*i)
    if (cells(1) /= cells(1)) return
  end do
  call MPI_Finalize(error)
end program
