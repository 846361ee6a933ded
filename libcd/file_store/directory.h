// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/permissions.h"

#include <string>

namespace cd {

// Returns the path without trailing slashes and dots, behind which a link would be followed.
std::string without_slashes_and_dots(std::string path);

// Makes a directory and the missing ones above it. forced: they survive a crash of the machine,
// also those that a killed process made. key: the setting that named it, for messages.
Status make_directories(const std::string &path, bool forced, const char *key = key_of_stores);

// Forces the name of a directory to the disk.
Status force_name(const File &directory);

// An open directory for stores. Its destructor closes it.
class Directory {
public:
    // Opens it, and makes it if it is missing, also while another process does so. Refuses a
    // directory that others own or may write to, and a symbolic link; links above it are followed.
    static Status open(const std::string &path, Directory &directory,
                       const char *key = key_of_stores);

    // Forces it and the names in it to the disk, which a killed process may have left undone.
    Status force() const;

    int descriptor() const { return file_.descriptor(); }
    const char *path() const { return file_.path(); }

    // Opens and locks a store in it. there: false if there is none.
    Status open_store(const std::string &name, File &store, bool &there) const;

    // Makes an empty, locked file with a temporary name. publish() gives it its name, or fails and
    // leaves it without; give_up_unfinished() removes it while it is open. No other process can
    // make a store of that name meanwhile. replaces: it takes the name of another store; after a
    // failure either may have it.
    Status create_store(const std::string &name, File &store) const;
    Status publish(const std::string &name, File &store, bool replaces, bool forced) const;
    void give_up_unfinished(const std::string &name) const;

    // True for the temporary names of create_store() and hide().
    static bool is_for_moments(const std::string &name);
    // Removes what create_store() and hide() left when they were interrupted. store: the store of
    // that name, locked.
    void remove_unfinished(const std::string &name, const File &store) const;
    // Removes what hide() left. CD_ERROR_STORE_LOCKED: another process has it locked.
    Status remove_hidden(const std::string &name) const;

    // Takes the name from the store, and gives it back after a failure. undo_remove() undoes hide()
    // until finish_remove().
    Status hide(const std::string &name, bool forced) const;
    void finish_remove(const std::string &name) const;
    Status undo_remove(const std::string &name, bool forced) const;
    // Removes a file; a failure does no harm.
    void try_to_remove(const std::string &name, bool forced = false) const noexcept;
    Status look_for(const std::string &name, bool &there) const;
    Status has_name(const std::string &name, const File &file, bool &has) const;
    // Fails if the file was removed, renamed or replaced. Passes if the process can not look.
    Status check_name(const std::string &name, const File &file) const;
    // Gives the store a second name, which give_back() turns into its own one again after another
    // store has taken that. A file that has the second name is removed.
    Status keep_by(const std::string &name, const std::string &second, bool forced) const;
    void give_back(const std::string &name, const std::string &second, bool forced) const noexcept;

private:
    static std::string unfinished(const std::string &name);
    static std::string removed(const std::string &name); // the name that hide() gives it
    Status remove_left(const std::string &name) const;
    static Status check_store(const File &store);
    // Opens with O_PATH: closing another descriptor would end a lock of the process.
    File look_at(const std::string &name) const;
    // leads: true if `named` is the file.
    static Status leads_to(const File &named, const File &file, bool &leads);

    File file_;
};

} // namespace cd
