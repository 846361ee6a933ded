// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "settings/settings.h"

#include "config/parse_size.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace cd::logger {
namespace {

// Reports each invalid value once.
void report(const char *variable, const char *text, const std::string &allowed) {
    static std::mutex mutex;
    static auto &reported = *new std::set<std::string>; // MPI may be used while the process ends
    const std::string sentence = std::string(variable) + " is \"" + text +
                                 "\", which counts as not set; allowed: " + allowed;
    const std::scoped_lock lock(mutex);
    if (reported.insert(sentence).second) {
        std::fprintf(stderr, "pmpi_logger: %s\n", sentence.c_str());
    }
}

} // namespace

std::optional<size_t> choice_in(const char *variable, std::initializer_list<const char *> values) {
    const char *const text = std::getenv(variable);
    if (text == nullptr) {
        return std::nullopt;
    }
    std::string allowed;
    size_t number = 0;
    for (const char *const value : values) {
        if (std::string_view(text) == value) {
            return number;
        }
        allowed += (number++ > 0 ? ", " : "") + std::string(value);
    }
    report(variable, text, allowed);
    return std::nullopt;
}

double seconds_in(const char *variable, double otherwise) {
    const char *const text = std::getenv(variable);
    if (text == nullptr) {
        return otherwise;
    }
    const char *const behind = text + std::strlen(text);
    double number = 0;
    const auto [end, error] = std::from_chars(text, behind, number);
    if (error != std::errc{} || end != behind || number < 0 || !std::isfinite(number)) {
        report(variable, text, "seconds, such as 2.5");
        return otherwise;
    }
    return number;
}

size_t size_in(const char *variable, size_t otherwise) {
    const char *const text = std::getenv(variable);
    if (text == nullptr) {
        return otherwise;
    }
    const uint64_t bytes = byte_count(text, SIZE_MAX).value_or(0);
    if (bytes == 0) {
        report(variable, text, "a size in bytes, or with K, M or G, such as 64M");
        return otherwise;
    }
    return bytes;
}

} // namespace cd::logger
