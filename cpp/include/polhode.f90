! polhode from Fortran: interfaces of the C functions in polhode.h, where they are described.
!
! Arrays are (3, bodies), (4, bodies) and (3, 3, bodies): component first, so that the bodies lie
! one after another.  A matrix Q(i, j) stored as Fortran does is polhode_matrix_columns.  One inertia or
! one step for all bodies is an array with a stride of 0: [h].
module polhode
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_funloc, c_funptr, &
    c_int, c_int64_t, c_loc, c_null_char, c_null_funptr, c_null_ptr, c_ptr, c_f_pointer, c_size_t
  implicit none
  public
  private :: text_at, cross

  integer(c_int), parameter :: polhode_abi_of_module = 1
  integer(c_int), parameter :: polhode_ok = 0, polhode_stopped = 5
  integer(c_int), parameter :: polhode_quaternion = 0, polhode_matrix_rows = 1, &
    polhode_matrix_columns = 2

  integer(c_int), parameter :: polhode_depends_on_m = 1, polhode_independent = 2

  abstract interface
    ! Component k of body first + i at x(1 + k * stride + i).  Another result than 0 ends the run.
    ! A call has all bodies at the same time, with polhode_independent only some.
    function polhode_torque(n, first, stride, t, m, q, torque, user_data) bind(c) result(status)
      import
      integer(c_int) :: status
      integer(c_int64_t), value :: n, first, stride
      real(c_double), value :: t
      real(c_double), intent(in) :: m(*), q(*)
      real(c_double), intent(out) :: torque(*)
      type(c_ptr), value :: user_data
    end function
    ! The same of bodies that also move: x, p and force are in the space frame.
    function polhode_force(n, first, stride, t, x, p, m, q, force, torque, user_data) &
        bind(c) result(status)
      import
      integer(c_int) :: status
      integer(c_int64_t), value :: n, first, stride
      real(c_double), value :: t
      real(c_double), intent(in) :: x(*), p(*), m(*), q(*)
      real(c_double), intent(out) :: force(*), torque(*)
      type(c_ptr), value :: user_data
    end function
    function c_number_of_name(name) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: c_number_of_name
    end function
    function c_name_of_number(number) bind(c)
      import
      integer(c_int), value :: number
      type(c_ptr) :: c_name_of_number
    end function
    subroutine c_release(number) bind(c)
      import
      integer(c_int), value :: number
    end subroutine
    function c_text() bind(c)
      import
      type(c_ptr) :: c_text
    end function
  end interface

  procedure(c_number_of_name), bind(c, name="polhode_method") :: polhode_method_c
  procedure(c_number_of_name), bind(c, name="polhode_splitting") :: polhode_splitting_c
  procedure(c_name_of_number), bind(c, name="polhode_method_name") :: polhode_method_name_c
  procedure(c_name_of_number), bind(c, name="polhode_splitting_name") :: polhode_splitting_name_c
  procedure(c_text), bind(c, name="polhode_error") :: polhode_error_c
  procedure(c_text), bind(c, name="polhode_version") :: polhode_version_c
  procedure(c_text), bind(c, name="polhode_level") :: polhode_level_c
  ! Release the number of a method with options or a tableau, or of your own scheme.
  procedure(c_release), bind(c, name="polhode_method_free") :: polhode_method_free
  procedure(c_release), bind(c, name="polhode_splitting_free") :: polhode_splitting_free

  interface
    function polhode_abi() bind(c)
      import
      integer(c_int) :: polhode_abi
    end function
    ! Your own scheme of flows a and kicks b in turn.
    function polhode_splitting_of(flows, a, kicks, b) bind(c)
      import
      integer(c_int), value :: flows, kicks
      real(c_double), intent(in) :: a(*), b(*)
      integer(c_int) :: polhode_splitting_of
    end function
    ! a as C has it: row after row, transpose(a).
    function polhode_rkmk(stages, a, b) bind(c)
      import
      integer(c_int), value :: stages
      real(c_double), intent(in) :: a(*), b(*)
      integer(c_int) :: polhode_rkmk
    end function
    function polhode_step(method, bodies, inertia, inertia_stride, m, q, attitude, h, h_stride, &
        n_steps, threads, m_out, q_out, lost) bind(c)
      import
      integer(c_int), value :: method, attitude, threads
      integer(c_int64_t), value :: bodies, inertia_stride, h_stride, n_steps
      real(c_double), intent(in) :: inertia(*), m(*), q(*), h(*)
      real(c_double), intent(inout) :: m_out(*), q_out(*)
      integer(c_int64_t), intent(out) :: lost
      integer(c_int) :: polhode_step
    end function
    function polhode_motion_new(bodies, inertia, inertia_stride, m0, q0, attitude, motion) bind(c)
      import
      integer(c_int64_t), value :: bodies, inertia_stride
      real(c_double), intent(in) :: inertia(*), m0(*), q0(*)
      integer(c_int), value :: attitude
      type(c_ptr), intent(out) :: motion
      integer(c_int) :: polhode_motion_new
    end function
    function polhode_motion_at(motion, times, t, threads, m, q) bind(c)
      import
      type(c_ptr), value :: motion
      integer(c_int64_t), value :: times
      integer(c_int), value :: threads
      real(c_double), intent(in) :: t(*)
      real(c_double), intent(inout) :: m(*), q(*)
      integer(c_int) :: polhode_motion_at
    end function
    function polhode_motion_period(motion, period) bind(c)
      import
      type(c_ptr), value :: motion
      real(c_double), intent(inout) :: period(*)
      integer(c_int) :: polhode_motion_period
    end function
    subroutine polhode_motion_free(motion) bind(c)
      import
      type(c_ptr), value :: motion
    end subroutine
    ! m_saved and q_saved are c_null_ptr or c_loc of arrays.
    function polhode_integrate(splitting, method, bodies, inertia, inertia_stride, h, n_steps, t0, &
        torque, user_data, torque_flags, attitude, threads, m, q, save_every, m_saved, q_saved) &
        bind(c)
      import
      integer(c_int), value :: splitting, method, torque_flags, attitude, threads
      integer(c_int64_t), value :: bodies, inertia_stride, n_steps, save_every
      real(c_double), intent(in) :: inertia(*)
      real(c_double), value :: h, t0
      type(c_funptr), value :: torque
      type(c_ptr), value :: user_data, m_saved, q_saved
      real(c_double), intent(inout) :: m(*), q(*)
      integer(c_int) :: polhode_integrate
    end function
    ! The same of bodies that also move, with a polhode_force.
    function polhode_integrate_moving(splitting, method, bodies, inertia, inertia_stride, mass, &
        mass_stride, h, n_steps, t0, force, user_data, torque_flags, attitude, threads, x, p, m, &
        q, save_every, x_saved, p_saved, m_saved, q_saved) bind(c)
      import
      integer(c_int), value :: splitting, method, torque_flags, attitude, threads
      integer(c_int64_t), value :: bodies, inertia_stride, mass_stride, n_steps, save_every
      real(c_double), intent(in) :: inertia(*), mass(*)
      real(c_double), value :: h, t0
      type(c_funptr), value :: force
      type(c_ptr), value :: user_data, x_saved, p_saved, m_saved, q_saved
      real(c_double), intent(inout) :: x(*), p(*), m(*), q(*)
      integer(c_int) :: polhode_integrate_moving
    end function
    function polhode_lost() bind(c)
      import
      integer(c_int64_t) :: polhode_lost
    end function
    ! Position and velocity at time t on a Kepler ellipse; the field of a dipole.
    function polhode_orbit_state(mu, position, velocity, t, position_at_t, velocity_at_t) bind(c)
      import
      real(c_double), value :: mu, t
      real(c_double), intent(in) :: position(3), velocity(3)
      real(c_double), intent(out) :: position_at_t(3), velocity_at_t(3)
      integer(c_int) :: polhode_orbit_state
    end function
    subroutine polhode_dipole_field(position, moment, constant, field) bind(c)
      import
      real(c_double), intent(in) :: position(3), moment(3)
      real(c_double), value :: constant
      real(c_double), intent(out) :: field(3)
    end subroutine
    ! inputs and outputs are arrays of c_loc, one for each argument and result.
    function polhode_function_c(name, n, inputs, outputs) bind(c, name="polhode_function")
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: n
      type(c_ptr), intent(in) :: inputs(*), outputs(*)
      integer(c_int) :: polhode_function_c
    end function
    function c_strlen(text) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: c_strlen
    end function
  end interface

contains

  ! Number of a method by its name, which options may follow; -1 if there is none.
  function polhode_method(name) result(row)
    character(*), intent(in) :: name
    integer(c_int) :: row
    row = polhode_method_c(trim(name)//c_null_char)
  end function

  ! Number of a splitting scheme by its name; -1 if there is none.
  function polhode_splitting(name) result(row)
    character(*), intent(in) :: name
    integer(c_int) :: row
    row = polhode_splitting_c(trim(name)//c_null_char)
  end function

  ! A function, such as "rj", of n elements.
  function polhode_function(name, n, inputs, outputs) result(status)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: n
    type(c_ptr), intent(in) :: inputs(*), outputs(*)
    integer(c_int) :: status
    status = polhode_function_c(trim(name)//c_null_char, n, inputs, outputs)
  end function

  ! What was wrong in the last failed call of this thread; bodies are counted from 1 here.
  function polhode_error() result(text)
    character(:), allocatable :: text
    character(20) :: number
    integer :: first, last, status
    integer(c_int64_t) :: body
    text = text_at(polhode_error_c())
    first = index(text, "[")
    last = index(text, "] =")
    if (first == 0 .or. last < first) return
    read (text(first + 1:last - 1), *, iostat=status) body
    if (status /= 0) return
    write (number, "(i0)") body + 1
    text = text(:first)//trim(number)//text(last:)
  end function

  ! Body components of the vector with the space components v; q is a unit quaternion.
  pure function polhode_to_body(q, v) result(u)
    real(c_double), intent(in) :: q(4), v(3)
    real(c_double) :: u(3), a(3)
    a = 2*cross(v, q(2:))
    u = v + (q(1)*a + cross(a, q(2:)))
  end function

  ! Space components of the vector with the body components v.
  pure function polhode_to_space(q, v) result(u)
    real(c_double), intent(in) :: q(4), v(3)
    real(c_double) :: u(3)
    u = polhode_to_body([q(1), -q(2:)], v)
  end function

  pure function cross(u, v) result(w)
    real(c_double), intent(in) :: u(3), v(3)
    real(c_double) :: w(3)
    w = u([2, 3, 1])*v([3, 1, 2]) - u([3, 1, 2])*v([2, 3, 1])
  end function

  ! Version of the library that is loaded, such as "0.1.0".
  function polhode_version() result(text)
    character(:), allocatable :: text
    text = text_at(polhode_version_c())
  end function

  ! Its instruction-set level, such as "v3"; empty if there is none.
  function polhode_level() result(text)
    character(:), allocatable :: text
    text = text_at(polhode_level_c())
  end function

  ! Name of a method by its number from 0; empty where the list ends.
  function polhode_method_name(method) result(text)
    integer(c_int), intent(in) :: method
    character(:), allocatable :: text
    text = text_at(polhode_method_name_c(method))
  end function

  ! Name of a splitting scheme by its number from 0; empty where the list ends.
  function polhode_splitting_name(splitting) result(text)
    integer(c_int), intent(in) :: splitting
    character(:), allocatable :: text
    text = text_at(polhode_splitting_name_c(splitting))
  end function

  ! A text of C; empty for NULL.
  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    text = ""
    if (.not. c_associated(address)) return
    call c_f_pointer(address, letters, [c_strlen(address)])
    deallocate (text)
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function
end module
