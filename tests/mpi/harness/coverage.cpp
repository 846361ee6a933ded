// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/coverage.h"

#include "harness/scenario.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <set>

namespace cd::scenarios {
namespace {

struct Row {
    const char *function;
    const char *family;
    const char *arrives;
};

const Row rows[] = {
#define CD_FUNCTION(name, family, arrives, ...) {#name, #family, #arrives},
#include "functions.inc"
#undef CD_FUNCTION
};

std::set<std::string> lines_of(const std::string &path) {
    std::set<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line[0] != '#') {
            lines.insert(line);
        }
    }
    return lines;
}

// Which scenario stands behind which function.
using Witnesses = std::map<std::string, std::string>;

Witnesses witnesses(std::vector<std::string> Scenario::*functions) {
    Witnesses all;
    for (const Scenario &scenario : all_scenarios()) {
        for (const std::string &function : scenario.*functions) {
            all.emplace(function, scenario.family + "." + scenario.name);
        }
    }
    return all;
}

class Report {
public:
    int make(const std::string &declared_path, const std::string &not_yet_proven_path) {
        const std::set<std::string> declared = lines_of(declared_path);
        const Witnesses proven = witnesses(&Scenario::proves);
        const Witnesses refused = witnesses(&Scenario::refuses);
        const std::set<std::string> unproven = lines_of(not_yet_proven_path);
        std::set<std::string> functions;
        for (const Row &row : rows) {
            functions.insert(row.function);
            const std::string family = row.family;
            if (family == "Local") {
                line(row.function, "local");
                continue;
            }
            if (family == "NumbersComm" || family == "NumbersWindow" ||
                family == "NumbersFile" || family == "CallsCommHandler" ||
                family == "CallsFileHandler" || family == "NeedsSomeComm") {
                line(row.function, "leaves nothing in a log");
                continue;
            }
            const bool is_refused = family.rfind("Refused", 0) == 0;
            const Witnesses &expected = is_refused ? refused : proven;
            const Witnesses &unexpected = is_refused ? proven : refused;
            if (unexpected.count(row.function) > 0) {
                wrong(row.function, is_refused ? "refused, but a scenario proves it"
                                               : "not refused, but a scenario expects it");
            }
            const std::string verdict =
                is_refused ? "refused (" + std::string(row.arrives) + ")" : "recorded and replayed";
            const auto witness = expected.find(row.function);
            if (witness != expected.end()) {
                line(row.function, verdict + ": " + witness->second);
            } else if (unproven.count(row.function) > 0) {
                line(row.function, verdict + ": not yet proven");
            } else {
                wrong(row.function, verdict + ", but no scenario says so");
            }
            if (witness != expected.end() && unproven.count(row.function) > 0) {
                wrong(row.function, "proven; not_yet_proven still has it");
            }
        }
        expect_known(declared, functions, "declared by mpi.h, but not in functions.def");
        expect_known(unproven, functions, "not a function of this MPI; not_yet_proven has it");
        return wrong_;
    }

private:
    void expect_known(const std::set<std::string> &names, const std::set<std::string> &functions,
                      const char *otherwise) {
        for (const std::string &name : names) {
            if (functions.count(name) == 0) {
                wrong(name, otherwise);
            }
        }
    }

    void line(const std::string &function, const std::string &verdict) {
        std::printf("%-36s %s\n", function.c_str(), verdict.c_str());
    }

    void wrong(const std::string &function, const std::string &what) {
        ++wrong_;
        line(function, "WRONG: " + what);
    }

    int wrong_ = 0;
};

} // namespace

int report_coverage(const std::string &declared, const std::string &not_yet_proven) {
    return Report().make(declared, not_yet_proven);
}

} // namespace cd::scenarios
