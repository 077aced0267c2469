/// @file
/// The C interface polhode.h: checks of the arguments, then the tables of the level.

#define POLHODE_BUILDS_LIBRARY
#include "polhode.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "levels.hpp"
#include "polhode/splitting/schemes.hpp"
#include "threads.hpp"

namespace {

using namespace polhode;

thread_local std::string message;

/// Calls work(), which returns nothing, and makes a status of what it throws.
template <class Work>
int status_of(const Work& work) noexcept {
    try {
        dispatch::level();
    } catch (const std::exception& error) {
        message = error.what();
        return POLHODE_NO_LEVEL;
    }
    try {
        work();
        return POLHODE_OK;
    } catch (const std::invalid_argument& error) {
        message = error.what();
        return POLHODE_BAD_ARGUMENT;
    } catch (const std::bad_alloc&) {
        message = "no memory";
        return POLHODE_NO_MEMORY;
    } catch (const std::exception& error) {
        message = error.what();
        return POLHODE_FAILED;
    } catch (...) {
        message = "an exception that is no std::exception";
        return POLHODE_FAILED;
    }
}

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

/// Arrays that a call reads or writes.
template <class... Pointer>
void require_arrays(Pointer... arrays) {
    require((... && (arrays != nullptr)), "an array is NULL");
}

std::string numbers(const View& view, std::ptrdiff_t body, int rows, int columns) {
    std::string text = "(";
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < columns; ++k) {
            char number[32];
            std::snprintf(number,
                          sizeof number,
                          "%.17g",
                          view.data[body * view.body + i * view.row + k * view.component]);
            text += (text.size() > 1 ? ", " : "") + std::string(number);
        }
    }
    return text + ")";
}

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

/// Throws an error that names the first body that `look` finds invalid; tells if there is a rod.
template <class Look>
bool look_at(const Look& look,
             const View& view,
             std::ptrdiff_t bodies,
             const char* name,
             const char* what,
             int rows,
             int columns) {
    const int found = look(view, 0, view.body == 0 ? 1 : bodies);
    if ((found & some_invalid) != 0) {
        std::ptrdiff_t i = 0;
        while ((look(view, i, i + 1) & some_invalid) == 0) ++i;
        throw std::invalid_argument(std::string(name) + " of body " + std::to_string(i) + ", " +
                                    numbers(view, i, rows, columns) + ": " + what);
    }
    return (found & some_rod) != 0;
}

/// A rod has no momentum about its axis.
void look_at_rods(const View& inertia, const View& m, std::ptrdiff_t bodies) {
    constexpr double zero_moment = 4 * std::numeric_limits<double>::epsilon();
    constexpr double dropped = 1e-12;  // of |m|
    for (std::ptrdiff_t i = 0; i < bodies; ++i) {
        const double* moments = inertia.data + i * inertia.body;
        const double* p = m.data + i * m.body;
        const double largest = std::max({moments[0], moments[1], moments[2]});
        const double size = std::hypot(p[0], p[1], p[2]);
        for (int k = 0; k < 3; ++k) {
            if (moments[k] <= zero_moment * largest && std::isfinite(size) &&
                std::abs(p[k]) > dropped * size) {
                throw std::invalid_argument(
                    "m of body " + std::to_string(i) + ", " + numbers(m, i, 1, 3) +
                    ": momentum about an axis whose moment of inertia is zero");
            }
        }
    }
}

void look_at_bodies(std::ptrdiff_t bodies,
                    const View& inertia,
                    const View& m,
                    const View& q,
                    const Attitudes& attitudes) {
    if (bodies == 0) return;
    const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
    const bool rod = look_at(table.look_at_inertia,
                             inertia,
                             bodies,
                             "inertia",
                             "no body has these principal moments",
                             1,
                             3);
    const bool matrix = attitudes.matrix;
    look_at(
        [&](const View& view, std::ptrdiff_t begin, std::ptrdiff_t end) {
            return table.look_at_attitude(view, matrix, begin, end);
        },
        q,
        bodies,
        "attitude",
        matrix ? "not a rotation matrix" : "a zero quaternion is no attitude",
        matrix ? 3 : 1,
        matrix ? 3 : 4);
    if (rod) look_at_rods(inertia, m, bodies);
}

View inertia_view(const double* inertia, std::int64_t stride) {
    require(stride == 0 || stride == 3, "inertia_stride must be 0 or 3");
    return {inertia, stride, 1, 3};
}

/// Name of the row for methods that are made from a tableau, which no name chooses.
constexpr const char* made = "rkmk";

const dispatch::StepRow& method_row(int method, std::ptrdiff_t bodies) {
    const dispatch::TorqueFreeTable& table = *dispatch::level_for(bodies).torque_free;
    require(method >= 0 && method < table.methods &&
                std::strcmp(table.rows[method].info->name, made) != 0,
            "no such method");
    return table.rows[method];
}

/// Transposes matrices in place.
void transpose(double* matrices, std::ptrdiff_t count) {
    for (double* a = matrices; a < matrices + 9 * count; a += 9) {
        std::swap(a[1], a[3]), std::swap(a[2], a[6]), std::swap(a[5], a[7]);
    }
}

/// `units`: steps of a body for each element.
template <class Work>
void in_threads(std::ptrdiff_t count,
                int threads,
                std::ptrdiff_t piece,
                std::ptrdiff_t units,
                const Work& work) {
    share_among_threads(count, thread_count(threads), piece, units, work, [] { return false; });
}

/// Calls an array function for n elements of contiguous operands.
void call(const dispatch::ArrayFunction& f,
          std::intptr_t n,
          const double* const* inputs,
          double* const* outputs) {
    constexpr std::intptr_t unit = sizeof(double);
    char* args[8];
    std::intptr_t steps[8 + 2 * 8];  // from element to element, then those of the lengths
    std::intptr_t* core_step = steps + f.inputs + f.outputs;
    const char* place = f.signature;
    for (int k = 0; k < f.inputs + f.outputs; ++k) {
        const double* data = k < f.inputs ? inputs[k] : outputs[k - f.inputs];
        args[k] = reinterpret_cast<char*>(const_cast<double*>(data));
        const char* lengths = std::strchr(place, '(');  // "(3)", "(3,3)", "(4)" or "()"
        place = std::strchr(lengths, ')');
        const bool scalar = place == lengths + 1, matrix = place == lengths + 4;
        steps[k] = unit * (scalar ? 1 : (lengths[1] - '0') * (matrix ? 3 : 1));
        if (matrix) *core_step++ = 3 * unit;
        if (!scalar) *core_step++ = unit;
    }
    f.loop(args, &n, steps, nullptr);
}

}  // namespace

struct polhode_motion {
    std::ptrdiff_t bodies;
    Attitudes attitudes;
    std::vector<double> inertia, m, q, facts;

    /// Row k of a body's constants.
    View constants(int k) const { return {facts.data() + 3 * k, 9, 1, 3}; }
};

extern "C" {

int polhode_abi() { return POLHODE_ABI; }

const char* polhode_version() { return POLHODE_VERSION; }

const char* polhode_level() {
    const char* name = nullptr;
    status_of([&] { name = dispatch::level().name; });
    return name;
}

const char* polhode_error() { return message.c_str(); }

int polhode_method(const char* name) {
    int row = -1;
    status_of([&] {
        require(name != nullptr, "the name is NULL");
        const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
        for (int i = 0; i < table.methods; ++i) {
            if (std::strcmp(table.rows[i].info->name, name) == 0 && std::strcmp(name, made) != 0) {
                row = i;
                return;
            }
        }
        throw std::invalid_argument(std::string("no method ") + name);
    });
    return row;
}

int polhode_splitting(const char* name) {
    int row = -1;
    status_of([&] {
        require(name != nullptr, "the name is NULL");
        int i = 0;
        for (const SplittingScheme& scheme : splitting::all) {
            if (std::strcmp(scheme.name, name) == 0) {
                row = i;
                return;
            }
            ++i;
        }
        throw std::invalid_argument(std::string("no splitting scheme ") + name);
    });
    return row;
}

const char* polhode_method_name(int method) {
    const char* name = nullptr;
    status_of([&] {
        const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
        const bool there = method >= 0 && method < table.methods;
        if (there && std::strcmp(table.rows[method].info->name, made) != 0) {
            name = table.rows[method].info->name;
        }
    });
    return name;
}

const char* polhode_splitting_name(int splitting) {
    const bool there = splitting >= 0 && splitting < static_cast<int>(std::size(splitting::all));
    return there ? splitting::all[splitting].name : nullptr;
}

int polhode_step(int method,
                 int64_t bodies,
                 const double* inertia,
                 int64_t inertia_stride,
                 const double* m,
                 const double* q,
                 int attitude,
                 const double* h,
                 int64_t h_stride,
                 int64_t n_steps,
                 int threads,
                 double* m_out,
                 double* q_out,
                 int64_t* lost) {
    return status_of([&] {
        const dispatch::StepRow& row = method_row(method, bodies);
        const Attitudes attitudes(attitude);
        require(bodies >= 0 && n_steps >= 0, "bodies and n_steps must not be negative");
        require(h_stride == 0 || h_stride == 1, "h_stride must be 0 or 1");
        if (bodies > 0) require_arrays(inertia, m, q, h, m_out, q_out);
        if (n_steps < row.history) {
            throw std::invalid_argument(std::string(row.info->name) +
                                        " needs n_steps of at least " +
                                        std::to_string(row.history));
        }
        StepArguments a{};
        a.inertia = inertia_view(inertia, inertia_stride);
        a.m = {m, 3, 1, 3};
        a.attitude = attitudes.view(q);
        a.h = {h, h_stride, 0, 0};
        a.m_out = {m_out, 3, 1, 3};
        a.attitude_out = attitudes.view(q_out);
        a.n_steps = n_steps;
        a.matrix = attitudes.matrix;
        a.options = row.info->complete({});
        std::ptrdiff_t without_root = 0;
        a.without_root = &without_root;
        look_at_bodies(bodies, a.inertia, a.m, a.attitude, attitudes);
        in_threads(
            bodies, threads, whole_packs, n_steps, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                row.step(a, begin, end);
            });
        if (lost != nullptr) *lost = without_root;
    });
}

int polhode_motion_new(int64_t bodies,
                       const double* inertia,
                       int64_t inertia_stride,
                       const double* m0,
                       const double* q0,
                       int attitude,
                       polhode_motion** motion) {
    return status_of([&] {
        require(bodies >= 0, "bodies must not be negative");
        require(motion != nullptr, "motion is NULL");
        if (bodies > 0) require_arrays(inertia, m0, q0);
        const Attitudes attitudes(attitude);
        const View moments = inertia_view(inertia, inertia_stride);
        look_at_bodies(bodies, moments, {m0, 3, 1, 3}, attitudes.view(q0), attitudes);
        const auto n = static_cast<std::size_t>(bodies);
        auto made_motion = std::make_unique<polhode_motion>(polhode_motion{
            bodies, attitudes, std::vector<double>(3 * n), {m0, m0 + 3 * n}, {}, {}});
        made_motion->q.assign(q0, q0 + static_cast<std::size_t>(attitudes.length) * n);
        made_motion->facts.resize(9 * n);
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(inertia + i * static_cast<std::size_t>(inertia_stride),
                        3,
                        made_motion->inertia.data() + 3 * i);
        }
        const double* inputs[] = {made_motion->inertia.data(), made_motion->m.data()};
        double* outputs[] = {made_motion->facts.data()};
        call(dispatch::level().motion->functions[0], bodies, inputs, outputs);  // motion_facts
        *motion = made_motion.release();
    });
}

int polhode_motion_at(const polhode_motion* motion,
                      int64_t times,
                      const double* t,
                      int threads,
                      double* m,
                      double* q) {
    return status_of([&] {
        require(times >= 0, "times must not be negative");
        require(motion != nullptr, "motion is NULL");
        if (times > 0 && motion->bodies > 0) require_arrays(t, m, q);
        const polhode_motion& x = *motion;
        const auto evaluate = dispatch::level().motion->evaluate;
        const Attitudes& attitudes = x.attitudes;
        // One body: its times are the batch.
        const bool one = x.bodies == 1;
        const std::ptrdiff_t count = one ? times : x.bodies, rows = one ? 1 : times;
        const auto of_body = [&](View view) {
            if (one) view.body = 0;
            return view;
        };
        for (std::ptrdiff_t k = 0; k < rows; ++k) {
            const MotionArguments a = {of_body({x.inertia.data(), 3, 1, 3}),
                                       of_body({x.m.data(), 3, 1, 3}),
                                       of_body(attitudes.view(x.q.data())),
                                       of_body(x.constants(0)),
                                       of_body(x.constants(1)),
                                       {t + k, one ? 1 : 0, 0, 0},
                                       {m + k * count * 3, 3, 1, 3},
                                       attitudes.view(q + k * count * attitudes.length),
                                       attitudes.matrix};
            in_threads(
                count, threads, whole_packs, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                    evaluate(a, begin, end);
                });
        }
    });
}

int polhode_motion_period(const polhode_motion* motion, double* period) {
    return status_of([&] {
        require(motion != nullptr, "motion is NULL");
        if (motion->bodies > 0) require_arrays(period);
        const View facts = motion->constants(2);
        for (std::ptrdiff_t i = 0; i < motion->bodies; ++i) period[i] = facts.data[i * facts.body];
    });
}

void polhode_motion_free(polhode_motion* motion) { delete motion; }

int polhode_integrate(int splitting,
                      int method,
                      int64_t bodies,
                      const double* inertia,
                      int64_t inertia_stride,
                      double h,
                      int64_t n_steps,
                      double t0,
                      polhode_torque torque,
                      void* user_data,
                      int depends_on_m,
                      int attitude,
                      int threads,
                      double* m,
                      double* q,
                      int64_t save_every,
                      double* m_saved,
                      double* q_saved) {
    return status_of([&] {
        const dispatch::StepRow& row = method_row(method, bodies);
        require(polhode_splitting_name(splitting) != nullptr, "no such splitting scheme");
        const SplittingScheme& scheme = splitting::all[splitting];
        const Attitudes attitudes(attitude);
        require(bodies >= 0 && n_steps >= 0, "bodies and n_steps must not be negative");
        const int cores = thread_count(threads);
        require(row.history == 0, "a multistep method cannot be the free flow of a splitting");
        if (bodies > 0) require_arrays(inertia, m, q);
        const bool saves = m_saved != nullptr;
        require(saves == (q_saved != nullptr) && (!saves || save_every > 0),
                "m_saved and q_saved need each other and a save_every of at least 1");
        save_every =
            std::min(save_every, std::max<std::int64_t>(n_steps, 1));  // n + it: no overflow
        const bool of_m = depends_on_m != 0;
        for (int k = 0; k < scheme.count; ++k) {
            require(scheme.stages[k].modified == 0,
                    "a scheme with a modified potential needs derivatives of the torque");
        }
        require(!(of_m && scheme.attitude_only),
                "this scheme needs a torque that does not depend on m");
        std::vector<std::uint8_t> by_torque(static_cast<std::size_t>(bodies));
        static_assert(sizeof(bool) == 1);

        SplittingProblem p{};
        p.flow = row.step;
        p.options = row.info->complete({});
        p.inertia = inertia_view(inertia, inertia_stride);
        p.m = {m, 3, 1, 3};
        look_at_bodies(bodies, p.inertia, p.m, attitudes.view(q), attitudes);
        // The driver takes matrices row by row only.
        const bool columns = attitude == POLHODE_MATRIX_COLUMNS;
        const Attitudes of_driver(columns ? POLHODE_MATRIX_ROWS : attitude);
        p.attitude = of_driver.view(q);
        p.m_from = p.m;
        p.attitude_from = p.attitude;
        p.keeps_state = true;
        TorqueTerm term{};
        if (torque != nullptr) {
            const dispatch::SplittingTable& table = *dispatch::level_for(bodies).splitting;
            const char* name = of_m ? "compiled_of_m" : "compiled";
            for (int i = 0; i < table.model_count; ++i) {
                if (std::strcmp(table.models[i].info->name, name) == 0)
                    term.model = table.models + i;
            }
            term.extra.function = torque;
            term.extra.user_data = user_data;
            p.terms = &term;
            p.term_count = 1;
        }
        p.stages = scheme.stages;
        p.stage_count = scheme.count;
        p.h = &h;
        p.t0 = t0;
        p.matrix = attitudes.matrix;
        if (saves) {
            p.m_saved = {m_saved, 3, 1, 3};
            p.attitude_saved = of_driver.view(q_saved);
        }
        p.m_save_stride = 3 * bodies;
        p.attitude_save_stride = attitudes.length * bodies;
        p.total_steps = n_steps;
        p.save_every = saves ? save_every : std::max<std::ptrdiff_t>(n_steps, 1);
        p.by_torque = reinterpret_cast<bool*>(by_torque.data());
        const auto run = dispatch::level_for(bodies).splitting->run;
        const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) { run(p, begin, end); };
        struct Transposed {  // and back, also after an exception
            double* q;
            std::ptrdiff_t count;
            Transposed(double* x, std::ptrdiff_t n) : q(x), count(n) { transpose(q, count); }
            ~Transposed() { transpose(q, count); }
        };
        const Transposed transposed(q, columns ? bodies : 0);
        for (const std::ptrdiff_t steps : {std::ptrdiff_t{0}, std::ptrdiff_t{n_steps}}) {
            p.n_steps = steps;
            in_threads(bodies,
                       cores,
                       SplittingProblem::block_bodies,
                       steps * std::max(scheme.count, 1),
                       work);
        }
        if (columns && saves) {
            transpose(q_saved, bodies * (1 + (n_steps + save_every - 1) / save_every));
        }
    });
}

int polhode_function(const char* name,
                     int64_t n,
                     const double* const* inputs,
                     double* const* outputs) {
    return status_of([&] {
        require(n >= 0, "n must not be negative");
        require(name != nullptr, "the name is NULL");
        const dispatch::Level& level = dispatch::level();
        const dispatch::ArrayFunction* found = nullptr;
        for (const dispatch::ArrayFunctions* functions :
             {level.elliptic, level.attitudes, level.bodies, level.rates}) {
            for (const dispatch::ArrayFunction& f : *functions) {
                if (std::strcmp(f.name, name) == 0) found = &f;
            }
        }
        if (found == nullptr) throw std::invalid_argument(std::string("no function ") + name);
        if (n == 0) return;
        require_arrays(inputs, outputs);
        for (int k = 0; k < found->inputs; ++k) require_arrays(inputs[k]);
        for (int k = 0; k < found->outputs; ++k) require_arrays(outputs[k]);
        call(*found, n, inputs, outputs);
    });
}

}  // extern "C"

namespace {

void report_step(int attitude,
                 int length,
                 double* m_out,
                 double* q_out,
                 const double* h,
                 const double* inertia,
                 const double* m,
                 const double* q) {
    static const int method = polhode_method("frb");
    if (polhode_step(method, 1, inertia, 0, m, q, attitude, h, 0, 1, 1, m_out, q_out, nullptr) !=
        POLHODE_OK) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        std::fill_n(m_out, 3, nan);
        std::fill_n(q_out, length, nan);
    }
}

}  // namespace

extern "C" void frb_step_(double* Piout,
                          double* Qout,
                          const double* h,
                          const double* aInert,
                          const double* Piin,
                          const double* Qin) {
    report_step(POLHODE_MATRIX_COLUMNS, 9, Piout, Qout, h, aInert, Piin, Qin);
}

extern "C" void quat_step_(double* Piout,
                           double* qout,
                           const double* h,
                           const double* aInert,
                           const double* Piin,
                           const double* qin) {
    report_step(POLHODE_QUATERNION, 4, Piout, qout, h, aInert, Piin, qin);
}
