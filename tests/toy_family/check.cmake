# SPDX-License-Identifier: Apache-2.0
# check: a family is two new files and no edit; one of the two alone is refused by name
#   cmake -DSOURCE=<repository> -DSCRATCH=<folder> -DCOMPILER=<c++> -P check.cmake
# The build in SCRATCH is kept, so that a second check takes seconds. OCL_ICD_VENDORS shows the device to run on.
cmake_minimum_required(VERSION 3.21)
set(tree ${SCRATCH}/tree)
set(build ${SCRATCH}/build)
set(cpp host/families/toy.cpp)
set(cl cl_kernels/toy.cl)

# All files of a tree with their hashes.
function(contents root variable)
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/host/* ${root}/cl_kernels/* ${root}/cmake/*)
  set(lines "")
  foreach(file IN LISTS files ITEMS CMakeLists.txt)
    file(SHA256 ${root}/${file} hash)
    list(APPEND lines "${file} ${hash}")
  endforeach()
  set(${variable} ${lines} PARENT_SCOPE)
endfunction()

function(configure variable)
  find_program(CCACHE ccache)
  set(launcher "")
  if(CCACHE)
    set(launcher -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${tree} -B ${build} -G Ninja -DCMAKE_BUILD_TYPE=Debug
      -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCLWEAVE_TESTS=OFF ${launcher}
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  # CMake breaks the lines of its messages.
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${variable} "${code}: ${text}" PARENT_SCOPE)
endfunction()

function(expect what text regex)
  if(NOT text MATCHES "${regex}")
    message(FATAL_ERROR "${what}: not '${regex}' but\n${text}")
  endif()
endfunction()

function(clweave variable)
  execute_process(COMMAND ${build}/clweave ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${variable} "${code}: ${text}" PARENT_SCOPE)
endfunction()

# Times of change are copied too, so that only what is new is built again.
file(REMOVE_RECURSE ${tree})
foreach(part IN ITEMS host cl_kernels cmake CMakeLists.txt)
  file(COPY ${SOURCE}/${part} DESTINATION ${tree})
endforeach()
contents(${tree} before)

file(COPY ${CMAKE_CURRENT_LIST_DIR}/toy.cl DESTINATION ${tree}/cl_kernels)
configure(answer)
expect("a kernel file alone" "${answer}" "^1: .*cl_kernels/toy.cl has no host/families/toy.cpp")
file(REMOVE ${tree}/${cl})

file(COPY ${CMAKE_CURRENT_LIST_DIR}/toy.cpp DESTINATION ${tree}/host/families)
configure(answer)
expect("a host file alone" "${answer}" "^1: .*host/families/toy.cpp has no cl_kernels/toy.cl")

file(COPY ${CMAKE_CURRENT_LIST_DIR}/toy.cl DESTINATION ${tree}/cl_kernels)
configure(answer)
expect("both files" "${answer}" "^0: ")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target clweave --parallel 2
  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
expect("the build" "${code}: ${text}" "^0: ")

clweave(answer list)
expect("clweave list" "${answer}" "^0: .*\ntoy  Does this device double numbers\\?\n  cases: smoke 2, ")
file(REMOVE ${SCRATCH}/rows.csv ${SCRATCH}/rows.samples.csv)
clweave(answer run --preset smoke --family toy --csv ${SCRATCH}/rows.csv)
expect("clweave run" "${answer}" "^0: .*\n2 cases: 2 ok\n")
file(STRINGS ${SCRATCH}/rows.csv rows REGEX ",toy/n=1(000)?,ok,")
list(LENGTH rows count)
expect("rows that are ok" "${count}" "^2$")

contents(${tree} after)
list(REMOVE_ITEM after ${before})
list(TRANSFORM after REPLACE " .*" "")
list(SORT after)
expect("files added or changed" "${after}" "^${cl};${cpp}$")
contents(${SOURCE} original)
list(REMOVE_ITEM original ${before})
expect("files of the original that the copy lacks" "${original}" "^$")
