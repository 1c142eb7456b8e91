// SPDX-License-Identifier: Apache-2.0
// test_findings: what the families conclude from invented times.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/random.hpp"
#include "plans.hpp"
#include "suite/published.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

// Times of a device of SIMD width `width`, with 10 % of noise and two disturbed rows.
std::vector<Outcome> lockstep_times(const std::vector<Case>& cases, double width, std::uint64_t seed) {
  const Random<double> noise(seed, 1);
  const Random<std::uint32_t> pick(seed, 2);
  std::vector<Outcome> outcomes;
  for (const auto& at : cases) {
    const auto paths = static_cast<double>(at.number("paths"));
    const auto granularity = static_cast<double>(at.number("granularity"));
    // Code for more paths is larger, and one path for all needs no switch.
    const double one_path_s = 1e-6 * (1 + 0.05 * paths) * static_cast<double>(at.number("iterations")) *
                              static_cast<double>(at.number("n")) / 262144;
    const double serial = std::clamp(width / granularity, 1.0, paths);
    outcomes.emplace_back(at, one_path_s * serial * (1 + 0.1 * noise(outcomes.size())));
  }
  outcomes[pick(0) % outcomes.size()].time_s *= 3;
  outcomes[pick(1) % outcomes.size()].time_s *= 0.3;
  return outcomes;
}

}  // namespace

TEST(LanesFindings, InferTheWidthInSpiteOfNoiseAndOutliers) {
  const Family family = family_named("branch_divergence");
  for (const char* preset : {"quick", "full"}) {
    const auto cases = preset_of(family, preset);
    for (const int width : {1, 4, 8, 16, 32, 64}) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto findings = family.findings(lockstep_times(cases, width, seed), roomy());
        EXPECT_EQ(finding_of(findings, "simd_width"), width) << preset << ", seed " << seed;
      }
    }
  }
}

// Times known to a factor of three.
TEST(LanesFindings, LeaveTheWidthUndecidedWhereTheTimesDoNotDecide) {
  const Family family = family_named("branch_divergence");
  const auto cases = preset_of(family, "quick");
  std::vector<Outcome> outcomes = lockstep_times(cases, 16, 1);
  for (auto& o : outcomes) {
    o.low_s = o.time_s / 3;
    o.high_s = o.time_s * 3;
  }
  const auto found = family.findings(outcomes, roomy()).at(0);
  EXPECT_EQ(found.name, "simd_width");
  EXPECT_FALSE(found.value);
  EXPECT_LE(found.low.value(), 16);
  EXPECT_GT(found.high.value(), found.low.value());
  EXPECT_THAT(found.text, HasSubstr("too noisy to tell widths from"));
  for (auto& o : outcomes) {
    o.low_s = o.time_s / 1.01;
    o.high_s = o.time_s * 1.01;
  }
  EXPECT_EQ(finding_of(family.findings(outcomes, roomy()), "simd_width"), 16);
}

TEST(Findings, ARatioLiesWhereTheTwoMediansLeaveIt) {
  const Outcome of({}, 6, 6 / 1.03, 6 * 1.03), to({}, 2, 2 / 1.04, 2 * 1.04);
  const Finding both = ratio_of("cost", of, to, "why");
  EXPECT_DOUBLE_EQ(both.value.value(), 3);
  EXPECT_NEAR(both.low.value(), 3 / 1.05, 3e-3);
  EXPECT_NEAR(both.high.value(), 3 * 1.05, 3e-3);
  const Finding one = ratio_of("cost", of, Outcome({}, 2), "why");
  EXPECT_FALSE(one.low || one.high) << "one of them is not known";
}

TEST(LanesFindings, TellThePriceOfDistinctPathsAndWhatTheDriverSays) {
  const Family family = family_named("branch_divergence");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family, "quick")) {
    const auto serial = std::clamp(32.0 / static_cast<double>(at.number("granularity")), 1.0,
                                   static_cast<double>(at.number("paths")));
    outcomes.emplace_back(at, 1e-3 * serial);
  }
  DeviceInfo device = roomy();
  const auto findings = family.findings(outcomes, device);
  EXPECT_EQ(finding_of(findings, "simd_width"), 32);
  EXPECT_DOUBLE_EQ(finding_of(findings, "serialised_paths"), 32);
  EXPECT_EQ(findings.at(0).unit, "items");
  EXPECT_EQ(findings.at(0).text, "inferred SIMD width 32; the driver reports 32");
  EXPECT_EQ(findings.at(1).unit, "ratio");
  EXPECT_EQ(findings.at(1).text, "time of 32 divergent paths, granularity 1 / time of one path");
  device.lockstep = 0;
  EXPECT_THAT(family.findings(outcomes, device).at(0).text, testing::EndsWith("the driver reports nothing"));
  // Concludes no cost without the case of one path, and no width without the others.
  std::vector<Outcome> others, one;
  for (const auto& outcome : outcomes) (outcome.at.number("paths") == 1 ? one : others).push_back(outcome);
  EXPECT_EQ(family.findings(others, device).size(), 1U);
  EXPECT_THAT(family.findings(one, device), testing::IsEmpty());
}

TEST(DivergenceFindings, AreTheRatiosOfTheTimes) {
  const Family divergence = family_named("matrix_access");
  const std::map<std::string, double> of_kernel = {{"loop", 2},     {"grid", 4},   {"unweave", 1.6},
                                                   {"nobranch", 5}, {"select", 3}, {"signbit", 3}};
  std::vector<Outcome> outcomes;
  const Random<double> any(1, 1);
  for (const auto& at : preset_of(divergence, "quick")) {
    double time_s = 1e-3 * of_kernel.at(at.text("kernel"));
    if (at.is("mapping", "row_first")) time_s *= at.is("kernel", "loop") ? 0.5 : 3;
    if (at.is("parity", "row")) time_s *= 1.25;
    // Neither known-incorrect cases nor smaller matrices count.
    if (at.is("form", "known_incorrect") || at.number("n") != 4096) time_s = 2 + any(outcomes.size());
    outcomes.emplace_back(at, time_s);
  }
  const auto findings = divergence.findings(outcomes, roomy());
  const auto expect_ratio = [&](const std::string& name, double ratio) {
    EXPECT_NEAR(finding_of(findings, name), ratio, 1e-12 * ratio) << name;
  };
  expect_ratio("uncoalesced_slowdown", 3);
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
  const Family divergence = family_named("matrix_access");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(divergence, "quick")) {
    if (at.is("kernel", "grid") && at.is("mapping", "row_first")) outcomes.emplace_back(at, 1);
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
    outcomes.emplace_back(at, 1e-3 * it->second * disturbed * (at.number("width") == 1 ? 3 : 1));
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

TEST(CeilingFindings, SayWhetherZerosAreCopiedFaster) {
  const Family peak = family_named("peak");
  const auto found = [&](double zeros_s) {
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(peak, "profile")) {
      // A kernel that is slower with either is no evidence.
      double time_s = at.is("contents", "zeros") ? zeros_s : 1e-3;
      if (!at.is("kernel", "copy_run")) time_s *= 2;
      outcomes.emplace_back(at, time_s, 0.99 * time_s, 1.01 * time_s);
    }
    for (const auto& finding : peak.findings(outcomes, roomy())) {
      if (finding.name == "compression") return finding;
    }
    return Finding{};
  };
  EXPECT_DOUBLE_EQ(found(0.5e-3).value.value(), 2);
  EXPECT_THAT(found(0.5e-3).text, testing::StartsWith("compression: found"));
  EXPECT_LT(found(0.5e-3).low.value(), 2);
  EXPECT_DOUBLE_EQ(found(1e-3).value.value(), 1);
  EXPECT_THAT(found(1e-3).text, testing::StartsWith("compression: none found"));
  EXPECT_THAT(found(0.94e-3).text, testing::StartsWith("compression: none found"))
      << "noise may be all of it";
}

TEST(BankFindings, FindNeitherBanksNorTheirWidthWhereEveryStrideTakesAsLong) {
  const Family banks = family_named("banks");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(banks, "profile")) outcomes.emplace_back(at, 1e-3);
  const auto findings = banks.findings(outcomes, roomy());
  for (const char* name : {"banks", "bank_bytes"}) {
    const auto found = std::ranges::find(findings, name, &Finding::name);
    ASSERT_NE(found, findings.end()) << name;
    EXPECT_FALSE(found->value) << name;
    EXPECT_THAT(found->text, testing::StartsWith("none found")) << name;
  }
}

// Outcomes of a device with this energy per byte and per operation.
TEST(CeilingFindings, TellHowManyOperationsTakeTheEnergyOfAByte) {
  const Family peak = family_named("peak");
  const auto found = [&](double byte_pj, double operation_pj, const char* without = "") {
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(peak, "profile")) {
      const std::string& kernel = at.text("kernel");
      Outcome o(at, 1e-3);
      o.bytes = 1 << 30;
      o.flops = kernel.starts_with("arithmetic") ? std::int64_t{1} << 34 : 0;
      const double joules = kernel.starts_with("arithmetic") ? 1e-12 * operation_pj * as_double(o.flops)
                                                             : 1e-12 * byte_pj * as_double(o.bytes);
      // Slower kernels, zeros and other types do not count.
      double worse = kernel.ends_with("_run") ? 1.5 : 1;
      if (!at.is("contents", "random") || (kernel.starts_with("arithmetic") && !at.is("type", "float")))
        worse = 0.1;
      o.energy_j = worse * joules;
      o.energy_low_j = 0.99 * *o.energy_j;
      o.energy_high_j = 1.01 * *o.energy_j;
      if (*without != 0) o.idle_w = 10;
      if (!kernel.starts_with(without) || *without == 0) outcomes.push_back(o);
    }
    for (const auto& finding : peak.findings(outcomes, roomy())) {
      if (finding.name == "energy_balance") return finding;
    }
    return Finding{};
  };
  const Finding dear = found(60, 2), cheap = found(3, 2);
  EXPECT_DOUBLE_EQ(dear.value.value(), 30);
  EXPECT_EQ(dear.unit, "op/B");
  EXPECT_NEAR(dear.low.value(), 30 / 1.0142, 0.01);
  EXPECT_NEAR(dear.high.value(), 30 * 1.0142, 0.01);
  EXPECT_EQ(
      dear.text,
      "a byte takes 60 pJ, an operation 2 pJ: of fewer than 30 operations a byte most of a kernel's energy "
      "goes into bytes, of fewer than 16 most of its time");
  EXPECT_DOUBLE_EQ(cheap.value.value(), 1.5);
  EXPECT_EQ(found(60, 2, "arithmetic").name, "");
  // A copy takes 64 mJ in its millisecond, the arithmetic 34 mJ; 10 mJ of each are taken idle.
  EXPECT_THAT(found(60, 2, "reread").text,
              testing::EndsWith("; without the 10 W that the device takes idle, of fewer than 35.7"));
}

TEST(AccessFindings, TellTheTimeOfALine) {
  const Family access = family_named("access");
  const auto found = [&](double line_ns) {
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(access, "profile")) {
      const double lines = at.is("kernel", "gather_lines") ? static_cast<double>(at.number("lines")) : 1;
      const double time_s = 1e-3 + 1e-9 * line_ns * lines * static_cast<double>(at.number("n")) / 32;
      outcomes.emplace_back(at, time_s, 0.999 * time_s, 1.001 * time_s);
    }
    for (const auto& finding : access.findings(outcomes, roomy())) {
      if (finding.name == "line_time") return finding;
    }
    return Finding{};
  };
  EXPECT_NEAR(found(0.5).value.value(), 0.5, 1e-6);
  EXPECT_LT(found(0.5).low.value(), 0.5);
  EXPECT_GT(found(0.5).high.value(), 0.5);
  EXPECT_FALSE(found(0).value);
  EXPECT_THAT(found(0).text, testing::HasSubstr("may be nothing"));
}

TEST(AccessPlans, NeighboursTouchSoManyLinesAndEveryElementOnce) {
  for (const std::int64_t lines : {1, 2, 8, 32}) {
    SCOPED_TRACE(lines);
    const Plan plan = plan_with("access", {{"kernel", "gather_lines"},
                                           {"side", "read"},
                                           {"lines", lines},
                                           {"n", std::int64_t{8192}},
                                           {"group", std::int64_t{256}}});
    const Bytes order = filled(plan.buffers.at(2), {0, plan.buffers.at(2).bytes});
    std::set<std::uint32_t> elements;
    std::map<std::size_t, std::set<std::uint32_t>> touched, visitors;
    for (std::size_t i = 0; i < 8192; ++i) {
      std::uint32_t element = 0;
      std::memcpy(&element, &order[4 * i], 4);
      EXPECT_LT(element, 8192U);
      elements.insert(element);
      touched[i / 32].insert(element / 32);
      visitors[element / 32].insert(static_cast<std::uint32_t>(i / 32));
    }
    EXPECT_EQ(elements.size(), 8192U);
    for (const auto& [neighbours, of] : touched) EXPECT_EQ(of.size(), static_cast<std::size_t>(lines));
    // The next to touch a line is as far away as can be.
    for (const auto& [line, of] : visitors) {
      for (auto it = of.begin(); std::next(it) != of.end(); ++it)
        EXPECT_EQ(*std::next(it) - *it, 256 / static_cast<std::uint32_t>(lines));
    }
  }
}

TEST(CeilingFindings, FindWhereRereadingGetsSlow) {
  for (const std::string preset : {"quick", "full"}) {
    SCOPED_TRACE(preset);
    const Family peak = family_named("peak");
    const auto cache_bytes = [&](double cached_words, double slowdown, const DeviceInfo& device = roomy()) {
      std::vector<Outcome> outcomes;
      const Random<double> noise(1, 1);
      const auto measure = [&](const Case& at) {
        double time_s = 1e-3;
        if (at.text("kernel").starts_with("reread")) {
          if (static_cast<double>(at.number("n")) > cached_words) time_s *= slowdown;
          // Either shape may be the better one.
          if (at.is("kernel", "reread_run")) time_s *= 1.5;
          time_s *= 1 + 0.02 * noise(outcomes.size());
        }
        outcomes.emplace_back(at, time_s);
      };
      std::ranges::for_each(preset_of(peak, preset), measure);
      // Refines until the end of the cache is known to a factor of two.
      for (int looks = 0; looks < 5; ++looks) std::ranges::for_each(peak.refine(outcomes, device), measure);
      EXPECT_TRUE(peak.refine(outcomes, device).empty());
      return peak.findings(outcomes, device);
    };
    const auto found = cache_bytes(8388608, 2);
    EXPECT_EQ(finding_of(found, "cache_bytes"), 4.0 * 8388608);
    EXPECT_EQ(found.at(0).unit, "B");
    EXPECT_EQ(finding_of(cache_bytes(262144, 1.3), "cache_bytes"), 4.0 * 262144);
    EXPECT_EQ(finding_of(cache_bytes(8388608, 1.1), "cache_bytes"), 0);
    EXPECT_EQ(finding_of(cache_bytes(1e18, 2), "cache_bytes"), 0);
    // More than a processor's caches hold is slower for another reason.
    DeviceInfo processor = roomy();
    processor.compute_units = 2;
    processor.host_caches = {32 << 10, 8 << 20};
    EXPECT_EQ(finding_of(cache_bytes(8388608, 2, processor), "cache_bytes"), 16 << 20);
    EXPECT_EQ(finding_of(cache_bytes(262144, 2, processor), "cache_bytes"), 4.0 * 262144);
  }
}

namespace {

using StepOf = std::function<double(double items, double chains)>;  // ns, of all items of a unit

// Model of a compute unit with `concurrent` resident work-items, `latency_ns` per step and at most
// `throughput` steps per ns.
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
    const double items = of("group") * of("groups_per_cu");
    outcomes.emplace_back(at,
                          1e-9 * (3700 + of("iterations") * step_ns(items, items * of("ilp") * of("width"))));
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
    // A GPU with many steps in flight, one with a sixth of them, a CPU that serialises work-items.
    for (const auto& [concurrent, latency_ns, throughput] :
         {std::tuple(2048.0, 2.1, 240.0), std::tuple(2048.0, 1.4, 60.0), std::tuple(1.0, 3.2, 2.5)}) {
      const auto found = arithmetic_of(preset, steps(concurrent, latency_ns, throughput));
      const double predicted = latency_ns * throughput;
      for (const std::string type : {"float", "double", "int", "long"}) {
        EXPECT_NEAR(finding_of(found, "latency_" + type), latency_ns, 1e-6 * latency_ns) << preset;
        EXPECT_NEAR(finding_of(found, "concurrency_predicted_" + type), predicted, 1e-6 * predicted)
            << preset;
        const double measured = finding_of(found, "concurrency_measured_" + type);
        EXPECT_GE(measured, (0.9 - 1e-6) * predicted) << preset << " " << type;
        EXPECT_LE(measured, 2 * predicted) << preset << " " << type;
        EXPECT_THAT(text_of_finding(found, "concurrency_measured_" + type), EndsWith("of the prediction"));
        EXPECT_EQ(
            text_of_finding(found, "concurrency_predicted_" + type).starts_with("work-items are serialised"),
            concurrent == 1);
      }
    }
  }
}

// 90 % lies between two groups that were measured, wherever these are.
TEST(ArithmeticFindings, FindTheConcurrencyBetweenGroups) {
  const Family arithmetic = family_named("arithmetic");
  // A step takes 2 ns; 256 chains are as many as a unit issues, 128 where items have one each.
  const auto found_at = [&](const Values& groups) {
    std::vector<Outcome> outcomes;
    for (const auto& at :
         cases_of(arithmetic, {{{"ilp", {1, 4}}, {"group", groups}, {"iterations", {16384, 32768}}}}, 1)) {
      const auto items = static_cast<double>(at.number("group")),
                 chains = items * static_cast<double>(at.number("ilp"));
      const double ns = 2 * std::max({1.0, chains / 256, at.number("ilp") == 1 ? items / 128 : 0.0});
      outcomes.emplace_back(at, 1e-9 * ns * static_cast<double>(at.number("iterations")));
    }
    return findings_of(arithmetic, outcomes, roomy());
  };
  for (const Values& groups :
       {Values{1, 32, 48, 64, 96, 128, 192, 256}, Values{1, 32, 45, 70, 90, 150, 200, 256}}) {
    const auto found = found_at(groups);
    EXPECT_NEAR(finding_of(found, "concurrency_predicted_float"), 256, 1e-9);
    const double measured = finding_of(found, "concurrency_measured_float");
    EXPECT_GE(measured, 0.9 * 256 - 1e-9);
    EXPECT_LE(measured, 256);
    const double begins = finding_of(found, "plateau_begins_float");
    EXPECT_GE(begins, 0.9 * 128 - 1e-9);
    EXPECT_LE(begins, 256);
    EXPECT_THAT(
        text_of_finding(found, "plateau_begins_float"),
        HasSubstr(fmt::format(
            "{:.2f} of latency times issue rate; published: 640 operations/SM (Tesla M2090)", begins / 256)));
  }
  // Groups that end where rates still grow show no plateau.
  EXPECT_EQ(text_of_finding(found_at({1, 32, 64, 96}), "plateau_begins_float"), "");
}

TEST(ArithmeticFindings, SayWhyLittlesLawIsFarOff) {
  // The more chains, the longer a step.
  const auto slow = arithmetic_of("quick", [](double, double chains) { return 2 + chains / 300; });
  EXPECT_THAT(
      text_of_finding(slow, "concurrency_measured_float"),
      testing::ContainsRegex("[4-8][0-9][0-9][0-9] float dependency chains reach 90 % of the best, between "
                             "4096 with 8[0-9] % and 8192 "
                             "with 9[0-9] %: [0-9.]+ of the prediction, as a step takes [0-9.]+ ns there"));
  // A group has few of its items at once, and many groups do more.
  const auto few = arithmetic_of("quick", steps(128, 3, 200));
  EXPECT_THAT(
      text_of_finding(few, "concurrency_predicted_int"),
      EndsWith("600 int dependency chains: 3 ns latency times 200 steps per ns; the most measured, 512, "
               "reached 21 %"));
  EXPECT_EQ(text_of_finding(few, "concurrency_measured_int"), "");
}

TEST(OccupancyFindings, SayWhyLittlesLawIsFarOff) {
  const Family occupancy = family_named("occupancy");
  const auto of_rate = [&](const std::function<double(double)>& rate) {  // bytes per ns of a unit
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(occupancy, "quick")) {
      if (!at.is("kernel", "loads_first") || at.number("groups_per_cu") == 0) continue;
      const auto bytes =
          static_cast<double>(16 * at.number("words") * at.number("group") * at.number("groups_per_cu"));
      outcomes.emplace_back(at, 4e-9 * static_cast<double>(at.number("n")) /
                                    static_cast<double>(roomy().units()) / rate(bytes));
    }
    return occupancy.findings(outcomes, roomy());
  };
  const auto sharp = of_rate([](double bytes) { return std::min(bytes / 600, 16.0); });
  EXPECT_NEAR(finding_of(sharp, "copy_latency"), 600, 1e-6);
  EXPECT_NEAR(finding_of(sharp, "bytes_in_flight_predicted"), 9600, 1e-6);
  // Interpolates between 8192, at 8192 / 9600 of the peak, and 14336, which is past the corner.
  EXPECT_NEAR(finding_of(sharp, "bytes_in_flight_per_cu"), 10147, 1);
  EXPECT_THAT(text_of_finding(sharp, "bytes_in_flight_per_cu"),
              EndsWith("between 8 with 85 % and 14 with 100 %: 1.06 of the prediction"));
  // The more is asked for, the longer it takes.
  const auto slow = of_rate([](double bytes) { return bytes / (500 + bytes / 40); });
  EXPECT_THAT(text_of_finding(slow, "bytes_in_flight_per_cu"), HasSubstr(" KiB reach 90 %"));
  EXPECT_THAT(text_of_finding(slow, "bytes_in_flight_per_cu"), HasSubstr("as they arrive every "));
}

// A busy machine's times may be any multiple of the true ones.
TEST(Findings, OfDisturbedRowsAreUndecided) {
  const Family copy = family_named("copy");
  std::vector<Outcome> outcomes;
  for (const auto& at : cases_of(copy, {"kernel=no_loop width=1,2 group=128"}, 1)) {
    outcomes.emplace_back(at, 1e-4);
    outcomes.back().bytes = std::int64_t{8} << 24;
  }
  const auto found = [&] {
    const auto all = findings_of(copy, outcomes, roomy());
    return *std::ranges::find(all, "best_no_loop_width1", &Finding::name);
  };
  EXPECT_TRUE(found().value);
  outcomes.back().disturbed = true;
  const Finding disturbed = found();
  EXPECT_FALSE(disturbed.value);
  EXPECT_THAT(disturbed.text, StartsWith("1 of the 2 rows that decide it were disturbed: "));
  EXPECT_THAT(disturbed.text, HasSubstr("--wait-quiet"));
  EXPECT_THAT(disturbed.text, Not(HasSubstr("GB/s")));
}

// Expects launch, time, rate and size of sequences, and the published figures of sequences of equal length.
TEST(CopyFindings, TellBestLaunchesAsThePublishedTablesDo) {
  const Family copy = family_named("copy");
  std::vector<Outcome> outcomes;
  for (const char* sweep : {"kernel=no_loop width=1 group=128",
                            "kernel=warp_stride width=1 group=128 groups=65536 split=aligned,even"}) {
    for (const auto& at : cases_of(copy, {sweep}, 1)) {
      outcomes.emplace_back(at, 1e-4);
      outcomes.back().bytes = std::int64_t{8} << 24;
    }
  }
  const auto found = findings_of(copy, outcomes, roomy());
  EXPECT_EQ(text_of_finding(found, "best_no_loop_width1"),
            "best launch configuration 128x131072, 100.0 us, 1342.2 GB/s; published: 128x131072: 870.9 us, "
            "154.1 GB/s "
            "(GeForce GTX "
            "690 (one GPU), n=16777216)");
  EXPECT_EQ(text_of_finding(found, "best_warp_stride_width1"),
            "best launch configuration 128x65536, 100.0 us, 1342.2 GB/s, sequences of 64");
  EXPECT_EQ(text_of_finding(found, "best_warp_stride_even_width1"),
            "best launch configuration 128x65536, 100.0 us, 1342.2 GB/s, sequences of 64; published: "
            "128x65536: 863.7 us, "
            "155.4 GB/s (GeForce GTX 690 (one GPU), n=16777216)");
}

// Finds no local minimum among neighbours that differ by chance alone.
TEST(CopyFindings, LocalMinimaAreFasterThanTheirNeighboursMayBe) {
  const Family copy = family_named("copy");
  std::vector<Outcome> outcomes;
  for (const auto& at :
       cases_of(copy, {"kernel=no_loop width=1 n=16777216 group=32,64,96,128,160,192,224,256"}, 1))
    outcomes.emplace_back(at, at.number("group") == 64 ? 1e-4 : 1.001e-4);
  for (auto& o : outcomes) {
    if (o.at.number("group") == 160) o.time_s = 9e-5;
    o.bytes = 8;
    o.low_s = 0.99 * o.time_s;
    o.high_s = 1.01 * o.time_s;
  }
  EXPECT_EQ(text_of_finding(copy.findings(outcomes, roomy()), "local_minima_no_loop_width1"),
            "faster than both neighbours in the search, beyond their intervals: #5 160x104858 90.0 us");
}

// Includes launch and wait, because the published table waited for each execution.
TEST(GrayscaleFindings, CountLaunchAndWaitOfEveryExecution) {
  const Family grayscale = family_named("grayscale");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(grayscale, "paper")) {
    outcomes.emplace_back(at, 1e-5);
    outcomes.back().call_s = 2e-5 * static_cast<double>(at.number("group"));
  }
  const auto found = findings_of(grayscale, outcomes, roomy());
  EXPECT_DOUBLE_EQ(finding_of(found, "ms_of_100_2272x1704_128"), 1e5 * 2e-5 * 128);
  EXPECT_EQ(
      text_of_finding(found, "ms_of_100_2272x1704_128"),
      "100 executions on 2272x1704 with work-groups of 128, each waited for; published: void, 128x28968: "
      "831 ms (GeForce 8800 GT, n=3871488)");
  EXPECT_EQ(
      text_of_finding(found, "ms_of_100_2272x1704_32"),
      "100 executions on 2272x1704 with work-groups of 32, each waited for; published: 32x120984: 777 ms "
      "(GeForce 8800 GT, n=3871488)");
  for (auto& o : outcomes) o.call_s.reset();
  EXPECT_EQ(text_of_finding(grayscale.findings(outcomes, roomy()), "ms_of_100_2272x1704_128"), "");
}

// Continues to the device's largest work-group; the plot ends at one that most devices accept.
TEST(GrayscaleRefine, GoesOnToTheLargestGroup) {
  const Family grayscale = family_named("grayscale");
  DeviceInfo device = roomy();
  const auto asked = [&](const char* preset) {
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(grayscale, preset)) outcomes.emplace_back(at, 1e-5);
    std::vector<std::string> out;
    for (const auto& at : grayscale.refine(outcomes, device)) out.push_back(at.id());
    return out;
  };
  EXPECT_THAT(asked("paper"), testing::IsEmpty());
  device.max_group = 4096;
  EXPECT_THAT(asked("quick"), testing::IsEmpty());
  EXPECT_THAT(asked("paper"),
              testing::ElementsAre(
                  testing::AllOf(HasSubstr("kernel=naive/image=2272x1704/"), HasSubstr("group=2048")),
                  testing::AllOf(HasSubstr("kernel=naive/image=2272x1704/"), HasSubstr("group=4096")),
                  testing::AllOf(HasSubstr("kernel=naive/image=2275x3300/"), HasSubstr("group=2048")),
                  testing::AllOf(HasSubstr("kernel=naive/image=2275x3300/"), HasSubstr("group=4096")),
                  testing::AllOf(HasSubstr("kernel=padded/image=2272x1704/"), HasSubstr("group=2048")),
                  testing::AllOf(HasSubstr("kernel=padded/image=2272x1704/"), HasSubstr("group=4096")),
                  testing::AllOf(HasSubstr("kernel=padded/image=2275x3300/"), HasSubstr("group=2048")),
                  testing::AllOf(HasSubstr("kernel=padded/image=2275x3300/"), HasSubstr("group=4096"))));
}

// Expects the figures as printed, not as computed from others, and for the slides' size also where larger
// ones are measured.
TEST(ReductionFindings, StandBesideThePrintedFiguresOfTheirSize) {
  const Family reduction = family_named("reduction");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(reduction, "paper"))
    outcomes.emplace_back(
        at, (at.is("kernel", "sequential") ? 1e-3 : 2e-3) * static_cast<double>(at.number("n")));
  const auto text = text_of_finding(findings_of(reduction, outcomes, roomy()), "speedup_sequential");
  EXPECT_THAT(text, testing::StartsWith("sequential of 16777216 int: "));
  EXPECT_THAT(text,
              EndsWith("2.00x interleaved; published: 17 GB/s, 1.9x (Tesla M2090, n=16777216), 9.741 GB/s "
                       "(G80 (86.4 GB/s), n=4194304)"));
}

// SAM's rate over order or tuple is that of one launch, not of whichever was the fastest at each.
TEST(ScanFindings, CompareOneLaunchAlongOrderAndTuple) {
  const Family scan = family_named("scan");
  const Sweeps sweeps = {
      "kernel=sam scan_order=1,2,5 n=1048576 group=512 vectors_per_item=8",
      "kernel=sam scan_order=2 n=1048576 group=256 vectors_per_item=4",
      "kernel=sam tuple=3 n=1048576 group=256 vectors_per_item=4",
      "kernel=sam tuple=2 n=4194304 vectors_per_item=4",
      "kernel=sam tuple=1,3,5 n=1048576 group=512 vectors_per_item=2 subgroup_impl=portable,ptx"};
  std::vector<Outcome> outcomes;
  for (const auto& at : cases_of(scan, sweeps, 1)) {
    // ptx is the faster; larger groups are much the slower.
    double time_s = 1e-3 * static_cast<double>(at.number("scan_order") * at.number("tuple"));
    if (at.is("subgroup_impl", "ptx")) time_s /= 3;
    if (at.number("group") == 256) time_s /= 100;
    outcomes.emplace_back(at, time_s);
    outcomes.back().items = 1000000;
  }
  const auto found = scan.findings(outcomes, roomy());
  EXPECT_DOUBLE_EQ(finding_of(found, "sam_by_order_uint"), 1.0 / 5);
  EXPECT_EQ(text_of_finding(found, "sam_by_order_uint"),
            "G elements/s of 1048576 uint fall with order, 1: 1, 2: 0.5, 5: 0.2, all sam group 512 rows 8 "
            "portable: "
            "that of 5 / the first");
  EXPECT_EQ(text_of_finding(found, "sam_by_tuple_uint"),
            "G elements/s of 1048576 uint fall with tuple, 1: 3, 3: 1, 5: 0.6, all sam group 512 rows 2 ptx: "
            "that of 5 / the first");
}

// A kernel that may store some words before it loads others has an unknown number in flight.
TEST(Occupancy, TellsBytesInFlightOnlyWhereTheyAre) {
  const auto bytes = [](const char* kernel, std::int64_t words, const char* type) {
    const Plan plan = plan_with("occupancy",
                                {{"kernel", std::string(kernel)},
                                 {"words", number(words)},
                                 {"n", number(16384)},
                                 {"type", std::string(type)},
                                 {"group", number(64)}},
                                roomy());
    const auto it =
        std::ranges::find(plan.derived, "bytes_in_flight", &std::pair<std::string, std::string>::first);
    return it == plan.derived.end() ? "" : it->second;
  };
  EXPECT_EQ(bytes("loads_first", 14, "float4"), "14336");
  EXPECT_EQ(bytes("loads_first", 8, "float"), "2048");
  EXPECT_EQ(bytes("copy", 4, "float4"), "4096");
  EXPECT_EQ(bytes("copy", 8, "float4"), "");
  EXPECT_EQ(bytes("copy", 4, "float8"), "");
}

TEST(OccupancyFindings, LeaveOutCopiesThatMayNotHoldTheirWords) {
  const Family occupancy = family_named("occupancy");
  std::vector<Outcome> outcomes;
  for (const auto& at :
       cases_of(occupancy,
                {"kernel=copy words=1,4,14 type=float4 group=64,256 groups_per_cu=1,2,4 n=16777216"}, 1)) {
    const auto bytes =
        static_cast<double>(16 * at.number("words") * at.number("group") * at.number("groups_per_cu"));
    // Those of 14 words would make the latency and the bytes needed much smaller.
    const double rate = at.number("words") == 14 ? 1000 : std::min(bytes / 600, 16.0);
    outcomes.emplace_back(
        at, 4e-9 * static_cast<double>(at.number("n")) / static_cast<double>(roomy().units()) / rate);
  }
  EXPECT_NEAR(finding_of(occupancy.findings(outcomes, roomy()), "bytes_in_flight_predicted"), 9600, 1e-6);
}

// Checks the resident work-items per compute unit, limited by the launch or by local memory.
TEST(Occupancy, TellsTheItemsOfAUnit) {
  const auto percent = [](const DeviceInfo& device, std::int64_t local_bytes, std::int64_t per_unit) {
    const Plan plan = plan_with(
        "occupancy",
        {{"group", number(64)}, {"local_bytes", number(local_bytes)}, {"groups_per_cu", number(per_unit)}},
        device);
    const auto it =
        std::ranges::find(plan.derived, "percent_of_2048", &std::pair<std::string, std::string>::first);
    return it == plan.derived.end() ? "" : it->second;
  };
  DeviceInfo device = roomy();
  EXPECT_EQ(percent(device, 0, 1), "3.12");
  EXPECT_EQ(percent(device, 32768, 0), "") << "nothing is known of the unit";
  EXPECT_EQ(percent(device, 0, 0), "");
  device.unit_local_bytes = 228 * 1024L;  // and 33 KiB a group: six
  EXPECT_EQ(percent(device, 32768, 0), "18.8");
  EXPECT_EQ(percent(device, 32768, 1), "3.12");
  EXPECT_EQ(percent(device, 512, 0), "100") << "no more than 2048";
  EXPECT_EQ(percent(device, 0, 0), "");
}

std::string derived_of(const Plan& plan, const std::string& name) {
  const auto it = std::ranges::find(plan.derived, name, &std::pair<std::string, std::string>::first);
  return it == plan.derived.end() ? "" : it->second;
}

// Four launches of groups of 128, each a tree of seven levels; with two values per item three of eight.
TEST(Reduction, TellsWorkDepthAndTransfers) {
  DeviceInfo device = roomy();
  device.compute_units = 8;
  device.cache_bytes = 0;
  const auto of = [&](const char* kernel, const char* column, std::int64_t per_unit = 8) {
    return derived_of(plan_with("reduction",
                                {{"kernel", std::string(kernel)},
                                 {"n", number(16777216)},
                                 {"group", number(128)},
                                 {"groups_per_cu", number(per_unit)}},
                                device),
                      column);
  };
  EXPECT_EQ(of("interleaved", "work"), "16777215");
  EXPECT_EQ(of("interleaved", "depth"), "28");
  EXPECT_EQ(of("interleaved", "parallelism"), "599186");
  EXPECT_EQ(of("first_add", "depth"), "24");
  // 128 groups add 512 blocks each, a value of two blocks at a time; then one group takes what they leave.
  EXPECT_EQ(of("more_work", "depth", 16), "1038");
  // Lines of the values, of one result, and twice those of what a launch leaves to the next.
  EXPECT_EQ(of("interleaved", "transfers_of_128"), std::to_string(524288 + 1 + 2 * 4129));
  EXPECT_EQ(of("interleaved", "transfers_of_32"), std::to_string(4 * 524288 + 1 + 2 * 16513));
  device.cache_bytes = 1 << 20;
  EXPECT_EQ(of("interleaved", "transfers_of_128"), std::to_string(524288 + 1));
  EXPECT_EQ(of("single", "depth"), "") << "no step of the ladder";
}

// As many groups as the source names, and what they leave out.
TEST(Grayscale, LaunchesThePublishedGrids) {
  std::vector<Outcome> outcomes;
  const Family grayscale = family_named("grayscale");
  for (const auto& at :
       cases_of(grayscale, {"kernel=published_rows image=2272x1704,2275x3300 group=32,64,128,256,512"}, 1)) {
    outcomes.emplace_back(at, 1e-3 / static_cast<double>(at.number("group")));
    const auto published = published_value(fmt::format("groups_{}_{}", at.text("image"), at.number("group")));
    ASSERT_TRUE(published) << at.id();
    const Plan plan = plan_of(grayscale, at, roomy());
    EXPECT_EQ(derived_of(plan, "groups"), fmt::format("{:.0f}", *published)) << at.id();
    // The last row ends where the whole work-groups do, and nothing behind it is converted.
    EXPECT_EQ(plan.cost.items,
              static_cast<std::uint64_t>(*published) * static_cast<std::uint64_t>(at.number("group")));
  }
  const auto found = grayscale.findings(outcomes, roomy());
  EXPECT_EQ(finding_of(found, "groups_2272x1704_64"), 59640);
  EXPECT_GT(finding_of(found, "slowdown_at_ends_2275x3300"), 0);
}

// The launches that texts have figures of.
TEST(Presets, HaveThePublishedLaunches) {
  const auto has = [](const char* name, const std::string& sweep) {
    const Family family = family_named(name);
    const auto paper = preset_of(family, "paper");
    for (const auto& at : cases_of(family, {sweep}, 1))
      EXPECT_NE(std::ranges::find(paper, at.id(), &Case::id), paper.end()) << at.id();
  };
  has("compaction", "kernel=billeter width=1,2 group=128 groups=120 sequence=subgroup n=16777216");
  has("compaction",
      "kernel=spataro,orange_owls width=1 group=1024 vectors_per_item=1 n=16777216 "
      "subgroup_impl=portable,ptx");
  has("occupancy", "kernel=loads_first words=14 type=float4 group=64 groups_per_cu=1 n=50331648");
  has("occupancy", "kernel=loads_first words=4 type=float group=96 groups_per_cu=4 n=50331648");
  has("reduction", "kernel=interleaved,nondivergent,sequential,first_add n=4194304,16777216 group=128");
  has("reduction", "kernel=more_work n=16777216 group=128 groups_per_cu=16 subgroup_impl=warp_synchronous");
  has("grayscale", "kernel=published_rows image=2272x1704,2275x3300 group=32,64,128,256,512");
  has("copy", "kernel=no_loop width=1 group=128,256 n=16777216,33554432");
  has("reduction", "kernel=last_warp,unrolled,more_work n=4194304,16777216 group=128 subgroup_impl=portable");
  has("scan",
      "kernel=sam type=uint,ulong n=268435456 group=1024 vectors_per_item=1,2,4 groups_per_cu=2 prefetch=no");
  has("scan",
      "kernel=sam type=uint,ulong n=268435456 group=256 vectors_per_item=8 groups_per_cu=4 "
      "subgroup_impl=portable,ptx");
  // Includes the fastest sub-group implementation at every size of the plots.
  has("scan",
      "kernel=sam type=uint n=1024,1000000000 group=512 vectors_per_item=8 subgroup_impl=portable,ptx");
  has("scan",
      "kernel=sam type=uint n=1000,1073741824 group=256 vectors_per_item=8 groups_per_cu=4 "
      "subgroup_impl=portable,ptx");
  has("scan",
      "kernel=sam type=uint n=1000,1073741824 group=1024 vectors_per_item=2 groups_per_cu=2 prefetch=no "
      "registers=32 "
      "subgroup_impl=ptx");
}
