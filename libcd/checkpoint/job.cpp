// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/job.h"

#include "base/no_throw.h"
#include "base/saved_status.h"
#include "checkpoint/redundancy_sets.h"
#include "os/system.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::Bytes;
using redset::code_of;
using redset::text_of;

// Builds a sentence without memory. Cuts it where it is too long.
class Sentence {
public:
    [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) {
        va_list values;
        va_start(values, format);
        const int length = std::vsnprintf(text_ + used_, sizeof text_ - used_, format, values);
        va_end(values);
        used_ = std::min(used_ + static_cast<size_t>(std::max(length, 0)), sizeof text_ - 1);
    }
    const char *text() const { return text_; }

private:
    char text_[1024] = "";
    size_t used_ = 0;
};

bool is_lost(const Bytes &outcome) { return code_of(outcome) == CD_ERROR_REDUNDANCY_EXCEEDED; }

// Lists each set once, although all of its members report it. Cuts the list where it is too long.
Status too_much_lost(const std::vector<Bytes> &outcomes) {
    Sentence all;
    for (auto each = outcomes.begin(); each != outcomes.end(); ++each) {
        const auto says_the_same = [&](const Bytes &earlier) {
            return is_lost(earlier) && std::strcmp(text_of(earlier), text_of(*each)) == 0;
        };
        if (is_lost(*each) && std::none_of(outcomes.begin(), each, says_the_same)) {
            all.add("%s%s", *all.text() == '\0' ? "" : " | ", text_of(*each));
        }
    }
    return fail(CD_ERROR_REDUNDANCY_EXCEEDED, "%s", all.text());
}

// The first failure, with the ranks that have its code.
Status failure_of(const std::vector<Bytes> &outcomes, const Bytes &first,
                  const std::vector<int> &ranks) {
    constexpr int most = 30;
    Sentence list;
    int failed = 0;
    for (size_t i = 0; i < outcomes.size(); ++i) {
        if (code_of(outcomes[i]) == code_of(first) && ++failed <= most) {
            list.add("%s%d", failed == 1 ? "" : ", ", ranks[i]);
        }
    }
    if (failed > most) {
        list.add(" and %d more", failed - most);
    }
    // The failure of another member of the set names its rank already.
    if (std::strncmp(text_of(first), "rank ", 5) == 0) {
        return fail(code_of(first), "%s", text_of(first));
    }
    return fail(code_of(first), "rank%s %s: %s", failed > 1 ? "s" : "", list.text(),
                text_of(first));
}

Status outcome_of(Job &job, std::vector<Bytes> outcomes, std::vector<Bytes> &all) {
    const auto failed = [](const Bytes &each) { return code_of(each) != CD_ERROR_NONE; };
    if (std::ranges::none_of(outcomes, failed)) {
        redset::take_codes_off(outcomes);
        all = std::move(outcomes);
        return Status::ok();
    }
    const bool any_lost = std::ranges::any_of(outcomes, is_lost);
    const auto other = std::ranges::find_if(outcomes, [&](const Bytes &each) {
        const bool needs_room = code_of(each) == CD_ERROR_STORE_FULL;
        return failed(each) && !is_lost(each) && !(any_lost && needs_room);
    });
    return other == outcomes.end() ? too_much_lost(outcomes)
                                   : failure_of(outcomes, *other, job.ranks());
}

} // namespace

Status Job::meet_in(const redset::Set &set, std::unique_ptr<redset::Exchange> &part) {
    const int member = member_of(set, rank());
    if (Status status = divide(set.group, member, part); !status) {
        return status;
    }
    const SavedMessage keeper;
    // Without memory messages name members by number.
    (void)catch_exceptions([&] { part->call_by_ranks(set.ranks); }).is_ok();
    return Status::ok();
}

void Job::warn_once(const char *line) {
    if (warns_users()) {
        os::system().warn(line);
    }
}

Status agree(Job &job, Status own) {
    std::vector<Bytes> all;
    return agree(job, own, {}, all);
}

Status agree(Job &job, Status own, std::span<const std::byte> bytes, std::vector<Bytes> &all) {
    std::vector<Bytes> outcomes;
    Status met = redset::gather_outcomes(job.all(), own, bytes, outcomes);
    return met ? outcome_of(job, std::move(outcomes), all) : met;
}

Status agree_if_possible(Job &job, Status own, std::span<const std::byte> bytes,
                         std::vector<Bytes> &all) {
    const SavedStatus kept(own);
    std::vector<Bytes> outcomes;
    Status met = redset::gather_outcomes(job.all(), own, bytes, outcomes);
    if (!met) {
        return kept.again();
    }
    return outcome_of(job, std::move(outcomes), all);
}

Status agree_on_memory(Job &job, Status found) {
    const bool lacking = found.code() == CD_ERROR_NO_MEMORY;
    Status status = agree(job, lacking ? found : Status::ok());
    return status ? found : status;
}

} // namespace cd::checkpoint
