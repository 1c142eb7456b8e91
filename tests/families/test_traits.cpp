// SPDX-License-Identifier: Apache-2.0
// test_traits: what families conclude of invented devices under noise is right, or undecided; the table of
// many devices is made by tests/agreement/traits.
#include <gmock/gmock.h>

#include "families/invented_devices.hpp"
#include "plans.hpp"

using namespace clweave::commands;
using testing::StartsWith;

namespace {

// Counts the answers of each trait over drawn devices.
std::map<std::string, std::map<Answer, int>> answered(int devices, const Noise& noise) {
  std::map<std::string, std::map<Answer, int>> out;
  for (int i = 0; i < devices; ++i) {
    Chance chance(static_cast<std::uint64_t>(i) + 1000);
    const Invented device = drawn_device(chance);
    for (const auto& [trait, answer] : answers_of(device, noise, static_cast<std::uint64_t>(i) + 1))
      ++out[trait][answer];
  }
  return out;
}

std::vector<Finding> found(const Invented& device, const std::string& family, const Noise& noise = {}) {
  static std::vector<Outcome> rows;  // findings point at their rows
  rows = measured(device, family_named(family), noise, 1);
  return family_named(family).findings(rows, roomy());
}

// The value of a finding, 0 if there is none.
double value_of(const std::vector<Finding>& findings, const std::string& name) {
  const auto it = std::ranges::find(findings, name, &Finding::name);
  return it == findings.end() ? 0 : it->value.value_or(0);
}

}  // namespace

TEST(Traits, AreRightUnderLittleNoiseAndSeldomWrongUnderMuch) {
  constexpr int devices = 25;
  for (const auto& [trait, counts] : answered(devices, {0.05, true})) {
    const auto of = [&counts = counts](Answer answer) {
      return counts.contains(answer) ? counts.at(answer) : 0;
    };
    EXPECT_LE(of(Answer::wrong), 1) << trait;
    EXPECT_GE(of(Answer::right), (least_right(trait) - 0.1) * devices) << trait;
  }
  for (const auto& [trait, counts] : answered(devices, {0.15, true}))
    EXPECT_LE(counts.contains(Answer::wrong) ? counts.at(Answer::wrong) : 0, 1) << trait;
}

TEST(Traits, TellEveryNumberAndWidthOfBanks) {
  for (const std::int64_t banks : {8, 16, 24, 32, 48, 64, 128}) {
    for (const std::int64_t bytes : {4, 8, 16}) {
      for (const std::int64_t served : {16, 32, 64}) {
        const auto findings =
            found({.banks = banks, .bank_bytes = bytes, .served = served}, "banks", {0.05, false});
        EXPECT_EQ(value_of(findings, "banks"), banks) << bytes << " bytes, " << served << " at once";
        EXPECT_EQ(value_of(findings, "bank_bytes"), bytes) << banks << " banks, " << served << " at once";
      }
    }
  }
  const auto none = found({.banks = 0}, "banks", {0.05, true});
  EXPECT_THAT(std::ranges::find(none, "banks", &Finding::name)->text, StartsWith("none found"));
}

// Devices that the rules were not written for: nothing is told of them that they have not.
TEST(Traits, SayNothingFalseOfStrangeDevices) {
  // Widths between powers of two.
  EXPECT_EQ(value_of(found({.width = 48}, "branch_divergence"), "simd_width"), 48);
  EXPECT_EQ(value_of(found({.width = 40}, "branch_divergence", {0.02, true}), "simd_width"), 40);
  // One cache, and none.
  const auto one = found({.caches = {{65536, 5}}, .memory_ns = 300}, "cache", {0.05, true});
  EXPECT_EQ(value_of(one, "l2_bytes"), 0);
  EXPECT_NE(value_of(one, "l1_bytes"), 0);
  EXPECT_EQ(value_of(found({.memory_ns = 300}, "cache", {0.05, true}), "l1_bytes"), 0);
  // A miss that fetches as much as was measured, and no limit of pages.
  const auto flat = found({.caches = {{65536, 5}}, .memory_ns = 300, .line = 0}, "cache", {0.02, true});
  EXPECT_EQ(value_of(flat, "fetch_granularity"), 0);
  EXPECT_EQ(value_of(flat, "tlb_reach"), 0);
  // As many values as were tried stay in registers.
  EXPECT_EQ(value_of(found({.live = 1024}, "registers", {0.05, true}), "live_values_before_slowdown"), 0);
}
