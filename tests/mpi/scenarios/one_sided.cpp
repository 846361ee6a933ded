// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// One-sided communication, which a CD that logs refuses.

#include "harness/scenario.h"

namespace {

using namespace cd::scenarios;

#define REFUSED(name, ...) REFUSAL(name, SIZED(MPI_##name), __VA_ARGS__)
#define REFUSED_IN_ONE_FORM(name, ...) REFUSAL(name, MPI_##name, __VA_ARGS__)

REFUSED(Accumulate, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_SUM, MPI_WIN_NULL)
REFUSED(Get, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_WIN_NULL)
REFUSED(Get_accumulate, nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_SUM,
        MPI_WIN_NULL)
REFUSED(Put, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_WIN_NULL)
REFUSED(Raccumulate, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_SUM, MPI_WIN_NULL, nullptr)
REFUSED(Rget, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_WIN_NULL, nullptr)
REFUSED(Rget_accumulate, nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_SUM,
        MPI_WIN_NULL, nullptr)
REFUSED(Rput, nullptr, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_WIN_NULL, nullptr)
REFUSED(Win_allocate, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr, nullptr)
REFUSED(Win_allocate_shared, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr, nullptr)
REFUSED(Win_create, nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr)

#ifndef CD_LARGE_COUNTS
REFUSED_IN_ONE_FORM(Compare_and_swap, nullptr, nullptr, nullptr, MPI_INT, 0, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Fetch_and_op, nullptr, nullptr, MPI_INT, 0, 0, MPI_SUM, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_attach, MPI_WIN_NULL, nullptr, 0)
REFUSED_IN_ONE_FORM(Win_complete, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_create_dynamic, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr)
REFUSED_IN_ONE_FORM(Win_detach, MPI_WIN_NULL, nullptr)
REFUSED_IN_ONE_FORM(Win_fence, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_flush, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_flush_all, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_flush_local, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_flush_local_all, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_free, nullptr)
REFUSED_IN_ONE_FORM(Win_lock, 0, 0, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_lock_all, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_post, MPI_GROUP_NULL, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_start, MPI_GROUP_NULL, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_sync, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_test, MPI_WIN_NULL, nullptr)
REFUSED_IN_ONE_FORM(Win_unlock, 0, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_unlock_all, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_wait, MPI_WIN_NULL)
REFUSED_IN_ONE_FORM(Win_set_info, MPI_WIN_NULL, MPI_INFO_NULL)
#endif

} // namespace
