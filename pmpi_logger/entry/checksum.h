// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "store/crc32c.h"

#include <cstddef>
#include <cstdint>

namespace cd::logger {

// Of what is sent, and of strings: told apart from other contents, not protected from forgery.
inline uint32_t checksum(const void *data, size_t size, uint32_t so_far = 0) {
    return crc32c(so_far, data, size);
}

} // namespace cd::logger
