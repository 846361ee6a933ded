// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/open_store.h"

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
        if (Status status = there ? Status::ok() : check_that_there_is_none(choice); !status) {
            return status;
        }
        return there ? start_afresh(file) : create(Old::is_not_there);
    }

private:
    // What happens to the store that has the name.
    enum class Old { is_not_there, is_set_aside, is_removed };

    std::string aside() const { return name_ + ".old"; }

    FileStoreOptions options() const {
        FileStoreOptions options;
        options.forced = forced_;
        options.checksummed = request_.storage.checksummed();
        options.older_kept = request_.storage.keep - 1;
        return options;
    }

    // Refuses to start afresh if an epoch was asked for, and a start with CD_RESTART=no that did
    // not finish has set the store aside.
    Status check_that_there_is_none(const RestartChoice &choice) const {
        if (choice.epoch.value_or(0) == 0) {
            return Status::ok();
        }
        const std::string path = std::string(directory_.path()) + "/" + name_;
        bool kept = false;
        if (Status status = directory_.look_for(aside(), kept); !status) {
            return status;
        }
        if (kept) {
            return fail(CD_ERROR_ARGUMENT,
                        "%s: CD_RESTART asks for epoch %llu, but CD_RESTART=no has set the store "
                        "aside as %s; rename that to %s",
                        path.c_str(), static_cast<unsigned long long>(*choice.epoch),
                        aside().c_str(), name_.c_str());
        }
        const std::string line = path + ": CD_RESTART asks for epoch " +
                                 std::to_string(*choice.epoch) +
                                 ", but there is no store; starting afresh";
        os::system().warn(line.c_str());
        return Status::ok();
    }

    // The store that is set aside is removed at the first advance.
    Status start_afresh(const File &file) {
        bool kept = false;
        Status status = directory_.look_for(aside(), kept);
        bool keeps = true;
        if (status && kept) {
            status = ask_whether_newer(file, keeps);
        }
        if (!status) {
            return status;
        }
        return create(keeps ? Old::is_set_aside : Old::is_removed);
    }

    // newer: true if the store has advanced since it began, so that it is worth more than the one
    // that was set aside for it. A damaged store is worth nothing. A store that cannot be read is
    // an error, unless the ranks have agreed on an image.
    Status ask_whether_newer(const File &file, bool &newer) const {
        const uint64_t begun_with = request_.start ? request_.start->epoch : 0;
        Loaded loaded;
        std::optional<SavedMessage> keeper;
        keeper.emplace();
        const Status status = load(file, loaded);
        if (status.is_ok() || status.code() == CD_ERROR_STORE_DAMAGED ||
            status.code() == CD_ERROR_CHECKSUM || request_.start) {
            newer = status.is_ok() && loaded.state.cds[State::root].epoch > begun_with;
            return Status::ok();
        }
        const std::string reason = message();
        keeper.reset();
        return fail(status.code(),
                    "%s. One of it and \"%s\" beside it would have to go; remove the older one, or "
                    "try again",
                    reason.c_str(), aside().c_str());
    }

    Status create(Old old) {
        Directory names; // the store takes over the other one
        if (Status status = Directory::open(directory_.path(), names); !status) {
            return status;
        }
        Status status = make_new(old, names);
        if (!status) {
            opened_.pieces.clear(); // before the store, to which they give their extents back
            opened_.store.reset();
            // The other ranks do the same in FileStore::undo_start().
            if (old == Old::is_removed && request_.start) {
                names.give_back(name_, aside(), forced_);
            }
        }
        return status;
    }

    // Leaves the old store its name after a failure.
    Status make_new(Old old, const Directory &names) {
        File file;
        NewName own(names, name_);
        if (Status status = own.reserve(file); !status) {
            return status;
        }
        bool there = old != Old::is_not_there;
        if (Status status = there ? Status::ok() : names.look_for(name_, there); !status) {
            return status;
        }
        if (old == Old::is_not_there && there) {
            return fail(CD_ERROR_STORE_LOCKED,
                        "%s/%s: another process has made this store just now; repeat the call "
                        "after that process has ended",
                        names.path(), name_.c_str());
        }
        if (Status status = names.remove_hidden(name_); !status) {
            return status;
        }
        if (Status status = fill(file); !status) {
            return status;
        }
        return old == Old::is_not_there ? publish(own) : replace(own, names, old);
    }

    Status publish(NewName &own) {
        Status status = opened_.store->publish();
        if (status) {
            own.is_published();
            opened_.store->comes_after(FileStore::Before::nothing);
        }
        return status;
    }

    // Never leaves the old store without a name.
    Status replace(NewName &own, const Directory &names, Old old) {
        const std::string hidden = Directory::removed(name_);
        OldName of_old(names, name_, forced_);
        if (Status status = of_old.keep_as(old == Old::is_set_aside ? aside() : hidden); !status) {
            return status;
        }
        if (Status status = opened_.store->replace(); !status) {
            return status;
        }
        own.is_published();
        of_old.is_taken();
        if (old == Old::is_removed) {
            names.try_to_remove(hidden);
        }
        opened_.store->comes_after(FileStore::Before::set_aside);
        return Status::ok();
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
        if (Status status = load(file, opened_.loaded); !status) {
            return status;
        }
        uint64_t size = 0;
        if (Status status = file.size(size); !status) {
            return status;
        }
        make_store(std::move(file), size);
        opened_.store->take_over(opened_.loaded, opened_.pieces);
        opened_.restarted = true;
        return Status::ok();
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
        // The store has both names if a start afresh was killed early.
        bool is_itself_aside = false;
        if (Status status = directory_.has_name(aside(), file, is_itself_aside); !status) {
            return status;
        }
        uint64_t size = 0;
        if (Status status = file.size(size); !status) {
            return status;
        }
        make_store(std::move(file), size);
        opened_.store->take_over(loaded, opened_.pieces);
        opened_.restarted = true;
        return is_itself_aside ? Status::ok() : tell_of_what_is_aside();
    }

    // Warns: a start that was killed before its first advance has set aside stores of some ranks.
    Status tell_of_what_is_aside() const {
        const FileStore &store = *opened_.store;
        bool kept = false;
        if (Status status = store.directory().look_for(aside(), kept); !status) {
            return status;
        }
        if (kept) {
            const std::string line =
                std::string(store.directory().path()) + "/" + name_ +
                ": the root goes on from it; " + aside() +
                " beside it, which an earlier start has put aside, goes with the next advance: to "
                "go on from that instead, end the program before, and rename it to " +
                name_;
            os::system().warn(line.c_str());
        }
        return Status::ok();
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
