// SPDX-License-Identifier: Apache-2.0
// walks: through memory in scattered order, in which every load waits for the one before.
//
// The order is one to one and reckoned, not stored, so the end of any walk is known without walking.
#pragma once
#include "families/shared/permutation.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

// Nodes 0 .. n - 1 in a circle: which one follows.
class Tour {
 public:
  // `near` nodes that follow each other in memory are visited before others are, and those behind the last
  // multiple of so many at the end.
  Tour(std::uint64_t seed, std::uint64_t nodes, std::uint64_t near)
      : blocks_(nodes / near, seed), within_(near, mix_bits(seed)), rest_(nodes % near, mix_bits(seed + 1)) {}
  Tour(std::uint64_t seed, std::uint64_t nodes) : Tour(seed, nodes, nodes) {}

  std::uint64_t nodes() const { return behind() + rest_.size(); }
  std::uint64_t node(std::uint64_t k) const {  // the k-th on the way
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
  std::uint64_t bytes = 0;         // of memory that they go through
  std::uint64_t node_bytes = 128;  // from node to node: no cache's line has two
  // All nodes of 64 pages before those of others: so the cache of addresses hardly counts, and these are more
  // pages than a prefetcher keeps an eye on.
  bool by_pages = false;
  std::uint64_t hops = 0;    // of each
  std::uint64_t groups = 1;  // of one item each, and a walk each
  bool own = false;          // each through so many bytes of its own
  // 0: a hop is one load. Else two: the second of the word so many bytes behind the node.
  std::uint64_t apart = 0;
};

// The kernels are in latency.cl, and for `apart` in cache.cl.
Plan plan_of_walks(std::uint64_t seed, const Walks&);

}  // namespace clweave::families
