#pragma once

/// @file
/// A NumPy inner loop around a kernel of small arrays: gathers the bodies of a batch into the lanes
/// of batch_real, applies the kernel, scatters the results.  No numerics.
///
/// A kernel is a struct with the core shapes of its operands and a function of flat arrays,
///
///     static constexpr Core in[] = {Core::quaternion, Core::vector};
///     static constexpr Core out[] = {Core::vector};
///     template <class T>
///     POLHODE_INLINE static void apply(const T* x, T* y);
///
/// where x holds the components of all inputs one after another, y those of all outputs.

#include <cfenv>
#include <cstdint>
#include <cstring>

#include "polhode/mat3.hpp"
#include "polhode/scalar/pack.hpp"

POLHODE_NAMESPACE_BEGIN
namespace core_loop {

enum class Core { scalar, vector, quaternion, matrix };

constexpr int components(Core c) {
    return c == Core::scalar ? 1 : c == Core::vector ? 3 : c == Core::quaternion ? 4 : 9;
}
template <int N>
constexpr int components(const Core (&cores)[N]) {
    int sum = 0;
    for (const Core c : cores) sum += components(c);
    return sum;
}

/// Where the components of the operands lie: byte offset from the operand's element.
template <int N>
struct Places {
    std::intptr_t offset[N];
    int operand[N];
};

/// `steps` walks over the core strides of the operands, in their order.
template <int N, int M>
void place(const Core (&cores)[M],
           int first_operand,
           const std::intptr_t*& steps,
           Places<N>& places) {
    int k = 0;
    for (int operand = 0; operand < M; ++operand) {
        const int columns = cores[operand] == Core::matrix ? 3 : components(cores[operand]);
        const int rows = components(cores[operand]) / columns;
        const std::intptr_t row_step = rows > 1 ? *steps++ : 0;
        const std::intptr_t column_step = cores[operand] == Core::scalar ? 0 : *steps++;
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                places.offset[k] = i * row_step + j * column_step;
                places.operand[k++] = first_operand + operand;
            }
        }
    }
}

template <class T>
POLHODE_INLINE Vec3<T> vector(const T* x) {
    return {x[0], x[1], x[2]};
}
template <class T>
POLHODE_INLINE Quaternion<T> quaternion(const T* x) {
    return {x[0], x[1], x[2], x[3]};
}
template <class T>
POLHODE_INLINE Mat3<T> matrix(const T* x) {
    return {{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}, {x[6], x[7], x[8]}}};
}
template <class T>
POLHODE_INLINE void store(const Vec3<T>& a, T* y) {
    y[0] = a.x, y[1] = a.y, y[2] = a.z;
}
template <class T>
POLHODE_INLINE void store(const Quaternion<T>& q, T* y) {
    y[0] = q.w, y[1] = q.x, y[2] = q.y, y[3] = q.z;
}
template <class T>
POLHODE_INLINE void store(const Mat3<T>& m, T* y) {
    POLHODE_UNROLL
    for (int i = 0; i < 3; ++i) store(row(m, i), y + 3 * i);
}

template <class Kernel>
struct Loop {
    static constexpr int n_in = sizeof(Kernel::in) / sizeof(Core);
    static constexpr int n_out = sizeof(Kernel::out) / sizeof(Core);
    static constexpr int inputs = components(Kernel::in);
    static constexpr int outputs = components(Kernel::out);

    /// Elements first ... first + count - 1, at most one per lane of T.  Lanes without an element
    /// repeat the first one.
    template <class T>
    static void block(char* const* args,
                      const std::intptr_t* steps,
                      const Places<inputs>& from,
                      const Places<outputs>& to,
                      std::intptr_t first,
                      int count) {
        constexpr int lanes = lanes_v<T>;
        alignas(64) double buffer[(inputs > outputs ? inputs : outputs) * lanes];
        for (int k = 0; k < inputs; ++k) {
            const std::intptr_t step = steps[from.operand[k]];
            const char* p = args[from.operand[k]] + from.offset[k] + first * step;
            double* lane = buffer + k * lanes;
            for (int i = 0; i < count; ++i) std::memcpy(lane + i, p + i * step, sizeof(double));
            for (int i = count; i < lanes; ++i) lane[i] = lane[0];
        }
        T x[inputs];
        T y[outputs];
        std::memcpy(x, buffer, sizeof x);
        Kernel::apply(x, y);
        std::memcpy(buffer, y, sizeof y);
        for (int k = 0; k < outputs; ++k) {
            const std::intptr_t step = steps[to.operand[k]];
            char* p = args[to.operand[k]] + to.offset[k] + first * step;
            const double* lane = buffer + k * lanes;
            for (int i = 0; i < count; ++i) std::memcpy(p + i * step, lane + i, sizeof(double));
        }
    }

    static void run(char** args,
                    const std::intptr_t* dimensions,
                    const std::intptr_t* steps,
                    void*) {
        Places<inputs> from;
        Places<outputs> to;
        const std::intptr_t* core_steps = steps + n_in + n_out;
        place(Kernel::in, 0, core_steps, from);
        place(Kernel::out, n_in, core_steps, to);
        constexpr int lanes = lanes_v<batch_real>;
        const std::intptr_t n = dimensions[0];
        std::intptr_t i = 0;
        for (; n - i >= lanes; i += lanes) block<batch_real>(args, steps, from, to, i, lanes);
        const int rest = static_cast<int>(n - i);
        if (rest == 1) {
            block<double>(args, steps, from, to, i, 1);
        } else if (rest > 1) {
            block<batch_real>(args, steps, from, to, i, rest);
        }
        // Values blended away in a kernel leave floating-point flags that mean nothing.
        std::feclearexcept(FE_ALL_EXCEPT);
    }
};

}  // namespace core_loop
POLHODE_NAMESPACE_END
