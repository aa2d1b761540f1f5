# Dependencies without a usable CMake package, as targets. Shared by the build tree and the installed package.

# Debian's xsimd target links a library that does not exist (xtl), so only its include directory is taken.
if(NOT TARGET lazymoe::xsimd)
  find_path(LAZYMOE_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp REQUIRED)
  add_library(lazymoe::xsimd INTERFACE IMPORTED GLOBAL)
  target_include_directories(lazymoe::xsimd INTERFACE ${LAZYMOE_XSIMD_INCLUDE_DIR})
endif()

if(NOT TARGET lazymoe::pcre2)
  find_path(LAZYMOE_PCRE2_INCLUDE_DIR pcre2.h REQUIRED)
  find_library(LAZYMOE_PCRE2_LIBRARY pcre2-8 REQUIRED)
  add_library(lazymoe::pcre2 INTERFACE IMPORTED GLOBAL)
  target_include_directories(lazymoe::pcre2 INTERFACE ${LAZYMOE_PCRE2_INCLUDE_DIR})
  target_link_libraries(lazymoe::pcre2 INTERFACE ${LAZYMOE_PCRE2_LIBRARY})
endif()

# Optional, and for storage/uring.hpp alone: who includes that header links lazymoe::uring.
if(NOT TARGET lazymoe::uring)
  find_path(LAZYMOE_URING_INCLUDE_DIR liburing.h)
  find_library(LAZYMOE_URING_LIBRARY uring)
  if(LAZYMOE_URING_INCLUDE_DIR AND LAZYMOE_URING_LIBRARY)
    add_library(lazymoe::uring INTERFACE IMPORTED GLOBAL)
    target_include_directories(lazymoe::uring INTERFACE ${LAZYMOE_URING_INCLUDE_DIR})
    target_link_libraries(lazymoe::uring INTERFACE ${LAZYMOE_URING_LIBRARY})
  endif()
endif()

# Optional, and for storage/remote.hpp and what it includes alone: who includes that header links lazymoe::curl.
if(NOT TARGET lazymoe::curl)
  find_path(LAZYMOE_CURL_INCLUDE_DIR curl/curl.h)
  find_library(LAZYMOE_CURL_LIBRARY curl)
  if(LAZYMOE_CURL_INCLUDE_DIR AND LAZYMOE_CURL_LIBRARY)
    add_library(lazymoe::curl INTERFACE IMPORTED GLOBAL)
    target_include_directories(lazymoe::curl INTERFACE ${LAZYMOE_CURL_INCLUDE_DIR})
    target_link_libraries(lazymoe::curl INTERFACE ${LAZYMOE_CURL_LIBRARY})
  endif()
endif()
