// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <vector>

namespace cd {

// Which ancestors of a CD the caller has locked besides the CD.
enum class Locked { parent, ancestors };

// What a child gives its parent, at its commit and, implicitly, at its advance. The older wins: the
// parent only gets bytes that it does not hold. CONSTRAINED bytes stay behind. Bytes that the child
// is about to change or has changed and does not give become READ_WRITE in the nearest ancestor
// that holds them as COPY or PARENT.
//
// prepare() does all that can fail; publish() cannot. Without publish() the destructor takes
// everything back.
class GiveToParent {
public:
    enum class Kind {
        move, // the child ends: its entries become the parent's, data and all
        share // the child stays: the parent gets entries of its own and the data of before
    };

    GiveToParent(Domain &child, Kind kind) : child_(child), parent_(*child.parent), kind_(kind) {}
    GiveToParent(const GiveToParent &) = delete;
    GiveToParent &operator=(const GiveToParent &) = delete;
    ~GiveToParent();

    // False: bytes above the parent are concerned, so all ancestors have to be locked. Must not be
    // published then. May throw std::bad_alloc.
    [[nodiscard]] bool prepare(Locked locked);

    // After prepare(), for CDs that outlive the process: what publish() will do.
    void write_down(Transaction &transaction) const;

    // share: READ_WRITE copies leave their data to the parent and have only their next data
    // afterwards, which the caller has filled. move: the child is empty afterwards.
    void publish() noexcept;

    // share, after prepare(): whether entry's present data will be the parent's too.
    static bool gives_data(const Entry &entry) { return entry.stage == Stage::leaving; }

private:
    struct Given {
        Entry *childs;
        Entry *parents;
    };
    struct Promotion {
        Domain *holder;
        Range range;
    };

    bool gives_files() const { return child_.files.size() + child_.pending_files.size() > 0; }
    void prepare_files();
    void prepare_entry(RangeIndex::Position &at, RangeIndex::Position &near);
    void give(Entry &entry, RangeIndex::Position &near);
    void pass_on(Range range);
    void prepare_above_parent();
    void promote_in_parent() noexcept;
    void promote_above_parent() noexcept;
    void hand_data_over() noexcept;
    void move_entries() noexcept;

    Domain &child_;
    Domain &parent_;
    Kind kind_;
    std::vector<Given> given_;     // share only
    std::vector<Range> passed_on_; // changed bytes that the parent neither gets nor can promote
    std::vector<Promotion> above_parent_;
    FileTable files_; // that the parent will have
    std::vector<FilePosition> pending_files_;
    bool published_ = false;
};

} // namespace cd
