// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "victim.h"

#include "application.h"
#include "os/system.h"

#include <unistd.h>

#include <cstdio>
#include <map>

namespace killed {
namespace {

using model::Op;
using model::Step;

// All that is whole blocks goes past the page cache.
class DirectSystem : public cd::os::System {
public:
    int open_direct(int fd, uint64_t &pays_from) override {
        const int direct = System::open_direct(fd, pays_from);
        pays_from = 0;
        return direct;
    }
};

class Victim {
public:
    Victim(Plan &plan, std::string storage) : plan_(plan), storage_(std::move(storage)) {}

    bool attach() {
        map_memory();
        write_memory(plan_.model().memory());
        for (const auto &cd : plan_.model().live()) {
            if (cd->parent == nullptr) {
                handles_[cd->id] = create_root(cd->root_name.c_str());
                if (handles_[cd->id] == nullptr) {
                    return refused("attach");
                }
            }
        }
        return true;
    }

    bool go_on() {
        const Step &step = plan_.next();
        if (!call(step)) {
            return refused(model::describe(step).c_str());
        }
        plan_.done();
        return step.op != Op::restore ||
               (memory_is_right() && positions_are_right(*plan_.model().find(step.target.id)));
    }

private:
    cd_handle create_root(const char *name) const {
        return create_cd(nullptr, storage_.c_str(), CD_COMM_LOGGING_DISABLED, name, nullptr);
    }

    static bool refused(const char *what) {
        std::fprintf(stderr, "%s: %s\n", what, cd_last_error_message());
        return false;
    }

    bool memory_is_right() const {
        for (int i = 0; i < cells; ++i) {
            const int wanted = plan_.model().memory()[static_cast<size_t>(i)];
            if (read_cell(i) != wanted) {
                std::fprintf(stderr, "after a restore: cell %d holds %d, not %d\n", i, read_cell(i),
                             wanted);
                return false;
            }
        }
        return true;
    }

    // A descendant that was not made again has no files here.
    static bool positions_are_right(const model::Cd &restored) {
        for (const auto &[slot, record] : restored.files) {
            const off_t position = ::lseek(file_of(slot), 0, SEEK_CUR);
            if (position != record.position) {
                std::fprintf(stderr, "after a restore: file %d is at %lld, not %ld\n", slot,
                             static_cast<long long>(position), record.position);
                return false;
            }
        }
        return true;
    }

    bool call(const Step &step) {
        if (step.op == Op::write) {
            for (int i = 0; i < step.length; ++i) {
                write_cell(step.offset + i, model::written_byte(step, i));
            }
            return true;
        }
        if (step.op == Op::seek) {
            return ::lseek(file_of(step.slot), step.value, SEEK_SET) == step.value;
        }
        if (step.op == Op::create) {
            const bool root = step.target.kind == model::Handle::null;
            cd_handle made = root ? create_root(model::names()[static_cast<size_t>(step.name)].text)
                                  : create_cd(handles_.at(step.target.id), nullptr,
                                              CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
            handles_[step.id] = made;
            return made != nullptr;
        }
        cd_handle cd = handles_.at(step.target.id);
        const std::vector<cd_addrspec> list = ranges(step);
        switch (step.op) {
        case Op::add_copy:
            return add_to_cd_via_copy(cd, list.data(), step.count, nullptr) == CD_SUCCESS;
        case Op::add_parent:
            return add_to_cd_via_parent(cd, list.data(), step.count, nullptr) == CD_SUCCESS;
        case Op::add_regen:
            return add_to_cd_via_regen(cd, list.data(), step.count, nullptr, regenerate) ==
                   CD_SUCCESS;
        case Op::add_file:
            return add_file_to_cd(cd, file_of(step.slot)) == CD_SUCCESS;
        case Op::delete_file:
            return delete_file_from_cd(cd, file_of(step.slot)) == CD_SUCCESS;
        case Op::remove:
            return delete_from_cd(cd, list.data(), step.count) == CD_SUCCESS;
        case Op::advance:
            return advance_cd_point_in_time(cd) == CD_SUCCESS;
        case Op::commit:
            return commit_cd(cd) == CD_SUCCESS;
        default:
            return restore_cd(cd) == CD_SUCCESS;
        }
    }

    Plan &plan_;
    std::string storage_;
    std::map<int, cd_handle> handles_;
};

} // namespace

int be_victim(Plan &plan, const std::string &storage, int progress) {
    DirectSystem system;
    cd::os::replace_system(&system);
    Victim victim(plan, storage);
    if (!victim.attach()) {
        return 1;
    }
    for (int i = 0; i < steps_of_a_life; ++i) {
        if (!victim.go_on() || ::write(progress, "", 1) != 1) {
            return 1;
        }
    }
    return 0;
}

} // namespace killed
