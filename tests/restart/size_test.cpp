// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// How large a store becomes; docs/inside/format-store.md says how large it may.

#include "restarting.h"

#include "content.h"

#include <algorithm>
#include <set>

namespace restarting {
namespace {

class Size : public Restarting {
protected:
    std::string bytes() const { return scratch::content(store()); }

    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto &entry : std::filesystem::directory_iterator(directory_)) {
            names.insert(entry.path().filename());
        }
        return names;
    }
};

// READ_WRITE and READ_ONLY bytes, and children that come and go.
std::string iterate(cd_handle root, std::vector<char> &changing, std::vector<char> &constant,
                    int advances) {
    const cd_addrspec list[] = {{changing.data(), changing.size(), CD_READ_WRITE, CD_GLOBAL},
                                {constant.data(), constant.size(), CD_READ_ONLY, CD_GLOBAL}};
    const cd_addrspec part = {changing.data(), changing.size() / 3, CD_READ_WRITE, CD_GLOBAL};
    for (int i = 0; i < advances; ++i) {
        cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
        if (add_to_cd_via_copy(root, list, 2, nullptr) != CD_SUCCESS ||
            add_to_cd_via_copy(child, &part, 1, nullptr) != CD_SUCCESS ||
            commit_cd(child) != CD_SUCCESS || advance_cd_point_in_time(root) != CD_SUCCESS) {
            return cd_last_error_message();
        }
    }
    return "";
}

TEST_F(Size, IsTwiceTheDataAndWhatTheMetadataNeedHoweverOftenTheStoreAdvances) {
    constexpr size_t changing_size = 600 * kib;
    constexpr size_t constant_size = 900 * kib;
    for (const int keep : {1, 3}) {
        run([&]() -> std::string {
            std::vector<char> changing(changing_size);
            std::vector<char> constant(constant_size);
            cd_handle root = create(",sync=none,keep=" + std::to_string(keep));
            std::string wrong = iterate(root, changing, constant, 10);
            const uintmax_t early = size();
            wrong = wrong.empty() ? iterate(root, changing, constant, 2000) : wrong;
            const uintmax_t data = (keep + 1) * changing_size + constant_size;
            const uintmax_t child = 2 * changing_size / 3;
            const uintmax_t metadata = 2 * 2 * 256 * kib;
            const uintmax_t growth = 1024 * kib;
            const uintmax_t most = data + child + metadata + growth;
            return !wrong.empty()  ? wrong
                   : size() > most ? std::to_string(size()) + " instead of " + std::to_string(most)
                   : size() > early + early / 2
                       ? "it grows from " + std::to_string(early) + " to " + std::to_string(size())
                       : "";
        });
        std::filesystem::remove(store());
    }
}

// An add and an advance of all of them are two records that are nearly a snapshot each.
TEST_F(Size, MetadataOfManySmallEntriesMoveOnceForEachAdvanceAndNoOftener) {
    constexpr int rounds = 12;
    run([&]() -> std::string {
        std::vector<char> memory(20'000 * size_t{128});
        std::vector<cd_addrspec> list;
        for (size_t at = 0; at < memory.size(); at += 128) {
            list.push_back({&memory[at], 64, CD_READ_WRITE, CD_GLOBAL});
        }
        cd_handle root = create();
        for (int i = 0; i < rounds; ++i) {
            if (add_to_cd_via_copy(root, list.data(), static_cast<int>(list.size()), nullptr) !=
                    CD_SUCCESS ||
                advance_cd_point_in_time(root) != CD_SUCCESS) {
                return refusal();
            }
        }
        const std::string all = bytes();
        const auto byte = [&](size_t at) { return static_cast<unsigned char>(all[at]); };
        const int generation = std::max(byte(28), byte(4096 + 28));
        return generation <= rounds + 6 ? "" : "generation " + std::to_string(generation);
    });
}

TEST_F(Size, DoesNotGrowWithTheNumberOfProcesses) {
    uintmax_t early = 0;
    for (int process = 0; process < 150; ++process) {
        run([&]() -> std::string {
            std::vector<char> changing(20 * kib);
            std::vector<char> constant(20 * kib);
            return iterate(create(), changing, constant, 2);
        });
        early = process == 0 ? size() : early;
    }
    EXPECT_EQ(size(), early);
    EXPECT_EQ(early, (1024 + 8) * kib); // one step that the file grows by, and the headers
}

TEST_F(Size, DoesNotGrowWithNamesThatNothingHasAnyMore) {
    uintmax_t early = 0;
    run([&]() -> std::string {
        std::vector<char> memory(100);
        cd_handle root = create();
        for (int i = 0; i < 5000; ++i) {
            const std::string name = "step " + std::to_string(i) + std::string(150, '.');
            cd_name_region(name.c_str(), memory.data(), memory.size());
            const cd_addrspec range = {memory.data(), memory.size(), CD_READ_WRITE, CD_GLOBAL};
            if (!add(root, memory.data(), memory.size()) ||
                delete_from_cd(root, &range, 1) != CD_SUCCESS) {
                return refusal();
            }
            cd_name_region(name.c_str(), nullptr, 0);
            early = i == 500 ? size() : early;
        }
        return size() <= early ? "" : std::to_string(early) + " to " + std::to_string(size());
    });
}

TEST_F(Size, AndContentOfTheFileStayWhenItIsOpenedAndRestored) {
    run([&]() -> std::string {
        std::vector<char> changing(20 * kib, 'a');
        std::vector<char> constant(20 * kib, 'b');
        return iterate(create(), changing, constant, 3);
    });
    const std::string before = bytes();
    for (int process = 0; process < 5; ++process) {
        run([&] {
            std::vector<char> changing(20 * kib);
            std::vector<char> constant(20 * kib);
            const cd_addrspec list[] = {
                {changing.data(), changing.size(), CD_READ_ONLY, CD_GLOBAL},
                {constant.data(), constant.size(), CD_READ_ONLY, CD_GLOBAL}};
            cd_handle root = create();
            return add_to_cd_via_copy(root, list, 2, nullptr) == CD_SUCCESS &&
                   restore_cd(root) == CD_SUCCESS && changing[5] == 'a' && constant[5] == 'b';
        });
        EXPECT_EQ(bytes() == before, true) << "process " << process;
    }
}

TEST_F(Size, OfTheDirectoryIsOneFileAndWhatWasInterruptedGoesWhenItIsOpened) {
    run([&] { return create() != nullptr; });
    for (const char *left : {".0-root.cds.new", ".0-root.cds.gone"}) {
        std::ofstream(path(left)) << "left";
    }
    run([&] { return create() != nullptr; });
    EXPECT_EQ(files(), std::set<std::string>{"0-root.cds"});
}

} // namespace
} // namespace restarting
