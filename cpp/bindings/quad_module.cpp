/// @file The extension module polhode._quad, behind polhode.quad and for tests: the number types
/// other than double and packs.
///
/// Numbers in quadruple precision are passed to Python as pairs of doubles (high, low) along the
/// last axis.  Everything is looked up by name; an unknown name is a KeyError.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <utility>
#include <vector>

#include "polhode/batch/attitude.hpp"
#include "polhode/elliptic/functions.hpp"
#include "polhode/elliptic/landen.hpp"
#include "polhode/method_step.hpp"
#include "polhode/methods.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/counted.hpp"
#include "polhode/scalar/quad.hpp"
#include "polhode/torque/heavy_top.hpp"
#include "polhode/torque_free/step_polynomials.hpp"

namespace py = pybind11;

namespace {

using polhode::counted;
using polhode::FreeStep;
using polhode::Inertia;
using polhode::quad;
using polhode::Vec3;
using polhode::batch::Attitude;
using Pairs = py::array_t<double, py::array::c_style | py::array::forcecast>;

// --------------------------------------------------------------------------------- crossing over

void check_rows(const Pairs& a, py::ssize_t rows, const char* what) {
    if (a.ndim() != 2 || a.shape(0) != rows || a.shape(1) != 2) {
        throw py::value_error(std::string(what) + " must have shape (" + std::to_string(rows) +
                              ", 2)");
    }
}
quad number(const Pairs& a, py::ssize_t i) { return {a.at(i, 0), a.at(i, 1)}; }
template <class... Ts>
Pairs pairs(Ts... x) {
    Pairs a({py::ssize_t(sizeof...(x)), py::ssize_t(2)});
    py::ssize_t i = 0;
    (((a.mutable_at(i, 0) = x.high()), (a.mutable_at(i, 1) = x.low()), ++i), ...);
    return a;
}

quad at(const double* a, py::ssize_t i) { return {a[2 * i], a[2 * i + 1]}; }
void put(double* a, py::ssize_t i, quad x) {
    a[2 * i] = x.high();
    a[2 * i + 1] = x.low();
}
Vec3<quad> vec3(const double* a) { return {at(a, 0), at(a, 1), at(a, 2)}; }

/// Ctrl-C is checked between pieces of work that take milliseconds.
void look_for_signals(std::ptrdiff_t count) {
    if (count % 64 == 63 && PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// ------------------------------------------------------------------------------- one function

/// Calls visit(name, function of one T) for every function of one number.
template <class T, class Visit>
void for_each_unary(Visit visit) {
#define POLHODE_UNARY(name) visit(#name, +[](T x) -> T { return name(x); })
    POLHODE_UNARY(sqrt);
    POLHODE_UNARY(abs);
    POLHODE_UNARY(rint);
    POLHODE_UNARY(exponent);
    POLHODE_UNARY(power_of_two);
    POLHODE_UNARY(power_of_two_below);
    POLHODE_UNARY(power_of_two_reciprocal);
    POLHODE_UNARY(sin);
    POLHODE_UNARY(cos);
    POLHODE_UNARY(tan);
    POLHODE_UNARY(asin);
    POLHODE_UNARY(acos);
    POLHODE_UNARY(atan);
    POLHODE_UNARY(exp);
    POLHODE_UNARY(expm1);
    POLHODE_UNARY(log);
    POLHODE_UNARY(log1p);
    POLHODE_UNARY(sinh);
    POLHODE_UNARY(cosh);
    POLHODE_UNARY(tanh);
    POLHODE_UNARY(asinh);
    POLHODE_UNARY(acosh);
    POLHODE_UNARY(atanh);
#undef POLHODE_UNARY
    visit("negative", +[](T x) -> T { return -x; });
    visit("is_odd", +[](T x) -> T { return is_odd(x) ? 1.0 : 0.0; });
    visit("has_bit_1", +[](T x) -> T { return has_bit_1(x) ? 1.0 : 0.0; });
    visit("is_nan", +[](T x) -> T { return is_nan(x) ? 1.0 : 0.0; });
    visit("sincos", +[](T x) -> T { return sincos(x).sin; });
    visit("sincos_cos", +[](T x) -> T { return sincos(x).cos; });
    visit("half_pi_times", +[](T x) -> T { return polhode::half_pi<T>() * x; });
    visit("log_2_times", +[](T x) -> T { return polhode::log_2<T>() * x; });
    visit("third_times", +[](T x) -> T { return polhode::ratio<T>(1, 3) * x; });
    visit("sqrt_q", +[](T x) -> T { return polhode::torque_free::step_detail::sqrt_q(x); });
    visit("sqrt_complement", +[](T x) -> T { return polhode::torque_free::sqrt_complement(x); });
}

/// The same for functions of two numbers.
template <class T, class Visit>
void for_each_binary(Visit visit) {
#define POLHODE_BINARY(name) visit(#name, +[](T x, T y) -> T { return name(x, y); })
    POLHODE_BINARY(copysign);
    POLHODE_BINARY(flip_sign);
    POLHODE_BINARY(min);
    POLHODE_BINARY(max);
    POLHODE_BINARY(atan2);
#undef POLHODE_BINARY
    visit("add", +[](T x, T y) -> T { return x + y; });
    visit("subtract", +[](T x, T y) -> T { return x - y; });
    visit("multiply", +[](T x, T y) -> T { return x * y; });
    visit("divide", +[](T x, T y) -> T { return x / y; });
    visit("landen_f", +[](T phi, T kc) -> T { return polhode::elliptic::landen_f(phi, kc); });
    visit("landen_am", +[](T u, T kc) -> T { return polhode::elliptic::landen_am(u, kc); });
    visit("select_less", +[](T x, T y) -> T { return select(x < y, x, y); });
    namespace tf = polhode::torque_free;
    visit("sn_a", +[](T u, T r) -> T { return tf::step_detail::sn_a(u, r); });
    visit("sn_b", +[](T u, T r) -> T { return tf::step_detail::sn_b(u, r); });
    visit("sn_c", +[](T u, T r) -> T { return tf::step_detail::sn_c(u, r); });
    visit("sn_minus_one_a", +[](T u, T r) -> T { return tf::sn_minus_one_a(u, r); });
    visit("sn_minus_one_b", +[](T u, T r) -> T { return tf::sn_minus_one_b(u, r); });
    visit("sn_minus_one_c", +[](T u, T r) -> T { return tf::sn_minus_one_c(u, r); });
}

/// The same for functions of three numbers.
template <class T, class Visit>
void for_each_ternary(Visit visit) {
    visit("fma", +[](T x, T y, T z) -> T { return fma(x, y, z); });
    namespace tf = polhode::torque_free;
    visit(
        "third_kind_a", +[](T u, T r, T y) -> T { return tf::step_detail::third_kind_a(u, r, y); });
    visit(
        "third_kind_b", +[](T u, T r, T y) -> T { return tf::step_detail::third_kind_b(u, r, y); });
    visit(
        "third_kind_c", +[](T u, T r, T y) -> T { return tf::step_detail::third_kind_c(u, r, y); });
    visit(
        "third_kind_minus_one_a",
        +[](T u, T r, T y) -> T { return tf::third_kind_minus_one_a(u, r, y); });
    visit(
        "third_kind_minus_one_b",
        +[](T u, T r, T y) -> T { return tf::third_kind_minus_one_b(u, r, y); });
    visit(
        "third_kind_minus_one_c",
        +[](T u, T r, T y) -> T { return tf::third_kind_minus_one_c(u, r, y); });
}

/// Applies the named function to rows of pairs.  Functions of polhode.elliptic always have the
/// complement kc2 as an argument, in addition to the parameter k2.  Several results are a tuple.
py::object evaluate(const std::string& name, const py::args& arguments) {
    std::vector<Pairs> x;
    for (const auto& argument : arguments) x.push_back(Pairs::ensure(argument));
    for (const Pairs& a : x) {
        if (!a || a.ndim() != 2 || a.shape(1) != 2 || a.shape(0) != x[0].shape(0)) {
            throw py::value_error("arguments must be arrays of equal shape (n, 2)");
        }
    }
    if (x.empty()) throw py::value_error("no argument");
    std::vector<Pairs> results;
    const auto run = [&](std::size_t outputs, auto apply) {
        for (std::size_t k = 0; k < outputs; ++k) {
            results.push_back(Pairs({x[0].shape(0), py::ssize_t(2)}));
        }
        quad in[4], out[4];
        for (py::ssize_t i = 0; i < x[0].shape(0); ++i) {
            look_for_signals(i);
            for (std::size_t k = 0; k < x.size(); ++k) in[k] = at(x[k].data(), i);
            apply(static_cast<const quad*>(in), static_cast<quad*>(out));
            for (std::size_t k = 0; k < outputs; ++k) put(results[k].mutable_data(), i, out[k]);
        }
    };
    const auto visit = [&]<class... X>(const char* candidate, quad (*f)(X...)) {
        if (name != candidate || x.size() != sizeof...(X)) return;
        run(1, [f](const quad* in, quad* out) {
            *out = [&]<std::size_t... k>(std::index_sequence<k...>) {
                return f(in[k]...);
            }(std::index_sequence_for<X...>{});
        });
    };
    for_each_unary<quad>(visit);
    for_each_binary<quad>(visit);
    for_each_ternary<quad>(visit);
    const auto of = [&]<class F>(const char* candidate, F) {
        if (name != candidate || x.size() != F::inputs) return;
        run(F::outputs, [](const quad* in, quad* out) { F::apply(in, out); });
    };
    polhode::elliptic::for_each_function(
        of, [&](const char* candidate, const char*, auto f) { of(candidate, f); });
    if (results.empty()) throw py::key_error(name);
    if (results.size() == 1) return results[0];
    py::tuple several(results.size());
    for (std::size_t k = 0; k < results.size(); ++k) several[k] = results[k];
    return several;
}

py::dict as_dict(const polhode::OperationCount& count) {
    py::dict d;
    d["add"] = count.add;
    d["mul"] = count.mul;
    d["div"] = count.div;
    d["sqrt"] = count.sqrt;
    d["trig"] = count.trig;
    d["total"] = count.total();
    return d;
}

/// The operation counts of the named function on `counted`, and its value.
py::tuple count(const std::string& name, double x, double y, double z) {
    polhode::OperationCount operations;
    counted value = 0.0;
    bool found = false;
    const auto run = [&](const char* candidate, auto call) {
        if (name != candidate) return;
        found = true;
        const polhode::counted_scope scope;
        value = call();
        operations = scope.count();
    };
    for_each_unary<counted>([&](const char* n, auto f) { run(n, [&] { return f(x); }); });
    for_each_binary<counted>([&](const char* n, auto f) { run(n, [&] { return f(x, y); }); });
    for_each_ternary<counted>([&](const char* n, auto f) { run(n, [&] { return f(x, y, z); }); });
    if (!found) throw py::key_error(name);
    return py::make_tuple(value.value(), as_dict(operations));
}

// ----------------------------------------------------------------------------------- a method

using Kernel = FreeStep<quad> (*)(const Inertia<quad>& body, const Vec3<quad>& m, quad h);

/// One step of the named method.
Kernel kernel_of(const std::string& method) {
    Kernel kernel = nullptr;
    polhode::Methods::for_each([&]<class Method>() {
        if (method != Method::info.name) return;
        kernel = [](const Inertia<quad>& body, const Vec3<quad>& m, quad h) {
            return polhode::batch::advance<Method>(body, m, h);
        };
    });
    if (kernel == nullptr) throw py::key_error(method);
    return kernel;
}

/// n_steps of the named method in quadruple precision, for one body or an array of bodies.
///
/// @param inertia,m  shape (3, 2) or (n, 3, 2)
/// @param attitude   quaternions (4, 2) or (n, 4, 2), matrices (3, 3, 2) or (n, 3, 3, 2)
/// @param h_high,h_low  one number for all bodies, or one for each body
/// @return           momenta and attitudes at the end, shaped like those given
py::tuple step(const std::string& method,
               const Pairs& inertia,
               const Pairs& m,
               const Pairs& attitude,
               const Pairs& h_high,
               const Pairs& h_low,
               std::ptrdiff_t n_steps) {
    const int axes = int(m.ndim());
    const bool matrix = attitude.ndim() == axes + 1;
    const py::ssize_t bodies = m.size() / 6, numbers = matrix ? 9 : 4;
    const bool fits = (axes == 2 || axes == 3) && m.shape(axes - 2) == 3 &&
                      m.shape(axes - 1) == 2 && inertia.ndim() == axes &&
                      inertia.size() == m.size() && (matrix || attitude.ndim() == axes) &&
                      attitude.size() == 2 * numbers * bodies && h_high.size() == h_low.size() &&
                      (h_high.size() == 1 || h_high.size() == bodies);
    if (!fits) throw py::value_error("shapes do not fit");
    Pairs m_end(std::vector<py::ssize_t>(m.shape(), m.shape() + m.ndim()));
    Pairs attitude_end(
        std::vector<py::ssize_t>(attitude.shape(), attitude.shape() + attitude.ndim()));
    const Kernel kernel = kernel_of(method);
    for (py::ssize_t i = 0; i < bodies; ++i) {
        const auto body = Inertia<quad>::of(vec3(inertia.data() + 6 * i));
        Vec3<quad> momentum = vec3(m.data() + 6 * i);
        const double* a = attitude.data() + 2 * numbers * i;
        Attitude<quad> Q{};
        Q.matrix = matrix;
        if (matrix) {
            for (int k = 0; k < 9; ++k) Q.Q.a[k / 3][k % 3] = at(a, k);
        } else {
            Q.q = {at(a, 0), at(a, 1), at(a, 2), at(a, 3)};
        }
        const py::ssize_t own = h_high.size() == 1 ? 0 : i;
        quad h(h_high.data()[own], h_low.data()[own]);
        int violations = polhode::all_valid;
        Q.make_unit(h, violations);  // one more iteration: two polar steps reduce 1e-5 to 1e-20
        for (std::ptrdiff_t n = 0; n < n_steps; ++n) {
            look_for_signals(n);
            Q.make_unit(h, violations);
            const FreeStep<quad> s = kernel(body, momentum, h);
            momentum = s.m;
            Q.rotate(s.dq);
        }
        look_for_signals(i);
        const quad end[] = {momentum.x, momentum.y, momentum.z};
        for (int k = 0; k < 3; ++k) put(m_end.mutable_data() + 6 * i, k, end[k]);
        const quad q[] = {Q.q.w, Q.q.x, Q.q.y, Q.q.z};
        for (int k = 0; k < numbers; ++k) {
            put(attitude_end.mutable_data() + 2 * numbers * i,
                k,
                matrix ? Q.Q.a[k / 3][k % 3] : q[k]);
        }
    }
    return py::make_tuple(m_end, attitude_end);
}

/// n_steps of a splitting scheme around "exact" for a heavy top in quadruple precision: momentum
/// and quaternion at the end.  `stages` has shape (stages, 3, 2): 0 for a flow and 1 for a kick,
/// the coefficient, and c of a modified potential; `top` contains the weight and its point of
/// action.
py::tuple heavy_top(const Pairs& stages,
                    const Pairs& inertia,
                    const Pairs& m,
                    const Pairs& q,
                    const Pairs& top,
                    double h_high,
                    double h_low,
                    int n_steps) {
    check_rows(inertia, 3, "inertia");
    check_rows(m, 3, "m");
    check_rows(q, 4, "q");
    check_rows(top, 6, "top");
    if (stages.ndim() != 3 || stages.shape(1) != 3 || stages.shape(2) != 2) {
        throw py::value_error("stages must have shape (stages, 3, 2)");
    }
    using Top = polhode::torque::HeavyTop;
    using Frame = polhode::torque::Frame<quad, false>;
    using polhode::cross;
    const auto body =
        Inertia<quad>::of({number(inertia, 0), number(inertia, 1), number(inertia, 2)});
    Vec3<quad> momentum{number(m, 0), number(m, 1), number(m, 2)};
    Attitude<quad> Q{};
    Q.q = {number(q, 0), number(q, 1), number(q, 2), number(q, 3)};
    quad p[Top::parameters];
    for (int k = 0; k < Top::parameters; ++k) p[k] = number(top, k);
    quad h(h_high, h_low);
    int violations = polhode::all_valid;
    Q.make_unit(h, violations);  // kicks come before the first flow
    for (int n = 0; n < n_steps; ++n) {
        for (py::ssize_t i = 0; i < stages.shape(0); ++i) {
            const quad coefficient(stages.at(i, 1, 0), stages.at(i, 1, 1));
            quad s = coefficient * h;
            if (stages.at(i, 0, 0) == 0) {
                Q.make_unit(s, violations);
                const FreeStep<quad> step =
                    polhode::batch::advance<polhode::Exact>(body, momentum, s);
                momentum = step.m;
                Q.rotate(step.dq);
                continue;
            }
            const Frame frame{Q.q};
            const Vec3<quad> f = Top::torque(p, 0.0, momentum, frame);
            const Vec3<quad> v{f.x * body.inverse.x, f.y * body.inverse.y, f.z * body.inverse.z};
            const Vec3<quad> w = quad(2.0) * (cross(f, v) - Top::derivative(p, 0.0, v, frame));
            const quad ch3 = quad(stages.at(i, 2, 0), stages.at(i, 2, 1)) * h * h * h;
            momentum = momentum + (s * f - ch3 * w);
        }
    }
    return py::make_tuple(pairs(momentum.x, momentum.y, momentum.z),
                          pairs(Q.q.w, Q.q.x, Q.q.y, Q.q.z));
}

py::list methods() {
    py::list names;
    polhode::Methods::for_each([&]<class Method>() { names.append(Method::info.name); });
    return names;
}

}  // namespace

PYBIND11_MODULE(_quad, module) {
    module.attr("epsilon") = polhode::epsilon_v<quad>;
    module.def("evaluate", &evaluate);
    module.def(
        "count", &count, py::arg("name"), py::arg("x"), py::arg("y") = 0.0, py::arg("z") = 0.0);
    module.def("step",
               &step,
               py::arg("method"),
               py::arg("inertia"),
               py::arg("m"),
               py::arg("attitude"),
               py::arg("h_high"),
               py::arg("h_low") = 0.0,
               py::arg("n_steps") = 1);
    module.def("heavy_top",
               &heavy_top,
               py::arg("stages"),
               py::arg("inertia"),
               py::arg("m"),
               py::arg("q"),
               py::arg("top"),
               py::arg("h_high"),
               py::arg("h_low") = 0.0,
               py::arg("n_steps") = 1);
    module.def("methods", &methods);
}
