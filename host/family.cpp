// SPDX-License-Identifier: Apache-2.0
#include "family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace clweave {

std::string text_of(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return std::to_string(*n);
  if (const auto* x = std::get_if<double>(&value)) return fmt::format("{}", *x);
  return std::get<std::string>(value);
}

Value value_of(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t n = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, n); error == std::errc{} && at == end) return n;
  double x = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, x); error == std::errc{} && at == end) return x;
  return text;
}

const Value& Case::at(const std::string& axis) const {
  for (const auto& [name, value] : axes) {
    if (name == axis) return value;
  }
  throw Error(Kind::usage, "family " + family + " has no axis '" + axis + "'");
}

std::int64_t Case::number(const std::string& axis) const {
  if (const auto* n = std::get_if<std::int64_t>(&at(axis))) return *n;
  throw Error(Kind::usage, axis + "=" + text_of(at(axis)) + " must be a whole number");
}

std::uint64_t Case::count(const std::string& axis, std::int64_t least, std::int64_t most) const {
  const std::int64_t value = number(axis);
  if (value < least || value > most)
    throw Error(Kind::usage, fmt::format("{} must be {} to {}", axis, least, most));
  return static_cast<std::uint64_t>(value);
}

const std::string& Case::text(const std::string& axis) const {
  if (const auto* word = std::get_if<std::string>(&at(axis))) return *word;
  throw Error(Kind::usage, axis + "=" + text_of(at(axis)) + " must be a word");
}

std::string Case::id() const {
  std::string out = family;
  for (const auto& [name, value] : axes) out += "/" + name + "=" + text_of(value);
  return out;
}

std::size_t items_in(const Range& range) {
  std::size_t items = 1;
  for (auto extent : range) items *= extent;
  return items;
}

std::uint64_t ceil_div(std::uint64_t n, std::uint64_t size) { return (n + size - 1) / size; }

std::uint64_t round_up(std::uint64_t n, std::uint64_t multiple) { return ceil_div(n, multiple) * multiple; }

std::string text_of(const Range& range) { return fmt::format("{}", fmt::join(range, "x")); }

Range range_of(const std::string& text) {
  Range range;
  const char* at = text.data();
  const char* end = at + text.size();
  while (range.size() < 3) {
    std::size_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc{} || extent == 0) break;
    range.push_back(extent);
    if (next == end) return range;
    if (*next != 'x') break;
    at = next + 1;
  }
  throw Error(Kind::usage,
              "'" + text + "' is no shape: write 1 to 3 positive numbers joined by x, such as 256 or 16x16");
}

void Tally::merge(const Tally& other) {
  elements += other.elements;
  written += other.written;
  wrong += other.wrong;
  if (other.first_wrong < first_wrong) {
    first_wrong = other.first_wrong;
    first_text = other.first_text;
  }
}

std::string Tally::text() const {
  return fmt::format("{} of {} elements correct, {} written; first wrong: {}", elements - wrong, elements,
                     written, first_text);
}

std::string Plan::mismatch_text(std::uint64_t index, long double got, long double want) {
  return fmt::format("[{}] is {}, expected {}", index, got, want);
}

const Axis* Family::axis(const std::string& axis_name) const {
  const auto it = std::ranges::find(axes, axis_name, &Axis::name);
  return it == axes.end() ? nullptr : &*it;
}

std::vector<Case> cases_of(const Family& family, const std::vector<Sweep>& sweeps, std::uint64_t seed) {
  std::vector<Case> out;
  std::set<std::string> seen;
  for (const auto& sweep : sweeps) {
    std::vector<Case> grown{{family.name, {}, seed}};
    for (const auto& axis : family.axes) {
      const auto named = sweep.find(axis.name);
      const Values& values = named != sweep.end() ? named->second : Values(axis.values.front());
      std::vector<Case> wider;
      wider.reserve(grown.size() * values.size());
      for (const auto& at : grown) {
        for (const auto& value : values) {
          wider.push_back(at);
          wider.back().axes.emplace_back(axis.name, value);
        }
      }
      grown = std::move(wider);
    }
    for (auto& at : grown) {
      if ((!family.makes_sense || family.makes_sense(at)) && seen.insert(at.id()).second)
        out.push_back(std::move(at));
    }
  }
  return out;
}

Plan plan_of(const Family& family, const Case& at, const DeviceInfo& device) {
  Plan plan = family.plan(at, device);
  if (plan.sources.empty()) plan.sources = {family.name};
  std::uint64_t total = 0;
  for (const auto& buffer : plan.buffers) {
    total += buffer.bytes;
    Plan::need(
        buffer.bytes + guard_bytes + poison.size() <= static_cast<std::uint64_t>(device.max_alloc_bytes),
        fmt::format("needs a buffer of {} bytes and {} behind it, the device allows {}", buffer.bytes,
                    guard_bytes + poison.size(), device.max_alloc_bytes));
  }
  Plan::need(total <= static_cast<std::uint64_t>(device.usable_bytes),
             fmt::format("needs {} bytes of device memory, {} of {} are usable", total, device.usable_bytes,
                         device.memory_bytes));
  for (const auto& step : plan.steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    Plan::need(items_in(launch->local) <= static_cast<std::size_t>(device.max_group),
               fmt::format("needs a work-group of {} items, the device allows {}", items_in(launch->local),
                           device.max_group));
    for (std::size_t d = 0; d < std::min(launch->local.size(), device.max_group_dims.size()); ++d) {
      Plan::need(launch->local[d] <= static_cast<std::size_t>(device.max_group_dims[d]),
                 fmt::format("needs {} items in dimension {} of a work-group, the device allows {}",
                             launch->local[d], d, device.max_group_dims[d]));
    }
  }
  return plan;
}

}  // namespace clweave
