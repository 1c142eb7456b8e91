# SPDX-License-Identifier: Apache-2.0
# windows: a toolchain file for Windows x64 on Debian: clang with the headers and libraries of MinGW-w64's GCC
#
# Of clang, as it takes a third of GCC's time. scripts/windows makes the libraries.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(tool x86_64-w64-mingw32)
execute_process(COMMAND ${tool}-g++-posix -print-libgcc-file-name OUTPUT_VARIABLE gcc COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(gcc ${gcc} DIRECTORY)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_CXX_COMPILER_TARGET ${tool})
set(CMAKE_RC_COMPILER ${tool}-windres)
# GCC's library knows thread-local variables as emulated ones.
string(JOIN " " CMAKE_CXX_FLAGS_INIT -nostdlibinc -femulated-tls -isystem ${gcc}/include/c++
  -isystem ${gcc}/include/c++/${tool} -isystem /usr/${tool}/include)
# Of what is precompiled, see precompile.cmake, some functions are in GCC's library, too, and one that nothing calls calls
# what is in none. GNU's linker takes minutes.
string(JOIN " " CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld -static -L${gcc} -Wl,--stack,8388608
  -Wl,--allow-multiple-definition
  -Wl,-Xlink=-alternatename:_ZNSt10filesystem7__cxx114path5_List4typeENS1_5_TypeE=abort)
set(CMAKE_CXX_STANDARD_LIBRARIES "-lbcrypt -lpthread" CACHE STRING "")
get_filename_component(CMAKE_PREFIX_PATH ${CMAKE_CURRENT_LIST_DIR}/../build/windows-libraries ABSOLUTE)
list(APPEND CMAKE_PREFIX_PATH /usr/${tool})
set(CMAKE_FIND_ROOT_PATH ${CMAKE_PREFIX_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
