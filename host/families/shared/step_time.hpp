// SPDX-License-Identifier: Apache-2.0
// step_time: what a step of a dependency chain takes, from chains of two lengths.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "suite/outcome.hpp"

namespace clweave::families {

// Outcomes of one chain by its steps; `add` keeps the fastest of each length.
class ChainTimes {
 public:
  void add(std::int64_t steps, const Outcome&);
  std::size_t lengths() const { return fastest_.size(); }
  double ns_per_step() const;  // of the longest, its launch included

  // Makes a finding in ns of the slope between the shortest and the longest chain, which leaves out the
  // launch and all that happens once in it, with an interval from theirs. `noise` is the
  // standard deviation of log(time) from row to row, where more is known of it than the intervals tell.
  // Undecided where one has none, where the slope's is wider than a quarter of it either way, and where it
  // contradicts the longer chain. `what` begins the sentence, "one step of mad_chain takes".
  Finding slope(const std::string& name, const std::string& what, double noise = 0) const;
  // Makes a finding of the longest chain's time per step alone. `beside` ends the sentence: what else is in
  // it.
  Finding whole(const std::string& name, const std::string& what, const std::string& beside) const;

 private:
  std::map<std::int64_t, const Outcome*> fastest_;
};

}  // namespace clweave::families
