// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/log_view.h"

#include "mpi_log/spill.h"

#include <algorithm>
#include <new>
#include <utility>

namespace cd {

LogView LogView::of_root(std::shared_ptr<LogSpill> spill) {
    LogView view;
    view.owned_ = view.log_ = std::make_shared<Log>(std::move(spill));
    return view;
}

Status LogView::of_child(LogView &parent, Log::Sibling sibling, const char *cd, LogView &view) {
    LogView child;
    child.sibling_ = sibling;
    child.log_ = parent.log_;
    if (sibling.other_thread || sibling.index > 0) {
        if (!sibling.other_thread && parent.log_->find_nested(sibling) == nullptr &&
            parent.log_->replaying_for(sibling.depth - 1) && parent.log_->left() > 0) {
            return fail(
                CD_ERROR_LOG_SIBLINGS,
                "CD %s: the re-execution creates sibling %d of this thread at depth %d, which the "
                "log does not know; create the same siblings in order, or delete the log",
                cd, sibling.index, sibling.depth);
        }
        child.log_ = parent.log_->nested(sibling);
    }
    child.begin_ = child.log_->cursor();
    child.nested_begins_ = child.nested_cursors(sibling.depth);
    parent.has_children_ = true;
    view = std::move(child);
    return Status::ok();
}

LogView::~LogView() {
    if (owned_ != nullptr) {
        owned_->close();
    }
}

bool LogView::covers(int depth, const cd_log_place &place) const {
    bool covered = false;
    for_each_begin(depth, [&](const cd_log_place &begin) {
        covered = covered || (begin.stream == place.stream && begin.entry <= place.entry);
    });
    return covered;
}

Status LogView::check_begin_now(int depth, const char *cd) const {
    if (!enabled()) {
        return Status::ok();
    }
    if (Status status = check_stopped(depth, cd); !status) {
        return status;
    }
    // Entries that are left may belong to a later CD of the same depth, or of the root's thread.
    const bool is_done = owned_ != nullptr && log_->left() == 0;
    return is_done ? check_nested_left(depth, cd) : Status::ok();
}

// Behind the new point in time every call would fail, and no restore would change that.
Status LogView::check_stopped(int depth, const char *cd) const {
    const Log *stopped = log_->stopped() ? log_.get() : nullptr;
    log_->for_each_nested(depth, [&](Log::Sibling, const Log &nested) {
        stopped = stopped == nullptr && nested.stopped() ? &nested : stopped;
    });
    if (stopped == nullptr) {
        return Status::ok();
    }
    return fail(CD_ERROR_LOG_DIVERGED,
                "CD %s cannot be advanced: its re-execution did something else than the log, of "
                "which %llu entries are left; restore it or an ancestor, or delete the log "
                "(delete_MPI_log_from_cd)",
                cd, static_cast<unsigned long long>(stopped->places().remaining()));
}

// Fails if the log of a root's descendant was not replayed to its end.
Status LogView::check_nested_left(int depth, const char *cd) const {
    Status status;
    log_->for_each_nested(depth, [&](Log::Sibling sibling, const Log &nested) {
        const uint64_t left = nested.left();
        if (status.is_ok() && left > 0) {
            status = fail(CD_ERROR_LOG_SIBLINGS,
                          "CD %s: sibling %d at depth %d (counting only those of %s) has %llu log "
                          "entries that were not replayed; create the same siblings again, or "
                          "delete the log",
                          cd, sibling.index, sibling.depth,
                          sibling.other_thread ? "other threads than their parent's"
                                               : "their parent's thread",
                          static_cast<unsigned long long>(left));
        }
    });
    return status;
}

void LogView::prepare_begin_now(int depth) {
    if (enabled()) {
        prepared_ = nested_cursors(depth);
    }
}

void LogView::begin_now() noexcept {
    if (!enabled()) {
        return;
    }
    nested_begins_ = std::exchange(prepared_, {});
    has_children_ = false;
    if (owned_ != nullptr) {
        trim_all();
    }
    begin_ = log_->cursor();
}

void LogView::leave(const LogView &parent, int depth) noexcept {
    if (!enabled()) {
        return;
    }
    if (log_ != parent.log_) {
        log_->end_replay_of(depth);
    }
    log_->for_each_nested(depth, [&](Log::Sibling, Log &nested) { nested.end_replay_of(depth); });
}

Status LogView::check_forget(int depth, const char *cd) const {
    uint64_t left = log_->replaying_for(depth - 1) ? log_->places().remaining() : 0;
    log_->for_each_nested(depth, [&](Log::Sibling, const Log &nested) {
        left += nested.replaying_for(depth - 1) ? nested.places().remaining() : 0;
    });
    if (left == 0) {
        return Status::ok();
    }
    return fail(CD_ERROR_LOG_REPLAYING,
                "CD %s: an ancestor was restored and has %llu log entries left to be replayed "
                "here; get them first, or delete the ancestor's log",
                cd, static_cast<unsigned long long>(left));
}

bool LogView::replays(int depth) const {
    bool replays = log_->replaying();
    log_->for_each_nested(depth, [&](Log::Sibling, const Log &nested) {
        replays = replays || (nested.replaying() && !nested.stopped());
    });
    return replays && !log_->stopped();
}

void LogView::forget(int depth, bool alone) {
    std::vector<NestedBegin> begins = nested_cursors(depth); // other threads may add logs meanwhile
    for (auto &[nested, begin] : begins) {
        begin = nested->skip_to_end();
    }
    log_->skip_to_end();
    nested_begins_.swap(begins);
    if (owned_ != nullptr && alone) {
        trim_all();
    }
    begin_ = log_->cursor();
}

void LogView::leave_to_parent_process() noexcept {
    new (&log_) std::shared_ptr<Log>;
    new (&owned_) std::shared_ptr<Log>;
    has_children_ = false;
}

Status LogView::check_nothing_lost(int depth, const char *cd) const {
    if (!enabled()) {
        return Status::ok();
    }
    uint64_t lost = log_->lost_since(begin_);
    log_->for_each_nested(depth, [&](Log::Sibling, const Log &nested) {
        lost += nested.lost_since(begin_of(nested));
    });
    if (lost == 0) {
        return Status::ok();
    }
    return fail(
        CD_ERROR_LOG_INCOMPLETE,
        "CD %s cannot be restored: its MPI log lacks %llu entries, for which there was no room; "
        "advance it, or delete its log (delete_MPI_log_from_cd) to make the calls again",
        cd, static_cast<unsigned long long>(lost));
}

bool LogView::replays_children(int depth) const {
    bool has_entries = has_children_ && extent().entries > 0;
    if (has_children_) {
        log_->for_each_nested(depth, [&](Log::Sibling, const Log &nested) {
            has_entries = has_entries || nested.end().entries > begin_of(nested).entries;
        });
    }
    return has_entries;
}

void LogView::rewind(int depth) noexcept {
    if (!enabled()) {
        return;
    }
    log_->rewind(begin_, depth);
    log_->for_each_nested(
        depth, [&](Log::Sibling, Log &nested) { nested.rewind(begin_of(nested), depth); });
}

LogView::Extent LogView::extent() const {
    if (!enabled()) {
        return {};
    }
    const Log::Places now = log_->places();
    const Log::Position &begin = begin_.entries < now.begin.entries ? now.begin : begin_;
    return {now.end.entries - begin.entries, now.end.bytes - begin.bytes, now.remaining(),
            log_->bytes_in_files()};
}

Log::Position LogView::begin_of(const Log &nested) const {
    const auto found = std::ranges::find(nested_begins_, &nested, &NestedBegin::first);
    return found != nested_begins_.end() ? found->second : nested.begin();
}

std::vector<LogView::NestedBegin> LogView::nested_cursors(int depth) const {
    std::vector<NestedBegin> cursors;
    log_->for_each_nested(
        depth, [&](Log::Sibling, Log &nested) { cursors.emplace_back(&nested, nested.cursor()); });
    return cursors;
}

// Frees the entries before a root's point in time, which no ancestor can need.
void LogView::trim_all() noexcept {
    log_->trim(log_->cursor());
    log_->for_each_nested(0, [](Log::Sibling, Log &nested) { nested.trim(nested.cursor()); });
    nested_begins_.clear();
}

} // namespace cd
