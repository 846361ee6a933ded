// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/protection.h"

#include "redset/apply.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace cd::protection {
namespace {

using redset::Bytes;

// Releases a point that was offered, exactly once.
class Release {
public:
    explicit Release(const cd_offered_point *point) : point_(point) {}
    Release(const Release &) = delete;
    Release &operator=(const Release &) = delete;
    ~Release() {
        if (point_ != nullptr) {
            point_->release(point_->context);
        }
    }

private:
    const cd_offered_point *point_;
};

} // namespace

Status Protection::Outcome::again() const {
    return status ? Status::ok() : fail(status.code(), "%s", text.c_str());
}

Status Protection::open(std::unique_ptr<Job> job, const Request &request, Mode mode,
                        std::unique_ptr<Protection> &protection) {
    Opened opened;
    if (Status status = protection::open(*job, request, opened); !status) {
        return status;
    }
    protection.reset(new Protection(std::move(job), std::move(opened), request, mode));
    return Status::ok();
}

Protection::Protection(std::unique_ptr<Job> job, Opened opened, const Request &request, Mode mode)
    : job_(std::move(job)), opened_(std::move(opened)), sync_(request.sync), mode_(mode),
      protected_epoch_(opened_.start ? opened_.start->point.epoch : 0) {
    if (request.flush_store) {
        flush_ = std::make_unique<Flush>(*job_, opened_.stores[*request.flush_store],
                                         request.flush_interval, sync_);
    }
}

// A copy that is under way stays unfinished: the others are perhaps not here.
Protection::~Protection() { (void)earlier(); }

Status Protection::wait() {
    const Outcome outcome = earlier();
    if (flush_ && flush_->under_way()) {
        flush_->finish();
    }
    return outcome.again();
}

std::string Protection::image_of_start() const {
    const Folder &folder = opened_.stores[start()->store].folder;
    return folder.path_of(start()->point) + "/" + image_name(job_->rank());
}

Status Protection::protect(const cd_offered_point *offered) {
    const Release release(offered);
    const Outcome before = earlier();
    const uint64_t epoch = offered != nullptr ? offered->epoch : 0;
    const Point point{opened_.next_number++, epoch, level_of(epoch).index, opened_.session};
    Status written = write_image(point, offered);
    if (Status status = mode_ == Mode::sync ? complete(point, written) : hand_over(point, written);
        !status) {
        return status;
    }
    return before.again();
}

Status Protection::hand_over(const Point &point, Status written) {
    const Outcome known{written, written ? "" : message()};
    try {
        helper_ = std::thread([this, point, known] {
            try {
                outcome_.status = complete(point, known.again());
                outcome_.text = outcome_.status ? "" : message();
            } catch (const std::bad_alloc &) {
                outcome_ = {fail(CD_ERROR_NO_MEMORY, "no memory to protect a point in time"), ""};
            }
        });
    } catch (const std::exception &) { // std::system_error; the ranks meet all the same
        return complete(point, known.again());
    }
    return Status::ok();
}

Protection::Outcome Protection::earlier() {
    if (!helper_.joinable()) {
        return {};
    }
    helper_.join();
    return std::exchange(outcome_, {});
}

Status Protection::write_image(const Point &point, const cd_offered_point *offered) {
    if (offered == nullptr) {
        return fail(CD_ERROR_STORE_IO, "the advance failed, so that nothing new is protected");
    }
    const Folder &folder = folder_of(point);
    if (Status status = folder.make(point); !status) {
        return status;
    }
    const std::string path = folder.path_of(point) + "/" + image_name(job_->rank());
    cd_protection_message why = {};
    if (const int code = offered->write_image(offered->context, path.c_str(), &why); code != 0) {
        return fail(static_cast<cd_error>(code), "%.1000s", why.text);
    }
    return Status::ok();
}

// Two phases: when all ranks have stored it, each writes that down; when all have done that, those
// before it go. A restart finds the new one if any rank has got so far, and the old one if none
// has.
Status Protection::complete(const Point &point, Status written) {
    if (Status status = store(point, written); !status) {
        const MessageKeeper keeper;
        folder_of(point).remove_files_of(point, job_->rank());
        return status;
    }
    if (Status status = agree(*job_, folder_of(point).mark_agreed(point, job_->rank())); !status) {
        return status;
    }
    protected_epoch_ = point.epoch;
    if (flush_ && flush_->is_due(point.epoch)) {
        if (flush_->under_way()) {
            flush_->finish();
        }
        flush_->begin(point, folder_of(point).path_of(point) + "/" + image_name(job_->rank()));
    }
    remove_older(point);
    return Status::ok();
}

// Other levels keep what they have: it survives more, or is the newest of theirs.
void Protection::remove_older(const Point &point) const {
    std::vector<int> keeping{flush_level};
    for (const OpenLevel &level : opened_.levels) {
        if (level.index != point.level) {
            keeping.push_back(level.index);
        }
    }
    for (const OpenStore &store : opened_.stores) {
        if (store.speaks) {
            store.folder.remove_before(point.number, keeping);
        }
    }
}

const OpenLevel &Protection::level_of(uint64_t epoch) const {
    const OpenLevel *best = nullptr;
    for (const OpenLevel &level : opened_.levels) {
        if (epoch % level.interval == 0 && (best == nullptr || level.interval > best->interval)) {
            best = &level;
        }
    }
    return *best;
}

const OpenLevel &Protection::level_with(int index) const {
    return *std::ranges::find(opened_.levels, index, &OpenLevel::index);
}

const Folder &Protection::folder_of(const Point &point) const {
    return opened_.stores[level_with(point.level).store].folder;
}

Status Protection::store(const Point &point, Status written) {
    bool flushed = false;
    if (Status status = check_epochs(point, written, flushed); !status) {
        return status;
    }
    if (flushed) {
        flush_->finish();
    }
    return agree(*job_, encode(point));
}

Status Protection::check_epochs(const Point &point, Status written, bool &flushed) {
    const uint64_t own[] = {point.epoch, flush_ && flush_->under_way() && flush_->copied()};
    std::vector<Bytes> all;
    if (Status status = agree(*job_, written, std::as_bytes(std::span(own)), all); !status) {
        return status;
    }
    flushed = true;
    for (size_t position = 0; position < all.size(); ++position) {
        uint64_t theirs[2] = {};
        uint64_t first = 0;
        std::memcpy(theirs, all[position].data(), sizeof theirs);
        std::memcpy(&first, all.front().data(), sizeof first);
        flushed = flushed && theirs[1] != 0;
        if (theirs[0] != first) {
            return fail(CD_ERROR_ARGUMENT,
                        "rank %d advances to epoch %llu while rank %d advances to epoch %llu; with "
                        "redundancy all ranks advance together",
                        job_->ranks()[position], static_cast<unsigned long long>(theirs[0]),
                        job_->ranks().front(), static_cast<unsigned long long>(first));
        }
    }
    return Status::ok();
}

Status Protection::encode(const Point &point) {
    const int rank = job_->rank();
    const OpenLevel &level = level_with(point.level);
    const Folder &folder = folder_of(point);
    const redset::Set &set = level.division.set_of(rank);
    if (Status status = redset::apply(*level.set, set, {folder.path_of(point), ""},
                                      {image_name(rank)}, {sync_});
        !status) {
        return status;
    }
    return folder.write_record({point, rank, static_cast<int>(job_->ranks().size()), set}, false);
}

Status Protection::forget() {
    if (Status status = wait(); !status) {
        os::system().warn(message());
    }
    const uint64_t last = opened_.next_number - 1;
    Status buried;
    for (const OpenStore &store : opened_.stores) {
        if (store.speaks && buried) {
            buried = store.folder.bury(last);
        }
    }
    if (Status status = agree(*job_, buried); !status) {
        return status;
    }
    for (const OpenStore &store : opened_.stores) {
        if (store.speaks) {
            store.folder.remove_before(opened_.next_number, {});
        }
    }
    if (Status status = agree(*job_, Status::ok()); !status) {
        return status;
    }
    for (const OpenStore &store : opened_.stores) {
        if (store.speaks) {
            store.folder.remove_tombstones();
        }
    }
    protected_epoch_ = 0;
    return Status::ok();
}

} // namespace cd::protection
