! Arrays that are allocated, grown, summed and shifted by functions of Flang's library, most of them of data that no message depends on.
module fields
  implicit none
  real(8), allocatable :: u(:, :), v(:, :), w(:)
  integer, allocatable :: owner(:), next(:)
contains
  subroutine grow(list, n)
    integer, allocatable, intent(inout) :: list(:)
    integer, intent(in) :: n
    integer, allocatable :: longer(:)
    allocate (longer(n))
    longer = 0
    longer(1:size(list)) = list
    call move_alloc(longer, list)
  end subroutine
end module

program arrays
  use fields
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, ranks, i, step, n, status(mpi_status_size)
  real(8) :: norm, all
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  allocate (u(64, 64), v(64, 64), w(64), owner(4), next(4))
  call random_number(u)
  v(:, :) = 0.5d0 * u
  do i = 1, 4
    owner(i) = mod(rank + i, ranks)
  end do
  call grow(owner, 8)
  owner(5:8) = cshift(owner(1:4), 1)
  n = sum(owner) + count(owner == rank)
  do step = 1, 5
    u(:, :) = u + matmul(u, v) * 0.001d0
    w(:) = sum(u, dim=1)
    norm = sum(w * w) + maxval(abs(u)) + dot_product(w, v(:, 1))
    call mpi_allreduce(norm, all, 1, mpi_double_precision, mpi_sum, mpi_comm_world, ierr)
    v(:, :) = transpose(v) / max(all, 1d0)
    call mpi_sendrecv(u, 8 + iand(n, 7), mpi_double_precision, mod(rank + 1, ranks), step, v, 64, &
      mpi_double_precision, mod(rank + ranks - 1, ranks), step, mpi_comm_world, status, ierr)
  end do
  print *, norm, all
  call mpi_bcast(next, min(maxval(owner), 4), mpi_integer, 0, mpi_comm_self, ierr)
  deallocate (u, v, w, owner, next)
  call mpi_finalize(ierr)
end program
