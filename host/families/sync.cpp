// SPDX-License-Identifier: Apache-2.0
// sync: cost of barriers, and of sub-group operations against local memory.
//
// One work-group per compute unit executes steps that each need values of other work-items from the step
// before. The time that further barriers add is the cost of a barrier; reduce, scan, shuffle and broadcast
// use local memory and barriers, or sub-group operations.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

// Numbered as in sync.cl, in the order of the axes.
enum class Operation : std::uint8_t { exchange, reduce, scan, shuffle, broadcast };
enum class By : std::uint8_t { memory, subgroups, shuffle };
const Values operations = {"exchange", "reduce", "scan", "shuffle", "broadcast"};
const Values means = {"memory", "subgroups", "shuffle"};

template <class Word>
Word word_at(const Case& at, const char* axis, const Values& words) {
  return static_cast<Word>(std::ranges::find(words, at.at(axis)) - words.begin());
}
Operation operation_of(const Case& at) { return word_at<Operation>(at, "operation", operations); }
By means_of(const Case& at) { return word_at<By>(at, "by", means); }

// Counts the kinds of inputs that work-groups repeat.
constexpr std::uint64_t kinds_of_group = 2;

struct Work {
  Operation operation;
  std::uint64_t group, barriers, trips, seed;

  Word own(std::uint64_t item) const {
    return Random<Word>(seed, 1)(item / group % kinds_of_group * group + item % group);
  }

  // Computes step i on the values x of a work-group, among `width` neighbours.
  void step(std::vector<Word>& x, const std::vector<Word>& own, std::uint64_t width, std::uint64_t i) const {
    const std::vector<Word> before = x;
    const std::uint64_t among = operation == Operation::exchange ? group : width;
    for (std::uint64_t first = 0; first < x.size(); first += among) {
      Word sum = 0;
      if (operation == Operation::reduce) sum = std::accumulate(&before[first], &before[first] + among, sum);
      for (std::uint64_t lane = 0; lane < among; ++lane) {
        Word told = 0;
        switch (operation) {
          case Operation::exchange:
            told = before[first + (lane + 1) % among] ^ (barriers % 2 == 0 ? own[first + lane] : 0);
            break;
          case Operation::reduce: told = sum; break;
          case Operation::scan: told = sum += before[first + lane]; break;
          case Operation::shuffle: told = before[first + (lane + i) % among]; break;
          case Operation::broadcast: told = before[first + i % among]; break;
        }
        x[first + lane] = 3 * told + own[first + lane] + static_cast<Word>(i);
      }
    }
  }
};

// Results of the kinds of work-groups after all steps, by width: a device's sub-group size is known only
// after a run.
class Left {
 public:
  explicit Left(Work work) : work_(work) {}

  Word of(std::uint64_t item, std::uint64_t width) {
    const std::scoped_lock lock(mutex_);
    std::vector<Word>& x = by_width_[width];
    if (x.empty()) {
      for (std::uint64_t i = 0; i < kinds_of_group * work_.group; ++i) x.push_back(work_.own(i));
      const std::vector<Word> own = x;
      for (std::uint64_t i = 0; i < work_.trips; ++i) work_.step(x, own, width, i);
    }
    return x[item % x.size()];
  }

 private:
  Work work_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<Word>> by_width_;
};

struct Told {
  Word x, width;
};

// Expects the right value for the width that a work-item reports: `width`, or if that is 0 any power of two
// that divides a work-group.
void expect_told(Plan& p, Buffer out, const Work& work, std::uint64_t width) {
  p.checks.push_back(
      {out,
       [work, width, left = std::make_shared<Left>(work)](std::uint64_t offset,
                                                          std::span<const std::byte> bytes) {
         ComparisonResult tally;
         const std::uint64_t first = offset / sizeof(Told);
         for (std::uint64_t k = 0; k < bytes.size() / sizeof(Told); ++k) {
           Told got = {};
           std::memcpy(&got, &bytes[k * sizeof got], sizeof got);
           const void* blank = &poison[k * sizeof got % poison.size()];
           ++tally.elements;
           tally.written += std::memcmp(&got, blank, sizeof got) != 0 ? 1U : 0U;
           const bool possible =
               width > 0 ? got.width == width : std::has_single_bit(got.width) && work.group % got.width == 0;
           const Word want = possible ? left->of(first + k, got.width) : 0;
           if (possible && got.x == want) {
             if (width == 0) tally.measured = std::max<std::optional<double>>(tally.measured, got.width);
             continue;
           }
           if (tally.wrong++ > 0) continue;
           tally.first_wrong = first + k;
           tally.first_text = possible ? fmt::format("[{}] is {}, expected {}", first + k, got.x, want)
                                       : fmt::format("[{}] is of an operation among {} work-items of {}",
                                                     first + k, got.width, work.group);
         }
         return tally;
       },
       width == 0 ? "items" : ""});
}

// Expects the words exchanged through global memory in the last two steps.
void expect_scratch(Plan& p, Buffer scratch, const Work& work, std::uint64_t width) {
  std::array<std::shared_ptr<Left>, 2> before;
  for (std::uint64_t half = 0; half < 2; ++half) {
    Work earlier = work;
    earlier.trips -=
        work.trips % 2 == half ? 2 : 1;  // step i writes the result of the i steps before to half i % 2
    before[half] = std::make_shared<Left>(earlier);
  }
  p.expect<Word>(scratch, [before, width, group = work.group](std::uint64_t i) {
    return before[i / group % 2]->of(i / (2 * group) * group + i % group, width);
  });
}

// Defines the sub-group operations of the device. In OpenCL C 1.2 only Intel's extension has them.
void need_means(Plan& p, const Case& at, const DeviceInfo& device, std::uint64_t group) {
  if (means_of(at) == By::shuffle) {
    Plan::need(device.vendor.find("NVIDIA") != std::string::npos, "needs NVIDIA's compiler for PTX shuffles");
    Plan::need(group % 32 == 0,
               "NVIDIA's shuffles are among 32 work-items: the work-group must be a multiple of that");
  }
  if (means_of(at) != By::subgroups || device.has_extension("cl_intel_subgroups")) return;
  Plan::need(device.has_extension("cl_khr_subgroups"),
             "the device has no sub-groups (neither cl_intel_subgroups nor cl_khr_subgroups)");
  Plan::need(operation_of(at) != Operation::shuffle || device.has_extension("cl_khr_subgroup_shuffle"),
             "the device has no sub-group shuffles (cl_khr_subgroup_shuffle)");
  p.options = device.version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const bool global = at.is("memory", "global"), memory = means_of(at) == By::memory;
  const Work work = {operation_of(at), at.count("group", 2, 4096), at.count("barriers", 1, 16),
                     at.count("iterations", 2, 65535), at.seed};
  const std::uint64_t width = at.count("width", 2, 1024), items = device.units() * work.group;
  Plan p;
  need_means(p, at, device, work.group);
  Plan::need(
      !memory || work.operation == Operation::exchange || width <= work.group,
      fmt::format("an operation among {} work-items needs more than a work-group of {}", width, work.group));
  if (memory && !global) Plan::need_local(device, 2 * work.group * sizeof(Word));
  p.define("OPERATION", static_cast<int>(work.operation)).define("BY", static_cast<int>(means_of(at)));
  p.define("GLOBAL", global ? 1 : 0).define("BARRIERS", work.barriers);
  p.define("GROUP", work.group).define("WIDTH", width);
  const auto in = p.input<Word>(items, [work](std::uint64_t i) { return work.own(i); });
  const auto out = p.output<Told>(items);
  const auto trips = static_cast<Word>(work.trips);
  if (global) {
    const auto scratch = p.output<Word>(2 * items);
    p.launch("sync", {items}, {work.group}, out, in, trips, scratch);
    expect_scratch(p, scratch, work, width);
  } else {
    p.launch("sync", {items}, {work.group}, out, in, trips);
  }
  expect_told(p, out, work, memory ? width : 0);
  p.cost = {
      .read = items * sizeof(Word), .written = items * sizeof(Told), .flops = 0, .items = items * work.trips};
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

double step_ns(const Outcome& o, double seconds) {
  return 1e9 * seconds / static_cast<double>(o.at.number("iterations"));
}

// Computes the time that each further barrier adds to a step, from the fewest to the most; undecided if that
// may be nothing.
Finding barrier_of(const std::string& memory, const std::map<std::int64_t, const Outcome*>& by_barriers) {
  const Outcome &few = *by_barriers.begin()->second, &many = *by_barriers.rbegin()->second;
  const auto more = static_cast<double>(by_barriers.rbegin()->first - by_barriers.begin()->first);
  const std::int64_t group = few.at.number("group");
  const double ns = (step_ns(many, many.time_s) - step_ns(few, few.time_s)) / more;
  Finding out{fmt::format("barrier_{}_{}", memory, group), ns, "ns",
              fmt::format("a barrier of {} work-items with a {} fence takes {:.3g} ns", group, memory, ns)};
  if (few.low_s && few.high_s && many.low_s && many.high_s) {
    const auto reach = [&](double of_many, double of_few) {
      const double one = step_ns(many, of_many - many.time_s), other = step_ns(few, of_few - few.time_s);
      return std::sqrt(one * one + other * other) / more;
    };
    out.low = ns - reach(*many.low_s, *few.high_s);
    out.high = ns + reach(*many.high_s, *few.low_s);
  }
  if (out.low.value_or(ns) > 0) return out;
  out.value.reset();
  out.text = fmt::format(
      "none found: {:.0f} more barriers of {} work-items with a {} fence changed the time by less than can "
      "be measured",
      more, group, memory);
  return out;
}

// Returns the fastest outcome of an operation in work-groups of 256: in local memory among `width`
// work-items, or by sub-group operations.
const Outcome* fastest(const std::vector<Outcome>& outcomes, const Value& operation, bool by_memory,
                       double width) {
  const Outcome* best = nullptr;
  for (const auto& o : outcomes) {
    if (o.at.at("operation") != operation || (means_of(o.at) == By::memory) != by_memory ||
        o.at.number("group") != 256)
      continue;
    if (by_memory && width > 0 && static_cast<double>(o.at.number("width")) != width) continue;
    if (best == nullptr || step_ns(o, o.time_s) < step_ns(*best, best->time_s)) best = &o;
  }
  return best;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  using Barriers = std::map<std::int64_t, const Outcome*>;
  std::map<std::pair<std::string, std::int64_t>, Barriers> exchanges;  // by memory and group
  std::optional<double> width;
  for (const auto& o : outcomes) {
    width = std::max(width, o.value);
    if (operation_of(o.at) != Operation::exchange) continue;
    const Outcome*& best = exchanges[{o.at.text("memory"), o.at.number("group")}][o.at.number("barriers")];
    if (best == nullptr || step_ns(o, o.time_s) < step_ns(*best, best->time_s)) best = &o;
  }
  std::vector<Finding> out;
  for (const auto& [where, by_barriers] : exchanges) {
    if (by_barriers.size() > 1) out.push_back(barrier_of(where.first, by_barriers));
  }
  if (width)
    out.push_back(
        {"subgroup_width", width, "items", fmt::format("sub-groups have {:.0f} work-items", *width)});
  for (const auto& operation : operations) {
    const std::string name = text_of(operation);
    if (name == "exchange") continue;
    const Outcome* own = fastest(outcomes, operation, false, 0);
    const Outcome* memory = fastest(outcomes, operation, true, own == nullptr ? 0 : own->value.value_or(0));
    const auto add = [&](const Outcome* o, const char* how, const std::string& means_text) {
      if (o == nullptr) return;
      Finding ns{fmt::format("{}_{}", name, how), step_ns(*o, o->time_s), "ns",
                 fmt::format("a {} in a work-group of 256 {}", name, means_text)};
      if (o->low_s) ns.low = step_ns(*o, *o->low_s);
      if (o->high_s) ns.high = step_ns(*o, *o->high_s);
      out.push_back(std::move(ns));
    };
    if (memory != nullptr)
      add(memory, "memory",
          fmt::format("among {} work-items each, through local memory", memory->at.number("width")));
    add(own, "own", "by sub-group operations");
    if (memory != nullptr && own != nullptr && memory->items == own->items)
      out.push_back(ratio_of(
          name + "_gain", *memory, *own,
          fmt::format("time of a {} through local memory / by sub-group operations, among as many work-items",
                      name)));
  }
  return out;
}

// Asks for the same through local memory, among as many work-items as a sub-group has.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Case> out;
  for (const auto& o : outcomes) {
    if (means_of(o.at) == By::memory || o.value.value_or(0) < 2) continue;
    out.push_back(o.at.with("by", "memory").with("width", static_cast<std::int64_t>(*o.value)));
  }
  return out;
}

}  // namespace

Family sync() {
  const auto exchanges = [](const Case& at) { return operation_of(at) == Operation::exchange; };
  const Sweeps few = {"operation=exchange memory=local group=64,256 barriers=1,4",
                      "operation=exchange memory=global group=256 barriers=1,4"};
  const Sweeps many = {"operation=exchange memory=local group=32,64,128,256,512,1024 barriers=1,2,4,8",
                       "operation=exchange memory=global group=64,256,1024 barriers=1,4"};
  const std::string each = "operation=reduce,scan,shuffle,broadcast ";
  const Sweeps told = {each + "by=memory,subgroups,shuffle"};
  return {
      .name = "sync",
      .question = "What does a barrier cost, and what do sub-group operations save?",
      .brief = "barriers and sub-group operations",
      .axes = {{.name = "operation",
                .meaning =
                    "exchange: each work-item gets its neighbour's element; reduce, scan: sums; shuffle: "
                    "each gets another work-item's element; broadcast: all get one work-item's element",
                .values = operations},
               {.name = "by",
                .meaning = "memory: local memory and barriers; subgroups: OpenCL sub-group operations; "
                           "shuffle: NVIDIA's PTX instruction",
                .values = means,
                .when = [=](const Case& at) { return !exchanges(at); }},
               {.name = "memory",
                .meaning = "memory of the exchange, whose accesses the barriers order (fence)",
                .values = {"local", "global"},
                .when = exchanges},
               {.name = "barriers",
                .meaning = "barriers per step of an exchange; one is needed",
                .values = {1, 2, 4, 8},
                .domain = whole(1, 16),
                .when = exchanges},
               {.name = "width",
                .meaning = "number of work-items that take part in one operation through local memory",
                .values = {32, 8, 16, 64},
                .domain = powers_of_two(2, 1024),
                .when = [=](const Case& at) { return !exchanges(at) && means_of(at) == By::memory; }},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 32, 64, 128, 512, 1024},
                .domain = powers_of_two(2, 4096)},
               {.name = "iterations", .meaning = "steps", .values = {1024}, .domain = whole(2, 65535)}},
      .presets = {.smoke = {"operation=exchange memory=local,global barriers=1,4 group=32 iterations=2,5",
                            each + "by=memory width=4,32 group=32,64 iterations=3",
                            each + "by=subgroups,shuffle group=64 iterations=35"},
                  .quick = few + told,
                  .profile = {"operation=exchange memory=local,global group=256 barriers=1,4",
                              "operation=reduce,shuffle by=memory,subgroups,shuffle"},
                  .paper = many + told,
                  .full = many + Sweeps{each + "by=memory width=8,16,32,64 group=64,256,1024",
                                        each + "by=subgroups,shuffle group=64,256,1024"}},
      .view = {.rows = {"operation", "by", "memory", "barriers", "width"},
               .columns = {"group"},
               .quantity = "items"},
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {
          {"barrier_local_256", "ns", "barrier of 256 work-items that orders local memory accesses (fence)"},
          {"barrier_global_256", "ns", "barrier of 256 work-items that orders global memory accesses"},
          {"subgroup_width", "items",
           "work-items per sub-group, by get_sub_group_size(); on a CPU it may be the work-group"},
          {"reduce_gain", "x", "time of a sum through local memory / by a sub-group reduction"},
          {"shuffle_gain", "x", "time of a shuffle through local memory / by a sub-group shuffle"}}};
}

}  // namespace clweave::families
