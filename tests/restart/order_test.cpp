// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Ranges that only the order of their adds tells from others, in programs that were killed and do
// the same again.

#include "restarting.h"
#include "stepwise_program.h"

#include <algorithm>
#include <vector>

namespace restarting {
namespace {

class Order : public Restarting {
protected:
    // One after the other; each is killed at its end.
    void run_programs(const std::vector<std::string> &programs) {
        std::filesystem::remove(store());
        for (size_t i = 0; i < programs.size(); ++i) {
            SCOPED_TRACE(std::to_string(i) + ": " + programs[i]);
            run([&]() -> std::string { return Program(create(), i * 24).run(programs[i]); });
        }
    }
    // And the last one does the same over and over.
    void run_again(const std::string &first, const std::string &then) {
        run_programs({first, then, then, then});
    }
};

TEST_F(Order, AChildThatSharesARangeWithTheRootFindsTheOthers) {
    const std::string fill = "=A1 =B2 =C3 =D4 +AB ";
    run_again(fill + "c +BC +D", "+AB c +BC +D R ?B2 ?C3 ?D4 u");
    run_again(fill + "c +CB +D", "+AB c +CB +D R ?B2 ?C3 ?D4 u");
    run_again(fill + "c +B +B +C +D", "+AB c +B +B +C +D R ?B2 ?C3 ?D4 u");
    run_again(fill + "c +B +C +D", "+AB c +B +C +D R ?B2 ?C3 ?D4 u");
    run_again(fill + "c +BAC c +CB +D", "+AB c +BAC c +CB +D R ?B2 ?C3 ?D4 u");
}

TEST_F(Order, ARootFindsWhatIsBehindARangeThatItsChildAddsFirst) {
    run_again("=A1 =B2 =C3 c +B *ABC", "c +B *ABC r ?A1 ?B2 ?C3 u");
    run_again("=A1 =B2 =C3 +ABC c +B ^", "c +B *ABC r ?A1 ?B2 ?C3 u");
}

TEST_F(Order, ARangeThatIsPartlyTheRootsIsTheChildsAsAWhole) {
    run_again("=A1 =B2 =C3 +A c +[AB +C", "+A c +[AB +C R ?A1 ?B2 ?C3 u");
    run_again("=A1 =B2 =C3 +B c +[ABC", "+B c +[ABC R ?A1 ?B2 ?C3 u");
}

TEST_F(Order, AChildsRangeIsFoundByTheProcessAfterTheNextToo) {
    run_programs({"=A1 =B2 =C3 =D4 +B c +[ABC", "+B +D", "+B +D c +[ABC R ?A1 ?B2 ?C3 u"});
    run_programs({"=A1 =B2 =C3 =D4 c +[AB *BC", "c +[AB +D", "c +[AB +D *BC r ?A1 ?B2 ?C3"});
}

TEST_F(Order, WhatIsSharedAndAddedAgainIsFoundByAProgramThatDoesSoToo) {
    run_again("=B2 =C3 =D4 +AB c +B +C -B +B +D", "+AB c +B +C -B +B +D R ?B2 ?C3 ?D4 u");
    run_programs({"=B2 +B c +B -B +B", "=B7 +B c +B /^ -B +B ^"});
}

// A child that came back is not committed before it has added what the store holds of it.
TEST_F(Order, AProgramThatDoesNotRestoreGoesThroughItsPhasesAgain) {
    run_programs({"=A1 =B2 +AB c +A x c +B", "=A1 =B2 +AB c +A x c +B x r ?A1 ?B2"});
    run_programs({"=A1 +A c +A x c +A =F6 +F", "=A1 +A c +A /x r ?A1 c +A x c +A =F6 +F x r ?A1"});
    run_programs({"c =C1 +C ^", "=C9 c +C R ?C1 -C x _C"});
}

// All that the first process left is bound, and the child goes on to add.
TEST_F(Order, WhatIsAddedAfterASharedRangeHasItsOwnPlaceInTheOrder) {
    run_programs({"=A1 =B2 +AB c +B", "=C3 +AB c +B +C", "+AB c +B +C R ?B2 ?C3 u",
                  "=D4 +AB c +B +C R ?B2 ?C3 u +D", "+AB c +B +C +D R ?B2 ?C3 ?D4 u"});
}

// The memory of another range is free for it.
TEST_F(Order, WhatIsAddedWhereASharedRangeWasDeletedIsAnother) {
    run_programs({"=A1 =B2 +AB c +B", "c +B x -B +B r ?B1"});
}

TEST_F(Order, ARangeOfWhichAPartWasDeletedKeepsItsPlace) {
    const std::string deletes = "=A1 =B2 =C3 +A +B -a ";
    run_again(deletes, "=a1 +A +B r ?A1 ?B2 u");
    run_again(deletes + "!", "=a1 +A +B r ?A1 ?B2 u !");
    run_again(deletes + "+A", "+A +B -a +A r ?A1 ?B2 u");
    run_again(deletes + "+A +C", "+A +B -a +A +C r ?A1 ?B2 ?C3 u");
    run_again(deletes + "=a4 +a", "+A +B -a +a r ?a4 ?B2 u");
    run_programs(
        {deletes + "+A", "=A7 =B8 +A +B /r ?A7 ?B8", "=A7 +A +B /r ?A7 -a /r +A r ?A1 ?B2 u"});
    run_again("=A1 =B2 =C3 +[AB +C -B", "=B2 +[AB +C r ?A1 ?B2 ?C3 u");
}

// The second element splits what the first one adds.
TEST_F(Order, ElementsOfACallThatOverlapAreTheRangesThatTheyAdd) {
    run_again("=A1 =B2 +Aa +B", "+Aa +B r ?A1 ?B2 u");
    run_again("=A1 =B2 +aA +B", "+aA +B r ?A1 ?B2 u");
    run_again("=A1 =B2 +Aa -a +B", "=a1 +Aa -a +B r ?A1 ?B2 u");
    run_again("=A1 =B2 +A c +Aa +B", "+A c +Aa +B R ?A1 ?B2 u");
}

TEST_F(Order, WhatIsDeletedAndAddedAgainIsFoundByAProgramThatDoesSoToo) {
    run_again("=A1 =B2 +A +B -A =A3 +A", "+A +B -A +A r ?A3 ?B2 u !");
    run_again("=A1 =B2 =C3 +A +B -A +C -B =A4 +A", "+A +B -A +C -B +A r ?A4 ?C3 u !");
    run_programs({"=B2 +B c =A1 +A -A =A3 +A", "+B c +A -A +A R ?A3", "+B c +A -A +A r ?A3 ?B2 u"});
    run_again("=B2 +B c =A1 +A -A =A3 +A x", "+B c +A -A +A x r ?A3 ?B2 u");
    run_again("=A1 =B2 +A +B -A +A ! -A =A3 +A", "+A +B -A +A -A +A r ?A3 ?B2 u");
}

// It would be given the bytes of other ranges, or keep what it has.
TEST_F(Order, AProgramThatAddsOnceWhatWasAddedTwiceIsRefusedInEachProcess) {
    const std::string once = "=A7 =B8 +A +B /r ?A7 ?B8 /!";
    run_programs({"=A1 =B2 +A +B -A =A3 +A", once, once, "=A7 =B8 +B +A /r ?A7 ?B8 /!", once,
                  "+A +B -A /r +A r ?A3 ?B2 u !", "+A +B -A +A r ?A3 ?B2 u"});
    run_programs({"=A1 =B2 =C3 +A +B -A +C", "=B7 =C8 +B +C /r ?B7 ?C8 /!"});
    run_programs({"=C9 +C =A1 +A -C =B2 +B", "=A7 =B8 +A +B /r ?A7 ?B8 /!"});
    run_programs({"=B2 +B c =A1 +A -A =A3 +A", "=A7 +B c +A /R ?A7 /^ /r ?A7"});
}

// Before it is restored, and after: nothing waits in its place.
TEST_F(Order, WhatWasDeletedLaterMayBeAddedAgain) {
    run_again("=A1 =B2 =C3 +A +B +C -B", "=B7 +A +B +C r ?A1 ?B7 ?C3 u !");
    run_again("=A1 =B2 +A +B -A", "=A7 +A +B r ?A7 ?B2 u");
    // It is of the point in time then, and no process asks whose place it has.
    run_programs({"=A1 =B2 =C3 +A +B +C -B", "=B7 +A +B +C r !", "+A +B r ?A1 ?B7 +C ?C3 u !"});
    run_again("=A1 =B2 +A +B -B", "=B7 +A r +B ?A1 ?B7 u !");
}

// What goes on to count would come to what waits, and have its memory written over.
TEST_F(Order, WhatIsPassedIsNotLeftBehindByAnAdvance) {
    run_programs({"=A1 +A ~C -C ~C ^", "=C7 +A r ?A1 ~C -C /! ~C u !"});
    run_programs({"=A1 =C3 +A ~C ^", "+A r ?A1 ! ! ~C ?C3 u !"}); // it comes late, and as itself
}

TEST_F(Order, WhatIsBehindADeletedRangeOfOneCallKeepsItsPlace) {
    run_again("=A1 =B2 =C3 +ABC -B", "=B2 +ABC r ?A1 ?B2 ?C3 u");
    run_again("=A1 =B2 =C3 =D4 +ABC +D -B -A", "=A1 =B2 +ABC +D r ?A1 ?B2 ?C3 ?D4 u");
    run_again("c =A1 =B2 =C3 +ABC -B", "=B2 c +ABC R ?A1 ?B2 ?C3 u");
    run_again("=A1 =B2 =C3 =D4 +ABC +D -A -B", "=A1 =B2 +AAABBBC +D r ?A1 ?B2 ?C3 ?D4 u");
}

TEST_F(Order, WhatAChildDeletesAndAddsAgainAfterAnAdvanceCountsTwice) {
    const std::string adds = "c +A -A +A +B ";
    run_again("c =A1 =B2 +A ^ -A +A +B", adds + "R ?B2 u");
}

// Ranges of the root, of which one or both halves are its child's as well: in one call each.
class ManyShared {
public:
    static constexpr size_t count = 300;

    ManyShared(cd_handle root, size_t where)
        : bytes_(count * 2 * Program::length + where), root_(root) {
        child_ = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
        for (size_t i = 0; i < count; ++i) {
            const size_t half = 8 + i % 5;
            char *const begin = &bytes_[where + i * 2 * Program::length];
            wholes_.push_back({begin, 2 * half, CD_READ_WRITE, CD_GLOBAL});
            if (i % 2 == 0) {
                halves_.push_back({begin, half, CD_READ_WRITE, CD_GLOBAL});
            }
            halves_.push_back({begin + half, half, CD_READ_WRITE, CD_GLOBAL});
        }
    }

    bool add() { return add(child_, halves_) && add(root_, wholes_); }
    void fill() const {
        for (size_t i = 0; i < count; ++i) {
            std::memset(wholes_[i].address, value(i), wholes_[i].length);
        }
    }
    bool are_restored() const {
        cd_info info = {};
        bool all = restore_cd(root_) == CD_SUCCESS && cd_query(root_, &info) == CD_SUCCESS &&
                   info.unbound == 0;
        for (size_t i = 0; all && i < count; ++i) {
            const auto *const begin = static_cast<const char *>(wholes_[i].address);
            all = std::all_of(begin, begin + wholes_[i].length,
                              [&](char byte) { return byte == value(i); });
        }
        return all;
    }

private:
    static bool add(cd_handle cd, const std::vector<cd_addrspec> &ranges) {
        return add_to_cd_via_copy(cd, ranges.data(), static_cast<int>(ranges.size()), nullptr) ==
               CD_SUCCESS;
    }
    static char value(size_t i) { return static_cast<char>(1 + i % 100); }

    std::vector<char> bytes_;
    std::vector<cd_addrspec> wholes_;
    std::vector<cd_addrspec> halves_;
    cd_handle root_;
    cd_handle child_;
};

TEST_F(Order, ManyRangesOfACallAreFound) {
    std::filesystem::remove(store());
    run([&]() -> std::string {
        ManyShared ranges(create(), 0);
        ranges.fill();
        return ranges.add() ? "" : cd_last_error_message();
    });
    run([&]() -> std::string {
        ManyShared ranges(create(), 24);
        return !ranges.add() ? cd_last_error_message() : ranges.are_restored() ? "" : "wrong";
    });
}

} // namespace
} // namespace restarting
