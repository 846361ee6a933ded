// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace restarting {

// Memory of a process, on the heap.
class Memory {
public:
    explicit Memory(size_t size) : bytes_(size) {}
    void fill(int value) { std::ranges::fill(bytes_, static_cast<unsigned char>(value)); }
    bool is(int value) const {
        return std::ranges::all_of(bytes_, [&](unsigned char byte) { return byte == value; });
    }
    unsigned char *at(size_t offset = 0) { return &bytes_[offset]; }
    size_t size() const { return bytes_.size(); }

private:
    std::vector<unsigned char> bytes_;
};

} // namespace restarting
