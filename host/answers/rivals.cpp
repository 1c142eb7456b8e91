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
bool says_how(const std::string& axis) { return axis == "kernel" || axis == "threads"; }

// The same for all that compute the same.
std::string work_of(const NativeTime& native) {
  std::string out = native.of->family;
  for (const auto& axis : native.of->axes) {
    if (!says_how(*axis.name)) out += fmt::format("/{}={}", *axis.name, text_of(*axis.value));
  }
  return out;
}

// Of each program's looks at a work that of median time, in the order met.
std::vector<const NativeTime*> typical_of(const ResultsSet& set, const DeviceResults& device) {
  std::vector<std::vector<const NativeTime*>> looks;
  std::map<std::pair<std::string, const CaseName*>, std::size_t> places;
  for (const auto& native : set.natives) {
    if (!native.runs_on(device)) continue;
    const auto [place, is_new] = places.try_emplace({native.api, native.of}, looks.size());
    if (is_new) looks.emplace_back();
    looks[place->second].push_back(&native);
  }
  std::vector<const NativeTime*> out;
  for (auto& of_program : looks) {
    std::ranges::stable_sort(of_program, {}, [](const NativeTime* one) { return one->run.time_s; });
    out.push_back(of_program[of_program.size() / 2]);
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

std::vector<Rivals> rivals_of(const ResultsSet& set, const DeviceResults& device) {
  std::vector<Rivals> out;
  std::map<std::string, std::size_t> by_work;
  for (const auto* native : typical_of(set, device)) {
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

void add_rivals(Report& out, const ResultsSet& set, const DeviceResults& device,
                const std::vector<Family>& families) {
  const auto all = rivals_of(set, device);
  if (all.empty()) return;
  ShortNames works, ours;
  for (const auto& one : all) {
    works.learn(*one.work->of);
    ours.learn(*one.ours->name);
  }
  Table table({{"work"},
               {"best kernel here", Align::left, Give::cut},
               {"speed", Align::right},
               {"best beside it", Align::left, Give::cut},
               {"speed", Align::right},
               {"ours over theirs", Align::right}});
  const auto speed = [&](const RunTime& run, double seconds, const std::string& name) {
    const auto family = std::ranges::find(families, name, &Family::name);
    const bool items = family != families.end() && family->view.quantity == "items";
    const Count work = items ? run.items : run.bytes;
    return number_text(1e-9 * static_cast<double>(work.value_or(0)) / seconds, items ? "G items/s" : "GB/s");
  };
  for (const auto& one : all) {
    const Value* kernel = one.ours->name->axis("kernel");
    const Value *name = one.native->of->axis("kernel"), *threads = one.native->of->axis("threads");
    const RunTime& run = *one.ours->typical();
    std::string work = works.of(*one.work->of);
    table.add({work,
               (kernel != nullptr ? text_of(*kernel) : ours.of(*one.ours->name)) +
                   (one.ours->tuned ? " (tuned)" : ""),
               speed(run, one.native->run.time_s / one.ratio, one.ours->family()),
               fmt::format("{} {}{}", one.native->api, name != nullptr ? text_of(*name) : "",
                           threads != nullptr ? threads_text(*threads) : ""),
               speed(one.native->run, one.native->run.time_s, one.ours->family()),
               fmt::format("{:.2f}x ({:.2f} to {:.2f})", one.ratio, one.low, one.high)});
  }
  out.line();
  out.line(
      fmt::format("{} beside what people would use instead, by the host's clock where theirs has no other:",
                  device.label()));
  out.table(std::move(table));
}

}  // namespace clweave
