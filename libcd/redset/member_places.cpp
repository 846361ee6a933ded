// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/member_places.h"

#include "base/path.h"
#include "redset/open_file.h"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cd::redset {
namespace {

// ---- One directory

bool has_files(const Place &place, const std::set<std::string> &names) {
    return std::ranges::any_of(names, [&](const std::string &name) {
        File file;
        os::FileAttributes attributes;
        return !name.starts_with('/') && open_stored(place, name, file, attributes).is_ok();
    });
}

// Whether it has one in which such files belong, other than itself.
bool has_directories(const Place &place, const std::set<std::string> &names) {
    return std::ranges::any_of(names, [&](const std::string &name) {
        const size_t slash = name.rfind('/');
        if (slash == std::string::npos || name.starts_with('/')) {
            return false;
        }
        const std::string directory = place.path(name.substr(0, slash));
        constexpr int flags = O_PATH | O_DIRECTORY;
        return File(os::system().open_at(AT_FDCWD, directory.c_str(), flags, 0), directory)
            .is_open();
    });
}

std::optional<Place> place_with(const std::vector<Place> &places,
                                const std::set<std::string> &names) {
    const auto found =
        std::ranges::find_if(places, [&](const Place &place) { return has_files(place, names); });
    return found == places.end() ? std::nullopt : std::optional(*found);
}

bool has_any_in_size(const Place &place, const StoredFiles &told) {
    return std::ranges::any_of(told, [&](const StoredFile &stored) {
        File file;
        os::FileAttributes attributes;
        return open_stored(place, stored.name, file, attributes).is_ok() &&
               attributes.size == stored.attributes.size;
    });
}

// To one directory with scheme files.
bool is_nearer(const Place &one, const Place &other) {
    return one.folder.size() > other.folder.size();
}

// ---- A set

// A directory with a scheme file of a member, and where its files are from there, if they are.
struct Home {
    FoundFolder folder;
    std::optional<Place> files;
};

struct Member {
    std::set<std::string> names; // of its files
    StoredFiles told;            // of these, with what headers tell
    std::vector<Home> homes;
    Copies elsewhere; // of its files
    std::string only_file;
};

class Places {
public:
    Places(const Members &files, const Set &set, const SchemeSearch &search,
           const NamesATime &names_a_time, const OnlyFile &only_file)
        : files_(files), search_(search), names_a_time_(names_a_time),
          prefix_(files.front()->prefix), members_(set.ranks.size()) {
        for (const SchemeFile *file : files) {
            if (names_a_time(file->folder.name())) {
                time_ = file->folder.name();
            }
            members_[index(file->member)].homes.push_back({file->folder, {}});
            for (const auto &[member, entry] : file->header.members) {
                for (const StoredFile &stored : entry.files) {
                    members_[index(member)].names.insert(stored.name);
                    members_[index(member)].told.push_back(stored);
                }
            }
        }
        if (!time_.empty() && only_file) {
            name_only_files(set, only_file);
        }
        add_unusable(set);
        for (Member &member : members_) {
            look_for(member);
        }
    }

    std::vector<Copies> of_each() const {
        std::vector<Copies> all;
        for (const Member &member : members_) {
            Copies &copies = all.emplace_back(member.elsewhere);
            for (const Home &home : member.homes) {
                copies.push_back(place_of(home, member));
            }
            if (copies.empty()) {
                copies.push_back(usual_.value_or(above(files_.back()->folder).back()));
            }
            for (Place &place : copies) {
                place.only_file = member.only_file;
            }
        }
        return all;
    }

private:
    bool is_of_the_time(const FoundFolder &folder) const {
        return !time_.empty() && folder.name() == time_;
    }

    void name_only_files(const Set &set, const OnlyFile &only_file) {
        for (size_t i = 0; i < members_.size(); ++i) {
            if (set.ranks[i] < 0) {
                continue; // nothing tells which it is
            }
            Member &member = members_[i];
            member.only_file = only_file(set.ranks[i]);
            if (member.names.empty()) {
                member.names.insert(member.only_file);
            }
        }
    }

    // Where names tell nothing of a time, what cannot be read may be of another one, unless it lies
    // in a directory of a name that others have.
    bool may_be_of_the_time(const FoundFolder &folder) const {
        return is_of_the_time(folder) ||
               (time_.empty() && std::ranges::any_of(files_, [&](const SchemeFile *file) {
                    return file->folder.name() == folder.name();
                }));
    }

    void add_unusable(const Set &set) {
        const Place here{"", prefix_};
        for (const UnusableFile &file : search_.unusable) {
            const auto name = scheme_name_of(file.name);
            if (!may_be_of_the_time(file.folder) || !name || name->member >= set.shape.members ||
                file.name != here.scheme_file(set, name->member)) {
                continue;
            }
            std::vector<Home> &homes = members_[index(name->member)].homes;
            if (!time_.empty() || homes.empty()) {
                homes.push_back({file.folder, {}});
            }
        }
    }

    void look_for(Member &member) {
        bool any = false;
        for (Home &home : member.homes) {
            home.files = place_with(above(home.folder), member.names);
            if (home.files) {
                Place &nearest =
                    nearest_.try_emplace(home.folder.path(), *home.files).first->second;
                nearest = std::min(nearest, *home.files, is_nearer);
            }
            any = any || home.files;
            usual_ = usual_ ? usual_ : home.files;
        }
        // Where names tell nothing of a time, what lies elsewhere may be of another one.
        if (any || (time_.empty() && !member.homes.empty())) {
            return;
        }
        for (const SchemeFile *file : files_) {
            look_elsewhere(file->folder, member);
        }
        for (const FoundFolder &folder : search_.times) {
            if (is_of_the_time(folder)) {
                look_elsewhere(folder, member);
            }
        }
    }

    void look_elsewhere(const FoundFolder &folder, Member &member) {
        const auto found = place_with(above(folder), member.names);
        const bool is_new = std::ranges::none_of(
            member.elsewhere, [&](const Place &place) { return found && place == *found; });
        if (found && is_new) {
            member.elsewhere.push_back(*found);
            usual_ = usual_ ? usual_ : found;
        }
    }

    // The directories from one up to that given, and what is below each. What programs write into
    // directories of a time are files, so that a link there is somebody else's.
    std::vector<Place> above(const FoundFolder &folder) const {
        const Links links = names_a_time_(folder.name()) ? Links::refused : Links::followed;
        std::vector<Place> places;
        std::string above = folder.below;
        std::string below;
        for (;;) {
            places.push_back({FoundFolder{folder.root, above}.path(),
                              (below.empty() ? "" : below + "/") + prefix_, links});
            if (above.empty()) {
                return places;
            }
            const size_t slash = above.rfind('/');
            const std::string last = slash == std::string::npos ? above : above.substr(slash + 1);
            below = below.empty() ? last : path_in(last, below);
            above = slash == std::string::npos ? "" : above.substr(0, slash);
        }
    }

    // Members with scheme files in one directory have named their files from one, too: what is
    // further up, and not as it was, is somebody else's.
    Place place_of(const Home &home, const Member &member) const {
        if (!home.files) {
            return likely_place(home.folder, member.names);
        }
        const Place &nearest = nearest_.at(home.folder.path());
        const bool is_its = has_any_in_size(*home.files, member.told);
        return is_its || !is_nearer(nearest, *home.files) ? *home.files : nearest;
    }

    // Of files that are not there: it is told from those of others, or a directory that is there.
    Place likely_place(const FoundFolder &folder, const std::set<std::string> &names) const {
        const std::vector<Place> own = above(folder);
        auto likely = std::ranges::find_if(
            own, [&](const Place &place) { return usual_ && place.prefix == usual_->prefix; });
        if (likely == own.end()) {
            likely = std::ranges::find_if(
                own, [&](const Place &place) { return has_directories(place, names); });
        }
        return likely == own.end() ? own.back() : *likely;
    }

    const Members &files_;
    const SchemeSearch &search_;
    const NamesATime &names_a_time_;
    std::string prefix_;    // of scheme files' names
    std::string_view time_; // what directories are called that are of it, if that is told
    std::vector<Member> members_;
    std::map<std::string, Place> nearest_; // for each directory with scheme files, of any member
    std::optional<Place> usual_;           // where some member's are
};

} // namespace

std::vector<Copies> places_of(const Members &members, const Set &set, const SchemeSearch &search,
                              const NamesATime &names_a_time, const OnlyFile &only_file) {
    return Places(members, set, search, names_a_time, only_file).of_each();
}

} // namespace cd::redset
