! The module mpi_f08: handles and statuses of their own types, and ierror left out.
program usempif08
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, previous, i, ierror, n, half_rank, half_ranks, class
  integer, asynchronous :: in(4), total
  integer :: out(4), in_place(2)
  type(MPI_Request) :: requests(8), request
  type(MPI_Status) :: statuses(8), status
  type(MPI_Comm) :: half, world
  type(MPI_Datatype) :: row
  type(MPI_Message) :: message
  integer :: matrix(3, 4)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call check(ierror == MPI_SUCCESS, 1)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)

  do i = 1, 4
    out(i) = 100 * rank + i
    call MPI_Irecv(in(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, 40 + i, MPI_COMM_WORLD, requests(i), ierror)
    call check(ierror == MPI_SUCCESS, 2)
  end do
  do i = 4, 1, -1
    call MPI_Isend(out(i), 1, MPI_INTEGER, next, 40 + i, MPI_COMM_WORLD, requests(4 + i))
  end do
  call MPI_Waitall(8, requests, statuses, ierror)
  call check(ierror == MPI_SUCCESS, 3)
  do i = 1, 4
    call check(statuses(i)%MPI_SOURCE == previous .and. statuses(i)%MPI_TAG == 40 + i, 4)
    call check(in(i) == 100 * previous + i .and. requests(i) == MPI_REQUEST_NULL, 5)
    call MPI_Get_count(statuses(i), MPI_INTEGER, n)
    call check(n == 1, 6)
    print *, 'status', statuses(i)%MPI_SOURCE, statuses(i)%MPI_TAG, in(i)
  end do

  call MPI_Isend(out, 3, MPI_INTEGER, next, 50, MPI_COMM_WORLD, request)
  call MPI_Mprobe(previous, 50, MPI_COMM_WORLD, message, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call check(n == 3, 7)
  call MPI_Mrecv(in, n, MPI_INTEGER, message, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(in(3) == 100 * previous + 3, 8)

  ! A row of a matrix is not contiguous.
  matrix = rank
  call MPI_Type_vector(4, 1, 3, MPI_INTEGER, row)
  call MPI_Type_commit(row)
  call MPI_Sendrecv(matrix(2, 1), 1, row, next, 60, matrix(3, 1), 1, row, previous, 60, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call check_matrix()
  call MPI_Type_free(row)

  in_place = [rank, 1]
  call MPI_Allreduce(MPI_IN_PLACE, in_place, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(ierror == MPI_SUCCESS .and. in_place(2) == ranks, 9)
  total = 0
  call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(total == ranks - 1, 10)
  call MPI_Bcast(MPI_BOTTOM, 0, MPI_INTEGER, 0, MPI_COMM_WORLD)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
  call MPI_Comm_rank(half, half_rank)
  call MPI_Comm_size(half, half_ranks)
  print *, 'half', half_rank, half_ranks
  call MPI_Comm_free(half)
  call check(half == MPI_COMM_NULL, 11)

  call MPI_Comm_dup(MPI_COMM_WORLD, world)
  call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN)
  call MPI_Send(out, 1, MPI_INTEGER, ranks, 0, world, ierror)
  call check(ierror /= MPI_SUCCESS, 12)
  call MPI_Error_class(ierror, class)
  call check(class == MPI_ERR_RANK, 13)
  call MPI_Comm_free(world)
  call MPI_Finalize(ierror)
  call check(ierror == MPI_SUCCESS, 14)
  print *, 'end'

contains

  subroutine check_matrix()
    call check(maxval(abs(matrix(3, :) - previous)) == 0 .and. maxval(abs(matrix(2, :) - rank)) == 0, 15)
  end subroutine

  subroutine check(ok, number)
    logical, intent(in) :: ok
    integer, intent(in) :: number
    if (ok) return
    write (0, *) 'usempif08.f90: check ', number, ' failed'
    call MPI_Abort(MPI_COMM_WORLD, 3)
  end subroutine
end program
