// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/persistence.h"
#include "file_store/change_encoder.h"
#include "file_store/data_writer.h"
#include "file_store/stored_data.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace cd {

class FileStore;

// The changes that a transaction hands to its store to be written. Plain data.
struct ChangeSet {
    ChangeWriter changes;
    ChangeWriter binds;
    std::set<CdNumber> cds; // that the changes name
    std::set<CdNumber> dropped;
    std::set<uint64_t> names;                   // numbers of StoredNames
    std::map<CdNumber, uint64_t> unnamed;       // ranges that only their add order tells apart
    std::vector<Piece> data;                    // that the changes refer to
    bool makes_known = false;                   // write the CDs also if there are no changes
    std::optional<std::vector<Piece>> retained; // data of the point in time that becomes older
};

// A transaction of a FileStore: writes data at once, collects the changes, and hands them to the
// store when it commits. Used by one thread.
class FileTransaction : public Transaction {
public:
    explicit FileTransaction(FileStore &store);
    FileTransaction(const FileTransaction &) = delete;
    FileTransaction &operator=(const FileTransaction &) = delete;

    Status keep(Range memory, Piece &place) override;
    Status copy(std::span<const StoredPart> parts, Piece &place) override;
    Status hold(CdNumber cd, std::span<const Entry *const> entries) override;
    void replace_data(CdNumber cd, Range range, const Piece &data) override;
    void relabel(CdNumber cd, Range range, addr_type access, Restoration restoration) override;
    void promote(CdNumber cd, Range range) override;
    void demote(CdNumber cd) override;
    void erase(CdNumber cd, Range range) override;
    void give(CdNumber child, CdNumber parent, Range range, bool keeps) override;
    void files(CdNumber cd, const std::vector<FilePosition> &files) override;
    void epoch(CdNumber cd, uint64_t epoch) override;
    bool retains() const override;
    void retain(std::vector<Piece> data) override;
    void make_known(CdNumber cd) override;
    void drop(CdNumber cd) override;
    void bind(CdNumber cd, uint64_t space, Range old, uintptr_t address) override;
    using Transaction::commit;
    Status commit(CommitVote *last_vote) override;

    // For the store that gets them before the transaction ends.
    ChangeWriter &binds() { return set_.binds; }

private:
    Status check_file();
    Status force_data();
    Status copy_to(FileRun &to, std::span<const StoredPart> parts, bool &readable);
    Status new_place(size_t length, Piece &place);
    void hold_part(CdNumber cd, const Entry &entry, Range part, StoredKey key, bool added_anew);
    void hold_while_written(const Piece &place, size_t length);
    template <typename Visit>
    void for_each_run(const Piece &data, size_t length, const Visit &visit);

    FileStore &store_;
    ChangeSet set_;
    std::unordered_map<const StoredRun *, uint64_t> runs_; // that the changes have named
    bool checked_ = false;                                 // the file
    std::vector<Piece> under_way_; // places that the writer may still write to
    const GroupSync::Mark begun_;
    DataWriter writer_; // ends before the above do
};

} // namespace cd
