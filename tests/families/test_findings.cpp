// SPDX-License-Identifier: Apache-2.0
// test_findings: what the families conclude from invented times.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.hpp"
#include "plans.hpp"

using namespace clweave;
using testing::EndsWith;
using testing::HasSubstr;

namespace {

// Times of a device that runs `width` items in lock-step, with 10 % of noise and two disturbed rows.
std::vector<Outcome> lockstep_times(const std::vector<Case>& cases, double width, std::uint64_t seed) {
  const Random<double> noise(seed, 1);
  const Random<std::uint32_t> pick(seed, 2);
  std::vector<Outcome> outcomes;
  for (const auto& at : cases) {
    const auto paths = static_cast<double>(at.number("paths"));
    const auto granularity = static_cast<double>(at.number("granularity"));
    // Code for more paths is larger, and one path for all needs no switch.
    const double one_path_s = 1e-6 * (1 + 0.05 * paths) * static_cast<double>(at.number("trips")) *
                              static_cast<double>(at.number("n")) / 262144;
    const double serial = std::clamp(width / granularity, 1.0, paths);
    outcomes.push_back({at, one_path_s * serial * (1 + 0.1 * noise(outcomes.size()))});
  }
  outcomes[pick(0) % outcomes.size()].time_s *= 3;
  outcomes[pick(1) % outcomes.size()].time_s *= 0.3;
  return outcomes;
}

}  // namespace

TEST(LanesFindings, InferTheWidthInSpiteOfNoiseAndOutliers) {
  const Family lanes = family_named("lanes");
  for (const char* preset : {"quick", "full"}) {
    const auto cases = preset_of(lanes, preset);
    for (const int width : {1, 4, 8, 16, 32, 64}) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto findings = lanes.findings(lockstep_times(cases, width, seed), roomy());
        EXPECT_EQ(finding_of(findings, "lockstep_width"), width) << preset << ", seed " << seed;
      }
    }
  }
}

// Times known to a factor of three.
TEST(LanesFindings, LeaveTheWidthUndecidedWhereTheTimesDoNotDecide) {
  const Family lanes = family_named("lanes");
  const auto cases = preset_of(lanes, "quick");
  std::vector<Outcome> outcomes = lockstep_times(cases, 16, 1);
  for (auto& o : outcomes) {
    o.low_s = o.time_s / 3;
    o.high_s = o.time_s * 3;
  }
  const auto found = lanes.findings(outcomes, roomy()).at(0);
  EXPECT_EQ(found.name, "lockstep_width");
  EXPECT_FALSE(found.value);
  EXPECT_LE(found.low.value(), 16);
  EXPECT_GT(found.high.value(), found.low.value());
  EXPECT_THAT(found.text, HasSubstr("too noisy to tell widths from"));
  for (auto& o : outcomes) {
    o.low_s = o.time_s / 1.01;
    o.high_s = o.time_s * 1.01;
  }
  EXPECT_EQ(finding_of(lanes.findings(outcomes, roomy()), "lockstep_width"), 16);
}

TEST(Findings, ARatioLiesWhereTheTwoMediansLeaveIt) {
  const Outcome of{.at = {}, .time_s = 6, .low_s = 6 / 1.03, .high_s = 6 * 1.03};
  const Outcome to{.at = {}, .time_s = 2, .low_s = 2 / 1.04, .high_s = 2 * 1.04};
  const Finding both = ratio_of("cost", of, to, "why");
  EXPECT_DOUBLE_EQ(both.value.value(), 3);
  EXPECT_NEAR(both.low.value(), 3 / 1.05, 3e-3);
  EXPECT_NEAR(both.high.value(), 3 * 1.05, 3e-3);
  const Finding one = ratio_of("cost", of, {.at = {}, .time_s = 2}, "why");
  EXPECT_FALSE(one.low || one.high) << "one of them is not known";
}

TEST(LanesFindings, TellThePriceOfDistinctPathsAndWhatTheDriverSays) {
  const Family lanes = family_named("lanes");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(lanes, "quick")) {
    const auto serial = std::clamp(32.0 / static_cast<double>(at.number("granularity")), 1.0,
                                   static_cast<double>(at.number("paths")));
    outcomes.push_back({at, 1e-3 * serial});
  }
  DeviceInfo device = roomy();
  const auto findings = lanes.findings(outcomes, device);
  EXPECT_EQ(finding_of(findings, "lockstep_width"), 32);
  EXPECT_DOUBLE_EQ(finding_of(findings, "serialised_paths"), 32);
  EXPECT_EQ(findings.at(0).unit, "items");
  EXPECT_EQ(findings.at(0).text, "inferred lock-step width 32; the driver reports 32");
  EXPECT_EQ(findings.at(1).unit, "ratio");
  EXPECT_EQ(findings.at(1).text, "time of 64 paths dealt 1 at a time over one path for all");
  device.lockstep = 0;
  EXPECT_THAT(lanes.findings(outcomes, device).at(0).text, testing::EndsWith("the driver reports nothing"));
  // No price without the one path, no width without the others.
  std::vector<Outcome> others, one;
  for (const auto& outcome : outcomes) (outcome.at.number("paths") == 1 ? one : others).push_back(outcome);
  EXPECT_EQ(lanes.findings(others, device).size(), 1U);
  EXPECT_THAT(lanes.findings(one, device), testing::IsEmpty());
}

TEST(DivergenceFindings, AreTheRatiosOfTheTimes) {
  const Family divergence = family_named("divergence");
  const std::map<std::string, double> of_kernel = {{"loop", 2},     {"grid", 4},   {"unweave", 1.6},
                                                   {"nobranch", 5}, {"select", 3}, {"signbit", 3}};
  std::vector<Outcome> outcomes;
  const Random<double> any(1, 1);
  for (const auto& at : preset_of(divergence, "quick")) {
    double time_s = 1e-3 * of_kernel.at(at.text("kernel"));
    if (at.is("mapping", "row_first")) time_s *= at.is("kernel", "loop") ? 0.5 : 3;
    if (at.is("parity", "row")) time_s *= 1.25;
    // Neither exhibits nor smaller matrices count.
    if (at.is("form", "published") || at.number("n") != 4096) time_s = 2 + any(outcomes.size());
    outcomes.push_back({at, time_s});
  }
  const auto findings = divergence.findings(outcomes, roomy());
  const auto expect_ratio = [&](const std::string& name, double ratio) {
    EXPECT_NEAR(finding_of(findings, name), ratio, 1e-12 * ratio) << name;
  };
  expect_ratio("coalescing_penalty", 3);
  expect_ratio("loop_over_grid", 2 * 0.5 / 4.0);
  expect_ratio("unweave_gain", 4 / 1.6);
  expect_ratio("branch_cost", 4 / 5.0);
  expect_ratio("parity_row_over_column", 1.25);
  EXPECT_EQ(findings.size(), 5U);
  for (const auto& finding : findings) {
    EXPECT_EQ(finding.unit, "ratio");
    EXPECT_THAT(finding.text, testing::EndsWith(", n=4096"));
  }
}

TEST(DivergenceFindings, AreLeftOutWithoutTheirCases) {
  const Family divergence = family_named("divergence");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(divergence, "quick")) {
    if (at.is("kernel", "grid") && at.is("mapping", "row_first")) outcomes.push_back({at, 1});
  }
  const auto findings = divergence.findings(outcomes, roomy());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].name, "parity_row_over_column");
  EXPECT_EQ(findings[0].value, 1);
}

TEST(CompactionFindings, CompareTheDesignsAtEachRatio) {
  const Family compaction = family_named("compaction");
  std::vector<Outcome> outcomes;
  const std::map<std::string, double> of_kernel = {{"billeter", 6}, {"spataro", 8},   {"ranked", 4},
                                                   {"staged", 2},   {"pipelined", 1}, {"unordered", 0.5}};
  for (const auto& at : preset_of(compaction, "paper")) {
    const auto it = of_kernel.find(at.text("kernel"));
    if (it == of_kernel.end()) continue;
    const double disturbed = at.is("pattern", "random") && at.number("n") == 1 << 24 ? 1 : 0.01;
    outcomes.push_back({at, 1e-3 * it->second * disturbed * (at.number("width") == 1 ? 3 : 1)});
  }
  const auto findings = compaction.findings(outcomes, roomy());
  for (const char* kept : {"kept_0", "kept_1", "kept_50", "kept_100"}) {
    SCOPED_TRACE(kept);
    const auto of = [&](const std::string& name) {
      return finding_of(findings, std::string(kept) + "_" + name);
    };
    EXPECT_DOUBLE_EQ(of("few_counts"), 8.0 / 6);
    EXPECT_DOUBLE_EQ(of("one_pass"), 2);
    EXPECT_DOUBLE_EQ(of("staging"), 2);
    EXPECT_DOUBLE_EQ(of("loads_ahead"), 2);
    EXPECT_DOUBLE_EQ(of("vectors_billeter"), 3);
  }
  EXPECT_NEAR(finding_of(findings, "kept_50_best"), 6e-9 * (1 << 24) / 1e-3, 1e-9);
}

TEST(CeilingFindings, FindWhereRereadingGetsSlow) {
  const Family ceiling = family_named("ceiling");
  const auto cache_bytes = [&](double cached_words, double slowdown) {
    std::vector<Outcome> outcomes;
    const Random<double> noise(1, 1);
    for (const auto& at : preset_of(ceiling, "quick")) {
      double time_s = 1e-3;
      if (at.text("kernel").starts_with("reread")) {
        if (static_cast<double>(at.number("n")) > cached_words) time_s *= slowdown;
        // Either shape may be the better one.
        if (at.is("kernel", "reread_run")) time_s *= 1.5;
        time_s *= 1 + 0.02 * noise(outcomes.size());
      }
      outcomes.push_back({at, time_s});
    }
    return ceiling.findings(outcomes, roomy());
  };
  const auto found = cache_bytes(8388608, 2);
  EXPECT_EQ(finding_of(found, "cache_bytes"), 4.0 * 8388608);
  EXPECT_EQ(found.at(0).unit, "B");
  EXPECT_EQ(finding_of(cache_bytes(262144, 1.3), "cache_bytes"), 4.0 * 262144);
  EXPECT_EQ(finding_of(cache_bytes(8388608, 1.1), "cache_bytes"), 0);
  EXPECT_EQ(finding_of(cache_bytes(1e18, 2), "cache_bytes"), 0);
}

namespace {

using StepOf = std::function<double(double items, double chains)>;  // ns, of all items of a unit

// What a unit tells that has `concurrent` items at once, each step of them in `latency_ns`, and does no more
// than `throughput` steps in a ns.
StepOf steps(double concurrent, double latency_ns, double throughput) {
  return [=](double items, double chains) {
    return std::max(std::max(1.0, items / concurrent) * latency_ns, chains / throughput);
  };
}

std::vector<Finding> arithmetic_of(const char* preset, const StepOf& step_ns) {
  const Family arithmetic = family_named("arithmetic");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(arithmetic, preset)) {
    const auto of = [&](const char* axis) { return static_cast<double>(at.number(axis)); };
    const double items = of("group") * of("groups_per_unit");
    outcomes.push_back({at, 1e-9 * (3700 + of("trips") * step_ns(items, items * of("ilp") * of("width")))});
  }
  return arithmetic.findings(outcomes, roomy());
}

std::string text_of_finding(const std::vector<Finding>& findings, const std::string& name) {
  const auto it = std::ranges::find(findings, name, &Finding::name);
  return it == findings.end() ? "" : it->text;
}

}  // namespace

TEST(ArithmeticFindings, FindWhatLittlesLawPredictsOfEveryType) {
  for (const char* preset : {"quick", "paper", "full"}) {
    // A GPU with many steps in flight, one with a sixth of them, a processor whose items take turns.
    for (const auto& [concurrent, latency_ns, throughput] :
         {std::tuple(2048.0, 2.1, 240.0), std::tuple(2048.0, 1.4, 60.0), std::tuple(1.0, 3.2, 2.5)}) {
      const auto found = arithmetic_of(preset, steps(concurrent, latency_ns, throughput));
      const double predicted = latency_ns * throughput;
      for (const std::string type : {"float", "double", "int", "long"}) {
        EXPECT_NEAR(finding_of(found, "latency_" + type), latency_ns, 1e-6 * latency_ns) << preset;
        EXPECT_NEAR(finding_of(found, "concurrency_predicted_" + type), predicted, 1e-6 * predicted)
            << preset;
        const double measured = finding_of(found, "concurrency_measured_" + type);
        EXPECT_GE(measured, 0.9 * predicted) << preset << " " << type;
        EXPECT_LE(measured, 2 * predicted) << preset << " " << type;
        EXPECT_THAT(text_of_finding(found, "concurrency_measured_" + type), EndsWith("of the prediction"));
        EXPECT_EQ(text_of_finding(found, "concurrency_predicted_" + type).starts_with("items take turns"),
                  concurrent == 1);
      }
    }
  }
}

TEST(ArithmeticFindings, SayWhyLittlesLawIsFarOff) {
  // The more chains, the longer a step.
  const auto slow = arithmetic_of("quick", [](double, double chains) { return 2 + chains / 300; });
  EXPECT_THAT(text_of_finding(slow, "concurrency_measured_float"),
              testing::ContainsRegex(
                  "8192 float chains .* 1[0-9]\\.[0-9]+ of the prediction, for a step takes 29.31 ns "
                  "there; 4096 reached 8[0-9] %"));
  // A group has few of its items at once, and many groups do more.
  const auto few = arithmetic_of("quick", steps(128, 3, 200));
  EXPECT_THAT(text_of_finding(few, "concurrency_predicted_int"),
              EndsWith("600 int chains; the most measured, 512 reached 21 %"));
  EXPECT_EQ(text_of_finding(few, "concurrency_measured_int"), "");
}

TEST(OccupancyFindings, SayWhyLittlesLawIsFarOff) {
  const Family occupancy = family_named("occupancy");
  const auto of_rate = [&](const std::function<double(double)>& rate) {  // bytes per ns of a unit
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(occupancy, "quick")) {
      if (!at.is("kernel", "copy") || at.number("groups_per_unit") == 0) continue;
      const auto bytes =
          static_cast<double>(16 * at.number("words") * at.number("group") * at.number("groups_per_unit"));
      outcomes.push_back({at, 4e-9 * static_cast<double>(at.number("n")) /
                                  static_cast<double>(roomy().units()) / rate(bytes)});
    }
    return occupancy.findings(outcomes, roomy());
  };
  const auto sharp = of_rate([](double bytes) { return std::min(bytes / 600, 16.0); });
  EXPECT_NEAR(finding_of(sharp, "copy_latency"), 600, 1e-6);
  EXPECT_NEAR(finding_of(sharp, "bytes_in_flight_predicted"), 9600, 1e-6);
  EXPECT_EQ(finding_of(sharp, "bytes_in_flight_measured"), 14336);
  EXPECT_THAT(text_of_finding(sharp, "bytes_in_flight_measured"), EndsWith("1.49 of the prediction"));
  // The more is asked for, the longer it takes.
  const auto slow = of_rate([](double bytes) { return bytes / (500 + bytes / 40); });
  EXPECT_THAT(text_of_finding(slow, "bytes_in_flight_measured"), HasSubstr(" KiB reached "));
  EXPECT_THAT(text_of_finding(slow, "bytes_in_flight_measured"), HasSubstr("for they come in every "));
}
