// case: one point of a sweep.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "suite/axis.hpp"

namespace clweave::suite {

// One point of a sweep.
struct Case {
  std::string family;
  std::vector<std::pair<std::string, Value>> axes;  // in the family's order
  std::uint64_t seed = 0;                           // of the inputs; not part of the id

  const Value& at(const std::string& axis) const;  // usage error when the family has no such axis
  std::int64_t number(const std::string& axis) const;
  const std::string& text(const std::string& axis) const;
  std::uint64_t count(const std::string& axis) const { return static_cast<std::uint64_t>(number(axis)); }
  // One from `least` to `most` where this kernel takes less than its axis: `unsupported` otherwise.
  std::uint64_t count(const std::string& axis, std::int64_t least, std::int64_t most) const;
  bool is(const std::string& axis, const std::string& word) const { return text(axis) == word; }
  Case with(const std::string& axis, Value value) const;  // usage error, too
  std::string id() const;                                 // divergence/kernel=grid/parity=row/...
};

}  // namespace clweave::suite
