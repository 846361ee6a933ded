// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <unistd.h>
#include <utility>

namespace {

struct Report {
    std::vector<cd_mismatch> mismatches;

    using Ranges = std::vector<std::pair<size_t, size_t>>; // offset and length

    // Returns the reported parts of memory, in order.
    Ranges ranges_in(const uint8_t *memory) const {
        Ranges ranges;
        for (const cd_mismatch &mismatch : mismatches) {
            const auto offset = static_cast<const uint8_t *>(mismatch.address) - memory;
            ranges.emplace_back(static_cast<size_t>(offset), mismatch.length);
        }
        return ranges;
    }

    std::vector<size_t> offsets_in(const uint8_t *memory) const {
        std::vector<size_t> offsets;
        for (const auto &[first, length] : ranges_in(memory)) {
            for (size_t i = 0; i < length; ++i)
                offsets.push_back(first + i);
        }
        return offsets;
    }
};

void note(const cd_mismatch *mismatch, void *context) {
    static_cast<Report *>(context)->mismatches.push_back(*mismatch);
}

class Verify : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        memory.resize(10'000);
        std::iota(memory.begin(), memory.end(), uint8_t{1});
        root = make_root();
    }

    void hold_two_neighbours_of_eight_bytes() {
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(
            root, {bytes(&memory[0], 8, READ_ONLY), bytes(&memory[8], 8, READ_ONLY)}, 2)));
    }

    void modify_both_neighbours() {
        for (size_t offset = 0; offset < 16; ++offset)
            memory[offset] ^= 0x80;
    }

    std::vector<uint8_t> memory;
    Report report;
    cd_handle root;
};

TEST_F(Verify, ReportsEachRangeThatDiffers) {
    ASSERT_TRUE(
        succeeds(add_to_cd_via_copy(root, {bytes(memory.data(), memory.size(), READ_ONLY)}, 1)));
    const std::vector<size_t> changed = {0, 100, 101, 4095, 4096, 9999};
    for (const size_t offset : changed)
        memory[offset] ^= 0x80;
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(root, note, &report)));
    EXPECT_EQ(report.offsets_in(memory.data()), changed);
    for (const cd_mismatch &mismatch : report.mismatches) {
        EXPECT_EQ(mismatch.kind, CD_MISMATCH_MEMORY);
    }
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(root, nullptr, nullptr)))
        << "report may be NULL";
}

TEST_F(Verify, ReportsNeighboursOneByOne) {
    hold_two_neighbours_of_eight_bytes();
    modify_both_neighbours();
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(root, note, &report)));
    EXPECT_EQ(report.ranges_in(memory.data()), (Report::Ranges{{0, 8}, {8, 8}}));
}

TEST_F(Verify, ReportsNeighboursOfAnAncestorOneByOne) {
    hold_two_neighbours_of_eight_bytes();
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {bytes(&memory[2], 12, READ_ONLY)}, 1)));
    modify_both_neighbours();
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(child, note, &report)));
    EXPECT_EQ(report.ranges_in(memory.data()), (Report::Ranges{{2, 6}, {8, 6}}));
}

TEST_F(Verify, FindsModificationsAfterAnAdvanceThatWereNotAnnounced) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 16)}, 1)));
    memory[3] = 77;
    EXPECT_TRUE(succeeds(cd_verify(root, note, &report))) << "READ_WRITE may be modified";
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_TRUE(succeeds(cd_verify(root, note, &report)));
    memory[3] = 78;
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(root, note, &report),
                           {"0/root/0/0", text_of(&memory[3])}));
    EXPECT_EQ(report.offsets_in(memory.data()), std::vector<size_t>{3});
}

TEST_F(Verify, WhatTheReportFunctionThrowsEndsThereAndEachRangeIsReported) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory.data(), 100, READ_ONLY)}, 1)));
    memory[10] ^= 1;
    memory[20] ^= 1;
    int calls = 0;
    const auto count_and_throw = [](const cd_mismatch *, void *context) {
        ++*static_cast<int *>(context);
        throw 1;
    };
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(root, count_and_throw, &calls)));
    EXPECT_EQ(calls, 2);
    memory[10] ^= 1;
    memory[20] ^= 1;
    EXPECT_TRUE(succeeds(cd_verify(root, nullptr, nullptr)));
}

TEST_F(Verify, CallsFromInsideTheReportAreRefused) {
    static cd_handle handle;
    static cd_error seen;
    handle = root;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 16, READ_ONLY)}, 1)));
    memory[3] = 77;
    const auto call_back = [](const cd_mismatch *, void *) {
        cd_info info;
        cd_query(handle, &info);
        seen = cd_last_error();
    };
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(root, call_back, nullptr)));
    EXPECT_EQ(seen, CD_ERROR_IN_CALLBACK);
}

// ---- Checksums ---------------------------------------------------------------------------

// Damages the library's own copy of pattern, as a cosmic ray would: finds it in the process's
// memory and flips a bit. Reads through /proc, which sanitizers do not mind.
bool damage_stored_copy(const std::vector<uint8_t> &pattern) {
    std::FILE *maps = std::fopen("/proc/self/maps", "r");
    const int memory = open("/proc/self/mem", O_RDWR);
    constexpr size_t window = 1 << 20;
    std::vector<uint8_t> buffer(window + pattern.size());
    bool found = false;
    char line[512];
    while (!found && std::fgets(line, sizeof line, maps) != nullptr) {
        uint64_t begin = 0, end = 0;
        char rights[5] = "";
        if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, rights) != 3)
            continue;
        if (rights[0] != 'r' || rights[1] != 'w' || end - begin > (uint64_t{1} << 32))
            continue;
        for (uint64_t at = begin; !found && at < end; at += window) {
            const size_t size = std::min<uint64_t>(buffer.size(), end - at);
            const ssize_t got = pread(memory, buffer.data(), size, static_cast<off_t>(at));
            if (got <= 0)
                continue;
            const uint8_t *hit = buffer.data();
            const uint8_t *const stop = buffer.data() + got;
            while (!found) {
                hit = static_cast<const uint8_t *>(
                    memmem(hit, static_cast<size_t>(stop - hit), pattern.data(), pattern.size()));
                if (hit == nullptr)
                    break;
                const uint64_t address = at + static_cast<uint64_t>(hit - buffer.data());
                const auto is_within = [&](const void *start, size_t length) {
                    const auto first = reinterpret_cast<uint64_t>(start);
                    return address >= first && address < first + length;
                };
                if (!is_within(pattern.data(), pattern.size()) &&
                    !is_within(buffer.data(), buffer.size())) {
                    const uint8_t flipped = *hit ^ 1;
                    found = pwrite(memory, &flipped, 1, static_cast<off_t>(address)) == 1;
                }
                ++hit;
            }
        }
    }
    std::fclose(maps);
    close(memory);
    return found;
}

class Checksums : public Verify {
protected:
    // Bytes that occur nowhere else.
    void make_unique() {
        uint32_t state = 0x9E3779B9;
        memory.resize(5000);
        for (uint8_t &byte : memory) {
            state = state * 1664525 + 1013904223;
            byte = static_cast<uint8_t>(state >> 24);
        }
    }
};

TEST_F(Checksums, DamagedDataFailTheRestoreBeforeAnythingIsWritten) {
    make_unique();
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(
        add_to_cd_via_copy(root, {bytes(memory.data(), memory.size())}, 1, "checksum=crc32c")));
    ASSERT_TRUE(damage_stored_copy(memory));
    x = 2;
    EXPECT_TRUE(fails_with(CD_ERROR_CHECKSUM, restore_cd(root), {"0/root/0/0"}));
    EXPECT_EQ(x, 2);
}

TEST_F(Checksums, DamagedDataAreReportedByVerify) {
    make_unique();
    ASSERT_TRUE(succeeds(
        add_to_cd_via_copy(root, {bytes(memory.data(), memory.size())}, 1, "checksum=crc32c")));
    EXPECT_TRUE(succeeds(cd_verify(root, note, &report)));
    ASSERT_TRUE(damage_stored_copy(memory));
    EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(root, note, &report)));
    ASSERT_EQ(report.mismatches.size(), 1U);
    EXPECT_EQ(report.mismatches[0].kind, CD_MISMATCH_CHECKSUM);
    const auto *first = static_cast<const uint8_t *>(report.mismatches[0].address);
    EXPECT_GE(first, memory.data());
    EXPECT_LE(first + report.mismatches[0].length, memory.data() + memory.size());
}

TEST_F(Checksums, AreThoseOfTheEnvironmentWhereStorageInfoSaysNothing) {
    make_unique();
    setenv("CD_STORAGE_INFO", "checksum=crc32c", 1);
    const std::vector<cd_handle> roots = {make_root(COMM_LOGGING_DISABLED, nullptr, "none given"),
                                          make_root(COMM_LOGGING_DISABLED, "shadow=none", "other")};
    setenv("CD_STORAGE_INFO", "checksum=none", 1);
    for (const cd_handle cd : {make_child(roots[0]), roots[1]}) {
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd, {bytes(memory.data(), memory.size())}, 1)));
        ASSERT_TRUE(damage_stored_copy(memory));
        EXPECT_TRUE(fails_with(CD_ERROR_VERIFY_MISMATCH, cd_verify(cd, nullptr, nullptr)));
        ASSERT_TRUE(succeeds(delete_from_cd(cd, {bytes(memory.data(), memory.size())}, 1)));
        make_unique();
    }
}

TEST_F(Checksums, WithoutThemDamageGoesUnnoticed) {
    make_unique();
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory.data(), memory.size())}, 1)));
    ASSERT_TRUE(damage_stored_copy(memory)) << "or the tests above show nothing";
    EXPECT_TRUE(succeeds(cd_verify(root, note, &report)));
    EXPECT_TRUE(succeeds(restore_cd(root)));
}

} // namespace
