// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/member_files.h"

#include "memory/crc32c.h"
#include "redset/kvtree_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cd::redset {

namespace {

// Does not wait for devices and FIFOs.
constexpr int read_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;

// Only the owner of a file may open it without changing its time of access.
int open_without_trace(const char *path, int flags) {
    const int fd = os::system().open_at(AT_FDCWD, path, flags | O_NOATIME, 0);
    return fd < 0 && errno == EPERM ? os::system().open_at(AT_FDCWD, path, flags, 0) : fd;
}

Status open_regular(const std::string &path, int flags, File &file,
                    os::FileAttributes &attributes) {
    const int fd = open_without_trace(path.c_str(), flags);
    if (fd < 0 && errno == ELOOP && (flags & O_NOFOLLOW) != 0) {
        return fail(CD_ERROR_STORE_IO, "%s: is a symbolic link, and these are not followed",
                    path.c_str());
    }
    if (fd < 0) {
        return fail(CD_ERROR_STORE_IO, "%s: cannot be opened: \"%s\"", path.c_str(),
                    std::strerror(errno));
    }
    File opened(fd, path);
    os::FileAttributes found;
    if (os::system().attributes(fd, found) != 0) {
        return opened.refused("look at the file");
    }
    if (!S_ISREG(found.mode)) {
        return fail(CD_ERROR_STORE_IO, "%s: is not a regular file", path.c_str());
    }
    file = std::move(opened);
    attributes = found;
    return Status::ok();
}

} // namespace

Status open_to_read(const std::string &path, File &file, os::FileAttributes &attributes) {
    return open_regular(path, read_flags, file, attributes);
}

Status open_own_to_read(const std::string &path, File &file, os::FileAttributes &attributes) {
    return open_regular(path, read_flags | O_NOFOLLOW, file, attributes);
}

Status read_own_image(const std::string &path, KvTree &tree, uint64_t &size) {
    File file;
    os::FileAttributes attributes;
    Status status = open_own_to_read(path, file, attributes);
    return status ? read_image(file, tree, size) : status;
}

Status open_stored(const Place &place, const std::string &name, File &file,
                   os::FileAttributes &attributes) {
    return place.links == Links::followed ? open_to_read(place.path(name), file, attributes)
                                          : open_own_to_read(place.path(name), file, attributes);
}

bool leads_to(const std::string &path, const File &file) {
    os::FileIdentity by_name;
    os::FileIdentity own;
    const File named(os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0), path);
    return named.is_open() && os::system().identify(named.descriptor(), by_name) == 0 &&
           os::system().identify(file.descriptor(), own) == 0 && by_name == own;
}

void ScatteredCrc::add(uint64_t offset, std::span<const std::byte> bytes) {
    auto run = std::find_if(runs_.begin(), runs_.end(),
                            [offset](const Run &each) { return each.end == offset; });
    if (run == runs_.end()) {
        run = runs_.insert(run, {offset, offset, 0});
    }
    run->crc = crc32c(run->crc, bytes.data(), bytes.size());
    run->end += bytes.size();
}

uint32_t ScatteredCrc::whole() const {
    std::vector<Run> runs = runs_;
    std::sort(runs.begin(), runs.end(),
              [](const Run &a, const Run &b) { return a.begin < b.begin; });
    uint32_t crc = 0;
    for (const Run &run : runs) {
        crc = join_crc32c(crc, run.crc, run.end - run.begin);
    }
    return crc;
}

LogicalFile::LogicalFile(const std::vector<uint64_t> &sizes, Open open) : open_(std::move(open)) {
    uint64_t begin = 0;
    for (const uint64_t size : sizes) {
        parts_.push_back({begin, begin + size, {}});
        begin += size;
    }
}

Status LogicalFile::read(uint64_t offset, std::span<std::byte> to) {
    return each_part(offset, to, [](const File &file, uint64_t at, std::span<std::byte> bytes) {
        return file.read(at, bytes.data(), bytes.size());
    });
}

Status LogicalFile::write(uint64_t offset, std::span<const std::byte> from) {
    return each_part(offset, from,
                     [](const File &file, uint64_t at, std::span<const std::byte> bytes) {
                         return file.write(at, bytes.data(), bytes.size());
                     });
}

std::vector<uint32_t> LogicalFile::checksums() const {
    std::vector<uint32_t> checksums;
    std::transform(parts_.begin(), parts_.end(), std::back_inserter(checksums),
                   [](const Part &part) { return part.crc.whole(); });
    return checksums;
}

template <typename Byte, typename Transfer>
Status LogicalFile::each_part(uint64_t offset, std::span<Byte> bytes, const Transfer &transfer) {
    auto part = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                 [](uint64_t at, const Part &each) { return at < each.end; });
    for (; !bytes.empty(); ++part) {
        const auto here = bytes.first(std::min<uint64_t>(bytes.size(), part->end - offset));
        const File *file = nullptr;
        if (here.empty()) {
            continue; // an empty file
        }
        if (Status status = opened(static_cast<size_t>(part - parts_.begin()), file); !status) {
            return status;
        }
        if (Status status = transfer(*file, offset - part->begin, here); !status) {
            return status;
        }
        part->crc.add(offset - part->begin, here);
        bytes = bytes.subspan(here.size());
        offset += here.size();
    }
    return Status::ok();
}

Status LogicalFile::opened(size_t part, const File *&file) {
    constexpr size_t most_open = 32; // all members may be in one process
    if (!opened_.contains(part)) {
        File fresh;
        if (Status status = open_(part, fresh); !status) {
            return status;
        }
        if (opened_.size() == most_open) {
            opened_.clear();
        }
        opened_[part] = std::move(fresh);
    }
    file = &opened_[part];
    return Status::ok();
}

} // namespace cd::redset
