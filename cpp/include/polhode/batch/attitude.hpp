#pragma once

/// The attitudes of a pack of bodies, quaternions or matrices.

#include <cstddef>

#include "polhode/batch/views.hpp"
#include "polhode/mat3.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(batch)

/// The attitude of one pack of bodies: a quaternion or a matrix, one choice for the whole batch.
template <class T>
struct Attitude {
    bool matrix;
    Quaternion<T> q;
    Mat3<T> Q;

    POLHODE_INLINE static Attitude load(const View& v, bool matrix, std::ptrdiff_t i, int count) {
        Attitude a;
        a.matrix = matrix;
        if (matrix) {
            a.Q = load_mat3<T>(v, i, count);
        } else {
            a.q = load_quaternion<T>(v, i, count);
        }
        return a;
    }
    POLHODE_INLINE static Attitude chosen(const mask_t<T>& mask,
                                          const Attitude& a,
                                          const Attitude& b) {
        Attitude r = b;
        if (b.matrix) {
            for (int k = 0; k < 9; ++k) {
                r.Q.a[k / 3][k % 3] = select(mask, a.Q.a[k / 3][k % 3], b.Q.a[k / 3][k % 3]);
            }
        } else {
            r.q = select(mask, a.q, b.q);
        }
        return r;
    }
    POLHODE_INLINE void store(const MutableView& v, std::ptrdiff_t i, int count) const {
        if (matrix) {
            const Vec3<T> x = row(Q, 0), y = row(Q, 1), z = row(Q, 2);
            const T c[9] = {x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z};
            batch::store(v, i, count, c);
        } else {
            const T c[4] = {q.w, q.x, q.y, q.z};
            batch::store(v, i, count, c);
        }
    }

    /// Normalises the attitude at the start of a step: a q if |q|^2 differs from 1 by more than 4
    /// eps, a Q if an entry of Q^T Q - 1 is above 8 eps.  Otherwise it stays the same bit for bit.
    /// h becomes NaN where the attitude is not finite; zero quaternions are reported in
    /// `violations`.
    POLHODE_INLINE void make_unit(T& h, int& violations) {
        if (matrix) {
            h = select(make_orthogonal(), h, nan<T>());
            return;
        }
        const T excess = dot(q, q) - 1.0;
        if (any(!(abs(excess) <= unit_within))) {
            const mask_t<T> far = !(abs(excess) <= near_unit);
            if (any(far)) {
                const mask_t<T> zero = (q.w == 0.0) & (q.x == 0.0) & (q.y == 0.0) & (q.z == 0.0);
                if (any(zero)) violations |= some_invalid;
                q = select(far, normalised(q), q);
                const mask_t<T> finite = is_finite(q.w) & is_finite(vector_part(q));
                h = select(finite, h, nan<T>());
            }
            q = renormalized(q, unit_within);
        }
    }
    /// The same results as `make_unit` and `rotate` for matrices, and for quaternions that need at
    /// most a small correction of the norm, with a blend: in most packs some lane needs the
    /// correction.  The mask is false for all other lanes, whose results are meaningless.
    POLHODE_INLINE mask_t<T> rotate_near_unit(const Quaternion<T>& dq) {
        if (matrix) {
            const mask_t<T> finite = make_orthogonal();
            rotate(dq);
            return finite;
        }
        const T excess = dot(q, q) - 1.0;
        q = renormalized(q, unit_within) * dq;
        return abs(excess) <= near_unit;
    }
    POLHODE_INLINE Vec3<T> to_body(const Vec3<T>& v) const {
        return matrix ? in_body_frame(Q, v) : in_body_frame(q, v);
    }
    POLHODE_INLINE Vec3<T> to_space(const Vec3<T>& v) const {
        return matrix ? rotated(Q, v) : rotated(q, v);
    }
    /// A number that is NaN if the attitude is.
    POLHODE_INLINE T first() const { return matrix ? Q.a[0][0] : q.w; }
    /// NaN where the mask holds.
    POLHODE_INLINE void set_nan(const mask_t<T>& bad) {
        const T factor = select(bad, nan<T>(), T(1.0));
        if (matrix) {
            for (int k = 0; k < 9; ++k) Q.a[k / 3][k % 3] = factor * Q.a[k / 3][k % 3];
        } else {
            q = factor * q;
        }
    }
    /// Rotates by dq in the body frame.
    POLHODE_INLINE void rotate(const Quaternion<T>& dq) {
        if (matrix) {
            polhode::rotate(Q, dq);
        } else {
            q = q * dq;
        }
    }

  private:
    /// `make_unit` of matrices.  False for a matrix that is not finite.
    POLHODE_INLINE mask_t<T> make_orthogonal() {
        const mask_t<T> orthogonal = Orthogonality<T>::of(Q).size() <= orthogonal_within;
        if (all(orthogonal)) return orthogonal;
        orthogonalize(Q, orthogonal_within);
        orthogonalize(Q, orthogonal_within);
        return is_finite(Vec3<T>{Q.a[0][0], Q.a[0][1], Q.a[0][2]}) &
               is_finite(Vec3<T>{Q.a[1][0], Q.a[1][1], Q.a[1][2]}) &
               is_finite(Vec3<T>{Q.a[2][0], Q.a[2][1], Q.a[2][2]});
    }

    static constexpr double unit_within = 4 * epsilon_v<T>;
    static constexpr double near_unit = 0x1p-26;  ///< of renormalized
    static constexpr double orthogonal_within = 8 * epsilon_v<T>;
};

POLHODE_NAMESPACE_END
