// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/persistence.h"
#include "file_store/change_encoder.h"
#include "file_store/data_writer.h"
#include "file_store/journal.h"
#include "file_store/stored_data.h"

#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace cd {

class FileStore;

// A transaction of a FileStore. One thread.
class FileTransaction : public Transaction {
public:
    explicit FileTransaction(FileStore &store);
    FileTransaction(const FileTransaction &) = delete;
    FileTransaction &operator=(const FileTransaction &) = delete;
    ~FileTransaction() override;

    Status keep(Range memory, Piece &place) override;
    Status copy(std::span<const StoredPart> parts, Piece &place) override;
    void hold(CdNumber cd, std::span<const Entry *const> entries) override;
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
    void bind(CdNumber cd, uint64_t space, Range old, uintptr_t address, size_t entries) override;
    void replace_unbound_data(CdNumber cd, uint64_t space, Range old, const Piece &data) override;
    void split(size_t entries) override;
    void give_unbound(CdNumber child, CdNumber parent, const Unbound &given) override;
    void erase_unbound(CdNumber cd, uint64_t space, Range old) override;
    using Transaction::commit;
    Status commit(CommitVote *last_word) override;

private:
    Status check_volume();
    Status force_data();
    friend class FileStore;

    Status copy_to(FileRun &to, std::span<const StoredPart> parts, bool &readable);
    Status new_place(size_t length, Piece &place);
    StoredKey key_of_first(CdNumber cd, Range &range, bool &added_anew);
    void hold_part(CdNumber cd, const Entry &entry, Range part, StoredKey key, bool added_anew);
    void hold_while_written(const Piece &place, size_t length);
    template <typename Visit>
    void for_each_run(const Piece &data, size_t length, const Visit &visit);

    FileStore &store_;
    ChangeWriter changes_;
    Binds binds_;
    std::set<CdNumber> cds_;                        // that the changes name
    std::set<CdNumber> new_cds_;                    // that the file does not know yet
    std::set<std::pair<CdNumber, int>> new_places_; // theirs: parent and sibling index
    std::set<CdNumber> dropped_;
    std::set<uint64_t> names_;
    std::map<CdNumber, uint64_t> ordered_; // ranges that only their order tells from others
    std::unordered_map<const StoredRun *, uint64_t> runs_; // that the changes have named
    std::vector<Piece> named_;                             // the same
    Growth growth_;
    size_t splits_ = 0;        // that are not written down
    bool makes_known_ = false; // also if there are no changes
    bool retaining_ = false;
    bool checked_ = false; // the volume
    std::vector<Piece> retained_;
    std::vector<Piece> under_way_; // what may still be written belongs to nobody else
    const GroupSync::Mark begun_;
    DataWriter writer_; // ends before the above do
};

} // namespace cd
