// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "doubts.h"

#include "redset/scheme_name.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace cdctl {
namespace {

namespace fs = std::filesystem;
using cd::redset::Descriptors;
using cd::redset::FoundSet;
using cd::redset::Place;
using cd::redset::Survey;

// Descriptors and checksums take no data to be written again.
bool brings_back_data(const Survey &survey) {
    return std::ranges::any_of(survey.members,
                               [](const auto &member) { return member.lost().any(); });
}

bool is_below(const fs::path &path, const fs::path &directory) {
    return std::ranges::mismatch(directory, path).in1 == directory.end();
}

// Whether a scheme file has the name of one of the same division, in a directory with the name of
// one that has some of the set.
bool is_of_its_division(const fs::path &file, const FoundSet &found) {
    const std::string base = file.filename().string();
    const auto name = cd::redset::scheme_name_of(base);
    const std::string &path = found.places.front().prefix;
    const std::string prefix = path.substr(path.rfind('/') + 1);
    return name && name->scheme == found.set.shape.scheme && name->groups == found.set.groups &&
           name->prefix_and_rank.starts_with(prefix) &&
           name->prefix_and_rank.find_first_not_of("0123456789", prefix.size()) ==
               std::string_view::npos &&
           std::ranges::any_of(found.found, [&](const std::string &own) {
               return fs::path(own).parent_path().filename() == file.parent_path().filename();
           });
}

std::string may_be_newer(const Descriptors::OfAnother &other, const std::string &file) {
    const auto &[shape, group, groups, member, rank, job_ranks] = other.descriptor;
    return other.path + " tells of set " + std::to_string(group + 1) + " of " +
           std::to_string(groups) + " (" + describe_shape(shape) +
           "), of which no scheme file was found, and " + file +
           " is not there as this set tells: it may be newer, or have been, so that nothing of "
           "this set was brought back. If this set counts all the same, move descriptors such as "
           "that one away";
}

} // namespace

Doubts::Doubts(const std::vector<const FoundSet *> &sets, const cd::redset::Search &search,
               bool by_size)
    : unusable_(search.unusable_alone), by_size_(by_size), rivals_(sets, outlook_),
      descriptors_(sets, search.descriptors) {}

bool Doubts::any_other_tells(const FoundSet &found) const {
    return !unusable_.empty() || !descriptors_.beside(found).empty() ||
           !descriptors_.alone_near(found).empty() || descriptors_.of_another(found) ||
           rivals_.has_rivals(found);
}

std::string Doubts::why_left(const FoundSet &found, const Survey &survey) {
    if (!brings_back_data(survey)) {
        return "";
    }
    std::string why = rivals_.why_undecided(found);
    why = why.empty() ? by_scheme_files(found, survey) : why;
    why = why.empty() ? by_descriptors(found) : why;
    why = why.empty() ? by_descriptors_of_newer_files(found, survey) : why;
    why = why.empty() ? by_unusable(found) : why;
    return why.empty() ? by_sources(found, survey) : why;
}

std::string Doubts::by_scheme_files(const FoundSet &found, const Survey &survey) {
    for (int member = 0; member < found.set.shape.members; ++member) {
        const FoundSet *other = rivals_.in_place_of(found, member);
        if (survey.lost(member).payload && other != nullptr) {
            return found.places[cd::redset::index(member)].scheme_file(found.set, member) +
                   " is that of another set, " + cd::redset::describe_set(*other) +
                   cd::redset::Rivals::remedy;
        }
    }
    return "";
}

std::string Doubts::by_descriptors(const FoundSet &found) {
    const auto newer = descriptors_.of_another(found);
    const std::string file = newer ? file_not_as_told(found) : "";
    return file.empty() ? "" : may_be_newer(*newer, file);
}

// What is told of may be older, as where a program was killed while it took that back. So it
// matters only for what would be written over.
std::string Doubts::by_descriptors_of_newer_files(const FoundSet &found, const Survey &survey) {
    const std::string file = outlook_.newer_file(found, survey);
    if (file.empty()) {
        return "";
    }
    const auto time = outlook_.first_written(found);
    const auto others = descriptors_.alone_near(found);
    const auto newer = std::ranges::find_if(others, [&](const Descriptors::OfAnother *other) {
        return !time || !outlook_.is_older(other->path, *time);
    });
    return newer == others.end() ? "" : may_be_newer(**newer, file);
}

std::string Doubts::by_unusable(const FoundSet &found) {
    const auto other = std::ranges::find_if(
        unusable_, [&](const std::string &path) { return may_tell_of_files_of(path, found); });
    const std::string file = other == unusable_.end() ? "" : file_not_as_told(found);
    return file.empty() ? ""
                        : file + " is not there as this set tells, and " + *other +
                              ", which may have told of it, cannot be read, so that nothing of "
                              "this set was brought back. If this set counts all the same, move "
                              "that file away";
}

// What is in a directory may be of files that are taken from one above it.
bool Doubts::may_tell_of_files_of(const std::string &scheme_file, const FoundSet &found) {
    const std::string path = paths_.of(scheme_file);
    return !is_of_its_division(scheme_file, found) &&
           std::ranges::any_of(found.places, [&](const Place &place) {
               return is_below(path, fs::path(paths_.of(place.path("."))).parent_path());
           });
}

std::string Doubts::file_not_as_told(const FoundSet &found) {
    return outlook_.file_not_as_told(found, [](int) { return true; });
}

std::string Doubts::by_sources(const FoundSet &found, const Survey &survey) {
    const std::string file =
        survey.checksums || by_size_ ? "" : outlook_.file_of_another_time(found, survey);
    return file.empty() ? ""
                        : file + " has another time than this set tells, and that size or more, "
                                 "where other files have both: it may have been written to since, "
                                 "so that nothing of this set was brought back. If all files with "
                                 "the right size are as they were, and others do not count, say so "
                                 "with --by-size";
}

} // namespace cdctl
