// case: one value for every axis of a family.
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
  std::uint64_t seed = 0;                           // for the inputs; not part of the id

  const Value& at(const std::string& axis) const;  // throws `usage` if the family has no such axis
  std::int64_t number(const std::string& axis) const;
  const std::string& text(const std::string& axis) const;
  std::uint64_t count(const std::string& axis) const { return static_cast<std::uint64_t>(number(axis)); }
  // As above for a kernel that accepts less than its axis: throws `unsupported` outside least .. most.
  std::uint64_t count(const std::string& axis, std::int64_t least, std::int64_t most) const;
  bool is(const std::string& axis, const std::string& word) const { return text(axis) == word; }
  Case with(const std::string& axis, Value value) const;  // throws `usage`, too
  std::string id() const;                                 // matrix_access/kernel=grid/parity=row/...
};

}  // namespace clweave::suite
