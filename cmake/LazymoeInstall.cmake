# What `cmake --install` writes: headers, the CMake package, lazymoe.pc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/lazymoe)
install(TARGETS lazymoe EXPORT lazymoeTargets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lazymoeTargets NAMESPACE lazymoe:: DESTINATION ${package_dir})

configure_package_config_file(cmake/lazymoeConfig.cmake.in lazymoeConfig.cmake INSTALL_DESTINATION ${package_dir}
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break source.
write_basic_package_version_file(lazymoeConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lazymoeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/lazymoeConfigVersion.cmake
              cmake/LazymoeDependencies.cmake
        DESTINATION ${package_dir})

configure_file(cmake/lazymoe.pc.in lazymoe.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lazymoe.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
