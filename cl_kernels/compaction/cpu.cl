// SPDX-License-Identifier: Apache-2.0
// cpu: compacts on a CPU in one pass: a work-group is one work-item, which compacts its chunk without branches.
//
// CHUNK             keys of a chunk
// KEY_BYTES         of a key
// SPARE             keys behind the buffer's chunk, which vectors are written into
//
// The work-item appends every key of its chunk to a buffer in its core's cache and advances where the key is kept; it
// then learns by decoupled look-back where they go (Merrill & Garland 2016), and writes them.
#ifdef EDITOR
#define CHUNK 4096
#define KEY_BYTES 4
#define SPARE 16
#elif !defined(CHUNK) || !defined(KEY_BYTES) || !defined(SPARE)
#error "cpu.cl needs CHUNK, KEY_BYTES and SPARE from the host"
#endif
#include "compaction/keys.cl"
#include "lib/serial_look_back.cl"

// Compacts WIDE keys at once by AVX-512 (vpcompress), where the processor has it.
#if !STRUCT && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_compresssi512_mask) && __has_builtin(__builtin_ia32_cvtd2mask512)
#if KEY_BYTES == 4
#define WIDE 16
#define MASK_OF(yes) __builtin_ia32_cvtd2mask512(yes)
#define BROUGHT(x, mask) as_uint16(__builtin_ia32_compresssi512_mask(as_int16(x), as_int16(x), mask))
#define PLACES_BROUGHT BROUGHT
#define PLACES (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define PUT_WIDE(x, to) vstore16(x, 0, (__local uint*)(to))
#define PUT_PLACES vstore16
#else
#define WIDE 8
#define MASK_OF(yes) __builtin_ia32_cvtq2mask512(yes)
#define BROUGHT(x, mask) as_ulong8(__builtin_ia32_compressdi512_mask(as_long8(x), as_long8(x), mask))
#define PLACES_BROUGHT(x, mask) as_uint8(__builtin_ia32_compresssi256_mask(as_int8(x), as_int8(x), mask))
#define PLACES (uint8)(0, 1, 2, 3, 4, 5, 6, 7)
#define PUT_WIDE(x, to) vstore8(x, 0, (__local ulong*)(to))
#define PUT_PLACES vstore8
#endif
#endif
#endif

uint append_kept(__global const Key* restrict in, const ulong first, const ulong last, __local Key* held,
                 __local uint* places) {
  uint kept = 0;
  ulong i = first;
  (void)places;
#ifdef WIDE
  for (; i + WIDE <= last; i += WIDE) {
    const JOIN(KEY, WIDE) x = JOIN(vload, WIDE)(0, in + i);
    const uint mask = MASK_OF(KEPT(x));
    PUT_WIDE(BROUGHT(x, mask), held + kept);
#if INDEX
    PUT_PLACES(PLACES_BROUGHT((uint)i + PLACES, mask), 0, places + kept);
#endif
    kept += popcount(mask);
  }
#endif
  for (; i < last; ++i) {
    const Key key = in[i];
    held[kept] = key;
#if INDEX
    places[kept] = (uint)i;
#endif
    kept += keeps(key) ? 1 : 0;
  }
  return kept;
}

uint count_chunk(__global const Key* restrict in, const ulong first) {
  uint kept = 0;
  for (ulong i = first; i < first + CHUNK; ++i) kept += keeps(in[i]) ? 1 : 0;
  return kept;
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void cpu(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                  volatile __global StateWord* states, __global const Key* restrict in, const ulong n,
                  const uint tiles) {
  __local uint ticket[2];
  __local Key held[CHUNK + SPARE];
#if INDEX
  __local uint places[CHUNK + SPARE];
#else
  __local uint places[1];
  (void)index;
#endif
  const TileTicket mine = acquire_tile(states, tiles, ticket);
  const ulong first = (ulong)mine.tile * CHUNK;
  const uint kept = append_kept(in, first, min(first + CHUNK, n), held, places);
  if (mine.tile > 0) publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, kept);
  uint tile_prefix = 0;
  int position = (int)mine.tile - 1;
  serial_look_back(states, mine.epoch, &position, &tile_prefix);
  while (position != DONE) {  // the work-group that has that chunk is late
    const uint other = count_chunk(in, (ulong)position * CHUNK);
    try_publish(states, (uint)position, mine.epoch, other);
    tile_prefix += other;
    --position;
    serial_look_back(states, mine.epoch, &position, &tile_prefix);
  }
  publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, tile_prefix + kept);
  for (uint i = 0; i < kept; ++i) out[tile_prefix + i] = held[i];
#if INDEX
  for (uint i = 0; i < kept; ++i) index[tile_prefix + i] = places[i];
#endif
  if (mine.tile == tiles - 1) put_count(count, tile_prefix + kept, n);
}
