// SPDX-License-Identifier: Apache-2.0
// build: how long does it take from a program's source to its first result?
//
// One execution builds the program and launches its kernel once, because some drivers compile only at the
// launch.
#include <fmt/format.h>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t items = 256;

// Computes what build.cl does.
Word chewed(Word x, std::uint64_t statements) {
  for (Word k = 1; k <= statements; ++k) x = (x ^ (x >> 15)) * (2 * k + 1) + (x >> 7);
  return x;
}

Plan plan(const Case& at, const DeviceInfo& /*device*/) {
  const std::uint64_t statements = at.count("statements");
  const Word seed = Random<Word>(at.seed, 1)(0);
  Plan p;
  p.timed_by_host = p.never_batched = true;
  p.define("STATEMENTS", statements);
  p.steps.emplace_back(Build{at.is("from", "source")  ? Build::From::new_source
                             : at.is("from", "again") ? Build::From::known_source
                                                      : Build::From::binary});
  const auto out = p.output<Word>(items);
  p.launch("built", {items}, {64}, out, seed, BuildNumber{});
  p.expect<Word>(out, [=](std::uint64_t i) { return chewed(static_cast<Word>(seed + i), statements); });
  p.cost = {.read = 0, .written = items * sizeof(Word), .flops = 0, .items = items};
  return p;
}

// Returns the smallest or largest kernel that was built from `from`.
const Outcome* built(const std::vector<Outcome>& outcomes, const char* from, bool largest) {
  const Outcome* found = nullptr;
  for (const auto& o : outcomes) {
    if (!o.at.is("from", from)) continue;
    if (found == nullptr || (o.at.number("statements") > found->at.number("statements")) == largest)
      found = &o;
  }
  return found;
}

Finding milliseconds(std::string name, const Outcome& o) {
  Finding out{std::move(name), 1e3 * o.time_s, "ms",
              fmt::format("a kernel of {} statements that is in no cache takes {:.3g} ms to its first result",
                          o.at.number("statements"), 1e3 * o.time_s)};
  if (o.low_s) out.low = 1e3 * *o.low_s;
  if (o.high_s) out.high = 1e3 * *o.high_s;
  return out;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  const Outcome *least = built(outcomes, "source", false), *most = built(outcomes, "source", true);
  if (least == nullptr) return out;
  out.push_back(milliseconds("build_cold", *most));
  if (least->at.number("statements") < most->at.number("statements"))
    out.push_back(milliseconds("build_cold_least", *least));
  for (const auto& [from, name, text] :
       {std::tuple("again", "build_cached_gain", "one that has been built before"),
        std::tuple("binary", "build_binary_gain", "its binary")}) {
    const Outcome* known = built(outcomes, from, true);
    if (known == nullptr || known->at.number("statements") != most->at.number("statements")) continue;
    out.push_back(ratio_of(name, *most, *known,
                           fmt::format("time to the first result of a new program of {} statements / of {}",
                                       most->at.number("statements"), text)));
  }
  return out;
}

}  // namespace

Family build() {
  const Values all = {8, 64}, more = {8, 32, 64, 128, 512};
  return {.name = "build",
          .question =
              "How long does a program take to its first result: new, cached by the driver, from its binary?",
          .brief = "compile time, cached and from a binary",
          .axes = {{.name = "from",
                    .meaning =
                        "source: new each time, so that no cache has it; again: the same source each time; "
                        "binary: the driver's binary of it",
                    .values = {"source", "again", "binary"}},
                   {.name = "statements",
                    .meaning = "statements of the kernel, each with different constants",
                    .values = {64, 1, 2, 4, 8, 16, 32, 128, 256, 512, 1024},
                    .domain = powers_of_two(1, 1024)}},
          .presets = {.smoke = {"statements=1,32 from=source,again,binary"},
                      .quick = {"from=source,again,binary statements=" + all},
                      .profile = {"from=source,again,binary statements=" + all},
                      .paper = {},
                      .full = {"from=source,again,binary statements=" + more}},
          .view = {.rows = {"statements"}, .columns = {"from"}, .quantity = "slowdown"},
          .plan = plan,
          .findings = findings,
          .trait_group = TraitGroup::synchronisation,
          .traits = {{"build_cold", "ms", "new program of 64 statements to its first result"},
                     {"build_cold_least", "ms", "new program of 8 statements to its first result"},
                     {"build_cached_gain", "x", "time to the first result: new program / one built before"},
                     {"build_binary_gain", "x", "time to the first result: new program / from its binary"}}};
}

}  // namespace clweave::families
