// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Ranges that only the order of their adds tells from others, in programs that were killed and do
// the same again.

#include "restarting.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace restarting {
namespace {

// A program, step by step. A letter is a range of memory, a small one its first half; they lie side
// by side.
//   =A1  memory is 1        ?A1  memory has to be 1
//   +AB  one add call       +[AB one range that is both      *AB  the root adds
//   ~A   add, READ_ONLY     /..  the step is refused, with the remedy
//   -A   delete                                              _A   the root deletes
//   c x  create a child, and go on in it; commit it
//   ^ !  advance the CD, or the root
//   R r  restore the CD, or the root, and go on there
//   u    nothing waits
class Program {
public:
    Program(cd_handle root, size_t where) : bytes_(8 * length + where), where_(where) {
        cds_.push_back(root);
    }

    // "" or what went wrong.
    std::string run(const std::string &steps) {
        std::istringstream words(steps);
        std::string problem;
        for (std::string word; problem.empty() && words >> word;) {
            if (!does(word)) {
                problem = word + ": " + (is_call(word) ? cd_last_error_message() : "not so");
            }
        }
        return problem;
    }

    static constexpr size_t length = 1000; // of a range that is not small

    // Anything that no call has come to yet.
    bool waits() const {
        return std::ranges::any_of(cds_, [](cd_handle each) {
            cd_info info = {};
            return cd_query(each, &info) != CD_SUCCESS || info.unbound != 0;
        });
    }

    static bool is_refused() {
        return cd_last_error() == CD_ERROR_RESTART_MISMATCH ||
               cd_last_error() == CD_ERROR_RESTART_UNBOUND ||
               cd_last_error() == CD_ERROR_HAS_CHILDREN;
    }

private:
    static bool is_call(const std::string &word) {
        return std::string("?u").find(word[0]) == std::string::npos;
    }

    bool does(const std::string &word) {
        cd_handle cd = cds_.back();
        switch (word[0]) {
        case '=':
            std::memset(at(word[1]), word[2], length_of(word[1]));
            return true;
        case '?':
            return std::all_of(at(word[1]), at(word[1]) + length_of(word[1]),
                               [&](char byte) { return byte == word[2]; });
        case '/':
            return !does(word.substr(1)) && is_refused() && names_both_sides();
        case '+':
            return add(cd, word.substr(1));
        case '~':
            return add(cd, word.substr(1), CD_READ_ONLY);
        case '*':
            return add(cds_.front(), word.substr(1));
        case '-':
            return remove(cd, word[1]);
        case '_':
            return remove(cds_.front(), word[1]);
        case 'c':
            cds_.push_back(create_cd(cd, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr));
            return cds_.back() != nullptr;
        case 'x':
            if (commit_cd(cd) != CD_SUCCESS) {
                return false;
            }
            cds_.pop_back();
            return true;
        case '^':
            return advance_cd_point_in_time(cd) == CD_SUCCESS;
        case '!':
            return advance_cd_point_in_time(cds_.front()) == CD_SUCCESS;
        case 'R':
            return restore_cd(cd) == CD_SUCCESS;
        case 'r':
            cds_.resize(1);
            return restore_cd(cds_.front()) == CD_SUCCESS;
        default:
            return !waits();
        }
    }

    static bool names_both_sides() {
        const std::string message = cd_last_error_message();
        return message.find("0-root.cds") != std::string::npos &&
               (message.find("cd_name_region") != std::string::npos ||
                message.find("CD_RESTART=no") != std::string::npos);
    }

    bool add(cd_handle cd, const std::string &letters, addr_type access = CD_READ_WRITE) {
        std::vector<cd_addrspec> list;
        if (letters[0] == '[') {
            list.push_back({at(letters[1]), (letters.size() - 1) * length, access, CD_GLOBAL});
        } else {
            for (const char letter : letters) {
                list.push_back({at(letter), length_of(letter), access, CD_GLOBAL});
            }
        }
        return add_to_cd_via_copy(cd, list.data(), static_cast<int>(list.size()), nullptr) ==
               CD_SUCCESS;
    }

    bool remove(cd_handle cd, char letter) {
        const cd_addrspec range = {at(letter), length_of(letter), CD_READ_WRITE, CD_GLOBAL};
        return delete_from_cd(cd, &range, 1) == CD_SUCCESS;
    }

    static bool is_small(char letter) { return letter >= 'a'; }
    static size_t length_of(char letter) { return is_small(letter) ? length / 2 : length; }
    char *at(char letter) {
        return &bytes_[where_ +
                       static_cast<size_t>(letter - (is_small(letter) ? 'a' : 'A')) * length];
    }

    std::vector<char> bytes_;
    size_t where_; // not the same in any two processes
    std::vector<cd_handle> cds_;
};

class Order : public Restarting {
protected:
    // Runs the programs one after the other; each is killed at its end.
    void run_programs(const std::vector<std::string> &programs) {
        std::filesystem::remove(store());
        for (size_t i = 0; i < programs.size(); ++i) {
            SCOPED_TRACE(std::to_string(i) + ": " + programs[i]);
            run([&]() -> std::string { return Program(create(), i * 24).run(programs[i]); });
        }
    }
    // Runs `first`, and then `then` three times.
    void run_again(const std::string &first, const std::string &then) {
        run_programs({first, then, then, then});
    }
};

TEST_F(Order, AChildThatSharesARangeWithTheRootFindsTheOthers) {
    const std::string fill = "=A1 =B2 =C3 =D4 +AB ";
    run_again(fill + "c +BC +D", "+AB c +BC +D R ?B2 ?C3 ?D4 u");
    run_again(fill + "c +B +B +C +D", "+AB c +B +B +C +D R ?B2 ?C3 ?D4 u");
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

// Otherwise ranges would get the bytes of others, or none.
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
    // It belongs to the point in time then, and has a place of its own.
    run_programs({"=A1 =B2 =C3 +A +B +C -B", "=B7 +A +B +C r !", "+A +B r ?A1 ?B7 +C ?C3 u !"});
    run_again("=A1 =B2 +A +B -B", "=B7 +A r +B ?A1 ?B7 u !");
}

// A later advance would otherwise reach the waiting range and overwrite its memory.
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

} // namespace
} // namespace restarting
