#pragma once

/// A torque that Python evaluates.

#include <algorithm>
#include <array>
#include <iterator>
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
/// with the arguments of the places `asked` in (t, m, attitude, x, p, s).  If its result is not an
/// aligned array of doubles with the shape of m, the method `fitted` converts or rejects it.  A
/// function that also returns a force (`forces`) or the rate of s (`rates`) always passes through
/// `fitted`, which returns the torque, the force and the rate.
class PythonTorque {
  public:
    /// @param m, attitude  arrays of the shape of the state
    /// @param step         number of the current step, for the note of an exception
    /// @param others       arrays of x, p, s; those that the bodies do not have are empty
    /// @param alone        whether it is the only term
    PythonTorque(const pybind11::object& object,
                 const pybind11::array& m,
                 const pybind11::array& attitude,
                 const std::array<Doubles, 3>& others,
                 const std::ptrdiff_t& step,
                 bool alone)
        : object_(object),
          function_(object.attr("function")),
          asked_(object.attr("asked").cast<std::vector<int>>()),
          m_(shape_of(m)),
          attitude_(shape_of(attitude)),
          others_{Doubles(shape_of(others[0])),
                  Doubles(shape_of(others[1])),
                  Doubles(shape_of(others[2]))},
          closed_m_(closed(m_)),
          closed_attitude_(closed(attitude_)),
          step_(step),
          info_{"python", 0, true, object.attr("depends_on_m").cast<bool>(), false, false},
          model_{&info_, call, nullptr, nullptr} {
        for (std::size_t k = 0; k < others_.size(); ++k) closed_others_[k] = closed(others_[k]);
        forces_ = object.attr("forces").cast<bool>();
        rates_ = object.attr("rates").cast<bool>();
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
        if (needs(1)) to_rows(a.m, a.bodies, m_.mutable_data(), 3);
        if (needs(2) && a.matrix) to_rows(a.attitude, a.bodies, attitude_.mutable_data(), 9);
        if (needs(2) && !a.matrix) to_rows(a.attitude, a.bodies, attitude_.mutable_data(), 4);
        for (const int k : {0, 1, 2}) {
            const View& from = k == 0 ? a.x : k == 1 ? a.p : a.s;
            if (directly && needs(3 + k) && others_[k].size() > 0) {
                to_rows(from, a.bodies, others_[k].mutable_data(), others_[k].size() / a.bodies);
            }
        }
        pybind11::object returned = ask(a);
        if (!directly || !(forces_ || rates_)) {
            add(returned, a.out, 3, a, end, a.add);
            return;
        }
        int k = 0;
        add(returned[pybind11::int_(k++)], a.out, 3, a, end, a.add);
        if (forces_) add(returned[pybind11::int_(k++)], a.force, 3, a, end, true);
        const auto size =
            static_cast<int>(others_[2].size() / std::max<std::ptrdiff_t>(a.bodies, 1));
        if (rates_) add(returned[pybind11::int_(k)], a.rate, size, a, end, true);
    }
    /// Sets columns to an array of rows that fits, or adds it.
    static void add(pybind11::object returned,
                    const MutableView& out,
                    int size,
                    const TorqueArguments& a,
                    std::ptrdiff_t end,
                    bool adds) {
        Operand rows;
        if (PyArray_NDIM(as_array(returned)) > 2) {
            returned = Doubles::ensure(returned);  // C order, so that bodies are evenly spaced
            if (!returned) throw pybind11::error_already_set();
        }
        read_array(returned.ptr(), 1, rows);
        const std::ptrdiff_t next = rows.batch_axes == 1 ? rows.stride(0) : size;
        for (int k = 0; k < size; ++k) {
            const double* x = rows.data + k * rows.core_stride(0);
            double* y = out.data + k * out.component;
            for (std::ptrdiff_t i = 0; i < a.bodies; ++i) {
                y[i] = adds ? y[i] + x[i * next] : x[i * next];
            }
            std::fill(y + a.bodies, y + end, y[a.bodies - 1]);
        }
    }
    /// Components of bodies, from columns to rows.
    static void to_rows(const View& columns,
                        std::ptrdiff_t bodies,
                        double* rows,
                        std::ptrdiff_t n) {
        for (std::ptrdiff_t i = 0; i < bodies; ++i) {
            for (std::ptrdiff_t k = 0; k < n; ++k)
                *rows++ = columns.data[k * columns.component + i];
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
                PyObject* const given[] = {t.ptr(),
                                           closed_m_.ptr(),
                                           closed_attitude_.ptr(),
                                           closed_others_[0].ptr(),
                                           closed_others_[1].ptr(),
                                           closed_others_[2].ptr()};
                PyObject* arguments[std::size(given)];
                std::ranges::transform(asked_, arguments, [&](int place) { return given[place]; });
                returned = vectorcall(function_, arguments, asked_.size());
                if (forces_ || rates_) return object_.attr("fitted")(returned);
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
                py::module_::import("polhode.integration.torque_callback")
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
               PyArray_SAMESHAPE(rows.array, as_array(m_));
    }

    pybind11::object object_, function_;
    std::vector<int> asked_;  ///< places in (t, m, attitude, x, p, s), each once
    Doubles m_, attitude_;    ///< the arguments of the function, which gets them read-only
    std::array<Doubles, 3> others_;
    pybind11::object closed_m_, closed_attitude_;
    std::array<pybind11::object, 3> closed_others_;
    bool forces_ = false, rates_ = false;  ///< whether it returns a force, and the rate of s
    const std::ptrdiff_t& step_;
    TorqueInfo info_;
    TorqueModel model_;
};

}  // namespace polhode::bindings
