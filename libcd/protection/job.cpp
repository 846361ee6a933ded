// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/job.h"

#include "protection/division.h"

#include <algorithm>
#include <cstring>

namespace cd::protection {
namespace {

using redset::Bytes;

struct Failure {
    cd_error code = CD_ERROR_NONE;
    std::string text;
};

std::vector<Failure> failures_in(const std::vector<Bytes> &told) {
    std::vector<Failure> failures;
    for (const Bytes &bytes : told) {
        Failure failure;
        std::memcpy(&failure.code, bytes.data(), sizeof failure.code);
        if (failure.code != CD_ERROR_NONE) {
            failure.text = reinterpret_cast<const char *>(bytes.data()) + sizeof failure.code;
        }
        failures.push_back(std::move(failure));
    }
    return failures;
}

// What a set found is known to all of its members, and said once.
Status too_much_lost(const std::vector<Failure> &failures) {
    std::vector<std::string> texts;
    for (const auto &[code, text] : failures) {
        if (code == CD_ERROR_REDUNDANCY_EXCEEDED && std::ranges::find(texts, text) == texts.end()) {
            texts.push_back(text);
        }
    }
    std::string all;
    for (const std::string &text : texts) {
        all += (all.empty() ? "" : " | ") + text;
    }
    return fail(CD_ERROR_REDUNDANCY_EXCEEDED, "%s", all.c_str());
}

} // namespace

Status agree(Job &job, Status own) {
    std::vector<Bytes> all;
    return agree(job, own, {}, all);
}

Status agree(Job &job, Status own, std::span<const std::byte> bytes, std::vector<Bytes> &all) {
    const cd_error code = own.code();
    const auto content = own ? bytes : std::as_bytes(std::span(message(), strlen(message()) + 1));
    Bytes told(sizeof code + content.size());
    std::memcpy(told.data(), &code, sizeof code);
    std::ranges::copy(content, told.begin() + sizeof code);
    std::vector<Bytes> gathered;
    if (Status status = job.all().gather(told, gathered); !status) {
        return status;
    }
    const std::vector<Failure> failures = failures_in(gathered);
    const auto failed = [](const Failure &failure) { return failure.code != CD_ERROR_NONE; };
    if (std::ranges::none_of(failures, failed)) {
        for (Bytes &each : gathered) {
            each.erase(each.begin(), each.begin() + sizeof code);
        }
        all = std::move(gathered);
        return Status::ok();
    }
    const auto other = std::ranges::find_if(failures, [&](const Failure &failure) {
        return failed(failure) && failure.code != CD_ERROR_REDUNDANCY_EXCEEDED;
    });
    if (other == failures.end()) {
        return too_much_lost(failures);
    }
    std::vector<int> ranks;
    for (size_t i = 0; i < failures.size(); ++i) {
        if (failures[i].code == other->code) {
            ranks.push_back(job.ranks()[i]);
        }
    }
    return fail(other->code, "rank%s %s: %s", ranks.size() > 1 ? "s" : "",
                list_ranks(ranks).c_str(), other->text.c_str());
}

} // namespace cd::protection
