module grid
  use mpi
  implicit none
  integer :: rank, ranks
  real(8) :: cells(1000)
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    integer :: error, status(MPI_STATUS_SIZE)
    cells = sqrt(cells + n)
    call MPI_Sendrecv_replace(cells, n, MPI_DOUBLE_PRECISION, ranks - 1 - rank, 1, ranks - 1 - rank, 1, MPI_COMM_WORLD, status, error)
  end subroutine
end module
