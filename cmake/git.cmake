# SPDX-License-Identifier: Apache-2.0
# git: asks git about the repository of a folder itself, never about one that the folder merely lies in.

# Sets `out` to what git prints; empty, with the reason in `out`_error, if the folder is no repository or git cannot read it.
function(clweave_git source out)
  set(${out} "" PARENT_SCOPE)
  set(${out}_error "" PARENT_SCOPE)
  if(NOT EXISTS ${source}/.git)
    set(${out}_error "${source} is no repository" PARENT_SCOPE)
    return()
  endif()
  # No folder above counts, and a hook that builds does not lend its own repository. That of another user stays refused, as
  # its configuration may name programs to run.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=GIT_DIR --unset=GIT_WORK_TREE --unset=GIT_INDEX_FILE
                          GIT_CEILING_DIRECTORIES=${source}/.. git -C ${source} ${ARGN}
    OUTPUT_VARIABLE printed ERROR_VARIABLE error RESULT_VARIABLE result
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(result EQUAL 0)
    set(${out} "${printed}" PARENT_SCOPE)
  else()
    string(REGEX REPLACE "\n.*" "" error "${error}")
    set(${out}_error "git: ${error}" PARENT_SCOPE)
  endif()
endfunction()
