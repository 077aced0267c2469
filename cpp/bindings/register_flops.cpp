/// @file
/// FLOP counts: a method run once on the number type that counts.

#include <pybind11/pybind11.h>

#include <string>

#include "arrays.hpp"
#include "polhode/batch.hpp"
#include "polhode/methods.hpp"
#include "polhode/scalar/counted.hpp"

namespace py = pybind11;

namespace {

using polhode::counted;

/// Operations of one step: momentum and attitude in the user's axes, constants of the body apart.
polhode::OperationCount count_step(const std::string& method,
                                   const double (&inertia)[3],
                                   const double (&m)[3],
                                   double h,
                                   bool matrix,
                                   const polhode::OptionValues& options) {
    const auto body = polhode::Inertia<counted>::of({inertia[0], inertia[1], inertia[2]});
    polhode::batch::Attitude<counted> attitude;
    attitude.matrix = matrix;
    attitude.q = {1.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < 9; ++k) attitude.Q.a[k / 3][k % 3] = k % 4 == 0 ? 1.0 : 0.0;
    polhode::OperationCount operations;
    bool found = false;
    polhode::Methods::for_each([&]<class Method>() {
        if (method != Method::info.name) return;
        found = true;
        const polhode::Vec3<counted> momentum{m[0], m[1], m[2]};
        const counted target = polhode::energy::per_momentum(body, momentum);
        const int correction = polhode::energy_correction(Method::info, options);
        const polhode::counted_scope scope;
        auto step = polhode::batch::advance<Method>(body, momentum, counted(h), options);
        if (correction != polhode::energy::none) {
            polhode::energy::correct(body, step, target, correction);
        }
        attitude.turn(step.dq);
        operations = scope.count();
    });
    if (!found) throw py::key_error(method);
    return operations;
}

py::dict flops(const std::string& method,
               double I1,
               double I2,
               double I3,
               double m1,
               double m2,
               double m3,
               double h,
               bool matrix,
               const py::tuple& option_values) {
    const polhode::OperationCount count =
        count_step(method,
                   {I1, I2, I3},
                   {m1, m2, m3},
                   h,
                   matrix,
                   polhode::bindings::read_options(option_values));
    py::dict d;
    d["add"] = count.add;
    d["mul"] = count.mul;
    d["div"] = count.div;
    d["sqrt"] = count.sqrt;
    d["trig"] = count.trig;
    d["total"] = count.total();
    return d;
}

}  // namespace

void register_flops(py::module_& module) {
    module.def("flops",
               &flops,
               py::arg("method"),
               py::arg("I1"),
               py::arg("I2"),
               py::arg("I3"),
               py::arg("m1"),
               py::arg("m2"),
               py::arg("m3"),
               py::arg("h"),
               py::arg("matrix"),
               py::arg("options") = py::tuple());
}
