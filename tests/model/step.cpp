// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "step.h"

#include "cd/cd.h"

#include <sstream>

namespace model {

const std::vector<NameChoice> &names() {
    static const std::string longest(200, 'n');
    static const std::string too_long(201, 'n');
    static const std::vector<NameChoice> choices = {
        {nullptr, CD_ERROR_NAME_MISSING},
        {"alpha", CD_ERROR_NONE},
        {"beta", CD_ERROR_NONE},
        {"gamma", CD_ERROR_NONE},
        {"a name with spaces", CD_ERROR_NONE},
        {longest.c_str(), CD_ERROR_NONE},
        {"", CD_ERROR_NAME_MISSING},
        {"with/slash", CD_ERROR_NAME_INVALID},
        {".hidden", CD_ERROR_NAME_INVALID},
        {"tab\there", CD_ERROR_NAME_INVALID},
        {too_long.c_str(), CD_ERROR_NAME_INVALID},
    };
    return choices;
}

const std::vector<StorageChoice> &storages() {
    static const std::vector<StorageChoice> choices = {
        {nullptr, CD_ERROR_NONE},
        {"shadow=none", CD_ERROR_NONE},
        {"shadow=full", CD_ERROR_NONE},
        {"checksum=crc32c", CD_ERROR_NONE},
        {"shadow=none,checksum=crc32c", CD_ERROR_NONE},
        {"store=memory,checksum=none", CD_ERROR_NONE},
        {"", CD_ERROR_NONE},
        {"colour=red", CD_ERROR_STORAGE_KEY},
        {"shadow=maybe", CD_ERROR_STORAGE_VALUE},
        {"shadow", CD_ERROR_STORAGE_SYNTAX},
        {"=full", CD_ERROR_STORAGE_SYNTAX},
        {"shadow=full,shadow=none", CD_ERROR_STORAGE_SYNTAX},
        {"redundancy=xor", CD_ERROR_STORAGE_UNSUPPORTED},
        {"redundancy=xor", CD_ERROR_STORAGE_UNSUPPORTED},
        {"track=pages", CD_ERROR_STORAGE_UNSUPPORTED},
    };
    return choices;
}

namespace {

std::string quoted(const char *text) {
    if (text == nullptr) {
        return "NULL";
    }
    const std::string whole = text;
    constexpr size_t most = 60;
    if (whole.size() <= most) {
        return '"' + whole + '"';
    }
    return '"' + whole.substr(0, 3) + "...\" (" + std::to_string(whole.size()) + " bytes)";
}

std::string target_text(const Target &target) {
    switch (target.kind) {
    case Handle::by_id:
        return "cd" + std::to_string(target.id);
    case Handle::current:
        return "CURRENT_CD";
    case Handle::null:
        return "NULL";
    case Handle::foreign:
        return "(cd_handle)&foreign";
    }
    return "?";
}

std::string element_text(const Element &element) {
    std::ostringstream out;
    out << '{';
    switch (element.where) {
    case Where::arena:
        out << "arena+" << element.offset << ", " << element.length;
        break;
    case Where::null:
        out << "NULL, " << element.length;
        break;
    case Where::wraps:
        out << "arena+" << element.offset << ", SIZE_MAX";
        break;
    case Where::to_zero:
        out << "arena+" << element.offset << ", -(size_t)(arena+offset)";
        break;
    }
    out << (element.access == 0 ? ", READ_ONLY" : element.access == 1 ? ", READ_WRITE" : ", bad");
    out << (element.scope == 0 ? ", GLOBAL" : element.scope == 1 ? ", CONSTRAINED" : ", bad");
    out << '}';
    return out.str();
}

std::string list_text(const Step &step) {
    if (step.null_list) {
        return "NULL, " + std::to_string(step.count);
    }
    std::string text = "{";
    for (size_t i = 0; i < step.list.size(); ++i) {
        text += (i == 0 ? "" : ", ") + element_text(step.list[i]);
    }
    return text + "}, " + std::to_string(step.count);
}

std::string descriptor_text(int slot) {
    switch (slot) {
    case negative_descriptor:
        return "-1";
    case unused_descriptor:
        return "unused_fd";
    case pipe_descriptor:
        return "pipe_fd";
    default:
        return "fd" + std::to_string(slot);
    }
}

std::string create_text(const Step &step) {
    static const char *const modes[] = {"DISABLED", "ENABLED", "INHERIT"};
    const std::string mode = step.logging >= 0 && step.logging <= 2
                                 ? modes[step.logging]
                                 : "(mpi_log)" + std::to_string(step.logging);
    return "cd" + std::to_string(step.id) + " = create_cd(" + target_text(step.target) + ", " +
           quoted(storages()[step.storage].text) + ", " + mode + ", " +
           quoted(names()[step.name].text) + ")";
}

std::string restore_text(const Step &step) {
    const char *how = step.failure == RegenFailure::no        ? ""
                      : step.failure == RegenFailure::returns ? " // regen2 returns 1"
                                                              : " // regen2 throws";
    return "restore_cd(" + target_text(step.target) + ")" + how;
}

std::string log_entry_text(const Step &step) {
    if (step.length == null_entry) {
        return "NULL entry";
    }
    return std::to_string(step.length) + " bytes of " + std::to_string(step.value);
}

} // namespace

std::string describe(const Step &step) {
    const std::string cd = target_text(step.target);
    const std::string storage = ", " + quoted(storages()[step.storage].text);
    switch (step.op) {
    case Op::write:
        return "write arena+" + std::to_string(step.offset) + ", " + std::to_string(step.length) +
               " bytes from " + std::to_string(step.value);
    case Op::seek:
        return "lseek(" + descriptor_text(step.slot) + ", " + std::to_string(step.value) + ")";
    case Op::close:
        return "close(" + descriptor_text(step.slot) + ")";
    case Op::open:
        return descriptor_text(step.slot) + " = open(file" + std::to_string(step.file) + ")";
    case Op::create:
        return create_text(step);
    case Op::commit:
        return "commit_cd(" + cd + ")";
    case Op::restore:
        return restore_text(step);
    case Op::advance:
        return "advance_cd_point_in_time(" + cd + ")";
    case Op::add_copy:
        return "add_to_cd_via_copy(" + cd + ", " + list_text(step) + storage + ")";
    case Op::add_parent:
        return "add_to_cd_via_parent(" + cd + ", " + list_text(step) + storage + ")";
    case Op::add_regen:
        return "add_to_cd_via_regen(" + cd + ", " + list_text(step) + storage + ", " +
               (step.regen < 0 ? "NULL" : "regen" + std::to_string(step.regen)) + ")";
    case Op::remove:
        return "delete_from_cd(" + cd + ", " + list_text(step) + ")";
    case Op::add_file:
        return "add_file_to_cd(" + cd + ", " + descriptor_text(step.slot) + ")";
    case Op::delete_file:
        return "delete_file_from_cd(" + cd + ", " + descriptor_text(step.slot) + ")";
    case Op::log_add:
        return "add_MPI_log_to_cd(" + cd + ", " + log_entry_text(step) + ")";
    case Op::log_append:
        return "cd_log_append(" + cd + ", " + log_entry_text(step) + ")";
    case Op::log_get:
        return "get_MPI_log_from_cd(" + cd + ")";
    case Op::log_next:
        return "cd_log_next(" + cd + ")";
    case Op::log_delete:
        return "delete_MPI_log_from_cd(" + cd + ")";
    case Op::verify:
        return "cd_verify(" + cd + ")";
    case Op::query:
        return "cd_query(" + cd + (step.null_list ? ", NULL)" : ", &info)");
    }
    return "?";
}

std::string describe(const std::vector<Step> &program) {
    std::string text;
    for (size_t i = 0; i < program.size(); ++i) {
        text += "  " + std::to_string(i) + ": " + describe(program[i]) + "\n";
    }
    return text;
}

} // namespace model
