      program regions
      include 'mpif.h'
      integer ierr, i, s
      call MPI_Init(ierr)
      do i = 1, 5
        call MPI_Pcontrol(1, 'step'//char(0))
        call MPI_Allreduce(i, s, 1, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, ierr)
        call MPI_Pcontrol(-1, 'step'//char(0))
        call MPI_Pcontrol(1, 'padded  ')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Pcontrol(0, 'padded  ')
        call MPI_Pcontrol(1)
      end do
      call MPI_Finalize(ierr)
      end
