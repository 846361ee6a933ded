// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/held_point.h"

#include "file_store/image.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

namespace cd {
namespace {

// Removes a file that did not become what it should.
class Unfinished {
public:
    explicit Unfinished(const std::string &path) : path_(path) {}
    Unfinished(const Unfinished &) = delete;
    Unfinished &operator=(const Unfinished &) = delete;
    ~Unfinished() {
        if (!finished_) {
            os::system().unlink_at(AT_FDCWD, path_.c_str());
        }
    }
    void finish() { finished_ = true; }

private:
    const std::string &path_;
    bool finished_ = false;
};

} // namespace

HeldPoint::HeldPoint(std::shared_ptr<FileStore> store, std::vector<Piece> data)
    : store_(std::move(store)), metadata_(store_->hold_metadata()), data_(std::move(data)) {}

Status HeldPoint::write_image(const std::string &path) const {
    const File &source = store_->volume().file();
    const Superblock &header = metadata_.generation->header;
    State state;
    if (Status status = load_again(source, header, metadata_.records, state); !status) {
        return status;
    }
    constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    File image(os::system().open_at(AT_FDCWD, path.c_str(), flags, S_IRUSR | S_IWUSR), path);
    if (!image.is_open()) {
        return image.refused("create the file");
    }
    Unfinished unfinished(path);
    Status status = cd::write_image(source, header, std::move(state), image);
    if (status.is_ok() && store_->forces()) {
        status = image.sync_all();
    }
    if (status.is_ok()) {
        status = image.close();
    }
    if (status.is_ok()) {
        unfinished.finish();
    }
    return status;
}

} // namespace cd
