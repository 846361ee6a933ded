// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/choosing.h"

#include "checkpoint/leftovers.h"
#include "config/restart_choice.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace cd::checkpoint {
namespace {

std::string list_epochs(const std::vector<Start> &points) {
    std::string text;
    for (const Start &each : points) {
        text += (text.empty() ? "" : ", ") + std::to_string(each.point.epoch);
    }
    return text;
}

} // namespace

std::vector<Start> all_agreed(const std::vector<Findings> &findings) {
    std::vector<Start> points;
    for (size_t store = 0; store < findings.size(); ++store) {
        for (const CheckpointId &point : findings[store].agreed()) {
            points.push_back({point, store});
        }
    }
    std::erase_if(points, [&](const Start &each) { return is_forgotten(findings, each.point); });
    // Of one attempt what is near comes before its copy.
    std::ranges::sort(points, std::greater<>(), [](const Start &each) {
        return std::pair(each.point.number, -each.point.level);
    });
    return points;
}

Status check_nothing_newer_elsewhere(const std::vector<Elsewhere> &elsewhere,
                                     const Request &request, const std::vector<Findings> &findings,
                                     const std::vector<Start> &points) {
    if (!request.restart.empty() && request.restart != "yes") {
        return Status::ok();
    }
    for (const auto &[newest, rank, path] : elsewhere) {
        if (!is_forgotten(findings, newest) &&
            (points.empty() || points.front().point.number < newest.number)) {
            return fail(CD_ERROR_RESTART_MISMATCH,
                        "root \"%s\": epoch %llu is only in %s on the node of rank %d. Copy that "
                        "directory to the nodes of this root, or start with CD_RESTART=no",
                        request.root.c_str(), static_cast<unsigned long long>(newest.epoch),
                        path.c_str(), rank);
        }
    }
    return Status::ok();
}

Status choose(Job &job, const Request &request, std::vector<Start> &points, Remarks &remarks) {
    RestartChoice choice;
    if (Status status = parse_restart_choice(request.restart.c_str(), choice); !status) {
        return status;
    }
    if (choice.afresh) {
        points.clear();
    }
    if (!choice.epoch) {
        return Status::ok();
    }
    const std::string there = list_epochs(points);
    std::erase_if(points, [&](const Start &each) { return each.point.epoch != *choice.epoch; });
    if (points.empty() && !there.empty()) {
        return fail(CD_ERROR_ARGUMENT,
                    "CD_RESTART asks for epoch %llu, and what is protected is %s; choose one of "
                    "these, or CD_RESTART=no to start afresh",
                    static_cast<unsigned long long>(*choice.epoch), there.c_str());
    }
    if (points.empty() && *choice.epoch > 0 && job.tells_people()) {
        remarks.push_back("root \"" + request.root + "\": CD_RESTART asks for epoch " +
                          std::to_string(*choice.epoch) +
                          ", but nothing is protected; starting afresh");
    }
    return Status::ok();
}

} // namespace cd::checkpoint
