// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/log_view.h"

#include "mpi_log/spill.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cd {
namespace {

const char *kind_of(const LogStream::Sibling &sibling) {
    return sibling.elsewhere ? "other threads than their parent's" : "their parent's thread";
}

} // namespace

LogView LogView::of_root(std::shared_ptr<LogSpill> spill) {
    LogView share;
    share.owned_ = share.stream_ = std::make_shared<LogStream>(spill);
    share.spill_ = std::move(spill);
    return share;
}

Status LogView::of_child(LogView &parent, LogStream::Sibling sibling, const char *cd,
                         LogView &share) {
    LogView child;
    child.sibling_ = sibling;
    child.stream_ = parent.stream_;
    if (sibling.elsewhere || sibling.index > 0) {
        const auto known = parent.stream_->find_nested(sibling);
        if (const uint64_t left = known != nullptr ? known->orphaned() : 0; left > 0) {
            return fail(CD_ERROR_LOG_SIBLINGS,
                        "CD %s: the last sibling %d at depth %d (counting only those of %s), whose "
                        "log a new child would go on with, was restored and then ended with %llu "
                        "entries unread; restore its parent or an ancestor, or delete that one's "
                        "log",
                        cd, sibling.index, sibling.depth, kind_of(sibling),
                        static_cast<unsigned long long>(left));
        }
        if (!sibling.elsewhere && known == nullptr &&
            parent.stream_->replaying_for(sibling.depth - 1) && parent.stream_->left() > 0) {
            return fail(CD_ERROR_LOG_SIBLINGS,
                        "CD %s: the re-execution creates sibling %d at depth %d (not counting "
                        "those of other threads), which the log that is being replayed does not "
                        "know; create the same siblings in the same order, or delete the log of "
                        "the CD that was restored",
                        cd, sibling.index, sibling.depth);
        }
        child.stream_ = parent.stream_->nested(sibling);
        // Other threads' children may follow each other in another order.
        if (!child.stream_->take_resident() && !sibling.elsewhere) {
            return fail(CD_ERROR_LOG_SIBLINGS,
                        "CD %s: in the log that is being replayed no sibling %d at depth %d (not "
                        "counting those of other threads) begins here: the one before ended with "
                        "entries of its own unread; restore an ancestor again, or delete its log",
                        cd, sibling.index, sibling.depth);
        }
    }
    child.begin_ = child.stream_->cursor();
    child.collect_begins(sibling.depth, child.nested_begins_);
    child.collect_orders(sibling.depth, child.order_begins_);
    child.collect_replays(sibling.depth, child.replays_of_ancestors_);
    share = std::move(child);
    return Status::ok();
}

LogView::~LogView() {
    if (owned_ != nullptr) {
        owned_->close();
    }
    if (spill_ != nullptr) {
        spill_->stop();
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
    if (Status status = check_orphans(depth, cd); !status) {
        return status;
    }
    // Below a root what is left may belong to a later CD of the same depth.
    if (owned_ == nullptr) {
        return Status::ok();
    }
    return stream_->left() > 0 ? check_own_left(depth, cd) : check_nested_left(depth, cd);
}

// Behind the new point in time no call could be answered, and no restore would change that.
Status LogView::check_stopped(int depth, const char *cd) const {
    const LogStream *stopped = stream_->stopped() ? stream_.get() : nullptr;
    stream_->for_each_nested(depth, [&](LogStream::Sibling, const LogStream &nested) {
        stopped = stopped == nullptr && nested.stopped() ? &nested : stopped;
    });
    if (stopped == nullptr) {
        return Status::ok();
    }
    return fail(CD_ERROR_LOG_DIVERGED,
                "CD %s cannot be advanced: its re-execution did something else than the log has, "
                "of which %llu entries are left, and every later call that the log has fails; "
                "restore CD %s or an ancestor, or forget the log of the CD that was restored "
                "(delete_MPI_log_from_cd)",
                cd, static_cast<unsigned long long>(stopped->places().remaining()), cd);
}

// A restore would replay them to who did not log them.
Status LogView::check_orphans(int depth, const char *cd) const {
    Status status;
    stream_->for_each_nested(depth, [&](LogStream::Sibling sibling, const LogStream &nested) {
        if (const uint64_t left = nested.orphaned(); status.is_ok() && left > 0) {
            status = fail(CD_ERROR_LOG_SIBLINGS,
                          "CD %s: sibling %d at depth %d (counting only those of %s) was restored "
                          "and then ended with %llu entries of its log unread; restore CD %s or an "
                          "ancestor, or delete its log",
                          cd, sibling.index, sibling.depth, kind_of(sibling),
                          static_cast<unsigned long long>(left), cd);
        }
    });
    return status;
}

// Of a root. What is left may still come, unless another thread's child, which may as well have
// been made by the parent's thread before, has gone on without it: a later child would get it.
Status LogView::check_own_left(int depth, const char *cd) const {
    Status status;
    if (stream_->replaying_for(depth)) {
        stream_->for_each_nested(depth, [&](LogStream::Sibling sibling, const LogStream &nested) {
            if (status.is_ok() && nested.elsewhere() && nested.grown_since_mark()) {
                status = fail(CD_ERROR_LOG_SIBLINGS,
                              "CD %s: %llu log entries were not replayed, while sibling %d at "
                              "depth %d (counting only those of %s) logged new ones: what the "
                              "parent's thread made in the first execution another one made now; "
                              "let the same thread make it, or delete the log",
                              cd, static_cast<unsigned long long>(stream_->places().remaining()),
                              sibling.index, sibling.depth, kind_of(sibling));
            }
        });
    }
    return status;
}

// Of a root.
Status LogView::check_nested_left(int depth, const char *cd) const {
    Status status;
    stream_->for_each_nested(depth, [&](LogStream::Sibling sibling, LogStream &nested) {
        const uint64_t left = nested.left();
        if (status.is_ok() && left > 0) {
            status = fail(CD_ERROR_LOG_SIBLINGS,
                          "CD %s: sibling %d at depth %d (counting only those of %s) left "
                          "%llu log entries that were not replayed: the re-execution created "
                          "other siblings; create the same ones, or delete the log",
                          cd, sibling.index, sibling.depth, kind_of(sibling),
                          static_cast<unsigned long long>(left));
        }
    });
    return status;
}

void LogView::prepare_begin_now(int depth) {
    prepared_.clear();
    if (enabled()) {
        collect_begins(depth, prepared_);
        prepared_orders_.clear();
        collect_orders(depth, prepared_orders_);
    }
}

void LogView::begin_now() noexcept {
    moment_ = ++moments_;
    if (!enabled()) {
        return;
    }
    nested_begins_.swap(prepared_);
    prepared_.clear();
    order_begins_.swap(prepared_orders_);
    prepared_orders_.clear();
    if (owned_ != nullptr) {
        trim_all();
    }
    by_order_ = by_order_ && replays_below(sibling_.depth);
    begin_ = stream_->cursor();
}

void LogView::leave(const LogView &parent, int depth) noexcept {
    if (!enabled()) {
        return;
    }
    if (stream_ != parent.stream_) {
        stream_->orphan(depth);
    }
    stream_->for_each_nested(depth,
                             [&](LogStream::Sibling, LogStream &nested) { nested.orphan(depth); });
    const bool live = !replays_below(depth);
    stream_->with_order(depth + 1, [&](ChildOrder &order) {
        if (order.cursor() > begin_of(&order)) {
            order.take(ChildOrder::Event::end, live);
        }
    });
}

Status LogView::check_forget(const char *cd) const {
    for (const auto &[stream, replay] : replays_of_ancestors_) {
        if (stream->replay() == replay) {
            return fail(CD_ERROR_LOG_REPLAYING,
                        "CD %s: an ancestor was restored and %llu entries of its log are left to "
                        "be replayed here, which would be lost to it; get them first, or delete "
                        "the ancestor's log",
                        cd, static_cast<unsigned long long>(stream->places().remaining()));
        }
    }
    return Status::ok();
}

void LogView::forget(int depth, bool alone) {
    // Before anything changes; what other threads make from now on stays.
    std::vector<NestedBegin> begins;
    collect_begins(depth, begins);
    size_t order_count = 0;
    for_each_order(depth, [&order_count](const ChildOrder &) { ++order_count; });
    std::vector<OrderBegin> order_begins;
    order_begins.reserve(order_count);

    for (auto &[nested, begin] : begins) {
        begin = nested->skip_to_end();
    }
    const bool live = !replays_below(depth);
    for_each_order(depth, [&](ChildOrder &order) {
        if (order_begins.size() == order_begins.capacity()) {
            return;
        }
        if (live) {
            order.settle();
        }
        order.set_cursor(order.end());
        order_begins.emplace_back(&order, order.end());
    });
    order_begins_.swap(order_begins);
    stream_->skip_to_end();
    nested_begins_.swap(begins);
    if (owned_ != nullptr && alone) {
        trim_all();
    }
    begin_ = stream_->cursor();
}

Status LogView::check_nothing_lost(int depth, const char *cd) const {
    if (!enabled()) {
        return Status::ok();
    }
    uint64_t lost = stream_->lost_since(begin_);
    stream_->for_each_nested(depth, [&](LogStream::Sibling, const LogStream &nested) {
        const NestedBegin *recorded = begin_of(&nested);
        lost += nested.lost_since(recorded != nullptr ? recorded->second : nested.begin());
    });
    if (lost == 0) {
        return Status::ok();
    }
    return fail(CD_ERROR_LOG_INCOMPLETE,
                "CD %s cannot be restored: its MPI log lacks %llu entries, for which there was no "
                "room, and a re-execution would get later messages in their place; advance it, or "
                "delete its log (delete_MPI_log_from_cd) if its calls can be made once more",
                cd, static_cast<unsigned long long>(lost));
}

void LogView::rewind(int depth) noexcept {
    if (!enabled()) {
        return;
    }
    const bool begins = owned_ != nullptr && !stream_->replaying_for(depth);
    stream_->rewind(begin_, depth);
    stream_->for_each_nested(depth, [&](LogStream::Sibling, LogStream &nested) {
        const NestedBegin *recorded = begin_of(&nested);
        nested.rewind(recorded != nullptr ? recorded->second : nested.begin(), depth);
        if (begins) {
            nested.mark_end();
        }
    });
    for_each_order(depth, [&](ChildOrder &order) { order.set_cursor(begin_of(&order)); });
}

bool LogView::replays_below(int depth) const {
    bool replays = stream_->replaying();
    stream_->for_each_nested(depth, [&](LogStream::Sibling, const LogStream &nested) {
        replays = replays || nested.replaying();
    });
    return replays;
}

void LogView::doubt_home(int depth) noexcept {
    if (enabled()) {
        doubts_home_ = true;
        untold_before_ = 0;
        stream_->with_order(
            depth, [&](const ChildOrder &order) { untold_before_ = order.untold_until(); });
    }
}

void LogView::trust_home(int depth) noexcept {
    if (std::exchange(doubts_home_, false)) {
        stream_->with_order(depth, [&](ChildOrder &order) { order.tell_from(untold_before_); });
    }
}

Status LogView::kind_of_child(int depth, const char *cd, bool beside_other_threads,
                              bool &elsewhere) {
    const uint64_t untold = stream_->make_room_in_order(depth);
    if ((!by_order_ && untold == 0) || !replays_below(depth - 1)) {
        return Status::ok();
    }
    // The order says it, or the same threads are in the same places as before: the CD is the one
    // that was restored by another.
    bool told = by_order_ || (doubts_home_ && elsewhere);
    stream_->with_order(depth, [&](const ChildOrder &order) {
        const bool by_chance = beside_other_threads || order.untold_beside();
        told = told && !(order.untold_next() && by_chance);
    });
    if (untold == 0 || told) {
        return by_order_ ? kind_by_order(depth, cd, elsewhere) : Status::ok();
    }
    return fail(CD_ERROR_LOG_SIBLINGS,
                "CD %s: which logs its next children at depth %d are to get cannot be told: it, or "
                "the CD in its place in the first execution, was restored by a thread that neither "
                "logged nor made a child in it, while others made some, the last of which is %llu "
                "events ahead; delete the log of the CD that was restored now, and let the thread "
                "restore a CD that executes it again",
                cd, depth, static_cast<unsigned long long>(untold));
}

Status LogView::kind_by_order(int depth, const char *cd, bool &elsewhere) const {
    using Event = ChildOrder::Event;
    std::optional<Event> known;
    bool beside = false;
    stream_->with_order(depth, [&](const ChildOrder &order) {
        known = order.next();
        beside = order.beside();
    });
    if (!known) {
        return Status::ok();
    }
    if (known == Event::home || known == Event::elsewhere) {
        const bool was_elsewhere = known == Event::elsewhere;
        if (!beside || was_elsewhere == elsewhere) {
            elsewhere = was_elsewhere;
            return Status::ok();
        }
        return fail(CD_ERROR_LOG_SIBLINGS,
                    "CD %s was restored by another thread than had made it, and in its first "
                    "execution %s made the next child, while children of both kinds were alive: "
                    "this thread would be %s; let the thread that made it restore it, or one that "
                    "takes its place and makes the same siblings in the same order; or restore an "
                    "ancestor, or delete its log",
                    cd, was_elsewhere ? "another thread" : "the thread that had made it",
                    elsewhere ? "another one" : "in the place of that which had made it");
    }
    return fail(CD_ERROR_LOG_SIBLINGS,
                "CD %s was restored by another thread than had made it, and which of the logs of "
                "its children belongs to the next one cannot be told, since a re-execution made "
                "others than the one before; restore an ancestor, or delete its log",
                cd);
}

void LogView::made_child(int depth, bool elsewhere, const Others &others) noexcept {
    const auto event = elsewhere ? ChildOrder::Event::elsewhere : ChildOrder::Event::home;
    std::optional<ChildOrder::Event> known;
    stream_->with_order(depth, [&](ChildOrder &order) {
        if (others.of_the_other_kind) {
            order.mark_beside();
        }
        known = order.next();
    });
    const bool live = known.value_or(event) != event && !replays_below(depth - 1);
    const bool untold = doubts_home_ && elsewhere && known != event;
    stream_->with_order(depth, [&](ChildOrder &order) {
        order.take(event, live);
        if (untold) {
            order.mark_untold(others.of_other_threads);
        }
    });
    if (!elsewhere) {
        trust_home(depth);
    }
}

LogView::Extent LogView::extent() const {
    if (!enabled()) {
        return {};
    }
    const LogStream::Places now = stream_->places();
    const LogStream::Position &begin = begin_.entries < now.begin.entries ? now.begin : begin_;
    return {now.end.entries - begin.entries, now.end.bytes - begin.bytes, now.remaining(),
            stream_->bytes_in_files()};
}

const LogView::NestedBegin *LogView::begin_of(const LogStream *nested) const {
    const auto found = std::ranges::find(nested_begins_, nested, &NestedBegin::first);
    return found != nested_begins_.end() ? &*found : nullptr;
}

uint64_t LogView::begin_of(const ChildOrder *order) const {
    const auto found = std::ranges::find(order_begins_, order, &OrderBegin::first);
    return found != order_begins_.end() ? found->second : 0;
}

// The CD's own children's first, then of those that descend from it.
template <typename Visit> void LogView::for_each_order(int depth, const Visit &visit) const {
    stream_->for_each_order(depth, visit);
    stream_->for_each_nested(
        depth, [&](LogStream::Sibling, LogStream &nested) { nested.for_each_order(depth, visit); });
}

void LogView::collect_begins(int depth, std::vector<NestedBegin> &begins) const {
    stream_->for_each_nested(depth, [&](LogStream::Sibling, LogStream &nested) {
        begins.emplace_back(&nested, nested.orphaned() > 0 ? nested.end() : nested.cursor());
    });
}

void LogView::collect_orders(int depth, std::vector<OrderBegin> &begins) const {
    const bool live = !replays_below(depth);
    for_each_order(depth, [&](ChildOrder &order) {
        if (live) {
            order.settle();
        }
        begins.emplace_back(&order, order.cursor());
    });
}

void LogView::collect_replays(int depth, std::vector<Replay> &replays) const {
    const auto collect = [&](LogStream &stream) {
        if (const uint64_t replay = stream.replay(); replay != 0) {
            replays.emplace_back(&stream, replay);
        }
    };
    collect(*stream_);
    stream_->for_each_nested(depth,
                             [&](LogStream::Sibling, LogStream &nested) { collect(nested); });
}

// A root has no ancestors that could need what lies before its point in time.
void LogView::trim_all() noexcept {
    stream_->trim(stream_->cursor());
    stream_->for_each_nested(
        0, [](LogStream::Sibling, LogStream &nested) { nested.trim(nested.cursor()); });
    nested_begins_.clear();
    const bool live = !replays_below(0);
    for_each_order(0, [&](ChildOrder &order) {
        if (live) {
            order.settle();
        }
        order.trim();
    });
    order_begins_.clear();
}

} // namespace cd
