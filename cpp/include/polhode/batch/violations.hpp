#pragma once

/// Invalid data of the bodies of a pack, and failures during their steps.

#include <cstddef>

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/so3.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN(batch)

/// The violations for the moments of one pack of bodies, see Violation.
template <class T>
POLHODE_INLINE int validate_moments(const Vec3<T>& I) {
    const T smallest = min(min(I.x, I.y), I.z);
    const T largest = max(max(I.x, I.y), I.z);
    const mask_t<T> finite = is_finite(I);
    const T zero_below = 4 * epsilon_v<T> * largest;
    const mask_t<T> ok = finite & (smallest > zero_below);
    if (all(ok)) return all_valid;
    const T middle = max(min(I.x, I.y), min(max(I.x, I.y), I.z));
    // A rod, or a body that turns about one axis only.
    const mask_t<T> rod = finite & (abs(smallest) <= zero_below) & (largest > 0.0) &
                          ((largest - middle <= 1e-9 * largest) | (abs(middle) <= zero_below));
    return (any(rod & !ok) ? some_rod : all_valid) | (any(!(ok | rod)) ? some_invalid : all_valid);
}

/// The violations for the moments of bodies begin ... end - 1.
template <class T>
int validate_inertias(const View& inertia, std::ptrdiff_t begin, std::ptrdiff_t end) {
    int violations = all_valid;
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        const int count = end - i < lanes_v<T> ? static_cast<int>(end - i) : lanes_v<T>;
        violations |= validate_moments(load_vec3<T>(inertia, i, count));
    }
    return violations;
}

/// The same for attitudes.
template <class T>
int validate_attitudes(const View& attitude,
                       bool matrix,
                       std::ptrdiff_t begin,
                       std::ptrdiff_t end) {
    mask_t<T> bad = T(0.0) != T(0.0);
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        const int count = end - i < lanes_v<T> ? static_cast<int>(end - i) : lanes_v<T>;
        if (matrix) {
            const Mat3<T> Q = load_mat3<T>(attitude, i, count);
            // A value that is not finite gives NaN, without an error.
            bad = bad | (is_finite(row(Q, 0)) & is_finite(row(Q, 1)) & is_finite(row(Q, 2)) &
                         !so3::is_rotation(Q));
        } else {
            T c[4];
            load(attitude, i, count, c);
            bad = bad | ((c[0] == 0.0) & (c[1] == 0.0) & (c[2] == 0.0) & (c[3] == 0.0));
        }
    }
    return any(bad) ? some_invalid : all_valid;
}

/// Adds up the lanes of the first `count` bodies, which are 0 or 1.
template <class T>
// NOLINTNEXTLINE(readability-non-const-parameter): the atomic addition writes it.
POLHODE_INLINE void add_lanes(std::ptrdiff_t* sum, int count, const T (&ones)[1]) {
    double lanes[lanes_v<T>];
    store({lanes, 1, 0, 0}, 0, count, ones);
    std::ptrdiff_t part = 0;
    for (int lane = 0; lane < count; ++lane) part += lanes[lane] != 0.0 ? 1 : 0;
    __atomic_fetch_add(sum, part, __ATOMIC_RELAXED);
}

/// Counts the bodies that became NaN from finite initial values, see StepArguments.
template <class T>
[[gnu::noinline]] void count_lost(const StepArguments& arguments,
                                  std::ptrdiff_t i,
                                  int count,
                                  const T& end) {
    if (arguments.without_root == nullptr) return;
    const Vec3<T> m = load_vec3<T>(arguments.m, i, count);
    const T h = load_scalar<T>(arguments.h, i, count);
    const auto attitude = Attitude<T>::load(arguments.attitude, arguments.matrix, i, count);
    T zero = 0.0 * h + (0.0 * m.x + 0.0 * m.y + 0.0 * m.z);  // or NaN
    if (arguments.matrix) {
        for (int k = 0; k < 9; ++k) zero = zero + 0.0 * attitude.Q.a[k / 3][k % 3];
    } else {
        const Quaternion<T>& q = attitude.q;
        zero = zero + (0.0 * q.w + 0.0 * q.x + 0.0 * q.y + 0.0 * q.z);
    }
    const T lost[1] = {select(is_nan(end) & (zero == 0.0), T(1.0), T(0.0))};
    add_lanes(arguments.without_root, count, lost);
}

POLHODE_NAMESPACE_END
