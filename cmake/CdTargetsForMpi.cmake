# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Defines ContainmentDomains::pmpi_logger and ContainmentDomains::cd_mpi: of those that there are,
# the ones for the MPI that the including project compiles with, be it by find_package(MPI) or by a
# compiler that brings it. Where that cannot be told, the only one; of several none, and the project
# names one itself.

include("${CMAKE_CURRENT_LIST_DIR}/CdTellMpi.cmake")

function(_cd_flavour_of_mpi result)
    set(${result} "" PARENT_SCOPE)
    foreach(language C CXX)
        if(CMAKE_${language}_COMPILER)
            cd_tell_mpi(flavour name "${CMAKE_${language}_COMPILER}" ${MPI_${language}_INCLUDE_DIRS})
            if(flavour)
                set(${result} ${flavour} PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
endfunction()

function(_cd_define_targets_for_mpi)
    set(present)
    foreach(flavour IN LISTS CD_MPI_ALL_FLAVOURS)
        if(TARGET ContainmentDomains::pmpi_logger_${flavour})
            list(APPEND present ${flavour})
        endif()
    endforeach()
    _cd_flavour_of_mpi(wanted)
    list(LENGTH present count)
    if(NOT wanted AND count EQUAL 1)
        set(wanted ${present})
    endif()
    if(wanted IN_LIST present)
        foreach(target pmpi_logger cd_mpi)
            add_library(ContainmentDomains::${target} INTERFACE IMPORTED GLOBAL)
            target_link_libraries(ContainmentDomains::${target}
                INTERFACE ContainmentDomains::${target}_${wanted})
        endforeach()
    endif()
endfunction()

if(NOT TARGET ContainmentDomains::pmpi_logger)
    _cd_define_targets_for_mpi()
endif()
