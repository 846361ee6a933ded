// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/kvtree_file.h"

#include "base/isa_l.h"
#include "file_store/file.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cd::redset {

namespace {

constexpr std::array<uint32_t, 256> make_table() {
    constexpr uint32_t reversed_polynomial = 0xEDB88320;
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < table.size(); ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? reversed_polynomial : 0);
        }
        table[byte] = crc;
    }
    return table;
}

constexpr std::array<uint32_t, 256> table = make_table();

} // namespace

uint32_t crc32_portable(std::span<const std::byte> data) noexcept {
    uint32_t crc = 0xFFFFFFFF;
    for (const std::byte byte : data) {
        crc = (crc >> 8) ^ table[(crc ^ std::to_integer<uint32_t>(byte)) & 0xFF];
    }
    return ~crc;
}

uint32_t crc32(std::span<const std::byte> data) noexcept {
#ifdef CD_HAVE_ISAL
    return isa_l::crc32(data.data(), data.size());
#else
    return crc32_portable(data);
#endif
}

namespace {

// All integers are big-endian.
constexpr uint32_t magic = 0x951fc3f5;
constexpr uint16_t file_type = 1;
constexpr uint16_t version = 1;
constexpr uint32_t with_crc = 1;
constexpr size_t header_size = 20;
constexpr size_t crc_size = 4;
constexpr size_t smallest_element = 5; // the end of an empty key, and a count

template <typename Integer> void put(std::vector<std::byte> &bytes, Integer value) {
    for (size_t i = sizeof value; i-- > 0;) {
        bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
}

template <typename Integer> Integer get(std::span<const std::byte> bytes, size_t at) {
    uint64_t value = 0;
    for (const std::byte byte : bytes.subspan(at, sizeof(Integer))) {
        value = value << 8 | std::to_integer<uint64_t>(byte);
    }
    return static_cast<Integer>(value);
}

void pack(const KvTree &tree, std::vector<std::byte> &bytes) {
    put(bytes, static_cast<uint32_t>(tree.elements().size()));
    for (const auto &[key, below] : tree.elements()) {
        const auto *text = reinterpret_cast<const std::byte *>(key.c_str());
        bytes.insert(bytes.end(), text, text + key.size() + 1);
        pack(below, bytes);
    }
}

class Unpacker {
public:
    Unpacker(std::span<const std::byte> bytes, size_t at, const char *file)
        : bytes_(bytes), at_(at), file_(file) {}

    Status tree(KvTree &into, int depth) {
        if (depth > deepest_tree) {
            return damaged("the tree is deeper than any that redset writes");
        }
        if (left() < sizeof(uint32_t)) {
            return damaged("the tree ends before the number of its elements");
        }
        const auto count = get<uint32_t>(bytes_, at_);
        if (count > (left() - sizeof count) / smallest_element) {
            return damaged("there is no room for as many elements as the tree names");
        }
        at_ += sizeof count;
        for (uint32_t i = 0; i < count; ++i) {
            if (Status status = element(into, depth); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status end() const {
        return left() == 0 ? Status::ok() : damaged("bytes follow the end of the tree");
    }

private:
    Status element(KvTree &into, int depth) {
        const auto *key = reinterpret_cast<const char *>(bytes_.data() + at_);
        const size_t length = strnlen(key, left());
        if (length == left()) {
            return damaged("a key does not end");
        }
        at_ += length + 1;
        return tree(into.add({key, length}), depth + 1);
    }

    size_t left() const { return bytes_.size() - at_; }
    Status damaged(const char *what) const {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: at offset %zu %s", file_, at_, what);
    }

    std::span<const std::byte> bytes_;
    size_t at_;
    const char *file_;
};

// Checks the image's header and length before anything else is read.
Status read_header(std::span<const std::byte> bytes, const char *file, uint64_t &size) {
    if (bytes.size() < header_size) {
        return fail(CD_ERROR_STORE_DAMAGED,
                    "%s: the file ends at offset %zu, inside the header of %zu bytes", file,
                    bytes.size(), header_size);
    }
    if (get<uint32_t>(bytes, 0) != magic) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: at offset 0 is 0x%08x; a file of redset has 0x%x",
                    file, get<uint32_t>(bytes, 0), magic);
    }
    if (get<uint16_t>(bytes, 4) != file_type || get<uint16_t>(bytes, 6) != version) {
        return fail(CD_ERROR_STORE_VERSION,
                    "%s: at offset 4 is type %d, version %d; known is type %d, version %d", file,
                    get<uint16_t>(bytes, 4), get<uint16_t>(bytes, 6), file_type, version);
    }
    const auto named = get<uint64_t>(bytes, 8);
    if (named < header_size + sizeof(uint32_t) || named > largest_image) {
        return fail(CD_ERROR_STORE_DAMAGED,
                    "%s: the length at offset 8 is %llu, which no header has", file,
                    static_cast<unsigned long long>(named));
    }
    size = named;
    return Status::ok();
}

} // namespace

Status encode_image(const KvTree &tree, const char *file, std::vector<std::byte> &image) {
    std::vector<std::byte> packed;
    pack(tree, packed);
    const uint64_t size = header_size + packed.size() + crc_size;
    if (size > largest_image) {
        return fail(CD_ERROR_ARGUMENT,
                    "%s: the header would take %llu bytes, %llu are allowed; store fewer files at "
                    "a time",
                    file, static_cast<unsigned long long>(size),
                    static_cast<unsigned long long>(largest_image));
    }
    image.clear();
    image.reserve(size);
    put(image, magic);
    put(image, file_type);
    put(image, version);
    put(image, size);
    put(image, with_crc);
    image.insert(image.end(), packed.begin(), packed.end());
    put(image, crc32(image));
    return Status::ok();
}

Status decode_image(std::span<const std::byte> bytes, const char *file, KvTree &tree,
                    uint64_t &size) {
    uint64_t named = 0;
    if (Status status = read_header(bytes, file, named); !status) {
        return status;
    }
    if (named > bytes.size()) {
        return fail(CD_ERROR_STORE_DAMAGED,
                    "%s: the file ends at offset %zu, inside the header of %llu bytes", file,
                    bytes.size(), static_cast<unsigned long long>(named));
    }
    std::span<const std::byte> packed = bytes.first(named);
    if ((get<uint32_t>(bytes, 16) & with_crc) != 0) {
        packed = packed.first(packed.size() - crc_size);
        const auto recorded = get<uint32_t>(bytes, packed.size());
        if (const uint32_t found = crc32(packed); found != recorded) {
            return fail(CD_ERROR_STORE_DAMAGED,
                        "%s: the checksum at offset %zu is 0x%08x, that of the header 0x%08x", file,
                        packed.size(), recorded, found);
        }
    }
    KvTree read;
    Unpacker unpacker(packed, header_size, file);
    if (Status status = unpacker.tree(read, 1); !status) {
        return status;
    }
    if (Status status = unpacker.end(); !status) {
        return status;
    }
    tree = std::move(read);
    size = named;
    return Status::ok();
}

Status read_image(const File &file, KvTree &tree, uint64_t &size) {
    uint64_t available = 0;
    if (Status status = file.size(available); !status) {
        return status;
    }
    std::vector<std::byte> bytes(std::min<uint64_t>(available, header_size));
    if (Status status = file.read(0, bytes.data(), bytes.size()); !status) {
        return status;
    }
    uint64_t named = 0;
    if (Status status = read_header(bytes, file.path(), named); !status) {
        return status;
    }
    bytes.resize(std::min(available, named));
    if (Status status =
            file.read(header_size, bytes.data() + header_size, bytes.size() - header_size);
        !status) {
        return status;
    }
    return decode_image(bytes, file.path(), tree, size);
}

} // namespace cd::redset
