/// Free motion at given times: polhode._core.motion_at.

#include "arrays.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/threads.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

constexpr int constants_ = own_, axes_ = own_ + 1, motion_roles = own_ + 2;
static_assert(motion_roles <= BatchShape::max_arrays);

/// A contiguous copy.
py::object copy_of(const Operand& operand) {
    PyObject* copy = PyArray_NewCopy(operand.array, NPY_CORDER);
    if (copy == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(copy);
}

/// (inertia, m, attitude, constants, batch shape) of bodies along their principal axes, all copied
/// and validated.  None if shapes do not broadcast, or inertia is neither shared nor of the shape
/// of m.
py::object motion_of(py::handle inertia, py::handle m, py::handle attitude) {
    constexpr const char* names[] = {"inertia", "m0", "q0"};
    constexpr Kind kinds[] = {Kind::vectors, Kind::vectors, Kind::attitudes};
    PyObject* const given[] = {inertia.ptr(), m.ptr(), attitude.ptr()};
    Operand operands[3];
    py::object owners[3];
    for (int k = 0; k < 3; ++k) {
        owners[k] = read_argument(names[k], given[k], kinds[k], operands[k]);
    }
    const bool matrix = operands[attitude_].core_axes == 2;
    const Operand* pointers[] = {&operands[0], &operands[1], &operands[2]};
    BatchShape batch;
    const bool one_inertia = operands[inertia_].batch_axes == 0;
    if (!broadcast(pointers, 2, batch) || !has_shape_of(operands[m_], batch) ||
        !(one_inertia || has_shape_of(operands[inertia_], batch)) ||
        !broadcast(pointers, 3, batch)) {
        return py::none();
    }
    const py::tuple shape = shape_of(batch);
    py::object arrays[3];
    for (int k = 0; k < 3; ++k) {
        arrays[k] = copy_of(operands[k]);
        read_array(arrays[k].ptr(), operands[k].core_axes, operands[k]);
    }
    const std::ptrdiff_t core = matrix ? 9 : 4;
    const auto size = [&](Role role) { return PyArray_SIZE(operands[role].array); };
    const Checks& checks = dispatch::level().torque_free->checks;
    const View moments{operands[inertia_].data, 3, 1, 3}, q{operands[attitude_].data, core, 1, 3};
    if (checks.inertia(moments, 0, size(inertia_) / 3) != all_valid ||
        checks.attitude(q, matrix, 0, size(attitude_) / core) != all_valid) {
        validate::bodies(checks,
                         argument(names[inertia_], operands[inertia_]),
                         argument(names[m_], operands[m_]),
                         argument(names[attitude_], operands[attitude_]));
    }
    broadcast(pointers, 2, batch);
    const npy_intp three[] = {3, 3};
    const py::object constants = new_array(batch, three, 2);
    Operand out;
    read_array(constants.ptr(), 2, out);
    const double* const inputs[] = {operands[inertia_].data, operands[m_].data};
    static const dispatch::ArrayFunction* const facts = dispatch::function("motion_facts");
    dispatch::call(*facts, size(m_) / 3, inputs, &out.data, one_inertia);
    return py::make_tuple(arrays[0], arrays[1], arrays[2], constants, shape);
}

/// (m, attitude, count of results that are NaN from finite arguments): new arrays, or m_out and
/// attitude_out, which have the shape of the batch.  None if an argument is not an aligned array of
/// doubles with the right shape; then nothing was written.
py::object motion_at(py::handle inertia,
                     py::handle m,
                     py::handle attitude,
                     py::handle constants,
                     py::handle axes,
                     py::handle t,
                     py::handle m_out,
                     py::handle attitude_out,
                     int threads) {
    threads = threads_of_call(threads);
    Operand operands[motion_roles];
    if (!read_vectors(inertia.ptr(), operands[inertia_]) || !read_vectors(m.ptr(), operands[m_]) ||
        !read_attitude(attitude.ptr(), operands[attitude_]) ||
        !read_array(constants.ptr(), 2, operands[constants_]) ||
        !(axes.is_none() || read_array(axes.ptr(), 2, operands[axes_])) ||
        !read_number_or_array(t.ptr(), operands[time_])) {
        return py::none();
    }
    const bool matrix = operands[attitude_].core_axes == 2;
    const Operand* pointers[motion_roles];
    for (int k = 0; k < motion_roles; ++k) pointers[k] = &operands[k];
    BatchShape batch;
    if (!broadcast(pointers, m_out_, batch)) return py::none();
    py::tuple results;
    if (m_out.is_none()) {
        py::object m_new, attitude_new;
        new_results(batch, matrix, operands, m_new, attitude_new);
        results = py::make_tuple(m_new, attitude_new);
    } else {
        if (!read_results(m_out.ptr(), attitude_out.ptr(), batch, matrix, operands)) {
            return py::none();
        }
        results = py::make_tuple(m_out, attitude_out);
    }
    // The constants of the bodies must not need more results than there are.
    const int arrays = axes.is_none() ? axes_ : motion_roles;
    if (!broadcast(pointers, arrays, batch) || !has_shape_of(operands[m_out_], batch)) {
        return py::none();
    }
    batch.arrange();
    const auto evaluate = dispatch::level().motion->evaluate;
    std::ptrdiff_t lost = 0;
    const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        batch.for_each_row(begin, end, [&](std::ptrdiff_t row, std::ptrdiff_t i, std::ptrdiff_t j) {
            const auto view = [&](int role) { return view_of(operands[role], batch, role, row); };
            evaluate({view(inertia_),
                      view(m_),
                      view(attitude_),
                      view(constants_),
                      view(time_),
                      view(m_out_),
                      view(attitude_out_),
                      matrix,
                      axes.is_none() ? View{} : View(view(axes_)),
                      &lost},
                     i,
                     j);
        });
    };
    Watch().share(batch.size(), threads, whole_packs, 1, work);
    return py::make_tuple(results[0], results[1], lost);
}

}  // namespace
}  // namespace polhode::bindings

void register_motion(py::module_& module) {
    module.def("motion_of", &polhode::bindings::motion_of);
    module.def("motion_at", &polhode::bindings::motion_at);
}
