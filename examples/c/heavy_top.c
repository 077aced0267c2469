/* The heavy top of [CZ08], driver_example1: a splitting method of order six, through the C
 * interface.
 *
 *     cc heavy_top.c $(python -m polhode --includes --libs) -o heavy_top && ./heavy_top
 */
#include <stdio.h>
#include <stdlib.h>

#include "polhode.h"

/* u x (0, 0, 1) with u = Q^T u0, the torque of the weight in the body frame.  Entry (i, j) of Q is
 * component 3 i + j. */
static int weight(int64_t n,
                  int64_t first,
                  int64_t stride,
                  double t,
                  const double* m,
                  const double* q,
                  double* torque,
                  void* user_data) {
    const double* u0 = user_data;
    (void)first, (void)t, (void)m;
    for (int64_t i = 0; i < n; ++i) {
        double u[2] = {0.0, 0.0};
        for (int k = 0; k < 3; ++k) {
            u[0] += q[(3 * k) * stride + i] * u0[k];
            u[1] += q[(3 * k + 1) * stride + i] * u0[k];
        }
        torque[i] = u[1];
        torque[stride + i] = -u[0];
        torque[2 * stride + i] = 0.0;
    }
    return 0; /* another value ends the run */
}

static void check(int status) {
    if (status == POLHODE_OK) return;
    fprintf(stderr, "%s\n", polhode_error());
    exit(EXIT_FAILURE);
}

int main(void) {
    const double inertia[3] = {1.0, 1.0126869887825154, 3.3062374224730378};
    double u0[3] = {9.5586303547238536e-05, 4.8777318247201465e-04, -8.6772148817192390e-04};
    double m[3] = {-3.4790957088547336e-01, -1.9822914599675923e-01, -9.1633189192763642e-01};
    double q[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int scheme = polhode_splitting("rkn6_14"), method = polhode_method("exact");
    const double h = 0.5;
    if (polhode_abi() != POLHODE_ABI) return EXIT_FAILURE;
    for (int64_t steps = 0; steps < 1000; steps += 100) {
        check(polhode_integrate(scheme,
                                method,
                                1,
                                inertia,
                                0,
                                h,
                                100,
                                h * (double)steps,
                                weight,
                                u0,
                                0,
                                POLHODE_MATRIX_ROWS,
                                1,
                                m,
                                q,
                                0,
                                NULL,
                                NULL));
        printf("%6.1f %20.16f %20.16f %20.16f\n", h * (double)(steps + 100), m[0], m[1], m[2]);
    }
    return EXIT_SUCCESS;
}
