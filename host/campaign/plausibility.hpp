// SPDX-License-Identifier: Apache-2.0
// plausibility: checks the rows of one device and run against its peaks and against each other. No OpenCL.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/row.hpp"
#include "suite/outcome.hpp"
#include "suite/selection.hpp"

namespace clweave::campaign {

// Explains why a row cannot be true, and which measurement it contradicts.
struct Implausible {
  enum class Against {
    nothing,
    stamps,  // its own time stamps: not in order, all equal, or far from the host's clock
    peak,    // more than 1.05 x a measured peak, unless its buffers fit the cache
    sibling  // a case that differs in n or the iterations alone: at least twice the work in less than 0.7 of
             // the time, or the other way round
  };
  Against against = Against::nothing;
  std::string why;
  std::optional<Case> sibling = {};
  // The machine was not quiet while the measurement ran that looks too slow beside it: a busy machine
  // explains the contradiction as well.
  bool undecided = false;

  explicit operator bool() const { return against != Against::nothing; }
};

class PlausibilityCheck {
 public:
  explicit PlausibilityCheck(DeviceInfo device) : device_(std::move(device)) {}

  // Remembers the row of a peak as a bound for others, and that of another case as a sibling of similar
  // ones. Bounds only rise and times of siblings only fall, because other users of the machine make either
  // look slower than it is.
  void learn(const Row&, const Job&);

  // Returns what the row contradicts. Overlapping confidence intervals are not a contradiction.
  Implausible check(const Row&, const Job&) const;

  // Fills `cached` and `fraction_of_peak`, makes the row `implausible` if it contradicts something, or
  // disturbed if that is undecided, and remembers it.
  void complete(Row&, const Job&, const Implausible&);

  // Returns the family's rows so far that were ok.
  const std::vector<Outcome>& outcomes(const Family&) const;

  double cache_bytes() const { return cache_bytes_; }

  // Builds a record per finding of each family, from the rows that were ok.
  std::vector<Record> findings() const;

 private:
  bool is_cached(const Row&) const;
  // Considers the caches that a CPU's operating system reports, too: with a poor kernel compiler a cache
  // measures like memory, while the driver's own copy reaches the cache's rate.
  bool may_be_cached(const Row&) const;

  struct Seen {
    Case at;
    double low_s = 0, high_s = 0;  // of the median
    bool slowed = false;
  };
  struct Best {
    double rate = 0;     // by the median
    double at_most = 0;  // by the lower end of the median's interval
    // By id of a case: whether it was measured on a quiet machine once. Another one may be the fastest there.
    std::map<std::string, bool> quiet;

    bool any_quiet() const {
      return std::ranges::any_of(quiet, [](const auto& peak) { return peak.second; });
    }
  };
  DeviceInfo device_;
  std::map<Peak, Best> peaks_;
  double cache_bytes_ = 0;  // as found by the peak family; 0: not known
  std::map<const Family*, std::vector<Outcome>> outcomes_;
  std::vector<const Family*> order_;
  std::map<std::string, std::vector<Seen>> siblings_;  // by id without the sizes
};

}  // namespace clweave::campaign
