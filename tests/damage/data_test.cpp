// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "specimen.h"

#include "cd/cd.h"
#include "file_store/format.h"
#include "file_store/stored_data.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace damage {
namespace {

constexpr int advances = 3;

using Runs = std::map<uint64_t, const cd::StoredRun *>; // by offset

void add_runs(const cd::StoredEntries &entries, Runs &runs) {
    for (const auto &[place, entry] : entries) {
        if (entry.run != nullptr) {
            runs[entry.run->offset] = entry.run;
        }
    }
}

Runs runs_of(const cd::State &state) {
    Runs runs;
    for (const auto &[number, stored] : state.cds) {
        add_runs(stored.entries, runs);
    }
    for (const cd::StoredVersion &version : state.versions) {
        add_runs(version.entries, runs);
    }
    return runs;
}

TEST(Data, EachFlippedBitIsFoundWhereItIs) {
    Specimen store(advances, 2);
    std::mt19937 random(1);
    size_t flips = 0;
    for (const auto &[offset, run] : runs_of(store.loaded().state)) {
        for (size_t at = 0; at < run->length; at += 1 + random() % 200) {
            const std::byte flipped =
                store.bytes()[offset + at] ^ std::byte{1} << static_cast<unsigned>(random() % 8);
            store.put(offset + at, &flipped, 1);
            std::vector<std::byte> part(std::min<size_t>(run->length - at, 10));
            const cd::Status status =
                cd::read_run(store.file(), *run, at, part.data(), part.size());
            ASSERT_EQ(status.code(), CD_ERROR_CHECKSUM) << "byte " << offset + at;
            const size_t part_begin =
                offset + at / cd::format::checked_part * cd::format::checked_part;
            ASSERT_NE(std::string(cd::message()).find("offset " + std::to_string(part_begin) + " "),
                      std::string::npos)
                << cd::message();
            store.heal();
            ++flips;
        }
    }
    EXPECT_GT(flips, 1000U);
}

// What is left of a place that changes in part is copied; it must not get a new checksum on the
// way.
TEST(Data, ThatIsDamagedStaysSoWhenTheRestOfItsPlaceIsNotNeededAnyMore) {
    const Directory directory;
    const std::string problem = in_process([&]() -> std::string {
        const std::string storage = "store=file,sync=none,dir=" + directory.path("s");
        cd_handle root =
            create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
        std::string memory(size_t{1} << 20, 'a');
        memory.replace(1000, 6, "damage");
        const auto advance = [&](size_t begin) {
            const cd_addrspec range = {&memory[begin], memory.size() - begin, CD_READ_WRITE,
                                       CD_GLOBAL};
            return add_to_cd_via_copy(root, &range, 1, nullptr) == CD_SUCCESS &&
                   advance_cd_point_in_time(root) == CD_SUCCESS;
        };
        if (!advance(0)) {
            return cd_last_error_message();
        }
        std::fstream file(directory.path("s/0-root.cds"),
                          std::ios::binary | std::ios::in | std::ios::out);
        const std::string stored{std::istreambuf_iterator<char>(file), {}};
        for (auto at = stored.find("damage"); at != std::string::npos;
             at = stored.find("damage", at + 1)) {
            file.seekp(static_cast<std::streamoff>(at));
            file.put('X');
        }
        file.flush();
        for (int i = 0; i < 3; ++i) {
            if (!advance(100000)) {
                return cd_last_error_message();
            }
        }
        return restore_cd(root) != CD_SUCCESS && cd_last_error() == CD_ERROR_CHECKSUM
                   ? ""
                   : "restored: " + memory.substr(1000, 6);
    });
    EXPECT_EQ(problem, "");
}

// What a process gets of a store in which one bit is another: "right", "right, with a warning",
// "older", which it said, or the error.
class AttachedTo : public testing::TestWithParam<const char *> {
protected:
    std::string path() const { return directory_.path("s/0-root.cds"); }

    void SetUp() override {
        const std::string problem = in_process([&] {
            Program program(directory_.path("s"), GetParam());
            const std::string refused = program.open();
            return refused.empty() ? program.run(advances) : refused;
        });
        ASSERT_EQ(problem, "");
        std::filesystem::copy_file(path(), directory_.path("whole"));
    }

    cd::File whole() const {
        return {::open(directory_.path("whole").c_str(), O_RDONLY | O_CLOEXEC), "whole"};
    }

    void damage(uint64_t offset, unsigned bit) const {
        std::filesystem::copy_file(directory_.path("whole"), path(),
                                   std::filesystem::copy_options::overwrite_existing);
        std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(static_cast<std::streamoff>(offset));
        const auto byte = static_cast<char>(file.get() ^ 1 << bit);
        file.seekp(static_cast<std::streamoff>(offset));
        file.put(byte);
    }

    std::string attach() const {
        return in_process([&]() -> std::string {
            Listener listener;
            cd::os::replace_system(&listener);
            Program program(directory_.path("s"), GetParam());
            program.set(99);
            std::string error = program.open();
            error = error.empty() ? program.restore() : error;
            if (!error.empty()) {
                return error;
            }
            const int step = program.step();
            if (step != advances) {
                return step < 0 ? "TORN" : listener.heard.empty() ? "OLDER, AND SILENT" : "older";
            }
            return listener.heard.empty() ? "right" : "right, with a warning";
        });
    }

    // A store that was damaged, and taken, is as good as any from the first advance on.
    void expect_that_it_goes_on(const std::string &what) const {
        const std::string went_to = in_process([&] {
            Program program(directory_.path("s"), GetParam());
            program.set(0);
            std::string error = program.open();
            error = error.empty() ? program.restore() : error;
            error = error.empty() ? program.run(3) : error;
            return error.empty() ? "step " + std::to_string(program.step()) : error;
        });
        EXPECT_TRUE(went_to.starts_with("step ")) << what << ": " << went_to;
        const std::string found = in_process([&] {
            Listener listener;
            cd::os::replace_system(&listener);
            Program program(directory_.path("s"), GetParam());
            program.set(99);
            std::string error = program.open();
            error = error.empty() ? program.restore() : error;
            return error + listener.heard + "step " + std::to_string(program.step());
        });
        EXPECT_EQ(found, went_to) << what;
    }

    Directory directory_;
};

TEST_P(AttachedTo, AProcessGetsRightDataOrAnErrorOrAnOlderStateWithAWarning) {
    std::mt19937 random(1);
    const auto size = std::filesystem::file_size(path());
    cd::Loaded loaded;
    ASSERT_TRUE(cd::load(whole(), loaded).is_ok()) << cd::message();
    const auto byte_of_data = [&] {
        const cd::StoredRun &run = (*loaded.state.runs)[random() % loaded.state.runs->size()];
        return run.offset + random() % run.length;
    };
    std::map<std::string, int> outcomes;
    for (int i = 0; i < 150; ++i) {
        // Anywhere, in data that count or did so, and in the headers.
        const uint64_t offset = i % 3 == 0   ? random() % size
                                : i % 3 == 1 ? byte_of_data()
                                             : random() % 9000;
        damage(offset, static_cast<unsigned>(random() % 8));
        const std::string outcome = attach();
        if (outcome.starts_with("right") || outcome == "older") {
            ++outcomes[outcome];
            expect_that_it_goes_on("byte " + std::to_string(offset));
            continue;
        }
        ++outcomes["error"];
        EXPECT_TRUE(outcome.starts_with(std::to_string(CD_ERROR_STORE_DAMAGED) + " ") ||
                    outcome.starts_with(std::to_string(CD_ERROR_CHECKSUM) + " "))
            << "byte " << offset << ": " << outcome;
        EXPECT_NE(outcome.find(path()), std::string::npos) << outcome;
        EXPECT_NE(outcome.find("offset"), std::string::npos) << outcome;
    }
    EXPECT_GT(outcomes["right"], 5);
    EXPECT_GT(outcomes["error"] + outcomes["older"], 10);
    EXPECT_GT(outcomes["right, with a warning"], 20);
}

// The first byte of each header.
TEST_P(AttachedTo, AProcessGoesOnWithAStoreThatLostAHeader) {
    for (const uint64_t header : {0U, 4096U}) {
        damage(header, 0);
        const std::string outcome = attach();
        EXPECT_EQ(outcome, "right, with a warning") << "header at " << header;
        expect_that_it_goes_on("header at " + std::to_string(header));
    }
}

// A longer record than those that follow was torn: what is left of it must not come next to them.
TEST_P(AttachedTo, NothingIsWrittenNextToWhatIsLeftOfATornRecord) {
    cd::Loaded loaded;
    ASSERT_TRUE(cd::load(whole(), loaded).is_ok()) << cd::message();
    const uint64_t end = loaded.header.journal.offset + loaded.journal_used;
    for (uint64_t behind = 1; behind < 6; ++behind) {
        std::filesystem::copy_file(directory_.path("whole"), path(),
                                   std::filesystem::copy_options::overwrite_existing);
        std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(end + behind * cd::format::block));
        file << std::string(cd::format::block, 'x');
        file.close();
        for (int process = 0; process < 3; ++process) {
            ASSERT_EQ(attach(), "right") << behind << ", process " << process;
        }
    }
}

// A header that is gone may have said that there is something newer, which would have been written
// over what the other one refers to.
class AttachedToUnchecked : public AttachedTo {};
TEST_P(AttachedToUnchecked, AProcessGetsAnErrorWhenNothingTellsWhetherDataAreWhole) {
    for (const uint64_t header : {0U, 4096U}) {
        damage(header, 0);
        const std::string outcome = attach();
        EXPECT_TRUE(outcome.starts_with(std::to_string(CD_ERROR_STORE_DAMAGED) + " ")) << outcome;
        for (const std::string &part :
             {path(), std::string("checksum=none"), "header at offset " + std::to_string(header)}) {
            EXPECT_NE(outcome.find(part), std::string::npos) << outcome;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Stores, AttachedToUnchecked,
                         testing::Values(",checksum=none", ",checksum=none,keep=3"));

INSTANTIATE_TEST_SUITE_P(Stores, AttachedTo, testing::Values("", ",keep=3"), [](const auto &which) {
    return *which.param == '\0' ? "WithOnePointInTime" : "WithThree";
});

} // namespace
} // namespace damage
