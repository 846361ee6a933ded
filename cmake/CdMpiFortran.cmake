# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# cd_mpi_fortran_executable(NAME FLAVOUR SOURCE): a Fortran program that uses the module and the
# logger of FLAVOUR, compiled by MPI's own wrapper, which has to wrap the compiler that the module is for.
# Sets CD_MPI_FORTRAN_<FLAVOUR> to the wrapper, or to FALSE where there is none and no program is built.
function(cd_mpi_fortran_executable name flavour source)
    set(CD_MPI_FORTRAN_${flavour} ${CD_MPIF90_${flavour}} PARENT_SCOPE)
    if(NOT CD_MPIF90_${flavour})
        message(STATUS "${source}: skipped for ${flavour}: it has no mpif90")
        return()
    endif()
    set(program "${CMAKE_CURRENT_BINARY_DIR}/${name}_${flavour}")
    set(modules "${CMAKE_CURRENT_BINARY_DIR}/${name}_${flavour}_modules")
    file(MAKE_DIRECTORY "${modules}")
    # The logger comes before MPI, whose functions it takes over; the wrapper names MPI last.
    set(libraries pmpi_logger_${flavour} cd_fortran cd)
    list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
    list(TRANSFORM libraries REPLACE "(.+)" "-Wl,-rpath,$<TARGET_FILE_DIR:\\1>" OUTPUT_VARIABLE rpaths)
    add_custom_command(OUTPUT "${program}"
        COMMAND ${CD_MPIF90_${flavour}} -O2 -Wall -Wextra
            -I "${PROJECT_BINARY_DIR}/fortran/modules" -J "${modules}"
            "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${program}"
            -Wl,--no-as-needed ${files} ${rpaths}
        DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" ${libraries}
        VERBATIM)
    add_custom_target(build_${name}_${flavour} ALL DEPENDS "${program}")
endfunction()
