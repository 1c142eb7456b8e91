# SPDX-License-Identifier: Apache-2.0
# check: a family is two new files and no edit; one of the two alone is refused by name
#   cmake -DSOURCE=<repository> -DBUILD=<its build, with Ninja> -DSCRATCH=<folder> -P check.cmake
# A copy of the tree gets the family. What must be compiled for it is, by the options of BUILD; the rest of the program
# is BUILD's. OCL_ICD_VENDORS shows the device to run on.
cmake_minimum_required(VERSION 3.21)
set(tree ${SCRATCH}/tree)
set(build ${SCRATCH}/build)
set(cpp host/families/toy.cpp)
set(cl cl_kernels/toy.cl)

function(files_of root variable)
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/host/* ${root}/cl_kernels/* ${root}/cmake/*)
  set(${variable} ${files} CMakeLists.txt results/published/claims.json results/published/figures.csv
    results/compilers/registers.csv PARENT_SCOPE)
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
  file(STRINGS ${BUILD}/CMakeCache.txt options REGEX "^(CMAKE_BUILD_TYPE|CMAKE_CXX_(COMPILER|FLAGS[A-Z_]*)|CLWEAVE_SANITIZE):")
  list(TRANSFORM options PREPEND -D)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${tree} -B ${build} -G Ninja ${options} -DCLWEAVE_TESTS=OFF
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
set(objects "")
foreach(name IN ITEMS all_families embedded_kernels host/families/toy)
  list(APPEND objects CMakeFiles/clweave_host.dir/${name}.cpp.o)
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target ${objects}
  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
expect("the family's objects" "${code}: ${text}" "^0: ")
# They stand before the library, which then is not asked for its own list of families and kernels.
execute_process(COMMAND ninja -C ${BUILD} -t commands clweave OUTPUT_VARIABLE link)
string(REGEX MATCH "[^\n]* -o clweave [^\n]*" link "${link}")
list(TRANSFORM objects PREPEND ${build}/)
list(JOIN objects " " objects)
string(REPLACE " -o clweave " " -o ${build}/clweave ${objects} " link "${link}")
execute_process(COMMAND sh -c "${link}" WORKING_DIRECTORY ${BUILD}
  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
expect("the build" "${code}: ${text}" "^0: ")

clweave(answer list toy)
expect("clweave list toy" "${answer}" "^0: toy  Does this device double numbers\\?\n  cases: smoke 2, ")
file(REMOVE ${SCRATCH}/rows.csv ${SCRATCH}/rows.samples.csv)
clweave(answer run --preset smoke --family toy --csv ${SCRATCH}/rows.csv)
expect("clweave run" "${answer}" "^0: .*2 rows: 2 ok\n")
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
