// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rebuild.h"

#include "base/no_throw.h"
#include "redset/atomic_files.h"
#include "redset/header.h"
#include "redset/kvtree_file.h"
#include "redset/member_files.h"
#include "redset/pipeline.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cd::redset {

// The code of a failure to read what was trusted, or of a wrong checksum.
constexpr cd_error not_as_trusted = CD_ERROR_STORE_DAMAGED;

// The work of one member. All members complete a step before the next one. Steps may throw
// std::bad_alloc.
class MemberRebuild : private Storage {
public:
    // `contents`: how the survey was taken. All arguments must outlive it.
    MemberRebuild(const Set &set, int self, const Place &place, const Options &options,
                  const Survey &survey, Contents contents);

    Status prepare();
    // Writes descriptor and checksums.
    Status prepare_tables();
    Storage &storage() { return *this; }
    // Compares what was written with its checksums, and what was read if it was trusted.
    Status check() const;
    Status finish();
    Status publish();

private:
    Status draft_data();
    Status draft_scheme_file();
    Status draft_tree(const KvTree &tree, const std::string &path, size_t &draft);
    Status open(size_t file, File &opened) const;
    Status read(Region region, uint64_t offset, std::span<std::byte> to) override;
    Status write(Region region, uint64_t offset, std::span<const std::byte> from) override;

    const Set &set_;
    const int self_;
    const Place &place_;
    const Survey &survey_;
    const Contents contents_;
    const Lost lost_;
    const StoredFiles &files_;
    Drafts drafts_;
    std::vector<std::pair<size_t, std::optional<os::FileAttributes>>> finishing_;
    std::vector<size_t> data_drafts_; // of each file
    std::optional<LogicalFile> data_;
    File payload_file_;
    uint64_t payload_at_ = 0;
    ScatteredCrc payload_crc_;
};

MemberRebuild::MemberRebuild(const Set &set, int self, const Place &place, const Options &options,
                             const Survey &survey, Contents contents)
    : set_(set), self_(self), place_(place), survey_(survey), contents_(contents),
      lost_(survey.lost(self)), files_(survey.files[static_cast<size_t>(self)]),
      drafts_(set.ranks[static_cast<size_t>(self)], options.sync) {}

Status MemberRebuild::prepare() {
    if (Status status = lost_.data ? draft_data() : Status::ok(); !status) {
        return status;
    }
    std::vector<uint64_t> sizes;
    std::transform(files_.begin(), files_.end(), std::back_inserter(sizes),
                   [](const StoredFile &file) { return file.attributes.size; });
    data_.emplace(sizes, [this](size_t file, File &opened) { return open(file, opened); });
    if (lost_.payload) {
        return draft_scheme_file();
    }
    os::FileAttributes attributes;
    payload_at_ = survey_.payload_offset;
    return open_own_to_read(place_.scheme_file(set_, self_), payload_file_, attributes);
}

Status MemberRebuild::prepare_tables() {
    const MemberState &own = survey_.members[static_cast<size_t>(self_)];
    size_t draft = 0;
    if (!own.descriptor_lost.empty()) {
        if (Status status =
                draft_tree(descriptor_tree(set_, self_), place_.descriptor(set_, self_), draft);
            !status) {
            return status;
        }
    }
    return own.checksums_lost.empty() ? Status::ok()
                                      : draft_tree(checksums_tree(*survey_.checksums),
                                                   place_.checksums(set_, self_), draft);
}

Status MemberRebuild::check() const {
    if (!survey_.checksums) {
        return Status::ok();
    }
    const bool read_too = contents_ == Contents::trusted;
    const MemberChecksums &expected = (*survey_.checksums)[static_cast<size_t>(self_)];
    if (((lost_.data || read_too) && data_->checksums() != expected.files) ||
        ((lost_.payload || read_too) && payload_crc_.whole() != expected.payload)) {
        return fail(not_as_trusted,
                    "set %d: what was read or rebuilt of rank %d does not match its checksum; "
                    "nothing was changed",
                    set_.group + 1, set_.ranks[static_cast<size_t>(self_)]);
    }
    return Status::ok();
}

Status MemberRebuild::finish() {
    for (const auto &[draft, attributes] : finishing_) {
        if (Status status = drafts_.finish(draft, attributes); !status) {
            return status;
        }
    }
    return Status::ok();
}

Status MemberRebuild::publish() { return drafts_.publish(); }

Status MemberRebuild::draft_data() {
    for (const StoredFile &file : files_) {
        size_t draft = 0;
        if (Status status = drafts_.create(place_.path(file.name), draft, false); !status) {
            return status;
        }
        finishing_.emplace_back(draft, file.attributes);
        data_drafts_.push_back(draft);
    }
    return Status::ok();
}

Status MemberRebuild::draft_scheme_file() {
    size_t draft = 0;
    if (Status status = draft_tree(scheme_tree(*survey_.layout, set_, self_, survey_.files),
                                   place_.scheme_file(set_, self_), draft);
        !status) {
        return status;
    }
    if (Status status = drafts_.reopen(draft, payload_file_); !status) {
        return status;
    }
    return payload_file_.size(payload_at_);
}

Status MemberRebuild::draft_tree(const KvTree &tree, const std::string &path, size_t &draft) {
    Status status = drafts_.create(path, tree, draft);
    finishing_.emplace_back(draft, std::nullopt);
    return status;
}

Status MemberRebuild::open(size_t file, File &opened) const {
    if (lost_.data) {
        return drafts_.reopen(data_drafts_[file], opened);
    }
    os::FileAttributes attributes;
    return open_stored(place_, files_[file].name, opened, attributes);
}

Status MemberRebuild::read(Region region, uint64_t offset, std::span<std::byte> to) {
    Status status = region == Region::data
                        ? data_->read(offset, to)
                        : payload_file_.read(payload_at_ + offset, to.data(), to.size());
    if (contents_ == Contents::compared) {
        return status;
    }
    if (!status) {
        return fail(not_as_trusted, "%s", message());
    }
    if (region == Region::payload) {
        payload_crc_.add(offset, to);
    }
    return status;
}

Status MemberRebuild::write(Region region, uint64_t offset, std::span<const std::byte> from) {
    if (region == Region::data) {
        return data_->write(offset, from);
    }
    payload_crc_.add(offset, from);
    return payload_file_.write(payload_at_ + offset, from.data(), from.size());
}

namespace {

// Does everything except giving files their names.
Status prepare_by(Exchange &exchange, const Set &set, const Place &place, const Options &options,
                  const Survey &survey, Contents contents, std::unique_ptr<MemberRebuild> &member) {
    // No member may make a directory before all have passed this.
    if (options.check) {
        Status allowed = catch_exceptions([&] { return options.check(exchange.self(), survey); });
        if (Status status = agree(exchange, allowed); !status) {
            return status;
        }
    }
    Status prepared = catch_exceptions([&] {
        member =
            std::make_unique<MemberRebuild>(set, exchange.self(), place, options, survey, contents);
        Status drafted = member->prepare();
        return drafted ? member->prepare_tables() : drafted;
    });
    if (Status status = agree(exchange, prepared); !status) {
        return status;
    }
    if (Status status = carry_out(exchange, *survey.rows, member->storage(), options.progress);
        !status) {
        return status;
    }
    return agree(exchange, catch_exceptions([&] {
                     Status right = member->check();
                     return right ? member->finish() : right;
                 }));
}

Status publish_by(Exchange &exchange, MemberRebuild &member) {
    return agree(exchange, catch_exceptions([&] { return member.publish(); }));
}

// True if the rows read everything that survived, so that the pass computes all checksums. In these
// schemes nothing is read twice.
bool all_is_read(const Shape &shape, const Survey &survey) {
    if (shape.scheme != Scheme::xor_set && shape.scheme != Scheme::reed_solomon) {
        return false;
    }
    uint64_t left = 0;
    for (int member = 0; member < shape.members; ++member) {
        const Lost lost = survey.lost(member);
        left += lost.data ? 0 : survey.layout->logical_sizes[static_cast<size_t>(member)];
        left += lost.payload ? 0 : survey.layout->payload_size(member);
    }
    uint64_t read = 0;
    for (const Row &row : *survey.rows) {
        for (const Item &source : row.sources) {
            read += source.length;
        }
    }
    return read == left;
}

} // namespace

Rebuild::Rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
                 Survey &survey)
    : exchange_(exchange), set_(set), place_(place), options_(options), survey_(survey) {}

Rebuild::~Rebuild() = default;

// If too much is lost it surveys once more, in case something was misread. Reading all contents
// would not find less to be lost.
Status Rebuild::look() {
    Status fits = catch_exceptions([&] { return check_set(set_, exchange_.members()); });
    if (Status status = agree(exchange_, fits); !status) {
        return status;
    }
    Status status = take_survey(exchange_, set_, place_, Contents::trusted, survey_);
    return status.code() == CD_ERROR_REDUNDANCY_EXCEEDED
               ? take_survey(exchange_, set_, place_, Contents::trusted, survey_)
               : status;
}

// Trusts the survivors first if all of them will be read anyway. A wrong checksum is found before
// anything changes; only then a survey looks for it. Drafts of a failed attempt are removed at
// once, to free space.
Status Rebuild::prepare() {
    const auto prepare = [&](Contents contents) {
        Status status = prepare_by(exchange_, set_, place_, options_, survey_, contents, member_);
        if (!status) {
            member_.reset();
        }
        return status;
    };
    if (survey_.checksums && all_is_read(set_.shape, survey_)) {
        Status status = prepare(Contents::trusted);
        if (status.code() != not_as_trusted) {
            return status;
        }
    }
    Status status = take_survey(exchange_, set_, place_, Contents::compared, survey_);
    return status ? prepare(Contents::compared) : status;
}

Status Rebuild::publish() { return publish_by(exchange_, *member_); }

Status rebuild_surveyed(Exchange &exchange, const Set &set, const Place &place,
                        const Options &options, const Survey &survey) {
    std::unique_ptr<MemberRebuild> member;
    Status status = prepare_by(exchange, set, place, options, survey, Contents::compared, member);
    return status ? publish_by(exchange, *member) : status;
}

Status rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
               Survey &survey) {
    Rebuild rebuild(exchange, set, place, options, survey);
    Status status = rebuild.look();
    status = status ? rebuild.prepare() : status;
    return status ? rebuild.publish() : status;
}

} // namespace cd::redset
