/* polhode from C and Fortran: link with -lpolhode (`python -m polhode --includes --libs`).
 *
 * Conventions.  Bodies lie one after another: momenta m (bodies, 3) in the body frame, principal
 * moments of inertia (bodies, 3) along the same axes, attitudes that take body components to space
 * components: unit quaternions (bodies, 4), scalar first, or rotation matrices (bodies, 3, 3), row
 * by row or, as Fortran stores them, column by column.  m' = m x omega + torque.  Any consistent
 * units; angles in radians; time steps of either sign.
 *
 * Every function that can fail returns a status.  After POLHODE_BAD_ARGUMENT nothing is written;
 * polhode_error() says what was wrong and names the first such body.  Arrays that a function writes
 * share no memory with its other arrays, except where it is said.  NaN or infinity in m, q or h
 * of one body makes that body NaN and no other; moments of inertia must be finite.  The functions
 * are as accurate as the Python functions of the same name.  All functions may be called from
 * several threads at the same time.
 */
#ifndef POLHODE_H
#define POLHODE_H

#include <stdint.h>

#if defined(POLHODE_BUILDS_LIBRARY) && defined(__GNUC__)
#define POLHODE_FUNCTION __attribute__((visibility("default")))
#else
#define POLHODE_FUNCTION
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a function is changed or removed, and not when one is added: compare with
 * polhode_abi(). */
#define POLHODE_ABI 1

enum polhode_status {
    POLHODE_OK = 0,
    POLHODE_BAD_ARGUMENT = 1,
    POLHODE_NO_MEMORY = 2,
    POLHODE_NO_LEVEL = 3, /* the processor lacks what POLHODE_ISA asks for */
    POLHODE_FAILED = 4,
    POLHODE_STOPPED = 5 /* by a torque */
};

enum polhode_attitude {
    POLHODE_QUATERNION = 0,
    POLHODE_MATRIX_ROWS = 1,   /* entry (i, j) at 3 i + j, as in C */
    POLHODE_MATRIX_COLUMNS = 2 /* entry (i, j) at i + 3 j, as in Fortran */
};

/* POLHODE_ABI of the library that is loaded. */
POLHODE_FUNCTION int polhode_abi(void);
/* Its version, such as "0.1.0". */
POLHODE_FUNCTION const char* polhode_version(void);
/* Its instruction-set level, such as "v3", chosen at the first call; NULL if there is none. */
POLHODE_FUNCTION const char* polhode_level(void);
/* What was wrong in the last failed call of this thread; the text is valid until the next one. */
POLHODE_FUNCTION const char* polhode_error(void);

/* Number of a method, such as "exact" or "dmv8", or of a splitting scheme, such as "strang", by its
 * name; -1 if there is none.  Options of docs/methods.md follow the name of a method, as in
 * "symmetric_rotation axes=312 energy_correction=buss"; others have their defaults.  The numbers
 * belong to the loaded library: do not store them. */
POLHODE_FUNCTION int polhode_method(const char* name);
POLHODE_FUNCTION int polhode_splitting(const char* name);
/* Number of your own scheme of flows a and kicks b in turn; with as many flows as kicks it begins
 * with a flow.  Each list adds up to 1.  -1 if the arguments are invalid. */
POLHODE_FUNCTION int polhode_splitting_of(int flows, const double* a, int kicks, const double* b);
/* Number of the Munthe-Kaas Runge-Kutta method with this Butcher tableau: a (stages, stages) row by
 * row, b (stages); see polhode.rkmk in Python.  -1 if the arguments are invalid. */
POLHODE_FUNCTION int polhode_rkmk(int stages, const double* a, const double* b);
/* Releases the number of a method with options or a tableau, or of your own scheme.  Each call that
 * has returned the number needs one.  Without it the library keeps them until it is unloaded. */
POLHODE_FUNCTION void polhode_method_free(int method);
POLHODE_FUNCTION void polhode_splitting_free(int splitting);
/* The names in the order of the numbers from 0; NULL where the list ends. */
POLHODE_FUNCTION const char* polhode_method_name(int method);
POLHODE_FUNCTION const char* polhode_splitting_name(int splitting);

/* n_steps torque-free steps of time h of a batch.
 *
 * inertia_stride is 3, or 0 where all bodies share the three moments; h_stride is 1 or 0.
 * attitude is one of enum polhode_attitude.  threads: a number, -1 all cores, 0
 * POLHODE_NUM_THREADS (read when the library is loaded) or one.  m_out and q_out may be m and q.
 * lost, if not NULL, gets the number of bodies whose step has
 * no result (a step of an implicit method that did not converge, or too long for a correct digit):
 * they are NaN.
 */
POLHODE_FUNCTION int polhode_step(int method,
                                  int64_t bodies,
                                  const double* inertia,
                                  int64_t inertia_stride,
                                  const double* m,
                                  const double* q,
                                  int attitude,
                                  const double* h,
                                  int64_t h_stride,
                                  int64_t n_steps,
                                  int threads,
                                  double* m_out,
                                  double* q_out,
                                  int64_t* lost);

/* The closed form of the torque-free motion at any times, from constants that are set up once. */
typedef struct polhode_motion polhode_motion;
POLHODE_FUNCTION int polhode_motion_new(int64_t bodies,
                                        const double* inertia,
                                        int64_t inertia_stride,
                                        const double* m0,
                                        const double* q0,
                                        int attitude,
                                        polhode_motion** motion);
/* m (times, bodies, 3) and q (times, bodies, 4 or 9) at t (times,). */
POLHODE_FUNCTION int polhode_motion_at(const polhode_motion* motion,
                                       int64_t times,
                                       const double* t,
                                       int threads,
                                       double* m,
                                       double* q);
/* Period of m in the body frame, (bodies,); infinity where m does not return or does not move. */
POLHODE_FUNCTION int polhode_motion_period(const polhode_motion* motion, double* period);
POLHODE_FUNCTION void polhode_motion_free(polhode_motion* motion);

/* A torque in the body frame, of bodies first ... first + n - 1 at time t.  Component k of body
 * first + i is m[k * stride + i], q[k * stride + i] and torque[k * stride + i]; a matrix has its
 * nine components row by row.  It sets all of torque and returns 0; another value ends the run at
 * once.  It must not throw.
 *
 * Each call has the whole batch at the same time: first = 0, n = bodies.  So the torque on a body
 * may depend on other bodies.  With POLHODE_INDEPENDENT it must not: then a call has a part of the
 * batch, parts are at different times, and several threads call the function at the same time. */
typedef int (*polhode_torque)(int64_t n,
                              int64_t first,
                              int64_t stride,
                              double t,
                              const double* m,
                              const double* q,
                              double* torque,
                              void* user_data);

enum polhode_torque_flags {
    POLHODE_DEPENDS_ON_M = 1, /* the torque depends on m; without it the order would be 1 */
    POLHODE_INDEPENDENT = 2   /* the torque on a body depends only on this body; faster */
};

/* The same of bodies that also move: force and torque, from the centres of mass x and their momenta
 * p too.  x, p and force are in the space frame. */
typedef int (*polhode_force)(int64_t n,
                             int64_t first,
                             int64_t stride,
                             double t,
                             const double* x,
                             const double* p,
                             const double* m,
                             const double* q,
                             double* force,
                             double* torque,
                             void* user_data);

/* For torques of your own.  Components of a vector in the body frame from those in the space frame,
 * and back; q is a unit quaternion.  out may be v. */
static inline void polhode_to_body(const double q[4], const double v[3], double out[3]) {
    const double a = 2 * (v[1] * q[3] - v[2] * q[2]), b = 2 * (v[2] * q[1] - v[0] * q[3]),
                 c = 2 * (v[0] * q[2] - v[1] * q[1]);
    const double x = v[0] + (q[0] * a + (b * q[3] - c * q[2])),
                 y = v[1] + (q[0] * b + (c * q[1] - a * q[3])),
                 z = v[2] + (q[0] * c + (a * q[2] - b * q[1]));
    out[0] = x, out[1] = y, out[2] = z;
}
static inline void polhode_to_space(const double q[4], const double v[3], double out[3]) {
    const double back[4] = {q[0], -q[1], -q[2], -q[3]};
    polhode_to_body(back, v, out);
}
/* Position and velocity at time t on the Kepler ellipse through those at t = 0, around a point mass
 * of gravitational parameter mu; see polhode.torques.Orbit in Python. */
POLHODE_FUNCTION int polhode_orbit_state(double mu,
                                         const double position[3],
                                         const double velocity[3],
                                         double t,
                                         double position_at_t[3],
                                         double velocity_at_t[3]);
/* constant (3 (moment . u) u - moment)/r^3, the field of a dipole at the position r u from it; SI:
 * constant = 1e-7 for a magnetic one.  Not finite at r = 0. */
POLHODE_FUNCTION void polhode_dipole_field(const double position[3],
                                           const double moment[3],
                                           double constant,
                                           double field[3]);

/* n_steps steps of a splitting method: free motion by `method`, kicks by `torque` (NULL: none).
 *
 * m and q are the state at time t0 and become the state at the end.  torque_flags is 0 or a sum of
 * polhode_torque_flags.  If m_saved is not NULL, m_saved (saves, bodies, 3) and q_saved (saves,
 * bodies, 4 or 9) get the start, every save_every-th step and the end: saves = 1 + ceil(n_steps /
 * save_every).  Schemes with a modified potential need derivatives of the torque, which a function
 * does not give.  POLHODE_STOPPED: the torque has ended the run; m and q are unchanged, and m_saved
 * and q_saved are not valid. */
POLHODE_FUNCTION int polhode_integrate(int splitting,
                                       int method,
                                       int64_t bodies,
                                       const double* inertia,
                                       int64_t inertia_stride,
                                       double h,
                                       int64_t n_steps,
                                       double t0,
                                       polhode_torque torque,
                                       void* user_data,
                                       int torque_flags,
                                       int attitude,
                                       int threads,
                                       double* m,
                                       double* q,
                                       int64_t save_every,
                                       double* m_saved,
                                       double* q_saved);
/* The same of bodies that also move, x' = p / mass, p' = force: mass (bodies,), or shared with a
 * mass_stride of 0 instead of 1; x, p and, if not NULL, x_saved and p_saved as m and m_saved, all
 * four of which are then given.  POLHODE_DEPENDS_ON_M: force or torque depend on m or p. */
POLHODE_FUNCTION int polhode_integrate_moving(int splitting,
                                              int method,
                                              int64_t bodies,
                                              const double* inertia,
                                              int64_t inertia_stride,
                                              const double* mass,
                                              int64_t mass_stride,
                                              double h,
                                              int64_t n_steps,
                                              double t0,
                                              polhode_force force,
                                              void* user_data,
                                              int torque_flags,
                                              int attitude,
                                              int threads,
                                              double* x,
                                              double* p,
                                              double* m,
                                              double* q,
                                              int64_t save_every,
                                              double* x_saved,
                                              double* p_saved,
                                              double* m_saved,
                                              double* q_saved);

/* Of the last polhode_integrate or polhode_integrate_moving of this thread that returned
 * POLHODE_OK: the number of bodies whose state was finite and is not at the end, because the torque
 * or the force was not finite, a step was too long, or an implicit method found no solution. */
POLHODE_FUNCTION int64_t polhode_lost(void);

/* A function of n elements by its name.  The arrays of pointers hold the inputs, then the outputs,
 * contiguous.  Elliptic functions: "agm", "rf", "rc", "rd", "rj", "jacobi" (u, k2 -> sn, cn, dn,
 * am), "ellip_f" (phi, k2), "ellip_k" (k2), "ellip_pi" (n, phi, k2), "ellip_pi_complete" (n,
 * k2).  Each function of k2 also exists with _kc2 at the end of its name: its last input is kc2 =
 * 1 - k2.  "symmetric_eigen" (tensors (n, 3, 3) -> moments (n, 3), axes (n, 3, 3), in columns:
 * nearest to the axes of the tensor, among their permutations and signs).  "so3_to_matrix" (q ->
 * Q), "so3_to_quaternion" (Q -> q), "so3_rotate" (q, v -> v in space). */
POLHODE_FUNCTION int polhode_function(const char* name,
                                      int64_t n,
                                      const double* const* inputs,
                                      double* const* outputs);

/* The two routines of [CZ08] with their arguments, as Fortran calls them: one exact step by method
 * "frb".  Q is stored column by column.  Invalid arguments give NaN. */
POLHODE_FUNCTION void frb_step_(double* Piout,
                                double* Qout,
                                const double* h,
                                const double* aInert,
                                const double* Piin,
                                const double* Qin);
POLHODE_FUNCTION void quat_step_(double* Piout,
                                 double* qout,
                                 const double* h,
                                 const double* aInert,
                                 const double* Piin,
                                 const double* qin);

#ifdef __cplusplus
}
#endif

#endif
