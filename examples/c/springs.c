/* A ring of rigid bodies that move and rotate: from the arm of each body a spring leads to the arm
 * of the next.  Prints the energy at the start and at the end.
 *
 *     cc springs.c $(python -m polhode --includes --libs) -lm -o springs && ./springs
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "polhode.h"

enum { bodies = 12 };
static const double inertia[3] = {1.0, 1.5, 2.2}, mass = 3.0, stiffness = 4.0, arm = 0.4;

/* The ends of the arms: x + Q (arm, 0, 0).  Entry (k, 0) of Q is component 3 k. */
static void ends(const double* x, const double* q, int64_t stride, double end[bodies][3]) {
    for (int64_t i = 0; i < bodies; ++i) {
        for (int k = 0; k < 3; ++k) {
            end[i][k] = x[k * stride + i] + arm * q[3 * k * stride + i];
        }
    }
}

/* All bodies are at the same time: first = 0, n = bodies. */
static int springs(int64_t n,
                   int64_t first,
                   int64_t stride,
                   double t,
                   const double* x,
                   const double* p,
                   const double* m,
                   const double* q,
                   double* force,
                   double* torque,
                   void* user_data) {
    double end[bodies][3];
    (void)first, (void)t, (void)p, (void)m, (void)user_data;
    ends(x, q, stride, end);
    for (int64_t i = 0; i < n; ++i) {
        const double *left = end[(i + n - 1) % n], *right = end[(i + 1) % n];
        double body[3] = {0.0, 0.0, 0.0}; /* the force in the body frame */
        for (int k = 0; k < 3; ++k) {
            const double f = stiffness * (left[k] + right[k] - 2 * end[i][k]);
            force[k * stride + i] = f;
            for (int j = 0; j < 3; ++j) body[j] += q[(3 * k + j) * stride + i] * f;
        }
        torque[i] = 0.0; /* (arm, 0, 0) x body */
        torque[stride + i] = -arm * body[2];
        torque[2 * stride + i] = arm * body[1];
    }
    return 0;
}

static double energy(const double* x, const double* p, const double* m, const double* q) {
    double column_x[3 * bodies], column_q[9 * bodies], end[bodies][3], sum = 0.0;
    for (int i = 0; i < bodies; ++i) {
        for (int k = 0; k < 3; ++k) column_x[k * bodies + i] = x[3 * i + k];
        for (int k = 0; k < 9; ++k) column_q[k * bodies + i] = q[9 * i + k];
    }
    ends(column_x, column_q, bodies, end);
    for (int i = 0; i < bodies; ++i) {
        for (int k = 0; k < 3; ++k) {
            const double length = end[(i + 1) % bodies][k] - end[i][k];
            const double mk = m[3 * i + k], pk = p[3 * i + k];
            sum += 0.5 * (stiffness * length * length + pk * pk / mass + mk * mk / inertia[k]);
        }
    }
    return sum;
}

int main(void) {
    double x[3 * bodies] = {0}, p[3 * bodies] = {0}, m[3 * bodies] = {0}, q[9 * bodies] = {0};
    double before;
    if (polhode_abi() != POLHODE_ABI) return EXIT_FAILURE;
    for (int i = 0; i < bodies; ++i) {
        x[3 * i] = cos(6.283185307179586 * i / bodies);
        x[3 * i + 1] = sin(6.283185307179586 * i / bodies);
        m[3 * i + i % 3] = 1.0;
        for (int k = 0; k < 3; ++k) q[9 * i + 4 * k] = 1.0;
    }
    before = energy(x, p, m, q);
    if (polhode_integrate_moving(polhode_splitting("mclachlan6_9"),
                                 polhode_method("exact"),
                                 bodies,
                                 inertia,
                                 0,
                                 &mass,
                                 0,
                                 0.05,
                                 1000,
                                 0.0,
                                 springs,
                                 NULL,
                                 0,
                                 POLHODE_MATRIX_ROWS,
                                 1,
                                 x,
                                 p,
                                 m,
                                 q,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL) != POLHODE_OK) {
        fprintf(stderr, "%s\n", polhode_error());
        return EXIT_FAILURE;
    }
    printf("%.12f %.12f\n", before, energy(x, p, m, q));
    return EXIT_SUCCESS;
}
