C     Ten exact steps by the two routines of FRB-FORTRAN, called as its drivers do.
C
C         gfortran frb_steps.f $(python -m polhode --libs) -o frb_steps
      program frb_steps
      implicit none
      double precision aInert(3), p(3), Q(3,3), pq(3), qq(4), h
      integer i
      data aInert /1.0d0, 1.5d0, 2.2d0/, h /0.2d0/
      data p /0.3d0, 0.5d0, 0.8d0/, pq /0.3d0, 0.5d0, 0.8d0/
      data Q /1.0d0,0.0d0,0.0d0, 0.0d0,1.0d0,0.0d0, 0.0d0,0.0d0,1.0d0/
      data qq /1.0d0, 0.0d0, 0.0d0, 0.0d0/
      do i = 1, 10
         call frb_step(p, Q, h, aInert, p, Q)
         call quat_step(pq, qq, h, aInert, pq, qq)
      end do
      print '(a, 3f12.6)', 'm ', p
      print '(a, 4f12.6)', 'q ', qq
      print '(a, 3f12.6)', 'Q ', Q(1,1), Q(1,2), Q(1,3)
      end
