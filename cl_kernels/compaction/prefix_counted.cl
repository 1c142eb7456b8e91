// SPDX-License-Identifier: Apache-2.0
// prefix_counted: reads how many keys are kept before a tile, which earlier launches counted and scanned.
#pragma once
#include "compaction/count_tiles.cl"
#include "scan/scan_sums.cl"

#define BY_TILE_STATES 0
#define ORDERED 1
#define STATES __global const uint*
#define PREFIX_MEMORY
#define TILE_PREFIX_OF(mine, total) (mine.tile > 0 ? states[mine.tile - 1] : 0)
