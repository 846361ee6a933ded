// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/recover.h"

#include "base/no_throw.h"
#include "checkpoint/file_transfer.h"
#include "redset/rebuild.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace cd::checkpoint {
namespace {

class Recovery {
public:
    Recovery(Job &job, const CheckpointDir &folder, const Inventory &inventory, bool sync)
        : job_(job), folder_(folder), inventory_(inventory), sync_(sync) {}

    Status run(const CheckpointId &point, Division &division) {
        Status status = recover_files(point, division);
        if (!status && !seen().contains(point)) {
            best_effort([&] { folder_.remove_if_empty(point); });
        }
        return status;
    }

private:
    Status recover_files(const CheckpointId &point, Division &division) {
        std::vector<Transfer> transfers;
        Status found = catch_exceptions([&] {
            transfers = find_transfers(inventory_, point);
            return find_sets(inventory_, point, division);
        });
        if (Status status = agree_on_memory(job_, found); !status) {
            return status;
        }
        const redset::Set &set = division.set_of(job_.rank());
        redset::Place place;
        Status made = catch_exceptions([&] {
            place = folder_.place_of(point);
            return folder_.make(point);
        });
        if (Status status = agree(job_, made); !status) {
            return status;
        }
        if (Status status = move_files(job_, folder_, point, transfers, sync_); !status) {
            return status;
        }
        Status rebuilt = rebuild(point, division.set_of(job_.rank()), place);
        return rebuilt ? agree(job_, catch_exceptions([&] { return record_committed(point, set); }))
                       : rebuilt;
    }

    // All sets or none: where one has lost too much, no file of others changes.
    Status rebuild(const CheckpointId &point, const redset::Set &set, const redset::Place &place) {
        std::unique_ptr<redset::Exchange> part;
        if (Status status = job_.meet_in(set, part); !status) {
            return status;
        }
        const redset::Options options{sync_};
        redset::Survey survey;
        redset::Rebuild own(*part, set, place, options, survey);
        Status looked = own.look();
        if (Status status = agree_on_set(point, looked); !status) {
            return status;
        }
        if (Status status = agree_on_set(point, own.prepare()); !status) {
            return status;
        }
        return agree_on_set(point, own.publish());
    }

    Status agree_on_set(const CheckpointId &point, Status own) {
        if (own.code() == CD_ERROR_STORE_DAMAGED || own.code() == CD_ERROR_REDUNDANCY_EXCEEDED) {
            char why[1024];
            std::snprintf(why, sizeof why, "%s", message());
            own = fail(CD_ERROR_REDUNDANCY_EXCEEDED, "epoch %llu: %s",
                       static_cast<unsigned long long>(point.epoch), why);
        }
        return agree(job_, own);
    }

    // A rank that was lost or has moved gets a record of the committed checkpoint.
    Status record_committed(const CheckpointId &point, const redset::Set &set) {
        const int rank = job_.rank();
        const auto here = seen().find(point);
        const RankFiles *files = nullptr;
        if (here != seen().end() && here->second.contains(rank)) {
            files = &here->second.at(rank);
        }
        if (files != nullptr && files->record) {
            return files->agreed ? Status::ok() : folder_.mark_committed(point, rank);
        }
        return folder_.write_record({point, rank, static_cast<int>(inventory_.ranks.size()), set},
                                    true);
    }

    // The content of this rank's directory.
    const std::map<CheckpointId, std::map<int, RankFiles>> &seen() const {
        const auto self = static_cast<size_t>(job_.all().self());
        return inventory_.contents[static_cast<size_t>(inventory_.reporters[self])].points;
    }

    Job &job_;
    const CheckpointDir &folder_;
    const Inventory &inventory_;
    const bool sync_;
};

} // namespace

Status recover(Job &job, const CheckpointDir &folder, const Inventory &inventory,
               const CheckpointId &point, bool sync, Division &division) {
    return Recovery(job, folder, inventory, sync).run(point, division);
}

} // namespace cd::checkpoint
