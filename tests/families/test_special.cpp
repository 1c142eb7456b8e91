// SPDX-License-Identifier: Apache-2.0
// test_special: what family special takes for right, measures and concludes.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

ComparisonResult of_floats(const Check& check, const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return check.compare(0, bytes);
}

float moved(float value, int ulps) { return std::bit_cast<float>(std::bit_cast<std::int32_t>(value) + ulps); }

// Results of a device whose sqrt on this path is off by that many ULP everywhere.
ComparisonResult square_roots(const char* path, int ulps, std::size_t wrong = 0, float instead = 0) {
  const Plan plan =
      plan_with("special", {{"function", word("sqrt")}, {"path", word(path)}, {"n", number(1000)}});
  auto values = numbers_of<float>(plan.buffers[0]);
  for (auto& x : values) x = moved(std::sqrt(x), ulps);
  if (wrong > 0) values[wrong] = instead;
  return of_floats(plan.checks.at(0), values);
}

std::vector<Outcome> measured_rows(const std::function<double(const Case&)>& seconds,
                                   const std::function<double(const Case&)>& measured) {
  const Family special = family_named("special");
  const Random<double> noise(1, 1);
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(special, "quick")) {
    const double time_s = seconds(at) * (1 + 0.02 * noise(outcomes.size()));
    outcomes.emplace_back(at, time_s, time_s * 0.98, time_s * 1.02);
    outcomes.back().items = plan_of(special, at, roomy()).cost.items;
    outcomes.back().value = measured(at);
  }
  return outcomes;
}

const Finding& named(const std::vector<Finding>& found, const std::string& name) {
  const auto it = std::ranges::find(found, name, &Finding::name);
  if (it == found.end()) throw std::logic_error("no finding " + name);
  return *it;
}

}  // namespace

TEST(SpecialChecks, MeasureTheLargestErrorOfWhatIsRight) {
  const ComparisonResult exact = square_roots("full", 0);
  EXPECT_EQ(exact.wrong, 0U);
  EXPECT_LE(exact.measured.value(), 0.5) << "rounded correctly";
  EXPECT_GT(exact.measured.value(), 0.4);
  const ComparisonResult off = square_roots("full", 2);
  EXPECT_EQ(off.wrong, 0U);
  EXPECT_NEAR(off.measured.value(), 2.5, 0.1);
}

TEST(SpecialChecks, HoldEachPathAgainstItsBound) {
  EXPECT_EQ(square_roots("full", 4).wrong, 1000U) << "OpenCL allows 3";
  EXPECT_THAT(square_roots("full", 4).first_text, HasSubstr("within 3 ULP, not 4"));
  EXPECT_EQ(square_roots("half", 4).wrong, 0U);
  // The root below a power of two lies among floats half as far apart.
  EXPECT_THAT(square_roots("native", 4000).measured.value(),
              testing::AllOf(testing::Gt(3999), testing::Lt(8001)));
  EXPECT_EQ(square_roots("native", 8194).wrong, 1000U);
  for (const float instead : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, 0.0F}) {
    for (const char* path : {"full", "half", "native"}) {
      const ComparisonResult tally = square_roots(path, 0, 17, instead);
      EXPECT_EQ(tally.wrong, 1U) << path << ", " << instead;
      EXPECT_EQ(tally.first_wrong, 17U);
      EXPECT_LE(tally.measured.value(), 0.5) << "what is wrong is not measured";
    }
  }
}

// A sum that lacks one of its values, or has one of another place.
TEST(SpecialChecks, ASumThatLacksAValueIsWrong) {
  for (const char* function : {"sin", "exp", "log", "rsqrt", "sqrt", "divide", "powr"}) {
    const Plan plan = plan_with("special", {{"function", word(function)},
                                            {"path", word("native")},
                                            {"n", number(1)},
                                            {"iterations", number(256)}});
    const double first = function == std::string("log") ? 2 : 1, mirror = 2 * first + 1;
    const auto value = [&](double x) {
      const std::string f = function;
      return f == "sin"     ? std::sin(x)
             : f == "exp"   ? std::exp(x)
             : f == "log"   ? std::log(x)
             : f == "rsqrt" ? 1 / std::sqrt(x)
             : f == "sqrt"  ? std::sqrt(x)
             : f == "powr"  ? std::pow(x, mirror - x)
                            : x / (mirror - x);
    };
    double sum = 0;
    for (int i = 0; i < 256; ++i) sum += value(first + i / 8192.0);
    const Check& sums = plan.checks.at(1);
    EXPECT_EQ(of_floats(sums, {static_cast<float>(sum)}).wrong, 0U) << function;
    EXPECT_EQ(of_floats(sums, {static_cast<float>(sum - value(first))}).wrong, 1U) << function;
  }
}

TEST(SpecialChecks, SeeFlushedDenormals) {
  const Plan plan = plan_with("special", {{"kernel", word("denormals")}, {"n", number(64)}});
  const auto a = numbers_of<float>(plan.buffers[0]), b = numbers_of<float>(plan.buffers[1]);
  std::vector<float> kept, flushed;
  for (std::size_t i = 0; i < a.size(); ++i) {
    kept.push_back(a[i] * b[i]);
    flushed.push_back(i % 4 == 0 ? kept.back() : 0);
  }
  EXPECT_EQ(of_floats(plan.checks.at(0), kept).measured, 0);
  EXPECT_EQ(of_floats(plan.checks.at(0), flushed).measured, 1);
  EXPECT_EQ(of_floats(plan.checks.at(0), flushed).wrong, 0U);
  flushed[4] = 0;  // a product that has nothing to do with denormals
  EXPECT_EQ(of_floats(plan.checks.at(0), flushed).wrong, 1U);
}

TEST(SpecialChecks, SeeAFusedProductAndSum) {
  const Plan plan = plan_with("special", {{"kernel", word("contraction")}, {"n", number(64)}});
  const auto a = numbers_of<float>(plan.buffers[0]), b = numbers_of<float>(plan.buffers[1]),
             c = numbers_of<float>(plan.buffers[2]);
  std::vector<float> fused, apart;
  for (std::size_t i = 0; i < a.size(); ++i) {
    fused.push_back(std::fma(a[i], b[i], c[i]));
    volatile float product = a[i] * b[i];
    apart.push_back(product + c[i]);
  }
  EXPECT_EQ(of_floats(plan.checks.at(0), fused).measured, 1);
  EXPECT_EQ(of_floats(plan.checks.at(0), apart).measured, 0);
  EXPECT_EQ(of_floats(plan.checks.at(0), fused).wrong + of_floats(plan.checks.at(0), apart).wrong, 0U);
  apart[3] = moved(apart[3], 200);
  EXPECT_EQ(of_floats(plan.checks.at(0), apart).wrong, 1U);
}

TEST(SpecialFindings, AreWhatNativePrecisionGainsAndLoses) {
  const Family special = family_named("special");
  const auto found = special.findings(
      measured_rows([](const Case& at) { return at.is("path", "native") ? 1e-3 : 4e-3; },
                    [](const Case& at) {
                      return at.is("kernel", "evaluate") ? (at.is("path", "native") ? 70.5 : 1.5)
                                                         : (at.is("kernel", "denormals") ? 0.0 : 1.0);
                    }),
      roomy());
  const Finding& gain = named(found, "sin_native_gain");
  EXPECT_NEAR(gain.value.value(), 4, 0.2);
  EXPECT_LT(gain.low.value(), 4);
  EXPECT_GT(gain.high.value(), 4);
  const double rate = 1e-9 * 65536 * 65 / 4e-3;
  EXPECT_NEAR(finding_of(found, "exp_rate"), rate, 0.03 * rate);
  EXPECT_EQ(finding_of(found, "exp_ulp"), 1.5);
  EXPECT_EQ(named(found, "exp_ulp").high, 3) << "what OpenCL allows";
  EXPECT_EQ(finding_of(found, "sin_native_ulp"), 70.5);
  EXPECT_FALSE(named(found, "sin_native_ulp").high) << "near a zero nothing bounds it";
  EXPECT_EQ(finding_of(found, "denormals_flushed"), 0);
  EXPECT_THAT(named(found, "denormals_flushed").text, HasSubstr("kept"));
  EXPECT_EQ(finding_of(found, "contracted"), 1);
}

TEST(SpecialFindings, AreLeftOutWithoutTheirRows) {
  const Family special = family_named("special");
  auto rows = measured_rows([](const Case&) { return 1e-3; }, [](const Case&) { return 1.0; });
  std::erase_if(rows,
                [](const Outcome& o) { return !o.at.is("kernel", "evaluate") || o.at.is("path", "full"); });
  const auto found = special.findings(rows, roomy());
  EXPECT_THAT(found, Not(IsEmpty()));
  for (const char* name : {"sin_native_gain", "sin_rate", "denormals_flushed", "contracted"})
    EXPECT_THAT(found, Not(Contains(Field(&Finding::name, name))));
}

namespace {

// Hashes of the first output of kernel bits, the sines, as exact as doubles, with a change.
std::uint64_t hashed(std::uint64_t seed, const std::function<void(std::vector<float>&)>& change,
                     std::size_t cut = 0) {
  const Family special = family_named("special");
  Case at;
  for (const auto& one : preset_of(special, "smoke", seed)) {
    if (one.is("kernel", "bits") && one.is("path", "full")) at = one;
  }
  const Plan plan = plan_of(special, at, roomy());
  const auto& arguments = std::get<Launch>(plan.steps.at(0)).args;
  auto values = numbers_of<float>(plan.buffers[std::get<Buffer>(arguments.at(7)).index]);
  for (auto& x : values) x = static_cast<float>(std::sin(double{x}));
  change(values);
  EXPECT_EQ(plan.checks.at(0).hash_name, "sin");
  if (cut == 0) return of_floats(plan.checks.at(0), values).hash.value();
  const auto bytes = std::as_bytes(std::span(values));
  ComparisonResult merged =
      plan.checks.at(0).compare(cut * sizeof(float), bytes.subspan(cut * sizeof(float)));
  merged.merge(plan.checks.at(0).compare(0, bytes.first(cut * sizeof(float))));
  return merged.hash.value();
}

}  // namespace

TEST(SpecialBits, AreOfTheSameArgumentsWhateverTheSeedAndTheStretches) {
  const auto as_is = [](std::vector<float>&) {};
  EXPECT_EQ(hashed(1, as_is), hashed(2, as_is));
  EXPECT_EQ(hashed(1, as_is), hashed(1, as_is, 48));
}

TEST(SpecialBits, TellASingleBitButNoNaNFromAnother) {
  const auto as_is = [](std::vector<float>&) {};
  EXPECT_NE(hashed(1, as_is), hashed(1, [](auto& values) { values[130] = moved(values[130], 1); }));
  EXPECT_NE(hashed(1, as_is), hashed(1, [](auto& values) { std::swap(values[3], values[4]); }));
  EXPECT_EQ(hashed(1, as_is), hashed(1, [](auto& values) { values[131] = moved(values[131], 1); }))
      << "random arguments behind the grid";
  const auto with = [](std::uint32_t bits) {
    return hashed(1, [=](auto& values) { values[7] = std::bit_cast<float>(bits); });
  };
  EXPECT_EQ(with(0x7FC00000), with(0xFFC00001));
}
