# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Finds Intel's ISA-L.
include(CdFindLibrary)
cd_find_library(ISAL isa-l/crc.h isal)
