// SPDX-License-Identifier: Apache-2.0
// cache: capacity, latency, bandwidth and sharing of each cache level, fetch granularity and TLB reach.
//
// One work-item chases pointers through larger and larger working sets. A level ends where loads become
// slower; between the last size that fits and the first that does not, the family measures more sizes until
// they are 6 % apart. The chase visits 64 pages at a time, or TLB misses would look like the end of a cache;
// TLB reach is measured by nodes more than a page apart.
//
// The levels found decide what is measured next: whether each compute unit has its own cache, and the read,
// write and copy bandwidth of all compute units in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>

#include "base/quantity.hpp"
#include "base/stats.hpp"
#include "families/shared/levels.hpp"
#include "families/shared/loop_limit.hpp"
#include "families/shared/monotone.hpp"
#include "families/shared/step_time.hpp"
#include "families/shared/walks.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t page_bytes = 4096, line_bytes = 64;
constexpr std::uint64_t pair_bytes = 1024;  // between nodes of kernel pair
// Adds a line to a page, so that nodes do not all fall into one cache set.
constexpr std::uint64_t page_stride = page_bytes + line_bytes;
constexpr std::int64_t largest = std::int64_t{1} << 34;

bool is_walk(const Case& at) {
  const std::string& kernel = at.text("kernel");
  return kernel == "chase" || kernel == "chase_private" || kernel == "tlb" || kernel == "pair";
}

std::uint64_t bytes_of(const Case& at) { return at.count("working_set", page_bytes, largest); }

std::uint64_t node_bytes_of(const Case& at) {
  return at.is("kernel", "tlb") ? page_stride : at.is("kernel", "pair") ? pair_bytes : line_bytes;
}

// Returns the loads of a chase: one more than the cycle, as one that ends where it began might not have
// started.
std::uint64_t hops_of(const Case& at) {
  constexpr std::uint64_t least = 40009, most = std::uint64_t{1} << 20;
  const std::uint64_t wanted = at.count("chain_length", 0, 1 << 24);
  const std::uint64_t nodes = bytes_of(at) / node_bytes_of(at);
  const std::uint64_t hops = wanted > 0 ? wanted : std::clamp(nodes + 1, least, most + 1);
  return nodes > 1 && hops % nodes == 0 ? hops + 1 : hops;
}

Plan plan_of_walk(const Case& at, const DeviceInfo& device) {
  Plan::need(bytes_of(at) >= node_bytes_of(at),
             fmt::format("a working set of {} bytes has no node, as they are {} bytes apart", bytes_of(at),
                         node_bytes_of(at)));
  const bool own = at.is("kernel", "chase_private");
  const std::uint64_t groups = own ? std::max<std::uint64_t>(2, device.units()) : 1;
  require_iterations(device, groups * hops_of(at), "working_set");
  const bool by_pages = !at.is("kernel", "tlb") && !at.is("kernel", "pair");
  const Walks walks = {.bytes = bytes_of(at),
                       .node_bytes = node_bytes_of(at),
                       .by_pages = by_pages,
                       .hops = hops_of(at),
                       .groups = groups,
                       .own = own,
                       .apart = at.is("kernel", "pair") ? at.count("apart", 4, 1020) : 0};
  if (at.is("links", "address")) return plan_of_address_walk(at.seed, walks, device);
  Plan p = plan_of_walks(at.seed, walks);
  if (at.is("kernel", "pair")) p.define("GROUP", 1).define("V", "uint").define("WORDS", 1);
  return p;
}

// Work of each compute unit: one work-group whose work-items have four vectors each.
struct Share {
  std::uint64_t groups, words;          // words of a vector
  std::uint64_t group, vectors, trips;  // of a work-group

  Share(const Case& at, const DeviceInfo& device)
      : groups(device.units()),
        words(device.type == "cpu" ? 16 : 4),
        trips(at.count("iterations", 0, 1 << 20)) {
    const std::uint64_t bytes = bytes_of(at) / (at.is("kernel", "copy") ? 2 : 1);
    vectors = bytes / (sizeof(Word) * words);
    const auto most = std::min<std::uint64_t>(1024, static_cast<std::uint64_t>(device.max_group));
    group = device.type == "cpu" ? 1 : std::bit_floor(std::clamp<std::uint64_t>(vectors / 4, 1, most));
    vectors = vectors / group * group;
    constexpr std::uint64_t bytes_to_go_through = std::uint64_t{1} << 25, least = 3;
    const std::uint64_t turns = groups * (vectors / group + 1);  // loop iterations per pass
    if (trips == 0)
      trips = std::max(least, std::min(bytes_to_go_through / bytes_of(at), device.most_turns() / turns));
    require_iterations(device, turns * trips, "working_set");
  }
  std::uint64_t all_words() const { return groups * vectors * words; }
};

// Sums of a part of memory by work-item and word, computed on first use.
class Sums {
 public:
  Sums(const Share& share, const Random<Word>& value)
      : table_(std::make_shared<Table>()), share_(share), value_(value) {}

  // Returns the sum of a work-item's word after all passes, each through the part `step` after the one
  // before.
  Word after(std::uint64_t item, std::uint64_t word, std::uint64_t step) const {
    std::call_once(table_->once, [this] { fill(); });
    const std::uint64_t lane = item % share_.group;
    const auto of = [&](std::uint64_t part) {
      return table_->sums[(part * share_.group + lane) * share_.words + word];
    };
    std::uint64_t part = item / share_.group;
    if (step == 0) return static_cast<Word>(of(part) * share_.trips);
    Word sum = 0;
    for (std::uint64_t trip = 0; trip < share_.trips; ++trip, part = (part + step) % share_.groups)
      sum += of(part);
    return sum;
  }

 private:
  struct Table {
    std::once_flag once;
    std::vector<Word> sums;
  };

  void fill() const {
    table_->sums.assign(share_.groups * share_.group * share_.words, 0);
    for (std::uint64_t i = 0; i < share_.all_words(); ++i) {
      const std::uint64_t vector = i / share_.words, part = vector / share_.vectors;
      const std::uint64_t lane = vector % share_.vectors % share_.group;
      table_->sums[(part * share_.group + lane) * share_.words + i % share_.words] += value_(i);
    }
  }

  std::shared_ptr<Table> table_;
  Share share_;
  Random<Word> value_;
};

Plan plan_of_rate(const Case& at, const DeviceInfo& device) {
  const Share share(at, device);
  const Random<Word> value(at.seed, 1);
  const bool reads = at.is("kernel", "read");
  const auto vectors = static_cast<Word>(share.vectors), trips = static_cast<Word>(share.trips);
  const std::uint64_t items = share.groups * share.group,
                      moved = sizeof(Word) * share.all_words() * share.trips;
  Plan p;
  p.define("GROUP", share.group).define("WORDS", share.words).define("V", fmt::format("uint{}", share.words));
  const auto launch = [&](const auto&... args) {
    p.launch(at.text("kernel"), {items}, {share.group}, args...);
  };
  if (reads) {
    const std::uint64_t step = at.is("parts", "in_turns") ? 1 : 0;
    const auto in = p.input<Word>(share.all_words(), value);
    const auto out = p.output<Word>(items * share.words);
    launch(out, in, vectors, trips, static_cast<Word>(step));
    p.expect<Word>(out, [=, sums = Sums(share, value)](std::uint64_t i) {
      return sums.after(i / share.words, i % share.words, step);
    });
    p.cost = {.read = moved,
              .written = sizeof(Word) * items * share.words,
              .flops = 0,
              .items = moved / sizeof(Word)};
  } else if (at.is("kernel", "write")) {
    const auto out = p.output<Word>(share.all_words());
    launch(out, vectors, trips);
    p.expect<Word>(out, [=](std::uint64_t i) { return static_cast<Word>(i / share.words) + trips - 1; });
    p.cost = {.read = 0, .written = moved, .flops = 0, .items = moved / sizeof(Word)};
  } else {
    const auto in = p.input<Word>(share.all_words(), value);
    const auto out = p.output<Word>(share.all_words());
    launch(out, in, vectors, trips);
    p.expect<Word>(out, [=](std::uint64_t i) { return value(i) + trips - 1; });
    p.cost = {.read = moved, .written = moved, .flops = 0, .items = moved / sizeof(Word)};
  }
  return p;
}

// Plans a case; on CPUs with pages of 2 MiB, as with 4 KiB pages the physical placement, and so the capacity
// that is measured, differs from run to run.
Plan plan(const Case& at, const DeviceInfo& device) {
  Plan p = is_walk(at) ? plan_of_walk(at, device) : plan_of_rate(at, device);
  if (device.type != "cpu" || at.is("kernel", "tlb")) return p;
  for (auto& buffer : p.buffers) buffer.place = BufferPlace::large_pages;
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Returns the least nanoseconds per load of a kernel by `axis`, as interference only slows a cache down.
Curve curve_of(const std::vector<Outcome>& outcomes, const char* kernel, const char* axis = "working_set") {
  Curve out;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", kernel) || o.at.is("links", "address")) continue;
    const double ns = 1e9 * o.min_s.value_or(o.time_s) / static_cast<double>(hops_of(o.at));
    const auto [it, first] = out.emplace(o.at.number(axis), ns);
    if (!first) it->second = std::min(it->second, ns);
  }
  return out;
}

// The curves of a device's walks, monotone, and the noise of all.
struct Walked {
  Curve lines, pages, own;  // of kernels chase, tlb and chase_private
  Curve pairs;              // as measured
  double noise = 0;         // standard deviation of log(time)

  explicit Walked(const std::vector<Outcome>& outcomes) : pairs(curve_of(outcomes, "pair", "apart")) {
    const Curve measured_lines = curve_of(outcomes, "chase"), measured_pages = curve_of(outcomes, "tlb");
    lines = made_monotone(measured_lines);
    pages = made_monotone(measured_pages);
    own = curve_of(outcomes, "chase_private");
    noise = noise_of({measured_lines, measured_pages, pairs});
    // The least of many samples is known better than their median.
    std::vector<double> errors;
    for (const auto& o : outcomes) {
      if (is_walk(o.at) && !o.min_s && o.low_s && o.high_s)
        errors.push_back(std::log(*o.high_s / *o.low_s) / 3.92);
    }
    if (!errors.empty()) noise = std::max(noise, median(errors));
  }
};

// Returns the levels without memory.
std::vector<Level> caches_of(const std::vector<Level>& levels) {
  std::vector<Level> out = levels;
  if (!out.empty()) out.pop_back();
  return out;
}

// Returns a size between the two where a level ends, if they are not close enough.
std::optional<std::int64_t> between(std::int64_t fits, std::int64_t beyond, double close_enough) {
  if (beyond == 0 || static_cast<double>(beyond) <= close_enough * static_cast<double>(fits)) return {};
  const double middle = std::sqrt(static_cast<double>(fits) * static_cast<double>(beyond));
  const auto page = static_cast<std::int64_t>(page_bytes);
  const std::int64_t bytes = std::llround(middle / static_cast<double>(page)) * page;
  if (bytes <= fits || bytes >= beyond) return {};
  return bytes;
}

// TLB reach: the largest set of pages whose chase is as fast as one through as many adjacent lines.
Rise reach_of(const Walked& walked) {
  constexpr double markedly = 1.3, no_less = 0.05, alike = 1.2;
  Curve slower;
  double most = 0;
  for (const auto& [bytes, ns] : walked.pages) {
    const auto packed = walked.lines.lower_bound(bytes / static_cast<std::int64_t>(page_stride) *
                                                 static_cast<std::int64_t>(line_bytes));
    if (packed == walked.lines.end()) break;
    // Leaves out pages whose lines, between two sizes that were measured, may end in one cache or in the
    // next.
    const bool between_levels =
        packed != walked.lines.begin() &&
        packed->second > alike * std::exp(2 * walked.noise) * std::prev(packed)->second;
    // Behind the reach of a larger level all are as slow again as adjacent lines: that is no return.
    most = std::max(most, between_levels ? 0.0 : ns / packed->second);
    if (!between_levels) slower.emplace(bytes, most);
  }
  return rise_of(slower, std::max(no_less, std::numbers::sqrt2 * walked.noise), markedly);
}

// Returns the working set per compute unit that tells whether a level is shared: three quarters of it, so
// that two do not fit into a shared one.
std::int64_t share_of(const Level& level) {
  const auto page = static_cast<std::int64_t>(page_bytes);
  return std::max(page, level.fits * 3 / 4 / page * page);
}

// Returns whether each compute unit has its own cache of this level; std::nullopt until that is measured.
std::optional<bool> is_own(const std::vector<Level>& levels, std::size_t i, const Curve& own,
                           const DeviceInfo& device) {
  if (device.units() < 2) return true;
  const auto walked = own.find(share_of(levels[i]));
  if (walked == own.end()) return {};
  return walked->second < std::sqrt(levels[i].ns * levels[i + 1].ns);
}

// Returns half of a level, or half of a compute unit's share of it if all share it.
std::int64_t half_of(const Level& level, bool own, const DeviceInfo& device) {
  const auto page = static_cast<std::int64_t>(page_bytes);
  const auto units = own ? 1 : static_cast<std::int64_t>(device.units());
  return std::max(4 * page, level.fits / 2 / units / page * page);
}

// Returns the working set whose chases tell a level's latency: about half of it, so that nothing else in the
// cache matters.
std::int64_t middle_of(const Level& level, const Curve& ns) {
  const auto behind = ns.upper_bound(std::max(level.first, level.fits / 2));
  return std::prev(behind)->first;
}

// Returns the steps of the longer of two chains that tell a level's latency: some milliseconds on any device.
std::int64_t steps_for(const Level& level, const DeviceInfo& device) {
  constexpr double wanted_ns = 4e6;
  constexpr std::uint64_t least = std::uint64_t{1} << 14, most = std::uint64_t{1} << 20;
  const auto steps = std::clamp(static_cast<std::uint64_t>(wanted_ns / level.ns), least, most);
  return static_cast<std::int64_t>(std::bit_floor(std::min(steps, device.most_turns())));
}

// Finds a level's latency: the slope between chases of addresses, or where there are none the time per load
// of the curve, in which there are a launch and the arithmetic of each step.
Finding latency_of(const std::vector<Outcome>& outcomes, const Level& level, std::size_t number,
                   const Walked& walked) {
  ChainTimes times;
  for (const auto& o : outcomes) {
    const std::int64_t bytes = o.at.number("working_set");
    if (o.at.is("kernel", "chase") && o.at.is("links", "address") && level.first <= bytes &&
        bytes <= level.fits)
      times.add(static_cast<std::int64_t>(hops_of(o.at)), o);
  }
  const std::string name = fmt::format("l{}_latency", number),
                    what = fmt::format("L{} pointer-chase latency", number);
  if (times.lengths() > 1) return times.slope(name, what, walked.noise);
  // Not better than its times differ, nor than the noise leaves their median.
  const auto first = walked.lines.find(level.first), end = walked.lines.upper_bound(level.last);
  const double error = std::exp(2 * walked.noise / std::sqrt(static_cast<double>(std::distance(first, end))));
  return {name,
          level.ns,
          "ns",
          fmt::format("{} {:.4g} ns, launch and index arithmetic included", what, level.ns),
          first->second / error,
          std::prev(end)->second * error};
}

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Case> out;
  const auto ask = [&](const char* kernel, std::int64_t bytes, const char* parts = "own") {
    Case at = outcomes.front().at.with("kernel", kernel).with("working_set", bytes).with("parts", parts);
    out.push_back(at.with("apart", std::int64_t{4})
                      .with("links", std::string("index"))
                      .with("chain_length", std::int64_t{0})
                      .with("iterations", std::int64_t{0}));
  };
  const Walked walked(outcomes);
  const Curve& lines = walked.lines;
  if (lines.size() < 8) return out;  // the user's choice of sizes, no curve
  const auto levels = levels_of(lines);
  for (const auto& level : levels) {
    if (const auto bytes = between(level.fits, level.beyond, 1.06)) ask("chase", *bytes);
  }
  const Rise reach = reach_of(walked);
  if (const auto bytes = between(reach.last, reach.first, 1.2)) ask("tlb", *bytes);
  if (!out.empty()) return out;
  const auto caches = caches_of(levels);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const std::int64_t steps = steps_for(caches[i], device);
    for (const std::int64_t length : {steps / 8, steps}) {
      ask("chase", middle_of(caches[i], lines));
      out.back() = out.back().with("links", std::string("address")).with("chain_length", length);
    }
    const auto each = is_own(levels, i, walked.own, device);
    if (!each) {
      ask("chase_private", share_of(caches[i]));
      continue;
    }
    const std::int64_t bytes = half_of(caches[i], *each, device);
    ask("read", bytes, *each ? "own" : "in_turns");
    // A CPU core's share of a shared level may fit its private caches, which then absorb the writes.
    if (device.type == "cpu" && !*each && i > 0 && bytes < 2 * caches[i - 1].fits) continue;
    ask("write", bytes);
    ask("copy", bytes);
  }
  return out;
}

// Finds the smallest distance at which the second load of a pair misses what the first one fetched; undecided
// where the times fit several, or none, as they do where a prefetcher or another process disturbs.
Finding line_of(const Walked& walked) {
  const Curve& ns = walked.pairs;
  Finding out{"fetch_granularity", {}, "B", "too few distances were measured"};
  if (ns.size() < 4) return out;
  constexpr double markedly = 1.15, no_less = 0.03, explained = 4;
  const double error = std::max({no_less, walked.noise, noise_of({ns})}), near = ns.begin()->second;
  const Rise rise = rise_of(ns, error, markedly);
  // Takes a pair for disturbed if it misses, but one further apart hits.
  std::vector<double> hits;
  for (const auto& [bytes, both] : ns) {
    if (rise.is_none || bytes < rise.first) hits.push_back(both);
  }
  for (const auto& [bytes, both] : ns) {
    if ((bytes >= rise.first && !rise.is_none) || both <= markedly * median(hits)) continue;
    out.text = fmt::format(
        "two loads {} bytes apart take {:.4g} ns, longer than two that are further apart: a "
        "prefetcher or another process disturbed them",
        bytes, both);
    return out;
  }
  if (rise.worst > explained) {
    out.text = "no distance explains the times: a prefetcher or another process disturbed them";
  } else if (rise.is_surely_none) {
    out.text =
        fmt::format("none found: even {} bytes after a fetched element a load hits", ns.rbegin()->first);
  } else if (rise.is_none || !rise.is_certain()) {
    out.text = fmt::format(
        "the times are too noisy to tell whether a load from {} to {} bytes after a fetched element "
        "misses",
        ns.upper_bound(rise.low)->first, rise.high == 0 ? ns.rbegin()->first : rise.high);
    out.low = static_cast<double>(ns.upper_bound(rise.low)->first);
    if (rise.high > 0) out.high = static_cast<double>(rise.high);
  } else {
    out.value = out.low = out.high = static_cast<double>(rise.first);
    out.text = fmt::format(
        "a load {} bytes after a fetched element misses: {:.4g} ns for both, {:.4g} ns where the "
        "second one hits",
        rise.first, ns.at(rise.first), near);
  }
  return out;
}

std::string text_of_bytes(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

Finding capacity_of(const std::vector<Level>& levels, std::size_t i, const Curve& lines) {
  const Level &level = levels[i], &next = levels[i + 1];
  Finding size{
      fmt::format("l{}_bytes", i + 1),
      std::sqrt(static_cast<double>(level.fits) * static_cast<double>(level.beyond)),
      "B",
      fmt::format("L{} capacity: between {:.3g} ns per load up to {} and {:.3g} ns from {} on, at their "
                  "geometric mean",
                  i + 1, level.ns, text_of_bytes(level.last), next.ns, text_of_bytes(next.first)),
      static_cast<double>(level.low),
      static_cast<double>(level.high)};
  if (!level.is_sure) {
    size.value.reset();
    size.text = fmt::format("the walks are too noisy to tell where L{} ends; {} explains them best", i + 1,
                            text_of_bytes(level.fits));
  } else if (lines.rbegin()->first < 4 * level.fits) {
    size.value.reset();
    size.text = fmt::format("L{} ends near {}, but the largest working set, {}, is less than four times that",
                            i + 1, text_of_bytes(level.fits), text_of_bytes(lines.rbegin()->first));
  }
  return size;
}

// Tells who shares a level; undecided where the chases of all take about as long as half-way to the next
// level.
void add_sharing(std::vector<Finding>& out, const std::vector<Level>& levels, std::size_t i, bool each,
                 const Walked& walked, const DeviceInfo& device) {
  constexpr double errors = 3;
  Finding units{
      fmt::format("l{}_compute_units", i + 1), each ? 1 : static_cast<double>(device.units()), "units",
      each ? fmt::format("each compute unit has its own L{}", i + 1)
           : fmt::format("compute units share L{}: chases of all at once, each through three quarters of "
                         "it, miss it",
                         i + 1)};
  const auto all = walked.own.find(share_of(levels[i]));
  if (device.units() > 1 && all != walked.own.end()) {
    const double off = std::log(all->second / std::sqrt(levels[i].ns * levels[i + 1].ns));
    if (std::abs(off) < errors * walked.noise) {
      units.value.reset();
      units.text = fmt::format(
          "chases of all compute units at once take {:.4g} ns, which is too noisy to tell whether "
          "they share L{}",
          all->second, i + 1);
    }
  }
  out.push_back(std::move(units));
}

void add_rates(std::vector<Finding>& out, const std::vector<Outcome>& outcomes, std::size_t number,
               std::int64_t bytes, bool each) {
  for (const char* kernel : {"read", "write", "copy"}) {
    double rate = 0;
    for (const auto& o : outcomes) {
      if (o.at.is("kernel", kernel) && o.at.number("working_set") == bytes &&
          (!o.at.is("kernel", "read") || o.at.is("parts", each ? "own" : "in_turns")))
        rate = std::max(rate, 1e-9 * as_double(o.bytes) / o.time_s);
    }
    if (rate > 0)
      out.push_back(
          {fmt::format("l{}_{}", number, kernel), rate, "GB/s",
           fmt::format("L{2} {0} bandwidth of all compute units {1:.4g} GB/s", kernel, rate, number)});
  }
}

void add_levels(std::vector<Finding>& out, const std::vector<Outcome>& outcomes,
                const std::vector<Level>& levels, const Walked& walked, const DeviceInfo& device) {
  const auto caches = caches_of(levels);
  bool is_sure = true;  // of this level and of those before it
  for (std::size_t i = 0; i < caches.size(); ++i) {
    is_sure = is_sure && caches[i].is_sure;
    out.push_back(capacity_of(levels, i, walked.lines));
    Finding latency = latency_of(outcomes, caches[i], i + 1, walked);
    if (!is_sure) {
      latency.value.reset();
      latency.text = out.back().text;
      out.back().value.reset();
      out.push_back(std::move(latency));
      continue;
    }
    out.push_back(std::move(latency));
    const auto each = is_own(levels, i, walked.own, device);
    if (!each) continue;
    add_sharing(out, levels, i, *each, walked, device);
    add_rates(out, outcomes, i + 1, half_of(caches[i], *each, device), *each);
  }
}

void add_reach(std::vector<Finding>& out, const Walked& walked) {
  constexpr double widest = 4;  // high / low of what is decided
  if (walked.pages.empty() || walked.lines.empty()) return;
  const Rise reach = reach_of(walked);
  if (reach.last == 0) return;
  Finding found{"tlb_reach", {}, "B", ""};
  if (reach.is_surely_none) {
    found.text = fmt::format("none found: pages all over {} cost no more than adjacent lines",
                             text_of_bytes(reach.last));
  } else if (reach.high == 0 || static_cast<double>(reach.high) > widest * static_cast<double>(reach.low)) {
    found.text = fmt::format(
        "the walks are too noisy to tell from how many pages on they are slower than adjacent "
        "lines; {} explains them best",
        text_of_bytes(reach.last));
    found.low = static_cast<double>(reach.low);
    if (reach.high > 0) found.high = static_cast<double>(reach.high);
  } else {
    found.value = static_cast<double>(reach.last);
    found.low = static_cast<double>(reach.low);
    found.high = static_cast<double>(reach.high);
    found.text =
        fmt::format("TLB reach {}: one line per page of {} is markedly slower than as many adjacent lines",
                    text_of_bytes(reach.last), text_of_bytes(reach.first));
  }
  out.push_back(std::move(found));
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Finding> out;
  const Walked walked(outcomes);
  const auto levels = walked.lines.size() < 4 ? std::vector<Level>() : levels_of(walked.lines, walked.noise);
  add_levels(out, outcomes, levels, walked, device);
  add_reach(out, walked);
  if (!walked.pairs.empty()) out.push_back(line_of(walked));
  // Adds the capacities that driver and operating system report, for comparison.
  if (levels.empty()) return out;
  if (device.cache_bytes > 0)
    out.push_back({"driver_cache_bytes", static_cast<double>(device.cache_bytes), "B",
                   fmt::format("the driver reports a cache of {}", text_of_bytes(device.cache_bytes))});
  for (std::size_t i = 0; i < device.host_caches.size(); ++i)
    out.push_back(
        {fmt::format("host_l{}_bytes", i + 1), static_cast<double>(device.host_caches[i]), "B",
         fmt::format("the operating system reports L{} of {}", i + 1, text_of_bytes(device.host_caches[i]))});
  return out;
}

// Returns sizes from `least` on, `steps` per octave.
Values sizes(std::int64_t least, std::int64_t most, int steps) {
  Values out;
  std::int64_t last = 0;
  for (int k = 0;; ++k) {
    const double exact = static_cast<double>(least) * std::exp2(static_cast<double>(k) / steps);
    const std::int64_t bytes =
        std::llround(exact / static_cast<double>(page_bytes)) * static_cast<std::int64_t>(page_bytes);
    if (bytes > most) return out;
    if (bytes != last) out.emplace_back(bytes);
    last = bytes;
  }
}

Sweeps sweeps(std::int64_t most, int steps) {
  return {"kernel=chase working_set=" + sizes(4096, most, steps),
          "kernel=tlb working_set=" + sizes(131072, 2 * most, 1),
          "kernel=pair working_set=67108864 apart=4,8,16,32,64,128,256,512"};
}

}  // namespace

Family cache() {
  Values all_bytes = sizes(4096, std::int64_t{1} << 30, 12);
  const auto rates = [](const Case& at) { return !is_walk(at); };
  return {
      .name = "cache",
      .question =
          "Capacity, latency, bandwidth and sharing of each cache level, fetch granularity (bytes per miss), "
          "TLB reach "
          "(memory without TLB misses)?",
      .brief = "L1, L2, L3: capacity, latency, bandwidth",
      .axes =
          {{.name = "kernel",
            .meaning =
                "chase: pointer chase (a load returns the next address) of one work-item, in random order "
                "within 64 pages, then within the next 64, "
                "as TLB misses would look like cache misses; chase_private: one per compute "
                "unit, each in memory of its own; tlb: nodes a page and a cache line apart; pair: loads two "
                "elements of each node; read, write, copy: one work-group per compute unit, repeatedly",
            .values = {"chase", "chase_private", "tlb", "pair", "read", "write", "copy"}},
           {.name = "working_set",
            .meaning = "working set in bytes, per compute unit where all take part",
            .values = std::move(all_bytes),
            .domain = multiples_of(4096, 4096, largest)},
           {.name = "apart",
            .meaning = "bytes between the two elements of a node (kernel pair)",
            .values = {4, 8, 16, 32, 64, 128, 256, 512},
            .domain = multiples_of(4, 4, 1020),
            .when = [](const Case& at) { return at.is("kernel", "pair"); }},
           {.name = "parts",
            .meaning = "own: each compute unit rereads its part; in_turns: in each pass it reads the part of "
                       "another, so that no "
                       "private cache helps",
            .values = {"own", "in_turns"},
            .when = [](const Case& at) { return at.is("kernel", "read"); }},
           {.name = "links",
            .meaning = "what a node of chase holds: the index of the next, from which a step computes its "
                       "address; or the address, so that a step is a load alone: the latency of a cache is "
                       "the slope between two lengths of such chains",
            .values = {"index", "address"},
            .when = [](const Case& at) { return at.is("kernel", "chase"); }},
           {.name = "chain_length",
            .meaning = "dependent loads; 0: visits every node once, but by at least 40009 loads, of which "
                       "the first, cold ones do not matter, and at most 2^20",
            .values = {0},
            .domain = whole(0, 1 << 24),
            .when = is_walk},
           {.name = "iterations",
            .meaning = "passes through the working set; 0: enough to read 32 MiB",
            .values = {0},
            .domain = whole(0, 1 << 20),
            .when = rates}},
      .presets = {.smoke = {"kernel=chase,chase_private working_set=4096,12288 chain_length=7,101",
                            "kernel=chase links=address working_set=4096,12288 chain_length=7,101",
                            "kernel=tlb working_set=131072 chain_length=101",
                            "kernel=pair working_set=8192 apart=4,1020 chain_length=101",
                            "kernel=read parts=own,in_turns working_set=16384,36864 iterations=3",
                            "kernel=write,copy working_set=32768,73728 iterations=3"},
                  .quick = sweeps(std::int64_t{1} << 28, 2),
                  .paper = sweeps(std::int64_t{1} << 30, 12),
                  .full = sweeps(std::int64_t{1} << 30, 12) +
                          Sweeps{"kernel=read parts=own,in_turns working_set=16384,262144,4194304",
                                 "kernel=write,copy working_set=32768,262144,4194304"}},
      .view = {.rows = {"working_set"},
               .columns = {"kernel"},
               .quantity = "items",
               .chapter = "Access and caches",
               .graphs = {{.name = "latency",
                           .x = {"working_set"},
                           .series = {"kernel"},
                           .quantity = "ns",
                           .where = {"kernel=chase,chase_private", "links=index"},
                           .findings = {"l1_bytes", "l2_bytes", "l3_bytes", "dram_latency"},
                           .marks = {"l1_bytes", "l2_bytes", "l3_bytes"}},
                          {.name = "bandwidth",
                           .x = {"working_set"},
                           .series = {"kernel", "parts"},
                           .where = {"kernel=read,write,copy"},
                           .marks = {"l1_bytes", "l2_bytes", "l3_bytes"}}}},
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {
          {"l1_latency", "ns", "L1 pointer-chase latency"},
          {"l1_bytes", "B", "L1 capacity"},
          {"l1_compute_units", "units",
           "1: each compute unit has its own L1; else the number of compute units, of which some share one"},
          {"l1_read", "GB/s", "L1 read bandwidth, all compute units"},
          {"l2_latency", "ns", "L2 pointer-chase latency"},
          {"l2_bytes", "B", "L2 capacity"},
          {"l2_compute_units", "units",
           "1: each compute unit has its own L2; else the number of compute units, of which some share one"},
          {"l2_read", "GB/s", "L2 read bandwidth, all compute units"},
          {"l3_latency", "ns", "L3 pointer-chase latency"},
          {"l3_bytes", "B", "L3 capacity"},
          {"fetch_granularity", "B", "bytes that a miss fetches (a GPU's sector)"},
          {"tlb_reach", "B", "TLB reach"}}};
}

}  // namespace clweave::families
