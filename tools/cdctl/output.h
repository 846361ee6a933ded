// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cdctl {

// Escapes control characters as \xNN, for terminals.
std::string printable(const std::string &text);

// Returns a size such as "1.5 MiB".
std::string size_text(uint64_t bytes);

// Returns a number such as "0x7f00".
std::string hexadecimal(uint64_t value);

// A table whose columns fit their contents.
class Table {
public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }
    // Prints to standard output, indented by so many blanks.
    void print(int indentation = 0) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// Shows on a terminal how far a command is, in a line of standard error that is gone at the end.
class ProgressLine {
public:
    // `title`: what stands before the percentage.
    explicit ProgressLine(std::string title);
    ProgressLine(const ProgressLine &) = delete;
    ProgressLine &operator=(const ProgressLine &) = delete;
    ~ProgressLine();

    void show(uint64_t done, uint64_t all);

private:
    const bool wanted_;
    const std::string title_;
    uint64_t percent_ = 0;
};

} // namespace cdctl
