! A solver of Poisson's equation in modules, with a derived type of pointers whose sections are arguments of MPI.
module kinds
  implicit none
  integer, parameter :: dp = selected_real_kind(15)
end module
module decomposition
  use kinds
  implicit none
  type :: domain
    integer :: rank, ranks, comm
    integer :: dims(2), coords(2), left, right, down, up
    integer :: nx, ny
    real(dp), pointer :: u(:, :) => null(), f(:, :) => null()
  end type
contains
  subroutine setup(d, n)
    use mpi
    type(domain), intent(inout) :: d
    integer, intent(in) :: n
    integer :: ierr
    logical :: periods(2)
    periods = .false.
    d%dims = 0
    call mpi_comm_size(mpi_comm_world, d%ranks, ierr)
    call mpi_dims_create(d%ranks, 2, d%dims, ierr)
    call mpi_cart_create(mpi_comm_world, 2, d%dims, periods, .true., d%comm, ierr)
    call mpi_comm_rank(d%comm, d%rank, ierr)
    call mpi_cart_coords(d%comm, d%rank, 2, d%coords, ierr)
    call mpi_cart_shift(d%comm, 0, 1, d%left, d%right, ierr)
    call mpi_cart_shift(d%comm, 1, 1, d%down, d%up, ierr)
    d%nx = n / d%dims(1)
    d%ny = n / d%dims(2)
    if (d%nx < 1 .or. d%ny < 1) then
      write (*, *) 'too many ranks for', n
      call mpi_abort(d%comm, 1, ierr)
    end if
    allocate (d%u(0:d%nx + 1, 0:d%ny + 1), d%f(d%nx, d%ny))
    d%u = 0.0_dp
  end subroutine
  subroutine exchange(d)
    use mpi
    type(domain), intent(inout) :: d
    integer :: ierr, status(mpi_status_size), rows
    real(dp) :: out(d%ny), in(d%ny)
    call mpi_sendrecv(d%u(1:d%nx, 1), d%nx, mpi_double_precision, d%down, 1, d%u(1, d%ny + 1), d%nx, &
      mpi_double_precision, d%up, 1, d%comm, status, ierr)
    call mpi_sendrecv(d%u(1, d%ny), d%nx, mpi_double_precision, d%up, 2, d%u(1, 0), d%nx, &
      mpi_double_precision, d%down, 2, d%comm, status, ierr)
    out = d%u(1, 1:d%ny)
    in = 0
    call mpi_sendrecv(out, d%ny, mpi_double_precision, d%left, 3, in, d%ny, mpi_double_precision, d%right, 3, d%comm, &
      status, ierr)
    if (d%right /= mpi_proc_null) d%u(d%nx + 1, 1:d%ny) = in
  end subroutine
end module
program poisson
  use decomposition
  use mpi
  implicit none
  type(domain), target :: d
  integer :: ierr, it, i, j, maxit
  real(dp) :: r, rall, h
  character(len=32) :: arg
  namelist /input/ maxit, h
  call mpi_init(ierr)
  call setup(d, 24)
  maxit = 12
  h = 0.1_dp
  if (d%rank == 0) then
    arg = '12 0.25'
    read (arg, *) maxit, h
  end if
  call mpi_bcast(maxit, 1, mpi_integer, 0, d%comm, ierr)
  call mpi_bcast(h, 1, mpi_double_precision, 0, d%comm, ierr)
  do j = 1, d%ny
    do i = 1, d%nx
      d%f(i, j) = sin(real(i + d%coords(1) * d%nx, dp) * h) * cos(real(j, dp) * h)
    end do
  end do
  do it = 1, maxit
    call exchange(d)
    r = 0
    do j = 1, d%ny
      do i = 1, d%nx
        r = r + abs(d%f(i, j) - d%u(i, j))
        d%u(i, j) = 0.25_dp * (d%u(i - 1, j) + d%u(i + 1, j) + d%u(i, j - 1) + d%u(i, j + 1) + d%f(i, j))
      end do
    end do
    call mpi_allreduce(r, rall, 1, mpi_double_precision, mpi_sum, d%comm, ierr)
    if (rall /= rall) then
      print *, 'diverged at', it
      call mpi_abort(d%comm, 2, ierr)
    end if
    if (d%rank == 0 .and. mod(it, 4) == 0) print '(a,i4,es12.4)', 'it', it, rall
  end do
  print *, maxval(d%u), minloc(d%f)
  deallocate (d%u, d%f)
  call mpi_finalize(ierr)
end program
