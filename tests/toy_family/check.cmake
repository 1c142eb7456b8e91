# SPDX-License-Identifier: Apache-2.0
# check: a family is two new files and no edit; one of the two alone is refused by name
#   cmake -DSOURCE=<repository> -DSCRATCH=<folder> -DCOMPILER=<c++> -P check.cmake
# The build in SCRATCH is kept, so that a second check takes seconds. OCL_ICD_VENDORS shows the device to run on.
cmake_minimum_required(VERSION 3.21)
set(tree ${SCRATCH}/tree)
set(build ${SCRATCH}/build)
set(cpp host/families/toy.cpp)
set(cl cl_kernels/toy.cl)

# What a build needs; one family is enough beside the new one.
function(files_of root variable)
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/host/* ${root}/cl_kernels/* ${root}/cmake/*)
  list(FILTER files EXCLUDE REGEX "^host/families/[^/]*$|^cl_kernels/[^/]*$|^host/baselines/")
  foreach(name IN ITEMS host/families/ceiling.cpp host/families/toy.cpp
      cl_kernels/ceiling.cl cl_kernels/toy.cl)
    if(EXISTS ${root}/${name})
      list(APPEND files ${name})
    endif()
  endforeach()
  set(${variable} ${files} CMakeLists.txt results/published/claims.json PARENT_SCOPE)
endfunction()

# All files of a tree with their hashes.
function(contents root variable)
  files_of(${root} files)
  set(lines "")
  foreach(file IN LISTS files)
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

# Copies what changed, so that only that is built again.
files_of(${SOURCE} wanted)
files_of(${tree} stale)
list(REMOVE_ITEM stale ${wanted})
foreach(file IN LISTS stale)
  file(REMOVE ${tree}/${file})
endforeach()
foreach(file IN LISTS wanted)
  get_filename_component(folder ${tree}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(COPY_FILE ${SOURCE}/${file} ${tree}/${file} ONLY_IF_DIFFERENT)
endforeach()
contents(${tree} before)

file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/toy.cl ${tree}/${cl})
configure(answer)
expect("a kernel file alone" "${answer}" "^1: .*cl_kernels/toy.cl has no host/families/toy.cpp")
file(REMOVE ${tree}/${cl})

file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/toy.cpp ${tree}/${cpp})
configure(answer)
expect("a host file alone" "${answer}" "^1: .*host/families/toy.cpp has no cl_kernels/toy.cl")

file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/toy.cl ${tree}/${cl})
configure(answer)
expect("both files" "${answer}" "^0: ")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target clweave --parallel 2
  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
expect("the build" "${code}: ${text}" "^0: ")

clweave(answer list)
expect("clweave list" "${answer}" "^0: .*\ntoy  Does this device double numbers\\?\n  cases: smoke 2, ")
file(REMOVE ${SCRATCH}/rows.csv ${SCRATCH}/rows.samples.csv)
clweave(answer run --preset smoke --family toy --csv ${SCRATCH}/rows.csv)
expect("clweave run" "${answer}" "^0: .*\n2 [a-z]+: 2 ok\n")
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
