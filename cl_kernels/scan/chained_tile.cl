// SPDX-License-Identifier: Apache-2.0
// chained_tile: gives a tile in local memory what a single-pass scan needs: a ticket, tile states, a carry.
#pragma once
#include "lib/serial_look_back.cl"
#include "scan/local_tile.cl"

#define CHAIN_MEMORY           \
  TILE_MEMORY;                 \
  __local uint ticket[2];      \
  __local Element carried[1]
