! A small satellite with a magnet in the field of the Earth's dipole, in an eccentric orbit: a
! torque of your own that depends on time and attitude.  SI units.
!
!     gfortran $(python -m polhode --fortran) satellite.f90 $(python -m polhode --libs) -o satellite
module magnet_in_orbit
  use polhode
  implicit none
  real(c_double), parameter :: position(3) = [7e6_c_double, 0.0_c_double, 0.0_c_double], &
    velocity(3) = [0.0_c_double, 4e3_c_double, 7e3_c_double], &
    earth(3) = [0.0_c_double, 0.0_c_double, -7.75e22_c_double], magnet = 0.5_c_double
contains
  ! magnet x b, in the body frame; the magnet points along the third axis.
  function torque_of(n, first, stride, t, m, q, torque, user_data) bind(c) result(status)
    integer(c_int) :: status
    integer(c_int64_t), value :: n, first, stride
    real(c_double), value :: t
    real(c_double), intent(in) :: m(*), q(*)
    real(c_double), intent(out) :: torque(*)
    type(c_ptr), value :: user_data
    real(c_double) :: r(3), v(3), field(3), b(3)
    integer(c_int64_t) :: i
    status = polhode_orbit_state(3.986004418e14_c_double, position, velocity, t, r, v)
    if (status /= polhode_ok) return  ! another value than 0 ends the run
    call polhode_dipole_field(r, earth, 1e-7_c_double, field)
    do i = 1, n
      b = polhode_to_body(q(i:3 * stride + i:stride), field)
      torque(i:2 * stride + i:stride) = magnet * [-b(2), b(1), 0.0_c_double]
    end do
  end function
end module

program satellite
  use polhode
  use magnet_in_orbit
  implicit none
  real(c_double) :: inertia(3) = [0.04_c_double, 0.045_c_double, 0.008_c_double]
  real(c_double) :: m(3) = [4e-4_c_double, -2e-4_c_double, 1e-4_c_double]
  real(c_double) :: q(4) = [1.0_c_double, 0.0_c_double, 0.0_c_double, 0.0_c_double], t
  integer(c_int) :: status, scheme, method, k

  scheme = polhode_splitting("rkn6_14")
  method = polhode_method("exact")
  do k = 1, 5
    t = 600.0_c_double * (k - 1)
    status = polhode_integrate(scheme, method, 1_c_int64_t, inertia, 0_c_int64_t, 2.0_c_double, &
      300_c_int64_t, t, c_funloc(torque_of), c_null_ptr, 0_c_int, polhode_quaternion, 1_c_int, m, &
      q, 0_c_int64_t, c_null_ptr, c_null_ptr)
    if (status /= polhode_ok) then
      print "(a)", polhode_error()
      error stop
    end if
    print "(f6.0, 3es25.16)", t + 600.0_c_double, polhode_to_space(q, m)
  end do
end program
