/// The loops of polhode.elliptic, compiled once per instruction-set level.

#include "array_loop.hpp"
#include "polhode/elliptic/functions.hpp"

POLHODE_NAMESPACE_BEGIN()
namespace {

/// A function of numbers as a kernel of NumPy's loop.
template <class F>
struct Kernel : F {
    static constexpr array_loop::Core in[F::inputs]{};
    static constexpr array_loop::Core out[F::outputs]{};
};
static_assert(array_loop::Core{} == array_loop::Core::scalar);

struct Rows {
    dispatch::ArrayFunction row[32]{};
    int count = 0;

    template <class F>
    constexpr void add(const char* name, F) {
        row[count++] = array_loop::row<Kernel<F>>(name);
    }
    constexpr Rows() {
        elliptic::for_each_function([this](const char* name, auto f) { add(name, f); },
                                    [this]<class F>(const char* name, const char* with_kc2, F f) {
                                        add(with_kc2, f);
                                        add(name, elliptic::WithoutComplement<F>{});
                                    });
    }
};
constexpr Rows rows;

}  // namespace
POLHODE_NAMESPACE_END

const polhode::dispatch::ArrayFunctions polhode::dispatch::POLHODE_TABLE(elliptic){
    POLHODE_LEVEL::rows.row, static_cast<std::size_t>(POLHODE_LEVEL::rows.count)};
