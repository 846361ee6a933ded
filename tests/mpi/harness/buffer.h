// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "harness/arena.h"

#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace cd::scenarios {

// Elements in the arena, with guard bytes around them: what writes beside a buffer is seen.
template <typename T> class Buffer {
public:
    explicit Buffer(size_t count) : count_(count), bytes_(take_from_arena(size_with_guards())) {
        std::memset(bytes_, 0xA5, size_with_guards());
    }
    Buffer(std::initializer_list<T> values) : Buffer(values.size()) {
        std::memcpy(data(), values.begin(), values.size() * sizeof(T));
    }
    Buffer(const Buffer &other) : Buffer(other.count_) {
        std::memcpy(bytes_, other.bytes_, size_with_guards());
    }
    Buffer &operator=(const Buffer &) = delete;

    T *data() const { return reinterpret_cast<T *>(bytes_ + guard); }
    operator T *() const { return data(); }
    size_t count() const { return count_; }
    const unsigned char *with_guards() const { return bytes_; }
    size_t size_with_guards() const { return count_ * sizeof(T) + 2 * guard; }

private:
    static constexpr size_t guard = 64;

    size_t count_;
    unsigned char *bytes_;
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
