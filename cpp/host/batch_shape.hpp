#pragma once

/// Broadcasting: which elements of several arrays of any strides make up body i of a batch.

#include <cstddef>

namespace polhode {

/// A broadcast batch as a few long rows: `row_count` rows of `row_length` bodies.
///
/// Axes that are contiguous with each other in every array are merged.  The longest remaining axis
/// is the row, so that packs are full for any shape.
struct BatchShape {
    static constexpr int max_axes = 64;
    static constexpr int max_arrays = 8;

    int axes = 0;
    int arrays = 0;
    std::ptrdiff_t shape[max_axes];
    std::ptrdiff_t strides[max_arrays][max_axes];  ///< in doubles; 0 where broadcast

    std::ptrdiff_t row_length = 1;
    std::ptrdiff_t row_count = 1;
    std::ptrdiff_t row_stride[max_arrays] = {};

    std::ptrdiff_t size() const { return row_length * row_count; }

    /// Call this after shape and strides are set.
    void arrange() {
        for (int d = 0; d < axes;) {
            bool drop = shape[d] == 1;
            if (!drop && d + 1 < axes) {
                drop = true;
                for (int k = 0; k < arrays; ++k) {
                    drop = drop && strides[k][d] == shape[d + 1] * strides[k][d + 1];
                }
                if (drop) shape[d + 1] *= shape[d];
            }
            if (drop) {
                erase(d);
            } else {
                ++d;
            }
        }
        if (axes == 0) return;
        int longest = 0;
        for (int d = 1; d < axes; ++d) {
            if (shape[d] >= shape[longest]) longest = d;
        }
        row_length = shape[longest];
        for (int k = 0; k < arrays; ++k) row_stride[k] = strides[k][longest];
        erase(longest);
        for (int d = 0; d < axes; ++d) row_count *= shape[d];
    }

    /// Offset of the first body of a row in one array.
    std::ptrdiff_t row_offset(std::ptrdiff_t row, int array) const {
        std::ptrdiff_t offset = 0;
        for (int d = axes; d-- > 0;) {
            offset += (row % shape[d]) * strides[array][d];
            row /= shape[d];
        }
        return offset;
    }

    /// Calls visit(row, begin, end) for the parts of rows that contain bodies begin ... end - 1.
    template <class Visit>
    void for_each_row(std::ptrdiff_t begin, std::ptrdiff_t end, const Visit& visit) const {
        while (begin < end) {
            const std::ptrdiff_t row = begin / row_length;
            const std::ptrdiff_t first = begin % row_length;
            const std::ptrdiff_t left = end - begin;
            const std::ptrdiff_t last = first + left < row_length ? first + left : row_length;
            visit(row, first, last);
            begin += last - first;
        }
    }

  private:
    void erase(int d) {
        --axes;
        for (int e = d; e < axes; ++e) {
            shape[e] = shape[e + 1];
            for (int k = 0; k < arrays; ++k) strides[k][e] = strides[k][e + 1];
        }
    }
};

}  // namespace polhode
