! Calls functions of MPI and writes down what it called them with, as calls.c does,
! by way of the module mpi_f08 (F08), mpif.h (MPIFH) or the module mpi.
program main
#if defined(F08)
#define HANDLE(kind) type(kind)
#define SOURCE(s) s%MPI_SOURCE
#define TAG(s) s%MPI_TAG
#define STATUSES(n) type(MPI_Status) :: list(n)
  use mpi_f08
  implicit none
#else
#define HANDLE(kind) integer
#define SOURCE(s) s(MPI_SOURCE)
#define TAG(s) s(MPI_TAG)
#define STATUSES(n) integer :: list(MPI_STATUS_SIZE, n)
#ifdef MPIFH
  implicit none
  include 'mpif.h'
#else
  use mpi
  implicit none
#endif
#endif
  HANDLE(MPI_Comm) :: half, copy
  HANDLE(MPI_Request) :: pair(2)
  HANDLE(MPI_Datatype) :: two
#ifdef F08
  type(MPI_Status) :: status
#else
  integer :: status(MPI_STATUS_SIZE)
#endif
  STATUSES(2)
  integer :: rank, size, next, previous, ierr, got, counts(8), displs(8), into(8), n, i, required
  integer, save :: value
  logical :: flag
  double precision :: start, total, parts(2)
  character(len=1024) :: path

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, required, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call get_command_argument(1, path)
  write (path, '(a,a,i0)') trim(path), '/said.', rank
  open (unit=9, file=path)
  write (9, '(a,i0,a,i0)') 'MPI_Init_thread required<', MPI_THREAD_MULTIPLE, ' provided>', required
  write (9, '(a,i0,a)') 'MPI_Comm_rank rank>', rank, ' result>0'
  write (9, '(a,i0)') 'MPI_Comm_size size>', size
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  value = rank

  call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, pair(1), ierr)
  write (9, '(a,i0,a,i0,a)') 'MPI_Irecv buf<', loc(got), ' count<1 source<', MPI_ANY_SOURCE, ' tag<7'
  call MPI_Isend(value, 1, MPI_INTEGER, next, 7, MPI_COMM_WORLD, pair(2), ierr)
  write (9, '(a,i0,a,i0,a)') 'MPI_Isend buf<', loc(value), ' count<1 dest<', next, ' tag<7'
  call MPI_Waitall(2, pair, list, ierr)
#ifdef F08
  call check(list(1)%MPI_SOURCE == previous .and. list(1)%MPI_TAG == 7 .and. got == previous, 'Waitall')
  write (9, '(a,i0,a,i0,a,i0,a)') 'MPI_Waitall count<2 array_of_statuses>[{', previous, ',7,0},{', &
    list(2)%MPI_SOURCE, ',', list(2)%MPI_TAG, ',0}]'
#else
  call check(list(MPI_SOURCE, 1) == previous .and. list(MPI_TAG, 1) == 7 .and. got == previous, 'Waitall')
  write (9, '(a,i0,a,i0,a,i0,a)') 'MPI_Waitall count<2 array_of_statuses>[{', previous, ',7,0},{', &
    list(MPI_SOURCE, 2), ',', list(MPI_TAG, 2), ',0}]'
#endif
  call MPI_Isend(value, 1, MPI_INTEGER, next, 8, MPI_COMM_WORLD, pair(2), ierr)
  write (9, '(a)') 'MPI_Isend tag<8'
  call MPI_Probe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
  write (9, '(a,i0,a,i0,a,i0,a)') 'MPI_Probe source<', previous, ' tag<', MPI_ANY_TAG, ' status>{', previous, ',8,0}'
  call MPI_Get_count(status, MPI_INTEGER, n, ierr)
  write (9, '(a)') 'MPI_Get_count count>1'
  call MPI_Recv(got, 1, MPI_INTEGER, previous, TAG(status), MPI_COMM_WORLD, status, ierr)
  write (9, '(a,i0,a)') 'MPI_Recv tag<8 status>{', previous, ',8,0}'
  call check(SOURCE(status) == previous .and. TAG(status) == 8 .and. got == previous, 'Recv')
  call MPI_Wait(pair(2), MPI_STATUS_IGNORE, ierr)
  write (9, '(a)') 'MPI_Wait status>ignored'
  call MPI_Irecv(got, 1, MPI_INTEGER, previous, 9, MPI_COMM_WORLD, pair(1), ierr)
  write (9, '(a)') 'MPI_Irecv tag<9'
  call MPI_Test(pair(1), flag, MPI_STATUS_IGNORE, ierr)
  call check(.not. flag, 'Test')
  write (9, '(a)') 'MPI_Test flag>0 status>unused'
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  write (9, '(a)') 'MPI_Barrier'
  call MPI_Ssend(value, 0, MPI_INTEGER, MPI_PROC_NULL, 9, MPI_COMM_WORLD, ierr)
  write (9, '(a,i0)') 'MPI_Ssend count<0 dest<', MPI_PROC_NULL
  call MPI_Send(value, 1, MPI_INTEGER, next, 9, MPI_COMM_WORLD, ierr)
  write (9, '(a,i0)') 'MPI_Send tag<9 dest<', next
  call MPI_Waitall(1, pair, MPI_STATUSES_IGNORE, ierr)
  write (9, '(a)') 'MPI_Waitall count<1 array_of_statuses>ignored'
  call MPI_Sendrecv(value, 1, MPI_INTEGER, next, 11, got, 1, MPI_INTEGER, previous, 11, MPI_COMM_WORLD, status, ierr)
  write (9, '(a,i0,a,i0,a)') 'MPI_Sendrecv dest<', next, ' sendtag<11 status>{', previous, ',11,0}'

  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  write (9, '(a,i0,a)') 'MPI_Allreduce recvbuf<', loc(total), ' count<1'
  call check(total == size * (size + 1) / 2, 'Allreduce')
  parts = rank
  call MPI_Bcast(parts, 2, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
  write (9, '(a)') 'MPI_Bcast count<2 root<1'
  call check(all(parts == 1), 'Bcast')
  counts = 1
  displs = (/(i, i=0, 7)/)
  call MPI_Gatherv(value, 1, MPI_INTEGER, into, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    write (9, '(a,7(i0,:,","))', advance='no') 'MPI_Gatherv recvcounts<[', counts(1:size)
    write (9, '(a)') ']'
    call check(all(into(1:size) == displs(1:size)), 'Gatherv')
  else
    write (9, '(a)') 'MPI_Gatherv recvcounts<unused displs<unused'
  end if
  call MPI_Allgather(value, 1, MPI_INTEGER, into, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  write (9, '(a)') 'MPI_Allgather'
  call check(all(into(1:size) == displs(1:size)), 'Allgather')

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
  call MPI_Comm_size(half, n, ierr)
  write (9, '(a,i0,a,i0,a,i0,a,i0,a)') 'MPI_Comm_split color<', mod(rank, 2), ' key<', -rank, &
    ' made>{', n - 1 - rank / 2, ',', n, '}'
  write (9, '(a,i0)') 'MPI_Comm_size size>', n
  call MPI_Comm_rank(half, i, ierr)
  write (9, '(a,i0)') 'MPI_Comm_rank rank>', i
  call check(i == n - 1 - rank / 2, 'Comm_split')
  call MPI_Type_contiguous(2, MPI_INTEGER, two, ierr)
  write (9, '(a)') 'MPI_Type_contiguous count<2'
  call MPI_Type_commit(two, ierr)
  write (9, '(a)') 'MPI_Type_commit'
  call MPI_Type_free(two, ierr)
  write (9, '(a)') 'MPI_Type_free'
  call MPI_Comm_free(half, ierr)
  write (9, '(a)') 'MPI_Comm_free'
  start = MPI_Wtime()
  write (9, '(a)') 'MPI_Wtime'
  call check(start >= 0, 'Wtime')
  call MPI_Pcontrol(0)
  write (9, '(a)') 'MPI_Pcontrol level<0'
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  write (9, '(a)') 'MPI_Comm_dup hidden'
  call MPI_Pcontrol(1)
  write (9, '(a)') 'MPI_Pcontrol level<1 hidden'
  call MPI_Comm_free(copy, ierr)
  write (9, '(a)') 'MPI_Comm_free'
  write (9, '(a)') 'MPI_Finalize result>0'
  call MPI_Finalize(ierr)
  close (9)

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (.not. right) write (*, '(a,a)') 'wrong result of ', what
  end subroutine check
end program main
