      program ring
      include 'mpif.h'
      integer ierr, rank, size, i, n, req(2), st(MPI_STATUS_SIZE,2)
      double precision a(1000), b(1000), s, t
      common /cwork/ a, b, n
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
      if (rank .eq. 0) then
         n = 10
         open(unit=2, file='ring.dat', status='old', iostat=i)
         if (i .eq. 0) then
            read(2,*) n
            close(2)
         endif
      endif
      call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      do i = 1, 1000
         a(i) = i*rank
         b(i) = 0
      enddo
      do i = 1, n
         call MPI_Irecv(b, 10*i, MPI_DOUBLE_PRECISION,
     &     mod(rank+size-1,size), i, MPI_COMM_WORLD, req(1), ierr)
         call MPI_Isend(a, 10*i, MPI_DOUBLE_PRECISION,
     &     mod(rank+1,size), i, MPI_COMM_WORLD, req(2), ierr)
         call MPI_Waitall(2, req, st, ierr)
         call work(a, b, 1000)
      enddo
      s = a(3)
      call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &   MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) write(*,*) 'sum', t
      call MPI_Finalize(ierr)
      end
      subroutine work(a, b, n)
      integer n, i
      double precision a(n), b(n)
      do i = 2, n
         a(i) = a(i) + sqrt(abs(b(i-1)))
      enddo
      end
