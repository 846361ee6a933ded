// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <vector>

namespace cd {

// What a child gives its parent, at its commit and, implicitly, at its advance. The older wins: the
// parent only gets bytes that it does not hold. Where it holds them and the child is about to
// change or has changed them, they become READ_WRITE. CONSTRAINED bytes stay behind.
//
// prepare() does all that can fail; publish() cannot. Without publish() the destructor takes
// everything back. The caller has locked parent and child.
class Handover {
public:
    enum class Kind {
        move, // the child ends: its entries become the parent's, data and all
        share // the child stays: the parent gets entries of its own and the data of before
    };

    Handover(Domain &child, Kind kind) : child_(child), parent_(*child.parent), kind_(kind) {}
    Handover(const Handover &) = delete;
    Handover &operator=(const Handover &) = delete;
    ~Handover();

    // May throw std::bad_alloc.
    void prepare();

    // share: READ_WRITE copies leave their data to the parent and have only their shadow
    // afterwards, which the caller has filled. move: the child is empty afterwards.
    void publish() noexcept;

    // share, after prepare(): whether entry's present data will be the parent's too.
    static bool gives_data(const Entry &entry) { return entry.stage == Stage::leaving; }

private:
    struct Given {
        Entry *childs;
        Entry *parents;
    };

    void prepare_entry(RangeIndex::Position &at, RangeIndex::Position &near);
    void give(Entry &entry, RangeIndex::Position &near);
    void promote_in_parent() noexcept;
    void hand_data_over() noexcept;
    void move_entries() noexcept;

    Domain &child_;
    Domain &parent_;
    Kind kind_;
    std::vector<Given> given_; // share only
    bool published_ = false;
};

} // namespace cd
