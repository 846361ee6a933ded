// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scheme_search.h"

#include "base/path.h"
#include "file_store/file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>
#include <utility>

namespace cd::redset {
namespace {

class Finder {
public:
    Finder(const NamesATime &names_a_time, SchemeSearch &search)
        : names_a_time_(names_a_time), search_(search) {}

    Status look_below(const std::string &root) {
        return look_into({root, ""}, os::system().open_at(AT_FDCWD, root.c_str(), flags, 0));
    }

private:
    using Where = std::tuple<dev_t, ino_t, std::string>; // a directory, and a name in it
    using Known = std::map<Where, size_t>;               // which of what was found

    static constexpr int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

    Status look_into(const FoundFolder &folder, int fd) {
        const std::string path = folder.path();
        const File directory(fd, path);
        std::vector<std::string> names;
        os::FileIdentity where;
        if (!directory.is_open() || os::system().list(fd, names) != 0 ||
            os::system().identify(fd, where) != 0) {
            return directory.refused("list the directory");
        }
        if (names_a_time_(folder.name())) {
            add(search_.times, times_at_, {where.device, where.inode, ""}, folder);
        }
        std::sort(names.begin(), names.end());
        for (const std::string &name : names) {
            if (const auto scheme = scheme_name_of(name)) {
                add_file(*scheme, {where.device, where.inode, name}, folder, name);
                continue;
            }
            const int inner = os::system().open_at(fd, name.c_str(), flags | O_NOFOLLOW, 0);
            if (inner < 0 && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT)) {
                if (name.ends_with(".redset") && !names_a_time_(folder.name())) {
                    search_.descriptors.push_back(path_in(path, name));
                }
                continue;
            }
            const std::string below = folder.below.empty() ? name : path_in(folder.below, name);
            if (Status status = look_into({folder.root, below}, inner); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    // A file that has several names is a copy of itself: what lies around each may not be the
    // same.
    void add_file(const SchemeName &scheme, const Where &where, const FoundFolder &folder,
                  const std::string &name) {
        SchemeFile file;
        if (read_scheme_file(scheme, folder, path_in(folder.path(), name), file)) {
            add(search_.files, files_at_, where, std::move(file));
        } else {
            add(search_.unusable, unusable_at_, where, {folder, name, std::string(message())});
        }
    }

    static const FoundFolder &folder_of(const FoundFolder &folder) { return folder; }
    static const FoundFolder &folder_of(const auto &file) { return file.folder; }

    // Where one of the directories that were given is below another, what is in it is found twice;
    // more of what is around it is known from the upper one.
    template <class Found>
    static void add(std::vector<Found> &all, Known &known, const Where &where, Found found) {
        const auto [at, is_new] = known.try_emplace(where, all.size());
        if (is_new) {
            all.push_back(std::move(found));
        } else if (folder_of(found).below.size() > folder_of(all[at->second]).below.size()) {
            all[at->second] = std::move(found);
        }
    }

    const NamesATime &names_a_time_;
    SchemeSearch &search_;
    Known files_at_;
    Known unusable_at_;
    Known times_at_;
};

} // namespace

Status find_scheme_files(std::span<const std::string> directories, const NamesATime &names_a_time,
                         SchemeSearch &search) {
    SchemeSearch found;
    Finder finder(names_a_time, found);
    for (const std::string &directory : directories) {
        if (Status status = finder.look_below(directory); !status) {
            return status;
        }
    }
    search = std::move(found);
    return Status::ok();
}

} // namespace cd::redset
