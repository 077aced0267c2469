// Loads and stores matrices of nine components, some bodies at a time, and compares with plain
// loops.  Prints how many components come out wrong: copied, and of products of two.

#include "polhode/kernels.hpp"

#include <cstdio>
#include <vector>

namespace {

using polhode::MutableView;
using polhode::pack;
using polhode::View;

template <int W, int U>
[[gnu::noinline]] void copy(const View& a, const MutableView& out, int n) {
    for (int i = 0; i < n; i += W * U) {
        const int count = n - i < W * U ? n - i : W * U;
        pack<W, U> x[9];
        polhode::batch::load(a, i, count, x);
        polhode::batch::store(out, i, count, x);
    }
}

template <int W, int U>
[[gnu::noinline]] void multiply(const View& a, const View& b, const MutableView& out, int n) {
    for (int i = 0; i < n; i += W * U) {
        const int count = n - i < W * U ? n - i : W * U;
        pack<W, U> x[9], y[9], z[9];
        polhode::batch::load(a, i, count, x);
        polhode::batch::load(b, i, count, y);
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) {
                z[3 * r + c] = x[3 * r] * y[c] + x[3 * r + 1] * y[3 + c] + x[3 * r + 2] * y[6 + c];
            }
        }
        polhode::batch::store(out, i, count, z);
    }
}

template <int W, int U>
int wrong() {
    constexpr int n = 3 * W * U + 1;
    std::vector<double> a(9 * n), b(9 * n), copied(9 * n), product(9 * n);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = double(i % 17);
        b[i] = double(i % 23);
    }
    const View of_a{a.data(), 9, 1, 3}, of_b{b.data(), 9, 1, 3};
    copy<W, U>(of_a, {copied.data(), 9, 1, 3}, n);
    multiply<W, U>(of_a, of_b, {product.data(), 9, 1, 3}, n);
    int count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::size_t row = i / 3 * 3, column = i / 9 * 9 + i % 3;
        double sum = 0;
        for (std::size_t j = 0; j < 3; ++j) sum += a[row + j] * b[column + 3 * j];
        count += (copied[i] != a[i]) + (product[i] != sum);
    }
    return count;
}

}  // namespace

int main() { std::printf("%d %d %d\n", wrong<2, 2>(), wrong<4, 1>(), wrong<4, 2>()); }
