# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Defines ContainmentDomains::pmpi_logger and ContainmentDomains::cd_mpi: of those that there are,
# the ones for the MPI that the including project compiles with, be it by find_package(MPI) or by a
# compiler that brings it. Where that cannot be told, the only one; of several none, and the project
# names one itself.

function(_cd_flavour_of_mpi result)
    set(${result} "" PARENT_SCOPE)
    set(mpi_h "#include <mpi.h>\n#ifdef OPEN_MPI\ncd_openmpi\n#elif defined(MPICH_VERSION)\ncd_mpich\n#endif\n")
    foreach(language C CXX)
        if(NOT CMAKE_${language}_COMPILER)
            continue()
        endif()
        set(source "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cd_which_mpi.c")
        file(WRITE "${source}" "${mpi_h}")
        list(TRANSFORM MPI_${language}_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
        execute_process(
            COMMAND ${CMAKE_${language}_COMPILER} -E ${includes} "${source}"
            OUTPUT_VARIABLE preprocessed ERROR_QUIET)
        if(preprocessed MATCHES "\ncd_(openmpi|mpich)\n")
            set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

function(_cd_define_targets_for_mpi)
    set(present)
    foreach(flavour openmpi mpich)
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
