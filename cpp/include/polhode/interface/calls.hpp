#pragma once

/// The calls of the C interface, with exceptions: checks of the arguments, then the kernels of a
/// level.  c_interface.cpp calls them with the tables of libpolhode, header_only.hpp with the
/// kernels that the program compiles.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "polhode/interface/adapt.hpp"
#include "polhode/interface/arguments.hpp"
#include "polhode/interface/names.hpp"
#include "polhode/interface/overlap.hpp"
#include "polhode/splitting/arguments.hpp"
#include "polhode/threads.hpp"

POLHODE_NAMESPACE_BEGIN(interface)

// The kernels of a level, besides those of the methods; what is not called need not be compiled.

struct MotionKernels {
    /// Nine constants a body, of bodies one after another.
    void (*constants)(std::ptrdiff_t bodies,
                      const double* inertia,
                      const double* m,
                      double* constants);
    void (*at)(const MotionArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end);
};
struct Driver {
    void (*run)(const SplittingProblem& problem, std::ptrdiff_t begin, std::ptrdiff_t end);
    const TorqueModel* compiled;
    const TorqueModel* compiled_of_m;
    void (*adapt)(const SplittingProblem& problem,
                  const AdaptiveProblem& adaptive,
                  std::ptrdiff_t begin,
                  std::ptrdiff_t end) = nullptr;
};

/// A method with options, and its kernels.
struct FreeMethod {
    const MethodInfo* info;
    StepFunction step;
    int history;  ///< see dispatch::StepRow
    OptionValues options;
    const DirectMethod* direct = nullptr;  ///< if it integrates the torque itself
};

/// What ends a run whose torque has asked for it.
struct Stopped {};

/// The attitudes of a batch; matrices of either order.
struct Attitudes {
    bool matrix;
    std::ptrdiff_t length, component, row;

    explicit Attitudes(int kind) {
        require(kind >= POLHODE_QUATERNION && kind <= POLHODE_MATRIX_COLUMNS,
                "attitude must be one of enum polhode_attitude");
        matrix = kind != POLHODE_QUATERNION;
        length = matrix ? 9 : 4;
        component = kind == POLHODE_MATRIX_COLUMNS ? 3 : 1;
        row = kind == POLHODE_MATRIX_COLUMNS ? 1 : 3;
    }
    View view(const double* data) const { return {data, length, component, row}; }
    MutableView view(double* data) const { return {data, length, component, row}; }
};

inline void check_bodies(const validate::Kernels& kernels,
                         std::ptrdiff_t bodies,
                         const View& inertia,
                         const View& m,
                         const View& q,
                         bool matrix) {
    if (bodies == 0) return;  // the arrays may be null
    const int rows = matrix ? 3 : 1, columns = matrix ? 3 : 4;
    validate::bodies(kernels,
                     validate::Argument::flat("inertia", inertia, bodies, 1, 3),
                     validate::Argument::flat("m", m, bodies, 1, 3),
                     validate::Argument::flat("q", q, bodies, rows, columns));
}

inline View inertia_view(const double* inertia, std::int64_t stride) {
    require(stride == 0 || stride == 3, "inertia_stride must be 0 or 3");
    return {inertia, stride, 1, 3};
}

/// `units`: steps of a body for each element.
template <class Work>
void in_threads(std::ptrdiff_t count,
                int threads,
                std::ptrdiff_t piece,
                std::ptrdiff_t units,
                const Work& work) {
    if (threads == 1 || count <= piece) {
        work(0, count);
    } else {
        share_among_threads(count, threads, piece, units, work, [] { return false; });
    }
}

/// Returns the number of bodies whose step has no result.
inline std::int64_t step(const validate::Kernels& checks,
                         const FreeMethod& method,
                         const Steps& x) {
    const Attitudes attitudes(x.attitude);
    require(x.bodies >= 0, "bodies must not be negative");
    validate::steps(x.n_steps);
    require(x.h_stride == 0 || x.h_stride == 1, "h_stride must be 0 or 1");
    const int threads = thread_count(x.threads);
    if (x.bodies > 0) {
        require_arrays({{x.inertia, "inertia"},
                        {x.m, "m"},
                        {x.q, "q"},
                        {x.h, "h"},
                        {x.m_out, "m_out"},
                        {x.q_out, "q_out"}});
        require_apart(x, attitudes.length);
    }
    validate::steps(x.n_steps, *method.info, method.history);
    StepArguments a{};
    a.inertia = inertia_view(x.inertia, x.inertia_stride);
    a.m = {x.m, 3, 1, 3};
    a.attitude = attitudes.view(x.q);
    a.h = {x.h, x.h_stride, 0, 0};
    a.m_out = {x.m_out, 3, 1, 3};
    a.attitude_out = attitudes.view(x.q_out);
    a.n_steps = x.n_steps;
    a.matrix = attitudes.matrix;
    a.options = method.options;
    a.energy_correction = method.info->energy_correction(method.options);
    std::ptrdiff_t without_root = 0;
    a.without_root = &without_root;
    check_bodies(checks, x.bodies, a.inertia, a.m, a.attitude, a.matrix);
    in_threads(
        x.bodies, threads, whole_packs, x.n_steps, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
            method.step(a, begin, end);
        });
    return without_root;
}

/// The closed form of the motion of bodies.
class Motion {
  public:
    Motion(const validate::Kernels& checks,
           const MotionKernels& kernels,
           std::int64_t bodies,
           const double* inertia,
           std::int64_t inertia_stride,
           const double* m0,
           const double* q0,
           int attitude)
        : bodies_(bodies),
          attitudes_(attitude) {
        require(bodies >= 0, "bodies must not be negative");
        if (bodies > 0) require_arrays({{inertia, "inertia"}, {m0, "m0"}, {q0, "q0"}});
        const View moments = inertia_view(inertia, inertia_stride);
        check_bodies(
            checks, bodies, moments, {m0, 3, 1, 3}, attitudes_.view(q0), attitudes_.matrix);
        const auto n = static_cast<std::size_t>(bodies);
        m_.assign(m0, m0 + 3 * n);
        q_.assign(q0, q0 + static_cast<std::size_t>(attitudes_.length) * n);
        inertia_.resize(3 * n);
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(
                inertia + i * static_cast<std::size_t>(inertia_stride), 3, inertia_.data() + 3 * i);
        }
        constants_.resize(9 * n);
        kernels.constants(bodies, inertia_.data(), m_.data(), constants_.data());
    }
    std::ptrdiff_t bodies() const { return bodies_; }
    void at(const MotionKernels& kernels,
            std::int64_t times,
            const double* t,
            int threads,
            double* m,
            double* q) const {
        require(times >= 0, "times must not be negative");
        threads = thread_count(threads);
        if (times > 0 && bodies_ > 0) {
            require_arrays({{t, "t"}, {m, "m"}, {q, "q"}});
            const std::int64_t n = times * bodies_;
            const Array written[] = {{m, 3 * n, "m"}, {q, attitudes_.length * n, "q"}};
            const Array read[] = {{t, times, "t"}};
            require_apart(written, read);
        }
        // One body: its times are the batch.
        const bool one = bodies_ == 1;
        const std::ptrdiff_t count = one ? times : bodies_, rows = one ? 1 : times;
        const auto of_body = [one](View view) {
            if (one) view.body = 0;
            return view;
        };
        for (std::ptrdiff_t k = 0; k < rows; ++k) {
            const MotionArguments a = {of_body({inertia_.data(), 3, 1, 3}),
                                       of_body({m_.data(), 3, 1, 3}),
                                       of_body(attitudes_.view(q_.data())),
                                       of_body({constants_.data(), 9, 1, 3}),
                                       {t + k, one ? 1 : 0, 0, 0},
                                       {m + k * count * 3, 3, 1, 3},
                                       attitudes_.view(q + k * count * attitudes_.length),
                                       attitudes_.matrix};
            in_threads(
                count, threads, whole_packs, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                    kernels.at(a, begin, end);
                });
        }
    }
    void period(double* period) const {
        if (bodies_ > 0) require_array(period, "period");
        for (std::size_t i = 0; i < constants_.size() / 9; ++i) period[i] = constants_[9 * i + 6];
    }

  private:
    std::ptrdiff_t bodies_;
    Attitudes attitudes_;
    std::vector<double> inertia_, m_, q_, constants_;
};

/// A torque or force that may end the run: Stopped leaves every thread at its next call.
struct StoppingTorque {
    const Integration& run;
    std::atomic<bool> stopped{false};

    /// Calls a function of the run with its own data in the place of this object.
    template <auto function, class... Given>
    static void call(Given... given) {
        std::tuple arguments(given...);
        void*& data = std::get<sizeof...(given) - 1>(arguments);
        auto& self = *static_cast<StoppingTorque*>(data);
        data = self.run.user_data;
        if (self.stopped || std::apply(self.run.*function, arguments) != 0) {
            self.stopped = true;
            throw Stopped{};  // NOLINT(bugprone-std-exception-baseclass): an end, no error
        }
    }
};

/// Transposes matrices in place.
inline void transpose(double* matrices, std::ptrdiff_t count) {
    for (double* a = matrices; a < matrices + 9 * count; a += 9) {
        std::swap(a[1], a[3]), std::swap(a[2], a[6]), std::swap(a[5], a[7]);
    }
}

/// Checks the arguments of bodies that move, and describes them to the driver.
inline void set_moving(SplittingProblem& p, const Integration& x, bool direct) {
    require(!direct, "a direct integrator does not move centres of mass: give a splitting");
    require(x.mass_stride == 0 || x.mass_stride == 1, "mass_stride must be 0 or 1");
    const bool saves = x.m_saved != nullptr;
    require(saves == (x.x_saved != nullptr) && saves == (x.p_saved != nullptr),
            "x_saved, p_saved, m_saved and q_saved need each other");
    p.mass = {x.mass, x.mass_stride, 0, 0};
    validate::all_of(
        validate::Argument::flat("mass", p.mass, x.bodies, 1, 1),
        [](const View& mass, std::ptrdiff_t begin, std::ptrdiff_t end) {
            for (; begin < end; ++begin) {
                const double of_body = mass.data[begin * mass.body];
                if (!(of_body > 0 && std::isfinite(of_body))) return some_invalid;
            }
            return all_valid;
        },
        [](const View&, const validate::Index&) { return "must be positive and finite"; });
    const auto companion = [&x](double* now, double* saved) {
        return Companion{3, {now, 3, 1, 3}, {saved, 3, 1, 3}, 3 * x.bodies};
    };
    p.companions[Companion::position] = companion(x.x, x.x_saved);
    p.companions[Companion::momentum] = companion(x.p, x.p_saved);
    p.steps_join = false;
}

/// What happens in a step, for the driver.
inline void set_step(SplittingProblem& p, const FreeMethod& method, const Scheme& scheme) {
    p.flow = method.step;
    p.direct = method.direct;
    if (p.direct != nullptr) p.work_columns = p.direct->columns - p.direct->scratch;
    p.options = method.options;
    p.energy_correction = method.info->energy_correction(method.options);
    p.stages = scheme.stages.data();
    p.stage_count = static_cast<int>(scheme.stages.size());
    p.processor = scheme.processor.data();
    p.processor_count = static_cast<int>(scheme.processor.size());
    p.exact_flow = method.info->is_exact();
    p.midpoint_kicks = scheme.midpoint_kicks;
}

/// Returns the number of bodies whose state was finite and is not at the end.  Throws Stopped after
/// a torque that has stopped the run; m and q are then those of the start, as after any other
/// exception.
///
/// @param models    the torque, if `x` has no function
/// @param adaptive  in place of h and n_steps, for one thread: see `adapt`
inline std::ptrdiff_t integrate(const validate::Kernels& checks,
                                const Driver& driver,
                                const FreeMethod& method,
                                const Scheme& scheme,
                                const Integration& x,
                                std::span<const TorqueTerm> models = {},
                                const AdaptiveProblem* adaptive = nullptr) {
    const Attitudes attitudes(x.attitude);
    require(x.bodies >= 0, "bodies must not be negative");
    validate::steps(x.n_steps);
    const int threads = thread_count(x.threads);
    require(method.history == 0 || method.direct != nullptr,
            "a multistep method cannot be the free flow of a splitting");
    if (method.direct != nullptr) validate::steps(x.n_steps, *method.info, method.history);
    if (x.bodies > 0) require_arrays({{x.inertia, "inertia"}, {x.m, "m"}, {x.q, "q"}});
    const bool saves = x.m_saved != nullptr;
    require(saves == (x.q_saved != nullptr) && (!saves || x.save_every > 0),
            "m_saved and q_saved need each other and a save_every of at least 1");
    const std::int64_t all = std::max<std::int64_t>(x.n_steps, 1);
    const std::int64_t save_every = saves ? std::min(x.save_every, all) : all;  // no overflow
    for (const Stage& stage : scheme.stages) {
        require(stage.modified == 0,
                "a scheme with a modified potential needs derivatives of the torque");
    }
    require((x.torque_flags & ~(POLHODE_DEPENDS_ON_M | POLHODE_INDEPENDENT)) == 0,
            "torque_flags must be a sum of constants of enum polhode_torque_flags");
    const bool depends_on_m = (x.torque_flags & POLHODE_DEPENDS_ON_M) != 0;
    require(!(depends_on_m && scheme.attitude_only),
            "this scheme needs a torque that does not depend on m");
    if (x.moves && x.bodies > 0) {
        require_arrays({{x.mass, "mass"}, {x.x, "x"}, {x.p, "p"}});
    }
    std::vector<std::uint8_t> by_torque(static_cast<std::size_t>(x.bodies));
    const Start start(x, attitudes.length);
    require_apart(x, attitudes.length, saves ? 1 + (x.n_steps + save_every - 1) / save_every : 0);
    static_assert(sizeof(bool) == 1);

    SplittingProblem p{};
    set_step(p, method, scheme);
    p.inertia = inertia_view(x.inertia, x.inertia_stride);
    p.m = {x.m, 3, 1, 3};
    check_bodies(checks, x.bodies, p.inertia, p.m, attitudes.view(x.q), attitudes.matrix);
    // The driver takes matrices row by row only.
    const bool columns = x.attitude == POLHODE_MATRIX_COLUMNS;
    const Attitudes of_driver(columns ? POLHODE_MATRIX_ROWS : x.attitude);
    p.attitude = of_driver.view(x.q);
    p.m_from = p.m;
    p.attitude_from = p.attitude;
    p.keeps_state = true;
    if (x.moves) set_moving(p, x, method.direct != nullptr);
    StoppingTorque torque{x};
    TorqueTerm term{};
    p.terms = models.data();
    p.term_count = static_cast<int>(models.size());
    for (const TorqueTerm& model : models) p.torque_states += model.model->states;
    const bool calls = x.torque != nullptr || x.force != nullptr;
    if (calls) {
        term.model = depends_on_m ? driver.compiled_of_m : driver.compiled;
        if (x.torque != nullptr) term.extra.function = StoppingTorque::call<&Integration::torque>;
        if (x.force != nullptr) term.extra.force = StoppingTorque::call<&Integration::force>;
        term.extra.user_data = &torque;
        p.terms = &term;
        p.term_count = 1;
    }
    std::vector<double> stored;
    if (method.direct != nullptr) {
        stored.resize(static_cast<std::size_t>(x.bodies * p.work_columns));
        p.work = {stored.data(), 1, x.bodies, 3};
    }
    p.h = &x.h;
    p.t0 = x.t0;
    p.matrix = attitudes.matrix;
    if (saves) {
        p.m_saved = {x.m_saved, 3, 1, 3};
        p.attitude_saved = of_driver.view(x.q_saved);
    }
    p.m_save_stride = 3 * x.bodies;
    p.attitude_save_stride = attitudes.length * x.bodies;
    p.total_steps = p.n_steps = x.n_steps;
    p.begins = true;
    p.save_every = save_every;
    p.nonfinite_torque = reinterpret_cast<bool*>(by_torque.data());
    const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) { driver.run(p, begin, end); };
    // One block has all bodies in any case.
    constexpr std::ptrdiff_t block = SplittingProblem::block_bodies;
    const auto share =
        [](void* self, std::ptrdiff_t count, WholeBatch::Work part, const void* context) {
            in_threads(
                count,
                *static_cast<const int*>(self),
                whole_packs,
                1,
                [&](std::ptrdiff_t begin, std::ptrdiff_t end) { part(context, begin, end); });
        };
    int flow_threads = threads;
    WholeBatch whole{share, &flow_threads};
    if (calls && (x.torque_flags & POLHODE_INDEPENDENT) == 0 && x.bodies > block) {
        p.whole = &whole;
    }
    struct Transposed {  // and back, also after an exception
        double* q;
        std::ptrdiff_t count;
        Transposed(double* first, std::ptrdiff_t n) : q(first), count(n) { transpose(q, count); }
        ~Transposed() { transpose(q, count); }
    };
    try {
        const Transposed transposed(x.q, columns ? x.bodies : 0);
        if (adaptive != nullptr) {
            adapt(driver.adapt, p, *adaptive, x.bodies);
        } else if (p.whole != nullptr) {
            work(0, x.bodies);
        } else {
            const auto stages = std::max<std::ptrdiff_t>(p.stage_count, 1);
            in_threads(x.bodies, threads, block, x.n_steps * stages, work);
        }
    } catch (...) {
        start.restore();
        throw;
    }
    if (columns && saves) {
        transpose(x.q_saved, x.bodies * (1 + (x.n_steps + save_every - 1) / save_every));
    }
    return start.lost();
}

POLHODE_NAMESPACE_END
