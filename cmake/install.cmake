# SPDX-License-Identifier: Apache-2.0
# install: the program, its manual and completions, and what clusters start it by, in the folders where systems look
# for them
include(GNUInstallDirs)

# The program tells them from its own options.
set(words "")
foreach(format IN ITEMS man bash zsh fish)
  add_custom_command(OUTPUT words/${format}
    COMMAND ${CMAKE_COMMAND} -E make_directory words
    COMMAND clweave completion ${format} > words/${format}
    DEPENDS clweave COMMENT "Words for ${format}" VERBATIM)
  list(APPEND words ${PROJECT_BINARY_DIR}/words/${format})
endforeach()
add_custom_target(clweave_words ALL DEPENDS ${words})

install(TARGETS clweave RUNTIME)
install(FILES ${PROJECT_BINARY_DIR}/words/man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME clweave.1)
install(FILES ${PROJECT_BINARY_DIR}/words/bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions
  RENAME clweave)
install(FILES ${PROJECT_BINARY_DIR}/words/zsh DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions RENAME _clweave)
install(FILES ${PROJECT_BINARY_DIR}/words/fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d
  RENAME clweave.fish)
install(FILES README.md CHANGELOG.md CITATION.cff LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES scripts/slurm/clweave.sbatch scripts/reframe/clweave.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES host/answers/html/vega.licences DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries RENAME vega)
