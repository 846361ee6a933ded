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
    // What becomes of the store that has the name.
    enum class Old { is_not_there, is_set_aside, is_removed };

    std::string aside() const { return name_ + ".old"; }

    FileStoreOptions options() const {
        FileStoreOptions options;
        options.forced = forced_;
        options.checksummed = request_.storage.checksummed();
        options.older_kept = request_.storage.keep - 1;
        return options;
    }

    // What a start with CD_RESTART=no kept aside, and ended before it had a store of its own, is
    // not given up for one that asks for an epoch.
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
                        "%s: CD_RESTART asks for epoch %llu, and there is no store, but %s beside "
                        "it, which a start with CD_RESTART=no has kept aside: rename it to %s to "
                        "go on from it",
                        path.c_str(), static_cast<unsigned long long>(*choice.epoch),
                        aside().c_str(), name_.c_str());
        }
        const std::string line = path + ": CD_RESTART asks for epoch " +
                                 std::to_string(*choice.epoch) +
                                 ", but there is no store; starting afresh";
        os::system().warn(line.c_str());
        return Status::ok();
    }

    // What is kept aside goes with the first new point in time.
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

    // A store that began in this way and has not advanced since holds nothing that is worth more
    // than what was kept aside for it; one that is damaged holds nothing at all. One that cannot be
    // read now, or not by this library, may; but where ranks have agreed on an image it is the
    // image that counts.
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
                    "%s. It does not say whether it is newer than \"%s\" beside it, of which one "
                    "would have to go; remove one of them, or try again",
                    reason.c_str(), aside().c_str());
    }

    Status create(Old old) {
        Directory names; // the store takes the other one with it, also if it is not finished
        if (Status status = Directory::open(directory_.path(), names); !status) {
            return status;
        }
        Status status = make_new(old, names);
        if (!status) {
            opened_.pieces.clear(); // which give their places back to the store
            opened_.store.reset();
            // As the other ranks do, see FileStore::undo_start().
            if (old == Old::is_removed && request_.start) {
                names.give_back(name_, aside(), forced_);
            }
        }
        return status;
    }

    // The old store keeps the name unless all succeeds.
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
                        "%s/%s: another process has made this store just now; repeat the call to "
                        "go on from it, once that process has ended",
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

    // The old store is never without a name.
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
            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; // no fifo is waited for
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
                "%s: the image should be of epoch %llu, and is of epoch %llu; put back what "
                "this rank had of epoch %llu, or start with CD_RESTART=EPOCH for another "
                "epoch that all ranks have, or afresh with CD_RESTART=no",
                path.c_str(), static_cast<unsigned long long>(request_.start->epoch),
                static_cast<unsigned long long>(epoch),
                static_cast<unsigned long long>(request_.start->epoch));
        }
        identity.names_all_objects = found.header.names_all_objects;
        return write_image(image, identity, std::move(found.state), file);
    }

    Status attach(File file, std::optional<uint64_t> epoch) {
        // What a killed process wrote is there for us, but not yet for whoever comes after a crash.
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
        // Two names of one store: a start afresh was killed before its own had either.
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

    // A start that was killed before its first advance need not have put anything aside in all
    // ranks.
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

    // Data are read only where another choice is possible: what is damaged is found when it is
    // restored, too.
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
        } else if (!loaded.flaw.empty()) {
            const std::string line = std::string(file.path()) + ": " + loaded.flaw + has_a_copy;
            os::system().warn(line.c_str());
        }
        return Status::ok();
    }

    // A file that was copied or renamed is another CD's.
    Status check_identity(const File &file, const Superblock &header) const {
        if (header.rank == request_.rank && header.name == request_.name) {
            return Status::ok();
        }
        return fail(CD_ERROR_STORE_DAMAGED,
                    "%s: the header at offset 0 says that the store is that of the root CD \"%s\" "
                    "of rank %d, not of \"%s\" of rank "
                    "%d; it was copied or renamed. Rename it to %s to start from it as that root",
                    file.path(), header.name.c_str(), header.rank, request_.name.c_str(),
                    request_.rank, store_name(header.rank, header.name).c_str());
    }

    Status go_back_to(const File &file, uint64_t epoch) const {
        State &state = opened_.loaded.state;
        const std::string known = known_epochs(state);
        while (state.cds[State::root].epoch != epoch && !state.versions.empty()) {
            go_back(opened_.loaded);
        }
        // What is newer ends with the first change, so the choice must not be one for nothing; and
        // of a damaged one the older ones are to be chosen while the file is as it was.
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
        // What is protected is read right after it was written.
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
