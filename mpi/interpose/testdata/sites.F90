! Calls from two subroutines, by way of the module mpi_f08 (F08), mpif.h (MPIFH) or the
! module mpi.
subroutine ones(n)
#if defined(F08)
  use mpi_f08
#elif !defined(MPIFH)
  use mpi
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
  integer :: n, i, ierr
  do i = 1, n
    call MPI_Barrier(MPI_COMM_SELF, ierr)
  end do
  print '(A)', ''
end subroutine

subroutine others(n)
#if defined(F08)
  use mpi_f08
#elif !defined(MPIFH)
  use mpi
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
  integer :: n, i, ierr
  do i = 1, n
    call MPI_Barrier(MPI_COMM_SELF, ierr)
  end do
  print '(A)', ''
end subroutine

program main
#if defined(F08)
  use mpi_f08
#elif !defined(MPIFH)
  use mpi
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
  integer :: ierr
  call MPI_Init(ierr)
  call ones(3)
  call others(2)
  call MPI_Finalize(ierr)
end program
