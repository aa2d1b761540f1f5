# cmake -DCOMPILER=... -DFLAGS=... -DCASE=file.cpp -P check.cmake: fails unless CASE is refused with the message it names,
# and unless it compiles once its misuse (guarded by LAZYMOE_MISUSE) is left out.
file(STRINGS ${CASE} lines)
list(POP_BACK lines last)
if(NOT last MATCHES "^// expected: (.+)$")
  message(FATAL_ERROR "${CASE}: its last line must be '// expected: <part of the message>'")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${CASE} RESULT_VARIABLE result ERROR_VARIABLE message)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${CASE}: is refused even without its misuse:\n${message}")
endif()

execute_process(COMMAND ${COMPILER} ${FLAGS} -DLAZYMOE_MISUSE -fsyntax-only ${CASE} RESULT_VARIABLE result
                ERROR_VARIABLE message)
if(result EQUAL 0)
  message(FATAL_ERROR "${CASE}: compiles, and must not")
endif()
string(FIND "${message}" "${expected}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${CASE}: refused, but without the message '${expected}':\n${message}")
endif()
