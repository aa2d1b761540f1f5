# Builds app/ in WORK_DIR as WAY says and runs it.
file(REMOVE_RECURSE ${WORK_DIR})
set(app_source ${CMAKE_CURRENT_LIST_DIR}/app)
set(app ${WORK_DIR}/build/app)

if(WAY STREQUAL "source")
  set(arguments -DLAZYMOE_SOURCE_DIR=${LAZYMOE_SOURCE_DIR})
else()
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${LAZYMOE_BINARY_DIR} --prefix ${WORK_DIR}/prefix
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  set(arguments -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
endif()

if(WAY STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} ${WORK_DIR}/prefix/share/pkgconfig)
  execute_process(COMMAND pkg-config --cflags --libs lazymoe OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(MAKE_DIRECTORY ${WORK_DIR}/build)
  execute_process(COMMAND ${COMPILER} -std=c++20 ${app_source}/main.cpp ${flags} -o ${app} COMMAND_ERROR_IS_FATAL ANY)
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${app_source} -B ${WORK_DIR}/build -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
                          ${arguments}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build COMMAND_ERROR_IS_FATAL ANY)
endif()

execute_process(COMMAND ${app} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said STREQUAL "lazymoe ${VERSION}\n")
  message(FATAL_ERROR "the program said '${said}'")
endif()
