// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/outputs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cd::scenarios {
namespace {

std::string hexadecimal(const std::vector<unsigned char> &bytes, size_t from) {
    std::string text;
    for (size_t i = from; i < bytes.size() && i < from + 16; ++i) {
        char digits[4];
        std::snprintf(digits, sizeof digits, " %02x", bytes[i]);
        text += digits;
    }
    return text;
}

} // namespace

Status::Status() { std::memset(static_cast<MPI_Status *>(this), 0x5A, sizeof(MPI_Status)); }

std::vector<Status> statuses(size_t count) { return std::vector<Status>(count); }

void Outputs::add(const char *label, const void *bytes, size_t size, bool choice) {
    if (all_.size() == limit_) {
        throw Interruption();
    }
    const auto *first = static_cast<const unsigned char *>(bytes);
    all_.push_back({label, choice, {first, first + size}});
}

void Outputs::text(const char *label, const std::string &text) {
    add(label, text.data(), text.size(), false);
}

void Outputs::status(const char *label, const MPI_Status &status) {
    const int fields[] = {status.MPI_SOURCE, status.MPI_TAG, status.MPI_ERROR};
    add(label, fields, sizeof fields, false);
    int more[] = {0, 0};
    MPI_Get_count(&status, MPI_BYTE, &more[0]);
    MPI_Test_cancelled(&status, &more[1]);
    add(label, more, sizeof more, false);
    add(label, &status, sizeof status, true);
}

void Outputs::statuses(const char *label, const std::vector<Status> &all) {
    for (const Status &one : all) {
        status(label, one);
    }
}

void Outputs::result(const char *call, int result) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(result, &error_class);
    add(call, &error_class, sizeof error_class, false);
    add(call, &result, sizeof result, true);
}

void Outputs::succeed(const char *call, int result) {
    if (result != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(result, text, &length);
        throw Failure(std::string(call) + ": " + text);
    }
    this->result(call, result);
}

bool Outputs::has_call_of(std::string function) const {
    if (function.ends_with("_c")) { // SIZED() is not written out
        function.erase(function.size() - 2);
    }
    return std::ranges::any_of(all_, [&](const Output &output) {
        const size_t at = output.label.find(function);
        const size_t end = at + function.size();
        return at != std::string::npos &&
               (end == output.label.size() || std::strchr("(), ", output.label[end]) != nullptr);
    });
}

Outputs Outputs::beginning(size_t count) const {
    Outputs first = *this;
    first.all_.resize(std::min(count, all_.size()));
    return first;
}

std::string Outputs::difference(const Outputs &other, bool choices_too) const {
    for (size_t i = 0; i < all_.size() && i < other.all_.size(); ++i) {
        const Output &a = all_[i];
        const Output &b = other.all_[i];
        if (a.label != b.label) {
            return "output " + std::to_string(i) + ": " + a.label + " became " + b.label;
        }
        if ((a.choice && !choices_too) || a.bytes == b.bytes) {
            continue;
        }
        size_t at = 0;
        while (at < a.bytes.size() && at < b.bytes.size() && a.bytes[at] == b.bytes[at]) {
            ++at;
        }
        return "output " + std::to_string(i) + ", " + a.label + ", byte " + std::to_string(at) +
               ":" + hexadecimal(a.bytes, at) + " became" + hexadecimal(b.bytes, at);
    }
    return all_.size() == other.all_.size() ? ""
                                            : std::to_string(all_.size()) + " outputs became " +
                                                  std::to_string(other.all_.size());
}

} // namespace cd::scenarios
