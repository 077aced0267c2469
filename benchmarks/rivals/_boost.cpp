// Boost's elliptic functions over arrays, for _elliptic.py, which compiles this file and calls it
// by ctypes.  Boost takes the modulus k, polhode k2 = k^2.

#include <boost/math/special_functions/ellint_1.hpp>
#include <boost/math/special_functions/ellint_rc.hpp>
#include <boost/math/special_functions/ellint_rd.hpp>
#include <boost/math/special_functions/ellint_rf.hpp>
#include <boost/math/special_functions/ellint_rj.hpp>
#include <boost/math/special_functions/jacobi_elliptic.hpp>
#include <cmath>

namespace bm = boost::math;

namespace {
using Plain = bm::policies::policy<>;
using Double = bm::policies::policy<bm::policies::promote_double<false>>;
}  // namespace

// ARRAYS(double) evaluates in double, ARRAYS(plain) by Boost's default: in long double.
#define ARRAYS(SUFFIX, POLICY)                                                                     \
    extern "C" void jacobi_##SUFFIX(                                                               \
        long n, const double* u, const double* k2, double* sn, double* cn, double* dn) {           \
        for (long i = 0; i < n; ++i)                                                               \
            sn[i] = bm::jacobi_elliptic(std::sqrt(k2[i]), u[i], cn + i, dn + i, POLICY());         \
    }                                                                                              \
    extern "C" void rj_##SUFFIX(                                                                   \
        long n, const double* x, const double* y, const double* z, const double* p, double* out) { \
        for (long i = 0; i < n; ++i) out[i] = bm::ellint_rj(x[i], y[i], z[i], p[i], POLICY());     \
    }                                                                                              \
    extern "C" void rf_##SUFFIX(                                                                   \
        long n, const double* x, const double* y, const double* z, double* out) {                  \
        for (long i = 0; i < n; ++i) out[i] = bm::ellint_rf(x[i], y[i], z[i], POLICY());           \
    }                                                                                              \
    extern "C" void rd_##SUFFIX(                                                                   \
        long n, const double* x, const double* y, const double* z, double* out) {                  \
        for (long i = 0; i < n; ++i) out[i] = bm::ellint_rd(x[i], y[i], z[i], POLICY());           \
    }                                                                                              \
    extern "C" void rc_##SUFFIX(long n, const double* x, const double* y, double* out) {           \
        for (long i = 0; i < n; ++i) out[i] = bm::ellint_rc(x[i], y[i], POLICY());                 \
    }                                                                                              \
    extern "C" void ellip_f_##SUFFIX(long n, const double* phi, const double* k2, double* out) {   \
        for (long i = 0; i < n; ++i) out[i] = bm::ellint_1(std::sqrt(k2[i]), phi[i], POLICY());    \
    }

ARRAYS(double, Double)
ARRAYS(plain, Plain)
