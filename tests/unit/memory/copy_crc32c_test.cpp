// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace cd {
namespace {

struct Way {
    const char *name;
    uint32_t (*copy)(uint32_t, void *, const void *, size_t) noexcept;
};

class CopyCrc32c : public testing::TestWithParam<Way> {
protected:
    uint32_t copy(uint32_t seed, void *to, const void *from, size_t length) {
        return GetParam().copy(seed, to, from, length);
    }
};

TEST_P(CopyCrc32c, CopiesEveryByteAndNoOtherAndChecksThem) {
    constexpr size_t room = 140'000;
    std::mt19937 random(1);
    std::vector<uint8_t> from(room);
    std::generate(from.begin(), from.end(), [&] { return static_cast<uint8_t>(random()); });
    for (size_t offset = 0; offset < 70; ++offset) {
        for (const size_t length : {0, 1, 7, 8, 63, 64, 65, 767, 768, 769, 4096, 12'287, 12'288,
                                    13'500, 26'000, 48'384, 65'536, 131'400}) {
            std::vector<uint8_t> to(room, 0xee);
            std::vector<uint8_t> expected = to;
            std::copy_n(&from[offset / 3], length, &expected[offset]);
            ASSERT_EQ(copy(99, &to[offset], &from[offset / 3], length),
                      crc32c_portable(99, &from[offset / 3], length))
                << "offset " << offset << ", length " << length;
            ASSERT_EQ(to, expected) << "offset " << offset << ", length " << length;
        }
    }
}

TEST_P(CopyCrc32c, ChecksWhatItWroteWhileAnotherThreadChangesTheSource) {
    std::vector<uint64_t> from(8192);
    std::vector<uint64_t> to(from.size());
    const size_t length = from.size() * sizeof(uint64_t);
    std::atomic<bool> done = false;
    std::atomic<uint64_t> changes = 0;
    std::thread other([&] {
        for (; !done; ++changes) {
            for (uint64_t &word : from) {
                std::atomic_ref(word).store(changes, std::memory_order_relaxed);
            }
        }
    });
    while (changes < 500) {
        const uint32_t crc = copy(0, to.data(), from.data(), length);
        EXPECT_EQ(crc, crc32c(0, to.data(), length)) << changes;
    }
    done = true;
    other.join();
}

INSTANTIATE_TEST_SUITE_P(Ways, CopyCrc32c,
                         testing::Values(Way{"Cached", copy_crc32c},
                                         Way{"PastCaches", copy_crc32c_past_caches},
                                         Way{"ByWords", copy_crc32c_by_words},
                                         Way{"Portable", copy_crc32c_portable}),
                         [](const auto &way) { return std::string(way.param.name); });

} // namespace
} // namespace cd
