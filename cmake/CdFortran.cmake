# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Whether there is a Fortran compiler that the module can be built with. Sets CD_FORTRAN_FOUND, and
# CD_FORTRAN_BINDING_H to the compiler's ISO_Fortran_binding.h.
# CD_FORTRAN=AUTO takes what is there, OFF builds no module, and ON demands it.
include(CheckLanguage)

set(CD_FORTRAN AUTO CACHE STRING "Build the Fortran module: AUTO, ON or OFF")
set_property(CACHE CD_FORTRAN PROPERTY STRINGS AUTO ON OFF)
set(CD_FORTRAN_FOUND FALSE)
set(cd_fortran_reason "CD_FORTRAN=OFF")
if(NOT CD_FORTRAN STREQUAL "OFF")
    check_language(Fortran)
    set(cd_fortran_reason "there is no Fortran compiler")
    if(CMAKE_Fortran_COMPILER)
        enable_language(Fortran)
        # The header describes variables as this compiler does; the C compiler may be another's.
        execute_process(
            COMMAND "${CMAKE_Fortran_COMPILER}" -print-file-name=include
            OUTPUT_VARIABLE cd_fortran_includes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        get_filename_component(cd_fortran_home "${CMAKE_Fortran_COMPILER}" REALPATH)
        get_filename_component(cd_fortran_home "${cd_fortran_home}" DIRECTORY)
        find_file(CD_FORTRAN_BINDING_H ISO_Fortran_binding.h
            PATHS "${cd_fortran_includes}" "${cd_fortran_home}/../include/flang"
            NO_DEFAULT_PATH)
        mark_as_advanced(CD_FORTRAN_BINDING_H)
        if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU" AND CMAKE_Fortran_COMPILER_VERSION VERSION_LESS 12)
            set(cd_fortran_reason "GNU Fortran before 12 does not describe all variables rightly to C")
        elseif(NOT CD_FORTRAN_BINDING_H)
            set(cd_fortran_reason "${CMAKE_Fortran_COMPILER} has no ISO_Fortran_binding.h")
        else()
            set(CD_FORTRAN_FOUND TRUE)
        endif()
    endif()
endif()
if(CD_FORTRAN_FOUND)
    message(STATUS "Fortran module: for ${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
elseif(CD_FORTRAN STREQUAL "ON")
    message(FATAL_ERROR "CD_FORTRAN=ON, but ${cd_fortran_reason}")
else()
    message(STATUS "Fortran module: not built: ${cd_fortran_reason}")
endif()
