// A method as docs/development.md has it: a kernel and a row, with an option of its own, the
// correction of the energy and a torque.  Prints what the functions that a level makes of it give.
#include "polhode/kernels.hpp"

#include <cstdio>
#include <string>

namespace toy {

using namespace polhode;

/// Turns by a share of h omega at the start.
struct Kernel {
    double share;
    static constexpr bool user_axes = true;

    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const Quaternion<T> dq = rotation_by((share * h) * times(body.inverse, m));
        return {in_body_frame(dq, m), dq};
    }
};
/// The same under a torque, of which the momentum in space takes h times its value at the start.
template <class T>
void only(direct::Bodies<T>& b) {
    b.begin();
    const T h = b.h();
    const Quaternion<T> p = rotation_by((b.a.options.value[0] * h) * b.omega());
    b.end_at(p, axpy(b.m, h, b.torque()), h * dot(b.omega(), b.torque()));
}
inline constexpr DirectStage stages[] = {{direct::stage<only<batch_real>>, 0.0, 1}};

struct Method {
    static constexpr MethodInfo info{
        "toy",
        1,
        "toys",
        "casimir momentum_spatial",
        false,
        "none",
        {{"share", "number", 1.0, "", "how far it turns"}, energy_correction_option}};
    static constexpr Kernel with(const OptionValues& options) { return {options.value[0]}; }
    static constexpr DirectMethod under_torque() {
        return {direct::first_free_column, 1, 1, direct::alike<stages>};
    }
};
/// The same through the shared loop.
struct Shared : Method {
    static constexpr bool shares_loop = true;
};

void print(const double* m, const double* q, int bodies) {
    for (int k = 0; k < 3 * bodies; ++k) std::printf("%.17g ", m[k]);
    for (int k = 0; k < 4 * bodies; ++k) std::printf("%.17g ", q[k]);
    std::printf("\n");
}

}  // namespace toy

int main() {
    using namespace polhode;
    constexpr int bodies = 5;
    double inertia[] = {1.0, 1.5, 2.2}, h[] = {0.1}, torque[] = {0.3, -0.2, 0.1};
    double start_m[3 * bodies], start_q[4 * bodies] = {};
    for (int k = 0; k < 3 * bodies; ++k) start_m[k] = 0.1 * (k + 1);
    for (int i = 0; i < bodies; ++i) start_q[4 * i] = 1.0;
    OptionValues given;
    given.count = 2;
    given.value[0] = 0.5;
    const OptionValues all[] = {{}, given};
    for (const OptionValues& options : all) {
        for (int correction = 0; correction < 2; ++correction) {
            for (const StepFunction step : {&batch::step<toy::Method>, &batch::step<toy::Shared>}) {
                double m[3 * bodies], q[4 * bodies];
                StepArguments a{};
                a.inertia = {inertia, 0, 1, 3};
                a.m = {start_m, 3, 1, 3};
                a.attitude = {start_q, 4, 1, 3};
                a.h = {h, 0, 1, 1};
                a.m_out = {m, 3, 1, 3};
                a.attitude_out = {q, 4, 1, 3};
                a.n_steps = 3;
                a.options = options;
                a.energy_correction = correction;
                step(a, 0, bodies);
                toy::print(m, q, bodies);
            }
        }
        // Whole packs, component by component; the last body is repeated.
        constexpr int columns = 16;
        double m[3 * columns], q[4 * columns], f[3 * columns];
        double work[direct::first_free_column * columns] = {};
        for (int i = 0; i < columns; ++i) {
            const int body = i < bodies ? i : bodies - 1;
            for (int k = 0; k < 3; ++k) m[k * columns + i] = start_m[3 * body + k];
            for (int k = 0; k < 4; ++k) q[k * columns + i] = start_q[4 * body + k];
            for (int k = 0; k < 3; ++k) f[k * columns + i] = torque[k];
        }
        const auto constants = Inertia<batch_real>::of({inertia[0], inertia[1], inertia[2]});
        const DirectMethod method = toy::Method::under_torque();
        DirectArguments a{};
        a.inertia = {inertia, 0, 1, 3};
        a.bodies = &constants;
        a.m = {m, 1, columns, 3 * columns};
        a.attitude = {q, 1, columns, 3 * columns};
        a.torque = {f, 1, columns, 3 * columns};
        a.work = {work, 1, columns, 3 * columns};
        a.h = h[0];
        a.options = toy::Method::info.complete(options);
        DirectStage room[DirectMethod::most_stages];
        const DirectStages list = method.stages(0, a.options, room);
        for (int k = 0; k < list.count; ++k) list.stages[k].run(a, 0, columns);
        double m_end[3 * bodies], q_end[4 * bodies];
        for (int i = 0; i < bodies; ++i) {
            for (int k = 0; k < 3; ++k) m_end[3 * i + k] = m[k * columns + i];
            for (int k = 0; k < 4; ++k) q_end[4 * i + k] = q[k * columns + i];
        }
        toy::print(m_end, q_end, bodies);
    }
    std::printf("%d %s %.17g\n",
                toy::Method::info.option_count(),
                toy::Method::info.options[0].name,
                toy::Method::info.complete({}).value[0]);
    return 0;
}
