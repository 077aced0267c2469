#pragma once

/// The checks of the bodies that a call gets, with their messages: for the Python module, the C
/// interface and the C++ interface.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "polhode/batch_arguments.hpp"
#include "polhode/bodies/rods.hpp"
#include "polhode/method_info.hpp"

POLHODE_NAMESPACE_BEGIN(validate)

using Kernels = Checks;

/// An argument of a call: vectors, quaternions or matrices, in a batch of any shape.
struct Argument {
    std::string name;
    View body;          ///< the first body; the stride from body to body is in `strides`
    int rows, columns;  ///< of one body
    std::vector<std::ptrdiff_t> shape, strides;  ///< of the batch; strides in doubles
    double limit = 0;  ///< 64 eps of the type in which it was given, if that is shorter than double

    /// Vectors in an array without a batch, or of a batch along one axis.
    static Argument flat(
        const char* name, const View& view, std::ptrdiff_t bodies, int rows, int columns) {
        Argument a{name, view, rows, columns, {}, {}};
        if (view.body != 0) a.shape = {bodies}, a.strides = {view.body};
        return a;
    }
};
using Index = std::vector<std::ptrdiff_t>;

/// With the digits that Python shows: the fewest that give this number.
inline std::string digits(double x) {
    if (std::isnan(x)) return "nan";
    char text[32];
    const double size = std::abs(x);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    std::string number(text, std::to_chars(text, text + sizeof text, x, format).ptr);
    return plain && number.find('.') == std::string::npos ? number + ".0" : number;
}

inline std::string shown(const View& body, int rows, int columns) {
    if (rows * columns == 1) return digits(*body.data);
    std::string text = "[";
    for (int i = 0; i < rows; ++i) {
        if (rows > 1) text += i == 0 ? "[" : "], [";
        for (int k = 0; k < columns; ++k) {
            text += (k == 0 ? "" : ", ") + digits(body.data[i * body.row + k * body.component]);
        }
    }
    return text + (rows > 1 ? "]]" : "]");
}

/// Body `index` of an argument that broadcasts to the shape of the index.
inline View body_at(const Argument& a, const Index& index) {
    View body = a.body;
    const std::size_t missing = index.size() - a.shape.size();
    for (std::size_t d = 0; d < a.shape.size(); ++d) {
        if (a.shape[d] != 1) body.data += index[missing + d] * a.strides[d];
    }
    body.body = 0;
    return body;
}

[[noreturn]] inline void refuse(const Argument& a, const Index& index, const std::string& why) {
    std::string where = a.name;
    for (std::size_t d = 0; d < index.size(); ++d) {
        where += (d == 0 ? "[" : ", ") + std::to_string(index[d]);
    }
    if (!index.empty()) where += ']';
    throw std::invalid_argument(where + " = " + shown(body_at(a, index), a.rows, a.columns) + ": " +
                                why);
}

/// Calls visit(index) for the first body of each row of a batch; the index may be changed in its
/// last element.
template <class Visit>
void for_each_row(const std::vector<std::ptrdiff_t>& shape, const Visit& visit) {
    for (const std::ptrdiff_t length : shape) {
        if (length == 0) return;
    }
    Index index(shape.size(), 0);
    for (std::size_t d = 0;;) {
        visit(index);
        if (!index.empty()) index.back() = 0;
        for (d = shape.size(); d-- > 1;) {
            if (++index[d - 1] < shape[d - 1]) break;
            index[d - 1] = 0;
        }
        if (d == 0 || d > shape.size()) return;
    }
}

/// The violations of all bodies of an argument.  Refuses the first invalid one.
template <class Check, class Why>
int all_of(const Argument& a, const Check& check, const Why& why) {
    int found = all_valid;
    for_each_row(a.shape, [&](Index& index) {
        View row = body_at(a, index);
        const std::ptrdiff_t length = index.empty() ? 1 : a.shape.back();
        if (!index.empty()) row.body = a.strides.back();
        found |= check(row, std::ptrdiff_t{0}, row.body == 0 ? 1 : length);
        if ((found & some_invalid) == 0) return;
        std::ptrdiff_t i = 0;
        while ((check(row, i, i + 1) & some_invalid) == 0) ++i;
        if (!index.empty()) index.back() = i;
        refuse(a, index, why(body_at(a, index), index));
    });
    return found;
}

/// True if element (i, k) of each block of three bodies equals element (k, i), or is zero.
inline bool are_tensors(const Argument& a, bool diagonal) {
    if (a.name != "inertia" || a.shape.empty() || a.shape.back() != 3) return false;
    bool are = true;
    for_each_row(a.shape, [&](Index& index) {
        const View row = body_at(a, index);
        const auto element = [&](int i, int k) {
            return row.data[i * a.strides.back() + k * row.component];
        };
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 3; ++k) {
                are = are && (i == k || element(i, k) == (diagonal ? 0 : element(k, i)));
            }
        }
    });
    return are;
}

/// Refuses moments that no body has.  True if some body is a rod or a planar rotor.
inline bool inertia(const Kernels& kernels, const Argument& a) {
    const std::string hint = "full tensors go to polhode.RigidBody";
    const auto why = [&](const View& body, const Index&) -> std::string {
        double I[3];
        for (int k = 0; k < 3; ++k) I[k] = body.data[k * body.component];
        std::string text = "a zero moment (a rod) needs the other two equal";
        if (!(std::isfinite(I[0]) && std::isfinite(I[1]) && std::isfinite(I[2]))) {
            text = "moments of inertia must be finite";
        } else {
            std::sort(I, I + 3);
            if (I[0] < -bodies::zero_moment * I[2] || I[2] < 0) {
                text = "a moment of inertia is negative";
            } else if (I[2] == 0) {
                text = "all moments of inertia are zero";
            }
        }
        return are_tensors(a, false) ? text + "; " + hint : text;
    };
    const bool rod = (all_of(a, kernels.inertia, why) & some_rod) != 0;
    if (rod && are_tensors(a, true)) {
        throw std::invalid_argument("inertia is a diagonal matrix, not principal moments; " + hint);
    }
    return rod;
}

/// Refuses zero quaternions and matrices that are not rotations.  NaN and infinity are allowed.
inline void attitude(const Kernels& kernels, const Argument& a) {
    const bool matrix = a.rows == 3;
    const auto check = [&](const View& view, std::ptrdiff_t begin, std::ptrdiff_t end) {
        return kernels.attitude(view, matrix, begin, end);
    };
    all_of(a, check, [&](const View& body, const Index&) -> std::string {
        if (!matrix) return "a zero quaternion is not an attitude";
        double opposite[9];
        for (int k = 0; k < 9; ++k) {
            opposite[k] = -body.data[k / 3 * body.row + k % 3 * body.component];
        }
        const bool reflects = check({opposite, 9, 1, 3}, 0, 1) == all_valid;
        return reflects ? "not a rotation matrix: its determinant is -1"
                        : "not a rotation matrix: |Q^T Q - 1| > 1e-5";
    });
}

/// The shape to which two batches broadcast.
inline std::vector<std::ptrdiff_t> common_shape(const Argument& a, const Argument& b) {
    std::vector<std::ptrdiff_t> shape(std::max(a.shape.size(), b.shape.size()), 1);
    for (const Argument* x : {&a, &b}) {
        const std::size_t missing = shape.size() - x->shape.size();
        for (std::size_t d = 0; d < x->shape.size(); ++d) {
            if (x->shape[d] != 1) shape[missing + d] = x->shape[d];
        }
    }
    return shape;
}

/// Refuses momentum about the axis of a rod: more than 1e-12 |m|, or 64 eps |m| if m was given in a
/// type that is shorter than double.  A momentum that is not finite is allowed.
///
/// @param given  m as the caller has given it, for the message
inline void rods(const Argument& moments, const Argument& m, const Argument& given) {
    const std::vector<std::ptrdiff_t> shape = common_shape(moments, m);
    const auto row_of = [](const Argument& a, const Index& index) {
        View row = body_at(a, index);
        if (!a.shape.empty() && a.shape.back() != 1) row.body = a.strides.back();
        return row;
    };
    for_each_row(shape, [&](Index& index) {
        const std::ptrdiff_t length = shape.empty() ? 1 : shape.back();
        const std::ptrdiff_t i =
            bodies::first_spinning_rod(row_of(moments, index),
                                       row_of(m, index),
                                       0,
                                       length,
                                       std::max({m.limit, given.limit, 1e-12}));
        if (i == length) return;
        if (!shape.empty()) index.back() = i;
        refuse(given, index, "momentum about an axis whose moment of inertia is zero");
    });
}

/// Refuses bodies that cannot be, attitudes that are not rotations, and momentum of a rod about its
/// axis.
inline void bodies(const Kernels& kernels,
                   const Argument& moments,
                   const Argument& m,
                   const Argument& q) {
    const bool rod = inertia(kernels, moments);
    attitude(kernels, q);
    if (rod) rods(moments, m, m);
}

/// The number of steps of one call.
inline constexpr std::int64_t most_steps = std::int64_t{1} << 62;
inline void steps(std::int64_t n_steps) {
    if (n_steps < 0) {
        throw std::invalid_argument("n_steps must not be negative, got " + std::to_string(n_steps));
    }
    if (n_steps > most_steps) {
        throw std::invalid_argument("n_steps must be at most 2^62, got " + std::to_string(n_steps));
    }
}
/// A multistep method needs as many steps as it combines.
inline void steps(std::int64_t n_steps, const MethodInfo& info, int history) {
    steps(n_steps);
    if (n_steps < history) {
        throw std::invalid_argument("method '" + std::string(info.name) + "' has a history of " +
                                    std::to_string(history) +
                                    " steps and needs n_steps of at least " +
                                    std::to_string(history) + ", not " + std::to_string(n_steps));
    }
}

POLHODE_NAMESPACE_END
