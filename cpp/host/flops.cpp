/// The kernels of all methods, compiled for the counting number type.

#include "flops.hpp"

#include "polhode/batch/attitude.hpp"
#include "polhode/energy_correction.hpp"
#include "polhode/inertia.hpp"
#include "polhode/method_step.hpp"
#include "polhode/methods.hpp"

namespace polhode {

std::optional<OperationCount> count_step(const std::string& method,
                                         const std::array<double, 3>& inertia,
                                         const std::array<double, 3>& m,
                                         double h,
                                         bool matrix,
                                         const OptionValues& options) {
    const auto body = Inertia<counted>::of({inertia[0], inertia[1], inertia[2]});
    batch::Attitude<counted> attitude;
    attitude.matrix = matrix;
    attitude.q = {1.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < 9; ++k) attitude.Q.a[k / 3][k % 3] = k % 4 == 0 ? 1.0 : 0.0;
    std::optional<OperationCount> operations;
    Methods::for_each([&]<class Method>() {
        if (method != Method::info.name) return;
        const Vec3<counted> momentum{m[0], m[1], m[2]};
        const counted target = energy::per_momentum(body, momentum);
        const int correction = Method::info.energy_correction(Method::info.complete(options));
        const batch::BodyOf<batch::KernelOf<Method>, counted> constants(body);
        const counted_scope scope;
        auto step = batch::advance<Method>(constants, momentum, counted(h), options);
        if (correction != energy::none) {
            energy::correct(body, step, target, correction);
        }
        attitude.rotate(step.dq);
        operations = scope.count();
    });
    return operations;
}

}  // namespace polhode
