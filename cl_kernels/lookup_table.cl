// SPDX-License-Identifier: Apache-2.0
// lookup_table: reads elements of one table through a buffer, __constant memory, an image or a kernel argument.
//
// WORDS                  32-bit words of an element, 1 or 4
// LOG_ELEMENTS           elements of the table, as a power of two, 32 or more
// LOG_WIDTH              elements of a row of it
// LOG_TILE_WIDTH, LOG_TILE_HEIGHT   of the tile that a work-group reads at once
// PATTERN                what work-items read at once: UNIFORM: one element; NEIGHBOURING: consecutive ones; RANDOM: any;
//                        TILED: those of a tile
// IMAGE, ARGUMENT        defined where the kernels of these paths are needed, as not every device takes them
//
// A step of a generator chooses a place, from which four elements are read that lie DOWN apart, so that reads and not
// arithmetic take the time. Every read enters the output, in order.
#ifdef EDITOR
#define WORDS 1
#define LOG_ELEMENTS 12
#define LOG_WIDTH 6
#define LOG_TILE_WIDTH 4
#define LOG_TILE_HEIGHT 4
#define PATTERN TILED
#define IMAGE
#define ARGUMENT
#elif !defined(WORDS) || !defined(LOG_ELEMENTS) || !defined(LOG_WIDTH) || !defined(LOG_TILE_WIDTH) || \
    !defined(LOG_TILE_HEIGHT) || !defined(PATTERN)
#error "lookup_table.cl needs WORDS, LOG_ELEMENTS, LOG_WIDTH, LOG_TILE_WIDTH, LOG_TILE_HEIGHT and PATTERN from the host"
#endif

#define UNIFORM 0
#define NEIGHBOURING 1
#define RANDOM 2
#define TILED 3

#if WORDS == 1
#define V uint
#define TOTAL(v) (v)
#else
#define V uint4
#define TOTAL(v) ((v).x + 3u * (v).y + 5u * (v).z + 7u * (v).w)
#endif

#define ELEMENTS (1u << LOG_ELEMENTS)
#define WIDTH (1u << LOG_WIDTH)

// Returns the generator's state before the first step, which those share that read one place.
uint first_state(const uint seed) {
#if PATTERN == RANDOM
  uint x = seed ^ (uint)get_global_id(0);
#elif PATTERN == TILED
  uint x = seed ^ (uint)get_group_id(0);
#else
  uint x = seed;
#endif
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}

// Returns the place of the first of four reads: in the upper half of the table, or of a tile and three rows below it.
uint place_of(const uint state) {
#if PATTERN == TILED
  const uint corner = state >> (34 - LOG_ELEMENTS), lane = (uint)get_local_id(0);
  const uint x = (corner & (WIDTH / 2 - 1)) + (lane & ((1u << LOG_TILE_WIDTH) - 1));
  const uint y = (corner >> (LOG_WIDTH - 1)) + ((lane >> LOG_TILE_WIDTH) & ((1u << LOG_TILE_HEIGHT) - 1));
  return (y << LOG_WIDTH) + x;
#elif PATTERN == NEIGHBOURING
  // Begins at a multiple of 32 elements, or of an eighth of a small table.
  const uint aligned = LOG_ELEMENTS < 8 ? ELEMENTS / 8 : 32u;
  return ((state >> (33 - LOG_ELEMENTS) & ~(aligned - 1)) + (uint)get_global_id(0)) & (ELEMENTS / 2 - 1);
#else
  return state >> (33 - LOG_ELEMENTS);
#endif
}

#if PATTERN == TILED
#define DOWN 1u  // rows from one read to the next
#else
#define DOWN (ELEMENTS / WIDTH / 8)
#endif

// Executes PREPARE and four READs with the place `at` in scope for each step of the generator.
#define FOR_EACH_PLACE(PREPARE, READ)                 \
  uint state = first_state(seed);                     \
  for (uint i = 0; i < iterations; i += 4) {          \
    state = state * 1664525u + 1013904223u;           \
    const uint at = place_of(state);                  \
    PREPARE;                                          \
    READ(0);                                          \
    READ(1);                                          \
    READ(2);                                          \
    READ(3);                                          \
  }

// An order of reads that is not kept gives another sum.
#define ADD(element) sum = sum * 3u + (element)
#define LOOK_UP(PREPARE, READ)                 \
  V sum = (V)((uint)get_global_id(0));         \
  FOR_EACH_PLACE(PREPARE, READ)                \
  out[get_global_id(0)] = TOTAL(sum)

#define FROM_MEMORY(n) ADD(table[at + n##u * DOWN * WIDTH])
__kernel void read_buffer(__global uint* restrict out, __global const V* restrict table, const uint seed,
                          const uint iterations) {
  LOOK_UP(, FROM_MEMORY);
}

__kernel void read_constant(__global uint* restrict out, __constant V* restrict table, const uint seed,
                            const uint iterations) {
  LOOK_UP(, FROM_MEMORY);
}

#ifdef ARGUMENT
typedef struct {
  V elements[ELEMENTS];
} Table;

#define FROM_ARGUMENT(n) ADD(table.elements[at + n##u * DOWN * WIDTH])
__kernel void read_argument(__global uint* restrict out, const Table table, const uint seed, const uint iterations) {
  LOOK_UP(, FROM_ARGUMENT);
}
#endif

#ifdef IMAGE
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

#if WORDS == 1
#define CHANNELS(texel) (texel).x
#else
#define CHANNELS(texel) (texel)
#endif

#define AT_TEXEL const int2 texel = (int2)((int)(at & (WIDTH - 1)), (int)(at >> LOG_WIDTH))
#define FROM_IMAGE(n) ADD(CHANNELS(read_imageui(table, nearest, texel + (int2)(0, n * (int)DOWN))))
__kernel void read_image(__global uint* restrict out, __read_only image2d_t table, const uint seed,
                         const uint iterations) {
  LOOK_UP(AT_TEXEL, FROM_IMAGE);
}

// Samples a quarter of the way to the next column and half of the way to the next row.
#define BETWEEN_TEXELS \
  const float2 point = (float2)((float)(at & (WIDTH - 1)) + 0.75f, (float)(at >> LOG_WIDTH) + 1.0f)
#define SAMPLE(n) sum += read_imagef(table, linear, point + (float2)(0.0f, (float)(n * DOWN)))
__kernel void read_linear_image(__global float* restrict out, __read_only image2d_t table, const uint seed,
                           const uint iterations) {
  float4 sum = (float4)(0.0f);
  FOR_EACH_PLACE(BETWEEN_TEXELS, SAMPLE)
  out[get_global_id(0)] = WORDS == 1 ? sum.x : sum.x + sum.y + sum.z + sum.w;
}
#endif
