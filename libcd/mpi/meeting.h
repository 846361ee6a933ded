// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/mpi_exchange.h"

#include <memory>
#include <string_view>
#include <vector>

namespace cd::mpi {

// All ranks of whole call it; those with the same color meet in exchange, in the order of their
// keys, and get the same outcome, which may not be that of others. Does not throw.
Status make_exchange(MPI_Comm whole, int color, int key, std::unique_ptr<MpiExchange> &exchange);

// What everybody tells, unless somebody fails. Does not throw.
Status gather_all(MpiExchange &all, Status own, std::string_view tells,
                  std::vector<redset::Bytes> &told);

// What was told, as long as the bytes live.
std::string_view view_of(const redset::Bytes &bytes);

} // namespace cd::mpi
