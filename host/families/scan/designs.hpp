// SPDX-License-Identifier: Apache-2.0
// designs: the properties of the scan designs, one row each, from which everything else follows.
#pragma once
#include <span>

#include "suite/case.hpp"

namespace clweave::families {

struct ScanDesign {
  enum class Method {
    passes,  // of Hillis and Steele, over everything
    three_phase,
    reduce_then_scan,
    single_pass,  // tiles are chained by tile states
    encode,       // the inverse of a scan
    copy,         // the driver's
  };
  // Location of a work-group's tile.
  enum class Storage {
    none,
    local,      // local memory: axis per_work_item
    registers,  // vectors of 16 bytes: axis vectors_per_item
    cache,      // of a processor: axis chunk_kib
  };
  // Scan of tuples, whose values are scanned each by itself.
  enum class Tuples {
    structs,   // a tuple is an element
    in_place,  // a value is an element; each place of a vector belongs to one value of a tuple, so tuples
               // are powers of two
    streams,   // a value is an element, and each value of a tuple has sums of its own
    in_state,  // a state has all values of a tuple, of all orders
    none,
  };
  enum class Persistence { never, by_axis, always };  // by_axis: unless groups_per_cu is 0

  const char* name = "";
  const char* source = "";  // kernel file
  Method method = Method::passes;
  Storage tile = Storage::none;
  Tuples tuples = Tuples::structs;
  Persistence persistence = Persistence::never;
  bool batches = false;            // launches batches that fit a cache
  bool subgroups = false;          // work-items exchange values through the sub-group backend
  bool ptx = false;                // NVIDIA's backend, too, whose compiler obeys axis registers
  bool parallel_lookback = false;  // inspects several predecessor tiles per step
  bool waits = false;              // for other work-groups, without a fallback
  bool all_orders = false;         // one scan is of any order; other designs repeat theirs
  bool weights = false;            // higher orders take a table of binomial coefficients
  bool ring = false;               // tile states are a ring, of one size for all n
  bool prefetch = false;           // loads the next tile before it waits, unless axis prefetch says no

  bool single_pass() const { return method == Method::single_pass; }
  bool encodes() const { return method == Method::encode; }
  bool copies() const { return method == Method::copy; }
  bool in_registers() const { return tile == Storage::registers; }
  bool on_processor() const { return tile == Storage::cache; }
  bool persistent() const { return persistence != Persistence::never; }
};

std::span<const ScanDesign> scan_designs();
const ScanDesign& scan_design_of(const Case&);

}  // namespace clweave::families
