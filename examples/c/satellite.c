/* A small satellite with a magnet in the field of the Earth's dipole, in an eccentric orbit: a
 * torque of your own that depends on time and attitude.  SI units.
 *
 *     cc satellite.c $(python -m polhode --includes --libs) -o satellite && ./satellite
 */
#include <stdio.h>
#include <stdlib.h>

#include "polhode.h"

/* magnet x b, in the body frame. */
static int torque_of(int64_t n,
                     int64_t first,
                     int64_t stride,
                     double t,
                     const double* m,
                     const double* q,
                     double* torque,
                     void* user_data) {
    const double* magnet = user_data;
    const double position[3] = {7e6, 0.0, 0.0}, velocity[3] = {0.0, 4e3, 7e3};
    const double earth[3] = {0.0, 0.0, -7.75e22};
    double r[3], v[3], field[3];
    (void)first, (void)m;
    if (polhode_orbit_state(3.986004418e14, position, velocity, t, r, v) != POLHODE_OK) return 1;
    polhode_dipole_field(r, earth, 1e-7, field);
    for (int64_t i = 0; i < n; ++i) {
        const double attitude[4] = {q[i], q[stride + i], q[2 * stride + i], q[3 * stride + i]};
        double b[3];
        polhode_to_body(attitude, field, b);
        torque[i] = magnet[1] * b[2] - magnet[2] * b[1];
        torque[stride + i] = magnet[2] * b[0] - magnet[0] * b[2];
        torque[2 * stride + i] = magnet[0] * b[1] - magnet[1] * b[0];
    }
    return 0; /* another value ends the run */
}

int main(void) {
    const double inertia[3] = {0.04, 0.045, 0.008};
    double magnet[3] = {0.0, 0.0, 0.5};
    double m[3] = {4e-4, -2e-4, 1e-4}, q[4] = {1.0, 0.0, 0.0, 0.0};
    const int scheme = polhode_splitting("rkn6_14"), method = polhode_method("exact");
    for (int k = 1; k <= 5; ++k) {
        double space[3];
        if (polhode_integrate(scheme, method, 1, inertia, 0, 2.0, 300, 600.0 * (k - 1), torque_of,
                              magnet, 0, POLHODE_QUATERNION, 1, m, q, 0, NULL, NULL) != POLHODE_OK) {
            fprintf(stderr, "%s\n", polhode_error());
            return EXIT_FAILURE;
        }
        polhode_to_space(q, m, space);
        printf("%6.0f %24.16e %24.16e %24.16e\n", 600.0 * k, space[0], space[1], space[2]);
    }
    return EXIT_SUCCESS;
}
