// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "main.h"

#include "memory/copy.h"
#include "memory/crc32c.h"
#include "output.h"
#include "redset/erasure_code.h"

#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string_view>

using namespace cdctl;

int cdctl::exit_status(Outcome outcome) {
    constexpr int statuses[] = {exit_good, exit_older, exit_unreadable, exit_damaged, exit_damaged};
    return statuses[static_cast<size_t>(outcome)];
}

namespace {

struct Command {
    std::string_view name;
    const char *summary;
    Outcome (*run)(const Arguments &);
    bool writes = false; // takes --dry-run and --agree, and has no default path
};

constexpr Command commands[] = {
    {"list", "one line for each store: rank, root, epoch, contents, condition", list},
    {"show", "the contents of a store: epochs, CDs, entries, file positions", show},
    {"verify", "reads all data and reports damage", verify},
    {"epoch", "the newest epoch that all of the stores have, for CD_RESTART", epoch},
    {"rebuild", "rebuilds lost files of redundancy sets", rebuild, true},
};

void print_usage(std::FILE *to) {
    std::fputs("usage: cdctl COMMAND [--json] [PATH...]\n\n", to);
    for (const Command &command : commands) {
        std::fprintf(to, "  %-8s %s\n", command.name.data(), command.summary);
    }
    std::fputs(
        "\nA PATH is a store (RANK-NAME.cds) or a directory of stores; without any it is the\n"
        "dir= of CD_STORAGE_INFO, or cd-stores. Stores are only read, also while programs\n"
        "use them. Only rebuild writes; it needs the directories below which sets are.\n"
        "With --dry-run it only checks. With --agree it makes checkpoints usable that lack\n"
        "a record of their commit, if all of their sets are whole.\n\n"
        "exit status: 0 good, 1 damaged or renamed, 2 wrong usage, 3 cannot be read,\n"
        "             4 usable, but the newest state or an older epoch is lost\n",
        to);
}

int refuse(const char *what, std::string_view word) {
    std::fprintf(stderr, "cdctl: %s '%.*s'\n\n", what, static_cast<int>(word.size()), word.data());
    print_usage(stderr);
    return exit_usage;
}

// Returns false for an unknown option, and puts it into `unknown`.
bool read_arguments(std::span<char *> words, bool writes, Arguments &arguments,
                    std::string_view &unknown) {
    bool only_paths = false;
    for (const std::string_view word : words) {
        if (only_paths || !word.starts_with('-')) {
            arguments.paths.emplace_back(word);
        } else if (word == "--") {
            only_paths = true;
        } else if (word == "--json") {
            arguments.json = true;
        } else if (writes && word == "--dry-run") {
            arguments.dry_run = true;
        } else if (writes && word == "--agree") {
            arguments.agree = true;
        } else {
            unknown = word;
            return false;
        }
    }
    return true;
}

int run(std::span<char *> words) {
    if (words.empty()) {
        print_usage(stderr);
        return exit_usage;
    }
    const std::string_view name = words.front();
    if (name == "help" || name == "--help" || name == "-h") {
        print_usage(stdout);
        return exit_good;
    }
    if (name == "--version") {
        std::printf("cdctl %s\nkernels: crc32c %s, crc32c while copying %s, copy %s, "
                    "erasure coding %s\n",
                    CD_VERSION, cd::crc32c_kernel(), cd::copy_crc32c_kernel(), cd::copy_kernel,
                    cd::redset::ErasureCode::kernel());
        return exit_good;
    }
    for (const Command &command : commands) {
        if (command.name == name) {
            Arguments arguments;
            std::string_view unknown;
            if (!read_arguments(words.subspan(1), command.writes, arguments, unknown)) {
                return refuse("no option", unknown);
            }
            if (command.writes && arguments.paths.empty()) {
                return refuse("no directory for", name);
            }
            return exit_status(command.run(arguments));
        }
    }
    return refuse("no command", name);
}

} // namespace

int main(int argc, char **argv) {
    int status = exit_unreadable;
    try {
        status = run(std::span(argv, static_cast<size_t>(argc)).subspan(argc > 0 ? 1 : 0));
    } catch (const std::bad_alloc &) {
        std::fprintf(stderr, "cdctl: %s\n", no_memory);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "cdctl: %s\n", printable(error.what()).c_str());
    }
    // Output that was not written is a failure.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        std::perror("cdctl: standard output");
        return status == exit_good ? exit_unreadable : status;
    }
    return status;
}
