// SPDX-License-Identifier: Apache-2.0
// queues: what do launches, work-groups and wake-up cost, and what overlaps?
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "families/shared/generator.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

bool is_half_full(const Case& at) { return at.is("kernel", "half") || at.is("kernel", "beside"); }

bool computes(const Case& at) {
  return at.is("kernel", "compute") || at.is("kernel", "overlap") || at.is("kernel", "round_trip") ||
         at.is("kernel", "wait_behind") || is_half_full(at);
}

std::uint64_t group_items(const DeviceInfo& device) { return std::min<std::uint64_t>(256, device.max_group); }

// Plans a kernel of a work-group for every second compute unit, or two of them, for which there is room at
// once.
Plan plan_half_full(const Case& at, const DeviceInfo& device, Word seed) {
  Plan p;
  const std::uint64_t trips = at.count("iterations", 0, most_trips(device)), group = group_items(device),
                      items = std::max<std::uint64_t>(1, device.units() / 2) * group,
                      kernels = at.is("kernel", "beside") ? 2 : 1, queues = at.count("queues");
  p.timed_by_host = true;
  p.queues = {queues, at.is("queue_order", "in_order")};
  for (std::uint64_t k = 0; k < kernels; ++k) {
    const auto of = static_cast<Word>(seed + 2 * k);
    const auto out = p.output<Word>(items);
    p.launch("compute", {items}, {group}, out, of, static_cast<Word>(trips));
    std::get<Launch>(p.steps.back()).queue = k % queues;
    p.expect<Word>(out, [=](std::uint64_t i) { return after(static_cast<Word>(of + i), trips); });
  }
  p.cost = {.read = 0, .written = kernels * items * sizeof(Word), .flops = 0, .items = kernels};
  return p;
}

// Plans a launch of one work-item while another queue's kernel runs.
Plan plan_wait_behind(const Case& at, const DeviceInfo& device, Word seed) {
  Plan p;
  const std::uint64_t trips = at.count("iterations", 0, most_trips(device)), group = group_items(device),
                      items = at.count("groups") * group;
  p.queues = {.count = 2, .in_order = true, .with_priority = at.is("priority", "high")};
  Plan::need(!p.queues.with_priority || device.has_extension("cl_khr_priority_hints"),
             "the device's queues have no priority (cl_khr_priority_hints)");
  p.timed_by_host = p.never_batched = true;
  p.wait = Wait::event;
  const auto behind = p.output<Word>(items), out = p.output<Word>(1);
  p.launch("compute", {items}, {group}, behind, seed, static_cast<Word>(trips));
  p.background = 1;
  p.launch("mark", {1}, {1}, out, Word{0}, seed);
  std::get<Launch>(p.steps.back()).queue = 1;
  p.expect<Word>(behind, [=](std::uint64_t i) { return after(static_cast<Word>(seed + i), trips); });
  p.expect<Word>(out, [seed](std::uint64_t) { return seed; });
  p.cost = {.read = 0, .written = sizeof(Word), .flops = 0, .items = 1};
  return p;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  Plan p;
  const Word seed = Random<Word>(at.seed, 1)(0) | 1;
  const std::string kernel = at.text("kernel");
  if (kernel == "launch") {
    const std::uint64_t launches = at.count("launches"), queues = at.count("queues");
    p.timed_by_host = true;
    p.queues = {queues, at.is("queue_order", "in_order")};
    const auto out = p.output<Word>(launches);
    for (std::uint64_t i = 0; i < launches; ++i) {
      p.launch("mark", {1}, {1}, out, static_cast<Word>(i), static_cast<Word>(seed + i * i));
      std::get<Launch>(p.steps.back()).queue = i % queues;
    }
    p.expect<Word>(out, [seed](std::uint64_t i) { return static_cast<Word>(seed + i * i); });
    p.cost = {.read = 0, .written = launches * sizeof(Word), .flops = 0, .items = launches};
    return p;
  }
  if (kernel == "groups") {
    const std::uint64_t groups = at.count("groups"), group = at.count("group", 1, 65536);
    const auto out = p.output<Word>(groups);
    p.launch("mark_groups", {groups * group}, {group}, out, seed);
    p.expect<Word>(out, [seed](std::uint64_t i) { return static_cast<Word>(seed + i); });
    p.cost = {.read = 0, .written = groups * sizeof(Word), .flops = 0, .items = groups};
    return p;
  }
  if (is_half_full(at)) return plan_half_full(at, device, seed);
  if (kernel == "wait_behind") return plan_wait_behind(at, device, seed);
  p.timed_by_host = true;
  p.cost.items = 1;
  if (computes(at)) {
    const std::uint64_t trips = at.count("iterations", 0, most_trips(device));
    const std::uint64_t items = kernel == "round_trip" && trips == 0 ? 1 : device.units() * 2048;
    const auto out = p.output<Word>(items);
    p.launch("compute", {items}, {}, out, seed, static_cast<Word>(trips));
    p.expect<Word>(out, [=](std::uint64_t i) { return after(static_cast<Word>(seed + i), trips); });
    p.cost.written += items * sizeof(Word);
  }
  if (kernel == "round_trip") {
    p.never_batched = true;
    p.idle_s = 1e-3 * static_cast<double>(at.number("idle_ms"));
  }
  if (kernel == "transfer" || kernel == "overlap") {
    const std::uint64_t bytes = at.count("n");
    const Random<Word> value(at.seed, 2);
    p.queues.count = 2;
    const auto in = p.input<Word>(bytes / sizeof(Word), value);
    const auto out = p.put(p.output<Word>(bytes / sizeof(Word)), BufferPlace::pinned);
    p.steps.emplace_back(Transfer{.from = in, .to = out, .bytes = bytes, .blocking = false, .queue = 1});
    p.expect<Word>(out, value);
    p.cost.written += bytes;
  }
  return p;
}

const Outcome* of_kernel(const std::vector<Outcome>& outcomes, const char* kernel,
                         const std::map<std::string, std::int64_t>& numbers = {}) {
  const Outcome* found = nullptr;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", kernel)) continue;
    if (std::ranges::all_of(numbers,
                            [&](const auto& axis) { return o.at.number(axis.first) == axis.second; }) &&
        (found == nullptr || o.time_s < found->time_s))
      found = &o;
  }
  return found;
}

constexpr std::int64_t first_trips = 1000;

// Asks for a kernel that takes as long as the transfer, so that neither hides the other, and both together.
void refine_overlap(const std::vector<Outcome>& outcomes, const DeviceInfo& device, std::vector<Case>& out) {
  const Outcome* transfer = of_kernel(outcomes, "transfer");
  const Outcome* compute = of_kernel(outcomes, "compute", {{"iterations", first_trips}});
  if (transfer == nullptr || compute == nullptr) return;
  const std::int64_t trips = trips_for(transfer->time_s, first_trips, compute->time_s, device);
  out.push_back(compute->at.with("iterations", trips));
  out.push_back(transfer->at.with("iterations", trips).with("kernel", "overlap"));
}

// Asks for a half-full kernel so long that launches do not count, and two of them in all ways.
void refine_beside(const std::vector<Outcome>& outcomes, const DeviceInfo& device, std::vector<Case>& out) {
  constexpr double wanted_s = 5e-3;
  const Outcome* half = of_kernel(outcomes, "half", {{"iterations", first_trips}});
  if (half == nullptr) return;
  const Case alone = half->at.with("iterations", trips_for(wanted_s, first_trips, half->time_s, device));
  out.push_back(alone);
  const Case two = alone.with("kernel", "beside");
  for (const auto& [queues, order] : {std::pair(1, "in_order"), {1, "out_of_order"}, {2, "in_order"}})
    out.push_back(two.with("queues", std::int64_t{queues}).with("queue_order", order));
}

// Asks for a kernel of so many work-groups that each of them is short, to launch another one behind it.
void refine_wait_behind(const std::vector<Outcome>& outcomes, const DeviceInfo& device,
                        std::vector<Case>& out) {
  constexpr double wanted_s = 20e-3;
  constexpr std::uint64_t times = 64;  // the work-items of kernel=compute
  const Outcome* compute = of_kernel(outcomes, "compute", {{"iterations", first_trips}});
  if (compute == nullptr) return;
  const std::uint64_t groups = times * device.units() * 2048 / group_items(device);
  const Case behind = compute->at.with("kernel", "wait_behind")
                          .with("groups", static_cast<std::int64_t>(groups))
                          .with("iterations", trips_for(wanted_s / times, first_trips,
                                                        compute->min_s.value_or(compute->time_s), device));
  for (const char* priority : {"none", "high"}) out.push_back(behind.with("priority", priority));
}

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Case> out;
  refine_overlap(outcomes, device, out);
  refine_beside(outcomes, device, out);
  refine_wait_behind(outcomes, device, out);
  return out;
}

Finding time_finding(std::string name, const Outcome& o, const std::string& text) {
  Finding out{std::move(name), 1e6 * o.time_s, "us", text};
  if (o.low_s) out.low = 1e6 * *o.low_s;
  if (o.high_s) out.high = 1e6 * *o.high_s;
  return out;
}

Finding rate_finding(std::string name, const Outcome& o, double unit, std::string of,
                     const std::string& text) {
  return throughput_of(std::move(name), as_double(o.items) / unit, o, std::move(of), text);
}

// Computes which part of the shorter of two overlapped the other.
std::optional<Finding> overlap(const std::vector<Outcome>& outcomes) {
  const Outcome *both = of_kernel(outcomes, "overlap"), *transfer = of_kernel(outcomes, "transfer");
  if (both == nullptr || transfer == nullptr) return {};
  const Outcome* compute = of_kernel(outcomes, "compute", {{"iterations", both->at.number("iterations")}});
  if (compute == nullptr) return {};
  const auto part = [](double c, double t, double b) { return (c + t - b) / std::min(c, t); };
  Finding out{
      "overlap", part(compute->time_s, transfer->time_s, both->time_s), "",
      "fraction of a transfer that overlaps a kernel: 0 if one waits for the other, 1 if neither is slowed"};
  if (compute->low_s && compute->high_s && transfer->low_s && transfer->high_s && both->low_s &&
      both->high_s) {
    out.low = part(*compute->low_s, *transfer->low_s, *both->high_s);
    out.high = part(*compute->high_s, *transfer->high_s, *both->low_s);
  }
  return out;
}

// Computes which part of a half-full kernel ran beside another one.
void add_beside(const std::vector<Outcome>& outcomes, std::vector<Finding>& out) {
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", "beside")) continue;
    const Outcome* half = of_kernel(outcomes, "half", {{"iterations", o.at.number("iterations")}});
    if (half == nullptr) continue;
    const bool one = o.at.number("queues") == 1, in_order = o.at.is("queue_order", "in_order");
    const std::string name = !one       ? "beside_queues"
                             : in_order ? "beside_in_order"
                                        : "beside_out_of_order",
                      where = !one       ? "by two queues"
                              : in_order ? "in one queue"
                                         : "in one out-of-order queue";
    const auto part = [](double alone, double both) { return (2 * alone - both) / alone; };
    Finding& found = out.emplace_back(Finding{
        name, part(half->time_s, o.time_s), "",
        fmt::format("fraction of a kernel on half of the compute units that runs beside another {}: 0 "
                    "if one waits for the other, 1 if neither is slowed",
                    where)});
    found.from = {half, &o};
    if (!half->low_s || !half->high_s || !o.low_s || !o.high_s) continue;
    found.low = part(*half->low_s, *o.high_s);
    found.high = part(*half->high_s, *o.low_s);
  }
}

// Tells how long a launch waited behind a kernel, if that still ran when it was enqueued.
void add_wait_behind(const std::vector<Outcome>& outcomes, std::vector<Finding>& out) {
  for (const char* priority : {"none", "high"}) {
    const auto work = [](const Outcome& o) { return o.at.number("groups") * o.at.number("iterations"); };
    const Outcome* longest = nullptr;
    for (const auto& o : outcomes) {
      if (!o.at.is("kernel", "wait_behind") || !o.at.is("priority", priority) || !o.value) continue;
      if (longest == nullptr || work(o) > work(*longest)) longest = &o;
    }
    if (longest == nullptr) continue;
    const bool high = longest->at.is("priority", "high");
    const char *suffix = high ? "_priority" : "", *queue = high ? ", from a queue of high priority" : "";
    out.push_back(time_finding(
        std::string("latency_behind") + suffix, *longest,
        fmt::format("a launch and its wait take {:.3g} us behind a kernel that fills the device{}",
                    1e6 * longest->time_s, queue)));
    out.back().from = {longest};
    out.push_back(
        {std::string("waited_behind") + suffix, longest->value, "",
         fmt::format("fraction of the remaining time of a kernel that fills the device that a launch "
                     "behind it takes{}: 0 if it runs in between at once, 1 if it waits for the end",
                     queue)});
    out.back().from = {longest};
  }
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  const Outcome *one = nullptr, *best = nullptr;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", "launch")) continue;
    if (o.at.number("queues") == 1 && o.at.is("queue_order", "in_order")) one = &o;
    if (best == nullptr || o.time_s * as_double(best->items) < best->time_s * as_double(o.items)) best = &o;
  }
  if (one != nullptr) {
    out.push_back(rate_finding(
        "launch_rate", *one, 1e6, "M/s",
        fmt::format("one launch per {:.3g} us on one queue", 1e6 * one->time_s / as_double(one->items))));
    if (best != one && best->items == one->items)
      out.push_back(
          ratio_of("queues_gain", *one, *best,
                   fmt::format("time of launches on one queue / on {} {}", best->at.number("queues"),
                               best->at.is("queue_order", "in_order") ? "in order" : "out of order")));
  }
  const Outcome* awake = of_kernel(outcomes, "round_trip", {{"idle_ms", 0}, {"iterations", 0}});
  if (awake != nullptr)
    out.push_back(
        time_finding("round_trip", *awake,
                     fmt::format("an empty launch and its wait take {:.3g} us", 1e6 * awake->time_s)));
  const Outcome* asleep = of_kernel(outcomes, "round_trip", {{"idle_ms", 100}, {"iterations", 0}});
  if (awake != nullptr && asleep != nullptr)
    out.push_back(
        ratio_of("wake_up", *asleep, *awake, "time of a round trip after 100 ms idle / without idling"));
  const Outcome *busy = of_kernel(outcomes, "round_trip", {{"idle_ms", 0}, {"iterations", 1000}}),
                *cold = of_kernel(outcomes, "round_trip", {{"idle_ms", 100}, {"iterations", 1000}});
  if (busy != nullptr && cold != nullptr)
    out.push_back(ratio_of("wake_up_work", *cold, *busy,
                           "time of arithmetic after 100 ms idle / without idling: clock ramp-up"));
  if (const Outcome* groups = of_kernel(outcomes, "groups"))
    out.push_back(rate_finding("group_rate", *groups, 1e6, "M/s",
                               fmt::format("work-groups of {} work-items that write a 32-bit word each",
                                           groups->at.number("group"))));
  if (auto found = overlap(outcomes)) out.push_back(std::move(*found));
  add_beside(outcomes, out);
  add_wait_behind(outcomes, out);
  return out;
}

}  // namespace

Family queues() {
  const auto of = [](std::initializer_list<const char*> kernels) {
    return [names = std::vector<std::string>(kernels.begin(), kernels.end())](const Case& at) {
      return std::ranges::find(names, at.text("kernel")) != names.end();
    };
  };
  return {
      .name = "queues",
      .question = "What do launches, work-groups and wake-up cost, and what overlaps?",
      .brief = "launches, queues and what overlaps",
      .axes =
          {{.name = "kernel",
            .meaning =
                "launch: empty launches; round_trip: one launch and the wait for it; groups: one launch of "
                "many work-groups; compute, transfer, overlap: a kernel, a read into pinned memory, both "
                "by two queues; half, beside: a kernel for half of the compute units, two of them; "
                "wait_behind: one launch while a kernel of another queue fills the device",
            .values = {"launch", "round_trip", "groups", "compute", "transfer", "overlap", "half", "beside",
                       "wait_behind"}},
           {.name = "queues",
            .meaning = "queues that the launches are distributed to",
            .values = {1, 2, 4, 8, 16, 32, 64},
            .domain = whole(1, 256),
            .when = of({"launch", "beside"})},
           {.name = "queue_order",
            .meaning = "order of execution: in_order or out_of_order queues",
            .values = {"in_order", "out_of_order"},
            .when = of({"launch", "beside"})},
           {.name = "launches",
            .meaning = "launches of one execution",
            .values = {64},
            .domain = whole(1, 4096),
            .when = of({"launch"})},
           {.name = "idle_ms",
            .meaning = "idle milliseconds before each launch, not timed; 0: none",
            .values = {0, 1, 10, 100},
            .domain = whole(0, 10000),
            .when = of({"round_trip"})},
           {.name = "groups",
            .meaning = "work-groups of one launch; wait_behind: of the kernel that fills the device",
            .values = {1 << 20, 1 << 16},
            .domain = whole(1, 1 << 30),
            .when = of({"groups", "wait_behind"})},
           {.name = "group",
            .meaning = "work-items per work-group",
            .values = {64, 1, 256},
            .domain = whole(1, 65536),
            .when = of({"groups"})},
           {.name = "iterations",
            .meaning = "arithmetic steps of each of 2048 work-items per compute unit, of wait_behind of each "
                       "work-item; 0: of round_trip one work-item without arithmetic",
            .values = {0, 1000},
            .domain = whole(0, 1000000000),
            .when = computes},
           {.name = "n",
            .meaning = "bytes of the transfer",
            .values = {64 << 20, 1 << 20},
            .domain = multiples_of(4, 4, std::int64_t{1} << 36),
            .when = of({"transfer", "overlap"})},
           {.name = "priority",
            .meaning = "none: two ordinary queues; high: the launch's queue is of high priority, that of the "
                       "kernel that fills the device of low (cl_khr_priority_hints)",
            .values = {"none", "high"},
            .when = of({"wait_behind"})}},
      .presets = {.smoke = {"kernel=launch launches=5 queues=1,2",
                            "kernel=launch launches=5 queues=2 queue_order=out_of_order",
                            "kernel=round_trip idle_ms=0,1 iterations=0,7",
                            "kernel=groups groups=67 group=1,64", "kernel=compute iterations=7",
                            "kernel=transfer n=4100", "kernel=overlap iterations=7 n=4100",
                            "kernel=half iterations=7", "kernel=beside iterations=7 queues=1,2",
                            "kernel=beside iterations=7 queue_order=out_of_order",
                            "kernel=wait_behind groups=5 iterations=7 priority=none,high"},
                  .quick = {"kernel=launch queues=1,4,16", "kernel=launch queues=1 queue_order=out_of_order",
                            "kernel=round_trip idle_ms=0,100 iterations=0,1000", "kernel=groups",
                            "kernel=compute iterations=1000", "kernel=transfer",
                            "kernel=half iterations=1000"},
                  .paper = {},
                  .full = {"kernel=launch queues=1,2,4,8,16,32,64 queue_order=in_order,out_of_order",
                           "kernel=round_trip idle_ms=0,1,10,100 iterations=0,1000",
                           "kernel=groups group=1,64,256", "kernel=compute iterations=1000",
                           "kernel=transfer", "kernel=half iterations=1000"}},
      .view = {.rows = {"kernel", "queues", "queue_order", "idle_ms", "group", "priority"},
               .columns = {"iterations"},
               .quantity = "items"},
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {
          {"queues_gain", "x", "time of launches on one queue / on the best number of queues"},
          {"wake_up", "x", "time of a round trip after 100 ms idle / without idling"},
          {"group_rate", "M/s", "work-groups started per second"},
          {"overlap", "", "fraction of a transfer that overlaps a kernel"},
          {"beside_queues", "", "fraction of a half-full kernel that runs beside one of another queue"},
          {"beside_out_of_order", "",
           "fraction of a half-full kernel that runs beside one of its out-of-order queue"},
          {"waited_behind", "",
           "fraction of a kernel's remaining time that a launch of another queue takes"}}};
}

}  // namespace clweave::families
