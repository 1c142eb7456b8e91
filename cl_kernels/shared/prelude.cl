// SPDX-License-Identifier: Apache-2.0
// prelude: goes before every file; the only place that turns on extensions.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
