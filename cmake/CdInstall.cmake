# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# What an installed tree holds: headers, libraries, tools, the licence, CMake package, pkg-config files. None of
# them names an absolute path, so the tree can be moved.
include(CMakePackageConfigHelpers)

set(CD_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/ContainmentDomains")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cd" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/containment-domains")
install(TARGETS cd EXPORT ContainmentDomainsTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET cdctl)
    install(TARGETS cdctl RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
foreach(flavour IN LISTS CD_MPI_FLAVOURS)
    install(TARGETS pmpi_logger_${flavour} libcd_mpi_${flavour} EXPORT ContainmentDomainsTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/cd/${flavour}")
endforeach()
if(CD_FORTRAN_FOUND)
    install(TARGETS cd_fortran EXPORT ContainmentDomainsTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(FILES "${PROJECT_BINARY_DIR}/fortran/modules/containment_domains.mod"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cd/fortran")
    # For other compilers, whose modules are not this one's.
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/fortran/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/containment-domains/fortran"
        FILES_MATCHING PATTERN "*.f90" PATTERN "*.c")
endif()
install(EXPORT ContainmentDomainsTargets NAMESPACE ContainmentDomains::
    DESTINATION "${CD_PACKAGE_DIR}")

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/ContainmentDomainsConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/ContainmentDomainsConfig.cmake"
    INSTALL_DESTINATION "${CD_PACKAGE_DIR}")
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/ContainmentDomainsConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_SOURCE_DIR}/cmake/CdTargetsForMpi.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/CdTellMpi.cmake"
    "${PROJECT_BINARY_DIR}/ContainmentDomainsConfig.cmake"
    "${PROJECT_BINARY_DIR}/ContainmentDomainsConfigVersion.cmake"
    DESTINATION "${CD_PACKAGE_DIR}")

set(pkgconfig_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH CD_PC_PREFIX "${pkgconfig_dir}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" CD_PC_PREFIX "${CD_PC_PREFIX}")
configure_file(
    "${PROJECT_SOURCE_DIR}/cmake/containment-domains.pc.in"
    "${PROJECT_BINARY_DIR}/containment-domains.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/containment-domains.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(CD_FORTRAN_FOUND)
    configure_file(
        "${PROJECT_SOURCE_DIR}/cmake/containment-domains-fortran.pc.in"
        "${PROJECT_BINARY_DIR}/containment-domains-fortran.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/containment-domains-fortran.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
foreach(flavour IN LISTS CD_MPI_FLAVOURS)
    foreach(part pmpi-logger mpi)
        set(pc "containment-domains-${part}-${flavour}.pc")
        configure_file(
            "${PROJECT_SOURCE_DIR}/cmake/containment-domains-${part}.pc.in"
            "${PROJECT_BINARY_DIR}/${pc}" @ONLY)
        install(FILES "${PROJECT_BINARY_DIR}/${pc}"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    endforeach()
endforeach()
