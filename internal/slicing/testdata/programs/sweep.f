c     A sweep of particles through a grid of processes, from each of eight corners: blocks of planes and of angles are
c     a pipeline, with a loop over iterations that ends when the flux changes little, or after some.
      program sweep3d
      implicit none
      include 'mpif.h'
      integer it, jt, kt, mm, mk, mmi
      parameter (it=8, jt=6, kt=10, mm=6, mk=3, mmi=3)
      double precision flux(it,jt,kt), phiib(jt,mk,mmi),
     &     phijb(it,mk,mmi), w(mm)
      common /grid/ flux, phiib, phijb, w
      integer ierr, rank, np, npei, npej, mype, myi, myj, iter, i, ntag
      integer iq, mo, kb, idir, jdir, ewr, ews, nsr, nss, nk, epsi
      double precision sum, total
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
      npei = 1
      do i = 1, np
         if (i*i .le. np .and. mod(np, i) .eq. 0) npei = i
      enddo
      npej = np/npei
      mype = rank
      myi = mod(mype, npei) + 1
      myj = mype/npei + 1
      epsi = -3
      do i = 1, mm
         w(i) = 1.0d0/i
      enddo
      do iter = 1, abs(epsi)
         call source(iter)
         do iq = 1, 8
            idir = 1
            jdir = 1
            if (mod(iq, 2) .eq. 0) idir = -1
            if (mod(iq - 1, 4) .ge. 2) jdir = -1
            ewr = neighbour(myi - idir, myj, npei, npej)
            ews = neighbour(myi + idir, myj, npei, npej)
            nsr = neighbour(myi, myj - jdir, npei, npej)
            nss = neighbour(myi, myj + jdir, npei, npej)
            do mo = 1, mm/mmi
               do kb = 1, (kt + mk - 1)/mk
                  nk = min(mk, kt - (kb - 1)*mk)
                  ntag = 1000*iq + 100*mo + kb
                  call receive(ewr, phiib, jt*nk*mmi, ntag)
                  call receive(nsr, phijb, it*nk*mmi, ntag)
                  call solve(kb, nk, mo, idir, jdir)
                  call deliver(ews, phiib, jt*nk*mmi, ntag)
                  call deliver(nss, phijb, it*nk*mmi, ntag)
               enddo
            enddo
         enddo
         sum = 0
         do i = 1, kt
            sum = sum + flux(1,1,i)
         enddo
         call MPI_Allreduce(sum, total, 1, MPI_DOUBLE_PRECISION,
     &        MPI_MAX, MPI_COMM_WORLD, ierr)
         if (rank .eq. 0) write(*,*) iter, total
         if (epsi .gt. 0 .and. total .lt. 1.0d-3) goto 20
      enddo
 20   call MPI_Finalize(ierr)

      contains

      integer function neighbour(i, j, ni, nj)
      integer i, j, ni, nj
      neighbour = MPI_PROC_NULL
      if (i .ge. 1 .and. i .le. ni .and. j .ge. 1 .and. j .le. nj)
     &     neighbour = (j - 1)*ni + i - 1
      end function
      end

      subroutine source(iter)
      implicit none
      integer it, jt, kt, mm, mk, mmi, iter, i, j, k
      parameter (it=8, jt=6, kt=10, mm=6, mk=3, mmi=3)
      double precision flux(it,jt,kt), phiib(jt,mk,mmi),
     &     phijb(it,mk,mmi), w(mm)
      common /grid/ flux, phiib, phijb, w
      do k = 1, kt
         do j = 1, jt
            do i = 1, it
               flux(i,j,k) = flux(i,j,k)/iter + 1.0d0
            enddo
         enddo
      enddo
      end

      subroutine solve(kb, nk, mo, idir, jdir)
      implicit none
      integer it, jt, kt, mm, mk, mmi
      parameter (it=8, jt=6, kt=10, mm=6, mk=3, mmi=3)
      double precision flux(it,jt,kt), phiib(jt,mk,mmi),
     &     phijb(it,mk,mmi), w(mm), p
      common /grid/ flux, phiib, phijb, w
      integer kb, nk, mo, idir, jdir, i, j, k, m, ii, jj
      do m = 1, mmi
         do k = 1, nk
            do j = 1, jt
               jj = j
               if (jdir .lt. 0) jj = jt + 1 - j
               do i = 1, it
                  ii = i
                  if (idir .lt. 0) ii = it + 1 - i
                  p = w(m + (mo - 1)*mmi)*(phiib(jj,k,m)
     &                 + phijb(ii,k,m) + 1.0d0)
                  flux(ii,jj,k + (kb-1)*mk) = p
     &                 + flux(ii,jj,k + (kb-1)*mk)
                  phiib(jj,k,m) = 0.5d0*p
                  phijb(ii,k,m) = 0.5d0*p
               enddo
            enddo
         enddo
      enddo
      end

      subroutine receive(from, a, n, tag)
      implicit none
      include 'mpif.h'
      integer from, n, tag, ierr, status(MPI_STATUS_SIZE), i
      double precision a(n)
      if (from .eq. MPI_PROC_NULL) then
         do i = 1, n
            a(i) = 0
         enddo
      else
         call MPI_Recv(a, n, MPI_DOUBLE_PRECISION, from, tag,
     &        MPI_COMM_WORLD, status, ierr)
      endif
      end

      subroutine deliver(to, a, n, tag)
      implicit none
      include 'mpif.h'
      integer to, n, tag, ierr
      double precision a(n)
      if (to .ne. MPI_PROC_NULL) call MPI_Send(a, n,
     &     MPI_DOUBLE_PRECISION, to, tag, MPI_COMM_WORLD, ierr)
      end
