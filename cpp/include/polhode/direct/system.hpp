#pragma once

/// The bodies of a pack as a first-order system in the columns of a direct integrator, and loops of
/// several steps in which one torque model is evaluated without leaving the registers.
///
/// The attitude is integrated as a quaternion also where the batch has matrices.

#include "polhode/batch/columns.hpp"
#include "polhode/direct/bodies.hpp"
#include "polhode/direct/equations.hpp"
#include "polhode/so3.hpp"
#include "polhode/torque/frame.hpp"
#include "polhode/torque/table.hpp"

POLHODE_NAMESPACE_BEGIN(direct)

/// Columns of the system.  Of the common ones it uses only the unit of momentum.
enum SystemColumn : int {
    system_attitude = 0,
    system_equations = 4,
    system_low = first_free_column,
    first_column_after_system = system_low + 7
};
static_assert(system_equations + 6 <= unit_column);

/// States of a pack in columns.
template <class T>
struct ColumnsOfPack : Columns<T> {
    using Columns<T>::vector, Columns<T>::quaternion, Columns<T>::keep;

    POLHODE_INLINE State<T> state(int column) const {
        return State<T>::of(vector(column), quaternion(column + 3));
    }
    POLHODE_INLINE void keep(int column, const State<T>& s) const {
        keep(column, s.momentum());
        keep(column + 3, s.attitude());
    }
    POLHODE_INLINE Equations<T> equations() const {
        return Equations<T>::of(vector(system_equations), vector(system_equations + 3));
    }
};

/// The state of a pack at the start of a step, in its unit of momentum.
template <class T>
struct System {
    const DirectArguments& a;
    ColumnsOfPack<T> columns;
    T unit;
    Equations<T> equations;
    Sum<T> sum;

    POLHODE_INLINE System(const DirectArguments& arguments, std::ptrdiff_t i)
        : a(arguments),
          columns{{a.work, i}},
          unit(columns.number(unit_column)),
          equations(columns.equations()),
          sum{State<T>::of(in_unit(batch::load_vec3<T>(batch::columns(View(a.m)), i, lanes_v<T>)),
                           columns.quaternion(system_attitude)),
              columns.state(system_low)} {}

    POLHODE_INLINE Vec3<T> in_unit(const Vec3<T>& v) const {
        return power_of_two_reciprocal(unit) * v;
    }
    /// The torque that the caller evaluated.
    POLHODE_INLINE Vec3<T> torque() const {
        return in_unit(batch::load_vec3<T>(batch::columns(a.torque), columns.i, lanes_v<T>));
    }
    /// Sets the state at which the torque is evaluated.
    POLHODE_INLINE void ask_at(const State<T>& y) const {
        batch::store_vec3(batch::columns(a.m), columns.i, lanes_v<T>, unit * y.momentum());
        const Quaternion<T> q = y.attitude();
        batch::Attitude<T> attitude;
        attitude.matrix = a.matrix;
        if (a.matrix) {
            attitude.Q = so3::to_matrix(q);
        } else {
            attitude.q = over_norm(q);
        }
        attitude.store(batch::columns(a.attitude), columns.i, lanes_v<T>);
    }
    /// Stores the state at the end of a step.
    POLHODE_INLINE void store() const {
        ask_at(sum.y);
        columns.keep(system_attitude, sum.y.attitude());
        columns.keep(system_low, sum.low);
    }
};

/// Begins a run: sets the columns of the system.  The attitude is normalised, and the momentum
/// about the axis of a rod is removed.
template <class T = batch_real>
bool begin_system(const DirectArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        Bodies<T> b(a, i);
        T finite(0.0);
        int violations = all_valid;
        b.attitude.make_unit(finite, violations);
        const T bad = nan<T>();
        b.m = select(
            is_nan(finite) | !is_finite(b.m), Vec3<T>{bad, bad, bad}, b.body.own_momentum(b.m));
        b.store();
        const ColumnsOfPack<T> columns{{a.work, i}};
        const Equations<T> e = Equations<T>::of(b.body, b.unit);
        columns.keep(system_equations, e.half_inverse);
        columns.keep(system_equations + 3, e.difference);
        columns.keep(system_attitude, a.matrix ? so3::to_quaternion(b.attitude.Q) : b.attitude.q);
        const T zero(0.0);
        columns.keep(unit_column, b.unit);
        columns.keep(system_low, State<T>::of({zero, zero, zero}, {zero, zero, zero, zero}));
    }
    return true;
}

/// A stage of a method as a function of arrays: Method::stage(System<T>&) for each pack.
template <class Method, class T = batch_real>
bool system_stage(const DirectArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (a.step == 0 && a.stage == 0) begin_system<T>(a, begin, end);
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        System<T> system(a, i);
        Method::stage(system);
    }
    return true;
}

/// No torque.
struct NoTorque {
    static constexpr int parameters = 1;
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T*, double, const Vec3<T>&, const F&) {
        return {T(0.0), T(0.0), T(0.0)};
    }
};

/// The rate of change of a pack with one torque model.
template <class Model, class T>
struct ModelSlope {
    Equations<T> equations;
    T unit, per_unit;
    T p[Model::parameters] = {};

    POLHODE_INLINE ModelSlope(const System<T>& s, const View& parameters, std::ptrdiff_t i)
        : equations(s.equations),
          unit(s.unit),
          per_unit(power_of_two_reciprocal(s.unit)) {
        if (parameters.data == nullptr) return;
        if (parameters.body != 0) {
            batch::load(batch::columns(parameters), i, lanes_v<T>, p);
        } else {
            batch::load(parameters, i, lanes_v<T>, p);
        }
    }
    POLHODE_INLINE State<T> operator()(double t, const State<T>& y) const {
        const Vec3<T> m = y.momentum();
        const Quaternion<T> q = y.attitude();
        const Vec3<T> f = torque::torque_at<Model>(
            static_cast<const T*>(p), t, unit * m, torque::Frame<T, false>{q});
        return equations.slope(m, q, per_unit * f);
    }
    /// Within a step the state is what it is between steps.
    POLHODE_INLINE State<T> begin(const State<T>& y) const { return y; }
    POLHODE_INLINE State<T> end(const State<T>& change) const { return change; }
};

/// The same for a torque u x axis, u = Q^T u0.  Within a step the state is omega in place of m, q,
/// and u:
///
///     omega1' = (I2 - I3)/I1 omega2 omega3 + (u x axis)_1/I1 ...,   u' = u x omega
///
/// These are no more operations than u from q at each stage, but in shorter chains.
/// Packs have omega/2 in place of omega, which saves the multiplication of q' by 1/2; for one body
/// the doubling in u' would lengthen them.
template <class Model, class T>
struct TopSlope : ModelSlope<Model, T> {
    using Base = ModelSlope<Model, T>;
    using Kind = Kinds<T>;
    using Vector = typename Kind::Vector;
    static constexpr bool halves = lanes_v<T> > 1;
    Orders<Vector> u0, twice_u0;
    Vector half_inverse, inverse, moments, difference, axis_yzx, axis_zxy;
    /// Of the rate of m: differences of 1/I, the axis without its component along a rod.
    Vector of_momenta;
    Orders<Vector> torque_axis;

    POLHODE_INLINE TopSlope(const System<T>& s, const View& parameters, std::ptrdiff_t i)
        : Base(s, parameters, i),
          u0(Orders<Vector>::of(
              Kind::of(this->per_unit * Model::weight(static_cast<const T*>(this->p))))),
          twice_u0(Orders<Vector>::of(u0.from_x + u0.from_x)) {
        const Vec3<T> J = T(halves ? 1.0 : 2.0) * s.equations.half_inverse;  // 1/(2 I) or 1/I
        const T one(1.0);
        // 0 about the axis of a rod, as J is.
        const Vec3<T> I = where_nonzero(J, {one / J.x, one / J.y, one / J.z});
        const Vec3<T> axis = Model::axis(static_cast<const T*>(this->p));
        half_inverse = Kind::of(s.equations.half_inverse);
        inverse = Kind::of(J);
        moments = Kind::of(I);
        difference = Kind::of(times(times(J, yzx(I)), times(s.equations.difference, zxy(I))));
        axis_yzx = Kind::of(times(J, yzx(axis)));
        axis_zxy = Kind::of(times(J, zxy(axis)));
        of_momenta = Kind::of(s.equations.difference);
        const auto without_rod = [&](const Vec3<T>& v) { return Kind::of(where_nonzero(J, v)); };
        torque_axis = {without_rod(axis), without_rod(yzx(axis)), without_rod(zxy(axis))};
    }
    POLHODE_INLINE StateOfTop<T> begin(const State<T>& y) const {
        return {{times(inverse, y.m), y.q}, weight(y.q).from_x};
    }
    POLHODE_INLINE State<T> end(const StateOfTop<T>& change) const {
        return {times(moments, change.y.m), change.y.q};
    }
    POLHODE_INLINE State<T> operator()(double, const State<T>& y) const {
        const auto turning = times(times(of_momenta, yzx(y.m)), zxy(y.m));
        return {plus_cross(turning, weight(y.q), torque_axis),
                product(y.q, times(half_inverse, y.m))};
    }
    POLHODE_INLINE StateOfTop<T> operator()(double, const StateOfTop<T>& s) const {
        const auto &v = s.y.m, &u = s.u;
        const auto v_yzx = yzx(v), v_zxy = zxy(v), u_yzx = yzx(u), u_zxy = zxy(u);
        const auto rate =
            fma(times(difference, v_yzx), v_zxy, fma(u_yzx, axis_zxy, -times(u_zxy, axis_yzx)));
        if constexpr (halves) {
            return {{rate, product(s.y.q, v)},
                    fma(u_yzx, v_zxy + v_zxy, -times(u_zxy, v_yzx + v_yzx))};
        } else {
            return {{rate, half_product(s.y.q, v)}, fma(u_yzx, v_zxy, -times(u_zxy, v_yzx))};
        }
    }

  private:
    /// u = u0 + w t + t x a with t = 2 u0 x a, q = (w, a).
    POLHODE_INLINE Orders<Vector> weight(const typename Kind::Turn& q) const {
        const auto w = scalar_part(q);
        const Orders<Vector> a = vector_orders(q), t = cross(twice_u0, a);
        const Orders<Vector> s{axpy(u0.from_x, w, t.from_x),
                               axpy(u0.from_y, w, t.from_y),
                               axpy(u0.from_z, w, t.from_z)};
        return {plus_cross(s.from_x, t, a),
                plus_cross(s.from_y, t.next(), a.next()),
                plus_cross(s.from_z, t.next().next(), a.next().next())};
    }
};
template <class Model, class T>
struct SlopeOf {
    using type = ModelSlope<Model, T>;
};
template <class Model, class T>
    requires requires(const T* p) { Model::axis(p); }
struct SlopeOf<Model, T> {
    using type = TopSlope<Model, T>;
};

/// DirectRun::run of a method and a torque model.  A method has
///
///     Method(const System<T>&, const DirectSteps& steps);  // its numbers of one pack
///     void step(Sum<T>&, const DirectSteps& steps, std::ptrdiff_t n, const Slope& slope);
///     void store(const System<T>&, std::ptrdiff_t n) const;  // before step n
///
/// slope(t, state) returns the rate of change of a state, or of slope.begin(state), whose change
/// slope.end makes one of a state.
template <template <class> class Method, class Model, class T>
void run_system(const DirectArguments& a,
                const View& parameters,
                const DirectSteps& steps,
                std::ptrdiff_t begin,
                std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        System<T> system(a, i);
        const typename SlopeOf<Model, T>::type slope(system, parameters, i);
        Method<T> method(system, steps);
        for (std::ptrdiff_t n = steps.first; n < steps.first + steps.count; ++n) {
            method.step(system.sum, steps, n, slope);
        }
        method.store(system, steps.first + steps.count);
        system.store();
    }
}

POLHODE_NAMESPACE_END
