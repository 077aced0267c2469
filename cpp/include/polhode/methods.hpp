#pragma once

/// THE list of methods.  Whatever enumerates methods reads it: step(method=...), methods(), the
/// dispatch tables, FLOP counts, benchmarks and the law tests.
///
/// A method is a type with `static constexpr` members:
///
/// - `MethodInfo info`: its row of facts, options included.
/// - `Kernel with(const OptionValues&)`: the object that steps, from values for all its options.
///   Without it the kernel is an object of the type itself.
/// - `bool shares_loop = true`: the kernel is called through a pointer from one loop over the
///   arrays, which keeps compilation short and costs nothing where the kernel is long.  Without it
///   the kernel is inlined into a loop, one for all methods with a kernel of this type.
/// - `DirectMethod under_torque()`: the stages of a direct integrator (direct/arguments.hpp).
///
/// A kernel has
///
///     template <class T>
///     FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const;
///
/// in sorted axes, the largest component of m within 2^20 of 1; and where they apply
///
/// - `template <class T> using Body`: the constants of a body that `step` takes in place of an
///   Inertia<T>, made from one before the steps of a body (in a splitting: of each flow).
/// - `static constexpr bool user_axes = true`: m comes along the axes in the given order.
/// - `static constexpr bool any_layout = true`: it is inlined into one loop for arrays of any
/// layout,
///   where others have one for each: half of the code, 1 ns more for one step of a body.
/// - `bool may_lack_root() const`: it solves equations, and a step is NaN where it finds no root.
/// - `int starting`, `static constexpr int carried`: it is a multistep method
///   (multistep/multistep.hpp).
///
/// Everything else is derived from these.  A new method is one kernel and one row.

#include <array>
#include <cstddef>
#include <string_view>

#include "polhode/batch_arguments.hpp"
#include "polhode/direct/arguments.hpp"
#include "polhode/lie/direct.hpp"
#include "polhode/lie/implicit.hpp"
#include "polhode/lie/munthe_kaas_direct.hpp"
#include "polhode/magnus/scheme.hpp"
#include "polhode/method_info.hpp"
#include "polhode/moser_veselov/step.hpp"
#include "polhode/multistep/adams.hpp"
#include "polhode/multistep/multistep.hpp"
#include "polhode/rotations/no_squish.hpp"
#include "polhode/rotations/symmetric_rotation.hpp"
#include "polhode/rotations/three_rotations.hpp"
#include "polhode/runge_kutta/dormand_prince.hpp"
#include "polhode/runge_kutta/rk4.hpp"
#include "polhode/taylor/direct.hpp"
#include "polhode/taylor/high_order.hpp"
#include "polhode/taylor/rotation.hpp"
#include "polhode/torque_free/exact.hpp"
#include "polhode/torque_free/factorization.hpp"
#include "polhode/torque_free/frb.hpp"

POLHODE_NAMESPACE_BEGIN()

/// A name with a number of up to three digits: "gauss10".
template <int number, std::size_t size>
constexpr std::array<char, size + 6> numbered(const char (&family)[size], const char* suffix = "") {
    std::array<char, size + 6> name{};
    std::size_t end = 0;
    for (; family[end] != 0; ++end) name[end] = family[end];
    for (int unit = number >= 100 ? 100 : number >= 10 ? 10 : 1; unit > 0; unit /= 10) {
        name[end++] = static_cast<char>('0' + number / unit % 10);
    }
    while (*suffix != 0) name[end++] = *suffix++;
    return name;
}

/// What most methods keep.
inline constexpr const char keeps_all[] = "energy casimir momentum_spatial";
inline constexpr const char keeps_momentum[] = "casimir momentum_spatial";

struct Exact {
    static constexpr MethodInfo info{
        "exact", 0, "exact", keeps_all, true, "[CZ08], without inverse functions"};
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return torque_free::exact_step(body, m, h);
    }
};

struct Frb {
    static constexpr MethodInfo info{"frb", 0, "exact", keeps_all, true, "[CZ08] Algorithm 2"};
    static constexpr bool shares_loop = true;
    template <class T>
    using Body = torque_free::PrintedInertia<T>;
    template <class T>
    static FreeStep<T> step(const Body<T>& body, const Vec3<T>& m, T h) {
        return torque_free::frb_step(body, m, h);
    }
};

/// gauss1 ... gauss10: P nodes.
template <int P>
struct Gauss : Frb {
    static constexpr auto name = numbered<P>("gauss");
    static constexpr MethodInfo info{
        name.data(), 2 * P, "semi-exact", keeps_all, true, "[CZ08] eq. (20)"};
    template <class T>
    static FreeStep<T> step(const Body<T>& body, const Vec3<T>& m, T h) {
        return torque_free::gauss_step(body, m, h, P);
    }
};

/// dmv2 ... dmv18: order 2 P.
template <int P>
struct MoserVeselov {
    static constexpr auto name = numbered<2 * P>("dmv");
    static constexpr const char* source = P == 1 ? "[Vil13] Algorithm 3" : "[Vil13] Algorithm 4";
    static constexpr MethodInfo info{
        name.data(), 2 * P, "discrete Moser-Veselov", keeps_all, true, source};
    static constexpr moser_veselov::Kernel with(const OptionValues&) { return {P, false}; }
};

struct Midpoint {
    static constexpr MethodInfo info{
        "midpoint", 2, "implicit midpoint", keeps_all, true, "[Vil13] Remark 4"};
    static constexpr moser_veselov::Kernel with(const OptionValues&) { return {1, true}; }
};

/// magnus2, magnus4, magnus6, magnus8.
template <int Order>
struct Magnus {
    static constexpr auto name = numbered<Order>("magnus");
    static constexpr auto source = numbered<21 + Order / 2>("[Gus10] eq. (", ")");
    static constexpr MethodInfo info{
        name.data(), Order, "magnus", "energy casimir", true, source.data()};
    static constexpr bool shares_loop = true;
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return magnus::free_step<Order>(body, m, h);
    }
};

inline constexpr Option factorization_c0{
    "c0", "number", 0.7071067811865476, "", "of the frame, [Gus10] eq. (36): c0^2 + c3^2 = 1/2"};
inline constexpr Option factorization_c3{"c3", "number", 0.0, "", "see c0"};
constexpr const char* factorization_contradiction(const OptionValues& options) {
    const double c0 = options.value[0], c3 = options.value[1], off = c0 * c0 + c3 * c3 - 0.5;
    return off <= 5e-13 && off >= -5e-13 ? nullptr : "c0^2 + c3^2 must be 1/2";
}

/// factorization2, factorization4, factorization6, factorization8: named by the order.
template <int Order>
struct Factorization {
    static constexpr auto name = numbered<Order>("factorization");
    static constexpr MethodInfo info{name.data(),
                                     Order,
                                     "factorization",
                                     keeps_all,
                                     true,
                                     "[Gus10] eqs (31) to (36)",
                                     {factorization_c0, factorization_c3},
                                     factorization_contradiction};
    static constexpr bool shares_loop = true;
    double c0, c3;

    static constexpr Factorization with(const OptionValues& options) {
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
    static constexpr auto name = numbered<Axes>("rotations", Fourth ? "_4" : "");
    static constexpr MethodInfo info{
        name.data(),
        Fourth ? 4 : 2,
        "rotations",
        keeps_momentum,
        true,
        Fourth ? "[Buss01] Sec. 3, McLachlan-Reich fourth order"
               : "[Vil13] Three rotation splitting; [Buss01] Sec. 3",
        {rotations::axes_option(Axes), rotations::cayley_option, energy_correction_option}};
    static constexpr rotations::ThreeRotations with(const OptionValues& options) {
        return rotations::ThreeRotations::of(Fourth, options);
    }
};

constexpr MethodInfo rotations_of_order_2(const char* name, const char* source, int axes) {
    const Option given = rotations::axes_option(axes);
    return {name, 2, "rotations", keeps_momentum, true, source, {given, energy_correction_option}};
}
struct SymmetricRotation {
    static constexpr MethodInfo info =
        rotations_of_order_2("symmetric_rotation", "[Vil13] Algorithm 2", 0);
    static constexpr rotations::SymmetricRotation with(const OptionValues& options) {
        return rotations::SymmetricRotation::of(options);
    }
};

struct NoSquish {
    static constexpr MethodInfo info = rotations_of_order_2("no_squish", "[MEP02]", 321);
    static constexpr rotations::NoSquish with(const OptionValues& options) {
        return {rotations::NamedAxes::of(options.value[0])};
    }
};

/// A row of Krysl's methods; order 1: Euler's, which have the option `form`.
struct KryslRow {
    const char *name = nullptr, *keeps = nullptr;
    int order = 2;
    bool symmetric = true;
};
/// In the order of lie::Scheme.
inline constexpr KryslRow krysl_rows[] = {{"euler_forward", keeps_momentum, 1, false},
                                          {"euler_backward", keeps_momentum, 1, false},
                                          {},
                                          {},
                                          {"trap", ""},
                                          {"imid", "energy casimir"},
                                          {"trapm", keeps_momentum},
                                          {"imidm", keeps_momentum},
                                          {"swc1", keeps_all},
                                          {"akw", keeps_all},
                                          {"bbtrap", keeps_all},
                                          {"bbtrapwd", keeps_momentum, 2, false}};
/// trap, imid, trapm, imidm, swc1, akw, bbtrap, bbtrapwd, euler_forward, euler_backward.
template <lie::Scheme S>
struct Krysl {
    static constexpr KryslRow row = krysl_rows[static_cast<int>(S)];
    static constexpr bool is_euler = row.order == 1;
    /// Those that keep the momentum in space and not the energy can be corrected.
    static constexpr Option correction =
        std::string_view(row.keeps) == keeps_momentum ? energy_correction_option : Option{};
    static constexpr MethodInfo info{
        row.name,
        row.order,
        "implicit Lie",
        row.keeps,
        row.symmetric,
        "[Krysl07] Sec. 3",
        {is_euler ? lie::form_option : correction, is_euler ? correction : Option{}},
        is_euler ? lie::euler_contradiction : nullptr};
    static constexpr lie::Kernel with(const OptionValues& options) {
        return lie::Kernel::of(S, options);
    }
    static constexpr DirectMethod under_torque() { return lie::under_torque<S>(); }
};

/// rkmk4, rkmk_midpoint, rkmk_gauss2, rkmk_gauss4; rkmk: any tableau, given with the options.
enum class Rkmk { classical, midpoint, gauss2, gauss4, any };
struct RkmkRow {
    const char* name;
    int order;
    const double* tableau;
};
inline constexpr RkmkRow rkmk_rows[] = {{"rkmk4", 4, lie::rkmk4_tableau},
                                        {"rkmk_midpoint", 2, lie::rkmk_midpoint_tableau},
                                        {"rkmk_gauss2", 2, lie::rkmk_gauss2_tableau},
                                        {"rkmk_gauss4", 4, lie::rkmk_gauss4_tableau},
                                        {"rkmk", 0, lie::rkmk4_tableau}};
template <Rkmk Which>
struct MuntheKaas {
    static constexpr RkmkRow row = rkmk_rows[static_cast<int>(Which)];
    static constexpr MethodInfo info{row.name,
                                     row.order,
                                     "Munthe-Kaas Runge-Kutta",
                                     keeps_momentum,
                                     Which == Rkmk::gauss2,
                                     "[MK98]; [Krysl07] Sec. 3.7",
                                     {energy_correction_option}};
    static constexpr bool shares_loop = true;
    static constexpr lie::MuntheKaas with(const OptionValues& options) {
        return lie::MuntheKaas::of(row.tableau, options);
    }
    static constexpr DirectMethod under_torque() {
        using namespace lie::munthe_kaas;
        return lie::munthe_kaas::under_torque(row.tableau, Which == Rkmk::any ? most_columns : 0);
    }
};

/// taylor1 ... taylor6, taylor2_augmented, taylor3_false.
template <int Kind>
struct Taylor {
    static constexpr auto name = numbered<Kind>("taylor");
    static constexpr MethodInfo info{Kind == taylor::second_augmented ? "taylor2_augmented"
                                     : Kind == taylor::third_false    ? "taylor3_false"
                                                                      : name.data(),
                                     Kind <= 6 ? Kind : 2,
                                     "taylor",
                                     keeps_momentum,
                                     false,
                                     Kind == 5 || Kind == 6 ? "[Buss01] Sec. 5" : "[Buss01] Sec. 2",
                                     {energy_correction_option}};
    static constexpr bool shares_loop = true;
    static constexpr DirectMethod under_torque() { return taylor::under_torque<Kind>(); }
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
        keeps_momentum,
        false,
        of_quaternion ? "classical, on the quaternion" : "[Buss01] Sec. 3, Euclidean Runge-Kutta",
        {energy_correction_option}};
    static constexpr bool shares_loop = true;
    static constexpr DirectMethod under_torque() { return runge_kutta::under_torque<Way>(); }
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        const Vec3<T> inverse{body.inverse_I1, body.inverse_I2, body.inverse_I3};
        return runge_kutta::free_step<Way>(inverse, m, h);
    }
};

struct DormandPrince8 {
    static constexpr MethodInfo info{
        "rk8", 8, "dormand-prince", "", false, "[HNW93] Sec. II.5, DOP853"};
    static constexpr bool shares_loop = true;
    static constexpr bool user_axes = true;
    static constexpr DirectMethod under_torque() {
        return runge_kutta::dormand_prince_under_torque();
    }
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return runge_kutta::dormand_prince_steps(body, m, h, 1);
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
        keeps_momentum,
        false,
        is_abam ? "[Buss01] Sec. 3, Adams-Bashforth-Moulton" : "[Buss01] Sec. 3, Simo-Wong",
        {multistep::start_option, energy_correction_option}};
    static constexpr Kernel with(const OptionValues& options) {
        return {multistep::start_of(options)};
    }
    static constexpr DirectMethod under_torque() { return multistep::under_torque(Kernel{}); }
};

/// adams8, adams10, adams12.
template <int Order>
struct AdamsMoulton {
    static constexpr auto name = numbered<Order>("adams");
    static constexpr MethodInfo info{
        name.data(), Order, "adams", "", false, "[HNW93] Sec. III.1, PECE"};
    static constexpr multistep::Adams with(const OptionValues&) {
        return {&multistep::adams_weights<Order>};
    }
    static constexpr DirectMethod under_torque() {
        return multistep::adams_under_torque(multistep::adams_weights<Order>);
    }
};

/// taylor9 ... taylor16.
template <int Order>
struct TaylorSeries {
    static constexpr auto name = numbered<Order>("taylor");
    static constexpr MethodInfo info{
        name.data(), Order, "taylor series", "", false, "[HNW93] Sec. I.8"};
    static constexpr taylor::HighOrder with(const OptionValues&) { return {Order}; }
    static constexpr DirectMethod under_torque() {
        return taylor::high_order_under_torque<Order>();
    }
};

template <class... Methods>
struct MethodList {
    /// Calls visit.template operator()<Method>() for every method.
    template <class Visit>
    static constexpr void for_each(Visit visit) {
        (visit.template operator()<Methods>(), ...);
    }
    /// Their results.
    template <class Visit>
    static constexpr auto map(Visit visit) {
        return std::array{visit.template operator()<Methods>()...};
    }
};

template <class A, class... Others>
struct Joined {
    using type = A;
};
template <class... A, class... B, class... Others>
struct Joined<MethodList<A...>, MethodList<B...>, Others...> {
    using type = typename Joined<MethodList<A..., B...>, Others...>::type;
};
/// A method of a family for each number.
template <template <int> class Family, int... numbers>
using Each = MethodList<Family<numbers>...>;
template <int Axes>
using SecondOrderRotations = Rotations<Axes, false>;
template <int Axes>
using FourthOrderRotations = Rotations<Axes, true>;

template <lie::Scheme... schemes>
using EachKrysl = MethodList<Krysl<schemes>...>;
template <Rkmk... which>
using EachRkmk = MethodList<MuntheKaas<which>...>;

struct AllMethods {
    using enum lie::Scheme;
    using enum Rkmk;
    using type = Joined<
        MethodList<Exact, Frb>,
        Each<Gauss, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10>,
        Each<Magnus, 2, 4, 6, 8>,
        Each<Factorization, 2, 4, 6, 8>,
        Each<MoserVeselov, 1, 2, 3, 4, 5, 6, 7, 8, 9>,
        MethodList<Midpoint>,
        Each<SecondOrderRotations, 123, 132, 213, 231, 312, 321>,
        Each<FourthOrderRotations, 123, 132, 213, 231, 312, 321>,
        MethodList<SymmetricRotation, NoSquish>,
        Each<Taylor, 1, 2, taylor::second_augmented, taylor::third_false, 3, 4, 5, 6>,
        MethodList<RungeKutta<runge_kutta::OfQuaternion>, RungeKutta<runge_kutta::OfRotation>>,
        MethodList<DormandPrince8>,
        Each<AdamsMoulton, 8, 10, 12>,
        Each<TaylorSeries, 9, 10, 11, 12, 13, 14, 15, 16>,
        MethodList<Multistep<multistep::Abam>, Multistep<multistep::SimoWong>>,
        EachKrysl<trap, imid, trapm, imidm, swc1, akw, bbtrap, bbtrapwd>,
        EachKrysl<euler_forward, euler_backward>,
        EachRkmk<classical, midpoint, gauss2, gauss4, any>>::type;
};
using Methods = AllMethods::type;

POLHODE_NAMESPACE_END
