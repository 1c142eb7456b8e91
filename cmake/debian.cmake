# SPDX-License-Identifier: Apache-2.0
# debian: what Debian's rules ask of a package beyond the usual folders. CPack runs it before each package is packed.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${usr}/share/doc/clweave)

file(MAKE_DIRECTORY ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/share/zsh/site-functions/_clweave ${usr}/share/zsh/vendor-completions/_clweave)
file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)
file(REMOVE ${doc}/LICENSE)
file(READ ${CMAKE_CURRENT_LIST_DIR}/debian.copyright copyright)
file(WRITE ${doc}/copyright "${copyright}")

# The change as Debian writes it, of the day of the commit.
include(${CMAKE_CURRENT_LIST_DIR}/git.cmake)
clweave_git(${source} day log -1 --format=%cD)
if(NOT day)
  execute_process(COMMAND date -R OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(WRITE ${doc}/changelog "clweave (${CPACK_PACKAGE_VERSION}) stable; urgency=medium

  * See CHANGELOG.md beside this file.

 -- ${CPACK_PACKAGE_CONTACT}  ${day}
")
execute_process(COMMAND gzip -9n ${doc}/changelog ${usr}/share/man/man1/clweave.1 COMMAND_ERROR_IS_FATAL ANY)
