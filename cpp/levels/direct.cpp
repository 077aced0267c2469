/// The stages of direct integrators, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/methods.hpp"

POLHODE_NAMESPACE_BEGIN()
template lie::Followed<batch_real> lie::solve_stages(const lie::Tableau&,
                                                     const Vec3<batch_real>&,
                                                     const Vec3<batch_real>*,
                                                     const mask_t<batch_real>&,
                                                     const StopRequest*,
                                                     Vec3<batch_real>*);

namespace {

constexpr auto rows = Methods::map([]<class M>() -> DirectMethod {
    if constexpr (requires { M::under_torque(); }) return M::under_torque();
    return {};
});

}  // namespace
POLHODE_NAMESPACE_END

const polhode::dispatch::DirectTable polhode::dispatch::POLHODE_TABLE(direct) = {
    POLHODE_LEVEL::rows.data()};
