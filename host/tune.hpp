// SPDX-License-Identifier: Apache-2.0
// tune: searches the tunable axes of cases for the fastest configuration of each variant.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"
#include "record.hpp"
#include "search.hpp"

namespace clweave {

// All configurations of one variant: `space.points()[i]` is `cases[i]`.
struct Landscape {
  const Family* family;
  std::string variant;
  std::vector<Case> cases;
  Space space;
};

// The variants that the jobs belong to, each with every configuration that makes sense and that the device
// can run. An axis takes the values of `--set`, else those the family lists and those the jobs have. Throws
// `usage` when no family of the jobs has a tunable axis.
std::vector<Landscape> landscapes_of(const std::vector<Job>&, const Selection&, const DeviceInfo&);

// What a search found, for people: the best configuration of each variant with its interval, how many others
// are as good, the spread of all, and the gain over the default. `rows` are those of the variant, in the
// order measured.
struct Search {
  const Landscape* landscape;
  std::vector<Record> rows;
  double took_s = 0;
};
std::string searches_text(const std::vector<Search>&, bool colour);

// `clweave tune`. Returns an Exit; throws `usage`, `no_device` and `io`.
int tune(const Options&, const std::vector<std::string>& arguments);

}  // namespace clweave
