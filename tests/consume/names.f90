! What the module has besides the functions of the examples.
program names
  use polhode
  implicit none
  integer(c_int) :: scheme, gauss, status
  integer(c_int64_t) :: lost
  real(c_double) :: inertia(3, 2), one(8), m(3, 2), q(4, 2), x(3, 2), p(3, 2)
  real(c_double) :: a(2, 2) = reshape([5, 9, -1, 3], [2, 2]) / 12.0_c_double
  print "(a)", polhode_version()
  print "(a)", polhode_level()
  print "(a)", polhode_method_name(0_c_int)
  print "(a)", polhode_method_name(polhode_method("trapm energy_correction=True"))
  print "(a)", polhode_splitting_name(polhode_splitting("rkn6_14"))
  print "(a)", "["//polhode_method_name(-1_c_int)//"]"
  scheme = polhode_splitting_of(2_c_int, [0.5_c_double, 0.5_c_double], 1_c_int, [1.0_c_double])
  print "(l1)", scheme >= 0
  gauss = polhode_rkmk(2_c_int, transpose(a), [0.75_c_double, 0.25_c_double])
  print "(a)", polhode_method_name(gauss)
  scheme = polhode_splitting("none")
  print "(a)", polhode_error()
  one = 1.0_c_double
  inertia = 1.0_c_double
  inertia(1, 2) = -1.0_c_double
  status = polhode_step(0_c_int, 2_c_int64_t, inertia, 3_c_int64_t, inertia, one, polhode_quaternion, &
    one, 0_c_int64_t, 1_c_int64_t, 1_c_int, m, q, lost)
  print "(a)", polhode_error()
  inertia = 1.0_c_double
  x = 0.0_c_double
  p = 1.0_c_double
  m = 0.0_c_double
  q = 0.5_c_double
  status = polhode_integrate_moving(polhode_splitting("strang"), 0_c_int, 2_c_int64_t, inertia, &
    3_c_int64_t, [2.0_c_double], 0_c_int64_t, 0.5_c_double, 4_c_int64_t, 0.0_c_double, &
    c_null_funptr, c_null_ptr, 0_c_int, polhode_quaternion, 1_c_int, x, p, m, q, 0_c_int64_t, &
    c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr)
  print "(i0, 1x, f0.1)", status, x(3, 2)
  p(1, 2) = huge(1.0_c_double)
  status = polhode_integrate_moving(polhode_splitting("strang"), 0_c_int, 2_c_int64_t, inertia, &
    3_c_int64_t, [0.5_c_double], 0_c_int64_t, 0.5_c_double, 4_c_int64_t, 0.0_c_double, &
    c_null_funptr, c_null_ptr, 0_c_int, polhode_quaternion, 1_c_int, x, p, m, q, 0_c_int64_t, &
    c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr)
  print "(i0, 1x, i0)", status, polhode_lost()
end program
