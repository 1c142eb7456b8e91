# SPDX-License-Identifier: Apache-2.0
# man_page: makes the manual page by help2man, dated by the last commit, so that a build can be reproduced.
#   cmake -DHELP2MAN=.. -DPROGRAM=clweave -DOUT=clweave.1 -P man_page.cmake
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
include(${CMAKE_CURRENT_LIST_DIR}/git.cmake)
clweave_git(${source} day log -1 --format=%cs)
execute_process(COMMAND ${PROGRAM} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE " .*" "" version "${version}")  # without the commit
get_filename_component(folder ${OUT} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${HELP2MAN} --no-info --help-option=--help-all --version-string=${version}
  "--name=show how an OpenCL device really behaves" --output=${OUT} ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
if(day)  # help2man writes the month of the build, in words
  file(READ ${OUT} page)
  string(REGEX REPLACE "(\n\\.TH [^ ]+ [^ ]+ )\"[^\"]*\"" "\\1\"${day}\"" page "${page}")
  file(WRITE ${OUT} "${page}")
endif()
