! Values that come to arguments of MPI by the kinds of storage that Fortran has: each is the count of a broadcast on one rank.
module shared
  implicit none
  integer :: level = 3
  integer, allocatable :: table(:)
  type point
    integer :: n, v(4)
    real(8) :: w
    integer, pointer :: p(:) => null()
  end type
  type(point), target, save :: points(3)
contains
  subroutine fill(a, k)
    integer, intent(inout) :: a(:, :)
    integer, intent(in) :: k
    integer :: i, j
    do j = 1, size(a, 2)
      do i = lbound(a, 1), ubound(a, 1)
        a(i, j) = i + 10 * j + k
      end do
    end do
  end subroutine
  integer function pick(k)
    integer, intent(in) :: k
    select case (k)
    case (:0)
      pick = 4
    case (1, 3)
      pick = 6 + level
    case default
      pick = 9
    end select
  end function
end module

program storage
  use shared
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, i, k, n, unit, total
  integer, target :: grid(4, 5), line(8)
  integer, pointer :: view(:), corner(:, :)
  integer :: both(6)
  real :: same(6)
  integer :: ca(4), cb(4), buffer(64)
  character(len=12) :: text
  common /block/ ca, cb
  equivalence (both, same)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  ca = 0
  cb = 1
  call other(rank)
  call show(ca(2) + cb(3))
  same(3) = 1.0 + rank
  call show(ishft(both(3), -21))
  allocate (table(6 + rank))
  do i = 1, size(table)
    table(i) = i * 2 + rank
  end do
  call show(table(5))
  call move(table)
  call show(size(table) + table(1))
  call fill(grid(2:3, 1:5:2), rank)
  call show(grid(3, 3))
  points(2)%n = rank + 2
  points(2)%v(3) = 12
  allocate (points(3)%p(4))
  points(3)%p(2) = rank + 21
  view => points(3)%p
  view(1) = 7
  call show(points(3)%p(1) + points(3)%p(2))
  points(1) = points(2)
  points(1)%v(k1(rank)) = 17
  call show(points(1)%v(3) + points(1)%n)
  line = 0
  view => line(2:8:2)
  view(2) = rank + 11
  call show(line(4))
  corner => grid(1:2, 2:4)
  corner(2, 3) = 40 + rank
  call show(grid(2, 4))
  n = 1
  do while (n * n < 50 + rank)
    n = n + 2
  end do
  call show(n)
  go to (10, 20, 30), 1 + mod(rank, 3)
10 n = 3
  go to 40
20 n = 8
  go to 40
30 n = 14
40 continue
  call show(n)
  call show(pick(rank))
  write (text, '(i4,a,i3)') rank + 30, ':', 12
  read (text, '(i4,1x,i3)') k, n
  call show(k - n)
  text = 'abc'
  text(2:2) = char(ichar('b') + rank)
  if (text > 'abd') then
    call show(index(text, 'c'))
  else
    call show(len_trim(text) + 20)
  end if
  total = 0
  call inner(4)
  call show(total)
  call apply(addto, rank)
  call show(total + maxval(line))
  do i = 1, 10
    if (i == 3 + rank) cycle
    if (i == 8) exit
    total = total + i
  end do
  call show(total)
  n = sum(grid(:, 2)) + dot_product(line, line)
  call show(n)
  deallocate (table)
  call mpi_finalize(ierr)
contains
  subroutine show(n)
    integer, intent(in) :: n
    call mpi_bcast(buffer, iand(n, 63), mpi_integer, 0, mpi_comm_self, ierr)
  end subroutine
  integer function k1(k)
    integer, intent(in) :: k
    k1 = 1 + mod(k, 4)
  end function
  recursive subroutine inner(m)
    integer, intent(in) :: m
    total = total + m + rank
    if (m > 1) call inner(m - 1)
  end subroutine
  subroutine addto(m)
    integer, intent(in) :: m
    total = total + 3 * m
  end subroutine
  subroutine apply(f, m)
    external f
    integer, intent(in) :: m
    call f(m)
  end subroutine
  subroutine move(a)
    integer, allocatable, intent(inout) :: a(:)
    integer, allocatable :: b(:)
    allocate (b(size(a) + 2))
    b = 5
    b(1) = a(2)
    call move_alloc(b, a)
  end subroutine
end program

subroutine other(k)
  implicit none
  integer, intent(in) :: k
  integer :: c(8)
  common /block/ c
  c(2) = 4 + k
  c(7) = 6
end subroutine
