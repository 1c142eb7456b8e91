// case: one value for every axis of a family.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/axis.hpp"

namespace clweave::suite {

// One point of a sweep.
struct Case {
  std::string family;
  std::vector<std::pair<std::string, Value>> axes;  // in the family's order
  std::uint64_t seed = 0;                           // for the inputs; not part of the id

  const Value& at(std::string_view axis) const;  // throws `usage` if the family has no such axis
  std::int64_t number(std::string_view axis) const;
  const std::string& text(std::string_view axis) const;
  std::uint64_t count(std::string_view axis) const { return static_cast<std::uint64_t>(number(axis)); }
  // As above for a kernel that accepts less than its axis: throws `unsupported` outside least .. most.
  std::uint64_t count(std::string_view axis, std::int64_t least, std::int64_t most) const;
  bool is(std::string_view axis, std::string_view word) const { return text(axis) == word; }
  Case with(std::string_view axis, Value value) const;  // throws `usage`, too
  std::string id() const;                               // matrix_access/kernel=grid/parity=row/...
};

}  // namespace clweave::suite
