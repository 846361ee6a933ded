// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "mpi_log/log_stream.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cd {

// One CD's part of its family's MPI log: a suffix of a stream, and of the streams nested in it that
// belong to the CD's descendants.
//
// Not locked: guarded by the CD's lock; the stream itself copes with other CDs that share it.
class LogView {
public:
    // For a CD that does not log.
    LogView() = default;

    // A root's: owns the stream. spill may be null. May throw std::bad_alloc.
    static LogView of_root(std::shared_ptr<LogSpill> spill = nullptr);

    // A child's. The first of those that its parent's thread makes writes into the parent's stream;
    // the others have one of their own each, known by sibling, which continues where its last CD
    // of that name left it. A parent that is re-executed has to know it already, unless
    // another thread makes the child: the first execution may have ended before that thread came to
    // it. cd: the parent's name. May throw std::bad_alloc.
    static Status of_child(LogView &parent, LogStream::Sibling sibling, const char *cd,
                           LogView &share);

    LogView(LogView &&) = default;
    LogView &operator=(LogView &&) = default;
    ~LogView();

    bool enabled() const { return stream_ != nullptr; }
    // When the CD's point in time was, whether it logs or not, and when now is: what comes later
    // has a greater number.
    uint64_t moment() const { return moment_; }
    static uint64_t now() { return moments_.load(std::memory_order_relaxed); }
    LogStream &stream() { return *stream_; }
    const LogStream::Sibling &sibling() const { return sibling_; } // of a child's
    const std::shared_ptr<LogStream> &shared_stream() const { return stream_; }

    // Whether a restore of the CD, which is at depth, replays the entry at place.
    bool covers(int depth, const cd_log_place &place) const;

    // Calls visit with where it begins, of each stream that it replays.
    template <typename Visit> void for_each_begin(int depth, const Visit &visit) const {
        if (!enabled()) {
            return;
        }
        const auto place_in = [](const LogStream &stream, uint64_t entry) {
            return cd_log_place{stream.family(), stream.id(), entry};
        };
        visit(place_in(*stream_, std::max(begin_.entries, stream_->dropped())));
        stream_->for_each_nested(depth, [&](LogStream::Sibling, const LogStream &nested) {
            const NestedBegin *const recorded = begin_of(&nested);
            const auto &begin = recorded != nullptr ? recorded->second : nested.begin();
            visit(place_in(nested, begin.entries));
        });
    }

    // The CD's point in time is now: what lies before the cursor is forgotten, by the stream too
    // if nobody else can need it. Not to be called while descendants exist.
    // check: whether it would be wrong, because logs were left over by the re-execution, or it does
    // something else than they have;
    // cd: the CD's name.
    Status check_begin_now(int depth, const char *cd) const;
    void prepare_begin_now(int depth); // may throw std::bad_alloc; changes nothing visible
    void begin_now() noexcept;

    // The CD, a child at depth, has ended. What it was restored for and did not replay goes on in
    // the parent if they share a stream; a later sibling does not get it.
    void leave(const LogView &parent, int depth) noexcept;

    // Whether forget() would take entries from an ancestor, whose replay is still under way.
    Status check_forget(const char *cd) const;

    // The logs of which forget() takes what a replay has left; none if that of the CD has stopped,
    // as the others hold then what followed in another execution. May throw std::bad_alloc.
    std::vector<std::shared_ptr<LogStream>> in_replay(int depth) const;

    // Forgets everything, also what was still to be replayed. alone: no descendants exist, so a
    // root's entries can be freed. May throw std::bad_alloc; then nothing has changed.
    void forget(int depth, bool alone);

    // For fork; each does nothing but for a root with a LogSpill, whose functions these are.
    bool try_to_pause() noexcept;
    void resume() noexcept;
    void part_from_copy() noexcept;

    // For fork, as a root's stream has them. What has failed in part is to be resumed, too.
    bool try_to_pause_writers() noexcept;
    void resume_writers() noexcept;

    // In the new process after a fork.
    void keep_for_this_thread() noexcept;

    // Whether a replay would lack what had no room in the log. cd: the CD's name.
    Status check_nothing_lost(int depth, const char *cd) const;

    // Replay from the CD's point in time.
    void rewind(int depth) noexcept;

    // From now on another thread than the CD's home makes its children again: each counts as what
    // was made at its place in the first execution, until the point in time moves.
    void follow_order() noexcept { by_order_ = true; }

    // The CD, whose children are at depth, has a new home, which restored it. It may execute the CD
    // or have a third thread do so, so the children that others make are untold until it is seen to
    // execute it.
    void doubt_home(int depth) noexcept;
    void trust_home(int depth) noexcept; // it was
    bool doubts_home() const { return doubts_home_; }

    // Which other children are alive when one is made.
    struct Others {
        bool of_the_other_kind = false;
        bool of_other_threads = false; // matters only if other_threads_count()
    };
    bool other_threads_count() const { return by_order_ || doubts_home_; }

    // The kind of the next child, at depth. elsewhere: as its thread says, which holds unless the
    // order is followed. An error where nobody can tell. May throw std::bad_alloc.
    Status kind_of_child(int depth, const char *cd, bool beside_other_threads, bool &elsewhere);

    // A child was made; kind_of_child() was told of it.
    void made_child(int depth, bool elsewhere, const Others &others) noexcept;

    // How much the CD owns, and how much of it is still to be replayed, at one moment.
    struct Extent {
        uint64_t entries = 0;
        uint64_t bytes = 0;
        uint64_t remaining = 0;
        uint64_t in_files = 0; // of the whole family, as it lies there
    };
    Extent extent() const;

private:
    using NestedBegin = std::pair<LogStream *, LogStream::Position>;
    using OrderBegin = std::pair<ChildOrder *, uint64_t>;
    using Replay = std::pair<LogStream *, uint64_t>;

    const NestedBegin *begin_of(const LogStream *nested) const;
    uint64_t begin_of(const ChildOrder *order) const;
    void collect_begins(int depth, std::vector<NestedBegin> &begins) const;
    void collect_orders(int depth, std::vector<OrderBegin> &begins) const;
    void collect_replays(int depth, std::vector<Replay> &replays) const;
    template <typename Visit> void for_each_order(int depth, const Visit &visit) const;
    bool replays_below(int depth) const;
    Status kind_by_order(int depth, const char *cd, bool &elsewhere) const;
    void trim_all() noexcept;
    Status check_stopped(int depth, const char *cd) const;
    Status check_orphans(int depth, const char *cd) const;
    Status check_own_left(int depth, const char *cd) const;
    Status check_nested_left(int depth, const char *cd) const;

    static inline std::atomic<uint64_t> moments_ = 1;

    uint64_t moment_ = ++moments_;
    std::shared_ptr<LogSpill> spill_;   // a root's
    std::shared_ptr<LogStream> owned_;  // a root's
    std::shared_ptr<LogStream> stream_; // threads refer to it, too
    LogStream::Sibling sibling_;
    LogStream::Position begin_;
    std::vector<NestedBegin> nested_begins_; // where not the nested stream's own begin
    std::vector<NestedBegin> prepared_;
    std::vector<OrderBegin> order_begins_; // the same of the order of children
    std::vector<OrderBegin> prepared_orders_;
    bool by_order_ = false;
    bool doubts_home_ = false;
    uint64_t untold_before_ = 0; // as far as children were untold before the home was doubted
    std::vector<Replay> replays_of_ancestors_; // that were under way when the CD was created
};

} // namespace cd
