// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The interposition layer's hot path

#include "api/api_call.h"
#include "base/callback_guard.h"
#include "cd/mpi_log.h"
#include "runtime/active_stack.h"
#include "runtime/log_listener.h"
#include "runtime/observer.h"
#include "runtime/registry.h"

#include <cstdio>
#include <mutex>

namespace cd {
namespace {

Log *log_in_use() { return CallbackGuard::inside() ? nullptr : ActiveStack::active_log(); }

[[gnu::noinline]] void abandon_open_entry() {
    ActiveStack::open_log()->abandon();
    ActiveStack::set_open_log(nullptr);
}

void drop_open_entry() {
    if (ActiveStack::open_log() != nullptr) [[unlikely]] {
        abandon_open_entry();
    }
}

// Calls look with the CD under its lock, if the CD is alive. Does nothing inside a function that
// the library called, since the thread may hold that lock.
template <typename Look> void look_at(cd_handle cd, const Look &look) {
    if (CallbackGuard::inside()) {
        return;
    }
    uint64_t generation = 0;
    Slot *slot = Registry::instance().find(cd, generation);
    if (slot == nullptr) {
        return;
    }
    const std::scoped_lock lock(slot->mutex);
    if (slot->generation == generation) {
        look(*slot->resident);
    }
}

} // namespace
} // namespace cd

extern "C" {

int cd_log_mode() {
    const cd::Log *log = cd::log_in_use();
    if (log == nullptr) {
        return CD_LOG_OFF;
    }
    return log->replaying() ? CD_LOG_REPLAYING : CD_LOG_RECORDING;
}

const int *cd_log_possible() { return cd::ActiveStack::possible(); }

const int *cd_log_replays() { return cd::Log::replays_under_way(); }

cd_log_room cd_log_open(size_t size) {
    cd::drop_open_entry();
    cd::Log *log = cd::log_in_use();
    cd_log_room room = {};
    if (log != nullptr && log->open(size, room)) {
        cd::ActiveStack::set_open_log(log);
    }
    return room;
}

// Calls no function, so that no register is saved: after a call of MPI, stores wait for memory that
// another process holds, and few of them may wait.
cd_log_entry cd_log_enter(size_t length) {
    cd::Log *log = cd::ActiveStack::log_if_known();
    if (log == nullptr || cd::CallbackGuard::inside()) [[unlikely]] {
        return {};
    }
    return log->enter(length);
}

int cd_log_widen(cd_log_room *room, size_t used, size_t size) {
    cd::Log *log = cd::ActiveStack::open_log();
    if (log != nullptr && !log->widen(used, size, *room)) {
        cd::drop_open_entry();
        return 0;
    }
    return log != nullptr ? 1 : 0;
}

void cd_log_close(size_t length) {
    if (cd::Log *log = cd::ActiveStack::open_log()) {
        log->close_entry(length);
        cd::ActiveStack::set_open_log(nullptr);
    }
}

void cd_log_close_optional(size_t length) {
    if (cd::Log *log = cd::ActiveStack::open_log()) {
        log->close_entry(length, true);
        cd::ActiveStack::set_open_log(nullptr);
    }
}

void cd_log_drop() {
    cd::drop_open_entry();
    if (cd::Log *log = cd::log_in_use()) {
        log->miss();
    }
}

const void *cd_log_read(size_t *length) {
    cd::Log *log = cd::log_in_use();
    if (log == nullptr) {
        return nullptr;
    }
    if (cd::observer.load(std::memory_order_relaxed) == nullptr) {
        return log->next(*length);
    }
    // Reports the end of the replay to the observer.
    const cd::SavedMessage keeper;
    const cd_error before = cd_last_error();
    void *entry = nullptr;
    const cd::Status read = cd::observed_as_part(
        [&](cd::Report &report) { return cd::next_entry(CD_CURRENT_CD, report, entry, *length); });
    cd::set_last_error(before);
    return read ? entry : nullptr;
}

void cd_log_unread() {
    if (cd::Log *log = cd::log_in_use()) {
        log->unread();
    }
}

void cd_log_stop() {
    if (cd::Log *log = cd::log_in_use()) {
        log->stop();
    }
}

int cd_log_stopped() {
    const cd::Log *log = cd::log_in_use();
    return log != nullptr && log->stopped() ? 1 : 0;
}

int cd_log_trouble(char *text, size_t size) {
    const cd::Log *log = cd::log_in_use();
    const cd::SavedMessage keeper;
    const cd::Status trouble = log != nullptr ? log->trouble() : cd::Status::ok();
    std::snprintf(text, size, "%s", trouble ? "" : cd::message());
    return trouble ? 0 : 1;
}

int cd_log_here(cd_log_place *place) {
    const cd::Log *open = cd::ActiveStack::open_log();
    const cd::Log *log = open != nullptr ? open : cd::log_in_use();
    if (log == nullptr) {
        return 0;
    }
    const auto at = open != nullptr ? log->open_at() : log->cursor();
    *place = {log->family(), log->id(), at.entries};
    return 1;
}

int cd_log_keep_newest(size_t bytes) {
    cd::Log *log = cd::log_in_use();
    if (log == nullptr) {
        return 0;
    }
    log->keep_newest(bytes);
    return 1;
}

int cd_log_covers(cd_handle cd, const cd_log_place *place) {
    if (cd == CD_CURRENT_CD) {
        cd = cd::ActiveStack::active();
    }
    bool covers = false;
    cd::look_at(
        cd, [&](const cd::Resident &domain) { covers = domain.log.covers(domain.depth, *place); });
    return covers ? 1 : 0;
}

int cd_log_parts(const cd_log_place *earlier, const cd_log_place *later) {
    bool parts = false;
    for (cd_handle cd = cd::ActiveStack::active(); cd != nullptr && !parts;) {
        cd_handle parent = nullptr;
        cd::look_at(cd, [&](const cd::Resident &domain) {
            parts = domain.log.covers(domain.depth, *later) &&
                    !domain.log.covers(domain.depth, *earlier);
            parent = domain.is_root() ? nullptr : domain.parent_resident()->handle;
        });
        cd = parent;
    }
    return parts ? 1 : 0;
}

int cd_log_begins(cd_handle cd, cd_log_place *begins, int count) {
    int found = 0;
    cd::look_at(cd, [&](const cd::Resident &domain) {
        domain.log.for_each_begin(domain.depth, [&](const cd_log_place &begin) {
            if (found < count) {
                begins[found] = begin;
            }
            ++found;
        });
    });
    return found;
}

void cd_log_listen(const cd_log_listener *listener) { cd::log_listener = listener; }

} // extern "C"
