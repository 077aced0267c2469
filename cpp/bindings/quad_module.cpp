/// The extension module polhode._quad, behind polhode.quad and for tests: the number types
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
#include "polhode/method_step.hpp"
#include "polhode/methods.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/counted.hpp"
#include "polhode/scalar/quad.hpp"
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

/// Calls visit(name, function of one, two or three T) for every function.
template <class T, class Visit>
void for_each_function(Visit visit) {
    namespace tf = polhode::torque_free;
    namespace step = tf::step_detail;
#define POLHODE_1(name, value) visit(name, +[](T x) -> T { return value; })
#define POLHODE_2(name, value) visit(name, +[](T x, T y) -> T { return value; })
#define POLHODE_3(name, value) visit(name, +[](T x, T y, T z) -> T { return value; })
#define POLHODE_UNARY(name) POLHODE_1(#name, name(x));
#define POLHODE_TEST(name) POLHODE_1(#name, name(x) ? 1.0 : 0.0);
#define POLHODE_BINARY(name) POLHODE_2(#name, name(x, y));
#define POLHODE_TIER(tier)                                              \
    POLHODE_2("sn_" #tier, step::sn_##tier(x, y));                      \
    POLHODE_2("sn_minus_one_" #tier, tf::sn_minus_one<#tier[0]>(x, y)); \
    POLHODE_3("third_kind_" #tier, step::third_kind_##tier(x, y, z));   \
    POLHODE_3("third_kind_minus_one_" #tier, tf::third_kind_minus_one<#tier[0]>(x, y, z));
    POLHODE_BIT_FUNCTIONS(POLHODE_UNARY)
    POLHODE_BIT_TESTS(POLHODE_TEST)
    POLHODE_BIT_PAIRS(POLHODE_BINARY)
    POLHODE_UNARY(sqrt)
    POLHODE_BINARY(atan2)
    POLHODE_TIER(a)
    POLHODE_TIER(b)
    POLHODE_TIER(c)
    POLHODE_1("negative", -x);
    POLHODE_1("sincos", sincos(x).sin);
    POLHODE_1("sincos_cos", sincos(x).cos);
    POLHODE_1("exp", exponential(x).exp);
    POLHODE_1("expm1", exponential(x).expm1);
    POLHODE_1("half_pi_times", polhode::half_pi<T>() * x);
    POLHODE_1("log_2_times", polhode::log_2<T>() * x);
    POLHODE_1("third_times", polhode::ratio<T>(1, 3) * x);
    POLHODE_1("sqrt_q", step::sqrt_q(x));
    POLHODE_1("sqrt_complement", tf::sqrt_complement(x));
    POLHODE_2("add", x + y);
    POLHODE_2("subtract", x - y);
    POLHODE_2("multiply", x * y);
    POLHODE_2("divide", x / y);
    POLHODE_2("select_less", select(x < y, x, y));
    POLHODE_3("fma", fma(x, y, z));
}

/// f of as many numbers as it takes.
template <class T, class... X>
T applied(T (*f)(X...), const T* in) {
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
        return f(in[k]...);
    }(std::index_sequence_for<X...>{});
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
        run(1, [f](const quad* in, quad* out) { *out = applied(f, in); });
    };
    for_each_function<quad>(visit);
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
    const counted in[] = {x, y, z};
    counted value = 0.0;
    bool found = false;
    for_each_function<counted>([&]<class... X>(const char* candidate, counted (*f)(X...)) {
        if (name != candidate) return;
        found = true;
        const polhode::counted_scope scope;
        value = applied(f, in);
        operations = scope.count();
    });
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

}  // namespace

PYBIND11_MODULE(_quad, module) {
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
}
