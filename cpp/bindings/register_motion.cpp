/// @file
/// Free motion at given times: polhode._core.motion_at.

#include "arrays.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "threads.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

/// With fewer bodies and times, releasing the interpreter lock costs more time than it saves.
constexpr std::ptrdiff_t few = 32;
/// The share of each thread consists of whole packs, at every level.
constexpr std::ptrdiff_t grain = 64;

enum Role { inertia_, m_, attitude_, repeated_, beyond_, t_, m_out_, attitude_out_, roles };

/// Fills m_out and attitude_out, which have the shape of the batch.  False if an argument is not an
/// aligned array of doubles with the right shape; then the outputs are unchanged.
bool motion_at(py::handle inertia,
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
    const auto vectors = [&](py::handle object, Role role) {
        return read_array(object.ptr(), 1, operands[role]) && operands[role].core_length(0) == 3;
    };
    const auto attitudes = [&](py::handle object, Role role, bool& matrix) {
        if (!read_array(object.ptr(), 1, operands[role])) return false;
        matrix = operands[role].core_length(0) != 4;
        if (!matrix) return true;
        return read_array(object.ptr(), 2, operands[role]) && operands[role].core_length(0) == 3 &&
               operands[role].core_length(1) == 3;
    };
    bool matrix = false;
    bool out_matrix = false;
    if (!vectors(inertia, inertia_) || !vectors(m, m_) || !attitudes(attitude, attitude_, matrix) ||
        !vectors(repeated, repeated_) || !vectors(beyond, beyond_) ||
        !read_number_or_array(t.ptr(), operands[t_]) || !vectors(m_out, m_out_) ||
        !attitudes(attitude_out, attitude_out_, out_matrix) || out_matrix != matrix ||
        !PyArray_ISWRITEABLE(operands[m_out_].array) ||
        !PyArray_ISWRITEABLE(operands[attitude_out_].array)) {
        return false;
    }
    const Operand* pointers[roles];
    for (int k = 0; k < roles; ++k) pointers[k] = &operands[k];
    BatchShape batch;
    if (!broadcast(pointers, m_out_, batch) || !has_shape_of(operands[m_out_], batch) ||
        !has_shape_of(operands[attitude_out_], batch) || !broadcast(pointers, roles, batch)) {
        return false;
    }
    batch.arrange();
    const auto evaluate = dispatch::level().motion->evaluate;
    const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        batch.for_each_row(begin, end, [&](std::ptrdiff_t row, std::ptrdiff_t i, std::ptrdiff_t j) {
            const auto view = [&](Role role) { return view_of(operands[role], batch, role, row); };
            evaluate({view(inertia_),
                      view(m_),
                      view(attitude_),
                      view(repeated_),
                      view(beyond_),
                      view(t_),
                      view(m_out_),
                      view(attitude_out_),
                      matrix},
                     i,
                     j);
        });
    };
    if (batch.size() <= few) {
        work(0, batch.size());
    } else {
        Slice().run_in_pieces(batch.size(), threads, grain, 1, work);
    }
    return true;
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
