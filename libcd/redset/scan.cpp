// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scan.h"

#include "base/text.h"
#include "file_store/file.h"
#include "redset/member_files.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// ---- Scheme files

struct SchemeFile {
    fs::path root; // the directory that was given
    fs::path folder;
    std::string checkpoint; // the folder's name if that names one
    std::string path = {};
    std::string prefix = {}; // of the file's name
    int member = 0;
    Header header = {};

    const Descriptor &descriptor() const { return header.members.at(member).descriptor; }
};

using Members = std::vector<SchemeFile>; // the scheme files of one set, with copies

bool same_set(const Descriptor &a, const Descriptor &b) {
    return a.coding == b.coding && a.group == b.group && a.groups == b.groups &&
           a.job_ranks == b.job_ranks;
}

bool fits(const SchemeName &name, const Descriptor &own) {
    return name.scheme == own.coding.scheme && name.members == own.coding.members &&
           name.group == own.group && name.groups == own.groups;
}

Status read_scheme_file(const SchemeName &name, const std::string &path, SchemeFile &scheme) {
    KvTree tree;
    uint64_t size = 0;
    if (Status status = read_own_image(path, tree, size); !status) {
        return status;
    }
    Header header;
    if (Status status = read_header(tree, path.c_str(), header); !status) {
        return status;
    }
    const auto own = header.members.find(name.member);
    const bool of_one_set = std::ranges::all_of(header.members, [&](const auto &entry) {
        return same_set(entry.second.descriptor, header.members.begin()->second.descriptor);
    });
    const std::string prefix(name.prefix_and_rank);
    if (own == header.members.end() || !of_one_set || !fits(name, own->second.descriptor) ||
        !prefix.ends_with(std::to_string(own->second.descriptor.rank))) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the name is not that of a member in the header",
                    path.c_str());
    }
    scheme.path = path;
    const size_t digits = std::to_string(own->second.descriptor.rank).size();
    scheme.prefix = prefix.substr(0, prefix.size() - digits);
    scheme.member = name.member;
    for (const auto &[number, entry] : header.members) {
        header.ranks[number] = entry.descriptor.rank;
    }
    scheme.header = std::move(header);
    return Status::ok();
}

// ---- All scheme files below directories

// Tells sets apart: all scheme files of a checkpoint, or else of a directory, with one descriptor.
using SetKey = std::tuple<std::string, std::string, Scheme, int, int, int, int, int>;

SetKey key_of(const SchemeFile &file) {
    const Descriptor &own = file.descriptor();
    return {file.checkpoint.empty() ? file.folder.string() : file.checkpoint,
            file.prefix,
            own.coding.scheme,
            own.coding.members,
            own.coding.checks,
            own.group,
            own.groups,
            own.job_ranks};
}

struct Found {
    std::map<SetKey, Members> sets;
    std::vector<std::string> unusable;
    std::vector<fs::path> checkpoints; // directories whose names name one
};

class Finder {
public:
    Finder(const NamesCheckpoint &names_checkpoint, Found &found)
        : names_checkpoint_(names_checkpoint), found_(found) {}

    Status look_into(const fs::path &root, const fs::path &folder) {
        std::error_code error;
        const fs::path real = fs::canonical(folder, error);
        constexpr int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
        const File directory(os::system().open_at(AT_FDCWD, folder.c_str(), flags, 0), folder);
        std::vector<std::string> names;
        if (!directory.is_open() || os::system().list(directory.descriptor(), names) != 0) {
            return directory.refused("list the directory");
        }
        if (!visited_.insert(real).second) {
            return Status::ok();
        }
        const std::string name = real.filename();
        const bool is_checkpoint = names_checkpoint_(name);
        if (is_checkpoint) {
            found_.checkpoints.push_back(folder);
        }
        std::ranges::sort(names);
        for (const std::string &inner : names) {
            if (const auto scheme = scheme_name_of(inner)) {
                SchemeFile file{root, folder, is_checkpoint ? name : ""};
                if (read_scheme_file(*scheme, folder / inner, file)) {
                    found_.sets[key_of(file)].push_back(std::move(file));
                } else {
                    found_.unusable.emplace_back(message());
                }
            } else if (fs::is_directory(fs::symlink_status(folder / inner, error))) {
                if (Status status = look_into(root, folder / inner); !status) {
                    return status;
                }
            }
        }
        return Status::ok();
    }

private:
    const NamesCheckpoint &names_checkpoint_;
    Found &found_;
    std::set<fs::path> visited_;
};

// Returns directories without slashes at their ends. Of two that lie in each other the upper one
// comes first: it shows more of the paths.
std::vector<fs::path> upper_first(std::span<const std::string> directories) {
    std::vector<fs::path> sorted;
    for (const fs::path directory : directories) {
        sorted.push_back(directory.has_filename() ? directory : directory.parent_path());
    }
    std::ranges::stable_sort(sorted, {}, [](const fs::path &directory) {
        std::error_code error;
        return std::ranges::distance(fs::weakly_canonical(directory, error));
    });
    return sorted;
}

// ---- Which ranks the members are

constexpr int no_rank = -1;

void find_ranks(const Members &members, FoundSet &found) {
    std::vector<int> &ranks = found.set.ranks;
    ranks.resize(index(found.set.coding.members), no_rank);
    for (const SchemeFile &file : members) {
        for (const auto &[member, rank] : file.header.ranks) {
            if (index(member) >= ranks.size()) {
                continue;
            }
            if (ranks[index(member)] != no_rank && ranks[index(member)] != rank) {
                found.conflict = "scheme files contradict each other about the rank of member " +
                                 std::to_string(member) + ": " + members.front().path + " and " +
                                 file.path + "; move one of them away";
            }
            ranks[index(member)] = rank;
        }
    }
    std::vector<int> unknown;
    for (size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i] == no_rank) {
            unknown.push_back(static_cast<int>(i));
        }
    }
    if (!unknown.empty()) {
        found.problem = std::string("no file that was found describes ") +
                        (unknown.size() == 1 ? "member " : "members ") + list_ranks(unknown) +
                        " of " + std::to_string(ranks.size());
    } else if (!check_set(found.set, found.set.coding.members)) {
        found.problem = message();
    }
}

// ---- Where the members' files are

using Names = std::set<std::string>;

// The names of each member's files.
std::vector<Names> names_of(const Members &members, size_t count) {
    std::vector<Names> names(count);
    for (const SchemeFile &file : members) {
        for (const auto &[member, entry] : file.header.members) {
            for (const StoredFile &stored : entry.files) {
                names.at(index(member)).insert(stored.name);
            }
        }
    }
    return names;
}

// Names that lead anywhere else tell nothing of the directory that they are taken from.
bool has_any(const Place &place, const Names &names) {
    return std::ranges::any_of(names, [&](const std::string &name) {
        File file;
        os::FileAttributes attributes;
        return !name.starts_with('/') && name.find("..") == std::string::npos &&
               open_stored(place, name, file, attributes).is_ok();
    });
}

// The directories of a checkpoint that have any file of a member. A program writes only files into
// a checkpoint, so a link there is not its own.
std::vector<Copies> copies_in(const std::vector<fs::path> &checkpoints, const Members &members,
                              const std::vector<Names> &names) {
    std::vector<Copies> copies(names.size());
    const auto add = [&](size_t member, const fs::path &folder, bool is_there) {
        const Place place{folder, members.front().prefix, Links::refused};
        const bool is_known = std::ranges::find(copies[member], place) != copies[member].end();
        if (!is_known && (is_there || has_any(place, names[member]))) {
            copies[member].push_back(place);
        }
    };
    for (const SchemeFile &file : members) {
        add(index(file.member), file.folder, true);
    }
    for (size_t member = 0; member < names.size(); ++member) {
        for (const fs::path &folder : checkpoints) {
            if (folder.filename() == members.front().checkpoint) {
                add(member, folder, false);
            }
        }
        if (copies[member].empty()) {
            add(member, members.front().folder, true);
        }
    }
    return copies;
}

Place place_above(const SchemeFile &file, const std::vector<Names> &names) {
    Place place{file.folder, file.prefix};
    for (fs::path upper = file.folder; upper != file.root; upper = upper.parent_path()) {
        if (std::ranges::any_of(names, [&](const Names &each) { return has_any(place, each); })) {
            break;
        }
        place = {upper.parent_path(), upper.filename().string() + "/" + place.prefix};
    }
    return place;
}

FoundSet found_set(const Members &members, const std::vector<fs::path> &checkpoints) {
    const SchemeFile &first = members.front();
    const Descriptor &own = first.descriptor();
    FoundSet found;
    found.set = {own.coding, own.group, own.groups, own.job_ranks, {}};
    std::ranges::transform(members, std::back_inserter(found.scheme_files), &SchemeFile::path);
    find_ranks(members, found);
    const std::vector<Names> names = names_of(members, found.set.ranks.size());
    found.copies = first.checkpoint.empty()
                       ? std::vector<Copies>(names.size(), {place_above(first, names)})
                       : copies_in(checkpoints, members, names);
    return found;
}

// ---- Sets that do not go together

void set_conflict(const std::string &what, FoundSet &a, FoundSet &b) {
    const std::string sets = a.scheme_files.front() + " and " + b.scheme_files.front();
    a.conflict = b.conflict = what + ": " + sets +
                              "; give the directory of one of them, or move the scheme files of "
                              "the other away";
}

// The sets that own a file outside of checkpoints, and those of each checkpoint.
struct Owners {
    std::map<fs::path, size_t> of_files;
    std::map<std::string, std::vector<size_t>> of_checkpoints;
};

// Compares the last set with those before it.
void find_conflicts(const Members &members, std::vector<FoundSet> &sets, Owners &owners) {
    const size_t number = sets.size() - 1;
    FoundSet &found = sets.back();
    if (const std::string &checkpoint = members.front().checkpoint; !checkpoint.empty()) {
        for (const size_t other : owners.of_checkpoints[checkpoint]) {
            const Set &a = sets[other].set;
            const Set &b = found.set;
            if (a.groups != b.groups || a.job_ranks != b.job_ranks || a.group == b.group) {
                set_conflict("two sets of " + checkpoint + " contradict each other", sets[other],
                             found);
            }
        }
        owners.of_checkpoints[checkpoint].push_back(number);
        return;
    }
    for (const SchemeFile &file : members) {
        for (const auto &[member, entry] : file.header.members) {
            for (const StoredFile &stored : entry.files) {
                std::error_code error;
                const fs::path path = found.copies[index(member)].front().path(stored.name);
                const fs::path real =
                    fs::weakly_canonical(path.parent_path(), error) / path.filename();
                const size_t owner = owners.of_files.emplace(real, number).first->second;
                if (owner != number) {
                    set_conflict("two sets describe " + path.string(), sets[owner], found);
                }
            }
        }
    }
}

} // namespace

std::optional<SchemeName> scheme_name_of(std::string_view name) {
    static const std::regex pattern(R"(([\s\S]*)\.(\w+)\.grp_(\d{1,9})_of_(\d{1,9}))"
                                    R"(\.mem_(\d{1,9})_of_(\d{1,9})\.redset)");
    std::cmatch parts;
    if (!std::regex_match(name.data(), name.data() + name.size(), parts, pattern)) {
        return std::nullopt;
    }
    const auto number = [&](size_t part) { return std::stoi(parts.str(part)); };
    const SchemeName found{name.substr(0, static_cast<size_t>(parts.length(1))),
                           scheme_named(parts.str(2)),
                           number(3) - 1,
                           number(4),
                           number(5) - 1,
                           number(6)};
    return found.scheme == Scheme::none ? std::nullopt : std::optional(found);
}

Status find_sets(std::span<const std::string> directories, const NamesCheckpoint &names_checkpoint,
                 Search &search) {
    Found found;
    Finder finder(names_checkpoint, found);
    for (const fs::path &directory : upper_first(directories)) {
        if (Status status = finder.look_into(directory, directory); !status) {
            return status;
        }
    }
    search = {{}, std::move(found.unusable)};
    Owners owners;
    for (const auto &[key, members] : found.sets) {
        search.sets.push_back(found_set(members, found.checkpoints));
        find_conflicts(members, search.sets, owners);
    }
    return Status::ok();
}

} // namespace cd::redset
