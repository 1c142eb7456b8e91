// SPDX-License-Identifier: Apache-2.0
#include "results/contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace clweave::results {

namespace {

constexpr double rounding = 1e-4;  // of a spreadsheet's cells, relative

using NumberMember = Number Record::*;
using CountMember = Count Record::*;

const std::string& name_of(NumberMember member) {
  return std::ranges::find(columns(), decltype(Column::member)(member), &Column::member)->name;
}
const std::string& name_of(CountMember member) {
  return std::ranges::find(columns(), decltype(Column::member)(member), &Column::member)->name;
}

class Checking {
 public:
  Checking(const Record& record, const std::string& file, std::size_t line)
      : r_(record), file_(file), line_(line) {}

  void names() const {
    std::string_view id = r_.case_id;
    if (id.substr(0, id.find('/')) != r_.family)
      refuse("family", fmt::format("'{}', but its case is {}", r_.family, r_.case_id));
    if (!r_.finding.empty()) return;
    for (auto at = id.find('/'); at != std::string_view::npos; at = id.find('/')) {
      id.remove_prefix(at + 1);
      const auto name = id.substr(0, std::min(id.find('/'), id.find('=')));
      if (id.substr(name.size()).starts_with('=') &&
          std::ranges::find(r_.axes, name, &std::pair<std::string, std::string>::first) == r_.axes.end())
        refuse(std::string(name), fmt::format("empty, but its case is {}", r_.case_id));
    }
  }

  // Holds a quotient against what it is made of; `scale` is its unit.
  void quotient(NumberMember of, std::optional<double> above, std::optional<double> below, double scale,
                const char* formula) const {
    if (!(r_.*of)) return;
    if (!above || !below)
      refuse(name_of(of), fmt::format("{}, but a cell of {} is empty", *(r_.*of), formula));
    const double right = *above / *below / scale;
    if (!(std::abs(*(r_.*of) - right) <= rounding * std::abs(right)))
      refuse(name_of(of), fmt::format("{}, but {} is {:.7g}", *(r_.*of), formula, right));
  }

  // Holds cells against their order; those that are empty do not count.
  void ascending(std::initializer_list<NumberMember> members) const {
    NumberMember last = nullptr;
    for (const auto member : members) {
      if (!(r_.*member)) continue;
      if (last != nullptr &&
          *(r_.*last) - *(r_.*member) > rounding * std::max(std::abs(*(r_.*last)), std::abs(*(r_.*member))))
        refuse(name_of(member),
               fmt::format("{} is less than {}, {}", *(r_.*member), name_of(last), *(r_.*last)));
      last = member;
    }
  }

  void within(NumberMember member, double least, double most) const {
    if (r_.*member && !(*(r_.*member) >= least && *(r_.*member) <= most))
      refuse(name_of(member), fmt::format("{} is not within {} and {}", *(r_.*member), least, most));
  }

  void counts() const {
    for (const CountMember member : std::initializer_list<CountMember>{
             &Record::run, &Record::order, &Record::batch, &Record::samples, &Record::outliers,
             &Record::bytes, &Record::flops, &Record::items}) {
      if ((r_.*member).value_or(0) < 0) refuse(name_of(member), fmt::format("{} is negative", *(r_.*member)));
    }
    if (r_.outliers && r_.samples && *r_.outliers > *r_.samples)
      refuse("outliers", fmt::format("{} of {} samples", *r_.outliers, *r_.samples));
  }

  void outcome() const {
    if (r_.ok() && r_.verified == Verified::no && !is_unchecked(r_))
      refuse("verified", "no, but status is ok");
  }

 private:
  [[noreturn]] void refuse(const std::string& column, const std::string& what) const {
    throw Error(ErrorCode::io, fmt::format("{}:{}: column {}: {}: one of these cells was changed", file_,
                                           line_, column, what));
  }

  const Record& r_;
  const std::string& file_;
  std::size_t line_;
};

std::optional<double> number(const Count& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

}  // namespace

bool is_unchecked(const Record& r) {
  return r.ok() && r.verified == Verified::no && r.reason.find(unchecked) != std::string::npos;
}

void check_cells(const Record& r, const std::string& file, std::size_t line) {
  const Checking row(r, file, line);
  row.names();
  row.counts();
  row.outcome();
  row.quotient(&Record::gb_per_s, number(r.bytes), r.time_s, 1e9, "bytes / time_s");
  row.quotient(&Record::gflop_per_s, number(r.flops), r.time_s, 1e9, "flops / time_s");
  row.quotient(&Record::gitems_per_s, number(r.items), r.time_s, 1e9, "items / time_s");
  row.quotient(&Record::joules_per_item, r.energy_j, number(r.items), 1, "energy_j / items");
  row.quotient(&Record::joules_per_byte, r.energy_j, number(r.bytes), 1, "energy_j / bytes");
  row.quotient(&Record::joules_per_flop, r.energy_j, number(r.flops), 1, "energy_j / flops");
  row.ascending({&Record::time_low_s, &Record::time_s, &Record::time_high_s});
  row.ascending({&Record::min_s, &Record::p25_s, &Record::p75_s, &Record::p95_s});
  row.ascending({&Record::min_s, &Record::time_s});
  row.ascending({&Record::min_s, &Record::mean_s});
  row.ascending({&Record::energy_low_j, &Record::energy_j, &Record::energy_high_j});
  row.ascending({&Record::value_low, &Record::value, &Record::value_high});
  for (const auto member : {&Record::throttled, &Record::steal}) row.within(member, 0, 1);
  row.within(&Record::lag1, -1, 1);
}

}  // namespace clweave::results
