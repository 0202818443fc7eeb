c     A pipeline through planes of a grid, forth and back, with a test of convergence: rows come from the north and the
c     west, go to the south and the east, and back. The number of steps is read if there is a file.
      program lu
      implicit none
      include 'mpif.h'
      integer isiz, nz
      parameter (isiz=20, nz=12)
      double precision u(5,isiz,isiz,nz), rsd(5,isiz,isiz,nz)
      common /cvar/ u, rsd
      integer id, num, nx, ny, north, south, east, west
      common /neigh/ id, num, nx, ny, north, south, east, west
      integer ierr, step, itmax, i, k, xdim, ydim, row, col, ios
      double precision norm, total, tol
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, id, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, num, ierr)
      if (id .eq. 0) then
         itmax = 6
         tol = 1.0d-8
         open(unit=3, file='inputlu.data', status='old', iostat=ios)
         if (ios .eq. 0) then
            read(3,*) itmax, tol
            close(3)
         endif
      endif
      call MPI_Bcast(itmax, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call MPI_Bcast(tol, 1, MPI_DOUBLE_PRECISION, 0,
     &     MPI_COMM_WORLD, ierr)
      xdim = 1
      do while ((2*xdim)**2 .le. num)
         xdim = 2*xdim
      enddo
      ydim = num/xdim
      row = mod(id, xdim)
      col = id/xdim
      north = -1
      south = -1
      east = -1
      west = -1
      if (row .gt. 0) north = id - 1
      if (row .lt. xdim-1) south = id + 1
      if (col .gt. 0) west = id - xdim
      if (col .lt. ydim-1) east = id + xdim
      nx = isiz/2 + mod(row, 2)
      ny = isiz/2 - mod(col, 2)
      do k = 1, nz
         do i = 1, nx
            u(1,i,1,k) = i*k + id
            rsd(1,i,1,k) = 1.0d0/i
         enddo
      enddo
      do step = 1, itmax
         do k = 2, nz-1
            call edges(k, 0)
            call solve(k)
            call edges(k, 1)
         enddo
         do k = nz-1, 2, -1
            call edges(k, 2)
            call solve(k)
            call edges(k, 3)
         enddo
         if (mod(step, 2) .eq. 0) then
            norm = 0
            do k = 2, nz-1
               do i = 1, nx
                  norm = norm + rsd(1,i,1,k)**2
               enddo
            enddo
            call MPI_Allreduce(norm, total, 1, MPI_DOUBLE_PRECISION,
     &           MPI_SUM, MPI_COMM_WORLD, ierr)
            if (id .eq. 0) print *, step, sqrt(total)
            if (sqrt(total) .lt. tol) goto 10
         endif
      enddo
 10   continue
      call MPI_Finalize(ierr)
      end

      subroutine solve(k)
      implicit none
      integer isiz, nz
      parameter (isiz=20, nz=12)
      double precision u(5,isiz,isiz,nz), rsd(5,isiz,isiz,nz)
      common /cvar/ u, rsd
      integer id, num, nx, ny, north, south, east, west
      common /neigh/ id, num, nx, ny, north, south, east, west
      integer i, j, m, k
      do j = 2, ny
         do i = 2, nx
            do m = 1, 5
               rsd(m,i,j,k) = 0.25d0*(rsd(m,i-1,j,k) + rsd(m,i,j-1,k)
     &              + u(m,i,j,k))
               u(m,i,j,k) = u(m,i,j,k) - 0.1d0*rsd(m,i,j,k)
            enddo
         enddo
      enddo
      do i = 1, nx
         rsd(1,i,1,k) = rsd(1,i,1,k)*0.5d0
      enddo
      end

c     edges receives (0, 2) or sends (1, 3) the edges of a plane, forth or back.
      subroutine edges(k, iex)
      implicit none
      include 'mpif.h'
      integer isiz, nz
      parameter (isiz=20, nz=12)
      double precision u(5,isiz,isiz,nz), rsd(5,isiz,isiz,nz)
      common /cvar/ u, rsd
      integer id, num, nx, ny, north, south, east, west
      common /neigh/ id, num, nx, ny, north, south, east, west
      double precision dum(5,isiz), dum1(5,isiz)
      integer k, iex, i, m, ierr, status(MPI_STATUS_SIZE), fromx, fromy
      if (iex .eq. 0 .or. iex .eq. 2) then
         fromx = north
         fromy = west
         if (iex .eq. 2) then
            fromx = south
            fromy = east
         endif
         if (fromx .ne. -1) then
            call MPI_Recv(dum, 5*ny, MPI_DOUBLE_PRECISION, fromx, 1,
     &           MPI_COMM_WORLD, status, ierr)
            do i = 1, ny
               do m = 1, 5
                  rsd(m,1,i,k) = dum(m,i)
               enddo
            enddo
         endif
         if (fromy .ne. -1) then
            call MPI_Recv(dum1, 5*nx, MPI_DOUBLE_PRECISION, fromy, 2,
     &           MPI_COMM_WORLD, status, ierr)
            do i = 1, nx
               do m = 1, 5
                  rsd(m,i,1,k) = dum1(m,i)
               enddo
            enddo
         endif
      else
         fromx = south
         fromy = east
         if (iex .eq. 3) then
            fromx = north
            fromy = west
         endif
         do i = 1, ny
            do m = 1, 5
               dum(m,i) = rsd(m,nx,i,k)
            enddo
         enddo
         if (fromx .ne. -1) call MPI_Send(dum, 5*ny,
     &        MPI_DOUBLE_PRECISION, fromx, 1, MPI_COMM_WORLD, ierr)
         do i = 1, nx
            do m = 1, 5
               dum1(m,i) = rsd(m,i,ny,k)
            enddo
         enddo
         if (fromy .ne. -1) call MPI_Send(dum1, 5*nx,
     &        MPI_DOUBLE_PRECISION, fromy, 2, MPI_COMM_WORLD, ierr)
      endif
      end
