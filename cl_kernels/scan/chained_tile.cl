// SPDX-License-Identifier: Apache-2.0
// chained_tile: gives a tile in local memory what a single-pass scan needs: a ticket, tile states, a prefix.
#pragma once
#include "lib/serial_look_back.cl"
#include "scan/local_tile.cl"

// Declares local memory: `ticket`, `shared_prefix`, and what TILE_MEMORY declares.
#define CHAIN_MEMORY           \
  TILE_MEMORY;                 \
  __local uint ticket[2];      \
  __local Element shared_prefix[1]
