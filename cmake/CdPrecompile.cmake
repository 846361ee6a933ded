# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# A third of the time to compile goes into the same standard headers. Off by default, so that a
# source that forgets to include something is seen by who looks (./dev lint); what is compiled is
# the same either way.
option(CD_PRECOMPILE_HEADERS "Compile standard headers once for each library" OFF)

# cd_precompile(TARGET [HEADER...]): the standard headers that most of its sources have, and these.
function(cd_precompile target)
    if(CD_PRECOMPILE_HEADERS)
        target_precompile_headers(${target} PRIVATE
            <algorithm> <array> <atomic> <cstdint> <cstring> <functional> <map> <memory> <mutex>
            <optional> <set> <span> <string> <string_view> <thread> <tuple> <utility> <vector> ${ARGN})
        # GCC forgets that these headers are the system's, and tells what it suspects in them.
        target_compile_options(${target} PRIVATE
            $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
    endif()
endfunction()
