// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "disk.h"

#include <algorithm>
#include <set>
#include <utility>

namespace crash {
namespace {

uint64_t down(uint64_t offset) { return offset / sector * sector; }
uint64_t up(uint64_t offset) { return down(offset + sector - 1); }

Change piece_of(const Change &write, uint64_t begin, uint64_t end) {
    Change piece = write;
    const std::byte *first = write.bytes->data() + (begin - write.offset);
    piece.offset = begin;
    piece.bytes = std::make_shared<std::vector<std::byte>>(first, first + (end - begin));
    return piece;
}

} // namespace

Disk::Disk() { add_inode(true, root); }

int Disk::add_inode(bool directory, int parent) {
    Inode &made = inodes_.emplace_back();
    made.directory = directory;
    made.parent = parent;
    return next_inode() - 1;
}

void Disk::make(const Change &change) {
    Inode &inode = inodes_[index(change.inode)];
    switch (change.kind) {
    case Change::Kind::write:
        inode.now.write(change.offset, change.bytes->data(), change.bytes->size());
        break;
    case Change::Kind::grow:
        inode.now.grow(change.size);
        break;
    case Change::Kind::cut:
        inode.now.cut(change.size);
        break;
    case Change::Kind::link:
    case Change::Kind::unlink:
    case Change::Kind::rename:
        rename(inode.names_now, change);
        break;
    }
    unforced_.push_back(change);
    given_up_.push_back(false);
}

// Takes any one, so that it can be made without those before it.
void Disk::rename(std::map<std::string, int> &names, const Change &change) {
    switch (change.kind) {
    case Change::Kind::link:
        names[change.name] = change.target;
        break;
    case Change::Kind::unlink:
        names.erase(change.name);
        break;
    default:
        if (const auto from = names.find(change.name);
            from != names.end() && from->second == change.target) {
            names.erase(from);
        }
        names[change.to] = change.target;
    }
}

int Disk::find(int directory, const std::string &name) const {
    const auto &names = inodes_[index(directory)].names_now;
    const auto at = names.find(name);
    return at == names.end() ? -1 : at->second;
}

uint64_t Disk::names(int inode) const {
    uint64_t names = 0;
    for (const Inode &directory : inodes_) {
        names += static_cast<uint64_t>(std::ranges::count(
            directory.names_now, inode, [](const auto &entry) { return entry.second; }));
    }
    return names;
}

void Disk::force(int inode) {
    if (is_directory(inode)) {
        inodes_[index(inode)].names_on_medium = inodes_[index(inode)].names_now;
    } else {
        force_file(inode);
    }
    std::vector<Change> left;
    std::vector<bool> left_given_up;
    for (size_t i = 0; i < unforced_.size(); ++i) {
        if (unforced_[i].inode != inode || given_up_[i]) {
            left.push_back(std::move(unforced_[i]));
            left_given_up.push_back(given_up_[i]);
        }
    }
    unforced_ = std::move(left);
    given_up_ = std::move(left_given_up);
}

// Sectors go to the medium as they are now.
void Disk::force_file(int inode) {
    Inode &file = inodes_[index(inode)];
    file.medium.grow(file.now.size());
    file.medium.cut(file.now.size());
    std::vector<std::pair<uint64_t, uint64_t>> written;
    for (size_t i = 0; i < unforced_.size(); ++i) {
        const Change &change = unforced_[i];
        if (change.inode == inode && !given_up_[i] && change.kind == Change::Kind::write) {
            written.emplace_back(down(change.offset), up(change.offset + change.bytes->size()));
        }
    }
    for (const auto &[begin, end] : written) {
        file.medium.copy_from(file.now, begin, end);
        take_from_given_up(inode, begin, end);
    }
}

// begin and end are borders of sectors.
void Disk::take_from_given_up(int inode, uint64_t begin, uint64_t end) {
    for (size_t i = 0; i < unforced_.size(); ++i) {
        const Change change = unforced_[i];
        if (!given_up_[i] || change.inode != inode) {
            continue;
        }
        const uint64_t change_end = change.offset + change.bytes->size();
        if (change_end <= begin || end <= change.offset) {
            continue;
        }
        unforced_[i] = piece_of(change, change.offset, std::max(begin, change.offset));
        if (end < change_end) {
            unforced_.insert(unforced_.begin() + static_cast<ptrdiff_t>(i) + 1,
                             piece_of(change, end, change_end));
            given_up_.insert(given_up_.begin() + static_cast<ptrdiff_t>(i) + 1, true);
            ++i;
        }
    }
}

void Disk::fail_to_force(int inode) {
    for (size_t i = 0; i < unforced_.size(); ++i) {
        if (unforced_[i].inode == inode && unforced_[i].kind == Change::Kind::write) {
            given_up_[i] = true;
        }
    }
}

Disk Disk::after_crash(const std::vector<Part> &parts) const {
    Disk found;
    found.inodes_ = inodes_;
    for (Inode &inode : found.inodes_) {
        inode.now = inode.medium;
        inode.names_now = inode.names_on_medium;
    }
    for (const Part &part : parts) {
        const Change &change = unforced_[part.change];
        Content &content = found.inodes_[index(change.inode)].now;
        if (change.kind == Change::Kind::grow) {
            content.grow(change.size);
        } else if (change.kind == Change::Kind::cut) {
            content.cut(change.size);
        }
    }
    for (const Part &part : parts) {
        const Change &change = unforced_[part.change];
        Inode &inode = found.inodes_[index(change.inode)];
        if (change.kind == Change::Kind::write) {
            inode.now.write(change.offset + part.begin, change.bytes->data() + part.begin,
                            part.end - part.begin);
        } else if (change.kind != Change::Kind::grow && change.kind != Change::Kind::cut) {
            rename(inode.names_now, change);
        }
    }
    found.forget_unreachable();
    for (Inode &inode : found.inodes_) {
        inode.medium = inode.now;
        inode.names_on_medium = inode.names_now;
    }
    return found;
}

void Disk::forget_unreachable() {
    std::set<int> reached = {root};
    for (const Inode &inode : inodes_) { // directories come before what they hold
        for (const auto &[name, target] : inode.names_now) {
            reached.insert(target);
        }
    }
    for (int inode = 0; inode < next_inode(); ++inode) {
        if (!reached.contains(inode)) {
            inodes_[index(inode)].now = Content();
        }
    }
}

} // namespace crash
