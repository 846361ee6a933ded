// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rebuild.h"

#include "base/no_throw.h"
#include "redset/header.h"

namespace cd::redset {

Rebuild::Rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
                 Survey &survey)
    : exchange_(exchange), set_(set), place_(place), options_(options), survey_(survey),
      self_(exchange.self()), drafts_(set.ranks[index(self_)], options.sync) {}

Status Rebuild::look() {
    Status fits = catch_exceptions([&] { return check_set(set_, exchange_.members()); });
    Status status = agree(exchange_, fits);
    return status ? take_survey(exchange_, set_, place_, Contents::trusted, survey_) : status;
}

Status Rebuild::prepare() {
    Status status = take_survey(exchange_, set_, place_, Contents::compared, survey_);
    return status ? prepare_surveyed() : status;
}

Status Rebuild::prepare_surveyed() {
    if (Status status = agree(exchange_, catch_exceptions([&] { return draft(); })); !status) {
        return status;
    }
    if (Status status = carry_out(exchange_, survey_.rows, *this, options_.progress); !status) {
        return status;
    }
    return agree(exchange_, catch_exceptions([&] { return finish(); }));
}

Status Rebuild::publish() {
    return agree(exchange_, catch_exceptions([&] { return drafts_.publish(); }));
}

// Creates drafts of what is lost, and opens the scheme file.
Status Rebuild::draft() {
    const MemberState &own = survey_.members[index(self_)];
    const StoredFiles &files = survey_.files[index(self_)];
    const std::string scheme_file = place_.scheme_file(set_, self_);
    lost_ = own.lost();
    std::vector<uint64_t> sizes;
    for (const StoredFile &file : files) {
        sizes.push_back(file.attributes.size);
        if (lost_.data) {
            const std::string path = place_.path(file.name);
            if (Status status = drafts_.create(path, data_drafts_.emplace_back(), false); !status) {
                return status;
            }
        }
    }
    data_.emplace(sizes, [this](size_t file, File &opened) { return open(file, opened); });
    Status status = Status::ok();
    if (lost_.payload) {
        status = draft_tree(scheme_tree(*survey_.layout, set_, self_, survey_.files), scheme_file);
        status = status ? drafts_.reopen(tree_drafts_.back(), payload_file_) : status;
        status = status ? payload_file_.size(payload_at_) : status;
    } else {
        os::FileAttributes attributes;
        payload_at_ = survey_.payload_offsets[index(self_)];
        status = open_own_to_read(scheme_file, payload_file_, attributes);
    }
    if (status && !own.descriptor_lost.empty()) {
        status = draft_tree(descriptor_tree(set_, self_), place_.descriptor(set_, self_));
    }
    if (status && !own.checksums_lost.empty()) {
        status = draft_tree(checksums_tree(*survey_.checksums), place_.checksums(set_, self_));
    }
    return status;
}

Status Rebuild::draft_tree(const KvTree &tree, const std::string &path) {
    return drafts_.create(path, tree, tree_drafts_.emplace_back());
}

// Compares what was written with its checksums, and finishes the drafts.
Status Rebuild::finish() {
    if (survey_.checksums) {
        const MemberChecksums &expected = (*survey_.checksums)[index(self_)];
        if ((lost_.data && data_->checksums() != expected.files) ||
            (lost_.payload && payload_crc_.whole() != expected.payload)) {
            return fail(CD_ERROR_STORE_DAMAGED,
                        "set %d: what was rebuilt of rank %d does not match its checksum; nothing "
                        "was changed",
                        set_.group + 1, set_.ranks[index(self_)]);
        }
    }
    for (size_t i = 0; i < data_drafts_.size(); ++i) {
        const os::FileAttributes &attributes = survey_.files[index(self_)][i].attributes;
        if (Status status = drafts_.finish(data_drafts_[i], attributes); !status) {
            return status;
        }
    }
    for (const size_t draft : tree_drafts_) {
        if (Status status = drafts_.finish(draft); !status) {
            return status;
        }
    }
    return Status::ok();
}

Status Rebuild::open(size_t file, File &opened) const {
    if (lost_.data) {
        return drafts_.reopen(data_drafts_[file], opened);
    }
    os::FileAttributes attributes;
    return open_stored(place_, survey_.files[index(self_)][file].name, opened, attributes);
}

Status Rebuild::read(Region region, uint64_t offset, std::span<std::byte> to) {
    return region == Region::data ? data_->read(offset, to)
                                  : payload_file_.read(payload_at_ + offset, to.data(), to.size());
}

Status Rebuild::write(Region region, uint64_t offset, std::span<const std::byte> from) {
    if (region == Region::data) {
        return data_->write(offset, from);
    }
    payload_crc_.add(offset, from);
    return payload_file_.write(payload_at_ + offset, from.data(), from.size());
}

Status rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
               Survey &survey) {
    Rebuild rebuild(exchange, set, place, options, survey);
    Status status = rebuild.look();
    status = status ? rebuild.prepare() : status;
    return status ? rebuild.publish() : status;
}

} // namespace cd::redset
