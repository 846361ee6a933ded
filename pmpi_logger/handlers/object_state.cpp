// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/object_state.h"

#include "log_entry/writer.h"
#include "objects/deferred_free.h"
#include "replay/match.h"

#include <climits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace cd::logger {
namespace {

std::mutex keys_mutex;

// Never destroyed: MPI may be used while the process ends.
std::set<std::pair<KeyvalsOf, int>> &keys() {
    static auto &all = *new std::set<std::pair<KeyvalsOf, int>>;
    return all;
}

} // namespace

void Keyvals::add(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    keys().emplace(kind, key);
}

bool Keyvals::has(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    return keys().contains({kind, key});
}

void Keyvals::remove(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    keys().erase({kind, key});
}

std::vector<int> Keyvals::all(KeyvalsOf kind) {
    const std::scoped_lock lock(keys_mutex);
    std::vector<int> found;
    for (auto at = keys().lower_bound({kind, INT_MIN}); at != keys().end() && at->first == kind;
         ++at) {
        found.push_back(at->second);
    }
    return found;
}

std::optional<int> ObjectChange::logged_result(const Call &call, int &failure) {
    const std::optional<EntryReader> entry = next_entry(call, failure);
    return entry ? std::optional(entry->result()) : std::nullopt;
}

bool ObjectChange::is_next(const Call &call) { return next_entry_if_same(call).has_value(); }

std::optional<cd_log_place> ObjectChange::note(const Call &call, bool is_logged, bool is_optional,
                                               int result, Undo undo) {
    cd_log_place place = {};
    cd_log_here(&place);
    bool is_there = is_logged;
    if (is_logged) {
        --place.entry;
    } else if (cd_log_mode() == CD_LOG_RECORDING) {
        EntryWriter writer(call, result);
        if (is_optional) {
            writer.set(EntryHeader::optional);
        }
        is_there = writer.write() != nullptr;
    }
    if (result == MPI_SUCCESS && undo) {
        when_restored(place, std::move(undo));
    }
    return is_there ? std::optional(place) : std::nullopt;
}

int InfoSet::puts_value_back(MPI_Info info, const char *key, Undo &undo) {
    const Part part = {word_of(info), std::hash<std::string_view>()(key)};
    if (is_undone(part)) {
        return MPI_SUCCESS;
    }
    int length = 0;
    int present = 0;
    const int result = real<Fn::MPI_Info_get_valuelen>(info, key, &length, &present);
    if (result != MPI_SUCCESS) {
        return result;
    }
    const std::string name = key;
    if (present == 0) {
        const auto remove = [=] {
            int still = 0;
            int ignored = 0;
            real<Fn::MPI_Info_get_valuelen>(info, name.c_str(), &ignored, &still);
            if (still != 0) {
                real<Fn::MPI_Info_delete>(info, name.c_str());
            }
        };
        undo = {part, remove, {}};
        return MPI_SUCCESS;
    }
    std::string before(static_cast<size_t>(length) + 1, '\0');
    real<Fn::MPI_Info_get>(info, key, length, before.data(), &present);
    undo = {part, [=] { real<Fn::MPI_Info_set>(info, name.c_str(), before.c_str()); }, {}};
    return MPI_SUCCESS;
}

Window *FreedWindowAttributes::window(MPI_Win handle) {
    WindowTable &table = WindowTable::instance();
    return table.is_gone(handle) ? table.find(handle) : nullptr;
}

void FreedWindowAttributes::change(Window &window, int key, const std::optional<SetAttribute> &to) {
    const std::optional<cd_log_place> here = last_entry();
    if (!here) {
        return;
    }
    std::optional<SetAttribute> before;
    if (const auto found = window.attributes.find(key); found != window.attributes.end()) {
        before = found->second;
        InnerCalls inner(InnerCalls::Of::call);
        DeleteFunctions::call(window, key, *before);
        inner.settle(*here, true);
    }
    put(window, key, to);
    when_restored(*here, [number = window.number, key, before] {
        if (Window *const restored = WindowTable::instance().find(number)) {
            put(*restored, key, before);
        }
    });
}

void FreedWindowAttributes::put(Window &window, int key, const std::optional<SetAttribute> &to) {
    if (to) {
        window.attributes.insert_or_assign(key, *to);
    } else {
        window.attributes.erase(key);
    }
}

void FreedWindowAttributes::remove_all(Window &window) {
    while (!window.attributes.empty()) {
        change(window, window.attributes.begin()->first, std::nullopt);
    }
}

bool FreedWindowAttributes::mpi_has(MPI_Win handle, int key) {
    return window(handle) == nullptr && Keyvals::has(KeyvalsOf::windows, key);
}

namespace {

using InFortran = void (*)(MPI_Fint *window, MPI_Fint *key, MPI_Aint *value, MPI_Aint *state,
                           MPI_Fint *error);

std::mutex functions_mutex;

// Never destroyed: MPI may be used while the process ends.
std::map<int, DeleteFunction> &functions() {
    static auto &all = *new std::map<int, DeleteFunction>;
    return all;
}

DeleteFunction find(int key) {
    const std::scoped_lock lock(functions_mutex);
    const auto found = functions().find(key);
    return found != functions().end() ? found->second : DeleteFunction();
}

MPI_Fint number_of(const Window &gone) {
#ifdef OPEN_MPI
    return gone.in_fortran;
#else
    return MPI_Win_c2f(gone.handle);
#endif
}

} // namespace

void DeleteFunctions::note(int key, const DeleteFunction &function) {
    const std::scoped_lock lock(functions_mutex);
    functions().insert_or_assign(key, function);
}

void DeleteFunctions::call(const Window &gone, int key, SetAttribute &attribute) {
    DeleteFunction found = find(key);
    if (found.function == nullptr) {
        return;
    }
    const ReentryGuard inside; // its calls were not recorded
    if (found.in_fortran) {
        MPI_Fint window = number_of(gone);
        MPI_Fint number = key;
        MPI_Aint value = attribute.in_fortran();
        MPI_Fint error = MPI_SUCCESS;
        auto *const state =
            found.state != nullptr ? static_cast<MPI_Aint *>(found.state) : &found.number;
        reinterpret_cast<InFortran>(found.function)(&window, &number, &value, state, &error);
    } else {
        reinterpret_cast<MPI_Win_delete_attr_function *>(found.function)(
            gone.handle, key, attribute.in_c(), found.state);
    }
}

} // namespace cd::logger
