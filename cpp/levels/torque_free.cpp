/// @file
/// The free steps of every method, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/batch/findings.hpp"
#include "polhode/batch/stepping.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/methods.hpp"

POLHODE_NAMESPACE_BEGIN
// direct.cpp compiles them.
extern template lie::detail::Followed<batch_real> lie::detail::solve_stages(
    const lie::Tableau&,
    const Vec3<batch_real>&,
    const Vec3<batch_real>*,
    const mask_t<batch_real>&,
    const StopRequest*,
    Vec3<batch_real>*);

namespace {

template <class M>
constexpr dispatch::StepRow row_of() {
    using Kernel = batch::KernelOf<M>;
    return {&M::info,
            batch::step<M>,
            batch::carried_numbers<Kernel>,
            batch::history_of<Kernel>(),
            batch::lacks_root(batch::kernel_of<M>(OptionValues{}))};
}

template <class... Ms>
struct Rows;
template <class... Ms>
struct Rows<MethodList<Ms...>> {
    static constexpr dispatch::StepRow rows[] = {row_of<Ms>()...};
    static constexpr int count = sizeof...(Ms);
};

int look_at_inertia(const View& inertia, std::ptrdiff_t begin, std::ptrdiff_t end) {
    using T = batch_real;
    int findings = all_valid;
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        const int count = end - i < lanes_v<T> ? static_cast<int>(end - i) : lanes_v<T>;
        findings |= batch::look_at_moments(batch::load_vec3<T>(inertia, i, count));
    }
    return findings;
}

int look_at_attitude(const View& attitude, bool matrix, std::ptrdiff_t begin, std::ptrdiff_t end) {
    using T = batch_real;
    mask_t<T> bad = T(0.0) != T(0.0);
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        const int count = end - i < lanes_v<T> ? static_cast<int>(end - i) : lanes_v<T>;
        if (matrix) {
            T c[9];
            batch::load(attitude, i, count, c);
            const Vec3<T> x{c[0], c[3], c[6]}, y{c[1], c[4], c[7]}, z{c[2], c[5], c[8]};
            constexpr double tolerance = 1e-5;
            const mask_t<T> off =
                (abs(dot(x, x) - 1.0) > tolerance) | (abs(dot(y, y) - 1.0) > tolerance) |
                (abs(dot(z, z) - 1.0) > tolerance) | (abs(dot(x, y)) > tolerance) |
                (abs(dot(x, z)) > tolerance) | (abs(dot(y, z)) > tolerance);
            // A value that is not finite gives NaN, without an error.
            bad = bad | ((off | (dot(cross(x, y), z) < 0.0)) & is_finite(x) & is_finite(y) &
                         is_finite(z));
        } else {
            T c[4];
            batch::load(attitude, i, count, c);
            bad = bad | ((c[0] == 0.0) & (c[1] == 0.0) & (c[2] == 0.0) & (c[3] == 0.0));
        }
    }
    return any(bad) ? some_invalid : all_valid;
}

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const TorqueFreeTable POLHODE_TABLE(torque_free);
const TorqueFreeTable POLHODE_TABLE(torque_free) = {
    POLHODE_LEVEL::Rows<POLHODE_LEVEL::Methods>::rows,
    POLHODE_LEVEL::Rows<POLHODE_LEVEL::Methods>::count,
    POLHODE_LEVEL::look_at_inertia,
    POLHODE_LEVEL::look_at_attitude};
}  // namespace polhode::dispatch
