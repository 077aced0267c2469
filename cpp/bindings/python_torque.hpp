#pragma once

/// @file
/// A torque that Python evaluates.

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "polhode/splitting/arguments.hpp"

namespace polhode::bindings {

/// A view of the same numbers that is read-only and cannot be made writeable.
inline pybind11::object closed(const pybind11::array& array) {
    return pybind11::module_::import("numpy").attr("asarray")(
        pybind11::memoryview(array).attr("toreadonly")());
}

/// object(order, t, m, attitude) of the whole batch returns the torque in the body frame (order
/// 1), or the W of a modified potential (order -1), or derivative `order` of a given momentum in
/// the space frame.  If its attribute `function` is not None, that is called instead for order 1,
/// with the arguments of the places `asked` in (t, m, attitude).  If its result is not an aligned
/// array of doubles with the shape of m, the method `fitted` converts or rejects it.
class PythonTorque {
  public:
    /// @param m, attitude  arrays of the shape of the state
    /// @param step         number of the current step, for the note of an exception
    /// @param alone        whether it is the only term
    PythonTorque(const pybind11::object& object,
                 const pybind11::array& m,
                 const pybind11::array& attitude,
                 const std::ptrdiff_t& step,
                 bool alone)
        : object_(object),
          function_(object.attr("function")),
          asked_(object.attr("asked").cast<std::vector<int>>()),
          m_(shape_of(m)),
          attitude_(shape_of(attitude)),
          closed_m_(closed(m_)),
          closed_attitude_(closed(attitude_)),
          step_(step),
          info_{"python", 0, true, object.attr("depends_on_m").cast<bool>(), false, false},
          model_{&info_, call, nullptr, nullptr} {
        if (object.attr("has_modified").cast<bool>()) model_.modified = call;
        if (object.attr("is_given").cast<bool>()) model_.given = call;
        if (model_.given != nullptr && alone) model_.states = 3;
    }
    TorqueTerm term() { return {&model_, {}, {.user_data = this}}; }
    bool is_given() const { return model_.given != nullptr; }

  private:
    static std::vector<pybind11::ssize_t> shape_of(const pybind11::array& array) {
        return {array.shape(), array.shape() + array.ndim()};
    }
    static void call(const TorqueArguments& a, std::ptrdiff_t, std::ptrdiff_t end) {
        static_cast<PythonTorque*>(a.extra.user_data)->evaluate(a, end);
    }
    /// @param end  the bodies, and others that repeat the last
    void evaluate(const TorqueArguments& a, std::ptrdiff_t end) {
        const bool directly = a.order == 1 && !function_.is_none();
        const auto needs = [&](int place) {
            return !directly || std::ranges::find(asked_, place) != asked_.end();
        };
        if (needs(1)) to_rows<3>(a.m, a.bodies, m_.mutable_data());
        if (needs(2) && a.matrix) to_rows<9>(a.attitude, a.bodies, attitude_.mutable_data());
        if (needs(2) && !a.matrix) to_rows<4>(a.attitude, a.bodies, attitude_.mutable_data());
        pybind11::object returned = ask(a);
        Operand rows;
        if (PyArray_NDIM(reinterpret_cast<PyArrayObject*>(returned.ptr())) > 2) {
            returned = Doubles::ensure(returned);  // C order, so that bodies are evenly spaced
            if (!returned) throw pybind11::error_already_set();
        }
        read_array(returned.ptr(), 1, rows);
        const std::ptrdiff_t next = rows.batch_axes == 1 ? rows.stride(0) : 3;
        for (int k = 0; k < 3; ++k) {
            const double* x = rows.data + k * rows.core_stride(0);
            double* y = a.out.data + k * a.out.component;
            for (std::ptrdiff_t i = 0; i < a.bodies; ++i) {
                y[i] = a.add ? y[i] + x[i * next] : x[i * next];
            }
            std::fill(y + a.bodies, y + end, y[a.bodies - 1]);
        }
    }
    /// C components per body, from columns to rows.
    template <int C>
    static void to_rows(const View& columns, std::ptrdiff_t bodies, double* rows) {
        for (std::ptrdiff_t i = 0; i < bodies; ++i) {
            for (int k = 0; k < C; ++k) rows[C * i + k] = columns.data[k * columns.component + i];
        }
    }
    /// An array of doubles with the shape of m.  A note is added to an exception with the place
    /// where it occurred.
    pybind11::object ask(const TorqueArguments& a) {
        namespace py = pybind11;
        try {
            const auto t = py::reinterpret_steal<py::object>(PyFloat_FromDouble(a.t));
            py::object returned;
            if (a.order == 1 && !function_.is_none()) {
                PyObject* const given[] = {t.ptr(), closed_m_.ptr(), closed_attitude_.ptr()};
                PyObject* arguments[std::size(given)];
                std::ranges::transform(asked_, arguments, [&](int place) { return given[place]; });
                returned = vectorcall(function_, arguments, asked_.size());
                if (fits(returned)) return returned;
                returned = object_.attr("fitted")(returned);
            } else {
                const py::int_ order(a.order);
                PyObject* const arguments[] = {
                    order.ptr(), t.ptr(), closed_m_.ptr(), closed_attitude_.ptr()};
                returned = vectorcall(object_, arguments, 4);
            }
            if (!fits(returned)) {
                returned = Doubles::ensure(returned);
                if (!returned) throw py::error_already_set();
                if (!fits(returned)) throw py::value_error("arrays of the wrong shape");
            }
            return returned;
        } catch (py::error_already_set& error) {
            if (error.matches(PyExc_Exception)) {
                py::module_::import("polhode.integration.python_torque")
                    .attr("note_of_step")(error.value(), step_, a.t);
            }
            throw;
        }
    }
    static pybind11::object vectorcall(const pybind11::object& function,
                                       PyObject* const* arguments,
                                       std::size_t count) {
        PyObject* returned = PyObject_Vectorcall(function.ptr(), arguments, count, nullptr);
        if (returned == nullptr) throw pybind11::error_already_set();
        return pybind11::reinterpret_steal<pybind11::object>(returned);
    }
    bool fits(const pybind11::object& returned) const {
        Operand rows;
        return PyArray_CheckExact(returned.ptr()) && read_array(returned.ptr(), 1, rows) &&
               PyArray_SAMESHAPE(rows.array, reinterpret_cast<PyArrayObject*>(m_.ptr()));
    }

    pybind11::object object_, function_;
    std::vector<int> asked_;  ///< places in (t, m, attitude), each once
    Doubles m_, attitude_;    ///< the arguments of the function, which gets them read-only
    pybind11::object closed_m_, closed_attitude_;
    const std::ptrdiff_t& step_;
    TorqueInfo info_;
    TorqueModel model_;
};

}  // namespace polhode::bindings
