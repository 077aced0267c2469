#pragma once

/// The functions of polhode.elliptic, one row each: the ufuncs here and in polhode.quad are
/// made from this list.

#include "polhode/elliptic/agm.hpp"
#include "polhode/elliptic/carlson.hpp"
#include "polhode/elliptic/jacobi.hpp"
#include "polhode/elliptic/legendre.hpp"

POLHODE_NAMESPACE_BEGIN(elliptic)

/// A kernel(const T* x, T* y) that reads `inputs` numbers at x and writes `outputs` numbers at y.
template <int Inputs, int Outputs, auto kernel>
struct Function {
    static constexpr int inputs = Inputs;
    static constexpr int outputs = Outputs;
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        kernel(x, y);
    }
};

/// The same function without its last input kc2 = 1 - k2; the one before is k2.
template <class F>
struct WithoutComplement {
    static constexpr int inputs = F::inputs - 1;
    static constexpr int outputs = F::outputs;
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        T with_kc2[F::inputs];
        for (int i = 0; i < inputs; ++i) with_kc2[i] = x[i];
        with_kc2[inputs] = 1.0 - x[inputs - 1];
        F::apply(static_cast<const T*>(with_kc2), y);
    }
};

/// Calls of(name, Function) for functions whose inputs are all there are, and of_k2(name, name with
/// the complement, Function) for those whose last two inputs are k2 and kc2.
template <class Of, class OfK2>
constexpr void for_each_function(Of of, OfK2 of_k2) {
#define POLHODE_ONE_VALUE(inputs, value) \
    Function<inputs, 1, [](const auto* x, auto* y) { *y = value; }> {}
    of("agm", POLHODE_ONE_VALUE(2, agm(x[0], x[1])));
    of("rf", POLHODE_ONE_VALUE(3, rf(x[0], x[1], x[2])));
    of("rc", POLHODE_ONE_VALUE(2, rc(x[0], x[1])));
    of("rd", POLHODE_ONE_VALUE(3, rd(x[0], x[1], x[2])));
    of("rj", POLHODE_ONE_VALUE(4, rj(x[0], x[1], x[2], x[3])));
    of_k2("jacobi", "jacobi_kc2", Function<3, 4, [](const auto* x, auto* y) {
              const auto r = jacobi(x[0], x[1], x[2]);
              y[0] = r.sn, y[1] = r.cn, y[2] = r.dn, y[3] = r.am;
          }>{});
    of_k2("ellip_f", "ellip_f_kc2", POLHODE_ONE_VALUE(3, ellip_f(x[0], x[1], x[2])));
    of_k2(
        "ellip_k", "ellip_k_kc2", POLHODE_ONE_VALUE(2, select(is_nan(x[0]), x[0], ellip_k(x[1]))));
    of_k2("ellip_pi", "ellip_pi_kc2", POLHODE_ONE_VALUE(4, ellip_pi(x[0], x[1], x[2], x[3])));
    of_k2("ellip_pi_complete",
          "ellip_pi_complete_kc2",
          POLHODE_ONE_VALUE(3, ellip_pi_complete(x[0], x[1], x[2])));
#undef POLHODE_ONE_VALUE
}

POLHODE_NAMESPACE_END
