// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/protection.h"

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

// What a rank is about to do, as the others learn it.
class Step {
public:
    static Step commit() { return Step(0); }
    static Step advance(uint64_t epoch) { return Step(epoch); }

    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(&epoch_, 1)); }

    // all: of the others, and of this one; empty where they could not meet.
    Status check(const std::vector<int> &ranks, const std::vector<Bytes> &all) const {
        for (size_t position = 0; position < all.size(); ++position) {
            const Step theirs(all[position]);
            if (all[position].size() != sizeof epoch_ || theirs.epoch_ != epoch_) {
                return fail(CD_ERROR_ARGUMENT,
                            "rank %d %s while this one %s; with redundancy all ranks do the same; "
                            "nothing was changed",
                            ranks[position], theirs.text().data(), text().data());
            }
        }
        return Status::ok();
    }

private:
    explicit Step(uint64_t epoch) : epoch_(epoch) {}
    explicit Step(const Bytes &told) {
        std::memcpy(&epoch_, told.data(), std::min(sizeof epoch_, told.size()));
    }

    std::array<char, 64> text() const {
        std::array<char, 64> text = {"commits the root"};
        if (epoch_ > 0) {
            std::snprintf(text.data(), text.size(), "advances it to epoch %llu",
                          static_cast<unsigned long long>(epoch_));
        }
        return text;
    }

    uint64_t epoch_ = 0; // 0: none, the root is committed
};

} // namespace

Status Protection::open(std::unique_ptr<Job> job, const Request &request, Mode mode,
                        std::unique_ptr<Protection> &protection) {
    Opened opened;
    if (Status status = checkpoint::open(*job, request, opened); !status) {
        return status;
    }
    std::unique_ptr<Protection> made;
    Job &ranks = *job; // where it lives does not change
    Status ready = catch_exceptions([&] {
        std::unique_ptr<Flush> flush;
        if (opened.flush_store) {
            flush = std::make_unique<Flush>(ranks, opened.stores[*opened.flush_store],
                                            request.flush_interval, request.sync);
        }
        made.reset(new Protection(std::move(job), std::move(opened), std::move(flush), request.sync,
                                  mode));
    });
    if (Status status = agree(ranks, ready); !status) {
        return status;
    }
    protection = std::move(made);
    return Status::ok();
}

Protection::Protection(std::unique_ptr<Job> job, Opened opened, std::unique_ptr<Flush> flush,
                       bool sync, Mode mode) noexcept
    : job_(std::move(job)), opened_(std::move(opened)), sync_(sync), mode_(mode),
      protected_epoch_(opened_.start_is_protected ? opened_.start->point.epoch : 0),
      flush_(std::move(flush)) {}

// A flush that is under way stays unfinished: who wants it calls wait() before.
Protection::~Protection() {
    (void)earlier();
    flush_.reset();
    close_stores(opened_.stores);
}

Status Protection::wait() {
    const SavedStatus outcome = earlier();
    if (flush_ && flush_->under_way()) {
        flush_->finish();
    }
    return outcome.again();
}

void Protection::begin_to_leave() noexcept {
    join();
    job_->begin_to_leave();
}

void Protection::leave() noexcept {
    const Parting parting = job_->leave();
    if (parting == Parting::together) {
        (void)wait().is_ok(); // people have been told
    }
    if (parting == Parting::first) {
        warn_that_others_go_on();
    }
}

void Protection::warn_that_others_go_on() const noexcept {
    std::array<char, 64> what_stays = {"nothing of it is protected"};
    if (const uint64_t epoch = protected_epoch_; epoch > 0) {
        std::snprintf(what_stays.data(), what_stays.size(), "epoch %llu stays protected",
                      static_cast<unsigned long long>(epoch));
    }
    std::array<char, 2048> line;
    std::snprintf(line.data(), line.size(),
                  "root \"%s\": rank %d has come to MPI_Finalize and has not committed it, "
                  "while others go on, who cannot advance or commit it any more; %s",
                  opened_.root.c_str(), job_->rank(), what_stays.data());
    os::system().warn(line.data());
}

Status Protection::begin(Status own) {
    Status status = agree_on(own);
    for (size_t i = 0; status && i < opened_.remarks.size(); ++i) {
        os::system().warn(opened_.remarks[i].c_str());
    }
    opened_.remarks.clear();
    return status;
}

std::string Protection::image_of_start() const {
    const CheckpointDir &folder = opened_.stores[start()->store].folder;
    return folder.path_of(start()->point) + "/" + image_name(job_->rank());
}

Status Protection::protect(const cd_offered_point &offered) {
    const SavedStatus before = earlier();
    if (offered.write_image != nullptr) {
        offered_ = offered;
    } else {
        missed_ =
            SavedStatus(fail(CD_ERROR_STORE_IO, "%s", static_cast<const char *>(offered.context)));
    }
    const OpenLevel &level = opened_.levels[level_of(opened_.levels, offered.epoch)];
    const CheckpointId point{opened_.next_number++, offered.epoch, level.index, opened_.session};
    if (Status status = mode_ == Mode::sync ? complete(point) : hand_over(point); !status) {
        return status;
    }
    return before.again();
}

Status Protection::hand_over(const CheckpointId &point) {
    try {
        helper_ = std::thread([this, point] { outcome_ = SavedStatus(complete(point)); });
    } catch (const std::exception &) { // std::system_error; the ranks meet all the same
        return complete(point);
    }
    return Status::ok();
}

void Protection::join() noexcept {
    if (helper_.joinable()) {
        helper_.join();
    }
}

SavedStatus Protection::earlier() {
    join();
    return std::exchange(outcome_, {});
}

Status Protection::may_advance(uint64_t epoch, Status own) noexcept {
    const SavedStatus kept(own);
    join();
    std::vector<Bytes> all;
    const Step step = Step::advance(epoch);
    Status status = agree_if_possible(*job_, kept.again(), step.bytes(), all);
    return status ? step.check(job_->ranks(), all) : status;
}

Status Protection::write_image(const CheckpointId &point, Written &written) const {
    if (!offered_) {
        return missed_.again();
    }
    const CheckpointDir &folder = folder_of(point);
    written = {folder.place_of(point), {image_name(job_->rank())}};
    if (Status status = folder.make(point); !status) {
        return status;
    }
    const std::string path = written.place.path(written.names.front());
    cd_protection_message why = {};
    if (const int code = offered_->write_image(offered_->context, path.c_str(), &why); code != 0) {
        return fail(static_cast<cd_error>(code), "%.1000s", why.text);
    }
    return Status::ok();
}

void Protection::release() noexcept {
    if (offered_) {
        offered_->release(offered_->context);
        offered_.reset();
    }
}

// Fails on all ranks for the same reason, so that one of them tells people.
Status Protection::complete(const CheckpointId &point) noexcept {
    Status status = count(point);
    if (!status && job_->tells_people()) {
        warn_that_it_is_not_protected(point.epoch);
    }
    return status;
}

void Protection::warn_that_it_is_not_protected(uint64_t epoch) const noexcept {
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

// Two phases: when all ranks have stored it, each writes that down; when all have done that, those
// before it go. A restart finds the new one if any rank has got so far, and the old one if none
// has.
Status Protection::count(const CheckpointId &point) noexcept {
    const CheckpointDir &folder = folder_of(point);
    if (Status status = store(point); !status) {
        best_effort([&] { folder.remove_files_of(point, job_->rank()); });
        return status;
    }
    Status marked = catch_exceptions([&] { return folder.mark_agreed(point, job_->rank()); });
    if (Status status = agree(*job_, marked); !status) {
        return status;
    }
    protected_epoch_ = point.epoch;
    if (flush_ && flush_->is_due(point.epoch)) {
        if (flush_->under_way()) {
            flush_->finish();
        }
        flush_->begin(point, folder, level_with(point.level).division.set_of(job_->rank()));
    }
    best_effort([&] { return remove_older(point); });
    return Status::ok();
}

// Other levels keep what they have: it survives more, or is the newest of theirs; what is of none
// any more goes, as nothing newer of its own would take its place. In the directory of flush= all
// stays until the next copy counts: what was saved there is what there is beside the nodes. What an
// earlier session had protected after the point in time that this one started from has not
// happened.
Status Protection::remove_older(const CheckpointId &point) const {
    const uint64_t start = opened_.start ? opened_.start->point.epoch : 0;
    const auto is_of_another_level = [&](const CheckpointId &other) {
        return other.level != point.level &&
               (other.level == flush_level ||
                std::ranges::find(opened_.levels, other.level, &OpenLevel::index) !=
                    opened_.levels.end());
    };
    for (size_t i = 0; i < opened_.stores.size(); ++i) {
        const OpenStore &store = opened_.stores[i];
        const auto keeps = [&](const CheckpointId &other) {
            return (i == opened_.flush_store || is_of_another_level(other)) &&
                   (other.session == opened_.session || other.epoch <= start);
        };
        if (Status status =
                store.speaks ? store.folder.remove_before(point.number, keeps) : Status::ok();
            !status) {
            return status;
        }
    }
    return Status::ok();
}

const OpenLevel &Protection::level_with(int index) const {
    return *std::ranges::find(opened_.levels, index, &OpenLevel::index);
}

const CheckpointDir &Protection::folder_of(const CheckpointId &point) const {
    return opened_.stores[level_with(point.level).store].folder;
}

Status Protection::store(const CheckpointId &point) noexcept {
    Written written;
    Status stored = catch_exceptions([&] { return write_image(point, written); });
    release();
    bool flushed = false;
    if (Status status = agree_on_stored(stored, flushed); !status) {
        return status;
    }
    if (flushed) {
        flush_->finish();
    }
    return agree(*job_, encode(point, written));
}

Status Protection::agree_on_stored(Status stored, bool &flushed) noexcept {
    const std::byte own{flush_ && flush_->under_way() && flush_->copied()};
    std::vector<Bytes> all;
    Status status = agree(*job_, stored, std::span(&own, 1), all);
    flushed = status && std::ranges::all_of(all, [](const Bytes &each) {
                  return !each.empty() && each.front() != std::byte{};
              });
    return status;
}

Status Protection::encode(const CheckpointId &point, const Written &written) noexcept {
    const int rank = job_->rank();
    const OpenLevel &level = level_with(point.level);
    const redset::Set &set = level.division.set_of(rank);
    if (Status status = redset::apply(*level.set, set, written.place, written.names, {sync_});
        !status) {
        return status;
    }
    return catch_exceptions([&] {
        return folder_of(point).write_record(
            {point, rank, static_cast<int>(job_->ranks().size()), set}, false);
    });
}

// The ranks meet four times, and for a copy that is under way: when all may, when it does not count
// any more on any node, when the points in time are gone, and at the end. Where writing down that
// they do not count fails somewhere, it is taken back everywhere.
Status Protection::forget(Status own) noexcept {
    const SavedStatus refused(own);
    join();
    std::vector<Bytes> all;
    const Step step = Step::commit();
    Status agreed = agree(*job_, refused.again(), step.bytes(), all);
    if (Status status = agreed ? step.check(job_->ranks(), all) : agreed; !status) {
        return status;
    }
    (void)wait().is_ok(); // people have been told
    if (Status status = agree(*job_, catch_exceptions([&] { return write_commit_marker(); }));
        !status) {
        const SavedMessage keeper;
        if (!agree(*job_, catch_exceptions([&] { return remove_commit_marker(); }))) {
            job_->warn_once(message());
        }
        return status;
    }
    protected_epoch_ = 0;
    job_->give_name_up(); // before the ranks meet for the last time
    remove_what_is_buried();
    return Status::ok();
}

Status Protection::write_commit_marker() {
    const CommitMarker tombstone{opened_.next_number - 1, opened_.sessions};
    for (const OpenStore &store : opened_.stores) {
        if (Status status = store.speaks ? store.folder.write_commit_marker(tombstone, job_->rank())
                                         : Status::ok();
            !status) {
            return status;
        }
    }
    return Status::ok();
}

Status Protection::remove_commit_marker() {
    Status outcome;
    for (const OpenStore &store : opened_.stores) {
        if (Status status = store.speaks
                                ? store.folder.remove_commit_marker(opened_.next_number - 1)
                                : Status::ok();
            !status) {
            outcome = status;
        }
    }
    return outcome;
}

// A tombstone stays until no node has anything of what it is for.
void Protection::remove_what_is_buried() {
    const SavedMessage keeper;
    Status removed = catch_exceptions([&] {
        for (const OpenStore &store : opened_.stores) {
            if (Status status = store.speaks
                                    ? store.folder.remove_before(opened_.next_number, nothing_kept)
                                    : Status::ok();
                !status) {
                return status;
            }
        }
        return Status::ok();
    });
    if (Status status = agree(*job_, removed); !status) {
        job_->warn_once(message());
        return;
    }
    for (size_t i = opened_.stores.size(); i-- > 0;) {
        // The first knows of the others until they are gone on all nodes.
        if (i == 0 && opened_.stores.size() > 1 && !agree(*job_, Status::ok())) {
            return;
        }
        if (OpenStore &store = opened_.stores[i]; store.speaks) {
            store.use.reset();
            best_effort([&] { store.folder.remove_what_is_left(); });
        }
    }
}

} // namespace cd::checkpoint
