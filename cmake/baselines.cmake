# SPDX-License-Identifier: Apache-2.0
# baselines: what people would use instead, on the processor, on an OpenCL device and on GPUs by their vendors' toolkits:
# programs for which there are the libraries. They are installed beside clweave, where run --with-baselines looks, but
# not packed: they are for the computer that built them.
add_library(clweave_native STATIC EXCLUDE_FROM_ALL host/baselines/native.cpp)
target_link_libraries(clweave_native PUBLIC clweave_host)
set(baseline_programs "")

find_package(TBB QUIET)
if(TBB_FOUND)
  add_executable(clweave_baseline_cpu host/baselines/cpu.cpp)
  target_link_libraries(clweave_baseline_cpu PRIVATE clweave_native TBB::tbb)
  target_compile_options(clweave_baseline_cpu PRIVATE -O3 -march=native)
  list(APPEND baseline_programs ${PROJECT_BINARY_DIR}/clweave_baseline_cpu)
endif()
find_package(OpenCL QUIET)
if(OpenCL_FOUND AND (EXISTS "${Boost_INCLUDE_DIRS}/boost/compute.hpp" OR EXISTS /usr/include/boost/compute.hpp))
  add_executable(clweave_baseline_boost_compute host/baselines/boost_compute.cpp)
  target_link_libraries(clweave_baseline_boost_compute PRIVATE clweave_native OpenCL::OpenCL)
  list(APPEND baseline_programs ${PROJECT_BINARY_DIR}/clweave_baseline_boost_compute)
endif()

# baseline_object(OUT NAME COMPILER..): the object of host/baselines/NAME.cu by a compiler that CMake is not told of.
function(baseline_object out source)
  add_custom_command(OUTPUT ${out}
    COMMAND ${ARGN} -std=c++20 -I ${PROJECT_SOURCE_DIR}/host -MD -MF ${out}.d -c
      ${PROJECT_SOURCE_DIR}/host/baselines/${source}.cu -o ${out}
    DEPENDS ${PROJECT_SOURCE_DIR}/host/baselines/${source}.cu DEPFILE ${out}.d COMMENT "Baseline ${out}" VERBATIM)
endfunction()

# CUDA and CUB. Beside sanitizers, which nvcc cannot link, the sources are compiled all the same, to PTX.
find_program(CLWEAVE_NVCC nvcc PATHS /usr/local/cuda/bin)
mark_as_advanced(CLWEAVE_NVCC)
if(CLWEAVE_NVCC)
  set(here 80 90)
  if(EXISTS /proc/driver/nvidia/version)
    set(here native)
  endif()
  set(CLWEAVE_CUDA_ARCHITECTURES "${here}" CACHE STRING
    "GPUs that the CUDA baselines are for: native, all-major, or numbers such as 80;90")
  set(cuda_flags -O3)
  foreach(arch IN LISTS CLWEAVE_CUDA_ARCHITECTURES)
    if(arch MATCHES "^[0-9]+[a-z]?$")
      list(APPEND cuda_flags -gencode=arch=compute_${arch},code=[compute_${arch},sm_${arch}])
    else()
      list(APPEND cuda_flags -arch=${arch})
    endif()
  endforeach()
  if(CLWEAVE_SANITIZE)
    set(cuda_flags -gencode=arch=compute_90,code=compute_90)
  endif()
  set(made "")
  foreach(name IN ITEMS cuda cuda_formats cuda_transfer)
    baseline_object(${name}.o ${name} ${CLWEAVE_NVCC} ${cuda_flags})
    if(CLWEAVE_SANITIZE)
      list(APPEND made ${PROJECT_BINARY_DIR}/${name}.o)
      continue()
    endif()
    set(libraries "")
    if(name STREQUAL cuda)
      set(libraries $<TARGET_FILE:clweave_native> $<TARGET_FILE:clweave_host> -lfmt -lre2 -lminizip -ldl)
    endif()
    add_custom_command(OUTPUT clweave_baseline_${name}
      COMMAND ${CLWEAVE_NVCC} ${cuda_flags} ${name}.o ${libraries} -o clweave_baseline_${name}
      DEPENDS ${name}.o clweave_native clweave_host VERBATIM)
    list(APPEND made ${PROJECT_BINARY_DIR}/clweave_baseline_${name})
  endforeach()
  add_custom_target(baselines_cuda ALL DEPENDS ${made})
  list(APPEND baseline_programs ${PROJECT_BINARY_DIR}/clweave_baseline_cuda)
endif()

# The same sources as HIP, looked at by its compiler alone.
find_program(CLWEAVE_HIPCC hipcc PATHS /opt/rocm/bin)
find_path(CLWEAVE_HIPCUB hipcub/hipcub.hpp PATHS /opt/rocm/include)
mark_as_advanced(CLWEAVE_HIPCC CLWEAVE_HIPCUB)
if(CLWEAVE_HIPCC AND CLWEAVE_HIPCUB)
  set(CLWEAVE_HIP_ARCHITECTURE gfx90a CACHE STRING "GPU that the baselines are compiled for as HIP")
  set(made "")
  foreach(name IN ITEMS cuda cuda_transfer)
    baseline_object(hip_${name}.o ${name} ${CLWEAVE_HIPCC} -x hip --offload-arch=${CLWEAVE_HIP_ARCHITECTURE}
      -isystem ${CLWEAVE_HIPCUB})
    list(APPEND made ${PROJECT_BINARY_DIR}/hip_${name}.o)
  endforeach()
  add_custom_target(baselines_hip ALL DEPENDS ${made})
endif()

if(baseline_programs AND NOT CLWEAVE_PORTABLE)
  install(PROGRAMS ${baseline_programs} TYPE BIN OPTIONAL)
endif()
