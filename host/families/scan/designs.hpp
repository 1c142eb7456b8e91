// SPDX-License-Identifier: Apache-2.0
// designs: the scan kernels (values of axis kernel) and their properties, one entry each. Plans, axes and
// findings read only these.
#pragma once
#include <span>

#include "suite/case.hpp"

namespace clweave::families {

struct ScanDesign {
  enum class Method {
    passes,            // Hillis and Steele: log2(n) launches over all elements
    three_phase,       // scans tiles, scans their aggregates, combines those with the tiles
    reduce_then_scan,  // reduces tiles, scans the aggregates, scans each tile, starting from its prefix
    single_pass,       // one launch; a tile computes its prefix from the tile states of its predecessors
    encode,            // the inverse of a scan
    copy,              // the driver's copy
  };
  // Location of a work-group's tile.
  enum class Storage {
    none,   // there are no tiles
    local,  // passes through local memory, so that a work-item has consecutive elements: axis per_work_item
    registers,  // vectors of 16 bytes: axis vectors_per_item
    cache,      // of a CPU's core: axis chunk_kib
  };
  // How a design scans tuples, each component on its own. A component is one number of a tuple; an element is
  // what the operator combines; a tile state publishes the sum of a tile.
  enum class Tuples {
    structs,      // an element of the input is a whole tuple, and so is the sum in a tile state
    interleaved,  // an element is one number; place i of every OpenCL vector holds the same component, so
                  // tuple sizes are powers of two; a tile state holds a sum per component
    strided,      // an element is one number; work-items access numbers a tuple apart in local memory; a tile
                  // state holds a sum per component
    by_component,  // an element is one number; a tile has a state per component, each with one sum
    in_state,      // an element is one number; a tile state holds a sum per component and scan order
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
  bool subgroups = false;  // work-items exchange values by the sub-group implementation (axis subgroup_impl)
  bool ptx = false;        // has a variant with inline PTX; axis registers applies to it
  bool parallel_lookback = false;  // several work-items each inspect a predecessor tile at the same time
  // Hangs unless other work-groups make progress: chained, lookback and sam. The other single-pass kernels
  // compute a missing aggregate themselves; their variants with inline PTX do not, so scan_config()
  // (config.hpp) sets the flag for those, too.
  bool needs_forward_progress = false;
  bool any_scan_order = false;  // one scan computes any order; other designs repeat the whole scan
  bool binomial_weights =
      false;  // of order k by one look-back: sums of orders 1 to k, weighted by a table of binomials
  bool circular_states = false;  // tile states lie in a circular buffer, of one size for all n
  bool prefetch = false;         // loads the next tile before it waits, unless axis prefetch says no

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
