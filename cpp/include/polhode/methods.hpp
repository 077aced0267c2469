#pragma once

/// @file
/// THE list of methods.  Whatever enumerates methods reads it: step(method=...), methods(), the
/// dispatch tables, FLOP counts, benchmarks and the law tests.
///
/// A method is a type with a row of facts and
///
///     template <class T>
///     static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h);
///
/// in sorted axes, the largest component of m within 2^20 of 1.  A new method is one kernel and one
/// row.  Kernels that take much longer than a loop over arrays say `shares_loop`
/// (batch/stepping.hpp), which keeps compilation short; methods that differ in data only name one
/// `kernel` (moser_veselov/step.hpp) in place of a step.  A method with options has them as members
/// with their defaults, names them in its row, makes itself of their values by `static Method
/// with(const OptionValues&)`, and its step is no static function; a kernel makes itself by `Kernel
/// with(const OptionValues&) const`.  One that names axes of the user's says `user_axes` and gets m
/// along them.

#include "polhode/batch_arguments.hpp"
#include "polhode/lie/implicit.hpp"
#include "polhode/lie/munthe_kaas.hpp"
#include "polhode/magnus/free_body.hpp"
#include "polhode/method_info.hpp"
#include "polhode/moser_veselov/step.hpp"
#include "polhode/multistep/multistep.hpp"
#include "polhode/rotations/no_squish.hpp"
#include "polhode/rotations/symmetric_rotation.hpp"
#include "polhode/rotations/three_rotations.hpp"
#include "polhode/runge_kutta/rk4.hpp"
#include "polhode/taylor/rotation.hpp"
#include "polhode/torque_free/exact.hpp"
#include "polhode/torque_free/factorization.hpp"
#include "polhode/torque_free/frb.hpp"
#include "polhode/torque_free/gauss.hpp"

POLHODE_NAMESPACE_BEGIN

struct Exact {
    static constexpr MethodInfo info{"exact",
                                     0,
                                     "exact",
                                     "energy casimir momentum_spatial",
                                     true,
                                     "",
                                     "[CZ08], without inverse functions"};
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return torque_free::exact_step(body, m, h);
    }
};

struct Frb {
    static constexpr MethodInfo info{
        "frb", 0, "exact", "energy casimir momentum_spatial", true, "", "[CZ08] Algorithm 2"};
    static constexpr bool shares_loop = true;
    template <class T>
    static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return torque_free::frb_step(body, m, h);
    }
};

/// gauss1 ... gauss10: P nodes.
template <int P>
struct Gauss {
    static constexpr const char* names[] = {"gauss1",
                                            "gauss2",
                                            "gauss3",
                                            "gauss4",
                                            "gauss5",
                                            "gauss6",
                                            "gauss7",
                                            "gauss8",
                                            "gauss9",
                                            "gauss10"};
    static constexpr MethodInfo info{names[P - 1],
                                     2 * P,
                                     "semi-exact",
                                     "energy casimir momentum_spatial",
                                     true,
                                     "",
                                     "[CZ08] eq. (20)"};
    static constexpr bool shares_loop = true;
    template <class T>
    static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return torque_free::gauss_step(body, m, h, P);
    }
};

/// dmv2 ... dmv18: order 2 P.
template <int P>
struct MoserVeselov {
    static constexpr const char* names[] = {
        "dmv2", "dmv4", "dmv6", "dmv8", "dmv10", "dmv12", "dmv14", "dmv16", "dmv18"};
    static constexpr MethodInfo info{names[P - 1],
                                     2 * P,
                                     "discrete Moser-Veselov",
                                     "energy casimir momentum_spatial",
                                     true,
                                     "",
                                     P == 1 ? "[Vil13] Algorithm 3" : "[Vil13] Algorithm 4",
                                     true};
    static constexpr moser_veselov::Kernel kernel{P, false};
};

struct Midpoint {
    static constexpr MethodInfo info{"midpoint",
                                     2,
                                     "implicit midpoint",
                                     "energy casimir momentum_spatial",
                                     true,
                                     "",
                                     "[Vil13] Remark 4",
                                     true};
    static constexpr moser_veselov::Kernel kernel{1, true};
};

/// magnus2, magnus4, magnus6, magnus8.
template <int Order>
struct Magnus {
    static constexpr const char* names[] = {"magnus2", "magnus4", "magnus6", "magnus8"};
    static constexpr const char* sources[] = {
        "[Gus10] eq. (22)", "[Gus10] eq. (23)", "[Gus10] eq. (24)", "[Gus10] eq. (25)"};
    static constexpr MethodInfo info{
        names[Order / 2 - 1], Order, "magnus", "energy casimir", true, "", sources[Order / 2 - 1]};
    static constexpr bool shares_loop = true;
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return magnus::free_step<Order>(body, m, h);
    }
};

/// factorization2, factorization4, factorization6, factorization8: named by the order.
template <int Order>
struct Factorization {
    static constexpr const char* names[] = {
        "factorization2", "factorization4", "factorization6", "factorization8"};
    static constexpr MethodInfo info{names[Order / 2 - 1],
                                     Order,
                                     "factorization",
                                     "energy casimir momentum_spatial",
                                     true,
                                     "c0=0.7071067811865476 c3=0.0",
                                     "[Gus10] eqs (31) to (36)"};
    static constexpr bool shares_loop = true;
    double c0 = 0.7071067811865476, c3 = 0.0;

    static Factorization with(const OptionValues& options) {
        return {options.value[0], options.value[1]};
    }
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        return torque_free::factorization_step<Order / 2>(body, m, h, c0, c3);
    }
};

/// rotations123 ... rotations321: the axes outside, next and in the middle; with suffix _4 composed
/// to order 4.
template <int Axes, bool Fourth>
struct Rotations {
    static constexpr char a = '0' + Axes / 100, b = '0' + Axes / 10 % 10, c = '0' + Axes % 10;
    static constexpr char name_2[] = {'r', 'o', 't', 'a', 't', 'i', 'o', 'n', 's', a, b, c, 0};
    static constexpr char name_4[] = {
        'r', 'o', 't', 'a', 't', 'i', 'o', 'n', 's', a, b, c, '_', '4', 0};
    static constexpr char options[] = {
        'a', 'x', 'e', 's', '=', '(', a,   ',', b,   ',', c,   ')', ' ', 'c', 'a', 'y', 'l',
        'e', 'y', '=', 'F', 'a', 'l', 's', 'e', ' ', 'e', 'n', 'e', 'r', 'g', 'y', '_', 'c',
        'o', 'r', 'r', 'e', 'c', 't', 'i', 'o', 'n', '=', 'F', 'a', 'l', 's', 'e', 0};
    static constexpr MethodInfo info{Fourth ? name_4 : name_2,
                                     Fourth ? 4 : 2,
                                     "rotations",
                                     "casimir momentum_spatial",
                                     true,
                                     options,
                                     Fourth ? "[Buss01] Sec. 3, McLachlan-Reich fourth order"
                                            : "[Vil13] Three rotation splitting; [Buss01] Sec. 3",
                                     false,
                                     true};
    static constexpr rotations::ThreeRotations kernel{rotations::NamedAxes::of(Axes), Fourth};
};

struct SymmetricRotation {
    static constexpr MethodInfo info{"symmetric_rotation",
                                     2,
                                     "rotations",
                                     "casimir momentum_spatial",
                                     true,
                                     "axes=None energy_correction=False",
                                     "[Vil13] Algorithm 2",
                                     false,
                                     true};
    static constexpr rotations::SymmetricRotation kernel{};
};

struct NoSquish {
    static constexpr MethodInfo info{"no_squish",
                                     2,
                                     "rotations",
                                     "casimir momentum_spatial",
                                     true,
                                     "axes=(3,2,1) energy_correction=False",
                                     "[MEP02]",
                                     false,
                                     true};
    static constexpr rotations::NoSquish kernel{};
};

/// trap, imid, trapm, imidm, swc1, akw, bbtrap, bbtrapwd, euler_forward, euler_backward.
template <lie::Scheme S>
struct Krysl {
    static constexpr bool is_euler =
        S == lie::Scheme::euler_forward || S == lie::Scheme::euler_backward;
    /// Those that keep the momentum in space and not the energy.
    static constexpr bool corrects = is_euler || S == lie::Scheme::trapm ||
                                     S == lie::Scheme::imidm || S == lie::Scheme::bbtrapwd;
    static constexpr const char* names[] = {"euler_forward",
                                            "euler_backward",
                                            "",
                                            "",
                                            "trap",
                                            "imid",
                                            "trapm",
                                            "imidm",
                                            "swc1",
                                            "akw",
                                            "bbtrap",
                                            "bbtrapwd"};
    static constexpr const char* invariants =
        S == lie::Scheme::trap   ? ""
        : S == lie::Scheme::imid ? "energy casimir"
        : S == lie::Scheme::swc1 || S == lie::Scheme::akw || S == lie::Scheme::bbtrap
            ? "energy casimir momentum_spatial"
            : "casimir momentum_spatial";
    static constexpr MethodInfo info{names[static_cast<int>(S)],
                                     is_euler ? 1 : 2,
                                     "implicit Lie",
                                     invariants,
                                     !is_euler && S != lie::Scheme::bbtrapwd,
                                     is_euler   ? "form='momentum' energy_correction=False"
                                     : corrects ? "energy_correction=False"
                                                : "",
                                     "[Krysl07] Sec. 3",
                                     S != lie::Scheme::euler_forward,
                                     corrects};
    static constexpr lie::Kernel kernel{S};
};

/// rkmk4, rkmk_midpoint, rkmk_gauss2, rkmk_gauss4; rkmk: any tableau, given with the options.
enum class Rkmk { classical, midpoint, gauss2, gauss4, any };
template <Rkmk Which>
struct MuntheKaas {
    static constexpr int which = static_cast<int>(Which);
    static constexpr bool is_implicit = Which == Rkmk::gauss2 || Which == Rkmk::gauss4;
    static constexpr const char* names[] = {
        "rkmk4", "rkmk_midpoint", "rkmk_gauss2", "rkmk_gauss4", "rkmk"};
    static constexpr const double* tableaus[] = {lie::rkmk4_tableau,
                                                 lie::rkmk_midpoint_tableau,
                                                 lie::rkmk_gauss2_tableau,
                                                 lie::rkmk_gauss4_tableau,
                                                 lie::rkmk4_tableau};
    static constexpr int orders[] = {4, 2, 2, 4, 0};
    static constexpr MethodInfo info{names[which],
                                     orders[which],
                                     "Munthe-Kaas Runge-Kutta",
                                     "casimir momentum_spatial",
                                     Which == Rkmk::gauss2,
                                     "energy_correction=False",
                                     "[MK98]; [Krysl07] Sec. 3.7",
                                     is_implicit || Which == Rkmk::any,
                                     true};
    static constexpr lie::MuntheKaas kernel{tableaus[which]};
};

/// taylor1 ... taylor6, taylor2_augmented, taylor3_false.
template <int Kind>
struct Taylor {
    static constexpr const char* names[] = {"taylor1",
                                            "taylor2",
                                            "taylor3",
                                            "taylor4",
                                            "taylor5",
                                            "taylor6",
                                            "taylor2_augmented",
                                            "taylor3_false"};
    static constexpr MethodInfo info{names[Kind - 1],
                                     Kind <= 6 ? Kind : 2,
                                     "taylor",
                                     "casimir momentum_spatial",
                                     false,
                                     "energy_correction=False",
                                     Kind == 5 || Kind == 6 ? "[Buss01] Sec. 5" : "[Buss01] Sec. 2",
                                     false,
                                     true};
    static constexpr bool shares_loop = true;
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return taylor::free_step<Kind>(body, m, h);
    }
};

/// rk4, rk4_rotation.
template <class Way>
struct RungeKutta {
    static constexpr bool of_quaternion = __is_same(Way, runge_kutta::OfQuaternion);
    static constexpr MethodInfo info{
        of_quaternion ? "rk4" : "rk4_rotation",
        of_quaternion ? 4 : 2,
        "runge-kutta",
        "casimir momentum_spatial",
        false,
        "energy_correction=False",
        of_quaternion ? "classical, on the quaternion" : "[Buss01] Sec. 3, Euclidean Runge-Kutta",
        false,
        true};
    static constexpr bool shares_loop = true;
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        const Vec3<T> inverse{body.inverse_I1, body.inverse_I2, body.inverse_I3};
        return runge_kutta::free_step<Way>(inverse, m, h);
    }
};

/// abam_rotation, simo_wong_explicit.
template <class Kernel>
struct Multistep {
    static constexpr bool is_abam = __is_same(Kernel, multistep::Abam);
    static constexpr MethodInfo info{
        is_abam ? "abam_rotation" : "simo_wong_explicit",
        2,
        "multistep",
        "casimir momentum_spatial",
        false,
        "start='rk4' energy_correction=False",
        is_abam ? "[Buss01] Sec. 3, Adams-Bashforth-Moulton" : "[Buss01] Sec. 3, Simo-Wong",
        false,
        true,
        Kernel::starting + 1};
    static constexpr int starting = Kernel::starting;
    static constexpr int carried = Kernel::carried;
    static constexpr bool user_axes = true;
    int start = multistep::by_rk4;

    static Multistep with(const OptionValues& options) {
        return {static_cast<int>(options.value[0])};
    }
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body,
                                    const Vec3<T>& m,
                                    T h,
                                    const T* carried_numbers,
                                    std::ptrdiff_t n) const {
        return Kernel::step(body, m, h, carried_numbers, n, start);
    }
    template <class T>
    POLHODE_INLINE static void carry(const Inertia<T>& body,
                                     const Vec3<T>& m,
                                     const Quaternion<T>& dq,
                                     T* carried_numbers) {
        Kernel::carry(body, m, dq, carried_numbers);
    }
};

template <class... Methods>
struct MethodList {
    /// Calls visit.template operator()<Method>() for every method.
    template <class Visit>
    static constexpr void for_each(Visit visit) {
        (visit.template operator()<Methods>(), ...);
    }
};

using Methods = MethodList<Exact,
                           Frb,
                           Gauss<1>,
                           Gauss<2>,
                           Gauss<3>,
                           Gauss<4>,
                           Gauss<5>,
                           Gauss<6>,
                           Gauss<7>,
                           Gauss<8>,
                           Gauss<9>,
                           Gauss<10>,
                           Magnus<2>,
                           Magnus<4>,
                           Magnus<6>,
                           Magnus<8>,
                           Factorization<2>,
                           Factorization<4>,
                           Factorization<6>,
                           Factorization<8>,
                           MoserVeselov<1>,
                           MoserVeselov<2>,
                           MoserVeselov<3>,
                           MoserVeselov<4>,
                           MoserVeselov<5>,
                           MoserVeselov<6>,
                           MoserVeselov<7>,
                           MoserVeselov<8>,
                           MoserVeselov<9>,
                           Midpoint,
                           Rotations<123, false>,
                           Rotations<132, false>,
                           Rotations<213, false>,
                           Rotations<231, false>,
                           Rotations<312, false>,
                           Rotations<321, false>,
                           Rotations<123, true>,
                           Rotations<132, true>,
                           Rotations<213, true>,
                           Rotations<231, true>,
                           Rotations<312, true>,
                           Rotations<321, true>,
                           SymmetricRotation,
                           NoSquish,
                           Taylor<1>,
                           Taylor<2>,
                           Taylor<taylor::second_augmented>,
                           Taylor<taylor::third_false>,
                           Taylor<3>,
                           Taylor<4>,
                           Taylor<5>,
                           Taylor<6>,
                           RungeKutta<runge_kutta::OfQuaternion>,
                           RungeKutta<runge_kutta::OfRotation>,
                           Multistep<multistep::Abam>,
                           Multistep<multistep::SimoWong>,
                           Krysl<lie::Scheme::trap>,
                           Krysl<lie::Scheme::imid>,
                           Krysl<lie::Scheme::trapm>,
                           Krysl<lie::Scheme::imidm>,
                           Krysl<lie::Scheme::swc1>,
                           Krysl<lie::Scheme::akw>,
                           Krysl<lie::Scheme::bbtrap>,
                           Krysl<lie::Scheme::bbtrapwd>,
                           Krysl<lie::Scheme::euler_forward>,
                           Krysl<lie::Scheme::euler_backward>,
                           MuntheKaas<Rkmk::classical>,
                           MuntheKaas<Rkmk::midpoint>,
                           MuntheKaas<Rkmk::gauss2>,
                           MuntheKaas<Rkmk::gauss4>,
                           MuntheKaas<Rkmk::any>>;

POLHODE_NAMESPACE_END
