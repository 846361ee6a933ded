// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What is left in the vector registers of a program that the library has computed for: loops of SSE
// take twice as long while their upper halves are in use.
#include "redset/coder.h"
#include "redset/crc32.h"
#include "redset/galois.h"
#include "store/copy_crc32c.h"
#include "store/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#ifdef __x86_64__

namespace cd {
namespace {

constexpr size_t amount = size_t{64} << 10; // of bytes

// As the caller of a function finds them.
[[gnu::target("avx"), gnu::noinline]] bool are_in_use() {
    std::array<unsigned long long, 8> halves{}; // of the first four
    asm volatile("vextractf128 $1, %%ymm0, 0(%0)\n\t"
                 "vextractf128 $1, %%ymm1, 16(%0)\n\t"
                 "vextractf128 $1, %%ymm2, 32(%0)\n\t"
                 "vextractf128 $1, %%ymm3, 48(%0)"
                 :
                 : "r"(halves.data())
                 : "memory");
    return std::ranges::any_of(halves, [](unsigned long long half) { return half != 0; });
}

class UpperHalves : public testing::Test {
protected:
    void SetUp() override {
        if (!__builtin_cpu_supports("avx")) {
            GTEST_SKIP() << "this processor has none";
        }
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(i * 7 + 1);
        }
    }
    std::vector<std::byte> bytes = std::vector<std::byte>(amount);
    std::vector<std::byte> others = std::vector<std::byte>(amount);
};

TEST_F(UpperHalves, AreFreeAfterChecksums) {
    ASSERT_NE(crc32c(0, bytes.data(), amount), 0U);
    EXPECT_FALSE(are_in_use());
    ASSERT_NE(copy_crc32c(0, others.data(), bytes.data(), amount), 0U);
    EXPECT_FALSE(are_in_use());
    ASSERT_NE(redset::crc32(bytes), 0U);
    EXPECT_FALSE(are_in_use());
}

TEST_F(UpperHalves, AreFreeAfterCoding) {
    constexpr size_t sources = 4;
    std::array<std::byte *, sources> from{};
    from.fill(bytes.data());
    std::vector<std::byte> second(amount);
    std::array<std::byte *, 2> to = {others.data(), second.data()};
    redset::Matrix ones(1, sources);
    for (size_t s = 0; s < sources; ++s) {
        ones.at(0, s) = 1;
    }
    redset::Coder(ones, sources, 1).code(amount, from.data(), to.data());
    EXPECT_FALSE(are_in_use());
    redset::Coder(redset::reed_solomon_rows(sources, 2), sources, 2)
        .code(amount, from.data(), to.data());
    EXPECT_FALSE(are_in_use());
}

} // namespace
} // namespace cd

#endif
