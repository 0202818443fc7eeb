! The module mpi: persistent requests, collectives with lists of counts, and
! topologies.
program usempi
  use mpi
  implicit none
  integer :: ierr, rank, ranks, next, previous, i, round, grid, index
  integer, asynchronous :: in(2), total
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), out(2), status(MPI_STATUS_SIZE)
  integer, allocatable :: counts(:), displs(:), all(:), mine(:)
  integer :: coords(1), dims(1)
  logical :: periods(1), flag
  double precision :: before
  integer(MPI_ADDRESS_KIND) :: address

  call MPI_Init_thread(MPI_THREAD_FUNNELED, i, ierr)
  call check(ierr == MPI_SUCCESS .and. i >= MPI_THREAD_FUNNELED, 1)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  before = MPI_Wtime()

  do i = 1, 2
    call MPI_Recv_init(in(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, 30 + i, MPI_COMM_WORLD, requests(i), ierr)
    call MPI_Send_init(out(i), 1, MPI_INTEGER, next, 30 + i, MPI_COMM_WORLD, requests(2 + i), ierr)
  end do
  do round = 1, 3
    out = [1000 * rank + round, 2000 * rank + round]
    ierr = -1
    call MPI_Startall(4, requests, ierr)
    call check(ierr == MPI_SUCCESS, 2)
    call MPI_Waitall(4, requests, statuses, ierr)
    call check(ierr == MPI_SUCCESS, 3)
    call check(all_equal(statuses(MPI_SOURCE, 1:2), [previous, previous]), 4)
    call check(all_equal(statuses(MPI_TAG, 1:2), [31, 32]), 5)
    call check(received(1) == 1000 * previous + round .and. received(2) == 2000 * previous + round, 6)
  end do
  do i = 1, 4
    call MPI_Request_free(requests(i), ierr)
    call check(requests(i) == MPI_REQUEST_NULL, 7)
  end do

  ! Rank i has i + 1 numbers.
  allocate (counts(ranks), displs(ranks), all(ranks * (ranks + 1) / 2), mine(rank + 1))
  do i = 1, ranks
    counts(i) = i
    displs(i) = i * (i - 1) / 2
  end do
  mine = rank
  all = -1
  call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call check(ierr == MPI_SUCCESS .and. all(size(all)) == ranks - 1 .and. all(1) == 0, 8)
  print *, 'all', all
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, counts, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call check(counts(ranks) == 10 * ranks, 9)
  else
    call MPI_Gather(10 * (rank + 1), 1, MPI_INTEGER, counts, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Ireduce(rank, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, requests(1), ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, status, ierr)
  end do
  call check(rank > 0 .or. total == ranks * (ranks - 1) / 2, 10)

  dims(1) = ranks
  periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid, ierr)
  call MPI_Cart_coords(grid, rank, 1, coords, ierr)
  call MPI_Cart_shift(grid, 0, 1, i, index, ierr)
  call check(coords(1) == rank .and. i == previous .and. index == next, 11)
  call MPI_Comm_free(grid, ierr)
  call check(MPI_Wtime() >= before, 12)
  call MPI_Finalize(ierr)
  call check(ierr == MPI_SUCCESS, 13)
  print *, 'end'

contains

  ! The messages come behind the compiler's back.
  integer function received(i)
    integer, intent(in) :: i
    integer :: n
    call MPI_Get_address(in(i), address, n)
    received = in(i)
  end function

  logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = size(a) == size(b)
    if (all_equal) all_equal = maxval(abs(a - b)) == 0
  end function

  subroutine check(ok, number)
    logical, intent(in) :: ok
    integer, intent(in) :: number
    integer :: n
    if (ok) return
    write (0, *) 'usempi.f90: check ', number, ' failed'
    call MPI_Abort(MPI_COMM_WORLD, 3, n)
  end subroutine
end program
