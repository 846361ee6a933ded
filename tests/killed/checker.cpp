// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checker.h"

#include "application.h"
#include "in_process.h"

#include "cd/cd.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <map>

namespace killed {
namespace {

namespace fs = std::filesystem;
using model::Cd;

constexpr long elsewhere_in_file = 7777;

// Memory after a restore of cd when what is below lowest_depth has ended; what cd and its
// descendants do not hold stays poison: those that no store has heard of hold nothing.
std::array<int, cells> restored(const Cd &cd, int lowest_depth) {
    std::array<int, cells> memory;
    memory.fill(poison);
    for (const Cd *at : model::restore_order(cd)) {
        if (at->depth > lowest_depth) {
            continue;
        }
        for (const model::Restoration kind :
             {model::Restoration::copy, model::Restoration::parent}) {
            for (int i = 0; i < cells; ++i) {
                const auto index = static_cast<size_t>(i);
                const model::Byte &byte = at->bytes[index];
                if (model::is_restored(cd, *at, byte) && byte.restoration == kind) {
                    memory[index] = kind == model::Restoration::copy
                                        ? byte.data
                                        : model::parent_copy(*at, i)->data;
                }
            }
        }
        for (int i = 0; i < cells; ++i) {
            const model::Byte &byte = at->bytes[static_cast<size_t>(i)];
            if (model::is_restored(cd, *at, byte) &&
                byte.restoration == model::Restoration::regen) {
                memory[static_cast<size_t>(i)] = model::regenerated(0, i, 0);
            }
        }
    }
    return memory;
}

// Returns the file positions after a restore; files that no CD holds stay where they were.
std::array<long, model::slot_count> positions_after(const Cd &cd, int lowest_depth) {
    std::array<long, model::slot_count> positions = {};
    positions.fill(elsewhere_in_file);
    for (const Cd *at : model::restore_order(cd)) {
        for (const auto &[slot, record] : at->files) {
            if (at->depth <= lowest_depth) {
                positions[static_cast<size_t>(slot)] = record.position;
            }
        }
    }
    return positions;
}

// "" or the error.
std::string add_again(const Cd &cd, cd_handle handle) {
    for (const model::Step &step : added_again(cd)) {
        const std::vector<cd_addrspec> list = ranges(step);
        const int result =
            step.op == model::Op::add_file
                ? add_file_to_cd(handle, file_of(step.slot))
                : add_to_cd_via_regen(handle, list.data(), step.count, nullptr, regenerate);
        if (result != CD_SUCCESS) {
            return cd_last_error_message();
        }
    }
    return "";
}

enum class Restores { of_roots, of_others };

class Checker {
public:
    Checker(const Plan &plan, std::string storage) : plan_(plan), storage_(std::move(storage)) {}

    // Checks in a process of its own.
    std::string check(Restores which) {
        map_memory();
        move_files_elsewhere(); // where the store does not have one, it is added there
        for (int name = 1; name <= 2; ++name) {
            const char *text = model::names()[static_cast<size_t>(name)].text;
            const auto &live = plan_.model().live();
            const auto root = std::find_if(live.begin(), live.end(), [&](const auto &cd) {
                return cd->parent == nullptr && cd->root_name == text;
            });
            cd_handle handle =
                create_cd(nullptr, storage_.c_str(), CD_COMM_LOGGING_DISABLED, text, nullptr);
            if (std::string problem = root == live.end() ? check_nothing(handle, text)
                                                         : check_stored(**root, handle, text);
                !problem.empty()) {
                return problem;
            }
        }
        return which == Restores::of_roots ? check_restores_of_roots() : check_restores_of_others();
    }

private:
    static void move_files_elsewhere() {
        for (int slot = 0; slot < model::slot_count; ++slot) {
            ::lseek(file_of(slot), elsewhere_in_file, SEEK_SET);
        }
    }

    // What the store has and is not added again is counted nowhere; after a restore it is seen when
    // it is added: it goes to its position.
    static std::string check_no_other_files(const Cd &cd, cd_handle handle) {
        for (int slot = 0; slot < model::slot_count; ++slot) {
            if (cd.files.contains(slot)) {
                continue;
            }
            const int file = file_of(slot);
            ::lseek(file, elsewhere_in_file, SEEK_SET);
            if (add_file_to_cd(handle, file) != CD_SUCCESS) {
                return cd_last_error_message();
            }
            if (::lseek(file, 0, SEEK_CUR) != elsewhere_in_file) {
                return "it holds file " + std::to_string(slot);
            }
            delete_file_from_cd(handle, file);
        }
        return "";
    }

    static std::string check_nothing(cd_handle handle, const std::string &what) {
        cd_info info;
        if (handle == nullptr || cd_query(handle, &info) != CD_SUCCESS) {
            return what + ": " + cd_last_error_message();
        }
        return info.restarted == 0 ? "" : what + " is there";
    }

    std::string check_stored(const Cd &cd, cd_handle handle, const std::string &what) {
        cd_info info;
        if (handle == nullptr || cd_query(handle, &info) != CD_SUCCESS) {
            return what + ": " + cd_last_error_message();
        }
        if (info.restarted == 0) {
            return what + " is not there";
        }
        if (std::string problem = add_again(cd, handle); !problem.empty()) {
            return what + ": " + problem;
        }
        cd_query(handle, &info);
        const cd_info wanted = plan_.model().info(cd);
        const auto differs = [&](const char *of, size_t found, size_t expected) {
            return what + " has " + of + " " + std::to_string(found) + ", not " +
                   std::to_string(expected);
        };
        if (info.files != wanted.files) {
            return differs("files", info.files, wanted.files);
        }
        if (info.epoch != wanted.epoch) {
            return differs("epoch", info.epoch, wanted.epoch);
        }
        if (info.bytes != wanted.bytes * cell_size || info.unbound != 0) {
            return differs("bytes", info.bytes + info.unbound, wanted.bytes * cell_size);
        }
        if (info.read_write != wanted.read_write * cell_size) {
            return differs("read_write", info.read_write, wanted.read_write * cell_size);
        }
        handles_[cd.id] = handle;
        return check_children(cd, handle, what);
    }

    // In the order of their indices, which is that in which a process gets them back; behind the
    // last one that is stored there is none.
    std::string check_children(const Cd &cd, cd_handle handle, const std::string &what) {
        std::vector<const Cd *> children =
            cd.children.empty() ? std::vector<const Cd *>()
                                : std::vector<const Cd *>(cd.children.begin(), cd.children.end());
        std::erase_if(children, [&](const Cd *child) { return !plan_.is_stored(*child); });
        std::sort(children.begin(), children.end(),
                  [](const Cd *a, const Cd *b) { return a->sibling < b->sibling; });
        const auto create = [&] {
            return create_cd(handle, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
        };
        for (const Cd *child : children) {
            const std::string name = what + "." + std::to_string(child->sibling);
            if (std::string problem = check_stored(*child, create(), name); !problem.empty()) {
                return problem;
            }
        }
        return check_nothing(create(), "another child of " + what);
    }

    std::string check_restores_of_roots() {
        for (const auto &cd : plan_.model().live()) {
            if (cd->parent != nullptr) {
                continue;
            }
            if (std::string problem = check_restore(*cd, INT_MAX); !problem.empty()) {
                return problem;
            }
        }
        return "";
    }

    // The deepest first: a restore ends what is below, so that only children are left of it.
    std::string check_restores_of_others() {
        std::vector<const Cd *> deepest_first;
        for (const auto &cd : plan_.model().live()) {
            if (cd->parent != nullptr && plan_.is_stored(*cd)) {
                deepest_first.push_back(cd.get());
            }
        }
        std::stable_sort(deepest_first.begin(), deepest_first.end(),
                         [](const Cd *a, const Cd *b) { return a->depth > b->depth; });
        for (const Cd *cd : deepest_first) {
            if (std::string problem = check_restore(*cd, cd->depth + 1); !problem.empty()) {
                return problem;
            }
        }
        return "";
    }

    std::string check_restore(const Cd &cd, int lowest_depth) {
        const std::string what = "cd" + std::to_string(cd.id) + " restored: ";
        poison_memory();
        move_files_elsewhere();
        if (restore_cd(handles_.at(cd.id)) != CD_SUCCESS) {
            return what + cd_last_error_message();
        }
        const std::array<int, cells> wanted = restored(cd, lowest_depth);
        for (int i = 0; i < cells; ++i) {
            const int expected = wanted[static_cast<size_t>(i)];
            if (read_cell(i) != expected) {
                return what + "cell " + std::to_string(i) + " holds " +
                       std::to_string(read_cell(i)) + ", not " + std::to_string(expected);
            }
        }
        const std::array<long, model::slot_count> places = positions_after(cd, lowest_depth);
        for (int slot = 0; slot < model::slot_count; ++slot) {
            const long position = ::lseek(file_of(slot), 0, SEEK_CUR);
            if (position != places[static_cast<size_t>(slot)]) {
                return what + "file " + std::to_string(slot) + " is at " +
                       std::to_string(position) + ", not " +
                       std::to_string(places[static_cast<size_t>(slot)]);
            }
        }
        const std::string problem = check_no_other_files(cd, handles_.at(cd.id));
        return problem.empty() ? "" : what + problem;
    }

    const Plan &plan_;
    std::string storage_;
    std::map<int, cd_handle> handles_;
};

std::string check_copy(const Plan &plan, const std::string &directory, Restores which) {
    const std::string copy = directory + ".copy";
    fs::remove_all(copy);
    fs::copy(directory, copy);
    fs::permissions(copy, fs::perms::owner_all);
    std::string problem = processes::in_process(
        [&] { return Checker(plan, "store=file,sync=none,dir=" + copy).check(which); });
    fs::remove_all(copy);
    return problem;
}

} // namespace

std::string difference(const Plan &plan, const std::string &directory) {
    std::string problem = check_copy(plan, directory, Restores::of_roots);
    return problem.empty() ? check_copy(plan, directory, Restores::of_others) : problem;
}

} // namespace killed
