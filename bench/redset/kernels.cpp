// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "kernels.h"

#include "memory/crc32c.h"
#include "redset/erasure_code.h"
#include "redset/pipeline.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace cd;
using namespace cd::redset;

constexpr size_t piece = size_t{128} << 10;

template <typename Work> double seconds_of(const Work &work) {
    const double start = processor_seconds();
    work();
    return processor_seconds() - start;
}

// The best of several, each long enough for the clock. round: gives its seconds that count.
template <typename Round> double best_cost(size_t bytes, const Round &round) {
    constexpr double long_enough = 0.02;
    double best = 1;
    for (int attempt = 0; attempt < 5; ++attempt) {
        double seconds = 0;
        size_t rounds = 0;
        do {
            seconds += round();
            ++rounds;
        } while (seconds < long_enough);
        best = std::min(best, seconds / static_cast<double>(rounds * bytes));
    }
    return best;
}

// As above, of pieces that are too short for the clock one by one.
template <typename Work> double cost(size_t bytes, const Work &work) {
    constexpr size_t together = 16;
    return best_cost(together * bytes, [&] {
        return seconds_of([&] {
            for (size_t i = 0; i < together; ++i) {
                work();
            }
        });
    });
}

class TestFile {
public:
    explicit TestFile(const char *folder) : path_(std::string(folder) + "/cd-bench-XXXXXX") {
        fd_ = ::mkstemp(path_.data());
        if (fd_ < 0) {
            std::perror(path_.c_str());
            std::exit(EXIT_FAILURE);
        }
    }
    TestFile(const TestFile &) = delete;
    ~TestFile() {
        ::close(fd_);
        ::unlink(path_.c_str());
    }

    void write(const std::byte *from, size_t size) const {
        check(::pwrite(fd_, from, piece, static_cast<off_t>(size)));
    }
    void read(std::byte *to, size_t at) const {
        check(::pread(fd_, to, piece, static_cast<off_t>(at)));
    }

private:
    static void check(ssize_t done) {
        if (done != static_cast<ssize_t>(piece)) {
            std::perror("a file of the benchmark");
            std::exit(EXIT_FAILURE);
        }
    }
    std::string path_;
    int fd_ = -1;
};

} // namespace

double copy_cost() {
    const AlignedBuffer from = make_aligned_buffer(piece);
    const AlignedBuffer to = make_aligned_buffer(piece);
    std::memset(from.get(), 1, piece);
    return cost(piece, [&] {
        std::memcpy(to.get(), from.get(), piece);
        asm volatile("" : : "r"(to.get()) : "memory");
    });
}

double checksum_cost() {
    const AlignedBuffer from = make_aligned_buffer(piece);
    std::memset(from.get(), 1, piece);
    uint32_t crc = 0;
    return cost(piece, [&] {
        crc = crc32c(crc, from.get(), piece);
        asm volatile("" : : "r"(crc));
    });
}

double coding_cost(size_t sources, size_t outputs, bool sum) {
    Matrix ones(1, sources);
    for (size_t s = 0; s < sources; ++s) {
        ones.at(0, s) = 1;
    }
    ErasureCode coder(sum ? ones : reed_solomon_rows(sources, outputs), sources, outputs);
    const AlignedBuffer memory = make_aligned_buffer((sources + outputs) * piece);
    std::memset(memory.get(), 1, (sources + outputs) * piece);
    std::vector<std::byte *> pointers;
    for (size_t i = 0; i < sources + outputs; ++i) {
        pointers.push_back(memory.get() + i * piece);
    }
    return cost(sources * piece,
                [&] { coder.code(piece, pointers.data(), pointers.data() + sources); });
}

double write_cost(const char *folder, size_t bytes) {
    const AlignedBuffer from = make_aligned_buffer(piece);
    std::memset(from.get(), 1, piece);
    return best_cost(bytes, [&] {
        const TestFile file(folder); // removing it is no part of any case
        return seconds_of([&] {
            for (size_t at = 0; at < bytes; at += piece) {
                file.write(from.get(), at);
            }
        });
    });
}

double read_cost(const char *folder, size_t bytes) {
    const AlignedBuffer buffer = make_aligned_buffer(piece);
    std::memset(buffer.get(), 1, piece);
    const TestFile file(folder);
    for (size_t at = 0; at < bytes; at += piece) {
        file.write(buffer.get(), at);
    }
    return best_cost(bytes, [&] {
        return seconds_of([&] {
            for (size_t at = 0; at < bytes; at += piece) {
                file.read(buffer.get(), at);
            }
        });
    });
}
