// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/permissions.h"

#include <string>

namespace cd {

// Behind a slash, or a dot behind one, a link would be followed.
std::string without_slashes_and_dots(std::string path);

// Makes a directory and those above it that are not there. forced: they are there after a crash of
// the machine, too, also if a process that was killed has made them. key: what named it.
Status make_directories(const std::string &path, bool forced, const char *key = key_of_stores);

// Forces to the disk that a directory is in the one above it.
Status force_name(const File &directory);

// A directory for stores, open. Closes it at its end.
class Directory {
public:
    // Makes it if it is not there, with those above it, also where another process is just at that.
    // Refuses one that others own or may write to, and a symbolic link; those above it are
    // followed, since disks are often mounted behind some. key: what named it.
    static Status open(const std::string &path, Directory &directory,
                       const char *key = key_of_stores);

    // That it is there, and what is in it, survives a crash: a process that was killed before this
    // one may have left that open.
    Status force() const;

    int descriptor() const { return file_.descriptor(); }
    const char *path() const { return file_.path(); }

    // That its descriptor still is the directory's.
    Status check_descriptor() const {
        os::FileStatus now;
        return file_.check_leads_here(file_.descriptor(), now);
    }

    bool has_its_descriptor() const noexcept { return file_.leads_here(file_.descriptor()); }

    // Opens and locks a store in it. there: whether there is one.
    Status open_store(const std::string &name, File &store, bool &there) const;

    // An empty file, locked, without a name that outlives the process: publish() gives it one, or
    // fails and leaves it without; give_up_unfinished() takes it back as long as it is open. Nobody
    // else can make a store of that name in between.
    Status create_store(const std::string &name, File &store) const;
    Status publish(const std::string &name, File &store, bool forced) const;
    void give_up_unfinished(const std::string &name) const;
    // The same as publish() where another store has the name, which loses it. After a failure it
    // may have it still, or not.
    Status replace(const std::string &name, const File &store, bool forced) const;

    // Whether it is the name of what create_store() or hide() have for moments.
    static bool is_for_moments(const std::string &name);
    // Whatever create_store() or hide() left when they were interrupted. store: the one of that
    // name, locked.
    void remove_unfinished(const std::string &name, const File &store) const;
    // What hide() left. CD_ERROR_STORE_LOCKED: a process is at it.
    Status remove_hidden(const std::string &name) const;

    // Takes the store its name, and gives it back after a failure. undo_remove() takes hide() back
    // until finish_remove().
    Status hide(const std::string &name, bool forced) const;
    void finish_remove(const std::string &name) const;
    Status undo_remove(const std::string &name, bool forced) const;
    // That what is not there, or cannot be removed, stays, does no harm.
    void try_to_remove(const std::string &name, bool forced = false) const noexcept;
    Status look_for(const std::string &name, bool &there) const;
    Status has_name(const std::string &name, const File &file, bool &has) const;
    // That nobody has removed or renamed the file, or put another in its place. Passes also where
    // the process has no descriptor left to look with, or may no longer look.
    Status check_name(const std::string &name, const File &file) const;
    // The store has a second name, instead of whatever had that, before it loses its own to another
    // one, and gets that back by it: also where the file system gives no new names any more. That
    // it cannot be forced then changes nothing for this process.
    Status keep_by(const std::string &name, const std::string &second, bool forced) const;
    void give_back(const std::string &name, const std::string &second, bool forced) const noexcept;
    static std::string removed(const std::string &name); // while hide() has hidden it

private:
    static constexpr int most_tries = 100;   // where names do not lead to what was opened by them
    static constexpr int most_discarded = 2; // in search of one that is private

    static std::string unfinished(const std::string &name);
    Status open_unfinished(const std::string &name, File &store) const;
    Status check_unfinished(const std::string &name, const File &file, int &discarded,
                            bool &is_new) const;
    Status remove_left(const std::string &name) const;
    Status open_and_lock(const std::string &name, File &store, bool &there) const;
    // By O_PATH, since the close of another descriptor would end a lock that is the process's.
    File look_at(const std::string &name) const;
    // leads: whether the name that was looked at is still that of the file.
    static Status leads_to(const File &named, const File &file, bool &leads);

    File file_;
};

// What is undone unless a new store got its name. They keep references to what they are given.

// The name of a new file while it is unfinished, which goes again. Ends before the file is closed.
class NewName {
public:
    NewName(const Directory &directory, const std::string &name)
        : directory_(directory), name_(name) {}
    NewName(const NewName &) = delete;
    ~NewName();

    Status reserve(File &file);
    void is_published() { reserved_ = false; }

private:
    const Directory &directory_;
    const std::string &name_;
    bool reserved_ = false;
};

// The name of the store that has it until then, which gets it back. Ends before NewName.
class OldName {
public:
    OldName(const Directory &directory, const std::string &name, bool forced)
        : directory_(directory), name_(name), forced_(forced) {}
    OldName(const OldName &) = delete;
    ~OldName();

    Status keep_as(std::string second);
    void is_taken() { second_.clear(); }

private:
    const Directory &directory_;
    const std::string &name_;
    const bool forced_;
    std::string second_; // of the store
};

} // namespace cd
