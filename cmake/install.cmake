# SPDX-License-Identifier: Apache-2.0
# install: puts the program, its manual page, shell completions and cluster scripts into the folders where systems look
# for them; scripts/package makes packages of these
if(SKBUILD)  # a wheel is being made: its own folders
  set(CMAKE_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(CMAKE_INSTALL_DATAROOTDIR ${SKBUILD_DATA_DIR}/share)
endif()
include(GNUInstallDirs)

if(NOT WIN32)
  # The program prints its shell functions, and help2man makes the manual page of its help.
  set(words "")
  foreach(shell IN ITEMS bash zsh fish)
    add_custom_command(OUTPUT words/${shell}
      COMMAND ${CMAKE_COMMAND} -E make_directory words
      COMMAND clweave completion ${shell} > words/${shell}
      DEPENDS clweave COMMENT "Completion for ${shell}" VERBATIM)
    list(APPEND words ${PROJECT_BINARY_DIR}/words/${shell})
  endforeach()
  find_program(CLWEAVE_HELP2MAN NAMES help2man)
  mark_as_advanced(CLWEAVE_HELP2MAN)
  if(CLWEAVE_HELP2MAN)
    add_custom_command(OUTPUT words/man
      COMMAND ${CMAKE_COMMAND} -DHELP2MAN=${CLWEAVE_HELP2MAN} -DPROGRAM=$<TARGET_FILE:clweave> -DOUT=words/man
              -P ${PROJECT_SOURCE_DIR}/cmake/man_page.cmake
      DEPENDS clweave ${PROJECT_SOURCE_DIR}/cmake/man_page.cmake COMMENT "Manual page" VERBATIM)
    list(APPEND words ${PROJECT_BINARY_DIR}/words/man)
    install(FILES ${PROJECT_BINARY_DIR}/words/man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME clweave.1)
  else()
    message(STATUS "help2man: not here, the manual page is left out")
  endif()
  add_custom_target(clweave_words ALL DEPENDS ${words})
  install(FILES ${PROJECT_BINARY_DIR}/words/bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions
    RENAME clweave)
  install(FILES ${PROJECT_BINARY_DIR}/words/zsh DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions RENAME _clweave)
  install(FILES ${PROJECT_BINARY_DIR}/words/fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d
    RENAME clweave.fish)
endif()

install(TARGETS clweave RUNTIME)
install(FILES README.md CHANGELOG.md CITATION.cff LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN schema EXCLUDE)
if(NOT WIN32)
  install(FILES scripts/slurm/clweave.sbatch scripts/reframe/clweave.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endif()
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.cl)
install(FILES host/page/html/vega.licences DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries RENAME vega)
if(CLWEAVE_PORTABLE OR MINGW)
  # Their licences ask for it, and Debian has them in one place.
  foreach(library IN ITEMS fmt re2 cli11 boost tomlplusplus)
    install(FILES /usr/share/doc/lib${library}-dev/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries
      RENAME ${library} OPTIONAL)
  endforeach()
  install(FILES /usr/share/doc/nlohmann-json3-dev/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries
    RENAME nlohmann-json OPTIONAL)
  if(MINGW)
    foreach(package IN ITEMS libminizip-dev libz-mingw-w64-dev mingw-w64-common gcc-mingw-w64-base)
      install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries RENAME ${package} OPTIONAL)
    endforeach()
  endif()
endif()

set(CPACK_GENERATOR TGZ DEB)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
endif()
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_VENDOR clweave)
set(CPACK_PACKAGE_FILE_NAME clweave-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Divergence, access patterns, caches, copy loops, latency, arithmetic,
reductions, prefix scans, compaction: measured on any vendor's device, from
one program and plain OpenCL kernels. Every output is compared with a
reference on the host, every timer is certified, every rate is held against
what the same device reaches in the same run.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ocl-icd-libopencl1 | libopencl1")  # by name at run time: shlibdeps cannot see it
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian.cmake)
include(CPack)
