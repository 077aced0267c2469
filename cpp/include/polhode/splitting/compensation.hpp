#pragma once

/// Compensated momenta.  Each flow and each kick rounds m, and the energy drifts from that of the
/// scheme in a random walk.  `compensation` stores the rounding error of m, below half an ulp: the
/// momentum is m + compensation.  A kick adds to both.  A flow moves only m.  It should conserve
/// the energy; its energy error is corrected at the end of the step.

#include "polhode/splitting/block.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

template <class T>
class Compensation {
  public:
    explicit Compensation(Block<T>& block)
        : block_(block),
          before_(block.columns(3)),
          error_(block.columns(1)) {}

    void begin_step() const { block_.fill(error_, 1, 0.0); }
    void before_flow() const { batch::copy(block_.m, before_, 3, block_.padded); }
    /// Adds the change of twice the energy of m + compensation by the flow, by differences:
    /// (m' - m) . I^-1 (m' + m + 2 compensation).
    void after_flow() const {
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const Vec3<T> old = block_.vec3(before_, i), m = block_.vec3(block_.m, i);
            const Vec3<T> w = times(block_.inverse_inertia(i), m - old);
            const T change = dot(w, m + old) + 2.0 * dot(w, block_.vec3(block_.compensation, i));
            const T total[1] = {error(i) + change};
            batch::store(batch::columns(error_), i, lanes_v<T>, total);
        });
    }
    /// The smallest change of the momentum that undoes the error: along omega.
    void end_step() const {
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const Vec3<T> inverse = block_.inverse_inertia(i), m = block_.vec3(block_.m, i);
            const Vec3<T> w = times(inverse, m);
            const T factor = -0.5 * error(i) / dot(w, w);
            // Anything larger is not a rounding error: m is zero, or so small that its products
            // underflow.
            const T relative = abs(factor) * max(max(inverse.x, inverse.y), inverse.z);
            const T f = select(relative <= 0x1p-40, factor, T(0.0));
            block_.store_sum(i, m, axpy(block_.vec3(block_.compensation, i), f, w));
        });
    }

  private:
    POLHODE_INLINE T error(std::ptrdiff_t i) const {
        return batch::load_scalar<T>(batch::columns(View(error_)), i, lanes_v<T>);
    }

    Block<T>& block_;
    MutableView before_, error_;
};

POLHODE_NAMESPACE_END
