// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace cd::scenarios {

// Elements with guard bytes around them: what writes beside a buffer is seen.
template <typename T> class Buffer {
public:
    static constexpr size_t guard = 64;

    explicit Buffer(size_t count) : count_(count), bytes_(count * sizeof(T) + 2 * guard, 0xA5) {}
    Buffer(std::initializer_list<T> values) : Buffer(values.size()) {
        std::memcpy(data(), values.begin(), values.size() * sizeof(T));
    }

    T *data() { return reinterpret_cast<T *>(bytes_.data() + guard); }
    const T *data() const { return reinterpret_cast<const T *>(bytes_.data() + guard); }
    operator T *() { return data(); }
    size_t count() const { return count_; }
    const std::vector<unsigned char> &with_guards() const { return bytes_; }

private:
    size_t count_;
    std::vector<unsigned char> bytes_;
};

// first, first + 1, ...
template <typename T = int> Buffer<T> sequence(int count, int first) {
    Buffer<T> buffer(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        buffer[i] = static_cast<T>(first + i);
    }
    return buffer;
}

} // namespace cd::scenarios
