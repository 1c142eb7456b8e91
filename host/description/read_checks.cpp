// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/near_word.hpp"
#include "description/parts.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t most_checks = 100;

ByReference reference_in(const Field& field, std::size_t checked, const Parts& parts) {
  const Table table = field.table({"kernel", "global", "local", "args"});
  ByReference reference{launch_in(table, plan_names(parts), parts)};
  if (!reference.launch.takes(checked))
    field.refuse(
        fmt::format("the reference does not take '{}', which it must write", parts.names.buffers[checked]));
  for (const auto& [name, is_sure] : kernels_of(reference.launch, {}, {}, parts)) {
    const std::string parameter = const_parameter(name, reference.launch, checked, parts);
    if (is_sure && !parameter.empty())
      field.refuse(fmt::format("the reference takes '{}' as '{}', and must write it: leave out the const",
                               parts.names.buffers[checked], parameter));
  }
  return reference;
}

std::size_t compared_in(const Field& name, const Parts& parts) {
  const std::size_t of = parts.buffer(name);
  if (!parts.made.buffers[of].is_input())
    name.refuse(fmt::format("buffer '{}' has no contents to compare with", parts.names.buffers[of]));
  return of;
}

PermutationOf permutation_in(const Field& name, std::size_t checked, const Parts& parts) {
  const std::size_t of = compared_in(name, parts);
  const auto &type = parts.made.buffers[of].type, &wanted = parts.made.buffers[checked].type;
  if (!(type == wanted))
    name.refuse(fmt::format("'{}' is of type {} and '{}' of type {}: one is no permutation of the other",
                            parts.names.buffers[of], type.text(), parts.names.buffers[checked],
                            wanted.text()));
  return {of};
}

Sorted sorted_in(const Field& field) {
  if (field.line() != "sorted")
    field.refuse(fmt::format("unknown invariant '{}'; there is sorted", field.line()));
  return {};
}

double error_in(const Field& field) {
  const double value = field.number();
  if (value < 0) field.refuse(fmt::format("{} is {}, and must be 0 or more", field.label(), value));
  return value;
}

Tolerance tolerance_in(const Table& table, const TypeOf& type) {
  constexpr std::int64_t most_ulp = 1LL << 32U;
  Tolerance tolerance;
  if (const auto absolute = table.find("absolute")) tolerance.absolute = error_in(*absolute);
  if (const auto relative = table.find("relative")) {
    tolerance.relative = error_in(*relative);
    if (tolerance.relative >= 1)
      relative->refuse(
          fmt::format("{} is {}, and must be less than 1", relative->label(), tolerance.relative));
  }
  const auto ulp = table.find("ulp");
  if (!ulp) return tolerance;
  if (!ulp->is_whole() || ulp->whole() < 0 || ulp->whole() > most_ulp)
    ulp->refuse(ulp->label() + " must be a whole number from 0 to 2^32");
  if (!type.may_be_float())
    ulp->refuse("'ulp' is of floating-point types, and the buffer has " + type.text());
  tolerance.ulp = static_cast<std::uint64_t>(ulp->whole());
  return tolerance;
}

using By = decltype(CheckOf::by);

By by_in(const std::string& kind, const Field& field, std::size_t checked, const Parts& parts) {
  if (kind == "reference") return reference_in(field, checked, parts);
  if (kind == "npy") {
    need_one_type(field, parts.made.buffers[checked].type);
    return ByFile{path_within(parts.folder, field.line(), field.place())};
  }
  if (kind == "expression") return ByExpression{element_in(field, parts)};
  if (kind == "permutation_of") return permutation_in(field, checked, parts);
  if (kind == "sum_of") return SumOf{compared_in(field, parts)};
  return sorted_in(field);
}

CheckOf check_in(const Field& field, const Parts& parts) {
  const std::vector<std::string> kinds = {"reference",      "npy",   "expression", "invariant",
                                          "permutation_of", "sum_of"};
  const std::vector<const char*> tolerances = {"ulp", "absolute", "relative"};
  std::vector<std::string> keys = kinds, given;
  keys.emplace_back("buffer");
  keys.insert(keys.end(), tolerances.begin(), tolerances.end());
  const Table table = field.table(keys);
  const Field name = table.need("buffer");
  const std::size_t checked = parts.buffer(name);
  const BufferOf& of = parts.made.buffers[checked];
  if (of.contents && !of.is_input())
    name.refuse(fmt::format("buffer '{}' is scratch, which nothing checks: leave out its contents", of.name));
  for (const auto& kind : kinds) {
    if (table.has(kind)) given.push_back(kind);
  }
  if (given.size() != 1)
    table.refuse(
        fmt::format("{} has {}: it takes one of {}", table.label(),
                    given.empty() ? "nothing to compare with" : fmt::format("{}", fmt::join(given, " and ")),
                    fmt::join(kinds, ", ")));
  const Tolerance tolerance = tolerance_in(table, parts.made.buffers[checked].type);
  CheckOf check{checked, by_in(given[0], table.need(given[0]), checked, parts), tolerance};
  const bool compares_itself = given[0] == "invariant" || given[0] == "permutation_of";
  for (const auto* key : tolerances) {
    if (const auto other = table.find(key); other && compares_itself)
      refuse(other->key_place(), fmt::format("'{}' means nothing with '{}'", key, given[0]));
  }
  return check;
}

}  // namespace

void read_checks(const Field& checks, Parts& parts) {
  const auto list = checks.list();
  if (list.size() > most_checks)
    checks.refuse(fmt::format("{} checks, and there may be {}", list.size(), most_checks));
  for (std::size_t i = 0; i < list.size(); ++i)
    parts.made.checks.push_back(check_in(list[i].named(fmt::format("check {}", i + 1)), parts));
  check_writes(parts);
}

}  // namespace clweave::description
