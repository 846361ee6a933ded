// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/recover.h"

#include "base/no_throw.h"
#include "checkpoint/file_transfer.h"
#include "redset/rebuild.h"

#include <algorithm>
#include <cstdio>

namespace cd::checkpoint {
namespace {

class Recovery {
public:
    Recovery(Job &job, const CheckpointDir &folder, const Inventory &inventory, bool sync)
        : job_(job), folder_(folder), inventory_(inventory), sync_(sync) {}

    Status run(const CheckpointId &id, Division &division) {
        Status status = recover_files(id, division);
        if (!status) {
            best_effort([&] { folder_.remove_if_empty(id); });
        }
        return status;
    }

private:
    Status recover_files(const CheckpointId &id, Division &division) {
        std::vector<Transfer> transfers;
        Status found = catch_exceptions([&] {
            transfers = find_transfers(inventory_, id);
            return find_sets(inventory_, id, division);
        });
        if (Status status = agree_on_memory(job_, found); !status) {
            return status;
        }
        const redset::Set &set = division.set_of(job_.rank());
        redset::Place place;
        Status made = catch_exceptions([&] {
            place = folder_.place_of(id);
            return folder_.make(id);
        });
        if (Status status = agree(job_, made); !status) {
            return status;
        }
        if (Status status = move_files(job_, folder_, id, transfers, sync_); !status) {
            return status;
        }
        if (Status status = rebuild(id, set, place); !status) {
            return status;
        }
        return agree(job_, has_record(id) ? Status::ok() : catch_exceptions([&] {
                         const auto participants = static_cast<int>(inventory_.ranks.size());
                         return folder_.write_record({id, job_.rank(), participants, set}, true);
                     }));
    }

    // All sets or none: where one has lost too much, no file of others changes.
    Status rebuild(const CheckpointId &id, const redset::Set &set, const redset::Place &place) {
        std::unique_ptr<redset::Exchange> part;
        if (Status status = job_.meet_in(set, part); !status) {
            return status;
        }
        const redset::Options options{sync_};
        redset::Survey survey;
        redset::Rebuild own(*part, set, place, options, survey);
        Status status = agree_on_set(id, own.look());
        status = status ? agree_on_set(id, own.prepare()) : status;
        return status ? agree_on_set(id, own.publish()) : status;
    }

    Status agree_on_set(const CheckpointId &id, Status own) {
        if (own.code() == CD_ERROR_STORE_DAMAGED || own.code() == CD_ERROR_REDUNDANCY_EXCEEDED) {
            char why[1024];
            std::snprintf(why, sizeof why, "%s", message());
            own = fail(CD_ERROR_REDUNDANCY_EXCEEDED, "epoch %llu: %s",
                       static_cast<unsigned long long>(id.epoch), why);
        }
        return agree(job_, own);
    }

    // Whether this rank was neither lost nor moved since the checkpoint was committed.
    bool has_record(const CheckpointId &id) const {
        const int reporter = inventory_.reporters[redset::index(job_.all().self())];
        const auto &checkpoints = inventory_.contents[redset::index(reporter)].checkpoints;
        const auto ranks = checkpoints.find(id);
        if (ranks == checkpoints.end() || !ranks->second.contains(job_.rank())) {
            return false;
        }
        const RankFiles &own = ranks->second.at(job_.rank());
        return own.committed && own.record;
    }

    Job &job_;
    const CheckpointDir &folder_;
    const Inventory &inventory_;
    const bool sync_;
};

} // namespace

Status recover(Job &job, const CheckpointDir &folder, const Inventory &inventory,
               const CheckpointId &id, bool sync, Division &division) {
    return Recovery(job, folder, inventory, sync).run(id, division);
}

} // namespace cd::checkpoint
