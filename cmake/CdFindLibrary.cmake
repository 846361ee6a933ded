# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

include(FindPackageHandleStandardArgs)

# cd_find_library(NAME HEADER LIBRARY): for a find module; defines NAME_FOUND and the target
# NAME::LIBRARY.
macro(cd_find_library name header library)
    find_path(${name}_INCLUDE_DIR ${header})
    find_library(${name}_LIBRARY ${library})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    find_package_handle_standard_args(${name} REQUIRED_VARS ${name}_LIBRARY ${name}_INCLUDE_DIR)

    if(${name}_FOUND AND NOT TARGET ${name}::${library})
        add_library(${name}::${library} UNKNOWN IMPORTED)
        set_target_properties(${name}::${library} PROPERTIES
            IMPORTED_LOCATION "${${name}_LIBRARY}"
            INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
    endif()
endmacro()
