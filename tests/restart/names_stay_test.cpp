// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A region's name stays with its memory as long as a CD with a store holds bytes there.

#include "memory.h"
#include "restarting.h"

#include <string>

namespace restarting {
namespace {

class NamesStay : public Restarting {
protected:
    static constexpr size_t size = 8192;

    static bool name(const char *text, Memory &memory, size_t length = size) {
        return cd_name_region(text, memory.at(), length) == CD_SUCCESS;
    }
    static bool take_back(const char *text) {
        return cd_name_region(text, nullptr, 0) == CD_SUCCESS;
    }
    static bool add(cd_handle cd, Memory &memory, addr_type access = CD_READ_WRITE) {
        return Restarting::add(cd, memory.at(), memory.size(), access);
    }
    static bool remove(cd_handle cd, Memory &memory) {
        const cd_addrspec range = {memory.at(), memory.size(), CD_READ_WRITE, CD_GLOBAL};
        return delete_from_cd(cd, &range, 1) == CD_SUCCESS;
    }
    static bool advance(cd_handle cd) { return advance_cd_point_in_time(cd) == CD_SUCCESS; }

    // Returns whether "x" can neither go from `here` to `other`, nor become shorter or longer, nor
    // go.
    static bool stays(Memory &other, Memory &here) {
        const auto refused = [](bool done) {
            return !done && cd_last_error() == CD_ERROR_NAME_IN_USE;
        };
        return refused(name("x", other)) && refused(name("x", here, size / 2)) &&
               refused(name("x", here, size + 1)) && refused(take_back("x"));
    }
    static bool moves(Memory &other) { return name("x", other); }

    // Expects that a new process restores this value in "x".
    void expect(int value) const {
        run([&]() -> std::string {
            Memory memory(size);
            name("x", memory);
            cd_handle root = create();
            return restore_cd(root) != CD_SUCCESS ? refusal()
                   : memory.is(value)             ? ""
                                                  : "other data";
        });
    }

    Memory a{size}, b{size};
};

TEST_F(NamesStay, WhileARootHoldsBytesThere) {
    run([&]() -> std::string {
        a.fill(1);
        b.fill(2);
        cd_handle root = create();
        if (!name("x", a) || !Restarting::add(root, a.at(size - 1), 1)) {
            return refusal();
        }
        if (!stays(b, a)) {
            return "it went with the last byte held";
        }
        return add(root, a) && stays(b, a) && add(root, b) && advance(root) ? "" : refusal();
    });
    expect(1);
}

TEST_F(NamesStay, AndTheMessageTellsWhereAndWhatToDo) {
    run([&]() -> std::string {
        cd_handle root = create();
        name("x", a);
        add(root, a);
        moves(b);
        const std::string moved = cd_last_error_message();
        take_back("x");
        const std::string taken = cd_last_error_message();
        for (const std::string &part :
             {std::string("CD 0/root/0/0 holds bytes of \"x\" (8192 "), store(),
              std::string("it cannot name 8192 bytes at 0x"), std::string("delete_from_cd")}) {
            if (moved.find(part) == std::string::npos) {
                return "it says: " + moved;
            }
        }
        return taken.find("its name cannot be taken back") == taken.npos ? "it says: " + taken : "";
    });
}

TEST_F(NamesStay, AndGoWhereTheBytesAreDeleted) {
    run([&] {
        a.fill(1);
        b.fill(2);
        cd_handle root = create();
        name("x", a);
        return add(root, a) && advance(root) && remove(root, a) && moves(b) && add(root, b) &&
               advance(root);
    });
    expect(2);
}

TEST_F(NamesStay, OfTheSameMemoryCanBeGivenAgain) {
    run([&] {
        cd_handle root = create();
        return name("x", a) && add(root, a) && name("x", a) && add(root, a);
    });
}

// The store knows this memory by its order only.
TEST_F(NamesStay, NotWithMemoryThatWasAddedBeforeItHadOne) {
    run([&] {
        cd_handle root = create();
        return add(root, a) && name("x", a) && moves(b) && name("x", a) && take_back("x");
    });
}

TEST_F(NamesStay, NotInAForkedProcessThatCannotChangeTheStore) {
    run([&]() -> std::string {
        cd_handle root = create();
        if (!name("x", a) || !add(root, a)) {
            return refusal();
        }
        const std::string there =
            processes::in_process([&] { return moves(b) ? std::string() : refusal(); });
        return there.empty() && !stays(b, a) ? "it went here, too" : there;
    });
}

TEST_F(NamesStay, WhileAChildHoldsBytesThereUntilItIsCommittedIntoTheRootAndThatEnds) {
    run([&]() -> std::string {
        cd_handle root = create();
        cd_handle child = child_of(root);
        if (!name("x", a) || !add(child, a, CD_READ_ONLY) || !stays(b, a)) {
            return "in the child: " + refusal();
        }
        if (commit_cd(child) != CD_SUCCESS || !stays(b, a)) {
            return "in the root: " + refusal();
        }
        return commit_cd(root) == CD_SUCCESS && moves(b) ? "" : refusal();
    });
}

TEST_F(NamesStay, UntilTheChildIsGoneByARestoreOfItsParent) {
    run([&] {
        cd_handle root = create();
        cd_handle child = child_of(root);
        return name("x", a) && add(child, a) && stays(b, a) && restore_cd(root) == CD_SUCCESS &&
               moves(b);
    });
}

TEST_F(NamesStay, WhereTheNextProcessFindsTheBytesWithoutAddingThem) {
    run([&] {
        a.fill(1);
        cd_handle root = create();
        return name("x", a) && add(root, a) && advance(root);
    });
    run([&] {
        Memory now(size); // elsewhere
        name("x", now);
        cd_handle root = create();
        return stays(b, now) && restore_cd(root) == CD_SUCCESS && now.is(1) && stays(b, now);
    });
}

TEST_F(NamesStay, OnlyWithMemoryOfCdsThatHaveStores) {
    run([&] {
        cd_handle stored = create();
        cd_handle root =
            create_cd(nullptr, "store=memory", CD_COMM_LOGGING_DISABLED, "memory", nullptr);
        return name("x", a) && add(root, a) && moves(b) && add(stored, b) && stays(a, b);
    });
}

} // namespace
} // namespace restarting
