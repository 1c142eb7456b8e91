// SPDX-License-Identifier: Apache-2.0
// test_sustained: what family sustained takes for right, and concludes of invented devices.
#include <gmock/gmock.h>

#include <cstring>

#include "plans.hpp"
#include "suite/over_time.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// A device that loses a fifth of its rate between 1 and 2 s of 6.
std::string slowing(double scale = 1) {
  std::vector<TimeBin> bins;
  for (int i = 1; i <= 120; ++i) {
    const double at_s = bin_s * i, slower = at_s <= 1 ? 1 : at_s >= 2 ? 1.25 : 1 + 0.25 * (at_s - 1);
    bins.push_back({at_s, 1e-3 * scale * slower, 1980 / slower, 40 + at_s, 500});
  }
  return text_of(bins);
}

std::vector<Finding> concluded(const std::string& of_random, const std::string& of_zeros) {
  const Family& family = family_named("sustained");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family, "quick")) {
    if (!at.is("kernel", "multiply_add")) continue;
    Outcome& made = outcomes.emplace_back(at, 1e-3);
    made.flops = 1'000'000'000;
    made.over_time = at.is("contents", "random") ? of_random : of_zeros;
  }
  return family.findings(outcomes, roomy());
}

Finding named(const std::vector<Finding>& found, const std::string& name) {
  const auto it = std::ranges::find(found, name, &Finding::name);
  return it == found.end() ? Finding() : *it;
}

// Computes the points as the kernel does; `extra` turns too many.
ComparisonResult turned(const char* contents, std::uint64_t extra) {
  constexpr std::uint64_t steps = 500;
  const Plan plan = plan_with("sustained", {{"kernel", word("multiply_add")},
                                            {"contents", word(contents)},
                                            {"iterations", number(steps)},
                                            {"items_per_unit", number(3)}});
  const std::uint64_t items = plan.buffers[0].bytes / 64;
  const Bytes from = filled(plan.buffers[1], {0, plan.buffers[1].bytes}),
              by = filled(plan.buffers[2], {0, plan.buffers[2].bytes});
  const std::uint64_t period = by.size() / sizeof(float);
  const auto value = [](const Bytes& bytes, std::uint64_t i) {
    float out = 0;
    std::memcpy(&out, &bytes[i * sizeof out], sizeof out);
    return out;
  };
  float shift = 0;
  std::memcpy(&shift, std::get<Scalar>(std::get<Launch>(plan.steps[0]).args.at(5)).data(), sizeof shift);
  Bytes out(plan.buffers[0].bytes);
  for (std::uint64_t k = 0; k < 8; ++k) {
    for (std::uint64_t i = 0; i < items; ++i) {
      const std::uint64_t point = k * period + i % period;
      float x = value(from, 2 * point), y = value(from, 2 * point + 1);
      for (std::uint64_t step = 0; step < steps + extra; ++step) {
        x += value(by, i % period) * y;
        y -= value(by, i % period) * x;
      }
      x += shift;
      y += shift;
      std::memcpy(&out[8 * (k * items + i)], &x, sizeof x);
      std::memcpy(&out[8 * (k * items + i) + 4], &y, sizeof y);
    }
  }
  return plan.checks.at(0).compare(0, out);
}

}  // namespace

TEST(SustainedChecks, TakeRoundedTurnsAndMissNoStep) {
  for (const char* contents : {"random", "constant", "ramp", "zeros"})
    EXPECT_EQ(turned(contents, 0).wrong, 0U) << contents;
  const ComparisonResult more = turned("random", 1);
  EXPECT_GT(more.wrong, more.elements * 9 / 10);
}

TEST(SustainedFindings, TellStartPlateauAndWhen) {
  const auto found = concluded(slowing(), slowing(0.5));
  const Finding ratio = named(found, "multiply_add_sustained"), when = named(found, "multiply_add_plateau"),
                gain = named(found, "multiply_add_zeros_gain");
  EXPECT_THAT(ratio.value.value(), DoubleNear(0.8, 1e-6));
  EXPECT_THAT(ratio.text, HasSubstr("800 Gop/s at 1584 MHz, 45 C, 500 W after 1000 Gop/s at 1980 MHz, 40 C"));
  EXPECT_THAT(when.value.value(), DoubleNear(1.85, 0.15)) << "within 2 %";
  EXPECT_THAT(gain.value.value(), DoubleNear(2, 1e-6));
}

TEST(SustainedFindings, TellNothingOfAFewBins) {
  EXPECT_THAT(concluded("0.050 0.001 - - -;0.100 0.001 - - -", "0.050 0.001 - - -"), IsEmpty());
}

// A single bin that something disturbed moves no plateau.
TEST(SustainedFindings, OverlookASingleSlowBin) {
  auto bins = bins_of(slowing());
  bins[60].time_s *= 10;
  EXPECT_LT(named(concluded(text_of(bins), ""), "multiply_add_plateau").value.value(), 2);
}
