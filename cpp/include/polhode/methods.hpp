#pragma once

/// @file
/// THE list of methods.  Whatever enumerates methods reads it: step(method=...), methods(), the
/// dispatch tables, FLOP counts, benchmarks and the law tests.
///
/// A method is a type with a row of facts and
///
///     template <class T>
///     static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h);
///
/// in sorted axes, m scaled to a largest component in [1, 2).  A new method is one kernel and one row.

#include "polhode/method_info.hpp"
#include "polhode/torque_free/exact.hpp"
#include "polhode/torque_free/frb.hpp"

POLHODE_NAMESPACE_BEGIN

struct Exact {
    static constexpr MethodInfo info{"exact", 0, "exact", "energy casimir momentum_spatial", true, "",
                                     "[CZ08], without inverse functions"};
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return torque_free::exact_step(body, m, h);
    }
};

struct Frb {
    static constexpr MethodInfo info{"frb", 0, "exact", "energy casimir momentum_spatial", true, "",
                                     "[CZ08] Algorithm 2"};
    template <class T>
    POLHODE_INLINE static FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) {
        return torque_free::frb_step(body, m, h);
    }
};

template <class... Methods>
struct MethodList {
    /// Calls visit.template operator()<Method>() for every method.
    template <class Visit>
    static constexpr void for_each(Visit visit) {
        (visit.template operator()<Methods>(), ...);
    }
};

using Methods = MethodList<Exact, Frb>;

POLHODE_NAMESPACE_END
