// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <vector>

namespace cd {

// The ancestors that the caller has locked besides the CD.
enum class Locked { parent, ancestors };

// Gives entries of a child to its parent, at the child's commit and, implicitly, at its advance.
// The older data win: the parent gets only bytes that it does not hold. CONSTRAINED bytes stay
// behind. READ_WRITE bytes that the child does not give become READ_WRITE in the nearest ancestor
// that holds them as COPY or PARENT.
//
// prepare() does all that can fail, and publish() cannot fail. Without publish() the destructor
// takes everything back.
class GiveToParent {
public:
    enum class Kind {
        move, // the child ends: its entries become the parent's, with their data
        share // the child stays: the parent gets entries of its own with the child's old data
    };

    GiveToParent(Domain &child, Kind kind) : child_(child), parent_(*child.parent), kind_(kind) {}
    GiveToParent(const GiveToParent &) = delete;
    GiveToParent &operator=(const GiveToParent &) = delete;
    ~GiveToParent();

    // Returns false if entries above the parent have to change, and only the parent is locked. Then
    // publish() must not be called. May throw std::bad_alloc.
    [[nodiscard]] bool prepare(Locked locked);

    // Adds to the transaction what publish() will do. Call it after prepare().
    void write_down(Transaction &transaction) const;

    // share: READ_WRITE copies leave their data to the parent and keep their next data, which the
    // caller has filled. move: the child is empty afterwards.
    void publish() noexcept;

    // True if share will give the entry's present data to the parent. Valid after prepare().
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
    std::vector<Range> passed_on_; // READ_WRITE bytes that the parent neither gets nor can promote
    std::vector<Promotion> above_parent_;
    FileTable files_; // the parent's after publish()
    std::vector<FilePosition> pending_files_;
    bool published_ = false;
};

} // namespace cd
