// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/other_copies.h"

#include "base/no_throw.h"
#include "checkpoint/file_transfer.h"
#include "redset/survey.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::index;

// What a rank tells of its files, where its set cannot bring back what is damaged.
constexpr std::byte image_damaged{1};
constexpr std::byte scheme_file_damaged{2};
constexpr std::byte beyond_cover{4};

// The files come beside those whose names they get, and are looked at as if they had these; each
// copy once.
class OtherCopies {
public:
    OtherCopies(Job &job, const CheckpointDir &folder, const CheckpointId &point,
                const Division &division, const redset::Place &place, bool sync)
        : job_(job), folder_(folder), point_(point), division_(division), sync_(sync),
          set_(division.set_of(job.rank())), place_(place) {}

    Status take(std::vector<Transfer> copies, bool &taken) {
        std::unique_ptr<redset::Exchange> part;
        if (Status status = job_.meet_in(set_, part); !status) {
            return status;
        }
        while (true) {
            std::vector<redset::Bytes> damaged;
            if (Status status = look(*part, damaged); !status) {
                return status;
            }
            if (std::ranges::none_of(damaged, [](const redset::Bytes &each) {
                    return (each.front() & beyond_cover) != std::byte{};
                })) {
                taken = true;
                return publish();
            }
            std::vector<Transfer> next;
            Status chosen = catch_exceptions([&] {
                next = take_next(damaged, copies);
                give_up_damaged();
            });
            if (Status status = agree(job_, chosen); !status || next.empty()) {
                return status;
            }
            if (Status status = receive(next); !status) {
                return status;
            }
        }
    }

private:
    // damaged: of each rank.
    Status look(redset::Exchange &part, std::vector<redset::Bytes> &damaged) {
        redset::Survey survey;
        Status looked = take_survey(part, set_, place_, redset::Contents::compared, survey);
        std::byte own{};
        if (looked.code() == CD_ERROR_REDUNDANCY_EXCEEDED ||
            looked.code() == CD_ERROR_STORE_DAMAGED) {
            own = beyond_cover;
        }
        damaged_.clear();
        Status known = looked || own != std::byte{}
                           ? catch_exceptions([&] { find_damaged(survey, own); })
                           : looked;
        return agree(job_, known, std::span(&own, 1), damaged);
    }

    // Names of this rank's, also where the set can bring them back.
    void find_damaged(const redset::Survey &survey, std::byte &own) {
        const int member = member_of(set_, job_.rank());
        if (index(member) >= survey.members.size()) {
            return;
        }
        const redset::Lost lost = survey.lost(member);
        for (const auto &[is_lost, sign] :
             {std::pair(lost.data, image_damaged), std::pair(lost.payload, scheme_file_damaged)}) {
            if (is_lost) {
                damaged_.insert(name_of(job_.rank(), sign));
                own |= sign;
            }
        }
    }

    std::string name_of(int rank, std::byte sign) const {
        const redset::Set &set = division_.set_of(rank);
        return sign == image_damaged ? image_name(rank)
                                     : redset::Place().scheme_file(set, member_of(set, rank));
    }

    // Of each damaged file of a set that needs it the next copy, which is not tried again.
    std::vector<Transfer> take_next(const std::vector<redset::Bytes> &damaged,
                                    std::vector<Transfer> &copies) const {
        std::vector<Transfer> next;
        for (size_t i = 0; i < damaged.size(); ++i) {
            const std::byte signs = damaged[i].front();
            for (const std::byte sign : {image_damaged, scheme_file_damaged}) {
                const auto copy = std::ranges::find_if(copies, [&](const Transfer &each) {
                    return index(each.to) == i && each.name == name_of(job_.ranks()[i], sign);
                });
                if ((signs & beyond_cover) != std::byte{} && (signs & sign) != std::byte{} &&
                    copy != copies.end()) {
                    next.push_back(*copy);
                    copies.erase(copy);
                }
            }
        }
        return next;
    }

    // A copy that is damaged is no better than what is near.
    void give_up_damaged() {
        for (const std::string &name : damaged_) {
            place_.stand_ins.erase(name);
            for (const std::unique_ptr<Arrivals> &arrived : arrivals_) {
                arrived->give_up(name);
            }
        }
    }

    Status receive(const std::vector<Transfer> &next) {
        std::unique_ptr<Arrivals> arrived;
        if (Status status = receive_files(job_, folder_, point_, next, sync_, arrived); !status) {
            return status;
        }
        return agree(job_, catch_exceptions([&] {
                         place_.stand_ins.merge(arrived->paths());
                         arrivals_.push_back(std::move(arrived));
                     }));
    }

    Status publish() {
        return agree(job_, catch_exceptions([&] {
                         give_up_damaged();
                         for (const std::unique_ptr<Arrivals> &arrived : arrivals_) {
                             if (Status status = arrived->publish(); !status) {
                                 return status;
                             }
                         }
                         return Status::ok();
                     }));
    }

    Job &job_;
    const CheckpointDir &folder_;
    const CheckpointId &point_;
    const Division &division_;
    const bool sync_;
    const redset::Set &set_;
    redset::Place place_;           // with what has come
    std::set<std::string> damaged_; // of this rank's files there, when last looked at
    std::vector<std::unique_ptr<Arrivals>> arrivals_;
};

} // namespace

Status take_other_copies(Job &job, const CheckpointDir &folder, const Findings &findings,
                         const CheckpointId &point, const Division &division,
                         const redset::Place &place, bool sync, bool &taken) {
    taken = false;
    std::vector<Transfer> copies;
    std::unique_ptr<OtherCopies> others;
    Status found = catch_exceptions([&] {
        copies = find_copies_elsewhere(findings, point);
        others = std::make_unique<OtherCopies>(job, folder, point, division, place, sync);
    });
    if (Status status = agree_on_memory(job, found); !status || copies.empty()) {
        return status;
    }
    return others->take(std::move(copies), taken);
}

} // namespace cd::checkpoint
