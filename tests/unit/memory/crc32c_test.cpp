// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
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

TEST(JoinCrc32c, IsTheChecksumOfBothParts) {
    const auto bytes = random_bytes(5000);
    const uint32_t whole = crc32c(0, bytes.data(), bytes.size());
    for (size_t split = 0; split <= bytes.size(); split += split < 300 ? 1 : 97) {
        const size_t rest = bytes.size() - split;
        EXPECT_EQ(join_crc32c(crc32c(0, bytes.data(), split), crc32c(0, bytes.data() + split, rest),
                              rest),
                  whole)
            << split;
    }
}

TEST(JoinCrc32c, TakesLengthsOfMoreThan32Bits) {
    // Zeros of 2^33 bytes are twice zeros of 2^32 bytes, which are ...
    uint32_t crc = crc32c(0, "", 1);
    for (int bit = 0; bit < 33; ++bit) {
        crc = join_crc32c(crc, crc, uint64_t{1} << bit);
    }
    const uint32_t half = [] {
        uint32_t value = crc32c(0, "", 1);
        for (int bit = 0; bit < 32; ++bit) {
            value = join_crc32c(value, value, uint64_t{1} << bit);
        }
        return value;
    }();
    EXPECT_EQ(join_crc32c(half, half, uint64_t{1} << 32), crc);
    EXPECT_NE(half, crc);
}

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
    const auto from = random_bytes(room);
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
