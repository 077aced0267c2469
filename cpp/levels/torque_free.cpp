/// The free steps of every method, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/batch/stepping.hpp"
#include "polhode/batch/violations.hpp"
#include "polhode/methods.hpp"

POLHODE_NAMESPACE_BEGIN()
// direct.cpp compiles them.
extern template lie::Followed<batch_real> lie::solve_stages(const lie::Tableau&,
                                                            const Vec3<batch_real>&,
                                                            const Vec3<batch_real>*,
                                                            const mask_t<batch_real>&,
                                                            const StopRequest*,
                                                            Vec3<batch_real>*);

namespace {

constexpr auto rows = Methods::map([]<class M>() -> dispatch::StepRow {
    constexpr auto kernel = batch::kernel_of<M>(OptionValues{});
    return {&M::info,
            batch::step<M>,
            batch::carried_numbers<batch::KernelOf<M>>,
            batch::history_of(kernel),
            batch::lacks_root(kernel)};
});

}  // namespace
POLHODE_NAMESPACE_END

const polhode::dispatch::TorqueFreeTable polhode::dispatch::POLHODE_TABLE(torque_free) = {
    POLHODE_LEVEL::rows.data(),
    static_cast<int>(POLHODE_LEVEL::rows.size()),
    {POLHODE_LEVEL::batch::validate_inertias<POLHODE_LEVEL::batch_real>,
     POLHODE_LEVEL::batch::validate_attitudes<POLHODE_LEVEL::batch_real>}};
