// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/placing.h"

#include "base/no_throw.h"
#include "os/system.h"
#include "restart/memory_names.h"

#include <map>
#include <string_view>
#include <tuple>

namespace cd {

Status check_region(const Domain &domain, const Unbound &found, uint64_t length) {
    if (found.known != Unbound::Known::in_region || length == found.length) {
        return Status::ok();
    }
    return fail(CD_ERROR_RESTART_MISMATCH,
                "CD %s: a region of %llu bytes in this program had %llu in the one that wrote the "
                "store: \"%s\", of which %s holds %zu bytes at offset %llu; name the same bytes "
                "with cd_name_region, or start with CD_RESTART=no",
                domain.name(), static_cast<unsigned long long>(length),
                static_cast<unsigned long long>(found.length), found.name->c_str(),
                domain.ledger->path(), found.old.length(),
                static_cast<unsigned long long>(found.offset));
}

Status other_object(const Domain &domain, const Unbound &found, const std::string &instead) {
    return fail(
        CD_ERROR_RESTART_MISMATCH,
        "CD %s: the store %s holds %zu bytes of \"%s\" (object and build-id), and this process "
        "has \"%s\" in its place; run the program that wrote the store with its libraries, "
        "or start with CD_RESTART=no",
        domain.name(), domain.ledger->path(), found.old.length(), found.name->c_str(),
        instead.c_str());
}

Status in_no_writable_part(const Domain &domain, const Unbound &found) {
    return fail(CD_ERROR_RESTART_MISMATCH,
                "CD %s: the store %s holds %zu bytes at offset %llu of \"%s\" (object and "
                "build-id), which in this process are not in a writable part of it; start with "
                "CD_RESTART=no",
                domain.name(), domain.ledger->path(), found.old.length(),
                static_cast<unsigned long long>(found.offset), found.name->c_str());
}

Status check_order(Domain &domain) {
    for (const auto &[begin, part] : domain.added_anew) {
        const size_t number = domain.unbound.later(domain.path, part.ordinal);
        if (number < domain.unbound.size()) {
            const Unbound &later = domain.unbound[number];
            return fail(
                CD_ERROR_RESTART_MISMATCH,
                "CD %s cannot be restored: this program has added %zu bytes at %p, of range %llu "
                "of the CD, which the program that wrote the store %s had deleted, and not yet "
                "range %llu of %llu bytes, which it added after that; delete and add in the same "
                "order before, give ranges that are added again names with cd_name_region, or "
                "start with CD_RESTART=no",
                domain.name(), static_cast<size_t>(part.end - begin),
                reinterpret_cast<void *>(begin), static_cast<unsigned long long>(part.ordinal),
                domain.ledger->path(), static_cast<unsigned long long>(later.ordinal),
                static_cast<unsigned long long>(later.length));
        }
    }
    return Status::ok();
}

void tell_what_waits_for_libraries(const Domain &domain) noexcept {
    best_effort([&] {
        std::map<std::string_view, size_t> waiting;
        for (const Unbound &found : domain.unbound) {
            // What is regenerated waits for its function, wherever it is.
            if (found.known == Unbound::Known::in_object &&
                found.restoration != Restoration::regen) {
                waiting[*found.name] += found.old.length();
            }
        }
        for (const auto &[object, length] : waiting) {
            const std::string line =
                std::string("CD ") + domain.name() + ": " + std::to_string(length) +
                " bytes of \"" + std::string(object) +
                "\" (object and build-id) are restored when that is loaded and "
                "they are added; it is not loaded now";
            os::system().warn(line.c_str());
        }
    });
}

void tell_what_waits_for_files(const Domain &domain) noexcept {
    if (domain.unbound_files.empty() || domain.ledger->told_of_files.exchange(true)) {
        return;
    }
    best_effort([&] {
        const FilePosition &first = domain.unbound_files.front();
        const std::string line =
            std::string("CD ") + domain.name() + " has advanced, and its store " +
            domain.ledger->path() + " has " + std::to_string(domain.unbound_files.size()) +
            " file positions that nothing has taken: this program has not added these files "
            "again, the first being inode " +
            std::to_string(first.inode) + " of device " + std::to_string(first.device) +
            " at position " + std::to_string(first.position) +
            "; add the same files before the advance. A file that was copied, or written anew, is "
            "another one: set its position with lseek";
        os::system().warn(line.c_str());
    });
}

namespace {

// Nothing that the program has done so far has to do with it. What children had waits for theirs,
// and objects are told of when the root is restored.
bool is_unknown(const Domain &domain, const Unbound &found) {
    switch (found.known) {
    case Unbound::Known::by_order:
        return !found.left && *found.name == domain.path;
    case Unbound::Known::in_region:
        return !found.left && MemoryNames::instance().region(*found.name).empty();
    case Unbound::Known::in_object:
        return false;
    }
    return false;
}

bool is_before(const Unbound &one, const Unbound &other) {
    return std::tie(one.known, one.ordinal) < std::tie(other.known, other.ordinal);
}

std::string place_of(const Unbound &found) {
    return found.known == Unbound::Known::in_region
               ? "region \"" + *found.name + "\", a name that it has not given"
               : "range " + std::to_string(found.ordinal) + " of the root's order (" +
                     std::to_string(found.length) + " bytes)";
}

} // namespace

void tell_what_was_not_added(const Domain &domain) noexcept {
    if (!domain.is_root() || domain.unbound.empty() ||
        domain.ledger->told_of_unbound.exchange(true)) {
        return;
    }
    best_effort([&] {
        const Unbound *first = nullptr;
        size_t bytes = 0;
        for (const Unbound &found : domain.unbound) {
            if (is_unknown(domain, found)) {
                first = first == nullptr || is_before(found, *first) ? &found : first;
                bytes += found.old.length();
            }
        }
        if (first == nullptr) {
            return;
        }
        const std::string line =
            std::string("CD ") + domain.name() + " has advanced, and its store " +
            domain.ledger->path() + " has " + std::to_string(bytes) +
            " bytes that this program has not added yet, so no restore writes them: the first are "
            "of " +
            place_of(*first) +
            ". Name memory (cd_name_region) and add it as the program did that wrote the store";
        os::system().warn(line.c_str());
    });
}

void tell_of_values(const Domain &domain, bool are_kept) noexcept {
    PersistentStore &ledger = *domain.ledger;
    if ((are_kept ? ledger.told_of_kept_values : ledger.told_of_lost_values).exchange(true)) {
        return;
    }
    best_effort([&] {
        const std::string line =
            std::string("CD ") + domain.name() +
            " has added memory of which a CD above it has data from its store " + ledger.path() +
            ", which the restore did not write, as it did not know yet where that is. " +
            (are_kept ? "What the program has made of it before this add is kept, since in the "
                        "process before it had given it new values there, too. If it has made that "
                        "of what is in the store, give the memory a name (cd_name_region)"
                      : "It has these now; what the program had made of it before this add, if "
                        "only zeros, is gone. A program that gives it new values for each CD goes "
                        "on with wrong ones: give it values after the add, or a name "
                        "(cd_name_region)") +
            " before the root is created, in this program and in those that wrote the store";
        os::system().warn(line.c_str());
    });
}

bool is_free(const Domain &domain, uintptr_t address, size_t length) {
    const auto at = domain.entries.find(address);
    return at == domain.entries.end() || at->second->range.begin >= address + length;
}

Entry &place_arriving(Domain &domain, const Unbound &found, uintptr_t address) {
    domain.restore_may_fail = true;
    auto entry = domain.entries.make_entry();
    entry->range = {address, address + found.old.length()};
    entry->access = found.access;
    entry->scope = found.scope;
    entry->restoration = found.restoration;
    entry->data = found.data.share_use(found.old.length());
    domain.entries.insert_arriving(domain.entries.find(address), entry.get());
    return *entry.release();
}

} // namespace cd
