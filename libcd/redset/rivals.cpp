// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rivals.h"

#include "redset/open_file.h"
#include "redset/real_directory.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// What a set says of a path.
struct Told {
    enum class Kind { descriptor, other_own, users } kind;
    int rank;                      // whose it is
    os::FileAttributes attributes; // of a user's file
};
using ToldFiles = std::map<std::string, Told>; // by path

// One path for each file, whatever links lead to its directory.
class Paths {
public:
    std::string real(const std::string &path) {
        const fs::path given(path);
        const auto [known, is_new] = directories_.try_emplace(given.parent_path());
        if (is_new && !real_directory(given.parent_path(), known->second)) {
            known->second = fs::absolute(given.parent_path()).lexically_normal();
        }
        return (known->second / given.filename()).string();
    }

private:
    std::map<fs::path, fs::path> directories_;
};

// What is not known of a set, as a member's rank, is left out.
ToldFiles files_of(const FoundSet &found, Paths &paths) {
    ToldFiles files;
    for (size_t i = 0; i < found.copies.size(); ++i) {
        const int member = static_cast<int>(i);
        const int rank = found.set.ranks[i];
        for (const Place &place : found.copies[i]) {
            const auto add = [&](const std::string &path, Told told) {
                files.try_emplace(paths.real(path), told);
            };
            if (rank >= 0) {
                add(place.descriptor(found.set, member), {Told::Kind::descriptor, rank, {}});
                add(place.scheme_file(found.set, member), {Told::Kind::other_own, rank, {}});
                add(place.checksums(found.set, member), {Told::Kind::other_own, rank, {}});
            }
            for (const StoredFile &stored : found.told[i]) {
                add(place.path(stored.name), {Told::Kind::users, rank, stored.attributes});
            }
        }
    }
    return files;
}

bool is_as_told(const os::FileAttributes &a, const os::FileAttributes &b) {
    return a.size == b.size && a.modified.tv_sec == b.modified.tv_sec &&
           a.modified.tv_nsec == b.modified.tv_nsec;
}

// How well a file that is there fits what is told of it.
enum class Fit { not_at_all, in_size, in_time_too };

// What is there, each looked at once.
class Present {
public:
    std::optional<Fit> fit(const std::string &path, const Told &told) {
        const auto &found = attributes_of(path);
        if (!found) {
            return std::nullopt;
        }
        return is_as_told(*found, told.attributes)   ? Fit::in_time_too
               : found->size == told.attributes.size ? Fit::in_size
                                                     : Fit::not_at_all;
    }

private:
    const std::optional<os::FileAttributes> &attributes_of(const std::string &path) {
        const auto [known, is_new] = files_.try_emplace(path);
        if (is_new) {
            File file;
            os::FileAttributes attributes;
            if (open_to_read(path, file, attributes)) {
                known->second = attributes;
            }
        }
        return known->second;
    }

    std::map<std::string, std::optional<os::FileAttributes>> files_;
};

bool descriptor_tells_of(const Set &set, const std::string &path, int rank) {
    KvTree tree;
    uint64_t size = 0;
    if (!read_own_image(path, tree, size)) {
        return false;
    }
    const KvTree *of_rank = tree.find(std::to_string(rank));
    const KvTree *own = of_rank == nullptr ? nullptr : of_rank->find("DESC");
    Descriptor read;
    return own != nullptr && read_descriptor(*own, path.c_str(), read) && read.rank == rank &&
           read.is_of(set);
}

struct Claimant {
    const FoundSet *found;
    ToldFiles files;
};

enum class Order { no_rivals, first, second, undecided };

struct Comparison {
    Order order = Order::no_rivals;
    std::string file; // that both have
    bool by_descriptors = false;
};

class Comparing {
public:
    Comparison compare(const Claimant &a, const Claimant &b) {
        const std::vector<std::string> shared = shared_by(a, b);
        const bool same = std::ranges::all_of(shared, [&](const std::string &path) {
            const Told &one = a.files.at(path);
            const Told &other = b.files.at(path);
            return one.kind == Told::Kind::users && other.kind == Told::Kind::users &&
                   is_as_told(one.attributes, other.attributes);
        });
        if (same) { // also where they have none
            return {};
        }
        if (const Order order = by_descriptors(a, b, shared); order != Order::undecided) {
            return {order, shared.front(), true};
        }
        if (counts_by_files(a, b, shared)) {
            return {Order::first, shared.front()};
        }
        return {counts_by_files(b, a, shared) ? Order::second : Order::undecided, shared.front()};
    }

private:
    // Those of users first, as people know these.
    static std::vector<std::string> shared_by(const Claimant &a, const Claimant &b) {
        std::vector<std::string> shared;
        for (const auto &[path, told] : a.files) {
            if (b.files.contains(path)) {
                shared.push_back(path);
            }
        }
        std::stable_partition(shared.begin(), shared.end(), [&](const std::string &path) {
            return a.files.at(path).kind == Told::Kind::users;
        });
        return shared;
    }

    static Order by_descriptors(const Claimant &a, const Claimant &b,
                                const std::vector<std::string> &shared) {
        bool any_of_a = false;
        bool any_of_b = false;
        for (const std::string &path : shared) {
            const Told &one = a.files.at(path);
            const Told &other = b.files.at(path);
            if (one.kind == Told::Kind::descriptor && other.kind == Told::Kind::descriptor) {
                any_of_a = any_of_a || descriptor_tells_of(a.found->set, path, one.rank);
                any_of_b = any_of_b || descriptor_tells_of(b.found->set, path, other.rank);
            }
        }
        return any_of_a == any_of_b ? Order::undecided : any_of_a ? Order::first : Order::second;
    }

    bool fits_all_there(const Claimant &claimant) {
        bool any = false;
        for (const auto &[path, told] : claimant.files) {
            const auto fit =
                told.kind == Told::Kind::users ? present_.fit(path, told) : std::optional<Fit>();
            if (fit == Fit::not_at_all) {
                return false;
            }
            any = any || fit;
        }
        return any;
    }

    // It fits all that is there, and of what both have nothing worse, and something better.
    bool counts_by_files(const Claimant &a, const Claimant &b,
                         const std::vector<std::string> &shared) {
        bool is_better = false;
        for (const std::string &path : shared) {
            const Told &one = a.files.at(path);
            const Told &other = b.files.at(path);
            if (one.kind != Told::Kind::users || other.kind != Told::Kind::users) {
                continue;
            }
            const auto own = present_.fit(path, one);
            const auto others = present_.fit(path, other);
            if (own < others) {
                return false;
            }
            is_better = is_better || own > others;
        }
        return is_better && fits_all_there(a);
    }

    Present present_;
};

std::string name_of(const FoundSet &found) {
    return "set " + std::to_string(found.set.group + 1) + " of " +
           std::to_string(found.set.groups) + " (" + describe_shape(found.set.shape) + ") of " +
           found.found.front();
}

std::string why_superseded(const Comparison &by, const FoundSet &other) {
    return by.file + " belongs to " + name_of(other) + ", too, which counts before this one, as " +
           (by.by_descriptors ? "the descriptors tell of that one"
                              : "the files that are there are as that one tells") +
           "; this one is left alone";
}

std::string why_undecided(const std::string &file, const FoundSet &other) {
    return file + " belongs to this set and to " + name_of(other) +
           ", and neither descriptors nor sizes and times of the files that are there tell which "
           "of them counts; nothing was changed. Move the scheme files of the one that does not to "
           "where none of the directories that are given is above them";
}

// One set that counts before another.
struct Before {
    size_t set;
    size_t other;
    Comparison by;
};

// From those on before which none counts, so that where each has one before it none does.
std::vector<Judgement> judge_by(const std::vector<Before> &order,
                                const std::vector<const FoundSet *> &sets) {
    std::vector<Judgement> judgements(sets.size());
    for (const Before &each : order) {
        judgements[each.other] = {Claim::undecided, why_undecided(each.by.file, *sets[each.set])};
    }
    for (bool more = true; more;) {
        more = false;
        for (const Before &each : order) {
            Judgement &other = judgements[each.other];
            if (judgements[each.set].claim != Claim::undecided && other.claim == Claim::undecided) {
                other = {Claim::superseded, why_superseded(each.by, *sets[each.set])};
                more = true;
            }
        }
    }
    return judgements;
}

} // namespace

std::vector<Judgement> judge_rivals(const std::vector<const FoundSet *> &sets) {
    Paths paths;
    std::vector<Claimant> claimants;
    std::map<std::string, std::vector<size_t>> who_has;
    std::set<std::pair<size_t, size_t>> rivals;
    for (size_t i = 0; i < sets.size(); ++i) {
        claimants.push_back({sets[i], files_of(*sets[i], paths)});
        for (const auto &[path, told] : claimants.back().files) {
            std::vector<size_t> &known = who_has[path];
            for (const size_t other : known) {
                rivals.emplace(other, i);
            }
            known.push_back(i);
        }
    }
    std::vector<Before> order;
    std::vector<Before> undecided;
    Comparing comparing;
    for (const auto &[first, second] : rivals) {
        const Comparison found = comparing.compare(claimants[first], claimants[second]);
        if (found.order == Order::first) {
            order.push_back({first, second, found});
        } else if (found.order == Order::second) {
            order.push_back({second, first, found});
        } else if (found.order == Order::undecided) {
            undecided.push_back({first, second, found});
        }
    }
    std::vector<Judgement> judgements = judge_by(order, sets);
    // Older ones than one that counts need not be told apart.
    std::erase_if(undecided, [&](const Before &each) {
        return judgements[each.set].claim == Claim::superseded ||
               judgements[each.other].claim == Claim::superseded;
    });
    for (const auto &[set, other, found] : undecided) {
        judgements[set] = {Claim::undecided, why_undecided(found.file, *sets[other])};
        judgements[other] = {Claim::undecided, why_undecided(found.file, *sets[set])};
    }
    return judgements;
}

} // namespace cd::redset
