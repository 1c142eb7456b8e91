// SPDX-License-Identifier: Apache-2.0
// walks: pointer chases through memory in scattered order.
//
// The order is a computed permutation, so the end of any chase is known without chasing.
#pragma once
#include "base/permutation.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

// Cyclic order of nodes 0 .. n - 1.
class Tour {
 public:
  // Visits blocks of `near` consecutive nodes one after the other, the remainder last.
  Tour(std::uint64_t seed, std::uint64_t nodes, std::uint64_t near)
      : blocks_(nodes / near, seed), within_(near, mix_bits(seed)), rest_(nodes % near, mix_bits(seed + 1)) {}
  Tour(std::uint64_t seed, std::uint64_t nodes) : Tour(seed, nodes, nodes) {}

  std::uint64_t nodes() const { return behind() + rest_.size(); }
  std::uint64_t node(std::uint64_t k) const {  // returns the k-th node visited
    k %= nodes();
    if (k >= behind()) return behind() + rest_(k - behind());
    return blocks_(k / within_.size()) * within_.size() + within_(k % within_.size());
  }
  std::uint64_t after(std::uint64_t node, std::uint64_t hops) const {
    return this->node(place_of(node) + hops);
  }

 private:
  std::uint64_t behind() const { return blocks_.size() * within_.size(); }
  std::uint64_t place_of(std::uint64_t node) const {
    if (node >= behind()) return behind() + rest_.place_of(node - behind());
    return blocks_.place_of(node / within_.size()) * within_.size() + within_.place_of(node % within_.size());
  }

  Permutation blocks_, within_, rest_;
};

struct Walks {
  std::uint64_t bytes = 0;         // of memory covered
  std::uint64_t node_bytes = 128;  // distance of nodes, at least a cache line
  // Visits all nodes of 64 pages before others, so that TLB misses hardly matter; 64 pages are more than a
  // prefetcher follows.
  bool by_pages = false;
  std::uint64_t hops = 0;    // loads of each
  std::uint64_t groups = 1;  // work-groups of one work-item, with a chase each
  bool own = false;          // each through that many bytes of its own
  // If not 0, each step loads a second word, this many bytes after the node.
  std::uint64_t apart = 0;
};

// Plans chases by the kernels of latency.cl, for `apart` of cache.cl.
Plan plan_of_walks(std::uint64_t seed, const Walks&);

// Plans one chase whose nodes hold addresses instead of indices, by lib/address_chase.cl: a step is a load
// alone. The first launch writes the addresses once; later it finds them written. Such a row is `unsupported`
// where a compiler makes no pointer of a number.
Plan plan_of_address_walk(std::uint64_t seed, const Walks&, const DeviceInfo&);

}  // namespace clweave::families
