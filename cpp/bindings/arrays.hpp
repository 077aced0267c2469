#pragma once

/// NumPy arrays as batches of the core.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL polhode_array_api
#ifndef POLHODE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "batch_shape.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/interface/validate.hpp"

namespace polhode::bindings {

/// Contiguous and aligned; converted if necessary.
using Doubles = pybind11::array_t<double,
                                  static_cast<int>(pybind11::array::c_style) |
                                      pybind11::detail::npy_api::NPY_ARRAY_ALIGNED_>;

/// One argument: an array of doubles whose last `core_axes` axes belong to the body, or a number.
struct Operand {
    PyArrayObject* array = nullptr;
    double number = 0;
    double* data = nullptr;
    int batch_axes = 0;
    int core_axes = 0;
    double limit = 0;  ///< see validate::Argument

    std::ptrdiff_t length(int axis) const { return PyArray_DIM(array, axis); }
    std::ptrdiff_t stride(int axis) const {
        return PyArray_STRIDE(array, axis) / static_cast<std::ptrdiff_t>(sizeof(double));
    }
    /// Length of core axis i, counted from the front.
    std::ptrdiff_t core_length(int i) const { return length(batch_axes + i); }
    std::ptrdiff_t core_stride(int i) const { return stride(batch_axes + i); }
};

/// True if the core can read `object` without conversion: native doubles, aligned to whole doubles.
inline bool read_array(PyObject* object, int core_axes, Operand& operand) {
    if (!PyArray_Check(object)) return false;
    // The Python layer checks the masks of masked arrays and rejects arrays with units.
    if (!PyArray_CheckExact(object)) {
        for (const char* name : {"mask", "unit", "units"}) {
            if (PyObject_HasAttrString(object, name) != 0) return false;
        }
    }
    auto* array = reinterpret_cast<PyArrayObject*>(object);
    if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISBEHAVED_RO(array)) return false;
    const int axes = PyArray_NDIM(array);
    if (axes < core_axes) return false;
    for (int d = 0; d < axes; ++d) {
        const bool whole = PyArray_STRIDE(array, d) % static_cast<npy_intp>(sizeof(double)) == 0;
        if (!whole && PyArray_DIM(array, d) > 1 && PyArray_SIZE(array) > 0) return false;
    }
    operand.array = array;
    operand.data = static_cast<double*>(PyArray_DATA(array));
    operand.core_axes = core_axes;
    operand.batch_axes = axes - core_axes;
    return true;
}

inline bool read_number_or_array(PyObject* object, Operand& operand) {
    if (PyFloat_Check(object) || PyLong_Check(object)) {
        operand.number = PyFloat_AsDouble(object);
        if (operand.number == -1.0 && PyErr_Occurred() != nullptr) {
            PyErr_Clear();  // an integer beyond the largest double: the Python layer refuses it
            return false;
        }
        operand.data = &operand.number;
        return true;
    }
    return read_array(object, 0, operand);
}

/// One number of Python; nothing for others.
inline std::optional<double> number(PyObject* object) {
    Operand x;
    const bool is_number = PyFloat_Check(object) || PyLong_Check(object);
    if (!is_number || !read_number_or_array(object, x)) return {};
    return x.number;
}

/// The arrays of a step or a motion: inputs, outputs, then those that only one of them has.
enum Role { inertia_, m_, attitude_, time_, m_out_, attitude_out_, own_ };

inline bool read_vectors(PyObject* object, Operand& operand) {
    return read_array(object, 1, operand) && operand.core_length(0) == 3;
}
/// Quaternions (one core axis) or matrices (two).
inline bool read_attitude(PyObject* object, Operand& operand) {
    if (!read_array(object, 1, operand)) return false;
    if (operand.core_length(0) == 4) return true;
    return read_array(object, 2, operand) && operand.core_length(0) == 3 &&
           operand.core_length(1) == 3;
}

inline PyArrayObject* as_array(const pybind11::handle& array) {
    return reinterpret_cast<PyArrayObject*>(array.ptr());
}
/// Also of an array that Python may not write.
inline double* data_of(const pybind11::handle& array) {
    return static_cast<double*>(PyArray_DATA(as_array(array)));
}
inline bool all_finite(const double* x, std::ptrdiff_t size) {
    return std::all_of(x, x + size, [](double y) { return std::isfinite(y); });
}

/// A function of polhode._arrays, for what is unusual.
inline pybind11::object package_function(const char* name) {
    return pybind11::module_::import("polhode._arrays").attr(name);
}

/// A whole number from `least` to `most`; `judge` of polhode._arrays reads others, or refuses them.
inline std::ptrdiff_t whole(const pybind11::handle& object,
                            std::ptrdiff_t least,
                            std::ptrdiff_t most,
                            const char* judge) {
    if (PyLong_CheckExact(object.ptr())) {
        const std::ptrdiff_t value = PyLong_AsSsize_t(object.ptr());
        if (value >= least && value <= most) return value;
        PyErr_Clear();
    }
    return package_function(judge)(object).cast<std::ptrdiff_t>();
}

enum class Kind { numbers, vectors, attitudes };
inline bool read_kind(PyObject* object, Kind kind, Operand& operand) {
    return kind == Kind::numbers   ? read_number_or_array(object, operand)
           : kind == Kind::vectors ? read_vectors(object, operand)
                                   : read_attitude(object, operand);
}

/// A list or tuple of Python's floats and ints as an array; null for anything else.
inline pybind11::object array_of_list(PyObject* object) {
    if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return {};
    npy_intp count = PySequence_Fast_GET_SIZE(object);
    PyObject* const* items = PySequence_Fast_ITEMS(object);
    for (npy_intp i = 0; i < count; ++i) {
        if (!PyFloat_CheckExact(items[i]) && !PyLong_CheckExact(items[i])) return {};
    }
    auto array =
        pybind11::reinterpret_steal<pybind11::object>(PyArray_SimpleNew(1, &count, NPY_DOUBLE));
    if (!array) throw pybind11::error_already_set();
    double* const data = data_of(array);
    for (npy_intp i = 0; i < count; ++i) {
        data[i] = PyFloat_AsDouble(items[i]);
        if (data[i] == -1.0 && PyErr_Occurred() != nullptr) {  // beyond the largest double
            PyErr_Clear();
            return {};
        }
    }
    return array;
}

/// Reads an argument of any kind.  Returns the array to which it was converted, which must live as
/// long as the operand; null if the core reads the argument itself.
inline pybind11::object read_argument(const char* name,
                                      PyObject* object,
                                      Kind kind,
                                      Operand& operand) {
    if (read_kind(object, kind, operand)) return {};
    pybind11::object array = array_of_list(object);
    double limit = 0;
    if (!array) {
        const char* reader = kind == Kind::attitudes ? "attitude_array" : "real_array";
        array = package_function(reader)(name, pybind11::handle(object));
        const int type = PyArray_TYPE(as_array(array));
        limit = type == NPY_FLOAT ? 0x1p-17 : type == NPY_HALF ? 0x1p-4 : 0;
        array = pybind11::reinterpret_steal<pybind11::object>(PyArray_FromAny(
            array.ptr(),
            PyArray_DescrFromType(NPY_DOUBLE),
            0,
            0,
            NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST | NPY_ARRAY_ENSUREARRAY,
            nullptr));
        if (!array) throw pybind11::error_already_set();
    }
    if (!read_kind(array.ptr(), kind, operand)) {
        package_function("refuse_shape")(name, array, kind == Kind::attitudes);
        throw std::logic_error("an argument that cannot be read");
    }
    operand.limit = limit;
    return array;
}

/// An argument for the checks of its values.
inline validate::Argument argument(const std::string& name, const Operand& x) {
    validate::Argument a{name,
                         {x.data, 0, x.core_stride(x.core_axes - 1), x.core_stride(0)},
                         x.core_axes == 2 ? 3 : 1,
                         static_cast<int>(x.core_length(x.core_axes - 1)),
                         {},
                         {},
                         x.limit};
    for (int d = 0; d < x.batch_axes; ++d) {
        a.shape.push_back(x.length(d));
        a.strides.push_back(x.stride(d));
    }
    return a;
}

/// The values of a method's options.  If coefficients define the method, the first element is their
/// array, which the tuple keeps alive.
inline OptionValues read_options(const pybind11::tuple& values) {
    OptionValues options;
    std::size_t first = 0;
    if (!values.empty() && PyArray_Check(PyTuple_GET_ITEM(values.ptr(), 0))) {
        Operand coefficients;
        if (!read_array(PyTuple_GET_ITEM(values.ptr(), 0), 1, coefficients) ||
            !PyArray_IS_C_CONTIGUOUS(coefficients.array)) {
            throw pybind11::value_error("coefficients that are no plain array");
        }
        // A tableau is the number of stages s, then s^2 + 2 s numbers.
        const std::ptrdiff_t count = coefficients.length(0);
        const double stages = count > 0 ? coefficients.data[0] : 0.0;
        if (!(stages >= 1 && stages <= OptionValues::most_stages) ||
            static_cast<double>(count) != 1 + stages * (stages + 2)) {
            throw pybind11::value_error("coefficients of the wrong number");
        }
        options.data = coefficients.data;
        first = 1;
    }
    if (values.size() - first > OptionValues::most) throw pybind11::value_error("too many options");
    for (std::size_t i = first; i < values.size(); ++i) {
        options.value[options.count++] = values[i].cast<double>();
    }
    return options;
}

/// The index of the lowest double of the array, and one past the highest.
inline void memory_range(const Operand& operand, const double*& low, const double*& high) {
    low = high = operand.data;
    if (operand.array == nullptr) return;
    for (int d = 0; d < PyArray_NDIM(operand.array); ++d) {
        if (operand.length(d) == 0) {
            high = low;
            return;
        }
        const std::ptrdiff_t reach = (operand.length(d) - 1) * operand.stride(d);
        (reach < 0 ? low : high) += reach;
    }
    ++high;
}

inline bool may_overlap(const Operand& a, const Operand& b) {
    const double *low_a, *high_a, *low_b, *high_b;
    memory_range(a, low_a, high_a);
    memory_range(b, low_b, high_b);
    return low_a < high_b && low_b < high_a;
}

/// True if elements of the array share memory.  False for every view that slices and transposes
/// produce: there each stride is greater than the extent of the axes with smaller strides.
inline bool may_overlap_itself(PyArrayObject* array) {
    const int axes = PyArray_NDIM(array);
    if (PyArray_SIZE(array) == 0) return false;
    for (int d = 0; d < axes; ++d) {
        if (PyArray_DIM(array, d) == 1) continue;
        const npy_intp stride = std::abs(PyArray_STRIDE(array, d));
        npy_intp reach = PyArray_ITEMSIZE(array) - 1;
        for (int e = 0; e < axes; ++e) {
            const npy_intp other = std::abs(PyArray_STRIDE(array, e));
            if (e != d && other <= stride) reach += (PyArray_DIM(array, e) - 1) * other;
        }
        if (stride <= reach) return true;
    }
    return false;
}

/// The same elements in the same order.
inline bool same_layout(const Operand& a, const Operand& b) {
    if (a.array == nullptr || b.array == nullptr || a.data != b.data) return false;
    const int axes = PyArray_NDIM(a.array);
    if (axes != PyArray_NDIM(b.array)) return false;
    for (int d = 0; d < axes; ++d) {
        if (a.length(d) != b.length(d) || a.stride(d) != b.stride(d)) return false;
    }
    return true;
}

/// NumPy's broadcasting rule for the batch axes.  False if the shapes do not broadcast.
inline bool broadcast(const Operand* const* operands, int count, BatchShape& batch) {
    batch.arrays = count;
    batch.axes = 0;
    for (int k = 0; k < count; ++k) {
        batch.axes = std::max(batch.axes, operands[k]->batch_axes);
    }
    for (int d = 0; d < batch.axes; ++d) {
        std::ptrdiff_t length = 1;
        for (int k = 0; k < count; ++k) {
            const int own = d - (batch.axes - operands[k]->batch_axes);
            if (own < 0 || operands[k]->length(own) == 1) continue;
            if (length != 1 && operands[k]->length(own) != length) return false;
            length = operands[k]->length(own);
        }
        batch.shape[d] = length;
        for (int k = 0; k < count; ++k) {
            const int own = d - (batch.axes - operands[k]->batch_axes);
            batch.strides[k][d] =
                own < 0 || operands[k]->length(own) == 1 ? 0 : operands[k]->stride(own);
        }
    }
    return true;
}

/// Array `k` of the batch, starting at body 0 of one row.
inline MutableView view_of(const Operand& operand,
                           const BatchShape& batch,
                           int k,
                           std::ptrdiff_t row) {
    MutableView view{operand.data + batch.row_offset(row, k), batch.row_stride[k], 0, 0};
    if (operand.core_axes > 0) view.component = operand.core_stride(operand.core_axes - 1);
    if (operand.core_axes > 1) view.row = operand.core_stride(0);
    return view;
}

/// The shape of a batch (before it is arranged), and of the batch axes of an argument as text.
inline pybind11::tuple shape_of(const BatchShape& batch) {
    pybind11::tuple shape(static_cast<std::size_t>(batch.axes));
    for (int d = 0; d < batch.axes; ++d) shape[static_cast<std::size_t>(d)] = batch.shape[d];
    return shape;
}
inline std::string text_of_shape(const Operand& x) {
    std::string text = "(";
    for (int d = 0; d < x.batch_axes; ++d)
        text += (d > 0 ? ", " : "") + std::to_string(x.length(d));
    return text + (x.batch_axes == 1 ? ",)" : ")");
}

/// A new array of doubles: the batch axes of `batch` (before it is arranged), then `core`.
inline pybind11::object new_array(const BatchShape& batch, const npy_intp* core, int core_axes) {
    npy_intp shape[BatchShape::max_axes + 2];
    for (int d = 0; d < batch.axes; ++d) shape[d] = batch.shape[d];
    for (int d = 0; d < core_axes; ++d) shape[batch.axes + d] = core[d];
    PyObject* array = PyArray_SimpleNew(batch.axes + core_axes, shape, NPY_DOUBLE);
    if (array == nullptr) throw pybind11::error_already_set();
    return pybind11::reinterpret_steal<pybind11::object>(array);
}

/// New arrays for the results of a batch (before it is arranged): momenta and attitudes.
inline void new_results(const BatchShape& batch,
                        bool matrix,
                        Operand* operands,
                        pybind11::object& m,
                        pybind11::object& attitude) {
    const npy_intp core[] = {3, 3};
    const npy_intp four = 4;
    m = new_array(batch, core, 1);
    attitude = matrix ? new_array(batch, core, 2) : new_array(batch, &four, 1);
    read_array(m.ptr(), 1, operands[m_out_]);
    read_array(attitude.ptr(), matrix ? 2 : 1, operands[attitude_out_]);
}

/// True if `operand` has exactly the shape of the batch (before it is arranged).
inline bool has_shape_of(const Operand& operand, const BatchShape& batch) {
    if (operand.batch_axes != batch.axes || may_overlap_itself(operand.array)) {
        return false;
    }
    for (int d = 0; d < batch.axes; ++d) {
        if (operand.length(d) != batch.shape[d]) return false;
    }
    return true;
}

/// True if the kernels can write the results of a batch (before it is arranged) to these arrays.
inline bool read_results(
    PyObject* m_out, PyObject* q_out, const BatchShape& batch, bool matrix, Operand* operands) {
    Operand &m = operands[m_out_], &q = operands[attitude_out_];
    return read_vectors(m_out, m) && read_attitude(q_out, q) && matrix == (q.core_axes == 2) &&
           PyArray_ISWRITEABLE(m.array) && PyArray_ISWRITEABLE(q.array) && has_shape_of(m, batch) &&
           has_shape_of(q, batch);
}

}  // namespace polhode::bindings
