// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

namespace cd {
namespace {

struct Implementation {
    const char *name;
    uint32_t (*crc)(uint32_t, const void *, size_t) noexcept;
};

constexpr Implementation implementations[] = {{"chosen", crc32c}, {"portable", crc32c_portable}};

std::vector<uint8_t> random_bytes(size_t count) {
    std::mt19937 random(1);
    std::vector<uint8_t> bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
    return bytes;
}

// The examples of RFC 3720, appendix B.4, and the customary check value.
TEST(Crc32c, GivesThePublishedValues) {
    std::vector<uint8_t> counting(32);
    std::iota(counting.begin(), counting.end(), uint8_t{0});
    const std::vector<uint8_t> counting_down(counting.rbegin(), counting.rend());
    for (const auto &[name, crc] : implementations) {
        SCOPED_TRACE(name);
        const auto of = [crc = crc](const std::vector<uint8_t> &bytes) {
            return crc(0, bytes.data(), bytes.size());
        };
        EXPECT_EQ(crc(0, "123456789", 9), 0xE3069283u);
        EXPECT_EQ(of(std::vector<uint8_t>(32, 0x00)), 0x8A9136AAu);
        EXPECT_EQ(of(std::vector<uint8_t>(32, 0xFF)), 0x62A8AB43u);
        EXPECT_EQ(of(counting), 0x46DD794Eu);
        EXPECT_EQ(of(counting_down), 0x113FDB5Cu);
    }
}

TEST(Crc32c, NothingLeavesTheSeed) {
    for (const auto &[name, crc] : implementations) {
        SCOPED_TRACE(name);
        EXPECT_EQ(crc(0, nullptr, 0), 0u);
        EXPECT_EQ(crc(0x12345678, nullptr, 0), 0x12345678u);
    }
}

TEST(Crc32c, PartsChainAtEverySplit) {
    const auto bytes = random_bytes(300);
    for (const auto &[name, crc] : implementations) {
        SCOPED_TRACE(name);
        const uint32_t whole = crc(0, bytes.data(), bytes.size());
        for (size_t split = 0; split <= bytes.size(); ++split) {
            const uint32_t first = crc(0, bytes.data(), split);
            EXPECT_EQ(crc(first, bytes.data() + split, bytes.size() - split), whole) << split;
        }
    }
}

TEST(Crc32c, ChosenAgreesWithThePortableOne) {
    const auto bytes = random_bytes(100'000);
    for (size_t offset = 0; offset < 17; ++offset) {
        for (size_t length = 0; length < 200; ++length) {
            ASSERT_EQ(crc32c(7, bytes.data() + offset, length),
                      crc32c_portable(7, bytes.data() + offset, length))
                << offset << " " << length;
        }
    }
    std::mt19937 random(2);
    for (int i = 0; i < 500; ++i) {
        const size_t offset = random() % bytes.size();
        const size_t length = random() % (bytes.size() - offset + 1);
        const auto seed = static_cast<uint32_t>(random());
        ASSERT_EQ(crc32c(seed, bytes.data() + offset, length),
                  crc32c_portable(seed, bytes.data() + offset, length))
            << seed << " " << offset << " " << length;
    }
}

#if __has_include(<isa-l/crc.h>)
// A length that an int cuts off, as ISA-L takes it: zeros that take no memory, then a few bytes
// that are not.
TEST(Crc32c, ChosenTakesMoreThanFourGibibytes) {
    constexpr size_t length = (size_t{1} << 32) + 4096;
    void *zeros = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(zeros, MAP_FAILED);
    const std::string_view tail = "tail";
    std::copy(tail.begin(), tail.end(), static_cast<char *>(zeros) + length - tail.size());
    EXPECT_EQ(crc32c(0, zeros, length), 0x780ED0C8u);
    munmap(zeros, length);
}
#endif

} // namespace
} // namespace cd
