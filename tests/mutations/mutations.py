# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Each mutation takes one thing away that a file store needs to be old or new after a crash."""

from dataclasses import dataclass


@dataclass
class Mutation:
    name: str
    file: str  # in libcd/file_store
    function: str  # how it begins
    old: str  # the first of these in the function
    new: str
    # Why no test can see it; "": a test has to fail.
    survives: str = ""


FORCE = "status = force();"
NO_FORCE = "status = Status::ok();"

SYNCS = [
    Mutation("data are not forced before their record", "file_transaction.cpp",
             "Status FileTransaction::commit()",
             "if (writer_.has_written() && store_.options_.forced) {", "if (false) {"),
    Mutation("a record is not forced", "metadata.cpp", "Status Metadata::append(", FORCE, NO_FORCE),
    Mutation("the wiping of a record that failed is not forced", "metadata.cpp",
             "Status Metadata::settle()", FORCE, NO_FORCE),
    Mutation("a header that is taken back is not forced", "metadata.cpp",
             "Status Metadata::take_back_header()", "? force()", "? Status::ok()"),
    Mutation("snapshot and journal are not forced before the header", "metadata.cpp",
             "Status Metadata::write_generation(", FORCE, NO_FORCE),
    Mutation("a header is not forced", "metadata.cpp", "Status Metadata::flip_to(", FORCE, NO_FORCE),
    Mutation("a new file is not forced before it gets its name", "directory.cpp",
             "Status Directory::publish(", "store.sync_all()", "Status::ok()"),
    Mutation("the name of a new file is not forced", "directory.cpp", "Status Directory::publish(",
             "forced ? file_.sync_all()", "forced ? Status::ok()"),
    Mutation("the removal of a store is not forced", "directory.cpp", "Status Directory::hide(",
             "forced ? file_.sync_all()", "forced ? Status::ok()"),
    Mutation("that a store has its name back is not forced", "directory.cpp",
             "Status Directory::undo_remove(", "forced ? file_.sync_all()", "forced ? Status::ok()"),
    Mutation("an image is not forced", "held_point.cpp", "Status HeldPoint::write_image(",
             "status = image.sync_all();", "status = Status::ok();"),
    Mutation("the name of a store that is kept aside is not forced", "directory.cpp",
             "Status Directory::rename(", "forced ? file_.sync_all()", "forced ? Status::ok()"),
    Mutation("that a store kept aside has its name back is not forced", "directory.cpp",
             "void Directory::undo_rename(", "if (forced) {", "if (forced && false) {"),
    Mutation("that a store kept aside is gone is not forced", "directory.cpp",
             "void Directory::try_to_remove(", "if (removed && forced) {", "if (false) {"),
    Mutation("the name of a new directory is not forced", "directory.cpp", "Status make_directory(",
             "return force_name(directory);", "return Status::ok();"),
    Mutation("names that a killed process made are not forced", "directory.cpp",
             "Status Directory::force()", "file_.sync_all()", "Status::ok()"),
    Mutation("the name of a directory that a killed process made is not forced", "directory.cpp",
             "Status Directory::force()", "return force_name(file_);", "return Status::ok();"),
    Mutation("what a killed process wrote is not forced", "opening.cpp", "Status attach(",
             "forced_ ? file.sync_all()", "forced_ ? Status::ok()"),
]

CHECKS = [
    Mutation("checksum of a header", "header.cpp", "bool has_checksum_at(",
             "return ByteReader(bytes.subspan(at)).fixed32() == crc32c(0, bytes.data(), at);",
             "return !bytes.empty() && at > 0;"),
    Mutation("what follows a header in its block", "header.cpp", "Status read_header(",
             "is_zero(std::span(bytes).subspan(format::sector)) &&", ""),
    Mutation("checksum of a snapshot", "loading.cpp", "Status read_snapshot(",
             "if (crc32c(0, bytes.data(), bytes.size()) != header_.snapshot_checksum) {",
             "if (false) {"),
    Mutation("checksum of a record", "records.cpp", "FoundRecord find_record(",
             "if (expected &&", "if (expected || (start.whole && start.number == sequence) ||"),
    Mutation("number of a record", "records.cpp", "FoundRecord find_record(",
             "start.number == sequence", "true"),
    Mutation("generation of a record", "records.cpp", "Start read_start(",
             "generation == header.generation &&", "generation > 0 &&"),
    Mutation("checksum of the start of a record", "records.cpp", "Start read_start(",
             "checksum == checksum_of(header, checked) &&", "(checksum > 0 || !checked.empty()) &&"),
    Mutation("a word of a record that is as it was before", "records.cpp",
             "FoundRecord find_record(", "if (unused.is_some_of(", "if (false && unused.is_some_of("),
    Mutation("a record that was damaged and not torn", "records.cpp",
             "FoundRecord find_record(", "if (unused.is_some_of(", "if (true || unused.is_some_of("),
    Mutation("room behind a record for a word as it was before", "records.cpp",
             "uint64_t record_size(", " + format::record_end", ""),
    Mutation("what is left of a torn record", "metadata.cpp", "void Metadata::take_over(",
             " || loaded.has_leftover", ""),
    Mutation("data that nothing tells to be whole", "points_in_time.cpp", "Status check_newest(",
             "unchecked == Unchecked::counts_as_damaged &&", "false &&"),
    Mutation("a second read of what cannot be read", "file.cpp", "Status File::read(",
             "if (again) {", "if (true) {"),
    Mutation("what cannot be read is damage", "file.cpp", "bool means_lost(",
             "return error == EIO ||", "return error < 0 ||"),
    Mutation("whether a file in use still has its name", "file_store.cpp", "Status FileStore::write(",
             "directory_.check_name(name_, volume_.file())", "Status::ok()"),
    Mutation("checksums of data", "run.cpp", "Status check(",
             "crc32c(0, bytes, length) == run.checksums[part]", "true"),
    Mutation("data of a state that is in doubt are not read", "loading.cpp", "Status take(",
             "if (!found.doubt.empty()) {", "if (false) {"),
    Mutation("data of an image are not compared", "image.cpp", "Status copy(",
             "read_run(source_, run, stretch.begin + done, room.data(), room.size())",
             "source_.read(run.offset + stretch.begin + done, room.data(), room.size())"),
    Mutation("a record behind one that seems torn is not looked for", "records.cpp",
             "FoundRecord find_record(", "!has_newer(header, sequence, rest)", "true"),
    Mutation("damaged data get a new checksum where they are copied", "file_transaction.cpp",
             "Status FileTransaction::copy(",
             "if (!data.block().backing()->read(data.offset() + done, buffer.data(), part)) {",
             "if (data.block().backing()->read(data.offset() + done, buffer.data(), part).code() ==\n"
             "                CD_ERROR_STORE_IO) {"),
    Mutation("data in several places all belong to the begin", "file_transaction.cpp",
             "void FileTransaction::hold(", "key.offset = offset + before;",
             "key.offset = offset + 0 * before;"),
    Mutation("unused journal is zeros", "unused.cpp", "uint64_t Unused::word_at(",
             "return first_ + offset * format::unused_offset_step;", "return 0 * offset;"),
    Mutation("unused journal is the same in all places", "unused.cpp", "uint64_t Unused::word_at(",
             "return first_ + offset * format::unused_offset_step;", "return first_ + 0 * offset;"),
    Mutation("unused journal is the same in all generations", "unused.cpp", "Unused::Unused(",
             "header.generation * format::unused_generation_step", "0"),
]

ORDER = [
    Mutation("the record is written before the data", "file_transaction.cpp",
             "Status FileTransaction::commit()", "Status flushed = writer_.flush();",
             "Status flushed = store_.commit(*this).is_ok() ? writer_.flush() : Status::ok();"),
    Mutation("what goes past the page cache is not waited for", "data_writer.cpp",
             "Status DataWriter::flush()", "return direct_->finish();", "return Status::ok();"),
    Mutation("after an error data still go past the page cache", "data_writer.cpp",
             "Status DataWriter::flush()", "(void)direct_->finish();", ""),
    Mutation("what a record that failed may refer to is free at once", "file_store.cpp",
             "Status FileStore::write(", "suspect_ = std::move(transaction.named_);", ""),
    Mutation("a record that failed is not wiped before the next one", "file_store.cpp",
             "Status FileStore::write(", "metadata_.settle()", "Status::ok()"),
    Mutation("a new journal is not wiped", "metadata.cpp", "Status Metadata::write_generation(",
             "Unused(header).write(file, header.journal.offset, header.journal.length)",
             "Status::ok()"),
    Mutation("headers do not alternate", "metadata.cpp", "Status Metadata::move_to(",
             "next->header.slot = newest_->header.other_slot();",
             "next->header.slot = newest_->header.slot;"),
    Mutation("a header counts in the place of the other", "header.cpp", "Status read_header(",
             "found.header.slot == slot", "true"),
    Mutation("a header that failed is not taken back", "metadata.cpp", "Status Metadata::flip_to(",
             "if (take_back_header().is_ok()) {", "if (false) {"),
    Mutation("the header is written before the snapshot", "metadata.cpp",
             "Status Metadata::write_generation(",
             "Status status = file.write(header.snapshot.offset, snapshot.data(), snapshot.size());",
             "Status status = write_header(file, header);\n    if (status.is_ok()) {\n"
             "        status = file.write(header.snapshot.offset, snapshot.data(), snapshot.size());\n    }"),
    Mutation("data are written over while they count", "file_transaction.cpp",
             "Status FileTransaction::keep(", "place.block().has_one_owner() &&", ""),
    Mutation("what a held point in time refers to is free for others", "held_point.cpp",
             "HeldPoint::HeldPoint(", "data_(std::move(data))", "data_()"),
    Mutation("the metadata that count are free for others", "metadata.cpp",
             "Status Metadata::move_to(", "older_ = std::move(newest_);",
             "newest_.reset();"),
    Mutation("what a failed header may refer to is free at once", "metadata.cpp",
             "Status Metadata::flip_to(", "if (take_back_header().is_ok()) {",
             "if (take_back_header().is_ok() || true) {"),
    Mutation("after a move that failed the old journal goes on", "metadata.cpp",
             "bool Metadata::has_to_move()", "doubtful_ || !abandoned_.empty()", "doubtful_"),
    Mutation("a journal with a damaged record goes on", "metadata.cpp",
             "void Metadata::take_over(", "!loaded.doubt.empty() || ", ""),
    Mutation("there is no second header at first", "metadata.cpp", "Status Metadata::create(",
             "slot < format::headers", "slot < 1"),
    Mutation("what the file holds counts as free when it is opened", "file_store.cpp",
             "void FileStore::take_over(", "taken = loaded.extents;", "taken;"),
    Mutation("the older metadata count as free when the file is opened", "file_store.cpp",
             "void FileStore::take_over(",
             "for (const Extent &extent : {loaded.older.snapshot, loaded.older.journal}) {",
             "for (const Extent &extent : std::initializer_list<Extent>{}) {"),
]

MUTATIONS = SYNCS + CHECKS + ORDER
