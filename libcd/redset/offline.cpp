// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/offline.h"

#include "base/path.h"
#include "redset/header.h"
#include "redset/kvtree_image.h"
#include "redset/local_exchange.h"
#include "redset/open_file.h"
#include "redset/scheme_name.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace cd::redset {
namespace {

// ---- One scheme file

struct SchemeFile {
    std::string root;      // the directory that was given
    std::string directory; // below it, "" for itself
    std::string path;
    std::string prefix; // of the file's name
    int member = 0;
    Header header;

    const MemberEntry &own() const { return header.members.at(member); }
};

bool same_set(const Descriptor &a, const Descriptor &b) {
    return a.shape == b.shape && a.group == b.group && a.groups == b.groups &&
           a.job_ranks == b.job_ranks;
}

Status read_scheme_file(const SchemeName &name, SchemeFile &scheme) {
    File file;
    os::FileAttributes attributes;
    if (Status status = open_own_to_read(scheme.path, file, attributes); !status) {
        return status;
    }
    KvTree tree;
    uint64_t size = 0;
    if (Status status = read_image(file, tree, size); !status) {
        return status;
    }
    if (Status status = read_header(tree, scheme.path.c_str(), scheme.header); !status) {
        return status;
    }
    scheme.member = name.member;
    const auto &members = scheme.header.members;
    const auto own = members.find(name.member);
    std::string_view prefix = name.prefix_and_rank;
    const bool of_one_set = std::all_of(members.begin(), members.end(), [&](const auto &entry) {
        return same_set(entry.second.descriptor, members.begin()->second.descriptor);
    });
    if (own == members.end() || !of_one_set ||
        !prefix.ends_with(std::to_string(own->second.descriptor.rank))) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the name is not that of a member in the header",
                    scheme.path.c_str());
    }
    prefix.remove_suffix(std::to_string(own->second.descriptor.rank).size());
    scheme.prefix = prefix;
    return Status::ok();
}

// ---- Looking for them

class Finder {
public:
    Finder(std::vector<SchemeFile> &files, std::vector<std::string> &unusable)
        : files_(files), unusable_(unusable) {}

    Status look_below(const std::string &root) {
        return look_into(root, "", os::system().open_at(AT_FDCWD, root.c_str(), flags, 0));
    }

private:
    using Where = std::tuple<dev_t, ino_t, std::string>; // a directory, and a name in it

    static constexpr int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

    Status look_into(const std::string &root, const std::string &below, int fd) {
        const std::string path = below.empty() ? root : root + "/" + below;
        const File directory(fd, path);
        std::vector<std::string> names;
        os::FileIdentity where;
        if (!directory.is_open() || os::system().list(fd, names) != 0 ||
            os::system().identify(fd, where) != 0) {
            return directory.refused("list the directory");
        }
        std::sort(names.begin(), names.end());
        for (const std::string &name : names) {
            if (const auto scheme = scheme_name_of(name)) {
                add_file(*scheme, {where.device, where.inode, name},
                         {root, below, path_in(path, name), "", 0, {}});
                continue;
            }
            const int inner = os::system().open_at(fd, name.c_str(), flags | O_NOFOLLOW, 0);
            if (inner < 0 && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT)) {
                continue;
            }
            if (Status status = look_into(root, below.empty() ? name : path_in(below, name), inner);
                !status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Where one of the directories that were given is below another, a file is found twice; more
    // of what is around it is known from the upper one. A file that has several names is a copy of
    // itself: what lies around each may not be the same.
    void add_file(const SchemeName &name, const Where &where, SchemeFile file) {
        if (Status status = read_scheme_file(name, file); !status) {
            if (unusable_at_.insert(where).second) {
                unusable_.emplace_back(message());
            }
            return;
        }
        const auto [at, is_new] = known_.try_emplace(where, files_.size());
        if (is_new) {
            files_.push_back(std::move(file));
        } else if (file.directory.size() > files_[at->second].directory.size()) {
            files_[at->second] = std::move(file);
        }
    }

    std::vector<SchemeFile> &files_;
    std::vector<std::string> &unusable_;
    std::map<Where, size_t> known_; // which of the files
    std::set<Where> unusable_at_;
};

// ---- Which belong together

using Members = std::vector<const SchemeFile *>; // of one set at one time

std::string_view last_name(const std::string &path) {
    return std::string_view(path).substr(path.rfind('/') + 1);
}

// What the directory of a scheme file is called, "" where that cannot be told from its path.
std::string_view directory_name(const SchemeFile &file) {
    std::string_view path = file.directory.empty() ? file.root : file.directory;
    while (path.ends_with('/') || path.ends_with("/.")) {
        path.remove_suffix(1);
    }
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name == "." || name == ".." ? "" : name;
}

// Members of a set need not tell of each other, so that what is of different times may well agree.
// Where directories' names tell nothing, what is of one member in two of them is of two times, also
// where it tells the same; else it is a copy.
bool are_of_different_times(const SchemeFile &a, const SchemeFile &b,
                            const NamesATime &names_a_time) {
    const std::string_view of_a = directory_name(a);
    const std::string_view of_b = directory_name(b);
    const bool told = names_a_time(of_a) && names_a_time(of_b);
    return told ? of_a != of_b : a.member == b.member;
}

bool contradict(const SchemeFile &a, const SchemeFile &b, const NamesATime &names_a_time) {
    if (a.prefix != b.prefix || are_of_different_times(a, b, names_a_time) ||
        a.header.chunk != b.header.chunk || a.header.ranks != b.header.ranks ||
        !same_set(a.own().descriptor, b.own().descriptor)) {
        return true;
    }
    return std::any_of(a.header.members.begin(), a.header.members.end(), [&](const auto &entry) {
        const auto other = b.header.members.find(entry.first);
        return other != b.header.members.end() && !(other->second.tree == entry.second.tree);
    });
}

int nearness(const SchemeFile &a, const SchemeFile &b) {
    if (a.root == b.root && a.directory == b.directory) {
        return 2;
    }
    return last_name(a.directory) == last_name(b.directory) ? 1 : 0;
}

// Puts parts together that do not contradict, where any of their files are as near as that.
std::vector<Members> join(const std::vector<Members> &parts, int near,
                          const NamesATime &names_a_time) {
    const auto any_pair = [](const Members &a, const Members &b, const auto &is) {
        return std::ranges::any_of(a, [&](const SchemeFile *one) {
            return std::ranges::any_of(b,
                                       [&](const SchemeFile *other) { return is(*one, *other); });
        });
    };
    std::vector<Members> sets;
    for (const Members &part : parts) {
        const auto fitting = std::ranges::find_if(sets, [&](const Members &set) {
            return any_pair(set, part,
                            [&](const auto &a, const auto &b) { return nearness(a, b) >= near; }) &&
                   !any_pair(set, part, [&](const auto &a, const auto &b) {
                       return contradict(a, b, names_a_time);
                   });
        });
        Members &set = fitting == sets.end() ? sets.emplace_back() : *fitting;
        set.insert(set.end(), part.begin(), part.end());
    }
    return sets;
}

// The same job may have left several sets of the same numbers, of different times, in directories
// of their own: what does not contradict belongs together, first of all what is in one directory.
std::vector<Members> divide(const std::vector<SchemeFile> &files, const NamesATime &names_a_time) {
    std::vector<Members> sets;
    sets.reserve(files.size());
    for (const SchemeFile &file : files) {
        sets.push_back({&file});
    }
    for (const int near : {2, 1, 0}) {
        sets = join(sets, near, names_a_time);
    }
    return sets;
}

// ---- Where members' files are

bool is_there(const Place &place, const std::string &name) {
    File file;
    os::FileAttributes attributes;
    return open_stored(place, name, file, attributes).is_ok();
}

bool has_files(const Place &place, const StoredFiles &files) {
    return std::any_of(files.begin(), files.end(), [&](const StoredFile &file) {
        return !file.name.starts_with('/') && is_there(place, file.name);
    });
}

// The directories from that of a scheme file up to the one given, and what is below each. What
// programs write into directories of a time are files, so that a link there is somebody else's.
std::vector<Place> places_above(const SchemeFile &file, const NamesATime &names_a_time) {
    const Links links = names_a_time(directory_name(file)) ? Links::refused : Links::followed;
    std::vector<Place> places;
    std::string above = file.directory;
    std::string below;
    for (;;) {
        places.push_back({above.empty() ? file.root : file.root + "/" + above,
                          (below.empty() ? "" : below + "/") + file.prefix, links});
        if (above.empty()) {
            return places;
        }
        const size_t slash = above.rfind('/');
        const std::string last = slash == std::string::npos ? above : above.substr(slash + 1);
        below = below.empty() ? last : path_in(last, below);
        above = slash == std::string::npos ? "" : above.substr(0, slash);
    }
}

std::optional<Place> place_with(const std::vector<Place> &places, const StoredFiles &files) {
    const auto found = std::find_if(places.begin(), places.end(),
                                    [&](const Place &place) { return has_files(place, files); });
    return found == places.end() ? std::nullopt : std::optional(*found);
}

// The places of a member whose files are not there are told from those of others.
Place likely_place(const std::vector<Place> &own, const std::optional<Place> &usual,
                   const Place &any) {
    if (own.empty()) {
        return usual.value_or(any);
    }
    const auto alike = std::find_if(own.begin(), own.end(), [&](const Place &place) {
        return usual && place.prefix == usual->prefix;
    });
    return alike == own.end() ? own.back() : *alike;
}

void find_places(const Members &members, const NamesATime &names_a_time, FoundSet &found) {
    const size_t count = found.set.ranks.size();
    std::vector<StoredFiles> files(count);
    // Where a member's can be, by each of its scheme files, or by none.
    std::vector<std::vector<std::vector<Place>>> own(count);
    std::vector<Place> all;
    for (const SchemeFile *file : members) {
        for (const auto &[member, entry] : file->header.members) {
            files[index(member)] = entry.files;
        }
        const auto &above =
            own[index(file->member)].emplace_back(places_above(*file, names_a_time));
        all.insert(all.end(), above.begin(), above.end());
    }
    std::vector<std::vector<std::optional<Place>>> certain(count);
    std::optional<Place> usual;
    for (size_t member = 0; member < count; ++member) {
        if (own[member].empty()) {
            own[member].emplace_back();
        }
        for (const std::vector<Place> &above : own[member]) {
            certain[member].push_back(place_with(above.empty() ? all : above, files[member]));
            usual = usual ? usual : certain[member].back();
        }
    }
    for (size_t member = 0; member < count; ++member) {
        Copies &copies = found.copies.emplace_back();
        for (size_t copy = 0; copy < own[member].size(); ++copy) {
            copies.push_back(
                certain[member][copy].value_or(likely_place(own[member][copy], usual, all.back())));
        }
        found.places.push_back(copies.front());
    }
}

// ---- What they tell of the set

constexpr int most_looked_at_anyway = 256; // as many as Reed-Solomon has, of whom most may be lost

void find_ranks(const Members &members, FoundSet &found) {
    constexpr int unknown = -1;
    std::set<int> described;
    std::vector<int> ranks(index(found.set.shape.members), unknown);
    for (const SchemeFile *file : members) {
        for (const auto &[member, rank] : file->header.ranks) {
            if (index(member) < ranks.size()) {
                ranks[index(member)] = rank;
            }
        }
        for (const auto &[member, entry] : file->header.members) {
            ranks[index(member)] = entry.descriptor.rank;
            described.insert(member);
        }
    }
    // Each member is a thread that hears of all others: a damaged number must not make many.
    if (found.set.shape.members > most_looked_at_anyway &&
        std::cmp_less(described.size(), found.set.shape.members)) {
        found.problem = "nothing that was found tells which files " +
                        std::to_string(ranks.size() - described.size()) + " of " +
                        std::to_string(ranks.size()) + " members had";
    }
    for (size_t member = 0; member < ranks.size(); ++member) {
        if (ranks[member] == unknown && found.problem.empty()) {
            found.problem = "nothing that was found tells of member " + std::to_string(member) +
                            " of " + std::to_string(ranks.size());
        }
    }
    found.set.ranks = std::move(ranks);
    if (found.problem.empty() && !check_set(found.set, found.set.shape.members)) {
        found.problem = message();
    }
}

FoundSet found_set(const Members &members, const NamesATime &names_a_time) {
    const Descriptor &first = members.front()->own().descriptor;
    FoundSet found;
    found.set = {first.shape, first.group, first.groups, first.job_ranks, {}};
    for (const SchemeFile *file : members) {
        found.found.push_back(file->path);
    }
    find_ranks(members, found);
    if (found.problem.empty()) {
        find_places(members, names_a_time, found);
    }
    return found;
}

} // namespace

Status find_sets(std::span<const std::string> directories, const NamesATime &names_a_time,
                 Search &search) {
    Search result;
    std::vector<SchemeFile> files;
    Finder finder(files, result.unusable);
    for (const std::string &directory : directories) {
        if (Status status = finder.look_below(directory); !status) {
            return status;
        }
    }
    for (const Members &members : divide(files, names_a_time)) {
        result.sets.push_back(found_set(members, names_a_time));
    }
    search = std::move(result);
    return Status::ok();
}

Status rebuild_found(FoundSet &found, const Options &options, bool look_only, Survey &survey) {
    if (!found.problem.empty()) {
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED, "set %d of %d: %s; nothing was changed",
                    found.set.group + 1, found.set.groups, found.problem.c_str());
    }
    Choice choice = choose_copies(found.set, found.copies, options.progress);
    found.places = std::move(choice.places);
    std::vector<Survey> surveys = std::move(choice.surveys);
    const bool surveyed = !surveys.empty();
    if (look_only && !surveyed) {
        return survey_all(found.set, found.places, Contents::compared, survey, options.progress);
    }
    surveys.resize(found.places.size());
    const auto rebuild_own = [&](Exchange &exchange) {
        const size_t self = index(exchange.self());
        const Place &place = found.places[self];
        return surveyed ? rebuild_surveyed(exchange, found.set, place, options, surveys[self])
                        : rebuild(exchange, found.set, place, options, surveys[self]);
    };
    const Status status =
        look_only ? Status::ok() : run_members(found.set.shape.members, rebuild_own);
    survey = std::move(surveys.front());
    return status;
}

} // namespace cd::redset
