# SPDX-License-Identifier: Apache-2.0
# run_probe: runs the probe under a fault and compares its output, its end and the layer's log.
#
# cmake -DPROBE=... -DICD=... -DSCRATCH=... -DLIMIT_S=... -DRESULT=REGEX [-DWARM=...] [-DLAYER=...]
#       [-DFAULTS=...] [-DONE_IN=...] [-DARGUMENTS=...] [-DOUTPUT=REGEX] [-DLOG=REGEX] -P run_probe.cmake
# Without LOG the layer must have logged nothing.
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH}/cache)

get_filename_component(icd_file "${ICD}" ABSOLUTE BASE_DIR /etc/OpenCL/vendors)
if(NOT EXISTS "${icd_file}")
  message("SKIPPED: no ${icd_file}")
  return()
endif()

set(ENV{OCL_ICD_VENDORS} "${icd_file}")
set(ENV{OPENCL_LAYERS} "${LAYER}")
set(ENV{CLWEAVE_FAULTS} "${FAULTS}")
if(ONE_IN)
  set(ENV{CLWEAVE_FAULTS_ONE_IN} ${ONE_IN})
endif()
set(ENV{CLWEAVE_FAULTS_LOG} ${SCRATCH}/faults.log)
# PoCL's kernel cache is not safe between processes, so each test has its own; and it is filled, as a
# compilation would take most of a short LIMIT_S and of the first round's host time.
set(ENV{POCL_CACHE_DIR} ${SCRATCH}/cache)
if(WARM)
  file(COPY ${WARM}/cache DESTINATION ${SCRATCH})
endif()

# A probe that a fault ends on its way releases nothing, and LeakSanitizer would change its exit code.
set(ENV{ASAN_OPTIONS} "$ENV{ASAN_OPTIONS}:detect_leaks=0")

separate_arguments(ARGUMENTS)
execute_process(COMMAND ${PROBE} ${ARGUMENTS} TIMEOUT ${LIMIT_S}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
set(log "")
if(EXISTS ${SCRATCH}/faults.log)
  file(READ ${SCRATCH}/faults.log log)
endif()
message("${output}\nended: ${result}\nlog:\n${log}")

if(NOT result MATCHES "^(${RESULT})$")
  message(FATAL_ERROR "expected the end to be: ${RESULT}")
endif()
if(NOT output MATCHES "${OUTPUT}")
  message(FATAL_ERROR "expected in the output: ${OUTPUT}")
endif()
if(NOT LOG)
  if(log)
    message(FATAL_ERROR "expected no fault in the log")
  endif()
elseif(NOT log MATCHES "${LOG}")
  message(FATAL_ERROR "expected in the log: ${LOG}")
endif()
