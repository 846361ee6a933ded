# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

find_program(PYTHON3 python3)
mark_as_advanced(PYTHON3)

# cd_add_python_test(NAME LABELS SCRIPT [ARGS...]): a script of the folder, or one with a whole path.
function(cd_add_python_test name labels script)
    if(NOT PYTHON3)
        message(STATUS "${name}: skipped: there is no python3")
        return()
    endif()
    cmake_path(ABSOLUTE_PATH script)
    add_test(NAME ${name} COMMAND "${PYTHON3}" "${script}" ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 200)
endfunction()
