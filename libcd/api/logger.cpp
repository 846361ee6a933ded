// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The interposition layer's hot path

#include "api/operation.h"
#include "base/callback_scope.h"
#include "cd/mpi_log.h"
#include "runtime/active_stack.h"
#include "runtime/log_listener.h"
#include "runtime/observer.h"
#include "runtime/registry.h"

#include <mutex>

namespace cd {
namespace {

LogStream *log_in_use() { return CallbackScope::inside() ? nullptr : ActiveStack::active_log(); }

} // namespace
} // namespace cd

extern "C" {

int cd_log_mode() {
    const cd::LogStream *log = cd::log_in_use();
    if (log == nullptr) {
        return CD_LOG_OFF;
    }
    return log->replaying() ? CD_LOG_REPLAYING : CD_LOG_RECORDING;
}

void *cd_log_write(const cd_log_part *parts, int count) {
    cd::LogStream *log = cd::log_in_use();
    return log != nullptr ? log->append(parts, count) : nullptr;
}

const void *cd_log_read(size_t *length) {
    cd::LogStream *log = cd::log_in_use();
    if (log == nullptr) {
        return nullptr;
    }
    if (cd::observer.load(std::memory_order_relaxed) == nullptr) {
        return log->next(*length);
    }
    // The observer wants to know of the replay's end.
    const cd::MessageKeeper keeper;
    const cd_error before = cd_last_error();
    const void *entry = cd_log_next(CD_CURRENT_CD, length, nullptr);
    cd::set_last_error(before);
    return entry;
}

void cd_log_unread() {
    if (cd::LogStream *log = cd::log_in_use()) {
        log->unread();
    }
}

int cd_log_here(cd_log_place *place) {
    const cd::LogStream *log = cd::log_in_use();
    if (log == nullptr) {
        return 0;
    }
    *place = {log->family(), log->id(), log->cursor().entries};
    return 1;
}

int cd_log_covers(cd_handle cd, const cd_log_place *place) {
    if (cd == CD_CURRENT_CD) {
        cd = cd::ActiveStack::of_this_thread().top();
    }
    uint64_t generation = 0;
    cd::Slot *slot = cd::Registry::instance().find(cd, generation);
    if (slot == nullptr) {
        return 0;
    }
    const std::scoped_lock lock(slot->mutex);
    if (slot->generation != generation) {
        return 0;
    }
    const cd::Resident &domain = *slot->resident;
    return domain.log.covers(domain.depth, *place) ? 1 : 0;
}

void cd_log_listen(const cd_log_listener *listener) { cd::log_listener = listener; }

} // extern "C"
