// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rebuild.h"

#include "base/no_throw.h"
#include "redset/carry_out.h"
#include "redset/rebuilding.h"

namespace cd::redset {
namespace {

// Up to where nothing is left to do but to give names.
Status prepare_by(Exchange &exchange, const Set &set, const Place &place, const Options &options,
                  const Survey &survey, Contents contents,
                  std::unique_ptr<Rebuilding> &rebuilding) {
    // Before any member makes a directory.
    if (options.check) {
        Status allowed = catch_exceptions([&] { return options.check(exchange.self(), survey); });
        if (Status status = agree(exchange, allowed); !status) {
            return status;
        }
    }
    Status prepared = catch_exceptions([&] {
        rebuilding =
            std::make_unique<Rebuilding>(set, exchange.self(), place, options, survey, contents);
        Status drafted = rebuilding->prepare();
        return drafted ? rebuilding->prepare_tables() : drafted;
    });
    if (Status status = agree(exchange, prepared); !status) {
        return status;
    }
    if (Status status = carry_out(exchange, *survey.rows, rebuilding->storage(), options.progress);
        !status) {
        return status;
    }
    return agree(exchange, catch_exceptions([&] {
                     Status right = rebuilding->check();
                     return right ? rebuilding->finish() : right;
                 }));
}

Status publish_by(Exchange &exchange, Rebuilding &rebuilding) {
    return agree(exchange, catch_exceptions([&] { return rebuilding.publish(); }));
}

// Whether all that is left is a source of some row, so that its checksums come with the work. In
// these schemes nothing is so twice.
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

// Where too much is gone, reading all that is left, which takes long, would not find less of that:
// it is looked once more, for what was read wrong.
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

// What is left is trusted at first where it will all be read anyway. That this was wrong is found
// before anything is changed; only then it is looked for who cannot be trusted. What fails
// otherwise would fail again. What was written goes at once where it is in vain: it takes room.
Status Rebuild::prepare() {
    const auto prepare = [&](Contents contents) {
        Status status =
            prepare_by(exchange_, set_, place_, options_, survey_, contents, rebuilding_);
        if (!status) {
            rebuilding_.reset();
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

Status Rebuild::publish() { return publish_by(exchange_, *rebuilding_); }

Status rebuild_surveyed(Exchange &exchange, const Set &set, const Place &place,
                        const Options &options, const Survey &survey) {
    std::unique_ptr<Rebuilding> rebuilding;
    Status status =
        prepare_by(exchange, set, place, options, survey, Contents::compared, rebuilding);
    return status ? publish_by(exchange, *rebuilding) : status;
}

Status rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
               Survey &survey) {
    Rebuild rebuild(exchange, set, place, options, survey);
    Status status = rebuild.look();
    status = status ? rebuild.prepare() : status;
    return status ? rebuild.publish() : status;
}

} // namespace cd::redset
