// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/flush.h"

#include "base/no_throw.h"
#include "base/text.h"
#include "checkpoint/checkpoint_dir.h"
#include "redset/atomic_files.h"
#include "redset/checksums.h"
#include "redset/encode.h"
#include "redset/member_files.h"
#include "redset/thread_exchange.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

namespace cd::checkpoint {
namespace {

constexpr size_t piece = size_t{1} << 20;

// The checksum of a rank's image that its set has recorded.
Status read_checksum(const redset::Place &place, const redset::Set &set, int rank,
                     uint32_t &checksum) {
    const int member = member_of(set, rank);
    const std::string path = place.checksums(set, member);
    redset::KvTree tree;
    redset::Checksums checksums;
    uint64_t size = 0;
    Status status = redset::read_own_image(path, tree, size);
    status = status ? redset::read_checksums(tree, path.c_str(), set, checksums) : status;
    if (!status) {
        return status;
    }
    const auto &files = checksums[redset::index(member)].files;
    if (files.size() != 1) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: there are checksums of %s, not of an image",
                    path.c_str(), counted(files.size(), "file").c_str());
    }
    checksum = files.front();
    return Status::ok();
}

} // namespace

Flush::~Flush() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Flush::begin(const CheckpointId &id, const CheckpointDir &folder,
                  const redset::Set &set) noexcept {
    id_ = {id.number, id.epoch, flush_level, id.session};
    begun_ = true;
    copied_ = false;
    outcome_ = {};
    if (Status status = catch_exceptions([&] { return begin_to_copy(folder.place_of(id), set); });
        !status) {
        outcome_ = SavedStatus(status);
        copied_ = true;
    }
}

Status Flush::begin_to_copy(const redset::Place &place, const redset::Set &set) {
    const std::string path = place.path(image_name(job_.rank()));
    uint32_t checksum = 0;
    if (Status status = read_checksum(place, set, job_.rank(), checksum); !status) {
        return status;
    }
    const auto image = std::make_shared<File>();
    os::FileAttributes attributes;
    if (Status status = redset::open_own_to_read(path, *image, attributes); !status) {
        return status;
    }
    const auto work = [this, image, checksum, size = attributes.size] {
        outcome_ = SavedStatus(catch_exceptions([&] { return store(*image, size, checksum); }));
        copied_ = true;
    };
    try {
        thread_ = std::thread(work);
    } catch (const std::exception &) { // std::system_error: then this thread copies
        work();
    }
    return Status::ok();
}

// Making the redundancy of the copy reads it, so that the checksum is of what was written.
Status Flush::store(const File &image, uint64_t size, uint32_t checksum) const {
    if (Status status = store_.folder.make(id_); !status) {
        return status;
    }
    if (Status status = copy(image, size); !status) {
        return status;
    }
    const redset::Set set = set_of_this_rank();
    const redset::Place place = store_.folder.place_of(id_);
    const int rank = set.ranks.front();
    redset::Meeting alone(1);
    if (Status status = redset::apply(*alone.member(0), set, place, {image_name(rank)}, {sync_});
        !status) {
        return status;
    }
    uint32_t copied = 0;
    if (Status status = read_checksum(place, set, rank, copied); !status) {
        return status;
    }
    if (copied != checksum) {
        return fail(CD_ERROR_STORE_DAMAGED,
                    "%s: its checksum is 0x%08x, that of its original was 0x%08x: the image was "
                    "damaged since it was protected, or the copy on its way",
                    place.path(image_name(rank)).c_str(), copied, checksum);
    }
    return store_.folder.write_record({id_, rank, set.groups, set}, false);
}

Status Flush::copy(const File &image, uint64_t size) const {
    const int rank = set_of_this_rank().ranks.front();
    redset::Drafts drafts(rank, sync_);
    size_t draft = 0;
    if (Status status = drafts.create(store_.folder.path_of(id_) + "/" + image_name(rank), draft);
        !status) {
        return status;
    }
    std::vector<std::byte> buffer(static_cast<size_t>(std::min<uint64_t>(size, piece)));
    for (uint64_t at = 0; at < size; at += buffer.size()) {
        const auto length = static_cast<size_t>(std::min<uint64_t>(buffer.size(), size - at));
        if (Status status = image.read(at, buffer.data(), length); !status) {
            return status;
        }
        if (Status status = drafts.file(draft).write(at, buffer.data(), length); !status) {
            return status;
        }
    }
    if (Status status = drafts.finish(draft); !status) {
        return status;
    }
    return drafts.publish();
}

// Copies have no redundancy, only the checksums in redset's files.
redset::Set Flush::set_of_this_rank() const {
    const auto ranks = static_cast<int>(job_.ranks().size());
    return {{Scheme::single, 1, 0}, job_.all().self(), ranks, job_.program_ranks(), {job_.rank()}};
}

void Flush::finish() noexcept {
    if (thread_.joinable()) {
        thread_.join();
    }
    begun_ = false;
    Status status = agree(job_, outcome_.again());
    const bool all_copied = status.is_ok();
    if (all_copied) {
        status = agree(
            job_, catch_exceptions([&] { return store_.folder.mark_committed(id_, job_.rank()); }));
    }
    if (status || !all_copied) {
        best_effort([&] { return remove_uncommitted(all_copied); });
    }
    if (!status && job_.warns_users()) {
        const std::string_view why = without_repeating(message());
        char line[1200];
        std::snprintf(line, sizeof line, "epoch %llu is not in the directory of flush=: %.*s",
                      static_cast<unsigned long long>(id_.epoch), static_cast<int>(why.size()),
                      why.data());
        os::system().warn(line);
    }
    (void)agree(job_, Status::ok()).is_ok(); // the next copy finds the room
}

// Removes older copies; or this one, where a rank could not copy, since it takes the room of the
// next.
Status Flush::remove_uncommitted(bool all_copied) const {
    if (!store_.reports) {
        return Status::ok();
    }
    return all_copied ? store_.folder.remove_before(id_.number, keeps_none)
                      : store_.folder.remove_before(id_.number + 1, [&](const CheckpointId &other) {
                            return other != id_;
                        });
}

} // namespace cd::checkpoint
