// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Chains of processes that are all killed and go on with each other's store. Each binds a part of
// what it finds, and works with that; calls fail, the disk is full now and then. The store is as it
// was before or after the call in which the last one was killed, and does not grow.
//
//     CD_CHAIN_PROCESSES=10000 CD_CHAIN_SEED=7 cd_unit_tests --gtest_filter='StoreOfManyProcesses*'

#include "../replaced_system.h"
#include "file_store/load.h"
#include "store_directory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

namespace cd {
namespace {

constexpr size_t chain_units = 1024;
constexpr size_t chain_unit = 1024; // bytes, all of one value

struct ChainUnits {
    size_t begin;
    size_t end;

    template <typename Visit> void each(const Visit &visit) const {
        for (size_t i = begin; i < end; ++i) {
            visit(i);
        }
    }
    bool all_of(const std::array<bool, chain_units> &held) const {
        return std::all_of(&held[begin], &held[0] + end, [](bool is) { return is; });
    }
};

// A root's point in time.
struct ChainPoint {
    std::array<bool, chain_units> held = {};
    std::array<bool, chain_units> read_write = {};
    std::array<unsigned char, chain_units> value = {};
};

// What the processes of a chain tell each other beside the store.
struct ChainTold {
    ChainPoint before; // the call under way
    ChainPoint after;
    bool child = false; // there may be one
    std::array<char, 400> wrong = {};
};

// Ends the process at one of the calls that change the disk, which may be full.
class ChainKiller : public ReplacedSystem {
public:
    ChainKiller(size_t calls, bool full) : calls_(calls), full_(full) {}

    void *map_file(int, size_t) override { return nullptr; } // so that all writes are calls
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        if (calls_-- == 0) {
            System::write_at(fd, from, length / 2 / 512 * 512, offset);
            ::_exit(0);
        }
        return System::write_at(fd, from, length, offset);
    }
    int allocate(int fd, off_t offset, off_t length) override {
        errno = ENOSPC;
        return full_ ? -1 : System::allocate(fd, offset, length);
    }

private:
    size_t calls_;
    bool full_;
};

struct ChainMemory {
    std::vector<char> bytes = std::vector<char>(chain_units * chain_unit, -1);

    char *at(size_t unit) { return &bytes[unit * chain_unit]; }
    void fill(size_t unit, unsigned char value) { std::memset(at(unit), value, chain_unit); }
    bool is(size_t unit, unsigned char value) {
        return std::all_of(at(unit), at(unit) + chain_unit,
                           [&](char byte) { return byte == static_cast<char>(value); });
    }
    cd_addrspec range(ChainUnits units, addr_scope scope = CD_GLOBAL) {
        return {at(units.begin), (units.end - units.begin) * chain_unit, CD_READ_WRITE, scope};
    }
    void name() { cd_name_region("memory", bytes.data(), bytes.size()); }
};

// One process of a chain.
class ChainLink {
public:
    // number: of the process. Half of them work on a little less of the memory from one to the
    // next, or from step to step.
    ChainLink(ChainTold &told, unsigned seed, bool full, size_t number)
        : told_(told), dice_(seed), full_(full), first_(number % 50 * 20),
          shrinks_(number / 50 % 2 == 1), steps_(shrinks_ && number % 10 == 9 ? 40 : 6) {}

    void run(cd_handle root) {
        root_ = root;
        expect(root != nullptr, "create");
        memory_.name();
        if (told_.child || dice_() % 3 == 0) {
            restore();
        }
        for (size_t i = 0; i < steps_; ++i) {
            if (!shrinks_) {
                step();
            } else if (!step_with_less(steps_ > 6 ? 25 * i : first_)) {
                break;
            }
        }
        if (dice_() % 2 == 0) {
            work_in_a_child();
        }
    }

private:
    void expect(bool right, const char *call) {
        if (!right) {
            std::snprintf(told_.wrong.data(), told_.wrong.size(), "%s: %d %s", call,
                          cd_last_error(), cd_last_error_message());
            ::_exit(0);
        }
    }

    void step() {
        const ChainUnits units = any_units();
        switch (dice_() % 6) {
        case 0:
        case 1:
            return add(units);
        case 2:
            return add_wrongly(units);
        case 3:
        case 4:
            add(units);
            return advance();
        default:
            return remove({units.begin, units.begin + (units.end - units.begin + 3) / 4});
        }
    }

    // What the process before was about to change has to be bound, too. False: it was not less.
    bool step_with_less(size_t begin) {
        const auto &changing = told_.before.read_write;
        const auto first = std::find(changing.begin(), changing.end(), true) - changing.begin();
        const size_t from = std::min(begin, static_cast<size_t>(first));
        add_wrongly({from, chain_units});
        add({from, chain_units});
        advance();
        return from == begin;
    }

    ChainUnits any_units() {
        const size_t begin = dice_() % (chain_units - 1);
        return {begin, begin + 1 + dice_() % (chain_units - begin - 1)};
    }

    void add(ChainUnits units) {
        ChainPoint &after = told_.after;
        units.each([&](size_t i) {
            if (!after.held[i]) {
                memory_.fill(i, after.value[i] = next_value());
            }
            after.held[i] = after.read_write[i] = true;
        });
        const cd_addrspec range = memory_.range(units);
        if (ends(add_to_cd_via_copy(root_, &range, 1) == CD_SUCCESS, "add")) {
            for (size_t i = 0; i < chain_units; ++i) { // a region is bound as a whole
                expect(bound_[i] || !restored_ || !told_.before.held[i] ||
                           memory_.is(i, told_.before.value[i]),
                       "bind");
                bound_[i] = true;
            }
        }
    }

    // What is bound by it before it fails is not bound after it.
    void add_wrongly(ChainUnits units) {
        if (!units.all_of(told_.before.held)) {
            return;
        }
        const cd_addrspec range = memory_.range(units, CD_CONSTRAINED);
        for (size_t i = 0; i < 5; ++i) {
            expect(add_to_cd_via_copy(root_, &range, 1) != CD_SUCCESS &&
                       cd_last_error() == CD_ERROR_SCOPE_FIXED,
                   "add with another scope");
        }
    }

    void advance() {
        ChainPoint &after = told_.after;
        for (size_t i = 0; i < chain_units; ++i) {
            if (after.read_write[i] && !bound_[i]) {
                expect(advance_cd_point_in_time(root_) != CD_SUCCESS &&
                           cd_last_error() == CD_ERROR_RESTART_UNBOUND,
                       "advance with less than all that changes");
                after = told_.before;
                return;
            }
            if (after.read_write[i]) {
                memory_.fill(i, after.value[i] = next_value());
            }
            after.read_write[i] = false;
        }
        ends(advance_cd_point_in_time(root_) == CD_SUCCESS, "advance");
    }

    void remove(ChainUnits units) {
        if (!units.all_of(told_.before.held) || !units.all_of(bound_)) {
            return;
        }
        units.each([&](size_t i) { told_.after.held[i] = told_.after.read_write[i] = false; });
        const cd_addrspec range = memory_.range(units);
        if (ends(delete_from_cd(root_, &range, 1) == CD_SUCCESS, "delete")) {
            units.each([&](size_t i) { bound_[i] = false; });
        }
    }

    // Whatever else there is no room for.
    void restore() {
        expect(restore_cd(root_) == CD_SUCCESS, "restore");
        told_.child = false;
        restored_ = true;
        for (size_t i = 0; i < chain_units; ++i) {
            expect(!bound_[i] || memory_.is(i, told_.before.value[i]), "restored data");
        }
    }

    // It has nothing that the root does not have.
    void work_in_a_child() {
        const size_t begin = dice_() % (chain_units - 64);
        const ChainUnits units = {begin, begin + 1 + dice_() % 63};
        if (!units.all_of(told_.before.held) || !units.all_of(bound_)) {
            return;
        }
        told_.child = true;
        cd_handle child = create_cd(root_, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
        expect(child != nullptr, "create a child");
        const cd_addrspec range = memory_.range(units);
        if (!ends(add_to_cd_via_copy(child, &range, 1) == CD_SUCCESS, "add to the child") ||
            dice_() % 2 == 0) {
            return;
        }
        units.each([&](size_t i) { told_.after.read_write[i] = true; });
        if (ends(commit_cd(child) == CD_SUCCESS, "commit")) {
            told_.child = false;
        }
    }

    // The call under way is over.
    bool ends(bool succeeded, const char *call) {
        expect(succeeded || (full_ && cd_last_error() == CD_ERROR_STORE_FULL), call);
        succeeded ? told_.before = told_.after : told_.after = told_.before;
        return succeeded;
    }

    unsigned char next_value() { return static_cast<unsigned char>(1 + dice_() % 200); }

    ChainTold &told_;
    std::mt19937 dice_;
    bool full_;
    size_t first_;
    bool shrinks_;
    size_t steps_;
    ChainMemory memory_;
    cd_handle root_ = nullptr;
    bool restored_ = false;
    std::array<bool, chain_units> bound_ = {};
};

class StoreOfManyProcesses : public StoreDirectory {
protected:
    void SetUp() override {
        StoreDirectory::SetUp();
        void *shared = ::mmap(nullptr, sizeof(ChainTold), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        told_ = new (shared) ChainTold;
    }
    void TearDown() override {
        ::munmap(told_, sizeof(ChainTold));
        StoreDirectory::TearDown();
    }

    static size_t number_from(const char *name, size_t otherwise) {
        const char *given = std::getenv(name);
        return given != nullptr ? std::strtoul(given, nullptr, 10) : otherwise;
    }

    static cd_handle create_in(const std::string &directory) {
        const std::string storage = "store=file,sync=none,dir=" + directory;
        return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
    }
    std::string judged() const { return directory_ + "/judged"; }

    // What one more process finds: 0: the root as it was before the call, 1: as after it.
    int found() const {
        std::filesystem::remove_all(judged());
        std::filesystem::create_directory(judged());
        std::filesystem::permissions(judged(), std::filesystem::perms::owner_all);
        std::filesystem::copy_file(store(), judged() + "/0-root.cds");
        return in_process([&] {
            ChainMemory memory;
            memory.name();
            cd_handle root = create_in(judged());
            if (root == nullptr || restore_cd(root) != CD_SUCCESS) {
                std::fprintf(stderr, "%s\n", cd_last_error_message());
                return 3;
            }
            const ChainPoint found = stored();
            return is(memory, found, told_->before) ? 0 : is(memory, found, told_->after) ? 1 : 2;
        });
    }

    // As told: restored to memory, and in the store as the last process left it.
    bool is(ChainMemory &memory, const ChainPoint &stored, const ChainPoint &told) const {
        if (stored.held != told.held || stored.read_write != told.read_write) {
            return false;
        }
        for (size_t i = 0; i < chain_units; ++i) {
            if (!memory.is(i, told.held[i] ? told.value[i] : 255)) {
                return false;
            }
        }
        return true;
    }

    // All but the values.
    ChainPoint stored() const {
        const File file(::open(store().c_str(), O_RDONLY | O_CLOEXEC), store());
        Loaded loaded;
        EXPECT_TRUE(load(file, loaded)) << message();
        ChainPoint point;
        for (const auto &[place, entry] : loaded.state.cds.at(State::root).entries) {
            const size_t begin = entry.key.offset / chain_unit;
            const ChainUnits units = {begin, begin + (entry.end - place.begin) / chain_unit};
            const bool read_write = entry.access == CD_READ_WRITE;
            units.each([&](size_t i) {
                point.held[i] = true;
                point.read_write[i] = read_write;
            });
        }
        return point;
    }

    // As docs/inside/format-store.md says, of all that there may be.
    static constexpr uintmax_t most() {
        constexpr uintmax_t data = chain_units * chain_unit;
        constexpr uintmax_t child = 2 * data / 16;
        constexpr uintmax_t metadata = uintmax_t{3} * (264 << 10);
        constexpr uintmax_t growth = 1 << 20;
        return 2 * data + data / 8 + child + metadata + growth;
    }

    ChainTold *told_ = nullptr;
};

TEST_F(StoreOfManyProcesses, IsAsTheLastOneLeftItAndDoesNotGrow) {
    const size_t seed = number_from("CD_CHAIN_SEED", 1);
    const size_t processes = number_from("CD_CHAIN_PROCESSES", 25);
    uintmax_t largest = 0;
    for (size_t process = 0; process < processes; ++process) {
        std::mt19937 dice(static_cast<unsigned>(seed * 1'000'000 + process));
        const bool full = process > 0 && dice() % 4 == 0;
        const size_t calls = process > 0 && dice() % 2 == 0 ? dice() % 40 : SIZE_MAX;
        const unsigned steps = dice();
        const int ended = in_process([&] {
            const ChainKiller system(calls, full);
            ChainLink(*told_, steps, full, process).run(create_in(directory_));
            return 0;
        });
        ASSERT_EQ(ended, 0) << "process " << process << ", seed " << seed;
        ASSERT_STREQ(told_->wrong.data(), "") << "process " << process << ", seed " << seed;
        const int is = found();
        ASSERT_LE(is, 1) << "process " << process << ", seed " << seed;
        (is == 0 ? told_->after : told_->before) = is == 0 ? told_->before : told_->after;
        largest = std::max(largest, std::filesystem::file_size(store()));
        ASSERT_LE(largest, most()) << "process " << process << ", seed " << seed;
    }
    std::printf("             %zu processes, at most %ju KiB of %ju\n", processes, largest >> 10,
                most() >> 10);
}

} // namespace
} // namespace cd
