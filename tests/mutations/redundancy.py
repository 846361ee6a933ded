# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

"""Each takes one thing away that points in time need to survive the loss of nodes, or of power."""

from mutation import Mutation


def mutation(folder, *what, **more):
    return Mutation(*what, folder=folder, **more)


REDUNDANCY = [
    mutation("checkpoint", "that a point in time counts is not forced before the one before goes", "checkpoint_dir.cpp",
             "Status CheckpointDir::mark_committed(", "sync_ ? directory.sync_all()", "false ? directory.sync_all()"),
    mutation("checkpoint", "images in a parallel file system are not forced", "flush.cpp", "Status Flush::copy(",
             "drafts(rank, sync_)", "drafts(rank, false)"),
    mutation("checkpoint", "it counts though a rank could not write that down", "checkpointer.cpp",
             "Status Checkpointer::commit_checkpoint(", "agree(*job_, marked)", "agree(*job_, Status::ok())"),
    mutation("checkpoint", "files of a point in time go before what says that it counts", "checkpoint_dir.cpp",
             "Status CheckpointDir::remove(", "is_committed_record)", "std::not_fn(is_committed_record))"),
    mutation("checkpoint", "the commit marker of a root goes though not all of it has gone", "checkpointer.cpp",
             "void Checkpointer::remove_ended(", "agree(*job_, removed); !status", "agree(*job_, removed); false"),
    mutation("checkpoint", "what is moved is whole though it could not be read", "file_transfer.cpp", "static void read_piece(",
             "read ? 1 : 0", "read ? 1 : 1"),
    mutation("redset", "files are not forced before they get their names", "atomic_files.cpp", "Status Drafts::finish(",
             "sync_ ? draft.file.sync_all()", "false ? draft.file.sync_all()"),
    mutation("redset", "names of files are not forced", "atomic_files.cpp", "Status Drafts::publish(",
             "sync_ ? sync_directory(folder)", "false ? sync_directory(folder)"),
    mutation("redset", "a file may change while it is encoded", "encode.cpp", "Status reopen(",
             "now.modified.tv_sec != before.tv_sec ||", ""),
    mutation("redset", "data are not compared with their checksums", "survey.cpp", "Status check_data(",
             "contents == Contents::compared", "false"),
    mutation("redset", "redundancy is not compared with its checksums", "survey.cpp", "Status check_payload(",
             "contents == Contents::compared", "false"),
    mutation("redset", "what was rebuilt is not compared with its checksums", "rebuild.cpp",
             "Status Rebuild::finish(", "data_->checksums() != expected.files", "false"),
    mutation("redset", "redundancy that was rebuilt is not compared with its checksums", "rebuild.cpp",
             "Status Rebuild::finish(", "payload_crc_.whole() != expected.payload", "false"),
]
