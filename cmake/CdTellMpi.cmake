# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Every flavour of MPI has a logger and a libcd_mpi of its own.
set(CD_MPI_ALL_FLAVOURS openmpi mpich)

# cd_tell_mpi(FLAVOUR NAME COMPILER INCLUDE_DIRS...): asks mpi.h for its flavour, and for its name with the version.
# Both are empty if there is no mpi.h, or if it is of an unknown MPI. MPIs that are compatible with MPICH have its flavour.
function(cd_tell_mpi flavour name compiler)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cd_which_mpi.c")
    file(WRITE "${source}" "#include <mpi.h>
#if defined(OPEN_MPI)
cd_mpi openmpi 'Open MPI' OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#elif defined(CRAY_MPICH_VERSION)
cd_mpi mpich 'Cray MPICH' CRAY_MPICH_VERSION
#elif defined(I_MPI_VERSION)
cd_mpi mpich 'Intel MPI' I_MPI_VERSION
#elif defined(MVAPICH2_VERSION)
cd_mpi mpich 'MVAPICH2' MVAPICH2_VERSION
#elif defined(MVAPICH_VERSION)
cd_mpi mpich 'MVAPICH' MVAPICH_VERSION
#elif defined(MPICH_VERSION)
cd_mpi mpich 'MPICH' MPICH_VERSION
#elif defined(MPI_ABI_VERSION)
cd_mpi abi 'MPI ABI' MPI_ABI_VERSION.MPI_ABI_SUBVERSION
#endif
")
    list(TRANSFORM ARGN PREPEND -I OUTPUT_VARIABLE includes)
    execute_process(COMMAND ${compiler} -E ${includes} "${source}"
        OUTPUT_VARIABLE preprocessed ERROR_QUIET)
    set(${flavour} "" PARENT_SCOPE)
    set(${name} "" PARENT_SCOPE)
    if(preprocessed MATCHES "\ncd_mpi ([a-z]+) '([^']+)' ([^\n]+)\n")
        set(${flavour} ${CMAKE_MATCH_1} PARENT_SCOPE)
        set(told "${CMAKE_MATCH_2}")
        string(REGEX REPLACE "[\" ]" "" version "${CMAKE_MATCH_3}")
        set(${name} "${told} ${version}" PARENT_SCOPE)
    endif()
endfunction()
