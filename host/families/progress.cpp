// SPDX-License-Identifier: Apache-2.0
// progress: which work-groups and work-items go on while others wait for them?
//
// OpenCL promises none. Single-pass scans need that a work-group which has begun goes on while later ones
// wait for it; a barrier of the whole grid needs that all which fit at once do ("occupancy-bound", Sorensen
// et al. 2016: "Portable inter-workgroup barrier synchronisation for GPUs"); Apple's and Arm's GPUs do not
// give that (Smith, Levien, Owens 2025). Every wait here is bounded, so none hangs a device.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

constexpr Word gave_up = UINT32_MAX;
// Of tens of nanoseconds up to microseconds each. Where giving up is the rule, few keep the case short; where
// it decides that a device is weak, a hundred times as many outlast a processor's thread that another program
// keeps off it.
constexpr std::uint64_t looks = 2000;

std::uint64_t groups_of(const Case& at, const DeviceInfo& device) {
  return at.is("groups", "resident") ? device.units() : at.is("groups", "many") ? 256 * device.units() : 1;
}

// Counts who gave up.
ComparisonResult told(std::span<const std::byte> bytes, std::uint64_t most) {
  ComparisonResult out;
  double gave = 0;
  for (std::uint64_t i = 0; i < bytes.size() / sizeof(Word); ++i) {
    Word got = 0;
    std::memcpy(&got, &bytes[i * sizeof(Word)], sizeof got);
    ++out.elements;
    out.written += std::memcmp(&got, &poison[i * sizeof(Word) % poison.size()], sizeof got) != 0 ? 1 : 0;
    gave += got == gave_up ? 1 : 0;
    if (got == gave_up || (got >= 1 && got <= most)) continue;
    if (out.wrong++ > 0) continue;
    out.first_wrong = i;
    out.first_text = fmt::format("[{}] is {}, expected 1 to {} looks, or {}", i, got, most, gave_up);
  }
  out.measured = gave;
  return out;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t group = at.is("waits", "next_item") ? at.count("group") : 1,
                      groups = groups_of(at, device), waiting = groups * group;
  const std::uint64_t most = std::min<std::uint64_t>(at.count("looks"), device.most_turns());
  Plan p;
  p.define("GAVE_UP", fmt::format("{}u", gave_up)).define("GROUP", fmt::format("{}u", group));
  const Random<Word> value(at.seed, 1);
  const Word set = value(waiting) | 1, first_ticket = value(waiting + 1);
  // Flags that are not set yet are even, and the first ticket is any number.
  const auto out = p.output<Word>(waiting),
             flags = p.input<Word>(waiting, [=](std::uint64_t i) { return value(i) & ~Word{1}; }),
             tickets = p.input<Word>(1, [=](std::uint64_t) { return first_ticket; });
  for (const Buffer changed : {flags, tickets}) p.buffers[changed.index].restored = true;
  p.launch(at.text("waits"), {waiting}, {group}, out, flags, tickets, set, static_cast<Word>(most));
  if (at.is("waits", "ticket")) p.pass(first_ticket);
  p.checks.push_back({.buffer = out,
                      .compare = {},
                      .unit = "gave up",
                      .compare_all = [most](std::span<const std::byte> bytes) { return told(bytes, most); }});
  p.expect<Word>(tickets, [=](std::uint64_t) { return static_cast<Word>(first_ticket + waiting); });
  p.expect<Word>(flags, [set](std::uint64_t) { return set; });
  p.cost = {.read = 0, .written = waiting * sizeof(Word), .flops = 0, .items = waiting};
  return p;
}

// Returns whether all saw those they waited for, by the case of most looks; empty without such a case.
std::optional<bool> holds(const std::vector<Outcome>& outcomes, const char* waits, const char* groups) {
  const Outcome* longest = nullptr;
  for (const auto& o : outcomes) {
    if (!o.at.is("waits", waits) || !o.at.is("groups", groups) || !o.value) continue;
    if (longest == nullptr || o.at.number("looks") > longest->at.number("looks")) longest = &o;
  }
  if (longest == nullptr) return {};
  return *longest->value == 0;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  const auto begun = holds(outcomes, "ticket", "many"),
             resident = holds(outcomes, "opposite_group", "resident"),
             all = holds(outcomes, "opposite_group", "many"), items = holds(outcomes, "next_item", "one");
  if (begun && resident && all) {
    const int level = !*begun ? 0 : !*resident ? 1 : !*all ? 2 : 3;
    const char* const texts[] = {
        "a work-group that has begun may not go on while later ones wait: single-pass scans need a fallback",
        "a work-group that has begun goes on, but not all that fit at once begin while others wait for them",
        "work-groups that fit at once all go on, as a barrier of the whole grid needs; others wait for room",
        "all work-groups go on, even where more wait than fit at once"};
    const char* const words[] = {"none", "in order", "occupancy-bound", "fair"};
    Finding& found = out.emplace_back(Finding{"progress", level, "", texts[level]});
    found.note = words[level];
  }
  if (items)
    out.push_back({"item_progress", *items ? 1 : 0, "",
                   *items ? "work-items of one work-group go on while others wait for them"
                          : "a work-item may wait for ever for another of its work-group"});
  return out;
}

}  // namespace

Family progress() {
  return {
      .name = "progress",
      .question = "Which work-groups and work-items go on while others wait for them?",
      .brief = "which work-items go on while others wait",
      .axes = {{.name = "waits",
                .meaning =
                    "ticket: for the work-group that began before; opposite_group: for the one at the same "
                    "place from the end to begin; next_item: for the next work-item of the work-group to go "
                    "on, but the last",
                .values = {"ticket", "opposite_group", "next_item"}},
               {.name = "groups",
                .meaning =
                    "work-groups: one per compute unit, 256 per compute unit, which are more than fit at "
                    "once, or one",
                .values = {"many", "resident", "one"}},
               {.name = "group",
                .meaning = "work-items of a work-group of next_item; one in others",
                .values = {64},
                .domain = whole(2, 1024),
                .when = [](const Case& at) { return at.is("waits", "next_item"); }},
               {.name = "looks",
                .meaning = "looks at a flag before one gives up",
                .values = {static_cast<std::int64_t>(looks)},
                .domain = whole(1, 1000000)}},
      .presets = {.smoke = {"waits=ticket,opposite_group groups=many,resident looks=100",
                            "waits=next_item groups=one group=8 looks=100"},
                  .quick = {"waits=ticket groups=many looks=200000", "waits=opposite_group groups=many",
                            "waits=opposite_group groups=resident looks=200000",
                            "waits=next_item groups=one"},
                  .paper = {},
                  .full = {"waits=ticket,opposite_group groups=many,resident looks=2000,200000",
                           "waits=next_item groups=one group=32,64,256"}},
      .view = {.rows = {"waits"}, .columns = {"groups"}, .quantity = "items"},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {
          {"progress", "", "0: none, 1: work-groups that began, 2: all that fit at once, 3: all"},
          {"item_progress", "", "1: work-items go on while others of their work-group wait for them"}}};
}

}  // namespace clweave::families
