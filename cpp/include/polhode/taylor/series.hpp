#pragma once

/// Taylor series of vectors and quaternions in a step: coefficients, each times its power of h, and
/// the coefficients of products, sums of a_i b_j over all i + j = k.
///
/// For packs the components are apart.  For one body they are the lanes of a register, with the
/// same bits, and each coefficient is stored in all the orders in which the products need it.

#include "polhode/direct/equations.hpp"

POLHODE_NAMESPACE_BEGIN(taylor)

inline constexpr int most_order = 16;

/// A vector (n = 3) or a quaternion (n = 4); w of a vector has no meaning.
template <class T, int n>
struct Row {
    T x, y, z, w;

    POLHODE_INLINE static Row of(const Vec3<T>& a) { return {a.x, a.y, a.z, T(0.0)}; }
    POLHODE_INLINE static Row of(const Quaternion<T>& a) { return {a.x, a.y, a.z, a.w}; }
    POLHODE_INLINE Vec3<T> vector() const { return {x, y, z}; }
    POLHODE_INLINE Quaternion<T> quaternion() const { return {w, x, y, z}; }
    POLHODE_INLINE Row yzx() const { return {y, z, x, w}; }
    POLHODE_INLINE Row zxy() const { return {z, x, y, w}; }

    template <class F, class... Rows>
    POLHODE_INLINE static Row each(const F& f, const Rows&... a) {
        Row r{f(a.x...), f(a.y...), f(a.z...), T(0.0)};
        if constexpr (n == 4) r.w = f(a.w...);
        return r;
    }
    POLHODE_INLINE friend Row operator+(const Row& a, const Row& b) {
        return each([](const T& p, const T& q) POLHODE_INLINE_LAMBDA { return p + q; }, a, b);
    }
    POLHODE_INLINE friend Row operator-(const Row& a, const Row& b) {
        return each([](const T& p, const T& q) POLHODE_INLINE_LAMBDA { return p - q; }, a, b);
    }
    POLHODE_INLINE friend Row operator*(const Row& a, const Row& b) {
        return each([](const T& p, const T& q) POLHODE_INLINE_LAMBDA { return p * q; }, a, b);
    }
    POLHODE_INLINE friend Row operator*(const T& s, const Row& a) {
        return each([&](const T& p) POLHODE_INLINE_LAMBDA { return s * p; }, a);
    }
    POLHODE_INLINE friend Row fused(const Row& a, const Row& b, const Row& c) {
        return each([](const T& p, const T& q, const T& r)
                        POLHODE_INLINE_LAMBDA { return fma(p, q, r); },
                    a,
                    b,
                    c);
    }
};
template <class T>
using Vector = Row<T, 3>;

/// The coefficients of a vector; in the orders x y z, z x y and y z x, the fourth number for a
/// product with a quaternion.
template <class T>
struct VectorSeries {
    Vec3<T> v[most_order + 1];

    POLHODE_INLINE void set(int k, const Vector<T>& a) { v[k] = a.vector(); }
    POLHODE_INLINE Vector<T> operator[](int k) const { return Vector<T>::of(v[k]); }
    template <int n>
    POLHODE_INLINE Row<T, n> xyzx(int k) const {
        return {v[k].x, v[k].y, v[k].z, v[k].x};
    }
    template <int n>
    POLHODE_INLINE Row<T, n> zxyy(int k) const {
        return {v[k].z, v[k].x, v[k].y, v[k].y};
    }
    template <int n>
    POLHODE_INLINE Row<T, n> yzxz(int k) const {
        return {v[k].y, v[k].z, v[k].x, v[k].z};
    }
};
template <class T>
struct QuaternionSeries {
    Row<T, 4> v[most_order + 1];

    POLHODE_INLINE void set(int k, const Row<T, 4>& a) { v[k] = a; }
    POLHODE_INLINE Row<T, 4> operator[](int k) const { return v[k]; }
    POLHODE_INLINE Row<T, 4> wwwx(int k) const { return {v[k].w, v[k].w, v[k].w, v[k].x}; }
    POLHODE_INLINE Row<T, 4> yzxy(int k) const { return {v[k].y, v[k].z, v[k].x, v[k].y}; }
    POLHODE_INLINE Row<T, 4> zxyz(int k) const { return {v[k].z, v[k].x, v[k].y, v[k].z}; }
};

template <int n>
struct Row<double, n> {
    pack<4, 1> v;

    POLHODE_INLINE static Row of(double x, double y, double z, double w) {
        Row r;
        r.v.v[0] = polhode::detail::real_vector<4>{x, y, z, w};
        return r;
    }
    POLHODE_INLINE static Row of(const Vec3<double>& a) { return of(a.x, a.y, a.z, 0.0); }
    POLHODE_INLINE static Row of(const Quaternion<double>& a) { return of(a.x, a.y, a.z, a.w); }
    template <int a, int b, int c, int d>
    POLHODE_INLINE Row in_order() const {
        return of(v.v[0][a], v.v[0][b], v.v[0][c], v.v[0][d]);
    }
    POLHODE_INLINE Vec3<double> vector() const { return {v.v[0][0], v.v[0][1], v.v[0][2]}; }
    POLHODE_INLINE Quaternion<double> quaternion() const {
        return {v.v[0][3], v.v[0][0], v.v[0][1], v.v[0][2]};
    }
    POLHODE_INLINE Row yzx() const { return in_order<1, 2, 0, 3>(); }
    POLHODE_INLINE Row zxy() const { return in_order<2, 0, 1, 3>(); }

    POLHODE_INLINE friend Row operator+(const Row& a, const Row& b) { return {a.v + b.v}; }
    POLHODE_INLINE friend Row operator-(const Row& a, const Row& b) { return {a.v - b.v}; }
    POLHODE_INLINE friend Row operator*(const Row& a, const Row& b) { return {a.v * b.v}; }
    POLHODE_INLINE friend Row operator*(double s, const Row& a) { return {s * a.v}; }
    POLHODE_INLINE friend Row fused(const Row& a, const Row& b, const Row& c) {
        return {fma(a.v, b.v, c.v)};
    }
};
template <>
struct VectorSeries<double> {
    pack<4, 1> xyz[most_order + 1], zxy[most_order + 1], yzx[most_order + 1];

    POLHODE_INLINE void set(int k, const Vector<double>& a) {
        xyz[k] = a.in_order<0, 1, 2, 0>().v;
        zxy[k] = a.in_order<2, 0, 1, 1>().v;
        yzx[k] = a.in_order<1, 2, 0, 2>().v;
    }
    POLHODE_INLINE Vector<double> operator[](int k) const { return {xyz[k]}; }
    template <int n>
    POLHODE_INLINE Row<double, n> xyzx(int k) const {
        return {xyz[k]};
    }
    template <int n>
    POLHODE_INLINE Row<double, n> zxyy(int k) const {
        return {zxy[k]};
    }
    template <int n>
    POLHODE_INLINE Row<double, n> yzxz(int k) const {
        return {yzx[k]};
    }
};
template <>
struct QuaternionSeries<double> {
    using Four = Row<double, 4>;
    Four xyzw[most_order + 1], www[most_order + 1], yzx[most_order + 1], zxy[most_order + 1];

    POLHODE_INLINE void set(int k, const Four& a) {
        xyzw[k] = a;
        www[k] = a.in_order<3, 3, 3, 0>();
        yzx[k] = a.in_order<1, 2, 0, 1>();
        zxy[k] = a.in_order<2, 0, 1, 2>();
    }
    POLHODE_INLINE Four operator[](int k) const { return xyzw[k]; }
    POLHODE_INLINE Four wwwx(int k) const { return www[k]; }
    POLHODE_INLINE Four yzxy(int k) const { return yzx[k]; }
    POLHODE_INLINE Four zxyz(int k) const { return zxy[k]; }
};
template <class T, int n>
POLHODE_INLINE Row<T, n> zero() {
    return Row<T, n>::of(Vec3<T>{T(0.0), T(0.0), T(0.0)});
}

/// Calls add(i, j) for all i + j = k.  The newest coefficients come last, since the sums of the
/// others do not depend on them.
template <class... Sums>
POLHODE_INLINE void over_all(int k, Sums&... add) {
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC unroll 1
#endif
    for (int i = 1; i < k; ++i) (add(i, k - i), ...);
    if (k > 0) (add(0, k), ...);
    (add(k, 0), ...);
}
/// Sums over all i + j = k: for packs one after another, since each fills the registers; for one
/// body together, since an addition depends on the one before.
template <class T, class... Sums>
POLHODE_INLINE void convolve(int k, Sums&... add) {
    if constexpr (lanes_v<T> == 1) {
        over_all(k, add...);
    } else {
        (over_all(k, add), ...);
    }
}

/// At coefficient k, what the series of a torque takes: h/(k + 1), the series of m and of half the
/// angular velocity, w.
template <class T>
struct Order {
    int k;
    T step;
    const VectorSeries<T>&m, &w;
};

/// a x b.
template <class T>
struct Cross {
    const VectorSeries<T>&a, &b;
    Vector<T> plus = zero<T, 3>(), minus = zero<T, 3>();

    POLHODE_INLINE void operator()(int i, int j) {
        plus = fused(a.template yzxz<3>(i), b.template zxyy<3>(j), plus);
        minus = fused(a.template zxyy<3>(i), b.template yzxz<3>(j), minus);
    }
    POLHODE_INLINE Vector<T> value() const { return plus - minus; }
};
/// a_k x b.
template <class T>
POLHODE_INLINE Vector<T> cross(const VectorSeries<T>& a, int k, const Vector<T>& b) {
    return a.template yzxz<3>(k) * b.zxy() - a.template zxyy<3>(k) * b.yzx();
}

POLHODE_NAMESPACE_END
