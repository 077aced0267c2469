/// @file
/// The inner loops of polhode.elliptic, compiled once per instruction-set level.

#include <type_traits>

#include "elementwise.hpp"
#include "levels.hpp"
#include "polhode/elliptic/agm.hpp"
#include "polhode/elliptic/carlson.hpp"
#include "polhode/elliptic/jacobi.hpp"
#include "polhode/elliptic/legendre.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

constexpr auto agm = [](const auto* x, auto* y) { *y = elliptic::agm(x[0], x[1]); };
constexpr auto rf = [](const auto* x, auto* y) { *y = elliptic::rf(x[0], x[1], x[2]); };
constexpr auto rc = [](const auto* x, auto* y) { *y = elliptic::rc(x[0], x[1]); };
constexpr auto rd = [](const auto* x, auto* y) { *y = elliptic::rd(x[0], x[1], x[2]); };
constexpr auto rj = [](const auto* x, auto* y) { *y = elliptic::rj(x[0], x[1], x[2], x[3]); };

// The last two inputs of these are k2 and kc2.
constexpr auto jacobi = [](const auto* x, auto* y) {
    const auto r = elliptic::jacobi(x[0], x[1], x[2]);
    y[0] = r.sn, y[1] = r.cn, y[2] = r.dn, y[3] = r.am;
};
constexpr auto f = [](const auto* x, auto* y) { *y = elliptic::ellip_f(x[0], x[1], x[2]); };
constexpr auto k = [](const auto* x, auto* y) {
    *y = select(is_nan(x[0]), x[0], elliptic::ellip_k(x[1]));
};
constexpr auto pi = [](const auto* x, auto* y) { *y = elliptic::ellip_pi(x[0], x[1], x[2], x[3]); };
constexpr auto pi_complete = [](const auto* x, auto* y) {
    *y = elliptic::ellip_pi_complete(x[0], x[1], x[2]);
};

/// The same kernel for k2 alone: then 1 - k2 has all the digits there are.
template <int Inputs, auto kernel>
constexpr auto from_k2 = [](const auto* x, auto* y) {
    std::remove_cvref_t<decltype(*x)> with_kc2[Inputs + 1];
    for (int i = 0; i < Inputs; ++i) with_kc2[i] = x[i];
    with_kc2[Inputs] = 1.0 - x[Inputs - 1];
    kernel(static_cast<decltype(x)>(with_kc2), y);
};

constexpr dispatch::EllipticTable loops = {
    elementwise<2, 1, agm>,
    elementwise<3, 1, rf>,
    elementwise<2, 1, rc>,
    elementwise<3, 1, rd>,
    elementwise<4, 1, rj>,
    elementwise<2, 4, from_k2<2, jacobi>>,
    elementwise<3, 4, jacobi>,
    elementwise<2, 1, from_k2<2, f>>,
    elementwise<3, 1, f>,
    elementwise<1, 1, from_k2<1, k>>,
    elementwise<2, 1, k>,
    elementwise<3, 1, from_k2<3, pi>>,
    elementwise<4, 1, pi>,
    elementwise<2, 1, from_k2<2, pi_complete>>,
    elementwise<3, 1, pi_complete>,
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const EllipticTable POLHODE_TABLE(elliptic);
const EllipticTable POLHODE_TABLE(elliptic) = POLHODE_LEVEL::loops;
}  // namespace polhode::dispatch
