// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/coverage.h"

#include "harness/scenario.h"
#include "harness/table.h"

#include <cstdio>
#include <fnmatch.h>
#include <fstream>
#include <map>
#include <mpi.h>
#include <set>
#include <sstream>

namespace cd::scenarios {
namespace {

// Returns the version of this MPI as it stands before lines that are about one version: "4.1: ".
std::string version_mark() {
#ifdef MPICH_VERSION
    const std::string version = MPICH_VERSION;
    return version.substr(0, version.find('.', version.find('.') + 1)) + ": ";
#else
    return std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + ": ";
#endif
}

// Returns the lines that are about this MPI's version, without the mark.
std::set<std::string> lines_of(const std::string &path) {
    const std::string mark = version_mark();
    std::set<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const bool is_marked = !line.empty() && line[0] >= '0' && line[0] <= '9';
        if (is_marked && line.starts_with(mark)) {
            lines.insert(line.substr(mark.size()));
        } else if (!is_marked && !line.empty() && line[0] != '#') {
            lines.insert(line);
        }
    }
    return lines;
}

// The scenario that proves each function.
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

// "FUNCTION GROUP"
Witnesses witnesses_in(const std::string &path) {
    Witnesses all;
    std::ifstream file(path);
    for (std::string function, group; file >> function >> group;) {
        all.emplace(function, group);
    }
    return all;
}

// "INTERFACES FUNCTIONS REASON...", where interfaces are one, or old ones, or all, and functions a
// pattern of the shell.
class Exceptions {
public:
    explicit Exceptions(const std::string &path) {
        for (const std::string &line : lines_of(path)) {
            std::istringstream words(line);
            Exception exception;
            words >> exception.interfaces >> exception.functions >> std::ws;
            std::getline(words, exception.reason);
            all_.push_back(exception);
        }
    }

    // Empty if there is none.
    std::string reason(const std::string &interface, const std::string &function) {
        for (Exception &exception : all_) {
            if (exception.is_about(interface) &&
                fnmatch(exception.functions.c_str(), function.c_str(), 0) == 0) {
                exception.used = true;
                return exception.reason;
            }
        }
        return "";
    }

    std::vector<std::string> unused() const {
        std::vector<std::string> patterns;
        for (const Exception &exception : all_) {
            if (!exception.used) {
                patterns.push_back(exception.functions);
            }
        }
        return patterns;
    }

private:
    struct Exception {
        std::string interfaces;
        std::string functions;
        std::string reason;
        bool used = false;

        bool is_about(const std::string &interface) const {
            return interfaces == "all" || interfaces == interface ||
                   (interfaces == "old" && interface != "mpi_f08");
        }
    };

    std::vector<Exception> all_;
};

class Report {
public:
    explicit Report(const Sources &sources)
        : declared_(lines_of(sources.declared)), unproven_(lines_of(sources.not_yet_proven)),
          exceptions_(sources.not_in_fortran) {
        for (const char *interface : {"mpifh", "mpi", "mpi_f08"}) {
            if (sources.fortran.empty()) {
                break;
            }
            fortran_[interface] = witnesses_in(sources.fortran + interface + ".txt");
        }
    }

    int make() {
        std::set<std::string> functions;
        for (const Row &row : table()) {
            functions.insert(row.function);
            in_c(row);
            in_fortran(row);
        }
        expect_known(declared_, functions, "declared by mpi.h, but not in functions.def");
        expect_known(unproven_, functions, "not a function of this MPI; not_yet_proven has it");
        for (const std::string &pattern : exceptions_.unused()) {
            if (fortran_.empty()) {
                break;
            }
            wrong(pattern, "no function needs this exception for Fortran");
        }
        return wrong_;
    }

private:
    void in_c(const Row &row) {
        const Witnesses &expected = row.is_refused() ? refused_ : proven_;
        const Witnesses &unexpected = row.is_refused() ? proven_ : refused_;
        if (unexpected.count(row.function) > 0) {
            wrong(row.function, row.is_refused() ? "refused, but a scenario proves it"
                                                 : "not refused, but a scenario expects it");
        }
        const std::string verdict = row.is_refused()        ? "refused (" + row.arrives + ")"
                                    : row.leaves_no_entry() ? "left to MPI"
                                                            : "recorded and replayed";
        const auto witness = expected.find(row.function);
        const bool unproven = unproven_.count(row.function) > 0;
        if (witness != expected.end()) {
            line(row.function, verdict + ": " + witness->second);
        } else if (unproven) {
            line(row.function, verdict + ": not yet proven");
        } else {
            wrong(row.function, verdict + ", but no scenario says so");
        }
        if (witness != expected.end() && unproven) {
            wrong(row.function, "proven; not_yet_proven still has it");
        }
    }

    void in_fortran(const Row &row) {
        if (row.is_refused()) {
            return; // which the scenarios in C show
        }
        for (const auto &[interface, witnesses] : fortran_) {
            const std::string reason = exceptions_.reason(interface, row.function);
            const auto witness = witnesses.find(row.function);
            if (witness == witnesses.end() && reason.empty()) {
                wrong(row.function, interface + ": nothing calls it, and nothing says why");
            } else if (witness != witnesses.end() && !reason.empty()) {
                wrong(row.function, interface + ": it is called, but an exception says why not");
            } else {
                line("", interface + ": " + (reason.empty() ? witness->second : reason));
            }
        }
    }

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

    const std::set<std::string> declared_;
    const std::set<std::string> unproven_;
    const Witnesses proven_ = witnesses(&Scenario::proves);
    const Witnesses refused_ = witnesses(&Scenario::refuses);
    std::map<std::string, Witnesses> fortran_;
    Exceptions exceptions_;
    int wrong_ = 0;
};

} // namespace

int report_coverage(const Sources &sources) { return Report(sources).make(); }

} // namespace cd::scenarios
