// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains.h"

#include <cstring>
#include <string>

// The shapes in which large data are kept, and the memcpy that each is compared with.

constexpr size_t mib = size_t{1} << 20;
constexpr size_t slices = 1000;

struct Shape {
    const char *name;
    size_t pieces; // that the bytes are divided into
    size_t gap;    // bytes between two of them
};

constexpr Shape one_entry = {"1 entry", 1, 0};
constexpr Shape adjacent = {"1,000 entries", slices, 0};
constexpr Shape apart = {"1,000 entries, gaps", slices, 64};

constexpr size_t sizes_mib[] = {1, 64, 1024};
constexpr size_t largest = (sizes_mib[2] + 1) * mib; // with all gaps

inline std::string case_name(const std::string &operation, size_t size_mib, const Shape &shape) {
    const bool whole_gib = size_mib % 1024 == 0;
    return operation + "/" + std::to_string(whole_gib ? size_mib / 1024 : size_mib) +
           (whole_gib ? " GiB/" : " MiB/") + shape.name;
}

// Memory of the application and as much again for the memcpy, the same for all cases.
struct Stage {
    Memory application{largest};
    Memory copy{largest};
};

inline Stage &stage() {
    static Stage both;
    return both;
}

// Bytes in a shape at the start of the stage's memory.
class Laid {
public:
    Laid(size_t size_mib, const Shape &shape)
        : length_(size_mib * mib / shape.pieces / 8 * 8), shape_(shape) {}

    size_t length() const { return length_; } // of each piece

    List list() const {
        List ranges;
        for (size_t i = 0; i < shape_.pieces; ++i) {
            ranges.push_back({stage().application.at(offset(i)), length_, READ_WRITE, GLOBAL});
        }
        return ranges;
    }

    // Adjacent pieces in one go: the limit does not depend on how the bytes were added.
    void copy(std::byte *to, const std::byte *from) const {
        if (shape_.gap == 0) {
            std::memcpy(to, from, length_ * shape_.pieces);
            return;
        }
        for (size_t i = 0; i < shape_.pieces; ++i) {
            std::memcpy(to + offset(i), from + offset(i), length_);
        }
    }
    size_t span() const { return offset(shape_.pieces); }
    void copy_out() const { copy(stage().copy.at(), stage().application.at()); }
    void copy_back() const { copy(stage().application.at(), stage().copy.at()); }

private:
    size_t offset(size_t piece) const { return piece * (length_ + shape_.gap); }

    size_t length_;
    Shape shape_;
};
