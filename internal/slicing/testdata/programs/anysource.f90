! anysource.f90: halves of a field that a module has go around a ring and are received from any source; the answer goes to whom the
! status names. A COMMON block has the parameters, and a module procedure chooses what is called.
module ring
  implicit none
  include 'mpif.h'
  type cell
    double precision :: value, weight
    integer :: visits
  end type cell
  type(cell), allocatable :: field(:)
  integer :: left, right
contains
  subroutine setup(n, rank, ranks)
    integer, intent(in) :: n, rank, ranks
    integer :: i
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    allocate(field(n))
    do i = 1, n
      field(i)%value = dble(rank) + 0.5d0 * i
      field(i)%weight = 1.0d0 / i
      field(i)%visits = 0
    end do
  end subroutine setup

  recursive subroutine pass(from, to, step)
    integer, intent(in) :: from, to, step
    double precision :: out(to - from + 1), got(to - from + 1)
    integer :: status(MPI_STATUS_SIZE), request, error, length, i
    if (to - from > 7) then
      call pass(from, (from + to) / 2, step)
      call pass((from + to) / 2 + 1, to, step)
      return
    end if
    length = to - from + 1
    out = field(from:to)%value * field(from:to)%weight
    call MPI_Irecv(got, length, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, request, error)
    call MPI_Send(out, length, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, error)
    call MPI_Wait(request, status, error)
    call answer(status(MPI_SOURCE), length + step)
    do i = from, to
      field(i)%value = field(i)%value + 0.1d0 * got(i - from + 1)
      field(i)%visits = field(i)%visits + 1
    end do
  end subroutine pass

  subroutine answer(whom, number)
    integer, intent(in) :: whom, number
    integer :: status(MPI_STATUS_SIZE), back, error
    call MPI_Sendrecv(number, 1, MPI_INTEGER, whom, 8, back, 1, MPI_INTEGER, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, status, error)
    if (back > 3 * number) call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine answer
end module ring

program anysource
  use ring
  implicit none
  integer :: rank, ranks, error, step, cells, steps
  double precision :: sum, total
  common /parameters/ cells, steps
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call read_parameters(rank)
  call setup(cells, rank, ranks)
  do step = 1, steps
    call pass(1, cells, step)
    sum = 0
    if (any(field%value > 1.0d30)) stop 3
    sum = dot_product(field%value, field%weight)
    call MPI_Reduce(sum, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print *, step, total
  end do
  call MPI_Finalize(error)
end program anysource

subroutine read_parameters(rank)
  implicit none
  include 'mpif.h'
  integer :: rank, error, both(2), cells, steps
  common /parameters/ cells, steps
  if (rank == 0) both = (/ 24, 4 /)
  call MPI_Bcast(both, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  cells = both(1)
  steps = both(2)
end subroutine read_parameters
