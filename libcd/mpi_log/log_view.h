// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "mpi_log/log.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cd {

// The suffix of a log that one CD owns, with the logs nested in it that belong to the CD's
// descendants.
//
// Not locked: guarded by the CD's lock. The log itself may be shared with other CDs.
class LogView {
public:
    // Makes the view of a CD that does not log.
    LogView() = default;

    // Makes the view of a root, which owns the log. spill may be null. May throw std::bad_alloc.
    static LogView of_root(std::shared_ptr<LogSpill> spill = nullptr);

    // Makes the view of a child. The first child of the parent's thread shares the parent's log.
    // Each other child has a nested log, known by sibling, and continues it where the last CD of
    // that name ended. Fails if the parent is re-executed and its thread creates a sibling that the
    // log does not know. cd: the parent's name. May throw std::bad_alloc.
    static Status of_child(LogView &parent, Log::Sibling sibling, const char *cd, LogView &view);

    LogView(LogView &&) = default;
    LogView &operator=(LogView &&) = default;
    ~LogView();

    bool enabled() const { return log_ != nullptr; }
    Log &log() { return *log_; }
    const Log::Sibling &sibling() const { return sibling_; } // of a child
    const std::shared_ptr<Log> &shared_log() const { return log_; }

    // True if a restore of the CD, which is at depth, replays the entry at place.
    bool covers(int depth, const cd_log_place &place) const;

    // Calls visit with the begin of each log that a restore replays.
    template <typename Visit> void for_each_begin(int depth, const Visit &visit) const {
        if (!enabled()) {
            return;
        }
        visit(cd_log_place{log_->family(), log_->id(), std::max(begin_.entries, log_->dropped())});
        log_->for_each_nested(depth, [&](Log::Sibling, const Log &nested) {
            visit(cd_log_place{nested.family(), nested.id(), begin_of(nested).entries});
        });
    }

    // An advance: check, prepare, then begin_now() moves the CD's point in time to the cursor and
    // frees what no ancestor needs. No descendants exist meanwhile. cd: the CD's name.
    // Fails if the re-execution left entries or did something else than the log has.
    Status check_begin_now(int depth, const char *cd) const;
    void prepare_begin_now(int depth); // may throw std::bad_alloc; changes nothing visible
    void begin_now() noexcept;

    // Ends the CD, a child at depth. Entries that its own restore did not replay go on in the
    // parent if they share a log; otherwise an ancestor's restore replays them.
    void leave(const LogView &parent, int depth) noexcept;

    // Fails if forget() would take entries that an ancestor's replay still needs.
    Status check_forget(int depth, const char *cd) const;

    // True if forget() ends a replay; false if that of the CD's own log has stopped.
    bool replays(int depth) const;

    // Forgets all entries, and ends a replay. alone: no descendants exist, so a root frees the
    // entries. May throw std::bad_alloc; then nothing has changed.
    void forget(int depth, bool alone);

    // In a forked process: the CD logs no more. Leaks the log, which another thread may have been
    // changing.
    void leave_to_parent_process() noexcept;

    // Fails if a replay would lack entries that found no room. cd: the CD's name.
    Status check_nothing_lost(int depth, const char *cd) const;

    // True if the log has entries, and some may be of children since the CD's point in time.
    bool replays_children(int depth) const;

    // Begins a replay at the CD's point in time.
    void rewind(int depth) noexcept;

    // The size of what the CD owns, at one moment.
    struct Extent {
        uint64_t entries = 0;
        uint64_t bytes = 0;
        uint64_t remaining = 0; // entries still to be replayed
        uint64_t in_files = 0;  // bytes of the whole family
    };
    Extent extent() const;

private:
    using NestedBegin = std::pair<Log *, Log::Position>;

    Log::Position begin_of(const Log &nested) const;
    std::vector<NestedBegin> nested_cursors(int depth) const;
    void trim_all() noexcept;
    Status check_stopped(int depth, const char *cd) const;
    Status check_nested_left(int depth, const char *cd) const;

    std::shared_ptr<Log> owned_; // of a root
    std::shared_ptr<Log> log_;   // threads refer to it, too
    Log::Sibling sibling_;
    Log::Position begin_;
    std::vector<NestedBegin> nested_begins_; // if not the nested log's own begin
    std::vector<NestedBegin> prepared_;
    bool has_children_ = false; // has, or had one since its point in time
};

} // namespace cd
