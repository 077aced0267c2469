/// @file
/// The stages of direct integrators, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/methods.hpp"

POLHODE_NAMESPACE_BEGIN
template lie::detail::Followed<batch_real> lie::detail::solve_stages(const lie::Tableau&,
                                                                     const Vec3<batch_real>&,
                                                                     const Vec3<batch_real>*,
                                                                     const mask_t<batch_real>&,
                                                                     const StopRequest*,
                                                                     Vec3<batch_real>*);

namespace {

template <class M>
constexpr DirectMethod direct_of() {
    if constexpr (requires { M::under_torque(); }) return M::under_torque();
    return {};
}

template <class... Ms>
struct DirectRows;
template <class... Ms>
struct DirectRows<MethodList<Ms...>> {
    static constexpr DirectMethod rows[] = {direct_of<Ms>()...};
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const DirectTable POLHODE_TABLE(direct);
const DirectTable POLHODE_TABLE(direct) = {POLHODE_LEVEL::DirectRows<POLHODE_LEVEL::Methods>::rows};
}  // namespace polhode::dispatch
