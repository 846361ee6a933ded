// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "executor.h"

#include "application.h"
#include "model.h"

#include "cd/cd.h"
#include "cd/mpi_log.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace model {
namespace {

// Enums from the application may hold any value; C++ has no legal cast for that.
template <typename Enum> Enum raw_enum(int value) {
    Enum result;
    static_assert(sizeof result == sizeof value);
    std::memcpy(&result, &value, sizeof result);
    return result;
}

struct Reported {
    std::set<int> offsets;
    bool outside = false;
};

void note_mismatch(const cd_mismatch *mismatch, void *context) {
    auto &reported = *static_cast<Reported *>(context);
    const auto start = static_cast<const uint8_t *>(mismatch->address) - arena.bytes;
    for (size_t i = 0; i < mismatch->length; ++i) {
        const auto offset = start + static_cast<std::ptrdiff_t>(i);
        if (offset < 0 || offset >= arena_size || mismatch->kind != CD_MISMATCH_MEMORY) {
            reported.outside = true;
        } else {
            reported.offsets.insert(static_cast<int>(offset));
        }
    }
}

class Executor {
public:
    Executor() {
        reset_arena();
        start_recording(RegenFailure::no);
    }

    // A program that failed may have left CDs that the model does not know.
    ~Executor() {
        for (auto it = handles_.rbegin(); it != handles_.rend(); ++it) {
            commit_cd(it->second);
        }
    }

    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    // "" or what differs.
    std::string run(const Step &step) {
        const Verdict verdict = model_.judge(step);
        if (verdict.undefined) {
            return "";
        }
        problem_.clear();
        const cd_error code = call(step);
        if (!problem_.empty()) {
            return problem_;
        }
        if (!verdict.allows(code)) {
            return unexpected(code, verdict);
        }
        if (code == CD_ERROR_NONE) {
            if (step.op == Op::restore) {
                problem_ = check_restore_calls(step);
            }
            model_.apply(step);
        } else if (code == CD_ERROR_REGEN_FAILED) {
            adopt_partial_restore(step);
        }
        if (problem_.empty()) {
            problem_ = check_arena(model_.memory());
        }
        if (problem_.empty()) {
            check_files();
        }
        if (problem_.empty()) {
            check_domains();
        }
        return problem_;
    }

    // Ends all CDs, children first; then none of the handles is good any more.
    std::string finish() {
        problem_.clear();
        while (!model_.live().empty() && problem_.empty()) {
            Step commit;
            commit.op = Op::commit;
            commit.target = {Handle::by_id, model_.live().back()->id};
            problem_ = run(commit);
        }
        for (const auto &[id, handle] : handles_) {
            cd_info info;
            if (problem_.empty() && cd_query(handle, &info) == SUCCESS) {
                problem_ = "cd" + std::to_string(id) + " is still there";
            }
        }
        return problem_;
    }

private:
    cd_handle handle(const Target &target) const {
        static const int foreign = 0;
        static const int never_created = 0;
        switch (target.kind) {
        case Handle::current:
            return CURRENT_CD;
        case Handle::null:
            return nullptr;
        case Handle::foreign:
            return const_cast<int *>(&foreign);
        case Handle::by_id:
            break;
        }
        const auto found = handles_.find(target.id);
        return found != handles_.end() ? found->second : const_cast<int *>(&never_created);
    }

    std::vector<cd_addrspec> list(const Step &step) const {
        std::vector<cd_addrspec> specs;
        for (const Element &element : step.list) {
            uint8_t *address = arena.bytes + element.offset;
            auto length = static_cast<size_t>(element.length);
            if (element.where == Where::null) {
                address = nullptr;
            }
            if (element.where == Where::wraps) {
                length = SIZE_MAX;
            }
            if (element.where == Where::to_zero) {
                length = 0 - reinterpret_cast<size_t>(address);
            }
            specs.push_back({address, length, raw_enum<addr_type>(element.access),
                             raw_enum<addr_scope>(element.scope)});
        }
        return specs;
    }

    cd_error call(const Step &step) {
        const cd_handle cd = handle(step.target);
        const char *const storage = storages()[step.storage].text;
        const auto specs = list(step);
        const cd_addrspec *const items = step.null_list ? nullptr : specs.data();
        switch (step.op) {
        case Op::write:
            for (int i = 0; i < step.length; ++i) {
                arena.bytes[step.offset + i] = written_byte(step, i);
            }
            return CD_ERROR_NONE;
        case Op::seek:
            files_.seek(step.slot, step.value);
            return CD_ERROR_NONE;
        case Op::close:
            files_.close_slot(step.slot);
            return CD_ERROR_NONE;
        case Op::open:
            files_.open_slot(step.slot, step.file);
            return CD_ERROR_NONE;
        case Op::create:
            return create(step, cd, storage);
        case Op::commit:
            return outcome(commit_cd(cd));
        case Op::restore:
            start_recording(step.failure);
            return outcome(restore_cd(cd));
        case Op::advance:
            return outcome(advance_cd_point_in_time(cd));
        case Op::add_copy:
            return outcome(add_to_cd_via_copy(cd, items, step.count, storage));
        case Op::add_parent:
            return outcome(add_to_cd_via_parent(cd, items, step.count, storage));
        case Op::add_regen:
            return outcome(
                add_to_cd_via_regen(cd, items, step.count, storage, regen_function(step.regen)));
        case Op::remove:
            return outcome(delete_from_cd(cd, items, step.count));
        case Op::add_file:
            return outcome(add_file_to_cd(cd, files_.descriptor(step.slot)));
        case Op::delete_file:
            return outcome(delete_file_from_cd(cd, files_.descriptor(step.slot)));
        case Op::log_add:
            return add_log(step, cd);
        case Op::log_append:
            return append_log(step, cd);
        case Op::log_get:
        case Op::log_next:
            return next_log(step, cd);
        case Op::log_delete:
            return outcome(delete_MPI_log_from_cd(cd));
        case Op::verify:
            return verify(step, cd);
        case Op::query: {
            cd_info info;
            return outcome(cd_query(cd, step.null_list ? nullptr : &info));
        }
        }
        return CD_ERROR_NONE;
    }

    // The code of a call that returned result; the two and the message must agree.
    cd_error outcome(int result) {
        const cd_error code = cd_last_error();
        const bool succeeded = result == SUCCESS;
        if (!succeeded && result != FAILURE) {
            problem_ = "returned " + std::to_string(result);
        }
        if (succeeded != (code == CD_ERROR_NONE)) {
            problem_ = "returned " + std::to_string(result) + ", but cd_last_error() is " +
                       cd_strerror(code);
        }
        if (succeeded != (*cd_last_error_message() == '\0')) {
            problem_ = "result " + std::to_string(result) + " with the message \"" +
                       cd_last_error_message() + '"';
        }
        return code;
    }

    cd_error create(const Step &step, cd_handle parent, const char *storage) {
        int error = -1;
        const cd_handle made = create_cd(parent, storage, raw_enum<mpi_log>(step.logging),
                                         names()[step.name].text, &error);
        const cd_error code = outcome(made != nullptr ? SUCCESS : FAILURE);
        if (error != code) {
            problem_ = "error is " + std::to_string(error) + ", not the code";
        }
        if (made != nullptr) {
            handles_[step.id] = made;
        }
        return code;
    }

    cd_error add_log(const Step &step, cd_handle cd) {
        if (step.length == null_entry) {
            return outcome(add_MPI_log_to_cd(cd, nullptr, 5));
        }
        const std::string content = log_entry(step);
        void *entry = std::malloc(content.size() + 1);
        std::memcpy(entry, content.data(), content.size());
        const int result = add_MPI_log_to_cd(cd, entry, step.length);
        if (result != SUCCESS) {
            std::free(entry);
        }
        return outcome(result);
    }

    cd_error append_log(const Step &step, cd_handle cd) {
        const std::string content = log_entry(step);
        const size_t half = content.size() / 2;
        const cd_log_part parts[2] = {{content.data(), half},
                                      {content.data() + half, content.size() - half}};
        const cd_log_part bad = {nullptr, 5};
        if (step.length == null_entry) {
            return outcome(cd_log_append(cd, &bad, 1));
        }
        return outcome(cd_log_append(cd, parts, step.length < 0 ? step.length : 2));
    }

    cd_error next_log(const Step &step, cd_handle cd) {
        cd_error unused;
        const Cd *owner = model_.resolve(step.target, unused);
        const std::string *expected =
            owner != nullptr && owner->logging ? model_.next_log_entry(*owner) : nullptr;
        int error = -1;
        size_t length = expected != nullptr ? expected->size() : 0;
        const void *entry = step.op == Op::log_get ? get_MPI_log_from_cd(cd, &error)
                                                   : cd_log_next(cd, &length, &error);
        const cd_error code = cd_last_error();
        if (error != code) {
            problem_ = "error is " + std::to_string(error) + ", not the code";
        }
        if ((entry != nullptr) != (expected != nullptr)) {
            problem_ = expected == nullptr ? "returned an entry, expected NULL"
                                           : "returned NULL, expected an entry";
        } else if (entry != nullptr && (length != expected->size() ||
                                        std::memcmp(entry, expected->data(), length) != 0)) {
            problem_ = "returned another entry than expected";
        }
        return code;
    }

    cd_error verify(const Step &step, cd_handle cd) {
        Reported reported;
        const cd_error code = outcome(cd_verify(cd, note_mismatch, &reported));
        cd_error unused;
        const Cd *checked = model_.resolve(step.target, unused);
        if (checked == nullptr) {
            return code;
        }
        const auto differ = model_.mismatches(*checked);
        const auto candidates = model_.verified(*checked);
        for (const int offset : differ) {
            if (reported.offsets.count(offset) == 0) {
                problem_ = not_right("missing", offset);
            }
        }
        for (const int offset : reported.offsets) {
            if (candidates.count(offset) == 0) {
                problem_ = not_right("wrong", offset);
            }
        }
        if (reported.outside) {
            problem_ = "cd_verify reported something outside the arena";
        }
        return code;
    }

    static std::string not_right(const char *how, int offset) {
        return "cd_verify's report is " + std::string(how) + " for arena+" + std::to_string(offset);
    }

    std::string unexpected(cd_error code, const Verdict &verdict) const {
        std::string text = "ended with " + std::to_string(code) + " (" + cd_strerror(code) + ": " +
                           cd_last_error_message() + "), expected";
        for (const cd_error allowed : verdict.allowed) {
            text += " " + std::to_string(allowed) + " (" + cd_strerror(allowed) + ")";
        }
        return text;
    }

    std::string check_restore_calls(const Step &step) const {
        cd_error unused;
        return check_calls(model_.regen_calls(*model_.resolve(step.target, unused)));
    }

    // Which bytes a failed restore wrote is not defined, only what it may have written there.
    void adopt_partial_restore(const Step &step) {
        cd_error unused;
        const Cd &cd = *model_.resolve(step.target, unused);
        const auto possible = model_.memory_after_failed_restore(cd);
        Memory memory;
        for (int offset = 0; offset < arena_size; ++offset) {
            memory[offset] = arena.bytes[offset];
            if (possible[offset].count(memory[offset]) == 0) {
                problem_ = "the failed restore left " + std::to_string(memory[offset]) +
                           " at arena+" + std::to_string(offset);
            }
        }
        model_.adopt(memory);
        for (const auto &[slot, position] : model_.positions_after_restore(cd)) {
            if (files_.position(slot) == position) {
                model_.adopt_position(slot, position);
            }
        }
    }

    void check_files() {
        for (int slot = 0; slot < slot_count; ++slot) {
            const Descriptor &expected = model_.descriptor(slot);
            if (!expected.open) {
                continue;
            }
            const long position = files_.position(slot);
            if (position != expected.position) {
                problem_ = "fd" + std::to_string(slot) + " is at " + std::to_string(position) +
                           ", expected " + std::to_string(expected.position);
            }
        }
    }

    void check_domains() {
        for (const auto &cd : model_.live()) {
            cd_info info;
            if (cd_query(handles_.at(cd->id), &info) != SUCCESS) {
                problem_ = "cd" + std::to_string(cd->id) +
                           " cannot be queried: " + cd_last_error_message();
                return;
            }
            compare(*cd, info, model_.info(*cd));
        }
        const Cd *current = model_.current();
        const char *name = cd_name(CURRENT_CD);
        if (current == nullptr ? name != nullptr
                               : name == nullptr || model_.name(*current) != name) {
            problem_ = std::string("CURRENT_CD is ") + (name != nullptr ? name : "none") +
                       ", expected " + (current != nullptr ? model_.name(*current) : "none");
        }
    }

    void compare(const Cd &cd, const cd_info &actual, const cd_info &expected) {
        const auto check = [&](const char *what, uint64_t got, uint64_t wanted) {
            if (got != wanted) {
                problem_ = std::string("cd_query: ") + what + " of cd" + std::to_string(cd.id) +
                           " is " + std::to_string(got) + ", expected " + std::to_string(wanted);
            }
        };
        check("depth", static_cast<uint64_t>(actual.depth), static_cast<uint64_t>(expected.depth));
        check("sibling", static_cast<uint64_t>(actual.sibling),
              static_cast<uint64_t>(expected.sibling));
        check("children", static_cast<uint64_t>(actual.children),
              static_cast<uint64_t>(expected.children));
        check("logging", actual.logging != 0, expected.logging != 0);
        check("replaying", actual.replaying != 0, expected.replaying != 0);
        check("restarted", actual.restarted != 0, 0);
        check("epoch", actual.epoch, expected.epoch);
        check("entries", actual.entries, expected.entries);
        check("bytes", actual.bytes, expected.bytes);
        check("read_write", actual.read_write, expected.read_write);
        check("files", actual.files, expected.files);
        check("log_length", actual.log_length, expected.log_length);
        check("log_bytes", actual.log_bytes, expected.log_bytes);
        check("log_remaining", actual.log_remaining, expected.log_remaining);
        if (actual.stored_bytes < expected.stored_bytes) {
            check("stored_bytes", actual.stored_bytes, expected.stored_bytes);
        }
    }

    Model model_;
    Files files_;
    std::map<int, cd_handle> handles_;
    std::string problem_;
};

} // namespace

std::optional<Mismatch> execute(const std::vector<Step> &program) {
    Executor executor;
    for (size_t i = 0; i < program.size(); ++i) {
        const std::string problem = executor.run(program[i]);
        if (!problem.empty()) {
            return Mismatch{i, problem};
        }
    }
    const std::string problem = executor.finish();
    if (!problem.empty()) {
        return Mismatch{program.size(), "at the end: " + problem};
    }
    return std::nullopt;
}

} // namespace model
