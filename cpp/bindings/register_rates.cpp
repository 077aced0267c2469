/// @file
/// The gufuncs behind polhode.attitude_from_rate, and the nodes that they want the rate at.

#include "gufunc.hpp"
#include "polhode/quadrature/gauss_legendre.hpp"

namespace {

/// Distances of the pairs of Gauss's rule from the middle of [0, 1], from the middle outwards.
pybind11::list gauss_distances(int nodes) {
    if (nodes < 1 || nodes > polhode::quadrature::gauss_legendre_most_nodes) {
        throw pybind11::value_error("no such rule");
    }
    const polhode::quadrature::GaussLegendre rule{nodes};
    pybind11::list distances;
    for (int k = 0; k < rule.pairs(); ++k) distances.append(rule.pair(k).distance.high);
    return distances;
}

}  // namespace

void register_rates(pybind11::module_& module) {
    if (_import_umath() < 0) throw pybind11::error_already_set();
    static polhode::dispatch::RatesTable table = *polhode::dispatch::level().rates;
    add_gufunc(module, "rate_magnus2", table.magnus2, 3, 1, "(4),(),(3)->(4)");
    add_gufunc(module, "rate_magnus4", table.magnus4, 4, 1, "(4),(),(3),(3)->(4)");
    add_gufunc(module, "rate_magnus6", table.magnus6, 5, 1, "(4),(),(3),(3),(3)->(4)");
    add_gufunc(module, "rate_magnus8", table.magnus8, 6, 1, "(4),(),(3),(3),(3),(3)->(4)");
    module.def("gauss_distances", &gauss_distances, pybind11::arg("nodes"));
}
