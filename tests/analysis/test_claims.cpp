// SPDX-License-Identifier: Apache-2.0
// test_claims: what invented rows say to invented claims, and whether the shipped claims can be decided at
// all.
#include "analysis/claims/jobs.hpp"
#include "analysis/claims/load.hpp"
#include "analysis/claims/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <climits>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "analysis/claims_luck.hpp"
#include "results/contradictions.hpp"
#include "suite/outcome.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;

namespace {

// ---- Shipped claims --------------------------------------------------------------------------------------

// Parses them once: that takes a tenth of a second, and hundreds of rulings ask for one.
const std::vector<Claim>& shipped_claims() {
  static const std::vector<Claim> all = load_claims("");
  return all;
}

const Claim& shipped_claim(const std::string& id) {
  const auto it = std::ranges::find(shipped_claims(), id, &Claim::id);
  if (it == shipped_claims().end()) throw std::logic_error("no claim " + id);
  return *it;
}

// ---- Invented rows ---------------------------------------------------------------------------------------

Family loom() {
  Family family;
  family.name = "loom";
  family.axes = {{"kernel", "", {"plain", "twill", "satin"}},
                 {"type", "", {"int", "double"}},
                 {"n", "", {64, 1024}},
                 {.name = "group", .meaning = "", .values = {64, 128, 256}, .tunable = true},
                 {"form", "", {"corrected", "known_incorrect"}}};
  family.findings = [](const std::vector<Outcome>& outcomes, const DeviceInfo&) -> std::vector<Finding> {
    return {{"rows", static_cast<double>(outcomes.size()), "", ""},
            {"first_s", outcomes.at(0).time_s, "s", ""},
            {"between", outcomes.at(0).time_s, "s", "", outcomes.at(0).time_s / 2, outcomes.at(0).time_s * 3},
            {"untold", {}, "", "the rows do not tell"}};
  };
  return family;
}

struct Axes {
  std::string kernel = "plain", type = "int", n = "64", group = "64", form = "corrected";
};

// Returns a row whose interval is `wide` times the median wide, half to each side.
Record row(const Axes& a, double seconds, double wide = 0.01) {
  Record r;
  r.platform = "Invented, OpenCL 3.0";
  r.device = "Loom 1";
  r.driver = "1.2";
  r.device_type = "gpu";
  r.family = "loom";
  r.axes = {{"kernel", a.kernel}, {"type", a.type}, {"n", a.n},
            {"group", a.group},   {"form", a.form}, {"paths", ""}};
  r.case_id = "loom/" + a.kernel + "/" + a.type + "/" + a.n + "/" + a.group + "/" + a.form;
  r.status = Status::ok;
  r.timer = Timer::event;
  r.cache = "warm";
  r.time_s = seconds;
  r.time_low_s = seconds * (1 - wide / 2);
  r.time_high_s = seconds * (1 + wide / 2);
  r.gb_per_s = 1 / seconds;
  return r;
}

Record failed(const Axes& a, const std::string& status, const std::string& reason) {
  Record r = row(a, 1);
  r.status = enum_named<Status>(status).value();
  r.reason = reason;
  r.time_s = r.time_low_s = r.time_high_s = r.gb_per_s = {};
  if (a.form == "known_incorrect") r.known_incorrect = "yes";
  return r;
}

// Writes a claim as its file has it. `more`: further members, after the rule.
std::string claim(const std::string& decided_by, const std::string& more = "") {
  return R"([{"id": "t-1", "statement": "Twill is faster", "source": "Jacquard 1804")" +
         (decided_by.empty() ? "" : R"(, "decided_by": {)" + decided_by + "}") + more + "}]";
}

struct Ruled {
  std::vector<Claim> claims;
  ResultsSet results;
  std::vector<DeviceRows> rows;
  ClaimResult claim_result;

  Ruled(const std::string& json, const std::vector<Record>& given)
      : claims(parse_claims(json, "test")), results(results_of(given)), rows(device_rows(results)) {
    claim_result = claim_results_of(claims.at(0), rows.at(0), {loom()}).at(0);
  }
  double value() const { return claim_result.estimate->value; }
  Verdict verdict() const { return claim_result.verdict; }
};

const std::string plain_over_twill =
    R"("number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom", "kernel": "twill"}, "above": 1)";

std::vector<Record> two(double plain_s, double twill_s, double wide = 0.01) {
  return {row({}, plain_s, wide), row({"twill"}, twill_s, wide)};
}

// ---- Verdicts --------------------------------------------------------------------------------------------

TEST(Verdict, AWholeIntervalMustLieBeyondBoundAndMargin) {
  const auto verdict = [](Rule::Direction direction, double low, double high) {
    Rule rule;
    rule.direction = direction;
    rule.bound = 2;
    rule.margin = 0.1;
    return verdict_of({(low + high) / 2, low, high}, rule);
  };
  EXPECT_EQ(verdict(Rule::Direction::above, 2.21, 3), Verdict::holds);
  EXPECT_EQ(verdict(Rule::Direction::above, 2.19, 3), Verdict::within_noise);
  EXPECT_EQ(verdict(Rule::Direction::above, 1.5, 1.82), Verdict::within_noise);
  EXPECT_EQ(verdict(Rule::Direction::above, 1.5, 1.81), Verdict::fails);
  EXPECT_EQ(verdict(Rule::Direction::below, 1.5, 1.81), Verdict::holds);
  EXPECT_EQ(verdict(Rule::Direction::below, 1.5, 1.82), Verdict::within_noise);
  EXPECT_EQ(verdict(Rule::Direction::below, 2.19, 3), Verdict::within_noise);
  EXPECT_EQ(verdict(Rule::Direction::below, 2.21, 3), Verdict::fails);
  EXPECT_EQ(verdict(Rule::Direction::equal, 1.82, 2.19), Verdict::holds);
  EXPECT_EQ(verdict(Rule::Direction::equal, 1.81, 2), Verdict::within_noise);
  EXPECT_EQ(verdict(Rule::Direction::equal, 2, 2.21), Verdict::within_noise);
  EXPECT_EQ(verdict(Rule::Direction::equal, 2.21, 3), Verdict::fails);
  EXPECT_EQ(verdict(Rule::Direction::equal, 1, 1.81), Verdict::fails);
}

TEST(Claims, ARatioOfTimesHoldsFailsOrIsNoise) {
  const Ruled holds(claim(plain_over_twill), two(2, 1));
  EXPECT_EQ(holds.verdict(), Verdict::holds);
  EXPECT_DOUBLE_EQ(holds.value(), 2);
  EXPECT_THAT(holds.claim_result.cases,
              ElementsAre("loom/plain/int/64/64/corrected", "loom/twill/int/64/64/corrected"));
  EXPECT_EQ(Ruled(claim(plain_over_twill), two(1, 2)).verdict(), Verdict::fails);
  EXPECT_EQ(Ruled(claim(plain_over_twill), two(1.01, 1)).verdict(), Verdict::within_noise);
  // The same ratio as the first, of medians that nobody knows well.
  EXPECT_EQ(Ruled(claim(plain_over_twill), two(2, 1, 1.5)).verdict(), Verdict::within_noise);
}

// Has samples too few for an interval, which must not count as exact.
TEST(Claims, OneSampleOfAProcessorIsNotKnownExactly) {
  for (const bool sampled : {false, true}) {
    auto records = two(1.5, 1);
    for (auto& r : records) {
      r.device_type = "CPU";
      r.time_low_s = r.time_high_s = {};
      r.min_s = sampled ? r.time_s : Number();
    }
    EXPECT_EQ(Ruled(claim(plain_over_twill), records).verdict(),
              sampled ? Verdict::within_noise : Verdict::holds);
  }
}

TEST(Claims, RunsOfAProcessorThatAgreeAreLuck) {
  const auto ruled = [](int runs, double slower) {
    std::vector<Record> records;
    for (int i = 0; i < runs; ++i) {
      for (auto r : two(slower, 1)) {
        r.device_type = "CPU";
        r.min_s = r.time_s;
        records.push_back(r);
      }
    }
    return Ruled(claim(plain_over_twill), records);
  };
  for (const int runs : {1, 2, 3, 5}) EXPECT_EQ(ruled(runs, 1.2).verdict(), Verdict::within_noise) << runs;
  EXPECT_EQ(ruled(3, 3).verdict(), Verdict::holds);
  EXPECT_EQ(ruled(9, 2).verdict(), Verdict::holds);
}

// Checks the kinds of rules by rows whose launches are equal in truth. Of 25 files two of 100 would be 0.5;
// more than four are so in one of ten thousand trials.
TEST(Claims, LuckDecidesHardlyAny) {
  constexpr int files = 25, most = 4;
  for (const auto& noise : {clweave::luck::noises[0], clweave::luck::noises[1]}) {
    const auto counts = clweave::luck::verdicts(noise, 3, files);
    for (std::size_t i = 0; i < counts.size(); ++i)
      EXPECT_LE(counts[i].wrong, most) << noise.name << ", " << clweave::luck::rules_of_kinds.at(i).name;
  }
  // What is half as slow again on a GPU is told.
  EXPECT_GE(clweave::luck::verdicts(clweave::luck::noises[2], 3, 10, 1.5).front().holds, 10);
}

// ---- Several devices --------------------------------------------------------------------------------------

// Rows of plain, `slower` times as slow as twill, on a device.
void add_device(std::vector<Record>& out, const std::string& name, const std::string& platform, double slower,
                const std::string& type = "gpu") {
  for (auto& r : two(slower, 1)) {
    r.device = name;
    r.platform = platform;
    r.device_type = type;
    out.push_back(r);
  }
}

ClaimResult across(const std::string& how, const std::vector<Record>& records) {
  static std::vector<Claim> claims;
  claims = parse_claims(claim(R"("number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom",
                                "kernel": "twill"}, )" +
                              how),
                        "test");
  const ResultsSet results = results_of(records);
  const auto devices = device_rows(results);
  return claim_results_of(claims.at(0), devices.at(0), {loom()}, devices).at(0);
}

TEST(ClaimsAcrossDevices, ASpreadIsOfGpusOfSeveralModels) {
  const auto ruled = [](const std::vector<double>& slower, const std::string& second = "Loom 2") {
    std::vector<Record> records;
    add_device(records, "Loom 1", "Invented, OpenCL 3.0", slower[0]);
    add_device(records, second, "Invented, OpenCL 3.0", slower[1]);
    add_device(records, "Processor", "Invented, OpenCL 3.0", 100, "cpu");
    return across(R"("across": "spread", "below": 1.25, "margin": 0.05)", records);
  };
  EXPECT_EQ(ruled({3, 3.1}).verdict, Verdict::holds);
  EXPECT_EQ(ruled({3, 5}).verdict, Verdict::fails);
  EXPECT_NEAR(ruled({3, 5}).estimate->value, 5.0 / 3, 1e-9);
  EXPECT_THAT(ruled({3, 5}).note, HasSubstr("Loom 1 3, Loom 2 5"));
  EXPECT_EQ(ruled({3, 3.75}).verdict, Verdict::within_noise);
  std::vector<Record> one;
  add_device(one, "Loom 1", "Invented, OpenCL 3.0", 3);
  const ClaimResult alone = across(R"("across": "spread", "below": 1.25)", one);
  EXPECT_EQ(alone.verdict, Verdict::undecided);
  EXPECT_THAT(alone.note, HasSubstr("it takes GPUs of two models"));
}

TEST(ClaimsAcrossDevices, ARatioIsOfTheDevicesThatAreNamed) {
  const auto ruled = [](double nvidia, double second_nvidia, double amd) {
    std::vector<Record> records;
    add_device(records, "GeForce 1", "NVIDIA CUDA", nvidia);
    add_device(records, "GeForce 2", "NVIDIA CUDA", second_nvidia);
    if (amd > 0) add_device(records, "Radeon 1", "rusticl", amd);
    add_device(records, "AMD EPYC", "Portable", 50, "cpu");
    return across(R"("across": {"of": "NVIDIA", "to": ["AMD", "Radeon"]}, "above": 1)", records);
  };
  EXPECT_EQ(ruled(5, 4, 2).verdict, Verdict::holds);
  EXPECT_DOUBLE_EQ(ruled(5, 4, 2).estimate->value, 2) << "the least of NVIDIA's";
  EXPECT_EQ(ruled(5, 1.5, 2).verdict, Verdict::fails);
  EXPECT_EQ(ruled(5, 2, 2).verdict, Verdict::within_noise);
  EXPECT_EQ(ruled(5, 4, 0).verdict, Verdict::undecided);
  EXPECT_THAT(ruled(5, 4, 0).note, HasSubstr("it takes a GPU AMD or Radeon"));
}

TEST(ClaimsAcrossDevices, ADeviceWhoseRowsDecideNothingLeavesItUndecided) {
  std::vector<Record> records;
  add_device(records, "Loom 1", "Invented, OpenCL 3.0", 3);
  add_device(records, "Loom 2", "Invented, OpenCL 3.0", 3);
  records.back().throttled = 1;
  const ClaimResult slowed = across(R"("across": "spread", "below": 1.25)", records);
  EXPECT_EQ(slowed.verdict, Verdict::undecided);
  EXPECT_THAT(slowed.note, AllOf(HasSubstr("Loom 2"), HasSubstr("throttled")));
  records.pop_back();
  EXPECT_EQ(across(R"("across": "spread", "below": 1.25)", records).verdict, Verdict::not_measured);
}

TEST(Claims, RepetitionsMakeANumberSurerThanTheirOwnIntervals) {
  std::vector<Record> one = two(1.2, 1, 0.4), many;
  EXPECT_EQ(Ruled(claim(plain_over_twill), one).verdict(), Verdict::within_noise);
  for (int i = 0; i < 15; ++i) {
    for (const auto& r : one) many.push_back(r);
  }
  const Ruled ruled(claim(plain_over_twill), many);
  EXPECT_EQ(ruled.verdict(), Verdict::holds);
  EXPECT_EQ(ruled.claim_result.runs, 15U);
  // Runs that disagree are less sure than one run that knows nothing of it.
  auto scattered = two(1.2, 1);
  for (const double factor : {0.7, 1.4}) scattered.push_back(row({}, 1.2 * factor));
  EXPECT_EQ(Ruled(claim(plain_over_twill), scattered).verdict(), Verdict::within_noise);
}

// Has the times of a reduction whose second step was slowed in three of six rows: 1.56 times as fast in
// truth.
TEST(Claims, RowsThatWereSlowedDecideNothing) {
  const auto ruled = [](const std::vector<double>& throttled, double slow_s) {
    std::vector<Record> records;
    for (const double share : throttled) {
      for (auto& r : two(158.6e-6, share > 0.5 ? slow_s : 101.9e-6)) records.push_back(r);
      records.back().throttled = share;
    }
    return Ruled(claim(plain_over_twill), records);
  };
  const Ruled slowed = ruled({1, 1, 1}, 163.1e-6);
  EXPECT_EQ(slowed.verdict(), Verdict::undecided);
  EXPECT_THAT(slowed.claim_result.note, HasSubstr("column throttled"));
  EXPECT_THAT(slowed.claim_result.doubtful, ElementsAre("loom/twill/int/64/64/corrected"));
  EXPECT_EQ(slowed.claim_result.command, "clweave run --device \"Loom 1\" --claim t-1 --runs 3");
  EXPECT_EQ(ruled({1, 0}, 163.1e-6).verdict(), Verdict::undecided) << "half of the runs";
  EXPECT_EQ(ruled({1, 0, 0, 0, 0, 0, 0, 0, 0}, 163.1e-6).verdict(), Verdict::holds)
      << "the median is of quiet ones";
  EXPECT_EQ(ruled({0.5, 0.5}, 163.1e-6).verdict(), Verdict::holds);
}

TEST(Claims, RowsThatAreNotVerifiedDecideNothing) {
  auto records = two(2, 1);
  records[1].verified = Verified::no;
  const Ruled unverified_row(claim(plain_over_twill), records);
  EXPECT_EQ(unverified_row.verdict(), Verdict::undecided);
  EXPECT_EQ(unverified_row.claim_result.note, unverified);
  EXPECT_THAT(unverified_row.claim_result.doubtful, ElementsAre("loom/twill/int/64/64/corrected"));
  for (auto& r : two(2, 1)) records.push_back(r);
  const Ruled of_two(claim(plain_over_twill), records);
  EXPECT_EQ(of_two.verdict(), Verdict::undecided) << "another run is, but the output was wrong in this one";
  EXPECT_THAT(of_two.claim_result.doubtful, ElementsAre("loom/twill/int/64/64/corrected"));
}

// A kernel that is wrong in one run of three may do less work in the others.
TEST(Claims, ARowThatIsWrongInOneRunDecidesNothing) {
  std::vector<Record> records;
  for (int run = 0; run < 3; ++run) {
    for (auto& r : two(2, 1)) records.push_back(r);
  }
  EXPECT_EQ(Ruled(claim(plain_over_twill), records).verdict(), Verdict::holds);
  records.back().status = Status::wrong_result;
  records.back().reason = "3 of 9 right";
  records.back().time_s.reset();
  const Ruled wrong(claim(plain_over_twill), records);
  EXPECT_EQ(wrong.verdict(), Verdict::undecided);
  EXPECT_THAT(wrong.claim_result.note, HasSubstr("wrong in some of the runs"));
  EXPECT_THAT(wrong.claim_result.doubtful, ElementsAre("loom/twill/int/64/64/corrected"));
  records.back().status = Status::timeout;
  EXPECT_EQ(Ruled(claim(plain_over_twill), records).verdict(), Verdict::holds) << "two times are right";
}

TEST(Claims, MediansThatHaveNotSettledDecideNothing) {
  auto records = two(2, 1);
  records[0].converged = records[1].converged = "no";
  const Ruled unsettled(claim(plain_over_twill), records);
  EXPECT_EQ(unsettled.verdict(), Verdict::undecided);
  EXPECT_THAT(unsettled.claim_result.note, HasSubstr("column converged"));
  EXPECT_THAT(unsettled.claim_result.doubtful, SizeIs(2));
  records[0].converged = records[1].converged = "yes";
  EXPECT_EQ(Ruled(claim(plain_over_twill), records).verdict(), Verdict::holds);
}

// Bytes are known before a kernel runs; what it counts may depend on what else runs.
TEST(Claims, ColumnsThatAreKnownBeforeNeedNoSettledMedians) {
  auto records = two(2, 1);
  const auto ruled = [&](const std::string& quantity) {
    return Ruled(claim(plain_over_twill + R"(, "quantity": ")" + quantity + R"(")"), records);
  };
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].value = i == 0 ? 3 : 2;
    records[i].axes.emplace_back("auxiliary_bytes", i == 0 ? "3" : "2");
    records[i].converged = "no";
  }
  const Ruled bytes = ruled("auxiliary_bytes");
  EXPECT_EQ(bytes.verdict(), Verdict::holds);
  EXPECT_DOUBLE_EQ(bytes.value(), 1.5);
  EXPECT_EQ(ruled("value").verdict(), Verdict::undecided);
}

// A launch that was slowed may be the fastest in truth, even if another one was the fastest as measured.
TEST(Claims, ASlowedLaunchThatMayBeTheFastestLeavesItUndecided) {
  const auto ruled = [](double slowed_s, const std::string& converged) {
    auto records = two(2, 1);
    records.push_back(row({"plain", "int", "64", "128"}, slowed_s));
    if (converged.empty())
      records.back().throttled = 1;
    else
      records.back().converged = converged;
    return Ruled(claim(R"("number": "ratio", "of": {"family": "loom", "group": {"try": [64, 128]}},
                          "to": {"family": "loom", "kernel": "twill"}, "above": 1)"),
                 records)
        .verdict();
  };
  EXPECT_EQ(ruled(3, ""), Verdict::undecided);
  EXPECT_EQ(ruled(5, ""), Verdict::holds) << "nothing makes it 2.5 times slower";
  EXPECT_EQ(ruled(2.005, "no"), Verdict::undecided);
  EXPECT_EQ(ruled(3, "no"), Verdict::holds);
}

TEST(Claims, WithoutRowsTheCommandIsNamedThatWouldMeasureThem) {
  const Ruled ruled(claim(plain_over_twill), {row({}, 1)});
  EXPECT_EQ(ruled.verdict(), Verdict::not_measured);
  EXPECT_EQ(ruled.claim_result.note, no_rows);
  EXPECT_EQ(ruled.claim_result.command, "clweave run --device \"Loom 1\" --claim t-1");
  EXPECT_FALSE(ruled.claim_result.estimate);
}

TEST(Claims, ARowThatFailedSaysWhyNothingIsDecided) {
  const Ruled ruled(claim(plain_over_twill), {row({}, 1), failed({"twill"}, "unsupported", "no shuttle")});
  EXPECT_EQ(ruled.verdict(), Verdict::not_testable);
  EXPECT_EQ(ruled.claim_result.note, "unsupported: no shuttle");
  const Ruled several(
      claim(plain_over_twill),
      {row({}, 1), failed({.kernel = "twill", .group = "32"}, "unsupported", "no such heddle"),
       failed({"twill"}, "unsupported", "no shuttle")});
  EXPECT_EQ(several.claim_result.note, "unsupported: no shuttle") << "of the row closest to the defaults";
}

TEST(Claims, WithoutADeviceOfNvidiasNoCommandCanMeasureCuda) {
  const std::string beside_cuda = claim(
      R"("number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom", "api": "cuda"}, "above": 1)");
  const std::string wefts = claim(
      R"("number": "ratio", "of": {"family": "loom", "kernel": ["plain", "twill"]}, "to": {"family": "loom", "api": "cuda"},
         "above": 1)");
  for (const auto& json : {beside_cuda, wefts}) {
    for (const auto& rows : {two(1, 1), std::vector{row({}, 1)}, std::vector{row({"satin"}, 1)}}) {
      auto records = rows;
      const Ruled elsewhere(json, records);
      EXPECT_EQ(elsewhere.verdict(), Verdict::not_testable);
      EXPECT_EQ(elsewhere.claim_result.note, "CUDA runs on devices of NVIDIA alone");
      for (auto& r : records) r.platform = "NVIDIA CUDA";
      EXPECT_EQ(Ruled(json, records).verdict(), Verdict::not_measured);
    }
  }
}

TEST(Claims, AClaimWithoutRuleIsUntestableOrHasNoEvidence) {
  const Ruled untestable(claim("", R"(, "untestable": "OpenCL does not tell")"), two(1, 1));
  EXPECT_EQ(untestable.verdict(), Verdict::not_testable);
  EXPECT_EQ(untestable.claim_result.note, "OpenCL does not tell");
  EXPECT_EQ(untestable.claim_result.command, "");
  const Ruled nothing(claim("", R"(, "published_bug": "the loom was empty", "check": "look")"), two(1, 1));
  EXPECT_EQ(nothing.verdict(), Verdict::no_evidence);
}

TEST(Claims, KnownIncorrectCasesShowTheFaultAndDecideNothing) {
  const std::string json = claim(
      plain_over_twill,
      R"(, "published_bug": "the shed was shut", "known_incorrect": {"family": "loom", "form": "known_incorrect"})");
  auto records = two(2, 1);
  EXPECT_EQ(Ruled(json, records).claim_result.known_incorrect, "");
  auto known_incorrect =
      failed({"plain", "int", "64", "64", "known_incorrect"}, "wrong_result",
             "known incorrect: shut; 2 of 64 elements correct, 2 written; first wrong: [2] is 0, expected 7");
  records.push_back(known_incorrect);
  known_incorrect.status = Status::ok;
  known_incorrect.time_s = 0.001;
  records.push_back(known_incorrect);
  const Ruled ruled(json, records);
  EXPECT_EQ(ruled.claim_result.known_incorrect,
            "1 of 2 rows wrong: known incorrect: shut; 2 of 64 elements correct, 2 written");
  EXPECT_EQ(ruled.verdict(), Verdict::holds);
  EXPECT_DOUBLE_EQ(ruled.value(), 2);
}

// ---- Which rows ------------------------------------------------------------------------------------------

TEST(Claims, AnAxisThatIsNotNamedIsAtItsDefault) {
  auto records = two(2, 1);
  records.push_back(row({"twill", "double"}, 0.1));
  records.push_back(row({"twill", "int", "64", "128"}, 0.1));
  EXPECT_DOUBLE_EQ(Ruled(claim(plain_over_twill), records).value(), 2);
  // A row without the axis was made before there was one.
  std::erase_if(records[1].axes, [](const auto& axis) { return axis.first == "group"; });
  EXPECT_DOUBLE_EQ(Ruled(claim(plain_over_twill), records).value(), 2);
}

TEST(Claims, RowsOfAnotherDefaultCountWhereThereIsNoneOfTodaysAndNoChoice) {
  Axes plain, twill = {"twill"};
  plain.group = twill.group = "128";
  EXPECT_EQ(Ruled(claim(plain_over_twill), {row(plain, 1.2), row(twill, 1)}).verdict(), Verdict::holds);
  Axes other = plain;
  other.group = "256";
  EXPECT_EQ(Ruled(claim(plain_over_twill), {row(plain, 1.2), row(other, 1.1), row(twill, 1)}).verdict(),
            Verdict::not_measured);
  // Defaults do not choose what is computed.
  plain.type = twill.type = "double";
  EXPECT_EQ(Ruled(claim(plain_over_twill), {row(plain, 1.2), row(twill, 1)}).verdict(),
            Verdict::not_measured);
}

// A tuned configuration is never the source's own configuration.
TEST(Claims, WhatWasTunedDecidesNothing) {
  auto records = two(2, 1);
  records.push_back(row({"twill", "int", "64", "128"}, 0.1));
  records.back().tuned = "yes";
  EXPECT_DOUBLE_EQ(Ruled(claim(plain_over_twill), records).value(), 2);
  records.erase(records.begin() + 1);
  EXPECT_EQ(Ruled(claim(plain_over_twill), records).verdict(), Verdict::not_measured)
      << "nor does it stand in for a default of another version";
}

TEST(Claims, WhatIsTriedCountsAtItsBestAndNothingElseDoes) {
  const std::string json = claim(
      R"("number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom", "kernel": "twill", "group": {"try": [64, 256]}}, "above": 1)");
  auto records = two(2, 1);
  EXPECT_EQ(Ruled(json, records).verdict(), Verdict::not_measured) << "one of two launches is missing";
  EXPECT_EQ(Ruled(json, records).claim_result.note, no_rows);
  records.push_back(row({"twill", "int", "64", "256"}, 0.5));
  const Ruled ruled(json, records);
  EXPECT_DOUBLE_EQ(ruled.value(), 4);
  EXPECT_THAT(ruled.claim_result.cases,
              ElementsAre("loom/plain/int/64/64/corrected", "loom/twill/int/64/256/corrected"));
  records.push_back(row({"twill", "int", "64", "128"}, 0.1));
  EXPECT_DOUBLE_EQ(Ruled(json, records).value(), 4) << "of a longer search";
  records[2] = failed({"twill", "int", "64", "256"}, "unsupported", "no shuttle");
  EXPECT_DOUBLE_EQ(Ruled(json, records).value(), 2) << "it was tried";
}

TEST(Claims, RowsThatFitACacheAreMarkedAndSayNothingOfMemory) {
  const std::string sized =
      R"("number": "ratio", "above": 1, "of": {"family": "loom", "n": {"largest": [64, 1024]}},
         "to": {"family": "loom", "kernel": "twill", "n": {"largest": [64, 1024]}})";
  auto records = two(2, 1);
  EXPECT_FALSE(Ruled(claim(sized), records).claim_result.cached);
  records[1].cached = "yes";
  const Ruled marked(claim(sized), records);
  EXPECT_TRUE(marked.claim_result.cached);
  EXPECT_EQ(marked.verdict(), Verdict::holds);
  const std::string of_memory = claim(sized + R"(, "memory": true)");
  const Ruled refused(of_memory, records);
  EXPECT_EQ(refused.verdict(), Verdict::undecided);
  EXPECT_FALSE(refused.claim_result.estimate);
  EXPECT_EQ(refused.claim_result.note, in_cache);
  EXPECT_EQ(refused.claim_result.command, "clweave run --device \"Loom 1\" --claim t-1 --set n=1024");
  records.push_back(row({"plain", "int", "1024"}, 3));
  records.push_back(row({"twill", "int", "1024"}, 1));
  EXPECT_DOUBLE_EQ(Ruled(of_memory, records).value(), 3);
  records[2].cached = "yes";
  EXPECT_EQ(Ruled(of_memory, records).claim_result.command, "") << "no larger size is part of it";
}

// A fraction is of the peak of its own run: a busy one slows both.
TEST(Claims, AFractionOfACeilingIsOfItsOwnRun) {
  const std::string rule =
      R"("number": "ratio", "quantity": "fraction_of_peak", "of": {"family": "loom"}, "above": 0.5)";
  std::vector<Record> records;
  int run = 0;
  for (const auto& [seconds, fraction] : {std::pair{1.0, 0.8}, {4.0, 0.9}, {2.0, 0.7}}) {
    Record& r = records.emplace_back(row({}, seconds));
    r.run = ++run;
    r.fraction_of_peak = fraction;
  }
  const Ruled three(claim(rule), records);
  EXPECT_DOUBLE_EQ(three.value(), 0.8);
  // Expects the extremes as bounds, because one resample of three runs in four has the least, or the largest,
  // twice. The times differ fourfold and must not matter.
  EXPECT_NEAR(three.claim_result.estimate->low, 0.7, 0.01);
  EXPECT_NEAR(three.claim_result.estimate->high, 0.9, 0.01);
  // A run that measured no peak says nothing of one.
  records[0].fraction_of_peak = {};
  const Ruled two_of_three(claim(rule), records);
  EXPECT_DOUBLE_EQ(two_of_three.value(), 0.8);
  EXPECT_NEAR(two_of_three.claim_result.estimate->low, 0.7, 0.01);
  EXPECT_NEAR(two_of_three.claim_result.estimate->high, 0.9, 0.01);
  for (auto& r : records) r.fraction_of_peak = {};
  EXPECT_EQ(Ruled(claim(rule), records).verdict(), Verdict::not_measured);
}

// Treats a count of resident work-groups as noisy: one run is no evidence, and the interval spans those of
// several.
TEST(Claims, ACountIsTheMedianOfItsRunsAndAsUncertainAsTheyAre) {
  const std::string rule = claim(plain_over_twill + R"(, "quantity": "value", "runs": 2)");
  const auto counted = [](std::vector<double> plain, std::vector<double> twill) {
    std::vector<Record> records;
    for (std::size_t run = 0; run < plain.size(); ++run) {
      for (auto [kernel, value] : {std::pair{"plain", plain[run]}, {"twill", twill[run]}}) {
        Record& r = records.emplace_back(row({kernel}, 1));
        r.run = static_cast<int>(run) + 1;
        r.value = value;
      }
    }
    return records;
  };
  const Ruled apart(rule, counted({11, 11}, {9, 14}));
  EXPECT_DOUBLE_EQ(apart.value(), 11 / 11.5);
  EXPECT_EQ(apart.verdict(), Verdict::within_noise);
  EXPECT_EQ(Ruled(rule, counted({22, 22}, {9, 14})).verdict(), Verdict::holds);
  const Ruled once(rule, counted({22}, {9}));
  EXPECT_EQ(once.verdict(), Verdict::undecided);
  EXPECT_THAT(once.claim_result.command, HasSubstr("--runs 2"));
}

TEST(Claims, RowsThatBeatMemoryByATenthSayNothingOfIt) {
  const auto decided = [](double fraction, const std::string& memory, Peak peak) {
    std::vector<Record> records = two(2, 1);
    records[1].fraction_of_peak = fraction;
    records[1].peak = peak;
    return Ruled(claim(plain_over_twill + R"(, "memory": )" + memory), records);
  };
  EXPECT_EQ(decided(1.09, "true", Peak::read).verdict(), Verdict::holds);
  EXPECT_EQ(decided(1.11, "true", Peak::read).verdict(), Verdict::undecided);
  EXPECT_THAT(decided(1.11, "true", Peak::read).claim_result.note,
              AllOf(HasSubstr(above_memory_bandwidth), HasSubstr("loom/twill")));
  EXPECT_EQ(decided(1.11, "false", Peak::read).verdict(), Verdict::holds);
  EXPECT_EQ(decided(1.11, "true", Peak::arithmetic_float).verdict(), Verdict::holds);
}

TEST(Claims, WhatIsGivenMustHoldFirst) {
  const auto claims = parse_claims(
      R"([{"id": "t-1", "statement": "Satin is fast", "source": "Jacquard 1804",
           "decided_by": {"number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom", "kernel": "satin"}, "above": 1}},
          {"id": "t-2", "statement": "by its float", "source": "Jacquard 1804", "given": "t-1",
           "decided_by": {"number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom", "kernel": "twill"}, "above": 1}}])",
      "test");
  const auto claim_result = [&](const std::vector<Record>& records) {
    const ResultsSet results = results_of(records);
    const auto rows = device_rows(results);
    return claim_results_of(claims.at(1), rows.at(0), {loom()}).at(0);
  };
  auto records = two(2, 1);
  EXPECT_EQ(claim_result(records).verdict, Verdict::not_measured);
  EXPECT_THAT(claims.at(1).queries(), SizeIs(2)) << "is measured with it";
  records.push_back(row({"satin"}, 1));
  EXPECT_EQ(claim_result(records).verdict, Verdict::holds);
  records.back() = row({"satin"}, 3);
  EXPECT_EQ(claim_result(records).verdict, Verdict::undecided);
  EXPECT_EQ(claim_result(records).note, "says something only where t-1 holds");
}

TEST(Claims, EachKernelMayHaveALaunchOfItsOwn) {
  const std::string json = claim(
      R"("number": "spread", "along": "kernel", "below": 1.1,
         "of": {"family": "loom", "n": 64, "any_of": [{"kernel": "plain", "group": 128}, {"kernel": "twill"}]})");
  const std::vector<Record> rows = {row({"plain"}, 1), row({"plain", "int", "64", "128"}, 2),
                                    row({"twill"}, 2), row({"twill", "int", "64", "128"}, 1)};
  const Ruled ruled(json, rows);
  EXPECT_DOUBLE_EQ(ruled.value(), 1);
  EXPECT_THAT(ruled.claim_result.cases,
              ElementsAre("loom/plain/int/64/128/corrected", "loom/twill/int/64/64/corrected"));
}

TEST(Claims, AsPublishedAndAtItsBestAreDecidedApart) {
  const auto claims = parse_claims(
      claim(R"("number": "ratio", "above": 1, "of": {"family": "loom", "group": {"try": [64, 128]}},
               "to": {"family": "loom", "kernel": "twill", "group": {"try": [64, 128]}})",
            R"(, "published": [{"device": "Loom 0", "value": 0.5}],
               "as_published": {"of": {"group": 64}, "to": {"group": null}})"),
      "test");
  const ResultsSet results = results_of({row({"plain"}, 1), row({"plain", "int", "64", "128"}, 1),
                                         row({"twill"}, 2), row({"twill", "int", "64", "128"}, 0.5)});
  const auto rows = device_rows(results);
  const auto claim_results = claim_results_of(claims.at(0), rows.at(0), {loom()});
  ASSERT_THAT(claim_results, SizeIs(2));
  EXPECT_EQ(claim_results[0].criterion->launches, LaunchChoice::as_published);
  EXPECT_EQ(claim_results[0].verdict, Verdict::fails);
  EXPECT_EQ(claim_results[1].criterion->launches, LaunchChoice::at_best);
  EXPECT_EQ(claim_results[1].verdict, Verdict::holds);
  EXPECT_EQ(verdict_of(claims.at(0).published.at(0), claims.at(0)), Verdict::fails);
}

TEST(Claims, AGainComparesTwoSteps) {
  const std::string json = claim(
      R"("number": "gain", "above": 1, "of": {"family": "loom", "kernel": "twill", "group": 128},
         "of_before": {"family": "loom", "kernel": "twill"}, "to": {"family": "loom", "group": 128},
         "to_before": {"family": "loom"})");
  const std::vector<Record> rows = {row({"plain"}, 10), row({"plain", "int", "64", "128"}, 8),
                                    row({"twill"}, 6), row({"twill", "int", "64", "128"}, 3)};
  EXPECT_DOUBLE_EQ(Ruled(json, rows).value(), 2 / 1.25);
  EXPECT_EQ(Ruled(json, {rows[0], rows[2], rows[3]}).verdict(), Verdict::not_measured);
}

TEST(Claims, BothSidesAreAtTheLargestSizeThatBothHave) {
  const std::string json = claim(
      R"("number": "ratio", "of": {"family": "loom", "n": {"largest": [64, 1024]}, "type": {"first": ["double", "int"]}},
         "to": {"family": "loom", "kernel": "twill", "n": {"largest": [64, 1024]}, "type": {"first": ["double", "int"]}}, "above": 1)");
  auto records = two(2, 1);
  records.push_back(row({"plain", "int", "1024"}, 30));
  records.push_back(row({"twill", "int", "1024"}, 10));
  records.push_back(row({"plain", "int", "4096"}, 1000));
  EXPECT_DOUBLE_EQ(Ruled(json, records).value(), 3);
  EXPECT_EQ(Ruled(json, records).claim_result.note, "type=int n=1024");
  records.push_back(row({"plain", "double"}, 5));
  records.push_back(row({"twill", "double"}, 1));
  EXPECT_EQ(Ruled(json, records).claim_result.note, "type=double n=64");
}

TEST(Claims, OtherMeasurementsAreLeftOut) {
  auto records = two(2, 1);
  records.push_back(row({"twill"}, 0.1));
  records.back().timer = Timer::host;
  EXPECT_DOUBLE_EQ(Ruled(claim(plain_over_twill), records).value(), 2);
  auto by_host = two(3, 1);
  for (auto& r : by_host) r.timer = Timer::host;
  EXPECT_DOUBLE_EQ(Ruled(claim(plain_over_twill), by_host).value(), 3);
  EXPECT_EQ(Ruled(claim(plain_over_twill), by_host).claim_result.note, "timer=host type=int n=64");
  by_host.pop_back();
  by_host.push_back(row({"twill"}, 1));
  EXPECT_EQ(Ruled(claim(plain_over_twill), by_host).verdict(), Verdict::not_measured) << "one of each clock";
  records.push_back(row({"twill"}, 0.1));
  records.back().cache = "cold";
  records.push_back(row({"twill"}, 0.1));
  records.back().api = "cuda";
  EXPECT_DOUBLE_EQ(Ruled(claim(plain_over_twill), records).value(), 2);
}

TEST(Claims, AClaimMustHoldForEveryValueAndAgainstEveryOpponent) {
  const std::string same = claim(R"("number": "ratio", "of": {"family": "loom", "group": [64, 128]},
               "to": {"family": "loom", "kernel": "twill", "group": [64, 128]}, "same": "group", "above": 1)");
  auto records = two(2, 1);
  records.push_back(row({"plain", "int", "64", "128"}, 0.5));
  EXPECT_EQ(Ruled(same, records).verdict(), Verdict::not_measured) << "only group 64 is on both sides";
  records.push_back(row({"twill", "int", "64", "128"}, 1));
  EXPECT_EQ(Ruled(same, records).verdict(), Verdict::fails);
  EXPECT_DOUBLE_EQ(Ruled(same, records).value(), 0.5);
  EXPECT_EQ(Ruled(same, records).claim_result.note, "type=int n=64: group=128");

  const std::string each = claim(
      R"("number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom", "kernel": ["twill", "satin"]},
               "each": "kernel", "above": 1)");
  auto rivals = two(2, 1);
  rivals.push_back(row({"satin"}, 1.5));
  EXPECT_NEAR(Ruled(each, rivals).value(), 2 / 1.5, 1e-12);
  EXPECT_EQ(Ruled(each, rivals).claim_result.note, "type=int n=64: kernel=satin");
}

// ---- Numbers ---------------------------------------------------------------------------------------------

// Times of plain at groups 16, 32, 64 ..
std::vector<Record> along_groups(const std::vector<double>& times, const std::string& kernel = "plain",
                                 double wide = 0.001) {
  std::vector<Record> out;
  int group = 16;
  for (const double t : times) {
    out.push_back(row({kernel, "int", "64", std::to_string(group)}, t, wide));
    group *= 2;
  }
  return out;
}

// A rule along as many groups as there are times, each measured in three runs.
struct Along {
  std::string number, bound, more = {};

  Ruled operator()(const std::vector<double>& times) const {
    std::vector<int> groups;
    for (std::size_t i = 0; i < times.size(); ++i) groups.push_back(16 << i);
    return {claim(fmt::format(
                R"("number": "{}", "of": {{"family": "loom", "group": [{}]}}, "along": "group", {}{})",
                number, fmt::join(groups, ", "), bound, more)),
            runs(along_groups(times))};
  }

  static std::vector<Record> runs(const std::vector<Record>& one) {
    std::vector<Record> out;
    for (int run = 1; run <= 3; ++run) out.insert(out.end(), one.begin(), one.end());
    return out;
  }
};

TEST(Claims, ATrendRisesWhenNoStepGoesBack) {
  const Along rising{"trend", R"("rising": 1)"};
  EXPECT_EQ(rising({1, 1.1, 1.2, 1.5}).verdict(), Verdict::holds);
  EXPECT_EQ(rising({1, 1.1, 1.2, 1.5}).claim_result.note, "type=int n=64: 1, 1.1, 1.2, 1.5");
  EXPECT_DOUBLE_EQ(rising({1, 1.1, 1.2, 1.5}).value(), 1.5);
  EXPECT_EQ(rising({1, 1.1, 1.09, 1.5}).verdict(), Verdict::holds) << "back by less than 3 %";
  EXPECT_EQ(rising({1, 1.4, 1.2, 1.5}).verdict(), Verdict::fails);
  EXPECT_EQ(rising({1, 1.01, 1, 1.01}).verdict(), Verdict::within_noise) << "flat";
  EXPECT_EQ(rising({1.5, 1.2, 1.1, 1}).verdict(), Verdict::fails);
  EXPECT_EQ((Along{"trend", R"("falling": 1)"}({1.5, 1.2, 1.1, 1})).verdict(), Verdict::holds);
}

TEST(Claims, SpreadAndMost) {
  EXPECT_DOUBLE_EQ((Along{"spread", R"("below": 2)"}({2, 1, 3})).value(), 3);
  const Ruled most = Along{"most", R"("above": 2)"}({2, 1, 3, 1});
  EXPECT_DOUBLE_EQ(most.value(), 3);
  EXPECT_EQ(most.claim_result.chosen, "group=64");
}

TEST(Claims, TheExtremeOfSeveralThatNobodyKnowsWellIsNotTakenForADifference) {
  const auto ruled = [](const std::string& number, const std::vector<double>& times, double wide) {
    const std::string json = claim(fmt::format(
        R"({}, "of": {{"family": "loom", "group": [16, 32, 64, 128]}}, "along": "group")", number));
    return Ruled(json, along_groups(times, "plain", wide));
  };
  const std::vector<double> level = {1, 1.3, 0.85, 1.1};
  for (const auto* bound : {R"("below": 1.05)", R"("above": 1.05)"}) {
    const auto number = fmt::format(R"("number": "spread", {})", bound);
    EXPECT_EQ(ruled(number, level, 0.6).verdict(), Verdict::within_noise) << bound;
    EXPECT_NE(ruled(number, level, 0.001).verdict(), Verdict::within_noise) << bound;
    EXPECT_NE(ruled(number, {1, 10, 0.85, 1.1}, 0.6).verdict(), Verdict::within_noise) << bound;
  }
  EXPECT_EQ(ruled(R"("number": "most", "above": 1.2)", level, 0.6).verdict(), Verdict::within_noise);
  EXPECT_EQ(ruled(R"("number": "most", "above": 1.2)", level, 0.001).verdict(), Verdict::holds);
  // Picks the weakest step: the largest of falling ones, the least of rising ones.
  const std::vector<double> falling = {2, 1.7, 1.8, 1.3}, rising = {1.3, 1.8, 1.7, 2};
  EXPECT_EQ(ruled(R"("number": "step", "below": 1)", falling, 0.6).verdict(), Verdict::within_noise);
  EXPECT_EQ(ruled(R"("number": "step", "below": 1, "margin": 0.01)", falling, 0.001).verdict(),
            Verdict::fails);
  EXPECT_EQ(ruled(R"("number": "step", "above": 1)", rising, 0.6).verdict(), Verdict::within_noise);
  EXPECT_EQ(ruled(R"("number": "step", "above": 1, "margin": 0.01)", rising, 0.001).verdict(),
            Verdict::fails);
}

// Compares one launch with the best of thirty that are as fast, which must not count as faster if the times
// are uncertain.
TEST(Claims, TheBestOfManyIsFastByLuck) {
  const auto ruled = [](double slower, double wide) {
    auto records = std::vector{row({"twill"}, slower, wide)};
    std::vector<int> groups;
    for (int i = 0; i < 30; ++i) {
      groups.push_back(16 * (i + 1));
      records.push_back(
          row({"plain", "int", "64", std::to_string(groups.back())}, 1 + 0.2 * std::sin(i), wide));
    }
    return Ruled(claim(fmt::format(R"("number": "ratio", "of": {{"family": "loom", "kernel": "twill"}},
                      "to": {{"family": "loom", "group": {{"try": [{}]}}}}, "below": 1)",
                                   fmt::join(groups, ", "))),
                 records);
  };
  EXPECT_EQ(ruled(0.97, 0.6).verdict(), Verdict::within_noise);
  EXPECT_EQ(ruled(1.1, 0.6).verdict(), Verdict::within_noise);
  EXPECT_EQ(ruled(0.97, 0.001).verdict(), Verdict::fails);
  EXPECT_EQ(ruled(0.7, 0.001).verdict(), Verdict::holds);
}

// Corrects the best of several for luck beside a peak, too, which is a single launch.
TEST(Claims, TheBestFractionOfAPeakIsHighByLuck) {
  const auto ruled = [](double best, double wide) {
    std::vector<Record> records;
    std::vector<int> groups;
    for (int i = 0; i < 30; ++i) {
      groups.push_back(16 * (i + 1));
      const double fraction = best * (1 - 0.1 * std::abs(std::sin(i)));
      Record& r = records.emplace_back(
          row({"plain", "int", "64", std::to_string(groups.back())}, 1 / fraction, wide));
      r.fraction_of_peak = fraction;
    }
    return Ruled(claim(fmt::format(R"("number": "ratio", "quantity": "fraction_of_peak",
                      "of": {{"family": "loom", "group": {{"try": [{}]}}}}, "above": 0.8)",
                                   fmt::join(groups, ", "))),
                 records);
  };
  EXPECT_EQ(ruled(0.95, 0.6).verdict(), Verdict::within_noise);
  EXPECT_EQ(ruled(0.95, 0.001).verdict(), Verdict::holds);
  EXPECT_EQ(ruled(0.5, 0.001).verdict(), Verdict::fails);
}

TEST(Claims, EachStepMustBeOne) {
  const Along rising{"step", R"("above": 1)"}, falling{"step", R"("below": 1)"};
  EXPECT_DOUBLE_EQ(rising({1, 1.5, 1.8}).value(), 1.2);
  EXPECT_EQ(rising({1, 1.5, 1.8}).verdict(), Verdict::holds);
  EXPECT_EQ(rising({1, 1.5, 1.52, 3}).verdict(), Verdict::within_noise) << "as good as none";
  EXPECT_EQ(rising({1, 1.5, 1.4, 3}).verdict(), Verdict::fails);
  EXPECT_DOUBLE_EQ(falling({4, 2, 1.6}).value(), 0.8);
  EXPECT_EQ(falling({4, 2, 2.2}).verdict(), Verdict::fails);
}

TEST(Claims, AStepThatADeviceLacksIsNotPassedOver) {
  const std::string json = claim(
      R"("number": "step", "of": {"family": "loom", "group": [16, 32, 64, 128]}, "along": "group", "quantity": "gb_per_s", "above": 1)");
  const auto ruled = [&](const Record& third) {
    auto records = along_groups({8, 4, 2, 1});
    records[2] = third;
    return Ruled(json, records);
  };
  EXPECT_EQ(ruled(row({.group = "64"}, 2)).verdict(), Verdict::holds);
  const Ruled lacking = ruled(failed({.group = "64"}, "unsupported", "no shuttle"));
  EXPECT_EQ(lacking.verdict(), Verdict::not_testable);
  EXPECT_EQ(lacking.claim_result.note, "unsupported: no shuttle");
}

// Checks that a claim about "the fastest of all" says which kernels could not run.
TEST(Claims, WhatCannotRunHereIsNamed) {
  const std::string all = R"("number": "ratio", "of": {"family": "loom", "kernel": ["plain", "satin"]},)"
                          R"( "to": {"family": "loom", "kernel": "twill"}, "above": 1)";
  auto rows = two(2, 1);
  rows.push_back(row({"satin"}, 3));
  EXPECT_THAT(Ruled(claim(all), rows).claim_result.note, Not(HasSubstr("without")));
  rows.back() = failed({"satin"}, "unsupported", "groups of 64 at most");
  const Ruled less(claim(all), rows);
  EXPECT_EQ(less.verdict(), Verdict::holds);
  EXPECT_THAT(less.claim_result.note, HasSubstr("without kernel=satin, which cannot run here"));
  rows.pop_back();
  EXPECT_EQ(Ruled(claim(all), rows).verdict(), Verdict::not_measured);
}

// The fastest of several configurations counts; one that cannot run is not missed.
TEST(Claims, ALaunchThatIsTriedAndCannotRunIsNotMissed) {
  const std::string tried =
      R"("number": "ratio", "of": {"family": "loom", "group": {"try": [64, 256]}},)"
      R"( "to": {"family": "loom", "kernel": "twill", "group": {"try": [64, 256]}}, "above": 1)";
  std::vector<Record> rows = two(2, 1);
  for (const char* kernel : {"plain", "twill"})
    rows.push_back(failed({.kernel = kernel, .group = "256"}, "unsupported", "groups of 64 at most"));
  const Ruled ruled(claim(tried), rows);
  EXPECT_EQ(ruled.verdict(), Verdict::holds);
  EXPECT_THAT(ruled.claim_result.note, Not(HasSubstr("without")));
}

// An implausible time is left out of the best.
TEST(Claims, BesideALaunchThatIsImplausibleNoneIsTheFastest) {
  const std::string tried =
      R"("number": "ratio", "of": {"family": "loom"},)"
      R"( "to": {"family": "loom", "kernel": "twill", "group": {"try": [64, 256]}}, "above": 1)";
  std::vector<Record> rows = two(1, 2);
  rows.push_back(failed({.kernel = "twill", .group = "256"}, "implausible", "2 GB/s where 1 are reached"));
  const Ruled ruled(claim(tried), rows);
  EXPECT_EQ(ruled.verdict(), Verdict::undecided);
  EXPECT_THAT(ruled.claim_result.note, HasSubstr("implausible: 2 GB/s where 1 are reached (loom/twill"));
  rows.push_back(row({.kernel = "twill", .group = "256"}, 0.5));
  rows.back().run = 2;
  EXPECT_EQ(Ruled(claim(tried), rows).verdict(), Verdict::holds) << "another run was believed";
}

// Drivers on another interface call any GPU one unit; a processor may well have one.
TEST(Claims, LaunchesByTheUnitsOfAGpuThatIsOneUnitDecideNothing) {
  Family units = loom();
  units.axes.push_back({.name = "groups_per_cu",
                        .meaning = "",
                        .values = {8, 64},
                        .per_compute_unit = more_than_zero("groups_per_cu")});
  const auto claim_result = [&](const char* type, Count compute_units) {
    auto rows = two(9, 1);
    for (auto& r : rows) {
      r.axes.emplace_back("groups_per_cu", "8");
      r.device_type = type;
      r.compute_units = compute_units;
    }
    const auto claims = parse_claims(claim(plain_over_twill), "test");
    const ResultsSet results = results_of(rows);
    const auto devices = device_rows(results);
    return claim_results_of(claims.at(0), devices.at(0), {units}).at(0);
  };
  EXPECT_EQ(claim_result("gpu", 132).verdict, Verdict::holds);
  EXPECT_EQ(claim_result("gpu", {}).verdict, Verdict::holds);
  EXPECT_EQ(claim_result("cpu", 1).verdict, Verdict::holds);
  const ClaimResult one = claim_result("gpu", 1);
  EXPECT_EQ(one.verdict, Verdict::undecided);
  EXPECT_EQ(one.note, sized_for_one_compute_unit);
}

// Measurements of another type for other claims are no reason to ask for more of this one.
TEST(Claims, WhereAllIsThereAndDoesNotDoNothingIsMissing) {
  const std::string json = claim(
      R"("number": "step", "of": {"family": "loom", "type": {"first": ["int", "double"]}, "group": [16, 32, 64, 128]}, "along": "group", "quantity": "gb_per_s", "above": 1)");
  auto records = along_groups({8, 4, 2, 1});
  records[2] = failed({.group = "64"}, "unsupported", "no shuttle");
  records.push_back(row({"plain", "double", "64", "16"}, 8));
  EXPECT_EQ(Ruled(json, records).verdict(), Verdict::not_testable);
}

TEST(Claims, ARateIsHigherWhereTheTimeIsLess) {
  const std::string json = claim(R"("number": "ratio", "of": {"family": "loom"},
      "to": {"family": "loom", "kernel": "twill", "group": {"try": [64]}}, "quantity": "gb_per_s", "above": 1)");
  auto records = two(1, 2);
  records.push_back(row({"twill", "int", "64", "128"}, 4));
  EXPECT_DOUBLE_EQ(Ruled(json, records).value(), 2);
}

TEST(Claims, AFamilysOwnFindingDecides) {
  const std::string json = claim(
      R"("number": "finding", "of": {"family": "loom", "kernel": ["plain", "twill"]}, "finding": "rows", "finding_to": "first_s", "above": 1)");
  EXPECT_DOUBLE_EQ(Ruled(json, two(0.5, 1)).value(), 4);
}

TEST(Claims, WhatAFamilyCannotTellIsUndecidedForItsReason) {
  const Ruled untold(
      claim(R"("number": "finding", "of": {"family": "loom"}, "finding": "untold", "above": 1)"),
      two(0.5, 1));
  EXPECT_EQ(untold.verdict(), Verdict::undecided);
  EXPECT_EQ(untold.claim_result.note, "the rows do not tell");
}

TEST(Claims, AFindingIsNoSurerThanItsOwnInterval) {
  const auto ruled = [](double bound) {
    return Ruled(
        claim(fmt::format(
            R"("number": "finding", "of": {{"family": "loom"}}, "finding": "between", "above": {})", bound)),
        {row({}, 2)});
  };
  const Ruled wide = ruled(1.5);
  EXPECT_DOUBLE_EQ(wide.value(), 2);
  EXPECT_NEAR(wide.claim_result.estimate->low, 1, 0.02);
  EXPECT_NEAR(wide.claim_result.estimate->high, 6, 0.1);
  EXPECT_EQ(wide.verdict(), Verdict::within_noise);
  EXPECT_EQ(ruled(0.9).verdict(), Verdict::holds);
  EXPECT_EQ(ruled(7).verdict(), Verdict::fails);
}

TEST(Claims, EachFindingAndWhatIsAskedBesideItMustHold) {
  const auto ruled = [](const std::string& findings, const std::string& also) {
    return Ruled(
        claim(fmt::format(R"("number": "finding", "of": {{"family": "loom"}}, "finding": {}, "above": 1{})",
                          findings, also)),
        {row({}, 2)});
  };
  EXPECT_EQ(ruled(R"("first_s")", "").verdict(), Verdict::holds);
  const Ruled both = ruled(R"(["first_s", "rows"])", "");
  EXPECT_EQ(both.verdict(), Verdict::within_noise) << "one row is no more than one";
  EXPECT_DOUBLE_EQ(both.value(), 1);
  const auto also = [](const char* bound) {
    return fmt::format(R"(, "also": {{"finding": "rows", {}}})", bound);
  };
  EXPECT_EQ(ruled(R"("first_s")", also(R"("above": 0.9)")).verdict(), Verdict::holds);
  EXPECT_EQ(ruled(R"("first_s")", also(R"("above": 1)")).verdict(), Verdict::within_noise);
  const Ruled fails = ruled(R"("first_s")", also(R"("below": 0.9)"));
  EXPECT_EQ(fails.verdict(), Verdict::fails);
  EXPECT_DOUBLE_EQ(fails.value(), 2) << "the number is the finding's";
}

// ---- Findings of the families ----------------------------------------------------------------------------

// Decides a shipped claim of a finding by rows of its family that take these times, each in so many runs: one
// run alone has the spread between processes that the prior gives it, half a per cent.
ClaimResult ruling_of_shipped(const char* id, const std::function<double(const Case&)>& seconds,
                              int runs = 1) {
  constexpr double wide = 0.001;
  const Claim& claim = shipped_claim(id);
  const Rule& rule = claim.criteria.at(0).rule;
  const auto& families = all_families();
  const Family& family = *std::ranges::find(families, rule.numerator.family, &Family::name);
  std::vector<Record> records;
  for (const auto& axes : rule.numerator.alternatives()) {
    Sweep sweep;
    for (const auto& [axis, query] : axes)
      sweep[axis] = query.depends_on_device() ? Values(query.values.front()) : query.values;
    for (const auto& at : cases_of(family, {sweep}, 1)) {
      Record r = row({}, seconds(at), wide);
      r.family = family.name;
      r.case_id = at.id();
      r.axes.clear();
      for (const auto& [axis, value] : at.axes) r.axes.emplace_back(axis, text_of(value));
      for (int run = 1; run <= runs; ++run) {
        r.run = run;
        records.push_back(r);
      }
    }
  }
  const ResultsSet results = results_of(records, families);
  ClaimResult out = claim_results_of(claim, device_rows(results).at(0), families).at(0);
  out.claim = nullptr;
  out.criterion = nullptr;
  return out;
}

// Returns the times of cases by their position along an axis, whose values ascend.
std::function<double(const Case&)> along(const char* axis, const std::vector<std::int64_t>& places,
                                         const std::vector<double>& times) {
  return [=](const Case& at) {
    return times.at(static_cast<std::size_t>(std::ranges::find(places, at.number(axis)) - places.begin()));
  };
}

TEST(FindingsOfClaims, AnOptimumLiesInsideAndWhereTheClaimSays) {
  const auto ruled = [](const char* id, const std::vector<double>& times) {
    return ruling_of_shipped(id, along("group", {32, 64, 128, 256, 512}, times));
  };
  const ClaimResult inside = ruled("001-b", {2, 1.2, 1, 1.5, 3});
  EXPECT_EQ(inside.verdict, Verdict::holds);
  EXPECT_DOUBLE_EQ(inside.estimate->value, 2);
  EXPECT_THAT(inside.note, HasSubstr("best at 128"));
  EXPECT_EQ(ruled("001-b", {1, 1.2, 1.5, 2, 3}).verdict, Verdict::fails);
  EXPECT_EQ(ruled("001-b", {1, 0.99, 1.5, 2, 3}).verdict, Verdict::within_noise);
  EXPECT_EQ(ruled("001-b-128", {2, 1.2, 1, 1.5, 3}).verdict, Verdict::holds);
  EXPECT_EQ(ruled("001-b-128", {2, 1, 1.005, 1.5, 3}).verdict, Verdict::holds) << "as good as the best";
  EXPECT_EQ(ruled("001-b-128", {2, 1, 1.5, 1.5, 3}).verdict, Verdict::fails);
}

TEST(FindingsOfClaims, AParabolaThroughTheLogarithmFitsOrNot) {
  const auto ruled = [](const std::vector<double>& times) {
    return ruling_of_shipped("001-c", along("group", {32, 64, 128, 256, 512}, times));
  };
  const ClaimResult exact = ruled({5, 2, 1, 2, 5});
  EXPECT_GT(exact.estimate->value, 100);
  EXPECT_EQ(exact.verdict, Verdict::holds);
  EXPECT_EQ(ruled({41.86, 29.94, 24.63, 27.39, 44.65}).verdict, Verdict::holds) << "as published";
  // Least squares by hand: residuals of 1.095 about the mean with four degrees, of 1.352 with two.
  const ClaimResult zigzag = ruled({1, 3, 1, 3, 1});
  EXPECT_NEAR(zigzag.estimate->value, 0.8101, 1e-4);
  EXPECT_EQ(zigzag.verdict, Verdict::fails);
  // A reciprocal, and one that ends a little above its last place but one: a parabola explains 0.95 and 0.997
  // of their variance.
  const ClaimResult falls = ruled({16, 8, 4, 2, 1});
  EXPECT_LT(falls.estimate->value, 0.01);
  EXPECT_EQ(falls.verdict, Verdict::fails);
  EXPECT_EQ(ruled({16, 8, 4, 2, 2.2}).verdict, Verdict::within_noise);
  EXPECT_EQ(ruled({144, 74, 39, 26, 28}).verdict, Verdict::within_noise);
}

// A device that can do anything.
DeviceInfo able(const std::string& type) {
  DeviceInfo device;
  device.name = "Able";
  device.vendor = "NVIDIA";
  device.extensions = "cl_nv_pragma_unroll cl_nv_compiler_options";
  device.type = type;
  device.compute_units = 8;
  device.memory_bytes = device.usable_bytes = device.max_alloc_bytes = std::int64_t{1} << 36;
  device.local_bytes = 1 << 16;
  device.max_group = 1024;
  device.max_group_dims = {1024, 1024, 64};
  device.lockstep = 32;
  device.fp64 = device.fp16 = device.int64_atomics = device.subgroups = true;
  return device;
}

Sweep sweep_of(const RowQuery::Axes& axes) {
  Sweep out;
  for (const auto& [axis, want] : axes) out[axis] = want.values;
  return out;
}

// The place of a launch among the 31 that the source searched at each work-group size.
std::int64_t place_of_search(const Case& at) {
  return at.number("group") * at.number("groups") / (at.number("n") / 32) - 1;
}

// Seconds of loops over the places: what is given for grid-stride loops of 128; those of others fall to the
// end, and where the next begins is no valley.
std::function<double(const Case&)> with_one_curve(const std::vector<double>& times) {
  return [=](const Case& at) {
    const std::int64_t place = place_of_search(at);
    return at.is("kernel", "grid_stride") && at.number("group") == 128
               ? times.at(static_cast<std::size_t>(place))
               : 100 - static_cast<double>(place);
  };
}

// The finding that decides 000-g, of one run.
Finding minima_by(const std::function<double(const Case&)>& seconds) {
  const Rule& rule = shipped_claim("000-g").criteria.at(0).rule;
  const Family& family = *std::ranges::find(all_families(), "copy", &Family::name);
  std::vector<Outcome> outcomes;
  for (const auto& axes : rule.numerator.alternatives()) {
    for (const auto& at : cases_of(family, {sweep_of(axes)}, 1)) outcomes.emplace_back(at, seconds(at));
  }
  const auto all = family.findings(outcomes, able("gpu"));
  return *std::ranges::find(all, rule.findings.front(), &Finding::name);
}

// Times of the 31 places that rise from these ones to both sides.
std::vector<double> valleys_at(std::initializer_list<int> bottoms) {
  std::vector<double> out;
  for (int place = 0; place < 31; ++place) {
    int distance = INT_MAX;
    for (const int bottom : bottoms) distance = std::min(distance, std::abs(place - bottom));
    out.push_back(100 + 4 * distance);
  }
  return out;
}

TEST(FindingsOfClaims, ValleysAreDeeperThanTheMarginAndThanNoise) {
  const auto two = ruling_of_shipped("000-g", with_one_curve(valleys_at({7, 23})), 5);
  EXPECT_DOUBLE_EQ(two.estimate->value, 2);
  EXPECT_EQ(two.verdict, Verdict::holds);
  const auto one = ruling_of_shipped("000-g", with_one_curve(valleys_at({3})), 5);
  EXPECT_DOUBLE_EQ(one.estimate->value, 1);
  EXPECT_EQ(one.verdict, Verdict::fails);
}

TEST(FindingsOfClaims, ASingleSlowLaunchIsNoRidgeAndASingleFastOneIsAValley) {
  auto spike = valleys_at({3}), dip = spike;
  spike[5] *= 1.5;
  EXPECT_EQ(minima_by(with_one_curve(spike)).value, 1);
  dip[20] *= 0.7;  // what disturbs a launch makes it slower
  EXPECT_EQ(minima_by(with_one_curve(dip)).value, 2);
}

TEST(FindingsOfClaims, ValleysOfBothLoopsCount) {
  const auto bowl = valleys_at({15});
  const Finding both = minima_by([&](const Case& at) {
    const std::int64_t place = place_of_search(at);
    return at.number("group") == 256 ? bowl.at(static_cast<std::size_t>(place))
                                     : 100 - static_cast<double>(place);
  });
  EXPECT_EQ(both.value, 2);
  EXPECT_THAT(both.text, HasSubstr("among 310 launches"));
  EXPECT_THAT(both.text, HasSubstr("1 of grid-stride loops, 1 of warp-stride loops"));
}

// Makes every other point a tenth slower: such dips may be noise.
TEST(FindingsOfClaims, DipsBetweenNeighboursMightBeNoise) {
  const ClaimResult rough = ruling_of_shipped("000-g", [&](const Case& at) {
    return place_of_search(at) % 2 == 0 ? 110.0 : 100 + 1e-4 * static_cast<double>(at.number("groups"));
  });
  EXPECT_LT(rough.estimate->value, 1.5);
  EXPECT_GT(rough.estimate->high, 3);
  EXPECT_EQ(rough.verdict, Verdict::within_noise);
}

// The fastest of many equal places is fast by chance, and one slow place is no reason to search.
TEST(FindingsOfClaims, ASearchPaysWhereAGuessLosesMoreThanNoise) {
  const auto ruled = [](const std::function<double(double place)>& seconds) {
    return ruling_of_shipped(
        "000-g-search",
        [&](const Case& at) {
          const double items = static_cast<double>(at.number("group")) *
                               (at.is("kernel", "no_loop") ? 1 : static_cast<double>(at.number("groups")));
          return seconds(std::log2(items));
        },
        5);
  };
  const ClaimResult bowl = ruled([](double x) { return 100 + std::pow(x - 18, 2); });
  EXPECT_EQ(bowl.verdict, Verdict::holds);
  // Five runs, which agree by chance, may hide that the fastest of so many launches gains a quarter of a per
  // cent.
  const ClaimResult level = ruled([](double) { return 100; });
  EXPECT_DOUBLE_EQ(level.estimate->value, 1);
  EXPECT_EQ(level.verdict, Verdict::within_noise);
  const ClaimResult noise = ruled([](double x) { return 100 + 8 * std::sin(1e4 * x); });
  EXPECT_GT(noise.estimate->value, 1.05);
  EXPECT_EQ(noise.verdict, Verdict::within_noise);
}

// Exactly Little's law, of so many items with one chain, or as many fewer as they have chains. What is
// measured says only where between two places a rate is reached.
double seconds_by_little(const Case& at, double items) {
  const auto chains = static_cast<double>(at.number("group") * at.number("ilp"));
  return static_cast<double>(at.number("group") * at.number("ilp")) / std::min(1.0, chains / items);
}

TEST(FindingsOfClaims, WhereARateIsReachedIsKnownNoBetterThanThePlacesAreNear) {
  const auto ruled = [](double items, double ratio) {
    return ruling_of_shipped("003-c", [&](const Case& at) {
      return seconds_by_little(at, at.number("ilp") == 1 ? items : items * 4 / ratio);
    });
  };
  // Items that one chain needs, and how many times those that four need.
  EXPECT_EQ(ruled(640, 4).verdict, Verdict::within_noise);
  EXPECT_LT(ruled(640, 4).estimate->value, 3.75);
  EXPECT_EQ(ruled(192, 4).verdict, Verdict::within_noise);
  EXPECT_EQ(ruled(256, 4).verdict, Verdict::fails) << "both have a place that tells";
  EXPECT_EQ(ruled(640, 3).verdict, Verdict::holds);
  EXPECT_EQ(ruled(640, 2).verdict, Verdict::fails);
}

TEST(FindingsOfClaims, WhatRisesToTheLastPlaceOrNotAtAllHasNoBeginOfAPlateau) {
  const auto ruled = [](double items) {
    return ruling_of_shipped("003-a", [&](const Case& at) { return seconds_by_little(at, items); });
  };
  const ClaimResult rising = ruled(4096);
  EXPECT_EQ(rising.verdict, Verdict::undecided);
  EXPECT_THAT(rising.note, HasSubstr("no plateau is seen: at group=1024"));
  EXPECT_NE(ruled(640).verdict, Verdict::undecided);
  const ClaimResult level = ruled(16);
  EXPECT_EQ(level.verdict, Verdict::undecided);
  EXPECT_THAT(level.note, HasSubstr("group=32, the smallest measured, has the rate already"));
}

TEST(FindingsOfClaims, LittlesLawPredictsFromTheFirstPlaceAndTheBestRate) {
  // One chain is as fast as it gets with 640 items, eight chains four times as fast: 2560 are predicted, and
  // 95 % of the own plateau are reached with 608.
  const ClaimResult claim_result = ruling_of_shipped(
      "003-a", [](const Case& at) { return seconds_by_little(at, 640) / (at.number("ilp") == 8 ? 4 : 1); });
  EXPECT_NEAR(claim_result.estimate->value, 608.0 / 2560, 1e-6);
  EXPECT_EQ(claim_result.verdict, Verdict::fails);
}

TEST(FindingsOfClaims, WhatLiesBetweenTwoIsOnALineOfLogarithms) {
  const auto ruled = [](double seconds) {
    return ruling_of_shipped("001-i", along("group", {64, 100, 128}, {4, seconds, 1}));
  };
  const double between = 4 * std::pow(0.25, std::log2(100.0 / 64));
  EXPECT_NEAR(ruled(3).estimate->value, 3 / between, 1e-12);
  EXPECT_EQ(ruled(3).verdict, Verdict::holds);
  EXPECT_EQ(ruled(between).verdict, Verdict::within_noise) << "slower than the one and faster than the other";
}

// ---- The file --------------------------------------------------------------------------------------------

TEST(ClaimsFile, SaysWhichClaimIsWrongAndWhat) {
  const auto error_of = [](const std::string& json) -> std::string {
    try {
      parse_claims(json, "file.json");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(error_of("{"), HasSubstr("file.json: claim"));
  EXPECT_THAT(error_of("{}"), HasSubstr("must be a list"));
  EXPECT_EQ(error_of(claim(R"("number": "median")")),
            "file.json: claim t-1: number must be one of ratio, gain, spread, most, trend, step, finding");
  EXPECT_THAT(error_of(claim(R"("number": "ratio", "of": {"family": "loom"}, "over": 1)")),
              HasSubstr("has no 'over'"));
  EXPECT_THAT(error_of(claim(R"("number": "ratio", "of": {"family": "loom"})")),
              HasSubstr("one of above, below"));
  EXPECT_THAT(
      error_of(claim(R"("number": "ratio", "of": {"family": "loom", "n": {"most": [1]}}, "above": 1)")),
      HasSubstr(R"({"largest": list})"));
  EXPECT_THAT(error_of(claim(R"("number": "trend", "of": {"family": "loom"}, "rising": 1)")),
              HasSubstr("along"));
  EXPECT_THAT(error_of(claim("")), HasSubstr("needs decided_by"));
  EXPECT_THAT(error_of(claim(R"("number": "gain", "of": {"family": "loom"}, "above": 1)")),
              HasSubstr("to is what a gain needs"));
  const auto gain = [](const char* before) {
    return claim(fmt::format(
        R"("number": "gain", "of": {{"family": "loom"}}, "of_before": {{"family": "loom"}}, "each": "kernel",
           "to": {{"family": "loom", "kernel": ["plain", "twill"]}},
           "to_before": {{"family": "loom", "kernel": {}}}, "above": 1)",
        before));
  };
  EXPECT_EQ(error_of(gain(R"(["twill", "plain"])")), "none");
  EXPECT_THAT(error_of(gain(R"("twill")")), HasSubstr("to and to_before have different ones"));
  EXPECT_THAT(error_of(claim(R"("number": "finding", "of": {"family": "loom"}, "above": 1)")),
              HasSubstr("finding is what the number finding needs"));
  EXPECT_THAT(error_of(claim(plain_over_twill + R"(, "finding": "rows")")), HasSubstr("and it alone"));
  EXPECT_THAT(error_of(claim(plain_over_twill + R"(, "also": {"finding": "rows", "above": 1})")),
              HasSubstr("also names a finding, beside another"));
  EXPECT_THAT(error_of(claim(plain_over_twill + R"(, "times": 0)")), HasSubstr("times is positive"));
  EXPECT_THAT(error_of(claim(plain_over_twill + R"(, "runs": 1.5)")), HasSubstr("runs is a whole number"));
  EXPECT_THAT(error_of(claim(
                  R"("number": "trend", "of": {"family": "loom"}, "along": "n", "times": 2, "rising": 1)")),
              HasSubstr("times is for a ratio alone"));
  EXPECT_THAT(error_of(claim(plain_over_twill, R"(, "as_published": {"of": {"group": 64}})")),
              HasSubstr("in place of those that decided_by tries"));
  EXPECT_THAT(
      error_of(claim(
          R"("number": "ratio", "above": 1, "of": {"family": "loom", "n": 64, "any_of": [{"n": 1024}]})")),
      HasSubstr("any_of asks again for n"));
  EXPECT_THAT(error_of(claim(plain_over_twill, R"(, "published_bug": "x")")),
              HasSubstr("known_incorrect case or a check"));
  EXPECT_THAT(error_of("[" + claim(plain_over_twill).substr(1, claim(plain_over_twill).size() - 2) + "," +
                       claim(plain_over_twill).substr(1)),
              HasSubstr("second claim"));
  EXPECT_THROW(load_claims("/no/such/claims.json"), Error);
  // Typing errors that the JSON library notices are told without its names.
  for (const std::string& typo :
       {claim(plain_over_twill + R"(, "each": ["kernel", 1])"),
        claim(plain_over_twill, R"(, "published": [{"device": "GTX 460", "value": "2.5"}])"),
        std::string(R"([{"id": 7}])"), claim(plain_over_twill + ",")}) {
    EXPECT_THAT(error_of(typo), testing::StartsWith("file.json: claim")) << typo;
    EXPECT_THAT(error_of(typo), testing::Not(HasSubstr("json.exception"))) << typo;
  }
  EXPECT_THAT(error_of(claim(plain_over_twill + R"(, "each": ["kernel", 1])")),
              HasSubstr("each must list texts, not 1"));
}

// A file of claims is of cases that there are.
TEST(ClaimsFile, IsHeldAgainstTheFamilies) {
  const auto error_of = [](const std::string& of, const std::string& id = "t-1") -> std::string {
    const std::string path = fmt::format("claims_{}.json", getpid());
    std::ofstream(path) << fmt::format(
        R"([{{"id": "{}", "statement": "s", "source": "x", "decided_by": {{"number": "ratio", "of": {}, "above": 1}}}}])",
        id, of);
    std::string what = "none";
    try {
      load_claims(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::io);
      what = error.what();
    }
    std::filesystem::remove(path);
    return what;
  };
  EXPECT_EQ(error_of(R"({"family": "copy", "kernel": "buffer"})"), "none");
  EXPECT_THAT(error_of(R"({"family": "copi"})"), HasSubstr("there is no family copi; did you mean 'copy'?"));
  EXPECT_THAT(error_of(R"({"family": "frobnicate"})"), HasSubstr("there is no family frobnicate; there are"));
  EXPECT_THAT(error_of(R"({"family": "compaction", "kernel": "misspelt"})"),
              HasSubstr("kernel=misspelt: kernel takes"));
  EXPECT_THAT(error_of(R"({"family": "compaction", "colonel": "x"})"),
              HasSubstr("has no axis colonel; there are"));
  EXPECT_THAT(error_of(R"({"family": "copy", "n": 18446744073709551615})"), HasSubstr("is too large"));
  EXPECT_THAT(error_of(R"({"family": "copy"})", "$(x)"), HasSubstr("letters, digits"));
  std::string many = "1";
  for (int n = 2; n <= 4000; ++n) many += fmt::format(",{}", n);
  EXPECT_THAT(
      error_of(fmt::format(
          R"({{"family": "copy", "n": [{0}], "kernel": "buffer", "group": {{"try": [{0}]}}}})", many)),
      testing::AnyOf(HasSubstr("asks for 16000000 cases"), HasSubstr("group takes")));
  EXPECT_THROW(parse_claims(std::string(100'000, '[') + "1" + std::string(100'000, ']'), "x"), Error);
}

TEST(ClaimsFile, OursIsOfCasesThatThereAre) {
  EXPECT_EQ(load_claims(std::string(CLWEAVE_SOURCE_DIR) + "/results/published/claims.json").size(),
            shipped_claims().size());
}

// A launch with a work-item for each vector is no loop's best.
TEST(ShippedClaims, LoopsThatAreTriedLoop) {
  const auto& families = all_families();
  const auto copy = std::ranges::find(families, "copy", &Family::name);
  int tried = 0;
  for (const auto& claim : shipped_claims()) {
    for (const auto& criterion : claim.criteria) {
      for (const auto side : {&Rule::numerator, &Rule::denominator, &Rule::numerator_before_change,
                              &Rule::denominator_before_change}) {
        if ((criterion.rule.*side).family != "copy") continue;
        for (const auto& axes : (criterion.rule.*side).alternatives()) {
          const auto groups = axes.find("groups");
          if (groups == axes.end() || groups->second.how != RowQuery::AxisQuery::How::tried) continue;
          for (const auto& at : cases_of(*copy, {sweep_of(axes)}, 1)) {
            EXPECT_LT(at.number("group") * at.number("groups") * at.number("width"), at.number("n"))
                << claim.id << ' ' << at.id();
            ++tried;
          }
        }
      }
    }
  }
  EXPECT_GT(tried, 0);
}

// Every value that a selection names occurs in a case of its family that a device can run: a renamed axis,
// word or kernel leaves a selection of which nothing can be measured.
TEST(ShippedClaims, EverySelectionIsPossible) {
  const auto& families = all_families();
  const auto& claims = shipped_claims();
  EXPECT_THAT(claims, Not(IsEmpty()));
  for (const auto& claim : claims) {
    for (const auto& sides : claim.queries()) {
      for (const RowQuery* rows : sides) {
        SCOPED_TRACE(claim.id + " " + rows->family);
        const auto family = std::ranges::find(families, rows->family, &Family::name);
        ASSERT_NE(family, families.end());
        for (const auto& axes : rows->alternatives()) {
          for (const auto& [axis, want] : axes) ASSERT_NE(family->axis(axis), nullptr) << axis;
          const Sweep sweep = sweep_of(axes);
          std::map<std::string, std::set<std::string>> seen;
          for (const auto& at : cases_of(*family, {sweep}, 1)) {
            ASSERT_NO_THROW(plan_of(*family, at, able("gpu"))) << at.id();
            for (const auto& [axis, value] : at.axes) seen[axis].insert(text_of(value));
          }
          for (const auto& [axis, values] : sweep) {
            for (const auto& value : values)
              EXPECT_TRUE(seen[axis].contains(text_of(value))) << axis << text_of(value);
          }
        }
      }
    }
  }
}

// Returns whether any of these rows is in the source's configuration.
bool is_launch_of(const RowQuery::Axes& axes, const RowQuery& published) {
  return std::ranges::any_of(published.alternatives(), [&](const RowQuery::Axes& launch) {
    return std::ranges::all_of(axes, [&](const auto& axis) {
      using How = RowQuery::AxisQuery::How;
      const auto there = launch.find(axis.first);
      return axis.second.how == How::largest || axis.second.how == How::first ||
             (there != launch.end() && there->second.values == axis.second.values);
    });
  });
}

// Tells whether a tunable axis changes any of the cases.
bool have_tunables(const std::vector<Case>& cases, const Family& family) {
  return std::ranges::any_of(family.axes, [&](const Axis& axis) {
    return axis.tunable &&
           std::ranges::any_of(cases, [&](const Case& at) { return family.uses(at, axis.name); });
  });
}

// Counts the configurations that each kernel of a side may choose from at each combination of values that the
// claim must hold for or compares; 1: no choice.
using Tries = std::map<std::pair<const RowQuery*, std::string>, std::size_t>;

// Returns a text for each combination of the values that these axes have in some launches.
std::vector<std::string> combinations_of(const RowQuery::Axes& launches, const std::set<std::string>& axes) {
  std::vector<std::string> out = {""};
  for (const auto& axis : axes) {
    const auto query = launches.find(axis);
    if (query == launches.end() || query->second.how != RowQuery::AxisQuery::How::one_of) continue;
    std::vector<std::string> finer;
    for (const auto& one : out) {
      for (const auto& value : query->second.values)
        finer.push_back(fmt::format("{} {}={}", one, axis, text_of(value)));
    }
    out = std::move(finer);
  }
  return out;
}

// Adds those of one side. `of_source`: the side with the launches of the source, null if the claim has no
// others.
void add_tries(Tries& tried, const RowQuery& rows, const RowQuery* of_source,
               const std::set<std::string>& compared) {
  if (rows.empty() || !rows.api.empty()) return;
  const Family& family = *std::ranges::find(all_families(), rows.family, &Family::name);
  for (const auto& axes : rows.alternatives()) {
    const std::size_t tries = tries_of(axes);
    if (tries == 1 && !have_tunables(cases_of(family, {sweep_of(axes)}, 1), family)) continue;
    for (const auto& combination : combinations_of(axes, compared)) {
      std::size_t& all = tried[{&rows, combination}];
      if (of_source != nullptr && is_launch_of(axes, *of_source)) {
        all = std::max<std::size_t>(all, 1);
      } else {
        all = tries == 1 ? 1 : all > 1 ? all + tries : tries;
      }
    }
  }
}

// Returns how many configurations the kernels of a criterion may choose from: one number if all have as many.
std::set<std::size_t> tries_of_kernels(const Claim& claim, const Criterion& criterion) {
  const Rule &rule = criterion.rule, &source = claim.criteria.front().rule;
  std::set<std::string> compared = {kernel_axis};
  for (const auto* axes : {&rule.matched_axes, &rule.competitor_axes, &rule.varied_axes})
    compared.insert(axes->begin(), axes->end());
  Tries tried;
  for (const auto side : {&Rule::numerator, &Rule::denominator, &Rule::numerator_before_change,
                          &Rule::denominator_before_change})
    add_tries(tried, rule.*side, &rule == &source ? nullptr : &(source.*side), compared);
  std::set<std::size_t> numbers;
  for (const auto& [kernel, tries] : tried) numbers.insert(tries);
  return numbers;
}

// Compares fairly: a kernel that may choose from more launches than its rival has been tuned more. The
// driver's own copy has no launch to choose, and a library chooses by itself. The launches of the source come
// on top, for each kernel its own.
TEST(ShippedClaims, EachSideTriesAsManyLaunches) {
  // Excepts claims about Billeter's copy, whose 120 work-groups of 128 are part of it, and about the driver's
  // copy.
  const std::set<std::string> fixed = {"000-b", "000-c", "000-c-loops", "000-e-pairs", "002-b"};
  const std::set<std::string> own_lanes = {"000-l", "000-m"};
  // Billeter's compaction may choose its number of work-groups, Spataro's has none to choose; single values
  // fit local memory with more vectors than tuples do.
  const std::set<std::string> own_launches = {"000-k-sequences", "002-f-falls"};
  for (const auto& claim : shipped_claims()) {
    for (const auto& criterion : claim.criteria) {
      SCOPED_TRACE(claim.id);
      std::set<std::size_t> numbers = tries_of_kernels(claim, criterion);
      const bool chooses = !numbers.empty() && *numbers.rbegin() > 1;
      if (fixed.contains(claim.id) && chooses) numbers.erase(1);
      // A device has the lanes of one vendor at most: of three values it can run two.
      if (own_lanes.contains(claim.id)) {
        EXPECT_TRUE(numbers == (std::set<std::size_t>{4, 6}) || numbers.size() < 2);
        continue;
      }
      EXPECT_THAT(numbers, SizeIs(Le(own_launches.contains(claim.id) ? 2U : 1U)));
      EXPECT_EQ(criterion.launches == LaunchChoice::at_best, chooses || claim.ours());
    }
  }
}

TEST(ShippedClaims, WhatTheSourceLaunchedIsAmongWhatIsTried) {
  int launches = 0;
  for (const auto& claim : shipped_claims()) {
    if (claim.criteria.size() < 2) continue;
    for (const auto side : {&Rule::numerator, &Rule::denominator, &Rule::numerator_before_change,
                            &Rule::denominator_before_change}) {
      const RowQuery& tried = claim.criteria.back().rule.*side;
      for (const auto& launch : (claim.criteria.front().rule.*side).alternatives()) {
        EXPECT_TRUE(std::ranges::any_of(tried.alternatives(), [&](const RowQuery::Axes& axes) {
          return is_launch_of(axes, RowQuery{tried.family, "", launch, {}});
        })) << claim.id;
        ++launches;
      }
    }
  }
  EXPECT_GT(launches, 100);
}

// Accepts the time, a column, or a quantity that the family derives.
bool is_known_quantity(const std::string& quantity, const std::string& family) {
  if (quantity == "time" || quantity == registers_quantity ||
      std::ranges::find(columns(), quantity, &Column::name) != columns().end())
    return true;
  const auto& derived = std::ranges::find(all_families(), family, &Family::name)->derived;
  return std::ranges::find(derived, quantity, &Derived::name) != derived.end();
}

void expect_findings_of(const Rule& rule, const Family& family) {
  std::vector<Outcome> outcomes;
  for (const auto& axes : rule.numerator.alternatives()) {
    for (const auto& at : cases_of(family, {sweep_of(axes)}, 1)) {
      outcomes.emplace_back(at, 1);
      outcomes.back().bytes = outcomes.back().flops = 1;
    }
  }
  std::set<std::string> names;
  for (const auto& finding : family.findings(outcomes, able("gpu"))) names.insert(finding.name);
  for (const auto& name : rule.findings) EXPECT_TRUE(names.contains(name)) << name;
  for (const auto& condition : rule.extra_conditions)
    EXPECT_TRUE(names.contains(condition.finding)) << condition.finding;
  if (!rule.denominator_finding.empty())
    EXPECT_TRUE(names.contains(rule.denominator_finding)) << rule.denominator_finding;
}

void expect_axes_of(const Rule& rule, const Family& family) {
  auto axes = rule.varied_axes;
  axes.insert(axes.end(), rule.matched_axes.begin(), rule.matched_axes.end());
  for (const auto& axis : axes) {
    EXPECT_NE(family.axis(axis), nullptr) << axis;
    EXPECT_GT(rule.numerator.values(axis).size(), 1U) << axis << " has one value alone";
  }
  for (const auto& axis : rule.competitor_axes) EXPECT_FALSE(rule.denominator.values(axis).empty()) << axis;
}

TEST(ShippedClaims, RulesNameAxesAndFindingsThatThereAre) {
  for (const auto& claim : shipped_claims()) {
    for (const auto& criterion : claim.criteria) {
      SCOPED_TRACE(claim.id);
      const Rule& rule = criterion.rule;
      if (!rule.numerator.empty())
        EXPECT_TRUE(is_known_quantity(rule.quantity, rule.numerator.family)) << rule.quantity;
      if (!rule.denominator.empty())
        EXPECT_TRUE(is_known_quantity(rule.denominator_quantity, rule.denominator.family))
            << rule.denominator_quantity;
      const auto& family = *std::ranges::find(all_families(), rule.numerator.family, &Family::name);
      if (rule.kind == Rule::Kind::finding) {
        expect_findings_of(rule, family);
      } else {
        expect_axes_of(rule, family);
      }
    }
  }
}

// ---- Compilers' figures ----------------------------------------------------------------------------------

// Decides a shipped claim on a device of this name.
ClaimResult ruling_on(const char* id, const char* device) {
  Record r = row({}, 1);
  r.device = device;
  const ResultsSet results = results_of({r});
  ClaimResult out = claim_results_of(shipped_claim(id), device_rows(results).at(0), all_families()).at(0);
  out.claim = nullptr;
  out.criterion = nullptr;
  return out;
}

TEST(CompiledClaims, AreDecidedByTheRegistersThatACompilerGivesSuchADevice) {
  const ClaimResult chains = ruling_on("003-o", "NVIDIA H200");
  EXPECT_EQ(chains.verdict, Verdict::holds) << chains.note;
  EXPECT_GT(chains.estimate->value, 1.5);
  EXPECT_EQ(chains.estimate->low, chains.estimate->high) << "a count, that nothing blurs";
  EXPECT_THAT(chains.note, HasSubstr("sm_90, clang"));
  EXPECT_THAT(chains.cases, SizeIs(5));
  EXPECT_THAT(chains.command, IsEmpty());
  EXPECT_EQ(ruling_on("003-o-words", "gfx1100").verdict, Verdict::holds);
  // CUB 3.0 takes 48 registers for pairs and for 8-tuples of uint, of ulong 48 and 94.
  const ClaimResult narrow = ruling_on("002-m", "NVIDIA H200"), wide = ruling_on("002-m-64", "NVIDIA H200");
  EXPECT_EQ(narrow.verdict, Verdict::fails);
  EXPECT_DOUBLE_EQ(narrow.estimate->value, 1);
  EXPECT_THAT(narrow.note, HasSubstr("CUB 3.0.1"));
  EXPECT_EQ(wide.verdict, Verdict::holds);
  EXPECT_DOUBLE_EQ(wide.estimate->value, 94.0 / 48);
  EXPECT_NE(ruling_on("002-m-sam", "NVIDIA H200").verdict, Verdict::not_testable);
}

TEST(CompiledClaims, OtherDevicesAreNotTested) {
  const ClaimResult of_loom = ruling_on("003-o", "Loom 1");
  EXPECT_EQ(of_loom.verdict, Verdict::not_testable);
  EXPECT_THAT(of_loom.note, HasSubstr("OpenCL tells no registers"));
  EXPECT_THAT(of_loom.note, HasSubstr("sm_90"));
  EXPECT_EQ(ruling_on("002-m", "gfx1100").verdict, Verdict::not_testable) << "CUB runs on NVIDIA's alone";
}

TEST(CompiledClaims, NoRunMeasuresThem) {
  for (const auto& claim : shipped_claims()) {
    if (claim.criteria.empty() || !claim.criteria.front().rule.is_of_compilers()) continue;
    EXPECT_THAT(claim.queries(), IsEmpty()) << claim.id;
  }
  EXPECT_THROW(parse_claims(claim(R"("number": "ratio", "quantity": "registers", "quantity_to": "time",
                                     "of": {"family": "loom"}, "to": {"family": "loom"}, "above": 1)"),
                            "test"),
               Error);
}

// ---- The cases -------------------------------------------------------------------------------------------

TEST(ClaimJobs, SizesFollowTheDevice) {
  const auto& families = all_families();
  const std::vector<Claim> claims = {shipped_claim("003-d")};
  Selection wanted;
  wanted.peaks = false;
  const auto n_of = [&](const DeviceInfo& device) {
    std::set<std::string> sizes;
    for (const auto& job : claim_jobs(claims, families, wanted, device))
      sizes.insert(text_of(job.at.at("n")));
    return sizes;
  };
  DeviceInfo tiny = able("cpu");
  tiny.max_alloc_bytes = std::int64_t{4} * 5000000;
  EXPECT_THAT(n_of(able("gpu")), ElementsAre("33554432"));
  EXPECT_THAT(n_of(tiny), ElementsAre("4194304"));
}

// Sizes that the rule fixes.
TEST(ClaimJobs, WhatTakesLongIsLeftOutWhereASecondOfTheDeviceIsTooMuch) {
  const std::vector<Claim> claims = {shipped_claim("000-j-factor")};
  Selection wanted;
  wanted.peaks = false;
  const auto jobs = [&](const char* type, double longest_s) {
    return claim_jobs(claims, all_families(), wanted, able(type), longest_s).size();
  };
  const std::size_t all = jobs("cpu", 1e9);
  EXPECT_GT(all, 30U);
  EXPECT_EQ(jobs("gpu", 1), all);
  EXPECT_LT(jobs("cpu", 1), all / 2);  // what must hold first takes as long as it may
}

TEST(ClaimJobs, AreThoseOfTheClaimsWithPeaksBeforeAndKnownIncorrectLast) {
  const auto& families = all_families();
  DeviceInfo processor = able("cpu");
  processor.extensions = "";
  const auto jobs = claim_jobs(shipped_claims(), families, {}, processor, longest_case_unless_named_s);
  const auto possible = std::ranges::count_if(jobs, [&](const Job& job) {
    try {
      plan_of(*job.family, job.at, processor);
      return true;
    } catch (const Error&) {
      return false;
    }
  });
  // Bounds the time: for this many cases PoCL 3.1 took eight minutes with an empty cache, rusticl nearly ten.
  EXPECT_LE(possible, 805) << "ten minutes on two cores";
  EXPECT_EQ(jobs.front().family->name, "peak");
  EXPECT_TRUE(jobs.back().known_incorrect);
  EXPECT_EQ(jobs.front().family, &*std::ranges::find(families, "peak", &Family::name));
  Selection few;
  few.peaks = false;
  few.where = {"form=known_incorrect"};
  const auto known_incorrect_cases =
      claim_jobs(chosen_claims(shipped_claims(), {"004-b"}), families, few, able("gpu"));
  EXPECT_THAT(known_incorrect_cases, SizeIs(2));
}

// A search of 310 launches is no part of what decides all claims in minutes.
TEST(ClaimJobs, WhatTakesHundredsOfCasesIsMeasuredOnlyIfNamed) {
  const std::vector<Claim> claims = {shipped_claim("000-g")};
  Selection wanted;
  wanted.peaks = false;
  const auto jobs = [&](double longest_s) {
    return claim_jobs(claims, all_families(), wanted, able("gpu"), longest_s);
  };
  EXPECT_THROW(jobs(longest_case_unless_named_s), Error) << "no case is left";
  EXPECT_THAT(jobs(HUGE_VAL), SizeIs(310));
}

TEST(ClaimJobs, AnUnknownClaimNamesThoseThereAre) {
  try {
    chosen_claims(shipped_claims(), {"999-z"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--claim 999-z"), HasSubstr("000-a")));
  }
}

// ---- What people and programs read -----------------------------------------------------------------------

// clang-format off
const std::string two_claims =
    R"([{"id": "t-1", "statement": "Twill is faster", "source": "Jacquard 1804",
         "published": [{"device": "Loom 0", "value": 1.5}],
         "decided_by": {"number": "ratio", "of": {"family": "loom"}, "to": {"family": "loom", "kernel": "twill"}, "above": 1},
         "published_bug": "The shed was shut.", "known_incorrect": {"family": "loom", "form": "known_incorrect"}},
        {"id": "t-2", "statement": "Satin shines", "source": "Jacquard 1804",
         "decided_by": {"number": "ratio", "of": {"family": "loom", "kernel": "satin"}, "below": 1}}])";
// clang-format on

std::vector<DeviceClaimResults> all_rulings(const std::vector<Claim>& claims,
                                            const std::vector<Record>& records) {
  std::vector<DeviceClaimResults> out;
  const ResultsSet results = results_of(records);
  for (const auto& rows : device_rows(results)) {
    auto& device = out.emplace_back(DeviceClaimResults{rows.results->name, rows.name(), {}});
    for (const auto& claim : claims) {
      for (auto& claim_result : claim_results_of(claim, rows, {loom()}))
        device.claim_results.push_back(claim_result);
    }
  }
  return out;
}

std::string shown(const Report& report, const char* format) {
  return text_of(report, format, Screen{.ascii = false});
}

std::vector<Record> without_noise() {
  auto records = two(2, 1, 0);
  records.push_back(
      failed({"plain", "int", "64", "64", "known_incorrect"}, "wrong_result", "2 of 64 elements correct"));
  return records;
}

TEST(ClaimsOutput, OneDevice) {
  const auto claims = parse_claims(two_claims, "test");
  const auto records = without_noise();
  EXPECT_EQ(shown(report_of(all_rulings(claims, records), true), "text"),
            R"(Loom 1, Invented, driver 1.2
2 published claims as published: 1 holds, 1 not measured

statement        as published  at its best  claim  holds if   at             published, by the same bound
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
Twill is faster  holds 2x                   t-1    > 1x ±3 %  type=int n=64  1.5x Loom 0, discarded: wrong results
Satin shines     not measured               t-2    < 1x ±3 %

As published: launched as in the source. At its best: the same problem by the fastest of the launches tried,
as many for each side; or clweave's own claim. cached: some buffers fit the device's cache.
A claim holds or fails where the whole 98.5 % interval lies beyond bound and margin.
Runs are taken to differ at least as much as they usually do, on CPUs by 26 %; more of them tell more:
clweave run --claims --runs 5

published evidence that is discarded
  t-1  The shed was shut.
    Loom 1: 1 of 1 rows wrong: 2 of 64 elements correct
    repeat it: clweave run --no-peak --claim t-1 --where form=known_incorrect

no verdict on Loom 1
  t-2  rows are missing
    clweave run --device "Loom 1" --claim t-2

rows of Loom 1
  t-1 as published  2x, type=int n=64, 1 run
    loom/plain/int/64/64/corrected
    loom/twill/int/64/64/corrected
)");
}

TEST(ClaimsOutput, SeveralDevicesSideBySide) {
  const auto claims = parse_claims(two_claims, "test");
  auto records = without_noise();
  for (auto r : two(1, 2, 0)) {
    r.device = "Loom 2";
    records.push_back(r);
  }
  EXPECT_THAT(shown(report_of(all_rulings(claims, records), false), "markdown"),
              testing::StartsWith(R"(A  Loom 1, Invented, driver 1.2  
   2 published claims as published: 1 holds, 1 not measured  
B  Loom 2, Invented, driver 1.2  
   2 published claims as published: 1 fails, 1 not measured  

| statement | A as published | A at its best | B as published | B at its best | claim | published, by the same bound |
| --- | --- | --- | --- | --- | --- | --- |
| Twill is faster | holds 2x |  | fails 0.5x |  | t-1 | 1.5x Loom 0, discarded: wrong results |
| Satin shines | not measured |  | not measured |  | t-2 |  |

As published: launched as in the source. At its best: the same problem by the fastest of the launches tried,
as many for each side; or clweave's own claim. cached: some buffers fit the device's cache.
A claim holds or fails where the whole 98.5 % interval lies beyond bound and margin.
Runs are taken to differ at least as much as they usually do, on CPUs by 26 %; more of them tell more:
clweave run --claims --runs 5  
)"));
}

TEST(ClaimsOutput, Csv) {
  const auto claims = parse_claims(two_claims, "test");
  const auto records = without_noise();
  EXPECT_EQ(
      shown(report_of(all_rulings(claims, records), false), "csv"),
      R"(device,claim,setting,verdict,value,value_low,value_high,unit,asked,note,cached,runs,published,evidence,known_incorrect,check,statement,source,command,cases
"Loom 1, Invented, driver 1.2",t-1,as published,holds,2,2,2,x,> 1x ±3 %,type=int n=64,no,1,1.5x Loom 0,discarded: The shed was shut.,1 of 1 rows wrong: 2 of 64 elements correct,,Twill is faster,Jacquard 1804,,loom/plain/int/64/64/corrected;loom/twill/int/64/64/corrected
"Loom 1, Invented, driver 1.2",t-2,as published,not measured,,,,x,< 1x ±3 %,rows are missing,no,,,,,,Satin shines,Jacquard 1804,"clweave run --device ""Loom 1"" --claim t-2",
)");
}

TEST(ClaimsOutput, DisturbedRowsDecideNothing) {
  const auto claims = parse_claims(two_claims, "test");
  auto records = without_noise();
  EXPECT_THAT(shown(report_of(all_rulings(claims, records), false), "json"),
              HasSubstr(R"("verdict": "holds")"));
  for (auto& record : records) record.disturbed = "other processes used 1.9 processors";
  const std::string json = shown(report_of(all_rulings(claims, records), false), "json");
  EXPECT_THAT(json, HasSubstr(R"("verdict": "undecided")"));
  EXPECT_THAT(json, Not(HasSubstr(R"("verdict": "holds")")));
  EXPECT_THAT(json, HasSubstr("--wait-quiet"));
}

TEST(ClaimsOutput, RowsThatFitACacheAreSaidToInEveryFormat) {
  const auto claims = parse_claims(two_claims, "test");
  auto records = without_noise();
  records[1].cached = "yes";
  const auto rulings = all_rulings(claims, records);
  const Report report = report_of(rulings, false);
  EXPECT_THAT(shown(report, "text"),
              AllOf(HasSubstr("holds 2x cached"), HasSubstr("1 of these on rows that fit a cache")));
  EXPECT_THAT(shown(report, "markdown"), HasSubstr("| holds 2x cached |"));
  EXPECT_THAT(shown(report, "csv"), HasSubstr("type=int n=64,yes,1,"));
  EXPECT_THAT(shown(report, "json"), HasSubstr(R"("cached": true)"));
}

TEST(ClaimsOutput, JsonHasWhatTheCsvHas) {
  const auto claims = parse_claims(two_claims, "test");
  const auto records = without_noise();
  const std::string json = shown(report_of(all_rulings(claims, records), false), "json");
  EXPECT_THAT(
      json,
      AllOf(HasSubstr(R"("verdict": "holds")"), HasSubstr(R"("cached": false)"), HasSubstr(R"("value": 2.0)"),
            HasSubstr(R"("evidence": "discarded: The shed was shut.")"), HasSubstr(R"("cases": [)")));
}

}  // namespace
