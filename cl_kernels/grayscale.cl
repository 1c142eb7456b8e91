// SPDX-License-Identifier: Apache-2.0
// grayscale: turns RGBA pixels gray, one per work-item, or a vector of them.
//
// WIDTH   pixels of a vector of the kernel words
#ifdef EDITOR
#define WIDTH 4
#elif !defined(WIDTH)
#error "grayscale.cl needs WIDTH from the host"
#endif

// Returns Rec. 601 luma in 256ths, rounded to nearest; the weights add up to 256, so white stays white. Alpha stays.
// Sets components one by one: Oclgrind 21.10 crashes on the shuffle that a vector literal becomes.
uchar4 gray_of(const uchar4 pixel) {
  const uchar luma = (uchar)((77u * pixel.x + 150u * pixel.y + 29u * pixel.z + 128u) >> 8);
  uchar4 gray = pixel;
  gray.x = luma;
  gray.y = luma;
  gray.z = luma;
  return gray;
}

// ---- Work-groups of a row: dimension 1 is the row; `pitch` pixels lie between the starts of two rows ------

__kernel void naive(__global uchar4* restrict out, __global const uchar4* restrict in, const uint pitch) {
  const size_t x = get_global_id(0), i = get_global_id(1) * pitch + x;
  if (x < pitch) out[i] = gray_of(in[i]);
}

// Leaves the check out, as the article did: rows are as long as their work-groups, so nothing is out of bounds.
__kernel void unchecked(__global uchar4* restrict out, __global const uchar4* restrict in, const uint pitch) {
  const size_t i = get_global_id(1) * pitch + get_global_id(0);
  out[i] = gray_of(in[i]);
}

// Works in local memory, with a barrier before and after.
__kernel void staged(__global uchar4* restrict out, __global const uchar4* restrict in, const uint pitch,
                     __local uchar4* held) {
  const size_t x = get_global_id(0), i = get_global_id(1) * pitch + x, lane = get_local_id(0);
  if (x < pitch) held[lane] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x < pitch) held[lane] = gray_of(held[lane]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x < pitch) out[i] = held[lane];
}

// Does the same without the check: no more than the two copies and the barriers are added to `unchecked`.
__kernel void staged_unchecked(__global uchar4* restrict out, __global const uchar4* restrict in, const uint pitch,
                               __local uchar4* held) {
  const size_t i = get_global_id(1) * pitch + get_global_id(0), lane = get_local_id(0);
  held[lane] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  held[lane] = gray_of(held[lane]);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = held[lane];
}

// Works in local memory with barriers, or without, to time the barriers alone: no work-item needs them, as each reads
// what it wrote itself. `volatile` keeps compilers from dropping local memory where no barrier is.
#define STAGED(BARRIER)                                                                                \
  const size_t x = get_global_id(0), i = get_global_id(1) * pitch + x, lane = get_local_id(0);         \
  if (x < pitch) held[lane] = in[i];                                                                   \
  BARRIER;                                                                                             \
  if (x < pitch) held[lane] = gray_of(held[lane]);                                                     \
  BARRIER;                                                                                             \
  if (x < pitch) out[i] = held[lane]

__kernel void staged_synced(__global uchar4* restrict out, __global const uchar4* restrict in, const uint pitch,
                            volatile __local uchar4* held) {
  STAGED(barrier(CLK_LOCAL_MEM_FENCE));
}

__kernel void staged_unsynced(__global uchar4* restrict out, __global const uchar4* restrict in, const uint pitch,
                              volatile __local uchar4* held) {
  STAGED((void)0);
}

// Loads four bytes in place of a pixel.
__kernel void bytes(__global uchar4* restrict out, __global const uchar* restrict in, const uint pitch) {
  const size_t x = get_global_id(0), i = get_global_id(1) * pitch + x;
  if (x < pitch) out[i] = gray_of((uchar4)(in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]));
}

// Works on pixels of three bytes, as an image without alpha has them.
__kernel void rgb(__global uchar* restrict out, __global const uchar* restrict in, const uint pitch) {
  const size_t x = get_global_id(0), i = get_global_id(1) * pitch + x;
  if (x >= pitch) return;
  uchar3 pixel = vload3(i, in);
  const uchar luma = (uchar)((77u * pixel.x + 150u * pixel.y + 29u * pixel.z + 128u) >> 8);
  pixel.x = luma;
  pixel.y = luma;
  pixel.z = luma;
  vstore3(pixel, i, out);
}

// ---- Work-groups of the whole image, and what becomes of the last one -------------------------------------

__kernel void guarded(__global uchar4* restrict out, __global const uchar4* restrict in, const uint pixels) {
  const size_t i = get_global_id(0);
  if (i < pixels) out[i] = gray_of(in[i]);
}

// Leaves the check out: the buffers hold whole work-groups.
__kernel void padded(__global uchar4* restrict out, __global const uchar4* restrict in) {
  const size_t i = get_global_id(0);
  out[i] = gray_of(in[i]);
}

// Leaves the check out: only whole work-groups are launched, and the host does the rest.
__kernel void host_tail(__global uchar4* restrict out, __global const uchar4* restrict in) {
  const size_t i = get_global_id(0);
  out[i] = gray_of(in[i]);
}

// ---- Pixels as numbers ------------------------------------------------------------------------------------
//
// Compilers for processors make vectors of neighbouring work-items, but not of those that have a vector of four bytes
// each. Of a number per pixel they do; or the work-item has WIDTH of them.

#if WIDTH == 1
typedef uint Words;
#else
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(uint, WIDTH) Words;
#endif

// Multiplies red and blue at once: the product has 77 red + 29 blue in its upper half, without a carry from below.
#define GRAY_OF(pixel)                                                                                     \
  (((pixel) & 0xFF000000u) |                                                                               \
   ((((((pixel) & 0x00FF00FFu) * 0x004D001Du >> 16) + ((pixel) >> 8 & 0xFFu) * 150u + 128u) >> 8) * 0x00010101u))

__kernel void words(__global Words* restrict out, __global const Words* restrict in, const uint pixels) {
  const size_t i = get_global_id(0);
  if (i < pixels / WIDTH) {
    const Words held = in[i];
    out[i] = GRAY_OF(held);
  }
  if (i > 0) return;
  for (uint rest = pixels / WIDTH * WIDTH; rest < pixels; ++rest) {  // fewer than a vector
    const uint held = ((__global const uint*)in)[rest];
    ((__global uint*)out)[rest] = GRAY_OF(held);
  }
}
