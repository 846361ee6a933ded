# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# cd_mpi_executable(NAME FLAVOUR SOURCE...): a test program NAME_FLAVOUR for one MPI.
function(cd_mpi_executable name flavour)
    set(target ${name}_${flavour})
    add_executable(${target} ${ARGN})
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
    # MPI's macros cast in the old way.
    target_compile_options(${target} PRIVATE -Wno-cast-function-type)
    target_link_libraries(${target} PRIVATE ContainmentDomains::cd cd_mpi_${flavour})
    add_dependencies(${target} pmpi_logger_${flavour})
endfunction()

# cd_mpi_command(VARIABLE FLAVOUR RANKS ENVIRONMENT): how to run what follows on so many ranks, in
# an environment with NAME=VALUE.
function(cd_mpi_command variable flavour ranks environment)
    if(flavour STREQUAL "openmpi")
        set(command ${CMAKE_COMMAND} -E env
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
            ${CD_MPIRUN_openmpi} --oversubscribe --mca mpi_yield_when_idle 1 -n ${ranks})
    else()
        set(command ${CD_MPIRUN_mpich} -n ${ranks})
    endif()
    set(${variable} ${command} env ${environment} PARENT_SCOPE)
endfunction()

# cd_flavours_in_turn(VARIABLE NAMES NAME): the MPIs that a scenario runs on in which MPI decides nothing: one of them, the
# next in NAMES on the next; with CD_TEST_LONG all.
function(cd_flavours_in_turn variable names name)
    set(${variable} ${CD_MPI_FLAVOURS} PARENT_SCOPE)
    if(CD_TEST_LONG)
        return()
    endif()
    list(FIND names ${name} index)
    list(LENGTH CD_MPI_FLAVOURS count)
    math(EXPR index "${index} % ${count}")
    list(GET CD_MPI_FLAVOURS ${index} flavour)
    set(${variable} ${flavour} PARENT_SCOPE)
endfunction()

# cd_add_mpi_test(NAME FLAVOUR RANKS COMMAND...): the test NAME.FLAVOUR, with the logger. A short one
# spends half of its time in the launcher, which waits: it leaves the other processors to others.
function(cd_add_mpi_test name flavour ranks)
    cd_mpi_command(launch ${flavour} ${ranks}
        "LD_PRELOAD=$<TARGET_FILE:pmpi_logger_${flavour}>")
    add_test(NAME ${name}.${flavour} COMMAND ${launch} ${ARGN})
    set_tests_properties(${name}.${flavour} PROPERTIES LABELS mpi TIMEOUT 60)
endfunction()
