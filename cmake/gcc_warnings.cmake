# SPDX-License-Identifier: Apache-2.0
# gcc_warnings: what GCC would warn of in the files that a unit includes
#   cmake "-DGCC=<g++ and its options>" -DPRECOMPILED=<header whose .gch is beside it> -DUNIT=<file that includes them>
#     -DSTAMP=<file> -P gcc_warnings.cmake
# Most of the time goes into headers, so the common ones are precompiled and files are compiled together. Where two of
# them have a name in common that takes more than it should, but is no error: each is compiled by itself then.
cmake_minimum_required(VERSION 3.21)
set(command ${GCC} -Winvalid-pch -include ${PRECOMPILED})
execute_process(COMMAND ${command} -fsyntax-only ${UNIT} RESULT_VARIABLE result ERROR_VARIABLE said)
file(STRINGS ${UNIT} lines)
list(LENGTH lines count)
if(NOT result EQUAL 0 AND count GREATER 1)
  set(together "${said}")
  set(said "")
  set(result 0)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"(.*)\"$" "\\1" file "${line}")
    execute_process(COMMAND ${command} -fsyntax-only ${file} RESULT_VARIABLE its_result ERROR_VARIABLE its_words)
    if(NOT its_result EQUAL 0)
      set(result ${its_result})
      string(APPEND said "${its_words}")
    endif()
  endforeach()
  if(result EQUAL 0)
    string(REGEX MATCH "[^\n]*error:[^\n]*" first "${together}")
    message(STATUS "compiled one by one, as two of them have a name in common: ${first}")
  endif()
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${said}")
endif()
execute_process(COMMAND ${GCC} -MM -MF ${STAMP}.d -MT ${STAMP} ${UNIT} COMMAND_ERROR_IS_FATAL ANY)
file(TOUCH ${STAMP})
