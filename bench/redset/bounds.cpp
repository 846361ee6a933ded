// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "bounds.h"

#include "kernels.h"

#include <cstdio>

using cd::Scheme;
using cd::redset::Coding;

namespace {

// Of payload for each byte of data.
double payload(const Coding &coding) {
    return static_cast<double>(coding.checks) / (coding.members - coding.checks);
}

// A row has a chunk of each member; all but one come to, or from, the member that makes it.
double sent(const Coding &coding) {
    return static_cast<double>(coding.members - 1) / (coding.members - coding.checks);
}

double coded(const Coding &coding) {
    return coding_cost(static_cast<size_t>(coding.members - coding.checks),
                       static_cast<size_t>(coding.checks), coding.scheme == Scheme::xor_set);
}

void print_rate(const char *what, double cost) {
    std::printf("%-32s %7.1f GB/s\n", what, 1e-9 / cost);
}

} // namespace

Passes encoding_passes(const Coding &coding) {
    const double out = payload(coding);
    return {1, 1 + out, sent(coding), 1, out};
}

Passes rebuilding_passes(const Coding &coding) {
    const double all = 1 + payload(coding);
    const double lost = static_cast<double>(coding.checks) / coding.members;
    return {all * (1 - lost), all, sent(coding), 1, all * lost};
}

Costs Costs::measure(const std::string &folder, size_t bytes) {
    const Costs costs{copy_cost(), checksum_cost(), write_cost(folder.c_str(), bytes),
                      read_cost(folder.c_str(), bytes)};
    print_rate("memcpy, 128 KiB", costs.copy);
    print_rate("CRC-32C, 128 KiB", costs.checksum);
    print_rate("xor_gen, 3 sources", coding_cost(3, 1, true));
    print_rate("xor_gen, 7 sources", coding_cost(7, 1, true));
    for (const size_t members : {4, 8}) {
        for (const size_t checks : {1, 2, 3}) {
            const std::string what = "ec_encode_data, " + std::to_string(checks) + " of " +
                                     std::to_string(members - checks) + " sources";
            print_rate(what.c_str(), coding_cost(members - checks, checks, false));
        }
    }
    print_rate("write to the folder", costs.write);
    print_rate("read from the folder", costs.read);
    return costs;
}

void Costs::print_sending(int members) const {
    print_rate(("sending alone, " + std::to_string(members) + " ranks").c_str(), sending);
}

double Costs::of(const Passes &passes, const Coding &coding) const {
    return passes.read * read + passes.checked * checksum + passes.sent * copy +
           passes.coded * coded(coding) + passes.written * write;
}

void print_result(const char *what, const Coding &coding, double bytes, const Measured &measured,
                  const Passes &passes, const Costs &costs) {
    const double used = measured.processor_seconds;
    const double bound = costs.of(passes, coding);
    const double as_sent = costs.sending > 0 ? passes.sent * (costs.sending - costs.copy) : 0;
    std::printf(
        "%-8s %-4s k=%d of %d %7.2f GB/s %6.2f s/GB, bound %5.2f, reached %4.2f, with sending "
        "%4.2f: read %4.2f checked %4.2f sent %4.2f coded %4.2f written %4.2f\n",
        what, cd::redset::scheme_name(coding.scheme), coding.checks, coding.members,
        bytes / measured.seconds * 1e-9, used / bytes * 1e9, bound * 1e9, bound * bytes / used,
        (bound + as_sent) * bytes / used, passes.read, passes.checked, passes.sent, passes.coded,
        passes.written);
    std::fflush(stdout);
}
