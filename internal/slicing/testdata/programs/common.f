c A program in fixed form: COMMON blocks that units see in different ways, EQUIVALENCE, labels, arithmetic IF and ENTRY.
      program legacy
      include 'mpif.h'
      integer nmax
      parameter (nmax=64)
      real*8 x(nmax), y(nmax), w(2)
      integer ia(nmax), n, me, np, ierr, i, k, lev, nlev
      integer stat(mpi_status_size), req(2)
      common /grid/ x, y, w
      common /info/ ia, n, me, np
      integer ibuf(nmax)
      equivalence (ibuf(1), y(1))
      external fcn
      real*8 fcn, s, t
      data nlev /3/
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, me, ierr)
      call mpi_comm_size(mpi_comm_world, np, ierr)
      n = 32
      call fill(fcn)
      do 100 lev = 1, nlev
        call swap(lev, stat)
        call relax(n / lev)
        s = 0d0
        do 10 i = 1, n
   10     s = s + x(i) * w(1)
        call mpi_allreduce(s, t, 1, mpi_double_precision, mpi_sum,
     &    mpi_comm_world, ierr)
        if (t .lt. 0d0) goto 900
  100 continue
      k = ia(3) + ia(n)
      if (k - 40) 20, 30, 40
   20 k = 2
      goto 50
   30 k = 4
      goto 50
   40 k = 6
   50 call mpi_bcast(ibuf, k, mpi_integer, 0, mpi_comm_self, ierr)
      write (6, 60) me, k, t
   60 format (i4, i4, f12.4)
      goto 999
  900 write (6, *) 'negative'
      call mpi_abort(mpi_comm_world, 1, ierr)
  999 call mpi_finalize(ierr)
      end
      real*8 function fcn(i)
      fcn = 1d0 / i + 0.5d0
      end
      subroutine fill(f)
      external f
      real*8 f
      common /grid/ z(256)
      real*8 xy(128), w(2)
      common /info/ ia(64), n, me, np
      entry refill(f)
      do 10 i = 1, n
   10   ia(i) = mod(i * (me + 3), 41)
      call setw(f)
      end
      subroutine setw(f)
      external f
      real*8 f, x, y, w
      common /grid/ x(64), y(64), w(2)
      do 20 i = 1, 64
        x(i) = f(i)
   20   y(i) = -x(i)
      w(1) = 2d0
      w(2) = 3d0
      end
      subroutine relax(m)
      real*8 x, y, w, v(m)
      common /grid/ x(64), y(64), w(2)
      do 10 i = 2, m
   10   v(i) = 0.5d0 * (x(i) + x(i - 1))
      do 20 i = 2, m
   20   x(i) = v(i)
      end
      subroutine swap(lev, stat)
      include 'mpif.h'
      integer stat(*), lev
      real*8 x, y, w
      common /grid/ x(64), y(64), w(2)
      common /info/ ia(64), n, me, np
      call mpi_sendrecv(x(n), lev, mpi_double_precision,
     &  mod(me + 1, np), lev, x(1), lev, mpi_double_precision,
     &  mod(me + np - 1, np), lev, mpi_comm_world, stat, ierr)
      end
