// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "output.h"

#include "os/printable.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <utility>

namespace cdctl {
namespace {

// Returns how many characters a terminal shows.
size_t width(std::string_view text) {
    return static_cast<size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; }));
}

} // namespace

std::string printable(const std::string &text) {
    std::string shown;
    cd::os::for_each_printable(text.c_str(), [&](std::string_view piece) { shown += piece; });
    return shown;
}

std::string size_text(uint64_t bytes) {
    constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    auto value = static_cast<double>(bytes);
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    std::array<char, 32> shown = {};
    const int places = unit == 0 || value >= 100 ? 0 : 1;
    std::snprintf(shown.data(), shown.size(), "%.*f %s", places, value, units[unit]);
    return shown.data();
}

std::string hexadecimal(uint64_t value) {
    std::array<char, 16> shown = {};
    char *end = std::to_chars(shown.data(), shown.data() + shown.size(), value, 16).ptr;
    return "0x" + std::string(shown.data(), end);
}

void Table::print(int indentation) const {
    std::vector<size_t> widths;
    for (size_t i = 0; i < columns_.size(); ++i) {
        size_t most = width(columns_[i].title);
        for (const auto &row : rows_) {
            most = std::max(most, width(row[i]));
        }
        widths.push_back(most);
    }
    const auto print_line = [&](const auto &text_of) {
        std::string line(static_cast<size_t>(indentation), ' ');
        for (size_t i = 0; i < columns_.size(); ++i) {
            const std::string &text = text_of(i);
            const std::string blanks(widths[i] - width(text), ' ');
            line += i > 0 ? "  " : "";
            line += columns_[i].align == Align::left ? text + blanks : blanks + text;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::puts(line.c_str());
    };
    print_line([&](size_t i) -> const std::string & { return columns_[i].title; });
    for (const auto &row : rows_) {
        print_line([&](size_t i) -> const std::string & { return row[i]; });
    }
}

ProgressLine::ProgressLine(std::string title)
    : wanted_(::isatty(STDERR_FILENO) == 1), title_(printable(title)) {
    if (wanted_) {
        std::fprintf(stderr, "\r%s\033[K", title_.c_str());
    }
}

ProgressLine::~ProgressLine() {
    if (wanted_) {
        std::fputs("\r\033[K", stderr);
    }
}

void ProgressLine::show(uint64_t done, uint64_t all) {
    const uint64_t percent = all == 0 ? 100 : done * 100 / all;
    if (wanted_ && percent != percent_) {
        percent_ = percent;
        std::fprintf(stderr, "\r%s, %llu %%\033[K", title_.c_str(),
                     static_cast<unsigned long long>(percent));
    }
}

} // namespace cdctl
