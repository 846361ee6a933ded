// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// CDs may be used and end when the process does: in a function that atexit() calls, and in the
// destructor of a static object. exit() in a regen function ends the process instead of waiting
// for itself: with an argument the program ends with status 3, without one with 0.
#include "cd/cd.h"

#include <cstdlib>

namespace {

int x = 1;
bool leaving = false;
cd_handle root = nullptr;

struct AtTheEnd {
    ~AtTheEnd() {
        if (leaving) {
            return; // inside the regen function every call is refused
        }
        const cd_handle another =
            create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "late", nullptr);
        if (another == nullptr || commit_cd(CURRENT_CD) != SUCCESS) {
            std::_Exit(1);
        }
    }
} at_the_end;

void restore_and_commit() {
    x = 2;
    if (restore_cd(root) != SUCCESS || x != 1 || commit_cd(root) != SUCCESS) {
        std::_Exit(2);
    }
}

int leave(cd_addrspec[], int) {
    leaving = true;
    std::exit(3);
}

} // namespace

int main(int argc, char **) {
    root = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "root", nullptr);
    if (add_to_cd_via_copy(root, {&x, sizeof x, READ_WRITE, GLOBAL}, 1) != SUCCESS) {
        return 4;
    }
    if (argc > 1) {
        static int y = 0;
        add_to_cd_via_regen(root, {&y, sizeof y, READ_ONLY, GLOBAL}, 1, leave);
        return restore_cd(root) == SUCCESS ? 5 : 6;
    }
    return std::atexit(restore_and_commit);
}
