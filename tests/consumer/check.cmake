# Builds examples/first in WORK_DIR as WAY says and asks the bundled model a question.
file(REMOVE_RECURSE ${WORK_DIR})
set(program ${LAZYMOE_SOURCE_DIR}/examples/first/main.cpp)
set(model ${LAZYMOE_SOURCE_DIR}/examples/models/tiny-factbook-q4_k_m.gguf)
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
  execute_process(COMMAND ${LAUNCHER} ${COMPILER} -std=c++20 -O1 ${program} ${flags} -o ${app} COMMAND_ERROR_IS_FATAL ANY)
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/app -B ${WORK_DIR}/build -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
                          -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_FLAGS=-O1 -DPROGRAM=${program} ${arguments}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build COMMAND_ERROR_IS_FATAL ANY)
endif()

execute_process(COMMAND ${app} ${model} "What is the capital of Kenya?" OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said STREQUAL "The capital of Kenya is Nairobi.\n")
  message(FATAL_ERROR "the program said '${said}'")
endif()
