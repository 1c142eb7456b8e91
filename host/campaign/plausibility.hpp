// SPDX-License-Identifier: Apache-2.0
// judge: holds the rows of one device and run against its ceilings and against each other. No OpenCL.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/row.hpp"
#include "suite/outcome.hpp"
#include "suite/selection.hpp"

namespace clweave::campaign {

// Why a row cannot be true, and what would have to be measured again to be sure.
struct Implausible {
  enum class Against {
    nothing,
    stamps,   // its own: not after each other, all the same, or far from the host's clock
    ceiling,  // more than 1.05 x a measured ceiling that it cannot beat, unless its buffers fit the cache
    sibling   // at least twice the n, or twice the trips, of an otherwise equal case in less than 0.7 of its
              // time, or the other way round
  };
  Against against = Against::nothing;
  std::string why;
  std::optional<Case> sibling = {};

  explicit operator bool() const { return against != Against::nothing; }
};

class PlausibilityCheck {
 public:
  explicit PlausibilityCheck(DeviceInfo device) : device_(std::move(device)) {}

  // Takes the row of a ceiling as a measure for others, and that of another case as a sibling of its likes.
  // A ceiling only ever rises, a sibling's time only ever falls: a neighbour on the machine makes either
  // look slower than it is.
  void learn(const Row&, const Job&);

  // By the intervals of both medians where they are known: what noise explains is no doubt.
  Implausible doubt(const Row&, const Job&) const;

  // Fills `cached` and `of_ceiling`, makes the row `implausible` when there is a doubt, and remembers it.
  void complete(Row&, const Job&, const Implausible&);

  // What is known of a family by now: its rows that were ok.
  const std::vector<Outcome>& outcomes(const Family&) const;

  double cache_bytes() const { return cache_bytes_; }  // as family ceiling concludes; 0: not known

  // One record per conclusion of each family, from the rows that were ok.
  std::vector<Record> findings() const;

 private:
  bool is_cached(const Row&) const;
  // By what a CPU's system says of its caches, too: by kernels of a poor compiler a cache looks like memory,
  // while the driver's copy is as fast as the cache.
  bool may_be_cached(const Row&) const;

  struct Seen {
    Case at;
    double low_s = 0, high_s = 0;  // of the median
  };
  struct Best {
    double rate = 0;     // by the median
    double at_most = 0;  // by the lower end of the median's interval
  };
  DeviceInfo device_;
  std::map<Ceiling, Best> ceilings_;
  double cache_bytes_ = 0;  // as family ceiling concludes; 0: not known
  std::map<const Family*, std::vector<Outcome>> outcomes_;
  std::vector<const Family*> order_;
  std::map<std::string, std::vector<Seen>> siblings_;  // by id without n and trips
};

}  // namespace clweave::campaign
