// SPDX-License-Identifier: Apache-2.0
// elements: types of the words that factors are packed in, and of a sum.
//
// FORMAT_HALF, FORMAT_BF16, FORMAT_TF32, FORMAT_E4M3, FORMAT_E5M2   factors, added up in FP32
// FORMAT_HALF_HALF, FORMAT_DOUBLE                                   factors and sums
// FORMAT_INT8, FORMAT_INT4                                          factors, added up in 32-bit integers
#pragma once
#if defined(FORMAT_DOUBLE)
typedef ulong Word;
typedef double Sum;
#elif defined(FORMAT_INT8) || defined(FORMAT_INT4)
typedef uint Word;
typedef int Sum;
#else
typedef uint Word;
typedef float Sum;
#endif
