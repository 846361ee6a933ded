// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/open_store.h"

#include "base/no_throw.h"
#include "config/restart_choice.h"
#include "file_store/directory.h"
#include "file_store/load.h"
#include "file_store/permissions.h"
#include "file_store/snapshot_image.h"
#include "os/system.h"

#include <fcntl.h>

#include <optional>
#include <utility>

namespace cd {
namespace {

constexpr char default_directory[] = "cd-stores";

class Opening {
public:
    Opening(const OpenRequest &request, Addresses &addresses, OpenedStore &opened)
        : request_(request), addresses_(addresses), opened_(opened),
          name_(store_name(request.rank, request.name)),
          forced_(request.storage.sync == Sync::full) {}

    Status run() {
        RestartChoice choice;
        if (request_.start) {
            choice.afresh = true;
        } else if (Status status =
                       parse_restart_choice(os::system().environment("CD_RESTART"), choice);
                   !status) {
            return status;
        }
        std::string where;
        if (Status status = store_directory(request_.storage, where); !status) {
            return status;
        }
        if (Status status = Directory::open(where, directory_); !status) {
            return status;
        }
        if (Status status = forced_ ? directory_.force() : Status::ok(); !status) {
            return status;
        }
        File file;
        bool there = false;
        if (Status status = directory_.open_store(name_, file, there); !status) {
            return status;
        }
        if (there) {
            directory_.remove_unfinished(name_, file);
        }
        if (there && !choice.afresh) {
            return attach(std::move(file), choice.epoch);
        }
        if (there) {
            return start_afresh(file);
        }
        if (choice.epoch.value_or(0) > 0) {
            const std::string line =
                std::string(directory_.path()) + "/" + name_ + ": CD_RESTART asks for epoch " +
                std::to_string(*choice.epoch) + ", but there is no store; starting afresh";
            os::system().warn(line.c_str());
        }
        return create(Old::is_not_there);
    }

private:
    // What happens to the store that has the name.
    enum class Old { is_not_there, is_set_aside, is_replaced };

    std::string aside() const { return name_ + ".old"; }

    FileStoreOptions options() const {
        FileStoreOptions options;
        options.forced = forced_;
        options.checksummed = request_.storage.checksummed();
        options.older_kept = request_.storage.keep - 1;
        return options;
    }

    // Sets the store aside until the first advance. A store that has not advanced since an earlier
    // start made it, or is damaged, goes instead: what that start has set aside stays.
    Status start_afresh(const File &file) {
        bool kept = false;
        if (Status status = directory_.look_for(aside(), kept); !status || !kept) {
            return status ? create(Old::is_set_aside) : status;
        }
        const uint64_t begun_with = request_.start ? request_.start->epoch : 0;
        Loaded loaded;
        Status status = load(file, loaded);
        if (!status && status.code() != CD_ERROR_STORE_DAMAGED &&
            status.code() != CD_ERROR_CHECKSUM) {
            return status;
        }
        const bool advanced = status && loaded.state.cds[State::root].epoch > begun_with;
        return create(advanced ? Old::is_set_aside : Old::is_replaced);
    }

    // The directory, which the store takes over.
    const Directory &directory() const {
        return opened_.store != nullptr ? opened_.store->directory() : directory_;
    }

    // Never leaves the old store without a name, and leaves it its own after a failure.
    Status create(Old old) {
        if (Status status = directory_.remove_hidden(name_); !status) {
            return status;
        }
        File file;
        if (Status status = directory_.create_store(name_, file); !status) {
            return status;
        }
        bool kept = false;
        Status status = catch_exceptions([&] {
            Status made = fill(file);
            if (made && old == Old::is_set_aside) {
                made = directory().keep_by(name_, aside(), forced_);
                kept = made.is_ok();
            }
            return made ? opened_.store->publish(old != Old::is_not_there) : made;
        });
        if (!status) {
            best_effort([&] {
                if (kept) {
                    directory().give_back(name_, aside(), forced_);
                }
                directory().give_up_unfinished(name_);
            });
            opened_.pieces.clear(); // before the store, to which they give their extents back
            opened_.store.reset();
        }
        return status;
    }

    Status fill(File &file) {
        Superblock identity;
        identity.rank = request_.rank;
        identity.name = request_.name;
        if (os::system().random(identity.id.data(), identity.id.size()) != 0) {
            return file.refused("get random numbers for the file");
        }
        const bool begins_empty = !request_.start || request_.start->epoch == 0;
        return begins_empty ? fill_with_nothing(file, identity) : fill_from_image(file, identity);
    }

    Status fill_with_nothing(File &file, Superblock identity) {
        identity.names_all_objects = true;
        make_store(std::move(file), format::first_extent);
        return opened_.store->create_empty(identity);
    }

    Status fill_from_image(File &file, const Superblock &identity) {
        if (Status status = copy_image(file, identity); !status) {
            return status;
        }
        Status status = load(file, opened_.loaded);
        return status ? go_on_in(std::move(file)) : status;
    }

    Status copy_image(const File &file, Superblock identity) const {
        const std::string &path = request_.start->image;
        constexpr int flags =
            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; // does not wait for a fifo
        const File image(os::system().open_at(AT_FDCWD, path.c_str(), flags, 0), path);
        if (!image.is_open()) {
            return image.refused("open the image to start from");
        }
        Loaded found;
        if (Status status = load(image, found); !status) {
            return status;
        }
        if (Status status = check_identity(image, found.header); !status) {
            return status;
        }
        const uint64_t epoch = found.state.cds[State::root].epoch;
        if (epoch != request_.start->epoch) {
            return fail(
                CD_ERROR_STORE_DAMAGED,
                "%s: the image should be of epoch %llu, and is of epoch %llu; put the right one "
                "back, or start with CD_RESTART=EPOCH for an epoch that all ranks have",
                path.c_str(), static_cast<unsigned long long>(request_.start->epoch),
                static_cast<unsigned long long>(epoch));
        }
        identity.names_all_objects = found.header.names_all_objects;
        return write_image(image, identity, std::move(found.state), file);
    }

    Status attach(File file, std::optional<uint64_t> epoch) {
        // A killed process may not have forced what it wrote.
        if (Status status = forced_ ? file.sync_all() : Status::ok(); !status) {
            return status;
        }
        Loaded &loaded = opened_.loaded;
        if (Status status = load(file, loaded); !status) {
            return status;
        }
        if (Status status = check_identity(file, loaded.header); !status) {
            return status;
        }
        if (Status status = choose_point_in_time(file, epoch); !status) {
            return status;
        }
        if (Status status = tell_of_what_is_aside(file); !status) {
            return status;
        }
        return go_on_in(std::move(file));
    }

    Status go_on_in(File file) {
        uint64_t size = 0;
        if (Status status = file.size(size); !status) {
            return status;
        }
        make_store(std::move(file), size);
        opened_.store->take_over(opened_.loaded, opened_.pieces);
        opened_.restarted = true;
        return Status::ok();
    }

    // Warns: a start that was killed before its first advance has set aside stores of some ranks.
    // One that was killed early has given the store both names.
    Status tell_of_what_is_aside(const File &file) const {
        bool kept = false;
        bool is_itself = false;
        Status status = directory_.look_for(aside(), kept);
        status = status ? directory_.has_name(aside(), file, is_itself) : status;
        if (status && kept && !is_itself) {
            const std::string line =
                std::string(file.path()) + ": the root goes on from it; " + aside() +
                " beside it, which an earlier start has put aside, goes with the next advance: to "
                "go on from that instead, end the program before, and rename it to " +
                name_;
            os::system().warn(line.c_str());
        }
        return status;
    }

    // Reads data only if there are older points in time: a restore finds damage, too.
    Status choose_point_in_time(const File &file, std::optional<uint64_t> epoch) const {
        Loaded &loaded = opened_.loaded;
        if (!epoch && loaded.doubt.empty() && !loaded.state.versions.empty()) {
            if (Status status = take_newest_whole(file, loaded, Unchecked::counts_as_whole);
                !status) {
                return status;
            }
        }
        opened_.newer_are_damaged = !epoch && loaded.newer > 0;
        if (Status status = epoch ? go_back_to(file, *epoch) : Status::ok(); !status) {
            return status;
        }
        if (!loaded.doubt.empty()) {
            const std::string line =
                std::string(file.path()) + ": " + loaded.doubt + "; taking " +
                (epoch ? "what CD_RESTART asks for" : "the newest state that is whole") +
                ", epoch " + std::to_string(loaded.state.cds[State::root].epoch);
            os::system().warn(line.c_str());
        }
        return Status::ok();
    }

    // Refuses the file of another CD, which was copied or renamed.
    Status check_identity(const File &file, const Superblock &header) const {
        if (header.rank == request_.rank && header.name == request_.name) {
            return Status::ok();
        }
        return fail(CD_ERROR_STORE_DAMAGED,
                    "%s: the header at offset 0 names root CD \"%s\" of rank %d, not \"%s\" of "
                    "rank %d: the file was copied or renamed. Rename it to %s",
                    file.path(), header.name.c_str(), header.rank, request_.name.c_str(),
                    request_.rank, store_name(header.rank, header.name).c_str());
    }

    Status go_back_to(const File &file, uint64_t epoch) const {
        State &state = opened_.loaded.state;
        const std::string known = known_epochs(state);
        while (state.cds[State::root].epoch != epoch && !state.versions.empty()) {
            go_back(opened_.loaded);
        }
        // The first change gives up all newer points in time: check that the chosen one is whole.
        if (state.cds[State::root].epoch == epoch) {
            const auto unchecked = opened_.loaded.doubt.empty() ? Unchecked::counts_as_whole
                                                                : Unchecked::counts_as_damaged;
            const bool is_only_one = opened_.loaded.newer == 0 && state.versions.empty();
            return is_only_one ? Status::ok() : check_newest(file, state, unchecked);
        }
        return fail(CD_ERROR_ARGUMENT,
                    "%s: CD_RESTART asks for epoch %llu; the store has%s (keep=N in storage_info "
                    "keeps more)",
                    file.path(), static_cast<unsigned long long>(epoch), known.c_str());
    }

    void make_store(File &&file, uint64_t size) {
        opened_.store = std::make_shared<FileStore>(std::move(file), size, std::move(directory_),
                                                    name_, options(), addresses_);
        opened_.store->keep_aside(aside());
        // A protected store is read right after it was written, from the page cache.
        if (forced_ && !request_.storage.is_protected()) {
            opened_.store->volume().write_past_cache();
        }
    }

    const OpenRequest &request_;
    Addresses &addresses_;
    OpenedStore &opened_;
    std::string name_;
    bool forced_;
    Directory directory_;
};

} // namespace

Status store_directory(const StorageInfo &storage, std::string &directory) {
    if (storage.dir.empty()) {
        directory = default_directory;
        return Status::ok();
    }
    return own_directory(storage.dir, directory);
}

std::string store_name(int rank, const std::string &root) {
    return std::to_string(rank) + "-" + root + ".cds";
}

Status open_store(const OpenRequest &request, Addresses &addresses, OpenedStore &opened) {
    return Opening(request, addresses, opened).run();
}

} // namespace cd
