/// @file
/// The inner loops of polhode.so3, compiled once per instruction-set level.

#include "array_loop.hpp"
#include "polhode/so3.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using array_loop::row;
constexpr auto vector = array_loop::Core::vector;
constexpr auto quaternion = array_loop::Core::quaternion;
constexpr auto matrix = array_loop::Core::matrix;

constexpr dispatch::ArrayFunction rows[] = {
    row<matrix, quaternion>("so3_to_matrix", [](const auto& q) { return so3::to_matrix(q); }),
    row<quaternion, matrix>("so3_to_quaternion",
                            [](const auto& m) { return so3::to_quaternion(m); }),
    row<quaternion, quaternion, quaternion>("so3_multiply",
                                            [](const auto& p, const auto& q) { return p * q; }),
    row<quaternion, quaternion>("so3_conjugate", [](const auto& q) { return conjugate(q); }),
    row<vector, quaternion, vector>("so3_rotate",
                                    [](const auto& q, const auto& v) { return so3::rotate(q, v); }),
    row<vector, matrix, vector>("so3_rotate_by_matrix",
                                [](const auto& m, const auto& v) { return so3::rotate(m, v); }),
    row<quaternion, vector>("so3_exp", [](const auto& v) { return so3::exp(v); }),
    row<vector, quaternion>("so3_log", [](const auto& q) { return so3::log(q); }),
    row<vector, quaternion>("so3_log_shortest", [](const auto& q) { return so3::log_shortest(q); }),
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const ArrayFunctions POLHODE_TABLE(attitudes);
const ArrayFunctions POLHODE_TABLE(attitudes){POLHODE_LEVEL::rows};
}  // namespace polhode::dispatch
