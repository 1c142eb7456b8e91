// SPDX-License-Identifier: Apache-2.0
// waiting: what does it cost the host to wait for a kernel, and how late does it hear of its end?
//
// A thread that spins hears of the end soonest and keeps a processor busy; one that sleeps is late. Which of
// them clFinish does is the driver's choice, of which users know only that their processor is at 100 %.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "families/shared/generator.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

constexpr std::int64_t first_iterations = 1000;
// A short kernel tells the latency, of which a long one would hide the microseconds; a long one tells the
// processor time, which is counted in ticks of up to 10 ms on some hosts.
constexpr double short_s = 0.5e-3, long_s = 50e-3;

struct Way {
  const char* name;
  Wait wait;
  const char* call;
};

constexpr std::array<Way, 6> ways = {{{"finish", Wait::finish, "clFinish"},
                                      {"event", Wait::event, "clWaitForEvents"},
                                      {"blocking_read", Wait::blocking_read, "a blocking read"},
                                      {"callback", Wait::callback, "a callback"},
                                      {"poll", Wait::poll, "asking the event without a pause"},
                                      {"sleep", Wait::sleep, "asking the event every 100 us"}}};

Plan plan(const Case& at, const DeviceInfo& device) {
  Plan p;
  const Word seed = Random<Word>(at.seed, 1)(0) | 1;
  const std::uint64_t trips = at.count("iterations", 0, most_trips(device)), items = device.units() * 2048;
  p.wait = std::ranges::find_if(ways, [&](const Way& way) { return at.is("wait", way.name); })->wait;
  p.never_batched = true;
  const auto out = p.output<Word>(items);
  p.launch("compute", {items}, {}, out, seed, static_cast<Word>(trips));
  p.expect<Word>(out, [=](std::uint64_t i) { return after(static_cast<Word>(seed + i), trips); });
  p.cost = {.read = 0, .written = items * sizeof(Word), .flops = 0, .items = 1};
  return p;
}

// Asks for callbacks last: NVIDIA's driver keeps a thread spinning from the first one on, of which the other
// ways would be accused.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto first = std::ranges::find_if(outcomes, [](const Outcome& o) {
    return o.at.is("wait", "finish") && o.at.number("iterations") == first_iterations;
  });
  if (first == outcomes.end()) return {};
  std::vector<Case> out;
  for (const bool calls_back : {false, true}) {
    for (const double wanted_s : {short_s, long_s}) {
      const Case at =
          first->at.with("iterations", trips_for(wanted_s, first_iterations, first->time_s, device));
      for (const auto& way : ways) {
        if ((way.wait == Wait::callback) == calls_back) out.push_back(at.with("wait", way.name));
      }
    }
  }
  return out;
}

// Returns the microseconds by which the host's time is longer than the device's: launch and wait. Empty
// without a certified timer of the device.
Number beside_us(const Outcome& o) {
  if (!o.wall_s || *o.wall_s <= o.time_s) return {};
  return 1e6 * (*o.wall_s - o.time_s);
}

// The two cases of a way to wait.
struct Waits {
  const Outcome *brief = nullptr, *lengthy = nullptr;
};

Waits waits_of(const std::vector<Outcome>& outcomes, const char* way) {
  Waits out;
  for (const auto& o : outcomes) {
    if (!o.at.is("wait", way) || o.at.number("iterations") == first_iterations) continue;
    const Outcome*& to = o.time_s < std::sqrt(short_s * long_s) ? out.brief : out.lengthy;
    if (to == nullptr || o.time_s > to->time_s) to = &o;
  }
  return out;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Finding> out;
  const bool is_cpu = device.type == "cpu";
  // Of a processor the kernel's own work is no price of waiting.
  double kernels = 0;
  if (is_cpu) {
    kernels = HUGE_VAL;
    for (const auto& way : ways) {
      const Waits of = waits_of(outcomes, way.name);
      if (of.lengthy != nullptr && of.lengthy->own_cpus) kernels = std::min(kernels, *of.lengthy->own_cpus);
    }
  }
  for (const auto& way : ways) {
    const Waits of = waits_of(outcomes, way.name);
    if (of.lengthy != nullptr && of.lengthy->own_cpus) {
      const double price = *of.lengthy->own_cpus - kernels;
      Finding& found = out.emplace_back(Finding{
          fmt::format("cpu_{}", way.name), price, "processors",
          fmt::format("{} keeps {:.2f} processors busy{} while a kernel runs for {:.3g} ms", way.call, price,
                      is_cpu ? " more than the way that costs least" : "", 1e3 * of.lengthy->time_s)});
      found.from = {of.lengthy};
    }
    const Number late_us = of.brief != nullptr ? beside_us(*of.brief) : Number();
    if (!late_us) continue;
    Finding& found = out.emplace_back(Finding{
        fmt::format("latency_{}", way.name), late_us, "us",
        fmt::format("a kernel of {:.3g} ms, and {} for its end, take the host {:.3g} us more than the "
                    "device",
                    1e3 * of.brief->time_s, way.call, *late_us)});
    found.from = {of.brief};
  }
  return out;
}

}  // namespace

Family waiting() {
  return {
      .name = "waiting",
      .question = "What does it cost the host to wait for a kernel, and how late does it hear of its end?",
      .brief = "cost of waiting for a kernel on the host",
      .axes = {{.name = "wait",
                .meaning =
                    "finish: clFinish; event: clWaitForEvents; blocking_read: of four bytes; callback: "
                    "clSetEventCallback; poll: the event's status without a pause; sleep: every 100 us",
                .values = {"finish", "event", "blocking_read", "callback", "poll", "sleep"}},
               {.name = "iterations",
                .meaning = "arithmetic steps of each of 2048 work-items per compute unit; further ones are "
                           "chosen so that the kernel takes 0.5 and 50 ms",
                .values = {first_iterations},
                .domain = whole(0, 1000000000)}},
      .presets = {.smoke = {"wait=finish,event,blocking_read,callback,poll,sleep iterations=7"},
                  .quick = {"wait=finish"},
                  .paper = {},
                  .full = {"wait=finish"}},
      .view = {.rows = {"wait"}, .columns = {"iterations"}, .quantity = "items"},
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {{"cpu_finish", "processors", "that clFinish keeps busy while a kernel runs"},
                 {"cpu_event", "processors", "that clWaitForEvents keeps busy while a kernel runs"},
                 {"latency_finish", "us", "launch and clFinish beside a kernel's own time"},
                 {"latency_callback", "us", "launch and a callback beside a kernel's own time"}}};
}

}  // namespace clweave::families
