// SPDX-License-Identifier: Apache-2.0
// test_stream: byte counts, padding, refusals, sums and findings of family stream.
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "plans.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;

namespace {

using Changes = std::vector<std::pair<std::string, Value>>;

template <class T>
std::uint64_t wrong_of(const Check& check, const std::vector<T>& output) {
  return check.compare(0, std::as_bytes(std::span(output))).wrong;
}

// Sums of one tile after the other, as a device of that type may compute them.
template <class T, class F>
std::vector<T> sums_of(std::uint64_t n, std::uint64_t tile, F element) {
  std::vector<T> out((n + tile - 1) / tile);
  for (std::uint64_t i = 0; i < n; ++i) out[i / tile] += element(i);
  return out;
}

Outcome outcome(const char* sweep, double gb_per_s, double arrays) {
  const Case at = cases_of(family_named("stream"), {std::string(sweep) + " n=16777216"}, 1).at(0);
  return {at, 1e-9 * arrays * 4 * 16777216 / gb_per_s};
}

}  // namespace

// What BabelStream divides its times by.
TEST(Stream, CountsTheBytesThatStreamCounts) {
  constexpr std::uint64_t n = 4096;
  const std::map<std::string, std::uint64_t> arrays = {{"copy", 2}, {"scale", 2}, {"add", 3}, {"triad", 3},
                                                       {"dot", 2},  {"fill", 1},  {"read", 1}};
  for (const auto& [kernel, count] : arrays) {
    for (const auto& [type, size] : {std::pair{"float", 4U}, {"double", 8U}}) {
      const Plan plan = plan_with(
          "stream",
          {{"kernel", word(kernel.c_str())}, {"type", word(type)}, {"group", number(64)}, {"n", number(n)}});
      const bool sums = kernel == "dot" || kernel == "read";
      const std::uint64_t partials = sums ? n / 64 * size : 0;  // at width 1, as the first smoke case has
      EXPECT_EQ(plan.cost.read + plan.cost.written, count * n * size + partials) << kernel << " " << type;
    }
  }
  const Plan mix = plan_with(
      "stream", {{"kernel", word("mix")}, {"reads", number(3)}, {"writes", number(2)}, {"n", number(n)}});
  EXPECT_EQ(mix.cost.read, 3 * n * 4);
  EXPECT_EQ(mix.cost.written, 2 * n * 4);
}

TEST(Stream, AddsUpToTheLastElementAndNoPadding) {
  constexpr std::uint64_t n = 1009, tile = 256;  // 32 work-items, 2 vectors of 4 each
  for (const char* kernel : {"dot", "read"}) {
    const Plan plan = plan_with("stream", {{"kernel", word(kernel)},
                                           {"width", number(4)},
                                           {"per_work_item", number(2)},
                                           {"group", number(32)},
                                           {"n", number(n)}});
    std::vector<std::vector<float>> in;
    for (const auto& spec : plan.buffers) {
      if (spec.fill) in.push_back(numbers_of<float>(spec));
    }
    ASSERT_EQ(in.size(), kernel == std::string("dot") ? 2U : 1U);
    for (const auto& array : in) {
      ASSERT_EQ(array.size(), 1012U);
      for (std::uint64_t i = 0; i < array.size(); ++i) EXPECT_EQ(array[i] > 0, i < n) << i;
    }
    const auto element = [&](std::uint64_t i) { return in[0][i] * (in.size() > 1 ? in[1][i] : 1); };
    const std::vector<float> partials = sums_of<float>(n, tile, element), all = sums_of<float>(n, n, element);
    EXPECT_EQ(wrong_of(plan.checks.at(0), partials), 0U) << kernel;
    EXPECT_EQ(wrong_of(plan.checks.at(1), all), 0U) << kernel;
    // Without a single element, of any place.
    for (const std::uint64_t left_out : {0U, 500U, 1008U}) {
      const auto rest = [&](std::uint64_t i) { return i == left_out ? 0.0F : element(i); };
      if (element(left_out) < 0.05F) continue;
      EXPECT_EQ(wrong_of(plan.checks.at(0), sums_of<float>(n, tile, rest)), 1U) << kernel;
      EXPECT_EQ(wrong_of(plan.checks.at(1), sums_of<float>(n, n, rest)), 1U) << kernel;
    }
  }
}

TEST(Stream, RefusesWhatItsKernelsCannotDo) {
  const auto refused = [](const Changes& changes, const DeviceInfo& device = roomy()) {
    return complaint([&] { plan_with("stream", changes, device); });
  };
  DeviceInfo device = roomy();
  device.fp64 = false;
  EXPECT_THAT(refused({{"type", word("double")}}, device), HasSubstr("cl_khr_fp64"));
  for (const char* kernel : {"dot", "read"})
    EXPECT_THAT(refused({{"kernel", word(kernel)}, {"group", number(48)}, {"n", number(4096)}}),
                HasSubstr("a power of two work-items"));
  EXPECT_NO_THROW(
      plan_with("stream", {{"kernel", word("triad")}, {"group", number(48)}, {"n", number(4096)}}));
  device = roomy();
  device.local_bytes = 32768;
  EXPECT_THAT(refused({{"kernel", word("dot")}, {"width", number(16)}, {"group", number(1024)}}, device),
              HasSubstr("65536 bytes of local memory"));
  for (const char* axis : {"reads", "writes"})
    EXPECT_THAT(refused({{"kernel", word("mix")}, {axis, number(0)}}), HasSubstr("takes 1 to 8"));
  EXPECT_THAT(refused({{"width", number(3)}}), HasSubstr("width takes 1 to 16, powers of two"));
}

TEST(StreamFindings, TellTheBestRateOfEachKernelAndOfMixes) {
  const Family family = family_named("stream");
  const auto findings = family.findings(
      {outcome("kernel=copy", 80, 2), outcome("kernel=copy width=1", 60, 2), outcome("kernel=triad", 90, 3),
       outcome("kernel=triad store=streaming", 120, 3), outcome("kernel=fill", 40, 1),
       outcome("kernel=read", 100, 1), outcome("kernel=mix reads=1 writes=3", 50, 4)},
      roomy());
  const auto is_about = [&](const char* name, double value) {
    EXPECT_THAT(finding_of(findings, name), DoubleNear(value, 1e-6 * value)) << name;
  };
  is_about("copy_rate", 80);
  is_about("triad_rate", 120);
  is_about("mix_1_3_rate", 50);
  is_about("triad_over_copy", 1.5);
  is_about("write_over_read", 0.4);
  is_about("mix_spread", 3);
  is_about("streaming_store_gain", 120.0 / 90);
  const auto spread = std::ranges::find(findings, "mix_spread", &Finding::name);
  EXPECT_EQ(spread->text,
            "of 5 mixes of arrays read to written, 2:1 moves most, 120 GB/s, and 0:1 least, 40 GB/s");
}

// Half of the arrays of preset quick fit the caches of large GPUs, and a launch takes as long as a tenth of
// them.
TEST(StreamRefine, AsksFastGpusForLargerArraysOnce) {
  const Family family = family_named("stream");
  DeviceInfo gpu = roomy();
  gpu.type = "gpu";
  gpu.usable_bytes = std::int64_t{64} << 30;
  gpu.max_alloc_bytes = std::int64_t{16} << 30;
  const std::vector<Outcome> fast = {outcome("kernel=copy", 3000, 2), outcome("kernel=dot group=1", 100, 2)};
  const auto asked = family.refine(fast, gpu);
  ASSERT_EQ(asked.size(), 2U);
  for (const auto& at : asked) EXPECT_EQ(at.number("n"), 8 * 16777216);
  EXPECT_TRUE(family.refine({outcome("kernel=copy", 100, 2)}, gpu).empty()) << "takes long enough";
  DeviceInfo small = gpu;
  small.usable_bytes = std::int64_t{4} << 30;
  EXPECT_TRUE(family.refine(fast, small).empty()) << "has no room";
  std::vector<Outcome> both = fast;
  for (const auto& at : asked) both.emplace_back(at, 1e-3);
  const auto found = family.findings(both, gpu);
  EXPECT_THAT(finding_of(found, "copy_rate"), DoubleNear(1e-9 * 2 * 4 * 8 * 16777216 / 1e-3, 0.1))
      << "of the larger arrays";
}

TEST(StreamFindings, ConcludeNothingOfKernelsThatWereNotMeasured) {
  const auto findings = family_named("stream").findings({outcome("kernel=triad", 90, 3)}, roomy());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().name, "triad_rate");
}
