// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/checkpointer.h"

#include "base/no_throw.h"
#include "redset/encode.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

namespace cd::checkpoint {

using redset::Bytes;

namespace {

// Ranks send each other their next step: the epoch to advance to, or one of these.
constexpr uint64_t step_commit = 0;
constexpr uint64_t step_leave = ~uint64_t{0};

std::array<char, 64> describe_step(uint64_t step) {
    std::array<char, 64> text = {"commits the root"};
    if (step == step_leave) {
        std::snprintf(text.data(), text.size(), "has come to MPI_Finalize");
    } else if (step != step_commit) {
        std::snprintf(text.data(), text.size(), "advances it to epoch %llu",
                      static_cast<unsigned long long>(step));
    }
    return text;
}

std::span<const std::byte> bytes_of(const uint64_t &step) {
    return std::as_bytes(std::span(&step, 1));
}

} // namespace

Status Checkpointer::open(std::unique_ptr<Job> job, const Request &request, Mode mode,
                          std::unique_ptr<Checkpointer> &checkpointer) {
    OpenRoot opened;
    if (Status status = checkpoint::open_root(*job, request, opened); !status) {
        return status;
    }
    std::unique_ptr<Checkpointer> made;
    Job &ranks = *job; // where it lives does not change
    Status ready = catch_exceptions([&] {
        std::unique_ptr<Flush> flush;
        if (opened.flush_store) {
            flush = std::make_unique<Flush>(ranks, opened.stores[*opened.flush_store],
                                            request.flush_interval, request.sync);
        }
        made.reset(new Checkpointer(std::move(job), std::move(opened), std::move(flush),
                                    request.sync, mode));
    });
    if (Status status = agree(ranks, ready); !status) {
        return status;
    }
    checkpointer = std::move(made);
    return Status::ok();
}

Checkpointer::Checkpointer(std::unique_ptr<Job> job, OpenRoot opened, std::unique_ptr<Flush> flush,
                           bool sync, Mode mode) noexcept
    : job_(std::move(job)), opened_(std::move(opened)), sync_(sync), mode_(mode),
      protected_epoch_(opened_.start ? opened_.start->id.epoch : 0), flush_(std::move(flush)) {}

// A flush that is under way stays unfinished, unless wait() was called before.
Checkpointer::~Checkpointer() {
    (void)take_outcome();
    flush_.reset();
    close_stores(opened_.stores);
}

Status Checkpointer::wait() {
    const SavedStatus outcome = take_outcome();
    if (flush_ && flush_->under_way()) {
        flush_->finish();
    }
    return outcome.again();
}

void Checkpointer::leave() noexcept {
    const SavedMessage keeper;
    if (std::exchange(leaves_, true) || !left_.is_ok()) {
        return;
    }
    join();
    std::vector<Bytes> all;
    Status met = agree_if_possible(*job_, Status::ok(), bytes_of(step_leave), all);
    met = met ? check_step(step_leave, all) : met;
    if (met && !all.empty()) {
        (void)wait().is_ok(); // users have been warned
    }
}

// all: the steps of all ranks; empty where they could not meet.
Status Checkpointer::check_step(uint64_t step, const std::vector<Bytes> &all) noexcept {
    for (size_t position = 0; position < all.size(); ++position) {
        uint64_t theirs = 0;
        std::memcpy(&theirs, all[position].data(), std::min(sizeof theirs, all[position].size()));
        if (theirs == step) {
            continue;
        }
        Status status =
            fail(CD_ERROR_ARGUMENT,
                 "rank %d %s while this one %s; with redundancy all ranks do the same; "
                 "nothing was changed",
                 job_->ranks()[position], describe_step(theirs).data(), describe_step(step).data());
        if (theirs == step_leave) {
            left_ = SavedStatus(status);
        }
        return status;
    }
    return Status::ok();
}

std::string Checkpointer::image_of_start() const {
    const CheckpointDir &folder = opened_.stores[start()->store].folder;
    return folder.path_of(start()->id) + "/" + image_name(job_->rank());
}

Status Checkpointer::protect(const cd_offered_point &offered) {
    const SavedStatus before = take_outcome();
    if (offered.write_image != nullptr) {
        offered_ = offered;
    } else {
        advance_failure_ =
            SavedStatus(fail(CD_ERROR_STORE_IO, "%s", static_cast<const char *>(offered.context)));
    }
    const OpenLevel &level = opened_.levels[level_of(opened_.levels, offered.epoch)];
    const CheckpointId id{opened_.next_number++, offered.epoch, level.index, opened_.session};
    if (Status status = mode_ == Mode::sync ? complete(id) : complete_in_thread(id); !status) {
        return status;
    }
    return before.again();
}

Status Checkpointer::complete_in_thread(const CheckpointId &id) {
    try {
        helper_ = std::thread([this, id] { outcome_ = SavedStatus(complete(id)); });
    } catch (const std::exception &) { // std::system_error: this thread does it
        return complete(id);
    }
    return Status::ok();
}

void Checkpointer::join() noexcept {
    if (helper_.joinable()) {
        helper_.join();
    }
}

SavedStatus Checkpointer::take_outcome() {
    join();
    return std::exchange(outcome_, {});
}

Status Checkpointer::may_advance(uint64_t epoch, Status own) noexcept {
    const SavedStatus kept(own);
    join();
    std::vector<Bytes> all;
    if (!left_.is_ok()) {
        return left_.again();
    }
    Status status = agree_if_possible(*job_, kept.again(), bytes_of(epoch), all);
    return status ? check_step(epoch, all) : status;
}

Status Checkpointer::write_image(const CheckpointId &id, const std::string &path) const {
    if (!offered_) {
        return advance_failure_.again();
    }
    if (Status status = folder_of(id).make(id); !status) {
        return status;
    }
    cd_protection_message why = {};
    const int code = offered_->write_image(offered_->context, path.c_str(), &why);
    return code == 0 ? Status::ok() : fail(static_cast<cd_error>(code), "%.1000s", why.text);
}

void Checkpointer::release() noexcept {
    if (offered_) {
        offered_->release(offered_->context);
        offered_.reset();
    }
}

// Fails on all ranks for the same reason. One of them prints it.
Status Checkpointer::complete(const CheckpointId &id) noexcept {
    Status status = commit_checkpoint(id);
    if (!status && job_->warns_users()) {
        warn_of_unprotected(id.epoch);
    }
    return status;
}

void Checkpointer::warn_of_unprotected(uint64_t epoch) const noexcept {
    std::array<char, 64> what_is = {"no epoch is protected"};
    if (const uint64_t older = protected_epoch_; older > 0) {
        std::snprintf(what_is.data(), what_is.size(), "epoch %llu still is",
                      static_cast<unsigned long long>(older));
    }
    const std::string_view why = without_repeating(message());
    std::array<char, 2048> line; // there may be no memory for more
    std::snprintf(line.data(), line.size(),
                  "root \"%s\": epoch %llu is in local stores only, and not protected from the "
                  "loss of nodes; %s: %.*s",
                  opened_.root.c_str(), static_cast<unsigned long long>(epoch), what_is.data(),
                  static_cast<int>(why.size()), why.data());
    os::system().warn(line.data());
}

// Two-phase commit: when all ranks have stored the checkpoint, each records it as committed. When
// all have, older ones are removed. A restart uses the new one if any rank has recorded it.
Status Checkpointer::commit_checkpoint(const CheckpointId &id) noexcept {
    const CheckpointDir &folder = folder_of(id);
    if (Status status = store(id); !status) {
        best_effort([&] { folder.remove_files_of(id, job_->rank()); });
        return status;
    }
    Status marked = catch_exceptions([&] { return folder.mark_committed(id, job_->rank()); });
    if (Status status = agree(*job_, marked); !status) {
        return status;
    }
    protected_epoch_ = id.epoch;
    if (flush_ && flush_->is_due(id.epoch)) {
        if (flush_->under_way()) {
            flush_->finish();
        }
        flush_->begin(id, folder, level_with(id.level).division.set_of(job_->rank()));
    }
    best_effort([&] { return remove_older(id); });
    return Status::ok();
}

// Keeps the checkpoints of other levels that the program still has, and copies of flush= until the
// next copy is committed. Removes what an earlier session stored after the start of this one.
Status Checkpointer::remove_older(const CheckpointId &id) const {
    const uint64_t start = opened_.start ? opened_.start->id.epoch : 0;
    const auto is_of_another_level = [&](const CheckpointId &other) {
        return other.level != id.level &&
               (other.level == flush_level ||
                std::ranges::find(opened_.levels, other.level, &OpenLevel::index) !=
                    opened_.levels.end());
    };
    return each_reported(opened_.stores, [&](const OpenStore &store, size_t which) {
        return store.folder.remove_before(id.number, [&](const CheckpointId &other) {
            return (which == opened_.flush_store || is_of_another_level(other)) &&
                   (other.session == opened_.session || other.epoch <= start);
        });
    });
}

const OpenLevel &Checkpointer::level_with(int index) const {
    return *std::ranges::find(opened_.levels, index, &OpenLevel::index);
}

const CheckpointDir &Checkpointer::folder_of(const CheckpointId &id) const {
    return opened_.stores[level_with(id.level).store].folder;
}

// Writes the image and makes the redundancy with the set. Commits a copy that all ranks have made
// meanwhile.
Status Checkpointer::store(const CheckpointId &id) noexcept {
    const int rank = job_->rank();
    const CheckpointDir &folder = folder_of(id);
    const OpenLevel &level = level_with(id.level);
    const redset::Set &set = level.division.set_of(rank);
    redset::Place place;
    std::vector<std::string> names;
    Status stored = catch_exceptions([&] {
        place = folder.place_of(id);
        names = {image_name(rank)};
        return write_image(id, place.path(names.front()));
    });
    release();
    const std::byte copied{flush_ && flush_->under_way() && flush_->copied()};
    std::vector<Bytes> all;
    if (Status status = agree(*job_, stored, std::span(&copied, 1), all); !status) {
        return status;
    }
    if (std::ranges::all_of(
            all, [](const Bytes &each) { return !each.empty() && each.front() != std::byte{}; })) {
        flush_->finish();
    }
    stored = redset::apply(*level.set, set, place, names, {sync_});
    stored = stored ? catch_exceptions([&] {
        const auto participants = static_cast<int>(job_->ranks().size());
        return folder.write_record({id, rank, participants, set}, false);
    })
                    : stored;
    return agree(*job_, stored);
}

// The ranks agree that all can commit, that all commit markers are written, and that the
// checkpoints are removed. Where a marker cannot be written, all are removed again.
Status Checkpointer::commit_root(Status own) noexcept {
    const SavedStatus refused(own);
    join();
    std::vector<Bytes> all;
    if (!left_.is_ok()) {
        return left_.again();
    }
    Status agreed = agree(*job_, refused.again(), bytes_of(step_commit), all);
    if (Status status = agreed ? check_step(step_commit, all) : agreed; !status) {
        return status;
    }
    (void)wait().is_ok(); // users have been warned
    if (Status status = agree(*job_, catch_exceptions([&] { return write_commit_marker(); }));
        !status) {
        best_effort([&] { remove_commit_marker(); });
        return status;
    }
    protected_epoch_ = 0;
    remove_ended();
    return Status::ok();
}

Status Checkpointer::write_commit_marker() {
    const CommitMarker marker{opened_.next_number - 1, opened_.sessions};
    return each_reported(opened_.stores, [&](const OpenStore &store, size_t) {
        return store.folder.write_commit_marker(marker, job_->rank());
    });
}

void Checkpointer::remove_commit_marker() {
    for (const OpenStore &store : opened_.stores) {
        if (store.reports) {
            (void)store.folder.remove_commit_marker(opened_.next_number - 1).is_ok();
        }
    }
}

// A commit marker stays until no node has a checkpoint that it is for.
void Checkpointer::remove_ended() {
    const SavedMessage keeper;
    Status removed = catch_exceptions([&] {
        return each_reported(opened_.stores, [&](const OpenStore &store, size_t) {
            return store.folder.remove_before(opened_.next_number, keeps_none);
        });
    });
    if (Status status = agree(*job_, removed); !status) {
        job_->warn_once(message());
        return;
    }
    (void)each_reported(opened_.stores, [](OpenStore &store, size_t) {
        store.lock.reset();
        best_effort([&] { store.folder.remove_commit_markers(); });
        return Status::ok();
    });
}

void Checkpointers::add(Checkpointer &checkpointer) {
    const std::lock_guard lock(mutex_);
    by_root_[checkpointer.root()] = &checkpointer;
}

void Checkpointers::remove(const Checkpointer &checkpointer) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(by_root_, [&](const auto &each) { return each.second == &checkpointer; });
}

void Checkpointers::leave() noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto &[root, checkpointer] : by_root_) {
        checkpointer->leave();
    }
}

} // namespace cd::checkpoint
