// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "script.h"

namespace crash {

std::vector<model::Step> every_operation() {
    constexpr int RO = CD_READ_ONLY;
    constexpr int RW = CD_READ_WRITE;
    constexpr int root = 1;
    constexpr int first = 2;
    constexpr int second = 3;
    constexpr int grandchild = 4;
    return {
        add(root, {bytes(0, 3, RW), bytes(8, 2, RO)}),
        write(0, 40, 10),
        advance(root), // of what was just added
        add_regen(root, {bytes(64, 3, RO)}),
        add_file(root, 0),
        seek(0, 5),
        write(0, 40, 20),
        add(root, {bytes(1, 8, RW), bytes(20, 1, RW, CD_CONSTRAINED)}),
        write(0, 40, 30),
        advance(root), // in the places of the second last point in time
        child(root, first),
        add(first, {bytes(0, 2, RW), bytes(30, 4, RW), bytes(40, 2, RO)}),
        write(0, 60, 40),
        child(root, second),
        add(second, {bytes(31, 2, RO), bytes(50, 3, RW), bytes(60, 1, RW, CD_CONSTRAINED)}),
        add_parent(second, {bytes(3, 3, RW)}),
        write(0, 60, 50),
        advance(first), // gives the root what it lacks
        child(second, grandchild),
        add(grandchild, {bytes(50, 6, RW)}),
        write(0, 60, 60),
        add_regen(grandchild, {bytes(66, 3, RO)}), // the root has the first of them
        add_file(grandchild, 1),
        advance(grandchild),
        write(50, 6, 65),
        commit(grandchild),
        commit(second),
        remove(root, {bytes(2, 3, RO), bytes(50, 1, RO)}),
        commit(first),
        write(0, 70, 70),
        seek(1, 7),
        advance(root),
        child(root, first),
        add(first, {bytes(3, 50, RW)}),
        write(0, 60, 80),
        restore(root), // discards the child
        remove(root, {bytes(64, 5, RO)}),
        delete_file(root, 0),
        delete_file(root, 1),
        add(root, {bytes(0, 2, RW)}),
        write(0, 2, 90),
        advance(root),
    };
}

std::vector<model::Step> until_the_journal_is_full() {
    std::vector<model::Step> steps;
    for (int i = 0; i < 70; ++i) {
        steps.push_back(add(1, {bytes(70, 1, CD_READ_WRITE)}));
        steps.push_back(write(70, 1, i));
        steps.push_back(advance(1));
    }
    return steps;
}

} // namespace crash
