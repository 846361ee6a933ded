# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# What has many sources spends a third of the time to compile on the same headers: once for all of
# them takes as long as for three or four. Off by default, so that a source that forgets to include
# something is seen by who looks (./dev lint); what is compiled is the same either way.
option(CD_PRECOMPILE_HEADERS "Compile in less time: headers once for many sources, more memory" OFF)

# GCC frees memory again and again, which takes one part in twenty of its time.
if(CD_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-expand=1000;--param=ggc-min-heapsize=1048576>")
endif()

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
