// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a restarted program does not add again, and the advance lets pass, is told.

#include "memory.h"
#include "restarting.h"

#include <algorithm>
#include <filesystem>
#include <string>

namespace restarting {
namespace {

class NotAdded : public Restarting {
protected:
    static constexpr size_t size = 8192;

    static bool name(const char *text, Memory &memory) {
        return cd_name_region(text, memory.at(), memory.size()) == CD_SUCCESS;
    }
    static bool add(cd_handle cd, Memory &memory, addr_type access = CD_READ_WRITE) {
        return Restarting::add(cd, memory.at(), memory.size(), access);
    }
    static std::string restore_and_advance(cd_handle root, int times = 1) {
        bool done = restore_cd(root) == CD_SUCCESS;
        for (int i = 0; i < times; ++i) {
            done = done && advance_cd_point_in_time(root) == CD_SUCCESS;
        }
        return done ? "" : refusal();
    }

    void store_one(const char *text, bool by_child = false) const {
        run([&]() -> std::string {
            Memory memory(size);
            if (text != nullptr) {
                name(text, memory);
            }
            cd_handle root = create();
            cd_handle holder = by_child ? child_of(root) : root;
            const bool done = add(holder, memory) &&
                              (!by_child || commit_cd(holder) == CD_SUCCESS) &&
                              advance_cd_point_in_time(root) == CD_SUCCESS;
            return done ? "" : refusal();
        });
    }

    static void expect_one_line(const std::string &said, const std::string &part) {
        EXPECT_NE(said.find("8192 bytes that this program has not added yet"), said.npos) << said;
        EXPECT_NE(said.find(part), said.npos) << said;
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    }
};

TEST_F(NotAdded, ARegionThatGotAnotherNameIsToldByTheFirstAdvance) {
    store_one("field");
    expect_one_line(said_by([&] {
                        Memory memory(size);
                        name("other", memory);
                        cd_handle root = create();
                        return add(root, memory) ? restore_and_advance(root, 2) : refusal();
                    }),
                    "region \"field\"");
}

TEST_F(NotAdded, ARangeOfTheOrderThatHasGotANameIsTold) {
    store_one(nullptr);
    expect_one_line(said_by([&] {
                        Memory memory(size);
                        name("late", memory);
                        cd_handle root = create();
                        return add(root, memory) ? restore_and_advance(root, 2) : refusal();
                    }),
                    "range 0 of the root's order");
}

// One that was bound and advanced in between is still the root's own.
TEST_F(NotAdded, ItIsToldInTheProcessAfterTheNextToo) {
    store_one("field");
    run([&] {
        Memory memory(size);
        name("field", memory);
        return restore_and_advance(create());
    });
    expect_one_line(said_by([&] { return restore_and_advance(create(), 2); }), "\"field\"");
}

TEST_F(NotAdded, NothingIsSaidWhereAllWasAddedAfterTheRestore) {
    for (const char *text : {static_cast<const char *>(nullptr), "field"}) {
        std::filesystem::remove(store());
        store_one(text);
        EXPECT_EQ(said_by([&]() -> std::string {
                      Memory memory(size);
                      cd_handle root = create();
                      if (restore_cd(root) != CD_SUCCESS) {
                          return refusal();
                      }
                      if (text != nullptr) {
                          name(text, memory);
                      }
                      return add(root, memory) && advance_cd_point_in_time(root) == CD_SUCCESS
                                 ? ""
                                 : refusal();
                  }),
                  "");
    }
}

// It waits for a child, which may come in a later step.
TEST_F(NotAdded, NothingIsSaidOfTheOrderOfChildrenAndOfRegionsThatHaveTheirNames) {
    for (const char *text : {static_cast<const char *>(nullptr), "field"}) {
        std::filesystem::remove(store());
        store_one(text, true);
        EXPECT_EQ(said_by([&]() -> std::string {
                      cd_handle root = create();
                      Memory memory(size);
                      return text == nullptr || name(text, memory) ? restore_and_advance(root, 2)
                                                                   : refusal();
                  }),
                  "");
    }
}

} // namespace
} // namespace restarting
