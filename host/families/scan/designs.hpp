// SPDX-License-Identifier: Apache-2.0
// designs: the properties of the scan designs, one row each. Plans, axes and findings read only these.
#pragma once
#include <span>

#include "suite/case.hpp"

namespace clweave::families {

struct ScanDesign {
  enum class Method {
    passes,            // Hillis and Steele: log2(n) launches over all elements
    three_phase,       // scans tiles, scans their aggregates, combines those with the tiles
    reduce_then_scan,  // reduces tiles, scans the aggregates, scans the tiles onto them
    single_pass,       // one launch; tiles learn their prefixes from the tile states of others
    encode,            // the inverse of a scan
    copy,              // the driver's copy
  };
  // Location of a work-group's tile.
  enum class Storage {
    none,       // there are no tiles
    local,      // local memory: axis per_work_item
    registers,  // vectors of 16 bytes: axis vectors_per_item
    cache,      // of a CPU's core: axis chunk_kib
  };
  // How a design scans tuples, each component by itself.
  enum class Tuples {
    structs,       // a tuple is an element
    interleaved,   // a value is an element, in interleaved layout; each place of a vector belongs to one
                   // component, so tuples are powers of two
    by_component,  // a value is an element, and each component has aggregates and tile states of its own
    in_state,      // an element is a value, and a tile state has the values of all components and orders
    none,          // no tuples
  };
  // Whether work-groups loop over many tiles.
  enum class Persistence {
    never,    // a work-group has one tile
    by_axis,  // they loop unless axis groups_per_cu is 0
    always,
  };

  const char* name = "";
  const char* source = "";  // kernel file
  Method method = Method::passes;
  Storage tile = Storage::none;
  Tuples tuples = Tuples::structs;
  Persistence persistence = Persistence::never;
  bool batches = false;    // launches one batch of tiles after the other, each small enough for a cache
  bool subgroups = false;  // work-items exchange values through the sub-group backend
  bool ptx = false;        // has a variant for NVIDIA's backend, whose compiler heeds axis registers
  bool parallel_lookback = false;       // several work-items each inspect a predecessor tile at the same time
  bool needs_forward_progress = false;  // waits for other work-groups without a fallback
  bool all_orders = false;              // one scan computes any order; other designs repeat theirs
  bool binomial_weights = false;        // higher orders take a table of binomial coefficients
  bool circular_states = false;         // tile states lie in a circular buffer, of one size for all n
  bool prefetch = false;                // loads the next tile before it waits, unless axis prefetch says no

  bool single_pass() const { return method == Method::single_pass; }
  bool encodes() const { return method == Method::encode; }
  bool copies() const { return method == Method::copy; }
  bool in_registers() const { return tile == Storage::registers; }
  bool on_cpu() const { return tile == Storage::cache; }
  bool persistent() const { return persistence != Persistence::never; }
};

std::span<const ScanDesign> scan_designs();
const ScanDesign& scan_design_of(const Case&);

}  // namespace clweave::families
