// SPDX-License-Identifier: Apache-2.0
#include "families/scan/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/range/adaptor/reversed.hpp>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "families/scan/designs.hpp"

namespace clweave::families {

bool is_plain_scan(const Case& at) {
  return at.is("op", "sum") && at.is("form", "inclusive") && at.is("task", "scan") &&
         at.is("state_width", "widest") && at.number("fault_rate") == 0;
}

namespace {

// Fastest run of a design by type, order, tuple and n.
struct Best {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>, const Outcome*> at;

  void update_min(const Outcome& o) {
    const Outcome*& best =
        at[{o.at.text("type"), o.at.number("scan_order"), o.at.number("tuple"), o.at.number("n")}];
    if (best == nullptr || o.time_s < best->time_s) best = &o;
  }
  const Outcome* of(const std::string& type, std::int64_t order, std::int64_t tuple, std::int64_t n) const {
    const auto it = at.find({type, order, tuple, n});
    return it == at.end() ? nullptr : it->second;
  }
};

// Fastest runs of SAM, with the launch configuration of its article and with any; of the single-pass scans
// that are repeated for orders, and scan structs of tuples or reorder them; of three-phase scans; and of
// copies.
struct Designs {
  Best sam, as_published, rival, three_phase, copy;

  explicit Designs(const std::vector<Outcome>& outcomes) {
    for (const auto& o : outcomes) {
      if (!is_plain_scan(o.at)) continue;
      const ScanDesign& design = scan_design_of(o.at);
      if (design.copies()) copy.update_min(o);
      if (design.method == ScanDesign::Method::three_phase) three_phase.update_min(o);
      const bool is_sam = o.at.is("kernel", "sam");
      if (is_sam) sam.update_min(o);
      if (is_sam && o.at.number("group") == 1024 && o.at.is("prefetch", "no")) as_published.update_min(o);
      const bool interleaved = design.tuples == ScanDesign::Tuples::interleaved && o.at.number("tuple") > 1 &&
                               o.at.is("tuple_by", "struct");
      if (design.single_pass() && !design.any_scan_order && !interleaved) rival.update_min(o);
    }
  }
};

std::string launch_of(const Outcome& o) {
  return fmt::format("{} group {} rows {} {}", o.at.text("kernel"), o.at.number("group"),
                     o.at.number("vectors_per_item"), o.at.text("subgroup_impl"));
}

// Collects runs of SAM that differ in order, or in tuple, and in no other axis that affects SAM.
struct Growth {
  std::int64_t n = 0;
  std::map<std::int64_t, const Outcome*> by_size;

  double seconds() const {
    double sum = 0;
    for (const auto& [size, o] : by_size) sum += o->time_s;
    return sum;
  }
  // Prefers more sizes, then a larger n, then less time.
  bool operator<(const Growth& other) const {
    return std::tuple(by_size.size(), n, -seconds()) <
           std::tuple(other.by_size.size(), other.n, -other.seconds());
  }
};

Growth growth_of(const std::vector<Outcome>& outcomes, const std::string& type, const std::string& axis) {
  const std::string grows = axis == "order" ? "scan_order" : "tuple",
                    stays = axis == "order" ? "tuple" : "scan_order";
  std::map<std::string, Growth> by_launch;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", "sam") || !o.at.is("type", type) || o.at.number(stays) != 1 ||
        !is_plain_scan(o.at))
      continue;
    std::string launch;
    for (const char* axis_name : {"n", "subgroup_impl", "group", "vectors_per_item", "groups_per_cu",
                                  "prefetch", "registers", "tuple_by"})
      launch += text_of(o.at.at(axis_name)) + " ";
    Growth& growth = by_launch[launch];
    growth.n = o.at.number("n");
    const Outcome*& best = growth.by_size[o.at.number(grows)];
    if (best == nullptr || o.time_s < best->time_s) best = &o;
  }
  Growth most;
  for (const auto& [launch, growth] : by_launch) most = std::max(most, growth);
  return most;
}

void add_growth(std::vector<Finding>& out, const std::vector<Outcome>& outcomes, const std::string& type,
                const std::string& axis) {
  const Growth growth = growth_of(outcomes, type, axis);
  if (growth.by_size.size() < 2) return;
  std::vector<std::string> rates;
  std::vector<double> all;
  for (const auto& [size, o] : growth.by_size) {
    all.push_back(1e-9 * as_double(o->items) / o->time_s);
    rates.push_back(fmt::format("{}: {:.3g}", size, all.back()));
  }
  const bool falls = std::ranges::adjacent_find(all, std::less_equal<>()) == all.end();
  out.push_back({fmt::format("sam_by_{}_{}", axis, type), all.back() / all.front(), "ratio",
                 fmt::format("G elements/s of {} {} {} with {}, {}, all {}: that of {} / the first", growth.n,
                             type, falls ? "fall" : "do not fall steadily", axis, fmt::join(rates, ", "),
                             launch_of(*growth.by_size.begin()->second), growth.by_size.rbegin()->first)});
}

// Adds SAM's gain over the fastest rival, at the n that most orders and tuples were measured at.
void add_gains(std::vector<Finding>& out, const Designs& designs, const std::string& type,
               const std::string& axis, std::int64_t n) {
  for (std::int64_t size = 2; size <= 32; ++size) {
    const std::int64_t order = axis == "order" ? size : 1, tuple = axis == "tuple" ? size : 1;
    const Outcome* sam = designs.sam.of(type, order, tuple, n);
    const Outcome* rival = designs.rival.of(type, order, tuple, n);
    if (sam == nullptr || rival == nullptr) continue;
    const double gain = rival->time_s / sam->time_s;
    const std::string text = fmt::format("{} {} of {} {}: time of {} / time of {}", axis, size, n, type,
                                         launch_of(*rival), launch_of(*sam));
    out.push_back({.name = fmt::format("sam_gain_{}_{}_{}", axis, size, type),
                   .value = gain,
                   .unit = "ratio",
                   .text = text,
                   .published = fmt::format("sam_gain_{}_{}", axis, size)});
  }
}

// Compares three phases with the best single pass, at the largest size that both were measured at.
void add_single_pass_gain(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  std::map<std::int64_t, std::array<const Outcome*, 2>> fastest;  // by n: three phases, and a single pass
  for (const auto& o : outcomes) {
    const ScanDesign& design = scan_design_of(o.at);
    const bool three = design.method == ScanDesign::Method::three_phase;
    if (!is_plain_scan(o.at) || !o.at.is("type", "uint") || o.at.number("scan_order") != 1 ||
        o.at.number("tuple") != 1 || !(three || design.single_pass()))
      continue;
    const Outcome*& entry = fastest[o.at.number("n")][three ? 0 : 1];
    if (entry == nullptr || o.time_s < entry->time_s) entry = &o;
  }
  std::erase_if(fastest, [](const auto& of_n) { return !of_n.second[0] || !of_n.second[1]; });
  if (fastest.empty()) return;
  const auto& [n, both] = *fastest.rbegin();
  const std::string& kernel = both[1]->at.text("kernel");
  out.push_back({.name = "single_pass_gain",
                 .value = both[0]->time_s / both[1]->time_s,
                 .unit = "ratio",
                 .text = fmt::format("time of three phases / time of {}, n={}", kernel, n),
                 .note = fmt::format("{}, n={}", kernel, n),
                 .from = {both[0], both[1]}});
}

}  // namespace

std::vector<Finding> scan_findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const Designs designs(outcomes);
  std::map<std::string, std::map<std::int64_t, int>> sizes;  // by type and n, how many orders and tuples
  for (const auto& [key, best] : designs.sam.at) ++sizes[std::get<0>(key)][std::get<3>(key)];
  std::vector<Finding> out;
  for (const auto& entry : sizes) {
    const std::string& type = entry.first;
    const auto& counts = entry.second;
    std::int64_t fullest = 0;  // the largest of those with the most
    for (const auto& [n, count] : counts)
      fullest = !counts.contains(fullest) || count >= counts.at(fullest) ? n : fullest;
    // Compares at the largest n that both were measured at.
    const auto ratio = [&](const std::string& name, const Best& of, const Best& over, const char* text) {
      for (const auto& [n, count] : boost::adaptors::reverse(counts)) {
        const Outcome* one = of.of(type, 1, 1, n);
        const Outcome* other = over.of(type, 1, 1, n);
        if (one == nullptr || other == nullptr) continue;
        out.push_back(
            {.name = fmt::format("{}_{}", name, type),
             .value = one->time_s / other->time_s,
             .unit = "ratio",
             .text = fmt::format("{}, {} {}: {} / {}", text, n, type, launch_of(*one), launch_of(*other)),
             .published = name});
        return;
      }
    };
    ratio("sam_of_copy", designs.copy, designs.sam, "time of a copy / time of SAM");
    ratio("sam_published_launch", designs.as_published, designs.sam,
          "time with the published launch configuration / with the best");
    ratio("sam_over_three_phase", designs.three_phase, designs.sam,
          "time of three phases (4n accesses) / time of SAM (2n)");
    ratio("sam_over_rival", designs.rival, designs.sam, "time of the best other single pass / time of SAM");
    for (const char* axis : {"order", "tuple"}) {
      add_gains(out, designs, type, axis, fullest);
      add_growth(out, outcomes, type, axis);
    }
  }
  add_single_pass_gain(out, outcomes);
  return out;
}

}  // namespace clweave::families
