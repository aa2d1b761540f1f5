# An overlay port that takes this checkout: vcpkg install lazymoe --overlay-ports=packaging
set(SOURCE_PATH ${CURRENT_PORT_DIR}/..)
set(VCPKG_BUILD_TYPE release)  # headers only

vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH} OPTIONS -DLAZYMOE_BUILD_TESTS=OFF -DLAZYMOE_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/lazymoe)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
