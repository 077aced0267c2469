/// @file
/// The free steps of every method, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/batch/stepping.hpp"
#include "polhode/batch/violations.hpp"
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

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const TorqueFreeTable POLHODE_TABLE(torque_free);
const TorqueFreeTable POLHODE_TABLE(torque_free) = {
    POLHODE_LEVEL::Rows<POLHODE_LEVEL::Methods>::rows,
    POLHODE_LEVEL::Rows<POLHODE_LEVEL::Methods>::count,
    POLHODE_LEVEL::batch::validate_inertias<POLHODE_LEVEL::batch_real>,
    POLHODE_LEVEL::batch::validate_attitudes<POLHODE_LEVEL::batch_real>};
}  // namespace polhode::dispatch
