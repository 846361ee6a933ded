// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>

namespace cd::scenarios {

// Where the buffers of an execution lie. As in a program whose memory is restored, they stay there
// when it is interrupted, and a re-execution has them at the same addresses; or elsewhere, as in a
// program that allocates them anew.
enum class Place { here, elsewhere };

// Frees all of the place. New buffers will be there.
void begin_arena(Place place);

unsigned char *take_from_arena(size_t size);

} // namespace cd::scenarios
