# SPDX-License-Identifier: Apache-2.0
# test_icds: finds the OpenCL implementations that tests run on, each alone
#
# For each one that is here writes <build>/icds/<name>/<name>.icd, so that a test with OCL_ICD_VENDORS set to
# that folder sees it and no other. Sets
#   CLWEAVE_TEST_IMPLEMENTATIONS   the names found, of: pocl rusticl oclgrind intel
#   CLWEAVE_ICD_<NAME>             the folder
#   CLWEAVE_ENV_<NAME>             what a test's ENVIRONMENT needs: a list that begins with OCL_ICD_VENDORS=<folder>
# CLWEAVE_INTEL_OPENCL_DIR is the virtual environment that scripts/test puts Intel's CPU runtime in.
set(CLWEAVE_INTEL_OPENCL_DIR ${PROJECT_SOURCE_DIR}/build/intel-opencl CACHE PATH
  "Where lib/libintelocl.so, Intel's OpenCL runtime for CPUs, is")

set(CLWEAVE_TEST_IMPLEMENTATIONS "")
# test_icd(<name> <line of the .icd file> [<variable>=<value>...])
function(test_icd name library)
  set(folder ${PROJECT_BINARY_DIR}/icds/${name})
  string(TOUPPER ${name} upper)
  file(REMOVE_RECURSE ${folder})
  if(NOT library)
    message(STATUS "OpenCL implementation ${name}: not here, its tests are left out")
    return()
  endif()
  file(WRITE ${folder}/${name}.icd "${library}\n")
  message(STATUS "OpenCL implementation ${name}: ${library}")
  list(APPEND CLWEAVE_TEST_IMPLEMENTATIONS ${name})
  set(CLWEAVE_TEST_IMPLEMENTATIONS ${CLWEAVE_TEST_IMPLEMENTATIONS} PARENT_SCOPE)
  set(CLWEAVE_ICD_${upper} ${folder} PARENT_SCOPE)
  set(CLWEAVE_ENV_${upper} OCL_ICD_VENDORS=${folder} ${ARGN} PARENT_SCOPE)
endfunction()

# The library that a registered .icd file names: only its package knows (PoCL's has a version in it).
function(registered_icd file variable)
  set(library "")
  if(EXISTS /etc/OpenCL/vendors/${file})
    file(STRINGS /etc/OpenCL/vendors/${file} library LIMIT_COUNT 1)
  endif()
  set(${variable} "${library}" PARENT_SCOPE)
endfunction()

registered_icd(pocl.icd library)
test_icd(pocl "${library}")
registered_icd(rusticl.icd library)
test_icd(rusticl "${library}" RUSTICL_ENABLE=llvmpipe)
# In no folder that the linker searches, and registered nowhere.
find_file(CLWEAVE_OCLGRIND_ICD liboclgrind-rt-icd.so
  PATHS /usr/lib /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/local/lib PATH_SUFFIXES oclgrind)
mark_as_advanced(CLWEAVE_OCLGRIND_ICD)
test_icd(oclgrind "${CLWEAVE_OCLGRIND_ICD}")
set(library ${CLWEAVE_INTEL_OPENCL_DIR}/lib/libintelocl.so)
if(NOT EXISTS ${library})
  set(library "")
endif()
test_icd(intel "${library}")
