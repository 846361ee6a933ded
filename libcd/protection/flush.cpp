// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/flush.h"

#include "redset/apply.h"
#include "redset/drafts.h"
#include "redset/local_exchange.h"
#include "redset/open_file.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace cd::protection {
namespace {

constexpr size_t piece = size_t{1} << 20;

} // namespace

Flush::~Flush() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Flush::begin(const Point &point, const std::string &image) {
    point_ = {point.number, point.epoch, flush_level, point.session};
    begun_ = true;
    copied_ = false;
    File file;
    os::FileAttributes attributes;
    outcome_ = redset::open_to_read(image, file, attributes);
    text_ = outcome_ ? "" : message();
    const auto work = [this, from = std::make_shared<File>(std::move(file)),
                       size = attributes.size] {
        if (outcome_) {
            try {
                outcome_ = store(*from, size);
            } catch (const std::bad_alloc &) {
                outcome_ = fail(CD_ERROR_NO_MEMORY, "no memory to copy a point in time");
            }
            text_ = outcome_ ? "" : message();
        }
        copied_ = true;
    };
    try {
        thread_ = std::thread(work);
    } catch (const std::exception &) { // std::system_error: then this thread copies
        work();
    }
}

Status Flush::store(const File &image, uint64_t size) const {
    if (Status status = store_.folder.make(point_); !status) {
        return status;
    }
    if (Status status = copy(image, size); !status) {
        return status;
    }
    const redset::Set set = set_of_this_rank();
    redset::Meeting alone(1);
    if (Status status = redset::apply(*alone.member(0), set, {store_.folder.path_of(point_), ""},
                                      {image_name(set.ranks.front())}, {sync_});
        !status) {
        return status;
    }
    return store_.folder.write_record({point_, set.ranks.front(), set.groups, set}, false);
}

Status Flush::copy(const File &image, uint64_t size) const {
    const int rank = set_of_this_rank().ranks.front();
    redset::Drafts drafts(rank, sync_);
    size_t draft = 0;
    if (Status status =
            drafts.create(store_.folder.path_of(point_) + "/" + image_name(rank), draft, true);
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
    if (Status status = drafts.finish(draft, std::nullopt); !status) {
        return status;
    }
    return drafts.publish();
}

// Copies need nobody's help, and have redset's files for their checksums.
redset::Set Flush::set_of_this_rank() const {
    const auto ranks = static_cast<int>(job_.ranks().size());
    return {{Scheme::single, 1, 0}, job_.all().self(), ranks, job_.program_ranks(), {job_.rank()}};
}

void Flush::finish() {
    if (thread_.joinable()) {
        thread_.join();
    }
    begun_ = false;
    Status status =
        outcome_ ? Status::ok() : fail(outcome_.code(), "%s", text_.empty() ? "" : text_.c_str());
    status = agree(job_, status);
    if (status) {
        status = agree(job_, store_.folder.mark_agreed(point_, job_.rank()));
    }
    if (status && store_.speaks) {
        store_.folder.remove_before(point_.number, {});
    }
    if (!status && job_.all().self() == 0) {
        const std::string line = "epoch " + std::to_string(point_.epoch) +
                                 " is not in the directory of flush=: " + message();
        os::system().warn(line.c_str());
    }
}

} // namespace cd::protection
