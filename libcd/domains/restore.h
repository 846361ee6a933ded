// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <cstddef>
#include <span>
#include <vector>

namespace cd {

// Calls the application's regen function for specs, which are not empty and which it may change.
// Fails with CD_ERROR_REGEN_FAILED.
Status regenerate(const Domain &domain, cd_regen_fn regen, std::span<cd_addrspec> specs);

// Performs restore_cd: brings application memory back to a CD's point in time. Writes the entries
// of its descendants from newest to oldest, then its own, so that the oldest data win. Within one
// CD it writes COPY entries, then PARENT, then REGEN. Descendants' CONSTRAINED entries are left
// out.
//
// A byte that an older CD writes anyway is not copied, unless a descendant's regen function could
// see it in between. Needs the locks of the ancestors and of all descendants.
class Restore {
public:
    explicit Restore(Domain &top) : top_(top) {}

    // Fails before memory is touched if an ancestor lacks data or data in memory are damaged. Data
    // in files are read only once, by write_memory(), which finds their damage. May throw
    // std::bad_alloc.
    Status prepare();

    // Returns the file positions to restore, the oldest one for each descriptor.
    struct HeldFile {
        const Domain *holder;
        FilePosition file;
    };
    const std::vector<HeldFile> &files() const { return files_; }

    // True if write_memory() calls functions of the application.
    bool regenerates() const;

    // Writes memory and changes no CD. Fails when a regen function does, or when data in a file
    // cannot be read or are damaged; memory is then partly restored.
    Status write_memory();

    size_t copied() const { return copied_; }

    // Returns the CD and its descendants, parents before children.
    const std::vector<Domain *> &subtree() const { return subtree_; }

private:
    struct RegenCall {
        cd_regen_fn regen;
        size_t first; // in specs
        size_t count;
    };
    struct Regens {
        std::vector<cd_addrspec> specs;
        std::vector<RegenCall> calls;
    };
    // A CD's entries other than COPY.
    struct Others {
        Regens regens;
        bool from_ancestors = false; // PARENT entries
    };

    void find_files();
    void find_final_parts();
    Status check_entries(const Domain &domain, Others &others) const;
    static Regens group(std::vector<const Entry *> &entries);
    Status write_copies(size_t index);
    Status write_from_ancestors(size_t index);
    Status call_regens(const Domain &domain, Regens &regens);

    bool is_copied(const Domain &holder, const Entry &entry) const;
    template <typename Visit>
    void for_each_final_part(size_t index, Range range, const Visit &visit) const;
    template <typename Visit>
    void ask_older_cds(size_t index, Range range, const Visit &visit) const;

    Domain &top_;
    std::vector<Domain *> subtree_; // older ones first
    std::vector<Others> others_;    // for each of subtree_
    // For each of subtree_ the bytes that it copies and that no older CD copies over. Empty for a
    // few CDs, which are asked instead.
    std::vector<std::vector<Range>> final_parts_;
    std::vector<HeldFile> files_;
    bool descendants_regenerate_ = false;
    size_t copied_ = 0;
};

} // namespace cd
