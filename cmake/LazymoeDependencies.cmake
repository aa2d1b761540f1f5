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

# lazymoe_optional(NAME HEADER LIBRARY): the target lazymoe::NAME, if both are found.
function(lazymoe_optional name header library)
  if(TARGET lazymoe::${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  find_path(LAZYMOE_${upper}_INCLUDE_DIR ${header})
  find_library(LAZYMOE_${upper}_LIBRARY ${library})
  if(LAZYMOE_${upper}_INCLUDE_DIR AND LAZYMOE_${upper}_LIBRARY)
    add_library(lazymoe::${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(lazymoe::${name} INTERFACE ${LAZYMOE_${upper}_INCLUDE_DIR})
    target_link_libraries(lazymoe::${name} INTERFACE ${LAZYMOE_${upper}_LIBRARY})
  endif()
endfunction()

# For storage/uring.hpp alone: who includes that header links lazymoe::uring.
lazymoe_optional(uring liburing.h uring)
# For storage/remote.hpp and what it includes alone: who includes that header links lazymoe::curl.
lazymoe_optional(curl curl/curl.h curl)
