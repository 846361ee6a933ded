# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

include(GoogleTest)

# cd_discover_tests(TARGET NAME SHARDS [OPTION...]): each test of a GoogleTest program is one of ctest's, NAME.Suite.Test. With a
# sanitizer the start of a process takes longer than most tests, so there SHARDS processes have them among them, started with the options.
function(cd_discover_tests target name shards)
    if(NOT "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize=")
        gtest_discover_tests(${target} TEST_PREFIX ${name}. PROPERTIES LABELS ${name})
        return()
    endif()
    foreach(shard RANGE 1 ${shards})
        math(EXPR index "${shard} - 1")
        set(test ${name}.shard_${shard}_of_${shards})
        add_test(NAME ${test} COMMAND ${target} --gtest_brief=1 ${ARGN})
        set_tests_properties(${test} PROPERTIES LABELS ${name} FAIL_REGULAR_EXPRESSION "] 0 tests from"
            ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
    endforeach()
endfunction()
