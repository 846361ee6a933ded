// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// All checksums are right: whoever wrote that knew how to make a record, and wants to do harm.
#include "specimen.h"

#include "file_store/change_encoder.h"
#include "file_store/format.h"
#include "file_store/record.h"
#include "file_store/superblock.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace damage {
namespace {

namespace fs = std::filesystem;

constexpr long most_memory = 200L << 10; // KiB

// How much this process has taken, if that is more; else "".
std::string too_much_memory() {
    rusage used = {};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss > most_memory ? std::to_string(used.ru_maxrss) + " KiB" : "";
}

class HostileRecord : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(in_process([&] {
                      Program program(directory_.path("s"));
                      const std::string refused = program.open();
                      return refused.empty() ? program.run(2) : refused;
                  }),
                  "");
    }

    // Writes hostile changes, made from the state that the store has.
    using Write = std::function<void(const cd::State &, cd::ChangeWriter &)>;

    void append(const Write &write) const {
        const std::string path = directory_.path("s/0-root.cds");
        const cd::File file(::open(path.c_str(), O_RDWR), path);
        cd::Loaded loaded;
        ASSERT_TRUE(cd::load(file, loaded)) << cd::message();
        cd::ChangeWriter changes;
        write(loaded.state, changes);
        const cd::ByteWriter record =
            cd::encode_record(loaded.header, loaded.records, changes.bytes().bytes());
        ASSERT_TRUE(file.write(loaded.header.journal.offset + loaded.journal_used,
                               record.bytes().data(), record.size()));
    }

    // What a process says that opens the store and restores what it keeps there, taking no more
    // memory for it than usual.
    std::string restart() const {
        return in_process([&] {
            Program program(directory_.path("s"));
            const std::string refused = program.open();
            const std::string problem = refused.empty() ? program.restore() : refused;
            return problem.empty() ? too_much_memory() : problem;
        });
    }

    static cd::StoredCd child_of_root(const cd::State &state, uint64_t number, int sibling) {
        cd::StoredCd child;
        child.number = number;
        child.depth = 1;
        child.sibling = sibling;
        child.path = state.cds.at(cd::State::root).path;
        return child;
    }

    Directory directory_;
};

TEST_F(HostileRecord, WithANumberThatNothingIsCountedToIsDamage) {
    for (const uint64_t number : {UINT64_MAX, uint64_t{INT64_MAX} + 1}) {
        for (const Write &write : std::initializer_list<Write>{
                 [&](const cd::State &state, cd::ChangeWriter &changes) {
                     changes.cd(child_of_root(state, number, 90));
                 },
                 [&](const cd::State &, cd::ChangeWriter &changes) { changes.space(number); },
                 [&](const cd::State &, cd::ChangeWriter &changes) {
                     changes.name(number, {cd::format::NameKind::region, "name"});
                 },
                 [&](const cd::State &, cd::ChangeWriter &changes) {
                     changes.epoch(cd::State::root, number);
                 }}) {
            const fs::path store = directory_.path("s/0-root.cds");
            const fs::path whole = directory_.path("whole");
            fs::copy_file(store, whole);
            append(write);
            EXPECT_NE(restart().find("than any that is given"), std::string::npos) << restart();
            fs::rename(whole, store);
        }
    }
}

TEST_F(HostileRecord, WithMorePointsInTimeThanAStoreKeepsIsDamage) {
    append([](const cd::State &, cd::ChangeWriter &changes) {
        for (int i = 0; i < 1000; ++i) {
            changes.retain(UINT32_MAX);
        }
    });
    EXPECT_NE(restart().find("more points in time"), std::string::npos) << restart();
}

TEST_F(HostileRecord, WithTwoCdsOfOneIdentityIsDamage) {
    append([](const cd::State &state, cd::ChangeWriter &changes) {
        changes.cd(child_of_root(state, 1000, 90));
        changes.cd(child_of_root(state, 1001, 90));
    });
    EXPECT_NE(restart().find("two CDs are one"), std::string::npos) << restart();
}

TEST_F(HostileRecord, WithASiblingIndexThatNoProcessHasIsDamage) {
    append([](const cd::State &state, cd::ChangeWriter &changes) {
        changes.cd(child_of_root(state, 1000, 1 << 20));
    });
    EXPECT_NE(restart().find("does not fit into the family"), std::string::npos) << restart();
}

// Offset in the program of a page that the loader has made read-only.
uint64_t offset_of_read_only_data() {
    uint64_t found = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *into) {
            for (size_t i = 0; i < info->dlpi_phnum; ++i) {
                if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
                    *static_cast<uint64_t *>(into) = info->dlpi_phdr[i].p_vaddr;
                }
            }
            return 1; // the program is the first
        },
        &found);
    return found;
}

TEST_F(HostileRecord, ThatPutsAnEntryIntoWhatTheLoaderMadeReadOnlyIsRefused) {
    ASSERT_NE(offset_of_read_only_data(), 0U);
    append([](const cd::State &state, cd::ChangeWriter &changes) {
        const auto &entries = state.cds.at(cd::State::root).entries;
        const auto of_program = std::ranges::find_if(entries, [&](const auto &entry) {
            return state.names.at(entry.second.key.name).kind == cd::format::NameKind::program;
        });
        ASSERT_NE(of_program, entries.end());
        cd::StoredEntry entry = of_program->second;
        entry.key.offset = offset_of_read_only_data();
        changes.space(of_program->first.space);
        const auto data = changes.run(entry.run->offset, entry.run->length, entry.run->checksums);
        changes.hold(cd::State::root, {of_program->first.begin, entry.end},
                     {entry.access, entry.scope, entry.restoration}, entry.key, data);
    });
    EXPECT_NE(restart().find("are not writable in this process"), std::string::npos) << restart();
}

// The empty beginning of a store is no older point in time to go back to.
TEST(FirstRecord, ThatIsDamagedIsAnErrorAndNotTheBeginning) {
    Specimen store(3, 1);
    const uint64_t at = store.loaded().header.journal.offset + 60;
    std::byte byte{};
    ASSERT_TRUE(store.file().read(at, &byte, 1));
    byte ^= std::byte{1};
    store.put(at, &byte, 1);
    cd::Loaded loaded;
    EXPECT_EQ(cd::load(store.file(), loaded).code(), CD_ERROR_STORE_DAMAGED);
    EXPECT_NE(std::string(cd::message()).find("there is nothing before it"), std::string::npos)
        << cd::message();
}

} // namespace
} // namespace damage
