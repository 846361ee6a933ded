// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "model.h"

// The half of the model that says how a call ends: with success, or with which error.
namespace model {
namespace {

bool is_add(Op op) { return op == Op::add_copy || op == Op::add_parent || op == Op::add_regen; }

cd_error judge_element(const Element &element, bool labels_matter) {
    if (labels_matter && element.access != READ_ONLY && element.access != READ_WRITE) {
        return CD_ERROR_ADDR_TYPE;
    }
    if (labels_matter && element.scope != GLOBAL && element.scope != CONSTRAINED) {
        return CD_ERROR_ADDR_SCOPE;
    }
    if (element.where == Where::wraps || element.where == Where::to_zero) {
        return CD_ERROR_RANGE_WRAPS;
    }
    if (element.where == Where::null && element.length > 0) {
        return CD_ERROR_NULL_ADDRESS;
    }
    return CD_ERROR_NONE;
}

// The first thing that is wrong with a list whatever the CD holds.
cd_error judge_list(const Step &step) {
    if (step.count < 0) {
        return CD_ERROR_COUNT;
    }
    if (step.null_list) {
        return step.count > 0 ? CD_ERROR_NULL_LIST : CD_ERROR_NONE;
    }
    for (int i = 0; i < step.count; ++i) {
        const cd_error error = judge_element(step.list[i], is_add(step.op));
        if (error != CD_ERROR_NONE) {
            return error;
        }
    }
    return CD_ERROR_NONE;
}

// Can a child of cd's parent take this byte from an ancestor, as things are now?
cd_error judge_parent_byte(const Cd &cd, int offset) {
    for (const Cd *at = cd.parent; at != nullptr; at = at->parent) {
        const Byte &byte = at->bytes[offset];
        if (!byte.held) {
            continue;
        }
        if (byte.restoration == Restoration::copy) {
            return CD_ERROR_NONE;
        }
        if (byte.restoration == Restoration::regen) {
            return CD_ERROR_PARENT_REGEN;
        }
    }
    return CD_ERROR_NOT_IN_PARENT;
}

} // namespace

Verdict Model::judge(const Step &step) const {
    Verdict verdict;
    std::set<cd_error> errors;
    if (step.op == Op::seek || step.op == Op::close) {
        verdict.undefined = !descriptors_[step.slot].open;
    } else if (step.op == Op::create) {
        judge_create(step, errors);
    } else if (step.op != Op::write && step.op != Op::open) {
        cd_error error;
        const Cd *cd = resolve(step.target, error);
        if (cd == nullptr) {
            errors.insert(error);
        } else {
            judge_call(step, *cd, errors, verdict);
        }
    }
    if (errors.empty()) {
        verdict.allowed.push_back(CD_ERROR_NONE);
    }
    verdict.allowed.insert(verdict.allowed.end(), errors.begin(), errors.end());
    return verdict;
}

// Which of several wrong arguments is named does not matter.
void Model::judge_create(const Step &step, std::set<cd_error> &errors) const {
    const NameChoice &name = names()[step.name];
    const StorageChoice &storage = storages()[step.storage];
    if (step.logging > COMM_LOGGING_INHERIT) {
        errors.insert(CD_ERROR_LOGGING_MODE);
    }
    if (storage.error != CD_ERROR_NONE) {
        errors.insert(static_cast<cd_error>(storage.error));
    }
    const Cd *parent = nullptr;
    if (step.target.kind != Handle::null) {
        cd_error error;
        parent = resolve(step.target, error);
        if (parent == nullptr) {
            errors.insert(error);
            if (name.text != nullptr) {
                errors.insert(CD_ERROR_NAME_ON_CHILD);
            }
            return;
        }
    }
    if (parent == nullptr) {
        if (name.error != CD_ERROR_NONE) {
            errors.insert(static_cast<cd_error>(name.error));
        }
        for (const auto &cd : live_) {
            if (name.text != nullptr && cd->depth == 0 && cd->root_name == name.text) {
                errors.insert(CD_ERROR_NAME_IN_USE);
            }
        }
        if (step.logging == COMM_LOGGING_INHERIT) {
            errors.insert(CD_ERROR_LOGGING_INHERIT_AT_ROOT);
        }
    } else {
        if (name.text != nullptr) {
            errors.insert(CD_ERROR_NAME_ON_CHILD);
        }
        if ((step.logging == COMM_LOGGING_ENABLED && !parent->logging) ||
            (step.logging == COMM_LOGGING_DISABLED && parent->logging)) {
            errors.insert(CD_ERROR_LOGGING_MISMATCH);
        }
        // All children but the first have a log of their own, which a re-executed parent has to
        // know.
        const int sibling = free_sibling(*parent);
        if (parent->logging && sibling > 0 && parent->stream->replaying_for(parent->depth) &&
            parent->stream->nested.count({parent->depth + 1, sibling}) == 0) {
            errors.insert(CD_ERROR_LOG_SIBLINGS);
        }
    }
}

void Model::judge_call(const Step &step, const Cd &cd, std::set<cd_error> &errors,
                       Verdict &verdict) const {
    switch (step.op) {
    case Op::commit:
        if (!cd.children.empty()) {
            errors.insert(CD_ERROR_HAS_CHILDREN);
        }
        break;
    case Op::restore:
        judge_restore(step, cd, errors, verdict);
        break;
    case Op::advance:
        if (!cd.children.empty()) {
            errors.insert(CD_ERROR_HAS_CHILDREN);
        }
        for (const auto &[slot, record] : cd.files) {
            if (const cd_error error = file_error(slot, record)) {
                errors.insert(error);
            }
        }
        // The re-execution is over, but there is a sibling's log that no sibling replayed. Below
        // the root it may be the log of a CD that is still to come.
        if (cd.parent == nullptr && !cd.stream->replaying() &&
            cd.stream->nested_replaying(cd.depth)) {
            errors.insert(CD_ERROR_LOG_SIBLINGS);
        }
        break;
    case Op::add_copy:
    case Op::add_parent:
    case Op::add_regen:
        judge_add(step, cd, errors);
        break;
    case Op::remove:
        judge_delete(step, cd, errors);
        break;
    case Op::add_file:
    case Op::delete_file:
        judge_file(step, cd, errors, verdict);
        break;
    case Op::log_add:
    case Op::log_append:
    case Op::log_get:
    case Op::log_next:
        judge_log(step, cd, errors);
        break;
    case Op::log_delete:
        // It is undefined what becomes of the children's part.
        verdict.undefined = !cd.children.empty();
        if (!cd.logging) {
            errors.insert(CD_ERROR_LOG_DISABLED);
        }
        if (cd.logging && cd.stream->replays_for_ancestor(cd.depth)) {
            errors.insert(CD_ERROR_LOG_REPLAYING);
        }
        break;
    case Op::verify:
        if (!mismatches(cd).empty()) {
            errors.insert(CD_ERROR_VERIFY_MISMATCH);
        }
        break;
    case Op::query:
        if (step.null_list) {
            errors.insert(CD_ERROR_ARGUMENT);
        }
        break;
    default:
        break;
    }
}

// Wrong arguments come before what the CD holds. Which of several wrong arguments of different
// kinds is named does not matter.
void Model::judge_add(const Step &step, const Cd &cd, std::set<cd_error> &errors) const {
    const StorageChoice &storage = storages()[step.storage];
    if (const cd_error error = judge_list(step)) {
        errors.insert(error);
    }
    if (storage.error != CD_ERROR_NONE) {
        errors.insert(static_cast<cd_error>(storage.error));
    }
    const bool list_is_sound = judge_list(step) == CD_ERROR_NONE && !step.null_list;
    if (step.op == Op::add_regen) {
        if (step.regen < 0) {
            errors.insert(CD_ERROR_REGEN_NULL);
        }
        for (int i = 0; i < step.count && !step.null_list; ++i) {
            if (step.list[i].length > 0 && step.list[i].access == READ_WRITE) {
                errors.insert(CD_ERROR_REGEN_READ_WRITE);
            }
        }
    }
    if (!errors.empty() || !list_is_sound) {
        return;
    }

    auto bytes = cd.bytes; // the list is applied element by element
    for (int i = 0; i < step.count; ++i) {
        const Element &element = step.list[i];
        const bool constrained = element.scope == CONSTRAINED;
        if (element.length > 0 && step.op == Op::add_parent && cd.parent == nullptr) {
            errors.insert(CD_ERROR_NO_PARENT);
        }
        for (int offset = element.offset; offset < element.offset + element.length; ++offset) {
            Byte &byte = bytes[offset];
            if (byte.held && byte.constrained != constrained) {
                errors.insert(CD_ERROR_SCOPE_FIXED);
            }
            byte.held = true;
            byte.constrained = constrained;
            if (step.op == Op::add_parent && cd.parent != nullptr) {
                if (const cd_error error = judge_parent_byte(cd, offset)) {
                    errors.insert(error);
                }
            }
        }
    }
}

void Model::judge_delete(const Step &step, const Cd &cd, std::set<cd_error> &errors) const {
    if (const cd_error error = judge_list(step)) {
        errors.insert(error);
        return;
    }
    auto bytes = cd.bytes;
    for (int i = 0; i < step.count && !step.null_list; ++i) {
        const Element &element = step.list[i];
        for (int offset = element.offset; offset < element.offset + element.length; ++offset) {
            if (!bytes[offset].held) {
                errors.insert(CD_ERROR_NOT_IN_CD);
            }
            bytes[offset].held = false;
        }
    }
}

cd_error Model::file_error(int slot, const FileRecord &record) const {
    if (!descriptors_[slot].open) {
        return CD_ERROR_FILE_BAD_DESCRIPTOR;
    }
    if (descriptors_[slot].file != record.file) {
        return CD_ERROR_FILE_CHANGED;
    }
    return CD_ERROR_NONE;
}

void Model::judge_restore(const Step &step, const Cd &cd, std::set<cd_error> &errors,
                          Verdict &verdict) const {
    std::set<int> seen;            // slots that an older CD sets
    std::set<cd_error> of_younger; // may or may not be noticed
    bool fails = false;
    const auto newest_first = restore_order(cd);
    for (auto it = newest_first.rbegin(); it != newest_first.rend(); ++it) {
        const Cd &at = **it;
        for (const auto &[slot, record] : at.files) {
            const cd_error error = file_error(slot, record);
            if (error == CD_ERROR_NONE) {
                seen.insert(slot);
            } else {
                (seen.insert(slot).second ? errors : of_younger).insert(error);
            }
        }
        for (int offset = 0; offset < arena_size; ++offset) {
            const Byte &byte = at.bytes[offset];
            if (!is_restored(cd, at, byte)) {
                continue;
            }
            fails = fails || (byte.restoration == Restoration::regen &&
                              byte.regen == failing_regen && step.failure != RegenFailure::no);
            if (byte.restoration != Restoration::parent) {
                continue;
            }
            if (parent_copy(at, offset) == nullptr) {
                errors.insert(CD_ERROR_NOT_IN_PARENT);
            }
        }
    }
    if (!errors.empty()) {
        errors.insert(of_younger.begin(), of_younger.end());
    } else if (fails) {
        errors = of_younger;
        errors.insert(CD_ERROR_REGEN_FAILED);
    } else if (!of_younger.empty()) {
        verdict.allowed.push_back(CD_ERROR_NONE);
        errors = of_younger;
    }
}

void Model::judge_file(const Step &step, const Cd &cd, std::set<cd_error> &errors,
                       Verdict &verdict) const {
    if (step.op == Op::delete_file) {
        if (cd.files.count(step.slot) == 0) {
            errors.insert(CD_ERROR_FILE_NOT_IN_CD);
        }
        return;
    }
    if (step.slot == pipe_descriptor) {
        errors.insert(CD_ERROR_FILE_NOT_SEEKABLE);
    } else if (step.slot < 0 || !descriptors_[step.slot].open) {
        errors.insert(CD_ERROR_FILE_BAD_DESCRIPTOR);
    } else if (const auto known = cd.files.find(step.slot); known != cd.files.end()) {
        // Adding another file under a descriptor that the CD still knows as the first one.
        verdict.undefined = file_error(step.slot, known->second) != CD_ERROR_NONE;
    }
}

void Model::judge_log(const Step &step, const Cd &cd, std::set<cd_error> &errors) const {
    const bool adds = step.op == Op::log_add || step.op == Op::log_append;
    if (!cd.logging) {
        errors.insert(CD_ERROR_LOG_DISABLED);
    }
    if (!adds) {
        return;
    }
    if (step.length < 0) {
        errors.insert(CD_ERROR_LOG_ENTRY);
    }
    if (cd.logging && cd.stream->replaying()) {
        errors.insert(CD_ERROR_LOG_REPLAYING);
    }
}

} // namespace model
