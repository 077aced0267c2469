/// @file
/// Free motion at given times: polhode._core.motion_at.

#include "arrays.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/threads.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

constexpr int repeated_ = own_, beyond_ = own_ + 1, roles = own_ + 2;
static_assert(roles <= BatchShape::max_arrays);

/// (m, attitude): new arrays, or m_out and attitude_out, which have the shape of the batch.  None
/// if an argument is not an aligned array of doubles with the right shape; then nothing was
/// written.
py::object motion_at(py::handle inertia,
                     py::handle m,
                     py::handle attitude,
                     py::handle repeated,
                     py::handle beyond,
                     py::handle t,
                     py::handle m_out,
                     py::handle attitude_out,
                     int threads) {
    threads = thread_count(threads);
    Operand operands[roles];
    bool matrix = false;
    if (!read_vectors(inertia.ptr(), operands[inertia_]) || !read_vectors(m.ptr(), operands[m_]) ||
        !read_attitude(attitude.ptr(), operands[attitude_], matrix) ||
        !read_vectors(repeated.ptr(), operands[repeated_]) ||
        !read_vectors(beyond.ptr(), operands[beyond_]) ||
        !read_number_or_array(t.ptr(), operands[time_])) {
        return py::none();
    }
    const Operand* pointers[roles];
    for (int k = 0; k < roles; ++k) pointers[k] = &operands[k];
    BatchShape batch;
    if (!broadcast(pointers, m_out_, batch)) return py::none();
    py::tuple results;
    if (m_out.is_none()) {
        results = new_results(batch, matrix, operands);
    } else {
        bool out_matrix = false;
        if (!read_vectors(m_out.ptr(), operands[m_out_]) ||
            !read_attitude(attitude_out.ptr(), operands[attitude_out_], out_matrix) ||
            out_matrix != matrix || !PyArray_ISWRITEABLE(operands[m_out_].array) ||
            !PyArray_ISWRITEABLE(operands[attitude_out_].array) ||
            !has_shape_of(operands[m_out_], batch) ||
            !has_shape_of(operands[attitude_out_], batch)) {
            return py::none();
        }
        results = py::make_tuple(m_out, attitude_out);
    }
    // The constants of the bodies must not need more results than there are.
    if (!broadcast(pointers, roles, batch) || !has_shape_of(operands[m_out_], batch)) {
        return py::none();
    }
    batch.arrange();
    const auto evaluate = dispatch::level().motion->evaluate;
    const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        batch.for_each_row(begin, end, [&](std::ptrdiff_t row, std::ptrdiff_t i, std::ptrdiff_t j) {
            const auto view = [&](int role) { return view_of(operands[role], batch, role, row); };
            evaluate({view(inertia_),
                      view(m_),
                      view(attitude_),
                      view(repeated_),
                      view(beyond_),
                      view(time_),
                      view(m_out_),
                      view(attitude_out_),
                      matrix},
                     i,
                     j);
        });
    };
    Watch().share(batch.size(), threads, whole_packs, 1, work);
    return results;
}

}  // namespace
}  // namespace polhode::bindings

void register_motion(py::module_& module) {
    module.def("motion_at",
               &polhode::bindings::motion_at,
               py::arg("inertia"),
               py::arg("m"),
               py::arg("attitude"),
               py::arg("repeated"),
               py::arg("beyond"),
               py::arg("t"),
               py::arg("m_out"),
               py::arg("attitude_out"),
               py::arg("threads"));
}
