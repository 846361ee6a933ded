// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/lifetimes.h"

#include "call/handle_word.h"
#include "call/replay_range.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "objects/inner_frees.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

struct Later {
    cd_log_place place;
    std::function<void()> action;
    Moment added = next_moment();
};

class List {
public:
    void add(const cd_log_place &place, std::function<void()> action) {
        const std::scoped_lock lock(mutex_);
        later_.push_back({place, std::move(action)});
    }

    // Removes and returns, in their order, the actions added before `now` that `wanted` selects.
    template <typename Wanted> std::vector<Later> take(Moment now, const Wanted &wanted) {
        const std::scoped_lock lock(mutex_);
        const auto kept =
            std::stable_partition(later_.begin(), later_.end(), [&](const Later &later) {
                return later.added >= now || !wanted(later.place);
            });
        std::vector<Later> taken(std::make_move_iterator(kept),
                                 std::make_move_iterator(later_.end()));
        later_.erase(kept, later_.end());
        return taken;
    }

private:
    std::mutex mutex_;
    std::vector<Later> later_;
};

// Never destroyed: CDs may be used while the process ends.
List &forgotten() {
    static auto &list = *new List;
    return list;
}

UndoList &restored() {
    static auto &list = *new UndoList;
    return list;
}

} // namespace

std::optional<cd_log_place> last_entry() {
    cd_log_place place = {};
    if (cd_log_here(&place) == 0 || place.entry == 0) {
        return std::nullopt;
    }
    --place.entry;
    return place;
}

void when_forgotten(const cd_log_place &place, std::function<void()> action) {
    forgotten().add(place, std::move(action));
}

void when_restored(const cd_log_place &place, std::function<void()> action) {
    restored().add(place, {{}, std::move(action), {}});
}

void when_restored(const cd_log_place &place, Undo undo) { restored().add(place, std::move(undo)); }

bool is_undone(const Part &part) { return restored().undoes(part); }

bool is_being_undone(const Part &part) { return restored().is_about_to_undo(part); }

std::vector<UndoList::Change> object_goes(uint64_t handle, int owner) {
    return restored().object_goes(handle, owner);
}

void object_stays(std::vector<UndoList::Change> &&changes) {
    restored().put_back(std::move(changes));
}

void run_restored(cd_handle cd) {
    const ReentryGuard inside;
    const InnerCalls unsettled(InnerCalls::Of::undo);
    const Moment now = next_moment();
    const Reach reach(cd);
    restored().run(now, [&](const cd_log_place &place) { return reach.covers(place); });
}

void run_forgotten(uint64_t family, cd_handle root) {
    const ReentryGuard inside;
    const Moment now = next_moment();
    const Reach kept(root);
    const auto is_forgotten = [&](const cd_log_place &place) {
        return place.family == family && !kept.covers(place);
    };
    restored().forget(now, is_forgotten);
    for (const Later &later : forgotten().take(now, is_forgotten)) {
        later.action();
    }
}

void run_all_forgotten() {
    const ReentryGuard inside;
    const Moment now = next_moment();
    const auto all = [](const cd_log_place &) { return true; };
    restored().forget(now, all);
    for (const Later &later : forgotten().take(now, all)) {
        later.action();
    }
}

namespace {

struct Noticed {
    std::mutex mutex; // held in no call of MPI
    std::unordered_set<uint64_t> types;
};

// Never destroyed: types may be freed while the process ends.
Noticed &noticed() {
    static auto &all = *new Noticed;
    return all;
}

int type_ends(MPI_Datatype type, int, void *, void *) {
    {
        const std::scoped_lock lock(noticed().mutex);
        noticed().types.erase(word_of(type));
    }
    object_goes(word_of(type), 0);
    return MPI_SUCCESS;
}

int make_key() {
    int key = MPI_KEYVAL_INVALID;
    real<Fn::MPI_Type_create_keyval>(MPI_TYPE_NULL_COPY_FN, type_ends, &key, nullptr);
    return key;
}

} // namespace

void notice_end(MPI_Datatype type) {
    static const int key = make_key();
    bool is_new = false;
    if (type != MPI_DATATYPE_NULL) {
        const std::scoped_lock lock(noticed().mutex);
        is_new = noticed().types.insert(word_of(type)).second;
    }
    if (is_new) { // to set it again would be its end
        real<Fn::MPI_Type_set_attr>(type, key, nullptr);
    }
}

} // namespace cd::logger
