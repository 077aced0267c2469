#pragma once

/// A NumPy inner loop around a kernel of numbers or small arrays, and the row that exports it.  The
/// elements of a batch are gathered into the lanes of batch_real, the kernel is applied, the
/// results are scattered.  No numerics.
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
#include <utility>

#include "levels.hpp"
#include "polhode/mat3.hpp"
#include "polhode/scalar/pack.hpp"

POLHODE_NAMESPACE_BEGIN(array_loop)

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

template <class T>
POLHODE_INLINE void store(const T& a, T* y) {
    *y = a;
}
/// The operand whose components begin at x.
template <Core core, class T>
POLHODE_INLINE auto operand(const T* x) {
    if constexpr (core == Core::scalar) return *x;
    if constexpr (core == Core::vector) return vector(x);
    if constexpr (core == Core::quaternion) return quaternion(x);
    if constexpr (core == Core::matrix) return matrix(x);
}

struct Signature {
    char text[64] = {};
    int length = 0;

    constexpr void append(const char* part) {
        while (*part != '\0') text[length++] = *part++;
    }
    template <int N>
    constexpr void append(const Core (&cores)[N]) {
        for (int i = 0; i < N; ++i) {
            if (i > 0) append(",");
            append(cores[i] == Core::scalar       ? "()"
                   : cores[i] == Core::vector     ? "(3)"
                   : cores[i] == Core::quaternion ? "(4)"
                                                  : "(3,3)");
        }
    }
    template <int N, int M>
    constexpr Signature(const Core (&in)[N], const Core (&out)[M]) {
        append(in);
        append("->");
        append(out);
    }
};
template <class Kernel>
constexpr Signature signature{Kernel::in, Kernel::out};

constexpr int lanes = lanes_v<batch_real>;
constexpr std::intptr_t unit = sizeof(double);

/// Copies from an operand to lanes, or back.
template <bool in>
POLHODE_INLINE void move(double* lane, char* p, std::size_t size) {
    std::memcpy(in ? static_cast<void*>(lane) : p, in ? static_cast<void*>(p) : lane, size);
}
/// Elements first ... first + count - 1 of n components, fewer than lanes.  Lanes without an
/// element repeat the first one, so that an element meets the same operations in any place and its
/// result has the same bits.  Not inlined: all kernels share it.
template <bool in>
[[gnu::noinline]] void move_few(char* const* args,
                                const std::intptr_t* steps,
                                const std::intptr_t* offset,
                                const int* operand,
                                int n,
                                std::intptr_t first,
                                int count,
                                double* lane) {
    for (int k = 0; k < n; ++k, lane += lanes) {
        const std::intptr_t step = steps[operand[k]];
        char* p = args[operand[k]] + offset[k] + first * step;
        for (int i = 0; i < (in ? lanes : count); ++i) {
            move<in>(lane + i, p + (i < count ? i * step : 0), unit);
        }
    }
}

template <class Kernel>
struct Loop {
    static constexpr int n_in = sizeof(Kernel::in) / sizeof(Core);
    static constexpr int n_out = sizeof(Kernel::out) / sizeof(Core);
    static constexpr int inputs = components(Kernel::in);
    static constexpr int outputs = components(Kernel::out);

    /// Elements first ... first + lanes - 1 of every operand.
    template <bool in, int N>
    POLHODE_INLINE static void move(char* const* args,
                                    const std::intptr_t* steps,
                                    const Places<N>& places,
                                    std::intptr_t first,
                                    double* lane) {
        POLHODE_UNROLL
        for (int k = 0; k < N; ++k, lane += lanes) {
            const std::intptr_t step = steps[places.operand[k]];
            char* p = args[places.operand[k]] + places.offset[k] + first * step;
            if (step == unit) {
                array_loop::move<in>(lane, p, lanes * unit);
            } else {
                for (int i = 0; i < lanes; ++i) array_loop::move<in>(lane + i, p + i * step, unit);
            }
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
        const std::intptr_t n = dimensions[0];
        for (std::intptr_t first = 0; first < n; first += lanes) {
            const int count = n - first < lanes ? static_cast<int>(n - first) : lanes;
            alignas(64) double buffer[(inputs > outputs ? inputs : outputs) * lanes];
            if (count == lanes) {
                move<true>(args, steps, from, first, buffer);
            } else {
                move_few<true>(
                    args, steps, from.offset, from.operand, inputs, first, count, buffer);
            }
            batch_real x[inputs];
            batch_real y[outputs];
            std::memcpy(x, buffer, sizeof x);
            Kernel::apply(static_cast<const batch_real*>(x), static_cast<batch_real*>(y));
            std::memcpy(buffer, y, sizeof y);
            if (count == lanes) {
                move<false>(args, steps, to, first, buffer);
            } else {
                move_few<false>(args, steps, to.offset, to.operand, outputs, first, count, buffer);
            }
        }
        // Lanes that a kernel computes and discards set floating-point flags without meaning.
        std::feclearexcept(FE_ALL_EXCEPT);
    }
};

/// The row of a kernel in the table of its level.
template <class Kernel>
constexpr dispatch::ArrayFunction row(const char* name) {
    using L = Loop<Kernel>;
    return {name, signature<Kernel>.text, L::n_in, L::n_out, L::run};
}

/// A function of its operands as a kernel.
template <class F, Core output, Core... inputs>
struct FunctionKernel {
    static constexpr Core in[] = {inputs...};
    static constexpr Core out[] = {output};
    static constexpr int place(std::size_t k) {
        return k == 0 ? 0 : place(k - 1) + components(in[k - 1]);
    }
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        [=]<std::size_t... k>(std::index_sequence<k...>) POLHODE_INLINE_LAMBDA {
            store(F{}(operand<inputs>(x + place(k))...), y);
        }(std::index_sequence_for<decltype(inputs)...>{});
    }
};
template <Core output, Core... inputs, class F>
constexpr dispatch::ArrayFunction row(const char* name, F) {
    return row<FunctionKernel<F, output, inputs...>>(name);
}

POLHODE_NAMESPACE_END
