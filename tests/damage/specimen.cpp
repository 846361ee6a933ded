// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "specimen.h"

#include "cd/cd.h"
#include "content.h"
#include "file_store/change_encoder.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>

namespace damage {
namespace {

constexpr size_t heap_size = 70'000; // more than one checked part
std::array<unsigned char, 5000> global;

// At once, since nobody optimises loops of tests.
bool are_all(std::span<const unsigned char> bytes, unsigned char value) {
    return bytes[0] == value && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

cd::State gone_back(const cd::State &state, size_t version) {
    cd::State older = state;
    cd::StoredCd &root = older.cds.at(cd::State::root);
    root.epoch = state.versions[version].epoch;
    root.entries = state.versions[version].entries;
    root.files = state.versions[version].files;
    older.cds.erase(std::next(older.cds.begin()), older.cds.end());
    older.versions.resize(version);
    return older;
}

void require(bool holds, const std::string &what) {
    if (!holds) {
        throw std::runtime_error(what);
    }
}

} // namespace

Directory::Directory()
    : path_((std::filesystem::temp_directory_path() / "cd-damage-XXXXXX").string()) {
    require(::mkdtemp(path_.data()) != nullptr, path_);
}

Directory::~Directory() { std::filesystem::remove_all(path_); }

// ---- Program ----

Program::Program(const std::string &directory, const std::string &keys)
    : storage_("store=file,sync=none,dir=" + directory + keys), heap_(heap_size) {
    set(0);
}

std::string Program::open(const char *name) {
    int code = 0;
    root_ = create_cd(nullptr, storage_.c_str(), CD_COMM_LOGGING_DISABLED, name, &code);
    return root_ != nullptr ? "" : std::to_string(code) + " " + cd_last_error_message();
}

std::string Program::run(int advances) {
    const cd_addrspec list[] = {{global.data(), global.size(), CD_READ_WRITE, CD_GLOBAL},
                                {heap_.data(), heap_.size(), CD_READ_WRITE, CD_GLOBAL}};
    const cd_addrspec half = {heap_.data(), heap_.size() / 2, CD_READ_WRITE, CD_GLOBAL};
    const auto good = [](int result) { require(result == CD_SUCCESS, cd_last_error_message()); };
    const auto child = [&] {
        cd_handle made = create_cd(root_, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
        require(made != nullptr, cd_last_error_message());
        return made;
    };
    try {
        good(add_to_cd_via_copy(root_, list, 2, nullptr));
        for (int i = 0; i < advances; ++i) {
            cd_handle made = child();
            good(add_to_cd_via_copy(made, &half, 1, nullptr));
            good(commit_cd(made));
            good(add_to_cd_via_copy(root_, list, 2, nullptr));
            set(++done_);
            good(advance_cd_point_in_time(root_));
        }
        good(add_to_cd_via_parent(child(), &half, 1, nullptr));
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

std::string Program::restore() {
    const cd_addrspec list[] = {{global.data(), global.size(), CD_READ_WRITE, CD_GLOBAL},
                                {heap_.data(), heap_.size(), CD_READ_WRITE, CD_GLOBAL}};
    const bool restored = add_to_cd_via_copy(root_, list, 2, nullptr) == CD_SUCCESS &&
                          restore_cd(root_) == CD_SUCCESS;
    done_ = step();
    return restored ? "" : std::to_string(cd_last_error()) + " " + cd_last_error_message();
}

void Program::set(int step) {
    global.fill(static_cast<unsigned char>(step));
    std::fill(heap_.begin(), heap_.end(), static_cast<unsigned char>(step));
}

int Program::step() const {
    const unsigned char first = global[0];
    return are_all(global, first) && are_all(heap_, first) ? first : -1;
}

// ---- Specimen ----

std::string text_of(const cd::State &state) {
    cd::ChangeWriter writer;
    write_snapshot(state, writer);
    const auto bytes = writer.bytes().bytes();
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Specimen::Specimen(int advances, int keep, const std::string &keys) {
    const Directory directory;
    const std::string problem = in_process([&] {
        Program program(directory.path("s"), ",keep=" + std::to_string(keep) + keys);
        const std::string refused = program.open();
        return refused.empty() ? program.run(advances) : refused;
    });
    require(problem.empty(), problem);
    const std::string read = scratch::content(directory.path("s/0-root.cds"));
    bytes_.resize(read.size());
    std::memcpy(bytes_.data(), read.data(), read.size());
    file_ = cd::File(::memfd_create("specimen", 0), "specimen.cds");
    changed_end_ = size();
    heal();
    require(cd::load(file_, loaded_).is_ok() && loaded_.doubt.empty(), cd::message());
    newest_ = text_of(loaded_.state);
    collect_states(loaded_.header);
    if (loaded_.older.generation != 0) {
        collect_states(loaded_.older);
    }
}

void Specimen::collect_states(const cd::Superblock &header) {
    for (uint64_t records = 0;; ++records) {
        cd::State state;
        if (!cd::load_again(file_, header, records, state)) {
            break;
        }
        const std::string text = text_of(state);
        states_.insert(text);
        for (size_t version = 0; version < state.versions.size(); ++version) {
            states_.insert(text_of(gone_back(state, version)));
        }
    }
}

void Specimen::put(size_t offset, const std::byte *bytes, size_t length) {
    require(file_.write(offset, bytes, length).is_ok(), cd::message());
    changed_begin_ = std::min(changed_begin_, offset);
    changed_end_ = std::max(changed_end_, offset + length);
}

void Specimen::cut(size_t length) {
    require(::ftruncate(file_.descriptor(), static_cast<off_t>(length)) == 0, "ftruncate");
    changed_begin_ = std::min(changed_begin_, length);
    changed_end_ = size();
}

void Specimen::heal() {
    if (changed_begin_ < changed_end_) {
        require(file_
                    .write(changed_begin_, bytes_.data() + changed_begin_,
                           changed_end_ - changed_begin_)
                    .is_ok(),
                cd::message());
    }
    changed_begin_ = size();
    changed_end_ = 0;
}

} // namespace damage
