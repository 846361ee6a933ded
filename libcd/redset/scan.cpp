// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scan.h"

#include "base/text.h"
#include "file_store/file.h"
#include "redset/member_files.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// ---- Scheme files

// A directory below one that was given.
struct Folder {
    std::string root;  // the one that was given
    std::string below; // the path from there, "" for the root itself

    std::string path() const { return below.empty() ? root : root + "/" + below; }

    // The last name of the path, "" where the path does not tell it.
    std::string_view name() const {
        std::string_view path = below.empty() ? root : below;
        while (path.ends_with('/') || path.ends_with("/.")) {
            path.remove_suffix(1);
        }
        const std::string_view name = path.substr(path.rfind('/') + 1);
        return name == "." || name == ".." ? "" : name;
    }
};

struct SchemeFile {
    Folder folder;
    std::string checkpoint; // the folder's name if that names one
    std::string path;
    std::string prefix; // of the file's name
    int member = 0;
    Header header;
    std::map<int, int> ranks; // by member, as far as the header tells

    const Descriptor &descriptor() const { return header.members.at(member).descriptor; }
};

using Members = std::vector<const SchemeFile *>; // the scheme files of one set, with copies

bool take_ending(std::string_view &from, std::string_view ending) {
    if (!from.ends_with(ending)) {
        return false;
    }
    from.remove_suffix(ending.size());
    return true;
}

bool take_last_number(std::string_view &from, int &number) {
    size_t begin = from.size();
    while (begin > 0 && from[begin - 1] >= '0' && from[begin - 1] <= '9') {
        --begin;
    }
    const auto digits = from.substr(begin);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    from.remove_suffix(digits.size());
    return error == std::errc() && !digits.empty();
}

bool same_set(const Descriptor &a, const Descriptor &b) {
    return a.shape == b.shape && a.group == b.group && a.groups == b.groups &&
           a.job_ranks == b.job_ranks;
}

bool fits(const SchemeName &name, const Descriptor &own) {
    return name.scheme == own.shape.scheme && name.members == own.shape.members &&
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
    std::string_view prefix = name.prefix_and_rank;
    if (own == header.members.end() || !of_one_set || !fits(name, own->second.descriptor) ||
        !take_ending(prefix, std::to_string(own->second.descriptor.rank))) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the name is not that of a member in the header",
                    path.c_str());
    }
    scheme.path = path;
    scheme.prefix = prefix;
    scheme.member = name.member;
    scheme.ranks = header.ranks;
    for (const auto &[number, entry] : header.members) {
        scheme.ranks[number] = entry.descriptor.rank;
    }
    scheme.header = std::move(header);
    return Status::ok();
}

// ---- All scheme files below directories

struct Found {
    std::vector<SchemeFile> files;
    std::vector<std::string> unusable;
    std::vector<Folder> checkpoints; // directories whose names name one
};

class Finder {
public:
    Finder(const NamesCheckpoint &names_checkpoint, Found &found)
        : names_checkpoint_(names_checkpoint), found_(found) {}

    Status look_below(const std::string &root) {
        return look_into({root, ""}, os::system().open_at(AT_FDCWD, root.c_str(), flags, 0));
    }

private:
    static constexpr int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

    Status look_into(const Folder &folder, int fd) {
        const File directory(fd, folder.path());
        std::vector<std::string> names;
        os::FileIdentity identity;
        if (!directory.is_open() || os::system().list(fd, names) != 0 ||
            os::system().identify(fd, identity) != 0) {
            return directory.refused("list the directory");
        }
        if (!visited_.emplace(identity.device, identity.inode).second) {
            return Status::ok();
        }
        const bool is_checkpoint = names_checkpoint_(folder.name());
        if (is_checkpoint) {
            found_.checkpoints.push_back(folder);
        }
        std::ranges::sort(names);
        for (const std::string &name : names) {
            if (const auto scheme = scheme_name_of(name)) {
                SchemeFile file;
                if (read_scheme_file(*scheme, path_in(folder.path(), name), file)) {
                    file.folder = folder;
                    file.checkpoint = is_checkpoint ? folder.name() : "";
                    found_.files.push_back(std::move(file));
                } else {
                    found_.unusable.emplace_back(message());
                }
                continue;
            }
            const int inner = os::system().open_at(fd, name.c_str(), flags | O_NOFOLLOW, 0);
            if (inner < 0 && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT)) {
                continue;
            }
            const std::string below = folder.below.empty() ? name : path_in(folder.below, name);
            if (Status status = look_into({folder.root, below}, inner); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    const NamesCheckpoint &names_checkpoint_;
    Found &found_;
    std::set<std::pair<dev_t, ino_t>> visited_;
};

// Of directories that lie in each other the upper one comes first: it shows more of the paths.
std::vector<std::string> upper_first(std::span<const std::string> directories) {
    std::vector<std::string> sorted(directories.begin(), directories.end());
    std::ranges::stable_sort(sorted, {}, [](const std::string &directory) {
        std::error_code error;
        return std::ranges::distance(fs::weakly_canonical(directory, error));
    });
    return sorted;
}

// ---- Which scheme files belong together

bool differ_in_ranks(const SchemeFile &a, const SchemeFile &b) {
    return std::ranges::any_of(a.ranks, [&](const auto &entry) {
        const auto other = b.ranks.find(entry.first);
        return other != b.ranks.end() && other->second != entry.second;
    });
}

bool differ_in_members(const Header &a, const Header &b) {
    return a.chunk != b.chunk || a.ranks != b.ranks ||
           std::ranges::any_of(a.members, [&](const auto &entry) {
               const auto other = b.members.find(entry.first);
               return other != b.members.end() && !(other->second.tree == entry.second.tree);
           });
}

// Of a checkpoint a survey finds which of two that differ otherwise is damaged. Elsewhere nothing
// else tells times apart, so that a member in two directories is of two times.
bool contradict(const SchemeFile &a, const SchemeFile &b) {
    if (a.prefix != b.prefix || a.checkpoint != b.checkpoint ||
        !same_set(a.descriptor(), b.descriptor())) {
        return true;
    }
    return a.checkpoint.empty() ? a.member == b.member || differ_in_members(a.header, b.header)
                                : differ_in_ranks(a, b);
}

template <class Is> bool any_pair(const Members &a, const Members &b, const Is &is) {
    return std::ranges::any_of(a, [&](const SchemeFile *one) {
        return std::ranges::any_of(b, [&](const SchemeFile *other) { return is(*one, *other); });
    });
}

std::vector<Members> join(const std::vector<Members> &parts, bool in_one_directory) {
    const auto is_near = [&](const SchemeFile &a, const SchemeFile &b) {
        return !in_one_directory || a.folder.path() == b.folder.path();
    };
    std::vector<Members> sets;
    for (const Members &part : parts) {
        const auto fitting = std::ranges::find_if(sets, [&](const Members &set) {
            return any_pair(set, part, is_near) && !any_pair(set, part, contradict);
        });
        Members &set = fitting == sets.end() ? sets.emplace_back() : *fitting;
        set.insert(set.end(), part.begin(), part.end());
    }
    return sets;
}

// Puts together what does not contradict each other, first of all what is in one directory.
std::vector<Members> divide(const std::vector<SchemeFile> &files) {
    std::vector<Members> sets;
    sets.reserve(files.size());
    for (const SchemeFile &file : files) {
        sets.push_back({&file});
    }
    return join(join(sets, true), false);
}

// ---- Which ranks the members are

constexpr int most_undescribed = 256; // as many members as Reed-Solomon has
constexpr int no_rank = -1;

// Returns why some ranks are unknown, "" if all are known.
std::string why_unknown(const Members &members, const std::vector<int> &ranks) {
    std::set<int> there;
    std::set<int> described;
    for (const SchemeFile *file : members) {
        there.insert(file->member);
        for (const auto &[member, entry] : file->header.members) {
            described.insert(member);
        }
    }
    // Each member takes a thread: a damaged number must not make many.
    if (ranks.size() > most_undescribed && described.size() < ranks.size()) {
        return "nothing that was found tells which files " +
               std::to_string(ranks.size() - described.size()) + " of " +
               std::to_string(ranks.size()) + " members had";
    }
    std::vector<int> lost;
    std::vector<int> unknown;
    for (size_t i = 0; i < ranks.size(); ++i) {
        const int member = static_cast<int>(i);
        if (ranks[i] == no_rank) {
            unknown.push_back(member);
        } else if (!there.contains(member)) {
            lost.push_back(ranks[i]);
        }
    }
    if (unknown.empty()) {
        return "";
    }
    return (lost.empty() ? "" : "files of " + name_ranks(lost) + " are lost, and ") +
           "nothing that was found tells of " + (unknown.size() == 1 ? "member " : "members ") +
           list_ranks(unknown) + " of " + std::to_string(ranks.size());
}

void find_ranks(const Members &members, FoundSet &found) {
    std::vector<int> ranks(index(found.set.shape.members), no_rank);
    for (const SchemeFile *file : members) {
        for (const auto &[member, rank] : file->ranks) {
            if (index(member) < ranks.size()) {
                ranks[index(member)] = rank;
            }
        }
    }
    found.problem = why_unknown(members, ranks);
    found.set.ranks = std::move(ranks);
    if (found.problem.empty() && !check_set(found.set, found.set.shape.members)) {
        found.problem = message();
    }
}

// ---- Where the members' files are

using Names = std::set<std::string>;

// Names that lead anywhere else tell nothing of the directory that they are taken from.
bool has_any(const Place &place, const Names &names) {
    return std::ranges::any_of(names, [&](const std::string &name) {
        File file;
        os::FileAttributes attributes;
        return !name.starts_with('/') && name.find("..") == std::string::npos &&
               open_stored(place, name, file, attributes).is_ok();
    });
}

class Places {
public:
    Places(const Members &files, size_t members, const std::vector<Folder> &checkpoints)
        : files_(files), names_(members), of_checkpoint_(!files.front()->checkpoint.empty()) {
        for (const SchemeFile *file : files) {
            for (const auto &[member, entry] : file->header.members) {
                for (const StoredFile &stored : entry.files) {
                    names_[index(member)].insert(stored.name);
                }
            }
        }
        for (const SchemeFile *file : files) {
            names_in_[file->folder.path()].merge(Names(names_[index(file->member)]));
        }
        for (const Folder &folder : checkpoints) {
            if (of_checkpoint_ && folder.name() == files.front()->checkpoint) {
                folders_.push_back(folder);
            }
        }
        for (const SchemeFile *file : files) {
            if (const auto base = place_with(file->folder, names_in_[file->folder.path()])) {
                bases_.emplace(file->folder.path(), *base);
                usual_ = usual_ ? usual_ : base;
            }
        }
    }

    std::vector<Copies> of_each() {
        std::vector<Copies> all(names_.size());
        for (const SchemeFile *file : files_) {
            add(all[index(file->member)], base_of(file->folder));
        }
        for (size_t i = 0; i < all.size(); ++i) {
            add_elsewhere(i, all[i]);
        }
        for (Copies &copies : all) {
            if (copies.empty()) {
                copies.push_back(usual_.value_or(above(files_.back()->folder).back()));
            }
        }
        return all;
    }

private:
    static void add(Copies &copies, const Place &place) {
        if (std::ranges::find(copies, place) == copies.end()) {
            copies.push_back(place);
        }
    }

    // Members whose scheme file is lost have their files with those of another one. In a checkpoint
    // they may be in any directory of its name.
    void add_elsewhere(size_t member, Copies &copies) {
        for (const Folder &folder : folders_) {
            if (const auto place = place_with(folder, names_[member])) {
                add(copies, *place);
                usual_ = usual_ ? usual_ : place;
            }
        }
        for (auto base = bases_.begin(); copies.empty() && base != bases_.end(); ++base) {
            if (has_any(base->second, names_[member])) {
                copies.push_back(base->second);
            }
        }
    }

    // Members with scheme files in one directory have named their files from one.
    Place base_of(const Folder &folder) const {
        if (const auto known = bases_.find(folder.path()); known != bases_.end()) {
            return known->second;
        }
        const std::vector<Place> places = above(folder);
        const auto likely = std::ranges::find_if(
            places, [&](const Place &place) { return usual_ && place.prefix == usual_->prefix; });
        return likely == places.end() ? places.back() : *likely;
    }

    std::optional<Place> place_with(const Folder &folder, const Names &names) const {
        const std::vector<Place> places = above(folder);
        const auto found =
            std::ranges::find_if(places, [&](const Place &place) { return has_any(place, names); });
        return found == places.end() ? std::nullopt : std::optional(*found);
    }

    // The directories from `folder` up to the one that was given. A program writes only files into
    // a checkpoint, so that a link there is somebody else's.
    std::vector<Place> above(const Folder &folder) const {
        const Links links = of_checkpoint_ ? Links::refused : Links::followed;
        std::vector<Place> places;
        fs::path upper = folder.below;
        fs::path lower;
        for (;;) {
            const std::string prefix = lower.empty() ? "" : lower.string() + "/";
            places.push_back({Folder{folder.root, upper.string()}.path(),
                              prefix + files_.front()->prefix, links});
            if (upper.empty()) {
                return places;
            }
            lower = lower.empty() ? upper.filename() : upper.filename() / lower;
            upper = upper.parent_path();
        }
    }

    const Members &files_;
    std::vector<Names> names_; // of each member's files
    const bool of_checkpoint_;
    std::vector<Folder> folders_;           // of the checkpoint
    std::map<std::string, Names> names_in_; // those of the members with a scheme file there
    std::map<std::string, Place> bases_;    // by directory with scheme files
    std::optional<Place> usual_;            // where some member's files are
};

// ---- Sets that do not go together

// Owns a path of each file that sets describe outside of checkpoints.
class Described {
public:
    // Returns the path that another set describes, "" without one.
    std::string add(const Members &members, FoundSet &found, FoundSet *&other) {
        std::string shared;
        const auto add_path = [&](const fs::path &path) {
            std::error_code error;
            const fs::path real = fs::weakly_canonical(path.parent_path(), error) / path.filename();
            const auto [owner, is_new] = owners_.emplace(real.string(), &found);
            if (!is_new && owner->second != &found && shared.empty()) {
                shared = path.string();
                other = owner->second;
            }
        };
        for (const SchemeFile *file : members) {
            for (const auto &[member, entry] : file->header.members) {
                const Place &place = found.copies[index(member)].front();
                for (const StoredFile &stored : entry.files) {
                    add_path(place.path(stored.name));
                }
                if (found.set.ranks[index(member)] != no_rank) {
                    add_path(place.descriptor(found.set, member));
                }
            }
        }
        return shared;
    }

private:
    std::map<std::string, FoundSet *> owners_;
};

bool are_of_one_division(const Set &a, const Set &b) {
    return a.groups == b.groups && a.job_ranks == b.job_ranks && a.group != b.group;
}

void set_conflict(const std::string &what, FoundSet &a, FoundSet &b) {
    const std::string sets = a.scheme_files.front() + " and " + b.scheme_files.front();
    a.conflict = b.conflict = what + ": " + sets +
                              "; give the directory of one of them, or move the scheme files of "
                              "the other away";
}

void find_conflicts(const std::vector<Members> &members, std::vector<FoundSet> &sets) {
    Described described;
    for (size_t i = 0; i < sets.size(); ++i) {
        const std::string &checkpoint = members[i].front()->checkpoint;
        FoundSet *other = nullptr;
        if (checkpoint.empty()) {
            const std::string path = described.add(members[i], sets[i], other);
            if (other != nullptr) {
                set_conflict("two sets describe " + path, sets[i], *other);
            }
            continue;
        }
        for (size_t before = 0; before < i; ++before) {
            if (members[before].front()->checkpoint == checkpoint &&
                !are_of_one_division(sets[before].set, sets[i].set)) {
                set_conflict("two sets of " + checkpoint + " contradict each other", sets[before],
                             sets[i]);
            }
        }
    }
}

FoundSet found_set(const Members &members, const std::vector<Folder> &checkpoints) {
    const Descriptor &first = members.front()->descriptor();
    FoundSet found;
    found.set = {first.shape, first.group, first.groups, first.job_ranks, {}};
    for (const SchemeFile *file : members) {
        found.scheme_files.push_back(file->path);
    }
    find_ranks(members, found);
    found.copies = Places(members, found.set.ranks.size(), checkpoints).of_each();
    return found;
}

} // namespace

std::optional<SchemeName> scheme_name_of(std::string_view name) {
    int members = 0;
    int member = 0;
    int groups = 0;
    int group = 0;
    if (!take_ending(name, ".redset") || !take_last_number(name, members) ||
        !take_ending(name, "_of_") || !take_last_number(name, member) ||
        !take_ending(name, ".mem_") || !take_last_number(name, groups) ||
        !take_ending(name, "_of_") || !take_last_number(name, group) ||
        !take_ending(name, ".grp_")) {
        return std::nullopt;
    }
    const size_t dot = name.rfind('.');
    const Scheme scheme =
        dot == std::string_view::npos ? Scheme::none : scheme_named(name.substr(dot + 1));
    if (scheme == Scheme::none) {
        return std::nullopt;
    }
    return SchemeName{name.substr(0, dot), scheme, group - 1, groups, member - 1, members};
}

Status find_sets(std::span<const std::string> directories, const NamesCheckpoint &names_checkpoint,
                 Search &search) {
    Found found;
    Finder finder(names_checkpoint, found);
    for (const std::string &directory : upper_first(directories)) {
        if (Status status = finder.look_below(directory); !status) {
            return status;
        }
    }
    const std::vector<Members> sets = divide(found.files);
    Search result;
    result.unusable = std::move(found.unusable);
    for (const Members &members : sets) {
        result.sets.push_back(found_set(members, found.checkpoints));
    }
    find_conflicts(sets, result.sets);
    search = std::move(result);
    return Status::ok();
}

} // namespace cd::redset
