// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/survey.h"

#include "base/no_throw.h"
#include "base/saved_status.h"
#include "base/text.h"
#include "redset/kvtree_file.h"
#include "redset/survivors.h"

#include <utility>

namespace cd::redset {
namespace {

// ---- Which files there were

std::vector<int> ranks_without_header(const Set &set, const std::vector<Survivors> &all) {
    std::vector<int> ranks;
    for (size_t member = 0; member < all.size(); ++member) {
        if (!all[member].header) {
            ranks.push_back(set.ranks[member]);
        }
    }
    return ranks;
}

// If every header of a member is lost, its checksum alone decides whether the file is intact. The
// times and mode that the file has now replace the lost ones.
const MemberEntry *entry_made_anew(const Survivors &survivors, size_t member, Survey &survey) {
    if (!survey.checksums || !survivors.only_file ||
        (*survey.checksums)[member].files.size() != survivors.only_file->files.size()) {
        return nullptr;
    }
    (*survey.checksums)[member].entry = tree_checksum(survivors.only_file->tree);
    return &*survivors.only_file;
}

// Collects the files of each member from all headers. Fails if headers differ without checksums.
Status collect_files(const Set &set, const std::vector<Survivors> &all, Survey &survey) {
    std::vector<const MemberEntry *> entries(set.ranks.size());
    for (const Survivors &survivors : all) {
        if (!survivors.header) {
            continue;
        }
        for (const auto &[member, entry] : survivors.header->members) {
            if (!entry.descriptor.is_of(set) || !survey.vouches_for(entry, member)) {
                continue;
            }
            const MemberEntry *&known = entries[index(member)];
            if (known != nullptr && tree_checksum(known->tree) != tree_checksum(entry.tree)) {
                return fail(CD_ERROR_STORE_DAMAGED,
                            "set %d: scheme files contradict each other about member %d (rank %d), "
                            "and there "
                            "are no checksums: files of different times are mixed",
                            set.group + 1, member, set.ranks[index(member)]);
            }
            known = &entry;
        }
    }
    std::vector<int> unknown;
    std::vector<uint64_t> sizes;
    survey.files.clear();
    for (size_t member = 0; member < entries.size(); ++member) {
        if (entries[member] == nullptr) {
            entries[member] = entry_made_anew(all[member], member, survey);
        }
        if (entries[member] == nullptr) {
            unknown.push_back(set.ranks[member]);
            continue;
        }
        survey.files.push_back(entries[member]->files);
        sizes.push_back(logical_size(survey.files.back()));
    }
    if (!unknown.empty()) {
        const std::vector<int> lost = ranks_without_header(set, all);
        const std::string known =
            lost.empty() ? "" : "files of " + name_ranks(lost) + " are lost, and ";
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                    "set %d of %d (%s, %s): %snothing that is left tells which files "
                    "%s had; nothing was changed",
                    set.group + 1, set.groups, scheme_name(set.shape.scheme),
                    counted(set.shape.members, "member").c_str(), known.c_str(),
                    name_ranks(unknown).c_str());
    }
    survey.layout.emplace(set.shape, std::move(sizes));
    return Status::ok();
}

// ---- What all of them found

Status encode_state(const MemberState &own, Bytes &sent) {
    KvTree tree;
    tree.add_value("DATA", own.data_lost);
    tree.add_value("PAYLOAD", own.payload_lost);
    tree.add_value("DESCRIPTOR", own.descriptor_lost);
    tree.add_value("CHECKSUMS", own.checksums_lost);
    return encode_image(tree, "a member's state", sent);
}

Status decode_states(const std::vector<Bytes> &states_sent, std::vector<MemberState> &all) {
    std::vector<MemberState> states;
    for (const Bytes &bytes : states_sent) {
        KvTree received;
        uint64_t size = 0;
        if (Status status = decode_image(bytes, "a member's state", received, size); !status) {
            return status;
        }
        const auto lost = [&received](const char *key) {
            return std::string(received.value(key).value_or(""));
        };
        states.push_back({lost("DATA"), lost("PAYLOAD"), lost("DESCRIPTOR"), lost("CHECKSUMS")});
    }
    all = std::move(states);
    return Status::ok();
}

Status too_much_lost(const Set &set, const std::vector<MemberState> &members) {
    std::vector<int> ranks;
    std::string reasons;
    for (size_t member = 0; member < members.size(); ++member) {
        const auto &[data, payload, descriptor, checksums] = members[member];
        if (!data.empty() || !payload.empty()) {
            ranks.push_back(set.ranks[member]);
            reasons +=
                "; rank " + std::to_string(ranks.back()) + ": " + (data.empty() ? payload : data);
        }
    }
    return fail(CD_ERROR_REDUNDANCY_EXCEEDED,
                "set %d of %d (%s): files of %s are lost, more than it can bring back; nothing was "
                "changed%s",
                set.group + 1, set.groups, describe_shape(set.shape).c_str(),
                name_ranks(ranks).c_str(), reasons.c_str());
}

// What all members have lost, and the rows that rebuild it.
struct LossPlan {
    std::vector<MemberState> members;
    std::vector<Row> rows;
};

Status plan_rows(const Set &set, const Layout &layout, Makers makers, LossPlan &found) {
    std::vector<Lost> lost;
    lost.reserve(found.members.size());
    for (const MemberState &state : found.members) {
        lost.push_back(state.lost());
    }
    return rebuilding_rows(layout, lost, found.rows, makers) ? Status::ok()
                                                             : too_much_lost(set, found.members);
}

// ---- With which checksums to look at it, one after the other

struct Candidate {
    Survey survey;
    SavedStatus collected;
};

// What all members have. Members in one process share it.
struct Gathered {
    std::vector<Survivors> all;
    std::vector<Candidate> candidates;
};

Status gather(const Set &set, const std::vector<Bytes> &received, Gathered &gathered) {
    std::vector<Survivors> &all = gathered.all;
    all.resize(received.size());
    for (size_t member = 0; member < received.size(); ++member) {
        if (Status status =
                receive_survivors(set, static_cast<int>(member), received[member], all[member]);
            !status) {
            return status;
        }
    }
    for (Checksums &checksums : checksums_in(all)) {
        gathered.candidates.emplace_back().survey.checksums = std::move(checksums);
    }
    if (gathered.candidates.empty()) {
        gathered.candidates.emplace_back();
    }
    for (Candidate &candidate : gathered.candidates) {
        for (size_t member = 0; member < all.size(); ++member) {
            candidate.survey.members.push_back(
                {"", why_header_is_lost(candidate.survey, static_cast<int>(member), all[member])});
        }
        candidate.collected = SavedStatus(collect_files(set, all, candidate.survey));
    }
    return Status::ok();
}

Status survey_with(Exchange &exchange, const Set &set, const Place &place, const Gathered &gathered,
                   const Candidate &candidate, uint64_t payload_offset, Contents contents,
                   Survey &survey, const Looked &tell) {
    const int self = exchange.self();
    Status collected = catch_exceptions([&] {
        survey = candidate.survey;
        survey.payload_offset = payload_offset;
        return candidate.collected.again();
    });
    if (Status status = agree_on_memory(exchange, collected); !status) {
        return status;
    }
    Bytes sent;
    Status looked = catch_exceptions([&] {
        return encode_state(
            own_state(set, survey, self, place, gathered.all[index(self)], contents, tell), sent);
    });
    const Makers makers = exchange.shares_what_is_made() ? Makers::all : only(self);
    const auto make = [&](std::vector<Bytes> &states_sent, Exchange::Made &made) {
        const auto found = std::make_shared<LossPlan>();
        if (Status status = decode_states(states_sent, found->members); !status) {
            return status;
        }
        made = found;
        return plan_rows(set, *survey.layout, makers, *found);
    };
    return agree_and_make(exchange, looked, sent, make, [&](const Exchange::Made &made) {
        const auto found = std::static_pointer_cast<const LossPlan>(made);
        survey.members = found->members;
        survey.rows = {found, &found->rows};
    });
}

} // namespace

bool Survey::vouches_for(const MemberEntry &entry, int member) const {
    return !checksums || (*checksums)[index(member)].entry == tree_checksum(entry.tree);
}

Lost Survey::lost(int member) const { return members[index(member)].lost(); }

Status take_survey(Exchange &exchange, const Set &set, const Place &place, Contents contents,
                   Survey &survey, const Looked &looked) {
    Bytes sent;
    uint64_t payload_offset = 0;
    Status own = catch_exceptions(
        [&] { return send_survivors(set, exchange.self(), place, sent, payload_offset); });
    std::shared_ptr<const Gathered> gathered;
    const auto make = [&](std::vector<Bytes> &received, Exchange::Made &made) {
        const auto all = std::make_shared<Gathered>();
        made = all;
        return gather(set, received, *all);
    };
    const auto take = [&](const Exchange::Made &made) {
        gathered = std::static_pointer_cast<const Gathered>(made);
    };
    if (Status status = agree_and_make(exchange, own, sent, make, take); !status) {
        return status;
    }
    // Old checksums may be left over. The most frequent ones are tried first.
    const auto with = [&](const Candidate &candidate, Survey &taken) {
        return survey_with(exchange, set, place, *gathered, candidate, payload_offset, contents,
                           taken, looked);
    };
    const std::vector<Candidate> &candidates = gathered->candidates;
    const SavedStatus first(with(candidates.front(), survey));
    for (size_t i = 1; i < candidates.size() && first.code() == CD_ERROR_REDUNDANCY_EXCEEDED; ++i) {
        Survey other;
        Status status = with(candidates[i], other);
        if (status.code() != CD_ERROR_REDUNDANCY_EXCEEDED) {
            survey = std::move(other);
            return status;
        }
    }
    return first.again();
}

} // namespace cd::redset
