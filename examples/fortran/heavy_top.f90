! The heavy top of [CZ08], driver_example1: a splitting method of order six.
!
!     gfortran $(python -m polhode --fortran) heavy_top.f90 $(python -m polhode --libs) -o heavy_top
module weight_of_top
  use polhode
  implicit none
  real(c_double), parameter :: u0(3) = [9.5586303547238536e-05_c_double, &
    4.8777318247201465e-04_c_double, -8.6772148817192390e-04_c_double]
contains
  ! u x (0, 0, 1) with u = Q^T u0.  Entry (i, j) of Q is component 3 (i - 1) + j - 1.
  function weight(n, first, stride, t, m, q, torque, user_data) bind(c) result(status)
    integer(c_int) :: status
    integer(c_int64_t), value :: n, first, stride
    real(c_double), value :: t
    real(c_double), intent(in) :: m(*), q(*)
    real(c_double), intent(out) :: torque(*)
    type(c_ptr), value :: user_data
    integer(c_int64_t) :: i
    do i = 1, n
      torque(i) = sum(q(stride + i:7 * stride + i:3 * stride) * u0)
      torque(stride + i) = -sum(q(i:6 * stride + i:3 * stride) * u0)
      torque(2 * stride + i) = 0.0_c_double
    end do
    status = 0  ! another value ends the run
  end function
end module

program heavy_top
  use polhode
  use weight_of_top
  implicit none
  real(c_double) :: inertia(3) = [1.0_c_double, 1.0126869887825154_c_double, &
    3.3062374224730378_c_double]
  real(c_double) :: m(3) = [-3.4790957088547336e-01_c_double, -1.9822914599675923e-01_c_double, &
    -9.1633189192763642e-01_c_double]
  real(c_double) :: q(3, 3), h = 0.5_c_double
  integer(c_int) :: status, scheme, method
  integer(c_int64_t) :: steps

  q = reshape([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3])
  scheme = polhode_splitting("rkn6_14")
  method = polhode_method("exact")
  if (polhode_abi() /= polhode_abi_of_module) error stop "another version of libpolhode"
  do steps = 0, 900, 100
    status = polhode_integrate(scheme, method, 1_c_int64_t, inertia, 0_c_int64_t, h, &
      100_c_int64_t, h * steps, c_funloc(weight), c_null_ptr, 0_c_int, polhode_matrix_columns, &
      1_c_int, m, q, 0_c_int64_t, c_null_ptr, c_null_ptr)
    if (status /= polhode_ok) then
      print "(a)", polhode_error()
      error stop
    end if
    print "(f6.1, 3f21.16)", h * (steps + 100), m
  end do
end program
