# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Finds the LZ4 compression library.
include(CdFindLibrary)
cd_find_library(LZ4 lz4.h lz4)
