// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What is left in the vector registers of a program that the library has computed for: loops of SSE
// take twice as long while their upper halves are in use.
#include "memory/crc32c.h"
#include "redset/erasure_code.h"
#include "redset/gf256.h"
#include "redset/kvtree_file.h"
#include "redset/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>

#ifdef __x86_64__

namespace cd {
namespace {

constexpr size_t amount = size_t{64} << 10; // of bytes

// Returns whether the upper halves are in use when a function returns.
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
        for (size_t i = 0; i < amount; ++i) {
            bytes[i] = static_cast<std::byte>(i * 7 + 1);
        }
    }
    // Aligned as coders need them.
    redset::AlignedBuffer bytes = redset::make_aligned_buffer(amount);
    redset::AlignedBuffer others = redset::make_aligned_buffer(amount);
    redset::AlignedBuffer more = redset::make_aligned_buffer(amount);
};

TEST_F(UpperHalves, AreFreeAfterChecksums) {
    ASSERT_NE(crc32c(0, bytes.get(), amount), 0U);
    EXPECT_FALSE(are_in_use());
    ASSERT_NE(copy_crc32c(0, others.get(), bytes.get(), amount), 0U);
    EXPECT_FALSE(are_in_use());
    ASSERT_NE(redset::crc32({bytes.get(), amount}), 0U);
    EXPECT_FALSE(are_in_use());
}

TEST_F(UpperHalves, AreFreeAfterCoding) {
    constexpr size_t sources = 4;
    std::array<std::byte *, sources> from{};
    from.fill(bytes.get());
    std::array<std::byte *, 2> to = {others.get(), more.get()};
    redset::Matrix ones(1, sources);
    for (size_t s = 0; s < sources; ++s) {
        ones.at(0, s) = 1;
    }
    redset::ErasureCode(ones, sources, 1).code(amount, from.data(), to.data());
    EXPECT_FALSE(are_in_use());
    redset::ErasureCode(redset::reed_solomon_rows(sources, 2), sources, 2)
        .code(amount, from.data(), to.data());
    EXPECT_FALSE(are_in_use());
}

} // namespace
} // namespace cd

#endif
