// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <cstddef>
#include <span>
#include <vector>

namespace cd {

// Has the application's function regenerate what the specs name, at least one.
// CD_ERROR_REGEN_FAILED tells what it returned. The function may change the specs.
Status regenerate(const Domain &domain, cd_regen_fn regen, std::span<cd_addrspec> specs);

// Brings application memory back to a CD's point in time: its descendants' entries first, from
// newest to oldest, then its own, so that the oldest wins; within one CD copies, then what
// ancestors hold, then what functions regenerate. Descendants' CONSTRAINED entries are left out.
//
// A byte that an older CD writes anyway is not copied, unless a descendant's regen function could
// see it in between. Needs the locks of the ancestors and of all descendants.
class Restore {
public:
    explicit Restore(Domain &top) : top_(top) {}

    // Finds what can go wrong before memory is touched: data that no ancestor holds any more,
    // damaged data. Data in files are read only once, and their damage is found then. May throw
    // std::bad_alloc.
    Status prepare();

    // The positions to restore, the oldest for each descriptor.
    struct HeldFile {
        const Domain *holder;
        FilePosition file;
    };
    const std::vector<HeldFile> &files() const { return files_; }

    // Whether write_memory() calls functions of the application.
    bool regenerates() const;

    // Writes memory and changes no CD. Fails when a regen function does, or when data in a file
    // cannot be read or are damaged; memory is then partly restored.
    Status write_memory();

    size_t copied() const { return copied_; }

    // The descendants, parents before children.
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
    // What a CD holds beside copies.
    struct Others {
        Regens regens;
        bool from_ancestors = false; // PARENT entries
    };

    // What a CD writes to memory by copying: part of one of its entries.
    using Lasting = std::vector<Range>;

    void find_files();
    void find_lasting();
    Status check_entries(const Domain &domain, Others &others) const;
    static Regens group(std::vector<const Entry *> &entries);
    Status write_copies(size_t index);
    Status write_from_ancestors(size_t index);
    Status call_regens(const Domain &domain, Regens &regens);

    bool is_copied(const Domain &holder, const Entry &entry) const;
    template <typename Visit>
    void for_each_lasting(size_t index, Range range, const Visit &visit) const;
    template <typename Visit>
    void ask_each_older(size_t index, Range range, const Visit &visit) const;

    Domain &top_;
    std::vector<Domain *> subtree_; // older ones first
    std::vector<Others> others_;    // for each of subtree_
    std::vector<Lasting> lasting_;  // the same, if they are many; else empty
    std::vector<HeldFile> files_;
    bool descendants_regenerate_ = false;
    size_t copied_ = 0;
};

} // namespace cd
