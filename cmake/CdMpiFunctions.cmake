# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# cd_mpi_functions(FLAVOUR PARTS SOURCES): from pmpi_logger/functions.def, makes for the MPI at hand
#   <binary dir>/FLAVOUR/functions.inc   the rows of the functions that its mpi.h declares
#   <binary dir>/FLAVOUR/mpi_has.inc     CD_HAS_<function> for each of them
#   <binary dir>/FLAVOUR/exports_<i>.cpp PARTS sources that take them over, Local ones apart
#   <binary dir>/FLAVOUR/fortran.inc     from pmpi_logger/fortran.def, the routines of this MPI, each
#                                        with the row of its C function and the names that it has
# and sets SOURCES to the sources. A row MPI_X also makes rows for MPI_X_c and MPIX_X. What mpi.h
# declares, but for MPI_T, is asked of the compiler, and left in declared.txt for the test of
# completeness.
function(cd_mpi_functions flavour parts sources)
    set(table "${CMAKE_CURRENT_SOURCE_DIR}/functions.def")
    set(directory "${CMAKE_CURRENT_BINARY_DIR}/${flavour}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
    # Open MPI declares its extensions apart.
    file(WRITE "${directory}/mpi_header.c"
        "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n")
    list(TRANSFORM cd_mpi_${flavour}_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
    execute_process(
        COMMAND "${CMAKE_C_COMPILER}" -E -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 ${includes}
            "${directory}/mpi_header.c"
        OUTPUT_VARIABLE header COMMAND_ERROR_IS_FATAL ANY)
    # Not the ends of longer names (PMPI_X, QMPI_X), and not types of functions.
    string(REGEX MATCHALL "[^A-Za-z0-9_]MPIX?_[A-Za-z0-9_]+ *\\([^*Q]" declared "${header}")
    list(TRANSFORM declared REPLACE "^.(MPIX?_[A-Za-z0-9_]+).*$" "\\1")
    list(FILTER declared EXCLUDE REGEX "^MPI_T_")
    list(REMOVE_DUPLICATES declared)
    list(SORT declared)
    list(JOIN declared "\n" text)
    file(WRITE "${directory}/declared.txt" "${text}\n")
    list(TRANSFORM declared REPLACE "(.+)" "#define CD_HAS_\\1 1\n" OUTPUT_VARIABLE defines)
    list(JOIN defines "" defines)
    file(CONFIGURE OUTPUT "${directory}/mpi_has.inc" CONTENT "${defines}" @ONLY)

    file(STRINGS "${table}" rows REGEX "^CD_FUNCTION")
    list(TRANSFORM rows REPLACE "^CD_FUNCTION\\(([A-Za-z0-9_]+),.*$" "\\1" OUTPUT_VARIABLE own_rows)
    set(all "")
    set(number 0)
    foreach(row IN LISTS rows)
        string(REGEX MATCH "^CD_FUNCTION\\((MPIX?_[A-Za-z0-9_]+), *([A-Za-z]+),(.*)$" found "${row}")
        set(name ${CMAKE_MATCH_1})
        set(family ${CMAKE_MATCH_2})
        set(rest "${CMAKE_MATCH_3}")
        string(REGEX REPLACE "^MPI_" "MPIX_" twin ${name})
        set(names ${name} ${name}_c)
        if(NOT twin IN_LIST own_rows)
            list(APPEND names ${twin})
        endif()
        foreach(candidate IN LISTS names)
            if(NOT candidate IN_LIST declared)
                continue()
            endif()
            set(row_${candidate} "${family},${rest}")
            string(APPEND all "CD_FUNCTION(${candidate}, ${family},${rest}\n")
            if(NOT family STREQUAL "Local")
                math(EXPR part "${number} % ${parts}")
                string(APPEND rows_${part} "CD_FUNCTION(${candidate}, ${family},${rest}\n")
                math(EXPR number "${number} + 1")
            endif()
        endforeach()
    endforeach()
    file(CONFIGURE OUTPUT "${directory}/functions.inc" CONTENT "${all}" @ONLY)
    _cd_fortran_routines(${flavour} routines)
    file(CONFIGURE OUTPUT "${directory}/fortran.inc" CONTENT "${routines}" @ONLY)
    set(made)
    math(EXPR last "${parts} - 1")
    foreach(part RANGE ${last})
        set(part_rows "exports_${part}.inc")
        file(CONFIGURE OUTPUT "${directory}/${part_rows}" CONTENT "${rows_${part}}" @ONLY)
        configure_file(intercept/exports.cpp.in "${directory}/exports_${part}.cpp" @ONLY)
        list(APPEND made "${directory}/exports_${part}.cpp")
    endforeach()
    set(${sources} ${made} PARENT_SCOPE)
endfunction()

# The text of fortran.inc, by row_<C function> of the caller.
function(_cd_fortran_routines flavour text)
    set(table "${CMAKE_CURRENT_SOURCE_DIR}/fortran.def")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
    file(STRINGS "${table}" rows REGEX "^CD_ROUTINE")
    set(made "")
    foreach(row IN LISTS rows)
        if(NOT row MATCHES "^CD_ROUTINE\\((MPI_([A-Za-z_]+)), *([A-Za-z_<>]+), *(every|openmpi), *(all|old)\\)$")
            message(FATAL_ERROR "${table}: what is ${row}?")
        endif()
        set(name ${CMAKE_MATCH_1})
        string(TOLOWER ${CMAKE_MATCH_2} lower)
        string(TOUPPER ${CMAKE_MATCH_2} upper)
        set(arguments ${CMAKE_MATCH_3})
        set(where ${CMAKE_MATCH_4})
        set(interfaces ${CMAKE_MATCH_5})
        if(NOT DEFINED row_${name} OR NOT where MATCHES "every|${flavour}")
            continue()
        endif()
        string(APPEND made "CD_ROUTINE(${name}, ${arguments}, ${row_${name}}\n")
        set(names)
        foreach(prefix mpi pmpi) # as compilers append underscores, or write capitals
            string(TOUPPER ${prefix} capitals)
            list(APPEND names ${prefix}_${lower}_ ${prefix}_${lower}__ ${prefix}_${lower} ${capitals}_${upper})
        endforeach()
        # What mpi_f08 calls.
        if(flavour STREQUAL "openmpi")
            list(APPEND names ompi_${lower}_f)
        elseif(interfaces STREQUAL "all")
            list(APPEND names mpi_${lower}_f08_ pmpir_${lower}_f08_)
        endif()
        foreach(called IN LISTS names)
            string(APPEND made "CD_ROUTINE_NAME(${name}, ${called})\n")
        endforeach()
    endforeach()
    set(${text} "${made}" PARENT_SCOPE)
endfunction()
