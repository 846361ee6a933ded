# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Which MPIs are on this machine. Sets CD_MPI_FLAVOURS, and for each flavour imports the target
# cd_mpi_<flavour>, which gives headers and library, and sets CD_MPIRUN_<flavour>.
# CD_MPI=AUTO takes what is there, OFF takes none, and a list of flavours demands these.

set(CD_MPI AUTO CACHE STRING "MPI implementations to build for: AUTO, OFF, or openmpi;mpich")
set(CD_MPI_FLAVOURS)
set(pkg_config_name_openmpi ompi-c)
set(pkg_config_name_mpich mpich)
if(NOT CD_MPI STREQUAL "OFF")
    find_package(PkgConfig QUIET)
    foreach(flavour openmpi mpich)
        if(NOT CD_MPI STREQUAL "AUTO" AND NOT flavour IN_LIST CD_MPI)
            continue()
        endif()
        if(PKG_CONFIG_FOUND)
            pkg_check_modules(cd_mpi_${flavour} QUIET IMPORTED_TARGET
                ${pkg_config_name_${flavour}})
        endif()
        find_program(CD_MPIRUN_${flavour} mpirun.${flavour})
        if(cd_mpi_${flavour}_FOUND AND CD_MPIRUN_${flavour})
            list(APPEND CD_MPI_FLAVOURS ${flavour})
            add_library(cd_mpi_${flavour} INTERFACE)
            target_link_libraries(cd_mpi_${flavour} INTERFACE PkgConfig::cd_mpi_${flavour})
        elseif(NOT CD_MPI STREQUAL "AUTO")
            message(FATAL_ERROR "CD_MPI=${CD_MPI}, but ${flavour} was not found")
        endif()
    endforeach()
endif()
message(STATUS "MPI: ${CD_MPI_FLAVOURS}")
