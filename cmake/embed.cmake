# SPDX-License-Identifier: Apache-2.0
# embed: a file's bytes as the elements of a C++ array. Bytes, not string literals: some compilers cap the length of a
# literal.
function(bytes_of path out)
  file(READ "${path}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()
