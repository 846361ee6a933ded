// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The same random programs with a file store and with LMDB: both hold the same afterwards.

#include "arena.h"
#include "generator.h"
#include "life.h"
#include "lmdb_ledger.h"
#include "script.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace crash {
namespace {

class LmdbOpinion : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "cd-lmdb-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string folder_;
};

TEST_F(LmdbOpinion, OfWhatRandomProgramsHaveStoredIsTheSame) {
    for (uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
        const std::string here = folder_ + "/" + std::to_string(seed);
        std::filesystem::create_directory(here);
        LmdbLedger second(here);
        StoreKind kind;
        Dice dice(seed);
        Life life(kind, Disk(), Truth(kind.keep));
        ASSERT_EQ(life.begin_anew(), "");
        second.apply(root(1));
        second.apply(write_all(1));
        Generator generator(dice, 2);
        for (int i = 0; i < 200; ++i) {
            const model::Step step = generator.next(life.truth());
            ASSERT_EQ(life.take(step), "") << "seed " << seed;
            second.apply(step);
            if (step.op == model::Op::restore) {
                ASSERT_EQ(second.memory(), life.truth().model().memory()) << "seed " << seed;
            }
            if (i % 10 == 9) {
                const Opened found = open_store_on(life.disk().after_crash({}), kind);
                life.resume();
                ASSERT_EQ(found.wrong, "");
                const Stored expected = second.stored();
                ASSERT_TRUE(found.stored == expected) << "seed " << seed << ", step " << i << ": "
                                                      << difference(found.stored, expected);
            }
        }
    }
}

} // namespace
} // namespace crash
