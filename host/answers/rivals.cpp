// SPDX-License-Identifier: Apache-2.0
#include "answers/rivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "answers/short_names.hpp"
#include "base/quantity.hpp"
#include "suite/family.hpp"

namespace clweave {

namespace {

// The axes of a native's id that say by what, not what.
bool says_how(const std::string& axis) { return axis == "kernel" || axis == threads_axis; }

// The same for all that compute the same.
std::string work_of(const NativeTime& native) {
  std::string out = native.of->family;
  for (const auto& axis : native.of->axes) {
    if (!says_how(*axis.name)) out += fmt::format("/{}={}", *axis.name, text_of(*axis.value));
  }
  return out;
}

// A kernel that keeps no order, or copies where others scan, does something else.
bool does(const CaseTimes& at, const RunTime& run, const NativeTime& native) {
  if (at.family() != native.of->family || at.exhibit) return false;
  if (run.bytes != native.run.bytes || run.flops != native.run.flops || run.items != native.run.items)
    return false;
  if (const Value* stable = at.cell("stable"); stable != nullptr && *stable == Value("no")) return false;
  return std::ranges::all_of(native.of->axes, [&](const CaseAxis& axis) {
    const Value* ours = says_how(*axis.name) ? nullptr : at.name->axis(*axis.name);
    return says_how(*axis.name) || (ours != nullptr && *ours == *axis.value);
  });
}

struct Interval {
  double median, low, high;
};

// By the clock that the native was timed by.
Interval time_of(const RunTime& run, Timer timer) {
  const bool by_host = timer == Timer::host && run.timer != Timer::host && run.wall_s && run.time_s > 0;
  const double factor = by_host ? *run.wall_s / run.time_s : 1;
  return {factor * run.time_s, factor * run.low_s, factor * run.high_s};
}

std::string threads_text(const Value& threads) {
  return threads == Value(std::int64_t{1}) ? " on 1 thread" : fmt::format(" on {} threads", text_of(threads));
}

}  // namespace

bool is_for_comparison(std::string_view family, std::string_view kernel) {
  return (kernel == "copy" && family != "copy") || (kernel == "unordered" && family == "compaction");
}

bool is_for_comparison(const CaseName& name) {
  const Value* kernel = name.axis("kernel");
  return kernel != nullptr && is_for_comparison(name.family, text_of(*kernel));
}

std::vector<Rivals> rivals_of(const ResultsSet& set, const DeviceResults& device) {
  std::vector<Rivals> out;
  std::map<std::string, std::size_t> by_work;
  for (const auto* native : natives_of(set, device)) {
    const auto [place, is_new] = by_work.try_emplace(work_of(*native), out.size());
    if (is_new) {
      out.push_back({.native = native, .work = native});
    } else if (native->run.time_s < out[place->second].native->run.time_s) {
      out[place->second].native = native;
    }
  }
  for (auto& one : out) {
    const Interval theirs = time_of(one.native->run, Timer::host);
    double best = 0;
    for (const auto& at : device.cases) {
      const RunTime* run = at.typical();
      if (run == nullptr || !does(at, *run, *one.native)) continue;
      const Interval ours = time_of(*run, one.native->run.timer);
      if (one.ours != nullptr && ours.median >= best) continue;
      best = ours.median;
      one.ours = &at;
      one.ratio = theirs.median / ours.median;
      one.low = theirs.low / ours.high;
      one.high = theirs.high / ours.low;
    }
  }
  std::erase_if(out, [](const Rivals& one) { return one.ours == nullptr; });
  return out;
}

std::vector<RivalRow> rival_rows(const ResultsSet& set, const DeviceResults& device,
                                 const std::vector<Family>& families) {
  const auto all = rivals_of(set, device);
  ShortNames works, ours;
  for (const auto& one : all) {
    works.learn(*one.work->of);
    ours.learn(*one.ours->name);
  }
  const auto speed = [&](const RunTime& run, double seconds, const std::string& name) {
    const auto family = std::ranges::find(families, name, &Family::name);
    const bool items = family != families.end() && family->view.quantity == "items";
    const Count work = items ? run.items : run.bytes;
    return number_text(1e-9 * static_cast<double>(work.value_or(0)) / seconds, items ? "G items/s" : "GB/s");
  };
  std::vector<RivalRow> out;
  for (const auto& one : all) {
    const Value* kernel = one.ours->name->axis("kernel");
    const Value *name = one.native->of->axis("kernel"), *threads = one.native->of->axis(threads_axis);
    const std::string& family = one.ours->family();
    out.push_back({family,
                   {works.of(*one.work->of),
                    (kernel != nullptr ? text_of(*kernel) : ours.of(*one.ours->name)) +
                        (one.ours->tuned ? " (tuned)" : ""),
                    speed(*one.ours->typical(), one.native->run.time_s / one.ratio, family),
                    fmt::format("{} {}{}", one.native->api, name != nullptr ? text_of(*name) : "",
                                threads != nullptr ? threads_text(*threads) : ""),
                    speed(one.native->run, one.native->run.time_s, family),
                    fmt::format("{:.2f}x ({:.2f} to {:.2f})", one.ratio, one.low, one.high)}});
  }
  return out;
}

void add_rivals(Report& out, const ResultsSet& set, const DeviceResults& device,
                const std::vector<Family>& families) {
  const auto rows = rival_rows(set, device, families);
  if (rows.empty()) return;
  std::vector<Table::Column> heads;
  for (std::size_t c = 0; c < rival_columns.size(); ++c)
    heads.push_back({rival_columns[c], c == 2 || c > 3 ? Align::right : Align::left,
                     c == 1 || c == 3 ? Give::cut : Give::keep});
  Table table(heads);
  for (const auto& row : rows) table.add(row.cells);
  out.line();
  out.line(
      fmt::format("{} beside what people would use instead, by the host's clock where theirs has no other:",
                  device.label()));
  out.table(std::move(table));
}

}  // namespace clweave
