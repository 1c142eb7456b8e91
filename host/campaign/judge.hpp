// SPDX-License-Identifier: Apache-2.0
// judge: holds the rows of one device and run against its ceilings and against each other. No OpenCL.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "device/run_case.hpp"
#include "suite/selection.hpp"

namespace clweave {

class Judge {
 public:
  // Takes the row of a ceiling job as a measure for others. A ceiling only ever rises.
  void learn(const Row&, const Job&);

  // Why the row cannot be true; empty when nothing speaks against it:
  //   - time stamps that are not after each other, all the same, or far from the host's clock
  //   - more than 1.05 x a measured ceiling that it cannot beat, unless its buffers fit the cache
  //   - at least twice the n, or twice the trips, of an otherwise equal case in less than 0.7 of its time,
  //     by the intervals of both medians
  std::string doubt(const Row&, const Job&) const;

  // Fills `cached` and `of_ceiling`, makes the row `implausible` when `doubt` is not empty, and remembers it.
  void complete(Row&, const Job&, const std::string& doubt);

  // One record per conclusion of each family, from the rows that were ok.
  std::vector<Record> findings(const DeviceInfo&) const;

 private:
  bool is_cached(const Row&) const;

  struct Seen {
    Case at;
    double low_s, high_s;  // of the median
  };
  std::map<Ceiling, double> ceilings_;  // best rate
  std::map<const Family*, std::vector<Outcome>> outcomes_;
  std::vector<const Family*> order_;
  std::map<std::string, std::vector<Seen>> siblings_;  // by id without n and trips
};

}  // namespace clweave
