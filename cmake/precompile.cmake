# SPDX-License-Identifier: Apache-2.0
# precompile: headers precompiled for a target, and with clang what they define, compiled once
find_program(CLWEAVE_CCACHE NAMES ccache)
mark_as_advanced(CLWEAVE_CCACHE)
if(CLWEAVE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for where headers are precompiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CLWEAVE_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Without optimisation clang spends two thirds of its time on code of the standard library, fmt, nlohmann's JSON and
  # CLI11 that it makes for every file again. -fpch-codegen: files leave what is precompiled to one object. Without
  # timestamps ccache finds what another build precompiled. That object has functions that nothing calls, some of which
  # call what libstdc++ does not export; they are not linked. It is optimised for the tests, a third of whose time in
  # the program is spent in it.
  add_link_options(-Wl,--gc-sections)
  set(CMAKE_CXX_COMPILE_OPTIONS_INSTANTIATE_TEMPLATES_PCH
    -fpch-instantiate-templates -fpch-codegen -Xclang -fno-pch-timestamp)
endif()

# clweave_precompile(<name> <library> <header>..): precompiled.hpp and these, as files of that library's users see them.
# Who uses it: target_precompile_headers(.. REUSE_FROM <name>), and links ${<name>_code}.
function(clweave_precompile name library)
  set(empty ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")  # a library needs a file
  add_library(${name} OBJECT ${empty})
  target_link_libraries(${name} PRIVATE ${library})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp ${ARGN})
  set(${name}_code "" PARENT_SCOPE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(precompiled ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch)
    set(optimise $<$<AND:$<CONFIG:RelWithDebInfo>,$<STREQUAL:${name},clweave_precompiled>>:-O1>)
    set_source_files_properties(${precompiled} PROPERTIES GENERATED ON LANGUAGE CXX OBJECT_DEPENDS ${precompiled}
      COMPILE_OPTIONS "-xnone;-Wno-unused-command-line-argument;${optimise}")
    add_library(${name}_code OBJECT ${precompiled})
    set(${name}_code $<TARGET_OBJECTS:${name}_code> PARENT_SCOPE)
  endif()
endfunction()
