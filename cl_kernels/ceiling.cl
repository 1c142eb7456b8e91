// SPDX-License-Identifier: Apache-2.0
// ceiling: the plainest kernels that move and compute as much as a device can.
//
// RUN                set by host/families/ceiling.cpp: consecutive vectors per item
// T, V               element type of the arithmetic kernel, and T or a vector of it
#if !defined(RUN) || !defined(T) || !defined(V)
#error "ceiling.cl needs RUN, T and V: see host/families/ceiling.cpp"
#endif

// One vector per item: neighbours touch neighbouring addresses.
__kernel void copy(__global uint4* restrict out, __global const uint4* restrict in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}

// RUN consecutive wide vectors per item: what suits a device whose items are loops on a core.
__kernel void copy_run(__global uint16* restrict out, __global const uint16* restrict in) {
  const size_t first = get_global_id(0) * RUN;
  for (uint i = 0; i < RUN; ++i) out[first + i] = in[first + i];
}

// Each item folds RUN vectors that lie a whole launch apart, so that neighbours read neighbours.
__kernel void read(__global uint4* restrict out, __global const uint4* restrict in) {
  const size_t item = get_global_id(0), items = get_global_size(0);
  uint4 folded = (uint4)(0);
  for (uint i = 0; i < RUN; ++i) folded ^= in[item + i * items];
  out[item] = folded;
}

// Each item folds RUN consecutive wide vectors.
__kernel void read_run(__global uint16* restrict out, __global const uint16* restrict in) {
  const size_t item = get_global_id(0), first = item * RUN;
  uint16 folded = (uint16)(0);
  for (uint i = 0; i < RUN; ++i) folded ^= in[first + i];
  out[item] = folded;
}

// Eight independent chains per item, so that latency hides. `scale` and `shift` come as arguments, as a
// compiler that knew them would fold the chain.
#define STEP(x) x = x * scale + shift
__kernel void arithmetic(__global V* restrict out, __global const V* restrict in, const T scale, const T shift,
                         const uint trips) {
  const size_t item = get_global_id(0);
  V a = in[item], b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
  for (uint i = 0; i < trips; ++i) {
    STEP(a); STEP(b); STEP(c); STEP(d); STEP(e); STEP(f); STEP(g); STEP(h);
  }
  out[item] = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
