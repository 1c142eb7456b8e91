// SPDX-License-Identifier: Apache-2.0
// single_pass_tile: declares the local memory of single-pass scans that load and store tiles through local memory, so
// that each work-item has consecutive elements.
//
// These kernels share the following names, most of them macros that the host defines when it builds the program:
//
// GROUP             work-items of a work-group
// ELEMENTS_PER_WORK_ITEM   elements of a work-item; a tile has GROUP times as many
// EXCLUSIVE_SCAN    1: an exclusive scan; 0: an inclusive one
// SPIN_LIMIT        loads of a predecessor's state before the work-group computes the aggregate itself; in kernels that
//                   cannot, such as lookback, seconds of loads: a hang becomes a wrong result, which the check sees
// Element           what the operator combines: lib/elements.cl
// StateWord         atomic word with value bits, status and epoch; a tile state, which a tile publishes in global
//                   memory, has one or more: lib/tile_states.cl
// epoch             number of the launch, stored in each tile state, so that states of earlier launches count as empty
#pragma once
#include "lib/serial_look_back.cl"
#include "scan/local_tile.cl"

// Declares local memory:
// `staged`          the tile, between global memory and registers (TILE_MEMORY)
// `partials`        two elements per work-item, in which scan_group scans one aggregate per work-item (TILE_MEMORY)
// `ticket`          the tile that the work-group took from the atomic counter, and the epoch
// `shared_prefix`   the tile's exclusive prefix, from the work-item that looked back to all others
#define SINGLE_PASS_MEMORY     \
  TILE_MEMORY;                 \
  __local uint ticket[2];      \
  __local Element shared_prefix[1]
