# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Warnings for everything below the including directory, and for nobody else: an outside project
# that adds this tree keeps its own flags. libcd adds -Wconversion; in tests it would mostly
# complain about literals.
add_compile_options(-Wall -Wextra -Wpedantic $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow>)
# GCC 12 sees overlapping copies in std::string where there are none (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CD_WARNINGS_AS_ERRORS)
    add_compile_options(-Werror)
endif()
